//! Deciding about several receipts at once: the member sees what would happen to each, and decides with one note. Each is
//! decided about on its own, and the result says which were not.

use std::collections::HashSet;

use askama::Template;
use axum::{http::StatusCode, response::Response};
use domain::{
    access::Act,
    id::ReceiptId,
    money::Rupiah,
    receipt::{Choice, Difference, UnappliedReceipt},
};
use engine::{DECISIONS_MOST, Error, ReceiptFit};
use i18n_embed_fl::fl;
use web::page::{form::Form, page_error::PageError};

use super::{
    effect::unfit_as_it_is,
    list::list_page,
    wording::{Answer, customer_line, decide_url, difference, note_mistake, note_of, unfit},
};
use crate::{
    page::Page,
    session::SignedForm,
    shell::{Section, Shell},
    words::Words,
};

#[derive(Template)]
#[template(path = "receipts/several.html")]
pub(crate) struct SeveralPage {
    pub(crate) shell: Shell,
    pub(crate) list_url: String,
    /// How many were chosen, and their sum.
    pub(crate) sub: String,
    pub(crate) rows: Vec<Row>,
    /// None where none of them can be accepted just like that.
    pub(crate) accept: Option<Accepting>,
    pub(crate) returning: Returning,
    pub(crate) answer: Answer,
}

pub(crate) struct Row {
    pub(crate) id: String,
    pub(crate) url: String,
    pub(crate) reference: String,
    pub(crate) customer: Option<String>,
    pub(crate) amount: String,
    pub(crate) due: String,
    pub(crate) difference: Option<String>,
    /// What accepting it would do, or why it cannot be accepted.
    pub(crate) outcome: String,
}

pub(crate) struct Accepting {
    pub(crate) text: String,
    /// How many cannot be accepted just like that.
    pub(crate) rest: Option<String>,
    pub(crate) button: String,
}

pub(crate) struct Returning {
    pub(crate) text: String,
    pub(crate) button: String,
}

#[derive(Template)]
#[template(path = "receipts/several/result.html")]
pub(crate) struct ResultPage {
    pub(crate) shell: Shell,
    pub(crate) list_url: String,
    /// How many were decided about, and their sum; none where none were.
    pub(crate) done: Option<String>,
    pub(crate) failed_title: String,
    pub(crate) failed: Vec<Failed>,
}

/// A receipt that was not decided about.
pub(crate) struct Failed {
    pub(crate) url: String,
    pub(crate) reference: String,
    pub(crate) amount: String,
    pub(crate) why: String,
}

/// A receipt that was chosen, and what accepting it would do.
type Chosen = (UnappliedReceipt, ReceiptFit);

/// Shows what was ticked in the list.
pub(crate) async fn ask(page: Page) -> Result<Response, PageError> {
    page.require(Act::DecideReceipts)?;
    let ids = ids_among(page.visitor.query.names());
    confirm(&page, &ids, StatusCode::OK, Answer::default()).await
}

pub(crate) async fn decide(page: Page, SignedForm(form): SignedForm) -> Result<Response, PageError> {
    page.require(Act::DecideReceipts)?;
    let ids = ids_among(form.names());
    let Some(choice) = choice_of(&form) else { return Err(PageError::with(StatusCode::UNPROCESSABLE_ENTITY)) };
    if ids.is_empty() || ids.len() > DECISIONS_MOST {
        return confirm(&page, &ids, StatusCode::UNPROCESSABLE_ENTITY, Answer::default()).await;
    }
    let note = note_of(&form);
    match page.desk.decide_receipts(&ids, choice, note.clone()).await {
        Ok(outcomes) => result(&page, choice, outcomes).await,
        Err(Error::Invalid(_)) => {
            let mistake = Some(note_mistake(page.words(), &note));
            confirm(&page, &ids, StatusCode::UNPROCESSABLE_ENTITY, Answer { note, mistake }).await
        }
        Err(error) => Err(error.into()),
    }
}

/// Each check box is named by its receipt.
fn ids_among<'a>(names: impl Iterator<Item = &'a str>) -> Vec<ReceiptId> {
    let mut ids = Vec::new();
    for id in names.filter_map(|name| name.parse().ok()) {
        if !ids.contains(&id) {
            ids.push(id);
        }
    }
    ids
}

fn choice_of(form: &Form) -> Option<Choice> {
    match form.text("act") {
        Some("accept") => Some(Choice::Accept { payment_id: None, difference: Difference::Refused }),
        Some("return") => Some(Choice::Return),
        _ => None,
    }
}

async fn confirm(page: &Page, ids: &[ReceiptId], status: StatusCode, answer: Answer) -> Result<Response, PageError> {
    let words = page.words();
    if ids.len() > DECISIONS_MOST {
        let most = DECISIONS_MOST.to_string();
        return list_page(page, status, Some(fl!(words, "receipts-too-many", most = most))).await;
    }
    if ids.is_empty() {
        return list_page(page, status, Some(fl!(words, "receipts-none-picked"))).await;
    }
    let mut shell = page.shell(Section::Balance).await?;
    let chosen = open_ones(page, ids).await?;
    if chosen.is_empty() {
        return list_page(page, StatusCode::CONFLICT, Some(fl!(words, "several-gone"))).await;
    }
    shell.live_url = None;
    let (count, total) = (chosen.len(), sum(chosen.iter().map(|(held, _)| held.receipt.amount)));
    let amount = total.to_string();
    let view = SeveralPage {
        list_url: page.url(page.path("/balance/receipts")),
        sub: fl!(words, "several-sub", count = count, amount = amount.clone()),
        rows: chosen.iter().map(|chosen| row(page, words, chosen)).collect(),
        accept: accepting(words, &chosen),
        returning: Returning {
            text: fl!(words, "several-return-text", amount = amount),
            button: fl!(words, "several-return-button", count = count),
        },
        answer,
        shell,
    };
    Ok(page.render(status, &view))
}

/// Those of the chosen receipts that nobody has decided about.
async fn open_ones(page: &Page, ids: &[ReceiptId]) -> Result<Vec<Chosen>, Error> {
    let mut chosen = Vec::with_capacity(ids.len());
    for id in ids {
        match page.desk.receipt(*id).await {
            Ok(held) if held.decided.is_none() => {
                let fit = page.desk.receipt_fit(*id, None).await?;
                chosen.push((held, fit));
            }
            Ok(_) | Err(Error::NotFound(_)) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(chosen)
}

fn sum(amounts: impl Iterator<Item = Rupiah>) -> Rupiah {
    amounts.fold(Rupiah::ZERO, |sum, amount| sum + amount)
}

fn row(page: &Page, words: Words, (held, fit): &Chosen) -> Row {
    let (received, payment, net) = (held.receipt.amount, &fit.payment, fit.net.to_string());
    Row {
        id: held.id.to_string(),
        url: decide_url(&page.base(), held.id),
        reference: payment.terms.reference.clone(),
        customer: customer_line(payment.terms.checkout.as_ref()),
        amount: received.to_string(),
        due: payment.terms.amount.to_string(),
        difference: difference(words, received, payment.terms.amount),
        outcome: match unfit_as_it_is(fit) {
            None => fl!(words, "several-pays", net = net),
            Some(why) => unfit(words, why, payment),
        },
    }
}

fn accepting(words: Words, chosen: &[Chosen]) -> Option<Accepting> {
    // Of several receipts for one payment, only the first can be accepted.
    let mut paid = HashSet::new();
    let is_first = |(_, fit): &&Chosen| paid.insert(fit.payment.id);
    let fits = |chosen: &&Chosen| unfit_as_it_is(&chosen.1).is_none();
    let fitting: Vec<&Chosen> = chosen.iter().filter(fits).filter(is_first).collect();
    let (count, rest) = (fitting.len(), chosen.len() - fitting.len());
    let amount = sum(fitting.iter().map(|(held, _)| held.receipt.amount)).to_string();
    let fee = sum(fitting.iter().map(|(_, fit)| fit.payment.terms.fee)).to_string();
    let net = sum(fitting.iter().map(|(_, fit)| fit.net)).to_string();
    (count > 0).then(|| Accepting {
        text: fl!(words, "several-accept-text", count = count, amount = amount, fee = fee, net = net),
        rest: (rest > 0).then(|| fl!(words, "several-accept-rest", count = rest)),
        button: fl!(words, "several-accept-button", count = count),
    })
}

/// What became of each receipt.
async fn result(
    page: &Page,
    choice: Choice,
    outcomes: Vec<(ReceiptId, Result<UnappliedReceipt, Error>)>,
) -> Result<Response, PageError> {
    let (mut decided, mut failed) = (Vec::new(), Vec::new());
    for (id, outcome) in outcomes {
        match outcome {
            Ok(receipt) => decided.push(receipt.receipt.amount),
            Err(Error::NotFound(_)) => {}
            Err(error) => failed.push(failure(page, id, error).await?),
        }
    }
    let mut shell = page.shell(Section::Balance).await?;
    shell.live_url = None;
    let (words, count, failures) = (shell.words, decided.len(), failed.len());
    if decided.is_empty() && failed.is_empty() {
        return list_page(page, StatusCode::NOT_FOUND, Some(fl!(words, "several-gone"))).await;
    }
    let amount = sum(decided.into_iter()).to_string();
    let view = ResultPage {
        list_url: page.url(page.path("/balance/receipts")),
        done: (count > 0).then(|| match choice {
            Choice::Accept { .. } => fl!(words, "several-done-accepted", count = count, amount = amount),
            Choice::Return => fl!(words, "several-done-returned", count = count, amount = amount),
        }),
        failed_title: fl!(words, "several-failed", count = failures),
        failed,
        shell,
    };
    let status = if count > 0 { StatusCode::OK } else { StatusCode::CONFLICT };
    Ok(page.render(status, &view))
}

/// A receipt that was not decided about, and why.
async fn failure(page: &Page, id: ReceiptId, error: Error) -> Result<Failed, Error> {
    let (words, held) = (page.words(), page.desk.receipt(id).await?);
    let payment = page.desk.payment(held.payment_id).await?;
    let why = match error {
        Error::AlreadyDecided => fl!(words, "several-failed-decided"),
        Error::DoesNotFit(why) => unfit(words, why, &payment),
        // The others may have been decided about, so this one must not hide that.
        _ => fl!(words, "several-failed-other"),
    };
    let url = decide_url(&page.base(), id);
    Ok(Failed { url, reference: payment.terms.reference, amount: held.receipt.amount.to_string(), why })
}
