"""Loads a fit with cmdstanpy and arviz, and compares their numbers with summary.csv."""

import csv
import json
import sys
from pathlib import Path

import arviz
import cmdstanpy
import numpy as np


def close(found, expected):
    return abs(found - expected) <= 1e-6 * abs(expected)


def load(files, expected):
    """One arviz data set for each reader, from all chains at once."""
    fit = cmdstanpy.from_csv(files)
    num_draws, num_chains = fit.draws().shape[:2]
    assert num_chains == len(files)
    assert fit.metric_type == expected["metric"], fit.metric_type
    assert fit.thin == expected["thin"], fit.thin
    dim = expected["dim"]
    shape = (dim, dim) if fit.metric_type == "dense_e" else (dim,)
    assert np.shape(fit.inv_metric)[1:] == shape, np.shape(fit.inv_metric)
    assert np.all(np.isfinite(fit.inv_metric)) and np.all(fit.step_size > 0)
    assert fit.stan_variable("beta").shape == (num_draws * num_chains, 2)
    return [arviz.from_cmdstan(posterior=files), arviz.from_cmdstanpy(posterior=fit)]


def main():
    folder = Path(sys.argv[1])
    expected = json.loads(sys.argv[2])
    files = sorted(str(path) for path in folder.glob("draws_*.csv"))
    assert len(files) == len(expected["draws"]), files
    loaded = load(files, expected)
    with open(folder / "summary.csv", newline="") as file:
        rows = read_summary(file)
    for reader, data in zip(["arviz.from_cmdstan", "arviz.from_cmdstanpy"], loaded):
        assert set(data.posterior.data_vars) == {"beta", "sigma2"}, data.posterior
        assert data.sample_stats["diverging"].shape == (len(files), expected["draws"][0])
        table = arviz.summary(data, round_to="none")
        # arviz.summary folds before it splits, which for odd lengths is not the R-hat of arviz.rhat.
        r_hat = arviz.rhat(data)
        table["r_hat"] = [*r_hat["beta"].values, float(r_hat["sigma2"])]
        names = {"beta[0]": "beta.1", "beta[1]": "beta.2", "sigma2": "sigma2"}
        for index, name in names.items():
            ours, theirs = rows[name], table.loc[index]
            columns = {"Mean": "mean", "StdDev": "sd", "ESS_bulk": "ess_bulk", "ESS_tail": "ess_tail", "R_hat": "r_hat"}
            for our_column, their_column in columns.items():
                found, told = float(theirs[their_column]), float(ours[our_column])
                assert close(found, told), f"{reader}: {name} {their_column} is {found}, summary.csv says {told}"
        lp = float(data.sample_stats["lp"].mean())
        assert close(lp, float(rows["lp__"]["Mean"])), lp
    print("agreed")


def read_summary(file):
    """By name; the first column has whatever header it has."""
    reader = csv.DictReader(file)
    first = reader.fieldnames[0]
    return {row[first]: row for row in reader}


main()
