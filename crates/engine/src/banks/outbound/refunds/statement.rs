//! Looks for an order on the statement of the account that pays, through all pages of it.

use domain::{
    bank_request::jakarta_day,
    refund::{Refund, transfer::TransferAttempt},
};
use gateway::snap::{OnStatement, Service, Statement, StatementAsked, StatementPart, StatementRest};

use super::call::{Question, Reply};
use crate::{Engine, Error, banks::contracts::open_account::OpenAccount};

/// Pages of one statement that are read; of a longer one nothing is said to be absent.
const PAGES_MOST: usize = 50;
/// A bank may book a transfer of the late evening on the next day, and one before a weekend later still.
const DAYS_AFTER: i64 = 2;

impl Engine {
    /// What the statement of the day on which an attempt was made, and of those after it, says about it. None where it was not
    /// read: the bank has none, does not show it now, or was not read to its end without finding the order.
    pub(super) async fn on_statement(
        &self,
        open: &OpenAccount,
        refund: &Refund,
        attempt: &TransferAttempt,
    ) -> Result<Option<OnStatement>, Error> {
        if attempt.rail.is_none() || open.parameters.url(Service::Statement).is_none() {
            return Ok(None);
        }
        let first = jakarta_day(attempt.sent_at);
        let last = jakarta_day(self.now()).min(first + DAYS_AFTER);
        let mut statement = self.read_statement(open, first, last).await?;
        if statement.is_begun() && !statement.is_whole() && first < last {
            // What is too long for several days may not be for one.
            let mut of_days = self.read_statement(open, first, first).await?;
            for day in first + 1..=last {
                of_days = of_days.and(self.read_statement(open, day, day).await?);
            }
            statement = of_days;
        }
        Ok(statement.find(&attempt.reference, refund.amount))
    }

    /// As much of a statement as the bank shows.
    async fn read_statement(&self, open: &OpenAccount, first_day: i64, last_day: i64) -> Result<Statement, Error> {
        let mut statement = Statement::default();
        let mut part = StatementPart::Begin;
        for _ in 0..PAGES_MOST {
            let asked = StatementAsked { first_day, last_day, part };
            let page = match self.ask_bank(open, &Question::Statement(asked)).await? {
                Ok(Reply::Statement(page)) => page,
                Ok(_) => break,
                Err(error) => {
                    tracing::warn!(%error, account = %open.id(), "a statement could not be read");
                    break;
                }
            };
            let rest = page.rest;
            statement.add(page);
            match rest {
                StatementRest::At(next) if next != part => part = next,
                StatementRest::None | StatementRest::At(_) | StatementRest::Unreachable => break,
            }
        }
        Ok(statement)
    }
}
