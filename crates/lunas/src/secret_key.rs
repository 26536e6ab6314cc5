//! The secret keys, which stored secrets are encrypted with: found in the environment, in the configuration file, or in files in the
//! installation's directory. Secrets are encrypted with one of them; the others only decrypt, while the key is being rotated.
//!
//! No flag takes them, because the process list shows flags to all users of the machine.

use std::path::{Path, PathBuf};

use engine::{SecretKey, SecretKeys, UnopenedSecret};
use secrecy::SecretString;

use crate::{
    error::CliError,
    private_files,
    variables::{self, Value},
};

pub(crate) const VARIABLE: &str = "LUNAS_SECRET_KEY";
pub(crate) const PREVIOUS_VARIABLE: &str = "LUNAS_SECRET_KEY_PREVIOUS";
pub(crate) const NEXT_VARIABLE: &str = "LUNAS_SECRET_KEY_NEXT";
pub(crate) const FILE: &str = "secret.key";
const PREVIOUS_FILE: &str = "secret.key.previous";
pub(crate) const HOW_TO_GENERATE: &str = "`openssl rand -base64 32` generates one";

/// The keys that were found, and where, for messages about wrong keys.
pub(crate) struct FoundKeys {
    pub(crate) keys: SecretKeys,
    origin: String,
    origins_of_others: Vec<String>,
}

impl FoundKeys {
    /// Where the key was found that secrets are encrypted with.
    pub(crate) fn origin(&self) -> &str {
        &self.origin
    }

    /// Where the keys were found that only decrypt.
    pub(crate) fn origins_of_others(&self) -> &[String] {
        &self.origins_of_others
    }

    /// What to say when keys are missing that stored secrets were encrypted with; none if no key is missing.
    pub(crate) fn missing_for(&self, unopened: &[UnopenedSecret]) -> Option<String> {
        let missing: Vec<&UnopenedSecret> = unopened.iter().filter(|secret| secret.key_is_missing).collect();
        let (first, count) = (&missing.first()?.place, missing.len());
        let which = match self.origins_of_others.as_slice() {
            [] => format!("the secret key in {} is not the one", self.origin),
            others => format!("the secret keys in {} and {} are not the ones", self.origin, others.join(" and ")),
        };
        let what = format!("{which} that stored secrets were encrypted with ({count} of them, the first is {first})");
        let rotated = format!("if the key is being rotated, give the old one in {PREVIOUS_VARIABLE}");
        Some(format!("{what}; use the key that the database was created with; {rotated}"))
    }
}

/// The keys in the environment or the configuration file; an empty value counts as none.
pub(crate) fn from_environment() -> Result<Option<FoundKeys>, CliError> {
    let Some(current) = variable(VARIABLE)? else { return Ok(None) };
    with_others(current, variable(PREVIOUS_VARIABLE)?).map(Some)
}

/// The keys of the installation whose directory is `home`.
pub(crate) fn find(home: &Path) -> Result<Option<FoundKeys>, CliError> {
    let either = |found: Option<FoundKey>, file: &str| match found {
        Some(key) => Ok(Some(key)),
        None => from_file(&home.join(file)),
    };
    let Some(current) = either(variable(VARIABLE)?, FILE)? else { return Ok(None) };
    with_others(current, either(variable(PREVIOUS_VARIABLE)?, PREVIOUS_FILE)?).map(Some)
}

/// Generates a key and saves it in `home`.
pub(crate) fn generate(home: &Path) -> Result<FoundKeys, CliError> {
    use secrecy::ExposeSecret;
    let path = file_in(home);
    let text = SecretKey::generate_base64();
    let line: SecretString = format!("{}\n", text.expose_secret()).into();
    private_files::replace_private(&path, line.expose_secret())
        .map_err(|error| CliError::file("write", &path, &error))?;
    with_others(found(&text, path.display().to_string())?, None)
}

/// A random key, for commands that neither encrypt nor decrypt and should work without the real one.
pub(crate) fn placeholder() -> Result<SecretKeys, CliError> {
    let key = SecretKey::from_base64(&SecretKey::generate_base64());
    Ok(key.map_err(|error| CliError::because("no key", &error))?.into())
}

/// Whether a text is no key.
pub(crate) fn is_malformed(text: &str) -> bool {
    SecretKey::from_base64(&text.into()).is_err()
}

/// The path of the key file in the directory `home`.
pub(crate) fn file_in(home: &Path) -> PathBuf {
    home.join(FILE)
}

/// A key, and where it was found.
struct FoundKey {
    key: SecretKey,
    origin: String,
}

fn with_others(current: FoundKey, previous: Option<FoundKey>) -> Result<FoundKeys, CliError> {
    let others = previous.into_iter().chain(variable(NEXT_VARIABLE)?);
    let (others, origins_of_others) = others.map(|other| (other.key, other.origin)).unzip();
    Ok(FoundKeys { keys: SecretKeys { current: current.key, others }, origin: current.origin, origins_of_others })
}

fn variable(name: &str) -> Result<Option<FoundKey>, CliError> {
    let Some(Value { text, origin }) = variables::get(name) else { return Ok(None) };
    let text: SecretString = text.into_string().unwrap_or_default().into();
    found(&text, origin).map(Some)
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
        private_files::replace_private(&path, "quiet").unwrap();
        let error = from_file(&path).err().unwrap();
        assert!(error.reasons()[0].contains("secret.key"));
        assert!(!error.reasons()[0].contains("quiet"));
    }
}
