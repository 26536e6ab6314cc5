//! The figures of the dashboard's first page: comparisons with the time before, the periods, and the chart.

use std::{sync::Arc, time::Duration};

use domain::access::Role;
use testkit::{Kit, Reply, TestProject, on_every_database, on_sqlite_alone};

use crate::support::{
    customer::is_page,
    payments::{pending_qris, simulate_paid},
    people::{Person, desk},
};

on_every_database![today_and_the_period_are_compared_up_to_the_same_time_before];

on_sqlite_alone![a_day_far_above_the_others_leaves_them_readable];

async fn member(kit: &Kit, project: &TestProject, role: Role) -> Person {
    Person::member(kit, project.id, role, "owner@example.com").await
}

#[track_caller]
fn contains_all(page: &Reply, texts: &[&str]) {
    for text in texts {
        assert!(page.text.contains(text), "{text} is not in {}", page.text);
    }
}

async fn today_and_the_period_are_compared_up_to_the_same_time_before(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let person = member(&kit, &project, Role::Owner).await;
    // The kit's clock begins at 16.30 WIB. What is paid later on that day is not compared with the same time.
    for (amount, hours) in [(10_000, 1), (40_000, 23), (15_000, 0)] {
        simulate_paid(&project, &pending_qris(&project, amount).await).await;
        kit.clock.advance(Duration::from_hours(hours));
    }
    kit.clock.advance(Duration::from_mins(1));
    // The session has ended by then.
    let person = Person::signed_in(&kit, person.user).await;
    let page = person.open(&desk(project.id)).await;
    contains_all(&page, &["<b class=\"up\">+50%</b> dibanding Rp10.000 kemarin sampai pukul 16.31", "<b>Rp50.000</b>"]);
    // A week later the period of a week is compared with the one before it, of which the last day is cut in the same way.
    kit.clock.advance(Duration::from_hours(24 * 6));
    simulate_paid(&project, &pending_qris(&project, 20_000).await).await;
    let person = Person::signed_in(&kit, person.user).await;
    for (days, shown) in [
        (
            "7",
            &[
                "<b>Rp35.000</b> <small>2 pembayaran</small>",
                "<b class=\"up\">+250%</b> dibanding Rp10.000 pada 7 hari",
            ][..],
        ),
        ("30", &["<b>Rp85.000</b> <small>4 pembayaran</small>", "dibanding Rp0 pada 30 hari"]),
        ("90", &["<b>Rp85.000</b> <small>4 pembayaran</small>", "dibanding Rp0 pada 90 hari"]),
        ("8", &["Uang masuk 30 hari terakhir"]),
    ] {
        let page = person.open(&format!("{}?days={days}", desk(project.id))).await;
        is_page(days, &page, 200);
        contains_all(&page, shown);
        contains_all(
            &page,
            &[&format!("?days={}#volume\" aria-current=\"true\"", if days == "8" { "30" } else { days })],
        );
    }
}

async fn a_day_far_above_the_others_leaves_them_readable(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let person = member(&kit, &project, Role::Owner).await;
    for amount in [40_000, 50_000, 45_000, 9_000_000, 30_000] {
        simulate_paid(&project, &pending_qris(&project, amount).await).await;
        kit.clock.advance(Duration::from_hours(24));
    }
    let person = Person::signed_in(&kit, person.user).await;
    let page = person.open(&desk(project.id)).await;
    contains_all(&page, &["<small>Rp60 rb</small>", ">Rp9 jt</text>", "Tertinggi Rp9.000.000 pada 17 Nov."]);
    assert_eq!(page.text.matches("class=\"break\"").count(), 1);
}
