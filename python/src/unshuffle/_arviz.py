"""The netCDF file that `unshuffle export --arviz` writes, as an object of ArviZ."""

from __future__ import annotations

from pathlib import Path
from typing import Any


def inference_data(path: Path) -> Any:
    """InferenceData of ArviZ 0.x, a DataTree of ArviZ 1.x; the file is no longer needed."""
    try:
        import arviz
    except ImportError as error:
        raise ImportError("fit.idata needs ArviZ: pip install arviz") from error
    try:
        idata = arviz.from_netcdf(str(path))
    # xarray finds no engine, or the one that ArviZ asks for is missing.
    except (ImportError, ValueError) as error:
        raise ImportError("ArviZ needs a reader of netCDF files for fit.idata: pip install netcdf4") from error
    idata.load()
    idata.close()
    return idata
