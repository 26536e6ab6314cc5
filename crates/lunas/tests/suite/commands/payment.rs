//! `lunas payment`: payments through the API of a running server.

use domain::project::Environment;
use serde_json::{Value, json};
use testkit::Receiver;

use crate::support::{
    commands::{dev, program, unknown_key},
    json::text,
};

#[tokio::test]
async fn a_payment_is_created_shown_and_found() {
    let (program, running) = dev();
    let create =
        ["payment", "create", "--amount", "15000", "--reference", "ORDER-1", "--metadata", "table=7", "--json"];
    let payment = program.json(&create);
    let id = text(&payment, "id");
    assert_eq!((&payment["status"], &payment["amount"]), (&json!("pending"), &json!(15_000)));
    assert_eq!((&payment["payment_method"]["type"], &payment["metadata"]["table"]), (&json!("qris"), &json!("7")));
    assert_eq!(program.json(&["payment", "show", id, "--json"]), payment, "it is the answer of the API");
    let api = running.api().get(&format!("/v1/payments/{id}")).await.expect(200);
    assert_eq!(api["reference"], "ORDER-1");
    let shown = program.run(&["payment", "show", id]);
    assert_eq!((shown.code, shown.stderr.as_str()), (0, ""));
    for words in [id, "pending", "Rp15.000", "ORDER-1", "qris", "table=7", text(&payment, "checkout_url")] {
        assert!(shown.stdout.contains(words), "no {words} in {}", shown.stdout);
    }
    program.json(&["pay", id, "--json"]);
    assert_eq!(program.json(&["payment", "show", id, "--json"])["status"], "paid");
}

#[tokio::test]
async fn a_payment_by_virtual_account_names_its_bank_and_number() {
    let (program, _running) = dev();
    let create =
        ["payment", "create", "--amount", "20000", "--reference", "o", "--bank", "bca", "--expires-in-minutes", "60"];
    let shown = program.run(&create);
    assert_eq!((shown.code, shown.stderr.as_str()), (0, ""));
    assert!(shown.stdout.contains("account number  ") && shown.stdout.contains("bca"), "{}", shown.stdout);
    let listed = program.json(&["payment", "list", "--json"]);
    assert_eq!(listed[0]["payment_method"], json!({ "type": "virtual_account", "bank": "bca" }));
}

#[tokio::test]
async fn the_list_is_a_table_newest_first_and_takes_filters() {
    let (program, running) = dev();
    for (number, reference) in ["KOPI-1", "TEH-2", "KOPI-3"].into_iter().enumerate() {
        let amount = (15_000 + number).to_string();
        program.json(&["payment", "create", "--amount", &amount, "--reference", reference, "--json"]);
    }
    let listed = |more: &[&str]| -> Vec<String> {
        let payments = program.json(&[&["payment", "list", "--json"], more].concat());
        payments.as_array().unwrap().iter().map(|payment| text(payment, "reference").to_owned()).collect()
    };
    assert_eq!(listed(&[]), ["KOPI-3", "TEH-2", "KOPI-1"]);
    assert_eq!(listed(&["--limit", "2"]), ["KOPI-3", "TEH-2"]);
    assert_eq!(listed(&["--search", "kopi"]), ["KOPI-3", "KOPI-1"]);
    assert_eq!(listed(&["--search", "tidak & ada=1"]), [""; 0]);
    let paid = program.json(&["payment", "list", "--search", "TEH-2", "--json"]);
    program.json(&["pay", text(&paid[0], "id"), "--json"]);
    assert_eq!(listed(&["--status", "paid"]), ["TEH-2"]);
    assert_eq!(listed(&["--method", "virtual_account"]), [""; 0]);
    let table = program.run(&["payment", "list"]);
    let lines: Vec<&str> = table.stdout.lines().collect();
    assert_eq!((table.code, lines.len()), (0, 4), "{table:?}");
    assert!(lines[0].starts_with("ID ") && lines[0].ends_with("CREATED"), "{lines:?}");
    assert!(lines[2].contains("TEH-2") && lines[2].contains("Rp15.001") && lines[2].contains("paid"), "{lines:?}");
    let total = running.api().get("/v1/payments").await.expect(200)["pagination"]["total_items"].clone();
    assert_eq!(total, json!(3));
}

#[tokio::test]
async fn more_than_a_page_is_listed() {
    let (program, running) = dev();
    let api = running.api();
    for number in 0..101 {
        let order = crate::support::samples::order(running.said("project_id"));
        api.pay(&format!("k-{number}"), &order).await.expect(201);
    }
    let count = |limit: &str| {
        let listed = program.json(&["payment", "list", "--limit", limit, "--json"]);
        let ids: std::collections::BTreeSet<&str> =
            listed.as_array().unwrap().iter().map(|payment| text(payment, "id")).collect();
        ids.len()
    };
    assert_eq!((count("100"), count("101"), count("1000"), count("1")), (100, 101, 101, 1));
}

#[tokio::test]
async fn an_idempotency_key_creates_one_payment_however_often_it_is_sent() {
    let (program, _running) = dev();
    let create = ["payment", "create", "--amount", "15000", "--reference", "o", "--json"];
    let keyed = [&create[..], &["--idempotency-key", "order-1"]].concat();
    let first = program.json(&keyed);
    assert_eq!(program.json(&keyed)["id"], first["id"]);
    assert_ne!(program.json(&create)["id"], program.json(&create)["id"]);
    assert_eq!(program.json(&["payment", "list", "--json"]).as_array().unwrap().len(), 3);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_server_refuses_exits_1_with_one_line_and_leaves_nothing() {
    let (program, _running) = dev();
    let stranger = Receiver::start().await;
    let (unknown, strange_url) = (unknown_key(Environment::Sandbox), format!("http://{}", stranger.address));
    let create = ["payment", "create", "--reference", "o", "--amount"];
    let missing = format!("pay_{}", "0".repeat(26));
    for (arguments, reason) in [
        ([&create[..], &["1"]].concat(), "VALIDATION_ERROR"),
        ([&create[..], &["15000", "--key", "junk"]].concat(), "malformed"),
        ([&create[..], &["15000", "--key", &unknown]].concat(), "401"),
        ([&create[..], &["15000", "--url", "http://127.0.0.1:1"]].concat(), "unavailable"),
        ([&create[..], &["15000", "--url", &strange_url]].concat(), "not one that Lunas gives"),
        (vec!["payment", "list", "--url", &strange_url], "not one that Lunas gives"),
        (vec!["payment", "list", "--status", "gone"], "VALIDATION_ERROR"),
        (vec!["payment", "show", "../balance"], "lunas payment list"),
        (vec!["payment", "show", &missing], "RESOURCE_NOT_FOUND"),
    ] {
        for json in [&[][..], &["--json"]] {
            let ran = program.run(&[&arguments[..], json].concat());
            let lines = ran.failed(1);
            assert!(lines.len() == 1 && lines[0].contains(reason), "{arguments:?}: {ran:?}");
            assert!(!ran.stderr.contains(&unknown), "a key is not repeated");
        }
    }
    assert_eq!(program.json(&["payment", "list", "--json"]), json!([]));
}

#[test]
fn without_a_key_and_a_server_it_says_what_to_do() {
    let program = program();
    for arguments in [&["payment", "list"][..], &["link", "list"]] {
        let ran = program.run(arguments);
        let lines = ran.failed(1);
        assert!(lines.len() == 1 && lines[0].contains("LUNAS_API_KEY"), "{ran:?}");
    }
}

#[tokio::test]
async fn texts_of_others_cannot_control_a_terminal() {
    let (program, running) = dev();
    let mut order = crate::support::samples::order(running.said("project_id"));
    order["reference"] = Value::from("x".repeat(255));
    running.api().pay("k", &order).await.expect(201);
    let table = program.run(&["payment", "list"]);
    assert!(table.stdout.lines().all(|line| line.chars().count() < 160), "{}", table.stdout);
    assert!(table.stdout.contains('…'), "{}", table.stdout);
}
