"""Prints, by the number of rows, the time of a fit, and the size and the times of its report.

usage: report.py [--binary PROGRAM] [--browser]

With --browser, the report is opened in Chromium (the Python of `make browser` has what that needs).
"""

import argparse
import json
import resource
import subprocess
import tempfile
import time
from pathlib import Path

ROWS = (250, 1000, 5000, 20_000)
CHAINS, WARMUP, DRAWS = 2, 300, 300


def processor_seconds():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def measured(command):
    """Processor time of a command, and time by the clock."""
    before, start = processor_seconds(), time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return processor_seconds() - before, time.perf_counter() - start


def first_paint(browser, path):
    """Milliseconds until the page is complete and its first picture is drawn: the fastest of three."""
    times = []
    for _ in range(3):
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        page.goto(path.resolve().as_uri())
        page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
        entry = json.loads(page.evaluate("() => JSON.stringify(performance.getEntriesByType('navigation')[0])"))
        paint = page.evaluate("() => performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? 0")
        times.append(max(entry["loadEventEnd"], paint))
        page.close()
    return min(times)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--binary", default="target/release/unshuffle")
    parser.add_argument("--browser", action="store_true")
    parser.add_argument("--rows", type=int, nargs="*", default=ROWS)
    options = parser.parse_args()
    shown = ["rows", "fit, processor time", "`unshuffle report`, processor time", "by the clock", "report.html", "opened in Chromium"]
    print("| " + " | ".join(shown) + " |\n|" + "---:|" * len(shown))
    with tempfile.TemporaryDirectory() as folder:
        if options.browser:
            from playwright.sync_api import sync_playwright

            playwright = sync_playwright().start()
            browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
        for rows in options.rows:
            place = Path(folder) / str(rows)
            simulate = f"simulate --design general --n {rows} --predictors 4 --mislinked 0.1 --output {place}"
            subprocess.run([options.binary, *simulate.split()], check=True, stdout=subprocess.DEVNULL)
            config = next(path for path in place.glob("*.json") if "model" in json.loads(path.read_text()))
            sampler = f"--set sampler.chains={CHAINS} --set sampler.warmup={WARMUP} --set sampler.draws={DRAWS}"
            output = place / "fit"
            fit, _ = measured([options.binary, "fit", config, "--quiet", *sampler.split(), "--set", f"output={output}"])
            report, clock = measured([options.binary, "report", output])
            page = output / "report.html"
            opened = f"{first_paint(browser, page) / 1000:.2f} s" if options.browser else ""
            size = page.stat().st_size / 1e6
            print(f"| {rows} | {fit:.1f} s | {report:.2f} s | {clock:.2f} s | {size:.2f} MB | {opened} |", flush=True)
        if options.browser:
            browser.close()
            playwright.stop()


if __name__ == "__main__":
    main()
