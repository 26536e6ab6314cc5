//! Sales at a shop's counter: payments by QRIS whose reference we make up.

use crate::time::{Timestamp, WIB};

/// Digits and capital letters that nobody confuses when a receipt is read aloud: no I, L, O and U.
const LETTERS: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const LETTERS_IN_REFERENCE: usize = 6;
const BITS_PER_LETTER: u32 = 5;
/// `2026-11-16`.
const DATE_CHARACTERS: usize = 10;

/// The reference of a sale, such as `K-20261116-7Q4MXB`: the day in western Indonesia and random letters. It names the sale to
/// people; the payment's id identifies it.
pub fn reference(at: Timestamp, random: u32) -> String {
    let day: String = at.plus(WIB).to_string().chars().take(DATE_CHARACTERS).filter(char::is_ascii_digit).collect();
    let mut left = random;
    let letters: String = (0..LETTERS_IN_REFERENCE)
        .map(|_| {
            let letter = LETTERS[left as usize % LETTERS.len()];
            left >>= BITS_PER_LETTER;
            char::from(letter)
        })
        .collect();
    format!("K-{day}-{letters}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::REFERENCE;

    #[test]
    fn a_sale_is_named_by_its_day_in_western_indonesia_and_random_letters() {
        let at = |text: &str| Timestamp::parse(text).unwrap();
        assert_eq!(reference(at("2026-11-16T16:59:59.999Z"), 0), "K-20261116-000000");
        assert_eq!(reference(at("2026-11-16T17:00:00.000Z"), u32::MAX), "K-20261117-ZZZZZZ");
        let sample = reference(at("2026-11-16T10:00:00.000Z"), 0x1234_5678);
        assert_eq!(REFERENCE.check(sample.clone()), Ok(sample));
    }
}
