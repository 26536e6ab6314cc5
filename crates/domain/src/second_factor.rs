//! The second factor of signing in: six digits that an app computes from a secret and the time (RFC 6238), and recovery codes
//! for those who have lost the app.
//!
//! A code belongs to a step of 30 seconds. It counts in its own step and in the one before and after, as clocks differ a
//! little, and only once: the step of the last accepted code is stored, and only later ones are accepted.

use std::time::Duration;

use hmac::{Hmac, KeyInit, Mac};
use sha1::Sha1;
use sha2::{Digest, Sha256};

use crate::{id::UserId, time::Timestamp};

/// What authenticator apps use; RFC 4226 recommends secrets of 160 bits.
pub const SECRET_BYTES: usize = 20;
const STEP_SECONDS: i64 = 30;
const DIGITS: usize = 6;
const CODES: u32 = 10_u32.pow(DIGITS as u32);
/// How many steps a phone's clock may be off, either way.
const STEPS_OFF_MOST: i64 = 1;
/// Recovery codes that are made at once.
pub const RECOVERY_CODES: usize = 10;
/// 80 random bits, which nobody can guess, not even with the stored hash.
const RECOVERY_BYTES: usize = 10;
/// The letters of base32 (RFC 4648), which apps expect: without the digits that look like letters.
const BASE32: &[u8; 32] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
const GROUP: usize = 4;
/// How long a proof that the user is there counts: a sign-in, a code, or a password where there is no second factor.
pub const PROOF_LIFETIME: Duration = Duration::from_mins(10);
/// How long after an operator has asked for it a second factor is lifted. Until then its user can refuse it.
pub const LIFT_DELAY: Duration = Duration::from_hours(24);
/// The block size of SHA-1 in bytes, which is the key size of HMAC.
const HMAC_BLOCK_BYTES: usize = 64;

/// The secret that the app and we share. It has no `Debug`, so that it cannot be logged by accident.
#[derive(Clone, PartialEq, Eq)]
pub struct FactorSecret([u8; SECRET_BYTES]);

/// What is known of a user's second factor, apart from its secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SecondFactor {
    pub added_at: Timestamp,
    /// From when on it counts no more, because an operator has asked for that.
    pub lift_at: Option<Timestamp>,
}

/// What somebody typed to show that they have the factor. It has no `Debug`, as it may still be valid.
pub enum FactorAnswer {
    /// The digits of the app.
    Code(String),
    Recovery(RecoveryCode),
}

/// A code that works once in place of the app. It has no `Debug`, so that it cannot be logged by accident.
#[derive(Clone, PartialEq, Eq)]
pub struct RecoveryCode([u8; RECOVERY_BYTES]);

/// How a recovery code is stored.
pub type RecoveryHash = [u8; 32];

impl SecondFactor {
    pub fn is_live_at(&self, now: Timestamp) -> bool {
        self.lift_at.is_none_or(|lift_at| now < lift_at)
    }
}

/// Whether a proof of that time still counts. One of the future is by another node's clock.
pub fn is_fresh(proved_at: Timestamp, now: Timestamp) -> bool {
    now < proved_at.plus(PROOF_LIFETIME)
}

impl FactorSecret {
    /// The secret of a seed of random bits, or of bits that only we can derive.
    pub fn of_seed(seed: [u8; 32]) -> FactorSecret {
        FactorSecret(std::array::from_fn(|index| seed[index]))
    }

    pub fn of_bytes(bytes: &[u8]) -> Option<FactorSecret> {
        bytes.try_into().ok().map(FactorSecret)
    }

    pub fn reveal(&self) -> &[u8; SECRET_BYTES] {
        &self.0
    }

    /// The secret as people type it into an app that cannot scan.
    pub fn text(&self) -> String {
        grouped(&base32(&self.0), " ")
    }

    /// The address that the QR code for an app holds. `issuer` and `account` are what the app shows.
    pub fn address(&self, issuer: &str, account: &str) -> String {
        let (issuer, account) = (escaped(issuer), escaped(account));
        let secret = base32(&self.0);
        format!("otpauth://totp/{issuer}:{account}?secret={secret}&issuer={issuer}&algorithm=SHA1&digits=6&period=30")
    }

    /// The step of a code, if it is that of the present step or of one beside it, and later than `last_step`.
    pub fn step_of(&self, code: &str, now: Timestamp, last_step: i64) -> Option<i64> {
        let present = step_at(now);
        // All of them are computed, so that the time it takes does not tell which one fits.
        let fitting = (present - STEPS_OFF_MOST..=present + STEPS_OFF_MOST).fold(None, |fitting, step| {
            let fits = self.code_at(step) == code;
            if fits { Some(step) } else { fitting }
        });
        fitting.filter(|step| *step > last_step)
    }

    /// The code that an app shows at that time.
    pub fn code(&self, at: Timestamp) -> String {
        self.code_at(step_at(at))
    }

    fn code_at(&self, step: i64) -> String {
        format!("{:0width$}", self.number(step) % CODES, width = DIGITS)
    }

    /// The 31 bits that RFC 4226 takes from the hash of a step.
    fn number(&self, step: i64) -> u32 {
        let mut block = [0; HMAC_BLOCK_BYTES];
        block[..SECRET_BYTES].copy_from_slice(&self.0);
        let mac = Hmac::<Sha1>::new(&block.into()).chain_update(step.to_be_bytes()).finalize().into_bytes();
        let offset = usize::from(mac[mac.len() - 1] & 0x0f);
        let taken: [u8; 4] = std::array::from_fn(|index| mac[offset + index]);
        u32::from_be_bytes(taken) & 0x7fff_ffff
    }
}

fn step_at(at: Timestamp) -> i64 {
    at.as_millis().div_euclid(STEP_SECONDS * 1_000)
}

impl FactorAnswer {
    /// Reads what somebody typed; none where it can be neither. Spaces and dashes are for people.
    pub fn parse(typed: &str) -> Option<FactorAnswer> {
        let plain: String = typed.chars().filter(|character| !character.is_whitespace() && *character != '-').collect();
        if plain.len() == DIGITS && plain.bytes().all(|byte| byte.is_ascii_digit()) {
            return Some(FactorAnswer::Code(plain));
        }
        RecoveryCode::parse(&plain).map(FactorAnswer::Recovery)
    }
}

impl RecoveryCode {
    /// All recovery codes of a seed.
    pub fn all_of(seed: &[u8; 32]) -> Vec<RecoveryCode> {
        let one = |number: u8| {
            let hash =
                Sha256::new().chain_update(b"recovery code").chain_update(seed).chain_update([number]).finalize();
            RecoveryCode(std::array::from_fn(|index| hash[index]))
        };
        (0..=u8::MAX).take(RECOVERY_CODES).map(one).collect()
    }

    fn parse(plain: &str) -> Option<RecoveryCode> {
        let digit = |byte: u8| BASE32.iter().position(|letter| *letter == byte.to_ascii_uppercase());
        let digits: Vec<usize> = plain.bytes().map(digit).collect::<Option<_>>()?;
        if digits.len() * 5 != RECOVERY_BYTES * 8 {
            return None;
        }
        let number = digits.into_iter().fold(0_u128, |number, digit| number << 5 | digit as u128);
        let bytes = number.to_be_bytes();
        Some(RecoveryCode(std::array::from_fn(|index| bytes[bytes.len() - RECOVERY_BYTES + index])))
    }

    /// The code as its user writes it down.
    pub fn reveal(&self) -> String {
        grouped(&base32(&self.0), "-")
    }

    /// The hash is bound to the user, so that the same code of two users would not be seen.
    pub fn hash(&self, user_id: UserId) -> RecoveryHash {
        Sha256::new().chain_update(user_id.to_string()).chain_update(b" ").chain_update(self.0).finalize().into()
    }
}

/// Base32 of bytes whose bits are a multiple of five.
fn base32(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len() * 8 / 5);
    let (mut held, mut bits) = (0_u32, 0);
    for byte in bytes {
        held = held << 8 | u32::from(*byte);
        bits += 8;
        while bits >= 5 {
            bits -= 5;
            text.push(char::from(BASE32[(held >> bits) as usize & 31]));
        }
        held &= (1 << bits) - 1;
    }
    text
}

fn grouped(text: &str, between: &str) -> String {
    let groups: Vec<&str> = (0..text.len()).step_by(GROUP).map(|at| &text[at..text.len().min(at + GROUP)]).collect();
    groups.join(between)
}

/// A text in an address, where everything but plain letters and digits is escaped.
fn escaped(text: &str) -> String {
    text.bytes().fold(String::new(), |mut escaped, byte| {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~' | b'@') {
            escaped.push(char::from(byte));
        } else {
            escaped.push_str(&format!("%{byte:02X}"));
        }
        escaped
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::mint;

    fn rfc_secret() -> FactorSecret {
        FactorSecret::of_bytes(b"12345678901234567890").unwrap()
    }

    fn second(seconds: i64) -> Timestamp {
        Timestamp::from_millis(seconds * 1_000)
    }

    /// The vectors for SHA-1 of RFC 6238, appendix B, which have eight digits; six digits are the last of them.
    #[test]
    fn codes_are_those_of_rfc_6238() {
        for (seconds, eight_digits) in [
            (59, 94_287_082),
            (1_111_111_109, 7_081_804),
            (1_111_111_111, 14_050_471),
            (1_234_567_890, 89_005_924),
            (2_000_000_000, 69_279_037),
            (20_000_000_000, 65_353_130_u32),
        ] {
            let (secret, at) = (rfc_secret(), second(seconds));
            assert_eq!(secret.number(step_at(at)) % 100_000_000, eight_digits, "{seconds}");
            assert_eq!(secret.code(at), format!("{:06}", eight_digits % 1_000_000), "{seconds}");
        }
    }

    #[test]
    fn a_code_counts_in_its_step_and_in_those_beside_it() {
        let secret = rfc_secret();
        let code = secret.code(second(60_000));
        let step = step_at(second(60_000));
        for (seconds, counts) in
            [(59_969, false), (59_970, true), (60_000, true), (60_029, true), (60_059, true), (60_060, false)]
        {
            assert_eq!(secret.step_of(&code, second(seconds), 0).is_some(), counts, "{seconds}");
        }
        assert_eq!(secret.step_of(&code, second(60_029), 0), Some(step), "the step is the code's own");
    }

    #[test]
    fn a_code_counts_once_and_none_before_it_counts_after_it() {
        let (secret, now) = (rfc_secret(), second(60_000));
        let step = step_at(now);
        assert_eq!(secret.step_of(&secret.code(now), now, step), None);
        assert_eq!(secret.step_of(&secret.code(second(59_970)), now, step), None);
        assert_eq!(secret.step_of(&secret.code(second(60_030)), now, step), Some(step + 1));
    }

    #[test]
    fn a_secret_is_shown_in_base32_and_as_the_address_that_apps_scan() {
        assert_eq!(rfc_secret().text(), "GEZD GNBV GY3T QOJQ GEZD GNBV GY3T QOJQ");
        assert_eq!(
            rfc_secret().address("Lunas", "siti+toko@example.com"),
            "otpauth://totp/Lunas:siti%2Btoko@example.com?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&issuer=Lunas\
             &algorithm=SHA1&digits=6&period=30"
        );
    }

    #[test]
    fn a_recovery_code_is_read_back_as_people_type_it_and_is_no_other() {
        let codes = RecoveryCode::all_of(&[7; 32]);
        assert_eq!(codes.len(), RECOVERY_CODES);
        let user = mint(second(1), [1; 10]);
        let hashes: std::collections::HashSet<RecoveryHash> = codes.iter().map(|code| code.hash(user)).collect();
        assert_eq!(hashes.len(), RECOVERY_CODES);
        assert_ne!(codes[0].hash(user), codes[0].hash(mint(second(1), [2; 10])));
        for code in &codes {
            let shown = code.reveal();
            assert_eq!(shown.len(), 19, "{shown}");
            for typed in
                [shown.clone(), shown.to_lowercase(), shown.replace('-', ""), format!(" {} ", shown.replace('-', " "))]
            {
                let Some(FactorAnswer::Recovery(read)) = FactorAnswer::parse(&typed) else { panic!("{typed}") };
                assert!(read == *code, "{typed}");
            }
        }
    }

    #[test]
    fn what_is_typed_is_six_digits_or_a_recovery_code_and_else_nothing() {
        assert!(matches!(FactorAnswer::parse(" 123 456 "), Some(FactorAnswer::Code(code)) if code == "123456"));
        for wrong in ["", "12345", "1234567", "12345a", "ABCD-EFGH-IJKL-MNO", "ABCD-EFGH-IJKL-MNO1", "é", "١٢٣٤٥٦"]
        {
            assert!(FactorAnswer::parse(wrong).is_none(), "{wrong}");
        }
    }

    #[test]
    fn a_factor_counts_until_it_is_lifted_and_a_proof_for_ten_minutes() {
        let factor = |lift_at| SecondFactor { added_at: second(0), lift_at };
        assert!(factor(None).is_live_at(second(1)));
        assert!(factor(Some(second(10))).is_live_at(second(9)) && !factor(Some(second(10))).is_live_at(second(10)));
        assert!(is_fresh(second(0), second(599)) && !is_fresh(second(0), second(600)));
    }
}
