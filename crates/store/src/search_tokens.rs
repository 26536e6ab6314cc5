//! The tokens of the search indexes: what a payment or a link is known by, cut into grams, each made a number together with its project.
//!
//! A gram is three letters that follow each other. Five digits that follow each other are one more: numbers have only ten
//! letters, so that three of them occur in many payments. As the project is part of a token, no project's searches depend on what
//! others have.

use std::collections::BTreeSet;

use domain::{id::ProjectId, money::Rupiah, payment::Customer, search::customer_text};

const LETTERS: usize = 3;
const DIGITS: usize = 5;

/// What one payment can be found by.
pub(crate) struct Searched {
    pub(crate) project_id: ProjectId,
    /// Folded, as the texts of the link and the metadata are.
    pub(crate) reference: String,
    /// Empty for QRIS.
    pub(crate) account_number: String,
    pub(crate) amount: Rupiah,
    pub(crate) customer: Customer,
    /// The texts of the payment's link; empty without one.
    pub(crate) link: String,
    /// The values of the metadata.
    pub(crate) metadata: String,
}

impl Searched {
    /// Terms that are compared with the reference may have spaces, so it is cut as a whole. Everything else is searched by words.
    pub(crate) fn tokens(&self) -> BTreeSet<i32> {
        let customer = customer_text(&self.customer);
        let texts = [&self.account_number, &customer, &self.link, &self.metadata];
        let words = texts.into_iter().flat_map(|text| text.split_whitespace());
        let texts = words.chain([self.reference.as_str()]);
        let grams = texts.flat_map(grams).chain([amount_gram(self.amount)]);
        grams.map(|gram| token(self.project_id, &gram)).collect()
    }
}

/// The tokens of a folded text, such as what a link is searched by.
pub(crate) fn of_text(project_id: ProjectId, text: &str) -> BTreeSet<i32> {
    grams(text).iter().map(|gram| token(project_id, gram)).collect()
}

/// Every gram of a folded text; a text of two letters or fewer has none.
pub(crate) fn grams(text: &str) -> Vec<String> {
    let letters: Vec<char> = text.chars().collect();
    let numbers = letters.windows(DIGITS).filter(|letters| letters.iter().all(char::is_ascii_digit));
    letters.windows(LETTERS).chain(numbers).map(|gram| gram.iter().collect()).collect()
}

/// Whether a gram is one of five digits.
pub(crate) fn is_number(gram: &str) -> bool {
    gram.len() == DIGITS && gram.bytes().all(|letter| letter.is_ascii_digit())
}

/// An amount as a whole. No text has control characters, so it is no gram of a text.
pub(crate) fn amount_gram(amount: Rupiah) -> String {
    format!("\0{}", amount.get())
}

/// The hash FNV-1a of the project and the gram. Stored indexes depend on it, so it can never change.
pub(crate) fn token(project_id: ProjectId, gram: &str) -> i32 {
    let bytes = project_id.uuid().into_bytes();
    let hash = bytes
        .iter()
        .chain(gram.as_bytes())
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3));
    let [a, b, c, d, e, f, g, h] = hash.to_be_bytes();
    i32::from_be_bytes([a ^ e, b ^ f, c ^ g, d ^ h])
}

/// A token as a word of SQLite's full-text index.
pub(crate) fn word(token: i32) -> String {
    format!("{token:08x}")
}

/// Tokens as an array of PostgreSQL.
pub(crate) fn array(tokens: impl IntoIterator<Item = i32>) -> String {
    let tokens: Vec<String> = tokens.into_iter().map(|token| token.to_string()).collect();
    format!("{{{}}}", tokens.join(","))
}

#[cfg(test)]
mod tests {
    use domain::{id::mint, time::Timestamp};

    use super::*;

    fn project(number: u8) -> ProjectId {
        mint(Timestamp::from_millis(1_800_000_000_000), [number; 10])
    }

    #[test]
    fn texts_are_cut_into_threes_and_numbers_also_into_fives() {
        assert_eq!(grams("a-é4"), ["a-é", "-é4"]);
        assert_eq!(grams("x123456"), ["x12", "123", "234", "345", "456", "12345", "23456"]);
        for short in ["", "a", "ab", "éé"] {
            assert_eq!(grams(short), [""; 0], "{short}");
        }
    }

    #[test]
    fn a_token_depends_on_its_project_and_stays_the_same() {
        assert_eq!(token(project(1), "abc"), token(project(1), "abc"));
        assert_ne!(token(project(1), "abc"), token(project(2), "abc"));
        assert_eq!([token(project(1), "abc"), token(project(1), "\u{0}100")], [-1_659_503_423, -572_464_447]);
    }

    #[test]
    fn a_payment_has_the_tokens_of_all_its_texts() {
        let searched = Searched {
            project_id: project(1),
            reference: "a b c".to_owned(),
            account_number: "12345".to_owned(),
            amount: Rupiah::new(15_000),
            customer: Customer { phone: "0812".to_owned(), ..Customer::default() },
            link: "kopi\nx y".to_owned(),
            metadata: "meja".to_owned(),
        };
        let grams = ["a b", " b ", "b c", "123", "234", "345", "12345", "\u{0}15000", "081", "812", "628", "281"];
        let grams = grams.into_iter().chain(["62812", "kop", "opi", "mej", "eja"]);
        assert_eq!(searched.tokens(), grams.map(|gram| token(project(1), gram)).collect());
    }
}
