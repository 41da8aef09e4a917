"""Installs the wheel into an empty environment and fits every shipped model, without compiler, cache and network.

Prints the size of the wheel and the time from the beginning of the installation (of the environment, too) to the end of the
first fit; on a machine with other work, the processor time says more.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[2]

#: Fits one config with few draws, and says what was found. There is no data frame library in the environment.
FIRST = """
import sys, unshuffle
fit = unshuffle.fit("log_food ~ log_income", sys.argv[1], progress=False)
assert fit.trust["source"], fit.trust
print(fit.verdict.splitlines()[0])
"""
EVERY = """
import sys, warnings, unshuffle
warnings.simplefilter("ignore")
for config in sys.argv[2:]:
    fit = unshuffle.fit(config, output=f"{sys.argv[1]}/{config.split('/')[-1]}", draws=50, warmup=100, progress=False)
    print(fit.config["model"]["stan"])
"""


def configs() -> list[str]:
    """The shipped config of each shipped model."""
    models = sorted(path.stem for path in (ROOT / "stan").glob("*.stan"))
    assert len(models) > 10, models
    return [str(ROOT / f"configs/{'quickstart' if name == 'linear' else name}.json") for name in models]


def main() -> None:
    wheel = Path(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        # Neither a compiler nor python3 with pip, which would fetch Stan, can be found here.
        bare = {"HOME": folder, "PATH": "/nonexistent"}
        # The flags that the models in the wheel were compiled with, where they are not the usual ones.
        bare.update({name: os.environ[name] for name in ["UNSHUFFLE_CXXFLAGS"] if name in os.environ})
        python = place / "venv/bin/python"

        def run(code: str, *words: str) -> str:
            done = subprocess.run([python, "-c", code, *words], env=bare, cwd=folder, text=True, capture_output=True)
            assert done.returncode == 0, done.stderr
            return done.stdout

        start = time.monotonic()
        subprocess.run([sys.executable, "-m", "venv", place / "venv"], check=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", "--no-index", wheel], check=True, env=os.environ)
        installed = time.monotonic()
        print(run(FIRST, str(ROOT / "configs/data/engel_mislinked.csv")).strip())
        fitted = time.monotonic()
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = run(EVERY, folder, *configs()).split()
        # The command line finds the models too, and a program of one's own asks for a compiler.
        check = subprocess.run(
            [place / "venv/bin/unshuffle", "check", ROOT / "configs/quickstart.json"],
            env=bare, text=True, capture_output=True,
        )
        assert check.returncode == 0, check.stderr
        own = place / "own.stan"
        own.write_text((ROOT / "stan/linear.stan").read_text() + "// my own\n")
        refused = subprocess.run(
            [place / "venv/bin/unshuffle", "compile", own], env=bare, text=True, capture_output=True
        )
        assert refused.returncode == 3 and "install a C++17 compiler (Debian: g++)" in refused.stderr, refused.stderr
        assert len(refused.stderr.splitlines()) == 1, refused.stderr
        left = [path for path in place.rglob("model.so") if "venv" not in path.parts]
        assert not left, "nothing is compiled, and the cache stays empty"
    megabytes = wheel.stat().st_size / 1e6
    print(json.dumps({
        "wheel": wheel.name,
        "wheel_megabytes": round(megabytes, 1),
        "install_seconds": round(installed - start, 1),
        "install_to_first_fit_seconds": round(fitted - start, 1),
        "install_to_first_fit_cpu_seconds": round(used.ru_utime + used.ru_stime, 1),
        "models": done,
    }))


if __name__ == "__main__":
    main()
