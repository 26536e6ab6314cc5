//! The minifier that SNAP's signatures are made with: it drops white space between the tokens of a JSON text and changes
//! nothing else. It must never parse and write anew: that would change escapes, numbers and repeated members, and with
//! them the hash.

use std::borrow::Cow;

/// `body` without JSON's white space outside of strings. Any bytes are taken, JSON or not.
pub fn minify(body: &[u8]) -> Cow<'_, [u8]> {
    let (mut in_string, mut escaped) = (false, false);
    let mut minified = Vec::with_capacity(body.len());
    for &byte in body {
        if in_string {
            in_string = escaped || byte != b'"';
            escaped = !escaped && byte == b'\\';
        } else if matches!(byte, b' ' | b'\t' | b'\n' | b'\r') {
            continue;
        } else {
            in_string = byte == b'"';
        }
        minified.push(byte);
    }
    if minified.len() == body.len() { Cow::Borrowed(body) } else { Cow::Owned(minified) }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::snap::json_tokens::{joined, tokens, white_space};

    #[test]
    fn only_white_space_outside_of_strings_is_dropped() {
        for (body, minified) in [
            ("", ""),
            (" \t\r\n", ""),
            ("{ }", "{}"),
            (r#"{ "a b" : "c  d" }"#, r#"{"a b":"c  d"}"#),
            (r#"{"quote":"\" : \"", "slash": "\\" , "end":1}"#, r#"{"quote":"\" : \"","slash":"\\","end":1}"#),
            (r#"{"a": 1000.00, "a": 1e3, "b": "\u00e9 \/"}"#, r#"{"a":1000.00,"a":1e3,"b":"\u00e9 \/"}"#),
            ("{\"name\": \"Toko Kopi ☕ é\"}", "{\"name\":\"Toko Kopi ☕ é\"}"),
            // A no-break space is none of JSON's.
            ("{\u{a0}}", "{\u{a0}}"),
            // Texts that are not JSON.
            (r#""never closed \"  "#, r#""never closed \"  "#),
            ("not json at all", "notjsonatall"),
            (r#"\ " x"#, r#"\" x"#),
        ] {
            assert_eq!(String::from_utf8_lossy(&minify(body.as_bytes())), minified, "{body}");
        }
    }

    #[test]
    fn a_body_without_white_space_is_not_copied() {
        assert!(matches!(minify(br#"{"a":"b c"}"#), Cow::Borrowed(_)));
        assert!(matches!(minify(b"{} "), Cow::Owned(_)));
    }

    proptest! {
        #[test]
        fn white_space_between_tokens_makes_no_difference(body in tokens(), spaces in white_space()) {
            let (compact, spaced) = (joined(&body, &[]), joined(&body, &spaces));
            prop_assert_eq!(&*minify(spaced.as_bytes()), compact.as_bytes());
            // Compact text, with all of its strings, stays as it is.
            prop_assert!(matches!(minify(compact.as_bytes()), Cow::Borrowed(_)));
        }

        #[test]
        fn any_bytes_are_taken_and_twice_is_as_once(body in proptest::collection::vec(any::<u8>(), 0..200)) {
            let once = minify(&body).into_owned();
            prop_assert_eq!(&*minify(&once), &once[..]);
            let is_kept = |byte: &&u8| !matches!(byte, b' ' | b'\t' | b'\n' | b'\r');
            prop_assert!(body.iter().filter(is_kept).eq(once.iter().filter(is_kept)));
        }

        #[test]
        fn a_json_text_keeps_its_meaning(body in tokens(), spaces in white_space()) {
            let spaced = joined(&body, &spaces);
            let read = |text: &[u8]| serde_json::from_slice::<serde_json::Value>(text).unwrap();
            prop_assert_eq!(read(&minify(spaced.as_bytes())), read(spaced.as_bytes()));
        }
    }
}
