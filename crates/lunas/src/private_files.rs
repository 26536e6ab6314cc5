//! Small files that only their owner can read, such as keys, and that are replaced as a whole or not at all.

use std::{
    fs::{self, DirBuilder, File, OpenOptions, TryLockError},
    io::{self, Write},
    os::unix::fs::{DirBuilderExt, OpenOptionsExt},
    path::Path,
};

const PRIVATE_FILE: u32 = 0o600;
const PRIVATE_DIRECTORY: u32 = 0o700;

/// Creates a directory and its parents, unless they exist.
pub(crate) fn create_private_directory(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(PRIVATE_DIRECTORY).create(path)
}

/// The text of a file; none where there is no file.
pub(crate) fn read_if_present(path: &Path) -> io::Result<Option<String>> {
    match fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Replaces the file at `path` by `text`. A crash leaves the old file or the new one. Callers must hold a lock, because two at
/// once would write the same temporary file.
pub(crate) fn replace_private(path: &Path, text: &str) -> io::Result<()> {
    let temporary = path.with_added_extension("new");
    // A temporary file that a crash left behind may have other permissions.
    match fs::remove_file(&temporary) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut file = OpenOptions::new().write(true).create_new(true).mode(PRIVATE_FILE).open(&temporary)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    fs::rename(&temporary, path)?;
    match path.parent().filter(|parent| !parent.as_os_str().is_empty()) {
        Some(parent) => File::open(parent)?.sync_all(),
        None => File::open(".")?.sync_all(),
    }
}

/// Creates an empty file, unless the file exists.
pub(crate) fn create_private_file(path: &Path) -> io::Result<()> {
    match OpenOptions::new().write(true).create_new(true).mode(PRIVATE_FILE).open(path) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
        _ => Ok(()),
    }
}

/// Locks the file at `path`; none where another process holds the lock. Dropping the returned file releases it, and so does the
/// end of the process, however it ends.
pub(crate) fn try_lock(path: &Path) -> io::Result<Option<File>> {
    let file = OpenOptions::new().write(true).create(true).truncate(false).mode(PRIVATE_FILE).open(path)?;
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn a_replaced_file_is_whole_and_private_even_after_a_crash_left_a_temporary_one() {
        let directory = tempfile::tempdir().unwrap();
        let inner = directory.path().join("a/b");
        create_private_directory(&inner).unwrap();
        create_private_directory(&inner).unwrap();
        assert_eq!(mode(&inner), PRIVATE_DIRECTORY);
        let path = inner.join("dev.json");
        assert_eq!(read_if_present(&path).unwrap(), None);
        fs::write(inner.join("dev.json.new"), "half").unwrap();
        for text in ["one", "two"] {
            replace_private(&path, text).unwrap();
            assert_eq!(read_if_present(&path).unwrap().as_deref(), Some(text));
            assert_eq!(mode(&path), PRIVATE_FILE);
        }
        assert!(!inner.join("dev.json.new").exists());
        create_private_file(&path).unwrap();
        assert_eq!(read_if_present(&path).unwrap().as_deref(), Some("two"));
        create_private_file(&inner.join("lunas.db")).unwrap();
        assert_eq!(mode(&inner.join("lunas.db")), PRIVATE_FILE);
    }
}
