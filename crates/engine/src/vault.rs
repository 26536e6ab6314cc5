//! Encryption of stored secrets: AES-256-GCM with the installation's secret key.
//!
//! A sealed value is bound to the column and the row that it is stored in, and opens nowhere else. It begins with a mark
//! and the id of its key, so that one of several keys can be chosen while the key is being rotated. Values of version
//! 0.1 have neither and are bound to their row alone; they still open, and `lunas secret rotate` seals them anew.
//!
//! Some secrets are derived from the key instead of being stored.

use std::sync::Arc;

use aes_gcm::{
    Aes256Gcm, KeyInit,
    aead::{Aead, Payload},
};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use hmac::{Hmac, Mac};
use rand::Rng;
use secrecy::{ExposeSecret, SecretSlice, SecretString};
use sha2::{Digest, Sha256};
use store::SealedColumn;

const NONCE_BYTES: usize = 12;
const TAG_BYTES: usize = 16;
const KEY_BYTES: usize = 32;
/// "Lunas sealed", and the number of the format.
const MARK: [u8; 3] = [b'L', b'S', 1];
const KEY_ID_BYTES: usize = 8;
const HEADER_BYTES: usize = MARK.len() + KEY_ID_BYTES;
const HMAC_BLOCK_BYTES: usize = 64;

/// A secret key of the installation. It has no `Debug`, so that it cannot be logged by accident.
#[derive(Clone, PartialEq, Eq)]
pub struct SecretKey([u8; KEY_BYTES]);

/// The secret keys of an installation: the one that secrets are sealed with, and others that open what is still, or
/// already, sealed with them while the key is being rotated.
#[derive(Clone)]
pub struct SecretKeys {
    pub current: SecretKey,
    pub others: Vec<SecretKey>,
}

impl From<SecretKey> for SecretKeys {
    fn from(current: SecretKey) -> SecretKeys {
        SecretKeys { current, others: Vec::new() }
    }
}

/// A decrypted secret. Its text is read with `expose_secret`.
pub type Unsealed = SecretString;

#[derive(Debug, thiserror::Error)]
pub enum VaultError {
    #[error("the secret key must be the base64 of 32 bytes")]
    BadKey,
    #[error("a stored secret cannot be opened with this secret key")]
    KeyNotGiven,
    #[error("a stored secret cannot be opened: it is damaged, or it was stored in another place")]
    CannotOpen,
}

impl SecretKey {
    pub fn from_base64(text: &SecretString) -> Result<SecretKey, VaultError> {
        let bytes = STANDARD.decode(text.expose_secret().trim()).map_err(|_| VaultError::BadKey)?;
        Ok(SecretKey(bytes.try_into().map_err(|_| VaultError::BadKey)?))
    }

    /// A new random key, in the form in which it is configured.
    pub fn generate_base64() -> SecretString {
        let mut bytes = [0; KEY_BYTES];
        rand::rng().fill_bytes(&mut bytes);
        STANDARD.encode(bytes).into()
    }

    /// The first bytes of a hash, which say nothing about the key.
    fn id(&self) -> [u8; KEY_ID_BYTES] {
        let hash = Sha256::new().chain_update(b"lunas secret key id").chain_update(self.0).finalize();
        std::array::from_fn(|index| hash[index])
    }

    fn mac(&self) -> Hmac<Sha256> {
        // HMAC takes a key of a whole block, and fills a shorter one with zeros.
        let mut block = [0; HMAC_BLOCK_BYTES];
        block[..KEY_BYTES].copy_from_slice(&self.0);
        Hmac::new(&block.into())
    }
}

#[derive(Clone)]
pub(crate) struct Vault {
    /// The first one seals.
    keys: Arc<[VaultKey]>,
    /// HMAC with the current key, for secrets that are derived.
    mac: Hmac<Sha256>,
}

struct VaultKey {
    id: [u8; KEY_ID_BYTES],
    cipher: Aes256Gcm,
}

/// Where a sealed value is kept.
#[derive(Clone, Copy)]
pub(crate) enum Place {
    Column(SealedColumn),
    /// The cookie of a browser in which somebody has signed in before.
    KnownBrowser,
    /// The cookie of a visitor who was told to wait before they sign in.
    SignInTicket,
    /// The cookie of a visitor who has given the right password, and not their second factor yet.
    PendingSignIn,
    /// The link in a letter that ends letters of its kind.
    LetterStop,
    /// What a customer has typed on the first step of a claim page.
    ClaimTicket,
}

impl From<SealedColumn> for Place {
    fn from(column: SealedColumn) -> Place {
        Place::Column(column)
    }
}

impl Place {
    const fn name(self) -> &'static str {
        match self {
            Place::Column(column) => column.name(),
            Place::KnownBrowser => "the cookie of a known browser",
            Place::ClaimTicket => "the ticket of a claim page",
            Place::LetterStop => "the link that ends letters",
            Place::SignInTicket => "the cookie of a visitor who must wait",
            Place::PendingSignIn => "the cookie of a visitor who has given their password",
        }
    }
}

/// An opened value.
pub(crate) struct Opened {
    pub(crate) secret: SecretSlice<u8>,
    /// Whether it is sealed as [`Vault::seal`] would do it now: with the current key, bound to row and column.
    pub(crate) is_current: bool,
}

impl Vault {
    pub(crate) fn new(keys: SecretKeys) -> Vault {
        let mac = keys.current.mac();
        let keys = std::iter::once(keys.current).chain(keys.others);
        let key = |key: SecretKey| VaultKey { id: key.id(), cipher: Aes256Gcm::new(&key.0.into()) };
        Vault { keys: keys.map(key).collect(), mac }
    }

    /// 256 bits that only this installation can compute, and that are the same for the same purpose until the key is
    /// rotated.
    pub(crate) fn derive(&self, purpose: &str) -> [u8; 32] {
        self.mac.clone().chain_update(purpose.as_bytes()).finalize().into_bytes().into()
    }

    /// Encrypts a value of any length so that it can be decrypted only for that row and column.
    pub(crate) fn seal(&self, place: impl Into<Place>, row: &str, value: &[u8]) -> Result<Vec<u8>, VaultError> {
        let key = self.keys.first().ok_or(VaultError::KeyNotGiven)?;
        let header = [MARK.as_slice(), &key.id].concat();
        let mut nonce = [0; NONCE_BYTES];
        rand::rng().fill_bytes(&mut nonce);
        let payload = Payload { msg: value, aad: &bound_to(&header, place.into(), row) };
        let sealed = key.cipher.encrypt(&nonce.into(), payload).map_err(|_| VaultError::CannotOpen)?;
        Ok([header.as_slice(), &nonce, &sealed].concat())
    }

    /// Opens a value that is a text.
    pub(crate) fn open(&self, place: impl Into<Place>, row: &str, sealed: &[u8]) -> Result<Unsealed, VaultError> {
        let opened = self.unseal(place, row, sealed)?;
        let text = String::from_utf8(opened.secret.expose_secret().to_vec());
        Ok(text.map_err(|_| VaultError::CannotOpen)?.into())
    }

    pub(crate) fn unseal(&self, place: impl Into<Place>, row: &str, sealed: &[u8]) -> Result<Opened, VaultError> {
        // A value of version 0.1 begins with random bytes, which may look like the mark; so both forms are tried.
        self.unseal_marked(place.into(), row, sealed).or_else(|error| self.unseal_unmarked(row, sealed).ok_or(error))
    }

    fn unseal_marked(&self, place: Place, row: &str, sealed: &[u8]) -> Result<Opened, VaultError> {
        let (header, sealed) = sealed.split_at_checked(HEADER_BYTES).ok_or(VaultError::CannotOpen)?;
        let id = header.strip_prefix(&MARK).ok_or(VaultError::KeyNotGiven)?;
        let index = self.keys.iter().position(|key| key.id == id).ok_or(VaultError::KeyNotGiven)?;
        let secret = self.keys[index].decrypt(sealed, &bound_to(header, place, row)).ok_or(VaultError::CannotOpen)?;
        Ok(Opened { secret, is_current: index == 0 })
    }

    /// Opens a value of version 0.1.
    fn unseal_unmarked(&self, row: &str, sealed: &[u8]) -> Option<Opened> {
        let secret = self.keys.iter().find_map(|key| key.decrypt(sealed, row.as_bytes()))?;
        Some(Opened { secret, is_current: false })
    }
}

impl VaultKey {
    fn decrypt(&self, sealed: &[u8], bound_to: &[u8]) -> Option<SecretSlice<u8>> {
        let (nonce, sealed) = sealed.split_first_chunk::<NONCE_BYTES>().filter(|(_, rest)| rest.len() >= TAG_BYTES)?;
        let payload = Payload { msg: sealed, aad: bound_to };
        self.cipher.decrypt(&(*nonce).into(), payload).ok().map(SecretSlice::from)
    }
}

/// What a value is bound to. No name of a place contains a zero, so two places never have the same bytes.
fn bound_to(header: &[u8], place: Place, row: &str) -> Vec<u8> {
    [header, place.name().as_bytes(), &[0], row.as_bytes()].concat()
}

#[cfg(test)]
mod tests {
    use SealedColumn::{PreviousWebhookSecret, WebhookSecret};

    use super::*;

    fn key() -> SecretKey {
        SecretKey::from_base64(&SecretKey::generate_base64()).unwrap()
    }

    fn vault(current: &SecretKey, others: &[&SecretKey]) -> Vault {
        let others = others.iter().map(|key| (*key).clone()).collect();
        Vault::new(SecretKeys { current: current.clone(), others })
    }

    /// A value as version 0.1 sealed it.
    fn sealed_by_the_first_version(key: &SecretKey, row: &str, secret: &str) -> Vec<u8> {
        let nonce = [7; NONCE_BYTES];
        let payload = Payload { msg: secret.as_bytes(), aad: row.as_bytes() };
        let sealed = Aes256Gcm::new(&key.0.into()).encrypt(&nonce.into(), payload).unwrap();
        [nonce.as_slice(), &sealed].concat()
    }

    #[test]
    fn a_secret_opens_only_for_its_own_row_column_and_key() {
        let key = key();
        let vault = vault(&key, &[]);
        let sealed = vault.seal(WebhookSecret, "prj_1", b"quiet").unwrap();
        assert_eq!(vault.open(WebhookSecret, "prj_1", &sealed).unwrap().expose_secret(), "quiet");
        let fails = |column, row, sealed: &[u8]| vault.open(column, row, sealed).err().unwrap();
        assert!(matches!(fails(WebhookSecret, "prj_2", &sealed), VaultError::CannotOpen));
        assert!(matches!(fails(PreviousWebhookSecret, "prj_1", &sealed), VaultError::CannotOpen));
        assert!(matches!(fails(WebhookSecret, "prj_1", &sealed[..sealed.len() - 1]), VaultError::CannotOpen));
        assert!(matches!(fails(WebhookSecret, "prj_1", &[]), VaultError::CannotOpen));
        let other = self::vault(&self::key(), &[]).open(WebhookSecret, "prj_1", &sealed).err().unwrap();
        assert!(matches!(other, VaultError::KeyNotGiven));
        assert!(!sealed.windows(5).any(|window| window == b"quiet"));
        for index in 0..sealed.len() {
            let mut changed = sealed.clone();
            changed[index] ^= 1;
            assert!(vault.open(WebhookSecret, "prj_1", &changed).is_err(), "{index}");
        }
    }

    #[test]
    fn values_of_every_length_are_sealed() {
        let key = key();
        let vault = vault(&key, &[]);
        for length in [0, 1, 12, 16, 28, 4_096, 100_000] {
            let value = vec![255; length];
            let sealed = vault.seal(WebhookSecret, "prj_1", &value).unwrap();
            let opened = vault.unseal(WebhookSecret, "prj_1", &sealed).unwrap();
            assert_eq!(opened.secret.expose_secret(), value);
        }
    }

    #[test]
    fn while_a_key_is_rotated_both_open_and_the_current_one_seals() {
        let (old, new) = (key(), key());
        let of_old = vault(&old, &[]).seal(WebhookSecret, "prj_1", b"quiet").unwrap();
        let both = vault(&new, &[&old]);
        let of_new = both.seal(WebhookSecret, "prj_1", b"quiet").unwrap();
        for (sealed, is_current) in [(&of_old, false), (&of_new, true)] {
            let opened = both.unseal(WebhookSecret, "prj_1", sealed).unwrap();
            assert_eq!((opened.secret.expose_secret(), opened.is_current), (&b"quiet"[..], is_current));
        }
        assert!(vault(&new, &[]).open(WebhookSecret, "prj_1", &of_new).is_ok());
        assert!(vault(&new, &[]).open(WebhookSecret, "prj_1", &of_old).is_err());
        assert!(vault(&old, &[]).open(WebhookSecret, "prj_1", &of_new).is_err());
    }

    #[test]
    fn what_version_0_1_sealed_opens_and_counts_as_not_current() {
        let (old, new) = (key(), key());
        let sealed = sealed_by_the_first_version(&old, "prj_1", "quiet");
        for vault in [vault(&old, &[]), vault(&new, &[&old])] {
            let opened = vault.unseal(WebhookSecret, "prj_1", &sealed).unwrap();
            assert_eq!((opened.secret.expose_secret(), opened.is_current), (&b"quiet"[..], false));
            assert!(vault.open(WebhookSecret, "prj_2", &sealed).is_err());
        }
        assert!(matches!(vault(&new, &[]).open(WebhookSecret, "prj_1", &sealed), Err(VaultError::KeyNotGiven)));
    }

    #[test]
    fn what_is_derived_depends_on_the_purpose_and_on_the_key() {
        let vault = vault(&key(), &[]);
        assert_eq!(vault.derive("one"), vault.derive("one"));
        assert_ne!(vault.derive("one"), vault.derive("two"));
        assert_ne!(vault.derive("one"), self::vault(&key(), &[]).derive("one"));
    }

    #[test]
    fn only_the_base64_of_32_bytes_is_a_key() {
        for text in ["", "short", &STANDARD.encode([1; 31]), &STANDARD.encode([1; 33]), "!"] {
            assert!(SecretKey::from_base64(&text.to_owned().into()).is_err());
        }
    }
}
