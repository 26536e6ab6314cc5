//! What becomes of a letter in the queue: when it is tried again, when it is given up, and how many letters an address and a
//! project get. Callers pass in the time and random numbers.

use std::time::Duration;

use crate::{
    delivery::Jitter,
    id::{LetterId, ProjectId, UserId},
    language::Language,
    letter::LetterKind,
    time::{DAY, HOUR, Timestamp},
};

/// Seconds to wait after the first refusal for the moment, the second, and so on: a little more than a day in all.
const WAITS_SECONDS: [u64; 11] = [60, 300, 900, 1_800, 3_600, 7_200, 14_400, 14_400, 14_400, 14_400, 16_200];
/// How long a letter is worth sending where nothing else ends that. A relay may be down for a day, and letters are then tried for
/// another.
pub const WORTH_SENDING: Duration = DAY.saturating_mul(4);
/// How long letters that have ended are kept for people to look up.
pub const KEPT: Duration = DAY.saturating_mul(30);
/// Within how long letters to an address and of a project are counted.
pub const BOUND_WITHIN: Duration = HOUR;
/// Letters to one address within [`BOUND_WITHIN`]; further ones wait.
pub const TO_ADDRESS_MOST: u32 = 20;
/// Letters about security to one address within that time, counted together with the others.
pub const SECURITY_TO_ADDRESS_MOST: u32 = 60;
/// Letters that may wait for one address; one more is dropped, if [`may_be_dropped`] says so.
pub const WAITING_FOR_ADDRESS_MOST: u32 = 40;
/// Letters of one project within [`BOUND_WITHIN`], those about security left out; further ones wait.
pub const OF_PROJECT_MOST: u32 = 2_000;
/// Notices that one URL gets within [`BOUND_WITHIN`], and that may wait for it: as many as a project may send letters.
pub const TO_URL_MOST: u32 = OF_PROJECT_MOST;
/// The most of a relay's answer that is kept.
pub const ANSWER_CHARACTERS_MOST: usize = 300;

/// How long a letter waits that found no relay, so that another one is tried first.
const NO_RELAY_WAIT: Duration = Duration::from_secs(15);
/// What is noted about a letter that waits since its address or its project has got enough of them for now.
pub const HELD_BACK: &str = "held back, as too many letters were sent within an hour";
/// How long such a letter waits until it is looked at again.
pub const HELD_BACK_FOR: Duration = Duration::from_mins(5);
const OUT_OF_DATE: &str = "it was not worth sending any more";

/// Whether a letter is dropped where many wait for its address. Letters about security are not, but for those that everybody causes
/// as often as they like by signing in.
pub const fn may_be_dropped(kind: LetterKind) -> bool {
    !kind.is_security() || matches!(kind, LetterKind::NewDevice)
}

/// By which way a letter goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Channel {
    /// To an address, by a relay.
    Mail,
    /// To a URL, as a signed request.
    Notice,
}

impl Channel {
    pub const fn word(self) -> &'static str {
        match self {
            Channel::Mail => "mail",
            Channel::Notice => "notice",
        }
    }

    pub fn parse(word: &str) -> Option<Channel> {
        [Channel::Mail, Channel::Notice].into_iter().find(|channel| channel.word() == word)
    }

    /// Letters that may wait for one address or URL; one more is dropped.
    pub const fn waiting_most(self) -> u32 {
        match self {
            Channel::Mail => WAITING_FOR_ADDRESS_MOST,
            Channel::Notice => TO_URL_MOST,
        }
    }
}

/// Where a letter stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LetterState {
    /// It is tried at that time.
    Waiting { due_at: Timestamp },
    /// The relay has taken it, or the server behind the URL.
    Sent { at: Timestamp },
    /// It was refused for good, or too often, or was not worth sending any more.
    GivenUp { at: Timestamp },
    /// Too many letters waited for its address, or its project had sent too many for as long as it was worth sending.
    Dropped { at: Timestamp },
}

impl LetterState {
    pub const WORDS: [&'static str; 4] = ["waiting", "sent", "given_up", "dropped"];

    pub const fn word(self) -> &'static str {
        match self {
            LetterState::Waiting { .. } => "waiting",
            LetterState::Sent { .. } => "sent",
            LetterState::GivenUp { .. } => "given_up",
            LetterState::Dropped { .. } => "dropped",
        }
    }

    /// Parses a state; `at` is when it is due where it waits, and else when it ended.
    pub fn parse(word: &str, at: Timestamp) -> Option<LetterState> {
        match word {
            "waiting" => Some(LetterState::Waiting { due_at: at }),
            "sent" => Some(LetterState::Sent { at }),
            "given_up" => Some(LetterState::GivenUp { at }),
            "dropped" => Some(LetterState::Dropped { at }),
            _ => None,
        }
    }

    pub const fn at(self) -> Timestamp {
        match self {
            LetterState::Waiting { due_at: at }
            | LetterState::Sent { at }
            | LetterState::GivenUp { at }
            | LetterState::Dropped { at } => at,
        }
    }

    pub const fn is_waiting(self) -> bool {
        matches!(self, LetterState::Waiting { .. })
    }
}

/// A letter in the queue, without what it says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueuedLetter {
    pub id: LetterId,
    pub kind: LetterKind,
    pub channel: Channel,
    /// The project that it is about; none where it is about a user or the installation.
    pub project_id: Option<ProjectId>,
    /// The user it goes to; none where it goes to somebody who has no account.
    pub user_id: Option<UserId>,
    /// Stands for the address, which is kept sealed. Letters to the same address have the same.
    pub recipient: String,
    pub language: Language,
    pub queued_at: Timestamp,
    /// From then on it is not worth sending.
    pub expires_at: Timestamp,
    /// How often the relay, or the server behind the URL, has judged it.
    pub attempts: u32,
    pub state: LetterState,
    /// What was answered last, or why nobody was asked.
    pub answer: Option<String>,
}

/// What came of an attempt to send a letter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SendOutcome {
    /// The relay has taken it, and said this.
    Taken(String),
    /// The relay refuses it for good.
    Refused(String),
    /// The relay refuses it for the moment.
    Deferred(String),
    /// The relay may have taken it: its answer was lost.
    AnswerLost(String),
    /// There was no relay that could judge it: no connection, no encryption, or it did not let us in.
    NoRelay(String),
}

impl SendOutcome {
    /// What people are shown of it.
    pub fn answer(&self) -> &str {
        match self {
            SendOutcome::Taken(answer)
            | SendOutcome::Refused(answer)
            | SendOutcome::Deferred(answer)
            | SendOutcome::AnswerLost(answer)
            | SendOutcome::NoRelay(answer) => answer,
        }
    }
}

impl QueuedLetter {
    pub fn is_worth_sending_at(&self, now: Timestamp) -> bool {
        now < self.expires_at
    }

    /// The letter once it is not worth sending any more. One that was held back for so long is dropped.
    #[must_use]
    pub fn out_of_date(self, now: Timestamp) -> QueuedLetter {
        match self.answer.as_deref() == Some(HELD_BACK) {
            true => QueuedLetter { state: LetterState::Dropped { at: now }, ..self },
            false => {
                let answer = Some(self.answer.unwrap_or_else(|| OUT_OF_DATE.to_owned()));
                QueuedLetter { state: LetterState::GivenUp { at: now }, answer, ..self }
            }
        }
    }

    /// The letter while its address has got enough for now.
    #[must_use]
    pub fn held_back(self, now: Timestamp) -> QueuedLetter {
        let state = LetterState::Waiting { due_at: now.plus(HELD_BACK_FOR) };
        QueuedLetter { state, answer: Some(HELD_BACK.to_owned()), ..self }
    }

    /// The letter after an attempt. A relay that cannot be reached says nothing about a letter, so it counts as no attempt:
    /// however long that lasts, each letter is then tried for a day.
    #[must_use]
    pub fn after(self, outcome: &SendOutcome, now: Timestamp, jitter: Jitter) -> QueuedLetter {
        let answer = Some(outcome.answer().to_owned());
        let (state, attempts) = match outcome {
            SendOutcome::Taken(_) => (LetterState::Sent { at: now }, self.attempts + 1),
            SendOutcome::Refused(_) => (LetterState::GivenUp { at: now }, self.attempts + 1),
            SendOutcome::Deferred(_) | SendOutcome::AnswerLost(_) => {
                let state = match wait_after(self.attempts, jitter) {
                    Some(wait) => LetterState::Waiting { due_at: now.plus(wait) },
                    None => LetterState::GivenUp { at: now },
                };
                (state, self.attempts + 1)
            }
            SendOutcome::NoRelay(_) => {
                (LetterState::Waiting { due_at: now.plus(jitter.of(NO_RELAY_WAIT)) }, self.attempts)
            }
        };
        QueuedLetter { state, attempts, answer, ..self }
    }
}

/// How long to wait after so many earlier attempts and one more; none when there are no more.
fn wait_after(earlier: u32, jitter: Jitter) -> Option<Duration> {
    let seconds = WAITS_SECONDS.get(usize::try_from(earlier).ok()?)?;
    Some(jitter.of(Duration::from_secs(*seconds)))
}

/// How many letters an address gets in an hour while this kind waits.
pub const fn most_to_address(kind: LetterKind) -> u32 {
    if kind.is_security() { SECURITY_TO_ADDRESS_MOST } else { TO_ADDRESS_MOST }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::mint;

    const NOW: Timestamp = Timestamp::from_millis(1_800_000_000_000);

    fn waiting(attempts: u32) -> QueuedLetter {
        QueuedLetter {
            id: mint(NOW, [1; 10]),
            kind: LetterKind::Test,
            channel: Channel::Mail,
            project_id: None,
            user_id: None,
            recipient: "r".to_owned(),
            language: Language::Indonesian,
            queued_at: NOW,
            expires_at: NOW.plus(WORTH_SENDING),
            attempts,
            state: LetterState::Waiting { due_at: NOW },
            answer: None,
        }
    }

    #[test]
    fn a_letter_is_tried_for_a_day_and_then_given_up() {
        let mut letter = waiting(0);
        let mut now = NOW;
        while let LetterState::Waiting { due_at } = letter.state {
            now = due_at;
            letter = letter.after(&SendOutcome::Deferred("450 later".to_owned()), now, Jitter::NONE);
        }
        assert_eq!(letter.state, LetterState::GivenUp { at: now });
        assert!(now >= NOW.plus(DAY) && now < NOW.plus(DAY + HOUR), "{now:?}");
        assert_eq!(letter.attempts, 12);
        assert!(waiting(0).is_worth_sending_at(now));
    }

    #[test]
    fn an_answer_ends_a_letter_or_puts_it_off_and_silence_of_the_relay_counts_for_nothing() {
        let after = |outcome: SendOutcome| {
            let letter = waiting(3).after(&outcome, NOW, Jitter::NONE);
            (letter.state, letter.attempts)
        };
        let words = || "words".to_owned();
        assert_eq!(after(SendOutcome::Taken(words())), (LetterState::Sent { at: NOW }, 4));
        assert_eq!(after(SendOutcome::Refused(words())), (LetterState::GivenUp { at: NOW }, 4));
        let later = LetterState::Waiting { due_at: NOW.plus(Duration::from_mins(30)) };
        assert_eq!(after(SendOutcome::Deferred(words())), (later, 4));
        assert_eq!(after(SendOutcome::AnswerLost(words())), (later, 4));
        let soon = LetterState::Waiting { due_at: NOW.plus(NO_RELAY_WAIT) };
        assert_eq!(after(SendOutcome::NoRelay(words())), (soon, 3));
    }

    #[test]
    fn a_state_is_read_back_by_its_word() {
        for word in LetterState::WORDS {
            assert_eq!(LetterState::parse(word, NOW).map(LetterState::word), Some(word));
        }
        assert_eq!(LetterState::parse("lost", NOW), None);
        for channel in [Channel::Mail, Channel::Notice] {
            assert_eq!(Channel::parse(channel.word()), Some(channel));
        }
        assert_eq!(Channel::parse("post"), None);
    }
}
