//! Sends refunds that are ready. Each is committed as sent before its bank is called, so that of all nodes one sends it, and
//! a node that dies leaves an attempt that is only asked about.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use domain::{
    opening::{BankSend, bank_reference},
    project::Project,
    refund::{
        Failure, FailureKind, Refund, RefundRoad,
        transfer::{AttemptState, TransferAttempt},
    },
};
use futures_util::{StreamExt, stream};
use gateway::snap::{
    Beneficiary, CodeAsked, CodeKind, OrderSent, RailServices, RefundOrder, Service, TransferOrder, Verdict,
};
use rand::RngExt;
use store::{Change, CommitError, Guard, OpeningWrite, ReadyRefund, RefundWrite};

use super::{
    names::NameChecked,
    plan::{PaidCode, Plan, Route, Way, bank_named},
};
use crate::{
    Engine, Error,
    banks::{
        contracts::open_account::OpenAccount,
        outbound::{back_off::back_off, line::not_set_up, rows::answer_write},
    },
};

/// How long after the commit another node may ask about an attempt: longer than a call takes.
pub(super) const LEASE: Duration = Duration::from_secs(90);
/// An attempt whose commit took longer than this is not sent: others may ask about it soon.
const SENT_WITHIN: Duration = Duration::from_secs(30);
/// Refunds that one look takes, and those that are sent at once.
const AT_ONCE: i64 = 100;
const IN_FLIGHT_MOST: usize = 16;
/// After so many answers without a name, which take some hours, another account is needed.
const NAMELESS_ANSWERS_MOST: i64 = 40;
/// Pages of refunds that one round looks at.
const PAGES_MOST: usize = 50;

/// What is sent, with all that its call needs.
struct Dispatch {
    open: Arc<OpenAccount>,
    project: Project,
    refund: Refund,
    way: Way,
    attempt: TransferAttempt,
    send: BankSend,
    committed: Instant,
}

impl Engine {
    /// One round over all refunds that are ready; answers how many were sent.
    pub async fn send_ready_refunds(&self) -> Result<usize, Error> {
        let payers = self.paying_accounts().await?;
        let mut sent = 0;
        for road in [RefundRoad::Qris, RefundRoad::Transfer] {
            // Without an account that pays, all transfers wait for a person.
            if road == RefundRoad::Transfer && payers.is_empty() {
                continue;
            }
            let mut after = None;
            for _ in 0..PAGES_MOST {
                let page = self.store.refunds_ready_to_send(road, after, AT_ONCE).await?;
                let Some(last) = page.last() else { break };
                after = Some(last.refund.id);
                let each = stream::iter(page).map(|ready| self.send_ready(ready, &payers));
                sent +=
                    each.buffer_unordered(IN_FLIGHT_MOST).filter(|is_sent| std::future::ready(*is_sent)).count().await;
            }
        }
        Ok(sent)
    }

    async fn send_ready(&self, ready: ReadyRefund, payers: &[Arc<OpenAccount>]) -> bool {
        let id = ready.refund.id;
        match Box::pin(self.send_one_ready(ready, payers)).await {
            Ok(is_sent) => is_sent,
            Err(error) => {
                tracing::warn!(%error, refund = %id, "sending a refund failed; it is sent later, or asked about");
                false
            }
        }
    }

    async fn send_one_ready(&self, ready: ReadyRefund, payers: &[Arc<OpenAccount>]) -> Result<bool, Error> {
        let project = self.project(ready.refund.project_id).await?;
        match self.plan_refund(&project, &ready.refund, payers).await? {
            Plan::Send(route) => self.dispatch(project, ready, *route).await,
            Plan::NeedAccount(why) => {
                self.need_account(&project, ready.refund.id, why, None).await?;
                Ok(false)
            }
            Plan::Wait | Plan::ByHand => Ok(false),
        }
    }

    /// Commits that the refund is sent, and sends it.
    async fn dispatch(&self, project: Project, ready: ReadyRefund, route: Route) -> Result<bool, Error> {
        let ReadyRefund { refund, next_attempt } = ready;
        let Route { open, way } = route;
        let Some(service) = service_of(&open, &way) else { return Ok(false) };
        let reference = drawn_reference(&open);
        let way = match self.check_name(&open, &refund, way, &reference).await? {
            NameChecked::Go(way) => way,
            NameChecked::NoAccount(why) => {
                self.fail_unsent(&project, refund.id, why).await?;
                return Ok(false);
            }
            NameChecked::Nameless { has_answered } => {
                let answers = self.outbound.rest_nameless(refund.id, self.now(), back_off, has_answered);
                if answers >= NAMELESS_ANSWERS_MOST {
                    self.outbound.forget_nameless(refund.id);
                    self.need_account(&project, refund.id, Failure::from(FailureKind::NoName).reason(), None).await?;
                }
                return Ok(false);
            }
        };
        self.outbound.forget_nameless(refund.id);
        // An attempt should not fail for want of a token or a bank that is down.
        if !self.is_reached(&open).await {
            return Ok(false);
        }
        let Some(place) = self.outbound.enter() else { return Ok(false) };
        let now = self.now();
        let send = self.send_of_order(&open, &reference, service, now).await?;
        let attempt = TransferAttempt {
            refund_id: refund.id,
            number: next_attempt,
            account_id: open.id(),
            reference,
            external_id: send.external_id.clone(),
            rail: match &way {
                Way::Code(_) => None,
                Way::Account { rail, .. } => Some(*rail),
            },
            state: AttemptState::Sent,
            bank_reference: None,
            answer: None,
            sent_at: now,
            updated_at: now,
            ask_at: Some(now.plus(LEASE)),
            asked: 0,
            statement: None,
        };
        let dispatch = Dispatch { open, project, refund, way, attempt, send, committed: Instant::now() };
        let engine = self.clone();
        // A server that stops waits for this task. A commit that is dropped may be carried out all the same, and then nobody would
        // know that nothing was sent; a call that is dropped would leave the attempt unknown.
        let task = tokio::spawn(async move {
            let _place = place;
            engine.commit_and_send(dispatch).await
        });
        match task.await {
            Ok(is_sent) => is_sent,
            Err(error) => {
                tracing::error!(%error, "sending a refund panicked; it is asked about");
                Ok(true)
            }
        }
    }

    async fn commit_and_send(&self, dispatch: Dispatch) -> Result<bool, Error> {
        let Dispatch { open, refund, attempt, send, .. } = &dispatch;
        match self.store.commit(sent_once(open, refund, attempt, send)).await {
            Ok(()) => self.send_and_conclude(dispatch).await.map(|()| true),
            // Somebody has cancelled it, another node sends it or another of its payment, or the external id is taken.
            Err(CommitError::Conflict(
                Guard::RefundVersion | Guard::TransferAttempt | Guard::RefundAlone | Guard::ExternalId,
            )) => Ok(false),
            Err(error) => {
                // Whether it is stored as sent or not, it was not.
                self.outbound.note_unsent(&attempt.reference);
                Err(error.into())
            }
        }
    }

    async fn send_and_conclude(&self, dispatch: Dispatch) -> Result<(), Error> {
        let sent = self.send_order(&dispatch).await;
        let answered = answer_write(&dispatch.send, sent.code.clone(), self.now());
        if let Err(error) = self.store.commit(answered.into()).await {
            tracing::warn!(%error, "the answer to a call could not be stored");
        }
        let Dispatch { open, project, attempt, .. } = dispatch;
        Box::pin(self.conclude_order(&open, &project, attempt, sent)).await
    }

    /// The call itself: once.
    async fn send_order(&self, dispatch: &Dispatch) -> OrderSent {
        let Dispatch { open, refund, way, attempt, send, committed, .. } = dispatch;
        let not_sent = |error: gateway::snap::CallError| OrderSent {
            verdict: Verdict::NotSent,
            code: error.code().to_owned(),
            message: error.to_string(),
            bank_reference: None,
            error: Some(error),
        };
        let Ok(outgoing) = open.outgoing() else { return not_sent(not_set_up()) };
        let call = match self.dial(open, outgoing).await {
            Ok(call) => call,
            Err(error) => return not_sent(error),
        };
        let context = call.context(open, outgoing, &send.external_id);
        let service = service_of(open, way).unwrap_or(Service::QrRefund);
        if committed.elapsed() > SENT_WITHIN {
            let late = not_sent(crate::banks::memory::outbound::unavailable("its commit took too long"));
            self.hang_up(call, open, service, &Ok::<(), gateway::snap::CallError>(()));
            return late;
        }
        let sent = match way {
            Way::Code(paid) => {
                let order = refund_order(paid, refund, attempt);
                call.client.refund(&context, &order, true).await
            }
            Way::Account { rail, to, number } => {
                let order = TransferOrder {
                    rail: *rail,
                    reference: &attempt.reference,
                    amount: refund.amount,
                    to: Beneficiary {
                        bank: bank_named(to.bank),
                        number: number.reveal(),
                        name: to.holder.as_deref().unwrap_or_default(),
                    },
                    remark: &dispatch.project.merchant.name,
                    ordered_at: attempt.sent_at,
                };
                call.client.transfer(&context, &order, true).await
            }
        };
        let result = sent.error.clone().map_or(Ok(()), Err);
        self.hang_up(call, open, service, &result);
        sent
    }

    /// Whether the bank can be called now, with a token where it wants one.
    async fn is_reached(&self, open: &OpenAccount) -> bool {
        let Ok(outgoing) = open.outgoing() else { return false };
        let Ok(call) = self.dial(open, outgoing).await else { return false };
        let prepared = call.client.prepare(&call.context(open, outgoing, "")).await;
        if let Some(flight) = call.tokens.take_flight() {
            self.note_call_to_bank(open.id(), call.at, Service::Token, &flight.code, flight.latency);
        }
        call.note_health(self.now(), gateway::snap::CallHealth::of(&prepared));
        if let Err(error) = &prepared {
            tracing::warn!(%error, account = %open.id(), "a refund waits until its bank can be called");
        }
        prepared.is_ok()
    }
}

fn service_of(open: &OpenAccount, way: &Way) -> Option<Service> {
    match way {
        Way::Code(_) => open.parameters.refund_service(),
        Way::Account { rail, .. } => Some(RailServices::of(*rail).transfer),
    }
}

/// Stores an attempt as sent, by one node only, and beside no other of its payment where the bank takes one at a time.
fn sent_once(open: &OpenAccount, refund: &Refund, attempt: &TransferAttempt, send: &BankSend) -> Change {
    let is_alone = refund.road == RefundRoad::Qris && open.parameters.refunds.one_at_a_time;
    let payment_id = refund.of.payment().filter(|_| is_alone);
    let alone = payment_id.map(|payment_id| RefundWrite::AloneOfPayment { payment_id, refund_id: refund.id });
    let sent = RefundWrite::AttemptSent {
        attempt: attempt.clone(),
        project_id: refund.project_id,
        refund_version: refund.version,
        from: refund.state,
    };
    Change::default().with_all(alone).with(sent).with(OpeningWrite::Sent(send.clone()))
}

/// A reference that nobody has, as long as the bank takes it.
fn drawn_reference(open: &OpenAccount) -> String {
    let mut reference = bank_reference(rand::rng().random());
    reference.truncate(open.parameters.transfers.reference_max);
    reference
}

pub(super) fn refund_order<'a>(
    paid: &'a PaidCode,
    refund: &'a Refund,
    attempt: &'a TransferAttempt,
) -> RefundOrder<'a> {
    RefundOrder {
        code: code_asked(paid),
        reference: &attempt.reference,
        issuer_reference: paid.rrn.as_deref(),
        amount: refund.amount,
        reason: &refund.reason,
    }
}

/// The code that a refund's money came by, as the bank is asked about it.
pub(super) fn code_asked(paid: &PaidCode) -> CodeAsked<'_> {
    CodeAsked {
        kind: CodeKind::Qr,
        reference: &paid.code.reference,
        bank_reference: paid.code.bank_reference.as_deref(),
        number: None,
        amount: paid.payment.terms.amount,
        created_at: paid.code.asked_at,
    }
}
