"""Bayesian regression after record linkage, when some records are linked wrongly.

>>> import unshuffle
>>> simulated = unshuffle.simulate(n=200, predictors=1, mislinked=0.2, sigma=0.3, seed=1)
>>> fit = unshuffle.fit("y ~ x1 - 1", simulated.data, seed=1)
>>> fit.trust["trusted"]
True
>>> list(fit.coefficients.columns)
['name', 'method', 'estimate', 'sd', '5%', '95%']

A fit runs the program `unshuffle`, which is part of this package, with models that are compiled already. Its draws are
those of the command line for the same data, config and seed.
"""

from __future__ import annotations

from ._binary import Error, UnshuffleWarning, binary, version
from ._commands import Assessment, Simulation, adopt, assess, fit, load, simulate
from ._fit import Fit

__version__ = version()

__all__ = [
    "Assessment",
    "Error",
    "Fit",
    "Simulation",
    "UnshuffleWarning",
    "adopt",
    "assess",
    "binary",
    "fit",
    "load",
    "simulate",
]
