//! `/dashboard/<project>/payments`: all payments, by what the address asks for, as a page and as a file.

mod csv;
pub(super) mod filter;

use askama::Template;
use axum::{
    Router,
    extract::State,
    http::{HeaderMap, HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
    routing::get,
};
use domain::{access::Act, money::Rupiah, payment::Payment, time::Timestamp};
use engine::Listed;
use i18n_embed_fl::fl;
use web::{
    App, client,
    page::{
        moment::{Moment, short_moment},
        page_error::PageError,
        render::page,
        visitor::Visitor,
    },
};

use crate::{
    fragment::{Badge, method_name, payment_badge},
    payments::{
        csv::{Export, Separator},
        filter::{Asked, Choice, Mistakes, filter},
    },
    session::AtDesk,
    shell::{self, Section, Shell},
    table::{PageNumber, Paging},
    words,
};

/// One of the payments of a list.
pub(crate) struct PaymentRow {
    pub(crate) url: String,
    pub(crate) reference: String,
    pub(crate) amount: String,
    pub(crate) badge: Badge,
    pub(crate) method: String,
    pub(crate) created: Moment,
    pub(crate) paid: Option<Moment>,
}

#[derive(Template)]
#[template(path = "payments.html")]
pub(super) struct PaymentsPage {
    pub(super) shell: Shell,
    pub(super) path: String,
    pub(super) asked: Asked,
    pub(super) mistakes: Mistakes,
    pub(super) statuses: Vec<Choice>,
    pub(super) methods: Vec<Choice>,
    /// None where it cannot be said what is asked for.
    pub(super) found: Option<Found>,
    /// Where somebody who has no payments yet begins.
    pub(super) begin_url: Option<String>,
}

/// What the address asks for.
pub(super) struct Found {
    pub(super) rows: Vec<PaymentRow>,
    pub(super) is_everything: bool,
    pub(super) count: String,
    pub(super) total: String,
    pub(super) paging: Paging,
    pub(super) csv_url: String,
    pub(super) excel_url: String,
}

pub(super) fn routes() -> Router<App> {
    Router::new()
        .route("/dashboard/{project}/payments", get(list))
        .route("/dashboard/{project}/payments.csv", get(export))
}

/// A payment as lists show it. `base`: the address of its project's desk.
pub(super) fn row(base: &str, payment: &Payment, now: Timestamp, visitor: &Visitor) -> PaymentRow {
    let words = words::words(visitor.language);
    PaymentRow {
        url: format!("{base}/payments/{}", payment.id),
        reference: payment.reference.clone(),
        amount: payment.amount.to_string(),
        badge: payment_badge(words, payment.status_at(now)),
        method: match payment.method.bank() {
            None => method_name(words, payment.method),
            Some(bank) => format!("VA {}", bank.code().to_uppercase()),
        },
        created: short_moment(payment.created_at, visitor.language),
        paid: payment.paid_at().map(|at| short_moment(at, visitor.language)),
    }
}

async fn list(State(app): State<App>, visitor: Visitor, at: AtDesk) -> Result<Response, PageError> {
    let now = app.engine.now();
    let view = match filter(&visitor.query, now, words::words(visitor.language)) {
        Err(mistakes) => return mistaken(&app, &visitor, &at, mistakes).await,
        Ok(filter) => {
            let number = PageNumber::of(&visitor);
            let payments = at.desk.payments(&filter, number.window()).await?;
            let asked = Asked::of(&visitor.query);
            let found = found(&app, &visitor, &at, &asked, number, &payments, now);
            PaymentsPage { found: Some(found), ..view(&app, &visitor, &at, asked).await? }
        }
    };
    Ok(page(StatusCode::OK, &view))
}

/// The same payments as a file, which is read while it is sent.
async fn export(
    State(app): State<App>,
    visitor: Visitor,
    at: AtDesk,
    headers: HeaderMap,
) -> Result<Response, PageError> {
    let now = app.engine.now();
    let filter = match filter(&visitor.query, now, words::words(visitor.language)) {
        Ok(filter) => filter,
        Err(mistakes) => return mistaken(&app, &visitor, &at, mistakes).await,
    };
    // A file is a stream like any other to whoever counts them.
    let slot = app.limits.stream(client::limited_as(visitor.address));
    let (Some(slot), Some(token)) = (slot, web::session::token(&app.settings.urls, &headers)) else {
        return Err(PageError::with(StatusCode::SERVICE_UNAVAILABLE));
    };
    let for_excel = visitor.query.text("separator").is_ok_and(|separator| separator == Some("semicolon"));
    let project = at.desk.project();
    let name = csv::file_name(project, now);
    let export = Export {
        token,
        address: visitor.address.to_string(),
        project: project.id,
        filter,
        separator: if for_excel { Separator::Semicolon } else { Separator::Comma },
        now,
        _slot: slot,
        engine: app.engine.clone(),
    };
    let disposition = HeaderValue::try_from(format!("attachment; filename=\"{name}\""));
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static("text/csv; charset=utf-8; header=present")),
        (header::CONTENT_DISPOSITION, disposition.unwrap_or(HeaderValue::from_static("attachment"))),
    ];
    Ok((headers, export.into_body()).into_response())
}

/// The page with what is wrong at its field. Nothing is listed, lest anybody take it for what they asked for.
async fn mistaken(app: &App, visitor: &Visitor, at: &AtDesk, mistakes: Box<Mistakes>) -> Result<Response, PageError> {
    let view = view(app, visitor, at, Asked::of(&visitor.query)).await?;
    Ok(page(StatusCode::UNPROCESSABLE_ENTITY, &PaymentsPage { mistakes: *mistakes, ..view }))
}

async fn view(app: &App, visitor: &Visitor, at: &AtDesk, asked: Asked) -> Result<PaymentsPage, PageError> {
    let shell = shell::at_desk(app, visitor, at, Section::Payments).await?;
    let base = shell::base(app, at.desk.project());
    let begins = at.desk.may(Act::ManageLinks) && at.desk.project().is_usable();
    Ok(PaymentsPage {
        path: format!("{base}/payments"),
        statuses: asked.statuses(shell.words),
        methods: asked.methods(shell.words),
        begin_url: begins.then(|| format!("{base}/links/new")),
        shell,
        asked,
        mistakes: Mistakes::default(),
        found: None,
    })
}

fn found(
    app: &App,
    visitor: &Visitor,
    at: &AtDesk,
    asked: &Asked,
    number: PageNumber,
    (listed, total): &(Listed<Payment>, Rupiah),
    now: Timestamp,
) -> Found {
    let (words, query) = (words::words(visitor.language), asked.query());
    let project = at.desk.project();
    let base = shell::base(app, project);
    let csv_url = |more: &str| {
        let query = [query.as_str(), more].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("&");
        format!("{base}/payments.csv{}{query}", if query.is_empty() { "" } else { "?" })
    };
    Found {
        rows: listed.items.iter().map(|payment| row(&base, payment, now, visitor)).collect(),
        is_everything: asked.is_everything(),
        count: fl!(words, "payments-count", count = listed.total),
        total: fl!(words, "payments-total", amount = total.to_string()),
        paging: number.paging(app, &format!("/dashboard/{}/payments", project.id), &query, listed, words),
        csv_url: csv_url(""),
        excel_url: csv_url("separator=semicolon"),
    }
}
