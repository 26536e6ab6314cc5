//! The directory of a cluster, and the watchdog that removes it.

use std::{fs::DirBuilder, os::unix::fs::DirBuilderExt, path::PathBuf};

use crate::{
    host::Host,
    shared::{hex, random},
    watchdog::Watchdog,
};

/// A directory that only PostgreSQL's account may read, and the watchdog that removes it.
pub(crate) fn new_directory() -> (PathBuf, Watchdog) {
    // The watchdog knows processes by their working directory, which the system reports without symbolic links.
    let temporary = std::env::temp_dir().canonicalize().unwrap();
    let directory = temporary.join(format!("lunas-postgres-{}", hex(&random::<8>())));
    DirBuilder::new().mode(0o700).create(&directory).unwrap();
    Host::get().own(&directory);
    let watchdog = Watchdog::start(&directory);
    (directory, watchdog)
}
