"""Runs a notebook from beginning to end; a cell that fails ends it with code 1. The file is left as it is."""

from __future__ import annotations

import sys
from pathlib import Path

import nbformat
from nbclient import NotebookClient


def main() -> None:
    path = Path(sys.argv[1])
    notebook = nbformat.read(path, as_version=4)
    NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(path.parent)}}).execute()
    shown = sum(len(cell.get("outputs", [])) for cell in notebook.cells)
    assert shown > 5, "the cells show something"
    if "--write" in sys.argv:
        nbformat.write(notebook, path)
    print(f"{path.name}: {len(notebook.cells)} cells, {shown} outputs")


if __name__ == "__main__":
    main()
