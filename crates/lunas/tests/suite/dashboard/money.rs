//! The dashboard's first page, the balance, and decisions about money that fits no payment.

use std::{sync::Arc, time::Duration};

use domain::{access::Role, project::Environment};
use engine::NewProject;
use gateway::SendLimits;
use serde_json::{Value, json};
use testkit::{Answer, Api, Kit, Reply, TestProject, on_every_database};

use crate::support::{
    customer::{Customer, is_page},
    json::text,
    links::create_link,
    payments::{balance, create, events_of, fetch, pending_qris, simulate, simulate_paid, status, unapplied},
    people::{Person, desk},
    samples,
    wait::until,
};

on_every_database![
    the_guide_ticks_each_step_and_disappears_when_all_are_done,
    the_first_page_shows_what_was_paid_today_and_in_thirty_days,
    what_needs_attention_is_on_the_first_page,
    the_first_line_of_each_account_is_what_its_tile_shows,
    every_page_of_the_ledger_goes_on_where_the_one_before_ended,
    accepting_pays_the_payment_posts_it_and_makes_one_event,
    money_under_another_payments_receipt_id_can_be_accepted,
    returning_empties_the_account_and_changes_no_payment,
    money_that_cannot_pay_its_payment_can_only_be_returned,
    of_two_decisions_at_once_one_counts,
    only_owners_decide_and_only_about_money_of_their_own_project,
    a_decision_without_a_note_or_with_too_long_a_one_comes_back_and_decides_nothing,
];

const MINUTE: Duration = Duration::from_mins(1);

async fn member(kit: &Kit, project: &TestProject, role: Role) -> Person {
    Person::member(kit, project.id, role, &format!("{}@{}.example", role.word(), project.id)).await
}

/// A receipt that needs a decision, as the fields of its forms.
struct Held {
    payment: Value,
    id: String,
}

impl Held {
    fn fields<'a>(&'a self, note: &'a str) -> [(&'a str, &'a str); 3] {
        [("provider", "sandbox"), ("id", &self.id), ("note", note)]
    }

    fn path(&self, project: &TestProject) -> String {
        format!("{}/balance/receipts/decide?provider=sandbox&id={}", desk(project.id), self.id)
    }
}

/// Reports money that does not fit its payment.
async fn held(project: &TestProject, payment: &Value, receipt: &str, amount: i64) -> Held {
    let before = unapplied(project).await;
    let report = json!({ "outcome": "paid", "amount": amount, "receipt_id": receipt });
    simulate(project, payment, &report).await.expect(200);
    assert_eq!(unapplied(project).await, before + amount);
    Held { payment: payment.clone(), id: format!("{}:{receipt}", project.id) }
}

/// Reports money that was sent after its payment had expired.
async fn held_late(kit: &Kit, project: &TestProject, receipt: &str) -> Held {
    let payment = pending_qris(project, 15_000).await;
    kit.clock.advance(16 * MINUTE);
    held(project, &payment, receipt, 15_000).await
}

async fn decide(person: &Person, project: &TestProject, act: &str, fields: &[(&str, &str)]) -> Reply {
    person.post(&format!("{}/balance/receipts/{act}", desk(project.id)), fields).await
}

async fn home(person: &Person, project: &TestProject) -> Reply {
    let page = person.open(&desk(project.id)).await;
    is_page("home", &page, 200);
    page
}

/// How many steps of the guide are done; `None` where the guide is not shown.
fn steps_done(page: &Reply) -> Option<usize> {
    page.text.contains("id=\"guide-title\"").then(|| page.text.matches("<li class=\"done\">").count())
}

/// Checks how many steps of the guide are done, and that the page has these texts.
#[track_caller]
fn guides(page: &Reply, done: usize, texts: &[&str]) {
    assert_eq!(steps_done(page), Some(done), "{}", page.text);
    contains_all(page, texts);
}

#[track_caller]
fn contains_all(page: &Reply, texts: &[&str]) {
    for text in texts {
        assert!(page.text.contains(text), "{text} is not in {}", page.text);
    }
}

async fn the_guide_ticks_each_step_and_disappears_when_all_are_done(kit: Arc<Kit>) {
    let new = NewProject { name: "Toko".to_owned(), environment: Environment::Sandbox, merchant_name: None };
    let (made, _) = kit.engine.create_project(new).await.unwrap();
    let person = Person::member(&kit, made.id, Role::Owner, "owner@toko.example").await;
    let page = person.open(&desk(made.id)).await;
    guides(&page, 0, &[&format!("curl http://{}/v1/balance", kit.address), "$LUNAS_KEY"]);

    let (key, secret) = kit.engine.create_key(made.id, "first".to_owned()).await.unwrap();
    let key_text = secret.reveal().to_owned();
    let api = Api::new(kit.address, Some(&key_text));
    let project = TestProject { id: made.id, key_id: key.id, key: key_text, api };
    let page = home(&person, &project).await;
    guides(&page, 1, &["/v1/payment-links", &project.id.to_string()]);

    let link = create_link(&project, json!({})).await;
    let page = home(&person, &project).await;
    guides(&page, 2, &[&format!("/p/{}", text(&link, "id"))]);
    let payment = Customer::of(&kit).pays_by(&project, &link, "qris").await;
    let page = home(&person, &project).await;
    contains_all(&page, &[&format!("/v1/sandbox/payments/{}/simulate", text(&payment, "id"))]);
    assert!(!page.text.contains(&project.key), "no key is ever shown");

    simulate_paid(&project, &payment).await;
    assert_eq!(steps_done(&home(&person, &project).await), Some(3));
    let receiver = testkit::Receiver::answering(Answer::Status(200)).await;
    kit.set_webhook_url(project.id, Some(&receiver.url())).await;
    simulate_paid(&project, &pending_qris(&project, 15_000).await).await;
    kit.deliver(SendLimits::default());
    receiver.arrived(1).await;
    until(async || steps_done(&home(&person, &project).await).is_none()).await;
    assert!(home(&person, &project).await.text.contains("<div id=\"guide\" data-live></div>"));
}

async fn the_first_page_shows_what_was_paid_today_and_in_thirty_days(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    for amount in [10_000, 5_000] {
        simulate_paid(&project, &pending_qris(&project, amount).await).await;
        kit.clock.advance(Duration::from_hours(24));
    }
    simulate_paid(&project, &pending_qris(&project, 20_000).await).await;
    pending_qris(&project, 99_000).await;
    let person = member(&kit, &project, Role::Owner).await;
    let page = home(&person, &project).await;
    for shown in [
        "<b>Rp20.000</b><small>1 pembayaran</small>",
        "<b>Rp35.000</b><small>3 pembayaran</small>",
        "<title>14 Nov: Rp10.000</title>",
        "<title>16 Nov: Rp20.000</title>",
        "<td>15 November 2026</td><td class=\"num\">1</td><td class=\"num\">Rp5.000</td>",
        "Tertinggi Rp20.000",
    ] {
        assert!(page.text.contains(shown), "{shown} is not in {}", page.text);
    }
    assert_eq!((page.text.matches("<rect ").count(), page.text.matches("class=\"row\"").count()), (3, 4));
    kit.clock.advance(Duration::from_hours(24 * 29));
    let person = Person::signed_in(&kit, person.user).await;
    let page = home(&person, &project).await;
    assert!(page.text.contains("<b>Rp0</b><small>0 pembayaran</small>"), "{}", page.text);
    assert!(page.text.contains("<b>Rp20.000</b><small>1 pembayaran</small>"), "thirty days, today among them");
    let english =
        person.browser.send(person.request(reqwest::Method::GET, &format!("{}?lang=en", desk(project.id)))).await;
    assert!(english.text.contains("<small>1 payment</small>") && english.text.contains("<small>0 payments</small>"));
}

async fn what_needs_attention_is_on_the_first_page(kit: Arc<Kit>) {
    let (project, other) = (kit.sandbox().await, kit.sandbox().await);
    let person = member(&kit, &project, Role::Owner).await;
    let page = home(&person, &project).await;
    assert!(page.text.contains("URL webhook belum dipasang"), "{}", page.text);
    let payment = pending_qris(&project, 15_000).await;
    let kept = held(&project, &payment, "r 1&", 14_999).await;
    for number in 2..=7 {
        held(&project, &payment, &format!("r-{number}"), 100 + number).await;
    }
    held(&other, &pending_qris(&other, 15_000).await, "r-1", 777).await;
    let page = home(&person, &project).await;
    assert_eq!(page.text.matches("menunggu keputusan</b>").count(), 6, "five by name, and how many others");
    assert!(page.text.contains("2 penerimaan lain") && !page.text.contains("Rp777"), "{}", page.text);
    let list = person.open(&format!("{}/balance/receipts", desk(project.id))).await;
    let url = format!("provider=sandbox&#38;id={}%3Ar+1%26\"", project.id);
    assert!(list.text.contains(&url) && list.text.contains("Rp14.999"), "{}", list.text);
    let decide = person.open(&kept.path(&project).replace("r 1&", "r+1%26")).await;
    is_page("a receipt", &decide, 200);

    let new = NewProject { name: "Baru".to_owned(), environment: Environment::Production, merchant_name: None };
    let (waiting, _) = kit.engine.create_project(new).await.unwrap();
    kit.engine.add_member(waiting.id, &person.user, Role::Owner).await.unwrap();
    assert!(person.open(&desk(waiting.id)).await.text.contains("Menunggu persetujuan operator"));
}

/// The amounts of the three tiles, and the balance after each line of the chosen account.
fn tiles_and_lines(page: &Reply) -> (Vec<String>, Vec<String>) {
    let until = |text: &str, end: &str| text.split(end).next().unwrap().to_owned();
    let tiles =
        page.text.split("<p class=\"stat\">").skip(1).map(|tile| until(tile.split("<b>").nth(1).unwrap(), "</b>"));
    let lines = page.text.split("<td class=\"num\" data-label=\"Saldo\">").skip(1).map(|line| until(line, "</td>"));
    (tiles.collect(), lines.collect())
}

/// Compares tile and first line of each account with the API's balance; returns how many lines there are.
async fn check_accounts(person: &Person, project: &TestProject, act: &str) -> usize {
    let mut shown = 0;
    for (index, account) in ["available", "pending", "unapplied"].into_iter().enumerate() {
        let page = person.open(&format!("{}/balance?account={account}", desk(project.id))).await;
        is_page(account, &page, 200);
        let (tiles, lines) = tiles_and_lines(&page);
        let api = domain::money::Rupiah::new(balance(project, account).await).to_string();
        assert_eq!(tiles[index], api, "{act} {account}");
        assert_eq!(lines.first().unwrap_or(&"Rp0".to_owned()), &api, "{act} {account}");
        shown += lines.len();
    }
    shown
}

async fn the_first_line_of_each_account_is_what_its_tile_shows(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let late = held_late(&kit, &project, "late").await;
    let wrong = held(&project, &pending_qris(&project, 15_000).await, "wrong", 9_000).await;
    held(&project, &pending_qris(&project, 15_000).await, "kept", 400).await;
    let person = member(&kit, &project, Role::Owner).await;
    let mut shown = 0;
    for act in ["paid", "settled", "accepted", "returned"] {
        match act {
            "paid" => drop(simulate_paid(&project, &pending_qris(&project, 20_000).await).await),
            "settled" => {
                kit.clock.advance(MINUTE);
                assert_eq!(kit.engine.settle_due().await.unwrap(), 1);
            }
            "accepted" => assert_eq!(decide(&person, &project, "accept", &late.fields("ok")).await.status, 303),
            _ => assert_eq!(decide(&person, &project, "return", &wrong.fields("ok")).await.status, 303),
        }
        shown += check_accounts(&person, &project, act).await;
    }
    assert!(shown > 12, "{shown}");
    let page = person.open(&format!("{}/balance?account=pending", desk(project.id))).await;
    let texts = ["Diterima untuk pembayarannya", "Masuk saldo tersedia", "+Rp14.895", "-Rp19.860", "order-1"];
    contains_all(&page, &texts);
    let page = person.open(&format!("{}/balance?account=fees", desk(project.id))).await;
    assert!(page.text.contains("account=available\" aria-current=\"page\""), "only one's own accounts are shown");
}

async fn every_page_of_the_ledger_goes_on_where_the_one_before_ended(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let payment = pending_qris(&project, 15_000).await;
    for number in 1..=25 {
        held(&project, &payment, &format!("r-{number}"), number).await;
    }
    let person = member(&kit, &project, Role::Owner).await;
    let path = format!("{}/balance?account=unapplied", desk(project.id));
    let (tiles, mut lines) = tiles_and_lines(&person.open(&path).await);
    assert_eq!((lines.len(), &tiles[2], &lines[0]), (20, &"Rp325".to_owned(), &"Rp325".to_owned()));
    lines.extend(tiles_and_lines(&person.open(&format!("{path}&page=2")).await).1);
    let digits: Vec<i64> = lines.iter().map(|line| line.trim_start_matches("Rp").parse().unwrap()).collect();
    assert!(digits.len() == 25 && digits.is_sorted_by(|after, before| after > before), "{digits:?}");
    assert!(person.open(&format!("{path}&page=9")).await.status == 200);
}

async fn accepting_pays_the_payment_posts_it_and_makes_one_event(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let late = held_late(&kit, &project, "late").await;
    let person = member(&kit, &project, Role::Owner).await;
    let page = person.open(&late.path(&project)).await;
    is_page("late", &page, 200);
    let texts = ["Rp15.000", "Dibayar setelah batas waktu", "-Rp105", "Rp14.895", "/accept\"", "/return\""];
    contains_all(&page, &texts);
    let reply = decide(&person, &project, "accept", &late.fields("  telat dua\r\nmenit ")).await;
    assert_eq!(reply.status, 303, "{}", reply.text);
    let list = format!("{}/balance/receipts?done=receipt-accepted", desk(project.id));
    assert_eq!(reply.header("location"), Some(list.as_str()));
    assert_eq!(status(&project, &late.payment).await, "paid");
    assert_eq!((balance(&project, "pending").await, unapplied(&project).await), (14_895, 0));
    assert_eq!(events_of(&project, &late.payment, "payment.paid").await.len(), 1);
    for act in ["accept", "return"] {
        let again = decide(&person, &project, act, &late.fields("again")).await;
        is_page(act, &again, 409);
        assert!(
            again.text.contains("telat dua\nmenit") && !again.text.contains(&format!("/{act}\"")),
            "{}",
            again.text
        );
    }
    assert_eq!((balance(&project, "pending").await, unapplied(&project).await), (14_895, 0));
    assert_eq!(events_of(&project, &late.payment, "payment.paid").await.len(), 1);
    let decided = person.open(&format!("{}/balance/receipts?tab=decided", desk(project.id))).await;
    assert!(decided.text.contains("Diterima</span>") && decided.text.contains("telat dua"), "{}", decided.text);
}

async fn money_under_another_payments_receipt_id_can_be_accepted(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let (one, two) = (pending_qris(&project, 15_000).await, pending_qris(&project, 20_000).await);
    let report = json!({ "outcome": "paid", "receipt_id": "r-1" });
    assert_eq!(simulate(&project, &one, &report).await.expect(200)["status"], "paid");
    held(&project, &two, "r-1", 20_000).await;
    let person = member(&kit, &project, Role::Owner).await;
    let list = person.open(&format!("{}/balance/receipts", desk(project.id))).await;
    contains_all(&list, &["Rp20.000", "dengan nomor bukti yang sama"]);
    let (provider, id) = (format!("sandbox/{}", text(&two, "id")), format!("{}:r-1", project.id));
    let address = list.text.split("/balance/receipts/decide?").nth(1).unwrap().split('"').next().unwrap();
    let query = address.replace("&#38;", "&");
    is_page("reused", &person.open(&format!("{}/balance/receipts/decide?{query}", desk(project.id))).await, 200);
    let fields = [("provider", provider.as_str()), ("id", &id), ("note", "bank salah nomor")];
    assert_eq!(decide(&person, &project, "accept", &fields).await.status, 303);
    assert_eq!((status(&project, &one).await, status(&project, &two).await), ("paid".to_owned(), "paid".to_owned()));
    assert_eq!((balance(&project, "pending").await, unapplied(&project).await), (14_895 + 19_860, 0));
}

async fn returning_empties_the_account_and_changes_no_payment(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let late = held_late(&kit, &project, "late").await;
    let person = member(&kit, &project, Role::Owner).await;
    let before = fetch(&project, &late.payment).await;
    assert_eq!(decide(&person, &project, "return", &late.fields("ditransfer balik")).await.status, 303);
    assert_eq!(fetch(&project, &late.payment).await, before);
    assert_eq!((balance(&project, "pending").await, unapplied(&project).await), (0, 0));
    assert!(events_of(&project, &late.payment, "payment.paid").await.is_empty());
    is_page("again", &decide(&person, &project, "accept", &late.fields("again")).await, 409);
    assert_eq!(fetch(&project, &late.payment).await, before);
}

async fn money_that_cannot_pay_its_payment_can_only_be_returned(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let person = member(&kit, &project, Role::Owner).await;
    let wrong = held(&project, &pending_qris(&project, 15_000).await, "wrong", 14_999).await;
    let paid = pending_qris(&project, 15_000).await;
    simulate_paid(&project, &paid).await;
    let twice = held(&project, &paid, "twice", 15_000).await;
    let link = create_link(&project, json!({})).await;
    let first = Customer::of(&kit).pays_by(&project, &link, "qris").await;
    let second = Customer::of(&kit).pays_by(&project, &link, "virtual_account:bca").await;
    simulate_paid(&project, &first).await;
    let claimed = held(&project, &second, "claimed", 50_000).await;
    for (held, why) in [
        (&wrong, "karena jumlahnya berbeda"),
        (&twice, "karena pembayarannya sudah lunas"),
        (&claimed, "sudah dilunasi oleh pembayaran lain"),
    ] {
        let page = person.open(&held.path(&project)).await;
        is_page(why, &page, 200);
        assert!(
            page.text.contains(why) && page.text.contains("/return\"") && !page.text.contains("/accept\""),
            "{}",
            page.text
        );
        let before = unapplied(&project).await;
        let reply = decide(&person, &project, "accept", &held.fields("please")).await;
        is_page(why, &reply, 409);
        assert!(reply.text.contains(why), "{}", reply.text);
        assert_eq!(unapplied(&project).await, before);
        assert_eq!(decide(&person, &project, "return", &held.fields("done")).await.status, 303, "{why}");
    }
    assert_eq!(unapplied(&project).await, 0);
}

async fn of_two_decisions_at_once_one_counts(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let person = member(&kit, &project, Role::Owner).await;
    for round in 0..4 {
        let payment = create(&project, &samples::qris(&project, 15_000)).await;
        let past = json!({
            "outcome": "paid", "receipt_id": format!("r-{round}"),
            "paid_at": domain::time::Timestamp::parse(text(&payment, "expires_at")).unwrap().plus(MINUTE).to_string(),
        });
        simulate(&project, &payment, &past).await.expect(200);
        let held = Held { payment, id: format!("{}:r-{round}", project.id) };
        let (fields, pending) = (held.fields("at once"), balance(&project, "pending").await);
        let (accepted, returned) =
            tokio::join!(decide(&person, &project, "accept", &fields), decide(&person, &project, "return", &fields));
        let mut answers = [accepted.status.as_u16(), returned.status.as_u16()];
        let is_paid = status(&project, &held.payment).await == "paid";
        assert_eq!(is_paid, accepted.status == 303, "what is told is what happened");
        answers.sort_unstable();
        assert_eq!(answers, [303, 409]);
        let earned = if is_paid { 14_895 } else { 0 };
        assert_eq!((balance(&project, "pending").await - pending, unapplied(&project).await), (earned, 0));
    }
}

async fn only_owners_decide_and_only_about_money_of_their_own_project(kit: Arc<Kit>) {
    let (project, other) = (kit.sandbox().await, kit.sandbox().await);
    let late = held_late(&kit, &project, "late").await;
    let stranger = member(&kit, &other, Role::Owner).await;
    for role in [Role::Viewer, Role::Developer] {
        let person = member(&kit, &project, role).await;
        let page = person.open(&late.path(&project)).await;
        is_page(role.word(), &page, 200);
        assert!(page.text.contains("Hanya pemilik") && !page.text.contains("/return\""), "{}", page.text);
        for act in ["accept", "return"] {
            is_page(act, &decide(&person, &project, act, &late.fields("mine")).await, 403);
        }
    }
    for act in ["accept", "return"] {
        is_page(act, &decide(&stranger, &project, act, &late.fields("mine")).await, 404);
        is_page(act, &decide(&stranger, &other, act, &late.fields("mine")).await, 404);
        is_page(act, &decide(&stranger, &other, act, &late.fields("")).await, 404);
    }
    is_page("look", &stranger.open(&late.path(&other)).await, 404);
    let owner = member(&kit, &project, Role::Owner).await;
    for query in ["", "?provider=sandbox", "?provider=sandbox&id=x", "?provider=%00&id=%00", "?id=a&id=b&provider=c"] {
        let path = format!("{}/balance/receipts/decide{query}", desk(project.id));
        is_page(query, &owner.open(&path).await, 404);
    }
    let path = format!("{}/balance/receipts/accept", desk(project.id));
    let forged = owner.browser.form(&path, &late.fields("mine")).header("sec-fetch-site", "same-origin");
    is_page("no token", &owner.browser.send(forged).await, 403);
    assert_eq!((unapplied(&project).await, balance(&project, "pending").await), (15_000, 0));
    assert_eq!(status(&project, &late.payment).await, "expired");
}

async fn a_decision_without_a_note_or_with_too_long_a_one_comes_back_and_decides_nothing(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let late = held_late(&kit, &project, "late").await;
    let person = member(&kit, &project, Role::Owner).await;
    let long = "é".repeat(501);
    for (act, note, why) in [
        ("accept", "", "Tulis catatan"),
        ("return", " \r\n ", "Tulis catatan"),
        ("return", long.as_str(), "Paling banyak 500 karakter."),
        ("accept", "a\u{7}b", "tidak bisa dipakai"),
    ] {
        let reply = decide(&person, &project, act, &late.fields(note)).await;
        is_page(why, &reply, 422);
        assert!(reply.text.contains(&format!("aria-describedby=\"{act}-note-why {act}-note-hint\"")), "{}", reply.text);
        assert!(reply.text.contains(why) && reply.text.contains(note.trim()), "{}", reply.text);
        assert_eq!(reply.text.matches("class=\"why\"").count(), 1);
    }
    assert_eq!((unapplied(&project).await, balance(&project, "pending").await), (15_000, 0));
    let fits = "é".repeat(500);
    assert_eq!(decide(&person, &project, "accept", &late.fields(&fits)).await.status, 303);
}
