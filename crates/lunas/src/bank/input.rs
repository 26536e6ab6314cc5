//! Keys and secrets from files or standard input. No message repeats what was read.

use std::{
    fs::File,
    io::{self, Read},
    path::Path,
};

use secrecy::{ExposeSecret, SecretString};

use crate::error::CliError;

/// Far more than a PEM file of one key, or a secret.
const BYTES_MOST: u64 = 64 * 1_024;

/// The text of a file; `-` is standard input.
pub(super) fn read(what: &str, path: &Path) -> Result<SecretString, CliError> {
    let text = match path == Path::new("-") {
        true => read_some(io::stdin().lock()),
        false => File::open(path).and_then(read_some),
    };
    let text = text.map_err(|error| CliError::file(&format!("read {what} from"), path, &error))?;
    match u64::try_from(text.expose_secret().len()) {
        Ok(length) if length <= BYTES_MOST => Ok(text),
        _ => Err(CliError::new(format!("{} is not {what}: it is larger than 64 KiB", path.display()))),
    }
}

/// Reads at most one byte more than is allowed, so that the caller notices a larger text.
fn read_some(source: impl Read) -> io::Result<SecretString> {
    let mut text = String::new();
    source.take(BYTES_MOST + 1).read_to_string(&mut text)?;
    Ok(text.into())
}

/// The only line of a file, without its line break.
pub(super) fn read_secret(path: &Path) -> Result<SecretString, CliError> {
    let text = read("the secret", path)?;
    let line = text.expose_secret();
    let line = line.strip_suffix('\n').unwrap_or(line);
    match line.strip_suffix('\r').unwrap_or(line) {
        "" => Err(CliError::new(format!("there is no secret in {}; write it as one line", path.display()))),
        line if line.contains(['\n', '\r']) => {
            let what = format!("there is more than one line in {}", path.display());
            Err(CliError::new(format!("{what}; write the secret as a single line")))
        }
        line => Ok(line.to_owned().into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_one_line_with_any_line_break_and_keeps_its_spaces() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("secret");
        let read = |text: &[u8]| {
            std::fs::write(&path, text).unwrap();
            read_secret(&path).map(|secret| secret.expose_secret().to_owned())
        };
        for text in [" one secret ", " one secret \n", " one secret \r\n"] {
            assert_eq!(read(text.as_bytes()).unwrap(), " one secret ");
        }
        for wrong in [&b""[..], b"\n", b"\r\n", b"one\ntwo", b"one\n\n", b"\xff\xfe", &[b'x'; 70_000]] {
            assert!(read(wrong).is_err());
        }
        assert!(read_secret(&directory.path().join("none")).is_err());
    }
}
