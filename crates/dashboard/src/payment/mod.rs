//! `/dashboard/<project>/payments/<payment>`: everything about one payment.

mod at_bank;
pub(crate) mod timeline;

use askama::Template;
use axum::{Router, http::StatusCode, response::Response, routing::get};
use domain::{
    id::PaymentId,
    method::Method,
    payment::{Checkout, Payment},
    project::Environment,
};
use engine::PaymentFile;
use i18n_embed_fl::fl;
use url::form_urlencoded::byte_serialize;
use web::{
    App,
    page::{moment::Moment, page_error::PageError},
};
use wire::payment::{PaymentJson, View};

use self::timeline::Happening;
use crate::{
    labels::{Badge, method_name, payment_badge},
    page::Page,
    session::LastId,
    shell::{Section, Shell},
    words::Words,
};

#[derive(Template)]
#[template(path = "payment.html")]
pub(crate) struct PaymentShown {
    pub(crate) shell: Shell,
    pub(crate) list_url: String,
    pub(crate) id: String,
    pub(crate) reference: String,
    pub(crate) badge: Badge,
    /// What screen readers say when the status has changed.
    pub(crate) say: String,
    pub(crate) amount: String,
    pub(crate) fee: String,
    pub(crate) net: String,
    pub(crate) method: String,
    /// The name of the code that the customer pays, and the code; empty where it never reached us.
    pub(crate) code_label: String,
    pub(crate) code: String,
    pub(crate) created: Moment,
    pub(crate) paid: Option<Moment>,
    pub(crate) expires: Moment,
    pub(crate) happenings: Vec<Happening>,
    pub(crate) link: Option<Through>,
    /// The customer, their location and device; none for a payment that was created by the API.
    pub(crate) customer: Option<Vec<Fact>>,
    pub(crate) json: String,
    pub(crate) checkout_url: String,
    pub(crate) simulator_url: Option<String>,
}

/// The link that the payment was created through.
pub(crate) struct Through {
    pub(crate) url: String,
    pub(crate) title: String,
}

pub(crate) struct Fact {
    pub(crate) label: String,
    pub(crate) text: String,
}

pub(crate) fn routes() -> Router<App> {
    Router::new().route("/dashboard/{project}/payments/{payment}", get(show))
}

async fn show(page: Page, LastId(id): LastId<PaymentId>) -> Result<Response, PageError> {
    let shell = page.shell(Section::Payments).await?;
    let file = page.desk.payment_file(id).await?;
    Ok(page.render(StatusCode::OK, &view(&page, shell, file)))
}

fn view(page: &Page, shell: Shell, file: PaymentFile) -> PaymentShown {
    let (now, words, base) = (page.now(), shell.words, page.base());
    let happenings = timeline::of(page, &file, &base);
    let PaymentFile { payment, link, .. } = file;
    let (badge, method) = (payment_badge(words, payment.status_at(now)), method_name(words, payment.method));
    let is_simulated = page.project().environment == Environment::Sandbox && !payment.status_at(now).is_final();
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
        created: page.moment(payment.created_at),
        paid: payment.paid_at().map(|at| page.moment(at)),
        expires: page.moment(payment.expires_at),
        happenings,
        link: link.map(|link| Through { url: format!("{base}/links/{}", link.id), title: link.title }),
        customer: payment.checkout.as_ref().map(|checkout| customer(words, checkout)),
        checkout_url: format!("{}/pay/{}", page.app.settings.pages_url, payment.id),
        simulator_url: is_simulated.then(simulator_url),
        json: json(page, payment),
        shell,
    }
}

/// The payment as `GET /v1/payments/<id>` shows it.
fn json(page: &Page, payment: Payment) -> String {
    let view = View {
        now: page.now(),
        success_word: page.project().success_word,
        language: page.language(),
        pages_url: &page.app.settings.pages_url,
    };
    serde_json::to_string_pretty(&PaymentJson::of(payment, view)).unwrap_or_default()
}

/// What the checkout knows about the customer, without the fields that are empty.
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
