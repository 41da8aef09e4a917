"""Fits from data frames: the draws of the command line, tables under the user's names, and what follows from a fit."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import numpy
import pandas
import polars
import pytest
import statsmodels.formula.api as smf
from conftest import ROOT

import unshuffle
from unshuffle._tables import exact_numbers

FORMULA = "log_food ~ log_income"


def draws(folder: Path) -> list[str]:
    """The lines of all chains that are no comments."""
    files = sorted(folder.glob("draws_*.csv"))
    assert len(files) == 4
    return [line for file in files for line in file.read_text().splitlines() if not line.startswith("#")]


def test_draws_are_those_of_the_command_line(fit, engel, tmp_path):
    config = ROOT / "configs/quickstart.json"
    words = ["fit", str(config), "--quiet", "--set", f"output={tmp_path / 'cli'}"]
    subprocess.run([unshuffle.binary(), *words], check=True, capture_output=True)
    expected = draws(tmp_path / "cli")
    assert draws(fit.folder) == expected
    frame = polars.from_pandas(engel)
    assert draws(unshuffle.fit(FORMULA, frame, id="household").folder) == expected
    # A plain inequality: pytest would take minutes to explain an equality that fails.
    other = unshuffle.fit(FORMULA, engel, id="household", seed=2)
    assert draws(other.folder) != expected


def test_tables_have_the_names_of_the_user(fit):
    summary = fit.summary()
    assert summary.loc["log_income", "name"] == "beta.2"
    assert 0.8 < summary.loc["log_income", "Mean"] < 0.9
    methods = fit.coefficients.method.unique().tolist()
    assert methods[:3] == ["recommended", "joint", "as_linked"]
    rows = fit.rows.set_index("row")
    assert len(rows) == 235
    best = rows.best_link[1]
    assert rows.best_link_id[1] == rows.id[best]
    assert set(fit.links.columns) == {"chain", "draw", "row", "linked_to"}
    moved = fit.links.groupby(["chain", "draw"]).size().sum() / 4000
    assert moved == pytest.approx(summary.loc["n_moved", "Mean"])
    assert fit.trust["source"] == "joint"
    assert "2 of 2 coefficients changed" in fit.verdict
    assert "log_income" in str(fit)
    assert "<img" in fit._repr_html_()
    assert fit.report().name == "report.html"


def test_polars_in_polars_out(engel):
    frame = polars.from_pandas(engel)
    fit = unshuffle.fit(FORMULA, frame, draws=100, warmup=100, progress=False)
    assert fit.summary().columns[0] == "label"
    assert isinstance(fit.rows, polars.DataFrame)
    completed = fit.completed(2)
    assert completed[0].schema == frame.schema
    assert fit.predict(frame.head(3)).height == 3
    assert fit.links.columns == ["chain", "draw", "row", "linked_to"]


def test_completed_sets_move_responses_only(fit, engel):
    sets = fit.completed(5)
    assert len(sets) == 5
    for data in sets:
        assert list(data.columns) == list(engel.columns)
        assert (data.dtypes == engel.dtypes).all()
        assert (data.log_income == engel.log_income).all()
        assert sorted(data.log_food) == sorted(engel.log_food)
        assert (data.log_food != engel.log_food).any()


def rubin(estimates: numpy.ndarray, errors: numpy.ndarray) -> tuple[float, float]:
    """Estimate and standard error by Rubin's rules (1987)."""
    within, between = (errors**2).mean(), estimates.var(ddof=1)
    return estimates.mean(), float(numpy.sqrt(within + (1 + 1 / len(estimates)) * between))


def test_pooled_statsmodels_are_rubins_rules_and_the_command_line(fit, tmp_path):
    pooled = fit.pool(lambda data: smf.ols(FORMULA, data).fit()).set_index("name")
    results = [smf.ols(FORMULA, data).fit() for data in fit.completed(20)]
    lines = ["set,name,estimate,standard_error,df_complete"]
    for name in ["Intercept", "log_income"]:
        estimates = numpy.array([result.params[name] for result in results])
        errors = numpy.array([result.bse[name] for result in results])
        estimate, error = rubin(estimates, errors)
        assert pooled.estimate[name] == pytest.approx(estimate, rel=1e-12)
        assert pooled.standard_error[name] == pytest.approx(error, rel=1e-12)
        df = float(results[0].df_resid)
        lines += [f"{k},{name},{e!r},{s!r},{df!r}" for k, (e, s) in enumerate(zip(estimates.tolist(), errors.tolist()), 1)]
    (tmp_path / "estimates.csv").write_text("\n".join(lines) + "\n")
    words = ["pool", str(tmp_path / "estimates.csv"), "--output", str(tmp_path / "pooled.csv")]
    subprocess.run([unshuffle.binary(), *words], check=True, capture_output=True)
    by_command = pandas.read_csv(tmp_path / "pooled.csv", **exact_numbers()).set_index("name")
    pandas.testing.assert_frame_equal(pooled, by_command, check_exact=True)


def test_predictions_are_of_the_new_rows(fit, engel):
    predicted = fit.predict(engel.head(4))
    assert len(predicted) == 4
    assert (predicted["5%"] < predicted["95%"]).all()
    every = fit.predict(engel.head(2), draws=10, all=True)
    assert len(every) == 20


def test_a_config_is_a_dict_or_a_path(engel, tmp_path):
    path = ROOT / "configs/quickstart.json"
    output = tmp_path / "out"
    fit = unshuffle.fit(path, output=output, draws=50, warmup=50)
    assert fit.folder == output
    assert fit.config["sampler"]["draws"] == 50
    config = {"model": {"stan": "linear"}, "data": {"formula": FORMULA}, "sampler": {"draws": 50, "warmup": 50}}
    again = unshuffle.fit(config, engel)
    assert again.config["data"]["formula"] == FORMULA
    assert "file" not in config["data"], "the dict of the caller stays as it was"


def test_a_fit_that_is_saved_is_loaded_with_its_data(engel, tmp_path):
    fit = unshuffle.fit(FORMULA, engel, draws=50, warmup=50)
    first = fit.folder
    saved = fit.save(tmp_path / "kept")
    text = fit.summary().to_csv()
    del fit
    assert not first.exists(), "a temporary fit is removed with its object"
    loaded = unshuffle.load(saved.folder)
    assert loaded.summary().to_csv() == text
    assert len(loaded.completed(2)[0]) == 235
    with pytest.raises(unshuffle.Error, match="--force"):
        unshuffle.fit(FORMULA, engel, output=tmp_path / "kept")


def test_a_table_that_lost_lines_is_named(fit, tmp_path):
    kept = fit.save(tmp_path / "kept").folder
    damaged = {"coefficients.csv": "coefficients", "rows.csv": "rows", "links_2.csv": "links"}
    for name in damaged:
        lines = (kept / name).read_text().splitlines(keepends=True)
        (kept / name).write_text("".join(lines[:-1]))
    for name, attribute in damaged.items():
        with pytest.raises(unshuffle.Error, match=rf"{name} has \d+ of the \d+ bytes that the fit wrote"):
            getattr(unshuffle.load(kept), attribute)
    (kept / "links_2.csv").unlink()
    with pytest.raises(unshuffle.Error, match="links_2.csv is gone"):
        assert unshuffle.load(kept).links is None
    with pytest.warns(unshuffle.UnshuffleWarning, match="no verdict"), pytest.raises(unshuffle.Error, match="has no verdict"):
        assert unshuffle.load(kept).verdict
    # A folder of an older version has no sizes.
    status = json.loads((kept / "status.json").read_text())
    del status["sizes"]
    (kept / "status.json").write_text(json.dumps(status))
    assert len(unshuffle.load(kept).coefficients) == len(fit.coefficients) - 1


def test_what_is_known_of_the_links_is_honoured(engel):
    frame = engel.assign(region=["north", "south"] * 117 + ["north"], checked=engel.index < 60)
    fit = unshuffle.fit(
        FORMULA, frame, block="region", safe="checked", audit=(100, 7), draws=100, warmup=100, progress=False
    )
    rows = fit.rows
    assert (rows.p_moved[rows.safe] == 0).all()
    assert (rows.block == rows.set_index("row").block.loc[rows.best_link].to_numpy()).all()
    assert fit.config["permutation"]["prior"]["audit"] == {"checked": 100, "wrong": 7, "weight": 1.0}
    pairs = pandas.DataFrame({"row": [1, 2], "partner": [2, 1]})
    with pytest.warns(unshuffle.UnshuffleWarning):
        few = unshuffle.fit(FORMULA, engel, candidates=pairs, draws=20, warmup=50)
    assert set(few.links.row) <= {1, 2}


@pytest.mark.parametrize(
    ("formula", "keywords", "code", "says"),
    [
        ("log_fod ~ log_income", {}, 2, "did you mean `log_food`"),
        (FORMULA, {"block": "county"}, 2, "county"),
        (FORMULA, {"model": "linaer"}, 2, "linear"),
        (FORMULA, {"strict": True, "draws": 12}, 1, "diagnostics"),
    ],
)
def test_errors_have_the_sentence_of_the_command_line(engel, formula, keywords, code, says):
    with pytest.raises(unshuffle.Error, match=says) as raised:
        unshuffle.fit(formula, engel, **keywords)
    assert raised.value.code == code
    assert "\n" not in str(raised.value)


def test_mistaken_arguments_are_refused(engel):
    with pytest.raises(TypeError, match="`blok` is not a keyword"):
        unshuffle.fit(FORMULA, engel, blok="region")
    with pytest.raises(TypeError, match="DataFrame"):
        unshuffle.fit(FORMULA, [1, 2, 3])


def test_an_own_program_without_compiler_is_one_sentence(engel, tmp_path):
    program = tmp_path / "mine.stan"
    program.write_text((ROOT / "stan/linear.stan").read_text() + "// mine\n")
    with pytest.raises(unshuffle.Error, match=r"install a C\+\+17 compiler \(Debian: g\+\+\)") as raised:
        unshuffle.fit(FORMULA, engel, model=program)
    assert raised.value.code == 3


def test_own_data_are_assessed_and_mislinked(engel):
    assessment = unshuffle.assess(FORMULA, engel, draws=100, warmup=100)
    assert assessment.advice in str(assessment).replace("\n", " ")
    assert "<img" in assessment._repr_html_()
    simulated = unshuffle.simulate(data=engel, formula=FORMULA, mislinked=0.1, seed=3)
    assert len(simulated.data) == 235
    assert (simulated.data.log_food != engel.log_food).any()


def test_a_stan_program_is_adopted(tmp_path):
    ordinary = ROOT / "tests/adopt/normal.stan"
    adopted = unshuffle.adopt(ordinary, "wage", output=tmp_path / "adopted.stan")
    assert "parameters" in adopted.read_text()
