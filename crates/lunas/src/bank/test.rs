//! `lunas bank test`: asks the bank for a token, and says in words which part failed and what to check.

use engine::{BankError, BankTest};
use gateway::snap::CallError;
use serde::Serialize;

use super::account::{Desk, missing_error};
use crate::error::CliError;

#[derive(Serialize)]
struct TestedJson {
    id: String,
    ok: bool,
    reason: Option<String>,
    /// What to check.
    check: Option<&'static str>,
}

pub(super) async fn run(desk: &Desk<'_>, id: &str) -> Result<(), CliError> {
    let file = desk.find(id).await?;
    let id = file.account.id;
    let tested = match desk.engine.test_bank_account(id).await {
        Err(engine::Error::Bank(BankError::Missing(missing))) => {
            return Err(missing_error("the account cannot be tested", id, &missing));
        }
        Err(engine::Error::Bank(error @ BankError::NoCalls)) => {
            let how = format!("if the bank takes calls, give its address: lunas bank set {id} base_url=https://…");
            return Err(CliError::new(format!("{error}; {how}")));
        }
        tested => tested?,
    };
    let (reason, check) = match &tested {
        BankTest::Token => (None, None),
        BankTest::Failed(error) => (Some(error.to_string()), Some(what_to_check(error))),
    };
    let tested = TestedJson { id: id.to_string(), ok: reason.is_none(), reason, check };
    if tested.ok || desk.output.json {
        desk.output.show(&tested, |_| {
            "the bank has given us a token: its address, our key and our client id are right".to_owned()
        })?;
    }
    match (tested.reason, tested.check) {
        (Some(reason), Some(check)) => Err(CliError::new(format!("{reason}; {check}"))),
        _ => Ok(()),
    }
}

/// By what the bank, or the way to it, has said.
fn what_to_check(error: &CallError) -> &'static str {
    match error {
        CallError::Unavailable(_) => {
            "check `base_url`, that this machine may reach it, and that the bank allows this machine's address"
        }
        CallError::Refused { .. } => "check the client id (`lunas bank outbound`) and `path.token`",
        CallError::Unknown(_) => "check that `base_url` and `path.token` are those of the bank's token service",
        CallError::Misconfigured(_) | CallError::TokenRefused(_) => {
            "check that the bank has our public key (`lunas bank show` prints it), the client id, and this machine's clock"
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_failure_says_what_to_check() {
        let text = || "x".to_owned();
        for (error, part) in [
            (CallError::Unavailable(text().into()), "base_url"),
            (CallError::Refused { code: text(), message: text() }, "client id"),
            (CallError::Unknown(text().into()), "path.token"),
            (CallError::Misconfigured(text().into()), "public key"),
        ] {
            assert!(what_to_check(&error).contains(part), "{error}");
        }
    }
}
