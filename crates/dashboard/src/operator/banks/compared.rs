//! Days of a bank account that were compared with the bank, as the account's page shows them.

use domain::{
    bank_difference::{ComparedBy, Reconciliation, Tally},
    bank_request::{day_text, jakarta_day},
    id::BankAccountId,
};
use engine::Error;
use i18n_embed_fl::fl;
use web::page::moment::Moment;

use crate::{page::OperatorPage, words::Words};

/// How many days are shown.
const DAYS_SHOWN: i64 = 14;

/// What an account's page shows about compared days.
pub(crate) struct Compared {
    /// Whether the bank can be asked at all.
    pub(crate) possible: bool,
    pub(crate) rows: Vec<DayRow>,
    /// The day in the form, and what is wrong with it.
    pub(crate) date: String,
    pub(crate) mistake: Option<String>,
    /// The attributes that keep a browser from offering days that are not over.
    pub(crate) limits: String,
}

/// How many, and how much together; no amount where there are none.
pub(crate) struct Sum {
    pub(crate) count: i64,
    pub(crate) amount: Option<String>,
}

pub(crate) struct DayRow {
    pub(crate) day: String,
    pub(crate) by: String,
    pub(crate) matched: Sum,
    pub(crate) missing_here: Sum,
    pub(crate) missing_there: Sum,
    pub(crate) differing: Sum,
    pub(crate) bank_fees: Sum,
    pub(crate) at: Moment,
    /// Whether a person must look at something.
    pub(crate) bad: bool,
}

/// The day that was typed, and what is wrong with it.
#[derive(Default)]
pub(super) struct Typed {
    pub(super) date: Option<String>,
    pub(super) mistake: Option<String>,
}

pub(super) async fn compared(page: &OperatorPage, id: BankAccountId, typed: Typed) -> Result<Compared, Error> {
    let rows = page.operator.reconciliations(id, DAYS_SHOWN).await?;
    let yesterday = day_text(jakarta_day(page.now()) - 1);
    Ok(Compared {
        possible: page.operator.is_comparable(id).await?,
        rows: rows.into_iter().map(|row| day_row(page, row)).collect(),
        limits: format!("required max={yesterday}"),
        date: typed.date.unwrap_or(yesterday),
        mistake: typed.mistake,
    })
}

fn day_row(page: &OperatorPage, row: Reconciliation) -> DayRow {
    let sum = |Tally { count, amount }: Tally| Sum { count, amount: (count > 0).then(|| amount.to_string()) };
    DayRow {
        day: day_text(row.day),
        by: by(page.words(), row.by),
        matched: sum(row.matched),
        missing_here: sum(row.missing_here),
        missing_there: sum(row.missing_there),
        differing: sum(row.differing),
        bank_fees: sum(row.bank_fees),
        at: page.moment(row.at),
        bad: row.missing_there.count + row.differing.count > 0,
    }
}

fn by(words: Words, by: ComparedBy) -> String {
    match by {
        ComparedBy::Report => fl!(words, "compare-by-report"),
        ComparedBy::Query => fl!(words, "compare-by-query"),
        ComparedBy::ReportAndQuery => fl!(words, "compare-by-both"),
    }
}
