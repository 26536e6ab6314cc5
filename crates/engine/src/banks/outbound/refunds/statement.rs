//! Looks for an order on the statement of the account that pays, through all pages of it.

use std::{collections::HashSet, time::Duration};

use domain::{
    bank_request::{jakarta_day, jakarta_day_begin},
    refund::{Refund, transfer::TransferAttempt},
    time::{DAY, HOUR},
};
use gateway::snap::{OnStatement, Service, Statement, StatementAsked, StatementPart, StatementRest};

use super::call::{Question, Reply};
use crate::{Engine, Error, banks::contracts::open_account::OpenAccount};

/// Pages of one statement that are read; of a longer one nothing is said to be absent.
const PAGES_MOST: usize = 50;
/// Banks book a transfer of the late evening on the next day, and one before holidays later still. Both together are days of which
/// banks show a statement at once.
const DAYS_AFTER: i64 = 10;
/// By how much our clock may be ahead: what we send after midnight, the bank may book before.
const CLOCK_AHEAD_MOST: Duration = HOUR;
/// Other orders of the same amount whose references are looked for: of refunds that were made at most so long before the order. A
/// line that names none of these may be ours.
const OTHERS_MOST: i64 = 20_000;
const OTHERS_SINCE: Duration = DAY.saturating_mul(90);

impl Engine {
    /// What the statement says about an attempt, from the day on which it was made until today, or ten days later. None where that proves
    /// nothing: the bank has no statement, does not show it now, or it was not read to its end without finding the order.
    pub(super) async fn on_statement(
        &self,
        open: &OpenAccount,
        refund: &Refund,
        attempt: &TransferAttempt,
    ) -> Result<Option<OnStatement>, Error> {
        if attempt.rail.is_none() || open.parameters.url(Service::Statement).is_none() {
            return Ok(None);
        }
        let first = jakarta_day(attempt.sent_at.minus(CLOCK_AHEAD_MOST));
        let last = jakarta_day(self.now()).min(jakarta_day(attempt.sent_at) + DAYS_AFTER);
        let statement = self.read_days(open, first, last).await?;
        if !statement.is_begun() {
            return Ok(None);
        }
        let find = |others: &HashSet<String>| statement.find(&attempt.reference, refund.amount, others);
        let found = find(&HashSet::new());
        if found != Some(OnStatement::Unclear) {
            return Ok(found);
        }
        let since = jakarta_day_begin(first).minus(OTHERS_SINCE);
        let others =
            self.store.references_of_transfers(open.id(), refund.amount, refund.id, since, OTHERS_MOST).await?;
        Ok(find(&others.into_iter().collect()))
    }

    /// As much of the statement of these days as the bank shows.
    async fn read_days(&self, open: &OpenAccount, first: i64, last: i64) -> Result<Statement, Error> {
        let statement = self.read_statement(open, first, last).await?;
        if !statement.is_begun() || statement.is_whole() || first == last {
            return Ok(statement);
        }
        // What is too long for several days may not be for one.
        let mut of_days = self.read_statement(open, first, first).await?;
        for day in first + 1..=last {
            of_days = of_days.and(self.read_statement(open, day, day).await?);
        }
        Ok(of_days)
    }

    /// As much of one statement as the bank shows.
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
