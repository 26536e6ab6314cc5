//! Numbers that we give out at a bank account, and what the account allows.

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use demobank::{Knobs, Style};
use domain::{bank::Bank, method::Method, time::Timestamp};
use serde_json::{Value, json};
use testkit::{Cluster, Database, Kit, on_every_database, on_sqlite_alone};

use super::acts::{payment_id, said};
use crate::support::{
    banks::{AMOUNT, COMPANY_CODE, Contracted, contracted, contracted_with, number},
    customer::{Customer, link_path},
    json::{at, with},
    links::{attempt, create_link},
    payments::{create, fresh_key},
    rows::rows,
    samples::{qris, virtual_account},
};

on_every_database![a_number_rests_for_30_days_after_its_payment_has_expired_and_then_comes_again on 2 threads];

on_sqlite_alone![
    numbers_have_the_accounts_length_and_tell_nothing_about_each_other,
    amounts_beyond_the_accounts_limits_are_refused_before_anything_is_stored,
    lifetimes_beyond_the_accounts_limits_are_refused_before_anything_is_stored,
    a_link_that_expires_within_a_minute_is_paid_until_then,
    a_method_without_an_account_is_unavailable_and_leaves_the_key_unused,
    a_disabled_account_issues_nothing_and_takes_nothing_new_at_once,
    a_link_shows_only_methods_that_an_enabled_account_takes,
    a_link_shows_only_methods_whose_account_takes_its_amount,
];

const NUMBERS: usize = 40;
const REST: Duration = Duration::from_hours(30 * 24);

fn order(contracted: &Contracted) -> Value {
    virtual_account(&contracted.project, contracted.method.bank().unwrap().code(), AMOUNT)
}

async fn numbers_have_the_accounts_length_and_tell_nothing_about_each_other(kit: Arc<Kit>) {
    for (style, settings, length) in [
        (Style::BCA, [("customer_digits", "11")], 11),
        (Style::BRIVA_ONLINE, [("customer_digits", "13")], 13),
        (Style::GENERIC, [("customer_digits", "8")], 8),
    ] {
        let contracted = contracted_with(&kit, style, &settings).await;
        let mut customers = Vec::new();
        for _ in 0..NUMBERS {
            let number = number(&contracted.payment().await);
            let customer = number.strip_prefix(COMPANY_CODE).unwrap().to_owned();
            assert_eq!(customer.len(), length, "{number}");
            customers.push(customer.parse::<i64>().unwrap());
        }
        assert_eq!(customers.iter().collect::<BTreeSet<_>>().len(), NUMBERS, "no number twice");
        let mut steps: Vec<i64> = customers.windows(2).map(|pair| pair[1] - pair[0]).collect();
        let (up, down) =
            (steps.iter().filter(|step| **step > 0).count(), steps.iter().filter(|step| **step < 0).count());
        assert!(up > 0 && down > 0, "they do not count up or down: {customers:?}");
        steps.sort_unstable();
        steps.dedup();
        assert!(steps.len() > NUMBERS / 2, "no step leads from one to the next: {customers:?}");
    }
}

/// Gives all other numbers of six customer digits away, until `free_at`.
fn give_all_away(database: &Database, contracted: &Contracted, free_at: Timestamp) {
    let columns = "INSERT INTO bank_numbers (account_id, number, project_id, payment_id, taken_at, free_at)";
    let (account, project, free_at) = (contracted.account, contracted.project.id, free_at.as_millis());
    match database {
        Database::Sqlite(path) => {
            let connection = rusqlite::Connection::open(path).unwrap();
            connection.busy_timeout(Duration::from_secs(10)).unwrap();
            let sql = format!(
                "PRAGMA foreign_keys = OFF; WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n \
                 WHERE i < 999999) {columns} SELECT '{account}', '{COMPANY_CODE}' || printf('%06d', i), '{project}', \
                 'filler-' || i, 1, {free_at} FROM n WHERE true ON CONFLICT DO NOTHING"
            );
            connection.execute_batch(&sql).unwrap();
        }
        Database::Postgres { url } => {
            // Fillers belong to no payment, which the database would not allow.
            let sql = format!(
                "SET session_replication_role = replica; {columns} SELECT '{account}', '{COMPANY_CODE}' \
                 || lpad(i::text, 6, '0'), '{project}', 'filler-' || i, 1, {free_at} FROM generate_series(0, 999999) i \
                 ON CONFLICT DO NOTHING"
            );
            Cluster::shared().run(url, &sql).unwrap();
        }
    }
}

fn take_fillers_back(database: &Database) {
    let sql = "DELETE FROM bank_numbers WHERE payment_id LIKE 'filler-%'";
    match database {
        Database::Sqlite(path) => {
            let connection = rusqlite::Connection::open(path).unwrap();
            connection.busy_timeout(Duration::from_secs(10)).unwrap();
            connection.execute(sql, []).unwrap();
        }
        Database::Postgres { url } => drop(Cluster::shared().run(url, sql).unwrap()),
    }
}

async fn a_number_rests_for_30_days_after_its_payment_has_expired_and_then_comes_again(kit: Arc<Kit>) {
    let contracted = contracted_with(&kit, Style::GENERIC, &[("customer_digits", "6")]).await;
    let first = contracted.payment().await;
    let free_at = at(&first, "expires_at").plus(REST);
    tokio::task::block_in_place(|| give_all_away(&kit.database, &contracted, free_at));
    let key = fresh_key();
    // All are in use, and then all rest.
    for now in [kit.engine.now(), at(&first, "expires_at").plus(Duration::from_secs(1)), free_at] {
        kit.clock.set(now);
        let reply = contracted.project.api.pay(&key, &order(&contracted)).await;
        reply.refused(503, "PAYMENT_PROVIDER_UNAVAILABLE");
    }
    let file = kit.engine.bank_account_file(contracted.account).await.unwrap();
    assert_eq!(file.numbers_taken_percent(), 100);
    // Money that comes so late is still told what became of its bill.
    assert_eq!(said(&contracted.ask(&number(&first), Knobs::default()).await), ("4042419", "01"));
    kit.clock.set(free_at.plus(Duration::from_millis(1)));
    let reply = contracted.project.api.pay(&key, &order(&contracted)).await;
    assert_eq!(reply.header("idempotent-replayed"), None, "the key was left unused");
    let second = reply.expect(201);
    assert_eq!(number(&second).len(), COMPANY_CODE.len() + 6);
    assert_eq!(said(&contracted.ask(&number(&second), Knobs::default()).await), ("2002400", "00"));
    tokio::task::block_in_place(|| take_fillers_back(&kit.database));
    assert_eq!(said(&contracted.pay(&number(&second), Knobs::default()).await), ("2002500", "00"));
    assert_eq!(contracted.shown(&second).await["status"], "paid");
}

async fn amounts_beyond_the_accounts_limits_are_refused_before_anything_is_stored(kit: Arc<Kit>) {
    let contracted = contracted_with(&kit, Style::BCA, &[("amounts", "20000..150000")]).await;
    let key = fresh_key();
    let before = rows(&kit.database);
    for amount in [19_999, 150_001] {
        let reply = contracted.project.api.pay(&key, &with(order(&contracted), "amount", amount)).await;
        let message = reply.refused(400, "VALIDATION_ERROR");
        assert!(message.contains("20000") && message.contains("150000"), "{message}");
    }
    let stored = |rows: Vec<String>| rows.into_iter().filter(|row| !row.contains("key_uses")).collect::<Vec<_>>();
    assert_eq!(stored(rows(&kit.database)), stored(before));
    for amount in [20_000, 150_000] {
        create(&contracted.project, &with(order(&contracted), "amount", amount)).await;
    }
    contracted.project.api.pay(&key, &order(&contracted)).await.expect(201);
}

async fn lifetimes_beyond_the_accounts_limits_are_refused_before_anything_is_stored(kit: Arc<Kit>) {
    let contracted = contracted_with(&kit, Style::BCA, &[("validity", "600..3600")]).await;
    let key = fresh_key();
    let of = |minutes: i64| with(order(&contracted), "expires_in_minutes", minutes);
    for minutes in [9, 61] {
        let message = contracted.project.api.pay(&key, &of(minutes)).await.refused(400, "VALIDATION_ERROR");
        assert!(message.contains("between 10 and 60"), "{message}");
    }
    for minutes in [10, 60] {
        create(&contracted.project, &of(minutes)).await;
    }
    contracted.project.api.pay(&key, &of(30)).await.expect(201);
}

async fn a_link_that_expires_within_a_minute_is_paid_until_then(kit: Arc<Kit>) {
    let contracted = contracted(&kit, Style::BCA).await;
    let expires_at = kit.engine.now().plus(Duration::from_secs(20));
    let members = json!({ "amount": AMOUNT, "expires_at": expires_at.to_string() });
    let link = create_link(&contracted.project, members).await;
    let payment = attempt(&kit, &contracted.project, &link, contracted.method).await;
    assert_eq!(at(&payment, "expires_at"), expires_at);
    assert_eq!(said(&contracted.pay(&number(&payment), Knobs::default()).await), ("2002500", "00"));
}

async fn a_method_without_an_account_is_unavailable_and_leaves_the_key_unused(kit: Arc<Kit>) {
    let contracted = contracted(&kit, Style::BCA).await;
    let key = fresh_key();
    for body in [qris(&contracted.project, AMOUNT), virtual_account(&contracted.project, "mandiri", AMOUNT)] {
        contracted.project.api.pay(&key, &body).await.refused(503, "PAYMENT_PROVIDER_UNAVAILABLE");
    }
    contracted.project.api.pay(&key, &order(&contracted)).await.expect(201);
    let nobody = kit.production().await;
    let body = virtual_account(&nobody, "bca", AMOUNT);
    nobody.api.pay(&key, &body).await.refused(503, "PAYMENT_PROVIDER_UNAVAILABLE");
}

async fn a_disabled_account_issues_nothing_and_takes_nothing_new_at_once(kit: Arc<Kit>) {
    let contracted = contracted(&kit, Style::BCA).await;
    let payment = contracted.payment().await;
    let key = fresh_key();
    kit.engine.enable_bank_account(contracted.account, false).await.unwrap();
    let reply = contracted.project.api.pay(&key, &order(&contracted)).await;
    reply.refused(503, "PAYMENT_PROVIDER_UNAVAILABLE");
    assert_eq!(contracted.ask(&number(&payment), Knobs::default()).await.code(), "4012400");
    assert_eq!(contracted.pay(&number(&payment), Knobs::default()).await.code(), "4012500");
    assert_eq!(contracted.shown(&payment).await["status"], "pending");
    kit.engine.enable_bank_account(contracted.account, true).await.unwrap();
    contracted.project.api.pay(&key, &order(&contracted)).await.expect(201);
    assert_eq!(said(&contracted.pay(&number(&payment), Knobs::default()).await), ("2002500", "00"));
    let paid = kit.store.payment(payment_id(&payment)).await.unwrap().unwrap();
    assert_eq!(paid.code, number(&payment));
}

/// The methods that a link's page lets customers choose from.
async fn shown(customer: &Customer, link: &Value) -> Vec<&'static str> {
    let page = customer.open(&link_path(link)).await.text;
    let all = ["qris", "virtual_account:bca", "virtual_account:mandiri", "virtual_account:bri"];
    all.into_iter().filter(|method| page.contains(&format!("value=\"{method}\""))).collect()
}

async fn a_link_shows_only_methods_that_an_enabled_account_takes(kit: Arc<Kit>) {
    let bca = contracted(&kit, Style::BCA).await;
    let mandiri = contracted(&kit, Style::MANDIRI).await;
    let method = Method::VirtualAccount(Bank::Mandiri);
    kit.engine.assign_bank_account(mandiri.account, bca.project.id, method).await.unwrap();
    let link = create_link(&bca.project, json!({ "amount": AMOUNT })).await;
    let customer = Customer::of(&kit);
    assert_eq!(shown(&customer, &link).await, ["virtual_account:bca", "virtual_account:mandiri"]);
    kit.engine.enable_bank_account(mandiri.account, false).await.unwrap();
    let page = kit.engine.link_page(link["id"].as_str().unwrap().parse().unwrap()).await.unwrap();
    assert_eq!(page.methods, [Method::VirtualAccount(Bank::Bca)]);
    kit.engine.enable_bank_account(mandiri.account, true).await.unwrap();
    assert_eq!(shown(&customer, &link).await, ["virtual_account:bca", "virtual_account:mandiri"]);
}

/// Regression: customers learned that a bank does not take the amount only after they had chosen it.
async fn a_link_shows_only_methods_whose_account_takes_its_amount(kit: Arc<Kit>) {
    let bca = contracted_with(&kit, Style::BCA, &[("amounts", "20000..150000")]).await;
    let mandiri = contracted_with(&kit, Style::MANDIRI, &[("amounts", "10000..100000")]).await;
    let (both, customer) = (["virtual_account:bca", "virtual_account:mandiri"], Customer::of(&kit));
    kit.engine.assign_bank_account(mandiri.account, bca.project.id, mandiri.method).await.unwrap();
    for (amount, methods) in
        [(19_999, &both[1..]), (20_000, &both[..]), (100_000, &both[..]), (100_001, &both[..1]), (150_001, &[])]
    {
        // Links are created as before: an operator may set other amounts later.
        let link = create_link(&bca.project, json!({ "amount": amount })).await;
        assert_eq!(link["status"], "active");
        assert_eq!(shown(&customer, &link).await, methods, "{amount}");
        if methods.is_empty() {
            mandiri.set(&kit, "amounts", "").await;
            assert_eq!(shown(&customer, &link).await, both[1..]);
        }
    }
}
