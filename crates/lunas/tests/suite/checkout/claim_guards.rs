//! A claim link names one account, once, within its time and its tries, and nobody finds one by guessing.

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use domain::{
    audit::Deed,
    destination::DestinationRequest,
    refund::{CLAIM_LIFETIME, CLAIM_TRIES_MOST, Refund, RefundStatus},
};
use futures_util::future::join_all;
use reqwest::Method;
use testkit::{Kit, on_every_database, on_sqlite_alone};

use crate::support::{
    claims::{BANK, ClaimLink, NUMBER},
    customer::{Customer, is_page},
    held::contains_all,
    nodes::Node,
    options::{rate_limit, trusted_proxy_and_rate_limit},
    rows::rows,
};

on_every_database![
    of_twenty_confirmations_at_once_one_names_the_account on 4 threads,
    a_confirmation_that_comes_twenty_times_is_answered_alike on 4 threads,
    a_customer_who_confirms_races_the_merchant on 4 threads,
    a_link_takes_ten_tries_and_the_last_of_them_can_be_confirmed,
    twenty_tries_at_once_are_not_more_than_ten on 4 threads,
    a_link_of_before_two_weeks_names_no_account,
    a_guessed_link_is_like_any_other_miss,
];

on_sqlite_alone![
    a_ticket_is_good_for_its_link_and_for_half_an_hour,
    an_address_may_have_ten_accounts_a_minute_looked_at with rate_limit(100),
    addresses_behind_a_trusted_proxy_are_counted_each_by_themselves with trusted_proxy_and_rate_limit(100),
];

/// Accounts that differ in their last digits, all of which the simulator knows.
fn number(at: usize) -> String {
    format!("77001{at:03}{at:02}9")
}

/// How often a destination was named, according to the audit log.
fn namings(kit: &Kit) -> usize {
    let word = Deed::RefundDestinationGiven.word();
    rows(&kit.database).iter().filter(|row| row.contains(word)).count()
}

/// Checks that the refund goes to an account with these last digits, and that this was named once.
async fn goes_to(kit: &Kit, link: &ClaimLink, digits: &str) -> Refund {
    let refund = link.refund(kit).await;
    assert_eq!(refund.destination.as_ref().map(|destination| destination.last_digits.as_str()), Some(digits));
    refund
}

async fn of_twenty_confirmations_at_once_one_names_the_account(kit: Arc<Kit>) {
    const ACCOUNTS: usize = 5;
    let project = kit.sandbox().await;
    let link = ClaimLink::of(&kit, &project, 50_000).await;
    let node = Node::beside(&kit).await;
    let mut tickets = Vec::new();
    for at in 0..ACCOUNTS {
        tickets.push(link.ticket(&Customer::of(&kit), &number(at)).await);
    }
    let sent = (0..20).map(|at| {
        let customer = if at % 2 == 0 { Customer::of(&kit) } else { Customer::at(node.address) };
        let (link, ticket) = (&link, &tickets[at % ACCOUNTS]);
        async move { (at % ACCOUNTS, link.confirm(&customer, ticket).await) }
    });
    let replies = join_all(sent).await;
    let won: BTreeSet<usize> = replies.iter().filter(|(_, reply)| reply.status == 303).map(|(at, _)| *at).collect();
    assert_eq!(won.len(), 1, "one account is named: {won:?}");
    let winner = won.into_iter().next().unwrap();
    for (at, reply) in &replies {
        if *at != winner {
            is_page("late", reply, 409);
            contains_all(reply, &["isian Anda yang terakhir tidak dipakai"]);
        }
    }
    assert_eq!(replies.iter().filter(|(_, reply)| reply.status == 303).count(), 4, "its form is answered alike");
    let refund = goes_to(&kit, &link, &number(winner)[number(winner).len() - 4..]).await;
    assert_eq!((refund.version, refund.status()), (2, RefundStatus::Pending));
    assert_eq!(namings(&kit), 1);
    node.stop().await;
}

async fn a_confirmation_that_comes_twenty_times_is_answered_alike(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let link = ClaimLink::of(&kit, &project, 50_000).await;
    let ticket = link.ticket(&Customer::of(&kit), NUMBER).await;
    let sent = (0..20).map(|_| async { link.confirm(&Customer::of(&kit), &ticket).await });
    for reply in join_all(sent).await {
        assert_eq!((reply.status.as_u16(), reply.header("location")), (303, Some(link.path.as_str())));
    }
    assert_eq!(goes_to(&kit, &link, "6789").await.version, 2);
    assert_eq!(namings(&kit), 1);
    // A link whose account is named looks at no other.
    is_page("used", &link.check(&Customer::of(&kit), BANK, "9876543210").await, 409);
    is_page("used", &link.confirm(&Customer::of(&kit), "00").await, 409);
    assert_eq!(goes_to(&kit, &link, "6789").await.version, 2);
}

async fn a_customer_who_confirms_races_the_merchant(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    for _ in 0..5 {
        let link = ClaimLink::of(&kit, &project, 20_000).await;
        let ticket = link.ticket(&Customer::of(&kit), NUMBER).await;
        let typed = DestinationRequest {
            bank: Some("008".to_owned()),
            account_number: Some("5550001111".to_owned()),
            account_name: None,
        };
        let customer = Customer::of(&kit);
        let (claimed, typed, cancelled) = tokio::join!(
            link.confirm(&customer, &ticket),
            kit.engine.give_destination(&link.project, link.id, typed),
            kit.engine.cancel_refund(&link.project, link.id),
        );
        let (claimed, typed) = (claimed.status == 303, typed.is_ok());
        let refund = link.refund(&kit).await;
        assert!(!(claimed && typed), "two accounts were named");
        let digits = refund.destination.map(|destination| destination.last_digits);
        let named = if claimed {
            Some("6789")
        } else if typed {
            Some("1111")
        } else {
            None
        };
        assert_eq!(digits.as_deref(), named);
        // Nothing was sent yet, so it can be cancelled whatever was named.
        assert!(cancelled.is_ok(), "{cancelled:?}");
        assert_eq!(refund.state.status(), RefundStatus::Cancelled);
    }
}

async fn a_link_takes_ten_tries_and_the_last_of_them_can_be_confirmed(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let link = ClaimLink::of(&kit, &project, 50_000).await;
    let customer = Customer::of(&kit);
    let mut last = String::new();
    for _ in 0..CLAIM_TRIES_MOST {
        last = link.ticket(&customer, NUMBER).await;
    }
    let before = rows(&kit.database);
    for _ in 0..3 {
        let page = link.check(&customer, BANK, NUMBER).await;
        is_page("too many", &page, 409);
        contains_all(&page, &["Tautan ini terlalu sering dicoba"]);
    }
    assert_eq!(rows(&kit.database), before);
    assert_eq!(link.confirm(&customer, &last).await.status, 303);
    goes_to(&kit, &link, "6789").await;
}

async fn twenty_tries_at_once_are_not_more_than_ten(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let link = ClaimLink::of(&kit, &project, 50_000).await;
    let sent = (0..20).map(|at| {
        let link = &link;
        let customer = Customer::of(&kit);
        async move { link.check(&customer, BANK, &number(at)).await.status.as_u16() }
    });
    let statuses = join_all(sent).await;
    let count = |status| statuses.iter().filter(|one| **one == status).count();
    assert_eq!((count(200), count(409)), (10, 10), "{statuses:?}");
}

async fn a_link_of_before_two_weeks_names_no_account(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let link = ClaimLink::of(&kit, &project, 50_000).await;
    let customer = Customer::of(&kit);
    kit.clock.advance(CLAIM_LIFETIME - Duration::from_mins(1));
    let ticket = link.ticket(&customer, NUMBER).await;
    kit.clock.advance(Duration::from_mins(1) + Duration::from_millis(1));
    let before = rows(&kit.database);
    for reply in [link.confirm(&customer, &ticket).await, link.check(&customer, BANK, NUMBER).await] {
        is_page("expired", &reply, 409);
        contains_all(&reply, &["Tautan ini sudah kedaluwarsa"]);
    }
    assert_eq!(rows(&kit.database), before);
}

async fn a_guessed_link_is_like_any_other_miss(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let link = ClaimLink::of(&kit, &project, 50_000).await;
    let token = link.path.strip_prefix("/r/").unwrap();
    assert!(token.len() >= 64, "it has 256 bits");
    let id = link.id.to_string();
    let other = format!("{}{}", &token[..63], if token.ends_with('0') { '1' } else { '0' });
    let upper = token.to_uppercase();
    let before = rows(&kit.database);
    let mut bodies = BTreeSet::new();
    let guesses = ["", "x", &id, &other, &token[..62], &upper, "%00", "%FF", "..%2F", "%E2%80%AE"];
    for guess in guesses.iter().filter(|guess| **guess != token) {
        for more in ["", "/status", "/", "/x"] {
            let path = format!("/r/{guess}{more}");
            let customer = Customer::of(&kit);
            let page = customer.send(customer.request(Method::GET, &path)).await;
            is_page(&path, &page, 404);
            bodies.insert(page.text);
        }
        let form = [("step", "check"), ("bank", BANK), ("number", NUMBER)];
        is_page(guess, &Customer::of(&kit).post(&format!("/r/{guess}"), &form).await, 404);
    }
    bodies.insert(Customer::of(&kit).open("/pay/junk").await.text);
    assert_eq!(bodies.len(), 1, "one page for every miss: {bodies:#?}");
    assert_eq!(rows(&kit.database), before);
}

async fn a_ticket_is_good_for_its_link_and_for_half_an_hour(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let link = ClaimLink::of(&kit, &project, 50_000).await;
    let other = ClaimLink::of(&kit, &project, 50_000).await;
    let customer = Customer::of(&kit);
    let ticket = link.ticket(&customer, NUMBER).await;
    let foreign = other.ticket(&customer, "9876543210").await;
    let forged = format!("{}{}", &ticket[..ticket.len() - 1], if ticket.ends_with('0') { '1' } else { '0' });
    for wrong in ["", "00", "zz", foreign.as_str(), forged.as_str(), &ticket[2..]] {
        for step in ["confirm", "change"] {
            let page = customer.post(&link.path, &[("step", step), ("ticket", wrong)]).await;
            is_page(wrong, &page, 422);
            contains_all(&page, &["name=\"bank\""]);
        }
    }
    let changed = customer.post(&link.path, &[("step", "change"), ("ticket", &ticket)]).await;
    is_page("change", &changed, 200);
    contains_all(&changed, &["value=\"014\" selected", &format!("value=\"{NUMBER}\"")]);
    kit.clock.advance(Duration::from_mins(30) + Duration::from_millis(1));
    is_page("too old", &link.confirm(&customer, &ticket).await, 422);
    assert!(link.refund(&kit).await.destination.is_none());
}

async fn an_address_may_have_ten_accounts_a_minute_looked_at(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let links = [ClaimLink::of(&kit, &project, 10_000).await, ClaimLink::of(&kit, &project, 10_000).await];
    let customer = Customer::of(&kit);
    let mut served = 0;
    let refused = loop {
        let reply = links[served % 2].check(&customer, BANK, NUMBER).await;
        if reply.status == 429 {
            break reply;
        }
        is_page("served", &reply, 200);
        served += 1;
        assert!(served < 20, "the limit is 10 a minute");
    };
    assert!(served >= 10, "{served}");
    is_page("too many", &refused, 429);
    contains_all(&refused, &["Terlalu banyak rekening diperiksa", "Coba lagi mulai pukul", NUMBER]);
    let wait: u64 = refused.header("retry-after").unwrap().parse().unwrap();
    assert!((1..=60).contains(&wait), "{wait}");
    let tried: i64 = [links[0].refund(&kit).await, links[1].refund(&kit).await]
        .iter()
        .map(|refund| refund.claim.unwrap().tries)
        .sum();
    assert_eq!(usize::try_from(tried).unwrap(), served, "what is refused by address is no try of the link");
}

async fn addresses_behind_a_trusted_proxy_are_counted_each_by_themselves(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let link = ClaimLink::of(&kit, &project, 10_000).await;
    let other = ClaimLink::of(&kit, &project, 10_000).await;
    let customer = Customer::of(&kit);
    let check = async |link: &ClaimLink, address: &'static str| {
        let form = [("step", "check"), ("bank", BANK), ("number", NUMBER)];
        customer.send(customer.form(&link.path, &form).header("X-Forwarded-For", address)).await.status.as_u16()
    };
    for _ in 0..10 {
        assert_eq!(check(&link, "203.0.113.7").await, 200);
    }
    while check(&other, "203.0.113.7").await == 200 {}
    assert_eq!(check(&ClaimLink::of(&kit, &project, 10_000).await, "203.0.113.8").await, 200);
}
