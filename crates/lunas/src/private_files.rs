//! Small files that only their owner can read, such as keys, and that are replaced as a whole or not at all; and whether
//! another user of the machine could have written a file that we believe.

use std::{
    fs::{self, DirBuilder, File, Metadata, OpenOptions, TryLockError},
    io::{self, Read, Write},
    os::unix::fs::{DirBuilderExt, FileTypeExt, MetadataExt, OpenOptionsExt},
    path::Path,
};

use rustix::process::geteuid;

const PRIVATE_FILE: u32 = 0o600;
const PRIVATE_DIRECTORY: u32 = 0o700;
const ROOT: u32 = 0;
const WRITABLE_BY_GROUP: u32 = 0o020;
const WRITABLE_BY_OTHERS: u32 = 0o002;

/// Opens a file to read it; the reason where it is not believed. Opening a pipe waits for somebody who writes into it, so a pipe
/// that is not believed is not opened.
pub(crate) fn open_believed(path: &Path) -> io::Result<Result<File, String>> {
    let metadata = fs::metadata(path)?;
    if metadata.file_type().is_fifo()
        && let Some(reason) = distrust(&metadata, path)
    {
        return Ok(Err(reason));
    }
    let file = File::open(path)?;
    // What is at that path may have been replaced since.
    Ok(distrust(&file.metadata()?, path).map_or(Ok(file), Err))
}

/// Why what is at `path` is not believed, and what to do; none where only root and the user who runs this program can change
/// it. Devices such as a terminal or `/dev/null` are for everybody, and believed.
fn distrust(metadata: &Metadata, path: &Path) -> Option<String> {
    let (mode, owner) = (metadata.mode(), metadata.uid());
    let path = path.display();
    if metadata.file_type().is_char_device() {
        return None;
    }
    if owner != ROOT && owner != geteuid().as_raw() {
        let mend = "run `chown` to give it to root or to the user who runs lunas";
        return Some(format!("it belongs to another user, number {owner}, who can change it; {mend}"));
    }
    if mode & WRITABLE_BY_OTHERS != 0 {
        return Some(format!("every user of this machine can change it; run `chmod go-w {path}`"));
    }
    (mode & WRITABLE_BY_GROUP != 0).then(|| format!("its group can change it; run `chmod g-w {path}`"))
}

/// Creates a directory and its parents, unless they exist.
pub(crate) fn create_private_directory(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(PRIVATE_DIRECTORY).create(path)
}

/// The text of a private file; none where there is no file. A file that another user can change is an error.
pub(crate) fn read_if_present(path: &Path) -> io::Result<Option<String>> {
    let opened = match open_believed(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        opened => opened?,
    };
    let mut file = opened.map_err(io::Error::other)?;
    let mut text = String::new();
    file.read_to_string(&mut text)?;
    Ok(Some(text))
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
    use std::{os::unix::fs::PermissionsExt, process::Command, thread};

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

    #[test]
    fn a_private_file_that_others_can_change_is_not_believed() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("secret.key");
        replace_private(&path, "key").unwrap();
        let read_as = |mode: u32| {
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
            read_if_present(&path).map_err(|error| error.to_string())
        };
        for fine in [0o600, 0o640, 0o644, 0o440] {
            assert_eq!(read_as(fine).unwrap().as_deref(), Some("key"), "{fine:o}");
        }
        for (mode, mend) in [(0o660, "chmod g-w"), (0o602, "chmod go-w"), (0o666, "chmod go-w")] {
            assert!(read_as(mode).unwrap_err().contains(mend), "{mode:o}");
        }
    }

    #[test]
    fn a_pipe_that_others_can_write_into_is_neither_believed_nor_waited_for() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("secret.key");
        assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
        let set = |mode: u32| fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        for (mode, mend) in [(0o660, "chmod g-w"), (0o666, "chmod go-w")] {
            set(mode);
            assert!(read_if_present(&path).unwrap_err().to_string().contains(mend), "{mode:o}");
        }
        if geteuid().is_root() {
            set(0o600);
            std::os::unix::fs::chown(&path, Some(12_345), None).unwrap();
            assert!(read_if_present(&path).unwrap_err().to_string().contains("12345"));
            std::os::unix::fs::chown(&path, Some(0), None).unwrap();
        }
        set(0o600);
        let pipe = path.clone();
        let writer = thread::spawn(move || fs::write(pipe, "key").unwrap());
        assert_eq!(read_if_present(&path).unwrap().as_deref(), Some("key"), "of its own user");
        writer.join().unwrap();
    }

    #[test]
    fn a_file_of_another_user_is_not_believed_and_one_of_root_is() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("secret.key");
        replace_private(&path, "key").unwrap();
        if geteuid().is_root() {
            std::os::unix::fs::chown(&path, Some(12_345), None).unwrap();
            let error = read_if_present(&path).unwrap_err().to_string();
            assert!(error.contains("12345") && error.contains("chown"), "{error}");
        }
        let of_root = Path::new("/proc/version");
        assert_eq!(distrust(&fs::metadata(of_root).unwrap(), of_root), None);
        let device = Path::new("/dev/null");
        assert_eq!(distrust(&fs::metadata(device).unwrap(), device), None, "everybody may write there");
    }
}
