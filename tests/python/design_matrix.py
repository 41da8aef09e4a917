"""Prints formulaic's design matrix of each formula, as JSON, with the columns named as unshuffle names them."""

import json
import re
import sys

import numpy as np
import pandas
from formulaic import model_matrix

FUNCTIONS = {name: getattr(np, name) for name in ["log", "log2", "log10", "log1p", "exp", "sqrt", "abs"]}


def name(column):
    column = re.sub(r"C\((\w+)\)", r"\1", column)
    return column.replace("[T.", "[").replace("**", "^").replace(" ", "").replace("Intercept", "(Intercept)")


def main():
    data = pandas.read_csv(sys.argv[1])
    result = {}
    for formula in json.loads(sys.argv[2]):
        right_side = formula.split("~")[1]
        matrix = model_matrix(right_side, data, context=FUNCTIONS)
        result[formula] = {name(column): [float(v) for v in matrix[column]] for column in matrix.columns}
    print(json.dumps(result))


main()
