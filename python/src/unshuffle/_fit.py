"""A finished fit: its files as data frames, and what follows from them."""

from __future__ import annotations

import base64
import html
import json
import shutil
import tempfile
import webbrowser
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from ._arviz import inference_data
from ._binary import Error, run
from ._tables import Frame, Library, header, installed_library, library_of, read_csv, read_like, to_csv

#: Columns of rows.csv that stay text, as ids such as 007 are no numbers.
TEXTS = ("id", "block", "best_link_id")


class Fit:
    """A fit in its output folder. Tables are of the library of the data: pandas or polars.

    >>> import unshuffle
    >>> simulated = unshuffle.simulate(n=100, predictors=1, mislinked=0.2, sigma=0.3, seed=2)
    >>> fit = unshuffle.fit("y ~ x1", simulated.data, id="row", draws=300, warmup=300)
    >>> list(fit.summary().index)
    ['lp__', 'n_moved', 'mismatch_rate', '(Intercept)', 'x1', 'sigma2']
    >>> sorted(fit.rows.columns)[:3]
    ['best_link', 'best_link_id', 'fitted']
    >>> len(fit.completed(3))
    3
    """

    #: The output folder, whose files the command line reads too.
    folder: Path

    def __init__(
        self,
        folder: Path,
        data: Frame | None = None,
        library: Library | None = None,
        temporary: tempfile.TemporaryDirectory[str] | None = None,
    ) -> None:
        self.folder = folder
        self._data = data
        self._chosen = library
        # The folder is removed when the fit is forgotten.
        self._temporary = temporary

    @property
    def _library(self) -> Library:
        return self._chosen or installed_library()

    def summary(self) -> Frame:
        """Mean, MCSE, sd, quantiles, ESS and R-hat of every quantity, under the names of your columns.

        `label` is your name (the index of a pandas frame), `name` that of the Stan program.
        """
        table = self._table("summary.csv", texts=("name", "label"))
        if "label" not in table.columns:
            return table
        if self._library == "pandas":
            return table.set_index("label")
        return table.select(["label", *(name for name in table.columns if name != "label")])

    @cached_property
    def coefficients(self) -> Frame:
        """The coefficients by method, with 90 % intervals: `recommended` first, then `joint`, `as_linked` and others."""
        return self._table("coefficients.csv", texts=("name", "method"))

    @cached_property
    def trust(self) -> dict[str, Any]:
        """The checks of the model behind the links, and what the recommended coefficients are."""
        return self._json("trust.json")

    @cached_property
    def diagnostics(self) -> dict[str, Any]:
        """What was found wrong with the draws, each with its remedy, and times and counts by chain."""
        return self._json("diagnostics.json")

    @cached_property
    def config(self) -> dict[str, Any]:
        """The config with every default written out."""
        return self._json("config.json")

    @cached_property
    def rows(self) -> Frame:
        """For each row the probability that its link is wrong (`p_moved`), and where it probably belongs."""
        return self._table("rows.csv", texts=TEXTS)

    @cached_property
    def links(self) -> Frame:
        """The moved rows of every draw: `chain`, `draw`, `row`, `linked_to`, all counted from 1."""
        names = {path.name for path in self.folder.glob("links_*.csv")} | {name for name in self._sizes if name.startswith("links_")}
        files = sorted((self._file(name) for name in names), key=lambda path: int(path.stem.split("_")[1]))
        if not files:
            raise Error(f"the fit in {self.folder} kept every link, so it has no links to show", 2)
        tables = [(int(path.stem.split("_")[1]), read_csv(path, self._library)) for path in files]
        if self._library == "polars":
            import polars

            return polars.concat([table.select(polars.lit(chain).alias("chain"), polars.all()) for chain, table in tables])
        import pandas

        parts = [table.assign(chain=chain) for chain, table in tables]
        return pandas.concat(parts, ignore_index=True)[["chain", "draw", "row", "linked_to"]]

    @cached_property
    def idata(self) -> Any:
        """The fit as ArviZ has it: InferenceData of ArviZ 0.x, a DataTree of ArviZ 1.x.

        Groups: posterior (coefficients by the name of their term; `mismatch_rate` and `n_moved` among the variables),
        sample_stats, observed_data, constant_data and, where the law of the responses is known, posterior_predictive.
        """
        with tempfile.TemporaryDirectory() as folder:
            result = run(["export", str(self.folder), "--arviz", "--output", folder])
            return inference_data(Path(result["file"]))

    def completed(self, m: int = 20, *, also: Sequence[str] = (), seed: int = 1) -> list[Frame]:
        """`m` completed data sets: your data with the responses linked as in draws of the posterior.

        `also` are columns that were measured with the response and move with it, such as another form of it. The sets of a
        fit that was loaded from a folder have two columns more, `row` and `linked_to`.
        """
        return list(self._completed(m, also, seed))

    def _completed(self, m: int, also: Sequence[str], seed: int) -> Iterator[Frame]:
        with tempfile.TemporaryDirectory() as folder:
            words = ["export", str(self.folder), "--output", folder, "--sets", str(m), "--seed", str(seed)]
            run([*words, *(word for column in also for word in ("--also", column))])
            for k in range(1, m + 1):
                path = Path(folder) / f"completed_{k}.csv"
                columns = [] if self._data is None else list(self._data.columns)
                is_like = columns and header(path)[: len(columns)] == columns
                yield read_like(path, self._data) if is_like else read_csv(path, self._library)

    def pool(
        self,
        analysis: Callable[[Frame], Any],
        m: int = 20,
        *,
        also: Sequence[str] = (),
        seed: int = 1,
        level: float = 0.95,
    ) -> Frame:
        """Runs an analysis on `m` completed data sets and pools its estimates by Rubin's rules (`unshuffle pool`).

        The analysis returns a result of statsmodels (anything with `params`, `bse` and perhaps `df_resid`), or a dict of
        `{name: (estimate, standard error)}`. Intervals have the probability `level`.

        >>> import unshuffle
        >>> simulated = unshuffle.simulate(n=100, predictors=1, mislinked=0.2, sigma=0.3, seed=2)
        >>> fit = unshuffle.fit("y ~ x1", simulated.data, draws=300, warmup=300)
        >>> pooled = fit.pool(lambda d: {"mean": (d.y.mean(), d.y.sem())}, m=5)
        >>> list(pooled.name)
        ['mean']
        """
        lines = ["set,name,estimate,standard_error,df_complete"]
        for k, data in enumerate(self._completed(m, also, seed), start=1):
            for name, estimate, error, df in estimates(analysis(data)):
                quoted = '"' + name.replace('"', '""') + '"'
                lines.append(f"{k},{quoted},{estimate!r},{error!r},{'' if df is None else repr(df)}")
        if not any(line.split(",")[-1] for line in lines[1:]):
            lines = [line.rsplit(",", 1)[0] for line in lines]
        with tempfile.TemporaryDirectory() as folder:
            collected, pooled = Path(folder) / "estimates.csv", Path(folder) / "pooled.csv"
            collected.write_text("\n".join(lines) + "\n", encoding="utf-8")
            run(["pool", str(collected), "--output", str(pooled), "--level", str(level)])
            return read_csv(pooled, self._library, texts=("name",))

    def predict(
        self, new: Frame, *, draws: int | None = None, all: bool = False, seed: int = 1, level: float = 0.9
    ) -> Frame:
        """The posterior predictive mean, sd and quantiles of each new row, and the interval of its expected response; with `all`
        every draw of it. Intervals have the probability `level`."""
        with tempfile.TemporaryDirectory() as folder:
            rows, predicted = Path(folder) / "new.csv", Path(folder) / "predicted.csv"
            rows.write_bytes(to_csv(new))
            words = ["predict", str(self.folder), str(rows), "--output", str(predicted), "--seed", str(seed)]
            words += ["--draws", str(draws)] if draws is not None else []
            run([*words, *(["--all"] if all else ["--level", str(level)])])
            return read_csv(predicted, library_of(new), texts=("id",))

    def report(self, show: bool = False) -> Path:
        """The path of report.html; `show` opens it in a browser."""
        path = self.folder / "report.html"
        if not path.exists():
            path = Path(run(["report", str(self.folder)])["report"])
        if show:
            webbrowser.open(path.absolute().as_uri())
        return path

    def save(self, folder: str | Path) -> Fit:
        """Copies the fit to a folder that stays; `unshuffle.load` and the command line read it."""
        to = Path(folder)
        shutil.copytree(self.folder, to)
        config = json.loads((to / "config.json").read_text(encoding="utf-8"))
        for key in ("file", "left", "right", "candidates"):
            path = config["data"].get(key)
            if path is not None and Path(path).parent == self.folder.absolute() / "input":
                config["data"][key] = str((to / "input" / Path(path).name).absolute())
        config["output"] = str(to.absolute())
        (to / "config.json").write_text(json.dumps(config, indent=2) + "\n", encoding="utf-8")
        return Fit(to, self._data, self._chosen)

    @property
    def verdict(self) -> str:
        """What was found and whether to trust it, in sentences; problems first."""
        verdict = self._verdict
        return "\n".join([*(f"Problem: {text}" for text in verdict["problems"]), *verdict["findings"]])

    @cached_property
    def _overview(self) -> dict[str, Any]:
        return run(["summary", str(self.folder)])

    @property
    def _verdict(self) -> dict[str, Any]:
        found: dict[str, Any] | None = self._overview.get("verdict")
        if found is None:
            raise Error(f"the fit in {self.folder} has no verdict, since a file of it is damaged: see the warning", 2)
        return found

    def __repr__(self) -> str:
        return f"<unshuffle.Fit in {self.folder}>"

    def __str__(self) -> str:
        """The text of `unshuffle summary`."""
        return str(self._overview["text"])

    def _repr_html_(self) -> str:
        """The verdict and the coefficients beside least squares, for notebooks."""
        verdict = self._verdict
        problems = "".join(f"<li><b>Problem:</b> {html.escape(text)}</li>" for text in verdict["problems"])
        text = f"<ul>{problems}</ul>" if problems else ""
        text += "".join(f"<p>{html.escape(sentence)}</p>" for sentence in verdict["findings"])
        picture = self._overview.get("picture")
        if picture:
            text += svg_image(picture, "Coefficients with 50 and 90 % intervals")
        return f"<div>{text}</div>"

    def _table(self, name: str, texts: tuple[str, ...] = ()) -> Frame:
        return read_csv(self._file(name), self._library, texts)

    def _json(self, name: str) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self._file(name).read_text(encoding="utf-8"))
        return found

    def _file(self, name: str) -> Path:
        path = self.folder / name
        written = self._sizes.get(name, 0)
        size = path.stat().st_size if path.exists() else None
        if size is None and name not in self._sizes:
            raise Error(f"the fit in {self.folder} has no {name}: it was interrupted, or kept every link", 2)
        if size is None or size < written:
            what = "is gone, which the fit wrote" if size is None else f"has {size} of the {written} bytes that the fit wrote"
            raise Error(f"{path} {what}: make it again with `unshuffle fit --resume`, or fit again", 2)
        return path

    @cached_property
    def _sizes(self) -> dict[str, int]:
        """The bytes of each file when the fit finished; empty for one that did not, and for fits of older versions."""
        try:
            status = json.loads((self.folder / "status.json").read_text(encoding="utf-8"))
        except (OSError, ValueError):
            # The program names a damaged status.
            return {}
        sizes: dict[str, int] = status.get("sizes", {})
        return sizes


def svg_image(svg: str, alternative: str) -> str:
    """A picture as an image of its own, so that its style and the page's leave each other alone."""
    code = base64.b64encode(svg.encode()).decode()
    return f'<img alt="{alternative}" src="data:image/svg+xml;base64,{code}">'


def estimates(result: Any) -> Iterator[tuple[str, float, float, float | None]]:
    """Name, estimate, standard error and degrees of freedom of each quantity of an analysis."""
    if isinstance(result, Mapping):
        for name, (estimate, error) in result.items():
            yield str(name), float(estimate), float(error), None
        return
    if not hasattr(result, "params") or not hasattr(result, "bse"):
        raise TypeError("the analysis must return a result of statsmodels or a dict of {name: (estimate, standard error)}")
    df = getattr(result, "df_resid", None)
    names = getattr(result.params, "index", None)
    names = names if names is not None else result.model.exog_names
    for name, estimate, error in zip(names, result.params, result.bse, strict=True):
        yield str(name), float(estimate), float(error), None if df is None else float(df)
