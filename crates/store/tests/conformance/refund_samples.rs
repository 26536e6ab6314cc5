//! Refunds as the engine commits them.

use domain::{
    bank_difference::{Difference, DifferenceKey, DifferenceKind},
    destination::{Destination, TransferBank},
    event::{Event, News},
    id::{PaymentId, mint},
    ledger::Posting,
    money::Rupiah,
    payment::Payment,
    project::Project,
    receipt::{Decided, Decision, UnappliedReceipt},
    refund::{
        Claim, Judged, NoRoom, PendingReason, Refund, RefundOf, RefundRoad, RefundState, RefundStep, RefundStuck,
        Split, SumsMove,
        found::FoundSource,
        transfer::{AttemptState, TransferAttempt},
    },
    refund_settings::Party,
    time::Timestamp,
    user::TokenHash,
};
use store::{Change, LedgerWrite, OpeningWrite, RefundWrite, SealedClaim, Store, WebhookWrite};

use crate::{
    database::keep,
    samples::{self, NOW, after, confirmation, entropy, kept_payment},
};

pub(crate) const PROCESSING: RefundState = RefundState::Pending(PendingReason::Processing);
pub(crate) const AWAITING: RefundState = RefundState::Pending(PendingReason::AwaitingApproval);

/// A payment that was paid and has not settled.
pub(crate) async fn paid(store: &Store, project: &Project) -> Payment {
    let payment = kept_payment(store, samples::payment(project)).await;
    keep(store, confirmation(&payment, None, &payment.id.to_string())).await;
    payment
}

/// Settles what is due and left of a payment, as the engine does.
pub(crate) async fn settled(store: &Store, id: PaymentId, at: Timestamp) {
    keep(store, settlement_now(store, id, at).await).await;
}

pub(crate) async fn settlement_now(store: &Store, id: PaymentId, at: Timestamp) -> Change {
    let due = store.due_to_settle(Timestamp::from_millis(i64::MAX), 1_000).await.unwrap();
    let due = due.into_iter().find(|due| due.payment_id == id).unwrap();
    let posting = (due.left > Rupiah::ZERO).then(|| Posting::settled(due.project_id, id, due.left, at));
    Change::from(store::PaymentWrite::Settled { payment_id: id, version: due.version })
        .with_all(posting.map(LedgerWrite::Posting))
}

pub(crate) fn draft(project: &Project, of: RefundOf, amount: Rupiah, split: Split, state: RefundState) -> Refund {
    let is_waiting = state == RefundState::RequiresAction;
    Refund {
        id: mint(after(100), entropy()),
        project_id: project.id,
        of,
        amount,
        split,
        fee_returned: Rupiah::ZERO,
        state,
        road: if is_waiting { RefundRoad::Transfer } else { RefundRoad::Qris },
        reason: "Habis".to_owned(),
        destination: None,
        destination_by: None,
        claim: is_waiting.then(|| Claim::opened(NOW)),
        made_by: Party::CommandLine,
        approved_by: None,
        doubt: None,
        found: None,
        bank_reference: None,
        failure_reason: None,
        metadata: None,
        batch: None,
        simulated_at: None,
        created_at: after(100),
        updated_at: after(100),
        version: 1,
    }
}

/// Of what this token is looked up by.
pub(crate) fn claim_hash(refund: &Refund) -> TokenHash {
    let text = refund.id.to_string();
    TokenHash(std::array::from_fn(|index| text.as_bytes().get(index).copied().unwrap_or_default()))
}

pub(crate) fn destination() -> Destination {
    let bank = &TransferBank::ALL[0];
    Destination { bank, last_digits: "7890".to_owned(), holder: Some("SITI".to_owned()), is_checked: true }
}

/// Judges a refund by what is in the database, and makes the change that begins it.
pub(crate) async fn beginning(
    store: &Store,
    project: &Project,
    payment: PaymentId,
    amount: Option<i64>,
    state: RefundState,
) -> Result<(Refund, Change), NoRoom> {
    let basis = store.refundable(payment).await.unwrap().unwrap();
    let available = store.balance(project.id, None).await.unwrap().available;
    let Judged { amount, split } = basis.refundable.judge(amount.map(Rupiah::new), available)?;
    let refund = draft(project, RefundOf::Payment(payment), amount, split, state);
    let step = refund.clone().begin();
    let sums = RefundWrite::Sums { payment_id: payment, version: basis.version, moved: step.sums };
    let needed = split.needs_available();
    let covered = (needed > Rupiah::ZERO).then_some(RefundWrite::Covered { project_id: project.id, needed });
    Ok((refund, Change::from(sums).with_all(covered).then(created(step))))
}

pub(crate) fn created(step: RefundStep) -> Change {
    let RefundStep { refund, posting, news, .. } = step;
    let claim = refund.claim.map(|_| SealedClaim { hash: claim_hash(&refund), sealed: vec![7, 8] });
    let told = news.map(|news| event_about(&refund, news));
    Change::from(RefundWrite::Created { refund: Box::new(refund), sealed_number: None, claim })
        .with_all(posting.map(LedgerWrite::Posting))
        .with_all(told)
}

fn event_about(refund: &Refund, news: domain::refund::RefundNews) -> WebhookWrite {
    let news = News::Refund { refund: refund.id, news };
    WebhookWrite::Event(Event {
        id: mint(after(100), entropy()),
        project_id: refund.project_id,
        created_at: after(100),
        news,
    })
}

/// A refund that has begun.
pub(crate) async fn begun(
    store: &Store,
    project: &Project,
    payment: PaymentId,
    amount: i64,
    state: RefundState,
) -> Refund {
    let (refund, change) = beginning(store, project, payment, Some(amount), state).await.unwrap();
    keep(store, change).await;
    refund
}

/// What a step of a refund is as a change, by what is in the database.
pub(crate) async fn step(
    store: &Store,
    before: &Refund,
    go: impl FnOnce(Refund, bool) -> Result<RefundStep, RefundStuck>,
) -> Change {
    let before = store.refund(before.id).await.unwrap().unwrap();
    let basis = match before.of {
        RefundOf::Payment(payment) => store.refundable(payment).await.unwrap(),
        RefundOf::Receipt { .. } => None,
    };
    let is_unsettled = basis.is_some_and(|basis| basis.refundable.is_unsettled);
    let RefundStep { refund, posting, sums, news } = go(before.clone(), is_unsettled).unwrap();
    let payment = before.of.payment().zip(basis).filter(|_| sums != SumsMove::default());
    let sums = payment.map(|(payment_id, basis)| {
        let (version, moved) = (basis.version, sums);
        match refund.found == before.found {
            true => RefundWrite::Sums { payment_id, version, moved },
            false => RefundWrite::SumsFoundDone { payment_id, version, moved },
        }
    });
    let gave_up = matches!(refund.state, RefundState::Failed | RefundState::Cancelled | RefundState::Returned { .. });
    let gave_up = gave_up && refund.split.unapplied > Rupiah::ZERO;
    let held_again = refund.of.receipt().filter(|_| gave_up).map(|receipt_id| LedgerWrite::ReceiptHeldAgain {
        receipt_id,
        project_id: refund.project_id,
        refund_id: refund.id,
    });
    let sealed_number = refund.destination.is_some().then(|| vec![4, 5, 6]);
    let told = news.map(|news| event_about(&refund, news));
    let changed = RefundWrite::Changed { refund: Box::new(refund), from: before.state, sealed_number, claim: None };
    Change::default()
        .with_all(sums)
        .with(changed)
        .with_all(posting.map(LedgerWrite::Posting))
        .with_all(held_again)
        .with_all(told)
}

pub(crate) async fn succeeded(store: &Store, refund: &Refund) {
    let reference = format!("bank {}", refund.id);
    let change = step(store, refund, |refund, _| refund.succeed(Some(reference), after(200))).await;
    keep(store, change).await;
}

pub(crate) async fn failed(store: &Store, refund: &Refund) {
    keep(store, step(store, refund, |refund, unsettled| refund.fail("no".to_owned(), unsettled, after(200))).await)
        .await;
}

/// What makes a refund succeed that had been ended as failed, with the difference that tells of it.
pub(crate) async fn finding_done(store: &Store, refund: &Refund, attempt: &TransferAttempt) -> Change {
    let payment = match refund.of.payment() {
        Some(payment) => store.refundable(payment).await.unwrap(),
        None => None,
    };
    let held = match refund.of.receipt() {
        Some(receipt) => {
            store.unapplied_receipt(refund.project_id, receipt).await.unwrap().filter(|held| held.decided.is_none())
        }
        None => None,
    };
    let source = match (&payment, &held) {
        (Some(payment), _) => FoundSource::Payment(&payment.refundable),
        (None, Some(_)) => FoundSource::HeldMoney,
        (None, None) => FoundSource::Available,
    };
    let reference = Some(format!("bank {}", refund.id));
    let change = step(store, refund, |refund, _| refund.found_done(source, reference, after(400))).await;
    let difference = Difference {
        key: DifferenceKey {
            account_id: attempt.account_id,
            subject: attempt.reference.clone(),
            kind: DifferenceKind::Refunded,
        },
        day: 1,
        payment_id: Some(refund.of.about()),
        ours: Some(Rupiah::ZERO),
        theirs: Some(refund.amount),
        found_at: after(400),
        settled: None,
    };
    let returned = held.map(|held| {
        let decided = Decided {
            decision: Decision::Returned,
            at: after(400),
            note: "Ternyata dikirim".to_owned(),
            by: None,
            refund: Some(refund.id),
        };
        LedgerWrite::ReceiptDecided { key: held.receipt.key, project_id: held.project_id, decided }
    });
    change.with(OpeningWrite::DifferenceFound(difference)).with_all(returned)
}

/// A refund that was sent, that no bank has said the end of, and that people have ended as failed.
pub(crate) async fn given_up(store: &Store, refund: &Refund, attempt: &TransferAttempt) -> Refund {
    let sent = RefundWrite::AttemptSent {
        attempt: attempt.clone(),
        project_id: refund.project_id,
        refund_version: refund.version,
        from: refund.state,
    };
    keep(store, sent).await;
    let unknown = TransferAttempt { state: AttemptState::Unknown, asked: 1, ..attempt.clone() };
    keep(store, RefundWrite::AttemptNoted { attempt: unknown, from: AttemptState::Sent, asked: 0 }).await;
    failed(store, refund).await;
    store.refund(refund.id).await.unwrap().unwrap()
}

pub(crate) async fn cancelled(store: &Store, refund: &Refund) {
    keep(store, step(store, refund, |refund, unsettled| refund.cancel(false, unsettled, after(200))).await).await;
}

pub(crate) async fn returned(store: &Store, refund: &Refund) {
    let change = step(store, refund, |refund, unsettled| refund.come_back("closed".to_owned(), unsettled, after(300)));
    keep(store, change.await).await;
}

/// A refund to an account that is on its way.
pub(crate) async fn on_its_way(store: &Store, project: &Project, payment: PaymentId, amount: i64) -> Refund {
    let refund = begun(store, project, payment, amount, RefundState::RequiresAction).await;
    let change =
        step(store, &refund, |refund, _| refund.give_destination(destination(), Party::Customer, false, after(150)));
    keep(store, change.await).await;
    store.refund(refund.id).await.unwrap().unwrap()
}

/// Sends held money back by a refund.
pub(crate) fn returning(project: &Project, held: &UnappliedReceipt) -> (Refund, Change) {
    let of = RefundOf::Receipt { receipt: held.id, sent_for: held.payment_id };
    let amount = held.receipt.amount;
    let refund = draft(project, of, amount, Split::of_held_money(amount), PROCESSING);
    let refund = Refund { road: RefundRoad::Transfer, ..refund };
    let decided = Decided {
        decision: Decision::Returned,
        at: after(100),
        note: "Dikirim kembali".to_owned(),
        by: None,
        refund: Some(refund.id),
    };
    let decided = LedgerWrite::ReceiptDecided { key: held.receipt.key.clone(), project_id: project.id, decided };
    (refund.clone(), Change::from(decided).then(created(refund.begin())))
}
