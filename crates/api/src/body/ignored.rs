//! The header that names the members of a body which the endpoint does not know.

use axum::http::HeaderValue;
use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};

const IGNORED_HEADER_NAMES: usize = 20;
const IGNORED_HEADER_BYTES: usize = 1_000;
const SEPARATOR: &str = ", ";
const MORE: &str = "...";

/// Besides all that is not ASCII: control characters, spaces, the separator and the escape character itself.
const ENCODED: &AsciiSet = &CONTROLS.add(b' ').add(b',').add(b'%');

/// The value of `X-Ignored-Members`. The client chose the names, so they are encoded and limited: none can break the header or
/// inflate the answer.
pub(crate) fn ignored_header(names: &[String]) -> Option<HeaderValue> {
    let mut value = String::new();
    for (index, name) in names.iter().enumerate() {
        if index > 0 {
            value.push_str(SEPARATOR);
        }
        let room = IGNORED_HEADER_BYTES - SEPARATOR.len() - MORE.len();
        // Encoding never shortens a name, so a huge one is left out before it is encoded.
        let encoded = (index < IGNORED_HEADER_NAMES && value.len() + name.len() <= room)
            .then(|| utf8_percent_encode(name, ENCODED).to_string())
            .filter(|encoded| value.len() + encoded.len() <= room);
        match encoded {
            Some(encoded) => value.push_str(&encoded),
            None => {
                value.push_str(MORE);
                break;
            }
        }
    }
    if names.is_empty() { None } else { HeaderValue::try_from(value).ok() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(names: &[&str]) -> Option<String> {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        ignored_header(&names).map(|value| value.to_str().unwrap().to_owned())
    }

    #[test]
    fn the_header_encodes_what_could_break_it() {
        let rows: [(&[&str], Option<&str>); 9] = [
            (&[], None),
            (&["metadata"], Some("metadata")),
            (&["method.foo", "methods[0].bar"], Some("method.foo, methods[0].bar")),
            (&["a\r\nSet-Cookie: x=1"], Some("a%0D%0ASet-Cookie:%20x=1")),
            (&["a\0b\t\u{7f}"], Some("a%00b%09%7F")),
            (&["a,b", "c%2C"], Some("a%2Cb, c%252C")),
            (&["é😀"], Some("%C3%A9%F0%9F%98%80")),
            (&["!\"#$&'()*+-./:;<=>?@[\\]^_`{|}~"], Some("!\"#$&'()*+-./:;<=>?@[\\]^_`{|}~")),
            (&[""], Some("")),
        ];
        for (names, want) in rows {
            assert_eq!(header(names).as_deref(), want, "{names:?}");
        }
    }

    #[test]
    fn the_header_has_at_most_twenty_names_and_a_thousand_bytes() {
        assert_eq!(header(&["n"; 20]).unwrap(), vec!["n"; 20].join(", "));
        assert_eq!(header(&["n"; 21]).unwrap(), format!("{}, ...", vec!["n"; 20].join(", ")));
        assert_eq!(header(&["n"; 10_000]).unwrap(), format!("{}, ...", vec!["n"; 20].join(", ")));

        let huge = "n".repeat(60_000);
        assert_eq!(header(&[&huge]).unwrap(), "...");
        assert_eq!(header(&["a", &huge, "b"]).unwrap(), "a, ...");
        assert_eq!(header(&["a", &"😀".repeat(100)]).unwrap(), "a, ...");

        let names: Vec<String> = (1..=20).map(|length| "n".repeat(length * 10)).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let value = header(&names).unwrap();
        assert!(value.ends_with(", ...") && value.len() <= IGNORED_HEADER_BYTES, "{}", value.len());
        for length in 980..=1_000 {
            let filled = "n".repeat(length);
            assert!(header(&[&filled, "b", "c"]).unwrap().len() <= IGNORED_HEADER_BYTES);
        }
    }
}
