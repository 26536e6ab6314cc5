//! What banks were told while it was not known whether their money was booked, until it is saved.

use std::sync::{Mutex, MutexGuard, PoisonError};

use domain::undecided::UndecidedWord;

/// Words that wait to be stored. Further ones are only logged.
const WORDS_MOST: usize = 10_000;

/// What was said while the database did not answer, until it does.
#[derive(Default)]
pub(crate) struct UnsavedWords(Mutex<Vec<UndecidedWord>>);

impl UnsavedWords {
    fn words(&self) -> MutexGuard<'_, Vec<UndecidedWord>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(in crate::banks) fn keep(&self, words: impl IntoIterator<Item = UndecidedWord>) {
        let mut kept = self.words();
        for word in words {
            if kept.len() < WORDS_MOST {
                kept.push(word);
            } else {
                let UndecidedWord { account_id, request_id, .. } = word;
                tracing::error!(%account_id, request_id, "too many words to banks wait to be stored; this one is lost");
            }
        }
    }

    /// What waits. It must be kept again if it cannot be stored.
    pub(in crate::banks) fn take(&self) -> Vec<UndecidedWord> {
        std::mem::take(&mut *self.words())
    }
}
