//! The secret key, which stored secrets are encrypted with: found in the environment, or in a file in the installation's
//! directory.
//!
//! No flag takes it, because the process list shows flags to all users of the machine.

use std::path::{Path, PathBuf};

use engine::SecretKey;
use secrecy::SecretString;

use crate::{error::CliError, private_files};

pub(crate) const VARIABLE: &str = "LUNAS_SECRET_KEY";
pub(crate) const FILE: &str = "secret.key";
pub(crate) const HOW_TO_GENERATE: &str = "`openssl rand -base64 32` generates one";

/// A key, and where it was found, for messages about a wrong key.
pub(crate) struct FoundKey {
    pub(crate) key: SecretKey,
    pub(crate) origin: String,
}

/// The key in the environment; an empty value counts as none.
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

/// Generates a key and saves it in `home`.
pub(crate) fn generate(home: &Path) -> Result<FoundKey, CliError> {
    use secrecy::ExposeSecret;
    let path = file_in(home);
    let text = SecretKey::generate_base64();
    let line: SecretString = format!("{}\n", text.expose_secret()).into();
    private_files::replace_private(&path, line.expose_secret())
        .map_err(|error| CliError::file("write", &path, &error))?;
    found(&text, path.display().to_string())
}

/// A random key, for commands that neither encrypt nor decrypt and should work without the real one.
pub(crate) fn placeholder() -> Result<SecretKey, CliError> {
    SecretKey::from_base64(&SecretKey::generate_base64()).map_err(|error| CliError::because("no key", &error))
}

/// The path of the key file in the directory `home`.
pub(crate) fn file_in(home: &Path) -> PathBuf {
    home.join(FILE)
}

fn from_file(path: &Path) -> Result<Option<FoundKey>, CliError> {
    let text = private_files::read_if_present(path).map_err(|error| CliError::file("read", path, &error))?;
    text.map(|text| found(&text.into(), path.display().to_string())).transpose()
}

fn found(text: &SecretString, origin: String) -> Result<FoundKey, CliError> {
    match SecretKey::from_base64(text) {
        Ok(key) => Ok(FoundKey { key, origin }),
        Err(_) => Err(CliError::new(format!("{origin} is not the base64 of 32 bytes; {HOW_TO_GENERATE}"))),
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
    fn a_damaged_key_file_is_named_and_not_quoted() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join(FILE);
        std::fs::write(&path, "quiet").unwrap();
        let error = from_file(&path).err().unwrap();
        assert!(error.reasons()[0].contains("secret.key"));
        assert!(!error.reasons()[0].contains("quiet"));
    }
}
