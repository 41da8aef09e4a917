# `make demo` and `make test` work on a fresh machine with cargo, g++, make and python3 with pip; neither needs root.
.PHONY: demo test setup bench lint clean
.DEFAULT_GOAL := demo

VENV := target/python

demo: setup
	cargo build --release
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

bench: setup
	cargo bench --bench permutation

lint: setup
	cargo fmt --check
	cargo clippy --all-targets -- -D warnings

clean:
	cargo clean
