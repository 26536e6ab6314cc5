//! `/dashboard/<project>/payments/<payment>/refund`: giving a payment's money back, all that is left or a part. The form is
//! followed by a page that says in plain words what would happen; only what is sent from there makes a refund.

use askama::Template;
use axum::{http::StatusCode, response::Response};
use domain::{
    access::Act,
    destination::{DestinationRequest, TransferBank},
    id::PaymentId,
    money::Rupiah,
    refund::{REASON, RefundRoad},
};
use engine::{Error, RefundOutlook, RefundRequest};
use i18n_embed_fl::fl;
use web::page::{form::Form, page_error::PageError, render::switch_query};

use super::{
    account::{BANK, HOLDER_NAME, NUMBER, TypedAccount},
    wording::{no_room, refund_path},
};
use crate::{
    attempt,
    done::Done,
    input::{self, NoAmount, amount_mistake, text_mistake},
    labels::method_name,
    page::Page,
    payment::customer::Fact,
    receipts::wording::customer_line,
    session::{LastId, SignedForm},
    shell::{Section, Shell},
    words::Words,
};

#[derive(Template)]
#[template(path = "refunds/create.html")]
pub(crate) struct CreatePage {
    pub(crate) shell: Shell,
    pub(crate) payment_url: String,
    /// Where the form is sent to.
    pub(crate) action: String,
    pub(crate) reference: String,
    /// Why nothing can be given back, or why what was sent was not carried out.
    pub(crate) notice: Option<String>,
    /// None where nothing can be given back.
    pub(crate) form: Option<RefundForm>,
    pub(crate) facts: Vec<Fact>,
}

/// What the form holds, and what is wrong with it.
pub(crate) struct RefundForm {
    pub(crate) attempt: String,
    pub(crate) amount: String,
    pub(crate) amount_hint: String,
    pub(crate) amount_mistake: Option<String>,
    pub(crate) reason: String,
    pub(crate) reason_mistake: Option<String>,
    /// Where the money goes if the merchant types no account.
    pub(crate) usual: Way,
    /// Whether the merchant types the account.
    pub(crate) is_typed: bool,
    pub(crate) account: TypedAccount,
}

pub(crate) struct Way {
    pub(crate) label: String,
    pub(crate) text: String,
}

#[derive(Template)]
#[template(path = "refunds/create/confirm.html")]
pub(crate) struct ConfirmPage {
    pub(crate) shell: Shell,
    pub(crate) payment_url: String,
    pub(crate) action: String,
    pub(crate) reference: String,
    pub(crate) heading: String,
    /// What was typed, which is sent again.
    pub(crate) fields: Vec<(&'static str, String)>,
    /// What would happen.
    pub(crate) sentences: Vec<String>,
    pub(crate) button: String,
}

/// What a form asks for, once nothing in it is wrong.
struct Typed {
    amount: Rupiah,
    reason: String,
    destination: Option<DestinationRequest>,
}

pub(crate) async fn ask(page: Page, LastId(id): LastId<PaymentId>) -> Result<Response, PageError> {
    page.require(Act::Refund)?;
    let outlook = page.desk.refund_outlook(id).await?;
    let form = RefundForm { amount: outlook.left.get().to_string(), ..filled(page.words(), &outlook, None) };
    show(&page, &outlook, StatusCode::OK, form, None).await
}

pub(crate) async fn submit(
    page: Page,
    LastId(id): LastId<PaymentId>,
    SignedForm(form): SignedForm,
) -> Result<Response, PageError> {
    page.require(Act::Refund)?;
    let (words, outlook) = (page.words(), page.desk.refund_outlook(id).await?);
    let typed = match read(words, &outlook, &form) {
        Err(wrong) => return show(&page, &outlook, StatusCode::UNPROCESSABLE_ENTITY, *wrong, None).await,
        Ok(_) if form.text("change").is_some() => {
            return show(&page, &outlook, StatusCode::OK, filled(words, &outlook, Some(&form)), None).await;
        }
        Ok(typed) => typed,
    };
    if form.text("sure").is_none() {
        return confirm(&page, &outlook, &form, typed).await;
    }
    // Who goes back and changes the amount wants another refund.
    let form_id = format!("{} {}", attempt::sent(form.text("attempt")), typed.amount.get());
    let request = RefundRequest {
        amount: Some(typed.amount.get()),
        reason: Some(typed.reason),
        destination: typed.destination,
        metadata: None,
    };
    match page.desk.create_refund(&form_id, id, request).await {
        Ok(refund) => Ok(page.redirect(page.path(&refund_path(refund.id)), Done::RefundCreated)),
        Err(Error::NoRoom(why)) => {
            let outlook = page.desk.refund_outlook(id).await?;
            let form = filled(words, &outlook, Some(&form));
            show(&page, &outlook, StatusCode::CONFLICT, form, Some(no_room(words, why))).await
        }
        Err(error) => Err(error.into()),
    }
}

/// The fields as a form brought them, without a word about what is wrong.
fn filled(words: Words, outlook: &RefundOutlook, form: Option<&Form>) -> RefundForm {
    let text = |name: &str| form.and_then(|form| form.text(name)).unwrap_or_default().trim().to_owned();
    let left = outlook.left.to_string();
    RefundForm {
        attempt: attempt::sent(form.and_then(|form| form.text("attempt"))),
        amount: text("amount"),
        amount_hint: fl!(words, "refund-new-amount-hint", left = left),
        amount_mistake: None,
        reason: text("reason"),
        reason_mistake: None,
        usual: match outlook.road {
            RefundRoad::Qris => Way { label: fl!(words, "refund-new-qris"), text: fl!(words, "refund-new-qris-text") },
            RefundRoad::Transfer => {
                Way { label: fl!(words, "refund-new-claim"), text: fl!(words, "refund-new-claim-text") }
            }
        },
        is_typed: text("road") == "typed",
        account: form.map_or_else(TypedAccount::empty, TypedAccount::unchecked),
    }
}

/// What the form asks for, or the form with what is wrong with it.
fn read(words: Words, outlook: &RefundOutlook, form: &Form) -> Result<Typed, Box<RefundForm>> {
    let mut wrong = filled(words, outlook, Some(form));
    let amount = amount(words, outlook, &wrong.amount);
    wrong.amount_mistake = amount.as_ref().err().cloned();
    wrong.reason_mistake = (!wrong.reason.is_empty()).then(|| text_mistake(words, REASON, &wrong.reason)).flatten();
    // Whether the account can be reached is asked about the amount; without one, only the rest is checked.
    let of = *amount.as_ref().unwrap_or(&outlook.left);
    let destination = match wrong.is_typed {
        true => TypedAccount::read(words, form, of).map(Some),
        false => Ok(None),
    };
    match (amount, destination) {
        (Ok(amount), Ok(destination)) if wrong.reason_mistake.is_none() => {
            Ok(Typed { amount, reason: wrong.reason, destination })
        }
        (_, Err(account)) => {
            wrong.account = *account;
            Err(Box::new(wrong))
        }
        _ => Err(Box::new(wrong)),
    }
}

fn amount(words: Words, outlook: &RefundOutlook, typed: &str) -> Result<Rupiah, String> {
    match input::rupiah(typed) {
        Ok(amount) if amount <= Rupiah::ZERO => Err(fl!(words, "refund-amount-least")),
        Ok(amount) if amount > outlook.left => {
            let left = outlook.left.to_string();
            Err(fl!(words, "refund-too-much", left = left))
        }
        Ok(amount) if amount > outlook.covered => {
            let covered = outlook.covered.to_string();
            Err(fl!(words, "refund-not-covered", covered = covered))
        }
        Ok(amount) => Ok(amount),
        Err(NoAmount::Missing) => Err(amount_mistake(words, NoAmount::Missing)),
        Err(why) => Err(amount_mistake(words, why)),
    }
}

async fn show(
    page: &Page,
    outlook: &RefundOutlook,
    status: StatusCode,
    form: RefundForm,
    notice: Option<String>,
) -> Result<Response, PageError> {
    let (shell, words) = (quiet_shell(page, outlook).await?, page.words());
    let refusal = outlook.refusal.map(|why| no_room(words, why));
    let status = if refusal.is_some() && status == StatusCode::OK { StatusCode::CONFLICT } else { status };
    let payment = &outlook.payment;
    let view = CreatePage {
        payment_url: format!("{}/payments/{}", page.base(), payment.id),
        action: action(page, outlook),
        reference: payment.terms.reference.clone(),
        form: refusal.is_none().then_some(form),
        notice: notice.or(refusal),
        facts: facts(words, outlook),
        shell,
    };
    Ok(page.render(status, &view))
}

/// The frame of a page that follows no changes, since it holds what somebody has typed.
async fn quiet_shell(page: &Page, outlook: &RefundOutlook) -> Result<Shell, Error> {
    let mut shell = page.shell(Section::Payments).await?;
    shell.switch_url = format!("{}{}", action(page, outlook), switch_query(&page.visitor));
    shell.live_url = None;
    Ok(shell)
}

fn action(page: &Page, outlook: &RefundOutlook) -> String {
    format!("{}/payments/{}/refund", page.base(), outlook.payment.id)
}

fn facts(words: Words, outlook: &RefundOutlook) -> Vec<Fact> {
    let payment = &outlook.payment;
    let fact = |label: String, text: String| Fact { label, text };
    let customer = customer_line(payment.terms.checkout.as_ref());
    let mut facts = vec![
        fact(fl!(words, "payments-reference"), payment.terms.reference.clone()),
        fact(fl!(words, "payments-method"), method_name(words, payment.terms.method)),
        fact(fl!(words, "refund-new-received"), outlook.received.to_string()),
    ];
    facts.extend(customer.map(|customer| fact(fl!(words, "payment-customer"), customer)));
    let before = payment.refunds.succeeded + payment.refunds.unfinished;
    if before > Rupiah::ZERO {
        facts.push(fact(fl!(words, "refund-new-before"), before.to_string()));
    }
    facts.push(fact(fl!(words, "refund-new-left"), outlook.left.to_string()));
    facts
}

/// Says what would happen, and asks whether it shall.
async fn confirm(page: &Page, outlook: &RefundOutlook, form: &Form, typed: Typed) -> Result<Response, PageError> {
    let (shell, words) = (quiet_shell(page, outlook).await?, page.words());
    let amount = typed.amount.to_string();
    let text = |name: &'static str| (name, form.text(name).unwrap_or_default().trim().to_owned());
    let mut fields: Vec<(&'static str, String)> = ["amount", "reason", "road"].map(text).into();
    if typed.destination.is_some() {
        fields.extend([BANK, NUMBER, HOLDER_NAME].map(text));
    }
    fields.push(("attempt", attempt::sent(form.text("attempt"))));
    let view = ConfirmPage {
        payment_url: format!("{}/payments/{}", page.base(), outlook.payment.id),
        action: action(page, outlook),
        reference: outlook.payment.terms.reference.clone(),
        heading: fl!(words, "refund-confirm", amount = amount.clone()),
        button: fl!(words, "refund-confirm-do", amount = amount),
        sentences: sentences(words, outlook, &typed),
        fields,
        shell,
    };
    Ok(page.render(StatusCode::OK, &view))
}

/// In plain words: which way the money goes, what it costs, what the customer sees, and who has to approve it.
fn sentences(words: Words, outlook: &RefundOutlook, typed: &Typed) -> Vec<String> {
    let (amount, fee) = (typed.amount.to_string(), outlook.payment.terms.fee.to_string());
    let way = match (&typed.destination, outlook.road) {
        (Some(destination), _) => {
            let destination = typed_destination(destination);
            fl!(words, "refund-confirm-typed", destination = destination)
        }
        (None, RefundRoad::Qris) => fl!(words, "refund-confirm-qris"),
        (None, RefundRoad::Transfer) => fl!(words, "refund-confirm-claim"),
    };
    let cost = match (outlook.payment.terms.fee, outlook.returns_fee) {
        (Rupiah::ZERO, _) => fl!(words, "refund-confirm-no-fee"),
        (_, true) => fl!(words, "refund-confirm-fee-back"),
        (_, false) => fl!(words, "refund-confirm-fee", fee = fee),
    };
    let approval = match (outlook.needs_approval(typed.amount), outlook.is_alone) {
        (false, _) => fl!(words, "refund-confirm-no-approval"),
        (true, false) => fl!(words, "refund-confirm-approval"),
        (true, true) => fl!(words, "refund-confirm-approval-alone"),
    };
    let seen = fl!(words, "refund-confirm-seen");
    let reason = typed.reason.as_str();
    let said = (!reason.is_empty()).then(|| fl!(words, "refund-confirm-seen-reason", reason = reason));
    let mut sentences = vec![way, fl!(words, "refund-confirm-balance", amount = amount), cost, seen];
    sentences.extend(said);
    sentences.extend([approval, fl!(words, "refund-confirm-cancel")]);
    sentences
}

/// The bank, the whole number and the holder, for a person who compares them.
fn typed_destination(destination: &DestinationRequest) -> String {
    let part = |text: &Option<String>| text.clone().unwrap_or_default();
    let bank = destination.bank.as_deref().and_then(TransferBank::from_code);
    let account = format!("{} {}", bank.map(|bank| bank.name).unwrap_or_default(), part(&destination.account_number));
    match &destination.account_name {
        Some(holder) => format!("{account}, {holder}"),
        None => account,
    }
}
