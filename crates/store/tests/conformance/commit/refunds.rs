//! Rows of refunds, and writes about them that are refused.

use domain::{
    bank_account::BankAccount,
    id::mint,
    money::Rupiah,
    payment::Payment,
    project::Project,
    refund::{Refund, RefundState, SumsMove, transfer::AttemptState},
    refund_settings::Party,
};
use store::{Guard, LedgerWrite, RefundWrite, Store, Write};

use super::writes;
use crate::{
    bank_samples::kept_account,
    database::keep,
    refund_attempts::{attempt, noted, sent},
    refund_samples::{PROCESSING, begun, claim_hash, on_its_way, paid, succeeded},
    samples::{NOW, after, entropy, kept_project},
};

pub(super) struct RefundWorld {
    project: Project,
    payment: Payment,
    account: BankAccount,
    waiting: Refund,
    done: Refund,
    sent: Refund,
    ready: Refund,
}

pub(super) async fn refund_world(store: &Store) -> RefundWorld {
    let project = kept_project(store).await;
    let payment = paid(store, &project).await;
    let world = RefundWorld {
        account: kept_account(store).await,
        waiting: begun(store, &project, payment.id, 100, RefundState::RequiresAction).await,
        done: begun(store, &project, payment.id, 100, PROCESSING).await,
        sent: on_its_way(store, &project, payment.id, 100).await,
        ready: on_its_way(store, &project, payment.id, 100).await,
        payment,
        project,
    };
    succeeded(store, &world.done).await;
    keep(store, sent(attempt(&world.account, &world.sent, 1), &world.sent)).await;
    let by_code = begun(store, &world.project, world.payment.id, 100, PROCESSING).await;
    keep(store, sent(attempt(&world.account, &by_code, 1), &by_code)).await;
    let (project_id, made_by) = (world.project.id, Party::CommandLine);
    keep(store, RefundWrite::Batch { project_id, number: 1, made_by, at: NOW, refunds: Vec::new() }).await;
    world
}

/// Writes about refunds whose `guard` does not hold; none if it is not a guard of theirs.
pub(super) fn refused_to_refunds(guard: Guard, world: &RefundWorld) -> Vec<Write> {
    let RefundWorld { project, payment, account, waiting, done, sent: was_sent, ready } = world;
    let project_id = project.id;
    let moved = SumsMove { succeeded: Rupiah::ZERO, unfinished: Rupiah::new(1) };
    match guard {
        Guard::PaymentVersion => {
            let sums = |payment_id, version| RefundWrite::Sums { payment_id, version, moved };
            writes([sums(payment.id, 1), sums(mint(NOW, entropy()), 1)])
        }
        Guard::RefundVersion => {
            let changed = |refund: Refund| {
                let from = refund.state;
                RefundWrite::Changed { refund: Box::new(refund), from, sealed_number: None, claim: None }
            };
            let stale = Refund { version: 7, ..waiting.clone() };
            let missing = Refund { id: mint(NOW, entropy()), ..waiting.clone() };
            writes([
                changed(stale),
                changed(missing),
                sent(attempt(account, waiting, 1), waiting),
                sent(attempt(account, ready, 1), &Refund { version: 7, ..ready.clone() }),
            ])
        }
        Guard::RefundCovered => writes([RefundWrite::Covered { project_id, needed: Rupiah::new(1) }]),
        Guard::RefundReference => {
            let reference = format!("bank {}", done.id);
            writes([RefundWrite::ReferenceFree { project_id, refund_id: waiting.id, reference }])
        }
        Guard::ClaimOpen => {
            let tried = |refund: &Refund, hash: &Refund, now| RefundWrite::ClaimTried {
                id: refund.id,
                hash: claim_hash(hash),
                now,
            };
            let late = after(i64::from(u32::MAX));
            writes([tried(waiting, done, NOW), tried(done, done, NOW), tried(waiting, waiting, late)])
        }
        Guard::TransferAttempt => {
            let again = Refund { version: was_sent.version + 1, ..was_sent.clone() };
            let first = attempt(account, was_sent, 1);
            writes([
                sent(attempt(account, ready, 2), ready),
                sent(attempt(account, was_sent, 2), &again),
                noted(&domain::refund::transfer::TransferAttempt { asked: 1, ..first.clone() }, AttemptState::Done),
                noted(&attempt(account, ready, 1), AttemptState::Done),
            ])
        }
        Guard::RefundAlone => {
            let payment_id = payment.id;
            writes([waiting, ready].map(|refund| RefundWrite::AloneOfPayment { payment_id, refund_id: refund.id }))
        }
        Guard::RefundBatch => {
            let refunds = vec![(ready.id, ready.version)];
            writes([RefundWrite::Batch { project_id, number: 1, made_by: Party::CommandLine, at: NOW, refunds }])
        }
        Guard::ReceiptReturning => {
            let receipt_id = mint(NOW, entropy());
            writes([LedgerWrite::ReceiptHeldAgain { receipt_id, project_id, refund_id: waiting.id }])
        }
        _ => Vec::new(),
    }
}
