//! Example values of schemas: the examples that the document has, and where it has none, one that is made of its parts. Members are
//! in the order of their descriptions.

use serde_json::Value;

use super::{
    json::Json,
    openapi::{OpenApi, Shape, entries, members},
};

/// How deep objects are nested in an example. What is deeper is left out.
const DEPTH_MOST: usize = 8;

/// An example of a schema.
pub(super) fn example(document: OpenApi<'_>, schema: &Value) -> Json {
    made(document, schema, 0)
}

/// An example of a single value, as its text; none where the document has neither an example nor a default.
pub(super) fn given(document: OpenApi<'_>, schema: &Value) -> Option<String> {
    let shape = document.shape(schema);
    let value = first_example(&shape).or(shape.schema.get("default")).filter(|value| !value.is_object())?;
    Some(value.as_str().map_or_else(|| value.to_string(), str::to_owned))
}

fn first_example<'a>(shape: &Shape<'a>) -> Option<&'a Value> {
    entries(&shape.schema["examples"]).next()
}

fn made(document: OpenApi<'_>, schema: &Value, depth: usize) -> Json {
    let shape = document.shape(schema);
    if let Some(value) = first_example(&shape) {
        return ordered(document, value, &shape);
    }
    if let Some(variant) = shape.variants().first() {
        return made(document, variant, depth);
    }
    match shape.kind() {
        _ if depth == DEPTH_MOST => Json::Null,
        Some("object") => {
            let required = shape.properties().into_iter().filter(|(.., is_required)| *is_required);
            let member = |(name, schema, _): (&str, &Value, bool)| (name.to_owned(), made(document, schema, depth + 1));
            Json::Object(required.map(member).collect())
        }
        Some("array") => Json::List(vec![made(document, &shape.schema["items"], depth + 1)]),
        Some("boolean") => Json::Bool(true),
        Some("integer" | "number") => Json::Number(shape.schema["minimum"].as_i64().unwrap_or_default().to_string()),
        Some("string") => {
            Json::Text(entries(&shape.schema["enum"]).next().and_then(Value::as_str).unwrap_or("…").to_owned())
        }
        _ => Json::Null,
    }
}

/// A value of the document, its members in the order of the schema.
fn ordered(document: OpenApi<'_>, value: &Value, shape: &Shape<'_>) -> Json {
    match value {
        Value::Null => Json::Null,
        Value::Bool(value) => Json::Bool(*value),
        Value::Number(number) => Json::Number(number.to_string()),
        Value::String(text) => Json::Text(text.clone()),
        Value::Array(list) => {
            let items = document.shape(&shape.schema["items"]);
            Json::List(list.iter().map(|entry| ordered(document, entry, &items)).collect())
        }
        Value::Object(_) => Json::Object(in_order(document, value, shape)),
    }
}

fn in_order(document: OpenApi<'_>, object: &Value, shape: &Shape<'_>) -> Vec<(String, Json)> {
    let mut properties = shape.properties();
    for variant in shape.variants() {
        properties.extend(document.shape(variant).properties());
    }
    // The member that tells forms apart comes first, as it does for people.
    properties.sort_by_key(|(_, schema, _)| entries(&schema["enum"]).count() != 1 || shape.variants().is_empty());
    let mut taken: Vec<(String, Json)> = Vec::new();
    let described = properties.iter().map(|(name, schema, _)| (*name, document.shape(schema)));
    let undescribed = members(object).map(|(name, _)| (name, document.shape(&Value::Null)));
    for (name, shape) in described.chain(undescribed) {
        if let Some(value) = object.get(name).filter(|_| taken.iter().all(|(known, _)| known != name)) {
            taken.push((name.to_owned(), ordered(document, value, &shape)));
        }
    }
    taken
}
