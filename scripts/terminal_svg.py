"""Runs a command on a terminal of 80 columns and draws what it shows first as an SVG file, light and dark.

usage: terminal_svg.py 'COMMAND AS SHOWN' PROGRAM ARGUMENT... > terminal.svg
"""

import fcntl
import html
import os
import pty
import re
import struct
import sys
import termios

COLUMNS, MOST_LINES = 80, 26
# The eight colours of terminals that the program uses, on light and on dark.
COLOURS = {"31": ("#a4260a", "#ffab87"), "32": ("#0b6b4b", "#5fd3a6"), "33": ("#7a4a00", "#f0b64c")}
WIDTH, LINE = 7.25, 17


def shown(arguments):
    """What the command writes to a terminal."""
    text = []

    os.environ.update(COLUMNS=str(COLUMNS), TERM="xterm")
    os.environ.pop("NO_COLOR", None)
    child, descriptor = pty.fork()
    if child == 0:
        fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", 50, COLUMNS, 0, 0))
        os.execvp(arguments[0], arguments)
    try:
        while True:
            text.append(os.read(descriptor, 65536))
    except OSError:
        pass
    _, status = os.waitpid(child, 0)
    if status != 0:
        sys.exit(f"{arguments[0]} ended with {os.waitstatus_to_exitcode(status)}")
    return b"".join(text).decode().replace("\r\n", "\n")


def spans(line):
    """The line as SVG text, coloured as the terminal would."""
    pieces, classes = "", []
    for part in re.split(r"(\x1b\[[0-9;]*m)", line):
        if not part.startswith("\x1b"):
            text = html.escape(part)
            pieces += f'<tspan class="{" ".join(classes)}">{text}</tspan>' if classes and text else text
            continue
        for code in part[2:-1].split(";"):
            classes = [] if code in ("", "0") else [*classes, f"c{code}"]
    return pieces


def main():
    typed, arguments = sys.argv[1], sys.argv[2:]
    lines = shown(arguments).split("\n")
    lines = [f"$ {typed}", *lines][:MOST_LINES]
    width, height = round(COLUMNS * WIDTH + 32), LINE * len(lines) + 28
    light = "".join(f".c{code}{{fill:{pair[0]}}}" for code, pair in COLOURS.items())
    dark = "".join(f".c{code}{{fill:{pair[1]}}}" for code, pair in COLOURS.items())
    print(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img">')
    print(f"<title>{html.escape(typed)}</title>")
    print(
        f"<style>text{{font:12px ui-monospace,Menlo,Consolas,'Liberation Mono','DejaVu Sans Mono',monospace;white-space:pre;fill:#1f2328}}"
        f"rect{{fill:#fff;stroke:#d8dee4}}.c1{{font-weight:700}}{light}"
        f"@media(prefers-color-scheme:dark){{text{{fill:#e6edf3}}rect{{fill:#0d1117;stroke:#2d3540}}{dark}}}</style>"
    )
    print(f'<rect x="0.5" y="0.5" width="{width - 1}" height="{height - 1}" rx="6"/>')
    for k, line in enumerate(lines):
        if line:
            print(f'<text x="16" y="{LINE * (k + 1) + 8}" xml:space="preserve">{spans(line)}</text>')
    print("</svg>")


main()
