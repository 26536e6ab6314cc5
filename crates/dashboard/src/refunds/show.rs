//! `/dashboard/<project>/refunds/<refund>`: one refund: how it stands, what it waits for, and the forms for those who can help
//! it on.

use askama::Template;
use axum::{http::StatusCode, response::Response};
use domain::{
    access::Act,
    id::RefundId,
    language::Language,
    money::Rupiah,
    project::Environment,
    refund::{PendingReason, Refund, RefundOf, RefundRoad, RefundState, Split},
    visible::escape_hidden,
};
use engine::{Approval, NamedParty, RefundFile, Sending};
use i18n_embed_fl::fl;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use web::page::{moment::Moment, page_error::PageError, render::switch_query};

use super::{
    account::TypedAccount,
    failures::failure_line,
    timeline::{Entry, Names, entries},
    uncertain::{Uncertainty, batch_uncertainty, uncertainty},
    wording::{destination_line, names_warning, party_name, refund_path, refund_url, standing_on_page},
};
use crate::{
    labels::Badge,
    page::Page,
    payment::{customer::Fact, timeline::Happening},
    prove,
    receipts::wording::{Answer, decide_url},
    session::LastId,
    shell::{Section, Shell},
    words::Words,
};

/// WhatsApp opens the app, or its page, with this text and lets the merchant choose who gets it.
const WHATSAPP: &str = "https://wa.me/?text=";

#[derive(Template)]
#[template(path = "refunds/show.html")]
pub(crate) struct RefundPage {
    pub(crate) shell: Shell,
    pub(crate) list_url: String,
    /// The address of this page.
    pub(crate) url: String,
    /// Why a form was not carried out.
    pub(crate) notice: Option<String>,
    pub(crate) id: String,
    /// What an approval is for; one of something else is refused.
    pub(crate) version: String,
    pub(crate) amount: String,
    pub(crate) heading: String,
    pub(crate) badge: Badge,
    /// How it stands, in a sentence.
    pub(crate) sentence: String,
    /// The payment, or the held money, that is given back.
    pub(crate) of_label: String,
    pub(crate) of_url: String,
    pub(crate) reference: String,
    pub(crate) facts: Vec<Fact>,
    pub(crate) created: Moment,
    pub(crate) happenings: Vec<Happening>,
    pub(crate) claim: Option<ClaimBox>,
    pub(crate) approval: Option<ApprovalBox>,
    /// The fields for the account, where one is needed.
    pub(crate) typing: Option<TypedAccount>,
    pub(crate) transfer: Option<TransferBox>,
    pub(crate) may_cancel: bool,
    /// What the bank calls a transfer that people had ended as failed, where somebody may record that it was made.
    pub(crate) found: Option<FoundBox>,
    /// Why money came back that had arrived, where somebody may record that.
    pub(crate) came_back: Option<Answer>,
    /// What the sandbox's bank can be made to do, by the words of the form.
    pub(crate) simulated: Vec<(&'static str, String)>,
    pub(crate) may_simulate: bool,
}

/// The address on which the customer says where the money shall go.
pub(crate) enum ClaimBox {
    Open(OpenClaim),
    /// The member proves first that they are there.
    Hidden {
        prove_url: String,
    },
    /// It works no more.
    Ended,
}

pub(crate) struct OpenClaim {
    pub(crate) text: String,
    pub(crate) url: String,
    pub(crate) whatsapp_url: String,
}

/// What somebody is asked to approve.
pub(crate) struct ApprovalBox {
    pub(crate) sentences: Vec<String>,
    /// What does not fit together, such as two names.
    pub(crate) warning: Option<String>,
    /// Whether this member may approve it; who asked may not.
    pub(crate) may_approve: bool,
    pub(crate) decline: Answer,
}

/// What a person transfers by hand and how it went; or what a person knows of a transfer that no bank confirms.
pub(crate) struct TransferBox {
    pub(crate) text: String,
    /// What is known of it, where a bank was asked to do it.
    pub(crate) known: Uncertainty,
    /// Empty where a bank was asked to do it.
    pub(crate) account: Vec<Fact>,
    /// What it means to record it as failed.
    pub(crate) failed_text: String,
    pub(crate) done: Answer,
    pub(crate) failed: Answer,
}

/// What is known of a transfer that people have ended as failed, and that the bank may have made all the same.
pub(crate) struct FoundBox {
    pub(crate) known: Uncertainty,
    pub(crate) done: Answer,
}

/// What was sent, and why it was not carried out.
pub(super) struct Refused {
    pub(super) status: StatusCode,
    pub(super) notice: Option<String>,
    pub(super) form: FilledForm,
}

/// The form that was sent.
pub(super) enum FilledForm {
    None,
    Decline(Answer),
    Done(Answer),
    Failed(Answer),
    CameBack(Answer),
    Account(TypedAccount),
}

pub(crate) async fn show(page: Page, LastId(id): LastId<RefundId>) -> Result<Response, PageError> {
    refund_page(&page, id, None).await
}

pub(super) async fn refund_page(page: &Page, id: RefundId, refused: Option<Refused>) -> Result<Response, PageError> {
    let (mut shell, base) = (page.shell(Section::Refunds).await?, page.base());
    let file = page.desk.refund_file(id).await?;
    // What a form was sent to is no address of this page, so it cannot be opened again.
    shell.switch_url = format!("{}{}", refund_url(&base, id), switch_query(&page.visitor));
    shell.live_url = shell.live_url.filter(|_| refused.is_none());
    let status = refused.as_ref().map_or(StatusCode::OK, |refused| refused.status);
    let names = names(page.words(), &file);
    let view = view(page, shell, &file, &names, refused);
    Ok(page.render(status, &view))
}

fn names(words: Words, file: &RefundFile) -> Names {
    let name = |named: &NamedParty| party_name(words, named);
    Names {
        made_by: name(&file.made_by),
        destination_by: file.destination_by.as_ref().map(name),
        approved_by: file.approved_by.as_ref().map(name),
        doubted_by: file.doubted_by.as_ref().map(name),
    }
}

fn view(page: &Page, shell: Shell, file: &RefundFile, names: &Names, refused: Option<Refused>) -> RefundPage {
    let (words, base, refund) = (shell.words, page.base(), &file.refund);
    let (badge, sentence) = standing_on_page(words, refund, file.sending, file.uncertain.as_ref());
    let (notice, form) = refused.map_or((None, FilledForm::None), |refused| (refused.notice, refused.form));
    let (of_label, of_url) = match refund.of {
        RefundOf::Payment(id) => (fl!(words, "refund-payment"), format!("{base}/payments/{id}")),
        RefundOf::Receipt { receipt, .. } => (fl!(words, "refund-held"), decide_url(&base, receipt)),
    };
    let amount = refund.amount.to_string();
    let may = page.desk.may(Act::Refund);
    let offered = if may { offered(page, file, names, form) } else { Offered::default() };
    RefundPage {
        list_url: format!("{base}/refunds"),
        url: refund_url(&base, refund.id),
        notice,
        id: refund.id.to_string(),
        version: refund.version.to_string(),
        heading: fl!(words, "refund-heading", amount = amount.clone()),
        amount,
        badge,
        sentence,
        of_label,
        of_url,
        reference: file.payment.terms.reference.clone(),
        facts: facts(words, refund, names),
        created: page.moment(refund.created_at),
        happenings: happenings(page, file, names),
        claim: offered.claim,
        approval: offered.approval,
        typing: offered.typing,
        transfer: offered.transfer,
        may_cancel: offered.may_cancel,
        found: offered.found,
        came_back: offered.came_back,
        may_simulate: may_simulate(page, file),
        simulated: outcomes(words, refund.state),
        shell,
    }
}

fn facts(words: Words, refund: &Refund, names: &Names) -> Vec<Fact> {
    let mut facts = Vec::new();
    let mut add = |label: String, text: Option<String>| facts.extend(text.map(|text| Fact { label, text }));
    let road = match refund.road {
        RefundRoad::Qris => fl!(words, "refund-by-qris"),
        RefundRoad::Transfer => fl!(words, "refund-by-transfer"),
    };
    add(fl!(words, "refunds-road"), Some(road));
    add(fl!(words, "refund-destination"), refund.destination.as_ref().map(destination_line));
    let checked = refund.destination.as_ref().filter(|to| to.holder.is_some()).map(|to| match to.is_checked {
        true => fl!(words, "refund-holder-checked"),
        false => fl!(words, "refund-holder-unchecked"),
    });
    add(fl!(words, "refund-holder"), checked);
    add(fl!(words, "refund-reason"), Some(refund.reason.clone()).filter(|reason| !reason.is_empty()));
    add(fl!(words, "refund-why"), refund.failure_reason.as_deref().map(|why| failure_line(words, why)));
    add(fl!(words, "refund-bank-reference"), refund.bank_reference.as_deref().map(escape_hidden));
    let batch = |number: i64| {
        let number = number.to_string();
        fl!(words, "refund-batch-number", number = number)
    };
    add(fl!(words, "refund-batch"), refund.batch.map(batch));
    add(fl!(words, "refund-from"), Some(sources(words, refund.split)));
    add(fl!(words, "refund-made-by"), Some(names.made_by.clone()));
    add(fl!(words, "refund-destination-by"), names.destination_by.clone());
    add(fl!(words, "refund-approved-by"), names.approved_by.clone());
    facts
}

/// From which parts of the balance the money was taken.
fn sources(words: Words, split: Split) -> String {
    let (pending, available) = (split.pending.to_string(), split.available.to_string());
    let unapplied = split.unapplied.to_string();
    let parts = [
        (split.pending, fl!(words, "refund-from-pending", amount = pending)),
        (split.available, fl!(words, "refund-from-available", amount = available)),
        (split.unapplied, fl!(words, "refund-from-unapplied", amount = unapplied)),
    ];
    let taken = parts.into_iter().filter(|(amount, _)| *amount != Rupiah::ZERO);
    taken.map(|(_, text)| text).collect::<Vec<_>>().join(", ")
}

fn happenings(page: &Page, file: &RefundFile, names: &Names) -> Vec<Happening> {
    let entries = entries(page.words(), &file.refund, &file.attempts, names);
    let happening = |entry: Entry| Happening {
        tone: entry.tone,
        title: entry.title,
        detail: entry.detail,
        at: entry.at.map(|at| page.moment(at)),
        more: None,
    };
    entries.into_iter().map(happening).collect()
}

/// The forms for a member who may refund.
#[derive(Default)]
struct Offered {
    claim: Option<ClaimBox>,
    approval: Option<ApprovalBox>,
    typing: Option<TypedAccount>,
    transfer: Option<TransferBox>,
    may_cancel: bool,
    found: Option<FoundBox>,
    came_back: Option<Answer>,
}

fn offered(page: &Page, file: &RefundFile, names: &Names, form: FilledForm) -> Offered {
    let (mut decline, mut done, mut failed) = (Answer::default(), Answer::default(), Answer::default());
    let (mut came_back, mut account) = (Answer::default(), None);
    match form {
        FilledForm::None => {}
        FilledForm::Decline(answer) => decline = answer,
        FilledForm::Done(answer) => done = answer,
        FilledForm::Failed(answer) => failed = answer,
        FilledForm::CameBack(answer) => came_back = answer,
        FilledForm::Account(typed) => account = Some(typed),
    }
    let state = file.refund.state;
    let known = uncertain_known(page, file);
    let found = (state == RefundState::Failed && (file.uncertain.is_some() || file.refund.batch.is_some()))
        .then(|| FoundBox { known: uncertain_known(page, file), done: done.clone() });
    let waits_for_account = state == RefundState::RequiresAction;
    Offered {
        claim: waits_for_account.then(|| claim_box(page, file)),
        typing: waits_for_account.then(|| account.unwrap_or_else(TypedAccount::empty)),
        approval: file.approval.map(|who| approval(page.words(), file, names, who, decline)),
        transfer: match file.sending {
            Sending::ByHand => Some(transfer(page, file, done, failed)),
            Sending::Uncertain => Some(uncertain(page.words(), known, (done, failed))),
            Sending::Usual => None,
        },
        may_cancel: may_cancel(file),
        found,
        came_back: matches!(state, RefundState::Succeeded { .. }).then_some(came_back),
    }
}

/// What was sent and not refused for good, or taken to the bank, cannot be cancelled.
fn may_cancel(file: &RefundFile) -> bool {
    let is_sent = file.attempts.iter().any(|attempt| attempt.state.may_be_done());
    file.refund.state.is_unfinished() && file.refund.batch.is_none() && !is_sent
}

fn claim_box(page: &Page, file: &RefundFile) -> ClaimBox {
    let Some(claim) = &file.claim else { return ClaimBox::Ended };
    let Some(token) = &claim.token else {
        let prove_url = page.url(prove::path_to(&page.path(&refund_path(file.refund.id))));
        return ClaimBox::Hidden { prove_url };
    };
    let url = format!("{}/r/{}", page.app.settings.pages_url, token.reveal());
    let (merchant, amount) = (page.project().merchant.name.as_str(), file.refund.amount.to_string());
    let message = customer_message(file.payment.terms.customer_language(), merchant, &amount);
    let until = page.moment(claim.expires_at).text;
    ClaimBox::Open(OpenClaim {
        text: fl!(page.words(), "refund-claim-text", until = until),
        whatsapp_url: format!("{WHATSAPP}{}", utf8_percent_encode(&format!("{message}\n{url}"), NON_ALPHANUMERIC)),
        url,
    })
}

/// Customers are written to in the language in which they paid, whatever language the merchant's page has.
fn customer_message(language: Language, merchant: &str, amount: &str) -> String {
    let words = crate::words::words(language);
    fl!(words, "refund-claim-message", merchant = merchant, amount = amount)
}

fn approval(words: Words, file: &RefundFile, names: &Names, who: Approval, decline: Answer) -> ApprovalBox {
    let refund = &file.refund;
    let (asked_by, amount) = (names.made_by.as_str(), refund.amount.to_string());
    let mut sentences = vec![fl!(words, "refund-approval-asked", who = asked_by, amount = amount)];
    let way = match &refund.destination {
        Some(destination) => {
            let destination = destination_line(destination);
            fl!(words, "refund-approval-to", destination = destination)
        }
        None => fl!(words, "refund-approval-qris"),
    };
    sentences.push(way);
    if who == Approval::Alone {
        sentences.push(fl!(words, "refund-approval-alone"));
    }
    ApprovalBox {
        sentences,
        warning: names_warning(words, refund, &file.payment),
        may_approve: who != Approval::Own,
        decline,
    }
}

fn transfer(page: &Page, file: &RefundFile, done: Answer, failed: Answer) -> TransferBox {
    let (words, amount) = (page.words(), file.refund.amount.to_string());
    let mut account = Vec::new();
    if let (Some(destination), Some(number)) = (&file.refund.destination, &file.number) {
        let fact = |label: String, text: String| Fact { label, text };
        account.push(fact(fl!(words, "refund-bank"), destination.bank.name.to_owned()));
        account.push(fact(fl!(words, "refund-number"), number.clone()));
        let holder = destination.holder.as_deref().map(escape_hidden);
        account.extend(holder.map(|holder| fact(fl!(words, "refund-holder"), holder)));
    }
    if file.refund.batch.is_some() {
        let known = batch_uncertainty(page, &file.refund, file.doubted_by.as_ref());
        let (text, failed_text) = (fl!(words, "refund-transfer-batch"), fl!(words, "refund-uncertain-failed"));
        return TransferBox { text, known, account, failed_text, done, failed };
    }
    TransferBox {
        text: fl!(words, "refund-transfer-to", amount = amount),
        known: Uncertainty::default(),
        account,
        failed_text: fl!(words, "refund-transfer-failed-text"),
        done,
        failed,
    }
}

/// Nobody is told to transfer it: the bank may have made it, so two people have to say that it has not.
fn uncertain(words: Words, known: Uncertainty, (done, failed): (Answer, Answer)) -> TransferBox {
    // In the sandbox, no bank was asked.
    let failed_text = match known.sentences.is_empty() {
        true => fl!(words, "refund-transfer-failed-text"),
        false => fl!(words, "refund-uncertain-failed"),
    };
    TransferBox { text: fl!(words, "refund-uncertain-look"), known, account: Vec::new(), failed_text, done, failed }
}

/// What is known of an uncertain refund; nothing in the sandbox, where no bank was asked.
fn uncertain_known(page: &Page, file: &RefundFile) -> Uncertainty {
    let known =
        file.uncertain.as_ref().map(|uncertain| uncertainty(page, &file.refund, uncertain, file.doubted_by.as_ref()));
    known.unwrap_or_default()
}

/// In the sandbox, what does not end by itself is ended here.
fn may_simulate(page: &Page, file: &RefundFile) -> bool {
    let is_sandbox = page.project().environment == Environment::Sandbox;
    is_sandbox && page.desk.may(Act::Simulate) && !outcomes(page.words(), file.refund.state).is_empty()
}

fn outcomes(words: Words, state: RefundState) -> Vec<(&'static str, String)> {
    match state {
        RefundState::Pending(PendingReason::Processing | PendingReason::InsufficientBalance) => vec![
            ("succeeded", fl!(words, "refund-simulate-succeeded")),
            ("failed", fl!(words, "refund-simulate-failed")),
        ],
        RefundState::Succeeded { .. } => vec![("returned", fl!(words, "refund-simulate-returned"))],
        _ => Vec::new(),
    }
}
