# `make dist` builds what people install without Rust, in target/packages: the program in an archive and in a Debian package, the
# root of a container image with a static one, an SBOM and checksums. `make dist-test` installs, starts, upgrades and removes the package in
# a scratch copy of this system; it needs root.

DIST := target/packages
DIST_TOOLS := target/dist-tools
# Packages use the system's C library. An empty container has none, so there it is part of the program (docs/performance.md compares
# the two).
DIST_TARGET := $(shell uname -m)-unknown-linux-gnu
DIST_STATIC_TARGET := $(shell uname -m)-unknown-linux-musl
# Apart from the builds of daily work, which may use another compiler wrapper and be removed at any time.
DIST_BUILD := target/dist-build
DIST_BINARY := $(DIST_BUILD)/$(DIST_TARGET)/dist/lunas
DIST_STATIC_BINARY := $(DIST_BUILD)/$(DIST_STATIC_TARGET)/dist/lunas
CARGO_DEB_VERSION := 3.8.0
CARGO_CYCLONEDX_VERSION := 0.5.9

.PHONY: dist dist-binary dist-test dist-tools musl

# Releases are built by rustc itself. The files in them carry the time of the last commit, and `lunas --version` names it; where the
# sources are no checkout, SOURCE_DATE_EPOCH and LUNAS_COMMIT state both.
dist dist-binary dist-tools: export RUSTC_WORKSPACE_WRAPPER :=
dist dist-binary: export CARGO_TARGET_DIR := $(CURDIR)/$(DIST_BUILD)
dist: export SOURCE_DATE_EPOCH ?= $(shell git log -1 --format=%ct)

dist: dist-binary dist-tools
	PATH="$(CURDIR)/$(DIST_TOOLS)/bin:$$PATH" packaging/assemble.sh $(DIST_TARGET) $(DIST_BINARY) $(DIST_STATIC_BINARY) $(DIST)

dist-binary: musl
	cargo build --locked --profile dist --target $(DIST_TARGET) --package lunas
	cargo build --locked --profile dist --target $(DIST_STATIC_TARGET) --package lunas

dist-test:
	@test -e $(DIST)/SHA256SUMS || $(MAKE) dist
	$$(test "$$(id -u)" = 0 || echo sudo) packaging/test.sh $(DIST)

dist-tools: $(DIST_TOOLS)/installed

$(DIST_TOOLS)/installed: packaging/dist.mk
	cargo install --locked --quiet --root $(DIST_TOOLS) cargo-deb@$(CARGO_DEB_VERSION) cargo-cyclonedx@$(CARGO_CYCLONEDX_VERSION)
	@touch $@

# Rust's library for static binaries, and a C compiler for SQLite, TLS and the allocator.
musl:
	@test -e "$$(rustc --print target-libdir --target $(DIST_STATIC_TARGET))" || rustup target add $(DIST_STATIC_TARGET)
	@command -v musl-gcc >/dev/null || { sudo=$$(test "$$(id -u)" = 0 || echo sudo); \
	$$sudo apt-get update && $$sudo apt-get install --yes --no-install-recommends musl-tools; }
