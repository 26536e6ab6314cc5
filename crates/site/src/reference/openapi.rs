//! Reads the OpenAPI document: looks references up and tells what a schema is. It makes no text for people.

use serde_json::{Map, Value};

/// How many references, one behind the other, are followed to a schema.
const REFERENCES_MOST: usize = 8;
const SCHEMAS: &str = "#/components/schemas/";

/// The document. What it does not have is null, which has no members.
#[derive(Clone, Copy)]
pub(super) struct OpenApi<'a>(pub(super) &'a Value);

/// A schema after its references, without the branch for null.
#[derive(Clone, Copy)]
pub(super) struct Shape<'a> {
    pub(super) schema: &'a Value,
    /// The name of the component that it is, if it is one.
    pub(super) name: Option<&'a str>,
    pub(super) is_nullable: bool,
    /// The description nearest to where the schema is used.
    pub(super) description: Option<&'a str>,
}

impl<'a> OpenApi<'a> {
    /// What a reference leads to; a part without a reference is itself.
    pub(super) fn resolve(self, part: &'a Value) -> &'a Value {
        let mut part = part;
        for _ in 0..REFERENCES_MOST {
            let Some(place) = part["$ref"].as_str().and_then(|place| place.strip_prefix('#')) else { break };
            part = self.0.pointer(place).unwrap_or(&Value::Null);
        }
        part
    }

    pub(super) fn shape(self, schema: &'a Value) -> Shape<'a> {
        let mut shape = Shape { schema, name: None, is_nullable: false, description: None };
        for _ in 0..REFERENCES_MOST {
            shape.description = shape.description.or(shape.schema["description"].as_str());
            if let Some(place) = shape.schema["$ref"].as_str() {
                shape.name = place.strip_prefix(SCHEMAS);
                shape.schema = place.strip_prefix('#').and_then(|place| self.0.pointer(place)).unwrap_or(&Value::Null);
            } else if let Some(other) = only_branch_beside_null(shape.schema) {
                shape.is_nullable = true;
                shape.schema = other;
            } else {
                break;
            }
        }
        shape.is_nullable |= entries(&shape.schema["type"]).any(|kind| kind == "null");
        shape
    }

    /// Every schema of the document with its name.
    pub(super) fn schemas(self) -> impl Iterator<Item = (&'a str, &'a Value)> {
        members(&self.0["components"]["schemas"])
    }
}

impl<'a> Shape<'a> {
    /// Its type, without null.
    pub(super) fn kind(&self) -> Option<&'a str> {
        let kind = &self.schema["type"];
        kind.as_str().or_else(|| entries(kind).filter_map(Value::as_str).find(|kind| *kind != "null"))
    }

    /// The members of an object, required ones first, in the order in which they are declared required.
    pub(super) fn properties(&self) -> Vec<(&'a str, &'a Value, bool)> {
        let properties = &self.schema["properties"];
        let required: Vec<&str> = entries(&self.schema["required"]).filter_map(Value::as_str).collect();
        let first = required.iter().filter_map(|name| Some((*name, properties.get(*name)?, true)));
        let rest = members(properties).filter(|(name, _)| !required.contains(name));
        first.chain(rest.map(|(name, schema)| (name, schema, false))).collect()
    }

    /// The forms that a value may have, where there are several.
    pub(super) fn variants(&self) -> Vec<&'a Value> {
        entries(&self.schema["oneOf"]).collect()
    }
}

/// The entries of a list; none of anything else.
pub(super) fn entries(list: &Value) -> impl Iterator<Item = &Value> {
    list.as_array().into_iter().flatten()
}

/// The members of an object by name; none of anything else.
pub(super) fn members(object: &Value) -> impl Iterator<Item = (&str, &Value)> {
    object.as_object().into_iter().flat_map(Map::iter).map(|(name, value)| (name.as_str(), value))
}

fn only_branch_beside_null(schema: &Value) -> Option<&Value> {
    let branches: Vec<&Value> = entries(&schema["oneOf"]).collect();
    let (nulls, others): (Vec<&Value>, Vec<&Value>) =
        branches.into_iter().partition(|branch| branch["type"].as_str() == Some("null"));
    match (nulls.as_slice(), others.as_slice()) {
        ([_], [other]) => Some(*other),
        _ => None,
    }
}
