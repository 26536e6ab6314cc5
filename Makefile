# `make test` runs every check there is, on a machine that has Rust and a C compiler.

.PHONY: test format lint check

test: format lint check

format:
	cargo fmt --all --check

lint:
	cargo clippy --workspace --all-targets --locked -- --deny warnings

check:
	cargo test --workspace --locked
