//! What no API key may do with refunds: approving and declining them, naming their accounts, and saying what became of transfers
//! that a person has made. It works on the database, and the audit log says that the command line did it.

use clap::{Args, Subcommand};
use domain::{
    destination::DestinationRequest,
    id::{ProjectId, RefundId},
    project::Project,
    refund::Refund,
};
use engine::{BatchedTransfer, Engine, Error, Settings};
use serde::Serialize;

use super::{
    account::{AccountOptions, refund_id},
    attempts,
};
use crate::{
    database::Installation,
    error::CliError,
    mail_options::LetterOptions,
    options::GlobalOptions,
    output::{Output, fields},
    project,
};

#[derive(Subcommand)]
pub(crate) enum DecideCommand {
    /// Approve a refund that waits for it, so that its money goes. Works on the database, as all that follows.
    Approve(RefundOptions),
    /// Show what banks were sent of a refund, what they said last, and what is missing to end an uncertain one as failed.
    Attempts(RefundOptions),
    /// Decline a refund that waits for an approval. Its money is back in the balance at once.
    Decline(ReasonOptions),
    /// Say to which account a refund shall go that needs one.
    Destination(DestinationOptions),
    /// Put all refunds that a person can transfer now into a numbered batch, and print it as CSV for the bank, or print an
    /// earlier batch again. What is in a batch can be neither cancelled nor sent otherwise.
    Export(ExportOptions),
    /// Say that you have transferred a refund, with the bank's reference.
    Transferred(TransferredOptions),
    /// Say that a refund was not transferred and will not be. Its money is back in the balance at once. Where a bank may have made
    /// it, that needs the bank's time to be over, a statement without the transfer, and a second person who says the same; what is
    /// in a batch needs a second person too.
    NotTransferred(FailedOptions),
    /// Say that the bank has sent the money of a refund back.
    CameBack(ReasonOptions),
}

#[derive(Args)]
pub(crate) struct RefundOptions {
    /// The refund's id, rfd_….
    id: String,
}

#[derive(Args)]
pub(crate) struct ReasonOptions {
    /// The refund's id, rfd_….
    id: String,
    /// Why; the merchant reads it.
    #[arg(long, value_name = "TEXT")]
    reason: String,
}

#[derive(Args)]
pub(crate) struct FailedOptions {
    #[command(flatten)]
    reason: ReasonOptions,
    /// You have looked at the bank's own statement, and it does not hold the transfer. Needed where Lunas can read none.
    #[arg(long)]
    statement_checked: bool,
}

#[derive(Args)]
pub(crate) struct DestinationOptions {
    /// The refund's id, rfd_….
    id: String,
    #[command(flatten)]
    account: AccountOptions,
    #[command(flatten)]
    letters: Box<LetterOptions>,
}

#[derive(Args)]
pub(crate) struct TransferredOptions {
    /// The refund's id, rfd_….
    id: String,
    /// How the bank names the transfer; no other refund has the same.
    #[arg(long, value_name = "TEXT")]
    reference: String,
    #[command(flatten)]
    letters: Box<LetterOptions>,
}

#[derive(Args)]
pub(crate) struct ExportOptions {
    /// The project's id, prj_….
    #[arg(long, value_name = "ID")]
    project: String,
    /// The number of an earlier batch, to print it again.
    #[arg(long, value_name = "NUMBER")]
    batch: Option<i64>,
}

#[derive(Serialize)]
struct DecidedJson {
    id: String,
    project_id: String,
    status: &'static str,
    pending_reason: Option<&'static str>,
    amount: i64,
    destination: Option<DestinationJson>,
    bank_reference: Option<String>,
    failure_reason: Option<String>,
    /// Who has said that an uncertain one was not made; a second person must say so too.
    doubted_by: Option<String>,
}

#[derive(Serialize)]
struct DestinationJson {
    bank: &'static str,
    last_four: String,
}

#[derive(Serialize)]
struct TransferJson {
    batch: i64,
    refund_id: String,
    bank: &'static str,
    bank_name: &'static str,
    account_number: String,
    account_name: Option<String>,
    amount: i64,
    reference: String,
}

pub(super) async fn run(command: DecideCommand, global: &GlobalOptions) -> Result<(), CliError> {
    let installation = match &command {
        DecideCommand::Destination(options) => options.letters.sealing_installation(global).await?,
        DecideCommand::Transferred(options) => options.letters.installation(global).await?,
        // Banks are asked by keys that are stored encrypted.
        DecideCommand::Export(_) | DecideCommand::Attempts(_) | DecideCommand::NotTransferred(_) => {
            Installation::sealing_existing(global, Settings::default()).await?
        }
        _ => Installation::existing(global, Settings::default()).await?,
    };
    let decided = decide(command, &installation, global.output()).await;
    installation.close().await;
    decided
}

async fn decide(command: DecideCommand, installation: &Installation, output: Output) -> Result<(), CliError> {
    let engine = &installation.engine;
    let text_id = match &command {
        DecideCommand::Approve(RefundOptions { id }) | DecideCommand::Attempts(RefundOptions { id }) => id,
        DecideCommand::Decline(options) | DecideCommand::CameBack(options) => &options.id,
        DecideCommand::NotTransferred(options) => &options.reason.id,
        DecideCommand::Destination(options) => &options.id,
        DecideCommand::Transferred(options) => &options.id,
        DecideCommand::Export(options) => return export(options, engine, output).await,
    };
    let (id, project, version) = find(installation, text_id).await?;
    let decided = match command {
        DecideCommand::Approve(_) => engine.approve_refund(&project, id, version, false).await,
        DecideCommand::Decline(options) => engine.decline_refund(&project, id, options.reason).await,
        DecideCommand::Destination(options) => engine.give_destination(&project, id, request(options.account)).await,
        DecideCommand::Transferred(options) => engine.mark_transferred(&project, id, options.reference).await,
        DecideCommand::NotTransferred(options) => {
            let FailedOptions { reason, statement_checked } = options;
            engine.mark_not_transferred(&project, id, reason.reason, statement_checked).await
        }
        DecideCommand::CameBack(options) => engine.note_returned(&project, id, options.reason).await,
        DecideCommand::Attempts(_) => {
            return attempts::show(engine, &engine.refund(project.id, id).await?, output).await;
        }
        DecideCommand::Export(_) => return Ok(()),
    };
    let refund = decided.map_err(|error| match error {
        // What failed on our side is told by itself.
        Error::Store(_) | Error::Vault(_) => error.into(),
        error => CliError::new(format!("{id}: {error}")),
    })?;
    show(refund, output)
}

/// The refund's project, and its version as it is now.
async fn find(installation: &Installation, text: &str) -> Result<(RefundId, Project, i64), CliError> {
    let id = refund_id(text)?;
    let unknown = || {
        let what = format!("there is no refund {id} in this database");
        CliError::new(format!("{what}; check the id, and give --database if the server uses another one"))
    };
    let refund = installation.store.refund(id).await.map_err(Error::from)?.ok_or_else(unknown)?;
    let project_id: ProjectId = refund.project_id;
    let project = installation.engine.project(project_id).await?;
    Ok((id, Project::clone(&project), refund.version))
}

fn request(account: AccountOptions) -> DestinationRequest {
    DestinationRequest {
        bank: Some(account.bank),
        account_number: Some(account.account_number),
        account_name: account.account_name,
    }
}

fn show(refund: Refund, output: Output) -> Result<(), CliError> {
    let doubted_by = refund.doubt.filter(|_| refund.state.is_unfinished()).map(|doubt| doubt.by.to_string());
    let decided = DecidedJson {
        doubted_by,
        id: refund.id.to_string(),
        project_id: refund.project_id.to_string(),
        status: refund.status().word(),
        pending_reason: refund.state.pending_reason().map(|reason| reason.word()),
        amount: refund.amount.get(),
        destination: refund.destination.map(|to| DestinationJson { bank: to.bank.code, last_four: to.last_digits }),
        bank_reference: refund.bank_reference,
        failure_reason: refund.failure_reason,
    };
    let amount = refund.amount.to_string();
    output.show(&decided, |decided| {
        let account = decided.destination.as_ref().map(|to| format!("{} …{}", to.bank, to.last_four));
        let rows = [
            ("id", decided.id.clone()),
            ("status", decided.status.to_owned()),
            ("waits for", decided.pending_reason.unwrap_or_default().to_owned()),
            ("amount", amount),
            ("account", account.unwrap_or_default()),
            ("bank reference", decided.bank_reference.clone().unwrap_or_default()),
            ("failure", decided.failure_reason.clone().unwrap_or_default()),
            ("not made, says", doubted(decided.doubted_by.as_deref())),
        ];
        fields(&rows.into_iter().filter(|(_, value)| !value.is_empty()).collect::<Vec<_>>())
    })
}

fn doubted(by: Option<&str>) -> String {
    by.map(|by| format!("{by}; a second person must say so too")).unwrap_or_default()
}

async fn export(options: &ExportOptions, engine: &Engine, output: Output) -> Result<(), CliError> {
    let project = project::find(engine, &options.project).await?;
    let batch = match options.batch {
        Some(batch) => batch,
        None => engine.make_refund_batch(&project, |_| None).await?,
    };
    let transfers = engine.transfers_of_batch(&project, batch).await?;
    for released in transfers.iter().filter(|transfer| transfer.is_released) {
        tracing::warn!(refund = %released.refund_id, "recorded as failed since it was put into the batch: do not transfer it");
    }
    let rows: Vec<TransferJson> = transfers.into_iter().map(|transfer| row(batch, transfer)).collect();
    output.show(rows.as_slice(), csv)
}

fn row(batch: i64, transfer: BatchedTransfer) -> TransferJson {
    TransferJson {
        batch,
        refund_id: transfer.refund_id.to_string(),
        bank: transfer.bank.code,
        bank_name: transfer.bank.name,
        account_number: transfer.number.reveal().to_owned(),
        account_name: transfer.holder,
        amount: transfer.amount.get(),
        reference: transfer.reference,
    }
}

fn csv(transfers: &[TransferJson]) -> String {
    let head = "batch,refund_id,bank,bank_name,account_number,account_name,amount,reference".to_owned();
    let line = |transfer: &TransferJson| {
        [
            transfer.batch.to_string(),
            transfer.refund_id.clone(),
            transfer.bank.to_owned(),
            cell(transfer.bank_name),
            transfer.account_number.clone(),
            cell(transfer.account_name.as_deref().unwrap_or_default()),
            transfer.amount.to_string(),
            cell(&transfer.reference),
        ]
        .join(",")
    };
    std::iter::once(head).chain(transfers.iter().map(line)).collect::<Vec<_>>().join("\n")
}

/// A text as one cell, and never as a formula.
fn cell(text: &str) -> String {
    let is_formula = text.starts_with(['=', '+', '-', '@', '\t', '\r']);
    let text = if is_formula { format!("'{text}") } else { text.to_owned() };
    match text.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_is_quoted_where_it_must_be_and_is_never_a_formula() {
        for (text, written) in [
            ("Siti", "Siti"),
            ("Siti, Ltd", "\"Siti, Ltd\""),
            ("say \"hi\"", "\"say \"\"hi\"\"\""),
            ("=1+1", "'=1+1"),
            ("@a,b", "\"'@a,b\""),
            ("", ""),
        ] {
            assert_eq!(cell(text), written);
        }
    }
}
