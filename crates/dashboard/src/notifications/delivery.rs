//! `/dashboard/<project>/notifications/deliveries/<event>`: one event with its payload and all attempts to deliver it,
//! and sending it again.

use askama::Template;
use axum::{Router, http::StatusCode, response::Response, routing::get};
use domain::{
    access::Act,
    delivery::{Attempt, Failure, FailureClass},
    id::EventId,
    visible::{Piece, split_hidden},
};
use engine::Error;
use i18n_embed_fl::fl;
use web::{
    App,
    page::{moment::Moment, page_error::PageError},
};
use wire::event::{EventWithSubject, Subject};

use super::log::next_attempt;
use crate::{
    done::Done,
    labels::{Badge, delivery_badge},
    page::Page,
    pretty_json::pretty_json,
    refunds::wording::refund_url,
    session::{LastId, SignedForm},
    shell::{Section, Shell},
    words::Words,
};

#[derive(Template)]
#[template(path = "notifications/delivery.html")]
pub(crate) struct DeliveryPage {
    pub(crate) shell: Shell,
    pub(crate) back_url: String,
    pub(crate) id: String,
    /// `payment.paid`.
    pub(crate) kind: &'static str,
    pub(crate) about: String,
    /// The page of the payment or the key.
    pub(crate) about_url: String,
    pub(crate) created: Moment,
    pub(crate) badge: Badge,
    pub(crate) next: Option<Moment>,
    /// The latest first.
    pub(crate) attempts: Vec<AttemptRow>,
    /// The webhook URL as it is now.
    pub(crate) url: Option<String>,
    pub(crate) headers: String,
    /// The payload, with a line for each member.
    pub(crate) pretty_body: String,
    /// The payload, byte for byte.
    pub(crate) body: String,
    pub(crate) resend_url: Option<String>,
    pub(crate) notice: Option<String>,
}

pub(crate) struct AttemptRow {
    pub(crate) number: usize,
    pub(crate) at: Moment,
    pub(crate) delivered: bool,
    /// `200`, for example; none where the receiver did not answer.
    pub(crate) status: Option<String>,
    /// In milliseconds.
    pub(crate) latency: String,
    /// Why it failed, in a sentence, and the error itself where it says more.
    pub(crate) failure: Option<(String, String)>,
    pub(crate) answer: Answer,
}

/// What the receiver answered.
pub(crate) enum Answer {
    Empty,
    /// Shown as it came.
    Text(Vec<Piece>),
    /// JSON with a line for each member, and as it came.
    Json {
        pretty: Vec<Piece>,
        raw: Vec<Piece>,
    },
}

pub(crate) fn routes() -> Router<App> {
    // A user whose session has ended signs in at the form's address, and then sees the page there.
    Router::new()
        .route("/dashboard/{project}/notifications/deliveries/{event}", get(show))
        .route("/dashboard/{project}/notifications/deliveries/{event}/resend", get(show).post(resend))
}

async fn show(page: Page, LastId(id): LastId<EventId>) -> Result<Response, PageError> {
    Ok(page.render(StatusCode::OK, &view(&page, id).await?))
}

async fn view(page: &Page, id: EventId) -> Result<DeliveryPage, Error> {
    let (shell, base, project) = (page.shell(Section::Notifications).await?, page.base(), page.project());
    let (event, sent) = page.desk.event(id).await?;
    let page_url = format!("{base}/notifications/deliveries/{id}");
    let (about, about_url) = subject(&base, &event);
    let (kind, created) = (event.event.kind().word(), page.moment(event.event.created_at));
    let delivery = sent.delivery.as_ref();
    let may_resend = page.desk.may(Act::ManageWebhooks) && project.webhook_url.is_some();
    let body = String::from_utf8(wire::event::body(&page.app.settings.pages_url, event)).unwrap_or_default();
    Ok(DeliveryPage {
        back_url: format!("{base}/notifications"),
        id: id.to_string(),
        kind,
        about,
        about_url,
        created,
        badge: delivery_badge(shell.words, delivery),
        next: next_attempt(delivery).map(|at| page.moment(at)),
        attempts: sent
            .attempts
            .iter()
            .enumerate()
            .rev()
            .map(|(index, attempt)| row(page, index + 1, attempt))
            .collect(),
        url: project.webhook_url.clone(),
        headers: headers(&page.app.settings.signature_header),
        pretty_body: pretty_json(&body).unwrap_or_else(|| body.clone()),
        body,
        resend_url: may_resend.then(|| format!("{page_url}/resend")),
        notice: None,
        shell,
    })
}

fn subject(base: &str, event: &EventWithSubject) -> (String, String) {
    match &event.subject {
        Subject::Payment(payment) => (payment.terms.reference.clone(), format!("{base}/payments/{}", payment.id)),
        Subject::Refund(refund) => (refund.id.to_string(), refund_url(base, refund.id)),
        Subject::ApiKey(key) => (key.name.clone(), format!("{base}/keys")),
    }
}

/// The headers of a webhook. The signature is computed for each attempt and not stored.
fn headers(signature_header: &str) -> String {
    format!("Content-Type: application/json\nUser-Agent: {}\n{signature_header}: t=…,v1=…", engine::USER_AGENT)
}

fn row(page: &Page, number: usize, attempt: &Attempt) -> AttemptRow {
    let outcome = &attempt.outcome;
    AttemptRow {
        number,
        at: page.moment(attempt.at),
        delivered: outcome.delivered(),
        status: outcome.status.map(|status| status.to_string()),
        latency: outcome.latency.as_millis().to_string(),
        failure: outcome.failure.as_ref().map(|failure| reason(page.words(), failure, outcome.status)),
        answer: answer(&outcome.answer),
    }
}

fn answer(raw: &str) -> Answer {
    match pretty_json(raw) {
        _ if raw.is_empty() => Answer::Empty,
        None => Answer::Text(split_hidden(raw)),
        Some(pretty) => Answer::Json { pretty: split_hidden(&pretty), raw: split_hidden(raw) },
    }
}

/// Why an attempt failed, in a sentence, and the error itself where it says more.
fn reason(words: Words, failure: &Failure, status: Option<u16>) -> (String, String) {
    match (failure.class, status) {
        (FailureClass::Status, Some(300..=399)) => (fl!(words, "hook-failed-redirect"), String::new()),
        (FailureClass::Status, _) => (sentence(words, failure.class), String::new()),
        (class, _) => (sentence(words, class), failure.detail.clone()),
    }
}

fn sentence(words: Words, class: FailureClass) -> String {
    match class {
        FailureClass::NoUrl => fl!(words, "hook-failed-no-url"),
        FailureClass::BlockedAddress => fl!(words, "hook-failed-refused"),
        FailureClass::Dns => fl!(words, "hook-failed-dns"),
        FailureClass::Connect => fl!(words, "hook-failed-connect"),
        FailureClass::Tls => fl!(words, "hook-failed-tls"),
        FailureClass::Timeout => fl!(words, "hook-failed-timeout"),
        FailureClass::Closed => fl!(words, "hook-failed-closed"),
        FailureClass::NotHttp => fl!(words, "hook-failed-not-http"),
        FailureClass::Status => fl!(words, "hook-failed-status"),
        FailureClass::Other => fl!(words, "hook-failed-other"),
    }
}

async fn resend(page: Page, LastId(id): LastId<EventId>, SignedForm(_): SignedForm) -> Result<Response, PageError> {
    match page.desk.resend(id).await {
        Ok(()) => Ok(page.redirect(page.path(&format!("/notifications/deliveries/{id}")), Done::Resent)),
        Err(Error::NoWebhookUrl) => {
            let notice = Some(fl!(page.words(), "hook-resend-no-url"));
            Ok(page.render(StatusCode::CONFLICT, &DeliveryPage { notice, ..view(&page, id).await? }))
        }
        Err(error) => Err(error.into()),
    }
}
