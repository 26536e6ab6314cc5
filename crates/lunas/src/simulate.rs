//! `lunas pay` and `lunas fail`: simulate the report of a customer's bank about a sandbox payment. Production payments are refused.

use clap::Args;
use domain::{
    id::PaymentId,
    payment::{Payment, Status},
    project::Project,
    receipt::Unapplied,
};
use engine::{Engine, Observed};
use gateway::Outcome;
use serde::Serialize;

use crate::{
    database::Installation,
    error::CliError,
    options::{GlobalOptions, MoneyOptions},
};

#[derive(Args)]
pub(crate) struct SimulateOptions {
    /// The payment's id, pay_….
    payment_id: String,
    #[command(flatten)]
    money: MoneyOptions,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Report {
    Paid,
    Failed,
}

#[derive(Serialize)]
struct SimulatedJson {
    id: String,
    status: &'static str,
    paid_at: Option<String>,
    outcome: &'static str,
    /// Why money could not be applied to the payment.
    reason: Option<&'static str>,
}

pub(crate) async fn run(report: Report, options: SimulateOptions, global: &GlobalOptions) -> Result<(), CliError> {
    let installation = Installation::existing(global, options.money.settings()).await?;
    let simulated = simulate(report, &options.payment_id, &installation).await;
    installation.close().await;
    let (simulated, text) = simulated?;
    global.output().show(&simulated, |_| text)
}

async fn simulate(report: Report, id: &str, installation: &Installation) -> Result<(SimulatedJson, String), CliError> {
    let engine = &installation.engine;
    let payment = find(installation, id).await?;
    let project = engine.project(payment.terms.project_id).await?;
    let (id, amount) = (payment.id, payment.terms.amount);
    let outcome = |now| match report {
        Report::Paid => Outcome::Paid { amount, paid_at: now },
        Report::Failed => Outcome::Failed,
    };
    match engine.simulate(&project, payment, None, outcome).await {
        Ok(Observed::Moved(payment)) => Ok(describe(engine, &project, &payment, "moved", None)),
        Ok(Observed::Known(payment)) => Ok(describe(engine, &project, &payment, "known", None)),
        Ok(Observed::Unapplied(payment, why)) => Ok(describe(engine, &project, &payment, "unapplied", Some(why))),
        Ok(Observed::Ended(payment)) => {
            let status = status_word(engine, &project, &payment);
            Err(CliError::new(format!("{} is already {status} and can no longer fail", payment.id)))
        }
        Err(engine::Error::NotSandbox) => {
            let what = format!("{id} is a production payment, which cannot be simulated");
            Err(CliError::new(format!("{what}; use a payment of a sandbox project")))
        }
        Err(error) => Err(error.into()),
    }
}

async fn find(installation: &Installation, id: &str) -> Result<Payment, CliError> {
    let unknown = || {
        let what = format!("there is no payment {} in this database", id.escape_debug());
        CliError::new(format!("{what}; check the id, and give --database if the server uses another one"))
    };
    let parsed: PaymentId = id.parse().map_err(|_| unknown())?;
    installation.store.payment(parsed).await?.ok_or_else(unknown)
}

fn describe(
    engine: &Engine,
    project: &Project,
    payment: &Payment,
    outcome: &'static str,
    unapplied: Option<Unapplied>,
) -> (SimulatedJson, String) {
    let simulated = SimulatedJson {
        id: payment.id.to_string(),
        status: status_word(engine, project, payment),
        paid_at: payment.paid_at().map(|at| at.to_string()),
        outcome,
        reason: unapplied.map(Unapplied::word),
    };
    let state = format!("{} is {}", simulated.id, simulated.status);
    let text = match (&simulated.paid_at, unapplied) {
        (_, Some(why)) => {
            let because = sentence(why);
            format!("{state}, as before: {because}, so the {} were recorded as unapplied money", payment.terms.amount)
        }
        (Some(at), None) => format!("{state}: {} at {at}", payment.terms.amount),
        (None, None) => state,
    };
    (simulated, text)
}

fn sentence(why: Unapplied) -> &'static str {
    match why {
        Unapplied::WrongAmount => "the amount is not the payment's",
        Unapplied::AlreadyPaid => "it was paid before",
        Unapplied::LinkClaimed => "another payment has claimed its link",
        Unapplied::TooLate => "the money came too late",
        Unapplied::ReceiptReused => "the bank has used its receipt id for another payment",
    }
}

/// The status, with the word that the project has chosen for paid payments.
fn status_word(engine: &Engine, project: &Project, payment: &Payment) -> &'static str {
    match payment.status_at(engine.now()) {
        Status::Paid => project.success_word.word(),
        status => status.word(),
    }
}
