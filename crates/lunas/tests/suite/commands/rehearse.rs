//! `lunas dev --rehearse`: a newcomer takes a payment through the doors of real banks, and no real money is in it.

use std::{collections::BTreeSet, fs, os::unix::fs::PermissionsExt};

use reqwest::Method;
use serde_json::{Value, json};
use testkit::Running;

use crate::support::{
    claims::ticket_in,
    commands::{program, secret_key},
    customer::{Customer, led_to},
    json::text,
    people::sign_in,
    refunds::ask_for_refund,
    rehearsal::{api, payment, press, rehearse, status, visit},
    wait::until,
};

const MEMBERS: [&str; 4] = ["rehearsal_project_id", "rehearsal_api_key", "rehearsal_checkout_url", "bank_url"];
const BANKS: [&str; 5] = ["bca", "bri", "bsi", "mandiri", "bni"];

/// The path of the link that the rehearsal offers.
fn link_path(running: &Running) -> String {
    format!("/p/{}", running.said("rehearsal_checkout_url").rsplit('/').next().unwrap())
}

/// What a newcomer does: open the link, choose a bank, type the number at the bank, press the button.
async fn rehearses(running: &Running) -> Value {
    let customer = Customer::at(running.address());
    let chosen = customer.choose_at(&link_path(running), &[("method", "virtual_account:bca")]).await;
    let id = led_to(&chosen).split_off("/pay/".len());
    let payment = api(running).get(&format!("/v1/payments/{id}")).await.expect(200);
    let bill = visit(&customer, &payment).await;
    assert!(customer.open(&bill).await.text.contains("Pay Rp25.000"));
    let page = press(&customer, &bill, "pay").await;
    assert!(page.text.contains("booked") && page.text.contains("2002500"), "{}", page.text);
    assert_eq!(status(running, &payment).await, "paid");
    payment
}

/// A payment by QRIS that is scanned at the bank by pasting its code.
async fn rehearses_qris(running: &Running, key: &str) -> Value {
    let body = json!({
        "project_id": running.said("rehearsal_project_id"),
        "reference": "order-qris",
        "amount": 25_000,
        "payment_method": { "type": "qris" },
    });
    let payment = api(running).pay(key, &body).await.expect(201);
    let teller = Customer::at(running.address());
    let code = payment["instructions"]["qr_string"].as_str().unwrap();
    let scanned = teller.post("/bank/scan", &[("text", code)]).await;
    assert_eq!(scanned.status, 303, "{}", scanned.text);
    let path = scanned.header("location").unwrap().to_owned();
    assert!(teller.open(&path).await.text.contains("Pay Rp25.000"));
    let page = press(&teller, &path, "pay").await;
    assert!(page.text.contains("2005200"), "{}", page.text);
    assert_eq!(status(running, &payment).await, "paid");
    payment
}

/// A person's account at a bank of the rehearsal, and whose it is.
const PERSON: (&str, &str, &str) = ("014", "1234567890", "BUDI SANTOSO");

#[tokio::test]
async fn a_payment_by_virtual_account_is_refunded_by_its_claim_page_to_its_end() {
    let program = program();
    let running = rehearse(&program);
    let payment = rehearses(&running).await;
    let api = api(&running);
    let body = json!({ "amount": 10_000, "reason": "Satu kemasan rusak" });
    let asked = ask_for_refund(&api, text(&payment, "id"), "refund", &body).await.expect(201);
    assert_eq!((text(&asked, "status"), text(&asked, "road")), ("requires_action", "transfer"), "{asked}");
    let claim_url = text(&asked, "claim_url");
    let (_, claim) = claim_url.split_once("/r/").unwrap();
    let (customer, claim) = (Customer::at(running.address()), format!("/r/{claim}"));
    let (bank, number, name) = PERSON;
    let page = customer.post(&claim, &[("step", "check"), ("bank", bank), ("number", number)]).await;
    assert!(page.status == 200 && page.text.contains(name), "the bank says whose it is: {}", page.text);
    let confirmed = customer.post(&claim, &[("step", "confirm"), ("ticket", &ticket_in(&page))]).await;
    assert_eq!(confirmed.status, 303, "{}", confirmed.text);
    let path = format!("/v1/refunds/{}", text(&asked, "id"));
    until(async || text(&api.get(&path).await.expect(200), "status") == "succeeded").await;
    let done = api.get(&path).await.expect(200);
    assert_eq!(
        (text(&done["destination"], "account_name"), done["destination"]["last_four"].as_str()),
        (name, Some("7890"))
    );
    let account = customer.open(&format!("/bank/money/accounts/{bank}/{number}")).await;
    assert!(account.text.contains("10.000"), "the money has arrived: {}", account.text);
    let paid = api.get(&format!("/v1/payments/{}", text(&payment, "id"))).await.expect(200);
    assert_eq!((text(&paid, "status"), paid["refunded_amount"].as_i64()), ("paid", Some(10_000)), "{paid}");
    assert_eq!(running.terminate(), Some(0));
    program.json(&["--json", "--database", &program.database(), "verify"]);
}

#[tokio::test]
async fn from_an_empty_directory_to_a_payment_that_was_paid_at_the_bank() {
    let program = program();
    let running = rehearse(&program);
    let said: BTreeSet<&str> = running.ready.as_object().unwrap().keys().map(String::as_str).collect();
    assert!(MEMBERS.iter().all(|member| said.contains(member)), "{said:?}");
    assert!(running.said("rehearsal_api_key").starts_with("sk_live_"));
    assert_eq!(running.said("bank_url"), format!("{}/bank", running.said("base_url")));
    let offered = Customer::at(running.address()).open(&link_path(&running)).await;
    for bank in BANKS {
        assert!(offered.text.contains(&format!("value=\"virtual_account:{bank}\"")), "{bank}: {}", offered.text);
    }
    assert!(offered.text.contains("value=\"qris\""), "{}", offered.text);
    rehearses(&running).await;
    rehearses_qris(&running, "k").await;
    let mode = fs::metadata(program.data().join("rehearsal.json")).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode, 0o600, "it has an API key");
    program.json(&["--json", "--database", &program.database(), "verify"]);
}

#[tokio::test]
async fn every_bank_of_the_rehearsal_takes_money_and_refuses_what_does_not_fit() {
    let program = program();
    let running = rehearse(&program);
    let teller = Customer::at(running.address());
    for bank in BANKS {
        let payment = payment(&running, bank, bank).await;
        let bill = visit(&teller, &payment).await;
        let reply = teller.post(&bill, &[("action", "amount"), ("amount", "24.999")]).await;
        assert_eq!(reply.status, 303);
        let page = teller.open(&bill).await;
        assert!(page.text.contains("reversed") && page.text.contains("4042513"), "{bank}: {}", page.text);
        assert_eq!(status(&running, &payment).await, "pending");
        assert!(press(&teller, &bill, "pay").await.text.contains("booked"), "{bank}");
        assert_eq!(status(&running, &payment).await, "paid");
        assert!(press(&teller, &bill, "again").await.text.contains("4042514"), "{bank}");
    }
}

#[tokio::test]
async fn a_second_start_keeps_the_project_and_still_takes_money() {
    let program = program();
    let first = rehearse(&program);
    let paid = rehearses(&first).await;
    let unpaid = payment(&first, "k", "mandiri").await;
    let (said, link) = (first.ready.clone(), link_path(&first));
    assert_eq!(first.terminate(), Some(0));
    // A start without the rehearsal leaves it alone.
    assert_eq!(program.dev().terminate(), Some(0));
    let second = rehearse(&program);
    for member in ["rehearsal_project_id", "rehearsal_api_key", "project_id", "api_key"] {
        assert_eq!(second.ready[member], said[member], "{member}");
    }
    assert_ne!(link_path(&second), link, "the first one is paid");
    assert_eq!(status(&second, &paid).await, "paid");
    let teller = Customer::at(second.address());
    let bill = visit(&teller, &unpaid).await;
    assert!(press(&teller, &bill, "pay").await.text.contains("booked"), "a number of the first run");
    assert_eq!(status(&second, &unpaid).await, "paid");
    rehearses(&second).await;
    rehearses_qris(&second, "second").await;
    let projects = program.json(&["--json", "--database", &program.database(), "project", "list"]);
    assert_eq!(projects.as_array().unwrap().len(), 2);
    program.json(&["--json", "--database", &program.database(), "verify"]);
}

#[tokio::test]
async fn a_link_that_nobody_has_paid_is_offered_again() {
    let program = program();
    let first = rehearse(&program);
    let link = link_path(&first);
    assert_eq!(first.terminate(), Some(0));
    assert_eq!(link_path(&rehearse(&program)), link);
}

#[tokio::test]
async fn only_a_rehearsal_serves_the_screens_of_the_bank() {
    let program = program();
    let rehearsal = rehearse(&program);
    let visitor = Customer::at(rehearsal.address());
    for (path, status) in
        [("/bank", 200), ("/bank/", 200), ("/bank/money", 200), ("/bank/bank.css", 200), ("/bank/other", 404)]
    {
        assert_eq!(visitor.open(path).await.status, status, "{path}");
    }
    assert_eq!(rehearsal.terminate(), Some(0));
    let plain = program.dev();
    let served = crate::support::commands::program();
    let serving = served.serve(&secret_key());
    for running in [&plain, &serving] {
        let visitor = Customer::at(running.address());
        for path in ["/bank", "/bank/", "/bank/money", "/bank/bank.css"] {
            assert_eq!(visitor.open(path).await.status, 404, "{path}");
        }
        assert_eq!(visitor.post("/bank/visits", &[("number", "700141")]).await.status, 404);
    }
}

#[tokio::test]
async fn the_screens_refuse_forms_from_other_sites() {
    let program = program();
    let running = rehearse(&program);
    let teller = Customer::at(running.address());
    let payment = payment(&running, "k", "bca").await;
    let bill = visit(&teller, &payment).await;
    for (name, value) in [("origin", "https://elsewhere.example"), ("sec-fetch-site", "cross-site")] {
        let reply = teller.send(teller.form(&bill, &[("action", "pay")]).header(name, value)).await;
        assert_eq!(reply.status, 403, "{name}");
    }
    assert_eq!(status(&running, &payment).await, "pending");
}

#[tokio::test]
async fn pages_of_a_rehearsal_say_that_no_money_is_real_and_those_of_the_sandbox_say_what_they_did() {
    let program = program();
    let running = rehearse(&program);
    let visitor = Customer::at(running.address());
    let link = link_path(&running);
    for (language, words) in [("en", "Rehearsal: no real money"), ("id", "Latihan: bukan uang sungguhan")] {
        let page = visitor.open(&format!("{link}?lang={language}")).await;
        assert!(page.text.contains(&format!("<p class=\"stripe\">{words}")), "{}", page.text);
        let signed_in = sign_in(&visitor, running.said("dashboard_email"), running.said("dashboard_password")).await;
        assert_eq!(signed_in.status, 303);
        let desk = |member: &str| format!("/dashboard/{}?lang={language}", running.said(member));
        assert!(visitor.open(&desk("rehearsal_project_id")).await.text.contains(words));
        assert!(!visitor.open(&desk("project_id")).await.text.contains(words));
    }
    let body = json!({ "project_id": running.said("project_id"), "title": "Kopi", "amount": 15_000 });
    let sandbox = running.api().post("/v1/payment-links", &body).await.expect(201);
    let page = visitor.open(&format!("/p/{}?lang=en", sandbox["id"].as_str().unwrap())).await;
    assert!(page.text.contains("Test mode") && !page.text.contains("Rehearsal"), "{}", page.text);
}

#[tokio::test]
async fn the_bank_signs_the_path_of_the_public_url_and_its_links_begin_with_it() {
    let program = program();
    let base = "https://lunas.test/pay";
    let running = program.dev_with(&["--rehearse", "--base-url", base, "--checkout-url-base", base]);
    assert_eq!(running.said("bank_url"), format!("{base}/bank"));
    let address = fs::read_to_string(program.data().join("dev.url")).unwrap();
    let teller = Customer::at(address.trim().strip_prefix("http://").unwrap().parse().unwrap());
    let page = teller.open("/bank").await;
    assert!(page.text.contains("action=\"/pay/bank/visits\""), "{}", page.text);
    let body = json!({
        "project_id": running.said("rehearsal_project_id"),
        "reference": "order-1",
        "amount": 25_000,
        "payment_method": { "type": "virtual_account", "bank": "bca" },
    });
    let key = running.said("rehearsal_api_key");
    let request = teller.request(Method::POST, "/v1/payments").bearer_auth(key).header("Idempotency-Key", "k");
    let payment = teller.send(request.json(&body)).await.expect(201);
    let bill = visit(&teller, &payment).await;
    let bill = bill.strip_prefix("/pay").expect("the prefix that the proxy cuts off");
    assert!(press(&teller, bill, "pay").await.text.contains("booked"));
}
