//! What an error of PostgreSQL means for the caller, the connection and the plan.

use tokio_postgres::{
    Error,
    error::{Severity, SqlState},
};

use crate::error::StoreError;

/// Whether retrying the same plan may succeed: it was cancelled because of a deadlock or a serialization failure.
pub(super) fn is_retryable(error: &Error) -> bool {
    matches!(error.code(), Some(&SqlState::T_R_SERIALIZATION_FAILURE | &SqlState::T_R_DEADLOCK_DETECTED))
}

/// Whether the server has said that it has undone what it was told to do. An error that ends the connection says nothing.
pub(super) fn is_undone(error: &Error) -> bool {
    error.as_db_error().is_some_and(|error| error.parsed_severity() == Some(Severity::Error))
}

/// Whether the connection must be closed: it is broken, or its server no longer accepts writes.
pub(super) fn breaks_the_connection(error: &Error) -> bool {
    match error.code() {
        None => true,
        Some(code) => {
            *code == SqlState::READ_ONLY_SQL_TRANSACTION
                || ["57P", "08"].iter().any(|kind| code.code().starts_with(kind))
        }
    }
}

/// A violated constraint or an invalid statement is our mistake; every other error is about the server, the network or
/// too much load.
pub(super) fn failure(error: Error) -> StoreError {
    let ours = error.code().is_some_and(|code| {
        // Classes: integrity, one statement that changes a row twice, data, syntax or names, and errors raised by our own
        // triggers.
        ["23", "21", "22", "42", "P0"].iter().any(|class| code.code().starts_with(class))
    });
    match ours {
        true => StoreError::unexpected(error),
        false => StoreError::unavailable(error),
    }
}
