//! API keys: how they are generated, recognised and stored.
//!
//! The secret is `sk_test_` or `sk_live_`, 32 random base62 characters and 6 check characters. Only its SHA-256 is
//! kept.

use sha2::{Digest, Sha256};

use crate::{
    id::{KeyId, ProjectId, UserId},
    key_networks::KeyNetworks,
    key_rights::KeyRights,
    project::Environment,
    time::Timestamp,
};

/// The alphabet of secrets.
pub const BASE62: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const CHECKSUM: crc::Crc<u32> = crc::Crc::<u32>::new(&crc::CRC_32_ISO_HDLC);
const RANDOM_CHARACTERS: usize = 32;
const CHECK_CHARACTERS: usize = 6;
const PREFIX_CHARACTERS: usize = 8;
const KEY_CHARACTERS: usize = PREFIX_CHARACTERS + RANDOM_CHARACTERS + CHECK_CHARACTERS;

/// Keys of one project that may be valid at a time.
pub const ACTIVE_KEYS_MOST: i64 = 100;

/// A key as it is stored: everything but the secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApiKey {
    pub id: KeyId,
    pub project_id: ProjectId,
    pub environment: Environment,
    pub name: String,
    pub last_four: String,
    pub created_at: Timestamp,
    pub revoked_at: Option<Timestamp>,
    /// The user who created it; none for the command line, and where it is not known.
    pub created_by: Option<UserId>,
    pub rights: KeyRights,
    pub networks: KeyNetworks,
}

/// SHA-256 of a whole key; keys are looked up by it.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct KeyHash(pub [u8; 32]);

/// A key's secret text. It has no `Debug`, so that it cannot be logged by accident.
pub struct KeySecret(String);

impl KeySecret {
    /// Generates a key. `draw` must return a uniformly random number below 62 at every call.
    pub fn make(environment: Environment, mut draw: impl FnMut() -> u8) -> KeySecret {
        let mut text = String::with_capacity(KEY_CHARACTERS);
        text.push_str(key_prefix(environment));
        for _ in 0..RANDOM_CHARACTERS {
            text.push(char::from(BASE62[usize::from(draw() % 62)]));
        }
        let check = check_characters(&text);
        text.push_str(&check);
        KeySecret(text)
    }

    /// Parses a well-formed key, so that other text is rejected without asking the database.
    pub fn recognise(text: &str) -> Option<KeySecret> {
        let environment = [Environment::Sandbox, Environment::Production]
            .into_iter()
            .find(|environment| text.starts_with(key_prefix(*environment)))?;
        let random = &text[key_prefix(environment).len()..];
        if text.len() != KEY_CHARACTERS || !random.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
            return None;
        }
        let (signed, check) = text.split_at(KEY_CHARACTERS - CHECK_CHARACTERS);
        (check_characters(signed) == check).then(|| KeySecret(text.to_owned()))
    }

    pub fn hash(&self) -> KeyHash {
        KeyHash(Sha256::digest(self.0.as_bytes()).into())
    }

    pub fn last_four(&self) -> String {
        self.0[KEY_CHARACTERS - 4..].to_owned()
    }

    /// The text itself, to show it once.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

pub const fn key_prefix(environment: Environment) -> &'static str {
    match environment {
        Environment::Sandbox => "sk_test_",
        Environment::Production => "sk_live_",
    }
}

fn check_characters(signed: &str) -> String {
    let mut rest = CHECKSUM.checksum(signed.as_bytes());
    let mut characters = [b'0'; CHECK_CHARACTERS];
    for slot in characters.iter_mut().rev() {
        *slot = BASE62[(rest % 62) as usize];
        rest /= 62;
    }
    characters.iter().copied().map(char::from).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(environment: Environment) -> KeySecret {
        let mut next = 0_u8;
        KeySecret::make(environment, || {
            next = (next + 37) % 62;
            next
        })
    }

    #[test]
    fn a_key_that_was_made_is_recognised() {
        for environment in [Environment::Sandbox, Environment::Production] {
            let made = key(environment);
            let known = KeySecret::recognise(made.reveal()).unwrap();
            assert!(known.hash() == made.hash());
            assert_eq!(made.reveal().len(), 46);
            assert!(made.reveal().ends_with(&made.last_four()));
        }
    }

    #[test]
    fn junk_truncated_altered_and_swapped_keys_are_not_recognised() {
        let good = key(Environment::Sandbox).reveal().to_owned();
        let swapped = good.replace("sk_test_", "sk_live_");
        let altered = format!("{}{}", &good[..45], if good.ends_with('0') { '1' } else { '0' });
        let middle = format!("{}{}{}", &good[..20], if good[20..].starts_with('a') { 'b' } else { 'a' }, &good[21..]);
        for wrong in ["", "sk_test_", "sk_", &good[..45], &format!("{good}0"), &swapped, &altered, &middle, "sk_test_é"]
        {
            assert!(KeySecret::recognise(wrong).is_none(), "{}", wrong.len());
        }
        let mut multibyte = good.clone();
        multibyte.replace_range(38..42, "éé");
        assert!(KeySecret::recognise(&multibyte).is_none());
    }
}
