//! What was paid, by hours. Closed hours were added up once by maintenance; the others are summed from their postings,
//! and when those are many, maintenance is requested.

use domain::{
    id::ProjectId,
    money::Rupiah,
    time::{HOUR_MILLIS, Timestamp},
};

use crate::{
    Store,
    error::StoreError,
    maintenance::{LONG_TAIL, MANY_OPEN},
    value::{Columns, Query, Value},
};

/// What was paid in one hour, fees included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HourVolume {
    /// Hours since 1970.
    pub hour: i64,
    pub payments: i64,
    pub amount: Rupiah,
}

/// What was paid in some time, fees included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Paid {
    pub payments: i64,
    pub amount: Rupiah,
}

const DAY_HOURS: i64 = 24;

/// Conditions for the leg that has the whole amount of a paid or accepted payment. A posting's id starts with its kind
/// and a colon; the semicolon is the next character after the colon, so it ends the range.
const PAID: &str = "account = 'clearing' AND posting_id >= 'paid:' AND posting_id < 'paid;'";
const ACCEPTED: &str = "account = 'unapplied' AND posting_id >= 'accepted:' AND posting_id < 'accepted;'";

impl Store {
    /// What was posted as paid in the hours from `from` to `to`, partial hours included. Empty hours are left out.
    pub async fn volume(
        &self,
        project_id: ProjectId,
        from: Timestamp,
        to: Timestamp,
    ) -> Result<Vec<HourVolume>, StoreError> {
        let first = from.as_millis().div_euclid(HOUR_MILLIS);
        let until = to.as_millis().saturating_add(HOUR_MILLIS - 1).div_euclid(HOUR_MILLIS);
        let open = self.first_open_hour(project_id, first).await?;
        let sql = "SELECT hour, payments, amount FROM volumes WHERE project_id = $1 AND hour >= $2 AND hour < $3 \
                   AND payments > 0 ORDER BY hour";
        // Hours that are closed after `open` was read are summed from their postings below.
        let parameters = [Value::stored(project_id), first.into(), open.min(until).into()];
        let mut volumes = self.many(Query::new(sql, parameters), volume).await?;
        volumes.extend(self.open_hours(project_id, open, until).await?);
        Ok(volumes)
    }

    /// What was posted as paid on each of so many days, the first of which begins at the full hour `first`. Closed hours
    /// are added up by the database, so reading a long time takes little longer than reading a short one.
    pub async fn daily_volume(
        &self,
        project_id: ProjectId,
        first: Timestamp,
        days: u32,
    ) -> Result<Vec<Paid>, StoreError> {
        let first = first.as_millis().div_euclid(HOUR_MILLIS);
        let until = first.saturating_add(i64::from(days) * DAY_HOURS);
        let open = self.first_open_hour(project_id, first).await?;
        let sql = format!(
            "SELECT (hour - $1) / {DAY_HOURS} AS day, CAST(SUM(payments) AS BIGINT), CAST(SUM(amount) AS BIGINT) \
             FROM volumes WHERE project_id = $2 AND hour >= $1 AND hour < $3 GROUP BY 1"
        );
        let parameters = [first.into(), Value::stored(project_id), open.min(until).into()];
        let closed = self.many(Query::new(sql, parameters), volume).await?;
        let open = self.open_hours(project_id, open, until).await?;
        let by_day = open.into_iter().map(|open| HourVolume { hour: (open.hour - first) / DAY_HOURS, ..open });
        let mut paid = vec![Paid::default(); usize::try_from(days).unwrap_or(0)];
        for volume in closed.into_iter().chain(by_day) {
            if let Some(day) = usize::try_from(volume.hour).ok().and_then(|day| paid.get_mut(day)) {
                *day = day.and(&volume);
            }
        }
        Ok(paid)
    }

    /// What was posted as paid from the full hour `from` on and before `to`, to the millisecond.
    pub async fn paid_between(
        &self,
        project_id: ProjectId,
        from: Timestamp,
        to: Timestamp,
    ) -> Result<Paid, StoreError> {
        let begun = Timestamp::from_millis(to.as_millis().div_euclid(HOUR_MILLIS) * HOUR_MILLIS);
        let volumes = self.volume(project_id, from, begun).await?;
        let since = self.posted_in_all(project_id, begun.max(from), to).await?;
        Ok(volumes.iter().fold(since, Paid::and))
    }

    /// The first hour from `first` on that is not closed.
    async fn first_open_hour(&self, project_id: ProjectId, first: i64) -> Result<i64, StoreError> {
        Ok(self.closed_hour(project_id).await?.map_or(first, |hour| first.max(hour + 1)))
    }

    /// Sums hours that are not closed from their postings; where those are many, closing them is requested.
    async fn open_hours(&self, project_id: ProjectId, open: i64, until: i64) -> Result<Vec<HourVolume>, StoreError> {
        if open >= until {
            return Ok(Vec::new());
        }
        let read = self.paid_by_hour(project_id, open, until).await?;
        // The last of them may not be over yet.
        let (all, last) =
            (read.iter().map(|hour| hour.payments).sum::<i64>(), read.last().map_or(0, |hour| hour.payments));
        if all - last > MANY_OPEN || all > LONG_TAIL {
            self.maintenance.closed_hours(project_id);
        }
        Ok(read)
    }

    /// The latest closed hour; all hours before it are closed too.
    pub(crate) async fn closed_hour(&self, project_id: ProjectId) -> Result<Option<i64>, StoreError> {
        let sql = "SELECT hour FROM volumes WHERE project_id = $1 ORDER BY hour DESC LIMIT 1";
        self.one(Query::new(sql, [Value::stored(project_id)]), |columns| columns.integer()).await
    }

    /// The first hour from `first` on and before `until` in which anything was paid.
    pub(crate) async fn first_paid_hour(
        &self,
        project_id: ProjectId,
        first: i64,
        until: i64,
    ) -> Result<Option<i64>, StoreError> {
        let mut earliest: Option<i64> = None;
        for leg in [PAID, ACCEPTED] {
            let sql = format!(
                "SELECT at FROM entries WHERE project_id = $1 AND {leg} AND at >= $2 AND at < $3 ORDER BY at LIMIT 1"
            );
            let parameters = [Value::stored(project_id), start_of(first), start_of(until)];
            let found = self.many(Query::new(sql, parameters), |columns| columns.integer()).await?;
            earliest = earliest.into_iter().chain(found).min();
        }
        Ok(earliest.map(|at| at / HOUR_MILLIS))
    }

    /// Sums what was posted as paid from the hour `first` on and before the hour `until`.
    pub(crate) async fn paid_by_hour(
        &self,
        project_id: ProjectId,
        first: i64,
        until: i64,
    ) -> Result<Vec<HourVolume>, StoreError> {
        let begins = |hour: i64| Timestamp::from_millis(hour.saturating_mul(HOUR_MILLIS));
        self.posted(project_id, begins(first), begins(until)).await
    }

    /// What was posted as paid from `from` on and before `to`.
    async fn posted_in_all(&self, project_id: ProjectId, from: Timestamp, to: Timestamp) -> Result<Paid, StoreError> {
        let leg = |leg| {
            format!(
                "SELECT COUNT(*) AS payments, COALESCE(-SUM(amount), 0) AS amount FROM entries \
                 WHERE project_id = $1 AND {leg} AND at >= $2 AND at < $3"
            )
        };
        let sql = format!(
            "SELECT CAST(SUM(payments) AS BIGINT), CAST(SUM(amount) AS BIGINT) FROM ({} UNION ALL {}) paid",
            leg(PAID),
            leg(ACCEPTED)
        );
        let paid = |columns: &mut Columns<'_>| Ok(Paid { payments: columns.integer()?, amount: columns.rupiah()? });
        let sums = self.many(Query::new(sql, [Value::stored(project_id), from.into(), to.into()]), paid).await?;
        Ok(sums.first().copied().unwrap_or_default())
    }

    /// The same by hours; this takes the database twice as long.
    async fn posted(
        &self,
        project_id: ProjectId,
        from: Timestamp,
        to: Timestamp,
    ) -> Result<Vec<HourVolume>, StoreError> {
        let legs = |leg| {
            format!(
                "SELECT at / {HOUR_MILLIS} AS hour, -amount AS amount FROM entries \
                 WHERE project_id = $1 AND {leg} AND at >= $2 AND at < $3"
            )
        };
        let sql = format!(
            "SELECT hour, COUNT(*), CAST(SUM(amount) AS BIGINT) FROM ({} UNION ALL {}) paid GROUP BY hour ORDER BY hour",
            legs(PAID),
            legs(ACCEPTED)
        );
        self.many(Query::new(sql, [Value::stored(project_id), from.into(), to.into()]), volume).await
    }
}

impl Paid {
    fn and(self, volume: &HourVolume) -> Paid {
        Paid { payments: self.payments + volume.payments, amount: self.amount + volume.amount }
    }
}

fn start_of(hour: i64) -> Value {
    hour.saturating_mul(HOUR_MILLIS).into()
}

fn volume(columns: &mut Columns<'_>) -> Result<HourVolume, StoreError> {
    Ok(HourVolume { hour: columns.integer()?, payments: columns.integer()?, amount: columns.rupiah()? })
}
