//! What has happened to a payment, in the order in which it did.

use domain::{
    delivery::{Attempt, DeliveryState, FailureClass},
    language::Language,
    payment::{Payment, State, Status},
    time::Timestamp,
};
use engine::{PaymentFile, Sent};
use i18n_embed_fl::fl;
use web::page::moment::{Moment, moment};

use crate::{
    fragment::method_name,
    words::{Words, words},
};

/// The latest attempts of one event that are shown; all of them are on its own page.
const ATTEMPTS_SHOWN: usize = 20;

/// One thing that happened, or that is awaited.
pub(crate) struct Happening {
    /// Empty, `good`, `bad` or `wait`.
    pub(crate) tone: &'static str,
    pub(crate) title: String,
    pub(crate) detail: String,
    pub(crate) at: Option<Moment>,
    /// Where there is more to read about it.
    pub(crate) more_url: Option<String>,
}

/// Things that happened, with their times.
struct Story {
    words: Words,
    language: Language,
    told: Vec<(Timestamp, Happening)>,
}

impl Story {
    fn tell(&mut self, at: Timestamp, tone: &'static str, title: String, detail: String, more_url: Option<String>) {
        let shown = Some(moment(at, self.language));
        self.told.push((at, Happening { tone, title, detail, at: shown, more_url }));
    }
}

/// `base`: the address of the project's desk.
pub(super) fn of(file: &PaymentFile, now: Timestamp, language: Language, base: &str) -> Vec<Happening> {
    let mut story = Story { words: words(language), language, told: Vec::new() };
    let words = story.words;
    let through = match file.payment.link_id {
        Some(_) => fl!(words, "timeline-by-link"),
        None => fl!(words, "timeline-by-api"),
    };
    story.tell(file.payment.created_at, "", fl!(words, "timeline-created"), through, None);
    if let Some(viewed_at) = file.viewed_at {
        story.tell(viewed_at, "", fl!(words, "timeline-viewed"), String::new(), None);
    }
    tell_end(&mut story, &file.payment, now);
    for sent in &file.sent {
        tell_sent(&mut story, sent, base);
    }
    // Things of one instant stay in the order in which they were told.
    story.told.sort_by_key(|(at, _)| *at);
    let mut happenings: Vec<Happening> = story.told.into_iter().map(|(_, happening)| happening).collect();
    happenings.extend(awaited(words, &file.payment, now, language));
    happenings
}

fn tell_end(story: &mut Story, payment: &Payment, now: Timestamp) {
    let words = story.words;
    match payment.state {
        State::Paid { at } => {
            let detail = method_name(words, payment.method);
            story.tell(at, "good", fl!(words, "timeline-paid"), detail, None);
        }
        State::Failed { at } => story.tell(at, "bad", fl!(words, "timeline-failed"), String::new(), None),
        State::Cancelled { at } => story.tell(at, "", fl!(words, "timeline-cancelled"), String::new(), None),
        State::Pending | State::Expired if payment.status_at(now) == Status::Expired => {
            story.tell(payment.expires_at.min(now), "", fl!(words, "timeline-expired"), String::new(), None);
            // One that was made to expire in the sandbox did so before its time, and nobody noted when.
            if let Some((_, expired)) = story.told.last_mut().filter(|_| now < payment.expires_at) {
                expired.at = None;
            }
        }
        State::Pending | State::Processing | State::Expired => {}
    }
}

/// What the payment still waits for.
fn awaited(words: Words, payment: &Payment, now: Timestamp, language: Language) -> Option<Happening> {
    let (title, detail) = match payment.status_at(now) {
        Status::Pending => {
            let deadline = moment(payment.expires_at, language).text;
            (fl!(words, "timeline-waiting"), fl!(words, "timeline-waiting-until", deadline = deadline))
        }
        Status::Processing => (fl!(words, "timeline-processing"), fl!(words, "timeline-processing-text")),
        Status::Paid | Status::Failed | Status::Expired | Status::Cancelled => return None,
    };
    Some(Happening { tone: "wait", title, detail, at: None, more_url: None })
}

fn tell_sent(story: &mut Story, sent: &Sent, base: &str) {
    let (words, event) = (story.words, sent.event.kind().word());
    let more_url = Some(format!("{base}/notifications/deliveries/{}", sent.event.id));
    let Some(delivery) = &sent.delivery else {
        let (title, detail) = (fl!(words, "timeline-recorded", event = event), fl!(words, "timeline-no-url"));
        return story.tell(sent.event.created_at, "", title, detail, more_url);
    };
    for attempt in sent.attempts.iter().skip(sent.attempts.len().saturating_sub(ATTEMPTS_SHOWN)) {
        let (tone, title) = match attempt.outcome.delivered() {
            true => ("good", fl!(words, "timeline-delivered", event = event)),
            false => ("bad", fl!(words, "timeline-undelivered", event = event)),
        };
        story.tell(attempt.at, tone, title, answered(words, attempt), more_url.clone());
    }
    if let DeliveryState::Pending { due_at } = delivery.state {
        let title = match delivery.attempts {
            0 => fl!(words, "timeline-sending", event = event),
            _ => fl!(words, "timeline-again", event = event),
        };
        story.tell(due_at, "wait", title, fl!(words, "timeline-scheduled"), more_url);
    }
}

/// What the receiver said, and how long it took.
fn answered(words: Words, attempt: &Attempt) -> String {
    let outcome = &attempt.outcome;
    let millis = outcome.latency.as_millis().to_string();
    match (outcome.status, &outcome.failure) {
        (Some(status), _) => {
            let status = status.to_string();
            fl!(words, "timeline-answered", status = status, millis = millis)
        }
        (None, Some(failure)) if failure.class == FailureClass::NoUrl => fl!(words, "timeline-no-url"),
        (None, _) => fl!(words, "timeline-unanswered", millis = millis),
    }
}
