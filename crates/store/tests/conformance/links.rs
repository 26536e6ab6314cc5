//! Payment links: what is stored of them, and whether customers may still pay through them.

use domain::{
    bank::Bank,
    id::{LinkId, mint},
    link::{CustomerFields, Link},
    link_edit::LinkTerms,
    method::Method,
    money::Rupiah,
    payment::{Payment, State},
    pricing::Pricing,
    project::Project,
    return_url::ReturnUrl,
    time::Timestamp,
};
use futures_util::future::join_all;
use store::{Change, Guard, LinkFilter, LinkWrite, PaymentWrite, ShownLink, Store, Window};

use crate::{
    database::{Database, Outcome, commit, keep, on_every_database},
    samples::{self, NOW, after, entropy, kept_link, kept_payment, kept_project},
};

on_every_database![
    a_link_is_read_back_as_it_was_committed,
    a_link_is_cancelled_once_however_often_it_was_attempted,
    a_link_past_its_expiry_is_not_cancelled,
    a_changed_link_is_read_and_found_as_it_is_now,
    a_link_is_changed_only_as_it_was_seen_and_only_while_it_is_active_and_unpaid,
    a_link_cannot_end_before_a_payment_that_was_made_through_it,
    a_link_is_claimed_only_once,
    of_many_claims_exactly_one_is_kept,
    an_attempt_needs_an_open_link,
    an_attempt_and_a_cancellation_cannot_miss_each_other,
    a_link_is_in_use_while_a_payment_of_it_is_processing,
];

/// Every combination of customer fields.
fn every_customer_fields() -> impl Iterator<Item = CustomerFields> {
    (0_u8..16).map(|bits| CustomerFields {
        name: bits & 1 != 0,
        email: bits & 2 != 0,
        phone: bits & 4 != 0,
        address: bits & 8 != 0,
    })
}

async fn a_link_is_read_back_as_it_was_committed(database: Database) {
    let store = database.open().await;
    let project = kept_project(&store).await;
    let with_fields =
        every_customer_fields().map(|customer_fields| Link { customer_fields, ..samples::link(&project) });
    let every_method = std::iter::once(Method::Qris).chain(Bank::ALL.into_iter().map(Method::VirtualAccount));
    let open = Pricing::Open { least: Rupiah::new(100), most: Rupiah::MAX };
    let back = Some(ReturnUrl::stored("https://shop.example/?a=É".to_owned()));
    let others = [
        Link { expires_at: Some(after(60_000)), ..samples::link(&project) },
        Link { allow_multiple_payments: true, version: 9, ..samples::link(&project) },
        Link { methods: every_method.collect(), amount: Rupiah::MAX, ..samples::link(&project) },
        Link { description: String::new(), title: "É'\"%_\\".to_owned(), ..samples::link(&project) },
        Link { id: mint(after(1), entropy()), created_at: after(1), ..samples::link(&project) },
        Link { pricing: Pricing::PerPiece { quantity_max: 99 }, ..samples::link(&project) },
        Link { amount: Rupiah::ZERO, pricing: open, return_url: back.clone(), ..samples::link(&project) },
    ];
    for link in with_fields.chain(others) {
        keep(&store, LinkWrite::Created { link: link.clone() }).await;
        assert_eq!(store.link(link.id).await.unwrap(), Some(link));
    }
    assert_eq!(store.link(mint(NOW, entropy())).await.unwrap(), None);
}

async fn a_link_is_cancelled_once_however_often_it_was_attempted(database: Database) {
    let store = database.open().await;
    let project = kept_project(&store).await;
    let link = kept_link(&store, &project, false).await;
    let cancel = || LinkWrite::Cancelled { id: link.id, at: after(3) };
    for _ in 0..3 {
        samples::kept_attempt(&store, samples::attempt(&project, &link)).await;
    }
    assert_eq!(commit(&store, cancel()).await, Outcome::Kept);
    assert_eq!(commit(&store, cancel()).await, Outcome::Conflict(Guard::LinkActive));
    let expected = Link { cancelled_at: Some(after(3)), version: 5, ..link.clone() };
    assert_eq!(store.link(link.id).await.unwrap(), Some(expected));
}

async fn a_link_past_its_expiry_is_not_cancelled(database: Database) {
    let store = database.open().await;
    let project = kept_project(&store).await;
    let link = Link { expires_at: Some(after(5)), ..samples::link(&project) };
    keep(&store, LinkWrite::Created { link: link.clone() }).await;
    let cancel = |at| LinkWrite::Cancelled { id: link.id, at };
    assert_eq!(commit(&store, cancel(after(6))).await, Outcome::Conflict(Guard::LinkActive));
    assert_eq!(commit(&store, cancel(after(5))).await, Outcome::Kept);
}

/// Gives the link another title, as a member who has seen `link` would.
fn retitled(link: &Link, title: &str) -> LinkWrite {
    let (id, reference, from) = (link.id, link.reference.clone(), LinkTerms::of(link));
    let to = LinkTerms { title: title.to_owned(), ..from.clone() };
    LinkWrite::Edited { id, reference, from, to, at: after(1) }
}

async fn found(store: &Store, project: &Project, search: &str) -> usize {
    let filter = LinkFilter { search: Some(search.to_owned()), ..LinkFilter::default() };
    store.links(project.id, &filter, Window { offset: 0, limit: 10 }).await.unwrap().items.len()
}

async fn a_changed_link_is_read_and_found_as_it_is_now(database: Database) {
    let store = database.open().await;
    let project = kept_project(&store).await;
    let link = kept_link(&store, &project, false).await;
    let (id, reference, from) = (link.id, link.reference.clone(), LinkTerms::of(&link));
    let to = LinkTerms { title: "Teh manis".to_owned(), description: String::new(), expires_at: Some(after(9)) };
    keep(&store, LinkWrite::Edited { id, reference, from, to, at: NOW }).await;
    let expected = Link {
        title: "Teh manis".to_owned(),
        description: String::new(),
        expires_at: Some(after(9)),
        version: 2,
        ..link.clone()
    };
    assert_eq!(store.link(link.id).await.unwrap(), Some(expected));
    assert_eq!((found(&store, &project, "teh man").await, found(&store, &project, "kopi").await), (1, 0));
    assert_eq!(found(&store, &project, "pl-1").await, 1);
}

async fn a_link_is_changed_only_as_it_was_seen_and_only_while_it_is_active_and_unpaid(database: Database) {
    let store = database.open().await;
    let project = kept_project(&store).await;
    let refused = Outcome::Conflict(Guard::LinkEditable);
    let seen = kept_link(&store, &project, false).await;
    assert_eq!(commit(&store, retitled(&seen, "Teh")).await, Outcome::Kept);
    assert_eq!(commit(&store, retitled(&seen, "Susu")).await, refused, "it is not as it was seen");
    let attempted = kept_link(&store, &project, true).await;
    let payment = samples::kept_attempt(&store, samples::attempt(&project, &attempted)).await;
    assert_eq!(commit(&store, retitled(&attempted, "Kopi")).await, Outcome::Kept, "attempts do not matter");
    keep(&store, samples::confirmation(&payment, None, "paid")).await;
    assert!(store.link_is_paid(attempted.id).await.unwrap());
    assert_eq!(commit(&store, retitled(&attempted, "Susu")).await, refused, "it is paid");
    let expired = Link { expires_at: Some(NOW), ..samples::link(&project) };
    keep(&store, LinkWrite::Created { link: expired.clone() }).await;
    assert_eq!(commit(&store, retitled(&expired, "Susu")).await, refused, "it is past its expiry");
    let cancelled = kept_link(&store, &project, false).await;
    keep(&store, LinkWrite::Cancelled { id: cancelled.id, at: NOW }).await;
    assert_eq!(commit(&store, retitled(&cancelled, "Susu")).await, refused, "it is cancelled");
}

async fn a_link_cannot_end_before_a_payment_that_was_made_through_it(database: Database) {
    let store = database.open().await;
    let project = kept_project(&store).await;
    // The clock of the node that changes the link is behind.
    let ahead = kept_link(&store, &project, false).await;
    let made = samples::kept_attempt(&store, samples::attempt(&project, &ahead)).await;
    let (id, reference, from) = (ahead.id, ahead.reference.clone(), LinkTerms::of(&ahead));
    let expires_at = Some(Timestamp::from_millis(made.created_at.as_millis() - 1));
    let to = LinkTerms { expires_at, ..from.clone() };
    assert_eq!(
        commit(&store, LinkWrite::Edited { id, reference, from, to, at: NOW }).await,
        Outcome::Conflict(Guard::LinkEditable)
    );
}

async fn a_link_is_claimed_only_once(database: Database) {
    let store = database.open().await;
    let project = kept_project(&store).await;
    let link = kept_link(&store, &project, false).await;
    let first = kept_payment(&store, samples::attempt(&project, &link)).await;
    let second = kept_payment(&store, samples::attempt(&project, &link)).await;
    let claim = |payment: &Payment| LinkWrite::Claimed { id: link.id, payment_id: payment.id };
    assert_eq!(commit(&store, claim(&first)).await, Outcome::Kept);
    assert_eq!(commit(&store, claim(&second)).await, Outcome::Conflict(Guard::LinkUnclaimed));
    assert_eq!(commit(&store, claim(&first)).await, Outcome::Conflict(Guard::LinkUnclaimed));
    let expected = Link { claimed_by: Some(first.id), version: 2, ..link.clone() };
    assert_eq!(store.link(link.id).await.unwrap(), Some(expected));
}

async fn of_many_claims_exactly_one_is_kept(database: Database) {
    let store = database.open().await;
    let project = kept_project(&store).await;
    let link = kept_link(&store, &project, false).await;
    let attempts = join_all((0..16).map(|_| kept_payment(&store, samples::attempt(&project, &link)))).await;
    let claims = attempts.iter().enumerate().map(|(index, payment)| {
        commit(&store, samples::confirmation(payment, Some(&link), &format!("receipt {index}")))
    });
    let outcomes = join_all(claims).await;
    let kept = outcomes.iter().filter(|outcome| **outcome == Outcome::Kept).count();
    // The others find their payment cancelled by the claim, or the link claimed.
    let conflicts = [Outcome::Conflict(Guard::PaymentVersion), Outcome::Conflict(Guard::LinkUnclaimed)];
    assert_eq!((kept, outcomes.iter().filter(|outcome| conflicts.contains(outcome)).count()), (1, 15));

    let claimed_by = store.link(link.id).await.unwrap().unwrap().claimed_by;
    for payment in attempts {
        let state = store.payment(payment.id).await.unwrap().unwrap().state;
        let winner = claimed_by == Some(payment.id);
        assert_eq!(state, if winner { State::Paid { at: NOW } } else { State::Cancelled { at: after(10) } });
    }
    assert_eq!(store.breaches().await.unwrap(), []);
}

async fn an_attempt_needs_an_open_link(database: Database) {
    let refused = Outcome::Conflict(Guard::LinkOpen);
    for (reusable, cancelled, claimed, expected) in [
        (false, false, false, Outcome::Kept),
        (false, true, false, refused),
        (false, false, true, refused),
        (false, true, true, refused),
        (true, false, false, Outcome::Kept),
        (true, true, false, refused),
        (true, false, true, Outcome::Kept),
        (true, true, true, refused),
    ] {
        let database = database.another().await;
        let store = database.open().await;
        let project = kept_project(&store).await;
        let link = kept_link(&store, &project, reusable).await;
        let payment = kept_payment(&store, samples::attempt(&project, &link)).await;
        if claimed {
            keep(&store, LinkWrite::Claimed { id: link.id, payment_id: payment.id }).await;
        }
        if cancelled {
            keep(&store, LinkWrite::Cancelled { id: link.id, at: NOW }).await;
        }
        let outcome = commit(&store, attempted(link.id)).await;
        assert_eq!(outcome, expected, "reusable {reusable}, cancelled {cancelled}, claimed {claimed}");
    }
    let store = database.open().await;
    assert_eq!(commit(&store, attempted(mint(NOW, entropy()))).await, refused, "no such link");
}

fn attempted(id: LinkId) -> LinkWrite {
    LinkWrite::Attempted { id, at: NOW, bounds: samples::WIDE }
}

async fn an_attempt_and_a_cancellation_cannot_miss_each_other(database: Database) {
    let store = database.open().await;
    let project = kept_project(&store).await;
    let link = kept_link(&store, &project, false).await;
    let before = samples::kept_attempt(&store, samples::attempt(&project, &link)).await;
    let cancellation = Change::from(LinkWrite::Cancelled { id: link.id, at: NOW });
    keep(&store, cancellation.with(PaymentWrite::PendingCancelled { link_id: link.id, but: None, at: NOW })).await;
    let state = store.payment(before.id).await.unwrap().unwrap().state;
    assert_eq!(state, State::Cancelled { at: NOW }, "an attempt that was committed first is cancelled with the link");
    let late = samples::attempted(&samples::attempt(&project, &link), None, samples::WIDE);
    assert_eq!(commit(&store, late).await, Outcome::Conflict(Guard::LinkOpen));
    assert_eq!(store.breaches().await.unwrap(), []);
}

async fn a_link_is_in_use_while_a_payment_of_it_is_processing(database: Database) {
    let store = database.open().await;
    let project = kept_project(&store).await;
    for (state, in_use) in [
        (State::Pending, false),
        (State::Processing, true),
        (State::Paid { at: NOW }, false),
        (State::Failed { at: NOW }, false),
        (State::Expired, false),
        (State::Cancelled { at: NOW }, false),
    ] {
        let (link, other) = (kept_link(&store, &project, false).await, kept_link(&store, &project, false).await);
        let shown = |link: &Link| store.shown_link(link.id);
        let unused = ShownLink { link: link.clone(), project_version: project.version, in_use: false };
        assert_eq!(shown(&link).await.unwrap(), Some(unused.clone()));
        kept_payment(&store, Payment { state, ..samples::attempt(&project, &link) }).await;
        assert_eq!(shown(&link).await.unwrap(), Some(ShownLink { in_use, ..unused }), "{state:?}");
        assert!(!shown(&other).await.unwrap().unwrap().in_use);
        let many = kept_link(&store, &project, true).await;
        kept_payment(&store, Payment { state, ..samples::attempt(&project, &many) }).await;
        assert!(!shown(&many).await.unwrap().unwrap().in_use, "{state:?}");
    }
}
