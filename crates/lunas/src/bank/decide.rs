//! `lunas bank strays` and `lunas bank stray`: money that banks have taken and that fits no payment, and decisions about it.

use clap::{Args, value_parser};
use domain::{
    id::{PaymentId, StrayId},
    money::Rupiah,
    stray::{Stray, StrayDecision},
};
use engine::Window;
use serde::Serialize;

use super::account::Desk;
use crate::{error::CliError, options::MoneyOptions, output::table};

#[derive(Args)]
pub(super) struct ListOptions {
    /// Those that somebody has decided about, in place of those that are open.
    #[arg(long)]
    decided: bool,
    /// How many to show.
    #[arg(long, value_name = "NUMBER", default_value_t = 20, value_parser = value_parser!(i64).range(1..=1_000))]
    limit: i64,
}

#[derive(Args)]
pub(super) struct DecideOptions {
    /// The stray's id, str_….
    id: String,
    #[command(flatten)]
    decision: DecisionArgs,
    /// Why, for the audit log.
    #[arg(long)]
    note: String,
    #[command(flatten)]
    pub(super) money: MoneyOptions,
}

#[derive(Args)]
#[group(required = true, multiple = false)]
struct DecisionArgs {
    /// It was meant for this payment, pay_…. It pays the payment if it fits, and else is held there for the merchant.
    #[arg(long, value_name = "PAYMENT")]
    assign: Option<String>,
    /// The bank was told to give it back.
    #[arg(long = "return")]
    is_returned: bool,
    /// What the bank's notice means, in whole rupiah, where it cannot be read. After that it can be decided about.
    #[arg(long, value_name = "RUPIAH")]
    amount: Option<i64>,
}

#[derive(Serialize)]
struct StraysJson {
    /// How many strays nobody has decided about, and what they add up to in rupiah.
    open: i64,
    open_amount: i64,
    strays: Vec<StrayJson>,
}

#[derive(Serialize)]
struct StrayJson {
    id: String,
    account_id: String,
    number: String,
    /// None where the bank's notice cannot be read.
    amount: Option<i64>,
    paid_at: String,
    received_at: String,
    /// `assigned` or `returned`; none while it is open.
    decision: Option<&'static str>,
    payment_id: Option<String>,
    note: Option<String>,
    decided_at: Option<String>,
    /// The bank's notice as it came, where it cannot be read.
    body: Option<String>,
}

impl StrayJson {
    fn of(stray: Stray) -> StrayJson {
        let payment_id = stray.decided.as_ref().and_then(|decided| match decided.decision {
            StrayDecision::Assigned { payment_id, .. } => Some(payment_id.to_string()),
            StrayDecision::Returned => None,
        });
        StrayJson {
            id: stray.id.to_string(),
            account_id: stray.account_id.to_string(),
            number: stray.number,
            amount: stray.amount.map(Rupiah::get),
            paid_at: stray.paid_at.to_string(),
            received_at: stray.received_at.to_string(),
            decision: stray.decided.as_ref().map(|decided| decided.decision.word()),
            payment_id,
            decided_at: stray.decided.as_ref().map(|decided| decided.at.to_string()),
            note: stray.decided.map(|decided| decided.note),
            body: stray.body,
        }
    }

    fn row(&self) -> [String; 7] {
        let decision = match (self.decision, &self.payment_id) {
            (None, _) => "open".to_owned(),
            (Some(word), Some(payment)) => format!("{word} to {payment}"),
            (Some(word), None) => word.to_owned(),
        };
        [
            self.id.clone(),
            self.account_id.clone(),
            self.number.clone(),
            self.amount.map_or_else(|| "unreadable".to_owned(), |amount| Rupiah::new(amount).to_string()),
            self.paid_at.clone(),
            decision,
            self.note.clone().unwrap_or_default().replace(['\n', '\r'], " "),
        ]
    }
}

pub(super) async fn list(desk: &Desk<'_>, options: &ListOptions) -> Result<(), CliError> {
    let open = desk.engine.open_strays().await?;
    let window = Window { offset: 0, limit: options.limit };
    let strays = desk.engine.strays(!options.decided, window).await?.items;
    let listed = StraysJson {
        open: open.count,
        open_amount: open.amount.get(),
        strays: strays.into_iter().map(StrayJson::of).collect(),
    };
    desk.output.show(&listed, |listed| {
        let rows: Vec<_> = listed.strays.iter().map(StrayJson::row).collect();
        let mut table = table(["ID", "ACCOUNT", "NUMBER", "AMOUNT", "PAID", "DECISION", "NOTE"], &rows);
        for stray in &listed.strays {
            // Nothing that a bank writes may move the cursor of a terminal.
            let body = stray.body.iter().map(|body| body.escape_debug());
            body.for_each(|body| table += &format!("\n\nthe bank's notice of {}: {body}", stray.id));
        }
        match listed.open {
            0 => format!("{table}\n\nNo stray is open."),
            count => {
                let what = format!("Open: {count}, {}.", Rupiah::new(listed.open_amount));
                let unreadable = listed.strays.iter().any(|stray| stray.amount.is_none());
                let how = match unreadable {
                    true => "lunas bank stray ID --amount RUPIAH --note WHY, then --assign PAYMENT or --return",
                    false => "lunas bank stray ID --assign PAYMENT --note WHY, or --return --note WHY",
                };
                format!("{table}\n\n{what}\n\nnext: {how}")
            }
        }
    })
}

pub(super) async fn decide(desk: &Desk<'_>, options: DecideOptions) -> Result<(), CliError> {
    let DecideOptions { id, decision, note, .. } = options;
    let unknown = || {
        let id = id.escape_debug();
        CliError::new(format!("there is no stray {id} in this database; `lunas bank strays` lists them"))
    };
    let parsed: StrayId = id.parse().map_err(|_| unknown())?;
    let decided = match (&decision.assign, decision.amount) {
        (Some(payment), _) => desk.engine.assign_stray(parsed, payment_id(payment)?, note).await,
        (None, Some(amount)) => desk.engine.state_stray(parsed, Rupiah::new(amount), note).await,
        (None, None) => desk.engine.return_stray(parsed, note).await,
    };
    let stray = match (decided, &decision.assign) {
        (Err(engine::Error::NotFound("payment")), Some(payment)) => return Err(no_payment(payment)),
        (Err(engine::Error::NotFound(_)), _) => return Err(unknown()),
        (decided, _) => StrayJson::of(decided?),
    };
    desk.output.show(&stray, |stray| match (&stray.payment_id, stray.decision, stray.amount) {
        (Some(payment), ..) => format!("{} was assigned to {payment}", stray.id),
        (None, None, Some(amount)) => format!("{} is {} from now on", stray.id, Rupiah::new(amount)),
        (None, ..) => format!("{} is recorded as returned", stray.id),
    })
}

fn payment_id(text: &str) -> Result<PaymentId, CliError> {
    text.parse().map_err(|_| no_payment(text))
}

fn no_payment(text: &str) -> CliError {
    CliError::new(format!("there is no payment {} in this database", text.escape_debug()))
}
