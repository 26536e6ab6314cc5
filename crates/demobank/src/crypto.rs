//! Digests, signatures and random ids of the bank. Written for this crate alone, from the standard's text.

use std::{fmt, sync::Arc};

use aws_lc_rs::{
    digest,
    encoding::{AsDer, PublicKeyX509Der},
    hmac,
    rand::SystemRandom,
    rsa::{KeyPair, KeySize},
    signature::{KeyPair as _, RSA_PKCS1_2048_8192_SHA256, RSA_PKCS1_SHA256, UnparsedPublicKey},
};
use base64::{Engine, engine::general_purpose::STANDARD};
use rand::RngExt;

/// How many base64 characters a line of PEM has.
const PEM_LINE: usize = 64;

/// The bank's own RSA key. The private part never leaves it.
#[derive(Clone)]
pub struct BankKey {
    pair: Arc<KeyPair>,
    public_key_pem: String,
}

/// A key could not be created.
#[derive(Debug)]
pub struct KeyError;

impl fmt::Display for KeyError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("no RSA key could be created")
    }
}

impl std::error::Error for KeyError {}

impl BankKey {
    /// A new key of 2048 bits.
    pub fn generate() -> Result<BankKey, KeyError> {
        let pair = KeyPair::generate(KeySize::Rsa2048).map_err(|_| KeyError)?;
        let der: PublicKeyX509Der<'_> = pair.public_key().as_der().map_err(|_| KeyError)?;
        let public_key_pem = pem(der.as_ref());
        Ok(BankKey { pair: Arc::new(pair), public_key_pem })
    }

    /// What the operator imports: the public key as `BEGIN PUBLIC KEY`.
    pub fn public_key_pem(&self) -> String {
        self.public_key_pem.clone()
    }

    /// RSA-SHA256 with PKCS#1 v1.5 padding.
    pub(crate) fn sign(&self, message: &str) -> Vec<u8> {
        let mut signature = vec![0; self.pair.public_modulus_len()];
        let signed = self.pair.sign(&RSA_PKCS1_SHA256, &SystemRandom::new(), message.as_bytes(), &mut signature);
        assert!(signed.is_ok(), "a key that was generated here signs");
        signature
    }
}

fn pem(der: &[u8]) -> String {
    let text = STANDARD.encode(der);
    let mut pem = String::from("-----BEGIN PUBLIC KEY-----\n");
    for (at, character) in text.chars().enumerate() {
        if at > 0 && at.is_multiple_of(PEM_LINE) {
            pem.push('\n');
        }
        pem.push(character);
    }
    pem + "\n-----END PUBLIC KEY-----\n"
}

/// Whether a base64 signature was made with the private part of a public key in PEM.
pub(crate) fn rsa_verifies(public_key_pem: &str, message: &str, signature: &str) -> bool {
    let base64: String = public_key_pem.lines().filter(|line| !line.starts_with("-----")).map(str::trim).collect();
    let (Ok(der), Ok(signature)) = (STANDARD.decode(base64), STANDARD.decode(signature)) else { return false };
    let key = UnparsedPublicKey::new(&RSA_PKCS1_2048_8192_SHA256, der);
    key.verify(message.as_bytes(), &signature).is_ok()
}

pub(crate) fn hmac_sha512(secret: &str, message: &str) -> Vec<u8> {
    let key = hmac::Key::new(hmac::HMAC_SHA512, secret.as_bytes());
    hmac::sign(&key, message.as_bytes()).as_ref().to_vec()
}

/// Whether a base64 signature is the HMAC-SHA512 of a message, compared in constant time.
pub(crate) fn hmac_verifies(secret: &str, message: &str, signature: &str) -> bool {
    let key = hmac::Key::new(hmac::HMAC_SHA512, secret.as_bytes());
    STANDARD.decode(signature).is_ok_and(|tag| hmac::verify(&key, message.as_bytes(), &tag).is_ok())
}

/// SHA-256 in lower-case hex.
pub(crate) fn sha256_hex(bytes: &[u8]) -> String {
    hex(digest::digest(&digest::SHA256, bytes).as_ref())
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

pub(crate) fn base64(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}

pub(crate) fn random_digits(length: usize) -> String {
    random_text(b"0123456789", length)
}

pub(crate) fn random_alphanumeric(length: usize) -> String {
    random_text(b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ", length)
}

fn random_text(alphabet: &[u8], length: usize) -> String {
    let mut random = rand::rng();
    (0..length).map(|_| char::from(alphabet[random.random_range(0..alphabet.len())])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digests_and_macs_are_those_of_the_standards() {
        // FIPS 180-4's SHA-256 of nothing and of "abc"; RFC 4231, test case 2.
        assert_eq!(sha256_hex(b""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
        assert_eq!(sha256_hex(b"abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        let tag = hmac_sha512("Jefe", "what do ya want for nothing?");
        assert!(hex(&tag).starts_with("164b7a7bfcf819e2e395fbe73b56e0a387bd64222e831fd610270cd7ea250554"));
        assert!(hmac_verifies("Jefe", "what do ya want for nothing?", &base64(&tag)));
        assert!(!hmac_verifies("jefe", "what do ya want for nothing?", &base64(&tag)));
    }

    #[test]
    fn a_signature_verifies_with_its_own_key_and_text_alone() {
        let (key, other) = (BankKey::generate().unwrap(), BankKey::generate().unwrap());
        let signature = base64(&key.sign("client|time"));
        assert!(rsa_verifies(&key.public_key_pem(), "client|time", &signature));
        assert!(!rsa_verifies(&key.public_key_pem(), "client|time2", &signature));
        assert!(!rsa_verifies(&other.public_key_pem(), "client|time", &signature));
        assert!(!rsa_verifies("nonsense", "client|time", &signature));
        let pem = key.public_key_pem();
        assert!(pem.starts_with("-----BEGIN PUBLIC KEY-----\nMIIB"), "{pem}");
        assert!(pem.lines().all(|line| line.len() <= PEM_LINE) && pem.ends_with("-----END PUBLIC KEY-----\n"));
    }
}
