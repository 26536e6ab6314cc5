//! Writes about lost passwords.

use domain::{
    id::UserId,
    password_reset::{PasswordReset, ResetRequest},
    time::Timestamp,
    user::{Email, TokenHash},
};

pub enum ResetWrite {
    /// Somebody asks for a new password. A later request of the same address replaces the earlier one; while `most` wait, no further
    /// address is taken.
    Requested { request: ResetRequest, most: i64 },
    /// Takes a request. Guarded: it waits, and is the one that was read.
    RequestTaken { email: Email, at: Timestamp },
    /// Stores a link, and ends the earlier ones of its user.
    LinkMade { reset: PasswordReset, hash: TokenHash },
    /// Ends a link that sets a password now, and all others of its user. Guarded: it is in time and has not ended.
    LinkUsed { user_id: UserId, hash: TokenHash, at: Timestamp },
}
