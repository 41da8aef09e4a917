"""Progress of a fit: one line in a terminal, one bar in a notebook, nothing elsewhere."""

from __future__ import annotations

import sys
import time
from typing import Any


class Progress:
    """Takes the progress events of the program; this one shows nothing."""

    def update(self, event: dict[str, Any]) -> None:
        """Shows one event."""

    def close(self) -> None:
        """Removes what was shown."""

    @staticmethod
    def choose(wanted: bool | None) -> Progress:
        """`None` shows progress where a person may be watching."""
        if wanted is False:
            return Progress()
        if in_notebook():
            return NotebookProgress()
        if wanted or sys.stderr.isatty():
            return TerminalProgress()
        return Progress()


class Line(Progress):
    """Keeps a line of text up to date."""

    #: Seconds between two updates.
    BETWEEN = 0.1

    def __init__(self) -> None:
        self.chains: dict[int, tuple[int, int]] = {}
        self.divergences: dict[int, int] = {}
        self.shown_at = 0.0

    def update(self, event: dict[str, Any]) -> None:
        if "chain" in event:
            self.chains[event["chain"]] = (event["done"], event["total"])
            self.divergences[event["chain"]] = event["divergences"]
            share = sum(done for done, _ in self.chains.values()) / sum(total for _, total in self.chains.values())
            ended = share == 1.0
            text = f"{event['phase']}, {len(self.chains)} chains"
            if divergences := sum(self.divergences.values()):
                text += f", {divergences} divergent"
            if not ended and time.monotonic() - self.shown_at < self.BETWEEN:
                return
            self.shown_at = time.monotonic()
            self.show(share, text)
        elif "task" in event and "seconds" not in event:
            self.show(0.0, f"{event['task']}, about {event['about_seconds']} s")

    def show(self, share: float, text: str) -> None:
        """Shows the share that is done, from 0 to 1, and what is being done."""
        raise NotImplementedError


class TerminalProgress(Line):
    """A line on stderr."""

    WIDTH = 30

    def show(self, share: float, text: str) -> None:
        done = round(self.WIDTH * share)
        bar = "=" * done + " " * (self.WIDTH - done)
        sys.stderr.write(f"\r\x1b[K[{bar}] {100 * share:3.0f} % {text}")
        sys.stderr.flush()

    def close(self) -> None:
        if self.shown_at:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()


class NotebookProgress(Line):
    """A bar in the output of a cell."""

    def __init__(self) -> None:
        super().__init__()
        from IPython.display import HTML, display

        self.html = HTML
        self.handle = display(HTML(""), display_id=True)

    def show(self, share: float, text: str) -> None:
        if self.handle is not None:
            self.handle.update(self.html(f'<progress value="{share:.3f}"></progress> {100 * share:.0f} % {text}'))

    def close(self) -> None:
        if self.handle is not None:
            self.handle.update(self.html(""))


def in_notebook() -> bool:
    """Whether this is the kernel of a notebook."""
    if "IPython" not in sys.modules:
        return False
    from IPython import get_ipython

    return type(get_ipython()).__name__ == "ZMQInteractiveShell"
