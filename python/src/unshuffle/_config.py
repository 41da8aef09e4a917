"""From the arguments of `fit` and `assess` to a config of the program."""

from __future__ import annotations

import copy
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ._tables import Frame, write_by_content

#: A formula, a config as a dict, or the path of one.
Source = str | os.PathLike[str] | Mapping[str, Any]

#: Where each keyword stands in a config.
PLACES = {
    "name": ("name",),
    "temperature": ("temperature",),
    "model": ("model", "stan"),
    "family": ("model", "family"),
    "priors": ("model", "priors"),
    "outcome": ("model", "outcome"),
    "model_data": ("model", "data"),
    "intercept": ("data", "intercept"),
    "reference": ("data", "reference"),
    "missing": ("data", "missing"),
    "id": ("data", "id"),
    "block": ("data", "block"),
    "safe": ("data", "safe"),
    "match_probability": ("data", "match_probability"),
    "weights": ("data", "weights"),
    "offset": ("data", "offset"),
    "strata": ("data", "strata"),
    "clusters": ("data", "clusters"),
    "prior": ("permutation", "prior"),
    "update": ("permutation", "update"),
    "feedback": ("permutation", "feedback"),
    "outside": ("permutation", "outside"),
    "rate_formula": ("permutation", "rate_formula"),
    "audit_by_block": ("permutation", "audit_by_block"),
    "chains": ("sampler", "chains"),
    "warmup": ("sampler", "warmup"),
    "draws": ("sampler", "draws"),
    "thin": ("sampler", "thin"),
    "seed": ("sampler", "seed"),
    "target_accept": ("sampler", "target_accept"),
    "max_depth": ("sampler", "max_depth"),
    "metric": ("sampler", "metric"),
    "init": ("sampler", "init"),
}


class Settings:
    """A config on its way to the program, and the folder that its paths start from.

    >>> settings = Settings("log(wage) ~ educ", {"block": "region", "audit": (100, 7), "seed": 3})
    >>> settings.config["data"]
    {'formula': 'log(wage) ~ educ', 'block': 'region'}
    >>> settings.config["permutation"]["prior"]
    {'name': 'beta_binomial', 'audit': {'checked': 100, 'wrong': 7}}
    """

    def __init__(self, source: Source, keywords: Mapping[str, Any]) -> None:
        self.base = Path.cwd()
        #: The file of the config, where it has one.
        self.file: Path | None = None
        self.config: dict[str, Any] = self.read(source)
        for name, value in keywords.items():
            self.set(name, value)
        self.config.setdefault("model", {}).setdefault("stan", "linear")

    def read(self, source: Source) -> dict[str, Any]:
        """The config that a formula, a dict or a file stands for."""
        if isinstance(source, Mapping):
            return copy.deepcopy(dict(source))
        if isinstance(source, str) and "~" in source:
            return {"data": {"formula": source}}
        self.file = Path(source).absolute()
        self.base = self.file.parent
        config: dict[str, Any] = json.loads(self.file.read_text(encoding="utf-8"))
        return config

    def set(self, name: str, value: Any) -> None:
        """Puts one keyword into its place."""
        if value is None:
            return
        if name == "audit":
            prior = self.config.setdefault("permutation", {}).setdefault("prior", {"name": "beta_binomial"})
            prior["audit"] = audit(value)
            return
        if name not in PLACES:
            raise TypeError(f"`{name}` is not a keyword; there are {', '.join(sorted([*PLACES, 'audit', 'candidates']))}")
        if name in ("family", "prior", "update") and isinstance(value, str):
            value = {"name": value}
        *parts, last = PLACES[name]
        place = self.config
        for part in parts:
            place = place.setdefault(part, {})
        place[last] = os.fspath(value) if isinstance(value, os.PathLike) else value

    def output(self) -> Path | None:
        """The folder that the config asks for; None where it is for the caller to choose."""
        if self.config.get("output"):
            return self.base / str(self.config["output"])
        if self.file is not None:
            return self.base / "out" / str(self.config.get("name") or self.file.stem)
        return None

    def write(self, folder: Path, data: Frame | None, candidates: Frame | None, name: str = "fit") -> Path:
        """Writes the config and the data frames into `folder/input`; returns the path of the config."""
        place = folder / "input"
        place.mkdir(parents=True, exist_ok=True)
        columns = self.config.setdefault("data", {})
        self.config.setdefault("name", self.file.stem if self.file is not None else name)
        self.resolve_paths()
        if isinstance(data, (str, os.PathLike)):
            columns["file"] = str(Path(data).absolute())
        elif data is not None:
            columns["file"] = str(write_by_content(data, place, "data").absolute())
        if isinstance(candidates, (str, os.PathLike)):
            columns["candidates"] = str(Path(candidates).absolute())
        elif candidates is not None:
            columns["candidates"] = str(write_by_content(candidates, place, "candidates").absolute())
        self.config["output"] = str(folder.absolute())
        path = place / "config.json"
        path.write_text(json.dumps(self.config, indent=2) + "\n", encoding="utf-8")
        return path

    def resolve_paths(self) -> None:
        """The program takes paths as relative to its config, which is about to be written elsewhere."""
        columns, model = self.config["data"], self.config["model"]
        sampler = self.config.get("sampler", {})
        for part, key in [(columns, name) for name in ("file", "left", "right", "candidates")] + [
            (model, "stan"),
            (sampler, "init"),
        ]:
            value = part.get(key)
            is_path = part is columns or (isinstance(value, str) and value.endswith((".stan", ".json")))
            if value is not None and is_path:
                part[key] = str((self.base / str(value)).absolute())


def audit(value: Any) -> Any:
    """`(checked, wrong)`, or the object of a config."""
    if isinstance(value, Mapping):
        return dict(value)
    checked, wrong = value
    return {"checked": checked, "wrong": wrong}
