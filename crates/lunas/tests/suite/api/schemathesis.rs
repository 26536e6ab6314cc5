//! Tools that others wrote check the OpenAPI document and the real binary. `make test` installs them.

use std::{fs, path::Path, process::Command};

use serde_json::{Value, json};
use testkit::{Ran, Running};

use crate::support::commands::{program, tool};

#[track_caller]
fn succeeds(mut command: Command) {
    let ran = Ran::from(command.output().unwrap());
    assert_eq!(ran.code, 0, "\n{}\n{}", ran.stdout, ran.stderr);
}

/// The document, completed with what only this server knows: its project, its default methods and a key to revoke.
fn narrowed(running: &Running, spare_key: &Value) -> Value {
    let mut document: Value = serde_json::from_str(&api::openapi_json()).unwrap();
    let schemas = &mut document["components"]["schemas"];
    for name in ["CreatePayment", "CreateLink"] {
        schemas[name]["properties"]["project_id"] = json!({ "const": running.said("project_id") });
        schemas[name]["examples"][0]["project_id"] = json!(running.said("project_id"));
    }
    // Without methods of its own a link takes the project's, and a demo project's include virtual accounts.
    let only_qris =
        json!({ "type": "array", "minItems": 1, "items": { "properties": { "type": { "const": "qris" } } } });
    let link = schemas["CreateLink"].as_object_mut().unwrap();
    link["if"]["properties"]["allowed_payment_methods"] = only_qris;
    let dearer = link.remove("then").unwrap();
    link.insert("else".to_owned(), dearer);
    // Banks are a list of their own.
    schemas["GivenDestination"]["properties"]["bank"] = json!({ "enum": ["014", "008"] });
    let revoke = &mut document["paths"]["/v1/api-keys/{id}"]["delete"];
    assert_eq!(revoke["parameters"][0]["name"], "id");
    revoke["parameters"][0]["schema"]["examples"] = json!([spare_key]);
    document
}

#[test]
#[ignore = "needs the tools that `make test` installs"]
fn an_independent_validator_finds_the_document_valid() {
    let program = program();
    fs::write(program.directory.path().join("openapi.json"), program.run(&["openapi"]).stdout).unwrap();
    let mut command = tool("openapi-spec-validator", &program);
    command.arg("openapi.json");
    succeeds(command);
}

/// Thousands of valid and invalid requests: no 5xx, no undescribed answer, no invalid one accepted, no valid one
/// refused; and after all of them the ledger still balances.
#[test]
#[ignore = "needs the tools that `make test` installs"]
fn schemathesis_gets_only_answers_that_the_document_describes() {
    let program = program();
    let running = program.dev();
    let project = running.said("project_id");
    let database = program.database();
    let spare =
        program.json(&["key", "create", "--project", project, "--name", "spare", "--database", &database, "--json"]);
    let document = narrowed(&running, &spare["id"]);
    fs::write(program.directory.path().join("openapi.json"), document.to_string()).unwrap();
    let settings = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/schemathesis");
    let mut command = tool("schemathesis", &program);
    command
        .env("PYTHONPATH", &settings)
        .arg("--config-file")
        .arg(settings.join("schemathesis.toml"))
        .args(["run", "openapi.json", "--no-color", "--url", running.said("base_url")])
        .args(["--header", &format!("Authorization: Bearer {}", running.said("api_key"))]);
    succeeds(command);
    let log = running.log();
    assert!(log.lines().count() > 1_000, "requests reached the server");
    for done in [("POST", "201"), ("DELETE", "200"), ("GET", "200"), ("GET", "401")] {
        let (method, status) = (format!("method={} ", done.0), format!("status={} ", done.1));
        assert!(log.lines().any(|line| line.contains(&method) && line.contains(&status)), "{done:?} happened");
    }
    assert_eq!(running.terminate(), Some(0));
    assert_eq!(program.json(&["verify", "--database", &database, "--json"])["ok"], true);
}
