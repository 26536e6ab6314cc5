//! The signature on webhooks: `t=<unix seconds>,v1=<hex HMAC-SHA256 of "{t}.{raw body}">`.
//!
//! The HMAC key is the secret's text as it is shown to the merchant. While a secret is being replaced, there is one
//! `v1` per secret, and a receiver that knows either of them accepts the webhook. No error of this module quotes a
//! secret.

use std::time::Duration;

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use crate::{hex::hex, time::Timestamp};

const SIGNATURE_BYTES: usize = 32;
/// How old a signature may be before receivers should reject it.
pub const TOLERANCE: Duration = Duration::from_secs(300);

/// Why a signature does not match a body, in words for a developer who is setting up a receiver.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unverified {
    #[error("the header has no `t=`, so it does not say when it was signed")]
    NoTime,
    #[error("the header's `t=` is not a number of seconds since 1970")]
    BadTime,
    #[error("the header has no `v1=`, so there is no signature to compare")]
    NoSignature,
    #[error("a `v1=` in the header is not 64 hexadecimal digits")]
    BadSignature,
    #[error("it was signed {age_seconds} s ago, and at most {tolerance_seconds} s are allowed")]
    TooOld { age_seconds: u64, tolerance_seconds: u64 },
    #[error("it was signed {ahead_seconds} s in the future: compare the clocks")]
    FromTheFuture { ahead_seconds: u64 },
    #[error("no signature matches: the secret is another one, or the body is not byte for byte what was sent")]
    NoMatch,
}

/// The header's value for `body`, signed at `at` with each of `secrets`. The newest secret comes first.
pub fn signature_header(secrets: &[&str], at: Timestamp, body: &[u8]) -> String {
    let seconds = seconds(at);
    let mut header = format!("t={seconds}");
    for secret in secrets {
        header.push_str(",v1=");
        header.push_str(&hex(&signer(secret, seconds, body).finalize().into_bytes()));
    }
    header
}

/// Checks a header as a receiver should. The signature is compared first and in constant time, since the header's time
/// can only be trusted once the signature matches.
pub fn verify(header: &str, secret: &str, body: &[u8], now: Timestamp, tolerance: Duration) -> Result<(), Unverified> {
    let signed = Signed::parse(header)?;
    let signer = signer(secret, signed.seconds, body);
    if !signed.signatures.iter().any(|signature| signer.clone().verify_slice(signature).is_ok()) {
        return Err(Unverified::NoMatch);
    }
    let (now, tolerance_seconds) = (seconds(now), tolerance.as_secs());
    let apart_seconds = now.abs_diff(signed.seconds);
    match apart_seconds <= tolerance_seconds {
        true => Ok(()),
        false if signed.seconds < now => Err(Unverified::TooOld { age_seconds: apart_seconds, tolerance_seconds }),
        false => Err(Unverified::FromTheFuture { ahead_seconds: apart_seconds }),
    }
}

/// The content of a header.
struct Signed {
    seconds: i64,
    signatures: Vec<[u8; SIGNATURE_BYTES]>,
}

impl Signed {
    /// Reads the known parts and ignores others, so that a later scheme can be added to the same header.
    fn parse(header: &str) -> Result<Signed, Unverified> {
        let (mut time, mut signatures) = (None, Vec::new());
        for part in header.split(',') {
            match part.split_once('=').map(|(name, value)| (name.trim(), value.trim())) {
                Some(("t", value)) => time = time.or(Some(value)),
                Some(("v1", value)) => signatures.push(from_hex(value).ok_or(Unverified::BadSignature)?),
                _ => {}
            }
        }
        let time = time.ok_or(Unverified::NoTime)?;
        // The number parser would also take a sign.
        let digits = time.bytes().all(|byte| byte.is_ascii_digit());
        let seconds = time.parse().ok().filter(|_| digits).ok_or(Unverified::BadTime)?;
        if signatures.is_empty() {
            return Err(Unverified::NoSignature);
        }
        Ok(Signed { seconds, signatures })
    }
}

#[expect(clippy::expect_used, reason = "HMAC takes a key of any length")]
fn signer(secret: &str, seconds: i64, body: &[u8]) -> Hmac<Sha256> {
    let mut signer = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).expect("a key of any length");
    signer.update(format!("{seconds}.").as_bytes());
    signer.update(body);
    signer
}

fn seconds(at: Timestamp) -> i64 {
    at.as_millis().div_euclid(1_000)
}

fn from_hex(text: &str) -> Option<[u8; SIGNATURE_BYTES]> {
    if text.len() != 2 * SIGNATURE_BYTES || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    let mut bytes = [0; SIGNATURE_BYTES];
    for (index, byte) in bytes.iter_mut().enumerate() {
        *byte = u8::from_str_radix(&text[2 * index..2 * index + 2], 16).ok()?;
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    const BODY: &[u8] = r#"{"id":"evt_1","data":{"name":"Toko Kopi ☕"}}"#.as_bytes();
    const SIGNED_AT: Timestamp = Timestamp::from_millis(1_794_648_600_999);

    /// Made here, so that nothing that looks like a secret stands in the source.
    fn secret(word: &str) -> String {
        format!("whsec_{}", word.repeat(4))
    }

    fn header() -> String {
        signature_header(&[&secret("lunas")], SIGNED_AT, BODY)
    }

    fn check(header: &str) -> Result<(), Unverified> {
        verify(header, &secret("lunas"), BODY, SIGNED_AT, TOLERANCE)
    }

    /// By `openssl dgst -sha256 -hmac` over `1794648600.` and the body.
    #[test]
    fn the_signature_is_what_openssl_computes() {
        let expected = "404cb6b20182e6be71c22853d2c7f71ae6a7349bdccd686c7169625a8f754148";
        assert_eq!(header(), format!("t=1794648600,v1={expected}"));
        assert_eq!(check(&header()), Ok(()));
    }

    #[test]
    fn while_a_secret_is_replaced_the_new_and_the_old_one_both_verify() {
        let (new, old) = (secret("baru"), secret("lama"));
        let both = signature_header(&[&new, &old], SIGNED_AT, BODY);
        let alone = signature_header(&[&new], SIGNED_AT, BODY);
        assert!(both.starts_with(&alone), "the new one comes first");
        assert_eq!(both.matches(",v1=").count(), 2);
        for known in [new, old] {
            assert_eq!(verify(&both, &known, BODY, SIGNED_AT, TOLERANCE), Ok(()));
        }
        assert_eq!(check(&both), Err(Unverified::NoMatch));
    }

    #[test]
    fn another_body_time_or_secret_does_not_verify() {
        let later = header().replace("t=1794648600", "t=1794648601");
        assert_eq!(check(&later), Err(Unverified::NoMatch));
        for body in [&BODY[1..], &[BODY, b"\n"].concat(), b""] {
            let verdict = verify(&header(), &secret("lunas"), body, SIGNED_AT, TOLERANCE);
            assert_eq!(verdict, Err(Unverified::NoMatch));
        }
        for other in [secret("lunar"), secret("lunas").to_uppercase(), String::new()] {
            assert_eq!(verify(&header(), &other, BODY, SIGNED_AT, TOLERANCE), Err(Unverified::NoMatch));
        }
    }

    #[test]
    fn spaces_other_schemes_and_upper_case_digits_are_no_reason_to_refuse() {
        let header = header();
        let signature = &header[header.len() - 64..];
        for text in [
            format!(" t = 1794648600 , v1 = {signature} "),
            format!("v0=junk,v1={signature},v2=,t=1794648600,"),
            format!("scheme,t=1794648600,v1={},v1={signature}", "0".repeat(64)),
            format!("t=1794648600,v1={}", signature.to_uppercase()),
        ] {
            assert_eq!(check(&text), Ok(()), "{text}");
        }
    }

    #[test]
    fn a_header_that_cannot_be_read_says_what_is_wrong_with_it() {
        let zeros = "0".repeat(64);
        for (text, reason) in [
            (String::new(), Unverified::NoTime),
            (format!("v1={zeros}"), Unverified::NoTime),
            (format!("T=1794648600,v1={zeros}"), Unverified::NoTime),
            (format!("t=,v1={zeros}"), Unverified::BadTime),
            (format!("t=soon,v1={zeros}"), Unverified::BadTime),
            (format!("t=+1794648600,v1={zeros}"), Unverified::BadTime),
            (format!("t=-1,v1={zeros}"), Unverified::BadTime),
            (format!("t=1794648600.5,v1={zeros}"), Unverified::BadTime),
            (format!("t=99999999999999999999,v1={zeros}"), Unverified::BadTime),
            ("t=1794648600".to_owned(), Unverified::NoSignature),
            ("t=1794648600,v0=00".to_owned(), Unverified::NoSignature),
            ("t=1794648600,v1=".to_owned(), Unverified::BadSignature),
            (format!("t=1794648600,v1={}", &zeros[1..]), Unverified::BadSignature),
            (format!("t=1794648600,v1=0{zeros}"), Unverified::BadSignature),
            (format!("t=1794648600,v1={}+f", &zeros[2..]), Unverified::BadSignature),
            (format!("t=1794648600,v1={}", "é".repeat(32)), Unverified::BadSignature),
            (format!("t=1794648600,v1={zeros}"), Unverified::NoMatch),
        ] {
            assert_eq!(check(&text), Err(reason), "{text}");
        }
    }

    #[test]
    fn a_signature_is_good_for_the_tolerance_and_not_a_second_more_in_either_direction() {
        let at = |seconds: i64| {
            let now = Timestamp::from_millis(SIGNED_AT.as_millis() + seconds * 1_000);
            verify(&header(), &secret("lunas"), BODY, now, TOLERANCE)
        };
        for seconds in [-300, -1, 0, 1, 300] {
            assert_eq!(at(seconds), Ok(()), "{seconds}");
        }
        assert_eq!(at(301), Err(Unverified::TooOld { age_seconds: 301, tolerance_seconds: 300 }));
        assert_eq!(at(-301), Err(Unverified::FromTheFuture { ahead_seconds: 301 }));
        let far = signature_header(&[&secret("lunas")], Timestamp::from_millis(i64::MAX), BODY);
        assert!(matches!(check(&far), Err(Unverified::FromTheFuture { .. })));
    }

    #[test]
    fn reasons_are_sentences_without_the_secret() {
        let old = Unverified::TooOld { age_seconds: 412, tolerance_seconds: 300 };
        assert_eq!(old.to_string(), "it was signed 412 s ago, and at most 300 s are allowed");
        assert!(!Unverified::NoMatch.to_string().contains("whsec"));
    }
}
