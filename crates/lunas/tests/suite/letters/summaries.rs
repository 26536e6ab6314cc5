//! Summaries: each day is told once, however many nodes there are and however often they start.

use std::sync::Arc;

use domain::{
    access::Role,
    letter::{LetterKind, SummaryPeriod},
    time::{DAY, HOUR, Timestamp},
};
use engine::{Mail, Reconcilers};
use gateway::SendLimits;
use testkit::{Kit, Relay, on_every_database, on_postgres};

use crate::support::{
    letters::{letters, send_to, set_up},
    nodes::Node,
    payments::{pending_qris, simulate_paid},
    people::Person,
    wait::until,
};

on_every_database![a_member_who_wants_it_is_told_each_morning_what_the_day_came_to on 2 threads];

fn morning() -> Timestamp {
    Timestamp::parse("2026-11-15T07:00:01+07:00").unwrap()
}

async fn choose(person: &Person, period: SummaryPeriod) {
    let fields = [("language", "id"), ("summary", period.word()), ("money_held", "on"), ("webhook_failing", "on")];
    assert_eq!(person.post("/dashboard/account/letters", &fields).await.status, 303);
}

async fn summaries(kit: &Kit) -> usize {
    letters(kit).await.iter().filter(|letter| letter.kind == LetterKind::Summary).count()
}

async fn a_member_who_wants_it_is_told_each_morning_what_the_day_came_to(kit: Arc<Kit>) {
    let relay = Relay::start().await;
    let project = kit.sandbox().await;
    let owner = Person::member(&kit, project.id, Role::Owner, "owner@example.com").await;
    Person::member(&kit, project.id, Role::Viewer, "viewer@example.com").await;
    choose(&owner, SummaryPeriod::Daily).await;
    let payment = pending_qris(&project, 15_000).await;
    simulate_paid(&project, &payment).await;
    send_to(&kit, &relay);
    assert_eq!(summaries(&kit).await, 0, "the day is not over");
    kit.clock.set(morning());
    let taken = relay.has(1).await;
    assert_eq!(taken[0].to, "owner@example.com");
    assert!(taken[0].words().contains("15.000"), "{}", taken[0].words());
    assert!(taken[0].header("List-Unsubscribe").is_some());
    // A restart tells nothing twice, and a day on which it was down in the morning is told later.
    kit.stop_delivering().await;
    kit.deliver(SendLimits::default());
    kit.clock.advance(DAY + 5 * HOUR);
    relay.has(2).await;
    assert_eq!(summaries(&kit).await, 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_nodes_tell_a_day_once() {
    on_postgres(async |kit: Arc<Kit>| {
        let relay = Relay::start().await;
        let project = kit.sandbox().await;
        Person::member(&kit, project.id, Role::Owner, "owner@example.com").await;
        let mut members = Vec::new();
        for number in 0..6 {
            let email = format!("viewer-{number}@example.com");
            let member = Person::member(&kit, project.id, Role::Viewer, &email).await;
            choose(&member, SummaryPeriod::Daily).await;
            members.push(member);
        }
        set_up(&kit, relay.mailer());
        let node = Node::beside(&kit).await;
        node.engine.set_up_mail(Mail { mailer: relay.mailer(), pages_url: kit.pages_url.clone() });
        kit.clock.set(morning());
        kit.deliver(SendLimits::default());
        let beside = Reconcilers::start(&node.engine, kit.courier(SendLimits::default()));
        relay.has(members.len()).await;
        until(async || letters(&kit).await.iter().all(|letter| !letter.state.is_waiting())).await;
        kit.clock.advance(HOUR);
        let mut to: Vec<String> = relay.taken().into_iter().map(|letter| letter.to).collect();
        to.sort();
        let before = to.len();
        to.dedup();
        assert_eq!((to.len(), before, summaries(&kit).await), (members.len(), members.len(), members.len()));
        beside.stop().await;
        node.stop().await;
    })
    .await;
}
