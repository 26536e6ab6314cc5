//! Taking money by a deadline. A bank acts on what we say, also where we do not know whether its money is booked; so what we
//! said then is kept, and `undecided` looks after it.

use std::time::{Duration, Instant};

use domain::{time::Timestamp, undecided::UndecidedWord};
use store::StoreError;

use super::{payment_requests::PaymentAsked, payment_requests::Taken};
use crate::{Engine, Error, banks::contracts::open_account::OpenAccount};

/// How much later than a commit everything else is given up. The outcome of the commit is known first, so.
const AFTER_THE_COMMIT: Duration = Duration::from_millis(50);

impl Engine {
    /// Judges money as [`Engine::judge_payment`] does, and ends by `by`. On an error the bank must be told what its account
    /// says for that: the money may be booked, by this request or by an earlier one whose answer was lost. That word is kept.
    pub async fn take_by(&self, open: &OpenAccount, asked: PaymentAsked, by: Instant) -> Result<Taken, Error> {
        let word = self.word_about(open, &asked, self.now());
        let engine = Engine { store: self.store.committing_by(by), ..self.clone() };
        let taking = engine.judge_payment(open, asked);
        let taken = match tokio::time::timeout_at((by + AFTER_THE_COMMIT).into(), taking).await {
            Ok(taken) => taken,
            Err(elapsed) => Err(StoreError::Undecided(elapsed.into()).into()),
        };
        if let Err(error) = &taken {
            let said_at = self.now().max(word.asked_at);
            self.unsaved_words.keep(UndecidedWord { said_at, ..word }, can_land(error));
        }
        taken
    }

    /// Keeps that a bank is told that nothing is decided about money that it asked us to take at `asked_at`, and that was not
    /// judged: an earlier request may have booked it.
    pub fn keep_word_unjudged(&self, open: &OpenAccount, asked: &PaymentAsked, asked_at: Timestamp) {
        self.unsaved_words.keep(self.word_about(open, asked, asked_at), false);
    }

    /// What the bank is told now if it cannot be told more.
    fn word_about(&self, open: &OpenAccount, asked: &PaymentAsked, asked_at: Timestamp) -> UndecidedWord {
        UndecidedWord {
            account_id: open.id(),
            external_id: asked.external_id.clone(),
            request_id: asked.request_id.clone(),
            number: asked.number.clone(),
            amount: asked.amount,
            asked_at,
            said: open.parameters.undecided.word().to_owned(),
            said_at: self.now().max(asked_at),
        }
    }
}

/// Whether the request that ended so may have been committed, or may be yet. Of a request with a deadline the store says when it
/// does not know, and what has met too many conflicts has stored nothing.
fn can_land(error: &Error) -> bool {
    !matches!(error, Error::Contended | Error::Store(StoreError::Unavailable(_)))
}
