//! `lunas bank reconcile`: a day of an account, compared with what its bank says.

use clap::Args;
use domain::{
    bank_difference::{Reconciliation, Tally},
    bank_request::{day_text, jakarta_day, parse_day},
    money::Rupiah,
};
use engine::{ComparedLine, Comparison, LineClass};
use serde::Serialize;

use super::account::Desk;
use crate::{
    error::CliError,
    options::MoneyOptions,
    output::{fields, print, table},
};

/// The characters that make a spreadsheet take a cell for a formula.
const FORMULA: [char; 6] = ['=', '+', '-', '@', '\t', '\r'];

#[derive(Args)]
pub(super) struct ReconcileOptions {
    /// The account's id, bac_….
    id: String,
    /// The day in Jakarta, such as 2026-11-14. Without it, yesterday.
    #[arg(long, value_name = "YYYY-MM-DD", value_parser = day)]
    date: Option<i64>,
    /// Answer with CSV, one line per transaction with its class.
    #[arg(long)]
    csv: bool,
    #[command(flatten)]
    pub(super) money: MoneyOptions,
}

#[derive(Serialize)]
struct ReconciledJson {
    account_id: String,
    date: String,
    /// `report`, `query` or `report_and_query`.
    compared_by: &'static str,
    first_compared_at: String,
    compared_at: String,
    matched: TallyJson,
    /// What the bank knew and we did not when the day was first compared; it is booked since.
    missing_here: TallyJson,
    missing_there: TallyJson,
    differing: TallyJson,
    /// What the bank keeps, of the transactions where it says so.
    bank_fees: TallyJson,
    transactions: Vec<TransactionJson>,
}

#[derive(Serialize)]
struct TallyJson {
    count: i64,
    amount: i64,
}

#[derive(Serialize)]
struct TransactionJson {
    /// `matched`, `missing_here`, `missing_there` or `differing`.
    class: &'static str,
    /// What a person must look at; `lunas bank differences` lists it.
    difference: Option<&'static str>,
    receipt_id: String,
    payment_id: Option<String>,
    our_amount: Option<i64>,
    bank_amount: Option<i64>,
    our_fee: Option<i64>,
    bank_fee: Option<i64>,
    paid_at: Option<String>,
}

/// Reads a day.
fn day(text: &str) -> Result<i64, String> {
    parse_day(text).ok_or_else(|| "it must be a day, such as 2026-11-14".to_owned())
}

impl From<Tally> for TallyJson {
    fn from(tally: Tally) -> TallyJson {
        TallyJson { count: tally.count, amount: tally.amount.get() }
    }
}

impl TransactionJson {
    fn of(line: &ComparedLine) -> TransactionJson {
        TransactionJson {
            class: line.class.word(),
            difference: line.difference.map(|kind| kind.word()),
            receipt_id: line.receipt_id.clone(),
            payment_id: line.payment_id.map(|id| id.to_string()),
            our_amount: line.ours.map(Rupiah::get),
            bank_amount: line.theirs.map(Rupiah::get),
            our_fee: line.our_fee.map(Rupiah::get),
            bank_fee: line.bank_fee.map(Rupiah::get),
            paid_at: line.paid_at.map(|at| at.to_string()),
        }
    }

    fn cells(&self) -> [String; 9] {
        let number = |amount: Option<i64>| amount.map(|amount| amount.to_string()).unwrap_or_default();
        [
            self.class.to_owned(),
            self.difference.unwrap_or_default().to_owned(),
            self.receipt_id.clone(),
            self.payment_id.clone().unwrap_or_default(),
            number(self.our_amount),
            number(self.bank_amount),
            number(self.our_fee),
            number(self.bank_fee),
            self.paid_at.clone().unwrap_or_default(),
        ]
    }
}

const COLUMNS: [&str; 9] =
    ["class", "difference", "receipt_id", "payment_id", "our_amount", "bank_amount", "our_fee", "bank_fee", "paid_at"];

pub(super) async fn reconcile(desk: &Desk<'_>, options: ReconcileOptions) -> Result<(), CliError> {
    if options.csv && desk.output.json {
        return Err(CliError::new("--csv and --json cannot be given together; choose one".to_owned()));
    }
    let account = desk.find(&options.id).await?.account;
    let day = options.date.unwrap_or_else(|| jakarta_day(desk.engine.now()) - 1);
    let comparison = desk.engine.compare_bank_day(account.id, day).await?;
    let Comparison { reconciliation, lines } = &comparison;
    let transactions = lines.iter().map(TransactionJson::of).collect();
    if options.csv {
        return print(&csv(transactions));
    }
    let Reconciliation { by, first_at, at, matched, missing_here, missing_there, .. } = *reconciliation;
    let reconciled = ReconciledJson {
        account_id: account.id.to_string(),
        date: day_text(day),
        compared_by: by.word(),
        first_compared_at: first_at.to_string(),
        compared_at: at.to_string(),
        matched: matched.into(),
        missing_here: missing_here.into(),
        missing_there: missing_there.into(),
        differing: reconciliation.differing.into(),
        bank_fees: reconciliation.bank_fees.into(),
        transactions,
    };
    desk.output.show(&reconciled, |reconciled| text(&account.name, reconciled))
}

fn text(name: &str, reconciled: &ReconciledJson) -> String {
    let tally = |tally: &TallyJson| format!("{}, {}", tally.count, Rupiah::new(tally.amount));
    let sums = fields(&[
        ("account", format!("{name} ({})", reconciled.account_id)),
        ("day", reconciled.date.clone()),
        ("compared by", reconciled.compared_by.replace('_', " ")),
        ("matched", tally(&reconciled.matched)),
        ("missing here", format!("{}; booked", tally(&reconciled.missing_here))),
        ("missing there", tally(&reconciled.missing_there)),
        ("differing", tally(&reconciled.differing)),
        ("bank's fees", format!("{}, of {}", Rupiah::new(reconciled.bank_fees.amount), reconciled.bank_fees.count)),
    ]);
    let notable = |one: &&TransactionJson| one.class != LineClass::Matched.word();
    let rows: Vec<_> = reconciled.transactions.iter().filter(notable).map(TransactionJson::cells).collect();
    if rows.is_empty() {
        return sums;
    }
    let headings = ["CLASS", "DIFFERENCE", "RECEIPT", "PAYMENT", "OURS", "BANK'S", "OUR FEE", "BANK'S FEE", "PAID"];
    let table = table(headings, &rows);
    let is_open = reconciled.transactions.iter().any(|one| one.difference.is_some());
    let next = if is_open { "\n\nnext: lunas bank differences" } else { "" };
    format!("{sums}\n\n{table}{next}")
}

/// RFC 4180, with a line of names first. No cell is a formula.
fn csv(transactions: Vec<TransactionJson>) -> String {
    let line = |cells: [String; 9]| cells.map(|cell| quoted(&cell)).join(",");
    let lines = transactions.iter().map(|one| line(one.cells()));
    std::iter::once(COLUMNS.join(",")).chain(lines).collect::<Vec<_>>().join("\r\n")
}

fn quoted(cell: &str) -> String {
    let guarded = if cell.starts_with(FORMULA) { format!("'{cell}") } else { cell.to_owned() };
    match guarded.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", guarded.replace('"', "\"\"")),
        false => guarded,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_cell_of_the_csv_breaks_its_line_or_is_a_formula() {
        for (cell, written) in [
            ("R-1", "R-1"),
            ("=1+1", "'=1+1"),
            ("@a,b", "\"'@a,b\""),
            ("say \"x\"", "\"say \"\"x\"\"\""),
            ("a\nb", "\"a\nb\""),
        ] {
            assert_eq!(quoted(cell), written);
        }
    }
}
