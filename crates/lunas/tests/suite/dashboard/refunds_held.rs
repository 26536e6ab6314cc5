//! Held money that goes back to the customer: by a refund, or elsewhere, which is only recorded.

use std::{sync::Arc, time::Duration};

use domain::access::Role;
use testkit::{Kit, on_every_database};

use crate::support::{
    customer::is_page,
    held::{contains_all, held_late, member},
    payments::{balance, unapplied},
    people::desk,
    refund_pages::{ACCOUNT, refund_led_to, refund_page},
};

on_every_database![
    held_money_goes_back_to_the_account_that_the_member_types,
    the_customer_of_held_money_names_the_account_by_a_link,
    held_money_is_held_again_when_its_refund_ends_without_having_been_made,
    what_was_given_back_elsewhere_is_only_recorded_and_says_so,
];

async fn held_money_goes_back_to_the_account_that_the_member_types(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let late = held_late(&kit, &project, "late").await;
    let owner = member(&kit, &project, Role::Owner).await;
    let wrong = [("way", "typed"), ("note", "telat"), ("bank", "999"), ("account_number", "12")];
    let refused = late.send(&owner, &project, "return", &wrong).await;
    is_page("mistyped", &refused, 422);
    contains_all(&refused, &["id=\"bank-why\"", "id=\"account_number-why\"", "value=\"typed\" checked"]);
    assert_eq!(unapplied(&project).await, 15_000);
    let fields = [("way", "typed"), ("note", "telat"), ACCOUNT[0], ACCOUNT[1], ACCOUNT[2]];
    let refund = refund_led_to(&late.send(&owner, &project, "return", &fields).await);
    assert_eq!((unapplied(&project).await, balance(&project, "refunding").await), (0, 15_000));
    contains_all(&owner.open(&refund_page(&project, &refund)).await, &["····7890", "Uang yang belum cocok", &late.id]);
    contains_all(&owner.open(&late.path(&project)).await, &[&refund_page(&project, &refund)]);
    kit.clock.advance(Duration::from_secs(30));
    kit.engine.simulate_due_refunds().await.unwrap();
    assert_eq!(balance(&project, "refunding").await, 0);
    let again = late.send(&owner, &project, "return", &fields).await;
    is_page("again", &again, 409);
}

async fn the_customer_of_held_money_names_the_account_by_a_link(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let late = held_late(&kit, &project, "late").await;
    let owner = member(&kit, &project, Role::Owner).await;
    let reply = late.send(&owner, &project, "return", &[("way", "claim"), ("note", "telat")]).await;
    let refund = refund_led_to(&reply);
    contains_all(&owner.open(&refund_page(&project, &refund)).await, &["Perlu rekening pelanggan", "id=\"claim-url\""]);
    assert_eq!(unapplied(&project).await, 0);
}

async fn held_money_is_held_again_when_its_refund_ends_without_having_been_made(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let late = held_late(&kit, &project, "late").await;
    let owner = member(&kit, &project, Role::Owner).await;
    let reply = late.send(&owner, &project, "return", &[("way", "claim"), ("note", "telat")]).await;
    let refund = refund_led_to(&reply);
    let cancelled = owner.post(&format!("{}/cancel", refund_page(&project, &refund)), &[]).await;
    assert_eq!(cancelled.status, 303, "{}", cancelled.text);
    assert_eq!((unapplied(&project).await, balance(&project, "refunding").await), (15_000, 0));
    contains_all(&owner.open(&late.path(&project)).await, &["/return\"", "/accept\""]);
    contains_all(&owner.open(&desk(project.id)).await, &["Rp15.000 menunggu keputusan"]);
}

async fn what_was_given_back_elsewhere_is_only_recorded_and_says_so(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let late = held_late(&kit, &project, "late").await;
    let owner = member(&kit, &project, Role::Owner).await;
    let reply = late.send(&owner, &project, "return", &[("way", "elsewhere"), ("note", "tunai")]).await;
    assert_eq!(
        reply.header("location"),
        Some(&*format!("{}/balance/receipts?done=receipt-returned", desk(project.id)))
    );
    assert_eq!((unapplied(&project).await, balance(&project, "refunding").await), (0, 0));
    let page = owner.open(&late.path(&project)).await;
    contains_all(&page, &["Dikembalikan dengan cara lain", "tunai"]);
    assert!(!page.text.contains("/refunds/rfd_"), "{}", page.text);
}
