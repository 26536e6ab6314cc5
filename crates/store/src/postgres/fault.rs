//! What an error of PostgreSQL means to us.

use tokio_postgres::{Error, error::SqlState};

use crate::error::StoreError;

/// Whether running the same plan once more may end otherwise: it lost a race that the database broke up.
pub(super) fn is_a_lost_race(error: &Error) -> bool {
    matches!(error.code(), Some(&SqlState::T_R_SERIALIZATION_FAILURE | &SqlState::T_R_DEADLOCK_DETECTED))
}

/// Whether the connection is of no more use: it is broken, or the server behind it takes no writes any more.
pub(super) fn spoils_the_connection(error: &Error) -> bool {
    match error.code() {
        None => true,
        Some(code) => {
            *code == SqlState::READ_ONLY_SQL_TRANSACTION
                || ["57P", "08"].iter().any(|kind| code.code().starts_with(kind))
        }
    }
}

/// A constraint that does not hold, or a statement that makes no sense, is our mistake; all else is the server, the network,
/// or too much to do.
pub(super) fn failure(error: Error) -> StoreError {
    let ours = error.code().is_some_and(|code| {
        // Integrity, data, syntax or names, and what our own triggers raise.
        ["23", "22", "42", "P0"].iter().any(|class| code.code().starts_with(class))
    });
    match ours {
        true => StoreError::unexpected(error),
        false => StoreError::unavailable(error),
    }
}
