//! The fingerprint of a body, by which the service knows whether a retry has the same JSON value as the first request. White
//! space and the order of members do not count.
//!
//! It is stored with every idempotency key, so its encoding must never change: honest retries would then be answered with a
//! conflict.

use sha2::{Digest, Sha256};

use crate::body::{
    json::Json,
    number_literal::{Canonical, canonical},
};

/// Every value starts with the tag of its type, and everything of variable length with its length,
/// so that no two different values have the same encoding.
mod tag {
    pub(super) const NULL: u8 = 0;
    pub(super) const FALSE: u8 = 1;
    pub(super) const TRUE: u8 = 2;
    pub(super) const INTEGER: u8 = 3;
    pub(super) const NUMBER: u8 = 4;
    pub(super) const TEXT: u8 = 5;
    pub(super) const ARRAY: u8 = 6;
    pub(super) const OBJECT: u8 = 7;
}

/// The first 16 bytes of the SHA-256 of the canonical encoding.
pub(crate) fn fingerprint(json: &Json) -> [u8; 16] {
    let mut hasher = Sha256::new();
    encode(json, &mut hasher);
    shortened(hasher)
}

/// The same of a body and the id in its path, for endpoints where that id counts as part of the body.
pub(crate) fn fingerprint_with(id: &str, json: &Json) -> [u8; 16] {
    let mut hasher = Sha256::new();
    // Encoded as the array of both would be.
    hasher.update([tag::ARRAY]);
    encode_length(2, &mut hasher);
    hasher.update([tag::TEXT]);
    encode_text(id, &mut hasher);
    encode(json, &mut hasher);
    shortened(hasher)
}

fn shortened(hasher: Sha256) -> [u8; 16] {
    let digest = hasher.finalize();
    let mut short = [0; 16];
    short.copy_from_slice(&digest[..16]);
    short
}

fn encode(json: &Json, hasher: &mut Sha256) {
    match json {
        Json::Null => hasher.update([tag::NULL]),
        Json::Bool(false) => hasher.update([tag::FALSE]),
        Json::Bool(true) => hasher.update([tag::TRUE]),
        Json::Integer(value) => encode_integer(*value, hasher),
        Json::Number(literal) => match canonical(literal) {
            Canonical::Integer(value) => encode_integer(value, hasher),
            Canonical::Decimal(value) => {
                hasher.update([tag::NUMBER]);
                encode_text(&value, hasher);
            }
        },
        Json::Text(value) => {
            hasher.update([tag::TEXT]);
            encode_text(value, hasher);
        }
        Json::Array(entries) => {
            hasher.update([tag::ARRAY]);
            encode_length(entries.len(), hasher);
            for entry in entries {
                encode(entry, hasher);
            }
        }
        Json::Object(members) => {
            let mut sorted: Vec<&(String, Json)> = members.iter().collect();
            sorted.sort_by_key(|(name, _)| name);
            hasher.update([tag::OBJECT]);
            encode_length(sorted.len(), hasher);
            for (name, value) in sorted {
                encode_text(name, hasher);
                encode(value, hasher);
            }
        }
    }
}

fn encode_integer(value: i64, hasher: &mut Sha256) {
    hasher.update([tag::INTEGER]);
    hasher.update(value.to_be_bytes());
}

fn encode_text(text: &str, hasher: &mut Sha256) {
    encode_length(text.len(), hasher);
    hasher.update(text);
}

fn encode_length(length: usize, hasher: &mut Sha256) {
    hasher.update((length as u64).to_be_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::body::json::parse;

    fn of(body: &str) -> [u8; 16] {
        fingerprint(&parse(body.as_bytes()).unwrap())
    }

    #[test]
    fn the_id_of_a_path_counts_as_part_of_the_body() {
        let with = |id: &str, body: &str| fingerprint_with(id, &parse(body.as_bytes()).unwrap());
        assert_eq!(with("pay_1", r#"{"a":1,"b":2}"#), with("pay_1", r#"{ "b": 2, "a": 1.0 }"#));
        assert_eq!(with("pay_1", "{}"), of(r#"["pay_1", {}]"#));
        for (id, body) in [("pay_2", "{}"), ("pay_1", r#"{"a":1}"#), ("", "{}")] {
            assert_ne!(with(id, body), with("pay_1", "{}"), "{id} {body}");
        }
    }

    #[test]
    fn equal_values_have_one_fingerprint() {
        let rows = [
            (r#"{"a":1,"b":[true,null]}"#, " {\n\t\"b\" : [ true , null ] ,\r\n \"a\" : 1 }"),
            (r#"{"a":{"x":1,"y":2}}"#, r#"{"a":{"y":2,"x":1}}"#),
            (r#"[{"x":1,"y":2}]"#, r#"[{"y":2,"x":1}]"#),
            (r#"{"a":"é\n"}"#, r#"{"\u0061":"\u00e9\u000a"}"#),
            ("1", "1.0"),
            ("10000", "1e4"),
            ("0", "-0.0"),
            ("0", "-0"),
            ("0.5", "5e-1"),
            ("9007199254740994", "9007199254740994.0"),
            ("-9223372036854775808", "-9223372036854775808.0"),
            ("9223372036854775808", "9223372036854775808.0"),
            ("1e400", "10e399"),
        ];
        for (one, other) in rows {
            assert_eq!(of(one), of(other), "{one} and {other}");
        }
    }

    #[test]
    fn different_values_have_different_fingerprints() {
        let bodies = [
            "null",
            "false",
            "true",
            "0",
            "1",
            "-1",
            "0.5",
            "9223372036854775807",
            "9223372036854775808",
            "9223372036854775809",
            "12345678901234567890123",
            "12345678901234567890124",
            "0.1",
            "0.10000000000000000001",
            "-9223372036854775808",
            "1e300",
            "1e400",
            "1e401",
            "1e99999999999999999999",
            "2e99999999999999999999",
            r#""""#,
            r#""0""#,
            r#""null""#,
            r#""ab""#,
            r#""AB""#,
            r#""ab ""#,
            r#""\u0000""#,
            "[]",
            "[null]",
            "[[]]",
            "[[],[]]",
            "[[[]]]",
            "[1,2]",
            "[2,1]",
            "[[1],2]",
            "[[1,2]]",
            r#"["ab"]"#,
            r#"["a","b"]"#,
            r#"["","ab"]"#,
            r#"["ab",""]"#,
            "{}",
            "[{}]",
            r#"{"a":null}"#,
            r#"{"a":{}}"#,
            r#"{"a":"b"}"#,
            r#"{"b":"a"}"#,
            r#"{"ab":""}"#,
            r#"{"":"ab"}"#,
            r#"["a",null]"#,
            r#"{"a":1,"b":2}"#,
            r#"{"a":2,"b":1}"#,
            r#"{"a":{"b":2},"c":1}"#,
            r#"{"a":{"b":2,"c":1}}"#,
        ];
        for (index, one) in bodies.iter().enumerate() {
            for other in &bodies[index + 1..] {
                assert_ne!(of(one), of(other), "{one} and {other}");
            }
        }
    }

    /// The expected value was computed by another program. If this fails, retries of existing payments would be refused.
    #[test]
    fn the_stored_encoding_never_changes() {
        let fingerprint = of(r#"{"none":{},"amount":1000,"a":"é","list":[null,false,true,0.5]}"#);
        assert_eq!(u128::from_be_bytes(fingerprint), 0x06d7cc50_c095d80c_f812256c_48172e74);
    }
}
