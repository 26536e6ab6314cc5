//! Contracts with banks: a bank account is one contract, with its settings, its keys and what the bank may ask under it.

use std::{collections::BTreeMap, time::Duration};

use crate::{
    id::{BankAccountId, CredentialId},
    rules::TextRule,
    time::Timestamp,
};

pub const ACCOUNT_NAME: TextRule = TextRule { field: "name", least: 1, most: 100, line_breaks: false };
pub const CLIENT_ID: TextRule = TextRule { field: "client_id", least: 1, most: 255, line_breaks: false };
pub const CLIENT_SECRET: TextRule = TextRule { field: "secret", least: 16, most: 512, line_breaks: false };

/// How long a number stays unused after the payment that had it has expired, so that money for the old payment cannot
/// pay a new one.
pub const NUMBER_REST: Duration = Duration::from_hours(30 * 24);

/// A bank's client ids, keys and tokens should be replaced when they are older.
pub const KEY_AGE_MOST: Duration = Duration::from_hours(365 * 24);

/// One contract with a bank. Its keys and secrets are [`Credential`]s.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BankAccount {
    pub id: BankAccountId,
    pub name: String,
    /// The name of the profile, which says how this bank speaks SNAP.
    pub profile: String,
    /// What differs from the profile, by the names of its parameters.
    pub settings: BTreeMap<String, String>,
    pub enabled: bool,
    pub created_at: Timestamp,
    pub version: i64,
}

/// What a credential is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CredentialKind {
    /// Our RSA key, with which we sign; the bank has its public part.
    OurKey,
    /// The bank's RSA key, of which we have the public part.
    BankKey,
    /// What we show the bank.
    Outbound,
    /// What the bank shows us.
    Inbound,
}

impl CredentialKind {
    pub const ALL: [CredentialKind; 4] =
        [CredentialKind::OurKey, CredentialKind::BankKey, CredentialKind::Outbound, CredentialKind::Inbound];

    pub const fn word(self) -> &'static str {
        match self {
            CredentialKind::OurKey => "our_key",
            CredentialKind::BankKey => "bank_key",
            CredentialKind::Outbound => "outbound",
            CredentialKind::Inbound => "inbound",
        }
    }

    pub fn parse(word: &str) -> Option<CredentialKind> {
        CredentialKind::ALL.into_iter().find(|kind| kind.word() == word)
    }
}

/// Whether a credential is in use, or waits to replace the one that is. What the bank sends may use either.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Stage {
    Current,
    Next,
}

impl Stage {
    pub const fn word(self) -> &'static str {
        match self {
            Stage::Current => "current",
            Stage::Next => "next",
        }
    }

    pub fn parse(word: &str) -> Option<Stage> {
        [Stage::Current, Stage::Next].into_iter().find(|stage| stage.word() == word)
    }
}

/// The open part of a credential. Its secret part is stored sealed, bound to the credential's id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Credential {
    pub id: CredentialId,
    pub account_id: BankAccountId,
    pub kind: CredentialKind,
    pub stage: Stage,
    /// Of [`CredentialKind::Outbound`] and [`CredentialKind::Inbound`].
    pub client_id: Option<String>,
    /// Of the two keys, in PEM.
    pub public_key: Option<String>,
    pub set_at: Timestamp,
}

impl Credential {
    /// Whether it has been in use for longer than it should be.
    pub fn is_old(&self, now: Timestamp) -> bool {
        self.set_at.plus(KEY_AGE_MOST) < now
    }
}

/// Until when a number belongs to a payment with this expiry. A payment that ends earlier gives it back no earlier.
pub fn number_rests_until(expires_at: Timestamp) -> Timestamp {
    expires_at.plus(NUMBER_REST)
}
