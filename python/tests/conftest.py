"""What the tests share: Engel's households with a fifth of the links wrong, and one fit of them."""

from __future__ import annotations

import os
from pathlib import Path

import pandas
import pytest

import unshuffle

#: The root of the repository.
ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def engel() -> pandas.DataFrame:
    return pandas.read_csv(ROOT / "configs/data/engel_mislinked.csv")


@pytest.fixture(scope="session")
def fit(engel: pandas.DataFrame) -> unshuffle.Fit:
    return unshuffle.fit("log_food ~ log_income", engel, id="household", name="quickstart")


@pytest.fixture(scope="session", autouse=True)
def no_compiler(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Every fit of these tests does without compiler and cache, as on a machine that has only the wheel."""
    os.environ["UNSHUFFLE_CACHE"] = str(tmp_path_factory.mktemp("cache"))
    os.environ["CXX"] = "no_compiler_is_here"
