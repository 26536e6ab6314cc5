//! Reads members of a body by name and type, and lists those that the endpoint did not read.
//!
//! It never applies a business rule: a missing member, an empty string or a negative amount is for the caller to check. It never
//! reads a number as money unless it was written as a plain integer.

use std::{cell::RefCell, collections::BTreeSet, ptr};

use domain::{bank::Bank, destination::DestinationRequest, orders::MethodRequest, rules::Invalid};
use web::query::shown;

use crate::body::{
    json::{Json, ShapeError, parse},
    number_literal::{is_fraction, saturated_integer},
};

/// A request body whose top level is an object.
///
/// It records every member that is read through it, for [`Body::ignored`]. [`Members`] cannot live across an `await`, so bodies
/// are read in plain functions.
#[derive(Debug)]
pub(crate) struct Body {
    json: Json,
    asked: Asked,
}

/// The members that were read, by their address in memory. The tree does not change while the body lives, and unlike a path an
/// address is never ambiguous: a member may be named `payment_method.type`.
type Asked = RefCell<BTreeSet<usize>>;

fn address_of(value: &Json) -> usize {
    ptr::from_ref(value).addr()
}

impl Body {
    pub(crate) fn parse(raw: &[u8]) -> Result<Body, ShapeError> {
        let json = parse(raw)?;
        if !matches!(json, Json::Object(_)) {
            return Err(ShapeError::new("the body must be a JSON object"));
        }
        Ok(Body { json, asked: Asked::default() })
    }

    /// The whole body, for its fingerprint.
    pub(crate) fn json(&self) -> &Json {
        &self.json
    }

    /// The members of the top level.
    pub(crate) fn members(&self) -> Members<'_> {
        let members = members_of(&self.json).unwrap_or_default();
        Members { members, path: String::new(), asked: &self.asked }
    }

    /// The paths of the members that have not been read so far, in order of appearance.
    pub(crate) fn ignored(&self) -> Vec<String> {
        let mut paths = Vec::new();
        collect_ignored(&self.json, "", &self.asked.borrow(), &mut paths);
        paths
    }
}

fn members_of(json: &Json) -> Option<&[(String, Json)]> {
    match json {
        Json::Object(members) => Some(members),
        _ => None,
    }
}

/// Looks only into members that were read: an unread member is listed once, without what it contains.
fn collect_ignored(json: &Json, path: &str, asked: &BTreeSet<usize>, paths: &mut Vec<String>) {
    match json {
        Json::Object(members) => {
            for (name, value) in members {
                let path = member_path(path, name);
                if asked.contains(&address_of(value)) {
                    collect_ignored(value, &path, asked, paths);
                } else {
                    paths.push(path);
                }
            }
        }
        Json::Array(entries) => {
            for (index, entry) in entries.iter().enumerate() {
                collect_ignored(entry, &entry_path(path, index), asked, paths);
            }
        }
        Json::Null | Json::Bool(_) | Json::Integer(_) | Json::Number(_) | Json::Text(_) => {}
    }
}

fn member_path(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}

fn entry_path(path: &str, index: usize) -> String {
    format!("{path}[{index}]")
}

/// The members of one object. `null` is always the same as absent.
#[derive(Debug)]
pub(crate) struct Members<'a> {
    members: &'a [(String, Json)],
    /// Empty at the top level.
    path: String,
    asked: &'a Asked,
}

impl<'a> Members<'a> {
    pub(crate) fn text(&self, name: &str) -> Result<Option<String>, ShapeError> {
        match self.ask(name) {
            None => Ok(None),
            Some(Json::Text(value)) => Ok(Some(value.clone())),
            Some(other) => Err(self.mismatch(name, "a string", other)),
        }
    }

    pub(crate) fn boolean(&self, name: &str) -> Result<Option<bool>, ShapeError> {
        match self.ask(name) {
            None => Ok(None),
            Some(Json::Bool(value)) => Ok(Some(*value)),
            Some(other) => Err(self.mismatch(name, "true or false", other)),
        }
    }

    /// A plain integer. One beyond `i64` becomes the nearest bound, which every range check refuses.
    pub(crate) fn integer(&self, name: &str) -> Result<Option<i64>, ShapeError> {
        let integer = match self.ask(name) {
            None => return Ok(None),
            Some(Json::Integer(value)) => Some(*value),
            Some(Json::Number(literal)) => saturated_integer(literal),
            Some(_) => None,
        };
        integer.map(Some).ok_or_else(|| {
            let path = member_path(&self.path, name);
            ShapeError::new(format!("`{path}` must be a whole number written without fraction or exponent"))
        })
    }

    /// The same where a number that is not whole, such as 1.5, breaks a rule and not the shape.
    pub(crate) fn whole_number(&self, name: &str) -> Result<Option<Result<i64, Invalid>>, ShapeError> {
        match self.ask(name) {
            Some(Json::Number(literal)) if is_fraction(literal) => {
                Ok(Some(Err(Invalid::new(member_path(&self.path, name), "must be a whole number"))))
            }
            _ => Ok(self.integer(name)?.map(Ok)),
        }
    }

    pub(crate) fn object(&self, name: &str) -> Result<Option<Members<'a>>, ShapeError> {
        let Some(value) = self.ask(name) else { return Ok(None) };
        self.nested(member_path(&self.path, name), value).map(Some)
    }

    /// An array in which every entry is an object.
    pub(crate) fn objects(&self, name: &str) -> Result<Option<Vec<Members<'a>>>, ShapeError> {
        let entries = match self.ask(name) {
            None => return Ok(None),
            Some(Json::Array(entries)) => entries,
            Some(other) => return Err(self.mismatch(name, "an array of objects", other)),
        };
        let path = member_path(&self.path, name);
        let nested = entries.iter().enumerate().map(|(index, entry)| self.nested(entry_path(&path, index), entry));
        nested.collect::<Result<_, _>>().map(Some)
    }

    /// An array in which every entry is a text.
    pub(crate) fn text_list(&self, name: &str) -> Result<Option<Vec<String>>, ShapeError> {
        let entries = match self.ask(name) {
            None => return Ok(None),
            Some(Json::Array(entries)) => entries,
            Some(other) => return Err(self.mismatch(name, "an array of strings", other)),
        };
        let text = |(index, entry): (usize, &Json)| match entry {
            Json::Text(text) => Ok(text.clone()),
            other => Err(self.mismatch(&entry_path(name, index), "a string", other)),
        };
        entries.iter().enumerate().map(text).collect::<Result<_, _>>().map(Some)
    }

    /// An object in which every member is a text, whatever its name. Here null is not the same as absent.
    pub(crate) fn texts(&self, name: &str) -> Result<Option<Vec<(String, String)>>, ShapeError> {
        let Some(object) = self.object(name)? else { return Ok(None) };
        let text = |(key, value): &(String, Json)| {
            object.asked.borrow_mut().insert(address_of(value));
            match value {
                Json::Text(text) => Ok((key.clone(), text.clone())),
                other => Err(object.mismatch(&shown(key), "a string", other)),
            }
        };
        object.members.iter().map(text).collect::<Result<_, _>>().map(Some)
    }

    fn ask(&self, name: &str) -> Option<&'a Json> {
        let (_, value) = self.members.iter().find(|(member, _)| member == name)?;
        self.asked.borrow_mut().insert(address_of(value));
        (!matches!(value, Json::Null)).then_some(value)
    }

    fn nested(&self, path: String, value: &'a Json) -> Result<Members<'a>, ShapeError> {
        match members_of(value) {
            Some(members) => Ok(Members { members, path, asked: self.asked }),
            None => Err(mismatch(&path, "an object", value)),
        }
    }

    fn mismatch(&self, name: &str, expected: &str, found: &Json) -> ShapeError {
        mismatch(&member_path(&self.path, name), expected, found)
    }
}

fn mismatch(path: &str, expected: &str, found: &Json) -> ShapeError {
    let found = match found {
        Json::Null => "null",
        Json::Bool(_) => "a boolean",
        Json::Integer(_) | Json::Number(_) => "a number",
        Json::Text(_) => "a string",
        Json::Array(_) => "an array",
        Json::Object(_) => "an object",
    };
    ShapeError::new(format!("`{path}` must be {expected}, not {found}"))
}

/// The members of a payment method.
pub(crate) fn method_request(members: &Members<'_>) -> Result<MethodRequest, ShapeError> {
    Ok(MethodRequest { kind: members.text("type")?, bank: members.text("bank")? })
}

/// The members of a bank account that money shall go to.
pub(crate) fn destination_request(members: &Members<'_>) -> Result<DestinationRequest, ShapeError> {
    // The banks of virtual accounts have names in the API; transfers know them by digits.
    let digits = |code: String| Bank::from_code(&code).map_or(code, |bank| bank.interbank_code().to_owned());
    Ok(DestinationRequest {
        bank: members.text("bank")?.map(digits),
        account_number: members.text("account_number")?,
        account_name: members.text("account_name")?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const WHOLE: &str = "must be a whole number written without fraction or exponent";

    fn check<T: PartialEq + std::fmt::Debug>(
        body: &str,
        read: impl Fn(&Members<'_>) -> Result<T, ShapeError>,
        want: Result<T, &str>,
    ) {
        let parsed = Body::parse(body.as_bytes()).unwrap();
        let want = want.map_err(ShapeError::new);
        assert_eq!(read(&parsed.members()), want, "{body}");
    }

    #[test]
    fn a_body_is_an_object() {
        for body in ["[]", "null", "1", "1.5", "\"x\"", "true", "[{}]"] {
            let refusal = Body::parse(body.as_bytes()).err();
            assert_eq!(refusal, Some(ShapeError::new("the body must be a JSON object")), "{body}");
        }
        assert!(Body::parse(b"").is_err());
        assert!(Body::parse(b" {} ").is_ok());
    }

    #[test]
    fn text_is_a_string_and_nothing_else() {
        let read = |members: &Members<'_>| members.text("title");
        check("{}", read, Ok(None));
        check(r#"{"title":null}"#, read, Ok(None));
        check(r#"{"title":""}"#, read, Ok(Some(String::new())));
        check(r#"{"title":"Kopi \u2615"}"#, read, Ok(Some("Kopi ☕".to_owned())));
        check(r#"{"title":1}"#, read, Err("`title` must be a string, not a number"));
        check(r#"{"title":1.5}"#, read, Err("`title` must be a string, not a number"));
        check(r#"{"title":true}"#, read, Err("`title` must be a string, not a boolean"));
        check(r#"{"title":["x"]}"#, read, Err("`title` must be a string, not an array"));
        check(r#"{"title":{}}"#, read, Err("`title` must be a string, not an object"));
    }

    #[test]
    fn a_boolean_is_true_or_false() {
        let read = |members: &Members<'_>| members.boolean("allow");
        check("{}", read, Ok(None));
        check(r#"{"allow":null}"#, read, Ok(None));
        check(r#"{"allow":true}"#, read, Ok(Some(true)));
        check(r#"{"allow":false}"#, read, Ok(Some(false)));
        check(r#"{"allow":1}"#, read, Err("`allow` must be true or false, not a number"));
        check(r#"{"allow":"true"}"#, read, Err("`allow` must be true or false, not a string"));
    }

    #[test]
    fn an_integer_is_written_in_digits() {
        let read = |members: &Members<'_>| members.integer("amount");
        let refusal = format!("`amount` {WHOLE}");
        check("{}", read, Ok(None));
        check(r#"{"amount":null}"#, read, Ok(None));
        for (literal, want) in [("1000", 1000), ("-5", -5), ("0", 0), ("-0", 0)] {
            check(&format!(r#"{{"amount":{literal}}}"#), read, Ok(Some(want)));
        }
        let refused = ["1000.0", "1e4", "1E4", "-0.0", "1.5", "1e30", "1e-1", "\"1000\"", "true", "[1]", "{}"];
        for literal in refused {
            check(&format!(r#"{{"amount":{literal}}}"#), read, Err(&refusal));
        }
    }

    #[test]
    fn a_number_that_is_not_whole_can_be_a_broken_rule() {
        let read = |members: &Members<'_>| members.whole_number("amount");
        let refusal = format!("`amount` {WHOLE}");
        let broken = || Err(Invalid::new("amount", "must be a whole number"));
        for (literal, want) in [("1000", Ok(1000)), ("-5", Ok(-5)), ("1.5", broken()), ("15e-1", broken())] {
            check(&format!(r#"{{"amount":{literal}}}"#), read, Ok(Some(want)));
        }
        check(r#"{"amount":null}"#, read, Ok(None));
        for literal in ["1000.0", "1e4", "\"1000\"", "\"1.5\"", "true", "[1.5]"] {
            check(&format!(r#"{{"amount":{literal}}}"#), read, Err(&refusal));
        }
    }

    #[test]
    fn an_integer_beyond_i64_becomes_the_nearest_bound() {
        let read = |members: &Members<'_>| members.integer("amount");
        let (wide, wider, widest) = ("9".repeat(300), "9".repeat(309), "9".repeat(20_000));
        let rows = [
            ("9223372036854775807", i64::MAX),
            ("9223372036854775808", i64::MAX),
            ("18446744073709551615", i64::MAX),
            ("18446744073709551616", i64::MAX),
            (&wide, i64::MAX),
            ("-9223372036854775808", i64::MIN),
            ("-9223372036854775809", i64::MIN),
            (&format!("-{wide}"), i64::MIN),
            (&wider, i64::MAX),
            (&format!("-{wider}"), i64::MIN),
            (&widest, i64::MAX),
        ];
        for (literal, want) in rows {
            // The neighbours prove that the literal of the right member is used.
            let body = format!(r#"{{"x":{{"amount":1e5}},"amoun\u0074" :  {literal} , "z":[1.5]}}"#);
            check(&body, read, Ok(Some(want)));
        }
    }

    #[test]
    fn a_wrong_type_is_named_with_its_path() {
        let method = |members: &Members<'_>| {
            let method = members.object("payment_method")?;
            method.map_or(Ok(None), |method| method.text("type"))
        };
        check("{}", method, Ok(None));
        check(r#"{"payment_method":null}"#, method, Ok(None));
        check(r#"{"payment_method":{"type":"qris"}}"#, method, Ok(Some("qris".to_owned())));
        let wrong = "`payment_method.type` must be a string, not a number";
        check(r#"{"payment_method":{"type":7}}"#, method, Err(wrong));
        check(r#"{"payment_method":"qris"}"#, method, Err("`payment_method` must be an object, not a string"));
        check(r#"{"payment_method":[]}"#, method, Err("`payment_method` must be an object, not an array"));

        let types = |members: &Members<'_>| {
            let methods = members.objects("methods")?;
            methods.map(|methods| methods.iter().map(|method| method.text("type")).collect()).transpose()
        };
        check::<Option<Vec<_>>>("{}", types, Ok(None));
        check(r#"{"methods":null}"#, types, Ok(None));
        check(r#"{"methods":[]}"#, types, Ok(Some(vec![])));
        check(r#"{"methods":[{"type":"qris"},{}]}"#, types, Ok(Some(vec![Some("qris".to_owned()), None])));
        check(r#"{"methods":{}}"#, types, Err("`methods` must be an array of objects, not an object"));
        check(r#"{"methods":[{},{},"qris"]}"#, types, Err("`methods[2]` must be an object, not a string"));
        check(r#"{"methods":[null]}"#, types, Err("`methods[0]` must be an object, not null"));
        check(r#"{"methods":[{},{"type":[]}]}"#, types, Err("`methods[1].type` must be a string, not an array"));
    }

    #[test]
    fn a_list_of_texts_has_texts_alone() {
        let read = |members: &Members<'_>| members.text_list("rights");
        check("{}", read, Ok(None));
        check(r#"{"rights":null}"#, read, Ok(None));
        check(r#"{"rights":[]}"#, read, Ok(Some(vec![])));
        check(r#"{"rights":["b","a",""]}"#, read, Ok(Some(["b", "a", ""].map(str::to_owned).to_vec())));
        check(r#"{"rights":"a"}"#, read, Err("`rights` must be an array of strings, not a string"));
        check(r#"{"rights":{}}"#, read, Err("`rights` must be an array of strings, not an object"));
        check(r#"{"rights":["a",1]}"#, read, Err("`rights[1]` must be a string, not a number"));
        check(r#"{"rights":[null]}"#, read, Err("`rights[0]` must be a string, not null"));
        let body = Body::parse(br#"{"rights":["a"],"y":1}"#).unwrap();
        body.members().text_list("rights").unwrap();
        assert_eq!(body.ignored(), ["y"]);
    }

    #[test]
    fn an_object_of_texts_has_texts_alone_and_keeps_their_order() {
        let read = |members: &Members<'_>| members.texts("notes");
        let pair = |key: &str, value: &str| (key.to_owned(), value.to_owned());
        check("{}", read, Ok(None));
        check(r#"{"notes":null}"#, read, Ok(None));
        check(r#"{"notes":{}}"#, read, Ok(Some(vec![])));
        check(r#"{"notes":{"b":"1","a":""}}"#, read, Ok(Some(vec![pair("b", "1"), pair("a", "")])));
        check(r#"{"notes":"x"}"#, read, Err("`notes` must be an object, not a string"));
        check(r#"{"notes":["x"]}"#, read, Err("`notes` must be an object, not an array"));
        check(r#"{"notes":{"a":"x","n":1}}"#, read, Err("`notes.n` must be a string, not a number"));
        check(r#"{"notes":{"n":null}}"#, read, Err("`notes.n` must be a string, not null"));
        check(r#"{"notes":{"n":{"deep":"x"}}}"#, read, Err("`notes.n` must be a string, not an object"));
        check(r#"{"notes":{"n\u0000":[]}}"#, read, Err("`notes.n\\0` must be a string, not an array"));
        let body = Body::parse(br#"{"notes":{"a":"x"},"y":1}"#).unwrap();
        body.members().texts("notes").unwrap();
        assert_eq!(body.ignored(), ["y"]);
    }

    #[test]
    fn members_that_were_not_read_are_listed_in_order_of_appearance() {
        let rows: [(&str, &[&str]); 8] = [
            ("{}", &[]),
            (r#"{"amount":1,"method":{"type":"qris"},"methods":[{"type":"qris"}]}"#, &[]),
            (r#"{"amount":null,"method":null,"methods":null}"#, &[]),
            (
                r#"{"b":1,"method":{"foo":1,"type":"x","bar":{"deep":1}},"amuont":2,"methods":[{},{"baz":1}],"c":null}"#,
                &["b", "method.foo", "method.bar", "amuont", "methods[1].baz", "c"],
            ),
            // An unread member is listed once, whether it is empty or contains more members.
            (r#"{"metadata":{"a":1,"b":[{"c":2}]},"empty":{},"list":[{"a":1}]}"#, &["metadata", "empty", "list"]),
            // A name that looks like the path of a known member, or repeats one elsewhere, is not that member.
            (r#"{"method":{"type":"x"},"method.type":1,"type":2}"#, &["method.type", "type"]),
            (r#"{"method":{"amount":1},"amount":2}"#, &["method.amount"]),
            (r#"{"":1,"method":{"":2}}"#, &["", "method."]),
        ];
        for (raw, want) in rows {
            let body = Body::parse(raw.as_bytes()).unwrap();
            let members = body.members();
            members.integer("amount").unwrap();
            members.object("method").unwrap().map(|method| method.text("type").unwrap());
            for method in members.objects("methods").unwrap().unwrap_or_default() {
                method.text("type").unwrap();
            }
            assert_eq!(body.ignored(), want, "{raw}");
        }
    }

    #[test]
    fn all_reads_of_a_body_are_recorded_together() {
        let body = Body::parse(br#"{"project_id":"p","title":"t","x":1}"#).unwrap();
        assert_eq!(body.ignored(), ["project_id", "title", "x"]);
        assert_eq!(body.members().text("project_id"), Ok(Some("p".to_owned())));
        // A body may move to another thread between two awaits; what was read stays recorded.
        fn handed_on<T: Send>(value: T) -> Box<T> {
            Box::new(value)
        }
        let moved = handed_on(body);
        assert_eq!(moved.members().text("title"), Ok(Some("t".to_owned())));
        assert_eq!(moved.ignored(), ["x"]);
        assert!(matches!(moved.json(), Json::Object(members) if members.len() == 3));
    }
}
