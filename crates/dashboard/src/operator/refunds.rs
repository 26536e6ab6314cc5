//! `/dashboard/operator/refunds`: refunds of all projects that wait for somebody, and one of them for an operator who approves it.

use askama::Template;
use axum::{Router, http::StatusCode, response::Response, routing::get};
use domain::{id::RefundId, refund::FAILURE};
use engine::{Approval, Error, WaitingRefund};
use i18n_embed_fl::fl;
use web::{
    App,
    page::{moment::Moment, page_error::PageError, render::switch_query},
};

use super::tabs::{PATH, Tab, project_path, refund_path, refunds_path};
use crate::{
    done::Done,
    labels::Badge,
    page::OperatorPage,
    payment::customer::Fact,
    receipts::wording::Answer,
    refunds::{
        failures::failure_line_with_code,
        uncertain::{Uncertainty, batch_uncertainty, is_confirmed, stuck, uncertainty},
        wording::{line_of, names_warning, party_name, road_line, standing, standing_on_page},
    },
    session::{LastId, SignedForm},
    shell::Shell,
    table::{PageNumber, Paging},
    words::Words,
};

#[derive(Template)]
#[template(path = "operator/refunds.html")]
pub(crate) struct RefundsPage {
    pub(crate) shell: Shell,
    pub(crate) tab: Tab,
    pub(crate) base: String,
    pub(crate) rows: Vec<Row>,
    pub(crate) paging: Paging,
}

pub(crate) struct Row {
    pub(crate) url: String,
    pub(crate) amount: String,
    pub(crate) project: String,
    pub(crate) road: String,
    pub(crate) badge: Badge,
    pub(crate) created: Moment,
}

#[derive(Template)]
#[template(path = "operator/refunds/refund.html")]
pub(crate) struct RefundPage {
    pub(crate) shell: Shell,
    pub(crate) list_url: String,
    pub(crate) url: String,
    pub(crate) notice: Option<String>,
    pub(crate) version: String,
    pub(crate) heading: String,
    pub(crate) amount: String,
    pub(crate) badge: Badge,
    pub(crate) sentence: String,
    pub(crate) project: String,
    pub(crate) project_url: String,
    pub(crate) facts: Vec<Fact>,
    pub(crate) created: Moment,
    /// Why the approver should look twice.
    pub(crate) warning: Option<String>,
    pub(crate) waits: bool,
    /// Whether this operator may approve it; who asked may not.
    pub(crate) may_approve: bool,
    pub(crate) decline: Answer,
    /// What is known of one that a bank may have made.
    pub(crate) uncertain: Option<UncertainForm>,
}

/// What an operator sees before they also say that a refund was not made.
pub(crate) struct UncertainForm {
    pub(crate) known: Uncertainty,
    pub(crate) failed: Answer,
}

/// The form that was sent.
enum FilledForm {
    None,
    Decline(Answer),
    Failed(Answer),
}

pub(crate) fn routes() -> Router<App> {
    // A user whose session has ended signs in at the form's address, and then sees the refund there.
    Router::new()
        .route("/dashboard/operator/refunds", get(list))
        .route("/dashboard/operator/refunds/{refund}", get(show))
        .route("/dashboard/operator/refunds/{refund}/approve", get(show).post(approve))
        .route("/dashboard/operator/refunds/{refund}/decline", get(show).post(decline))
        .route("/dashboard/operator/refunds/{refund}/failed", get(show).post(mark_failed))
}

async fn list(page: OperatorPage) -> Result<Response, PageError> {
    let (shell, number) = (page.shell().await?, PageNumber::of(&page));
    let listed = page.operator.waiting_refunds(number.window()).await?;
    let view = RefundsPage {
        tab: Tab::Refunds,
        base: page.url(PATH),
        rows: listed.items.iter().map(|waiting| row(&page, waiting)).collect(),
        paging: number.paging(&page, &refunds_path(), "", &listed),
        shell,
    };
    Ok(page.render(StatusCode::OK, &view))
}

fn row(page: &OperatorPage, waiting: &WaitingRefund) -> Row {
    let (words, refund) = (page.words(), &waiting.refund);
    Row {
        url: page.url(refund_path(refund.id)),
        amount: refund.amount.to_string(),
        project: waiting.project.name.clone(),
        road: road_line(words, refund),
        badge: standing(words, refund.state, waiting.sending).0,
        created: page.row_moment(refund.created_at),
    }
}

async fn show(page: OperatorPage, LastId(id): LastId<RefundId>) -> Result<Response, PageError> {
    refund_page(&page, id, StatusCode::OK, None, FilledForm::None).await
}

async fn approve(
    page: OperatorPage,
    LastId(id): LastId<RefundId>,
    SignedForm(form): SignedForm,
) -> Result<Response, PageError> {
    let Some(version) = form.text("version").and_then(|version| version.parse().ok()) else {
        return Err(PageError::with(StatusCode::UNPROCESSABLE_ENTITY));
    };
    let approved = page.operator.approve_refund(id, version).await;
    answer(&page, id, approved, Done::RefundApproved, FilledForm::None).await
}

async fn decline(
    page: OperatorPage,
    LastId(id): LastId<RefundId>,
    SignedForm(form): SignedForm,
) -> Result<Response, PageError> {
    let why = line_of(page.words(), &form, FAILURE, fl!(page.words(), "refund-why-missing"));
    if why.mistake.is_some() {
        return refund_page(&page, id, StatusCode::UNPROCESSABLE_ENTITY, None, FilledForm::Decline(why)).await;
    }
    let declined = page.operator.decline_refund(id, why.note.clone()).await;
    answer(&page, id, declined, Done::RefundDeclined, FilledForm::Decline(why)).await
}

/// The operator also says that an uncertain refund was not made.
async fn mark_failed(
    page: OperatorPage,
    LastId(id): LastId<RefundId>,
    SignedForm(form): SignedForm,
) -> Result<Response, PageError> {
    let why = line_of(page.words(), &form, FAILURE, fl!(page.words(), "refund-why-missing"));
    if why.mistake.is_some() {
        return refund_page(&page, id, StatusCode::UNPROCESSABLE_ENTITY, None, FilledForm::Failed(why)).await;
    }
    let marked = page.operator.mark_not_transferred(id, why.note.clone(), is_confirmed(&form)).await;
    let done = match &marked {
        Ok(refund) if refund.state.is_unfinished() => Done::RefundDoubted,
        _ => Done::RefundFailed,
    };
    answer(&page, id, marked, done, FilledForm::Failed(why)).await
}

async fn answer<T>(
    page: &OperatorPage,
    id: RefundId,
    outcome: Result<T, Error>,
    done: Done,
    form: FilledForm,
) -> Result<Response, PageError> {
    let notice = match outcome {
        Ok(_) => return Ok(page.redirect(refund_path(id), done)),
        Err(Error::RefundStuck(why)) => stuck(page, why),
        Err(Error::RefundChanged) => fl!(page.words(), "refund-changed"),
        Err(error) => return Err(error.into()),
    };
    refund_page(page, id, StatusCode::CONFLICT, Some(notice), form).await
}

async fn refund_page(
    page: &OperatorPage,
    id: RefundId,
    status: StatusCode,
    notice: Option<String>,
    form: FilledForm,
) -> Result<Response, PageError> {
    let (mut shell, waiting) = (page.shell().await?, page.operator.waiting_refund(id).await?);
    let (words, refund, url) = (shell.words, &waiting.refund, page.url(refund_path(id)));
    // A form is sent to another address, which shows the same.
    shell.switch_url = format!("{url}{}", switch_query(&page.visitor));
    let (badge, sentence) = standing_on_page(words, refund, waiting.sending, waiting.uncertain.as_ref());
    let (decline, failed) = match form {
        FilledForm::None => (Answer::default(), Answer::default()),
        FilledForm::Decline(answer) => (answer, Answer::default()),
        FilledForm::Failed(answer) => (Answer::default(), answer),
    };
    let doubted_by = waiting.doubted_by.as_ref();
    let known = match &waiting.uncertain {
        _ if !refund.state.is_unfinished() => None,
        Some(uncertain) => Some(uncertainty(page, refund, uncertain, doubted_by)),
        None => refund.batch.map(|_| batch_uncertainty(page, refund, doubted_by)),
    };
    let uncertain = known.map(|known| UncertainForm { known, failed });
    let amount = refund.amount.to_string();
    let view = RefundPage {
        list_url: page.url(refunds_path()),
        url,
        notice,
        version: refund.version.to_string(),
        heading: fl!(words, "refund-heading", amount = amount.clone()),
        amount,
        badge,
        sentence,
        project: waiting.project.name.clone(),
        project_url: page.url(project_path(waiting.project.id)),
        facts: facts(words, &waiting),
        created: page.moment(refund.created_at),
        warning: names_warning(words, refund, &waiting.payment),
        waits: waiting.approval.is_some(),
        may_approve: waiting.approval.is_some_and(|approval| approval != Approval::Own),
        decline,
        uncertain,
        shell,
    };
    Ok(page.render(status, &view))
}

fn facts(words: Words, waiting: &WaitingRefund) -> Vec<Fact> {
    let refund = &waiting.refund;
    let fact = |label: String, text: String| Fact { label, text };
    let mut facts = vec![
        fact(fl!(words, "payments-reference"), waiting.payment.terms.reference.clone()),
        fact(fl!(words, "refunds-road"), road_line(words, refund)),
        fact(fl!(words, "refund-made-by"), party_name(words, &waiting.made_by)),
    ];
    let typed_by = waiting.destination_by.as_ref().map(|named| party_name(words, named));
    facts.extend(typed_by.map(|who| fact(fl!(words, "refund-destination-by"), who)));
    if !refund.reason.is_empty() {
        facts.push(fact(fl!(words, "refund-reason"), refund.reason.clone()));
    }
    let why = refund.failure_reason.as_deref().map(|why| failure_line_with_code(words, why));
    facts.extend(why.map(|why| fact(fl!(words, "refund-why"), why)));
    facts
}
