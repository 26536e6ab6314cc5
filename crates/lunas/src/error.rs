//! The error of a command, as lines for its user: what failed, why, and what to do. No line may contain a secret.

use std::{error::Error, fmt, io};

/// One line per reason. The program prints them and exits with status 1.
#[derive(Debug)]
pub(crate) struct CliError {
    reasons: Vec<String>,
}

impl CliError {
    pub(crate) fn new(reason: impl Into<String>) -> CliError {
        CliError { reasons: vec![reason.into()] }
    }

    pub(crate) fn several(reasons: Vec<String>) -> CliError {
        assert!(!reasons.is_empty(), "a failure has a reason");
        CliError { reasons }
    }

    /// `what` failed, followed by the error and its causes.
    pub(crate) fn because(what: impl fmt::Display, error: &(dyn Error + 'static)) -> CliError {
        CliError::new(format!("{what}: {}", chain(error)))
    }

    pub(crate) fn file(what: &str, path: &std::path::Path, error: &io::Error) -> CliError {
        CliError::new(format!("cannot {what} {}: {error}", path.display()))
    }

    pub(crate) fn reasons(&self) -> &[String] {
        &self.reasons
    }
}

impl From<engine::Error> for CliError {
    fn from(error: engine::Error) -> CliError {
        CliError::new(chain(&error))
    }
}

impl From<store::StoreError> for CliError {
    fn from(error: store::StoreError) -> CliError {
        CliError::new(chain(&error))
    }
}

/// An error and its causes on one line, without repeating a cause that the line ends with already.
pub(crate) fn chain(error: &(dyn Error + 'static)) -> String {
    let mut line = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let text = error.to_string();
        if !line.ends_with(&text) {
            line = format!("{line}: {text}");
        }
        cause = error.source();
    }
    line.replace(['\n', '\r'], " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn causes_are_on_one_line_and_each_once() {
        #[derive(Debug, thiserror::Error)]
        #[error("outer")]
        struct Outer(#[source] io::Error);
        assert_eq!(chain(&Outer(io::Error::other("inner\nline"))), "outer: inner line");
        assert_eq!(chain(&io::Error::other("alone")), "alone");
    }
}
