//! Compares answers with the OpenAPI document.

use std::{
    collections::HashMap,
    sync::{LazyLock, OnceLock},
};

use jsonschema::Validator;
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

use crate::Reply;

static CONTRACT: LazyLock<Contract> =
    LazyLock::new(|| Contract::new(serde_json::from_str(&api::openapi_json()).unwrap()));

/// The OpenAPI document of this version.
pub fn contract() -> &'static Contract {
    &CONTRACT
}

/// An OpenAPI document with the validators of its schemas, each compiled when it is first needed.
pub struct Contract {
    pub document: Value,
    compiled: HashMap<String, OnceLock<Validator>>,
}

impl Contract {
    fn new(document: Value) -> Contract {
        let mut places = Vec::new();
        collect_places(&document["paths"], "/paths", &mut places);
        collect_places(&document["components"], "/components", &mut places);
        let compiled = places.into_iter().map(|place| (place, OnceLock::new())).collect();
        Contract { document, compiled }
    }

    /// Compares an answer with the document's description for its path, method and status; `sent` is the request's
    /// JSON.
    pub fn check(&self, method: &Method, path: &str, sent: Option<&Value>, reply: &Reply) -> Result<(), String> {
        let Some(place) = self.expected(method, path, reply)? else { return Ok(()) };
        self.check_headers(&place, reply)?;
        if method != Method::HEAD {
            self.check_body(&place, reply)?;
        }
        match sent {
            Some(sent) if reply.status.is_success() => self.check_sent(&place, sent),
            _ => Ok(()),
        }
    }

    /// Where the document describes this answer; `None` for a successful preflight, which has no operation.
    fn expected(&self, method: &Method, path: &str, reply: &Reply) -> Result<Option<String>, String> {
        let status = reply.status.as_u16();
        let Some(template) = self.template(path) else {
            return self.only(404, "NoSuchPath", status, "an unknown path").map(Some);
        };
        let item = &self.document["paths"][template];
        // HEAD is GET without a body.
        let word = if method == Method::HEAD { "get".to_owned() } else { method.as_str().to_lowercase() };
        if item.get(&word).is_none() {
            return match (method, status) {
                (&Method::OPTIONS, 204) if reply.text.is_empty() => Ok(None),
                // The key and the origin are checked before the method, so any operation of this path describes the
                // answer.
                (_, 400..=404 | 429 | 503) => Ok(self.any_operation(template, status)),
                _ => self.only(405, "MethodNotAllowed", status, "a method without an operation").map(Some),
            };
        }
        let responses = pointer(&["paths", template, &word, "responses"]);
        let place = format!("{responses}/{status}");
        match self.document.pointer(&place) {
            Some(_) => Ok(Some(place)),
            None => Err("this status is not described".to_owned()),
        }
    }

    /// The document's path template for `path`; a literal segment wins over a parameter.
    fn template(&self, path: &str) -> Option<&str> {
        let fits = |template: &str| {
            let (wanted, given): (Vec<&str>, Vec<&str>) = (template.split('/').collect(), path.split('/').collect());
            let one =
                |(wanted, given): (&&str, &&str)| wanted == given || (wanted.starts_with('{') && !given.is_empty());
            wanted.len() == given.len() && wanted.iter().zip(&given).all(one)
        };
        let mut found: Vec<&str> = self.document["paths"].as_object()?.keys().map(String::as_str).collect();
        found.retain(|template| fits(template));
        found.into_iter().min_by_key(|template| template.matches('{').count())
    }

    fn only(&self, status: u16, component: &str, found: u16, what: &str) -> Result<String, String> {
        if found == status {
            Ok(pointer(&["components", "responses", component]))
        } else {
            Err(format!("{what} must be answered {status}"))
        }
    }

    fn any_operation(&self, template: &str, status: u16) -> Option<String> {
        let operations = self.document["paths"][template].as_object()?;
        let places =
            operations.keys().map(|word| pointer(&["paths", template, word, "responses", &status.to_string()]));
        places.into_iter().find(|place| self.document.pointer(place).is_some())
    }

    fn check_headers(&self, place: &str, reply: &Reply) -> Result<(), String> {
        let described = self.document.pointer(&format!("{place}/headers")).and_then(Value::as_object);
        for (name, reference) in described.into_iter().flatten() {
            let header = self.resolved(reference);
            let Some(found) = reply.header(name) else {
                if header["required"] == true {
                    return Err(format!("the header {name} is missing"));
                }
                continue;
            };
            let number = found.parse::<i64>().map(Value::from).ok().filter(|_| header["schema"]["type"] == "integer");
            let value = number.unwrap_or_else(|| Value::from(found));
            let component = reference["$ref"].as_str().unwrap_or_default().trim_start_matches('#');
            self.validate(&format!("{component}/schema"), &value).map_err(|breach| format!("{name}: {breach}"))?;
        }
        Ok(())
    }

    fn check_body(&self, place: &str, reply: &Reply) -> Result<(), String> {
        if reply.status == StatusCode::NOT_MODIFIED {
            return if reply.text.is_empty() { Ok(()) } else { Err("a 304 has no body".to_owned()) };
        }
        let media_type = reply.header("content-type").unwrap_or_default().split(';').next().unwrap_or_default().trim();
        let schema = format!("{place}/content/{}/schema", escaped(media_type));
        if self.document.pointer(&schema).is_none() {
            return Err(format!("the media type `{media_type}` is not described"));
        }
        let text = Value::from(reply.text.as_str());
        self.validate(&schema, if media_type == "application/json" { &reply.json } else { &text })
    }

    /// An accepted request must fit its schema; otherwise the document asks for too much.
    fn check_sent(&self, place: &str, sent: &Value) -> Result<(), String> {
        let operation = place.split("/responses/").next().unwrap_or_default();
        let schema = format!("{operation}/requestBody/content/{}/schema", escaped("application/json"));
        match self.document.pointer(&schema) {
            Some(_) => self.validate(&schema, sent).map_err(|breach| format!("a body was accepted though {breach}")),
            None => Ok(()),
        }
    }

    /// Validates `value` by the schema at a place of the document, such as `/components/schemas/Payment`.
    pub fn validate(&self, place: &str, value: &Value) -> Result<(), String> {
        let compiled = self.compiled.get(place).ok_or_else(|| format!("there is no schema at {place}"))?;
        let validator = compiled.get_or_init(|| {
            let schema = json!({
                "$schema": "https://json-schema.org/draft/2020-12/schema",
                "components": self.document["components"],
                "allOf": [self.document.pointer(place).unwrap()],
            });
            jsonschema::options().should_validate_formats(true).build(&schema).unwrap()
        });
        let breaches: Vec<String> =
            validator.iter_errors(value).map(|breach| format!("{breach} (at `{}`)", breach.instance_path())).collect();
        if breaches.is_empty() { Ok(()) } else { Err(breaches.join("; ")) }
    }

    fn resolved<'a>(&'a self, part: &'a Value) -> &'a Value {
        let reference = part["$ref"].as_str().and_then(|place| place.strip_prefix('#'));
        reference.and_then(|place| self.document.pointer(place)).unwrap_or(part)
    }
}

/// The places of everything that may be a schema.
fn collect_places(part: &Value, place: &str, places: &mut Vec<String>) {
    match part {
        Value::Object(members) => {
            places.push(place.to_owned());
            for (name, value) in members {
                collect_places(value, &format!("{place}/{}", escaped(name)), places);
            }
        }
        Value::Array(entries) => {
            for (index, value) in entries.iter().enumerate() {
                collect_places(value, &format!("{place}/{index}"), places);
            }
        }
        _ => {}
    }
}

fn pointer(segments: &[&str]) -> String {
    segments.iter().map(|segment| format!("/{}", escaped(segment))).collect()
}

/// A member's name as JSON pointers write it.
fn escaped(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}
