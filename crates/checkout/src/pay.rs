//! `/pay/<payment_id>`: the page of one payment. It shows how to pay, and then how the payment ended. It only reads.

use std::time::Duration;

use axum::{
    extract::State,
    http::{HeaderName, HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use domain::{
    bank::Bank,
    id::PaymentId,
    instructions::step_groups,
    link::LinkStanding,
    method::Method,
    payment::{Payment, State as PaymentState, Status},
    project::{Environment, Project},
    qr_image,
    receipt::{Decision, Unapplied as Reason, UnappliedReceipt},
    time::Timestamp,
};
use engine::{Error, PaymentPage};
use web::{
    App,
    page::{moment::moment, page_error::PageError, render::page, visitor::Visitor},
};

use crate::{
    parts::{BACK_SCRIPT, bank_row, frame, order_of},
    path_id::PathId,
    view::{
        Account, Back, Change, Ended, Leaves, NextStep, Paid, Pending, Processing, Qris, Steps, Unapplied,
        UnappliedStanding, Unpaid, UnpaidReason,
    },
};

const FILE_NAME_CHARACTERS: usize = 64;
/// Account numbers are shown in groups of this many digits.
const GROUP_DIGITS: usize = 4;
/// Unapplied money that a page tells of; there is rarely more than one.
const UNAPPLIED_SHOWN: usize = 5;
/// For how long after its money a receipt is new, so that its page leads back to the shop by itself.
const FRESH: Duration = Duration::from_mins(1);

pub(super) type PaymentPath = Result<PathId<PaymentId>, PageError>;

/// GET `/pay/<payment_id>`: the page for the payment's status.
pub(super) async fn show(State(app): State<App>, visitor: Visitor, id: PaymentPath) -> Result<Response, PageError> {
    let PathId(id) = id?;
    let shown = app.engine.payment_page(id).await?;
    let status = shown.payment.status_at(app.engine.now());
    Ok(match status {
        Status::Pending => match shown.payment.method {
            Method::Qris => page(StatusCode::OK, &qris(&app, &visitor, &shown)),
            Method::VirtualAccount(bank) => page(StatusCode::OK, &account(&app, &visitor, &shown, bank)),
        },
        Status::Processing => page(StatusCode::OK, &processing(&app, &visitor, &shown)),
        Status::Paid => page(StatusCode::OK, &paid(&app, &visitor, &shown)),
        Status::Expired => page(StatusCode::OK, &unpaid(&app, &visitor, &shown, UnpaidReason::Expired)),
        Status::Failed => page(StatusCode::OK, &unpaid(&app, &visitor, &shown, UnpaidReason::Failed)),
        Status::Cancelled => page(StatusCode::OK, &unpaid(&app, &visitor, &shown, UnpaidReason::Cancelled)),
    })
}

/// `/pay/<payment_id>/qr.png`: the QR code as a file named by the reference, only while the payment is pending.
pub(super) async fn image(State(app): State<App>, id: PaymentPath) -> Result<Response, PageError> {
    let PathId(id) = id?;
    let payment = app.engine.known_payment(id).await?;
    let is_shown = payment.method == Method::Qris && payment.status_at(app.engine.now()) == Status::Pending;
    let png = is_shown.then(|| qr_image::png(&payment.code).ok()).flatten().ok_or(Error::NotFound("QR code"))?;
    let disposition = format!("attachment; filename=\"{}\"", file_name(&payment));
    let disposition = HeaderValue::try_from(disposition).unwrap_or(HeaderValue::from_static("attachment"));
    let headers: [(HeaderName, HeaderValue); 2] =
        [(header::CONTENT_TYPE, HeaderValue::from_static("image/png")), (header::CONTENT_DISPOSITION, disposition)];
    Ok((headers, png).into_response())
}

fn qris(app: &App, visitor: &Visitor, shown: &PaymentPage) -> Qris {
    let PaymentPage { project, payment, .. } = shown;
    let image = qr_image::png(&payment.code).unwrap_or_default();
    Qris {
        frame: frame(app, visitor, Some(project)),
        pending: pending(app, visitor, shown),
        image: format!("data:image/png;base64,{}", STANDARD.encode(image)),
        image_url: app.settings.urls.url(format_args!("/pay/{}/qr.png", payment.id)),
        image_name: file_name(payment),
    }
}

fn account(app: &App, visitor: &Visitor, shown: &PaymentPage, bank: Bank) -> Account {
    let PaymentPage { project, payment, .. } = shown;
    let groups = step_groups(bank, &payment.code, payment.amount, visitor.language);
    let digits: Vec<char> = payment.code.chars().collect();
    let grouped: Vec<String> = digits.chunks(GROUP_DIGITS).map(|group| group.iter().collect()).collect();
    Account {
        frame: frame(app, visitor, Some(project)),
        pending: pending(app, visitor, shown),
        bank: bank_row(bank),
        number: payment.code.clone(),
        grouped_number: grouped.join(" "),
        amount_digits: payment.amount.get().to_string(),
        steps: groups.into_iter().map(|group| Steps { title: group.title, steps: group.steps }).collect(),
    }
}

fn pending(app: &App, visitor: &Visitor, shown: &PaymentPage) -> Pending {
    let PaymentPage { project, payment, link, .. } = shown;
    let urls = &app.settings.urls;
    let change = match link {
        Some((_, LinkStanding::Processing)) => Change::BeingPaid,
        Some(_) if !shown.has_other_methods => Change::NotAllowed,
        Some((link, LinkStanding::Open)) => {
            Change::Allowed { url: urls.url(format_args!("/p/{}?change={}", link.id, payment.id)) }
        }
        Some(_) => Change::Closed,
        None => Change::NotAllowed,
    };
    let LiveUrls { page_url, status_url, events_url, simulate_url } = live_urls(app, shown);
    Pending {
        order: order_of(project, payment, link.as_ref().map(|(link, _)| link)),
        unapplied: unapplied(shown),
        payment_id: payment.id.to_string(),
        deadline: moment(payment.expires_at, visitor.language),
        expires_at_millis: payment.expires_at.as_millis(),
        now_millis: app.engine.now().as_millis(),
        page_url,
        status_url,
        events_url,
        change,
        simulate_url,
    }
}

/// The URLs that a page of a payment uses while the payment may still change.
struct LiveUrls {
    page_url: String,
    status_url: String,
    events_url: String,
    /// The target of the sandbox panel's form; none in production.
    simulate_url: Option<String>,
}

fn live_urls(app: &App, shown: &PaymentPage) -> LiveUrls {
    let (id, urls) = (shown.payment.id, &app.settings.urls);
    let is_sandbox = shown.project.environment == Environment::Sandbox;
    LiveUrls {
        page_url: urls.url(format_args!("/pay/{id}")),
        status_url: urls.url(format_args!("/pay/{id}/status")),
        events_url: urls.url(format_args!("/pay/{id}/events")),
        simulate_url: is_sandbox.then(|| urls.url(format_args!("/pay/{id}/simulate"))),
    }
}

fn ended(app: &App, shown: &PaymentPage) -> Ended {
    let PaymentPage { project, payment, link, .. } = shown;
    Ended {
        order: order_of(project, payment, link.as_ref().map(|(link, _)| link)),
        unapplied: unapplied(shown),
        payment_id: payment.id.to_string(),
        method: payment.method.bank().map_or("QRIS", |bank| bank.name()).to_owned(),
        back: back(app, project, payment),
    }
}

/// The way back to the merchant's site, where the merchant has named one.
fn back(app: &App, project: &Project, payment: &Payment) -> Option<Back> {
    let now = app.engine.now();
    let status = match payment.status_at(now) {
        Status::Pending | Status::Processing => return None,
        Status::Paid => project.success_word.word(),
        other => other.word(),
    };
    let leaves = |at: Timestamp| Leaves {
        is_fresh: now <= at.plus(FRESH),
        script_url: app.settings.urls.url(BACK_SCRIPT.path()),
    };
    Some(Back {
        url: payment.return_url.as_ref()?.with(payment.id, &payment.reference, status),
        leaves: payment.paid_at().map(leaves),
    })
}

/// Money that came for this payment without paying it, the latest first.
fn unapplied(shown: &PaymentPage) -> Vec<Unapplied> {
    let money = shown.unapplied.iter().filter_map(|money| {
        let standing = standing(&shown.payment, money)?;
        Some(Unapplied { amount: money.receipt.amount.to_string(), standing })
    });
    money.take(UNAPPLIED_SHOWN).collect()
}

/// None for money that has paid this payment after all, and for money that was sent for another one.
fn standing(payment: &Payment, money: &UnappliedReceipt) -> Option<UnappliedStanding> {
    if money.payment_id != payment.id {
        return None;
    }
    match money.decided.as_ref().map(|decided| decided.decision) {
        Some(Decision::Accepted { payment_id, .. }) => {
            (payment_id != payment.id).then_some(UnappliedStanding::UsedElsewhere)
        }
        Some(Decision::Returned) => Some(UnappliedStanding::Returned),
        None => Some(match money.reason {
            Reason::WrongAmount => UnappliedStanding::OtherAmount,
            Reason::AlreadyPaid => UnappliedStanding::PaidTwice,
            Reason::LinkClaimed => UnappliedStanding::LinkPaid,
            Reason::TooLate if matches!(payment.state, PaymentState::Cancelled { .. }) => UnappliedStanding::Cancelled,
            Reason::TooLate => UnappliedStanding::TooLate,
            Reason::ReceiptReused => UnappliedStanding::Unclear,
        }),
    }
}

fn processing(app: &App, visitor: &Visitor, shown: &PaymentPage) -> Processing {
    let frame = frame(app, visitor, Some(&shown.project));
    let LiveUrls { page_url, status_url, events_url, simulate_url } = live_urls(app, shown);
    Processing { frame, ended: ended(app, shown), page_url, status_url, events_url, simulate_url }
}

fn paid(app: &App, visitor: &Visitor, shown: &PaymentPage) -> Paid {
    let frame = frame(app, visitor, Some(&shown.project));
    let paid_at = shown.payment.paid_at().unwrap_or(shown.payment.created_at);
    Paid { frame, ended: ended(app, shown), paid_at: moment(paid_at, visitor.language) }
}

fn unpaid(app: &App, visitor: &Visitor, shown: &PaymentPage, why: UnpaidReason) -> Unpaid {
    let next = match &shown.link {
        Some((link, LinkStanding::Open)) => {
            NextStep::Again { url: app.settings.urls.url(format_args!("/p/{}", link.id)) }
        }
        Some((_, LinkStanding::Paid)) => NextStep::AlreadyPaid,
        Some((_, LinkStanding::Processing)) => NextStep::BeingPaid,
        Some((_, LinkStanding::Cancelled | LinkStanding::Inactive)) | None => NextStep::AskMerchant,
    };
    let LiveUrls { status_url, events_url, .. } = live_urls(app, shown);
    Unpaid {
        frame: frame(app, visitor, Some(&shown.project)),
        ended: ended(app, shown),
        why,
        expired_at: moment(shown.payment.expires_at, visitor.language),
        next,
        status_url,
        events_url,
    }
}

/// `QRIS-INV-1.png`: the reference, with characters replaced that some file systems do not allow.
fn file_name(payment: &Payment) -> String {
    let plain = |character: char| match character {
        'A'..='Z' | 'a'..='z' | '0'..='9' | '-' | '_' => character,
        _ => '-',
    };
    let reference: String = payment.reference.chars().take(FILE_NAME_CHARACTERS).map(plain).collect();
    format!("QRIS-{reference}.png")
}
