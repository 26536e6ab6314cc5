//! One event: what was sent, every attempt to send it with what came of it, and sending it once more.

use askama::Template;
use axum::{Router, extract::State, http::StatusCode, response::Response, routing::get};
use domain::{
    access::Act,
    delivery::{Attempt, FailureClass},
    id::EventId,
};
use engine::Error;
use i18n_embed_fl::fl;
use web::{
    App,
    page::{
        moment::{Moment, moment},
        page_error::PageError,
        render::page,
        visitor::Visitor,
    },
};
use wire::event::{EventWithSubject, Subject};

use crate::{
    done::Done,
    fragment::{Badge, delivery_badge},
    notifications::next_attempt,
    session::{AtDesk, LastId, SignedForm},
    shell::{self, Section, Shell},
    words::{self, Words},
};

#[derive(Template)]
#[template(path = "delivery.html")]
pub(super) struct DeliveryPage {
    pub(super) shell: Shell,
    pub(super) back_url: String,
    pub(super) id: String,
    /// `payment.paid`.
    pub(super) kind: &'static str,
    pub(super) about: String,
    /// Where that is shown.
    pub(super) about_url: String,
    pub(super) created: Moment,
    pub(super) badge: Badge,
    pub(super) next: Option<Moment>,
    pub(super) attempts: Vec<AttemptRow>,
    /// Where it would be sent to now.
    pub(super) url: Option<String>,
    pub(super) headers: String,
    /// Byte for byte as it is sent.
    pub(super) body: String,
    pub(super) resend_url: Option<String>,
    pub(super) notice: Option<String>,
}

pub(super) struct AttemptRow {
    pub(super) number: usize,
    pub(super) at: Moment,
    pub(super) delivered: bool,
    /// `200`, or nothing where none came.
    pub(super) status: Option<String>,
    /// In milliseconds.
    pub(super) latency: String,
    /// Why it failed, in a sentence, and what exactly happened.
    pub(super) failure: Option<(String, String)>,
    pub(super) answer: String,
}

pub(super) fn routes() -> Router<App> {
    // Whoever has to sign in before a form is taken comes back to its address, and finds the page there.
    Router::new()
        .route("/dashboard/{project}/notifications/deliveries/{event}", get(show))
        .route("/dashboard/{project}/notifications/deliveries/{event}/resend", get(show).post(resend))
}

async fn show(
    State(app): State<App>,
    visitor: Visitor,
    at: AtDesk,
    LastId(id): LastId<EventId>,
) -> Result<Response, PageError> {
    Ok(page(StatusCode::OK, &view(&app, &visitor, &at, id).await?))
}

async fn view(app: &App, visitor: &Visitor, at: &AtDesk, id: EventId) -> Result<DeliveryPage, Error> {
    let (event, sent) = at.desk.event(id).await?;
    let shell = shell::at_desk(app, visitor, at, Section::Notifications).await?;
    let (words, project) = (shell.words, at.desk.project());
    let base = shell::base(app, project);
    let page_url = format!("{base}/notifications/deliveries/{id}");
    let (about, about_url) = subject(&base, &event);
    let delivery = sent.delivery.as_ref();
    let may_resend = at.desk.may(Act::ManageWebhooks) && project.webhook_url.is_some();
    Ok(DeliveryPage {
        back_url: format!("{base}/notifications"),
        id: id.to_string(),
        kind: event.event.kind().word(),
        about,
        about_url,
        created: moment(event.event.created_at, visitor.language),
        badge: delivery_badge(words, delivery),
        next: next_attempt(delivery).map(|at| moment(at, visitor.language)),
        attempts: sent.attempts.iter().enumerate().map(|(index, made)| row(visitor, words, index + 1, made)).collect(),
        url: project.webhook_url.clone(),
        headers: headers(&app.settings.signature_header),
        body: String::from_utf8(wire::event::body(&app.settings.pages_url, event)).unwrap_or_default(),
        resend_url: may_resend.then(|| format!("{page_url}/resend")),
        notice: None,
        shell,
    })
}

fn subject(base: &str, event: &EventWithSubject) -> (String, String) {
    match &event.subject {
        Subject::Payment(payment) => (payment.reference.clone(), format!("{base}/payments/{}", payment.id)),
        Subject::ApiKey(key) => (key.name.clone(), format!("{base}/keys")),
    }
}

/// The headers that we choose; the signature's value is made anew for every attempt and kept nowhere.
fn headers(signature_header: &str) -> String {
    format!("Content-Type: application/json\nUser-Agent: {}\n{signature_header}: t=…,v1=…", engine::USER_AGENT)
}

fn row(visitor: &Visitor, words: Words, number: usize, attempt: &Attempt) -> AttemptRow {
    let outcome = &attempt.outcome;
    AttemptRow {
        number,
        at: moment(attempt.at, visitor.language),
        delivered: outcome.delivered(),
        status: outcome.status.map(|status| status.to_string()),
        latency: outcome.latency.as_millis().to_string(),
        failure: outcome.failure.as_ref().map(|failure| (sentence(words, failure.class), failure.detail.clone())),
        answer: outcome.answer.clone(),
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

async fn resend(
    State(app): State<App>,
    visitor: Visitor,
    at: AtDesk,
    LastId(id): LastId<EventId>,
    SignedForm(_): SignedForm,
) -> Result<Response, PageError> {
    match at.desk.resend(id).await {
        Ok(()) => {
            let project = at.desk.project().id;
            Ok(Done::Resent.leading_to(&app, format_args!("/dashboard/{project}/notifications/deliveries/{id}")))
        }
        Err(Error::NoWebhookUrl) => {
            let notice = Some(fl!(words::words(visitor.language), "hook-resend-no-url"));
            Ok(page(StatusCode::CONFLICT, &DeliveryPage { notice, ..view(&app, &visitor, &at, id).await? }))
        }
        Err(error) => Err(error.into()),
    }
}
