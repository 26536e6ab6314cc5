//! API keys: how they are generated, recognised and stored.
//!
//! The secret is `sk_test_` or `sk_live_`, 32 random base62 characters and 6 check characters. Only its SHA-256 is
//! kept.

use std::time::Duration;

use sha2::{Digest, Sha256};

use crate::{
    id::{KeyId, ProjectId, UserId},
    key_networks::KeyNetworks,
    key_rights::KeyRights,
    project::Environment,
    rules::Invalid,
    time::{DAY, Timestamp},
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
/// A key that was not used for this long is shown as unused.
pub const UNUSED_AFTER: Duration = DAY.saturating_mul(90);
/// The longest that a key goes on beside the one that replaces it.
const OVERLAP_LONGEST: Duration = DAY.saturating_mul(30);

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
    /// When a key that was replaced stops working by itself; none for a key that goes on until it is revoked.
    pub expires_at: Option<Timestamp>,
    /// The user who created it; none for the command line, and where it is not known.
    pub created_by: Option<UserId>,
    pub rights: KeyRights,
    pub networks: KeyNetworks,
}

/// Where a key is in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyState {
    Active,
    /// Replaced by another key, and working until then.
    Replaced {
        until: Timestamp,
    },
    /// Replaced by another key, and over since then.
    Expired {
        at: Timestamp,
    },
    Revoked {
        at: Timestamp,
    },
}

impl ApiKey {
    pub fn state_at(&self, now: Timestamp) -> KeyState {
        match (self.revoked_at, self.expires_at) {
            (Some(at), _) => KeyState::Revoked { at },
            (None, Some(at)) if at <= now => KeyState::Expired { at },
            (None, Some(until)) => KeyState::Replaced { until },
            (None, None) => KeyState::Active,
        }
    }

    /// Whether requests with the key are let in.
    pub fn works_at(&self, now: Timestamp) -> bool {
        matches!(self.state_at(now), KeyState::Active | KeyState::Replaced { .. })
    }

    /// Whether nobody has used the key for so long that it is probably not needed any more.
    pub fn is_unused(&self, last_used_at: Option<Timestamp>, now: Timestamp) -> bool {
        self.works_at(now) && last_used_at.unwrap_or(self.created_at).plus(UNUSED_AFTER) <= now
    }
}

/// For how long a key goes on working beside the one that replaces it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Overlap(Duration);

impl Overlap {
    /// What forms offer.
    pub const CHOICES: [Overlap; 4] =
        [Overlap(Duration::from_hours(1)), Overlap(DAY), Overlap(DAY.saturating_mul(7)), Overlap(OVERLAP_LONGEST)];
    pub const USUAL: Overlap = Overlap(DAY);

    pub fn of_hours(hours: u64) -> Result<Overlap, Invalid> {
        let longest = OVERLAP_LONGEST.as_secs() / 3_600;
        match hours {
            1.. if hours <= longest => Ok(Overlap(Duration::from_secs(hours * 3_600))),
            _ => Err(Invalid::new("overlap", format!("must be from 1 to {longest} hours"))),
        }
    }

    pub const fn hours(self) -> u64 {
        self.0.as_secs() / 3_600
    }

    pub fn ends_at(self, now: Timestamp) -> Timestamp {
        now.plus(self.0)
    }
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
    use crate::id::mint;

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

    const NOW: Timestamp = Timestamp::from_millis(1_794_648_600_000);

    fn stored(revoked_at: Option<Timestamp>, expires_at: Option<Timestamp>) -> ApiKey {
        ApiKey {
            id: mint(NOW, [1; 10]),
            project_id: mint(NOW, [2; 10]),
            environment: Environment::Sandbox,
            name: "Kasir".to_owned(),
            last_four: "a1B2".to_owned(),
            created_at: NOW,
            revoked_at,
            expires_at,
            created_by: None,
            rights: KeyRights::USUAL,
            networks: KeyNetworks::default(),
        }
    }

    #[test]
    fn a_replaced_key_works_until_its_overlap_is_over() {
        let ends = Overlap::of_hours(1).unwrap().ends_at(NOW);
        let just_before = ends.minus(Duration::from_millis(1));
        assert_eq!(stored(None, Some(ends)).state_at(just_before), KeyState::Replaced { until: ends });
        assert!(stored(None, Some(ends)).works_at(just_before) && !stored(None, Some(ends)).works_at(ends));
        assert_eq!(stored(None, Some(ends)).state_at(ends), KeyState::Expired { at: ends });
        assert_eq!(stored(Some(NOW), Some(ends)).state_at(NOW), KeyState::Revoked { at: NOW });
        assert!(stored(None, None).works_at(ends));
    }

    #[test]
    fn an_overlap_is_from_an_hour_to_30_days() {
        for (hours, fine) in [(0, false), (1, true), (24, true), (720, true), (721, false), (u64::MAX, false)] {
            assert_eq!(Overlap::of_hours(hours).is_ok(), fine, "{hours}");
        }
        assert_eq!(Overlap::CHOICES.map(Overlap::hours), [1, 24, 168, 720]);
    }

    #[test]
    fn a_key_counts_as_unused_when_nobody_has_used_it_for_90_days() {
        let (day, key) = (NOW.plus(UNUSED_AFTER), stored(None, None));
        assert!(key.is_unused(None, day) && !key.is_unused(None, day.minus(Duration::from_millis(1))));
        assert!(!key.is_unused(Some(NOW.plus(DAY)), day) && key.is_unused(Some(NOW.plus(DAY)), day.plus(DAY)));
        assert!(!stored(Some(NOW), None).is_unused(None, day), "a revoked key is not in use anyway");
    }
}
