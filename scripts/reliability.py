"""Breaks fits and studies on purpose, resumes them, and compares with runs that nobody broke: writes docs/reliability.md.

`make reliability` runs all of it; `python3 scripts/reliability.py --quick` a tenth, without writing the page. Any loss ends with exit code 1.
"""
import argparse, csv, json, os, random, resource, shutil, signal, subprocess, sys, tempfile, threading, time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FILES = ["draws_1.csv", "draws_2.csv", "links_1.csv", "links_2.csv", "rows.csv", "coefficients.csv", "trust.json"]
SECONDS = " seconds ("


class Bench:
    def __init__(self, binary, folder, scale):
        self.binary, self.folder, self.scale = str(binary), Path(folder), scale
        self.losses, self.panics, self.rows = [], 0, []
        self.random = random.Random(1)

    def number(self, full):
        return max(2, full // self.scale)

    def run(self, *arguments, env=None, limit=None):
        def limited():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
        done = subprocess.run([self.binary, *arguments], cwd=self.folder, capture_output=True, text=True, env={**os.environ, **(env or {})},
                              preexec_fn=limited if limit is not None else None)
        self.count_panics(done.stderr, arguments)
        return done

    def count_panics(self, stderr, arguments):
        if "panicked" in stderr:
            self.panics += 1
            print(f"PANIC: {arguments}\n{stderr}", file=sys.stderr)

    def kill_after(self, seconds, *arguments, by=signal.SIGKILL):
        """Ends the program by a signal after so many seconds; false where it had ended before."""
        child = subprocess.Popen([self.binary, *arguments], cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            child.wait(seconds)
            return False
        except subprocess.TimeoutExpired:
            child.send_signal(by)
            child.wait()
            return True

    def expect(self, is_so, what):
        if not is_so:
            self.losses.append(what)
            print(f"LOSS: {what}", file=sys.stderr)

    def tell(self, what, tried, result):
        self.rows.append((what, tried, result))
        print(f"{what}: {tried}; {result}", flush=True)


def text_of(folder, files):
    """All bytes but those of lines with times."""
    def lines(name):
        path = folder / name
        return [line for line in path.read_text().split("\n") if SECONDS not in line] if path.exists() else None
    return {name: lines(name) for name in files}


def fit_config(bench, draws):
    bench.run("simulate", "--design", "general", "--n", "60", "--predictors", "2", "--mislinked", "0.1", "--r2", "0.95", "--seed", "1", "--output", "base")
    config = {"model": {"stan": "linear"}, "data": {"file": "base/data.csv", "response": "y", "predictors": ["x1", "x2"]},
              "sampler": {"chains": 2, "warmup": 500, "draws": draws}, "output": "whole"}
    (bench.folder / "fit.json").write_text(json.dumps(config))


def fit(bench, output, *more, **how):
    return bench.run("fit", "fit.json", "--quiet", "--checkpoint", "0.05", "--set", f"output={output}", *more, **how)


def same_fit(bench, output, what):
    whole, other = (text_of(bench.folder / name, FILES) for name in ("whole", output))
    bench.expect(None not in whole.values() and whole == other, what)
    shutil.rmtree(bench.folder / output, ignore_errors=True)


def killed_fits(bench):
    begun = time.monotonic()
    done = fit(bench, "whole")
    assert done.returncode == 0, done.stderr
    duration = time.monotonic() - begun
    num_killed, wanted = 0, bench.number(50)
    for number in range(wanted):
        output = f"killed{number}"
        arguments = ["fit", "fit.json", "--quiet", "--checkpoint", "0.05", "--set", f"output={output}"]
        resume = []
        for _ in range(bench.random.choice([1, 1, 2, 3])):
            num_killed += bench.kill_after(bench.random.uniform(0.02, duration), *arguments, *resume)
            resume = ["--resume"]
        done = fit(bench, output, "--resume")
        bench.expect(done.returncode == 0, f"resume after kill {number}: {done.stderr}")
        same_fit(bench, output, f"kill {number}")
    bench.tell("kill -9 of a fit", f"{wanted} fits killed at {num_killed} random moments", "resumed: byte-identical")


def num_rows(path):
    return sum(not line.startswith("#") for line in path.read_text().splitlines()) - 1


def interrupted_fits(bench):
    """Ctrl-C, SIGTERM and SIGHUP: chains of one length, and no draw lost."""
    begun = time.monotonic()
    assert fit(bench, "uninterrupted").returncode == 0
    duration = time.monotonic() - begun
    num_stopped, wanted = 0, bench.number(20)
    for number in range(wanted):
        output = f"interrupted{number}"
        arguments = ["fit", "fit.json", "--quiet", "--checkpoint", "0.05", "--set", f"output={output}"]
        by = bench.random.choice([signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
        num_stopped += bench.kill_after(bench.random.uniform(0.3, 0.9) * duration, *arguments, by=by)
        lengths = [num_rows(path) for path in sorted((bench.folder / output).glob("draws_*.csv"))]
        bench.expect(len(set(lengths)) <= 1, f"chains of {lengths} draws after {by.name}")
        done = fit(bench, output, "--resume")
        bench.expect(done.returncode == 0, f"resume after {by.name}: {done.stderr}")
        same_fit(bench, output, f"{by.name} {number}")
    bench.tell("Ctrl-C, SIGTERM or SIGHUP", f"{wanted} fits, {num_stopped} of them interrupted", "chains of one length; resumed: byte-identical")


def full_disks(bench):
    largest = max((bench.folder / "whole" / name).stat().st_size for name in FILES)
    sizes = [int(largest * (k + 1) / (bench.number(20) + 1)) for k in range(bench.number(20))]
    for size in sizes:
        done = fit(bench, "full", limit=size)
        bench.expect(done.returncode != 0 and done.stderr.strip(), f"a disk of {size} bytes was not told")
        done = fit(bench, "full", "--resume")
        bench.expect(done.returncode == 0, f"resume after a disk of {size} bytes: {done.stderr}")
        same_fit(bench, "full", f"a disk of {size} bytes")
    bench.tell("disk full", f"{len(sizes)} sizes from {sizes[0]} to {sizes[-1]} bytes a file", "told with an exit code above 0; resumed: byte-identical")


def failing_writes(bench):
    library, count = bench.folder / "failing_write.so", bench.folder / "count"
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", library, ROOT / "scripts" / "failing_write.c", "-ldl"], check=True)
    config = json.loads((bench.folder / "fit.json").read_text())
    config["sampler"].update(warmup=100, draws=100)
    (bench.folder / "short.json").write_text(json.dumps(config))
    arguments = ["fit", "short.json", "--quiet", "--threads", "1", "--checkpoint", "0.02"]
    bench.run(*arguments, "--set", "output=short")
    below = str(bench.folder / "failing")
    env = {"LD_PRELOAD": str(library), "FAIL_BELOW": below, "FAIL_COUNT": str(count)}
    bench.run(*arguments, "--set", "output=failing", env=env)
    total = int(count.read_text())
    shutil.rmtree(below, ignore_errors=True)
    step = bench.scale
    tried = silent = 0
    whole = text_of(bench.folder / "short", FILES)
    for at in range(1, total + 1, step):
        done = bench.run(*arguments, "--set", "output=failing", env={**env, "FAIL_AT": str(at)})
        tried += 1
        if done.returncode == 0:
            silent += 1
        else:
            bench.expect(len(done.stderr.strip()) > 0, f"write {at} failed without a word")
            done = bench.run(*arguments, "--set", "output=failing", "--resume")
            if done.returncode != 0:
                done = bench.run(*arguments, "--set", "output=failing", "--force")
            bench.expect(done.returncode == 0, f"no way on after write {at}: {done.stderr}")
        bench.expect(text_of(bench.folder / "failing", FILES) == whole, f"write {at}")
        shutil.rmtree(below, ignore_errors=True)
    result = f"{tried - silent} told with an exit code above 0 and mended by resuming or fitting again, {silent} without effect on the results"
    bench.tell("one write, rename or creation that fails", f"{tried} of the {total} calls of a fit, one at a time", result)


def study_config(bench, name, repeats, **more):
    config = {"name": name, "seed": 1, "repeats": repeats, "detail": 0,
              "data": {"design": "general", "n": 30, "predictors": 1, "r2": 0.9, "mislinked": [0, 0.2]},
              "methods": {"least_squares": {"baseline": "least_squares"}}, "output": name, **more}
    (bench.folder / f"{name}.json").write_text(json.dumps(config))
    return f"{name}.json"


def killed_studies(bench):
    methods = {"ours": {"sampler": {"chains": 2, "warmup": 200, "draws": 200}}, "huber": {"baseline": "huber"}}
    file = study_config(bench, "study", 6, methods=methods)
    begun = time.monotonic()
    assert bench.run("study", file).returncode == 0
    duration = time.monotonic() - begun
    tables = ["results.csv", "summary.csv"]
    tables = [name for name in tables if (bench.folder / "study" / name).exists()]
    def content(folder):
        table = {}
        for name in tables:
            with open(bench.folder / folder / name) as text:
                rows = list(csv.DictReader(text))
            table[name] = [{key: value for key, value in row.items() if "second" not in key and "ms" not in key and "time" not in key and "per_s" not in key} for row in rows]
        return table
    wanted = bench.number(20)
    for number in range(wanted):
        output = f"study{number}"
        bench.kill_after(bench.random.uniform(0.02, duration), "study", file, "--set", f"output={output}")
        done = bench.run("study", file, "--set", f"output={output}")
        bench.expect(done.returncode == 0 and content(output) == content("study"), f"study {number}: {done.stderr}")
        shutil.rmtree(bench.folder / output, ignore_errors=True)
    bench.tell("kill -9 of a study", f"{wanted} random moments", "resumed: the same tables")


def many_tasks(bench):
    repeats = bench.number(2500)
    file = study_config(bench, "many", repeats)
    begun = time.monotonic()
    done = bench.run("study", file, "--quiet") if "--quiet" in bench.run("study", "--help").stdout else bench.run("study", file)
    rows = sum(1 for _ in (bench.folder / "many" / "plan.csv").open()) - 1
    finished = len(list((bench.folder / "many" / "tasks").glob("*/done.json")))
    bench.expect(done.returncode == 0 and rows == finished == 2 * repeats, f"{finished} of {rows} tasks: {done.stderr[-300:]}")
    bench.tell("tiny study tasks", f"{rows}", f"all done in {time.monotonic() - begun:.0f} s")


def many_fits(bench):
    cache = bench.folder / "cache"
    env = {**os.environ, "UNSHUFFLE_CACHE": str(cache)}
    # The toolchain is there, the model is not: one of them compiles it.
    shared = Path(os.environ.get("UNSHUFFLE_CACHE") or Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "unshuffle")
    cache.mkdir()
    for part in shared.iterdir():
        if part.name not in ("models", "locks", "failed"):
            shutil.copytree(part, cache / part.name, symlinks=True)
    count = bench.number(64)
    children = []
    for number in range(count):
        command = [bench.binary, "fit", "fit.json", "--quiet", "--threads", "1", "--set", f"output=many{number}", "--set", "sampler.draws=200"]
        children.append(subprocess.Popen(command, cwd=bench.folder, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True))
    failures = [stderr for child in children for stderr in [child.communicate()[1]] if child.returncode != 0]
    first = text_of(bench.folder / "many0", FILES)
    same = all(text_of(bench.folder / f"many{number}", FILES) == first for number in range(count))
    models = len(list((cache / "models").iterdir()))
    bench.expect(not failures and same, f"{len(failures)} of {count} fits failed: {failures[:1]}")
    bench.tell("fits at once on one new cache", f"{count}", f"all alike; {models} compiled model")
    shutil.rmtree(cache)


class Soak:
    """Memory of one process that fits again and again, beside the other parts."""

    def __init__(self, bench, minutes):
        self.bench, self.minutes, self.sizes = bench, minutes, []
        file = study_config(bench, "soak", 100000, methods={"ours": {"sampler": {"chains": 2, "warmup": 300, "draws": 300}}})
        self.child = subprocess.Popen([bench.binary, "study", file], cwd=bench.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.watcher = threading.Thread(target=self.watch, daemon=True)
        self.watcher.start()

    def watch(self):
        end = time.monotonic() + 60 * self.minutes
        while time.monotonic() < end and self.child.poll() is None:
            time.sleep(min(5, 6 * self.minutes))
            status = Path(f"/proc/{self.child.pid}/status").read_text()
            if "VmRSS:" in status:
                self.sizes.append(int(status.split("VmRSS:")[1].split()[0]) / 1024)

    def finish(self):
        self.watcher.join()
        bench, ended = self.bench, self.child.poll()
        bench.expect(ended is None, f"the soak ended with {ended}")
        self.child.send_signal(signal.SIGKILL)
        self.child.wait()
        fits = len(list((bench.folder / "soak" / "tasks").glob("*/done.json")))
        third = len(self.sizes) // 3
        early, late = max(self.sizes[third : 2 * third]), max(self.sizes[2 * third :])
        bench.expect(late <= early * 1.05 + 8, f"memory grew from {early:.0f} to {late:.0f} MB")
        bench.tell("soak", f"{self.minutes:g} minutes, {fits} fits in one process", f"at most {early:.0f} MB in the second third, {late:.0f} MB in the last")


def counted(bench, what, command, pattern):
    import re
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    bench.expect(done.returncode == 0, f"{what}: {done.stdout[-2000:]}{done.stderr[-2000:]}")
    return sum(sum(map(int, numbers)) if isinstance(numbers, tuple) else int(numbers) for numbers in re.findall(pattern, done.stdout))


def inputs(bench):
    cargo = ["cargo", "test", "--quiet", "-p", "unshuffle"]
    number = counted(bench, "bad inputs", [*cargo, "--test", "cli", "bad_inputs", "--", "--nocapture"], r"(\d+) bad inputs")
    bench.tell("bad inputs", f"{number}", "each refused with its sentence and exit code (tests/cli/bad_inputs.rs)")
    number = counted(bench, "fuzzing", [*cargo, "--test", "house", "fuzz", "--", "--nocapture"], r"(\d+) read, (\d+) refused, no panic")
    bench.tell("fuzzed inputs", f"{number}", "read or refused (tests/house/fuzz.rs)")


def page(bench, version):
    command = " ".join(["python3 scripts/reliability.py", *sys.argv[1:]])
    lines = ["# Reliability", "", f"Written by `{command}` (`make reliability` runs it with an hour of soak): fits and studies are broken on purpose, resumed, and compared with runs that nobody broke.",
             "Times in comments of the draws are not compared. `make test` also tries bad inputs (`tests/cli/bad_inputs.rs`) and damaged ones (`tests/house/fuzz.rs`).", "", "| what | how often | result |", "|---|---|---|"]
    lines += [f"| {what} | {tried} | {result} |" for what, tried, result in bench.rows]
    lines += ["", f"Losses: {len(bench.losses)}. Panics: {bench.panics}. {version}.", ""]
    (ROOT / "docs" / "reliability.md").write_text("\n".join(lines))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--binary", default=ROOT / "target" / "release" / "unshuffle")
    parser.add_argument("--quick", action="store_true", help="a tenth of it, and no page")
    parser.add_argument("--soak", type=float, default=None, help="minutes")
    parser.add_argument("--no-cargo", action="store_true", help="leave out the tests that cargo runs")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(Path(args.binary).resolve(), folder, 10 if args.quick else 1)
        fit_config(bench, 4000)
        parts = [killed_fits, interrupted_fits, full_disks, failing_writes, killed_studies, many_tasks, many_fits]
        if not args.no_cargo and not args.quick:
            parts.append(inputs)
        version = bench.run("--version").stdout.strip()
        soak = Soak(bench, args.soak or (0.5 if args.quick else 60))
        try:
            for part in [*parts, lambda _: soak.finish()]:
                part(bench)
                if not args.quick:
                    page(bench, version)
        finally:
            soak.child.kill()
    print(f"Losses: {len(bench.losses)}. Panics: {bench.panics}.")
    sys.exit(1 if bench.losses or bench.panics else 0)


if __name__ == "__main__":
    main()
