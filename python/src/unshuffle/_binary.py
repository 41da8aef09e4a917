"""Runs the program `unshuffle --json` and turns its events into progress, warnings, results and exceptions."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import sysconfig
import tempfile
import warnings
from importlib import metadata
from pathlib import Path
from typing import IO, Any

from ._progress import Progress

#: One event of the program, or the fields of its last one.
Event = dict[str, Any]


class Error(Exception):
    """What the command line says when it fails, with its exit code.

    The codes are those of the program: 1 diagnostics failed under `strict`, 2 bad config, data or model, or a file that
    cannot be written, 3 toolchain, 4 sampler failure, 130 interrupted.

    >>> import unshuffle
    >>> try:
    ...     unshuffle.load("no_such_folder").report()
    ... except unshuffle.Error as error:
    ...     print(error.code, error)
    2 no_such_folder is no folder of a fit: it has no status.json
    """

    def __init__(self, message: str, code: int) -> None:
        super().__init__(message)
        self.code = code


class UnshuffleWarning(UserWarning):
    """What the command line warns of: problems of the draws, links that cannot move, fits that are not finished."""


def version() -> str:
    """The version of the package, which is that of the program."""
    try:
        return metadata.version("unshuffle")
    except metadata.PackageNotFoundError:
        return "unknown"


def binary() -> Path:
    """The program that this package drives.

    It is `$UNSHUFFLE_BINARY` where that is set, else the one that was installed with the package, else one on the PATH.

    >>> import unshuffle
    >>> unshuffle.binary().name
    'unshuffle'
    """
    named = os.environ.get("UNSHUFFLE_BINARY")
    if named:
        return Path(named)
    name = "unshuffle" + (sysconfig.get_config_var("EXE") or "")
    schemes = [sysconfig.get_default_scheme(), sysconfig.get_preferred_scheme("user")]
    folders = [Path(sysconfig.get_path("scripts", scheme)) for scheme in schemes]
    # `pip install --target DIR` puts programs into DIR/bin.
    folders.append(Path(__file__).parent.parent / "bin")
    for folder in folders:
        if (folder / name).is_file():
            return folder / name
    found = shutil.which(name)
    if found is None:
        raise Error("the program `unshuffle` is missing: install the package again, or set UNSHUFFLE_BINARY", 3)
    return Path(found)


def run(words: list[str], progress: bool | None = False) -> Event:
    """Runs the program with these arguments and returns the fields of its result."""
    shown = Progress.choose(progress)
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as stderr:
        process = start(words, stderr)
        try:
            last = follow(process, shown)
        except KeyboardInterrupt:
            # Once: the program then finishes its iteration and its files; a second signal would end it at once.
            process.send_signal(signal.SIGINT)
            process.communicate()
            raise
        finally:
            shown.close()
        code = process.wait()
        stderr.seek(0)
        said = stderr.read().strip()
    if last.get("event") == "result" and code == 0:
        return last
    if last.get("event") == "error":
        raise Error(str(last["message"]), int(last["code"]))
    raise Error(said or f"unshuffle ended with code {code} and without a word", code)


def start(words: list[str], stderr: IO[str]) -> subprocess.Popen[str]:
    """The program in a session of its own, so that Ctrl-C in a terminal does not reach it twice."""
    command = [str(binary()), "--json", *words]
    try:
        return subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=stderr,
            text=True,
            encoding="utf-8",
            start_new_session=sys.platform != "win32",
        )
    except OSError as error:
        raise Error(f"cannot run {command[0]}: {error}", 3) from error


def follow(process: subprocess.Popen[str], shown: Progress) -> Event:
    """Reads events to the end; returns the last one."""
    last: Event = {}
    assert process.stdout is not None
    for line in process.stdout:
        event: Event = json.loads(line)
        kind = event["event"]
        if kind == "progress":
            shown.update(event)
        elif kind == "warning":
            warnings.warn(event["message"], UnshuffleWarning, stacklevel=4)
        elif kind in ("result", "error"):
            last = event
    return last
