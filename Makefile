# `make test` runs every check there is, on a machine that has Rust and a C compiler. Python tools go into the build folder;
# PostgreSQL and what Python lacks are installed where a Debian does not have them.

TOOLS := target/test-tools
REQUIREMENTS := crates/server/tests/requirements.txt

.PHONY: test format lint check api tools python postgres install-postgres

test: format lint check api

format:
	cargo fmt --all --check

lint:
	cargo clippy --workspace --all-targets --locked -- --deny warnings

check: postgres
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

# The server's programs, looked for where the test kit looks.
postgres:
	@ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || command -v initdb >/dev/null || $(MAKE) install-postgres

# Tests start clusters of their own, so Debian is told to make none this time.
install-postgres:
	sudo=$$(test "$$(id -u)" = 0 || echo sudo); told=/etc/postgresql-common/createcluster.d/lunas.conf; \
	$$sudo mkdir -p $${told%/*} && echo 'create_main_cluster = false' | $$sudo tee $$told && \
	$$sudo apt-get update && $$sudo apt-get install --yes postgresql; done=$$?; $$sudo rm $$told; exit $$done
