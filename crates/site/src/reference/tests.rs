//! The reference of the real document, rendered: nothing of the document is missing, every link leads somewhere, and nothing that the
//! document says becomes HTML.

mod html;

use std::collections::{BTreeMap, BTreeSet};

use askama::Template;
use domain::language::Language;
use serde_json::Value;

use self::html::{attributes, check_balanced, without_tags};
use super::{
    model::Reference,
    view::{Links, ListPage, OperationPage, SchemaPage},
};
use crate::{frame::Frame, words::words};

/// The most that a page may weigh before it is compressed, so that a first visit stays small.
const PAGE_BYTES_MOST: usize = 80 * 1024;
const BASE_URL: &str = "https://pay.example";

fn document() -> Value {
    serde_json::from_str(&api::openapi_json()).unwrap()
}

fn frame() -> Frame {
    Frame {
        words: words(Language::English),
        language: "en",
        switch_url: "?lang=id".to_owned(),
        style_url: "/assets/site.css".to_owned(),
        script_url: "/assets/site.js".to_owned(),
        home_url: "/".to_owned(),
        dashboard_url: "/dashboard".to_owned(),
        docs: None,
        searched: String::new(),
        menu_label: String::new(),
        menu: Vec::new(),
    }
}

fn links() -> Links {
    Links {
        reference: "/docs/api".to_owned(),
        document: "/openapi.json".to_owned(),
        style: "/assets/reference.css".to_owned(),
        script: "/assets/try-it.js".to_owned(),
        lang: None,
    }
}

/// Every page by its path.
fn pages(reference: &Reference) -> BTreeMap<String, String> {
    let list = ListPage { frame: frame(), links: links(), reference };
    let mut pages = BTreeMap::from([("/docs/api".to_owned(), list.render().unwrap())]);
    for operation in &reference.operations {
        let page = OperationPage::of(frame(), links(), reference, operation, BASE_URL, BASE_URL);
        pages.insert(links().operation(operation), page.render().unwrap());
    }
    for schema in &reference.schemas {
        let page = SchemaPage { frame: frame(), links: links(), reference, schema };
        pages.insert(links().schema(&schema.name), page.render().unwrap());
    }
    pages
}

/// The operations of the document: path, method and description.
fn declared(document: &Value) -> Vec<(String, String, Value)> {
    let paths = document["paths"].as_object().unwrap();
    let methods = |(path, item): (&String, &Value)| {
        let item = item.as_object().unwrap().iter();
        item.map(|(method, operation)| (path.clone(), method.to_uppercase(), operation.clone())).collect::<Vec<_>>()
    };
    paths.iter().flat_map(methods).collect()
}

#[test]
fn every_operation_and_every_schema_has_a_page_of_its_own() {
    let document = document();
    let reference = Reference::read(&document);
    let (operations, schemas) = (declared(&document), document["components"]["schemas"].as_object().unwrap());
    assert!(operations.len() > 20 && schemas.len() > 60, "{} {}", operations.len(), schemas.len());
    let pages = pages(&reference);
    assert_eq!(pages.len(), 1 + operations.len() + schemas.len());
    for name in schemas.keys() {
        assert!(pages.contains_key(&format!("/docs/api/schemas/{name}")), "{name}");
    }
    assert!(reference.groups.iter().all(|group| group.slug != "schemas"), "a tag would hide the schemas");
    let listed = &pages["/docs/api"];
    for operation in &reference.operations {
        assert!(reference.group(operation).is_some(), "{} has a tag that the document describes", operation.id);
        assert!(listed.contains(&format!("href=\"{}\"", links().operation(operation))), "{} is listed", operation.id);
    }
}

#[test]
fn the_page_of_an_operation_has_all_that_the_document_says_about_it() {
    let document = document();
    let reference = Reference::read(&document);
    let pages = pages(&reference);
    for (path, method, declared) in declared(&document) {
        let id = declared["operationId"].as_str().unwrap();
        let operation = reference.operation_by_id(id).unwrap();
        let text = without_tags(&pages[&links().operation(operation)]);
        let has = |wanted: &str| assert!(text.contains(wanted), "the page of {id} says {wanted}");
        has(&format!("{method} {path}"));
        for (status, response) in declared["responses"].as_object().unwrap() {
            has(status);
            let error = &response["content"]["application/json"]["example"]["error"];
            for text in [&error["code"], &error["message"]].into_iter().filter_map(Value::as_str) {
                has(&text.replace('`', ""));
            }
        }
        for parameter in declared["parameters"].as_array().unwrap() {
            has(parameter["name"].as_str().unwrap_or("X-Request-Id"));
        }
        let body = &declared["requestBody"]["content"]["application/json"]["schema"];
        if let Some(name) = body["$ref"].as_str().and_then(|place| place.rsplit('/').next()) {
            let members = document["components"]["schemas"][name]["properties"].as_object().unwrap();
            members.keys().for_each(|name| has(name));
        }
        for language in ["curl ", "fetch(", "stream_context_create", "urllib.request", "net/http"] {
            has(language);
        }
    }
}

#[test]
fn every_error_code_of_an_operation_has_its_meaning() {
    let reference = Reference::read(&document());
    let mut codes = BTreeSet::new();
    for operation in &reference.operations {
        assert!(!operation.errors.is_empty(), "{}", operation.id);
        for row in &operation.errors {
            assert!(!row.meaning.plain().is_empty(), "{} {} {}", operation.id, row.status, row.code);
            codes.insert(row.code.as_str());
        }
    }
    assert!(codes.len() > 12, "{codes:?}");
}

#[test]
fn no_reference_is_left_unresolved_and_every_link_leads_to_a_place() {
    let pages = pages(&Reference::read(&document()));
    for (path, page) in &pages {
        assert!(!page.contains("$ref") && !page.contains("#/components"), "{path}");
        let ids = attributes(page, "id");
        let unique: BTreeSet<&String> = ids.iter().collect();
        assert_eq!(unique.len(), ids.len(), "the ids of {path} are unique");
        for href in attributes(page, "href").iter().filter(|href| href.starts_with("/docs/api")) {
            let (target, fragment) = href.split_once('#').unwrap_or((href, ""));
            let target = pages.get(target).unwrap_or_else(|| panic!("{path} leads to {href}"));
            assert!(
                fragment.is_empty() || attributes(target, "id").iter().any(|id| id == fragment),
                "{path} leads to {href}"
            );
        }
        for name in ["for", "aria-describedby"] {
            for id in attributes(page, name).iter().flat_map(|ids| ids.split(' ')) {
                assert!(unique.contains(&id.to_owned()) || id == "q", "{path} has {id}");
            }
        }
    }
}

#[test]
fn pages_are_well_formed_and_small() {
    for (path, page) in pages(&Reference::read(&document())) {
        check_balanced(&path, &page);
        assert!(page.len() <= PAGE_BYTES_MOST, "{path} has {} bytes", page.len());
    }
}

#[test]
fn nothing_that_the_document_says_becomes_html() {
    let mut document = document();
    let scripts =
        |pages: &BTreeMap<String, String>| pages.values().map(|page| page.matches("<script").count()).sum::<usize>();
    let usual = scripts(&pages(&Reference::read(&document)));
    spoil(&mut document);
    let spoilt = pages(&Reference::read(&document));
    assert_eq!(scripts(&spoilt), usual);
    for (path, page) in spoilt {
        check_balanced(&path, &page);
        assert!(!page.contains("<img"), "{path}");
        assert!(attributes(&page, "onload").is_empty(), "{path}");
    }
}

/// Adds HTML to every text of the document that is no name.
fn spoil(part: &mut Value) {
    const HOSTILE: &str = "\"' onload=x --></code></pre></textarea></dl><script>x</script><img src=x>";
    // Names of tags and parameters must stay the same everywhere, and are letters only.
    const TEXTS: [&str; 4] = ["description", "summary", "pattern", "title"];
    match part {
        Value::Object(members) => {
            for (name, value) in members {
                match value {
                    Value::String(text) if TEXTS.contains(&name.as_str()) => text.push_str(HOSTILE),
                    Value::Array(list) if name == "examples" || name == "enum" => list.iter_mut().for_each(spoil_all),
                    other => spoil(other),
                }
            }
        }
        Value::Array(list) => list.iter_mut().for_each(spoil),
        _ => {}
    }

    fn spoil_all(part: &mut Value) {
        match part {
            Value::String(text) => text.push_str(HOSTILE),
            Value::Array(list) => list.iter_mut().for_each(spoil_all),
            Value::Object(members) => members.values_mut().for_each(spoil_all),
            _ => {}
        }
    }
}

#[test]
fn a_body_is_described_with_types_limits_and_what_is_required() {
    let reference = Reference::read(&document());
    let check = |operation: &str, member: &str, kind: &str, is_required: bool, limits: &[&str]| {
        let body = reference.operation_by_id(operation).unwrap().body.as_ref().unwrap();
        let row = body.members.iter().find(|row| row.name == member).unwrap_or_else(|| panic!("{operation} {member}"));
        let found: Vec<String> = row.limits.iter().map(|limit| limit.plain().replace('\u{202f}', "")).collect();
        let found: Vec<&str> = found.iter().map(String::as_str).collect();
        assert_eq!(
            (row.kind.as_str(), row.is_required, found.as_slice()),
            (kind, is_required, limits),
            "{operation} {member}"
        );
    };
    check("createPayment", "amount", "integer", true, &["100 to 999999999999"]);
    check("createPayment", "reference", "string", true, &["1 to 255 characters", "one line, no control characters"]);
    check("createPayment", "payment_method.bank", "string", true, &[]);
    check("createPayment", "expires_in_minutes", "integer", false, &["at least 1"]);
    check(
        "createPaymentLink",
        "allowed_payment_methods",
        "list of objects",
        false,
        &["at most 14 entries", "each entry once"],
    );
    check("createPaymentLink", "allowed_payment_methods[].type", "string", true, &[]);
    check("createPaymentLink", "expires_at", "date-time", false, &[]);
    check("createPaymentLink", "customer_fields.name", "boolean", false, &[]);
}

#[test]
fn forms_of_an_object_are_told_apart_by_the_member_that_decides() {
    let reference = Reference::read(&document());
    let body = reference.operation_by_id("createPayment").unwrap().body.as_ref().unwrap();
    let row = |name: &str| body.members.iter().find(|row| row.name == name).unwrap();
    assert_eq!(row("payment_method.type").values, ["qris", "virtual_account"]);
    assert!(row("payment_method.type").form.is_none());
    let form = row("payment_method.bank").form.as_ref().unwrap().plain();
    assert_eq!(form, "where type is virtual_account");
    assert_eq!(body.members.iter().filter(|row| row.name.starts_with("payment_method.")).count(), 2);
}

#[test]
fn examples_are_those_of_the_document_in_the_order_of_the_members() {
    let document = document();
    let reference = Reference::read(&document);
    let body = reference.operation_by_id("createPayment").unwrap().body.as_ref().unwrap();
    let given: Value = serde_json::from_str(&body.example).unwrap();
    assert_eq!(given, document["components"]["schemas"]["CreatePayment"]["examples"][0]);
    let places: Vec<usize> = ["project_id", "reference", "amount", "payment_method", "type", "bank"]
        .iter()
        .map(|name| body.example.find(&format!("\"{name}\"")).unwrap())
        .collect();
    assert!(places.is_sorted(), "{}", body.example);
    for operation in &reference.operations {
        for success in
            operation.successes.iter().filter(|success| success.media_type.as_deref() == Some("application/json"))
        {
            let example: Value = serde_json::from_str(success.example.as_ref().unwrap()).unwrap();
            assert!(example.as_object().is_some_and(|members| !members.is_empty()), "{}", operation.id);
        }
    }
}

#[test]
fn no_example_has_a_key() {
    for (path, page) in pages(&Reference::read(&document())) {
        let text = without_tags(&page);
        for (at, prefix) in text.match_indices("sk_") {
            let rest = text[at + prefix.len() + "test_".len()..].chars();
            assert!(rest.take_while(char::is_ascii_alphanumeric).count() < 20, "{path}");
        }
    }
}
