//! Refunds as they are stored, listed, counted and settled.

use domain::{
    destination::Destination,
    metadata::Metadata,
    money::Rupiah,
    project::Project,
    receipt::{ReceiptState, Unapplied, UnappliedReceipt},
    refund::{Claim, PendingReason, Refund, RefundState, RefundStatus, doubt::Doubt},
    refund_settings::Party,
    time::Timestamp,
};
use store::{Balance, Guard, RefundFilter, RefundStanding, RefundWrite, SealedColumn, Store, UnappliedFilter, Window};

use crate::{
    database::{Database, Outcome, commit, keep, on_every_database},
    refund_samples::{
        AWAITING, PROCESSING, beginning, begun, claim_hash, destination, draft, failed, on_its_way, paid, returned,
        returning, settled, step, succeeded,
    },
    samples::{self, AMOUNT, EVERYTHING, FEE, NOW, after, kept_payment, kept_project},
};

on_every_database![
    a_refund_is_read_as_it_was_written,
    settling_moves_what_refunds_have_left_and_nothing_if_they_have_taken_all,
    money_of_a_failed_refund_is_pending_again_or_available_once_the_payment_has_settled,
    held_money_that_is_sent_back_is_held_again_if_it_comes_back,
    refunds_are_listed_by_payment_status_and_time,
    refunds_are_counted_as_they_stand,
    a_claim_is_found_by_its_hash_and_tried_a_bounded_number_of_times,
    another_destination_replaces_the_number_and_none_removes_it,
    a_reference_of_the_bank_is_taken_once_in_a_project,
    a_refund_of_the_sandbox_is_due_when_its_time_has_come,
    refunds_of_another_project_are_never_listed,
];

async fn kept(store: &Store, refund: &Refund) -> Refund {
    store.refund(refund.id).await.unwrap().unwrap()
}

async fn a_refund_is_read_as_it_was_written(database: Database) {
    let store = database.open().await;
    let project = kept_project(&store).await;
    let payment = paid(&store, &project).await;
    let (refund, _) = beginning(&store, &project, payment.id, Some(3_000), RefundState::RequiresAction).await.unwrap();
    let metadata = Metadata { members: vec![("ticket".to_owned(), "É 7".to_owned())] };
    let full = Refund {
        reason: "Gelas pecah, \"maaf\"".to_owned(),
        destination: Some(destination()),
        destination_by: Some(Party::Customer),
        claim: Some(Claim { expires_at: after(9), tries: 0 }),
        made_by: Party::Key(domain::id::mint(NOW, [3; 10])),
        approved_by: Some(Party::User(domain::id::mint(NOW, [4; 10]))),
        doubt: Some(Doubt { by: Party::CommandLine, at: after(8), attempt: 2, is_confirmed: true }),
        bank_reference: Some("FT 7".to_owned()),
        failure_reason: Some("tutup".to_owned()),
        metadata: Some(metadata),
        simulated_at: Some(after(7)),
        ..refund
    };
    let basis = store.refundable(payment.id).await.unwrap().unwrap();
    let begun = full.clone().begin();
    let sums = RefundWrite::Sums { payment_id: payment.id, version: basis.version, moved: begun.sums };
    let claim = store::SealedClaim { hash: claim_hash(&full), sealed: vec![7, 8] };
    let created =
        RefundWrite::Created { refund: Box::new(full.clone()), sealed_number: Some(vec![4, 5, 6]), claim: Some(claim) };
    let posting = begun.posting.map(store::LedgerWrite::Posting);
    keep(&store, store::Change::from(sums).with(created).with_all(posting)).await;
    assert_eq!(kept(&store, &full).await, full);
    let secrets = store.refund_secrets(full.id).await.unwrap().unwrap();
    assert_eq!((secrets.number, secrets.claim), (Some(vec![4, 5, 6]), Some(vec![7, 8])));
    assert_eq!(store.refund_by_claim(claim_hash(&full)).await.unwrap(), Some(full.clone()));
    for (column, sealed) in [(SealedColumn::RefundDestination, vec![4, 5, 6]), (SealedColumn::RefundClaim, vec![7, 8])]
    {
        let values = store.sealed_values(column, "", 9).await.unwrap();
        assert_eq!(values.len(), 1);
        assert_eq!((&values[0].row, &values[0].sealed), (&full.id.to_string(), &sealed));
    }
    assert_eq!(store.breaches().await.unwrap(), []);
}

async fn settling_moves_what_refunds_have_left_and_nothing_if_they_have_taken_all(database: Database) {
    let store = database.open().await;
    let project = kept_project(&store).await;
    let (part, whole) = (paid(&store, &project).await, paid(&store, &project).await);
    begun(&store, &project, part.id, 4_000, PROCESSING).await;
    begun(&store, &project, whole.id, AMOUNT.get(), PROCESSING).await;
    let due = store.due_to_settle(Timestamp::from_millis(i64::MAX), 10).await.unwrap();
    let left = |id| due.iter().find(|due| due.payment_id == id).map(|due| due.left);
    assert_eq!((left(part.id), left(whole.id)), (Some(AMOUNT - FEE - Rupiah::new(4_000)), Some(Rupiah::ZERO)));
    for payment in [&part, &whole] {
        settled(&store, payment.id, after(60_000)).await;
    }
    assert!(store.due_to_settle(Timestamp::from_millis(i64::MAX), 10).await.unwrap().is_empty());
    let expected = Balance {
        available: AMOUNT - FEE - Rupiah::new(4_000) - FEE,
        refunding: AMOUNT + Rupiah::new(4_000),
        ..Balance::default()
    };
    assert_eq!(store.balance(project.id, None).await.unwrap(), expected);
    assert_eq!(store.breaches().await.unwrap(), []);
}

async fn money_of_a_failed_refund_is_pending_again_or_available_once_the_payment_has_settled(database: Database) {
    let store = database.open().await;
    let project = kept_project(&store).await;
    let payment = paid(&store, &project).await;
    let (one, two) = (
        begun(&store, &project, payment.id, 3_000, PROCESSING).await,
        begun(&store, &project, payment.id, 2_000, PROCESSING).await,
    );
    failed(&store, &one).await;
    assert_eq!(store.balance(project.id, None).await.unwrap().pending, AMOUNT - FEE - Rupiah::new(2_000));
    settled(&store, payment.id, after(60_000)).await;
    succeeded(&store, &two).await;
    returned(&store, &two).await;
    let expected = Balance { available: AMOUNT - FEE, ..Balance::default() };
    assert_eq!(store.balance(project.id, None).await.unwrap(), expected);
    assert_eq!(store.breaches().await.unwrap(), []);
}

async fn held(store: &Store, project: &Project) -> UnappliedReceipt {
    store.unapplied_receipts(project.id, UnappliedFilter::All, None, EVERYTHING).await.unwrap().items.remove(0)
}

async fn check_balance(store: &Store, project: &Project, expected: Balance) {
    assert_eq!(store.balance(project.id, None).await.unwrap(), expected);
    assert_eq!(store.breaches().await.unwrap(), []);
}

async fn held_money_that_is_sent_back_is_held_again_if_it_comes_back(database: Database) {
    let store = database.open().await;
    let project = kept_project(&store).await;
    let payment = kept_payment(&store, samples::payment(&project)).await;
    keep(&store, samples::surplus(&payment, "late", AMOUNT, Unapplied::TooLate)).await;
    let (refund, change) = returning(&project, &held(&store, &project).await);
    let (_, again) = returning(&project, &held(&store, &project).await);
    keep(&store, change).await;
    assert_eq!(commit(&store, again).await, Outcome::Conflict(Guard::ReceiptUndecided));
    let decided = held(&store, &project).await;
    assert_eq!(decided.decided.as_ref().and_then(|decided| decided.refund), Some(refund.id));
    assert_eq!(decided.state(), ReceiptState::Returned);
    check_balance(&store, &project, Balance { refunding: AMOUNT, ..Balance::default() }).await;
    succeeded(&store, &refund).await;
    check_balance(&store, &project, Balance { refunded: AMOUNT, ..Balance::default() }).await;
    returned(&store, &refund).await;
    assert_eq!(held(&store, &project).await.state(), ReceiptState::Held);
    check_balance(&store, &project, Balance { unapplied: AMOUNT, ..Balance::default() }).await;
    keep(&store, samples::giving_back(&payment, "late", AMOUNT, after(400))).await;
    check_balance(&store, &project, Balance::default()).await;
}

async fn check_list(store: &Store, project: &Project, filter: RefundFilter, expected: &[&Refund]) {
    let listed = store.refunds(project.id, filter, EVERYTHING).await.unwrap();
    let ids = |refunds: &[Refund]| refunds.iter().map(|refund| refund.id).collect::<Vec<_>>();
    let wanted: Vec<_> = expected.iter().map(|refund| refund.id).collect();
    assert_eq!((ids(&listed.items), listed.total), (wanted.clone(), expected.len() as i64), "{filter:?}");
    let sums = store.refund_sums(project.id, filter).await.unwrap();
    let sum: Rupiah = sums.iter().map(|of| of.amount).sum();
    assert_eq!(sum, expected.iter().map(|refund| refund.amount).sum(), "{filter:?}");
    let before = store.refunds_before(project.id, filter, None, 2).await.unwrap();
    assert_eq!(ids(&before), wanted.into_iter().take(2).collect::<Vec<_>>());
}

async fn refunds_are_listed_by_payment_status_and_time(database: Database) {
    let store = database.open().await;
    let project = kept_project(&store).await;
    let (one, two) = (paid(&store, &project).await, paid(&store, &project).await);
    let first = begun(&store, &project, one.id, 1_000, PROCESSING).await;
    let second = begun(&store, &project, one.id, 2_000, AWAITING).await;
    let third = begun(&store, &project, two.id, 3_000, RefundState::RequiresAction).await;
    let fourth = begun(&store, &project, two.id, 4_000, PROCESSING).await;
    succeeded(&store, &fourth).await;
    let filter = RefundFilter::default();
    for (filter, expected) in [
        (filter, vec![&fourth, &third, &second, &first]),
        (RefundFilter { payment: Some(one.id), ..filter }, vec![&second, &first]),
        (RefundFilter { status: Some(RefundStatus::Pending), ..filter }, vec![&second, &first]),
        (RefundFilter { status: Some(RefundStatus::Succeeded), ..filter }, vec![&fourth]),
        (RefundFilter { status: Some(RefundStatus::Failed), ..filter }, vec![]),
        (RefundFilter { pending_reason: Some(PendingReason::Processing), ..filter }, vec![&first]),
        (RefundFilter { created: Some((after(100), after(101))), ..filter }, vec![&fourth, &third, &second, &first]),
        (RefundFilter { created: Some((after(101), after(200))), ..filter }, vec![]),
        (RefundFilter { payment: Some(two.id), status: Some(RefundStatus::RequiresAction), ..filter }, vec![&third]),
    ] {
        check_list(&store, &project, filter, &expected).await;
    }
    let page = store.refunds(project.id, filter, Window { offset: 1, limit: 2 }).await.unwrap();
    assert_eq!(page.items.iter().map(|refund| refund.id).collect::<Vec<_>>(), [third.id, second.id]);
    let waiting = store.refund(second.id).await.unwrap().unwrap();
    assert_eq!(store.refunds_for_a_second(EVERYTHING).await.unwrap().items, [waiting]);
    let of_payment = store.refunds_of_payment(one.id).await.unwrap();
    assert_eq!(of_payment.iter().map(|refund| refund.id).collect::<Vec<_>>(), [first.id, second.id]);
}

async fn refunds_are_counted_as_they_stand(database: Database) {
    let store = database.open().await;
    let project = kept_project(&store).await;
    let payment = paid(&store, &project).await;
    begun(&store, &project, payment.id, 1_000, PROCESSING).await;
    begun(&store, &project, payment.id, 2_000, AWAITING).await;
    begun(&store, &project, payment.id, 3_000, RefundState::RequiresAction).await;
    succeeded(&store, &begun(&store, &project, payment.id, 4_000, PROCESSING).await).await;
    let standing = |status, pending_reason, refunds, amount| RefundStanding {
        status,
        pending_reason,
        refunds,
        amount: Rupiah::new(amount),
    };
    let expected = [
        standing(RefundStatus::Pending, Some(PendingReason::AwaitingApproval), 1, 2_000),
        standing(RefundStatus::Pending, Some(PendingReason::Processing), 1, 1_000),
        standing(RefundStatus::RequiresAction, None, 1, 3_000),
        standing(RefundStatus::Succeeded, None, 1, 4_000),
    ];
    assert_eq!(store.refund_standings(project.id).await.unwrap(), expected);
    assert_eq!(store.breaches().await.unwrap(), []);
}

async fn a_claim_is_found_by_its_hash_and_tried_a_bounded_number_of_times(database: Database) {
    let store = database.open().await;
    let project = kept_project(&store).await;
    let payment = paid(&store, &project).await;
    let refund = begun(&store, &project, payment.id, 1_000, RefundState::RequiresAction).await;
    let tried = |now| RefundWrite::ClaimTried { id: refund.id, hash: claim_hash(&refund), now };
    let end = refund.claim.unwrap().expires_at;
    let late = Timestamp::from_millis(end.as_millis() + 1);
    assert_eq!(commit(&store, tried(late)).await, Outcome::Conflict(Guard::ClaimOpen));
    for _ in 0..domain::refund::CLAIM_TRIES_MOST {
        keep(&store, tried(end)).await;
    }
    assert_eq!(commit(&store, tried(NOW)).await, Outcome::Conflict(Guard::ClaimOpen));
    let kept = kept(&store, &refund).await;
    assert_eq!(kept.claim.map(|claim| claim.tries), Some(domain::refund::CLAIM_TRIES_MOST));
    assert!(!kept.takes_claims(NOW));
    assert_eq!(kept.version, refund.version, "trying is no change that others must see");
    let other = draft(&project, refund.of, refund.amount, refund.split, refund.state);
    assert_eq!(store.refund_by_claim(claim_hash(&other)).await.unwrap(), None);
}

async fn another_destination_replaces_the_number_and_none_removes_it(database: Database) {
    let store = database.open().await;
    let project = kept_project(&store).await;
    let payment = paid(&store, &project).await;
    let refund = begun(&store, &project, payment.id, 1_000, RefundState::RequiresAction).await;
    let number = async || store.refund_secrets(refund.id).await.unwrap().unwrap().number;
    assert_eq!(number().await, None);
    let given = step(&store, &refund, |refund, _| refund.give_destination(destination(), Party::Customer, true, NOW));
    keep(&store, given.await).await;
    assert_eq!(number().await, Some(vec![4, 5, 6]));
    let before = kept(&store, &refund).await;
    let changed = |destination: Option<Destination>, sealed_number, version| RefundWrite::Changed {
        refund: Box::new(Refund { destination, version, ..before.clone() }),
        from: before.state,
        sealed_number,
        claim: None,
    };
    keep(&store, changed(Some(destination()), None, before.version)).await;
    assert_eq!(number().await, Some(vec![4, 5, 6]), "the one that is stored stays");
    keep(&store, changed(Some(destination()), Some(vec![9]), before.version + 1)).await;
    assert_eq!(number().await, Some(vec![9]));
    keep(&store, changed(None, None, before.version + 2)).await;
    assert_eq!(number().await, None);
    let stale = changed(None, None, before.version + 2);
    assert_eq!(commit(&store, stale).await, Outcome::Conflict(Guard::RefundVersion));
}

async fn a_reference_of_the_bank_is_taken_once_in_a_project(database: Database) {
    let store = database.open().await;
    let (project, other) = (kept_project(&store).await, kept_project(&store).await);
    let payment = paid(&store, &project).await;
    let one = on_its_way(&store, &project, payment.id, 1_000).await;
    let two = on_its_way(&store, &project, payment.id, 1_000).await;
    succeeded(&store, &one).await;
    let free = |project: &Project, refund: &Refund| RefundWrite::ReferenceFree {
        project_id: project.id,
        refund_id: refund.id,
        reference: format!("bank {}", one.id),
    };
    assert_eq!(commit(&store, free(&project, &two)).await, Outcome::Conflict(Guard::RefundReference));
    keep(&store, free(&project, &one)).await;
    keep(&store, free(&other, &two)).await;
}

async fn a_refund_of_the_sandbox_is_due_when_its_time_has_come(database: Database) {
    let store = database.open().await;
    let project = kept_project(&store).await;
    let payment = paid(&store, &project).await;
    let (refund, _) = beginning(&store, &project, payment.id, Some(1_000), PROCESSING).await.unwrap();
    let refund = Refund { simulated_at: Some(after(2_100)), ..refund };
    let basis = store.refundable(payment.id).await.unwrap().unwrap();
    let begun = refund.clone().begin();
    let sums = RefundWrite::Sums { payment_id: payment.id, version: basis.version, moved: begun.sums };
    keep(&store, store::Change::from(sums).then(crate::refund_samples::created(begun))).await;
    assert!(store.refunds_to_simulate(after(2_099), 10).await.unwrap().is_empty());
    assert_eq!(store.refunds_to_simulate(after(2_100), 10).await.unwrap(), std::slice::from_ref(&refund));
    succeeded(&store, &refund).await;
    assert!(store.refunds_to_simulate(after(9_000), 10).await.unwrap().is_empty());
}

async fn refunds_of_another_project_are_never_listed(database: Database) {
    let store = database.open().await;
    let (project, other) = (kept_project(&store).await, kept_project(&store).await);
    let payment = paid(&store, &project).await;
    begun(&store, &project, payment.id, 1_000, PROCESSING).await;
    for filter in [RefundFilter::default(), RefundFilter { payment: Some(payment.id), ..RefundFilter::default() }] {
        let listed = store.refunds(other.id, filter, EVERYTHING).await.unwrap();
        assert_eq!((listed.items.len(), listed.total), (0, 0));
        assert!(store.refund_sums(other.id, filter).await.unwrap().is_empty());
    }
    assert!(store.refund_standings(other.id).await.unwrap().is_empty());
}
