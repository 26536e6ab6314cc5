//! The OpenAPI document is complete and true. Every other test compares the answers that it gets with the document.

use std::{
    collections::{BTreeMap, BTreeSet, HashSet},
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

use reqwest::{
    Method, StatusCode,
    header::{HeaderMap, HeaderName, HeaderValue},
};
use serde_json::{Map, Value, json};
use testkit::{Contract, Kit, Reply, contract, on_sqlite_alone};

use crate::support::commands::program;

on_sqlite_alone![
    the_command_and_the_server_give_the_same_document,
    the_document_names_exactly_the_methods_that_each_address_takes,
    the_document_is_sent_compressed_and_not_again_to_who_has_it,
];

const ALWAYS_THERE: &str = "x-request-id";

/// Every operation, as `GET /v1/payments`, with its description.
fn operations() -> BTreeMap<String, &'static Value> {
    let paths = contract().document["paths"].as_object().unwrap();
    let of_path = |(path, item): (&'static String, &'static Value)| {
        let named =
            |(word, operation): (&String, &'static Value)| (format!("{} {path}", word.to_uppercase()), operation);
        item.as_object().unwrap().iter().map(named).collect::<Vec<_>>()
    };
    paths.iter().flat_map(of_path).collect()
}

fn members(value: &Value) -> &Map<String, Value> {
    value.as_object().unwrap()
}

async fn the_command_and_the_server_give_the_same_document(kit: Arc<Kit>) {
    let served = kit.anonymous().get("/openapi.json").await.expect(200);
    let program = program();
    let printed: Value = serde_json::from_str(&program.run(&["openapi"]).stdout).unwrap();
    assert_eq!(served, printed);
    assert_eq!(served, contract().document);
    assert_eq!(served["openapi"], "3.1.0");
    assert_eq!(served["info"]["version"], env!("CARGO_PKG_VERSION"));
}

/// Before, everybody got all of its 464 KB each time.
async fn the_document_is_sent_compressed_and_not_again_to_who_has_it(kit: Arc<Kit>) {
    let client = kit.anonymous();
    let plain = client.get("/openapi.json").await;
    assert_eq!(plain.header("content-encoding"), None, "who accepts no gzip gets none");
    assert_eq!(plain.header("cache-control"), Some("public, no-cache"));
    assert_eq!(plain.header("vary"), Some("accept-encoding"));
    let tag = plain.header("etag").unwrap().to_owned();
    let squeezed = client.request(Method::GET, "/openapi.json").header("Accept-Encoding", "gzip").send().await.unwrap();
    assert_eq!(squeezed.headers()["content-encoding"], "gzip");
    assert_eq!(squeezed.headers()["etag"], tag);
    let bytes = squeezed.bytes().await.unwrap().len();
    assert!(bytes < plain.text.len() / 5, "{bytes} of {}", plain.text.len());
    for method in [Method::GET, Method::HEAD] {
        let known = client.send(client.request(method, "/openapi.json").header("If-None-Match", &tag)).await;
        assert_eq!((known.status.as_u16(), known.text.as_str()), (304, ""));
        assert_eq!(known.header("etag"), Some(tag.as_str()));
    }
    let other = client.request(Method::GET, "/openapi.json").header("If-None-Match", "\"other\"");
    assert_eq!(client.send(other).await.expect(200), contract().document);
}

#[test]
fn every_operation_says_what_it_is_and_what_it_answers() {
    let tags: HashSet<&str> =
        contract().document["tags"].as_array().unwrap().iter().map(|tag| tag["name"].as_str().unwrap()).collect();
    let mut ids = HashSet::new();
    for (name, operation) in operations() {
        assert!(operation["summary"].as_str().is_some_and(|text| !text.is_empty()), "{name} has a summary");
        assert!(ids.insert(operation["operationId"].as_str().unwrap()), "{name} has an id of its own");
        assert!(tags.contains(operation["tags"][0].as_str().unwrap()), "{name} has a tag that is described");
        let responses = members(&operation["responses"]);
        let leads_somewhere = responses.keys().any(|status| status.starts_with('2') || status == "403");
        assert!(leads_somewhere, "{name} succeeds, or is for the dashboard");
        assert!(responses.contains_key("500") && responses.contains_key("503"), "{name} can fail");
        assert_eq!(responses.contains_key("401"), name.contains(" /v1/"), "{name} needs a key if it is in /v1");
        for (status, response) in responses {
            assert!(!response["description"].as_str().unwrap().is_empty(), "{name} {status}");
            assert!(members(&response["headers"]).contains_key("X-Request-Id"), "{name} {status}");
            let codes = &response["content"]["application/json"]["schema"]["properties"]["error"]["properties"]["code"];
            let is_error = !status.starts_with('2') && status != "304";
            assert_eq!(codes["enum"].is_array(), is_error, "{name} {status} names its codes");
        }
    }
}

/// The server's `Allow` header says which methods an address takes; the document must name the same.
async fn the_document_names_exactly_the_methods_that_each_address_takes(kit: Arc<Kit>) {
    let api = kit.sandbox().await.api;
    for (template, item) in members(&contract().document["paths"]) {
        let path: Vec<&str> = template.split('/').map(|part| if part.starts_with('{') { "x" } else { part }).collect();
        let reply = api.send(api.request(Method::TRACE, &path.join("/"))).await;
        let allowed: BTreeSet<String> = reply.header("allow").unwrap().split(',').map(str::to_owned).collect();
        let mut named: BTreeSet<String> = members(item).keys().map(|word| word.to_uppercase()).collect();
        if named.contains("GET") {
            named.insert("HEAD".to_owned());
        }
        assert_eq!(named, allowed, "{template}");
    }
}

/// `routes!` reads each address from its description, so an address that was added by it has one.
#[test]
fn every_route_of_the_api_is_made_from_its_description() {
    let mut folders: Vec<PathBuf> = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("../api/src")];
    let mut seen = 0;
    while let Some(folder) = folders.pop() {
        for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let text = fs::read_to_string(&path).unwrap();
            let product = text.split("#[cfg(test)]").next().unwrap();
            seen += product.matches("routes!(").count();
            for otherwise in [".route(", ".route_service(", ".nest(", ".nest_service(", ".fallback_service("] {
                assert!(!product.contains(otherwise), "{} makes an address with `{otherwise}`", path.display());
            }
        }
    }
    assert!(seen >= 15, "{seen} addresses");
}

#[test]
fn every_example_is_valid() {
    let mut checked = 0;
    check_examples(contract(), &contract().document["components"], "/components", &mut checked);
    check_examples(contract(), &contract().document["paths"], "/paths", &mut checked);
    assert!(checked > 100, "{checked} examples");
}

fn check_examples(contract: &Contract, part: &Value, place: &str, checked: &mut usize) {
    let mut check = |schema: &str, example: &Value| {
        contract.validate(schema, example).unwrap_or_else(|breach| panic!("an example at {place}: {breach}"));
        *checked += 1;
    };
    match part {
        Value::Object(members) => {
            // A property may also be named `examples`; then it is not a list.
            for example in members.get("examples").and_then(Value::as_array).into_iter().flatten() {
                check(place, example);
            }
            if let (Some(example), true) = (members.get("example"), members.contains_key("schema")) {
                check(&format!("{place}/schema"), example);
            }
            for (name, value) in members {
                let name = name.replace('~', "~0").replace('/', "~1");
                check_examples(contract, value, &format!("{place}/{name}"), checked);
            }
        }
        Value::Array(entries) => {
            for (index, value) in entries.iter().enumerate() {
                check_examples(contract, value, &format!("{place}/{index}"), checked);
            }
        }
        _ => {}
    }
}

/// The members of payments and links that are not always there.
const OPTIONAL: [&str; 7] =
    ["metadata", "receipt", "quantity", "quantity_max", "amount_min", "amount_max", "return_url"];

#[test]
fn answers_have_exactly_the_described_members_and_requests_may_have_more() {
    for (name, schema) in members(&contract().document["components"]["schemas"]) {
        let sent = [
            "CreatePayment",
            "CreateLink",
            "CreateApiKey",
            "CustomerFieldsBody",
            "Simulate",
            "AcceptReceipt",
            "ReturnReceipt",
            "CreateRefund",
            "GivenDestination",
            "SimulateRefund",
        ]
        .contains(&name.as_str());
        // Merchants name the members of metadata.
        if schema["type"] == "object" && !["OpenApiDocument", "Metadata"].contains(&name.as_str()) {
            assert_eq!(schema["additionalProperties"] == false, !sent, "{name}");
        }
        if let (false, Some(properties)) = (sent, schema["properties"].as_object()) {
            let optional = match name.as_str() {
                "Location" | "Device" => properties.len(),
                // These are there where they were given, a quantity where it was chosen, a receipt in one kind of event.
                "Payment" | "PaymentLink" => OPTIONAL.iter().filter(|member| properties.contains_key(**member)).count(),
                _ => 0,
            };
            let required = schema["required"].as_array().map_or(0, Vec::len);
            assert_eq!(required, properties.len() - optional, "{name} is always whole");
        }
    }
}

fn reply(status: u16, json: Value) -> Reply {
    let mut headers = HeaderMap::new();
    headers.insert(HeaderName::from_static(ALWAYS_THERE), HeaderValue::from_static("req_1"));
    headers.insert("content-type", HeaderValue::from_static("application/json"));
    Reply { status: StatusCode::from_u16(status).unwrap(), headers, text: json.to_string(), json }
}

/// Without this, it would prove nothing that every other test checks its answers.
#[test]
fn an_answer_that_the_document_does_not_describe_fails_its_test() {
    let balance = json!({
        "project_id": "prj_01kzdq3f5ve8x9m2r7t4w6y8za", "environment": "sandbox", "currency": "IDR",
        "available": 0, "pending": 0, "unapplied": 0, "refunding": 0, "as_of": "2026-11-14T09:30:00.000Z",
    });
    let check = |method: &Method, path: &str, reply: &Reply| contract().check(method, path, None, reply);
    let spoilt = |member: &str, value: Value| {
        let mut spoilt = balance.clone();
        spoilt[member] = value;
        check(&Method::GET, "/v1/balance", &reply(200, spoilt))
    };
    assert_eq!(check(&Method::GET, "/v1/balance", &reply(200, balance.clone())), Ok(()));
    assert!(spoilt("available", json!("0")).is_err());
    assert!(spoilt("environment", json!("moon")).is_err());
    assert!(spoilt("as_of", json!("2026-11-14T09:30:00Z")).is_err(), "without milliseconds");
    assert!(spoilt("as_of", json!("2026-13-14T09:30:00.000Z")).is_err(), "without such a month");
    assert!(spoilt("more", json!(1)).is_err());
    let error = |code: &str| json!({ "error": { "code": code, "message": "why" } });
    assert_eq!(check(&Method::GET, "/v1/balance", &reply(401, error("UNAUTHORIZED"))), Ok(()));
    assert!(check(&Method::GET, "/v1/balance", &reply(401, error("FORBIDDEN"))).is_err());
    assert!(check(&Method::GET, "/v1/balance", &reply(409, error("CONFLICT"))).is_err());
    assert!(check(&Method::GET, "/v1/balance", &reply(503, error("SERVICE_UNAVAILABLE"))).is_err(), "no Retry-After");
    assert_eq!(check(&Method::GET, "/nowhere", &reply(404, error("RESOURCE_NOT_FOUND"))), Ok(()));
    assert!(check(&Method::GET, "/nowhere", &reply(401, error("UNAUTHORIZED"))).is_err());
    assert!(check(&Method::PUT, "/v1/balance", &reply(405, error("INVALID_REQUEST"))).is_err(), "no Allow");
    let mut anonymous = reply(200, balance.clone());
    anonymous.headers.remove(ALWAYS_THERE);
    assert!(check(&Method::GET, "/v1/balance", &anonymous).is_err());
}
