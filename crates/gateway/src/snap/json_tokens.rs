//! Random JSON texts for tests, as lists of tokens, so that white space can be put between any two of them.

use proptest::{collection::vec, prelude::*, sample::select};

const STRINGS: [&str; 8] = [
    r#""""#,
    r#""   88899""#,
    r#""\" , \"""#,
    r#""\\""#,
    r#""é ☕ \u00e9\/ \t""#,
    r#""\\\" : {""#,
    r#""a""#,
    "\"\u{a0}\u{2028} 名前\"",
];
const SCALARS: [&str; 8] = ["1000.00", "-0", "1e3", "12345678901234567890123", "true", "false", "null", "0.10"];

/// The tokens of one JSON object. Members repeat, since there are few names.
pub(crate) fn tokens() -> impl Strategy<Value = Vec<String>> {
    let leaf = select([&STRINGS[..], &SCALARS[..]].concat()).prop_map(|token| vec![token.to_owned()]);
    let value = leaf.prop_recursive(3, 40, 5, |inner| {
        let list = vec(inner.clone(), 0..4).prop_map(|values| bracketed("[", values, "]"));
        prop_oneof![list, object_of(inner)]
    });
    object_of(value)
}

/// What stands between the tokens, by turns.
pub(crate) fn white_space() -> impl Strategy<Value = Vec<String>> {
    vec("[ \t\r\n]{0,3}", 1..8)
}

/// The text of the tokens with `spaces` around them, repeated as often as needed.
pub(crate) fn joined(tokens: &[String], spaces: &[String]) -> String {
    let mut spaces = spaces.iter().cycle();
    let mut space = || spaces.next().cloned().unwrap_or_default();
    let mut text = space();
    for token in tokens {
        text.push_str(token);
        text.push_str(&space());
    }
    text
}

fn object_of(value: impl Strategy<Value = Vec<String>> + Clone + 'static) -> BoxedStrategy<Vec<String>> {
    let member = (select(&STRINGS[..]), value).prop_map(|(name, mut value)| {
        value.splice(0..0, [name.to_owned(), ":".to_owned()]);
        value
    });
    vec(member, 0..5).prop_map(|members| bracketed("{", members, "}")).boxed()
}

fn bracketed(open: &str, parts: Vec<Vec<String>>, close: &str) -> Vec<String> {
    let mut tokens = vec![open.to_owned()];
    for (index, part) in parts.into_iter().enumerate() {
        if index > 0 {
            tokens.push(",".to_owned());
        }
        tokens.extend(part);
    }
    tokens.push(close.to_owned());
    tokens
}
