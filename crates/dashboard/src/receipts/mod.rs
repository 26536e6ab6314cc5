//! `/dashboard/<project>/balance/receipts`: money that came and pays nothing, and what is decided about it.

pub(super) mod decide;

use askama::Template;
use axum::{Router, extract::State, http::StatusCode, response::Response, routing::get};
use domain::receipt::{Decision, ReceiptKey, Unapplied, UnappliedReceipt};
use engine::UnappliedFilter;
use i18n_embed_fl::fl;
use url::form_urlencoded::Serializer;

pub(crate) use self::decide::Offered;
use web::{
    App,
    page::{
        moment::{Moment, short_moment},
        page_error::PageError,
        render::page,
        visitor::Visitor,
    },
};

use crate::{
    fragment::Badge,
    session::AtDesk,
    shell::{self, Section, Shell},
    table::{PageNumber, Paging},
    words::Words,
};

#[derive(Template)]
#[template(path = "receipts.html")]
pub(super) struct ReceiptsPage {
    pub(super) shell: Shell,
    pub(super) balance_url: String,
    pub(super) path: String,
    /// Whether what was decided is listed, and not what is still to be.
    pub(super) decided: bool,
    pub(super) rows: Vec<Row>,
    pub(super) paging: Paging,
}

pub(super) struct Row {
    pub(super) url: String,
    pub(super) amount: String,
    pub(super) reason: String,
    pub(super) paid: Moment,
    /// What was decided, why and when.
    pub(super) decision: Option<Told>,
}

/// A decision that was taken.
pub(crate) struct Told {
    pub(crate) badge: Badge,
    pub(crate) note: String,
    pub(crate) at: Moment,
}

pub(super) fn routes() -> Router<App> {
    // Whoever has to sign in before a form is taken comes back to its address, and finds the list there.
    Router::new()
        .route("/dashboard/{project}/balance/receipts", get(list))
        .route("/dashboard/{project}/balance/receipts/decide", get(decide::show))
        .route("/dashboard/{project}/balance/receipts/accept", get(list).post(decide::accept))
        .route("/dashboard/{project}/balance/receipts/return", get(list).post(decide::give_back))
}

/// Where one receipt is decided about.
pub(super) fn decide_url(base: &str, key: &ReceiptKey) -> String {
    let mut query = Serializer::new(String::new());
    query.append_pair("provider", &key.provider).append_pair("id", &key.id);
    format!("{base}/balance/receipts/decide?{}", query.finish())
}

/// Why money pays nothing, in a sentence.
pub(super) fn reason(words: Words, reason: Unapplied) -> String {
    match reason {
        Unapplied::WrongAmount => fl!(words, "receipt-wrong-amount"),
        Unapplied::AlreadyPaid => fl!(words, "receipt-already-paid"),
        Unapplied::LinkClaimed => fl!(words, "receipt-link-claimed"),
        Unapplied::TooLate => fl!(words, "receipt-too-late"),
    }
}

pub(super) fn told(words: Words, visitor: &Visitor, receipt: &UnappliedReceipt) -> Option<Told> {
    let decided = receipt.decided.as_ref()?;
    let badge = match decided.decision {
        Decision::Accepted => Badge { status: "good", text: fl!(words, "receipt-accepted") },
        Decision::Returned => Badge { status: "off", text: fl!(words, "receipt-returned") },
    };
    Some(Told { badge, note: decided.note.clone(), at: short_moment(decided.at, visitor.language) })
}

async fn list(State(app): State<App>, visitor: Visitor, at: AtDesk) -> Result<Response, PageError> {
    let decided = visitor.query.text("tab").is_ok_and(|tab| tab == Some("decided"));
    let filter = if decided { UnappliedFilter::Decided } else { UnappliedFilter::Undecided };
    let number = PageNumber::of(&visitor);
    let listed = at.desk.receipts(filter, number.window()).await?;
    let shell = shell::at_desk(&app, &visitor, &at, Section::Balance).await?;
    let (base, words) = (shell::base(&app, at.desk.project()), shell.words);
    let row = |receipt: &UnappliedReceipt| Row {
        url: decide_url(&base, &receipt.receipt.key),
        amount: receipt.receipt.amount.to_string(),
        reason: reason(words, receipt.reason),
        paid: short_moment(receipt.receipt.paid_at, visitor.language),
        decision: told(words, &visitor, receipt),
    };
    let path = format!("/dashboard/{}/balance/receipts", at.desk.project().id);
    let view = ReceiptsPage {
        balance_url: format!("{base}/balance"),
        path: format!("{base}/balance/receipts"),
        decided,
        rows: listed.items.iter().map(row).collect(),
        paging: number.paging(&app, &path, if decided { "tab=decided" } else { "" }, &listed, words),
        shell,
    };
    Ok(page(StatusCode::OK, &view))
}
