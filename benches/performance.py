"""Measures fits of the release binary: writes docs/performance.csv and docs/performance.md.

`make bench` runs all of it. `make bench-quick` runs the short cells, compares them with the committed figures, and ends with exit code 1
where one has lost more than 20 %. Times are processor times of the whole process, so that other work on the machine disturbs them little;
they are also given as ratios to a calibration kernel, so that machines can be compared.
"""
import argparse, csv, hashlib, json, math, os, platform, shutil, subprocess, sys, tempfile, time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE, FIGURES = ROOT / "docs/performance.md", ROOT / "docs/performance.csv"
PLOT = ROOT / "docs/performance.svg"
# What a run has measured so far; `--go-on` measures the rest.
SO_FAR = ROOT / "target/performance.csv"
LOSS = 1.2
SIZES = [250, 1000, 10_000, 100_000, 1_000_000]
QUICK_SIZES = [250, 1000, 10_000]
QUICK_CELLS = [(250, 20, 0), (1000, 100, 0.9)]
STEP_ONE = [(n, d, rho) for n in (250, 1000) for d in (5, 20, 100) for rho in (0, 0.9)]
STEP_ONE_DRAWS = 40_000
PEER_DRAWS = 10_000
PAPER_SIZES = [100, 250, 500, 1000]
# In R, three assignments of 1000 rows would take some ten minutes.
R_SIZES = [100, 250, 500]
PAPER_ITERATIONS = 60
PAPER_SCHEME = 'permutation.update={"name":"checkerboard","restart":"mode"}'
PLAIN = "sampler.standardise=false"


def calibration():
    """Processor milliseconds of hashing 32 MiB; the least of five."""
    block = bytes(32 << 20)
    def once():
        start = time.process_time()
        hashlib.sha256(block).digest()
        return 1e3 * (time.process_time() - start)
    return min(once() for _ in range(5))


class Bench:
    def __init__(self, binary, folder):
        self.binary, self.folder = str(binary), Path(folder)
        # After warm-up, of the chain that was timed last.
        self.draws = 0

    def run(self, *arguments):
        """Processor seconds, wall seconds and the largest memory in MiB of one run."""
        start = time.monotonic()
        child = subprocess.Popen([self.binary, *arguments], cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        stderr = child.stderr.read()
        _, status, usage = os.wait4(child.pid, 0)
        if status != 0:
            sys.exit(f"{' '.join(arguments)} failed:\n{stderr}")
        return usage.ru_utime + usage.ru_stime, time.monotonic() - start, usage.ru_maxrss / 1024

    def simulate(self, n):
        """20 predictors, 1 % of the rows mislinked; a twentieth in a small file."""
        name = f"general_{n}"
        if not (self.folder / name).exists():
            share = 0.05 if n <= 1000 else 0.01
            self.run("simulate", "--design", "general", "--n", str(n), "--predictors", "20", "--intercept", "0", "--mislinked", str(share), "--output", name)
        return f"{name}/config.json"

    def paper(self, n):
        """The paper's experiment."""
        name = f"paper_{n}"
        if not (self.folder / name).exists():
            self.run("simulate", "--design", "paper", "--n", str(n), "--output", name)
        return f"{name}/config.json"

    def settings(self, warmup, draws, chains, changes):
        settings = [f"sampler.chains={chains}", f"sampler.warmup={warmup}", f"sampler.draws={draws}", f"output={self.folder / 'out'}", *changes]
        return [word for setting in settings for word in ("--set", setting)]

    def fit(self, config, warmup, draws, *changes, chains=1):
        return self.run("fit", config, "--force", "--quiet", "--threads", str(chains), *self.settings(warmup, draws, chains, changes))

    def chain(self, config, warmup, draws, changes):
        """Processor seconds of one chain, with what it needs to begin and without what follows sampling."""
        settings = self.settings(warmup, draws, 1, changes)
        self.run("fit", "plan", config, "--force", *settings)
        return self.run("fit", "run", config, "--chain", "1", "--quiet", *settings)[0]

    def iteration(self, config, warmup, draws, *changes):
        """Processor milliseconds of one iteration after warm-up: what more draws cost, of which there are as many as can be timed."""
        while True:
            few = self.chain(config, warmup, draws // 10, changes)
            many = self.chain(config, warmup, draws, changes)
            if many - few >= 0.5:
                self.draws = draws
                return 1e3 * (many - few) / (draws - draws // 10)
            draws *= 4

    def least_ess(self):
        """The smallest bulk ESS of the coefficients and the error scale."""
        with open(self.folder / "out/summary.csv") as file:
            rows = [row for row in csv.DictReader(file) if row["name"].startswith(("beta", "sigma"))]
        return min(float(row["ESS_bulk"]) for row in rows)

    def regression(self, n, d, rho):
        """A file with these predictors, of which neighbours have correlation rho, and no wrong link."""
        import random
        generator = random.Random(1)
        name = f"step_one_{n}_{d}_{rho}"
        folder = self.folder / name
        folder.mkdir(exist_ok=True)
        names = [f"x{k + 1}" for k in range(d)]
        with open(folder / "data.csv", "w") as file:
            file.write(",".join(names + ["y"]) + "\n")
            for _ in range(n):
                row = [generator.gauss(0, 1)]
                while len(row) < d:
                    row.append(rho * row[-1] + math.sqrt(1 - rho * rho) * generator.gauss(0, 1))
                y = sum(row) / math.sqrt(d) + generator.gauss(0, 1)
                file.write(",".join(repr(value) for value in row + [y]) + "\n")
        config = {"model": {"stan": "linear"}, "data": {"file": "data.csv", "response": "y", "predictors": names},
                  "permutation": {"update": {"name": "none"}}, "output": "out"}
        (folder / "config.json").write_text(json.dumps(config))
        return f"{name}/config.json"


def draws_for(n):
    """Enough iterations for several seconds of processor time: setup differs from run to run by some tenths of a second."""
    return max(200, min(20_000, 40_000_000 // n))


def measure(bench, sizes, cells, whole, figures):
    """Adds to `figures` what they lack; each figure is kept in a file at once."""
    def tell(name, unit, compute):
        if name not in figures:
            figures[name] = (compute(), unit)
            write_csv(figures, SO_FAR)
            print(f"{name}: {figures[name][0]:.4g} {unit}", flush=True)
    tell("calibration", "ms", calibration)
    tell("cores", "", os.cpu_count)
    tell("load when it began", "", lambda: os.getloadavg()[0])
    for n in sizes:
        tell(f"iteration n={n}", "ms", lambda: bench.iteration(bench.simulate(n), 200, draws_for(n)))
        if n <= 10_000:
            tell(f"iteration, program itself n={n}", "ms", lambda: bench.iteration(bench.simulate(n), 200, draws_for(n), PLAIN))
    tempered = 'temperature="1/n"'
    for n in PAPER_SIZES if whole else []:
        tell(f"paper's design n={n}", "ms", lambda: bench.iteration(bench.paper(n), 200, 20_000, tempered))
        literal = [tempered, PAPER_SCHEME, 'permutation.prior={"name":"uniform","max_moved":1000}']
        tell(f"paper's design, the paper's scheme n={n}", "ms", lambda: bench.iteration(bench.paper(n), 200, 4_000_000 // n, *literal))
    for n, d, rho in cells:
        for label, changes in (("", []), (", program itself", [PLAIN])):
            def ess_per_second():
                config = bench.regression(n, d, rho)
                cost = bench.iteration(config, 500, STEP_ONE_DRAWS, *changes)
                bench.run("fit", "collect", config, *bench.settings(500, bench.draws, 1, changes))
                return bench.least_ess() / bench.draws / cost * 1e3
            tell(f"step 1{label} n={n} D={d} rho={rho}", "ESS/s", ess_per_second)
    for n in whole:
        fit = []
        def of_fit(which):
            if not fit:
                fit.extend(bench.fit(bench.simulate(n), 1000, 1000, chains=4))
                with open(bench.folder / "out/summary.csv") as file:
                    rows = list(csv.DictReader(file))
                fit.append(max(float(row["R_hat"]) for row in rows if row["R_hat"] not in ("", "NaN")))
            return fit[which]
        for which, (label, unit) in enumerate([("", "s"), (", wall", "s"), (", memory", "MiB"), (", largest R-hat", "")]):
            tell(f"whole fit{label} n={n}", unit, lambda: of_fit(which))
    return figures


def write_csv(figures, path=FIGURES):
    with open(path, "w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["figure", "value", "unit"])
        writer.writerows([name, value if isinstance(value, str) else f"{value:.6g}", unit] for name, (value, unit) in figures.items())


def read_csv(path=FIGURES):
    with open(path) as file:
        number = lambda row: row["value"] if row["figure"] == "commit" else float(row["value"])
        return {row["figure"]: (number(row), row["unit"]) for row in csv.DictReader(file)}


def compare(committed, figures):
    """Figures that lost more than 20 % against the committed ones, both as ratios to the calibration kernel."""
    speed = figures["calibration"][0] / committed["calibration"][0]
    losses = []
    for name, (value, unit) in figures.items():
        if name == "calibration" or name not in committed or unit not in ("ms", "ESS/s"):
            continue
        before = committed[name][0]
        loss = before / value / speed if unit == "ESS/s" else value / before / speed
        print(f"{name}: {loss:.2f} of the committed cost", flush=True)
        if loss > LOSS:
            losses.append(f"{name} costs {loss:.2f} times what it did")
    return losses


def plot(costs, slope_one):
    """Cost against the number of rows, both on log scales."""
    width, height, left, bottom = 520, 320, 60, 40
    ns = [n for n, _ in costs]
    low, high = math.floor(math.log10(min(c for _, c in costs))), math.ceil(math.log10(max(c for _, c in costs)))
    def place(n, cost):
        x = left + (math.log10(n) - math.log10(ns[0])) / (math.log10(ns[-1]) - math.log10(ns[0])) * (width - left - 20)
        y = height - bottom - (math.log10(cost) - low) / (high - low) * (height - bottom - 20)
        return f"{x:.1f},{y:.1f}"
    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="12">',
             '<title>Milliseconds of one iteration against the number of rows</title>', f'<rect width="{width}" height="{height}" fill="white"/>']
    for power in range(low, high + 1):
        _, y = place(ns[0], 10.0 ** power).split(",")
        lines.append(f'<line x1="{left}" x2="{width - 20}" y1="{y}" y2="{y}" stroke="#ddd"/><text x="{left - 8}" y="{float(y) + 4}" text-anchor="end">{10.0 ** power:g} ms</text>')
    for n in ns:
        x, _ = place(n, 10.0 ** low).split(",")
        lines.append(f'<text x="{x}" y="{height - bottom + 18}" text-anchor="middle">{n}</text>')
    lines.append(f'<text x="{(left + width) / 2}" y="{height - 6}" text-anchor="middle">rows</text>')
    for points, style in ((costs, 'stroke="#1f5fa8" stroke-width="2"'), (slope_one, 'stroke="#999" stroke-dasharray="4 4"')):
        lines.append(f'<polyline fill="none" {style} points="{" ".join(place(n, c) for n, c in points)}"/>')
    lines += [f'<circle cx="{p.split(",")[0]}" cy="{p.split(",")[1]}" r="3.5" fill="#1f5fa8"/>' for p in (place(n, c) for n, c in costs)]
    PLOT.write_text("\n".join(lines + ["</svg>"]) + "\n")


def page(figures, peers):
    value = lambda name: figures[name][0]
    cell = lambda name: f"{value(name):.3g}" if name in figures else ""
    sizes = [n for n in SIZES if f"iteration n={n}" in figures]
    lines = ["# Performance", "",
             "Written by `make bench` (`benches/performance.py`) from docs/performance.csv. Times are processor times, so that other work on the",
             f"machine disturbs them little. Commit {value('commit')}; {figures['commit'][1]}, {value('cores'):.0f} cores with a load of {value('load when it began'):.0f} from elsewhere; hashing 32 MiB with",
             f"SHA-256 takes {value('calibration'):.1f} ms. `make bench-quick` repeats the short cells and tells of losses above 20 %, as ratios to that hash.", "",
             "## One iteration against the number of rows", "",
             "Linear regression, 20 predictors and an intercept, 1 % of the rows mislinked (5 % up to 1000 rows); one chain, default settings, iterations",
             "after warm-up, the files included. *Program itself*: the same with `sampler.standardise` false, so that every gradient is the Stan program's.", "",
             "| rows | ms | program itself, ms |", "|---|---|---|"]
    lines += [f"| {n} | {cell(f'iteration n={n}')} | {cell(f'iteration, program itself n={n}')} |" for n in sizes]
    first, last = [n for n in sizes if n >= 1000][0], sizes[-1]
    if last > first:
        slope = math.log(value(f"iteration n={last}") / value(f"iteration n={first}")) / math.log(last / first)
        lines += ["", f"From {first} to {last} rows the cost grows as n to the power {slope:.2f} (target: at most 1.0).", "", "![Cost against rows](performance.svg)"]
        costs = [(n, value(f"iteration n={n}")) for n in sizes]
        plot(costs, [(first, value(f"iteration n={first}")), (last, value(f"iteration n={first}") * last / first)])
    lines += paper_lines(figures, peers) + ["",
              "## Step 1 alone", "", "Links kept (`permutation.update` none), one chain: the smallest bulk ESS of the coefficients and the error",
              "variance, for each second of processor time. Neighbouring predictors have correlation rho.", "",
              "Each ratio is that of the first ESS/s to the one beside it; targets: at least 1.5 for Stan, at least 0.9 for nuts-rs.", "",
              "| rows | predictors | rho | ESS/s | program itself | Stan | ratio | nuts-rs, diagonal | ratio | nuts-rs, low rank | ratio |",
              "|---|---|---|---|---|---|---|---|---|---|---|"]
    for n, d, rho in STEP_ONE:
        own, plain = f"step 1 n={n} D={d} rho={rho}", f"step 1, program itself n={n} D={d} rho={rho}"
        if own in figures:
            cells = [n, d, rho, cell(own), cell(plain)]
            for peer in ("stan", "diagonal", "low_rank"):
                ess = peers.get(peer, {}).get(f"{n}_{d}_{rho}")
                cells += [f"{ess:.3g}", f"{value(own) / ess:.1f}"] if ess else ["", ""]
            lines.append("| " + " | ".join(map(str, cells)) + " |")
    if "stan_version" in peers:
        lines += ["", f"Stan is {peers['stan_version']}, by `benches/peers/step_one.py`, with the response as data."]
    if "nuts_rs_version" in peers:
        lines += ["", f"nuts-rs is {peers['nuts_rs_version']}, by `benches/peers/nuts_rs`, on the density of the library that unshuffle compiled, on the same files."]
    lines += ["", "## Whole fits", "", "Four chains of 1000 + 1000 iterations, from reading the file to the report, checks and other estimators included.", "",
              "| rows | processor time, s | wall, s | memory, MiB | largest R-hat |", "|---|---|---|---|---|"]
    for n in SIZES:
        if f"whole fit n={n}" in figures:
            lines.append("| " + " | ".join([str(n)] + [cell(f"whole fit{what} n={n}") for what in ("", ", wall", ", memory", ", largest R-hat")]) + " |")
    PAGE.write_text("\n".join(line.rstrip() for line in lines) + "\n")


def paper_lines(figures, peers):
    """One iteration on the paper's design beside the paper's sampler in R."""
    lines = ["", "## The paper's design", "",
             "20 predictors, six reversed rows and a copied one, temperature 1/n; milliseconds of one iteration. *The paper's scheme* is `checkerboard` with",
             "`restart` `mode` in Rust. *R* is the same scheme with rstan and clue (`benches/peers/paper.R`), its model compiled beforehand;",
             "the ratio is that of R to the first column (target: 1000 at 250 rows).", "",
             "| rows | ms | the paper's scheme, ms | R, ms | of which Stan | assignment | proposals | ratio |", "|---|---|---|---|---|---|---|---|"]
    for n in PAPER_SIZES:
        own = figures.get(f"paper's design n={n}")
        if not own:
            continue
        r = peers.get("r", {}).get(str(n))
        cells = [n, f"{own[0]:.3g}", f"{figures[f'paper{chr(39)}s design, the paper{chr(39)}s scheme n={n}'][0]:.3g}"]
        cells += [f"{part:.3g}" for part in r] + [f"{r[0] / own[0]:.0f}"] if r else [""] * 5
        lines.append("| " + " | ".join(map(str, cells)) + " |")
    return lines + (["", f"{peers['r_version']}. R may have been measured earlier than the rest, on a busier machine."] if "r_version" in peers else ["", "R has not been measured."])


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def measure_peers(bench, cells, python, nuts_rs):
    """What others need for the same, as far as they are on this machine."""
    peers = {}
    def name(cell):
        return "_".join(map(str, cell))
    if python:
        result = bench.folder / "stan.json"
        subprocess.run([python, str(ROOT / "benches/peers/step_one.py"), str(result), *(str(bench.folder / f"step_one_{name(cell)}") for cell in cells)],
                       cwd=bench.folder, check=True)
        saved = json.loads(result.read_text())
        peers["stan_version"], peers["stan"] = saved["version"], {name(cell[:3]): cell[3] for cell in saved["cells"]}
    if nuts_rs:
        peers["diagonal"], peers["low_rank"] = {}, {}
        for cell in cells:
            line = output(nuts_rs, "500", str(PEER_DRAWS), str(bench.folder / f"step_one_{name(cell)}/config.json"))
            diagonal, low_rank = map(float, line.strip().split(",")[1:])
            peers["diagonal"][name(cell)], peers["low_rank"][name(cell)] = diagonal, low_rank
            print(f"nuts-rs {name(cell)}: {diagonal:.4g} {low_rank:.4g} ESS/s", flush=True)
        lock = (ROOT / "benches/peers/nuts_rs/Cargo.lock").read_text()
        peers["nuts_rs_version"] = lock.split('name = "nuts-rs"')[1].split('"')[1]
    if shutil.which("Rscript") and subprocess.run(["Rscript", "-e", "stopifnot(requireNamespace('rstan'), requireNamespace('clue'))"], capture_output=True).returncode == 0:
        files = [str(bench.folder / f"paper_{n}/data.csv") for n in R_SIZES]
        version, *lines = output("Rscript", str(ROOT / "benches/peers/paper.R"), str(PAPER_ITERATIONS), "10", *files).strip().splitlines()[-1 - len(R_SIZES):]
        peers["r_version"] = version.removeprefix("version,")
        peers["r"] = {line.split(",")[0]: list(map(float, line.split(",")[1:])) for line in lines}
        print(peers["r"], flush=True)
    return peers


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--binary", default=ROOT / "target/release/unshuffle")
    parser.add_argument("--quick", action="store_true", help="short cells, compared with the committed figures")
    parser.add_argument("--largest", type=int, default=SIZES[-1], help="leave larger files out")
    parser.add_argument("--largest-whole", type=int, default=SIZES[-1], help="leave whole fits of larger files out")
    parser.add_argument("--short", action="store_true", help="Step 1 in the cells of --quick alone")
    parser.add_argument("--go-on", action="store_true", help="after a run that did not end: measure what it lacks")
    parser.add_argument("--commit", help="of the binary, where it is not the current one")
    parser.add_argument("--pystan", help="a Python with PyStan, for Stan's own sampler")
    parser.add_argument("--nuts-rs", help="the program of benches/peers/nuts_rs")
    parser.add_argument("--peers", action="store_true", help="measure the others alone, beside the committed figures")
    parser.add_argument("--page", action="store_true", help="write the page again from the committed figures")
    arguments = parser.parse_args()
    peers_file = ROOT / "docs/performance_peers.json"
    def peers():
        return json.loads(peers_file.read_text()) if peers_file.exists() else {}
    if arguments.page:
        return page(read_csv(), peers())
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(Path(arguments.binary).resolve(), folder)
        if arguments.quick and not FIGURES.exists():
            sys.exit("docs/performance.csv is not there: run `make bench` first")
        if arguments.quick:
            losses = compare(read_csv(), measure(bench, QUICK_SIZES, QUICK_CELLS, [], {}))
            sys.exit("\n".join(losses) if losses else 0)
        sizes = [n for n in SIZES if n <= arguments.largest]
        cells = QUICK_CELLS if arguments.short else STEP_ONE
        def with_peers():
            found = measure_peers(bench, cells, arguments.pystan, arguments.nuts_rs)
            peers_file.write_text(json.dumps({**peers(), **found}, indent=1) + "\n")
        if arguments.peers:
            for cell in cells:
                bench.regression(*cell)
            for n in PAPER_SIZES:
                bench.paper(n)
            with_peers()
            return page(read_csv(), peers())
        known = read_csv(SO_FAR) if arguments.go_on and SO_FAR.exists() else {}
        figures = measure(bench, sizes, cells, [n for n in sizes if n <= arguments.largest_whole], known)
        for cell in cells:
            bench.regression(*cell)
        for n in PAPER_SIZES:
            bench.paper(n)
        commit = arguments.commit or subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True).stdout.strip()
        figures["commit"] = (commit, platform.machine())
        write_csv(figures)
        with_peers()
        page(figures, peers())


if __name__ == "__main__":
    main()
