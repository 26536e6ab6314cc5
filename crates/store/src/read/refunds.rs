//! Refunds: lists, sums, and what is needed to judge one.

use domain::{
    destination::{Destination, TransferBank},
    id::{PaymentId, ProjectId, ReceiptId, RefundId, first_id_at, kind},
    money::Rupiah,
    payment::State,
    refund::{
        Claim, PendingReason, Refund, RefundOf, RefundRoad, RefundState, RefundStatus, Refundable, Split, doubt::Doubt,
        found::FoundDone,
    },
    refund_settings::Party,
    time::Timestamp,
    user::TokenHash,
};

use super::{Conditions, Listed, Window, payments};
use crate::{
    Store,
    error::StoreError,
    value::{Columns, Query, Value},
};

macro_rules! columns {
    () => {
        "f.id, f.project_id, f.payment_id, f.receipt_id, f.amount, COALESCE(f.found_from_pending, f.from_pending), \
         CASE WHEN f.found_done_at IS NULL THEN f.from_available ELSE f.amount - f.found_from_pending - f.found_from_unapplied END, \
         CASE WHEN f.found_done_at IS NULL THEN f.from_fee ELSE 0 END, COALESCE(f.found_from_unapplied, f.from_unapplied), \
         f.fee_returned, f.status, f.pending_reason, f.succeeded_at, f.road, f.reason, f.destination_bank, \
         f.destination_digits, f.destination_holder, f.destination_checked, f.destination_by, f.claim_expires_at, \
         f.claim_tries, f.made_by, f.approved_by, f.failing_by, f.failing_at, f.failing_attempt, f.failing_confirmed, \
         f.bank_reference, f.failure_reason, f.found_done_at, f.found_failure, f.metadata, f.batch, \
         f.simulated_at, f.created_at, f.updated_at, f.version"
    };
}
pub(super) use columns;

/// Whether a pending refund waits for a second person.
macro_rules! for_a_second {
    () => {
        "(f.pending_reason = 'awaiting_approval' OR (f.failing_attempt = 0 AND f.batch IS NOT NULL) \
         OR f.failing_attempt = (SELECT a.number FROM refund_attempts a WHERE a.refund_id = f.id AND a.state = 'unknown'))"
    };
}

const BY_ID: &str = concat!("SELECT ", columns!(), " FROM refunds f WHERE f.id = $1");
const BY_CLAIM: &str = concat!("SELECT ", columns!(), " FROM refunds f WHERE f.claim_hash = $1");
/// The most refunds of one payment that are read.
const OF_PAYMENT_MOST: i64 = 1_000;

/// Which of a project's refunds to list; everything that is given must match.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RefundFilter {
    pub payment: Option<PaymentId>,
    pub receipt: Option<ReceiptId>,
    pub status: Option<RefundStatus>,
    /// Of pending ones.
    pub pending_reason: Option<PendingReason>,
    pub batch: Option<i64>,
    /// Those that a person can transfer now: to an account, approved, in no batch and not sent.
    pub to_transfer: bool,
    /// Made from the first instant on, and before the second.
    pub created: Option<(Timestamp, Timestamp)>,
}

/// How many refunds of a project stand like this, and what they add up to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RefundStanding {
    pub status: RefundStatus,
    pub pending_reason: Option<PendingReason>,
    pub refunds: i64,
    pub amount: Rupiah,
}

/// What is encrypted of a refund.
pub struct RefundSecrets {
    pub number: Option<Vec<u8>>,
    pub claim: Option<Vec<u8>>,
}

/// What a refund of a payment is judged by, at one moment.
#[derive(Clone, Copy, Debug)]
pub struct RefundableNow {
    pub project_id: ProjectId,
    pub is_qris: bool,
    pub refundable: Refundable,
    /// The payment's version at that moment.
    pub version: i64,
}

/// A numbered batch of transfers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RefundBatch {
    pub number: i64,
    pub made_by: Party,
    pub created_at: Timestamp,
    pub refunds: i64,
    pub amount: Rupiah,
    /// Those of its refunds that nobody has said the end of.
    pub open: i64,
    /// Those that were not transferred, as people have recorded. The batch's file still has them.
    pub released: i64,
}

impl Store {
    /// A refund of any project.
    pub async fn refund(&self, id: RefundId) -> Result<Option<Refund>, StoreError> {
        self.one(Query::new(BY_ID, [Value::stored(id)]), refund).await
    }

    /// The refund whose claim page has the token with this hash.
    pub async fn refund_by_claim(&self, hash: TokenHash) -> Result<Option<Refund>, StoreError> {
        self.one(Query::new(BY_CLAIM, [hash.0.to_vec().into()]), refund).await
    }

    pub async fn refund_secrets(&self, id: RefundId) -> Result<Option<RefundSecrets>, StoreError> {
        let sql = "SELECT destination_number, claim_token FROM refunds WHERE id = $1";
        self.one(Query::new(sql, [Value::stored(id)]), |columns| {
            Ok(RefundSecrets { number: columns.optional_bytes()?, claim: columns.optional_bytes()? })
        })
        .await
    }

    /// The refunds of a project, newest first. Without conditions, or with that of a status alone, they are not counted: their
    /// number is kept.
    pub async fn refunds(
        &self,
        project_id: ProjectId,
        filter: RefundFilter,
        window: Window,
    ) -> Result<Listed<Refund>, StoreError> {
        let total = match filter.is_kept() {
            true => {
                self.refund_standings(project_id).await?.iter().filter(|of| of.fits(filter)).map(|of| of.refunds).sum()
            }
            false => self.many(count(project_id, filter), |columns| columns.integer()).await?.into_iter().sum(),
        };
        Ok(Listed { items: self.many(page(project_id, filter, window), refund).await?, total })
    }

    /// The next refunds made before `cursor`, newest first.
    pub async fn refunds_before(
        &self,
        project_id: ProjectId,
        filter: RefundFilter,
        cursor: Option<RefundId>,
        most: i64,
    ) -> Result<Vec<Refund>, StoreError> {
        let mut conditions = refund_conditions(project_id, filter);
        if let Some(cursor) = cursor {
            conditions.and("f.id < ?", Value::stored(cursor));
        }
        let limit = conditions.place(most);
        let sql = format!(
            concat!("SELECT ", columns!(), " FROM refunds f {} ORDER BY f.id DESC LIMIT {}"),
            conditions.sql, limit
        );
        self.many(Query::new(sql, conditions.parameters), refund).await
    }

    /// What the refunds that fit add up to, by how they stand. Without conditions, or with that of a status alone, their sums
    /// are kept.
    pub async fn refund_sums(
        &self,
        project_id: ProjectId,
        filter: RefundFilter,
    ) -> Result<Vec<RefundStanding>, StoreError> {
        if filter.is_kept() {
            let standings = self.refund_standings(project_id).await?;
            return Ok(standings.into_iter().filter(|of| of.fits(filter)).collect());
        }
        let Conditions { sql, parameters } = refund_conditions(project_id, filter);
        let sums = format!(
            "SELECT COALESCE(f.pending_reason, f.status) AS standing, COUNT(*), CAST(SUM(f.amount) AS BIGINT) \
             FROM refunds f {sql} GROUP BY COALESCE(f.pending_reason, f.status) ORDER BY standing"
        );
        self.many(Query::new(sums, parameters), refund_standing).await
    }

    /// How many refunds a bank was asked for and has not said whether it has done them, and what they add up to.
    pub async fn uncertain_refunds(&self, project_id: ProjectId) -> Result<(i64, Rupiah), StoreError> {
        let sql = "SELECT COUNT(*), CAST(COALESCE(SUM(f.amount), 0) AS BIGINT) FROM refunds f \
                   JOIN refund_attempts a ON a.refund_id = f.id AND a.state = 'unknown' \
                   WHERE f.project_id = $1 AND f.status = 'pending'";
        let found = self
            .many(Query::new(sql, [Value::stored(project_id)]), |columns| Ok((columns.integer()?, columns.rupiah()?)));
        Ok(found.await?.pop().unwrap_or_default())
    }

    /// A batch of transfers by its number.
    pub async fn refund_batch(&self, project_id: ProjectId, number: i64) -> Result<Option<RefundBatch>, StoreError> {
        let sql = format!("{BATCH} AND b.number = $2 {BATCH_GROUP}");
        Ok(self.many(Query::new(sql, [Value::stored(project_id), number.into()]), refund_batch).await?.pop())
    }

    /// All refunds of a payment's money, oldest first; those of held money that was sent for it are not among them.
    pub async fn refunds_of_payment(&self, payment_id: PaymentId) -> Result<Vec<Refund>, StoreError> {
        let sql = concat!(
            "SELECT ",
            columns!(),
            " FROM refunds f WHERE f.payment_id = $1 AND f.receipt_id IS NULL ORDER BY f.id LIMIT $2"
        );
        self.many(Query::new(sql, [Value::stored(payment_id), OF_PAYMENT_MOST.into()]), refund).await
    }

    /// How many refunds of a project stand how.
    pub async fn refund_standings(&self, project_id: ProjectId) -> Result<Vec<RefundStanding>, StoreError> {
        let sql = "SELECT standing, refunds, amount FROM refund_counts WHERE project_id = $1 ORDER BY standing";
        self.many(Query::new(sql, [Value::stored(project_id)]), refund_standing).await
    }

    /// What a refund of the payment is judged by.
    pub async fn refundable(&self, payment_id: PaymentId) -> Result<Option<RefundableNow>, StoreError> {
        let sql = "SELECT p.project_id, p.method, p.version, p.state, p.paid_at, p.ended_at, p.amount + COALESCE(\
                   (SELECT MAX(r.difference) FROM receipts r WHERE r.decided_payment_id = p.id), 0), p.fee, \
                   CAST(CASE WHEN p.settles_at IS NULL THEN 0 ELSE 1 END AS BIGINT), \
                   CAST(COALESCE(SUM(f.amount), 0) AS BIGINT), \
                   CAST(COALESCE(SUM(COALESCE(f.found_from_pending, f.from_pending)), 0) AS BIGINT), \
                   CAST(COALESCE(SUM(f.amount - COALESCE(f.found_from_pending, f.from_pending)), 0) AS BIGINT), \
                   CAST(COALESCE(SUM(CASE WHEN f.found_done_at IS NULL THEN f.from_fee END), 0) AS BIGINT), \
                   CAST(COALESCE(SUM(CASE f.status WHEN 'succeeded' THEN f.amount END), 0) AS BIGINT), \
                   CAST(COALESCE(SUM(f.fee_returned), 0) AS BIGINT) \
                   FROM payments p LEFT JOIN refunds f ON f.payment_id = p.id AND f.receipt_id IS NULL \
                   AND f.status IN ('requires_action', 'pending', 'succeeded') WHERE p.id = $1 \
                   GROUP BY p.id, p.project_id, p.method, p.version, p.state, p.paid_at, p.ended_at, p.amount, p.fee, \
                   p.settles_at";
        self.one(Query::new(sql, [Value::stored(payment_id)]), refundable).await
    }

    /// Refunds of all projects that wait for a second person, longest waiting first: for an approval, or for somebody who also says
    /// that one was not made which a bank may have made.
    pub async fn refunds_for_a_second(&self, window: Window) -> Result<Listed<Refund>, StoreError> {
        let count = concat!("SELECT COUNT(*) FROM refunds f WHERE f.status = 'pending' AND ", for_a_second!());
        let total = self.many(Query::new(count, []), |columns| columns.integer()).await?.into_iter().sum();
        let sql = concat!(
            "SELECT ",
            columns!(),
            " FROM refunds f WHERE f.status = 'pending' AND ",
            for_a_second!(),
            " ORDER BY f.id LIMIT $1 OFFSET $2"
        );
        let items = self.many(Query::new(sql, [window.limit.into(), window.offset.into()]), refund).await?;
        Ok(Listed { items, total })
    }

    /// Refunds for which the sandbox's simulator has something to do, longest due first.
    pub async fn refunds_to_simulate(&self, now: Timestamp, most: i64) -> Result<Vec<Refund>, StoreError> {
        let sql = concat!(
            "SELECT ",
            columns!(),
            " FROM refunds f WHERE f.simulated_at <= $1 ORDER BY f.simulated_at LIMIT $2"
        );
        self.due(Query::new(sql, [now.into(), most.into()]), refund).await
    }

    /// The last number of a batch of transfers; 0 if there is none.
    pub async fn last_refund_batch(&self, project_id: ProjectId) -> Result<i64, StoreError> {
        let sql = "SELECT COALESCE(MAX(number), 0) FROM refund_batches WHERE project_id = $1";
        // Not together with other reads by a key: an aggregate has no place among them.
        let last = self.many(Query::new(sql, [Value::stored(project_id)]), |columns| columns.integer()).await?;
        Ok(last.into_iter().next().unwrap_or_default())
    }

    /// Batches of transfers, newest first.
    pub async fn refund_batches(&self, project_id: ProjectId, most: i64) -> Result<Vec<RefundBatch>, StoreError> {
        let sql = format!("{BATCH} {BATCH_GROUP} ORDER BY b.number DESC LIMIT $2");
        self.many(Query::new(sql, [Value::stored(project_id), most.into()]), refund_batch).await
    }
}

const BATCH: &str = "SELECT b.number, b.made_by, b.created_at, COUNT(*), CAST(SUM(f.amount) AS BIGINT), \
    CAST(SUM(CASE f.status WHEN 'pending' THEN 1 ELSE 0 END) AS BIGINT), \
    CAST(SUM(CASE f.status WHEN 'failed' THEN 1 ELSE 0 END) AS BIGINT) FROM refund_batches b \
    JOIN refunds f ON f.project_id = b.project_id AND f.batch = b.number WHERE b.project_id = $1";
const BATCH_GROUP: &str = "GROUP BY b.number, b.made_by, b.created_at";

fn refund_batch(columns: &mut Columns<'_>) -> Result<RefundBatch, StoreError> {
    Ok(RefundBatch {
        number: columns.integer()?,
        made_by: columns.word(Party::parse)?,
        created_at: columns.timestamp()?,
        refunds: columns.integer()?,
        amount: columns.rupiah()?,
        open: columns.integer()?,
        released: columns.integer()?,
    })
}

impl RefundFilter {
    /// Whether what fits is counted with every commit.
    fn is_kept(self) -> bool {
        let RefundFilter { status, pending_reason, .. } = self;
        self == RefundFilter { status, pending_reason, ..RefundFilter::default() }
    }
}

impl RefundStanding {
    fn fits(&self, filter: RefundFilter) -> bool {
        filter.status.is_none_or(|status| status == self.status)
            && filter.pending_reason.is_none_or(|reason| Some(reason) == self.pending_reason)
    }
}

/// The statement for one page of a project's refunds.
pub(crate) fn page(project_id: ProjectId, filter: RefundFilter, window: Window) -> Query {
    let mut conditions = refund_conditions(project_id, filter);
    let (limit, offset) = (conditions.place(window.limit), conditions.place(window.offset));
    let sql = format!(
        concat!("SELECT ", columns!(), " FROM refunds f {} ORDER BY f.id DESC LIMIT {} OFFSET {}"),
        conditions.sql, limit, offset
    );
    Query::new(sql, conditions.parameters)
}

/// The statement that counts them.
pub(crate) fn count(project_id: ProjectId, filter: RefundFilter) -> Query {
    let Conditions { sql, parameters } = refund_conditions(project_id, filter);
    Query::new(format!("SELECT COUNT(*) FROM refunds f {sql}"), parameters)
}

fn refund_conditions(project_id: ProjectId, filter: RefundFilter) -> Conditions {
    let RefundFilter { payment, receipt, status, pending_reason, batch, to_transfer, created } = filter;
    let mut conditions = Conditions::new();
    conditions.and("f.project_id = ?", Value::stored(project_id));
    if let Some(payment) = payment {
        conditions.and("f.payment_id = ?", Value::stored(payment));
        conditions.and_sql("f.receipt_id IS NULL");
    }
    if let Some(receipt) = receipt {
        conditions.and("f.receipt_id = ?", Value::stored(receipt));
    }
    if let Some(status) = status {
        conditions.and("f.status = ?", status.word());
    }
    if let Some(reason) = pending_reason {
        conditions.and("f.pending_reason = ?", reason.word());
    }
    if let Some(batch) = batch {
        conditions.and("f.batch = ?", batch);
    }
    if to_transfer {
        conditions.and_sql(
            "f.status = 'pending' AND f.pending_reason <> 'awaiting_approval' AND f.road = 'transfer' AND f.batch IS NULL \
             AND NOT EXISTS (SELECT 1 FROM refund_attempts a WHERE a.refund_id = f.id AND a.state <> 'refused')",
        );
    }
    if let Some((from, until)) = created {
        // Ids contain `created_at`, so an index finds them in their order.
        conditions.and("f.id >= ?", Value::stored(first_id_at::<kind::Refund>(from)));
        conditions.and("f.id < ?", Value::stored(first_id_at::<kind::Refund>(until)));
    }
    conditions
}

pub(super) fn refund(columns: &mut Columns<'_>) -> Result<Refund, StoreError> {
    let (id, project_id) = (columns.parsed()?, columns.project_id()?);
    let (about, receipt) = (columns.payment_id()?, columns.optional_parsed()?);
    let of = match receipt {
        Some(receipt) => RefundOf::Receipt { receipt, sent_for: about },
        None => RefundOf::Payment(about),
    };
    Ok(Refund {
        id,
        project_id,
        of,
        amount: columns.rupiah()?,
        split: Split {
            pending: columns.rupiah()?,
            available: columns.rupiah()?,
            fee: columns.rupiah()?,
            unapplied: columns.rupiah()?,
        },
        fee_returned: columns.rupiah()?,
        state: refund_state(columns)?,
        road: columns.word(RefundRoad::parse)?,
        reason: columns.text()?,
        destination: destination(columns)?,
        destination_by: columns.optional_text()?.as_deref().and_then(Party::parse),
        claim: {
            let (expires_at, tries) = (columns.optional_timestamp()?, columns.integer()?);
            expires_at.map(|expires_at| Claim { expires_at, tries })
        },
        made_by: columns.word(Party::parse)?,
        approved_by: columns.optional_text()?.as_deref().and_then(Party::parse),
        doubt: {
            let by = columns.optional_text()?.as_deref().and_then(Party::parse);
            let (at, attempt) = (columns.optional_timestamp()?, columns.optional_integer()?);
            let is_confirmed = columns.optional_integer()? == Some(1);
            // A node of an earlier version does not say what it is about.
            by.zip(at).zip(attempt).map(|((by, at), attempt)| Doubt { by, at, attempt, is_confirmed })
        },
        bank_reference: columns.optional_text()?,
        failure_reason: columns.optional_text()?,
        found: {
            let (at, failure) = (columns.optional_timestamp()?, columns.optional_text()?);
            at.zip(failure).map(|(at, failure)| FoundDone { at, failure })
        },
        metadata: columns.metadata()?,
        batch: columns.optional_integer()?,
        simulated_at: columns.optional_timestamp()?,
        created_at: columns.timestamp()?,
        updated_at: columns.timestamp()?,
        version: columns.integer()?,
    })
}

fn refund_state(columns: &mut Columns<'_>) -> Result<RefundState, StoreError> {
    let status = columns.word(RefundStatus::parse)?;
    let (reason, at) = (columns.optional_text()?, columns.optional_timestamp()?);
    match (status, reason.as_deref().and_then(PendingReason::parse), at) {
        (RefundStatus::RequiresAction, None, None) => Ok(RefundState::RequiresAction),
        (RefundStatus::Pending, Some(reason), None) => Ok(RefundState::Pending(reason)),
        (RefundStatus::Succeeded, None, Some(at)) => Ok(RefundState::Succeeded { at }),
        (RefundStatus::Failed, None, None) => Ok(RefundState::Failed),
        (RefundStatus::Cancelled, None, None) => Ok(RefundState::Cancelled),
        (RefundStatus::Returned, None, Some(succeeded_at)) => Ok(RefundState::Returned { succeeded_at }),
        _ => Err(StoreError::unexpected(format!("a refund is {status:?} for {reason:?} at {at:?}"))),
    }
}

fn destination(columns: &mut Columns<'_>) -> Result<Option<Destination>, StoreError> {
    let (code, digits) = (columns.optional_text()?, columns.optional_text()?);
    let (holder, is_checked) = (columns.optional_text()?, columns.truth()?);
    match (code, digits) {
        (None, None) => Ok(None),
        (Some(code), Some(last_digits)) => {
            let bank = TransferBank::from_code(&code);
            let bank = bank.ok_or_else(|| StoreError::unexpected(format!("no bank is {code:?}")))?;
            Ok(Some(Destination { bank, last_digits, holder, is_checked }))
        }
        (code, digits) => Err(StoreError::unexpected(format!("a destination is {code:?} {digits:?}"))),
    }
}

fn refund_standing(columns: &mut Columns<'_>) -> Result<RefundStanding, StoreError> {
    let word = columns.text()?;
    let pending_reason = PendingReason::parse(&word);
    let status = match pending_reason {
        Some(_) => Some(RefundStatus::Pending),
        None => RefundStatus::parse(&word),
    };
    let status = status.ok_or_else(|| StoreError::unexpected(format!("refunds stand {word:?}")))?;
    Ok(RefundStanding { status, pending_reason, refunds: columns.integer()?, amount: columns.rupiah()? })
}

fn refundable(columns: &mut Columns<'_>) -> Result<RefundableNow, StoreError> {
    let (project_id, method, version) = (columns.project_id()?, columns.method()?, columns.integer()?);
    let state: State = payments::state(columns)?;
    let (received, fee, is_unsettled) = (columns.rupiah()?, columns.rupiah()?, columns.truth()?);
    let refunded = columns.rupiah()?;
    let taken = Split {
        pending: columns.rupiah()?,
        available: columns.rupiah()?,
        fee: columns.rupiah()?,
        unapplied: Rupiah::ZERO,
    };
    let (succeeded, fee_returned) = (columns.rupiah()?, columns.rupiah()?);
    let refundable = Refundable { state, received, fee, is_unsettled, refunded, taken, succeeded, fee_returned };
    Ok(RefundableNow { project_id, is_qris: method.bank().is_none(), refundable, version })
}
