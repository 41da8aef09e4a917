"""The functions of the package, one for each command of the program."""

from __future__ import annotations

import json
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ._binary import Error, run
from ._config import Settings, Source
from ._fit import Fit, svg_image
from ._tables import Frame, Library, installed_library, library_of, read_csv, to_csv

#: The path of a file or folder.
PathLike = str | os.PathLike[str]


def fit(
    source: Source,
    data: Frame | PathLike | None = None,
    *,
    model: PathLike | None = None,
    block: str | None = None,
    safe: str | None = None,
    match_probability: str | None = None,
    candidates: Frame | PathLike | None = None,
    id: str | None = None,
    audit: tuple[int, int] | dict[str, Any] | None = None,
    output: PathLike | None = None,
    force: bool = False,
    resume: bool = False,
    compare: bool = False,
    strict: bool = False,
    threads: int | None = None,
    progress: bool | None = None,
    **keywords: Any,
) -> Fit:
    """Fits a regression whose rows may be linked wrongly.

    `source` is a formula such as `"log(wage) ~ educ + gender"`, a config as a dict, or the path of a config; `data` a
    data frame of pandas or polars, or the path of a CSV file. With a config that names its files, `data` is left out.

    Keywords are named as in a config (`unshuffle schema` explains each):

    - `model`: a shipped model (`"linear"`, `"quantile"`, `"student_t"`, `"poisson"`, ...), or the path of a Stan program
    - `block`, `safe`, `match_probability`, `id`: columns that say what is known of the links
    - `candidates`: a data frame, or a CSV file, with columns `row`, `partner` and perhaps `weight`
    - `audit`: `(checked, wrong)` of links that were checked by hand outside this file
    - `weights`, `strata`, `clusters`: columns of a survey
    - `offset`: a column or an expression that is added to the linear predictor
    - `family`, `priors`, `outcome`, `model_data`, `intercept`, `reference`, `missing`, `prior`, `update`, `feedback`,
      `outside`, `rate_formula`, `audit_by_block`, `temperature`, `name`
    - `chains`, `warmup`, `draws`, `thin`, `seed`, `target_accept`, `max_depth`, `metric`, `init`

    The files of the fit go to the folder `output`; without it they are removed with the object. `force` replaces the fit
    that is there, `resume` goes on with it. `compare` adds other estimators, `strict` raises where the diagnostics find a
    problem. `progress` is shown in terminals and notebooks unless it is False.
    """
    words = [name for name, given in _flags(force=force, resume=resume, compare=compare, strict=strict) if given]
    words += ["--threads", str(threads)] if threads is not None else []
    settings = Settings(source, {
        "model": model, "block": block, "safe": safe, "match_probability": match_probability, "id": id, "audit": audit,
        **keywords,
    })
    temporary, folder = _place(settings, output)
    config = settings.write(folder, data, candidates, name="fit" if temporary else folder.name)
    result = run(["fit", str(config), *words], progress)
    found = Path(result["folder"])
    is_frame = data is not None and not isinstance(data, (str, os.PathLike))
    return Fit(found, data if is_frame else None, library_of(data) if is_frame else None, temporary)


def load(folder: PathLike) -> Fit:
    """The fit in an output folder, of this package or of the command line."""
    path = Path(folder)
    if not (path / "status.json").exists():
        raise Error(f"{path} is no folder of a fit: it has no status.json", 2)
    return Fit(path)


@dataclass(frozen=True, repr=False)
class Assessment:
    """Whether a file is suitable, from fits of it with planted wrong links."""

    #: The table and the advice of `unshuffle assess`.
    text: str
    #: assess.json.
    results: dict[str, Any]
    #: The picture, as SVG.
    svg: str

    @property
    def advice(self) -> str:
        """The advice in a sentence."""
        return str(self.results["advice"]["sentence"])

    def __repr__(self) -> str:
        return f"<unshuffle.Assessment: {self.advice}>"

    def __str__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        return f"<div><p>{self.advice}</p>{svg_image(self.svg, 'Error of the slopes by share of wrong links')}</div>"


def assess(
    source: Source,
    data: Frame | PathLike | None = None,
    *,
    threads: int | None = None,
    progress: bool | None = None,
    **keywords: Any,
) -> Assessment:
    """Says whether a file is suitable; arguments are those of `fit`."""
    candidates = keywords.pop("candidates", None)
    settings = Settings(source, keywords)
    with tempfile.TemporaryDirectory() as folder:
        config = settings.write(Path(folder), data, candidates)
        words = ["assess", str(config), "--output", str(Path(folder) / "assess")]
        words += ["--threads", str(threads)] if threads is not None else []
        result = run(words, progress)
        found = Path(result["folder"])
        results = json.loads((found / "assess.json").read_text(encoding="utf-8"))
        svg = (found / "assess.svg").read_text(encoding="utf-8")
        return Assessment(str(result["text"]), results, svg)


@dataclass(frozen=True)
class Simulation:
    """Data with known wrong links."""

    data: Frame
    #: truth.json: the coefficients and where each response belongs.
    truth: dict[str, Any]
    #: A config that fits the data; give it to `fit` together with them.
    config: dict[str, Any]


def simulate(
    design: str = "general",
    data: Frame | None = None,
    *,
    library: Library | None = None,
    **options: Any,
) -> Simulation:
    """Data with known wrong links: `"paper"`, `"general"`, or with `data` your own file with rows mislinked.

    Options are those of `unshuffle simulate`: `n`, `predictors`, `mislinked`, `sigma`, `r2`, `errors`, `seed`, ...

    >>> import unshuffle
    >>> simulated = unshuffle.simulate(n=50, predictors=2, mislinked=0.2)
    >>> simulated.data.shape
    (50, 4)
    >>> simulated.truth["num_moved"]
    10
    """
    with tempfile.TemporaryDirectory() as folder:
        words: list[str] = []
        if data is not None:
            design, library = "file", library or library_of(data)
            (Path(folder) / "given.csv").write_bytes(to_csv(data))
            words += ["--from", str(Path(folder) / "given.csv")]
        for name, value in options.items():
            option = "--" + name.replace("_", "-")
            if isinstance(value, bool):
                words += [option] if value else []
            elif isinstance(value, (list, tuple)):
                words += [option, ",".join(map(str, value))]
            else:
                words += [option, str(value)]
        to = Path(folder) / "simulated"
        run(["simulate", "--design", design, "--output", str(to), *words])
        config = json.loads((to / "config.json").read_text(encoding="utf-8"))
        del config["data"]["file"]
        truth = json.loads((to / "truth.json").read_text(encoding="utf-8"))
        return Simulation(read_csv(to / "data.csv", library or installed_library()), truth, config)


def adopt(
    program: PathLike,
    response: str,
    *,
    output: PathLike | None = None,
    config: PathLike | None = None,
    force: bool = False,
) -> Path:
    """Turns an ordinary Stan regression, with its response in `data`, into a program for unshuffle; returns its path."""
    words = ["adopt", os.fspath(program), "--response", response]
    words += ["--output", os.fspath(output)] if output is not None else []
    words += ["--config", os.fspath(config)] if config is not None else []
    words += ["--force"] if force else []
    return Path(run(words)["program"])


def _flags(**flags: bool) -> list[tuple[str, bool]]:
    return [(f"--{name}", given) for name, given in flags.items()]


def _place(
    settings: Settings, output: PathLike | None
) -> tuple[tempfile.TemporaryDirectory[str] | None, Path]:
    """The folder of the fit, and what removes it where nobody chose one."""
    chosen = Path(output) if output is not None else settings.output()
    if chosen is not None:
        return None, chosen.absolute()
    temporary = tempfile.TemporaryDirectory(prefix="unshuffle_")
    return temporary, Path(temporary.name)

