//! Letters about how a project and the installation do: webhooks, banks, summaries, and the letter that an operator tries.

use domain::{letter::SummaryPeriod, time::Timestamp};
use i18n_embed_fl::fl;

use super::phrasing::Phrasing;
use crate::{
    content::Content,
    letter::{BankDown, Face, Summary, Test, WebhookFailing},
    shown::{shown, shown_in_subject},
};

pub(super) fn webhook_failing(phrasing: Phrasing, letter: &WebhookFailing) -> Content {
    let words = phrasing.words;
    let subject = fl!(words, "webhook-subject", project = shown_in_subject(&letter.project));
    let content = Content::new(subject, fl!(words, "why-member"))
        .lead(fl!(words, "webhook-text"))
        .fact(fl!(words, "fact-project"), shown(&letter.project))
        .fact(fl!(words, "fact-webhook-url"), shown(&letter.webhook_url))
        .fact(fl!(words, "fact-failing-since"), phrasing.moment(letter.failing_since))
        .fact(fl!(words, "fact-waiting"), fl!(words, "webhook-waiting", count = letter.waiting))
        .known_fact(fl!(words, "fact-last-answer"), letter.last_answer.as_deref().map(shown))
        .action(fl!(words, "webhook-action"), &letter.page_url)
        .after(fl!(words, "webhook-retried"));
    Content { heading: fl!(words, "webhook-heading"), ..content }
}

pub(super) fn bank_down(phrasing: Phrasing, letter: &BankDown) -> Content {
    let words = phrasing.words;
    let subject = fl!(words, "bank-subject", account = shown_in_subject(&letter.bank_account));
    let content = Content::new(subject, fl!(words, "why-operator"))
        .lead(fl!(words, "bank-text"))
        .fact(fl!(words, "fact-bank-account"), shown(&letter.bank_account))
        .fact(fl!(words, "fact-failing-since"), phrasing.moment(letter.failing_since))
        .known_fact(fl!(words, "fact-last-error"), letter.last_error.as_deref().map(shown))
        .action(fl!(words, "bank-action"), &letter.page_url)
        .after(fl!(words, "bank-paid"));
    Content { heading: fl!(words, "bank-heading"), ..content }
}

pub(super) fn summary(phrasing: Phrasing, letter: &Summary) -> Content {
    let words = phrasing.words;
    let (sum, project) = (letter.paid_sum.to_string(), shown_in_subject(&letter.project));
    let (subject, heading, before) = match letter.period {
        SummaryPeriod::Daily => (
            fl!(words, "summary-daily-subject", project = project, sum = sum.as_str()),
            fl!(words, "summary-daily"),
            fl!(words, "fact-day-before"),
        ),
        SummaryPeriod::Weekly => (
            fl!(words, "summary-weekly-subject", project = project, sum = sum.as_str()),
            fl!(words, "summary-weekly"),
            fl!(words, "fact-week-before"),
        ),
    };
    let content = Content::new(subject, fl!(words, "why-member"))
        .fact(fl!(words, "fact-project"), shown(&letter.project))
        .fact(fl!(words, "fact-period"), period(phrasing, letter))
        .fact(fl!(words, "fact-paid-count"), fl!(words, "summary-count", count = letter.paid_count))
        .fact(before, letter.paid_sum_before.to_string())
        .fact(fl!(words, "fact-held"), fl!(words, "summary-held", count = letter.held_count))
        .action(fl!(words, "summary-action"), &letter.page_url);
    Content { heading, amount: Some(sum), is_sandbox: letter.is_sandbox, ..content }
}

/// The day, or the first and the last one of a longer time.
fn period(phrasing: Phrasing, letter: &Summary) -> String {
    let last = Timestamp::from_millis(letter.until.as_millis() - 1);
    let (from, until) = (phrasing.day(letter.from), phrasing.day(last));
    if from == until { from } else { format!("{from} – {until}") }
}

pub(super) fn test(phrasing: Phrasing, letter: &Test, face: &Face) -> Content {
    let words = phrasing.words;
    let content = Content::new(fl!(words, "test-subject"), fl!(words, "test-why")).lead(fl!(words, "test-text"));
    with_origin(phrasing, content, letter, face)
}

/// The same where it goes to a URL.
pub(super) fn notice_test(phrasing: Phrasing, letter: &Test, face: &Face) -> Content {
    let words = phrasing.words;
    let content = Content::new(fl!(words, "notice-test-subject"), String::new()).lead(fl!(words, "notice-test-text"));
    with_origin(phrasing, content, letter, face)
}

fn with_origin(phrasing: Phrasing, content: Content, letter: &Test, face: &Face) -> Content {
    let words = phrasing.words;
    content
        .fact(fl!(words, "fact-time"), phrasing.moment(letter.sent_at))
        .fact(fl!(words, "fact-installation"), shown(&face.host))
}
