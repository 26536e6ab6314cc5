//! A directory for one measurement, removed when it is over. A crate for this would turn on features of crates that the server
//! uses, and `-p bench` would build all of them a second time.

use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::atomic::{AtomicU32, Ordering},
};

/// Tells the directories of this process apart.
static NEXT: AtomicU32 = AtomicU32::new(0);

pub(crate) struct Directory(PathBuf);

impl Directory {
    pub(crate) fn new() -> io::Result<Directory> {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("lunas-bench-{}-{number}", std::process::id()));
        fs::create_dir(&path)?;
        Ok(Directory(path))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        // A directory that cannot be removed is left to the system's clean-up.
        let _ = fs::remove_dir_all(&self.0);
    }
}
