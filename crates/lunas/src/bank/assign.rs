//! `lunas bank assign` and `unassign`: by which account a project takes payments of a method.

use domain::{bank::Bank, method::Method};
use serde::Serialize;

use super::account::{Desk, next_command};
use crate::{error::CliError, project};

#[derive(Serialize)]
struct AssignedJson {
    project_id: String,
    method: &'static str,
    /// The account; none after a method was taken away.
    account_id: Option<String>,
    /// The methods by which the project can take money now.
    takes: Vec<&'static str>,
    next: Option<String>,
}

/// Reads a method: a bank's code, or `qris`.
pub(super) fn method(text: &str) -> Result<Method, String> {
    let bank = Bank::from_code(text).map(Method::VirtualAccount);
    bank.or_else(|| Method::parse(text)).ok_or_else(|| {
        let codes: Vec<&str> = Bank::ALL.iter().map(|bank| bank.code()).collect();
        format!("it must be qris or the code of a bank: {}", codes.join(", "))
    })
}

/// What [`method`] reads.
pub(super) fn word(method: Method) -> &'static str {
    method.bank().map_or("qris", Bank::code)
}

pub(super) async fn assign(desk: &Desk<'_>, id: &str, project: &str, method: Method) -> Result<(), CliError> {
    let account = desk.find(id).await?.account;
    let project = project::find(desk.engine, project).await?;
    let project = desk.engine.assign_bank_account(account.id, project.id, method).await?;
    let file = desk.engine.bank_account_file(account.id).await?;
    let approve = || format!("lunas project update {} --approve", project.id);
    let next = next_command(&file).or_else(|| (!project.approved).then(approve));
    let assigned = AssignedJson {
        project_id: project.id.to_string(),
        method: word(method),
        account_id: Some(account.id.to_string()),
        takes: project.accounts.iter().map(|assigned| word(assigned.method)).collect(),
        next,
    };
    desk.output.show(&assigned, |assigned| {
        let done = format!("{} takes {} by {} ({})", assigned.project_id, assigned.method, account.name, account.id);
        match &assigned.next {
            Some(next) => format!("{done}\n\nnext: {next}"),
            None => done,
        }
    })
}

pub(super) async fn unassign(desk: &Desk<'_>, project: &str, method: Method) -> Result<(), CliError> {
    let project = project::find(desk.engine, project).await?;
    let project = desk.engine.unassign_bank_account(project.id, method).await?;
    let unassigned = AssignedJson {
        project_id: project.id.to_string(),
        method: word(method),
        account_id: None,
        takes: project.accounts.iter().map(|assigned| word(assigned.method)).collect(),
        next: None,
    };
    desk.output.show(&unassigned, |unassigned| match unassigned.takes.as_slice() {
        [] => format!("{} takes no real money now", unassigned.project_id),
        takes => format!("{} takes {} now", unassigned.project_id, takes.join(", ")),
    })
}
