//! Sends the same order again under the same reference, where the bank is known to take it for the one that it has: the only
//! way in which some banks say what became of a refund. Nothing else is ever sent twice.

use std::time::Duration;

use domain::{
    project::Project,
    refund::{
        Refund,
        transfer::{AttemptState, TransferAttempt},
    },
    time::Timestamp,
};
use gateway::snap::{Resend, Verdict};
use store::OpeningWrite;

use super::{ask::patience_ends, judged::Known, send::refund_order};
use crate::{
    Engine, Error,
    banks::{contracts::open_account::OpenAccount, outbound::rows::answer_write},
};

/// An order is sent again after so many questions that said nothing, and after as many more.
const QUESTIONS_BEFORE: i64 = 3;
/// So long before people may end the refund as failed nothing is sent again any more: longer than a call takes.
const MARGIN: Duration = Duration::from_mins(5);

impl Engine {
    /// Sends the order of an attempt again, where that is allowed and due. False where it was not, or said nothing.
    pub(super) async fn send_same_again(
        &self,
        open: &OpenAccount,
        project: &Project,
        refund: &Refund,
        attempt: &TransferAttempt,
    ) -> Result<bool, Error> {
        if !may_send_again(open, refund, attempt, self.now()) {
            return Ok(false);
        }
        let (Ok(outgoing), Some(service)) = (open.outgoing(), open.parameters.refund_service()) else {
            return Ok(false);
        };
        let Some((paid, ..)) = self.code_of_refund(refund).await? else { return Ok(false) };
        let Ok(call) = self.dial(open, outgoing).await else { return Ok(false) };
        let now = self.now();
        let mut send = self.send_of_order(open, &attempt.reference, service, now).await?;
        if open.parameters.transfers.resend == Resend::SameExternalId {
            // The call is in the log already.
            send.external_id.clone_from(&attempt.external_id);
        } else {
            self.store.commit(OpeningWrite::Sent(send.clone()).into()).await?;
        }
        let context = call.context(open, outgoing, &send.external_id);
        let order = refund_order(&paid, refund, attempt);
        let sent = call.client.refund(&context, &order, false).await;
        self.hang_up(call, open, service, &sent.error.clone().map_or(Ok(()), Err));
        self.store.commit(answer_write(&send, sent.code.clone(), self.now()).into()).await?;
        // A refusal speaks of this call, and not of the one before.
        if sent.verdict != Verdict::Done {
            return Ok(false);
        }
        let answer = format!("{} {}", sent.code, sent.message);
        let done = Known::ended(AttemptState::Done, sent.bank_reference, answer);
        self.conclude_done(project, attempt, done).await.map(|()| true)
    }
}

fn may_send_again(open: &OpenAccount, refund: &Refund, attempt: &TransferAttempt, now: Timestamp) -> bool {
    attempt.rail.is_none()
        && open.parameters.transfers.resend != Resend::Never
        && refund.is_ready()
        && attempt.asked % QUESTIONS_BEFORE == 0
        && now.plus(MARGIN) < patience_ends(open, attempt)
}
