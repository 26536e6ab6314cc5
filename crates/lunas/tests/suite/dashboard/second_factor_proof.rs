//! Fresh proof that the user is there, for what weighs much.

use std::{sync::Arc, time::Duration};

use domain::{access::Role, second_factor::PROOF_LIFETIME};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use reqwest::Method;
use serde_json::{Value, json};
use testkit::{Kit, Reply, on_every_database, on_sqlite_alone};

use crate::support::{
    bank_accounts::{account_of, stray},
    claims::ClaimLink,
    customer::{hidden, is_page},
    dashboard::leads,
    held::{contains_all, held},
    json::id,
    payments::{pending_qris, simulate_paid},
    people::{PASSWORD, Person, desk},
    refund_pages::{ACCOUNT, batched, paid_by, paid_in_production, refund_form, refund_page, refund_to_account},
    refunds::destination,
    rows::rows,
    second_factor::add_factor,
};

on_every_database![a_proof_counts_for_ten_minutes_and_a_form_waits_for_the_next_one];

on_sqlite_alone![
    the_proof_is_the_factor_where_there_is_one,
    wrong_proofs_slow_the_session_down,
    everything_that_weighs_much_asks_for_a_proof,
    everything_about_refunds_that_moves_money_asks_for_a_proof,
    what_operators_decide_asks_for_a_proof,
    the_link_for_a_customer_is_shown_and_renewed_after_a_proof_alone,
    what_weighs_little_asks_for_none,
    the_api_asks_a_session_for_a_proof_too,
    the_api_asks_a_session_for_a_proof_before_it_decides_about_held_money,
    the_api_shows_a_session_the_link_for_a_customer_while_its_proof_is_fresh,
    a_page_that_needs_a_proof_is_opened_after_it_and_no_other_site,
];

const PROVE: &str = "/dashboard/prove";

/// Lets the last proof grow old, while the session stays.
async fn grow_old(kit: &Kit, person: &Person) {
    kit.clock.advance(PROOF_LIFETIME);
    person.open("/dashboard/account").await;
}

#[track_caller]
fn asks_for_proof(what: &str, reply: &Reply) {
    is_page(what, reply, 403);
    assert!(reply.text.contains("name=\"proof\""), "{what}: {}", reply.text);
}

#[track_caller]
fn leads_to_proof(reply: &Reply, path: &str) {
    let then = utf8_percent_encode(path, NON_ALPHANUMERIC);
    assert_eq!(reply.header("location"), Some(format!("{PROVE}?then={then}").as_str()), "{}", reply.text);
}

async fn a_proof_counts_for_ten_minutes_and_a_form_waits_for_the_next_one(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let owner = Person::member(&kit, project.id, Role::Owner, "owner@example.com").await;
    let path = format!("{}/settings/members", desk(project.id));
    kit.clock.advance(PROOF_LIFETIME - Duration::from_millis(1));
    is_page("in time", &owner.post(&path, &[("email", "one@example.com"), ("role", "viewer")]).await, 200);
    kit.clock.advance(Duration::from_millis(1));
    let before = rows(&kit.database);
    let fields = [("email", "dewi+\"toko\"@example.com"), ("role", "viewer")];
    let page = owner.post(&path, &fields).await;
    asks_for_proof("too late", &page);
    assert_eq!(rows(&kit.database), before, "nothing is left behind");
    // The page sends what was typed again, to where it was sent.
    assert!(page.text.contains(&format!("action=\"{path}\"")), "{}", page.text);
    let mut kept = hidden(&page);
    kept.retain(|(name, _)| name != "form_token");
    assert_eq!(kept.len(), 2, "{kept:?}");
    let mut again: Vec<(&str, &str)> = fields.to_vec();
    again.push(("proof", PASSWORD));
    let done = owner.post(&path, &again).await;
    is_page("with a proof", &done, 200);
    assert!(done.text.contains("/dashboard/invite/"), "{}", done.text);
    is_page("soon after", &owner.post(&path, &[("email", "two@example.com"), ("role", "viewer")]).await, 200);
}

async fn the_proof_is_the_factor_where_there_is_one(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let owner = Person::member(&kit, project.id, Role::Owner, "owner@example.com").await;
    let (app, codes) = add_factor(&kit, &owner).await;
    let path = format!("{}/notifications/secret/show", desk(project.id));
    is_page("added a moment ago", &owner.post(&path, &[]).await, 200);
    grow_old(&kit, &owner).await;
    asks_for_proof("too late", &owner.post(&path, &[]).await);
    is_page("the password", &owner.post(&path, &[("proof", PASSWORD)]).await, 422);
    is_page("a wrong code", &owner.post(&path, &[("proof", &app.wrong_code(&kit))]).await, 422);
    let code = app.code(&kit);
    is_page("the code", &owner.post(&path, &[("proof", &code)]).await, 200);
    grow_old(&kit, &owner).await;
    is_page("a code of before", &owner.post(&path, &[("proof", &code)]).await, 422);
    is_page("a recovery code", &owner.post(&path, &[("proof", &codes[0])]).await, 200);
    grow_old(&kit, &owner).await;
    is_page("the same again", &owner.post(&path, &[("proof", &codes[0])]).await, 422);
}

async fn wrong_proofs_slow_the_session_down(kit: Arc<Kit>) {
    let owner = Person::new(&kit, "owner@example.com").await;
    let (app, _) = add_factor(&kit, &owner).await;
    grow_old(&kit, &owner).await;
    for _ in 0..5 {
        is_page("wrong", &owner.post(PROVE, &[("proof", &app.wrong_code(&kit))]).await, 422);
    }
    let waits = owner.post(PROVE, &[("proof", &app.code(&kit))]).await;
    is_page("the sixth", &waits, 429);
    assert_eq!(waits.header("retry-after"), Some("1"));
    kit.clock.advance(Duration::from_secs(1));
    assert_eq!(owner.post(PROVE, &[("proof", &app.code(&kit))]).await.status, 303);
}

async fn everything_that_weighs_much_asks_for_a_proof(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let owner = Person::member(&kit, project.id, Role::Owner, "owner@example.com").await;
    let payment = pending_qris(&project, 15_000).await;
    simulate_paid(&project, &payment).await;
    let receipt = held(&kit, &project, &payment, "twice", 15_000).await.id;
    grow_old(&kit, &owner).await;
    let before = rows(&kit.database);
    let own = desk(project.id);
    let several = [(receipt.as_str(), "on"), ("act", "return"), ("note", "why"), ("sure", "on")];
    for (path, fields) in [
        (format!("{own}/balance/receipts/{receipt}/accept"), vec![("note", "why")]),
        (format!("{own}/balance/receipts/{receipt}/return"), vec![("note", "why")]),
        (format!("{own}/balance/receipts/several"), several.to_vec()),
        (format!("{own}/keys"), vec![("name", "refunds"), ("right-held-money", "on")]),
        (format!("{own}/keys/{}/rotate", project.key_id), vec![("overlap", "24")]),
        (format!("{own}/settings/members"), vec![("email", "a@b.id"), ("role", "viewer")]),
        (format!("{own}/settings/members/{}/role", owner.user.id), vec![("role", "viewer")]),
        (format!("{own}/settings/members/{}/remove", owner.user.id), vec![]),
        (format!("{own}/settings/members/factor"), vec![("required", "on")]),
        (format!("{own}/notifications/secret/show"), vec![]),
        (format!("{own}/notifications/secret/roll"), vec![]),
        (format!("{own}/notifications/url"), vec![("url", "https://93.184.216.34/hook")]),
        (format!("{own}/notifications/url/remove"), vec![]),
        (format!("{own}/settings/notices"), vec![("url", "https://93.184.216.34/notices")]),
        (format!("{own}/settings/notices/secret"), vec![]),
        (format!("{own}/settings/notices/remove"), vec![]),
        (format!("{own}/settings/origins"), vec![("allowed_origins", "https://example.com")]),
        (format!("{own}/settings/frames"), vec![("frame_origins", "https://example.com")]),
        (format!("{own}/settings/methods"), vec![("default_qris", "on"), ("bank_bca", "on")]),
        ("/dashboard/account/factor/codes".to_owned(), vec![]),
        ("/dashboard/account/factor/remove".to_owned(), vec![]),
    ] {
        asks_for_proof(&path, &owner.post(&path, &fields).await);
    }
    assert_eq!(rows(&kit.database), before, "nothing is left behind");
}

/// Whether a step fits the refund is asked after the proof.
async fn everything_about_refunds_that_moves_money_asks_for_a_proof(kit: Arc<Kit>) {
    let project = kit.production().await;
    let owner = Person::member(&kit, project.id, Role::Owner, "owner@example.com").await;
    let payment = paid_in_production(&kit, &project, 150_000).await;
    let (batched, number) = batched(&kit, &owner, &project, &payment).await;
    let single = refund_to_account(&owner, &project, &payment, "2000").await;
    grow_old(&kit, &owner).await;
    let before = rows(&kit.database);
    let own = desk(project.id);
    let mut typed = vec![("amount", "1000"), ("road", "typed"), ("sure", "yes")];
    typed.extend(ACCOUNT);
    let mut forms = vec![
        (refund_form(&project, &payment), vec![("amount", "1000"), ("road", "usual"), ("sure", "yes")]),
        (refund_form(&project, &payment), typed),
        (format!("{own}/refunds/transfers"), vec![]),
        (format!("{own}/settings/refunds"), vec![("approval_above", "100000000")]),
    ];
    for refund in [&batched, &single] {
        let page = refund_page(&project, refund);
        forms.extend([
            (format!("{page}/approve"), vec![("version", "1")]),
            (format!("{page}/destination"), ACCOUNT.to_vec()),
            (format!("{page}/link"), vec![]),
            (format!("{page}/done"), vec![("text", "FT-2026-1")]),
            (format!("{page}/failed"), vec![("text", "Rekening ditutup"), ("statement_checked", "on")]),
            (format!("{page}/returned"), vec![("text", "Rekening ditutup")]),
        ]);
    }
    for (path, fields) in &forms {
        asks_for_proof(path, &owner.post(path, fields).await);
    }
    let file = format!("{own}/refunds/transfers/{number}/batch.csv");
    leads_to_proof(&owner.open(&file).await, &file);
    assert_eq!(rows(&kit.database), before, "nothing is left behind");
    let done = [("text", "FT-2026-1"), ("proof", PASSWORD)];
    leads(&owner.post(&format!("{}/done", refund_page(&project, &single)), &done).await, "refund-transferred");
}

async fn what_operators_decide_asks_for_a_proof(kit: Arc<Kit>) {
    let production = kit.production().await;
    let operator = Person::operator(&kit, "operator@example.com").await;
    let owner = Person::member(&kit, production.id, Role::Owner, "owner@example.com").await;
    let bank = account_of(&kit, production.id).await;
    let payment = paid_by(&kit, &production, bank, 150_000).await;
    let refund = refund_to_account(&owner, &production, &payment, "2000").await;
    let stray = stray(&kit, bank, "bank-1", 15_000).await;
    grow_old(&kit, &operator).await;
    let before = rows(&kit.database);
    let (own, bank_id) = ("/dashboard/operator", bank.to_string());
    let project = format!("{own}/projects/{}", production.id);
    let user = format!("{own}/users/{}", owner.user.id);
    let difference = vec![("account", bank_id.as_str()), ("subject", "r"), ("kind", "fee"), ("note", "why")];
    for (path, fields) in [
        (format!("{project}/approve"), vec![]),
        (format!("{project}/withdraw-approval"), vec![]),
        (format!("{project}/activate"), vec![]),
        (format!("{project}/deactivate"), vec![]),
        (format!("{own}/projects/new"), vec![("name", "Toko"), ("environment", "sandbox"), ("owner", "a@b.id")]),
        (format!("{user}/deactivate"), vec![]),
        (format!("{user}/activate"), vec![]),
        (format!("{user}/remove"), vec![]),
        (format!("{user}/reset"), vec![]),
        (format!("{user}/lift"), vec![]),
        (format!("{own}/banks/{bank}/enable"), vec![]),
        (format!("{own}/banks/{bank}/disable"), vec![]),
        (format!("{own}/refunds/{refund}/approve"), vec![("version", "1")]),
        (format!("{own}/refunds/{refund}/failed"), vec![("text", "why"), ("statement_checked", "on")]),
        (format!("{own}/strays/{stray}/assign"), vec![("payment", id(&payment)), ("note", "why")]),
        (format!("{own}/strays/{stray}/return"), vec![("note", "why")]),
        (format!("{own}/differences/settle"), difference),
    ] {
        asks_for_proof(&path, &operator.post(&path, &fields).await);
    }
    assert_eq!(rows(&kit.database), before, "nothing is left behind");
    let decision = [("note", "why"), ("proof", PASSWORD)];
    leads(&operator.post(&format!("{own}/strays/{stray}/return"), &decision).await, "stray-returned");
}

/// Regression: who found an owner's session open could read the link that lets a customer name an account, and name their own.
async fn the_link_for_a_customer_is_shown_and_renewed_after_a_proof_alone(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let owner = Person::member(&kit, project.id, Role::Owner, "owner@example.com").await;
    let link = ClaimLink::of(&kit, &project, 50_000).await;
    let page = refund_page(&project, &link.id.to_string());
    contains_all(&owner.open(&page).await, &["id=\"claim-url\"", &link.path]);
    grow_old(&kit, &owner).await;
    let before = rows(&kit.database);
    let stale = owner.open(&page).await;
    is_page("the refund", &stale, 200);
    assert!(!stale.text.contains("/r/"), "{}", stale.text);
    asks_for_proof("a new link", &owner.post(&format!("{page}/link"), &[]).await);
    assert_eq!(rows(&kit.database), before, "nothing is left behind");
    let (_, prove) = stale.text.split_once(&format!("href=\"{PROVE}?then=")).unwrap();
    let prove = format!("{PROVE}?then={}", prove.split('"').next().unwrap());
    is_page("the question", &owner.open(&prove).await, 200);
    let proved = owner.post(PROVE, &[("proof", PASSWORD), ("then", &page)]).await;
    assert_eq!(proved.header("location"), Some(page.as_str()));
    contains_all(&owner.open(&page).await, &["id=\"claim-url\"", &link.path]);
    grow_old(&kit, &owner).await;
    let renewed = owner.post(&format!("{page}/link"), &[("proof", PASSWORD)]).await;
    assert_eq!(leads(&renewed, "refund-link-renewed"), page);
    assert!(!owner.open(&page).await.text.contains(&link.path), "the link before works no more");
}

async fn what_weighs_little_asks_for_none(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let owner = Person::member(&kit, project.id, Role::Owner, "owner@example.com").await;
    grow_old(&kit, &owner).await;
    let own = desk(project.id);
    is_page(
        "a key without money",
        &owner.post(&format!("{own}/keys"), &[("name", "server"), ("right-payments", "on")]).await,
        200,
    );
    let colour = owner.post(&format!("{own}/settings/success-word"), &[("success_word", "paid")]).await;
    leads(&colour, "settings-saved");
}

async fn the_api_asks_a_session_for_a_proof_too(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let owner = Person::member(&kit, project.id, Role::Owner, "owner@example.com").await;
    let create = async |name: &str, rights: &[&str]| {
        let path = format!("/v1/api-keys?project_id={}", project.id);
        let body = json!({ "name": name, "rights": rights });
        owner.browser.send(owner.request(Method::POST, &path).json(&body)).await
    };
    assert_eq!(create("one", &["held-money"]).await.status, 201);
    grow_old(&kit, &owner).await;
    let before = rows(&kit.database);
    let refused = create("two", &["held-money"]).await;
    assert_eq!((refused.status.as_u16(), refused.json["error"]["code"].as_str()), (403, Some("FORBIDDEN")));
    assert_eq!(rows(&kit.database), before, "nothing is left behind");
    assert_eq!(create("three", &["payments"]).await.status, 201);
    owner.post(PROVE, &[("proof", PASSWORD)]).await;
    assert_eq!(create("two", &["held-money"]).await.status, 201);
}

async fn the_api_asks_a_session_for_a_proof_before_it_decides_about_held_money(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let owner = Person::member(&kit, project.id, Role::Owner, "owner@example.com").await;
    let payment = pending_qris(&project, 15_000).await;
    simulate_paid(&project, &payment).await;
    let receipt = held(&kit, &project, &payment, "twice", 15_000).await.id;
    let decide = async |act: &str, body: &Value| {
        let path = format!("/v1/receipts/{receipt}/{act}");
        owner.browser.send(owner.request(Method::POST, &path).json(body)).await
    };
    grow_old(&kit, &owner).await;
    let before = rows(&kit.database);
    let to_account = json!({ "note": "why", "destination": destination() });
    let note = json!({ "note": "why" });
    for (act, body) in [("accept", &note), ("return", &note), ("return", &to_account)] {
        decide(act, body).await.refused(403, "FORBIDDEN");
    }
    assert_eq!(rows(&kit.database), before, "nothing is left behind");
    owner.post(PROVE, &[("proof", PASSWORD)]).await;
    decide("return", &note).await.expect(200);
}

/// A key is no session that somebody finds open: it reads the link at any time.
async fn the_api_shows_a_session_the_link_for_a_customer_while_its_proof_is_fresh(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let owner = Person::member(&kit, project.id, Role::Owner, "owner@example.com").await;
    let link = ClaimLink::of(&kit, &project, 50_000).await;
    let path = format!("/v1/refunds/{}", link.id);
    let get = async |path: &str| owner.browser.send(owner.request(Method::GET, path)).await.expect(200);
    let seen = async || {
        let (one, list) = (get(&path).await, get("/v1/refunds").await);
        [one["claim_url"].is_string(), list["data"][0]["claim_url"].is_string()]
    };
    assert_eq!(seen().await, [true; 2]);
    grow_old(&kit, &owner).await;
    assert_eq!(seen().await, [false; 2]);
    assert!(project.api.get(&path).await.expect(200)["claim_url"].is_string());
    owner.post(PROVE, &[("proof", PASSWORD)]).await;
    assert_eq!(seen().await, [true; 2]);
}

async fn a_page_that_needs_a_proof_is_opened_after_it_and_no_other_site(kit: Arc<Kit>) {
    let owner = Person::new(&kit, "owner@example.com").await;
    grow_old(&kit, &owner).await;
    let asked = owner.open("/dashboard/account/factor").await;
    assert_eq!(asked.header("location"), Some("/dashboard/prove?then=%2Fdashboard%2Faccount%2Ffactor"));
    let page = owner.open(asked.header("location").unwrap()).await;
    is_page("the question", &page, 200);
    for (then, led_to) in [
        ("/dashboard/account/factor", "/dashboard/account/factor"),
        ("//evil.example", "/dashboard"),
        ("https://evil.example", "/dashboard"),
        ("/v1/payments", "/dashboard"),
    ] {
        let reply = owner.post(PROVE, &[("proof", PASSWORD), ("then", then)]).await;
        assert_eq!((reply.status.as_u16(), reply.header("location")), (303, Some(led_to)), "{then}");
    }
    let reply = owner.open("/dashboard/prove?then=%2F%2Fevil.example").await;
    assert_eq!(reply.header("location"), Some("/dashboard"), "there is nothing to prove now");
}
