//! Attempts to send refunds by banks: what is ready to be sent, and what must be asked about.

use std::collections::HashMap;

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
    plan::Dialect,
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

/// Attempts of one refund at one account and by one rail that came to the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TriedWay {
    pub account_id: BankAccountId,
    /// None for attempts by the code that the money came by.
    pub rail: Option<Rail>,
    pub state: AttemptState,
    /// The answer, or its beginning, which has its code.
    pub answer: Option<String>,
    pub attempts: i64,
}

impl From<&TransferAttempt> for TriedWay {
    fn from(attempt: &TransferAttempt) -> TriedWay {
        let TransferAttempt { account_id, rail, state, .. } = *attempt;
        TriedWay { account_id, rail, state, answer: attempt.answer.clone(), attempts: 1 }
    }
}

impl Store {
    /// The attempts of a refund, oldest first.
    pub async fn refund_attempts(&self, id: RefundId) -> Result<Vec<TransferAttempt>, StoreError> {
        let sql = format!("SELECT {ATTEMPT} FROM refund_attempts a WHERE a.refund_id = $1 ORDER BY a.number");
        self.many(Query::new(sql, [Value::stored(id)]), attempt).await
    }

    /// How these refunds were tried so far, those left out that were not. Ask for those of one page of a list.
    pub async fn tried_ways(&self, refunds: &[RefundId]) -> Result<HashMap<RefundId, Vec<TriedWay>>, StoreError> {
        if refunds.is_empty() {
            return Ok(HashMap::new());
        }
        let sql = match self.dialect() {
            // CROSS JOIN makes SQLite look attempts up by the ids and not the other way round.
            Dialect::Sqlite => {
                "SELECT a.refund_id, a.account_id, a.rail, a.state, substr(a.answer, 1, 8), COUNT(*) \
                 FROM json_each('[\"' || replace($1, ',', '\",\"') || '\"]') wanted \
                 CROSS JOIN refund_attempts a ON a.refund_id = wanted.value \
                 GROUP BY a.refund_id, a.account_id, a.rail, a.state, substr(a.answer, 1, 8)"
            }
            Dialect::Postgres => {
                "SELECT a.refund_id, a.account_id, a.rail, a.state, substr(a.answer, 1, 8), COUNT(*) \
                 FROM refund_attempts a WHERE a.refund_id = ANY (string_to_array($1, ',')) \
                 GROUP BY a.refund_id, a.account_id, a.rail, a.state, substr(a.answer, 1, 8)"
            }
        };
        let wanted = refunds.iter().map(RefundId::to_string).collect::<Vec<_>>().join(",");
        let mut tried: HashMap<RefundId, Vec<TriedWay>> = HashMap::new();
        for (refund_id, way) in self.many(Query::new(sql, [wanted.into()]), tried_way).await? {
            tried.entry(refund_id).or_default().push(way);
        }
        Ok(tried)
    }

    /// The attempt that we have named so to a bank.
    pub async fn refund_attempt_by_reference(&self, reference: &str) -> Result<Option<TransferAttempt>, StoreError> {
        let sql = format!("SELECT {ATTEMPT} FROM refund_attempts a WHERE a.reference = $1");
        self.one(Query::new(sql, [reference.to_owned().into()]), attempt).await
    }

    /// What we have named transfers of this amount from an account, of refunds other than `but` that were made from `since` on, the
    /// newest first.
    pub async fn references_of_transfers(
        &self,
        account_id: BankAccountId,
        amount: Rupiah,
        but: RefundId,
        since: Timestamp,
        most: i64,
    ) -> Result<Vec<String>, StoreError> {
        // The ids of refunds begin with the time at which they were made.
        let first: RefundId = mint(since, [0; 10]);
        let sql = "SELECT a.reference FROM refund_attempts a JOIN refunds f ON f.id = a.refund_id WHERE a.refund_id >= $1 \
                   AND a.account_id = $2 AND a.rail IS NOT NULL AND f.amount = $3 AND f.id <> $4 ORDER BY a.refund_id DESC LIMIT $5";
        let parameters =
            [Value::stored(first), Value::stored(account_id), amount.into(), Value::stored(but), most.into()];
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

fn tried_way(columns: &mut Columns<'_>) -> Result<(RefundId, TriedWay), StoreError> {
    let refund_id = columns.parsed()?;
    let way = TriedWay {
        account_id: columns.parsed()?,
        rail: columns.optional_text()?.as_deref().and_then(Rail::parse),
        state: columns.word(AttemptState::parse)?,
        answer: columns.optional_text()?,
        attempts: columns.integer()?,
    };
    Ok((refund_id, way))
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
