//! Looks after what banks were told while it was not known whether their money was booked. If it was, a person is told at
//! once, and the bank is asked where it can be: the payment stays paid, and only the bank knows whether it has kept the money.

use std::time::Duration;

use domain::{
    bank_difference::{Difference, DifferenceKey, DifferenceKind},
    bank_request::{BankRequest, BankService, jakarta_day},
    money::Rupiah,
    time::{DAY, Timestamp},
    undecided::{OpenWord, UndecidedFinding, UndecidedWord},
};
use futures_util::{StreamExt, stream};
use gateway::snap::{CallError, CodeAsked, CodeKind, Service, Standing};
use store::{BankWrite, Change, CommitError, Guard, OpeningWrite};
use tokio::time::timeout;

use crate::{
    Engine, Error,
    banks::{
        contracts::open_account::OpenAccount,
        memory::unsaved_words::{WORDS_MOST, write_of},
        outbound::{back_off::back_off, line::answer_code, rows::answer_write},
    },
};

/// Words that one round looks after, and those at once.
const WORDS_IN_A_ROUND: i64 = 64;
const WORDS_AT_ONCE: usize = 8;
/// Words that one commit stores, and commits of one round: all that there is room for.
const WORDS_IN_A_COMMIT: usize = 100;
const COMMITS_IN_A_ROUND: usize = WORDS_MOST / WORDS_IN_A_COMMIT;
/// How long it is tried to store what was said when the process stops, and the pause between tries.
const SAVE_WITHIN: Duration = Duration::from_secs(5);
const SAVE_AGAIN_AFTER: Duration = Duration::from_millis(250);
/// The waits until a commit is looked for again: each twice as long as the one before, up to the longest.
const LOOK_FIRST: Duration = Duration::from_secs(1);
const LOOK_MOST: Duration = Duration::from_mins(5);
/// How long a commit is looked for, and a bank is asked. A commit can wait for a standby for as long as that is away.
const LOOKED_AFTER_FOR: Duration = DAY;

impl Engine {
    /// One round: stores what was said, and looks after what is due. Answers 0, since nothing is left to do at once.
    pub async fn look_after_undecided(&self) -> Result<usize, Error> {
        self.save_words(Some(self.now())).await?;
        let due = self.store.due_undecided(self.now(), WORDS_IN_A_ROUND).await?;
        stream::iter(due)
            .for_each_concurrent(WORDS_AT_ONCE, async |open| {
                let (account, request_id) = (open.word.account_id, open.word.request_id.clone());
                if let Err(error) = self.look_after(open).await {
                    tracing::warn!(%error, %account, request_id, "looking after a word to a bank failed");
                }
            })
            .await;
        Ok(0)
    }

    /// Stores what was said and is not stored yet, for a process that stops: for a while, since the database may be away.
    pub(crate) async fn try_to_save_words(&self) {
        let saving = async {
            while let Err(error) = self.save_words(None).await {
                tracing::warn!(%error, "what banks were told could not be stored");
                tokio::time::sleep(SAVE_AGAIN_AFTER).await;
            }
        };
        if timeout(SAVE_WITHIN, saving).await.is_err() {
            tracing::warn!("what banks were told could not be stored in time");
        }
    }

    /// The last try. What cannot be stored is logged in full: then a person must look for the booking.
    pub(crate) async fn save_last_words(&self) {
        self.try_to_save_words().await;
        for word in self.unsaved_words.take() {
            tracing::error!(
                account = %word.account_id,
                external_id = word.external_id,
                request_id = word.request_id,
                number = word.number,
                amount = word.amount.get(),
                said = word.said,
                said_at = %word.said_at,
                "it is not known whether a bank's money is booked, and nobody will look for it"
            );
        }
    }

    /// Stores the words that are due at `now`; without it all of them, for the last time. They are kept until they are stored, so
    /// it may be dropped at any moment.
    async fn save_words(&self, now: Option<Timestamp>) -> Result<(), Error> {
        for _ in 0..COMMITS_IN_A_ROUND {
            let words = self.unsaved_words.due(now, WORDS_IN_A_COMMIT);
            if words.is_empty() {
                break;
            }
            // A booking that waits for a standby cannot be seen. Once standbys confirm, it can.
            self.store.confirm().await?;
            self.store.commit(Change::default().with_all(words.iter().map(write_of))).await?;
            self.unsaved_words.note_done(words, now);
        }
        Ok(())
    }

    async fn look_after(&self, open: OpenWord) -> Result<(), Error> {
        let change = match open.finding {
            Some(UndecidedFinding::Booked) => self.ask_bank_about(open).await?,
            Some(UndecidedFinding::NotBooked) | None => self.look_for_booking(open).await?,
        };
        match self.store.commit(change).await {
            // Another node has done it.
            Ok(()) | Err(CommitError::Conflict(Guard::JobDue)) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Looks whether the money that the bank was told about is booked.
    async fn look_for_booking(&self, open: OpenWord) -> Result<Change, Error> {
        let (word, now) = (&open.word, self.now());
        // In this order: what is committed in between is found as its booking.
        let is_external_id_used = self.is_external_id_used(word).await?;
        Ok(match self.store.booking_of(word).await? {
            Some(booking) => {
                let difference = Difference {
                    key: difference_key(word, Some(&booking)),
                    day: jakarta_day(now),
                    payment_id: booking.payment_id,
                    ours: Some(word.amount),
                    theirs: None,
                    found_at: now,
                    settled: None,
                };
                let (account, request_id) = (word.account_id, &word.request_id);
                tracing::warn!(%account, request_id, "money is booked that its bank was told is not decided");
                let found = OpeningWrite::DifferenceFound(difference);
                Change::from(looked_after(open, UndecidedFinding::Booked, Some(now))).with(found)
            }
            // The money was refused, or the bank has asked again since and was told the truth.
            None if is_external_id_used => looked_after(open, UndecidedFinding::NotBooked, None).into(),
            None if now > word.said_at.plus(LOOKED_AFTER_FOR) => {
                looked_after(open, UndecidedFinding::NotBooked, None).into()
            }
            None => {
                let due_at = Some(now.plus(look_again(open.tries)));
                BankWrite::UndecidedLookedAfter { open, finding: None, due_at }.into()
            }
        })
    }

    /// Whether the request of a word can neither have been committed without a trace nor be committed later: its external id was
    /// stored, by itself or by another request, on every day on which it can have been judged. Over midnight these are two.
    async fn is_external_id_used(&self, word: &UndecidedWord) -> Result<bool, Error> {
        let (first, last) = (jakarta_day(word.asked_at), jakarta_day(word.said_at));
        for day in first..=last {
            let found = self.store.bank_request(word.account_id, BankService::Payment, day, &word.external_id).await?;
            if found.is_none() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Asks the bank what it has done with money that is booked here.
    async fn ask_bank_about(&self, open: OpenWord) -> Result<Change, Error> {
        let (word, now) = (&open.word, self.now());
        let booked = UndecidedFinding::Booked;
        let account = self.open_account(word.account_id).await?;
        let can_be_asked = account.parameters.url(Service::Status).is_some() && account.outgoing().is_ok();
        if !can_be_asked || now > word.said_at.plus(LOOKED_AFTER_FOR) {
            return Ok(looked_after(open, booked, None).into());
        }
        let theirs = match self.query_number(&account, word).await? {
            Ok(Standing::Paid(money)) => Some(money.amount),
            Ok(Standing::NotFound | Standing::Unpaid { .. } | Standing::Ended | Standing::Refunded) => {
                Some(Rupiah::ZERO)
            }
            Ok(Standing::Processing | Standing::AskAgain) | Err(_) => None,
        };
        Ok(match theirs {
            Some(theirs) => {
                let booking = self.store.booking_of(word).await?;
                let answered = BankWrite::DifferenceAnswered { key: difference_key(word, booking.as_ref()), theirs };
                Change::from(looked_after(open, booked, None)).with(answered)
            }
            None => {
                let due_at = Some(now.plus(back_off(open.tries)));
                looked_after(open, booked, due_at).into()
            }
        })
    }

    /// Asks the bank about money for a number that we host; once more with a new token if the bank has refused ours.
    async fn query_number(
        &self,
        open: &OpenAccount,
        word: &UndecidedWord,
    ) -> Result<Result<Standing, CallError>, Error> {
        let asked = CodeAsked {
            kind: CodeKind::Va,
            reference: &word.request_id,
            bank_reference: None,
            number: Some(&word.number),
            amount: word.amount,
            created_at: word.asked_at,
        };
        for last in [false, true] {
            let outgoing = open.outgoing()?;
            let call = match self.dial(open, outgoing).await {
                Ok(call) => call,
                Err(error) => return Ok(Err(error)),
            };
            let send = self.stored_send_without_code(open, Service::Status, self.now()).await?;
            let result = call.client.query(&call.context(open, outgoing, &send.external_id), &asked).await;
            self.hang_up(call, open, Service::Status, &result);
            let write: OpeningWrite = answer_write(&send, answer_code(Service::Status, &result), self.now());
            self.store.commit(write.into()).await?;
            if last || !matches!(result, Err(CallError::TokenRefused(_))) {
                return Ok(result);
            }
        }
        Err(Error::Contended)
    }
}

/// It is named by the id under which the money is booked: the bank may use the id of its request for other money, too.
fn difference_key(word: &UndecidedWord, booking: Option<&BankRequest>) -> DifferenceKey {
    let receipt_id = booking.and_then(|booking| booking.receipt_id.as_ref());
    DifferenceKey {
        account_id: word.account_id,
        subject: receipt_id.unwrap_or(&word.request_id).clone(),
        kind: DifferenceKind::Undecided,
    }
}

fn looked_after(open: OpenWord, finding: UndecidedFinding, due_at: Option<Timestamp>) -> BankWrite {
    BankWrite::UndecidedLookedAfter { open, finding: Some(finding), due_at }
}

fn look_again(tries: i64) -> Duration {
    let doublings = u32::try_from(tries.clamp(0, 16)).unwrap_or_default();
    LOOK_FIRST.saturating_mul(2_u32.saturating_pow(doublings)).min(LOOK_MOST)
}
