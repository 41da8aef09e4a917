"""Stan's own sampler, through PyStan, on the files of `benches/performance.py`: effective draws of the slowest coefficient for each second.

    python step_one.py RESULT FOLDER...

A folder has data.csv and the name step_one_<rows>_<predictors>_<rho>. The program is the shipped one with the response as data; its priors are wide,
as the shipped ones are. Seconds are processor seconds of sampling after 500 iterations of warm-up: those of 2000 draws less those of 200.
"""
import csv, json, os, sys
from importlib.metadata import version
from pathlib import Path

import numpy
import stan

PROGRAM = """
data { int<lower=1> N; int<lower=1> D; matrix[N, D] X; vector[N] y; }
parameters { vector[D] beta; real<lower=0> sigma2; }
model { beta ~ normal(0, 10); sigma2 ~ normal(0, 10); target += normal_id_glm_lpdf(y | X, 0, beta, sqrt(sigma2)); }
"""


def effective(draws):
    """Effective sample size of one chain, by Geyer's initial monotone sequence."""
    n = len(draws)
    centred = draws - draws.mean()
    size = 1 << (2 * n - 1).bit_length()
    spectrum = numpy.fft.rfft(centred, size)
    correlation = numpy.fft.irfft(spectrum * spectrum.conj(), size)[:n]
    correlation /= correlation[0]
    total, last = 0.0, numpy.inf
    for k in range(0, n - 1, 2):
        pair = correlation[k] + correlation[k + 1]
        if pair <= 0:
            break
        last = min(last, pair)
        total += last
    return n / max(2 * total - 1, 1 / numpy.log10(n))


def processor_seconds():
    """Of this process and its descendants, running or ended: PyStan samples in a process of its own."""
    parents, ticks = {}, {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue
        process = int(path.parent.name)
        parents[process], ticks[process] = int(fields[1]), sum(map(int, fields[11:15]))
    def is_ours(process):
        while process in parents and process != os.getpid():
            process = parents[process]
        return process == os.getpid()
    return sum(value for process, value in ticks.items() if is_ours(process)) / os.sysconf("SC_CLK_TCK")


def cell(folder):
    with open(folder / "data.csv") as file:
        rows = list(csv.reader(file))
    table = numpy.array(rows[1:], dtype=float)
    x = numpy.hstack([numpy.ones((len(table), 1)), table[:, :-1]])
    data = {"N": len(x), "D": x.shape[1], "X": x.tolist(), "y": table[:, -1].tolist()}
    model = stan.build(PROGRAM, data=data, random_seed=1)
    seconds = []
    for draws in (200, 2000):
        start = processor_seconds()
        fit = model.sample(num_chains=1, num_samples=draws, num_warmup=500)
        seconds.append(processor_seconds() - start)
    draws = numpy.vstack([numpy.asarray(fit[name]).reshape(-1, 2000) for name in ("beta", "sigma2")])
    least = min(effective(row) for row in draws)
    return float(least) * 0.9 / (seconds[1] - seconds[0])


def main():
    result, cells = Path(sys.argv[1]), []
    for folder in map(Path, sys.argv[2:]):
        _, _, n, d, rho = folder.name.split("_")
        cells.append([int(n), int(d), float(rho) if "." in rho else int(rho), cell(folder)])
        print(cells[-1], flush=True)
    name = f"PyStan {version('pystan')} with httpstan {version('httpstan')}"
    result.write_text(json.dumps({"version": name, "cells": cells}) + "\n")


if __name__ == "__main__":
    main()
