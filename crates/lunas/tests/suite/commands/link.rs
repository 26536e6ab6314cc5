//! `lunas link`: payment links through the API of a running server.

use serde_json::json;

use crate::support::{commands::dev, json::text};

#[tokio::test]
async fn a_link_is_created_shown_listed_and_cancelled() {
    let (program, running) = dev();
    let link = program.json(&["link", "create", "--title", "Kopi susu", "--amount", "25000", "--json"]);
    let (id, url) = (text(&link, "id"), text(&link, "url"));
    assert_eq!(url, format!("{}/p/{id}", running.said("checkout_url_base")));
    assert_eq!((&link["status"], &link["allow_multiple_payments"]), (&json!("active"), &json!(false)));
    assert_eq!(program.json(&["link", "show", id, "--json"]), link, "it is the answer of the API");
    let shown = program.run(&["link", "show", id]);
    assert_eq!((shown.code, shown.stderr.as_str()), (0, ""));
    for words in [id, url, "active", "Kopi susu", "Rp25.000", "qris"] {
        assert!(shown.stdout.contains(words), "no {words} in {}", shown.stdout);
    }
    let cancelled = program.json(&["link", "cancel", id, "--json"]);
    assert_eq!((&cancelled["id"], &cancelled["status"]), (&json!(id), &json!("cancelled")));
    let api = running.api().get(&format!("/v1/payment-links/{id}")).await.expect(200);
    assert_eq!(api["status"], "cancelled");
    let again = program.run(&["link", "cancel", id]);
    let lines = again.failed(1);
    assert!(lines.len() == 1 && lines[0].contains("PAYMENT_LINK_NOT_ACTIVE"), "{again:?}");
}

#[tokio::test]
async fn every_option_of_a_link_reaches_the_api() {
    let (program, _running) = dev();
    let create = ["link", "create", "--title", "Kelas", "--reference", "KELAS-1", "--description", "Sabtu pagi"];
    let more = ["--expires-at", "2099-12-31T17:00:00+07:00", "--method", "qris", "--method", "bca", "--multiple"];
    let most = ["--ask", "name", "--ask", "phone", "--return-url", "https://shop.example/back", "--metadata", "a=b=c"];
    let options = [&create[..], &more, &most, &["--json"]].concat();
    let link = program.json(&[&options[..], &["--amount", "20000", "--quantity-max", "5"]].concat());
    let bca = json!({ "type": "virtual_account", "bank": "bca" });
    assert_eq!(link["allowed_payment_methods"], json!([{ "type": "qris" }, bca]));
    let asked = json!({ "name": true, "email": false, "phone": true, "address": false });
    assert_eq!((&link["customer_fields"], &link["metadata"]), (&asked, &json!({ "a": "b=c" })));
    for (member, value) in [
        ("reference", json!("KELAS-1")),
        ("description", json!("Sabtu pagi")),
        ("expires_at", json!("2099-12-31T10:00:00.000Z")),
        ("allow_multiple_payments", json!(true)),
        ("return_url", json!("https://shop.example/back")),
        ("quantity_max", json!(5)),
        ("amount", json!(20_000)),
    ] {
        assert_eq!(link[member], value, "{member}");
    }
    let open = program.json(&[&options[..], &["--amount-min", "10000", "--amount-max", "50000"]].concat());
    assert_eq!((&open["amount_min"], &open["amount_max"]), (&json!(10_000), &json!(50_000)));
    let shown = program.run(&["link", "show", text(&open, "id")]);
    assert!(shown.stdout.contains("Rp10.000 to Rp50.000"), "{}", shown.stdout);
}

#[tokio::test]
async fn links_are_listed_newest_first_and_found_by_title_or_reference() {
    let (program, _running) = dev();
    for (title, reference) in [("Kopi", "A-1"), ("Teh", "B-2"), ("Kopi susu", "C-3")] {
        program.json(&["link", "create", "--title", title, "--amount", "15000", "--reference", reference, "--json"]);
    }
    let listed = |more: &[&str]| -> Vec<String> {
        let links = program.json(&[&["link", "list", "--json"], more].concat());
        links.as_array().unwrap().iter().map(|link| text(link, "title").to_owned()).collect()
    };
    assert_eq!(listed(&[]), ["Kopi susu", "Teh", "Kopi"]);
    assert_eq!(listed(&["--limit", "1"]), ["Kopi susu"]);
    assert_eq!(listed(&["--search", "kopi"]), ["Kopi susu", "Kopi"]);
    assert_eq!(listed(&["--search", "b-2"]), ["Teh"]);
    let table = program.run(&["link", "list"]);
    assert_eq!((table.code, table.stdout.lines().count()), (0, 4), "{table:?}");
    assert!(table.stdout.lines().nth(1).unwrap().contains("Kopi susu"), "{table:?}");
}

#[tokio::test]
async fn a_link_that_breaks_a_rule_exits_1_and_is_not_made() {
    let (program, _running) = dev();
    let missing = format!("pl_{}", "0".repeat(26));
    for (arguments, reason) in [
        (&["link", "create", "--title", "", "--amount", "15000"][..], "`title`"),
        (&["link", "create", "--title", "Kopi", "--amount", "1"], "`amount`"),
        (&["link", "create", "--title", "Kopi", "--amount", "15000", "--expires-at", "soon"], "`expires_at`"),
        (&["link", "show", "pay_1"], "lunas link list"),
        (&["link", "show", &missing], "RESOURCE_NOT_FOUND"),
        (&["link", "cancel", &missing], "RESOURCE_NOT_FOUND"),
    ] {
        let ran = program.run(arguments);
        let lines = ran.failed(1);
        assert!(lines.len() == 1 && lines[0].contains(reason), "{arguments:?}: {ran:?}");
    }
    assert_eq!(program.json(&["link", "list", "--json"]), json!([]));
}
