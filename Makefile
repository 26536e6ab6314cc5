# `make test` runs every check there is, on a machine that has Rust and a C compiler. Python tools go into the build folder.

TOOLS := target/test-tools
REQUIREMENTS := crates/server/tests/requirements.txt

.PHONY: test format lint check api tools python

test: format lint check api

format:
	cargo fmt --all --check

lint:
	cargo clippy --workspace --all-targets --locked -- --deny warnings

check:
	cargo test --workspace --locked

# The OpenAPI document by an independent validator, the real server by schemathesis, and its webhooks by Stripe's own library.
api: tools
	cargo test --package server --test suite --locked -- --ignored

tools: $(TOOLS)/installed

$(TOOLS)/installed: $(REQUIREMENTS)
	@python3 -c 'import ensurepip, venv' 2>/dev/null || $(MAKE) python
	python3 -m venv --clear $(TOOLS)
	$(TOOLS)/bin/pip install --quiet --disable-pip-version-check --requirement $(REQUIREMENTS)
	@touch $@

# What a fresh Debian lacks for a virtual environment.
python:
	sudo=$$(test "$$(id -u)" = 0 || echo sudo); \
	$$sudo apt-get update && $$sudo apt-get install --yes python3-venv
