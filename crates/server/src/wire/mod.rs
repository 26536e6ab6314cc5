//! How a request is read: JSON bodies, their members, their fingerprint, and query strings.
//!
//! Decides only whether a request has the right shape, never whether its values are acceptable to the business,
//! never what HTTP status an error becomes, and never reads a clock, the store or the network.

pub(crate) mod api_key;
pub(crate) mod fingerprint;
pub(crate) mod json;
mod literal;
pub(crate) mod method;
pub(crate) mod payment;
pub(crate) mod query;
pub(crate) mod requests;
pub(crate) mod shape;

/// Longer names are cut in messages, so that a hostile one cannot fill a log line.
const SHOWN_NAME_CHARACTERS: usize = 64;

/// A name chosen by the client, made safe to put in a message: cut, and with control characters escaped.
fn shown(name: &str) -> String {
    let mut text: String = name.chars().take(SHOWN_NAME_CHARACTERS).flat_map(char::escape_debug).collect();
    if name.chars().nth(SHOWN_NAME_CHARACTERS).is_some() {
        text.push_str("...");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shown_name_is_short_and_on_one_line() {
        let longest = "x".repeat(SHOWN_NAME_CHARACTERS);
        let rows = [
            ("amount", "amount".to_owned()),
            ("jumlah-é😀", "jumlah-é😀".to_owned()),
            ("a\r\nb\0\u{1b}", r"a\r\nb\0\u{1b}".to_owned()),
            (&longest, longest.clone()),
            (&format!("{longest}y"), format!("{longest}...")),
        ];
        for (name, want) in rows {
            assert_eq!(shown(name), want, "{name:?}");
        }
    }
}
