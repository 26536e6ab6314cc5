//! The API reference over HTTP: a page for every operation and every schema of the document that the same server serves, and examples
//! that work against it.

use std::{fs, process::Stdio};

use reqwest::{Method, header::ACCEPT_LANGUAGE};
use serde_json::Value;
use testkit::{Kit, TestProject, on_sqlite};
use tokio::process::Command;

use crate::support::customer::{Customer, is_page};

pub(super) const CREATE_PAYMENT: &str = "/docs/api/payments/create-payment";

/// A name in the form that addresses have.
fn slug(name: &str) -> String {
    let mut slug = String::new();
    for (place, letter) in name.char_indices() {
        let follows_small = name[..place].ends_with(|before: char| before.is_ascii_lowercase());
        if letter.is_ascii_uppercase() && follows_small {
            slug.push('-');
        }
        slug.push(if letter == ' ' { '-' } else { letter.to_ascii_lowercase() });
    }
    slug
}

/// The paths of all pages, as the document that the server serves says.
pub(super) async fn paths(kit: &Kit) -> Vec<String> {
    let document = kit.anonymous().get("/openapi.json").await.expect(200);
    let mut paths = vec!["/docs/api".to_owned()];
    for operation in document["paths"].as_object().unwrap().values().flat_map(|item| item.as_object().unwrap().values())
    {
        let [tag, id] = [&operation["tags"][0], &operation["operationId"]].map(|name| slug(name.as_str().unwrap()));
        paths.push(format!("/docs/api/{tag}/{id}"));
    }
    let schemas = document["components"]["schemas"].as_object().unwrap().keys();
    paths.extend(schemas.map(|name| format!("/docs/api/schemas/{name}")));
    assert!(paths.len() > 80, "{paths:?}");
    paths
}

#[tokio::test]
async fn every_operation_and_every_schema_of_the_served_document_has_a_page() {
    on_sqlite(|kit| async move {
        let customer = Customer::of(&kit);
        for path in paths(&kit).await {
            let page = customer.open(&path).await;
            assert_eq!(page.status, 200, "{path}: {}", page.text);
            for header in ["content-security-policy", "referrer-policy", "x-robots-tag", "x-request-id"] {
                assert!(page.header(header).is_some(), "{path} has {header}");
            }
            assert!(!page.text.contains("$ref") && !page.text.contains("#/components"), "{path}");
            for forbidden in ["<style", " style=", "<img", "<iframe", " onclick", "javascript:"] {
                assert!(!page.text.contains(forbidden), "{path} has {forbidden}");
            }
        }
    })
    .await;
}

#[tokio::test]
async fn an_unknown_operation_or_schema_is_no_page() {
    on_sqlite(|kit| async move {
        let customer = Customer::of(&kit);
        for path in [
            "/docs/api/payments",
            "/docs/api/payments/nothing",
            "/docs/api/nothing/create-payment",
            "/docs/api/payments/createPayment",
            "/docs/api/schemas/payment",
            "/docs/api/schemas/",
            "/docs/api/schemas/Payment/more",
            "/docs/api/schemas/%00%22%3E",
        ] {
            is_page(path, &customer.open(path).await, 404);
        }
    })
    .await;
}

#[tokio::test]
async fn pages_of_the_reference_may_reach_their_own_origin_and_no_other() {
    on_sqlite(|kit| async move {
        let page = Customer::of(&kit).open(CREATE_PAYMENT).await;
        let policy = page.header("content-security-policy").unwrap();
        let connect = policy.split("; ").find(|part| part.starts_with("connect-src")).unwrap();
        assert_eq!(connect, "connect-src 'self'");
        assert_eq!(page.text.matches("<script").count(), 2, "the site's and that of the form");
    })
    .await;
}

#[tokio::test]
async fn a_page_of_the_reference_is_sent_once_and_is_english_in_every_frame() {
    on_sqlite(|kit| async move {
        let customer = Customer::of(&kit);
        let ask =
            |language: &'static str| customer.request(Method::GET, CREATE_PAYMENT).header(ACCEPT_LANGUAGE, language);
        let page = customer.send(ask("id")).await;
        assert!(
            page.text.contains("<html lang=\"id\">") && page.text.contains("<article class=\"reference\" lang=\"en\">")
        );
        let english = customer.send(ask("en")).await;
        assert!(english.text.contains("<html lang=\"en\">") && english.text.contains("<article class=\"reference\">"));
        let etag = page.header("etag").unwrap();
        assert_eq!(customer.send(ask("id").header("If-None-Match", etag)).await.status, 304);
        assert_eq!(customer.send(ask("en").header("If-None-Match", etag)).await.status, 200);
    })
    .await;
}

/// The code of an example as a reader copies it.
fn code(page: &str, language: &str) -> String {
    let start = format!("id=\"code-{language}\"");
    let block = page.split_once(&start).unwrap().1.split_once("<code>").unwrap().1.split_once("</code>").unwrap().0;
    let entities = [("&#60;", "<"), ("&#62;", ">"), ("&#34;", "\""), ("&#39;", "'"), ("&#38;", "&")];
    let block = block.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"");
    entities.iter().fold(block, |text, (entity, character)| text.replace(entity, character)).replace("&amp;", "&")
}

/// Runs an example, and returns what it prints; nothing where its program is not installed.
async fn printed(kit: &Kit, project: &TestProject, program: &str, file: &str, code: &str) -> Option<String> {
    let is_there = Command::new(program).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status().await;
    if !is_there.is_ok_and(|status| status.success()) {
        return None;
    }
    let path = kit.directory.path().join(file);
    fs::write(&path, code).unwrap();
    let runner = if program == "curl" { "sh" } else { program };
    let output = Command::new(runner).arg(&path).env("LUNAS_API_KEY", &project.key).output().await.unwrap();
    assert!(output.status.success(), "{program}: {}\n{code}", String::from_utf8_lossy(&output.stderr));
    Some(String::from_utf8(output.stdout).unwrap())
}

#[tokio::test]
async fn the_examples_create_a_payment_at_the_server_that_shows_them() {
    on_sqlite(|kit| async move {
        let project = kit.sandbox().await;
        let page = Customer::of(&kit).open(CREATE_PAYMENT).await.text;
        let document = kit.anonymous().get("/openapi.json").await.expect(200);
        let example = document["components"]["schemas"]["ProjectId"]["examples"][0].as_str().unwrap().to_owned();
        let mut ran = 0;
        for (language, program, file) in [
            ("curl", "curl", "example.sh"),
            ("node", "node", "example.mjs"),
            ("php", "php", "example.php"),
            ("python", "python3", "example.py"),
        ] {
            let code = code(&page, language).replace(&example, &project.id.to_string());
            let code = code.replace("order-1-first-try", &format!("by-{language}"));
            assert!(code.contains(&format!("http://{}/v1/payments", kit.address)), "{code}");
            let Some(printed) = printed(&kit, &project, program, file, &code).await else { continue };
            let body: Value = serde_json::from_str(&printed[printed.find('{').unwrap()..]).unwrap();
            assert_eq!(
                (&body["status"], &body["amount"]),
                (&"pending".into(), &15_000.into()),
                "{language}: {printed}"
            );
            ran += 1;
        }
        assert!(ran > 0, "no language is installed");
        let list = project.api.get("/v1/payments").await.expect(200);
        assert_eq!(list["pagination"]["total_items"], ran);
    })
    .await;
}

#[tokio::test]
async fn the_search_finds_operations_by_path_member_and_error_code() {
    on_sqlite(|kit| async move {
        let customer = Customer::of(&kit);
        for (words, path) in [
            ("simulate", "/docs/api/sandbox/simulate-payment"),
            ("expires_in_minutes", CREATE_PAYMENT),
            ("PAYMENT_LINK_NOT_ACTIVE", "/docs/api/payment-links/cancel-payment-link"),
        ] {
            let page = customer.open(&format!("/docs/search?q={words}&lang=en")).await.text;
            assert!(page.contains(&format!("href=\"{path}")), "{words}: {page}");
        }
    })
    .await;
}
