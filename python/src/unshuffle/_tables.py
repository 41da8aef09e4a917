"""Data frames of pandas or polars, to CSV and back."""

from __future__ import annotations

import hashlib
import importlib.util
import io
import sys
from pathlib import Path
from typing import Any, Literal

#: A data frame of pandas or polars.
Frame = Any

#: Which of the two.
Library = Literal["pandas", "polars"]


def library_of(frame: Frame) -> Library:
    """Which library a data frame is of."""
    names: tuple[Library, Library] = ("pandas", "polars")
    for name in names:
        module = sys.modules.get(name)
        if module is not None and isinstance(frame, module.DataFrame):
            return name
    raise TypeError(f"data is a {type(frame).__name__}: give a DataFrame of pandas or polars, or the path of a CSV file")


def installed_library() -> Library:
    """pandas where it is installed, else polars."""
    if importlib.util.find_spec("pandas"):
        return "pandas"
    if importlib.util.find_spec("polars"):
        return "polars"
    raise ImportError("tables need pandas or polars: pip install pandas")


def to_csv(frame: Frame) -> bytes:
    """The frame as CSV, without the index of pandas; every digit of its numbers is kept."""
    if library_of(frame) == "polars":
        buffer = io.BytesIO()
        frame.write_csv(buffer)
        return buffer.getvalue()
    return str(frame.to_csv(index=False, lineterminator="\n")).encode()


def write_by_content(frame: Frame, folder: Path, name: str) -> Path:
    """Writes `<name>_<hash>.csv`, so that other data never take the place of those of an earlier fit."""
    text = to_csv(frame)
    path = folder / f"{name}_{hashlib.sha256(text).hexdigest()[:12]}.csv"
    path.write_bytes(text)
    return path


def read_csv(path: Path, library: Library, texts: tuple[str, ...] = ()) -> Frame:
    """Reads a table that the program wrote; the columns `texts` stay text."""
    if library == "polars":
        import polars

        return polars.read_csv(path, null_values=["NA", ""], infer_schema_length=None, schema_overrides={
            name: polars.String for name in texts if name in header(path)
        })
    import pandas

    return pandas.read_csv(path, na_values=["NA"], keep_default_na=True, dtype={
        name: str for name in texts
    }, **exact_numbers())


def exact_numbers() -> dict[str, Any]:
    """What makes pandas read every digit; from 3.1 on it does so by itself, and warns of the option."""
    import pandas

    release = tuple(int(part) for part in pandas.__version__.split(".")[:2])
    return {"float_precision": "round_trip"} if release < (3, 1) else {}


def read_like(path: Path, frame: Frame) -> Frame:
    """Reads a CSV file whose first columns are those of `frame` as a frame with its columns and types."""
    if library_of(frame) == "polars":
        import polars

        read = polars.read_csv(path, schema_overrides=dict(frame.schema), infer_schema_length=None)
        return read.select(frame.columns)
    import pandas

    kinds = {name: kind for name, kind in frame.dtypes.items() if kind.kind not in "mM"}
    dates = [name for name, kind in frame.dtypes.items() if kind.kind in "mM"]
    read = pandas.read_csv(path, dtype=kinds, parse_dates=dates, **exact_numbers())
    read = read[list(frame.columns)]
    # The index is not in the file; it can be kept where no row was left out.
    return read.set_index(frame.index) if len(read) == len(frame) else read


def header(path: Path) -> list[str]:
    """The names of the columns of a CSV file."""
    import csv

    with path.open(newline="", encoding="utf-8") as file:
        return next(csv.reader(file), [])
