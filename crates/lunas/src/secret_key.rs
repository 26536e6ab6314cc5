//! Where the key that seals stored secrets comes from: the environment, or a file in the installation's directory.
//!
//! There is no flag for it, since the list of processes shows every flag to everyone.

use std::path::{Path, PathBuf};

use engine::SecretKey;
use secrecy::SecretString;

use crate::{error::CliError, files};

pub(crate) const VARIABLE: &str = "LUNAS_SECRET_KEY";
pub(crate) const FILE: &str = "secret.key";
pub(crate) const HOW_TO_MAKE: &str = "`openssl rand -base64 32` makes one";

/// A key, and where it was found, so that a message can say which key is wrong.
pub(crate) struct FoundKey {
    pub(crate) key: SecretKey,
    pub(crate) origin: String,
}

/// The key that the environment gives; an empty value is none.
pub(crate) fn from_environment() -> Result<Option<FoundKey>, CliError> {
    let Some(text) = std::env::var_os(VARIABLE).filter(|text| !text.is_empty()) else { return Ok(None) };
    let text: SecretString = text.into_string().unwrap_or_default().into();
    found(&text, VARIABLE.to_owned()).map(Some)
}

/// The key of the installation whose directory is `home`.
pub(crate) fn find(home: &Path) -> Result<Option<FoundKey>, CliError> {
    match from_environment()? {
        Some(key) => Ok(Some(key)),
        None => from_file(&file_in(home)),
    }
}

/// Makes a key and keeps it in `home`.
pub(crate) fn generate(home: &Path) -> Result<FoundKey, CliError> {
    use secrecy::ExposeSecret;
    let path = file_in(home);
    let text = SecretKey::generate_base64();
    let line: SecretString = format!("{}\n", text.expose_secret()).into();
    files::replace_private(&path, line.expose_secret()).map_err(|error| CliError::file("write", &path, &error))?;
    found(&text, path.display().to_string())
}

/// A key for work that neither seals nor opens anything, and so must not fail for want of one.
pub(crate) fn unused() -> Result<SecretKey, CliError> {
    SecretKey::from_base64(&SecretKey::generate_base64()).map_err(|error| CliError::because("no key", &error))
}

/// Where the directory `home` keeps a key.
pub(crate) fn file_in(home: &Path) -> PathBuf {
    home.join(FILE)
}

fn from_file(path: &Path) -> Result<Option<FoundKey>, CliError> {
    let text = files::read_if_present(path).map_err(|error| CliError::file("read", path, &error))?;
    text.map(|text| found(&text.into(), path.display().to_string())).transpose()
}

fn found(text: &SecretString, origin: String) -> Result<FoundKey, CliError> {
    match SecretKey::from_base64(text) {
        Ok(key) => Ok(FoundKey { key, origin }),
        Err(_) => Err(CliError::new(format!("{origin} is not the base64 of 32 bytes; {HOW_TO_MAKE}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_generated_key_is_found_in_its_directory() {
        let directory = tempfile::tempdir().unwrap();
        let path = file_in(directory.path());
        assert!(from_file(&path).unwrap().is_none());
        generate(directory.path()).unwrap();
        assert!(from_file(&path).unwrap().is_some());
    }

    #[test]
    fn a_spoilt_key_file_is_named_and_not_quoted() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join(FILE);
        std::fs::write(&path, "quiet").unwrap();
        let error = from_file(&path).err().unwrap();
        assert!(error.reasons()[0].contains("secret.key"));
        assert!(!error.reasons()[0].contains("quiet"));
    }
}
