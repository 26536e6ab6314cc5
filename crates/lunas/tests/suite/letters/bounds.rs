//! Bounds: how many letters an address and a project get, and that one project's letters hold up nobody else's.

use std::{sync::Arc, time::Duration};

use domain::{
    access::Role,
    letter_queue::{HELD_BACK, TO_ADDRESS_MOST},
    time::HOUR,
};
use gateway::SendLimits;
use testkit::{Kit, Relay, on_every_database};

use crate::support::{
    held::held_late,
    letters::{letters, link_with_email, pay_as, set_up, states, with_receipts},
    people::{Person, make},
    wait::until,
};

on_every_database![
    many_letters_of_one_project_hold_up_no_others on 2 threads,
    an_address_gets_so_many_letters_an_hour_and_the_others_wait on 2 threads,
];

/// How many letters come before one that everybody else must not wait for.
const MANY: usize = 60;

async fn many_letters_of_one_project_hold_up_no_others(kit: Arc<Kit>) {
    let relay = Relay::start().await;
    let (busy, quiet) = (kit.sandbox().await, kit.sandbox().await);
    set_up(&kit, relay.mailer());
    for project in [&busy, &quiet] {
        with_receipts(&kit, project).await;
    }
    let link = link_with_email(&busy).await;
    for number in 0..MANY {
        pay_as(&kit, &busy, &link, &format!("pelanggan-{number}@example.com")).await;
    }
    let link = link_with_email(&quiet).await;
    pay_as(&kit, &quiet, &link, "tenang@example.com").await;
    let user = make(&kit, "aman@example.com", false).await;
    kit.engine.reset_password(&user, "another long one".into()).await.unwrap();
    kit.deliver(SendLimits::default());
    let taken = relay.has(MANY + 2).await;
    let place = |address: &str| taken.iter().position(|letter| letter.to == address).unwrap();
    assert!(place("tenang@example.com") < 10, "{}", place("tenang@example.com"));
    assert!(place("aman@example.com") < 10, "{}", place("aman@example.com"));
}

async fn an_address_gets_so_many_letters_an_hour_and_the_others_wait(kit: Arc<Kit>) {
    let relay = Relay::start().await;
    let most = TO_ADDRESS_MOST as usize;
    let project = kit.sandbox().await;
    let owner = Person::member(&kit, project.id, Role::Owner, "owner@example.com").await;
    set_up(&kit, relay.mailer());
    for number in 0..most + 3 {
        held_late(&kit, &project, &format!("late-{number}")).await;
    }
    kit.deliver(SendLimits::default());
    relay.has(most).await;
    let held_back =
        async || letters(&kit).await.iter().filter(|letter| letter.answer.as_deref() == Some(HELD_BACK)).count();
    until(async || held_back().await == 3).await;
    assert_eq!(relay.taken().len(), most);
    kit.engine.reset_password(&owner.user, "another long one".into()).await.unwrap();
    let taken = relay.has(most + 1).await;
    assert!(taken[most].words().contains("/dashboard/forgot"), "a letter about security is not held back");
    kit.clock.advance(HOUR + Duration::from_mins(1));
    relay.has(most + 4).await;
    until(async || states(&kit).await.iter().all(|state| *state == "sent")).await;
}
