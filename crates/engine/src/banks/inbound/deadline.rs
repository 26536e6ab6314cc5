//! Taking money by a deadline. A bank acts on what we say, also where we do not know whether its money is booked; so what we
//! said then is kept, and `undecided` looks after it.

use std::time::{Duration, Instant};

use domain::undecided::UndecidedWord;
use store::StoreError;

use super::{payment_requests::PaymentAsked, payment_requests::Taken};
use crate::{Engine, Error, banks::contracts::open_account::OpenAccount};

/// How much later than a commit everything else is given up. The outcome of the commit is known first, so.
const AFTER_THE_COMMIT: Duration = Duration::from_millis(50);

impl Engine {
    /// Judges money as [`Engine::judge_payment`] does, and ends by `by`. On an error the bank must be told what its account
    /// says for that: the money may be booked, by this request or by an earlier one whose answer was lost.
    pub async fn take_by(&self, open: &OpenAccount, asked: PaymentAsked, by: Instant) -> Result<Taken, Error> {
        let asked_at = self.now();
        let (external_id, request_id, number) =
            (asked.external_id.clone(), asked.request_id.clone(), asked.number.clone());
        let amount = asked.amount;
        let engine = Engine { store: self.store.committing_by(by), ..self.clone() };
        let taking = engine.judge_payment(open, asked);
        let taken = match tokio::time::timeout_at((by + AFTER_THE_COMMIT).into(), taking).await {
            Ok(taken) => taken,
            Err(elapsed) => Err(StoreError::Undecided(elapsed.into()).into()),
        };
        if let Err(Error::Store(StoreError::Undecided(_))) = &taken {
            let word = UndecidedWord {
                account_id: open.id(),
                external_id,
                request_id,
                number,
                amount,
                asked_at,
                said: open.parameters.undecided.word().to_owned(),
                said_at: self.now().max(asked_at),
            };
            tracing::warn!(
                account = %word.account_id,
                request_id = word.request_id,
                said = word.said,
                "it is not known whether a bank's money is booked"
            );
            self.unsaved_words.keep([word]);
        }
        taken
    }
}
