//! Hexadecimal digits of hashes, tokens and signatures.

use std::fmt::Write as _;

/// Two lowercase digits per byte.
pub fn hex(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
    }
    text
}

/// The bytes that lowercase digits stand for; none where the text is anything else.
pub fn unhex(text: &str) -> Option<Vec<u8>> {
    if !text.bytes().all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f')) {
        return None;
    }
    let pair = |digits: &[u8]| u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok();
    let (pairs, rest) = text.as_bytes().as_chunks::<2>();
    if rest.is_empty() { pairs.iter().map(|digits| pair(digits)).collect() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_read_back_and_nothing_else_is() {
        assert_eq!(unhex("0009a0ff"), Some(vec![0, 9, 0xa0, 0xff]));
        assert_eq!(unhex(""), Some(Vec::new()));
        for wrong in ["0", "0A", "+1", "g0", "é0"] {
            assert_eq!(unhex(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_byte_is_two_lowercase_digits() {
        assert_eq!(hex(&[0, 9, 0xa0, 0xff]), "0009a0ff");
        assert_eq!(hex(&[]), "");
    }
}
