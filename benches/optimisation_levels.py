"""Processor time of compiling shipped models at several -O levels, and of one gradient of each; prints a Markdown table.

    python3 benches/optimisation_levels.py --binary target/release/unshuffle

Each level starts from a cache that has Stan and nothing else, so about a gigabyte of disk and minutes of work are needed. With
`--here` the user's own cache is used: what it has compiled is not compiled again, and only the gradients are measured.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import random
import resource
import subprocess
import tempfile
import time
from pathlib import Path

N, D = 1000, 20
#: In this order: the first one is compiled with the bridge and without precompiled headers, the second one makes them.
MODELS = ("linear", "quantile", "robust")


def data(model: str) -> str:
    """Stan data of N rows and D columns, the intercept among them."""
    draw = random.Random(1)
    rows = [[1.0] + [draw.gauss(0, 1) for _ in range(D - 1)] for _ in range(N)]
    scale = {"sigma2_scale": 1.0} if model == "linear" else {"sigma_scale": 1.0}
    tau = {"tau": 0.5} if model == "quantile" else {}
    common = {"N": N, "D": D, "X": rows, "alpha": 1.0, "weighted": 0, "has_offset": 0, "offsets": [], "X_centre": [0.0] * D}
    return json.dumps({**common, "beta_location": [0.0] * D, "beta_scale": [1.0] * D, **scale, **tau})


def compiled(binary: Path, model: str, flags: str, cache: Path) -> tuple[Path, str]:
    """The shared library, and the processor time that it took."""
    env = {**os.environ, "UNSHUFFLE_CACHE": str(cache), "UNSHUFFLE_CXXFLAGS": flags}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([binary, "compile", model], env=env, check=True, capture_output=True, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    took = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    spent = "cached" if "already compiled" in done.stdout else f"{took:.0f} s"
    return Path(done.stdout.strip().rsplit(": ", 1)[1]), spent


def gradient(library: Path, model: str) -> tuple[float, list[float]]:
    """Microseconds of one gradient, the fastest of many batches, and its value."""
    stan = ctypes.CDLL(str(library))
    stan.bs_model_construct.restype = ctypes.c_void_p
    built = ctypes.c_void_p(stan.bs_model_construct(data(model).encode(), 1, None))
    assert built.value, "the data do not suit the program"
    size = stan.bs_param_unc_num(built)
    draw = random.Random(2)
    point = (ctypes.c_double * size)(*(draw.gauss(0, 1) for _ in range(size)))
    value, slope = ctypes.c_double(), (ctypes.c_double * size)()

    def once() -> None:
        code = stan.bs_log_density_gradient(built, True, True, point, ctypes.byref(value), slope, None)
        assert code == 0

    batches, calls = 40, 100
    times = []
    for _ in range(batches):
        begun = time.process_time()
        for _ in range(calls):
            once()
        times.append((time.process_time() - begun) / calls)
    return 1e6 * min(times), [value.value, *slope]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--binary", default="target/release/unshuffle")
    parser.add_argument("--levels", default="-O1,-O3", help="for example --levels=-O1,-O2,-O3; an empty one means the usual flags")
    parser.add_argument("--here", action="store_true", help="use the cache of the user instead of empty ones")
    args = parser.parse_args()
    shared = Path(os.environ.get("UNSHUFFLE_CACHE") or Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "unshuffle")
    head = [f"compile {name}" for name in MODELS] + [f"gradient {name}" for name in MODELS]
    print(f"| level | {' | '.join(head)} |\n|---|{'---:|' * len(head)}")
    values: dict[str, list[list[float]]] = {name: [] for name in MODELS}
    for level in args.levels.split(","):
        with tempfile.TemporaryDirectory() as empty:
            (Path(empty) / "toolchains").symlink_to(shared / "toolchains")
            cache = shared if args.here else Path(empty)
            cells, gradients = [], []
            for name in MODELS:
                library, spent_compiling = compiled(Path(args.binary).resolve(), name, level, cache)
                cells.append(spent_compiling)
                spent, value = gradient(library, name)
                gradients.append(f"{spent:.1f} µs")
                values[name].append(value)
            print(f"| `{level or '-O3'}` | {' | '.join(cells + gradients)} |", flush=True)
    same = [name for name, found in values.items() if all(value == found[0] for value in found)]
    print(f"Log density and gradient are the same to the last bit at all levels for: {', '.join(same) or 'no model'}.")


if __name__ == "__main__":
    main()
