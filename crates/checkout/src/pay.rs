//! `/pay/<payment_id>`: the page of one payment. It shows how to pay, and then how the payment ended. It only reads.

use std::{sync::Arc, time::Duration};

use axum::{
    Extension,
    extract::State,
    http::{HeaderMap, HeaderValue, Method as HttpMethod, StatusCode, header},
    response::Response,
};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use domain::{
    bank::Bank,
    id::PaymentId,
    instructions::{SplitNumber, split_number, step_groups},
    language::Language,
    link::LinkStanding,
    method::Method,
    money::Rupiah,
    payment::{Payment, State as PaymentState, Status},
    project::{Environment, Project},
    receipt::{Decision, Unapplied as Reason, UnappliedReceipt},
    refund::RefundState,
    time::Timestamp,
};
use engine::{Error, PaymentPage};
use i18n_embed_fl::fl;
use picture::qr_image;
use web::{
    App,
    page::{moment::moment, page_error::PageError, render::page, visitor::Visitor},
};

use crate::{
    parts::{BACK_SCRIPT, RECEIPT_STYLE, SLIP_STYLE, address, bank_row, looked, order_of, payment_frame},
    path_id::PathId,
    pictures::Pictures,
    qr_card::Card,
    view::{
        Account, Back, Change, Ended, Leaves, NextStep, NumberLabel, NumberRow, Paid, Pending, Processing, Qris,
        RefundLine, RefundStanding, Slip, StepLine, Steps, Unapplied, UnappliedStanding, Unpaid, UnpaidReason,
    },
    words::words,
};

/// The parameter, and its value, that ask for the receipt on a strip of paper.
const PRINT: (&str, &str) = ("print", "80mm");
const FILE_NAME_CHARACTERS: usize = 64;
/// Account numbers are shown in groups of this many digits.
const GROUP_DIGITS: usize = 4;
/// Unapplied money that a page tells of; there is rarely more than one.
const UNAPPLIED_SHOWN: usize = 5;
/// Refunds that a page tells of.
const REFUNDS_SHOWN: usize = 20;
/// For how long after its money a receipt is new, so that its page leads back to the shop by itself.
const FRESH: Duration = Duration::from_mins(1);
/// Browsers ask each time whether the code is still shown: it must not be offered from a cache once its payment has ended.
const QR_CACHED: HeaderValue = HeaderValue::from_static("private, no-cache");

pub(super) type PaymentPath = Result<PathId<PaymentId>, PageError>;

/// GET `/pay/<payment_id>`: the page for the payment's status.
pub(super) async fn show(State(app): State<App>, visitor: Visitor, id: PaymentPath) -> Result<Response, PageError> {
    let PathId(id) = id?;
    let shown = app.engine.payment_page(id).await?;
    let status = shown.payment.status_at(app.engine.now());
    Ok(match status {
        Status::Pending => match shown.payment.terms.method {
            Method::Qris => page(StatusCode::OK, &qris(&app, &visitor, &shown)),
            Method::VirtualAccount(bank) => page(StatusCode::OK, &account(&app, &visitor, &shown, bank)),
        },
        Status::Processing => page(StatusCode::OK, &processing(&app, &visitor, &shown)),
        Status::Paid if visitor.query.text(PRINT.0).ok().flatten() == Some(PRINT.1) => {
            page(StatusCode::OK, &slip(&app, &visitor, &shown))
        }
        Status::Paid => page(StatusCode::OK, &paid(&app, &visitor, &shown)),
        Status::Expired => page(StatusCode::OK, &unpaid(&app, &visitor, &shown, UnpaidReason::Expired)),
        Status::Failed => page(StatusCode::OK, &unpaid(&app, &visitor, &shown, UnpaidReason::Failed)),
        Status::Cancelled => page(StatusCode::OK, &unpaid(&app, &visitor, &shown, cancelled_why(&shown))),
    })
}

/// `/pay/<payment_id>/qr.png`: the card with the QR code as a file named by the reference, only while the payment is
/// pending.
pub(super) async fn image(
    State(app): State<App>,
    Extension(pictures): Extension<Arc<Pictures>>,
    visitor: Visitor,
    method: HttpMethod,
    headers: HeaderMap,
    id: PaymentPath,
) -> Result<Response, PageError> {
    let PathId(id) = id?;
    let shown = app.engine.payment_page(id).await?;
    let payment = &shown.payment;
    if payment.terms.method != Method::Qris || payment.status_at(app.engine.now()) != Status::Pending {
        return Err(Error::NotFound("QR code").into());
    }
    let card = card(&app, &visitor, &shown);
    let mut response = pictures.answer((&method, &headers), card.key(), QR_CACHED, move || card.png()).await?;
    let disposition = format!("attachment; filename=\"{}\"", file_name(payment));
    let disposition = HeaderValue::try_from(disposition).unwrap_or(HeaderValue::from_static("attachment"));
    response.headers_mut().insert(header::CONTENT_DISPOSITION, disposition);
    Ok(response)
}

fn card(app: &App, visitor: &Visitor, shown: &PaymentPage) -> Card {
    let PaymentPage { project, payment, .. } = shown;
    let frame = payment_frame(app, visitor, shown);
    let deadline = moment(payment.terms.expires_at, visitor.language).text;
    Card {
        payload: payment.code.clone(),
        merchant: project.merchant.name.clone(),
        amount: payment.terms.amount.to_string(),
        deadline: format!("{} {deadline}", fl!(frame.words, "pay-before")),
        reference: format!("{} {}", fl!(frame.words, "reference"), payment.terms.reference),
        stripe: frame.stripe.map(|stripe| stripe.text(frame.words)),
    }
}

fn qris(app: &App, visitor: &Visitor, shown: &PaymentPage) -> Qris {
    let payment = &shown.payment;
    let image = qr_image::png(&payment.code).unwrap_or_default();
    Qris {
        frame: payment_frame(app, visitor, shown),
        pending: pending(app, visitor, shown),
        image: format!("data:image/png;base64,{}", STANDARD.encode(image)),
        image_url: app.settings.urls.url(format_args!("/pay/{}/qr.png", payment.id)),
        image_name: file_name(payment),
    }
}

fn account(app: &App, visitor: &Visitor, shown: &PaymentPage, bank: Bank) -> Account {
    let payment = &shown.payment;
    Account {
        frame: payment_frame(app, visitor, shown),
        pending: pending(app, visitor, shown),
        bank: bank_row(bank),
        numbers: numbers(bank, &payment.code),
        amount_digits: payment.terms.amount.get().to_string(),
        steps: steps(bank, &payment.code, payment.terms.amount, visitor.language),
    }
}

/// The steps of every channel, with the names of menus apart.
pub(crate) fn steps(bank: Bank, number: &str, amount: Rupiah, language: Language) -> Vec<Steps> {
    let groups = step_groups(bank, number, amount, language).into_iter();
    let steps = groups.map(|group| {
        let line = |step: String| match step.strip_suffix(group.menu) {
            Some(text) => StepLine { text: text.to_owned(), menu: Some(group.menu) },
            None => StepLine { text: step, menu: None },
        };
        Steps { title: group.title, steps: group.steps.into_iter().map(line).collect() }
    });
    steps.collect()
}

/// The numbers that the customer types at the bank.
pub(crate) fn numbers(bank: Bank, number: &str) -> Vec<NumberRow> {
    let row = |label, digits: &str| {
        let characters: Vec<char> = digits.chars().collect();
        let groups: Vec<String> = characters.chunks(GROUP_DIGITS).map(|group| group.iter().collect()).collect();
        NumberRow { label, digits: digits.to_owned(), grouped: groups.join(" ") }
    };
    let Some(SplitNumber { company_code, customer_number }) = split_number(bank, number) else {
        return vec![row(NumberLabel::Account, number)];
    };
    let (code_label, number_label) = match bank {
        Bank::Bsi => (NumberLabel::InstitutionCode, NumberLabel::PaymentCode),
        _ => (NumberLabel::CompanyCode, NumberLabel::CustomerNumber),
    };
    // A code is short enough to be read at once.
    let code = NumberRow { label: code_label, digits: company_code.to_owned(), grouped: company_code.to_owned() };
    vec![code, row(number_label, customer_number), row(NumberLabel::Whole, number)]
}

fn pending(app: &App, visitor: &Visitor, shown: &PaymentPage) -> Pending {
    let PaymentPage { project, payment, link, .. } = shown;
    let change = match link {
        Some((_, LinkStanding::Processing)) => Change::BeingPaid,
        Some(_) if !shown.has_other_methods => Change::NotAllowed,
        Some((link, LinkStanding::Open)) => {
            Change::Allowed { url: address(app, visitor, format_args!("/p/{}?change={}", link.id, payment.id)) }
        }
        Some(_) => Change::Closed,
        None => Change::NotAllowed,
    };
    let LiveUrls { page_url, status_url, events_url, simulate_url } = live_urls(app, visitor, shown);
    Pending {
        order: order_of(project, payment, link.as_ref().map(|(link, _)| link)),
        unapplied: unapplied(shown),
        payment_id: payment.id.to_string(),
        deadline: moment(payment.terms.expires_at, visitor.language),
        expires_at_millis: payment.terms.expires_at.as_millis(),
        now_millis: app.engine.now().as_millis(),
        page_url,
        status_url,
        events_url,
        change,
        looked: looked(app.engine.now(), visitor, |time| fl!(words(visitor.language), "looked-pending", time = time)),
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

fn live_urls(app: &App, visitor: &Visitor, shown: &PaymentPage) -> LiveUrls {
    let (id, urls) = (shown.payment.id, &app.settings.urls);
    let is_sandbox = shown.project.environment == Environment::Sandbox;
    LiveUrls {
        page_url: address(app, visitor, format_args!("/pay/{id}")),
        status_url: urls.url(format_args!("/pay/{id}/status")),
        events_url: urls.url(format_args!("/pay/{id}/events")),
        simulate_url: is_sandbox.then(|| urls.url(format_args!("/pay/{id}/simulate"))),
    }
}

fn ended(app: &App, visitor: &Visitor, shown: &PaymentPage) -> Ended {
    let PaymentPage { project, payment, link, .. } = shown;
    Ended {
        order: order_of(project, payment, link.as_ref().map(|(link, _)| link)),
        unapplied: unapplied(shown),
        refunds: refund_lines(visitor, shown),
        payment_id: payment.id.to_string(),
        method: payment.terms.method.bank().map_or("QRIS", |bank| bank.name()).to_owned(),
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
        url: payment.terms.return_url.as_ref()?.with(payment.id, &payment.terms.reference, status),
        leaves: payment.paid_at().map(leaves),
    })
}

/// Whether the merchant has still to decide about money that came for the payment.
pub(super) async fn has_held_money(app: &App, id: PaymentId) -> Result<bool, PageError> {
    Ok(unapplied(&app.engine.payment_page(id).await?).iter().any(Unapplied::is_held))
}

/// Money that came for this payment without paying it, the latest first.
fn unapplied(shown: &PaymentPage) -> Vec<Unapplied> {
    let money = shown.unapplied.iter().filter_map(|money| {
        let standing = standing(shown, money)?;
        Some(Unapplied { amount: money.receipt.amount.to_string(), standing })
    });
    money.take(UNAPPLIED_SHOWN).collect()
}

/// None for money that has paid this payment after all, and for money that was sent for another one.
fn standing(shown: &PaymentPage, money: &UnappliedReceipt) -> Option<UnappliedStanding> {
    let payment = &shown.payment;
    if money.payment_id != payment.id {
        return None;
    }
    match money.decided.as_ref().map(|decided| decided.decision) {
        Some(Decision::Accepted { payment_id, .. }) => {
            (payment_id != payment.id).then_some(UnappliedStanding::UsedElsewhere)
        }
        Some(Decision::Returned) if is_on_its_way(shown, money) => Some(UnappliedStanding::OnItsWay),
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

/// Whether the refund by which the merchant returns held money has not ended yet.
fn is_on_its_way(shown: &PaymentPage, money: &UnappliedReceipt) -> bool {
    let by = money.decided.as_ref().and_then(|decided| decided.refund);
    shown.refunds.iter().any(|refund| Some(refund.id) == by && refund.state.is_unfinished())
}

/// What was given back of the payment, and what will be. Refunds that came to nothing are the merchant's own affair.
fn refund_lines(visitor: &Visitor, shown: &PaymentPage) -> Vec<RefundLine> {
    let of_payment = shown.refunds.iter().filter(|refund| refund.of.receipt().is_none());
    let lines = of_payment.filter_map(|refund| {
        let standing = match refund.state {
            RefundState::RequiresAction => RefundStanding::NeedsAccount,
            RefundState::Pending(_) => RefundStanding::OnItsWay,
            RefundState::Succeeded { at } => RefundStanding::Succeeded { at: moment(at, visitor.language) },
            RefundState::Failed | RefundState::Cancelled | RefundState::Returned { .. } => return None,
        };
        Some(RefundLine { amount: refund.amount.to_string(), standing })
    });
    lines.take(REFUNDS_SHOWN).collect()
}

fn processing(app: &App, visitor: &Visitor, shown: &PaymentPage) -> Processing {
    let frame = payment_frame(app, visitor, shown);
    let LiveUrls { page_url, status_url, events_url, simulate_url } = live_urls(app, visitor, shown);
    let now = app.engine.now();
    Processing {
        frame,
        ended: ended(app, visitor, shown),
        page_url,
        status_url,
        events_url,
        now_millis: now.as_millis(),
        looked: looked(now, visitor, |time| fl!(words(visitor.language), "looked-processing", time = time)),
        simulate_url,
    }
}

fn paid(app: &App, visitor: &Visitor, shown: &PaymentPage) -> Paid {
    let again = shown.link.as_ref().filter(|(_, standing)| *standing == LinkStanding::Open);
    let (name, value) = PRINT;
    Paid {
        frame: payment_frame(app, visitor, shown),
        ended: ended(app, visitor, shown),
        received: shown.received.map(|amount| amount.to_string()),
        paid_at: moment(paid_at(shown), visitor.language),
        again_url: again.map(|(link, _)| address(app, visitor, format_args!("/p/{}?again=1", link.id))),
        style_url: app.settings.urls.url(RECEIPT_STYLE.path()),
        slip_url: address(app, visitor, format_args!("/pay/{}?{name}={value}", shown.payment.id)),
    }
}

fn slip(app: &App, visitor: &Visitor, shown: &PaymentPage) -> Slip {
    let mut frame = payment_frame(app, visitor, shown);
    let (name, value) = PRINT;
    frame.switch_url = format!("{}&{name}={value}", frame.switch_url);
    Slip {
        frame,
        ended: ended(app, visitor, shown),
        received: shown.received.map(|amount| amount.to_string()),
        paid_at: moment(paid_at(shown), visitor.language),
        style_url: app.settings.urls.url(SLIP_STYLE.path()),
        page_url: address(app, visitor, format_args!("/pay/{}", shown.payment.id)),
    }
}

fn paid_at(shown: &PaymentPage) -> Timestamp {
    shown.payment.paid_at().unwrap_or(shown.payment.created_at)
}

/// Why a cancelled payment was: what became of its link tells.
fn cancelled_why(shown: &PaymentPage) -> UnpaidReason {
    match shown.link.as_ref().map(|(_, standing)| *standing) {
        Some(LinkStanding::Cancelled) => UnpaidReason::Withdrawn,
        Some(LinkStanding::Paid) => UnpaidReason::Superseded,
        Some(LinkStanding::Open | LinkStanding::Processing) => UnpaidReason::Replaced,
        Some(LinkStanding::Inactive) | None => UnpaidReason::Cancelled,
    }
}

fn unpaid(app: &App, visitor: &Visitor, shown: &PaymentPage, why: UnpaidReason) -> Unpaid {
    let next = match &shown.link {
        // The page of a cancelled payment has said it already.
        Some((_, LinkStanding::Paid)) if why == UnpaidReason::Superseded => NextStep::Nothing,
        Some((_, LinkStanding::Cancelled)) if why == UnpaidReason::Withdrawn => NextStep::Nothing,
        Some((link, LinkStanding::Open)) => {
            NextStep::Again { url: address(app, visitor, format_args!("/p/{}?again=1", link.id)) }
        }
        Some((_, LinkStanding::Paid)) => NextStep::AlreadyPaid,
        Some((_, LinkStanding::Processing)) => NextStep::BeingPaid,
        Some((_, LinkStanding::Cancelled)) => NextStep::Withdrawn,
        Some((_, LinkStanding::Inactive)) | None => NextStep::AskMerchant,
    };
    let LiveUrls { status_url, events_url, .. } = live_urls(app, visitor, shown);
    Unpaid {
        frame: payment_frame(app, visitor, shown),
        ended: ended(app, visitor, shown),
        why,
        expired_at: moment(shown.payment.terms.expires_at, visitor.language),
        next,
        status_url,
        events_url,
        now_millis: app.engine.now().as_millis(),
    }
}

/// `QRIS-INV-1.png`: the reference, with characters replaced that some file systems do not allow.
fn file_name(payment: &Payment) -> String {
    let plain = |character: char| match character {
        'A'..='Z' | 'a'..='z' | '0'..='9' | '-' | '_' => character,
        _ => '-',
    };
    let reference: String = payment.terms.reference.chars().take(FILE_NAME_CHARACTERS).map(plain).collect();
    format!("QRIS-{reference}.png")
}
