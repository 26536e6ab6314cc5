//! `/dashboard/<project>/payments/<payment>`: everything about one payment.

mod at_bank;
pub(crate) mod customer;
pub(crate) mod held;
#[cfg(test)]
pub(crate) mod samples;
pub(crate) mod timeline;

use askama::Template;
use axum::{Router, http::StatusCode, response::Response, routing::get};
use domain::{
    access::Act,
    id::PaymentId,
    method::Method,
    money::Rupiah,
    payment::{Payment, Status},
    project::Environment,
};
use engine::{ListedRefund, PaymentFile};
use i18n_embed_fl::fl;
use url::form_urlencoded::byte_serialize;
use web::{
    App,
    page::{moment::Moment, page_error::PageError},
};
use wire::payment::{PaymentJson, View};

use self::{
    customer::{Fact, customer_facts, device_facts},
    held::{Banner, Money, banners, money_of, received_instead},
    timeline::Happening,
};
use crate::{
    labels::{Badge, method_name, payment_badge, refunded_badge},
    page::Page,
    refunds::wording::{refund_url, road_line, standing},
    session::LastId,
    shell::{Section, Shell},
};

#[derive(Template)]
#[template(path = "payment.html")]
pub(crate) struct PaymentShown {
    pub(crate) shell: Shell,
    pub(crate) list_url: String,
    pub(crate) id: String,
    pub(crate) reference: String,
    pub(crate) badge: Badge,
    /// Whether its money was given back, partly or fully.
    pub(crate) refunded_badge: Option<Badge>,
    /// Where its money can be given back, for members who may.
    pub(crate) refund_url: Option<String>,
    pub(crate) refunds: Vec<RefundLine>,
    /// What was given back, and what is left after it; none where nothing was.
    pub(crate) refunded: Option<RefundedSums>,
    /// What screen readers say when the status has changed.
    pub(crate) say: String,
    /// What came, or what is asked for while nothing has.
    pub(crate) amount: String,
    /// What was asked for.
    pub(crate) billed: String,
    /// Money for this payment that needs a decision.
    pub(crate) banners: Vec<Banner>,
    /// How many others need one.
    pub(crate) banners_more: Option<String>,
    /// What was received, where it is another amount, which somebody has accepted.
    pub(crate) received: Option<String>,
    /// `3 × Rp50.000`, where the customer has chosen how many.
    pub(crate) pieces: Option<String>,
    pub(crate) fees: FeeOutlook,
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
    /// None for a payment that was created by the API.
    pub(crate) customer: Option<Vec<Fact>>,
    /// The page of the customer, where an email address or a phone number tells who it is.
    pub(crate) customer_url: Option<String>,
    pub(crate) device: Vec<Fact>,
    /// What the merchant noted about the payment.
    pub(crate) metadata: Vec<(String, String)>,
    pub(crate) json: String,
    pub(crate) checkout_url: String,
    pub(crate) simulator_url: Option<String>,
}

/// What the page says of the payment's fee.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FeeOutlook {
    /// The money came, and the fee was taken from it.
    Taken,
    /// The payment can still be paid.
    Expected,
    /// It has ended unpaid, so the page says nothing of a fee.
    Absent,
}

/// The link that the payment was created through.
pub(crate) struct Through {
    pub(crate) url: String,
    pub(crate) title: String,
}

/// A refund of the payment.
pub(crate) struct RefundLine {
    pub(crate) url: String,
    pub(crate) amount: String,
    pub(crate) road: String,
    pub(crate) badge: Badge,
    pub(crate) created: Moment,
}

/// What the payment's fee card adds about refunds.
pub(crate) struct RefundedSums {
    pub(crate) refunded: String,
    pub(crate) left: String,
}

pub(crate) fn routes() -> Router<App> {
    Router::new().route("/dashboard/{project}/payments/{payment}", get(show))
}

async fn show(page: Page, LastId(id): LastId<PaymentId>) -> Result<Response, PageError> {
    let shell = page.shell(Section::Payments).await?;
    let file = page.desk.payment_file(id).await?;
    let money = money_of(&page, id).await?;
    let refunds = page.desk.refunds_of_payment(id).await?;
    Ok(page.render(StatusCode::OK, &view(&page, shell, file, &money, &refunds)))
}

fn view(page: &Page, shell: Shell, file: PaymentFile, money: &[Money], refunds: &[ListedRefund]) -> PaymentShown {
    let (now, words, base) = (page.now(), shell.words, page.base());
    let happenings = timeline::of(page, &file, money, refunds, &base);
    let (banners, banners_more) = banners(page, money, &base);
    let received = received_instead(file.payment.id, money);
    let PaymentFile { payment, link, .. } = file;
    let (badge, method) = (payment_badge(words, payment.status_at(now)), method_name(words, payment.terms.method));
    let is_simulated = page.project().environment == Environment::Sandbox && !payment.status_at(now).is_final();
    let simulator_url =
        || format!("{base}/simulator?code={}", byte_serialize(payment.code.as_bytes()).collect::<String>());
    let status = badge.text.as_str();
    let came = received.unwrap_or(payment.terms.amount);
    PaymentShown {
        refunded_badge: refunded_badge(words, &payment, came),
        refund_url: may_refund(page, &payment, came).then(|| format!("{base}/payments/{}/refund", payment.id)),
        refunds: refunds.iter().map(|listed| refund_line(page, &base, listed)).collect(),
        refunded: refunded_sums(&payment, came),
        list_url: format!("{base}/payments"),
        id: payment.id.to_string(),
        reference: payment.terms.reference.clone(),
        say: fl!(words, "payment-say", status = status),
        badge,
        amount: received.unwrap_or(payment.terms.amount).to_string(),
        billed: payment.terms.amount.to_string(),
        banners,
        banners_more,
        received: received.map(|amount: Rupiah| amount.to_string()),
        pieces: payment.pieces_text(),
        fees: match payment.status_at(now) {
            Status::Paid => FeeOutlook::Taken,
            Status::Pending | Status::Processing => FeeOutlook::Expected,
            Status::Expired | Status::Failed | Status::Cancelled => FeeOutlook::Absent,
        },
        fee: (-payment.terms.fee).to_string(),
        net: received.map_or(payment.merchant_net(), |amount| amount - payment.terms.fee).to_string(),
        code_label: match payment.terms.method {
            Method::Qris => fl!(words, "payment-qris"),
            Method::VirtualAccount(_) => fl!(words, "payment-account"),
        },
        method,
        code: payment.code.clone(),
        created: page.moment(payment.created_at),
        paid: payment.paid_at().map(|at| page.moment(at)),
        expires: page.moment(payment.terms.expires_at),
        happenings,
        link: link.map(|link| Through { url: format!("{base}/links/{}", link.id), title: link.title }),
        customer: payment.terms.checkout.as_ref().map(|checkout| customer_facts(words, checkout)),
        customer_url: payment
            .terms
            .checkout
            .as_ref()
            .is_some_and(|checkout| checkout.customer.is_known())
            .then(|| format!("{base}/customers/{}", payment.id)),
        device: payment.terms.checkout.as_ref().map(|checkout| device_facts(words, checkout)).unwrap_or_default(),
        metadata: payment.terms.metadata.clone().map(|metadata| metadata.members).unwrap_or_default(),
        checkout_url: format!("{}/pay/{}", page.app.settings.pages_url, payment.id),
        simulator_url: is_simulated.then(simulator_url),
        json: json(page, payment),
        shell,
    }
}

/// Whether the member may give back what is left of the money that came.
fn may_refund(page: &Page, payment: &Payment, came: Rupiah) -> bool {
    let gone = payment.refunds.succeeded + payment.refunds.unfinished;
    page.desk.may(Act::Refund) && payment.paid_at().is_some() && gone < came
}

fn refund_line(page: &Page, base: &str, listed: &ListedRefund) -> RefundLine {
    let (words, refund) = (page.words(), &listed.refund);
    RefundLine {
        url: refund_url(base, refund.id),
        amount: refund.amount.to_string(),
        road: road_line(words, refund),
        badge: standing(words, refund.state, listed.sending).0,
        created: page.short_moment(refund.created_at),
    }
}

fn refunded_sums(payment: &Payment, came: Rupiah) -> Option<RefundedSums> {
    let refunded = payment.refunds.succeeded;
    let left = came - refunded - payment.refunds.unfinished;
    (refunded > Rupiah::ZERO).then(|| RefundedSums { refunded: (-refunded).to_string(), left: left.to_string() })
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
