//! Lost passwords: who asks for a new one, and the link that sets it. A link is 256 random bits, of which we store the hash; it
//! works once, for half an hour, and only while the password is the one that it was made for.

use std::time::Duration;

use sha2::{Digest, Sha256};

use crate::{
    id::UserId,
    language::Language,
    time::{HOUR, Timestamp},
    user::Email,
};

/// How long a link sets a password.
pub const RESET_LIFETIME: Duration = Duration::from_mins(30);
/// Within how long the links of one user are counted.
pub const RESETS_WITHIN: Duration = HOUR;
/// Links that are sent to one user within [`RESETS_WITHIN`]. Who asks more often gets no further letter.
pub const RESETS_MOST: i64 = 5;

/// Somebody who is not signed in asks for a new password. Whether the address has an account is looked up later.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResetRequest {
    pub email: Email,
    pub at: Timestamp,
    /// The network address and the browser that it was asked for from.
    pub address: String,
    pub browser: String,
    /// The language of the page.
    pub language: Language,
}

/// A link that sets a password.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PasswordReset {
    pub user_id: UserId,
    pub mark: PasswordMark,
    pub made_by: ResetMaker,
    pub created_at: Timestamp,
    pub expires_at: Timestamp,
}

/// Stands for the password that a user had. It is a hash of what is stored of the password, which is salted: a password that is set
/// again has another mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PasswordMark(pub [u8; 32]);

/// By what way a link reaches its user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResetMaker {
    /// A letter.
    Letter,
    /// An operator, who printed it on the server and hands it over.
    Operator,
}

impl PasswordReset {
    /// A link for the user with that stored password.
    pub fn new(user_id: UserId, stored_password: &str, made_by: ResetMaker, now: Timestamp) -> PasswordReset {
        let mark = PasswordMark::of(stored_password);
        PasswordReset { user_id, mark, made_by, created_at: now, expires_at: now.plus(RESET_LIFETIME) }
    }

    /// Whether it still sets the password of its user, of whom `stored_password` is stored.
    pub fn is_open_at(&self, now: Timestamp, stored_password: &str) -> bool {
        now < self.expires_at && self.mark == PasswordMark::of(stored_password)
    }
}

impl PasswordMark {
    pub fn of(stored_password: &str) -> PasswordMark {
        PasswordMark(Sha256::digest(stored_password.as_bytes()).into())
    }
}

impl ResetMaker {
    pub const ALL: [ResetMaker; 2] = [ResetMaker::Letter, ResetMaker::Operator];

    pub const fn word(self) -> &'static str {
        match self {
            ResetMaker::Letter => "letter",
            ResetMaker::Operator => "operator",
        }
    }

    pub fn parse(word: &str) -> Option<ResetMaker> {
        ResetMaker::ALL.into_iter().find(|maker| maker.word() == word)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::mint;

    #[test]
    fn a_link_is_open_for_half_an_hour_and_for_the_password_it_was_made_for() {
        let made = Timestamp::from_millis(1_800_000_000_000);
        let reset = PasswordReset::new(mint(made, [1; 10]), "$argon2id$one", ResetMaker::Letter, made);
        let minutes = |minutes| made.plus(Duration::from_mins(minutes));
        for (at, stored, is_open) in [
            (made, "$argon2id$one", true),
            (minutes(29), "$argon2id$one", true),
            (minutes(30), "$argon2id$one", false),
            (made, "$argon2id$other", false),
            (made, "", false),
        ] {
            assert_eq!(reset.is_open_at(at, stored), is_open, "{at} {stored}");
        }
    }

    #[test]
    fn who_made_a_link_is_read_back_by_its_word() {
        for maker in ResetMaker::ALL {
            assert_eq!(ResetMaker::parse(maker.word()), Some(maker));
        }
        assert_eq!(ResetMaker::parse("nobody"), None);
    }
}
