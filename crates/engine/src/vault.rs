//! Encryption of stored secrets: AES-256-GCM with the installation's key, bound to the row that a secret belongs to. And
//! secrets that are derived from that key instead of being stored.

use aes_gcm::{
    Aes256Gcm, KeyInit,
    aead::{Aead, Payload},
};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use hmac::{Hmac, Mac};
use rand::Rng;
use secrecy::{ExposeSecret, SecretString};
use sha2::Sha256;

const NONCE_BYTES: usize = 12;
const KEY_BYTES: usize = 32;
const HMAC_BLOCK_BYTES: usize = 64;

/// The installation's key. It has no `Debug`, so that it cannot be logged by accident.
#[derive(Clone)]
pub struct SecretKey([u8; KEY_BYTES]);

/// A decrypted secret. Its text is read with `expose_secret`.
pub type Unsealed = SecretString;

#[derive(Debug, thiserror::Error)]
pub enum VaultError {
    #[error("the secret key must be the base64 of 32 bytes")]
    BadKey,
    #[error("a stored secret cannot be opened with this secret key")]
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
}

#[derive(Clone)]
pub(crate) struct Vault {
    cipher: Aes256Gcm,
    /// HMAC with the installation's key, for secrets that are derived.
    mac: Hmac<Sha256>,
}

impl Vault {
    pub(crate) fn new(key: SecretKey) -> Vault {
        // HMAC takes a key of a whole block, and fills a shorter one with zeros.
        let mut block = [0; HMAC_BLOCK_BYTES];
        block[..KEY_BYTES].copy_from_slice(&key.0);
        Vault { cipher: Aes256Gcm::new(&key.0.into()), mac: Hmac::new(&block.into()) }
    }

    /// 256 bits that only this installation can compute, and that are the same for the same purpose.
    pub(crate) fn derive(&self, purpose: &str) -> [u8; 32] {
        self.mac.clone().chain_update(purpose.as_bytes()).finalize().into_bytes().into()
    }

    /// Encrypts `secret` so that it can be decrypted only for `row`.
    pub(crate) fn seal(&self, row: &str, secret: &str) -> Result<Vec<u8>, VaultError> {
        let mut nonce = [0; NONCE_BYTES];
        rand::rng().fill_bytes(&mut nonce);
        let payload = Payload { msg: secret.as_bytes(), aad: row.as_bytes() };
        let sealed = self.cipher.encrypt(&nonce.into(), payload).map_err(|_| VaultError::CannotOpen)?;
        Ok([nonce.as_slice(), &sealed].concat())
    }

    pub(crate) fn open(&self, row: &str, sealed: &[u8]) -> Result<Unsealed, VaultError> {
        let (nonce, sealed) = sealed.split_first_chunk::<NONCE_BYTES>().ok_or(VaultError::CannotOpen)?;
        let payload = Payload { msg: sealed, aad: row.as_bytes() };
        let opened = self.cipher.decrypt(&(*nonce).into(), payload).map_err(|_| VaultError::CannotOpen)?;
        Ok(String::from_utf8(opened).map_err(|_| VaultError::CannotOpen)?.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vault() -> Vault {
        Vault::new(SecretKey::from_base64(&SecretKey::generate_base64()).unwrap())
    }

    #[test]
    fn a_secret_opens_only_for_its_own_row_and_key() {
        let vault = vault();
        let sealed = vault.seal("prj_1", "quiet").unwrap();
        assert_eq!(vault.open("prj_1", &sealed).unwrap().expose_secret(), "quiet");
        assert!(vault.open("prj_2", &sealed).is_err());
        assert!(self::vault().open("prj_1", &sealed).is_err());
        assert!(vault.open("prj_1", &sealed[..sealed.len() - 1]).is_err());
        assert!(vault.open("prj_1", &[]).is_err());
        assert!(!sealed.windows(5).any(|window| window == b"quiet"));
    }

    #[test]
    fn what_is_derived_depends_on_the_purpose_and_on_the_key() {
        let vault = vault();
        assert_eq!(vault.derive("one"), vault.derive("one"));
        assert_ne!(vault.derive("one"), vault.derive("two"));
        assert_ne!(vault.derive("one"), self::vault().derive("one"));
    }

    #[test]
    fn only_the_base64_of_32_bytes_is_a_key() {
        for text in ["", "short", &STANDARD.encode([1; 31]), &STANDARD.encode([1; 33]), "!"] {
            assert!(SecretKey::from_base64(&text.to_owned().into()).is_err());
        }
    }
}
