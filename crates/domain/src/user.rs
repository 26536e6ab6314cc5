//! Users who sign in to the dashboard, their sessions and invitations.
//!
//! A session is identified by 256 random bits that only the browser stores; we store their SHA-256.

use std::{fmt, time::Duration};

use sha2::{Digest, Sha256};

use crate::{
    access::Role,
    hex::{hex, unhex},
    id::{InviteId, ProjectId, SessionId, UserId},
    rules::{Invalid, TextRule, changes_direction},
    time::{DAY, Timestamp},
};

pub const EMAIL: TextRule = TextRule { field: "email", least: 1, most: 255, line_breaks: false };
/// Long enough that we need not require digits and signs.
pub const PASSWORD_CHARACTERS_LEAST: usize = 12;
pub const PASSWORD_CHARACTERS_MOST: usize = 128;
/// A session ends when it was not used for this long.
pub const SESSION_IDLE: Duration = Duration::from_mins(30);
/// A session ends this long after it began, even when it is used.
pub const SESSION_LONGEST: Duration = Duration::from_hours(12);
/// How long an invitation can be accepted: a week.
pub const INVITE_LIFETIME: Duration = DAY.saturating_mul(7);

/// How long a browser or an address in which a user has signed in counts as known.
pub const KNOWN_LIFETIME: Duration = DAY.saturating_mul(180);

const TOKEN_BYTES: usize = 32;

/// An e-mail address in the form in which we compare it: trimmed and in lower case.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Email(String);

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct User {
    pub id: UserId,
    pub email: Email,
    /// Whether the user operates the installation: approves projects and sees the state of all of them.
    pub is_operator: bool,
    pub state: UserState,
    pub created_at: Timestamp,
}

/// Whether a user may sign in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum UserState {
    #[default]
    Active,
    /// May not sign in, until somebody activates them again.
    Deactivated { at: Timestamp },
    /// Gone for good. Only the id stays, as the audit log names it.
    Removed { at: Timestamp },
}

/// A browser in which a user is signed in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Session {
    pub id: SessionId,
    pub user_id: UserId,
    pub created_at: Timestamp,
    /// When it was last used, to the minute.
    pub seen_at: Timestamp,
    pub address: String,
    /// The browser's User-Agent header.
    pub browser: String,
    /// When the user last showed that they are there: by signing in, or by a proof that they were asked for since.
    pub proved_at: Timestamp,
    /// Whether the user has shown their second factor in it.
    pub by_factor: bool,
}

/// An invitation to become a member of a project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invite {
    pub id: InviteId,
    pub project_id: ProjectId,
    pub email: Email,
    pub role: Role,
    pub created_at: Timestamp,
    pub expires_at: Timestamp,
    /// The user who created it; none where that is not known.
    pub created_by: Option<UserId>,
}

/// 256 random bits that grant access to a session or an invitation. It has no `Debug`, so that it cannot be logged by
/// accident.
#[derive(Clone, PartialEq, Eq)]
pub struct Token([u8; TOKEN_BYTES]);

/// SHA-256 of a token; sessions and invitations are looked up by it.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct TokenHash(pub [u8; 32]);

impl Email {
    /// A new address.
    pub fn parse(text: &str) -> Result<Email, Invalid> {
        EMAIL.check(text.trim().to_owned())?;
        Email::recognise(text)
    }

    /// An address that may be one of before today's rules: it is looked up or read from the database.
    pub fn recognise(text: &str) -> Result<Email, Invalid> {
        let text = text.trim().to_lowercase();
        EMAIL.check(text.chars().filter(|character| !changes_direction(*character)).collect())?;
        let is_address = text.split_once('@').is_some_and(|(name, host)| {
            !name.is_empty() && !host.is_empty() && !host.contains('@') && !text.contains(char::is_whitespace)
        });
        if is_address {
            Ok(Email(text))
        } else {
            Err(Invalid::new("email", "must be an address such as name@example.com"))
        }
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Email {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl User {
    pub const fn is_active(&self) -> bool {
        matches!(self.state, UserState::Active)
    }

    pub const fn is_removed(&self) -> bool {
        matches!(self.state, UserState::Removed { .. })
    }
}

impl Email {
    /// What a removed user has in place of an address: nothing is sent there, and it says nothing but the id.
    pub fn of_removed(id: UserId) -> Email {
        Email(format!("{id}@removed.invalid"))
    }
}

/// Checks the length of a new password.
pub fn check_password(password: &str) -> Result<(), Invalid> {
    let rule = match password.chars().count() {
        ..PASSWORD_CHARACTERS_LEAST => format!("must have at least {PASSWORD_CHARACTERS_LEAST} characters"),
        length if length > PASSWORD_CHARACTERS_MOST => {
            format!("must have at most {PASSWORD_CHARACTERS_MOST} characters")
        }
        _ => return Ok(()),
    };
    Err(Invalid::new("password", rule))
}

impl Session {
    pub fn ends_at(&self) -> Timestamp {
        self.seen_at.plus(SESSION_IDLE).min(self.created_at.plus(SESSION_LONGEST))
    }

    pub fn is_live_at(&self, now: Timestamp) -> bool {
        now < self.ends_at()
    }
}

impl Invite {
    pub fn is_open_at(&self, now: Timestamp) -> bool {
        now < self.expires_at
    }
}

impl Token {
    pub const fn of(random: [u8; TOKEN_BYTES]) -> Token {
        Token(random)
    }

    /// Parses a well-formed token, so that other text is rejected without asking the database.
    pub fn parse(text: &str) -> Option<Token> {
        if text.len() != 2 * TOKEN_BYTES {
            return None;
        }
        unhex(text)?.try_into().ok().map(Token)
    }

    pub fn hash(&self) -> TokenHash {
        TokenHash(Sha256::digest(self.0).into())
    }

    /// The token as text, for the browser that stores it.
    pub fn reveal(&self) -> String {
        hex(&self.0)
    }

    /// The token that every form of a session carries against cross-site requests. The session's token cannot be
    /// derived from it.
    pub fn form_token(&self) -> String {
        let digest: [u8; 32] = Sha256::new().chain_update(b"form").chain_update(self.0).finalize().into();
        hex(&digest[..16])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::mint;

    #[test]
    fn an_address_is_compared_without_case_and_white_space_around_it() {
        assert_eq!(Email::parse(" Siti@Example.COM ").unwrap().as_str(), "siti@example.com");
        for wrong in ["", "@", "a@", "@b", "a b@c", "a@b@c", "a@b\nc", "plain", &format!("{}@b", "a".repeat(255))] {
            assert!(Email::parse(wrong).is_err() && Email::recognise(wrong).is_err(), "{wrong}");
        }
        let of_before = "siti\u{202e}@example.com";
        assert!(Email::parse(of_before).is_err());
        assert_eq!(Email::recognise(of_before).unwrap().as_str(), of_before);
    }

    #[test]
    fn a_password_has_12_to_128_characters_of_any_kind() {
        for (length, fine) in [(0, false), (11, false), (12, true), (128, true), (129, false)] {
            assert_eq!(check_password(&"é".repeat(length)).is_ok(), fine, "{length}");
        }
    }

    #[test]
    fn a_session_ends_when_it_is_idle_and_after_half_a_day_in_any_case() {
        let minute = |minutes: i64| Timestamp::from_millis(minutes * 60_000);
        let session = |created, seen| Session {
            id: mint(minute(0), [1; 10]),
            user_id: mint(minute(0), [2; 10]),
            created_at: minute(created),
            seen_at: minute(seen),
            address: String::new(),
            browser: String::new(),
            proved_at: minute(created),
            by_factor: false,
        };
        assert!(session(0, 0).is_live_at(minute(29)) && !session(0, 0).is_live_at(minute(30)));
        assert!(session(0, 700).is_live_at(minute(719)) && !session(0, 719).is_live_at(minute(720)));
    }

    #[test]
    fn a_token_is_read_back_from_its_text_and_from_nothing_else() {
        let token = Token::of(std::array::from_fn(|at| at as u8));
        let text = token.reveal();
        assert!(Token::parse(&text).is_some_and(|read| read == token));
        for wrong in ["", &text[1..], &text.to_uppercase(), &format!("{text}0"), &"g".repeat(64), &"é".repeat(32)] {
            assert!(Token::parse(wrong).is_none(), "{wrong}");
        }
        assert_ne!(token.form_token(), Token::of([0; 32]).form_token());
        assert!(!text.contains(&token.form_token()));
    }
}
