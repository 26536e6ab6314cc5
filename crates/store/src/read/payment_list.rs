//! Lists of payments, which stay fast however many there are. The list of all payments is counted and paged with list
//! checkpoints, whose table is called `payment_marks`. Lists of one status or method are read by their index
//! (`payment_kinds.rs`), and what lists add up to is stored with the checkpoints (`payment_sums.rs`). Searches use an index
//! of their own (`payment_search.rs`). Payments that have no checkpoint yet are read row by row, and when those are many,
//! maintenance is requested.

use domain::{
    id::{LinkId, PaymentId, ProjectId, first_id_at, of_bytes},
    method::{Method, MethodKind},
    money::Rupiah,
    payment::{Payment, Status},
    search::SearchTerm,
    time::Timestamp,
};

use super::{
    Conditions, List, Listed, Window,
    payments::{checkout_columns, payment_columns, payment_with_checkout},
    search_term::and_term,
};
use crate::{
    Store,
    error::StoreError,
    maintenance::LONG_TAIL,
    plan::Dialect,
    value::{Columns, Query, Value},
};

/// Matches of a filter that are counted and added up at most; with more, a page says only that there are more.
pub const MATCHES_COUNTED: i64 = 10_000;
/// Payments of a project that one read of [`Store::payments_scan`] goes through at most.
const SCANNED_MOST: i64 = 10_000;

/// Which payments of a project to list; all conditions must hold.
#[derive(Clone, Debug, Default)]
pub struct PaymentFilter {
    /// A substring of the reference.
    pub search: Option<String>,
    pub link_id: Option<LinkId>,
    /// The status as it is at the given instant.
    pub status: Option<(Status, Timestamp)>,
    pub method: Option<MethodFilter>,
    /// Created from the first instant on, and before the second.
    pub created: Option<(Timestamp, Timestamp)>,
    /// Words that all occur in what merchants know a payment by: its reference, its customer, its account number and more.
    pub q: Option<SearchTerm>,
    pub order: PaymentOrder,
}

/// The order of a list. Only lists that are not too long to be counted are sorted by amount.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PaymentOrder {
    #[default]
    Newest,
    Oldest,
    AmountHighest,
    AmountLowest,
}

impl PaymentOrder {
    const fn is_by_time(self) -> bool {
        matches!(self, PaymentOrder::Newest | PaymentOrder::Oldest)
    }
}

/// A kind of method, or one method.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MethodFilter {
    Kind(MethodKind),
    One(Method),
}

/// What a filter finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Matches {
    All(Sums),
    /// More than [`MATCHES_COUNTED`].
    More,
}

/// How many payments match a filter, and what those of them that were paid add up to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sums {
    pub payments: i64,
    pub paid: i64,
    /// What customers paid, fees included.
    pub amount: Rupiah,
    pub fee: Rupiah,
}

impl Matches {
    /// Whether the list can be sorted by amount. Longer lists are given newest first instead.
    pub const fn can_be_sorted_by_amount(self) -> bool {
        match self {
            Matches::All(sums) => sums.payments <= MATCHES_COUNTED,
            Matches::More => false,
        }
    }
}

/// A part of a list that is read as a whole.
#[derive(Debug)]
pub struct Scan {
    pub payments: Vec<ScannedPayment>,
    /// Where to go on; none at the end of the list.
    pub before: Option<PaymentId>,
}

/// A payment, when its net became available, and by how much more money came for it than its amount.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScannedPayment {
    pub payment: Payment,
    pub settled_at: Option<Timestamp>,
    pub difference: Rupiah,
}

/// A range of the list of all payments, by ids: `from` is included, `until` is not.
#[derive(Clone, Copy)]
pub(crate) struct Range {
    pub(crate) from: Option<PaymentId>,
    pub(crate) until: Option<PaymentId>,
}

/// How the payments that a filter asks for are found.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    /// A range of the list of all payments, which has checkpoints.
    Range,
    /// By the index of states and methods.
    Kinds,
    /// By a link's index or by a search.
    Other,
}

impl PaymentFilter {
    pub(super) fn way(&self) -> Way {
        match self {
            PaymentFilter { search: None, q: None, link_id: None, status: None, method: None, .. } => Way::Range,
            PaymentFilter { search: None, q: None, link_id: None, .. } => Way::Kinds,
            _ => Way::Other,
        }
    }

    pub(super) fn range(&self) -> Range {
        let (from, until) = self.created.map(|(from, until)| (first_id_at(from), first_id_at(until))).unzip();
        Range { from, until }
    }
}

impl Store {
    pub async fn payments(
        &self,
        project_id: ProjectId,
        filter: &PaymentFilter,
        window: Window,
    ) -> Result<Listed<Payment>, StoreError> {
        match filter.way() {
            Way::Range if filter.order.is_by_time() => self.every_payment(project_id, filter, window).await,
            Way::Range | Way::Kinds => {
                let items = self.payments_window(project_id, filter, window).await?;
                Ok(Listed { items, total: self.payments_total(project_id, filter).await? })
            }
            Way::Other => {
                let order = self.order(project_id, filter).await?;
                self.listed(list(order), self.wanted(project_id, filter).await?, window).await
            }
        }
    }

    /// At most `most` of a project's payments, newest first: with `before`, those older than that payment. Nothing is
    /// counted, so that lists of any length can be read page by page.
    pub async fn payments_page(
        &self,
        project_id: ProjectId,
        filter: &PaymentFilter,
        before: Option<PaymentId>,
        most: i64,
    ) -> Result<Vec<Payment>, StoreError> {
        let window = Window { offset: 0, limit: most };
        if filter.way() == Way::Kinds {
            let Range { from, until } = filter.range();
            let range = Range { from, until: before.or(until) };
            return self.payments_of_kinds(project_id, filter, (range, PaymentOrder::Newest), window).await;
        }
        let mut conditions = self.wanted(project_id, filter).await?;
        if let Some(before) = before {
            conditions.and("p.id < ?", Value::stored(before));
        }
        self.page(&list(PaymentOrder::Newest), conditions, window).await
    }

    /// The next payments that match the filter, at most `most`, newest first: with `before`, those older than that
    /// payment. One call goes through a limited number of the project's payments, so it may find fewer, or none, and
    /// still not be at the end. For reading long lists as a whole, in one pass and in small pieces.
    pub async fn payments_scan(
        &self,
        project_id: ProjectId,
        filter: &PaymentFilter,
        before: Option<PaymentId>,
        most: i64,
    ) -> Result<Scan, StoreError> {
        let Range { from, until } = filter.range();
        let before = before.or(until);
        let sql = "SELECT id FROM payments WHERE project_id = $1 AND id < $2 ORDER BY id DESC LIMIT 1 OFFSET $3";
        let parameters = [Value::stored(project_id), upper(before), (SCANNED_MOST - 1).into()];
        let scanned: Option<PaymentId> =
            self.many(Query::new(sql, parameters), |columns| columns.parsed()).await?.pop();
        let mut conditions = conditions("p.project_id = ?", project_id, filter);
        and_range(&mut conditions, Range { from: scanned, until: before });
        let payments = self.page(&scanned_list(self.dialect()), conditions, Window { offset: 0, limit: most }).await?;
        let is_full = i64::try_from(payments.len()).is_ok_and(|found| found == most);
        let next = if is_full { payments.last().map(|scanned| scanned.payment.id) } else { scanned };
        let is_within = |next: &PaymentId| from.is_none_or(|from: PaymentId| *next > from);
        Ok(Scan { payments, before: next.filter(is_within) })
    }

    /// One window of the payments that match the filter. Nothing is counted where that could take long, and a list that is
    /// too long to be sorted by amount is given newest first.
    pub async fn payments_window(
        &self,
        project_id: ProjectId,
        filter: &PaymentFilter,
        window: Window,
    ) -> Result<Vec<Payment>, StoreError> {
        let order = self.order(project_id, filter).await?;
        match filter.way() {
            Way::Range if order.is_by_time() => {
                let filter = PaymentFilter { order, ..filter.clone() };
                self.every_payment(project_id, &filter, window).await.map(|listed| listed.items)
            }
            Way::Kinds => self.payments_of_kinds(project_id, filter, (filter.range(), order), window).await,
            Way::Range | Way::Other => self.page(&list(order), self.wanted(project_id, filter).await?, window).await,
        }
    }

    /// The order that the filter asks for, as far as the list is not too long for it.
    async fn order(&self, project_id: ProjectId, filter: &PaymentFilter) -> Result<PaymentOrder, StoreError> {
        let is_possible =
            filter.order.is_by_time() || self.payments_matching(project_id, filter).await?.can_be_sorted_by_amount();
        Ok(if is_possible { filter.order } else { PaymentOrder::Newest })
    }

    /// The list of all payments or a range of it. Each checkpoint has its position in the list, so that only payments
    /// after the last checkpoint are counted, and only payments between two checkpoints are skipped.
    async fn every_payment(
        &self,
        project_id: ProjectId,
        filter: &PaymentFilter,
        window: Window,
    ) -> Result<Listed<Payment>, StoreError> {
        let range = filter.range();
        let (up_to_checkpoint, tail) = self.counted(project_id, range.until).await?;
        if tail > LONG_TAIL {
            self.maintenance.list_checkpoints(project_id);
        }
        let end = up_to_checkpoint + tail;
        let begin = match range.from {
            Some(from) => {
                self.counted(project_id, Some(from)).await.map(|(up_to_checkpoint, tail)| up_to_checkpoint + tail)?
            }
            None => 0,
        };
        let mut conditions = Conditions::new();
        conditions.and("p.project_id = ?", Value::stored(project_id));
        let oldest_first = filter.order == PaymentOrder::Oldest;
        let position = if oldest_first { begin.saturating_add(window.offset) } else { end - window.offset };
        let checkpoint = match oldest_first {
            true => self.checkpoint_below(project_id, position).await?.filter(|(_, below)| *below > begin),
            false => self.checkpoint_above(project_id, position).await?.filter(|(_, above)| *above <= end),
        };
        let offset = match checkpoint {
            Some((id, at)) => {
                conditions.and(if oldest_first { "p.id > ?" } else { "p.id <= ?" }, Value::stored(id));
                (position - at).abs()
            }
            None => window.offset,
        };
        and_range(&mut conditions, range);
        let items = self.page(&list(filter.order), conditions, Window { offset, ..window }).await?;
        Ok(Listed { items, total: end - begin })
    }

    /// How many payments there are up to the last checkpoint before `until`, and how many from there to `until`.
    pub(super) async fn counted(
        &self,
        project_id: ProjectId,
        until: Option<PaymentId>,
    ) -> Result<(i64, i64), StoreError> {
        let sql = "SELECT COALESCE((SELECT position FROM payment_marks WHERE project_id = $1 AND id < $2 \
                   ORDER BY id DESC LIMIT 1), 0), \
                   (SELECT COUNT(*) FROM payments WHERE project_id = $1 AND id < $2 AND id > COALESCE((SELECT MAX(id) \
                   FROM payment_marks WHERE project_id = $1 AND id < $2), ''))";
        let counted = self.many(Query::new(sql, [Value::stored(project_id), upper(until)]), pair).await?;
        Ok(counted.into_iter().next().unwrap_or_default())
    }

    /// The checkpoint at `position` or the next one below it.
    async fn checkpoint_below(
        &self,
        project_id: ProjectId,
        position: i64,
    ) -> Result<Option<(PaymentId, i64)>, StoreError> {
        let sql = "SELECT id, position FROM payment_marks WHERE project_id = $1 AND position <= $2 \
                   ORDER BY position DESC LIMIT 1";
        self.one(Query::new(sql, [Value::stored(project_id), position.into()]), checkpoint).await
    }

    /// The checkpoint at `position` or the next one above it.
    async fn checkpoint_above(
        &self,
        project_id: ProjectId,
        position: i64,
    ) -> Result<Option<(PaymentId, i64)>, StoreError> {
        let sql = "SELECT id, position FROM payment_marks WHERE project_id = $1 AND position >= $2 \
                   ORDER BY position LIMIT 1";
        self.one(Query::new(sql, [Value::stored(project_id), position.into()]), checkpoint).await
    }
}

pub(super) fn list(order: PaymentOrder) -> List<Payment> {
    List {
        columns: concat!(payment_columns!(), ", ", checkout_columns!()),
        from: "payments p LEFT JOIN checkouts c ON c.payment_id = p.id",
        table: "payments p",
        id: "p.id",
        // Ids contain `created_at`, so their order is that of creation.
        order: match order {
            PaymentOrder::Newest => "p.id DESC",
            PaymentOrder::Oldest => "p.id",
            PaymentOrder::AmountHighest => "p.amount DESC, p.id DESC",
            PaymentOrder::AmountLowest => "p.amount, p.id DESC",
        },
        decode: payment_with_checkout,
    }
}

pub(super) fn conditions(of_project: &str, project_id: ProjectId, filter: &PaymentFilter) -> Conditions {
    let mut conditions = Conditions::new();
    conditions.and(of_project, Value::stored(project_id));
    if let Some(link_id) = filter.link_id {
        conditions.and("p.link_id = ?", Value::stored(link_id));
    }
    if let Some((status, now)) = filter.status {
        and_status(&mut conditions, status, now);
    }
    if let Some((condition, method)) = filter.method.map(|method| method.condition("p.method")) {
        conditions.and(&condition, method);
    }
    and_range(&mut conditions, filter.range());
    if let Some(term) = &filter.search {
        conditions.and_contains("p.search_text", term);
    }
    if let Some(term) = &filter.q {
        and_term(&mut conditions, term);
    }
    conditions
}

fn and_range(conditions: &mut Conditions, range: Range) {
    if let Some(from) = range.from {
        conditions.and("p.id >= ?", Value::stored(from));
    }
    if let Some(until) = range.until {
        conditions.and("p.id < ?", Value::stored(until));
    }
}

/// The first id after a range; after every id where the range ends with the list.
pub(super) fn upper(until: Option<PaymentId>) -> Value {
    Value::stored(until.unwrap_or_else(|| of_bytes([u8::MAX; 16])))
}

/// A pending payment past its expiry is expired, whether or not that was written yet.
pub(super) fn and_status(conditions: &mut Conditions, status: Status, now: Timestamp) {
    match status {
        Status::Pending => conditions.and("p.state = 'pending' AND p.expires_at >= ?", now),
        Status::Expired => {
            conditions.and("(p.state = 'expired' OR (p.state = 'pending' AND p.expires_at < ?))", now);
        }
        Status::Processing | Status::Paid | Status::Failed | Status::Cancelled => {
            conditions.and("p.state = ?", status.word());
        }
    }
}

/// What is read of each payment of a list that is read as a whole. A posting's id is made of its kind and its payment's.
macro_rules! scanned_columns {
    ($payment:literal) => {
        concat!(
            "(SELECT o.at FROM postings o WHERE o.id = 'settled:' || ",
            $payment,
            "), COALESCE((SELECT MAX(r.difference) FROM receipts r WHERE r.decided_payment_id = p.id), 0), ",
            payment_columns!(),
            ", ",
            checkout_columns!()
        )
    };
}

fn scanned_list(dialect: Dialect) -> List<ScannedPayment> {
    List {
        columns: match dialect {
            Dialect::Sqlite => scanned_columns!("payment_text(p.id)"),
            Dialect::Postgres => scanned_columns!("p.id"),
        },
        from: "payments p LEFT JOIN checkouts c ON c.payment_id = p.id",
        table: "payments p",
        id: "p.id",
        order: "p.id DESC",
        decode: scanned_payment,
    }
}

fn scanned_payment(columns: &mut Columns<'_>) -> Result<ScannedPayment, StoreError> {
    let (settled_at, difference) = (columns.optional_timestamp()?, columns.rupiah()?);
    Ok(ScannedPayment { payment: payment_with_checkout(columns)?, settled_at, difference })
}

fn pair(columns: &mut Columns<'_>) -> Result<(i64, i64), StoreError> {
    Ok((columns.integer()?, columns.integer()?))
}

fn checkpoint(columns: &mut Columns<'_>) -> Result<(PaymentId, i64), StoreError> {
    Ok((columns.payment_id()?, columns.integer()?))
}
