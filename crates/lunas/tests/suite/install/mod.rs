//! What docs/install.md and the package promise, as far as it shows without a release build. `make dist-test` has the rest.

mod nginx;
mod package;
mod proxy;
