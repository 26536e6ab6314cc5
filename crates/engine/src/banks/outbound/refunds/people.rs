//! What people need to know of a refund of which no bank says what became of it, and what their word is judged by when they end it
//! as failed: the time in which "not found" proves nothing, and the account's statement.

use std::time::Duration;

use domain::{
    destination::Rail,
    id::RefundId,
    project::Project,
    refund::{
        Refund,
        doubt::{Evidence, StatementFinding, StatementReading},
        transfer::{AttemptState, TransferAttempt},
    },
    time::{DAY, Timestamp},
};
use gateway::snap::{OnStatement, Service};
use store::RefundWrite;
use tokio::time::timeout;

use super::ask::patience_ends;
use crate::{Engine, Error, banks::contracts::open_account::OpenAccount};

/// How long the clearing may take: it works on bank days, and an order of a Friday may wait for Monday.
const CLEARING_MOST: Duration = DAY.saturating_mul(4);

/// How long a person waits for the statement.
const READ_WITHIN: Duration = Duration::from_secs(15);

/// What the account of an uncertain attempt says about ending it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UncertainTerms {
    /// Until then, an order that the bank does not find may still be carried out.
    pub proves_nothing_until: Timestamp,
    /// Whether we can read a statement on which the transfer would stand.
    pub has_statement: bool,
    /// For how many days the bank says what became of an order.
    pub status_days: u32,
}

impl Engine {
    /// By what people may end an uncertain attempt; none where the settings of its account are not understood any more.
    pub(crate) async fn uncertain_terms(&self, attempt: &TransferAttempt) -> Option<UncertainTerms> {
        let open = match self.open_account(attempt.account_id).await {
            Ok(open) => open,
            Err(error) => {
                tracing::warn!(%error, account = %attempt.account_id, "the account of an uncertain refund cannot be used");
                return None;
            }
        };
        Some(UncertainTerms {
            proves_nothing_until: proves_nothing_until(&open, attempt),
            has_statement: has_statement(&open, attempt),
            status_days: open.parameters.transfers.status_days,
        })
    }

    /// What is known of an uncertain attempt when a person says that it was not made; none where no bank may have made it. Once the
    /// bank's time is over, its statement is read anew. `is_confirmed`: the person has looked at the bank's own statement.
    pub(crate) async fn refund_evidence(
        &self,
        project: &Project,
        id: RefundId,
        is_confirmed: bool,
    ) -> Result<Option<Evidence>, Error> {
        let refund = self.refund(project.id, id).await?;
        let attempts = self.store.refund_attempts(id).await?;
        let is_uncertain = |attempt: &TransferAttempt| attempt.state == AttemptState::Unknown;
        let Some(attempt) = attempts.into_iter().find(is_uncertain) else { return Ok(None) };
        let open = self.open_account(attempt.account_id).await?;
        let proves_nothing_until = proves_nothing_until(&open, &attempt);
        let has_statement = has_statement(&open, &attempt);
        let mut reading = attempt.statement;
        if has_statement && self.now() > proves_nothing_until {
            // What could be read before counts where the bank shows nothing now, or takes too long for a person who waits.
            let read = timeout(READ_WITHIN, self.read_statement_of(&open, &refund, &attempt)).await;
            reading = read.unwrap_or(Ok(None))?.or(reading);
        }
        Ok(Some(Evidence {
            attempt: attempt.number,
            proves_nothing_until,
            is_on_its_way: attempt.is_on_its_way(),
            has_statement,
            reading,
            is_confirmed,
        }))
    }

    /// Reads the account's statement for an attempt, and keeps with the attempt what it says; none where it was not read.
    pub(super) async fn read_statement_of(
        &self,
        open: &OpenAccount,
        refund: &Refund,
        attempt: &TransferAttempt,
    ) -> Result<Option<StatementReading>, Error> {
        let at = self.now();
        let found = match self.on_statement(open, refund, attempt).await? {
            Some(OnStatement::Absent) => StatementFinding::Absent,
            Some(OnStatement::Debited) => StatementFinding::Debited,
            Some(OnStatement::Returned) => StatementFinding::Returned,
            Some(OnStatement::OtherAmount) => StatementFinding::OtherAmount,
            Some(OnStatement::Unclear) => StatementFinding::Unclear,
            None => return Ok(None),
        };
        let reading = StatementReading { at, found };
        let read = RefundWrite::StatementRead { refund_id: attempt.refund_id, number: attempt.number, reading };
        self.store.commit(read.into()).await?;
        Ok(Some(reading))
    }
}

/// Until when an order that no bank finds and no statement holds may still be carried out.
fn proves_nothing_until(open: &OpenAccount, attempt: &TransferAttempt) -> Timestamp {
    let is_cleared = matches!(attempt.rail, Some(Rail::Skn | Rail::Rtgs));
    let cleared_by = attempt.sent_at.plus(if is_cleared { CLEARING_MOST } else { Duration::ZERO });
    patience_ends(open, attempt).max(cleared_by)
}

/// Whether the account has a statement that we can read, on which a transfer stands by our reference. A refund by code does not.
fn has_statement(open: &OpenAccount, attempt: &TransferAttempt) -> bool {
    attempt.rail.is_some() && open.parameters.url(Service::Statement).is_some()
}
