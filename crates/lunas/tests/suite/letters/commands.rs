//! `lunas mail`: trying whether letters arrive, and looking at the queue.

use serde_json::{Value, json};
use testkit::{Database, Manner, Program, Relay, Running, TakenLetter};

use crate::support::{
    commands::program,
    customer::{Customer, led_to, link_path},
    json::text,
    rows::run_by_hand,
};

fn settings(relay: &Relay) -> Vec<String> {
    ["--mail-url", &relay.url(), "--mail-from", "Toko <toko@example.com>"].map(str::to_owned).to_vec()
}

fn words<'a>(first: &[&'a str], settings: &'a [String]) -> Vec<&'a str> {
    first.iter().copied().chain(settings.iter().map(String::as_str)).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_test_letter_says_how_each_step_went() {
    let (program, relay) = (program(), Relay::start().await);
    let settings = settings(&relay);
    let tried = program.json(&words(&["mail", "test", "siti@example.com", "--json"], &settings));
    assert_eq!(tried["taken"], true);
    let steps: Vec<&str> =
        tried["steps"].as_array().unwrap().iter().map(|step| step["step"].as_str().unwrap()).collect();
    assert_eq!(steps, ["connect", "sender", "recipient", "data", "letter"]);
    assert_eq!(relay.has(1).await[0].to, "siti@example.com");
    relay.behave(Manner::Refuses);
    let ran = program.run(&words(&["mail", "test", "siti@example.com"], &settings));
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.stdout.contains("FAILED") && ran.stdout.contains("550 nobody here"), "{ran:?}");
}

#[test]
fn without_a_relay_nothing_is_tried_and_a_wrong_setting_is_named() {
    let program = program();
    let refused = |more: &[&str], expected: &str| {
        let ran = program.run(&[&["mail", "test", "siti@example.com"], more].concat());
        assert_eq!(ran.code, 1, "{ran:?}");
        assert!(ran.stderr.contains(expected), "{ran:?}");
    };
    refused(&[], "LUNAS_MAIL_URL");
    refused(&["--mail-url", "smtps://relay.example.com"], "LUNAS_MAIL_FROM");
    let from = ["--mail-from", "toko@example.com", "--mail-url"];
    refused(&[&from[..], &["smtp+plain://relay.example.com"]].concat(), "unencrypted");
    refused(&[&from[..], &["smtps://budi:word@relay.example.com"]].concat(), "LUNAS_MAIL_PASSWORD");
    refused(&[&from[..], &["smtps://relay.example.com", "--mail-user", "budi"]].concat(), "both or neither");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn letters_are_listed_with_their_state_and_sent_again() {
    let (program, relay) = (program(), Relay::with(Manner::Refuses).await);
    let settings = settings(&relay);
    let running = program.dev_with(&words(&[], &settings));
    assert_eq!(program.json(&["mail", "list", "--json"]).as_array().unwrap().len(), 0);
    let missing = program.run(&["mail", "show", "ltr_1"]);
    assert_eq!(missing.code, 1, "{missing:?}");
    let wrong = program.run(&["mail", "list", "--state", "lost"]);
    assert_eq!(wrong.code, 2, "{wrong:?}");
    drop(running);
}

/// A customer with this address pays 50,000 through a link of the sandbox of `lunas dev`, and gets receipts. Answers the payment's id.
async fn sold_to(program: &Program, running: &Running, email: &str) -> String {
    let database = Database::Sqlite(program.data().join("lunas.db"));
    run_by_hand(&database, "INSERT INTO receipt_letters SELECT id FROM projects");
    let link = json!({
        "project_id": running.said("project_id"),
        "title": "Kopi",
        "amount": 50_000,
        "customer_fields": { "email": true },
    });
    let link = running.api().post("/v1/payment-links", &link).await.expect(201);
    let answers = [("method", "qris"), ("email", email)];
    let path = led_to(&Customer::at(running.address()).choose_at(&link_path(&link), &answers).await);
    let id = path.rsplit('/').next().unwrap().to_owned();
    program.json(&["pay", &id, "--json"]);
    id
}

/// Owner and customer are members, since a sandbox writes to nobody else.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn letters_about_refunds_are_caused_by_commands_too_and_are_listed_and_shown() {
    let (program, relay) = (program(), Relay::start().await);
    let settings = settings(&relay);
    let running = program.dev_with(&words(&[], &settings));
    let (database, project) = (program.database(), running.said("project_id").to_owned());
    for (email, role) in [("owner@example.com", "owner"), ("siti@example.com", "viewer")] {
        program.json(&["user", "create", email, "--project", &project, "--role", role, "--json"]);
    }
    program.json(&["project", "update", &project, "--refund-approval-above", "10000", "--json"]);
    let payment = sold_to(&program, &running, "siti@example.com").await;
    let refund = program.json(&["refund", "create", &payment, "--amount", "20903", "--json"]);
    let refund = text(&refund, "id");
    let listed = |kind: &str| -> Value { program.json(&["mail", "list", "--kind", kind, "--json"]) };
    let wanted = listed("approval_wanted");
    let to_owner: Vec<&Value> =
        wanted.as_array().unwrap().iter().filter(|one| one["address"] == "owner@example.com").collect();
    assert_eq!(to_owner.len(), 1, "the demo's user is an owner too and has a letter too");
    assert_eq!((&to_owner[0]["channel"], &to_owner[0]["project_id"]), (&json!("mail"), &json!(project)));
    let shown = program.run(&["mail", "show", text(to_owner[0], "id")]);
    assert!(shown.stdout.contains("approval_wanted") && shown.stdout.contains("owner@example.com"), "{shown:?}");
    program.json(&["refund", "approve", refund, "--database", &database, "--json"]);
    assert_eq!(listed("refund_made"), json!([]));
    let transferred = ["refund", "transferred", refund, "--reference", "4711", "--database", &database, "--json"];
    program.json(&words(&transferred, &settings));
    let made = listed("refund_made");
    assert_eq!((made.as_array().unwrap().len(), &made[0]["address"]), (1, &json!("siti@example.com")));
    let taken = relay.has(1 + wanted.as_array().unwrap().len()).await;
    let is_made = |letter: &TakenLetter| letter.to == "siti@example.com" && letter.words().contains("Rp20.903");
    assert!(taken.iter().any(is_made), "the server sends what a command has queued");
    let wrong = program.run(&["mail", "list", "--kind", "approval"]);
    assert!(wrong.code == 2 && wrong.stderr.contains("approval_wanted"), "{wrong:?}");
}
