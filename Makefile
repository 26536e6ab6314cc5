# `make test` runs every check there is, on a machine that has Rust, Git and a C compiler. Python tools go into the build folder;
# PostgreSQL, nginx, Chromium, PHP, npm and what Python lacks are installed where a Debian does not have them.
#
# `make check` is for daily work: the same without browsers, faults, Python and the clients. `make dist` builds packages.

TOOLS := target/test-tools
REQUIREMENTS := crates/lunas/tests/requirements.txt
AXE := target/axe-core
NGINX := target/nginx
# Names the version of axe-core and its checksum.
AXE_LOCK := crates/testkit/axe/package-lock.json
TYPESCRIPT := target/typescript
# Names the version of the TypeScript compiler and its checksum.
TYPESCRIPT_LOCK := clients/typescript/test/tools/package-lock.json
FONTS_THERE := ls /usr/share/fonts/truetype/*/LiberationSansNarrow-Regular.ttf /usr/share/fonts/truetype/*/DejaVuSans.ttf >/dev/null 2>&1
# Tests wait for sockets, processes and browsers as much as for the cores.
export RUST_TEST_THREADS ?= $(shell echo $$(( $$(nproc) * 2 )))
# Tests make and remove thousands of files. In memory, where it has the room and programs may be run from it, that takes a third less
# work than on a disk.
MEMORY := /dev/shm
MEMORY_LEAST_KIB := 4000000
HAS_ROOM := test "$$(df --output=avail $(MEMORY) 2>/dev/null | tail -n 1)" -ge $(MEMORY_LEAST_KIB) 2>/dev/null && \
	! grep -q ' $(MEMORY) .*noexec' /proc/mounts
check tests browser-tests: export TMPDIR ?= $(shell $(HAS_ROOM) && echo $(MEMORY) || echo /tmp)
# The compiler that builds tests reports clippy's lints too, and a warning fails the build. So the tree is compiled once, where
# `cargo clippy` before `cargo test` would compile it twice.
export RUSTC_WORKSPACE_WRAPPER := $(CURDIR)/crates/testkit/clippy-denies
# Every build names the whole workspace, so that all of them share one feature set and no crate is built twice.
CARGO_TEST := cargo test --workspace --locked

.PHONY: test check format build install tests browser-tests tools python postgres install-postgres browser install-browser fonts install-fonts nginx unpack-nginx php install-php node install-node axe typescript

# Packages are fetched while the tests are compiled. Browser tests leave the cores idle while they wait for pages, so the others
# run beside them. What a compiler keeps for the next build is worth its time in `check` alone.
test: export CARGO_INCREMENTAL := 0
test: format
	$(MAKE) --jobs=2 build install
	$(MAKE) --jobs=2 browser-tests tests

check: format postgres nginx
	$(CARGO_TEST) --lib --bins --tests -- --skip browser --skip faults::

format:
	cargo fmt --all --check

build:
	$(CARGO_TEST) --lib --bins --tests --no-run

browser-tests:
	$(CARGO_TEST) --lib --test suite -- browser

# Python tools hold the OpenAPI document against an independent validator, the real server against schemathesis, and webhooks
# against Stripe's own library. The clients are run in their own languages. Their tests are ignored otherwise.
tests:
	$(CARGO_TEST) --lib --bins --tests -- --skip browser --include-ignored

# One after the other, as the `|` below say: two `apt-get` at once would not do.
install: postgres nginx browser fonts php node axe typescript tools

tools: $(TOOLS)/installed

$(TOOLS)/installed: $(REQUIREMENTS) | $(TYPESCRIPT)/installed
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

# The proxy of docs/install.md. It is unpacked and not installed, since the package would start a server on port 80.
nginx: | postgres
	@command -v nginx >/dev/null || test -x $(NGINX)/usr/sbin/nginx || $(MAKE) unpack-nginx

unpack-nginx:
	sudo=$$(test "$$(id -u)" = 0 || echo sudo); $$sudo apt-get update
	rm -rf $(NGINX) && mkdir -p $(NGINX)
	cd $(NGINX) && apt-get download nginx && dpkg-deb --extract nginx_*.deb . && usr/sbin/nginx -v

# Chromium and what drives it, looked for where the test kit looks. The whole of Chromium does where there is no package of its
# headless shell, but the tests take longer.
browser: | nginx
	@command -v chromedriver >/dev/null && { command -v chromium-headless-shell || \
	{ command -v chromium && ! apt-cache show chromium-headless-shell; }; } >/dev/null 2>&1 || $(MAKE) install-browser

install-browser:
	sudo=$$(test "$$(id -u)" = 0 || echo sudo); \
	{ $$sudo apt-get update && $$sudo apt-get install --yes chromium-driver chromium-headless-shell; } || \
	{ command -v chromium && command -v chromedriver; }

# A narrow and a wide font, in which pages are measured.
fonts: | browser
	@$(FONTS_THERE) || $(MAKE) install-fonts

# Debian 13 has the narrow one in a package of its own.
install-fonts:
	sudo=$$(test "$$(id -u)" = 0 || echo sudo); \
	$$sudo apt-get update && $$sudo apt-get install --yes fonts-dejavu-core fonts-liberation && \
	{ $(FONTS_THERE) || $$sudo apt-get install --yes fonts-liberation-sans-narrow; }

# Runs the client for PHP and its shop.
php: | fonts
	@command -v php >/dev/null || $(MAKE) install-php

install-php:
	sudo=$$(test "$$(id -u)" = 0 || echo sudo); \
	$$sudo apt-get update && $$sudo apt-get install --yes --no-install-recommends php-cli

# Runs the client for TypeScript and its shop; npm, which comes with it, fetches the tools below.
node: | php
	@command -v node >/dev/null && command -v npm >/dev/null || $(MAKE) install-node

install-node:
	sudo=$$(test "$$(id -u)" = 0 || echo sudo); \
	$$sudo apt-get update && $$sudo apt-get install --yes --no-install-recommends npm

# What looks for barriers in pages. npm holds it against its checksum.
axe: $(AXE)/installed

$(AXE)/installed: $(AXE_LOCK) | node
	mkdir -p $(AXE)
	cp $(<D)/package.json $(AXE_LOCK) $(AXE)
	cd $(AXE) && npm ci --ignore-scripts --no-audit --no-fund
	@touch $@

# Checks the types of the client for TypeScript.
typescript: $(TYPESCRIPT)/installed

$(TYPESCRIPT)/installed: $(TYPESCRIPT_LOCK) | $(AXE)/installed
	mkdir -p $(TYPESCRIPT)
	cp $(<D)/package.json $(TYPESCRIPT_LOCK) $(TYPESCRIPT)
	cd $(TYPESCRIPT) && npm ci --ignore-scripts --no-audit --no-fund
	@touch $@

include packaging/dist.mk
