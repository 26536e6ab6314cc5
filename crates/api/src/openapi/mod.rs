//! Completes the OpenAPI document. Each endpoint declares its parameters, body, success and errors beside its handler; here is
//! added by rule what holds for all of them: headers, links between operations, and that answers have no undescribed members.

mod parameters;

use std::collections::HashSet;

pub(crate) use parameters::{
    accept_language, created_from, created_to, idempotency_key, of_payment, page, page_size, parameters, path, project,
    q, query, search,
};
use serde_json::{Map, Value, json};

use crate::error_code;

/// The links from an operation's success to the next operation: operation, next operation, its parameter, and its value.
const LINKS: [(&str, &str, &str, &str); 14] = [
    ("createPayment", "getPayment", "paymentID", "$response.body#/id"),
    ("createPayment", "simulatePayment", "paymentID", "$response.body#/id"),
    ("simulatePayment", "getPayment", "paymentID", "$response.body#/id"),
    ("simulatePayment", "simulatePayment", "paymentID", "$response.body#/id"),
    ("createPayment", "createRefund", "paymentID", "$response.body#/id"),
    ("simulatePayment", "createRefund", "paymentID", "$response.body#/id"),
    ("createRefund", "getRefund", "refundID", "$response.body#/id"),
    ("createRefund", "cancelRefund", "refundID", "$response.body#/id"),
    ("createRefund", "simulateRefund", "refundID", "$response.body#/id"),
    ("simulateRefund", "getRefund", "refundID", "$response.body#/id"),
    ("createPaymentLink", "getPaymentLink", "paymentLinkID", "$response.body#/id"),
    ("createPaymentLink", "cancelPaymentLink", "paymentLinkID", "$response.body#/id"),
    ("createPaymentLink", "listPayments", "payment_link_id", "$response.body#/id"),
    ("cancelPaymentLink", "getPaymentLink", "paymentLinkID", "$response.body#/id"),
];

/// The complete document, from what the endpoints declare.
pub(crate) fn finished(described: utoipa::openapi::OpenApi) -> Value {
    // All maps of the document have strings as keys, so it always has a JSON form.
    let mut document = serde_json::to_value(described).unwrap_or_default();
    refer_to_entries(&mut document["components"]["schemas"]);
    close_answers(&mut document);
    add_conditions(&mut document["components"]["schemas"]);
    document["components"]["headers"] = headers();
    document["components"]["parameters"] = json!({ "RequestId": request_id() });
    document["components"]["responses"] = responses_without_operation();
    let Some(paths) = document["paths"].as_object_mut() else { return document };
    for operation in paths.values_mut().filter_map(Value::as_object_mut).flat_map(Map::values_mut) {
        name_right(operation);
        take_request_id(operation);
        add_headers(operation);
        add_links(operation);
    }
    document
}

/// Lets the schemas of lists refer to the schema of their entries instead of repeating it.
fn refer_to_entries(schemas: &mut Value) {
    for (name, schema) in schemas.as_object_mut().into_iter().flatten() {
        if let Some(entry) = name.strip_prefix("Listing_") {
            schema["properties"]["data"]["items"] = json!({ "$ref": format!("#/components/schemas/{entry}") });
        }
    }
}

/// Forbids undescribed members, except in request bodies, whose unknown members are ignored.
fn close_answers(document: &mut Value) {
    let mut sent = HashSet::new();
    for operation in document["paths"].as_object().into_iter().flat_map(Map::values).filter_map(Value::as_object) {
        operation.values().for_each(|operation| collect_references(&operation["requestBody"], document, &mut sent));
    }
    let schemas = document["components"]["schemas"].as_object_mut();
    for (name, schema) in schemas.into_iter().flatten() {
        if !sent.contains(name) {
            close(schema);
        }
    }
}

/// Collects the names of all schemas that `part` refers to, directly or through other schemas.
fn collect_references(part: &Value, document: &Value, names: &mut HashSet<String>) {
    match part {
        Value::Object(members) => {
            let name = members.get("$ref").and_then(|place| place.as_str()?.strip_prefix("#/components/schemas/"));
            if let Some(name) = name.filter(|name| names.insert((*name).to_owned())) {
                collect_references(&document["components"]["schemas"][name], document, names);
            }
            members.values().for_each(|value| collect_references(value, document, names));
        }
        Value::Array(entries) => entries.iter().for_each(|value| collect_references(value, document, names)),
        _ => {}
    }
}

fn close(schema: &mut Value) {
    match schema {
        Value::Object(members) => {
            if members.get("type") == Some(&json!("object")) {
                members.entry("additionalProperties").or_insert(json!(false));
            }
            members.values_mut().for_each(close);
        }
        Value::Array(entries) => entries.iter_mut().for_each(close),
        _ => {}
    }
}

/// Adds conditions between members, such as the higher minimum amount of virtual accounts.
fn add_conditions(schemas: &mut Value) {
    let by_account = json!({ "properties": { "type": { "const": "virtual_account" } }, "required": ["type"] });
    let higher_minimum = json!({ "properties": { "amount": { "minimum": 10_000 } } });
    schemas["CreatePayment"]["if"] =
        json!({ "properties": { "payment_method": by_account }, "required": ["payment_method"] });
    schemas["CreatePayment"]["then"] = higher_minimum.clone();
    schemas["CreateLink"]["if"] = json!({
        "properties": { "allowed_payment_methods": { "type": "array", "contains": by_account } },
        "required": ["allowed_payment_methods"],
    });
    // By the piece, the minimum holds for all pieces together, which a schema cannot say.
    let by_piece = json!({ "properties": { "quantity_max": { "type": "integer" } }, "required": ["quantity_max"] });
    schemas["CreateLink"]["then"] = json!({ "anyOf": [higher_minimum, by_piece] });
    schemas["CreateLink"]["properties"]["allowed_payment_methods"]["uniqueItems"] = json!(true);
    let of_type = |pattern: &str| json!({ "properties": { "type": { "pattern": pattern } } });
    let data_is = |name: &str| json!({ "properties": { "data": { "$ref": format!("#/components/schemas/{name}") } } });
    schemas["Event"]["allOf"] = json!([
        { "if": of_type("^payment\\."), "then": data_is("Payment") },
        { "if": of_type("^refund\\."), "then": data_is("Refund") },
        { "if": of_type("^apikey\\."), "then": data_is("RevokedApiKey") },
    ]);
}

fn headers() -> Value {
    let number = |description: &str, least: i64, required: bool| json!({ "description": description, "required": required, "schema": { "type": "integer", "minimum": least } });
    json!({
        "X-Request-Id": {
            "description": "Identifies this request in the log: the id that the client sent if it is well-formed, or else a new one.",
            "required": true,
            "schema": { "type": "string", "pattern": "^[A-Za-z0-9._:-]{1,128}$" },
        },
        "RateLimit-Limit": number("How many requests may come at once; absent where limits are lifted.", 1, false),
        "RateLimit-Remaining": number("How many more requests may come at once.", 0, false),
        "RateLimit-Reset": number("Seconds until the whole limit is available again.", 0, false),
        "Retry-After": number("Seconds to wait before retrying.", 0, true),
        "Idempotent-Replayed": {
            "description": "The answer shows what an earlier request with this Idempotency-Key created.",
            "required": true,
            "schema": { "type": "string", "enum": ["true"] },
        },
        "X-Ignored-Members": {
            "description": "The members of the body that this endpoint does not know, percent-encoded where needed.",
            "required": false,
            "schema": { "type": "string" },
        },
        "ETag": {
            "description": "Names this version of the answer, for `If-None-Match`.",
            "required": true,
            "schema": { "type": "string", "minLength": 3 },
        },
        "Allow": {
            "description": "The methods that this path supports.",
            "required": true,
            "schema": { "type": "string", "minLength": 1 },
        },
    })
}

fn request_id() -> Value {
    json!({
        "name": "X-Request-Id",
        "in": "header",
        "required": false,
        "description": "Your own id for this request: up to 128 letters, digits and `-_.:`. Any other value is replaced.",
        "schema": { "type": "string" },
    })
}

/// The answers to unknown paths and wrong methods, which belong to no operation.
fn responses_without_operation() -> Value {
    let answer = |code, headers: &[&str]| {
        let responses = serde_json::to_value(error_code::responses(&[&[code]])).unwrap_or_default();
        let response = responses.as_object().and_then(|responses| responses.values().next());
        let mut response = response.cloned().unwrap_or_default();
        headers.iter().for_each(|name| add_header(&mut response, name));
        response
    };
    json!({
        "NoSuchPath": answer(error_code::RESOURCE_NOT_FOUND, &["X-Request-Id"]),
        "MethodNotAllowed": answer(error_code::METHOD_NOT_ALLOWED, &["X-Request-Id", "Allow"]),
    })
}

/// Says in words which right a key needs. In `security` it is the role beside the scheme, as OpenAPI 3.1 has it.
fn name_right(operation: &mut Value) {
    let schemes = operation["security"].as_array().into_iter().flatten();
    let Some(right) = schemes.filter_map(|scheme| scheme["api_key"][0].as_str()).next() else { return };
    let sentence = format!("An API key needs the right `{right}`.");
    operation["description"] = match operation["description"].as_str() {
        Some(description) if !description.is_empty() => json!(format!("{description} {sentence}")),
        _ => json!(sentence),
    };
}

fn take_request_id(operation: &mut Value) {
    let reference = json!({ "$ref": "#/components/parameters/RequestId" });
    match operation["parameters"].as_array_mut() {
        Some(parameters) => parameters.push(reference),
        None => operation["parameters"] = json!([reference]),
    }
}

fn add_headers(operation: &mut Value) {
    // An operation without `security` has the document's, and one with an empty list needs no authentication.
    let keyed = operation["security"] != json!([]);
    let reads_body = operation.get("requestBody").is_some();
    let parameters = operation["parameters"].as_array().into_iter().flatten();
    let idempotent = parameters.clone().any(|parameter| parameter["name"] == "Idempotency-Key");
    let has_versions = operation["responses"].get("304").is_some();
    for (status, response) in operation["responses"].as_object_mut().into_iter().flatten() {
        let mut names = vec!["X-Request-Id"];
        if has_versions && (status == "200" || status == "304") {
            names.push("ETag");
        }
        // An unknown caller has no rate limit of its own to report.
        if keyed && status != "401" {
            names.extend(["RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset"]);
        }
        if status == "429" || status == "503" {
            names.push("Retry-After");
        }
        if reads_body && (status.starts_with('2') || status == "400" || status == "409") {
            names.push("X-Ignored-Members");
        }
        if idempotent && status == "200" {
            names.push("Idempotent-Replayed");
        }
        names.into_iter().for_each(|name| add_header(response, name));
    }
}

fn add_header(response: &mut Value, name: &str) {
    response["headers"][name] = json!({ "$ref": format!("#/components/headers/{name}") });
}

fn add_links(operation: &mut Value) {
    let id = operation["operationId"].clone();
    for (status, response) in operation["responses"].as_object_mut().into_iter().flatten() {
        for (_, next, parameter, value) in LINKS.iter().filter(|(from, ..)| id == *from && status.starts_with('2')) {
            response["links"][*next] = json!({ "operationId": next, "parameters": { *parameter: value } });
        }
    }
}
