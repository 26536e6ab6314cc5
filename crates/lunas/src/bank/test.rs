//! `lunas bank test`: asks the bank for a token and about a code that does not exist, and says in words which part failed and what
//! to check.

use engine::{BankError, BankTest, TestStep};
use gateway::snap::CallError;
use serde::Serialize;

use super::account::{Desk, missing_error};
use crate::error::CliError;

#[derive(Serialize)]
struct TestedJson {
    id: String,
    ok: bool,
    /// Whether the bank was asked about a code, too.
    query: bool,
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
    let (query, reason, check) = match &tested {
        BankTest::Token => (false, None, None),
        BankTest::Answered => (true, None, None),
        BankTest::Failed { step, error } => {
            let check = match step {
                TestStep::Token => what_to_check(error),
                TestStep::Query => what_to_check_of_query(error),
            };
            (*step == TestStep::Query, Some(failure_text(*step, error)), Some(check))
        }
    };
    let tested = TestedJson { id: id.to_string(), ok: reason.is_none(), query, reason, check };
    if tested.ok || desk.output.json {
        desk.output.show(&tested, |tested| in_words(tested.query).to_owned())?;
    }
    match (tested.reason, tested.check) {
        (Some(reason), Some(check)) => Err(CliError::new(format!("{reason}; {check}"))),
        _ => Ok(()),
    }
}

fn in_words(query: bool) -> &'static str {
    match query {
        true => {
            "the bank has answered a question about a code that does not exist: its address, our key, our client id and our \
             signature are right"
        }
        false => {
            "the bank has given us a token: its address, our key and our client id are right. It issues no codes for us, so \
             nothing else was asked"
        }
    }
}

/// Which part failed, and how.
fn failure_text(step: TestStep, error: &CallError) -> String {
    match step {
        TestStep::Token => error.to_string(),
        TestStep::Query => format!("asked about a code that does not exist: {error}"),
    }
}

/// What to check where a token was given and the next call has failed.
fn what_to_check_of_query(error: &CallError) -> &'static str {
    match error {
        CallError::Unavailable(_) => "try again later; if that does not help, ask the bank",
        CallError::Refused { .. } => {
            "check `merchant_id`, `channel_id` and the other ids that the bank has given, and the paths"
        }
        CallError::Unknown(_) => "check `base_url` and the paths of the services",
        CallError::Misconfigured(_) | CallError::TokenRefused(_) => {
            "check the secret (`lunas bank outbound`), our key, `sign_out`, `partner_id` and `channel_id`"
        }
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
        for (error, part) in [
            (CallError::Unavailable(text().into()), "later"),
            (CallError::Refused { code: text(), message: text() }, "merchant_id"),
            (CallError::Unknown(text().into()), "base_url"),
            (CallError::Misconfigured(text().into()), "the secret"),
        ] {
            assert!(what_to_check_of_query(&error).contains(part), "{error}");
        }
    }
}
