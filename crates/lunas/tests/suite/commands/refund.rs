//! `lunas refund`: refunds through the API of a running server, and what no key may do on its database.

use serde_json::{Value, json};
use testkit::{Database, Program};

use crate::support::{commands::dev, json::text, rows::run_by_hand};

/// Creates a payment and has it paid; returns its id.
fn sold(program: &Program, amount: &str, more: &[&str]) -> String {
    let create = ["payment", "create", "--amount", amount, "--reference", "ORDER-1", "--json"];
    let payment = program.json(&[&create[..], more].concat());
    let id = text(&payment, "id").to_owned();
    program.json(&["pay", &id, "--json"]);
    id
}

#[tokio::test]
async fn a_refund_is_created_shown_found_simulated_and_cancelled() {
    let (program, running) = dev();
    let payment = sold(&program, "50000", &[]);
    let create =
        ["refund", "create", &payment, "--amount", "10903", "--reason", "broken", "--metadata", "t=7", "--json"];
    let refund = program.json(&create);
    let id = text(&refund, "id");
    assert_eq!(
        (&refund["status"], &refund["amount"], &refund["road"]),
        (&json!("pending"), &json!(10_903), &json!("qris"))
    );
    assert_eq!(program.json(&["refund", "show", id, "--json"]), refund, "it is the answer of the API");
    assert_eq!(running.api().get(&format!("/v1/refunds/{id}")).await.expect(200), refund);
    let shown = program.run(&["refund", "show", id]);
    assert_eq!((shown.code, shown.stderr.as_str()), (0, ""));
    for words in [id, "pending, processing", "Rp10.903", "broken", "qris", "t=7", &payment] {
        assert!(shown.stdout.contains(words), "no {words} in {}", shown.stdout);
    }
    assert_eq!(program.json(&["refund", "simulate", id, "succeeded", "--json"])["status"], "succeeded");
    assert_eq!(program.json(&["payment", "show", &payment, "--json"])["refunded_amount"], 10_903);
    let shown = program.run(&["payment", "show", &payment]);
    assert!(shown.stdout.contains("refunded") && shown.stdout.contains("Rp10.903"), "{}", shown.stdout);
    let account = ["--bank", "014", "--account-number", "0123456789", "--account-name", "Siti"];
    let transfer =
        program.json(&[&["refund", "create", &payment, "--amount", "20903", "--json"][..], &account].concat());
    assert_eq!((&transfer["road"], &transfer["destination"]["last_four"]), (&json!("transfer"), &json!("6789")));
    let cancelled = program.run(&["refund", "cancel", text(&transfer, "id")]);
    assert!(cancelled.code == 0 && cancelled.stdout.contains("cancelled"), "{cancelled:?}");
    let listed = |more: &[&str]| -> Vec<String> {
        let refunds = program.json(&[&["refund", "list", "--json"], more].concat());
        refunds.as_array().unwrap().iter().map(|refund| text(refund, "status").to_owned()).collect()
    };
    assert_eq!(listed(&[]), ["cancelled", "succeeded"]);
    assert_eq!(listed(&["--status", "succeeded", "--payment", &payment]), ["succeeded"]);
    let table = program.run(&["refund", "list", "--limit", "1"]);
    assert_eq!((table.code, table.stdout.lines().count()), (0, 2), "{table:?}");
    let banks = program.run(&["refund", "banks"]);
    assert!(banks.stdout.lines().count() > 50 && banks.stdout.contains("Bank Central Asia"), "{banks:?}");
}

#[tokio::test]
async fn an_idempotency_key_creates_one_refund_however_often_it_is_sent() {
    let (program, _running) = dev();
    let payment = sold(&program, "50000", &[]);
    let create = ["refund", "create", &payment, "--amount", "1903", "--json"];
    let keyed = [&create[..], &["--idempotency-key", "order-1"]].concat();
    let first = program.json(&keyed);
    assert_eq!(program.json(&keyed)["id"], first["id"]);
    assert_ne!(program.json(&create)["id"], program.json(&create)["id"]);
    assert_eq!(program.json(&["refund", "list", "--json"]).as_array().unwrap().len(), 3);
}

#[tokio::test]
async fn what_a_server_refuses_exits_1_with_one_line_and_leaves_nothing() {
    let (program, _running) = dev();
    let payment = sold(&program, "50000", &[]);
    let missing = format!("pay_{}", "0".repeat(26));
    let no_refund = format!("rfd_{}", "0".repeat(26));
    for (arguments, reason) in [
        (vec!["refund", "create", &payment, "--amount", "50001"], "VALIDATION_ERROR"),
        (vec!["refund", "create", &payment, "--amount", "0"], "VALIDATION_ERROR"),
        (vec!["refund", "create", &missing], "RESOURCE_NOT_FOUND"),
        (vec!["refund", "create", "../balance"], "lunas payment list"),
        (vec!["refund", "create", &payment, "--bank", "999", "--account-number", "0123456789"], "VALIDATION_ERROR"),
        (vec!["refund", "list", "--status", "gone"], "VALIDATION_ERROR"),
        (vec!["refund", "show", "../balance"], "lunas refund list"),
        (vec!["refund", "show", &no_refund], "RESOURCE_NOT_FOUND"),
        (vec!["refund", "cancel", &no_refund], "RESOURCE_NOT_FOUND"),
    ] {
        let ran = program.run(&arguments);
        let lines = ran.failed(1);
        assert!(lines.len() == 1 && lines[0].contains(reason), "{arguments:?}: {ran:?}");
    }
    for half in [&["--bank", "014"][..], &["--account-number", "0123456789"], &["--account-name", "Siti"]] {
        program.run(&[&["refund", "create", &payment][..], half].concat()).failed(2);
    }
    assert_eq!(program.json(&["refund", "list", "--json"]), json!([]));
}

#[tokio::test]
async fn the_operator_approves_declines_and_says_what_became_of_transfers() {
    let (program, running) = dev();
    let (payment, database) = (sold(&program, "500000", &[]), program.database());
    let decide = |arguments: &[&str]| -> Value {
        program.json(&[&["refund"][..], arguments, &["--database", &database, "--json"]].concat())
    };
    let fails = |arguments: &[&str]| {
        let ran = program.run(&[&["refund"][..], arguments, &["--database", &database]].concat());
        let lines = ran.failed(1);
        assert_eq!(lines.len(), 1, "{ran:?}");
        lines[0].to_owned()
    };
    let create = |amount: &str| {
        let account = ["--bank", "014", "--account-number", "0123456789"];
        let refund =
            program.json(&[&["refund", "create", &payment, "--amount", amount, "--json"][..], &account].concat());
        text(&refund, "id").to_owned()
    };
    let project = running.said("project_id");
    program.json(&["project", "update", project, "--refund-approval-above", "10000", "--json"]);
    let (approved, declined) = (create("20903"), create("30903"));
    for id in [&approved, &declined] {
        assert_eq!(program.json(&["refund", "show", id, "--json"])["pending_reason"], "awaiting_approval");
        assert!(fails(&["transferred", id, "--reference", "4711"]).contains(id.as_str()));
    }
    assert_eq!(decide(&["approve", &approved])["pending_reason"], "processing");
    let refused = decide(&["decline", &declined, "--reason", "asked for twice"]);
    assert_eq!((&refused["status"], &refused["failure_reason"]), (&json!("cancelled"), &json!("asked for twice")));
    assert!(fails(&["approve", &declined]).contains(&declined));
    let done = decide(&["transferred", &approved, "--reference", "4711"]);
    assert_eq!((&done["status"], &done["bank_reference"]), (&json!("succeeded"), &json!("4711")));
    assert_eq!(program.json(&["payment", "show", &payment, "--json"])["refunded_amount"], 20_903);
    let back = decide(&["came-back", &approved, "--reason", "closed"]);
    assert_eq!((&back["status"], &back["failure_reason"]), (&json!("returned"), &json!("closed")));
    let small = create("1903");
    let failed = decide(&["not-transferred", &small, "--reason", "no such account"]);
    assert_eq!((&failed["status"], &failed["failure_reason"]), (&json!("failed"), &json!("no such account")));
    assert!(fails(&["transferred", &small, "--reference", "4711"]).contains(&small));
    assert!(fails(&["approve", "junk"]).contains("lunas refund list"));
}

#[tokio::test]
async fn a_destination_is_given_to_a_refund_that_needs_one() {
    let (program, _running) = dev();
    let (payment, database) = (sold(&program, "50000", &["--bank", "bca"]), program.database());
    let refund = program.json(&["refund", "create", &payment, "--json"]);
    assert_eq!((&refund["status"], refund["claim_url"].is_string()), (&json!("requires_action"), true));
    let shown = program.run(&["refund", "show", text(&refund, "id")]);
    assert!(shown.stdout.contains(text(&refund, "claim_url")), "{}", shown.stdout);
    let id = text(&refund, "id");
    let account = ["--bank", "014", "--account-number", "0123456789", "--database", &database, "--json"];
    let given = program.json(&[&["refund", "destination", id][..], &account].concat());
    assert_eq!((&given["status"], &given["destination"]["last_four"]), (&json!("pending"), &json!("6789")));
    let again = program.run(&[&["refund", "destination", id][..], &account[..6]].concat());
    assert_eq!(again.failed(1).len(), 1, "{again:?}");
}

#[tokio::test]
async fn a_refund_of_a_batch_is_released_by_two_people_and_named_when_the_batch_is_printed_again() {
    let (program, running) = dev();
    let (payment, database) = (sold(&program, "50000", &[]), program.database());
    let account = ["--bank", "014", "--account-number", "0123456789"];
    let refund = program.json(&[&["refund", "create", &payment, "--amount", "1903", "--json"][..], &account].concat());
    let id = text(&refund, "id");
    let on_database = ["--database", &database];
    let batch = ["refund", "export", "--project", running.said("project_id")];
    let first = program.run(&[&batch[..], &on_database].concat());
    assert!(first.code == 0 && first.stdout.contains(id) && first.stderr.is_empty(), "{first:?}");
    let end = [&["refund", "not-transferred", id, "--reason", "not there"][..], &on_database].concat();
    assert!(program.run(&end).failed(1)[0].contains("you have looked at the bank's own statement"));
    let end = [&end[..], &["--statement-checked"]].concat();
    let doubted = program.json(&[&end[..], &["--json"]].concat());
    assert_eq!((text(&doubted, "status"), text(&doubted, "doubted_by")), ("pending", "command-line"));
    assert!(program.run(&end).failed(1)[0].contains("you have recorded already that the refund was not made"));
    // Somebody else was the first.
    let another = format!("usr_{}", "0".repeat(26));
    let stored = Database::Sqlite(program.data().join("lunas.db"));
    run_by_hand(&stored, &format!("UPDATE refunds SET failing_by = '{another}'"));
    assert_eq!(text(&program.json(&[&end[..], &["--json"]].concat()), "status"), "failed");
    let again = program.run(&[&batch[..], &["--batch", "1"], &on_database].concat());
    assert_eq!((again.code, &again.stdout), (0, &first.stdout), "the batch is the same");
    assert!(again.stderr.contains(id) && again.stderr.contains("do not transfer it"), "{again:?}");
}
