"""Compares draws.parquet and links.parquet of an export with the CSV files of the fit."""

import csv
import sys
from pathlib import Path

import pyarrow.parquet as parquet


def lines(path):
    with open(path, newline="") as file:
        yield from csv.DictReader(line for line in file if not line.startswith("#"))


def main():
    folder = Path(sys.argv[1])
    draws, links = [], []
    for chain in [1, 2]:
        for number, row in enumerate(lines(folder / f"draws_{chain}.csv"), start=1):
            draws.append({"chain": chain, "draw": number, **{name: float(cell) for name, cell in row.items()}})
        for row in lines(folder / f"links_{chain}.csv"):
            links.append({"chain": chain, **{name: int(cell) for name, cell in row.items()}})
    assert draws and links
    for name, expected in [("draws.parquet", draws), ("links.parquet", links)]:
        found = parquet.read_table(folder / "export" / name).to_pylist()
        assert found == expected, f"{name}: {found[:2]} where {expected[:2]}"
    print("agreed")


main()
