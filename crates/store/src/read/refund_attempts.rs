//! Attempts to send refunds by banks: what is ready to be sent, and what must be asked about.

use domain::{
    destination::Rail,
    id::{BankAccountId, RefundId, mint},
    money::Rupiah,
    refund::{
        Refund, RefundRoad,
        doubt::{StatementFinding, StatementReading},
        transfer::{AttemptState, TransferAttempt},
    },
    time::Timestamp,
};

use super::refunds::{columns, refund};
use crate::{
    Store,
    error::StoreError,
    value::{Columns, Query, Value},
};

const ATTEMPT: &str = "a.refund_id, a.number, a.account_id, a.reference, a.rail, a.state, a.bank_reference, a.answer, \
    a.sent_at, a.updated_at, a.ask_at, a.asked, a.external_id, a.statement_at, a.statement_found";

/// A refund that may be sent, and the number that its next attempt has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadyRefund {
    pub refund: Refund,
    pub next_attempt: i64,
}

impl Store {
    /// The attempts of a refund, oldest first.
    pub async fn refund_attempts(&self, id: RefundId) -> Result<Vec<TransferAttempt>, StoreError> {
        let sql = format!("SELECT {ATTEMPT} FROM refund_attempts a WHERE a.refund_id = $1 ORDER BY a.number");
        self.many(Query::new(sql, [Value::stored(id)]), attempt).await
    }

    /// The attempt that we have named so to a bank.
    pub async fn refund_attempt_by_reference(&self, reference: &str) -> Result<Option<TransferAttempt>, StoreError> {
        let sql = format!("SELECT {ATTEMPT} FROM refund_attempts a WHERE a.reference = $1");
        self.one(Query::new(sql, [reference.to_owned().into()]), attempt).await
    }

    /// What we have named transfers of this amount from an account, of refunds that were made from `since` on, the newest first.
    pub async fn references_of_transfers(
        &self,
        account_id: BankAccountId,
        amount: Rupiah,
        since: Timestamp,
        most: i64,
    ) -> Result<Vec<String>, StoreError> {
        // The ids of refunds begin with the time at which they were made.
        let first: RefundId = mint(since, [0; 10]);
        let sql = "SELECT a.reference FROM refund_attempts a JOIN refunds f ON f.id = a.refund_id WHERE a.refund_id >= $1 \
                   AND a.account_id = $2 AND a.rail IS NOT NULL AND f.amount = $3 ORDER BY a.refund_id DESC LIMIT $4";
        let parameters = [Value::stored(first), Value::stored(account_id), amount.into(), most.into()];
        self.due(Query::new(sql, parameters), |columns| columns.text()).await
    }

    /// Refunds of production projects that may be sent by this road: on their way, in no batch, and without an attempt that the
    /// bank may have carried out. Those after `after`, oldest first.
    pub async fn refunds_ready_to_send(
        &self,
        road: RefundRoad,
        after: Option<RefundId>,
        most: i64,
    ) -> Result<Vec<ReadyRefund>, StoreError> {
        let sql = concat!(
            "SELECT (SELECT 1 + COUNT(*) FROM refund_attempts a WHERE a.refund_id = f.id), ",
            columns!(),
            " FROM refunds f JOIN projects p ON p.id = f.project_id WHERE f.status = 'pending' \
             AND f.pending_reason IN ('processing', 'insufficient_balance') AND f.batch IS NULL AND f.road = $1 \
             AND f.id > $2 AND p.environment = 'production' AND NOT EXISTS (SELECT 1 FROM refund_attempts a \
             WHERE a.refund_id = f.id AND a.state <> 'refused') ORDER BY f.id LIMIT $3"
        );
        let after = after.map(|id| id.to_string()).unwrap_or_default();
        self.due(Query::new(sql, [road.word().into(), after.into(), most.into()]), |columns| {
            Ok(ReadyRefund { next_attempt: columns.integer()?, refund: refund(columns)? })
        })
        .await
    }

    /// Attempts at an account that the bank must be asked about now, longest due first.
    pub async fn refund_attempts_to_ask(
        &self,
        account_id: BankAccountId,
        now: Timestamp,
        most: i64,
    ) -> Result<Vec<TransferAttempt>, StoreError> {
        let sql = format!(
            "SELECT {ATTEMPT} FROM refund_attempts a WHERE a.account_id = $1 AND a.ask_at <= $2 ORDER BY a.ask_at LIMIT $3"
        );
        self.due(Query::new(sql, [Value::stored(account_id), now.into(), most.into()]), attempt).await
    }

    /// The accounts that have attempts which a bank must be asked about now.
    pub async fn accounts_with_refund_attempts(&self, now: Timestamp) -> Result<Vec<BankAccountId>, StoreError> {
        let sql = "SELECT DISTINCT account_id FROM refund_attempts WHERE ask_at <= $1";
        self.due(Query::new(sql, [now.into()]), |columns| columns.parsed()).await
    }
}

fn attempt(columns: &mut Columns<'_>) -> Result<TransferAttempt, StoreError> {
    Ok(TransferAttempt {
        refund_id: columns.parsed()?,
        number: columns.integer()?,
        account_id: columns.parsed()?,
        reference: columns.text()?,
        rail: columns.optional_text()?.as_deref().and_then(Rail::parse),
        state: columns.word(AttemptState::parse)?,
        bank_reference: columns.optional_text()?,
        answer: columns.optional_text()?,
        sent_at: columns.timestamp()?,
        updated_at: columns.timestamp()?,
        ask_at: columns.optional_timestamp()?,
        asked: columns.integer()?,
        external_id: columns.text()?,
        statement: {
            let (at, found) = (columns.optional_timestamp()?, columns.optional_text()?);
            let found = found.as_deref().and_then(StatementFinding::parse);
            at.zip(found).map(|(at, found)| StatementReading { at, found })
        },
    })
}
