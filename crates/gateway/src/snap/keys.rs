//! RSA keys: ours, which signs, and a bank's, which verifies. Signatures are PKCS#1 v1.5 over SHA-256.
//!
//! A private key has no `Debug`, and no error quotes what was read.

use aws_lc_rs::{
    encoding::{AsDer, Pkcs8V1Der},
    rand::SystemRandom,
    rsa::{KeyPair, KeySize},
    signature::{KeyPair as _, ParsedPublicKey, RSA_PKCS1_2048_8192_SHA256, RSA_PKCS1_SHA256, RsaParameters},
};
use secrecy::{ExposeSecret, SecretSlice, SecretString};

use super::pem;

const PRIVATE: &str = "PRIVATE KEY";
const PUBLIC: &str = "PUBLIC KEY";
const PUBLIC_PKCS1: &str = "RSA PUBLIC KEY";
const CERTIFICATE: &str = "CERTIFICATE";

/// Why a key cannot be used.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    #[error("this is not a PEM file: it must be one section from `-----BEGIN …-----` to `-----END …-----`")]
    NotPem,
    #[error("this is a private key, where the bank's public key belongs; nobody but its owner should have it")]
    IsPrivate,
    #[error("this is a certificate; write its public key with `openssl x509 -pubkey -noout -in FILE`")]
    IsCertificate,
    #[error("this is no RSA public key: the section must be `PUBLIC KEY` or `RSA PUBLIC KEY`")]
    NotPublic,
    #[error(
        "this is no RSA private key of at least 2,048 bits in a `PRIVATE KEY` section (PKCS#8, without a password)"
    )]
    NotPrivate,
    #[error("this RSA key has {bits} bits; it must have 2,048 to 8,192")]
    WrongSize { bits: u32 },
    #[error("no key could be made on this machine")]
    NotMade,
}

/// Our key for one bank. It has no `Debug`, so that it cannot be logged by accident.
pub struct PrivateKey {
    pair: KeyPair,
    pkcs8: SecretString,
    public: PublicKey,
}

impl PrivateKey {
    /// A new key of 2,048 bits, which every bank takes.
    pub fn generate() -> Result<PrivateKey, KeyError> {
        let pair = KeyPair::generate(KeySize::Rsa2048).map_err(|_| KeyError::NotMade)?;
        let pkcs8: Pkcs8V1Der<'_> = pair.as_der().map_err(|_| KeyError::NotMade)?;
        PrivateKey::of(pair, pkcs8.as_ref())
    }

    pub fn from_pkcs8_pem(text: &SecretString) -> Result<PrivateKey, KeyError> {
        let (label, pkcs8) = pem::decode(text.expose_secret()).ok_or(KeyError::NotPem)?;
        let pkcs8 = SecretSlice::from(pkcs8);
        if label != PRIVATE {
            return Err(KeyError::NotPrivate);
        }
        let pair = KeyPair::from_pkcs8(pkcs8.expose_secret()).map_err(|_| KeyError::NotPrivate)?;
        PrivateKey::of(pair, pkcs8.expose_secret())
    }

    fn of(pair: KeyPair, pkcs8: &[u8]) -> Result<PrivateKey, KeyError> {
        let public = PublicKey::from_der(pair.public_key().as_ref())?;
        Ok(PrivateKey { pair, pkcs8: pem::encode(PRIVATE, pkcs8).into(), public })
    }

    pub fn to_pkcs8_pem(&self) -> SecretString {
        self.pkcs8.clone()
    }

    /// What the bank gets, as `-----BEGIN PUBLIC KEY-----`.
    pub fn public_key_pem(&self) -> String {
        self.public.to_pem()
    }

    #[expect(clippy::expect_used, reason = "a key that was checked when it was read signs every message")]
    pub fn sign(&self, message: &[u8]) -> Vec<u8> {
        let mut signature = vec![0; self.pair.public_modulus_len()];
        self.pair.sign(&RSA_PKCS1_SHA256, &SystemRandom::new(), message, &mut signature).expect("a checked key signs");
        signature
    }
}

/// A bank's key.
#[derive(Clone)]
pub struct PublicKey {
    key: ParsedPublicKey,
    pem: String,
}

impl PublicKey {
    pub fn from_pem(text: &str) -> Result<PublicKey, KeyError> {
        let (label, der) = pem::decode(text).ok_or(KeyError::NotPem)?;
        match label {
            PUBLIC | PUBLIC_PKCS1 => PublicKey::from_der(&der),
            CERTIFICATE => Err(KeyError::IsCertificate),
            label if label.ends_with(PRIVATE) => Err(KeyError::IsPrivate),
            _ => Err(KeyError::NotPublic),
        }
    }

    /// Reads both forms of DER: the key alone (PKCS#1), and the key with its algorithm (SPKI).
    fn from_der(der: &[u8]) -> Result<PublicKey, KeyError> {
        let key = aws_lc_rs::rsa::PublicKey::from_der(der).map_err(|_| KeyError::NotPublic)?;
        let bits = RsaParameters::public_modulus_len(key.as_ref()).map_err(|_| KeyError::NotPublic)?;
        let algorithm = &RSA_PKCS1_2048_8192_SHA256;
        if !(algorithm.min_modulus_len()..=algorithm.max_modulus_len()).contains(&bits) {
            return Err(KeyError::WrongSize { bits });
        }
        let spki = key.as_der().map_err(|_| KeyError::NotPublic)?;
        let pem = pem::encode(PUBLIC, spki.as_ref());
        let key = ParsedPublicKey::new(algorithm, key.as_ref()).map_err(|_| KeyError::NotPublic)?;
        Ok(PublicKey { key, pem })
    }

    /// The key as `-----BEGIN PUBLIC KEY-----`, however it was read: equal keys have equal texts.
    pub fn to_pem(&self) -> String {
        self.pem.clone()
    }

    pub fn verify(&self, message: &[u8], signature: &[u8]) -> bool {
        self.key.verify_sig(message, signature).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::LazyLock;

    use base64::{Engine as _, engine::general_purpose::STANDARD};
    use rcgen::PublicKeyData as _;

    use super::*;

    static KEY: LazyLock<PrivateKey> = LazyLock::new(|| PrivateKey::generate().unwrap());

    fn refused(text: &str) -> KeyError {
        PublicKey::from_pem(text).err().unwrap()
    }

    /// A PKCS#1 public key of `bytes` bytes. Its number is no product of two primes, which nobody can see.
    fn made_up_public_key(bytes: usize) -> String {
        let modulus = [&[0][..], &vec![0xff; bytes]].concat();
        let key = der(0x30, &[der(0x02, &modulus), der(0x02, &[1, 0, 1])].concat());
        pem::encode(PUBLIC_PKCS1, &key)
    }

    fn der(tag: u8, content: &[u8]) -> Vec<u8> {
        let [high, low] = u16::try_from(content.len()).unwrap().to_be_bytes();
        let head = match (high, low) {
            (0, 0..=127) => vec![tag, low],
            (0, _) => vec![tag, 0x81, low],
            _ => vec![tag, 0x82, high, low],
        };
        [&head, content].concat()
    }

    #[test]
    fn what_our_key_signs_its_public_key_verifies_and_no_other_does() {
        let public = PublicKey::from_pem(&KEY.public_key_pem()).unwrap();
        let signature = KEY.sign(b"client|2026-01-15T10:20:30+07:00");
        assert!(public.verify(b"client|2026-01-15T10:20:30+07:00", &signature));
        assert!(!public.verify(b"client|2026-01-15T10:20:31+07:00", &signature));
        assert!(!public.verify(b"client|2026-01-15T10:20:30+07:00", &signature[1..]));
        assert!(!public.verify(b"client|2026-01-15T10:20:30+07:00", &[]));
        let other = PublicKey::from_pem(&PrivateKey::generate().unwrap().public_key_pem()).unwrap();
        assert!(!other.verify(b"client|2026-01-15T10:20:30+07:00", &signature));
        // PKCS#1 v1.5 has no randomness: a bank may compare with what it signed before.
        assert_eq!(KEY.sign(b"same"), KEY.sign(b"same"));
    }

    #[test]
    fn a_private_key_is_read_back_from_its_pem() {
        let text = KEY.to_pkcs8_pem();
        assert!(text.expose_secret().starts_with(&format!("-----BEGIN {PRIVATE}-----\n")));
        let again = PrivateKey::from_pkcs8_pem(&text).ok().unwrap();
        assert_eq!(again.public_key_pem(), KEY.public_key_pem());
        assert_eq!(again.to_pkcs8_pem().expose_secret(), text.expose_secret());
        assert_eq!(again.sign(b"same"), KEY.sign(b"same"));
    }

    #[test]
    fn both_forms_of_a_public_key_are_read_and_one_is_written() {
        let text = KEY.public_key_pem();
        assert!(text.starts_with("-----BEGIN PUBLIC KEY-----\n") && text.ends_with("-----END PUBLIC KEY-----\n"));
        let pkcs1 = pem::encode(PUBLIC_PKCS1, KEY.pair.public_key().as_ref());
        assert_eq!(PublicKey::from_pem(&pkcs1).ok().unwrap().to_pem(), text);
    }

    #[test]
    fn a_public_key_of_another_size_is_refused() {
        assert_eq!(refused(&made_up_public_key(128)), KeyError::WrongSize { bits: 1_024 });
        assert_eq!(refused(&made_up_public_key(255)), KeyError::WrongSize { bits: 2_040 });
        assert!(PublicKey::from_pem(&made_up_public_key(256)).is_ok());
    }

    #[test]
    fn what_is_no_public_rsa_key_is_refused_with_the_reason() {
        assert_eq!(refused(KEY.to_pkcs8_pem().expose_secret()), KeyError::IsPrivate);
        assert_eq!(refused(&pem::encode("RSA PRIVATE KEY", b"secret")), KeyError::IsPrivate);
        assert_eq!(refused(&pem::encode("ENCRYPTED PRIVATE KEY", b"secret")), KeyError::IsPrivate);
        assert_eq!(refused(&pem::encode(CERTIFICATE, b"certificate")), KeyError::IsCertificate);
        assert_eq!(refused(&pem::encode("PGP MESSAGE", b"message")), KeyError::NotPublic);
        assert_eq!(refused(&pem::encode(PUBLIC, b"garbage")), KeyError::NotPublic);
        assert_eq!(refused(&STANDARD.encode(KEY.pair.public_key().as_ref())), KeyError::NotPem);
        assert_eq!(refused(""), KeyError::NotPem);
        // A private key under a public label, and a key of another kind.
        let pkcs8 = KEY.to_pkcs8_pem().expose_secret().replace(PRIVATE, PUBLIC);
        assert_eq!(refused(&pkcs8), KeyError::NotPublic);
        let elliptic = rcgen::KeyPair::generate().unwrap();
        assert_eq!(refused(&pem::encode(PUBLIC, &elliptic.subject_public_key_info())), KeyError::NotPublic);
    }

    #[test]
    fn what_is_no_private_rsa_key_is_refused_without_quoting_it() {
        let elliptic = pem::encode(PRIVATE, rcgen::KeyPair::generate().unwrap().serialized_der());
        for (text, error) in [
            (KEY.public_key_pem(), KeyError::NotPrivate),
            (elliptic, KeyError::NotPrivate),
            (pem::encode(PRIVATE, b"garbage"), KeyError::NotPrivate),
            ("garbage".to_owned(), KeyError::NotPem),
        ] {
            assert_eq!(PrivateKey::from_pkcs8_pem(&text.into()).err(), Some(error));
        }
    }
}
