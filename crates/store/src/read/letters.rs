//! Letters in the queue, and what people have chosen to get.

use domain::{
    id::{LetterId, ProjectId, UserId},
    letter::{LetterKind, SummaryPeriod},
    letter_queue::{Channel, LetterState, QueuedLetter},
    time::Timestamp,
    user::User,
};

use super::{Conditions, List, Listed, Window, users};
use crate::{
    Store,
    change::LetterChoices,
    error::StoreError,
    language_column,
    plan::Dialect,
    value::{Columns, Query, Value},
};

const COLUMNS: &str = "l.id, l.kind, l.project_id, l.user_id, l.recipient, l.language, l.queued_at, l.expires_at, l.attempts, \
                       l.state, COALESCE(l.notice_due_at, l.due_at, l.ended_at), l.answer, l.channel";

/// How many events and webhooks of a project are looked at to tell since when they fail.
const WEBHOOKS_LOOKED_AT: i64 = 500;

/// What a letter says and where it goes, sealed.
pub struct SealedLetter {
    pub address: Vec<u8>,
    /// None where it was deleted, since its link grants access.
    pub content: Option<Vec<u8>>,
}

/// A receipt that was queued for a payment.
pub struct ReceiptLetter {
    pub id: LetterId,
    pub cause: String,
    /// Whether the payment still has a customer with an address.
    pub has_customer: bool,
}

/// Which letters a list has.
#[derive(Clone, Debug, Default)]
pub struct LetterFilter {
    pub project_id: Option<ProjectId>,
    /// The word of a state.
    pub state: Option<&'static str>,
    pub kind: Option<LetterKind>,
}

/// How many letters are in each state, and since when the first of those waits that are due.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LetterCounts {
    pub waiting: i64,
    pub given_up: i64,
    pub dropped: i64,
    pub due_since: Option<Timestamp>,
}

impl Store {
    /// Letters that are due and that no node has: those about security first, then those due longest, but at most `per_project` of
    /// each project, and as many that are about no project. So a project with many letters holds up no others.
    pub async fn due_letters(&self, now: Timestamp, per_project: usize) -> Result<Vec<QueuedLetter>, StoreError> {
        let sql = due_letters_sql(self.dialect(), per_project);
        self.due(Query::new(sql, [now.into()]), letter).await
    }

    /// Notices that are due and that no node has, those due longest first, but at most `per_url` to each URL.
    pub async fn due_notices(&self, now: Timestamp, per_url: usize) -> Result<Vec<QueuedLetter>, StoreError> {
        let sql = due_notices_sql(self.dialect(), per_url);
        self.due(Query::new(sql, [now.into()]), letter).await
    }

    pub async fn letter(&self, id: LetterId) -> Result<Option<QueuedLetter>, StoreError> {
        let sql = format!("SELECT {COLUMNS} FROM letters l WHERE l.id = $1");
        self.one(Query::new(sql, [Value::stored(id)]), letter).await
    }

    pub async fn sealed_letter(&self, id: LetterId) -> Result<Option<SealedLetter>, StoreError> {
        let sql = "SELECT address, content FROM letters WHERE id = $1";
        let sealed = |columns: &mut Columns<'_>| {
            Ok(SealedLetter { address: columns.bytes()?, content: columns.optional_bytes()? })
        };
        self.one(Query::new(sql, [Value::stored(id)]), sealed).await
    }

    /// Letters, newest first.
    pub async fn letters(&self, filter: &LetterFilter, window: Window) -> Result<Listed<QueuedLetter>, StoreError> {
        let mut conditions = Conditions::new();
        if let Some(id) = filter.project_id {
            conditions.and("l.project_id = ?", Value::stored(id));
        }
        if let Some(state) = filter.state {
            conditions.and("l.state = ?", state);
        }
        if let Some(kind) = filter.kind {
            conditions.and("l.kind = ?", kind.word());
        }
        let (from, order) = ("letters l", "l.id DESC");
        let list = List { columns: COLUMNS, from, table: from, id: "l.id", order, decode: letter };
        self.listed(list, conditions, window).await
    }

    /// How many letters an address has got since then, at most `most`.
    pub async fn letters_sent_to(&self, recipient: &str, since: Timestamp, most: u32) -> Result<u32, StoreError> {
        let sql = "SELECT COUNT(*) FROM (SELECT 1 FROM letters WHERE recipient = $1 AND ended_at > $2 AND state = 'sent' \
                   LIMIT $3) counted";
        let parameters = [recipient.to_owned().into(), since.into(), i64::from(most).into()];
        self.letter_count(Query::new(sql, parameters)).await
    }

    /// How many letters of a project were sent by mail since then, those about security left out, at most `most`.
    pub async fn letters_sent_of(&self, id: ProjectId, since: Timestamp, most: u32) -> Result<u32, StoreError> {
        let sql = "SELECT COUNT(*) FROM (SELECT 1 FROM letters WHERE project_id = $1 AND urgent = 0 AND ended_at > $2 \
                   AND state = 'sent' AND channel = 'mail' LIMIT $3) counted";
        self.letter_count(Query::new(sql, [Value::stored(id), since.into(), i64::from(most).into()])).await
    }

    async fn letter_count(&self, query: Query) -> Result<u32, StoreError> {
        Ok(self.one(query, |columns| columns.count()).await?.unwrap_or_default())
    }

    /// Counts letters that wait, and those that ended badly since then.
    pub async fn letter_counts(&self, since: Timestamp) -> Result<LetterCounts, StoreError> {
        let sql = "SELECT state, COUNT(*), MIN(COALESCE(notice_due_at, due_at)) FROM letters WHERE state = 'waiting' OR ended_at > $1 GROUP BY state";
        let row = |columns: &mut Columns<'_>| Ok((columns.text()?, columns.integer()?, columns.optional_timestamp()?));
        let mut counts = LetterCounts::default();
        for (state, count, first) in self.many(Query::new(sql, [since.into()]), row).await? {
            match state.as_str() {
                "waiting" => (counts.waiting, counts.due_since) = (count, first),
                "given_up" => counts.given_up = count,
                "dropped" => counts.dropped = count,
                _ => {}
            }
        }
        Ok(counts)
    }

    /// What a user has chosen; none where that is nothing.
    pub async fn letter_choices(&self, user_id: UserId) -> Result<Option<LetterChoices>, StoreError> {
        let sql = "SELECT user_id, language, summary FROM letter_choices WHERE user_id = $1";
        let Some(choices) = self.one(Query::new(sql, [Value::stored(user_id)]), choices).await? else {
            return Ok(None);
        };
        Ok(Some(LetterChoices { refused: self.letter_refusals(user_id).await?, ..choices }))
    }

    /// The kinds that a user does not want; they may have ended some by a letter's link without having chosen anything else.
    pub async fn letter_refusals(&self, user_id: UserId) -> Result<Vec<LetterKind>, StoreError> {
        let sql = "SELECT kind FROM letter_refusals WHERE user_id = $1 ORDER BY kind";
        self.many(Query::new(sql, [Value::stored(user_id)]), |columns| columns.word(LetterKind::parse)).await
    }

    /// What those users have chosen who get a summary.
    pub async fn summary_choices(&self) -> Result<Vec<LetterChoices>, StoreError> {
        let sql = "SELECT user_id, language, summary FROM letter_choices WHERE summary IS NOT NULL ORDER BY user_id";
        self.many(Query::new(sql, []), choices).await
    }

    /// Whether a letter was queued for that cause.
    pub async fn has_letter_for(&self, cause: &str) -> Result<bool, StoreError> {
        let sql = "SELECT 1 FROM letters WHERE cause = $1";
        Ok(self.one(Query::new(sql, [cause.to_owned().into()]), |_| Ok(())).await?.is_some())
    }

    /// What is noted to be amiss, among subjects that begin so.
    pub async fn letter_alerts(&self, prefix: &str) -> Result<Vec<String>, StoreError> {
        let sql = "SELECT subject FROM letter_alerts ORDER BY subject";
        let subjects = self.many(Query::new(sql, []), |columns| columns.text()).await?;
        Ok(subjects.into_iter().filter(|subject| subject.starts_with(prefix)).collect())
    }

    /// Projects of which webhooks wait that have failed, and how many.
    pub async fn webhooks_failing(&self) -> Result<Vec<(ProjectId, i64)>, StoreError> {
        let sql = "SELECT project_id, COUNT(*) FROM deliveries WHERE state = 'pending' AND state <> 'delivered' \
                   AND attempts > resent_after GROUP BY project_id";
        self.many(Query::new(sql, []), |columns| Ok((columns.project_id()?, columns.integer()?))).await
    }

    /// When the first attempt failed of those that a project's webhooks have made since the last one that succeeded; none where none
    /// waits that has failed. Attempts before a webhook was sent again by hand do not count. Among many events only the newest are
    /// asked for a success, and of many webhooks that wait only the oldest for a failure.
    pub async fn webhooks_failing_since(&self, id: ProjectId) -> Result<Option<Timestamp>, StoreError> {
        let sql = "SELECT MIN(a.at) FROM (SELECT event_id, resent_after FROM deliveries WHERE project_id = $1 \
                   AND state = 'pending' AND state <> 'delivered' AND attempts > resent_after ORDER BY event_id LIMIT $2) f \
                   JOIN attempts a ON a.event_id = f.event_id AND a.number > f.resent_after WHERE a.at >= COALESCE(\
                   (SELECT MAX(s.at) FROM (SELECT id FROM events WHERE project_id >= $1 AND project_id <= $1 \
                   ORDER BY project_id DESC, id DESC LIMIT $2) e JOIN deliveries d ON d.event_id = e.id AND d.state = 'delivered' \
                   JOIN attempts s ON s.event_id = d.event_id AND s.number = d.attempts), 0)";
        let parameters = [Value::stored(id), WEBHOOKS_LOOKED_AT.into()];
        Ok(self.one(Query::new(sql, parameters), |columns| columns.optional_timestamp()).await?.flatten())
    }

    /// What came of the last attempt of a project's webhooks that failed: the answer's status, or why there was none.
    pub async fn last_failed_attempt(&self, id: ProjectId) -> Result<Option<String>, StoreError> {
        let sql = "SELECT a.status, a.detail FROM deliveries d JOIN attempts a ON a.event_id = d.event_id \
                   AND a.number = d.attempts WHERE d.project_id = $1 AND d.state = 'pending' AND d.state <> 'delivered' AND d.attempts > d.resent_after \
                   ORDER BY a.at DESC LIMIT 1";
        let row = |columns: &mut Columns<'_>| {
            let (status, detail) = (columns.optional_integer()?, columns.optional_text()?);
            Ok(detail.or_else(|| status.map(|status| status.to_string())))
        };
        Ok(self.one(Query::new(sql, [Value::stored(id)]), row).await?.flatten())
    }

    /// Receipts in the order of their causes, which name their payments, from the one behind `after` on, at most `most`.
    pub async fn receipt_letters_after(&self, after: &str, most: i64) -> Result<Vec<ReceiptLetter>, StoreError> {
        let payment = match self.dialect() {
            Dialect::Sqlite => "payment_short(substr(l.cause, -30))",
            Dialect::Postgres => "right(l.cause, 30)",
        };
        let sql = format!(
            "SELECT l.id, l.cause, CAST(CASE WHEN EXISTS (SELECT 1 FROM checkouts c WHERE c.payment_id = {payment} \
             AND (c.customer_email <> '' OR c.customer_phone <> '')) THEN 1 ELSE 0 END AS BIGINT) FROM letters l \
             WHERE l.cause > $1 AND ((l.cause >= 'receipt ' AND l.cause < 'receipt!') \
             OR (l.cause >= 'notice receipt ' AND l.cause < 'notice receipt!')) ORDER BY l.cause LIMIT $2"
        );
        let receipt = |columns: &mut Columns<'_>| {
            Ok(ReceiptLetter { id: columns.parsed()?, cause: columns.text()?, has_customer: columns.truth()? })
        };
        self.many(Query::new(sql, [after.to_owned().into(), most.into()]), receipt).await
    }

    /// All operators who can sign in.
    pub async fn operators(&self) -> Result<Vec<User>, StoreError> {
        let sql = "SELECT id, email, is_operator, created_at, deactivated_at, removed_at FROM users \
                   WHERE is_operator = 1 AND deactivated_at IS NULL ORDER BY id";
        self.many(Query::new(sql, []), users::user).await
    }

    /// Whether customers of a project get receipts.
    pub async fn sends_receipts(&self, id: ProjectId) -> Result<bool, StoreError> {
        let sql = "SELECT 1 FROM receipt_letters WHERE project_id = $1";
        Ok(self.one(Query::new(sql, [Value::stored(id)]), |_| Ok(())).await?.is_some())
    }
}

/// Goes from one project with waiting letters to the next by the index, and reads only the first due letters of each. The limit is
/// part of the text, since SQLite would prepare the statement anew each time that it is bound.
fn due_letters_sql(dialect: Dialect, per_project: usize) -> String {
    let (rows, end) = match dialect {
        Dialect::Sqlite => ("JOIN letters l ON l.id IN (SELECT t.id", ""),
        Dialect::Postgres => ("CROSS JOIN LATERAL (SELECT *", " l"),
    };
    let first = |of: &str| {
        format!(
            "FROM letters t WHERE t.state = 'waiting' AND {of} AND t.due_at <= $1 AND t.leased_by IS NULL \
             ORDER BY t.due_at LIMIT {per_project}"
        )
    };
    let columns = format!("{COLUMNS}, l.due_at AS due, l.urgent AS urgent");
    format!(
        "WITH RECURSIVE waiting (project_id) AS (SELECT MIN(project_id) FROM letters WHERE state = 'waiting' AND urgent = 0 \
         UNION ALL SELECT (SELECT MIN(n.project_id) FROM letters n WHERE n.state = 'waiting' AND n.urgent = 0 \
         AND n.project_id > waiting.project_id) FROM waiting WHERE waiting.project_id IS NOT NULL) \
         SELECT * FROM (SELECT {columns} FROM letters l WHERE l.id IN (SELECT t.id {urgent}) \
         UNION ALL SELECT {columns} FROM letters l WHERE l.id IN (SELECT t.id {of_none}) \
         UNION ALL SELECT {columns} FROM waiting {rows} {of_project}){end}) picked ORDER BY urgent DESC, due, id",
        urgent = first("t.urgent = 1"),
        of_none = first("t.urgent = 0 AND t.project_id IS NULL"),
        of_project = first("t.urgent = 0 AND t.project_id = waiting.project_id"),
    )
}

/// The same for notices, from one URL to the next.
fn due_notices_sql(dialect: Dialect, per_url: usize) -> String {
    let (rows, end) = match dialect {
        Dialect::Sqlite => ("JOIN letters l ON l.id IN (SELECT t.id", ""),
        Dialect::Postgres => ("CROSS JOIN LATERAL (SELECT *", " l"),
    };
    format!(
        "WITH RECURSIVE waiting (recipient) AS (SELECT MIN(recipient) FROM letters WHERE notice_due_at IS NOT NULL \
         UNION ALL SELECT (SELECT MIN(n.recipient) FROM letters n WHERE n.notice_due_at IS NOT NULL \
         AND n.recipient > waiting.recipient) FROM waiting WHERE waiting.recipient IS NOT NULL) \
         SELECT * FROM (SELECT {COLUMNS}, l.notice_due_at AS due FROM waiting {rows} FROM letters t \
         WHERE t.notice_due_at <= $1 AND t.recipient = waiting.recipient AND t.leased_by IS NULL \
         ORDER BY t.notice_due_at LIMIT {per_url}){end}) picked ORDER BY due, id"
    )
}

pub(super) fn letter(columns: &mut Columns<'_>) -> Result<QueuedLetter, StoreError> {
    let (id, kind) = (columns.parsed()?, columns.word(LetterKind::parse)?);
    let (project_id, user_id) = (columns.optional_parsed()?, columns.optional_parsed()?);
    let (recipient, language) = (columns.text()?, columns.word(language_column::read)?);
    let (queued_at, expires_at, attempts) = (columns.timestamp()?, columns.timestamp()?, columns.count()?);
    let (word, at) = (columns.text()?, columns.timestamp()?);
    let state = LetterState::parse(&word, at).ok_or_else(|| StoreError::unexpected(format!("a letter is {word:?}")))?;
    let (answer, channel) = (columns.optional_text()?, columns.word(Channel::parse)?);
    Ok(QueuedLetter {
        id,
        kind,
        channel,
        project_id,
        user_id,
        recipient,
        language,
        queued_at,
        expires_at,
        attempts,
        state,
        answer,
    })
}

fn choices(columns: &mut Columns<'_>) -> Result<LetterChoices, StoreError> {
    Ok(LetterChoices {
        user_id: columns.parsed()?,
        language: columns.word(language_column::read)?,
        summary: columns.optional_text()?.and_then(|word| SummaryPeriod::parse(&word)),
        refused: Vec::new(),
    })
}
