//! `/dashboard/<project>/payments/<payment>`: everything that is known about one payment.

pub(super) mod timeline;

use askama::Template;
use axum::{Router, extract::State, http::StatusCode, response::Response, routing::get};
use domain::{
    id::PaymentId,
    method::Method,
    payment::{Checkout, Payment},
    project::Environment,
};
use engine::PaymentFile;
use i18n_embed_fl::fl;
use url::form_urlencoded::byte_serialize;

pub(crate) use self::timeline::Happening;
use web::{
    App,
    page::{
        moment::{Moment, moment},
        page_error::PageError,
        render::page,
        visitor::Visitor,
    },
};
use wire::payment::{PaymentJson, View};

use crate::{
    fragment::{Badge, method_name, payment_badge},
    session::{AtDesk, LastId},
    shell::{self, Section, Shell},
    words::Words,
};

#[derive(Template)]
#[template(path = "payment.html")]
pub(super) struct PaymentShown {
    pub(super) shell: Shell,
    pub(super) list_url: String,
    pub(super) id: String,
    pub(super) reference: String,
    pub(super) badge: Badge,
    /// Read out when it has moved.
    pub(super) say: String,
    pub(super) amount: String,
    pub(super) fee: String,
    pub(super) net: String,
    pub(super) method: String,
    /// What the code is called, and the code itself.
    pub(super) code_label: String,
    pub(super) code: String,
    pub(super) created: Moment,
    pub(super) paid: Option<Moment>,
    pub(super) expires: Moment,
    pub(super) happenings: Vec<Happening>,
    pub(super) link: Option<Through>,
    /// Who pays, where from and with what; none for a direct payment.
    pub(super) customer: Option<Vec<Fact>>,
    pub(super) json: String,
    pub(super) checkout_url: String,
    pub(super) simulator_url: Option<String>,
}

/// The link it was made through.
pub(super) struct Through {
    pub(super) url: String,
    pub(super) title: String,
}

pub(super) struct Fact {
    pub(super) label: String,
    pub(super) text: String,
}

pub(super) fn routes() -> Router<App> {
    Router::new().route("/dashboard/{project}/payments/{payment}", get(show))
}

async fn show(
    State(app): State<App>,
    visitor: Visitor,
    at: AtDesk,
    LastId(id): LastId<PaymentId>,
) -> Result<Response, PageError> {
    let file = at.desk.payment_file(id).await?;
    let shell = shell::at_desk(&app, &visitor, &at, Section::Payments).await?;
    Ok(page(StatusCode::OK, &view(&app, &visitor, &at, shell, file)))
}

fn view(app: &App, visitor: &Visitor, at: &AtDesk, shell: Shell, file: PaymentFile) -> PaymentShown {
    let (now, words, language) = (app.engine.now(), shell.words, visitor.language);
    let project = at.desk.project();
    let base = shell::base(app, project);
    let happenings = timeline::of(&file, now, language, &base);
    let PaymentFile { payment, link, .. } = file;
    let (badge, method) = (payment_badge(words, payment.status_at(now)), method_name(words, payment.method));
    let is_simulated = project.environment == Environment::Sandbox && !payment.status_at(now).is_final();
    let simulator_url =
        || format!("{base}/simulator?code={}", byte_serialize(payment.code.as_bytes()).collect::<String>());
    let status = badge.text.as_str();
    PaymentShown {
        list_url: format!("{base}/payments"),
        id: payment.id.to_string(),
        reference: payment.reference.clone(),
        say: fl!(words, "payment-say", status = status),
        badge,
        amount: payment.amount.to_string(),
        fee: (-payment.fee).to_string(),
        net: payment.merchant_net().to_string(),
        code_label: match payment.method {
            Method::Qris => fl!(words, "payment-qris"),
            Method::VirtualAccount(_) => fl!(words, "payment-account"),
        },
        method,
        code: payment.code.clone(),
        created: moment(payment.created_at, language),
        paid: payment.paid_at().map(|at| moment(at, language)),
        expires: moment(payment.expires_at, language),
        happenings,
        link: link.map(|link| Through { url: format!("{base}/links/{}", link.id), title: link.title }),
        customer: payment.checkout.as_ref().map(|checkout| customer(words, checkout)),
        checkout_url: format!("{}/pay/{}", app.settings.pages_url, payment.id),
        simulator_url: is_simulated.then(simulator_url),
        json: json(app, visitor, at, payment),
        shell,
    }
}

/// The payment as `GET /v1/payments/<id>` shows it.
fn json(app: &App, visitor: &Visitor, at: &AtDesk, payment: Payment) -> String {
    let view = View {
        now: app.engine.now(),
        success_word: at.desk.project().success_word,
        language: visitor.language,
        pages_url: &app.settings.pages_url,
    };
    serde_json::to_string_pretty(&PaymentJson::of(payment, view)).unwrap_or_default()
}

/// What the checkout has asked and seen, as far as there is anything.
fn customer(words: Words, checkout: &Checkout) -> Vec<Fact> {
    let Checkout { customer, location, device } = checkout;
    let parts = [&device.browser, &device.os, &device.kind];
    let device_text = parts
        .into_iter()
        .flatten()
        .filter(|part| *part != "unknown")
        .map(String::as_str)
        .collect::<Vec<_>>()
        .join(", ");
    let place =
        [&location.ip, &location.country].into_iter().flatten().map(String::as_str).collect::<Vec<_>>().join(", ");
    let facts = [
        (fl!(words, "field-name"), customer.name.clone()),
        (fl!(words, "field-email"), customer.email.clone()),
        (fl!(words, "field-phone"), customer.phone.clone()),
        (fl!(words, "field-address"), customer.address.clone()),
        (fl!(words, "payment-device"), device_text),
        (fl!(words, "payment-location"), place),
        (fl!(words, "payment-user-agent"), device.user_agent.clone().unwrap_or_default()),
    ];
    facts.into_iter().filter(|(_, text)| !text.is_empty()).map(|(label, text)| Fact { label, text }).collect()
}
