//! The list of refunds: what its filters find, what it adds up to, and its file.

use std::{sync::Arc, time::Duration};

use domain::access::Role;
use serde_json::Value;
use testkit::{Kit, Reply, TestProject, on_every_database, on_sqlite_alone};

use crate::support::{
    customer::{Customer, is_page},
    held::{contains_all, member},
    json::id,
    payments::{create, paid, simulate_paid},
    people::{Person, desk},
    refund_pages::{refund_of, refund_page},
    samples,
};

on_every_database![
    filters_find_refunds_by_status_payment_and_day_and_sums_are_theirs,
    a_list_of_many_refunds_has_each_once_on_its_pages_and_in_its_file,
];

on_sqlite_alone![filters_that_mean_nothing_are_marked_and_list_nothing, every_member_and_nobody_else_sees_the_list,];

fn list_path(project: &TestProject, query: &str) -> String {
    format!("{}/refunds{query}", desk(project.id))
}

/// The refunds that a list shows, by their ids.
fn shown(project: &TestProject, page: &Reply) -> Vec<String> {
    is_page("list", page, 200);
    let before = format!("class=\"row\" href=\"{}", refund_page(project, ""));
    page.text.split(&before).skip(1).map(|rest| rest.split('"').next().unwrap().to_owned()).collect()
}

/// A refund that arrived, one that waits for an account, one that was cancelled, and the payments of the first two.
async fn history(kit: &Kit, project: &TestProject, owner: &Person) -> ([String; 3], [Value; 2]) {
    let one = paid(project, "one", 50_000).await;
    let arrived = refund_of(owner, project, &one, "10000").await;
    kit.clock.advance(Duration::from_secs(30));
    kit.engine.simulate_due_refunds().await.unwrap();
    let two = create(project, &samples::virtual_account(project, "bca", 60_000)).await;
    simulate_paid(project, &two).await;
    let waiting = refund_of(owner, project, &two, "20000").await;
    kit.clock.advance(Duration::from_secs(1));
    let cancelled = refund_of(owner, project, &two, "5000").await;
    owner.post(&format!("{}/cancel", refund_page(project, &cancelled)), &[]).await;
    ([arrived, waiting, cancelled], [one, two])
}

async fn filters_find_refunds_by_status_payment_and_day_and_sums_are_theirs(kit: Arc<Kit>) {
    let (project, other) = (kit.sandbox().await, kit.sandbox().await);
    let (owner, stranger) = (member(&kit, &project, Role::Owner).await, member(&kit, &other, Role::Owner).await);
    let (refunds, payments) = history(&kit, &project, &owner).await;
    history(&kit, &other, &stranger).await;
    let [arrived, waiting, cancelled] = refunds.each_ref().map(String::as_str);
    let second = format!("?payment={}", id(&payments[1]));
    for (query, found) in [
        ("", vec![cancelled, waiting, arrived]),
        ("?status=succeeded", vec![arrived]),
        ("?status=requires_action", vec![waiting]),
        ("?status=cancelled", vec![cancelled]),
        ("?status=failed", vec![]),
        (second.as_str(), vec![cancelled, waiting]),
        ("?period=today", vec![cancelled, waiting, arrived]),
        ("?from=2026-11-14&to=2026-11-14", vec![cancelled, waiting, arrived]),
        ("?from=2026-11-15", vec![]),
        ("?period=yesterday&status=succeeded", vec![]),
    ] {
        assert_eq!(shown(&project, &owner.open(&list_path(&project, query)).await), found, "{query}");
    }
    let all = owner.open(&list_path(&project, "")).await;
    contains_all(&all, &["<b>3</b>", "<b>Rp10.000</b>", "<b>Rp20.000</b>", "1–3 dari 3"]);
    contains_all(&owner.open(&list_path(&project, &second)).await, &["<b>2</b>", "<b>Rp0</b>", "<b>Rp20.000</b>"]);
    let file = owner.open(&format!("{}/refunds.csv?status=succeeded", desk(project.id))).await;
    let lines: Vec<&str> = file.text.split_terminator("\r\n").skip(1).collect();
    assert_eq!(lines.len(), 1, "{}", file.text);
    assert!(
        lines[0].starts_with(&format!("{arrived},{},,order-1,succeeded,,qris,10000,", id(&payments[0]))),
        "{}",
        lines[0]
    );
}

async fn a_list_of_many_refunds_has_each_once_on_its_pages_and_in_its_file(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let owner = member(&kit, &project, Role::Owner).await;
    let payment = paid(&project, "one", 1_000_000).await;
    let mut made = Vec::new();
    for number in 0..45 {
        kit.clock.advance(Duration::from_millis(1));
        made.push(refund_of(&owner, &project, &payment, &(1_000 + number).to_string()).await);
    }
    made.reverse();
    let mut listed = Vec::new();
    for number in 1..=3 {
        listed.extend(shown(&project, &owner.open(&list_path(&project, &format!("?page={number}"))).await));
    }
    assert_eq!(listed, made);
    let file = owner.open(&format!("{}/refunds.csv", desk(project.id))).await;
    let ids: Vec<&str> =
        file.text.split_terminator("\r\n").skip(1).map(|line| line.split(',').next().unwrap()).collect();
    assert_eq!(ids, made);
}

async fn filters_that_mean_nothing_are_marked_and_list_nothing(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let owner = member(&kit, &project, Role::Owner).await;
    refund_of(&owner, &project, &paid(&project, "one", 50_000).await, "10000").await;
    for query in ["?status=PAID", "?payment=x", "?from=2026-02-30", "?from=2026-11-15&to=2026-11-14", "?period=never"] {
        for path in ["refunds", "refunds.csv"] {
            let page = owner.open(&format!("{}/{path}{query}", desk(project.id))).await;
            is_page(query, &page, 422);
            assert!(!page.text.contains("Rp10.000"), "{query}: {}", page.text);
        }
    }
}

async fn every_member_and_nobody_else_sees_the_list(kit: Arc<Kit>) {
    let (project, other) = (kit.sandbox().await, kit.sandbox().await);
    let owner = member(&kit, &project, Role::Owner).await;
    let refund = refund_of(&owner, &project, &paid(&project, "one", 50_000).await, "10000").await;
    let (viewer, stranger) = (member(&kit, &project, Role::Viewer).await, member(&kit, &other, Role::Owner).await);
    assert_eq!(shown(&project, &viewer.open(&list_path(&project, "")).await), [refund.as_str()]);
    is_page("a stranger", &stranger.open(&list_path(&project, "")).await, 404);
    is_page("their own", &stranger.open(&refund_page(&other, &refund)).await, 404);
    is_page("nobody", &Customer::of(&kit).open(&list_path(&project, "")).await, 401);
}
