//! `lunas bank differences` and `lunas bank settle`: what banks say otherwise than we do, and who has seen to it.

use clap::{Args, value_parser};
use domain::{
    bank_difference::{Difference, DifferenceKey, DifferenceKind},
    bank_request::day_text,
    money::Rupiah,
};
use engine::Window;
use serde::Serialize;

use super::account::Desk;
use crate::{error::CliError, output::table};

#[derive(Args)]
pub(super) struct DifferencesOptions {
    /// Those that somebody has settled, in place of those that are open.
    #[arg(long)]
    settled: bool,
    /// How many to show.
    #[arg(long, value_name = "NUMBER", default_value_t = 20, value_parser = value_parser!(i64).range(1..=1_000))]
    limit: i64,
}

#[derive(Args)]
pub(super) struct SettleOptions {
    /// The account's id, bac_….
    id: String,
    /// What it is about: the bank's id of the money, or our reference of a code.
    subject: String,
    /// Which difference it is: missing_there, amount, fee, refunded or unanswered.
    #[arg(value_parser = kind)]
    kind: DifferenceKind,
    /// What was done about it, for the audit log.
    #[arg(long)]
    note: String,
}

#[derive(Serialize)]
struct DifferencesJson {
    /// How many nobody has settled.
    open: i64,
    differences: Vec<DifferenceJson>,
}

#[derive(Serialize)]
struct DifferenceJson {
    account_id: String,
    subject: String,
    kind: &'static str,
    date: String,
    payment_id: Option<String>,
    /// Amounts, or fees where the fee differs.
    ours: Option<i64>,
    theirs: Option<i64>,
    found_at: String,
    settled_at: Option<String>,
    note: Option<String>,
}

/// Reads the kind of a difference.
fn kind(text: &str) -> Result<DifferenceKind, String> {
    DifferenceKind::parse(text).ok_or_else(|| {
        let words: Vec<&str> = DifferenceKind::ALL.iter().map(|kind| kind.word()).collect();
        format!("it must be one of {}", words.join(", "))
    })
}

impl DifferenceJson {
    fn of(difference: Difference) -> DifferenceJson {
        let Difference { key, day, payment_id, ours, theirs, found_at, settled } = difference;
        let (settled_at, note) = settled.unzip();
        DifferenceJson {
            account_id: key.account_id.to_string(),
            subject: key.subject,
            kind: key.kind.word(),
            date: day_text(day),
            payment_id: payment_id.map(|id| id.to_string()),
            ours: ours.map(Rupiah::get),
            theirs: theirs.map(Rupiah::get),
            found_at: found_at.to_string(),
            settled_at: settled_at.map(|at| at.to_string()),
            note,
        }
    }

    fn row(&self) -> [String; 8] {
        let amount = |amount: Option<i64>| amount.map(|amount| Rupiah::new(amount).to_string()).unwrap_or_default();
        [
            self.account_id.clone(),
            self.subject.replace(|character: char| character.is_control(), " "),
            self.kind.to_owned(),
            self.date.clone(),
            self.payment_id.clone().unwrap_or_default(),
            amount(self.ours),
            amount(self.theirs),
            self.note.clone().unwrap_or_default().replace(['\n', '\r'], " "),
        ]
    }
}

pub(super) async fn list(desk: &Desk<'_>, options: &DifferencesOptions) -> Result<(), CliError> {
    let window = Window { offset: 0, limit: options.limit };
    let listed = desk.engine.differences(!options.settled, window).await?;
    let listed = DifferencesJson {
        open: desk.engine.open_differences().await?,
        differences: listed.items.into_iter().map(DifferenceJson::of).collect(),
    };
    desk.output.show(&listed, |listed| {
        let rows: Vec<_> = listed.differences.iter().map(DifferenceJson::row).collect();
        let table = table(["ACCOUNT", "SUBJECT", "KIND", "DAY", "PAYMENT", "OURS", "BANK'S", "NOTE"], &rows);
        match listed.open {
            0 => format!("{table}\n\nNo difference is open."),
            count => format!("{table}\n\nOpen: {count}.\n\nnext: lunas bank settle ACCOUNT SUBJECT KIND --note WHAT"),
        }
    })
}

pub(super) async fn settle(desk: &Desk<'_>, options: SettleOptions) -> Result<(), CliError> {
    let SettleOptions { id, subject, kind, note } = options;
    let account_id = desk.find(&id).await?.account.id;
    let key = DifferenceKey { account_id, subject, kind };
    let settled = match desk.engine.settle_difference(&key, note).await {
        Err(engine::Error::NotFound(_)) => {
            let what = format!("{} of {}", key.kind.word(), key.subject.escape_debug());
            return Err(CliError::new(format!("there is no difference {what}; `lunas bank differences` lists them")));
        }
        settled => DifferenceJson::of(settled?),
    };
    desk.output.show(&settled, |settled| format!("{} of {} is settled", settled.kind, settled.subject))
}
