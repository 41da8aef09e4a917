"""`python -m unshuffle` is the command line."""

from __future__ import annotations

import subprocess
import sys

from ._binary import binary

if __name__ == "__main__":
    sys.exit(subprocess.call([str(binary()), *sys.argv[1:]]))
