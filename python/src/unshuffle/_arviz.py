"""The groups that `unshuffle export --arviz` writes, as an object of ArviZ."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any


def inference_data(path: Path) -> Any:
    """InferenceData of ArviZ 0.x, a DataTree of ArviZ 1.x."""
    try:
        import arviz
    except ImportError as error:
        raise ImportError("fit.idata needs ArviZ: pip install arviz") from error
    groups = datasets(path)
    # ArviZ 1.x has the name InferenceData too, for a DataTree.
    if arviz.__version__.startswith("0."):
        return arviz.InferenceData(**groups)
    import xarray

    return xarray.DataTree.from_dict({f"/{name}": group for name, group in groups.items()})


def datasets(path: Path) -> dict[str, Any]:
    """One xarray.Dataset for each group.

    The arrays are not compressed inside the zip file and have one chunk each, so that they need no Zarr library.
    """
    import numpy
    import xarray

    with zipfile.ZipFile(path) as archive:
        metadata = json.loads(archive.read(".zmetadata"))["metadata"]
        arrays: dict[str, dict[str, Any]] = {}
        for key, described in metadata.items():
            if not key.endswith("/.zarray"):
                continue
            group, name, _ = key.split("/")
            dims = metadata[f"{group}/{name}/.zattrs"]["_ARRAY_DIMENSIONS"]
            chunk = archive.read(f"{group}/{name}/{'.'.join(['0'] * len(dims))}")
            values = numpy.frombuffer(chunk, dtype=described["dtype"]).reshape(described["shape"])
            arrays.setdefault(group, {})[name] = (dims, values.copy())
        about = {group: metadata[f"{group}/.zattrs"] for group in arrays}
    found = {}
    for group, variables in arrays.items():
        coordinates = {name: variable for name, variable in variables.items() if variable[0] == [name]}
        others = {name: variable for name, variable in variables.items() if name not in coordinates}
        found[group] = xarray.Dataset(others, coords=coordinates, attrs=about[group])
    return found
