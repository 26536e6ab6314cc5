//! Codes that banks issue: attempts, what is still to be asked, and what was sent.

use domain::{
    id::{BankAccountId, OpeningId, PaymentId},
    opening::{BankCode, BankJob, BankSend, JobKey, JobKind, Opening, OpeningAttempt, OpeningState},
    time::Timestamp,
};

use crate::{
    Store,
    error::StoreError,
    terms_columns::{self, checkout_columns, terms_columns},
    value::{Columns, Query, Value},
};

/// A macro instead of a constant, so that `concat!` can build the statements at compile time.
macro_rules! opening_by {
    ($condition:literal) => {
        concat!(
            "SELECT o.id, o.account_id, o.state, o.payment_id, o.resolved_at, o.generation, o.created_at, o.version, ",
            terms_columns!("o."),
            ", a.opening_id, ",
            checkout_columns!("a."),
            ", a.visitor, a.network, a.replaces FROM openings o LEFT JOIN opening_attempts a ON a.opening_id = o.id WHERE ",
            $condition
        )
    };
}

pub(super) const CODE: &str = "account_id, reference, opening_id, generation, bank_reference, number, asked_at";
pub(super) const SEND: &str =
    "account_id, day, external_id, service, opening_id, generation, sent_at, code, answered_at";
const JOB: &str = "opening_id, kind, generation, account_id, due_at, tries, created_at";

/// How a bank names a code.
#[derive(Clone, Copy, Debug)]
pub enum CodeName<'a> {
    /// By what we call it.
    Reference(&'a str),
    /// By what the bank calls it.
    BankReference(&'a str),
    Number(&'a str),
}

/// How much is to be asked of a bank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JobsWaiting {
    pub count: i64,
    /// Since when the longest due job is due.
    pub oldest_due_at: Option<Timestamp>,
}

impl Store {
    pub async fn opening(&self, id: OpeningId) -> Result<Option<Opening>, StoreError> {
        self.one(Query::new(opening_by!("o.id = $1"), [Value::stored(id)]), opening).await
    }

    /// The opening that a payment came from; none if no bank was asked for its code.
    pub async fn opening_of_payment(&self, id: PaymentId) -> Result<Option<Opening>, StoreError> {
        self.one(Query::new(opening_by!("o.payment_id = $1"), [Value::stored(id)]), opening).await
    }

    /// The code that a bank names; the newest, where a bank uses one of its own names twice.
    pub async fn bank_code(&self, id: BankAccountId, name: CodeName<'_>) -> Result<Option<BankCode>, StoreError> {
        let (column, text) = match name {
            CodeName::Reference(text) => ("reference", text),
            CodeName::BankReference(text) => ("bank_reference", text),
            CodeName::Number(text) => ("number", text),
        };
        let sql = format!(
            "SELECT {CODE} FROM bank_codes WHERE account_id = $1 AND {column} = $2 ORDER BY asked_at DESC LIMIT 1"
        );
        self.one(Query::new(sql, [Value::stored(id), text.to_owned().into()]), code).await
    }

    /// All codes of an opening, oldest first.
    pub async fn codes_of_opening(&self, id: OpeningId) -> Result<Vec<BankCode>, StoreError> {
        let sql = format!("SELECT {CODE} FROM bank_codes WHERE opening_id = $1 ORDER BY generation");
        self.many(Query::new(sql, [Value::stored(id)]), code).await
    }

    pub async fn code_of_generation(&self, id: OpeningId, generation: i64) -> Result<Option<BankCode>, StoreError> {
        let sql = format!("SELECT {CODE} FROM bank_codes WHERE opening_id = $1 AND generation = $2");
        self.one(Query::new(sql, [Value::stored(id), generation.into()]), code).await
    }

    pub async fn bank_job(&self, key: JobKey) -> Result<Option<BankJob>, StoreError> {
        let sql = format!("SELECT {JOB} FROM bank_jobs WHERE opening_id = $1 AND kind = $2 AND generation = $3");
        let parameters = [Value::stored(key.opening_id), key.kind.word().into(), key.generation.into()];
        self.one(Query::new(sql, parameters), job).await
    }

    /// The accounts that something is to be asked of at `now`.
    pub async fn accounts_with_jobs(&self, now: Timestamp) -> Result<Vec<BankAccountId>, StoreError> {
        let sql = "SELECT a.id FROM bank_accounts a \
                   WHERE EXISTS (SELECT 1 FROM bank_jobs j WHERE j.account_id = a.id AND j.due_at <= $1)";
        self.due(Query::new(sql, [now.into()]), |columns| columns.parsed()).await
    }

    /// What is to be asked of a bank, longest due first.
    pub async fn due_jobs(&self, id: BankAccountId, now: Timestamp, most: i64) -> Result<Vec<BankJob>, StoreError> {
        let sql =
            format!("SELECT {JOB} FROM bank_jobs WHERE account_id = $1 AND due_at <= $2 ORDER BY due_at LIMIT $3");
        self.due(Query::new(sql, [Value::stored(id), now.into(), most.into()]), job).await
    }

    /// How many jobs of an account are due at `now`, counted up to `most`.
    pub async fn jobs_waiting(&self, id: BankAccountId, now: Timestamp, most: i64) -> Result<JobsWaiting, StoreError> {
        let sql = "SELECT COUNT(*), MIN(due_at) FROM (SELECT due_at FROM bank_jobs WHERE account_id = $1 \
                   AND due_at <= $2 ORDER BY due_at LIMIT $3) due";
        let waiting = |columns: &mut Columns<'_>| {
            Ok(JobsWaiting { count: columns.integer()?, oldest_due_at: columns.optional_timestamp()? })
        };
        let found = self.many(Query::new(sql, [Value::stored(id), now.into(), most.into()]), waiting).await?;
        found.into_iter().next().ok_or_else(|| StoreError::unexpected("a count has no row"))
    }

    /// Whether there are calls from before a day.
    pub async fn any_send_before(&self, day: i64) -> Result<bool, StoreError> {
        let sql = "SELECT 1 FROM bank_sends WHERE day < $1 LIMIT 1";
        Ok(self.one(Query::new(sql, [day.into()]), |_| Ok(())).await?.is_some())
    }

    /// Whether a customer whose code was refused or abandoned is remembered from an opening that is older than this id.
    pub async fn any_attempt_before(&self, id: OpeningId) -> Result<bool, StoreError> {
        let sql = "SELECT 1 FROM opening_attempts a JOIN openings o ON o.id = a.opening_id \
                   WHERE a.opening_id < $1 AND o.resolved_at IS NOT NULL LIMIT 1";
        Ok(self.one(Query::new(sql, [Value::stored(id)]), |_| Ok(())).await?.is_some())
    }

    /// Up to where external ids that are numbers have been reserved on a day.
    pub async fn serials_upto(&self, id: BankAccountId, day: i64) -> Result<i64, StoreError> {
        let sql = "SELECT upto FROM bank_serials WHERE account_id = $1 AND day = $2";
        let found = self.one(Query::new(sql, [Value::stored(id), day.into()]), |columns| columns.integer()).await?;
        Ok(found.unwrap_or_default())
    }
}

fn opening(columns: &mut Columns<'_>) -> Result<Opening, StoreError> {
    let mut opening = Opening {
        id: columns.parsed()?,
        account_id: columns.parsed()?,
        state: state(columns)?,
        generation: columns.integer()?,
        created_at: columns.timestamp()?,
        version: columns.integer()?,
        terms: terms_columns::terms(columns)?,
        attempt: None,
    };
    if columns.optional_text()?.is_some() {
        opening.terms.checkout = Some(terms_columns::checkout(columns)?);
        opening.attempt = Some(attempt(columns)?);
    }
    Ok(opening)
}

fn state(columns: &mut Columns<'_>) -> Result<OpeningState, StoreError> {
    let (word, payment_id, at) = (columns.text()?, columns.optional_parsed()?, columns.optional_timestamp()?);
    match (word.as_str(), payment_id, at) {
        ("open", None, None) => Ok(OpeningState::Open),
        ("issued", Some(payment_id), None) => Ok(OpeningState::Issued { payment_id }),
        ("refused", None, Some(at)) => Ok(OpeningState::Refused { at }),
        ("abandoned", None, Some(at)) => Ok(OpeningState::Abandoned { at }),
        _ => Err(StoreError::unexpected(format!("an opening is {word:?}"))),
    }
}

fn attempt(columns: &mut Columns<'_>) -> Result<OpeningAttempt, StoreError> {
    Ok(OpeningAttempt {
        visitor: columns.optional_text()?,
        network: columns.optional_text()?,
        replaces: columns.text()?.split(',').filter_map(|id| id.parse().ok()).collect(),
    })
}

pub(super) fn code(columns: &mut Columns<'_>) -> Result<BankCode, StoreError> {
    Ok(BankCode {
        account_id: columns.parsed()?,
        reference: columns.text()?,
        opening_id: columns.parsed()?,
        generation: columns.integer()?,
        bank_reference: columns.optional_text()?,
        number: columns.optional_text()?,
        asked_at: columns.timestamp()?,
    })
}

fn job(columns: &mut Columns<'_>) -> Result<BankJob, StoreError> {
    let (opening_id, kind) = (columns.parsed()?, columns.word(JobKind::parse)?);
    Ok(BankJob {
        key: JobKey { opening_id, kind, generation: columns.integer()? },
        account_id: columns.parsed()?,
        due_at: columns.optional_timestamp()?,
        tries: columns.integer()?,
        created_at: columns.timestamp()?,
    })
}

pub(super) fn send(columns: &mut Columns<'_>) -> Result<BankSend, StoreError> {
    Ok(BankSend {
        account_id: columns.parsed()?,
        day: columns.integer()?,
        external_id: columns.text()?,
        service: columns.integer()?,
        about: {
            let (opening_id, generation) = (columns.optional_parsed()?, columns.optional_integer()?);
            opening_id.zip(generation)
        },
        sent_at: columns.timestamp()?,
        answer: {
            let (code, at) = (columns.optional_text()?, columns.optional_timestamp()?);
            code.zip(at)
        },
    })
}
