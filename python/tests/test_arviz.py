"""`fit.idata`: the groups of ArviZ, 0.x and 1.x."""

from __future__ import annotations

import subprocess

import arviz
import cmdstanpy
import numpy
import pytest
import xarray

import unshuffle


def test_groups_and_coordinates(fit):
    idata = fit.idata
    posterior = idata["posterior"]
    assert dict(posterior["beta"].sizes) == {"chain": 4, "draw": 1000, "predictor": 2}
    assert list(posterior["predictor"].values) == ["(Intercept)", "log_income"]
    assert idata["sample_stats"]["diverging"].dtype == bool
    assert idata["observed_data"]["y"].sizes["row"] == 235
    assert idata["constant_data"]["X"].sizes == {"row": 235, "predictor": 2}
    assert set(idata["posterior_predictive"]["y"].dims) == {"chain", "draw", "row"}


def test_the_summary_is_that_of_the_program(fit):
    table = arviz.summary(fit.idata, round_to="none")
    ours = fit.summary()
    names = {"beta[log_income]": "log_income", "mismatch_rate": "mismatch_rate", "n_moved": "n_moved"}
    for theirs, name in names.items():
        assert float(table.loc[theirs, "mean"]) == pytest.approx(ours.loc[name, "Mean"], rel=1e-9)
        assert float(table.loc[theirs, "sd"]) == pytest.approx(ours.loc[name, "StdDev"], rel=1e-9)


def test_predictive_draws_are_of_the_fit(fit):
    idata = fit.idata
    fitted = fit.rows.fitted.to_numpy()
    predicted = idata["posterior_predictive"]["y"].mean(dim=["chain", "draw"]).to_numpy()
    error = float(numpy.sqrt(fit.summary().loc["sigma2", "Mean"]))
    draws = idata["posterior_predictive"]["y"].sizes["draw"] * 4
    assert numpy.abs(predicted - fitted).max() < 6 * error / numpy.sqrt(draws)


def test_netcdf_goes_out_and_comes_back(fit, tmp_path):
    path = str(tmp_path / "fit.nc")
    fit.idata.to_netcdf(path)
    again = arviz.from_netcdf(path)
    numpy.testing.assert_array_equal(again["posterior"]["beta"], fit.idata["posterior"]["beta"])


def test_pictures_are_drawn(fit):
    import matplotlib

    matplotlib.use("agg")
    arviz.plot_forest(fit.idata, var_names=["beta"])


def test_a_fit_without_links_has_no_rate(engel):
    fit = unshuffle.fit("log_food ~ log_income", engel, model="mean_shift", model_data={"k": 24}, update="none", draws=50)
    assert "n_moved" not in fit.idata["posterior"]


def test_the_export_is_read_by_every_engine(fit, tmp_path):
    words = ["export", str(fit.folder), "--arviz", "--output", str(tmp_path)]
    subprocess.run([unshuffle.binary(), *words], check=True, capture_output=True)
    groups = {"posterior", "sample_stats", "observed_data", "constant_data", "posterior_predictive"}
    for engine in ["h5netcdf", "netcdf4"]:
        with xarray.open_datatree(tmp_path / "arviz.nc", engine=engine) as tree:
            assert set(tree.children) == groups
            assert tree.attrs["inference_library"] == "unshuffle"
            for name in ["beta", "sigma2", "mismatch_rate", "n_moved", "predictor"]:
                numpy.testing.assert_array_equal(tree["posterior"][name], fit.idata["posterior"][name])
            assert tree["sample_stats"]["diverging"].dtype == bool


def test_cmdstanpy_reads_the_folder_of_draws(fit, tmp_path):
    words = ["export", str(fit.folder), "--cmdstan", "--output", str(tmp_path)]
    subprocess.run([unshuffle.binary(), *words], check=True, capture_output=True)
    posterior = arviz.from_cmdstanpy(cmdstanpy.from_csv(tmp_path / "cmdstan"))["posterior"]
    assert posterior["beta"].shape == (4, 1000, 2)
    for name in ["sigma2", "mismatch_rate", "n_moved"]:
        # A folder is read in no particular order.
        found, known = (numpy.sort(group[name], axis=0) for group in (posterior, fit.idata["posterior"]))
        numpy.testing.assert_allclose(found, known)


def test_a_missing_reader_of_netcdf_is_said(fit, monkeypatch):
    def without_engine(path):
        raise ValueError("found the following matches with the input file in xarray's IO backends")

    monkeypatch.setattr(arviz, "from_netcdf", without_engine)
    with pytest.raises(ImportError, match="pip install netcdf4"):
        unshuffle.load(fit.folder).idata
