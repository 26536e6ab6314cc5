//! The dashboard's first page, and the balance.

use std::{sync::Arc, time::Duration};

use domain::{access::Role, project::Environment};
use engine::NewProject;
use gateway::SendLimits;
use serde_json::json;
use testkit::{Answer, Api, Kit, Reply, TestProject, on_every_database, on_sqlite_alone};

use crate::support::{
    customer::{Customer, is_page},
    held::{MINUTE, contains_all, held, held_late, member},
    json::text,
    links::create_link,
    payments::{balance, pending_qris, simulate_paid},
    people::{Person, desk},
    wait::until,
};

on_every_database![
    the_first_page_shows_what_was_paid_today_and_in_thirty_days,
    what_needs_attention_is_on_the_first_page,
    the_first_line_of_each_account_is_what_its_tile_shows,
    every_page_of_the_ledger_goes_on_where_the_one_before_ended,
];

on_sqlite_alone![the_guide_ticks_each_step_and_disappears_when_all_are_done];

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

async fn the_guide_ticks_each_step_and_disappears_when_all_are_done(kit: Arc<Kit>) {
    let new = NewProject { name: "Toko".to_owned(), environment: Environment::Sandbox, merchant_name: None };
    let (made, _) = kit.engine.create_project(new).await.unwrap();
    let person = Person::member(&kit, made.id, Role::Owner, "owner@toko.example").await;
    let page = person.open(&desk(made.id)).await;
    guides(&page, 0, &[&format!("curl http://{}/v1/balance", kit.address), "$LUNAS_API_KEY"]);

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
        "Hari ini</span><b>Rp20.000</b><small>1 pembayaran</small>",
        "Kemarin</span><b>Rp5.000</b><small>1 pembayaran</small>",
        "<b>Rp35.000</b> <small>3 pembayaran</small>",
        "<title>14 Nov: Rp10.000</title>",
        "<title>16 Nov: Rp20.000</title>",
        "<small>Rp20 rb</small><small>Rp15 rb</small>",
        "<td>15 November 2026</td><td class=\"num\">1</td><td class=\"num\">Rp5.000</td>",
    ] {
        assert!(page.text.contains(shown), "{shown} is not in {}", page.text);
    }
    assert_eq!(page.text.matches("class=\"column\"").count(), 3);
    let recent = page.text.split_once("id=\"recent\"").unwrap().1.split_once("</section>").unwrap().0;
    assert_eq!(recent.matches("<li>").count(), 4);
    kit.clock.advance(Duration::from_hours(24 * 29));
    let person = Person::signed_in(&kit, person.user).await;
    let page = home(&person, &project).await;
    assert!(page.text.contains("<b>Rp0</b><small>0 pembayaran</small>"), "{}", page.text);
    assert!(page.text.contains("<b>Rp20.000</b> <small>1 pembayaran</small>"), "thirty days, today among them");
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
    let kept = held(&kit, &project, &payment, "r 1&", 14_999).await;
    for number in 2..=7 {
        held(&kit, &project, &payment, &format!("r-{number}"), 100 + number).await;
    }
    held(&kit, &other, &pending_qris(&other, 15_000).await, "r-1", 777).await;
    let page = home(&person, &project).await;
    // 14.999 and 102 to 107: one row for all of them.
    assert_eq!(page.text.matches("menunggu keputusan</b>").count(), 1);
    contains_all(&page, &["<b>Rp15.626 menunggu keputusan</b><small>7 penerimaan"]);
    let list = person.open(&format!("{}/balance/receipts", desk(project.id))).await;
    assert!(list.text.contains(&kept.path(&project)) && list.text.contains("Rp14.999"), "{}", list.text);
    is_page("a receipt", &person.open(&kept.path(&project)).await, 200);

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
    let wrong = held(&kit, &project, &pending_qris(&project, 15_000).await, "wrong", 9_000).await;
    held(&kit, &project, &pending_qris(&project, 15_000).await, "kept", 400).await;
    let person = member(&kit, &project, Role::Owner).await;
    let mut shown = 0;
    for act in ["paid", "settled", "accepted", "returned"] {
        match act {
            "paid" => drop(simulate_paid(&project, &pending_qris(&project, 20_000).await).await),
            "settled" => {
                kit.clock.advance(MINUTE);
                assert_eq!(kit.engine.settle_due().await.unwrap(), 1);
            }
            "accepted" => assert_eq!(late.decide(&person, &project, "accept", "ok").await.status, 303),
            _ => assert_eq!(wrong.decide(&person, &project, "return", "ok").await.status, 303),
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
        held(&kit, &project, &payment, &format!("r-{number}"), number).await;
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
