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


def load(folder, files, expected):
    """One arviz data set for each reader, from all chains at once."""
    fit = cmdstanpy.from_csv(folder / "export" / "cmdstan")
    # A folder is read in no particular order.
    across_chains = [np.sort(read.draws(), axis=1) for read in (fit, cmdstanpy.from_csv(files))]
    assert np.array_equal(*across_chains)
    num_draws, num_chains = fit.draws().shape[:2]
    assert num_chains == len(files)
    assert fit.metric_type == expected["metric"], fit.metric_type
    assert fit.thin == expected["thin"], fit.thin
    dim = expected["dim"]
    shape = (dim, dim) if fit.metric_type == "dense_e" else (dim,)
    assert np.shape(fit.inv_metric)[1:] == shape, np.shape(fit.inv_metric)
    assert np.all(np.isfinite(fit.inv_metric)) and np.all(fit.step_size > 0)
    assert fit.stan_variable("beta").shape == (num_draws * num_chains, 2)
    exported = arviz.from_netcdf(folder / "export" / "arviz.nc")
    return {
        "arviz.from_cmdstan": arviz.from_cmdstan(posterior=files),
        "arviz.from_cmdstanpy": arviz.from_cmdstanpy(posterior=fit),
        "arviz.from_netcdf": exported,
    }


def main():
    folder = Path(sys.argv[1])
    expected = json.loads(sys.argv[2])
    files = sorted(str(path) for path in folder.glob("draws_*.csv"))
    assert len(files) == len(expected["draws"]), files
    loaded = load(folder, files, expected)
    with open(folder / "summary.csv", newline="") as file:
        rows = read_summary(file)
    for reader, data in loaded.items():
        # Readers find what the links are about among the parameters, where links were updated.
        of_links = {"n_moved", "mismatch_rate"} if expected.get("links") else set()
        assert set(data.posterior.data_vars) == {"beta", "sigma2"} | of_links, data.posterior
        for name in of_links:
            assert close(float(data.posterior[name].mean()), float(rows[name]["Mean"])), name
        assert data.sample_stats["diverging"].shape == (len(files), expected["draws"][0])
        table = arviz.summary(data, round_to="none")
        # arviz.summary folds before it splits, which for odd lengths is not the R-hat of arviz.rhat.
        r_hat = arviz.rhat(data)
        values = [r_hat[name].values.ravel() for name in data.posterior.data_vars]
        table["r_hat"] = np.concatenate(values)
        assert rows["beta.2"]["label"] == "x", rows["beta.2"]
        terms = ["(Intercept)", "x"] if "predictor" in data.posterior.dims else [0, 1]
        names = {f"beta[{term}]": f"beta.{k}" for k, term in enumerate(terms, 1)} | {"sigma2": "sigma2"}
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
