"""The examples in the documentation of the package do what they say."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import pytest

import unshuffle

MODULES = [f"unshuffle.{module.name}" for module in pkgutil.iter_modules(unshuffle.__path__) if module.name != "__main__"]


@pytest.mark.filterwarnings("ignore::unshuffle.UnshuffleWarning")
@pytest.mark.parametrize("name", ["unshuffle", *MODULES])
def test_examples(name: str) -> None:
    failed, _ = doctest.testmod(importlib.import_module(name))
    assert failed == 0


def test_there_are_examples() -> None:
    finder = doctest.DocTestFinder()
    modules = [importlib.import_module(name) for name in ["unshuffle", *MODULES]]
    examples = [example for module in modules for test in finder.find(module) for example in test.examples]
    assert len(examples) > 10
