//! What banks were told while it was not known whether their money was booked, until it is stored or need not be. It is in the
//! log in full from the moment it is said, since a process that is killed loses what it has here.

use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use domain::{id::BankAccountId, money::Rupiah, time::Timestamp, undecided::UndecidedWord};
use store::BankWrite;

/// Words that wait to be stored. Further ones are only logged. Half of the room is for those whose commit may land.
pub(in crate::banks) const WORDS_MOST: usize = 10_000;
/// How long after the first look for an earlier booking the second follows. What was being committed at the first look has ended
/// by then: no call of a bank is allowed more time, and a look is made only while standbys confirm commits.
const SECOND_LOOK_AFTER: Duration = Duration::from_secs(30);

#[derive(Default)]
pub(crate) struct UnsavedWords(Mutex<HashMap<Sought, Unsaved>>);

/// What is to be looked for in the database because of a word.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(in crate::banks) enum Sought {
    /// The commit of the request that was answered so. It may land yet, so the word is stored in any case.
    Commit { account_id: BankAccountId, external_id: String, asked_at: Timestamp },
    /// An earlier booking of the same money: the request that was answered so was not committed and never will be. The word is
    /// stored if there is one. Of several words about the same money the last is enough.
    Booking { account_id: BankAccountId, request_id: String, number: String, amount: Rupiah },
}

/// A word, and when an earlier booking was looked for, if it was.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Unsaved {
    word: UndecidedWord,
    looked_at: Option<Timestamp>,
}

impl Unsaved {
    fn is_due(&self, now: Timestamp) -> bool {
        self.looked_at.is_none_or(|looked_at| looked_at.plus(SECOND_LOOK_AFTER) <= now)
    }
}

impl UnsavedWords {
    fn words(&self) -> MutexGuard<'_, HashMap<Sought, Unsaved>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Logs a word, and keeps it. `can_land` says whether the request that was answered so may still be committed.
    pub(in crate::banks) fn keep(&self, word: UndecidedWord, can_land: bool) {
        tracing::warn!(
            account = %word.account_id,
            external_id = word.external_id,
            request_id = word.request_id,
            number = word.number,
            amount = word.amount.get(),
            asked_at = %word.asked_at,
            said = word.said,
            said_at = %word.said_at,
            "it is not known whether a bank's money is booked"
        );
        let sought = match can_land {
            true => Sought::Commit {
                account_id: word.account_id,
                external_id: word.external_id.clone(),
                asked_at: word.asked_at,
            },
            false => Sought::Booking {
                account_id: word.account_id,
                request_id: word.request_id.clone(),
                number: word.number.clone(),
                amount: word.amount,
            },
        };
        let mut kept = self.words();
        let most = if can_land { WORDS_MOST } else { WORDS_MOST / 2 };
        if kept.len() < most || kept.contains_key(&sought) {
            kept.insert(sought, Unsaved { word, looked_at: None });
        } else {
            let UndecidedWord { account_id, request_id, .. } = word;
            tracing::error!(%account_id, request_id, "too many words to banks wait to be stored; this one is lost");
        }
    }

    /// This money has just been judged for the first time, and its bank is told so: no earlier request can have booked it. What was
    /// said about it after `began_at`, while it was judged, stays: the bank may act on that.
    pub(in crate::banks) fn forget_judged(
        &self,
        account_id: BankAccountId,
        (request_id, number, amount): (&str, &str, Rupiah),
        began_at: Timestamp,
    ) {
        let mut kept = self.words();
        if !kept.is_empty() {
            let (request_id, number) = (request_id.to_owned(), number.to_owned());
            let sought = Sought::Booking { account_id, request_id, number, amount };
            if kept.get(&sought).is_some_and(|unsaved| unsaved.word.said_at <= began_at) {
                kept.remove(&sought);
            }
        }
    }

    /// Some words that are to be stored or looked for at `now`, or at any time if there is none.
    pub(in crate::banks) fn due(&self, now: Option<Timestamp>, most: usize) -> Vec<(Sought, UndecidedWord)> {
        let kept = self.words();
        let due = kept.iter().filter(|(_, unsaved)| now.is_none_or(|now| unsaved.is_due(now)));
        due.take(most).map(|(sought, unsaved)| (sought.clone(), unsaved.word.clone())).collect()
    }

    /// These were stored or looked for at `now`; or for the last time, if there is no `now`. Words about the same that were said
    /// meanwhile stay.
    pub(in crate::banks) fn note_done(&self, done: Vec<(Sought, UndecidedWord)>, now: Option<Timestamp>) {
        let mut kept = self.words();
        for (sought, word) in done {
            let Some(unsaved) = kept.get_mut(&sought).filter(|unsaved| unsaved.word == word) else { continue };
            let has_second_look = matches!(sought, Sought::Booking { .. }) && unsaved.looked_at.is_none();
            match now {
                Some(now) if has_second_look => unsaved.looked_at = Some(now),
                _ => drop(kept.remove(&sought)),
            }
        }
    }

    /// All that is left. It is not kept any more.
    pub(in crate::banks) fn take(&self) -> Vec<UndecidedWord> {
        std::mem::take(&mut *self.words()).into_values().map(|unsaved| unsaved.word).collect()
    }
}

/// What stores a word, where that is needed.
pub(in crate::banks) fn write_of((sought, word): &(Sought, UndecidedWord)) -> BankWrite {
    match sought {
        Sought::Commit { .. } => BankWrite::UndecidedSaid(word.clone()),
        Sought::Booking { .. } => BankWrite::UndecidedSaidOfBooked(word.clone()),
    }
}

#[cfg(test)]
mod tests {
    use domain::id::{ENTROPY_BYTES, mint};

    use super::*;
    use crate::samples::NOW;

    fn word(request_id: &str, said_at: Timestamp) -> UndecidedWord {
        UndecidedWord {
            account_id: mint(NOW, [0; ENTROPY_BYTES]),
            external_id: said_at.as_millis().to_string(),
            request_id: request_id.to_owned(),
            number: "1234500001".to_owned(),
            amount: Rupiah::new(15_000),
            asked_at: said_at,
            said: "2022500".to_owned(),
            said_at,
        }
    }

    fn due(words: &UnsavedWords, now: Timestamp) -> Vec<UndecidedWord> {
        words.due(Some(now), WORDS_MOST).into_iter().map(|(_, word)| word).collect()
    }

    #[test]
    fn an_earlier_booking_is_looked_for_twice_and_a_commit_is_stored_once() {
        let words = UnsavedWords::default();
        words.keep(word("commit", NOW), true);
        words.keep(word("booking", NOW), false);
        words.note_done(words.due(Some(NOW), WORDS_MOST), Some(NOW));
        assert_eq!(due(&words, NOW.plus(SECOND_LOOK_AFTER).minus(Duration::from_millis(1))), []);
        let later = NOW.plus(SECOND_LOOK_AFTER);
        assert_eq!(due(&words, later), [word("booking", NOW)]);
        words.note_done(words.due(Some(later), WORDS_MOST), Some(later));
        assert_eq!(words.take(), []);
    }

    #[test]
    fn of_words_about_the_same_money_the_last_is_kept_also_while_the_first_is_looked_for() {
        let (words, later) = (UnsavedWords::default(), NOW.plus(Duration::from_secs(1)));
        words.keep(word("money", NOW), false);
        let first = words.due(Some(NOW), WORDS_MOST);
        words.keep(word("money", later), false);
        words.note_done(first, Some(NOW));
        assert_eq!(due(&words, later), [word("money", later)]);
        words.note_done(words.due(None, WORDS_MOST), None);
        assert_eq!(words.take(), [], "there will be no second look");
    }

    #[test]
    fn money_that_is_judged_for_the_first_time_has_no_earlier_booking() {
        let words = UnsavedWords::default();
        let UndecidedWord { account_id, number, amount, .. } = word("money", NOW);
        words.keep(word("money", NOW), false);
        words.keep(word("commit", NOW), true);
        let earlier = NOW.minus(Duration::from_millis(1));
        words.forget_judged(account_id, ("money", &number, amount), earlier);
        assert_eq!(words.due(None, WORDS_MOST).len(), 2, "it was said while the money was judged");
        for request_id in ["money", "commit", "other"] {
            words.forget_judged(account_id, (request_id, &number, amount), NOW);
        }
        assert_eq!(words.take(), [word("commit", NOW)], "its commit may land all the same");
    }

    #[test]
    fn no_more_words_wait_than_there_is_room_for_and_half_of_it_is_for_commits_that_may_land() {
        let words = UnsavedWords::default();
        for number in 0..=WORDS_MOST {
            words.keep(word(&number.to_string(), NOW), false);
        }
        assert_eq!(words.due(None, WORDS_MOST).len(), WORDS_MOST / 2);
        words.keep(word("0", NOW.plus(Duration::from_secs(1))), false);
        for number in 0..=WORDS_MOST {
            let said_at = NOW.plus(Duration::from_millis(number as u64));
            words.keep(word("commit", said_at), true);
        }
        let waiting = words.take();
        assert_eq!(waiting.len(), WORDS_MOST);
        assert!(waiting.iter().any(|word| word.request_id == "0" && word.said_at > NOW), "there was room for this");
    }
}
