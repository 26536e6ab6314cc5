//! Payment links: the list, one link with its address, its QR code and its payments, and cancelling it.

use askama::Template;
use axum::{
    Router,
    extract::State,
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
    routing::get,
};
use domain::{
    access::Act,
    customer::CustomerField,
    id::LinkId,
    link::{Link, LinkStatus},
    payment::{Payment, Status},
    qr_image,
    time::Timestamp,
};
use engine::{Error, LinkFilter, PaymentFilter, Window};
use i18n_embed_fl::fl;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use web::{
    App,
    page::{
        moment::{Moment, moment},
        page_error::PageError,
        render::page,
        visitor::Visitor,
    },
};

use crate::{
    done::Done,
    fragment::{Badge, method_name, payment_badge},
    session::{AtDesk, LastId, SignedForm},
    shell::{self, Section, Shell},
    table::{PageNumber, Paging},
    typed::only_for,
    words::Words,
};

/// Payments shown beside their link; the others are on the page of payments.
const PAYMENTS_SHOWN: i64 = 10;
const FILE_NAME_CHARACTERS: usize = 60;

/// All links of a project.
#[derive(Template)]
#[template(path = "links.html")]
pub(super) struct Links {
    pub(super) shell: Shell,
    pub(super) base: String,
    pub(super) search: String,
    pub(super) rows: Vec<LinkRow>,
    pub(super) paging: Paging,
    pub(super) may_create: bool,
}

pub(super) struct LinkRow {
    pub(super) url: String,
    pub(super) title: String,
    pub(super) reference: String,
    pub(super) amount: String,
    pub(super) badge: Badge,
    /// A link for one payment that has had it.
    pub(super) used_up: bool,
    pub(super) created: Moment,
}

/// One link.
#[derive(Template)]
#[template(path = "link.html")]
pub(super) struct LinkPage {
    pub(super) shell: Shell,
    pub(super) base: String,
    pub(super) row: LinkRow,
    pub(super) description: String,
    /// Where customers pay.
    pub(super) checkout_url: String,
    pub(super) image_url: String,
    pub(super) image_name: String,
    pub(super) expires: Option<Moment>,
    pub(super) cancelled: Option<Moment>,
    pub(super) many: bool,
    pub(super) methods: Vec<String>,
    pub(super) asked: Vec<String>,
    pub(super) payments: Vec<PaymentRow>,
    pub(super) payments_url: String,
    /// How many there are, where not all are shown.
    pub(super) payments_total: Option<String>,
    pub(super) cancel_url: Option<String>,
}

pub(super) struct PaymentRow {
    pub(super) url: String,
    pub(super) customer: String,
    pub(super) method: String,
    pub(super) amount: String,
    pub(super) badge: Badge,
    pub(super) created: Moment,
}

/// Really cancel it?
#[derive(Template)]
#[template(path = "link_cancel.html")]
pub(super) struct CancelLink {
    pub(super) shell: Shell,
    pub(super) link_url: String,
    pub(super) title: String,
    pub(super) action: String,
    /// What becomes of payments that are waiting.
    pub(super) pending: String,
    /// Why there is nothing to cancel.
    pub(super) ended: Option<String>,
}

pub(super) fn routes() -> Router<App> {
    Router::new()
        .route("/dashboard/{project}/links", get(list).post(super::new_link::create))
        .route("/dashboard/{project}/links/{link}", get(show))
        .route("/dashboard/{project}/links/{link}/qr.png", get(qr_code))
        .route("/dashboard/{project}/links/{link}/cancel", get(ask).post(cancel))
}

async fn list(State(app): State<App>, visitor: Visitor, at: AtDesk) -> Result<Response, PageError> {
    let shell = shell::at_desk(&app, &visitor, &at, Section::Links).await?;
    // What cannot be searched for finds what an empty search does.
    let search = visitor.query.search().ok().flatten();
    let number = PageNumber::of(&visitor);
    let listed = at.desk.links(&LinkFilter { search: search.clone() }, number.window()).await?;
    let query = search.as_deref().map(|text| format!("search={}", utf8_percent_encode(text, NON_ALPHANUMERIC)));
    let path = format!("/dashboard/{}/links", at.desk.project().id);
    let paging = number.paging(&app, &path, &query.unwrap_or_default(), &listed, shell.words);
    let base = shell::base(&app, at.desk.project());
    let rows = listed.items.iter().map(|link| row(&app, &visitor, &base, shell.words, link)).collect();
    let view = Links {
        rows,
        paging,
        search: search.unwrap_or_default(),
        may_create: at.desk.may(Act::ManageLinks),
        base,
        shell,
    };
    Ok(page(StatusCode::OK, &view))
}

fn row(app: &App, visitor: &Visitor, base: &str, words: Words, link: &Link) -> LinkRow {
    LinkRow {
        url: format!("{base}/links/{}", link.id),
        title: link.title.clone(),
        reference: link.reference.clone(),
        amount: link.amount.to_string(),
        badge: link_badge(words, link.status_at(app.engine.now())),
        used_up: link.claimed_by.is_some(),
        created: moment(link.created_at, visitor.language),
    }
}

fn link_badge(words: Words, status: LinkStatus) -> Badge {
    let text = match status {
        LinkStatus::Active => fl!(words, "link-active"),
        LinkStatus::Cancelled => fl!(words, "link-cancelled"),
        LinkStatus::Inactive => fl!(words, "link-inactive"),
    };
    Badge { status: status.word(), text }
}

async fn show(
    State(app): State<App>,
    visitor: Visitor,
    at: AtDesk,
    LastId(id): LastId<LinkId>,
) -> Result<Response, PageError> {
    let link = at.desk.link(id).await?;
    let shell = shell::at_desk(&app, &visitor, &at, Section::Links).await?;
    let filter = PaymentFilter { link_id: Some(id), ..PaymentFilter::default() };
    let (payments, _) = at.desk.payments(&filter, Window { offset: 0, limit: PAYMENTS_SHOWN }).await?;
    let (base, now) = (shell::base(&app, at.desk.project()), app.engine.now());
    let more = payments.total > PAYMENTS_SHOWN;
    let rows = payments.items.iter().map(|payment| payment_row(&visitor, &base, shell.words, now, payment)).collect();
    let may_cancel = at.desk.may(Act::ManageLinks) && link.status_at(now) == LinkStatus::Active;
    let asked = CustomerField::ALL.into_iter().filter(|field| link.customer_fields.asks(*field));
    let view = LinkPage {
        row: row(&app, &visitor, &base, shell.words, &link),
        checkout_url: checkout_url(&app, id),
        image_url: format!("{base}/links/{id}/qr.png"),
        image_name: image_name(&link),
        expires: link.expires_at.map(|expires_at| moment(expires_at, visitor.language)),
        cancelled: link.cancelled_at.map(|at| moment(at, visitor.language)),
        many: link.allow_multiple_payments,
        methods: link.methods.iter().map(|method| method_name(shell.words, *method)).collect(),
        asked: asked.map(|field| field_name(shell.words, field)).collect(),
        payments: rows,
        payments_url: format!("{base}/payments?link={id}"),
        payments_total: more.then(|| payments.total.to_string()),
        cancel_url: may_cancel.then(|| format!("{base}/links/{id}/cancel")),
        description: link.description,
        base,
        shell,
    };
    Ok(page(StatusCode::OK, &view))
}

fn payment_row(visitor: &Visitor, base: &str, words: Words, now: Timestamp, payment: &Payment) -> PaymentRow {
    let customer = payment.checkout.as_ref().map(|checkout| &checkout.customer);
    let named = customer.map(|customer| [&customer.name, &customer.email, &customer.phone]);
    let name = named.and_then(|names| names.into_iter().find(|name| !name.is_empty()).cloned());
    PaymentRow {
        url: format!("{base}/payments/{}", payment.id),
        customer: name.unwrap_or_else(|| payment.id.to_string()),
        method: method_name(words, payment.method),
        amount: payment.amount.to_string(),
        badge: payment_badge(words, payment.status_at(now)),
        created: moment(payment.created_at, visitor.language),
    }
}

pub(super) fn field_name(words: Words, field: CustomerField) -> String {
    match field {
        CustomerField::Name => fl!(words, "link-asks-name"),
        CustomerField::Email => fl!(words, "link-asks-email"),
        CustomerField::Phone => fl!(words, "link-asks-phone"),
        CustomerField::Address => fl!(words, "link-asks-address"),
    }
}

fn checkout_url(app: &App, id: LinkId) -> String {
    format!("{}/p/{id}", app.settings.pages_url)
}

/// `QR-PL-1.png`: the reference, as far as every file system takes it.
fn image_name(link: &Link) -> String {
    let plain = |character: char| match character {
        'A'..='Z' | 'a'..='z' | '0'..='9' | '-' | '_' => character,
        _ => '-',
    };
    let reference: String = link.reference.chars().take(FILE_NAME_CHARACTERS).map(plain).collect();
    format!("QR-{reference}.png")
}

async fn qr_code(State(app): State<App>, at: AtDesk, LastId(id): LastId<LinkId>) -> Result<Response, PageError> {
    let link = at.desk.link(id).await?;
    let png = qr_image::png(&checkout_url(&app, id)).map_err(|_| Error::NotFound("QR code"))?;
    let disposition = format!("attachment; filename=\"{}\"", image_name(&link));
    let disposition = HeaderValue::try_from(disposition).unwrap_or(HeaderValue::from_static("attachment"));
    let headers =
        [(header::CONTENT_TYPE, HeaderValue::from_static("image/png")), (header::CONTENT_DISPOSITION, disposition)];
    Ok((headers, png).into_response())
}

async fn ask(
    State(app): State<App>,
    visitor: Visitor,
    at: AtDesk,
    LastId(id): LastId<LinkId>,
) -> Result<Response, PageError> {
    only_for(&at.desk, Act::ManageLinks)?;
    question(&app, &visitor, &at, id).await
}

async fn cancel(
    State(app): State<App>,
    visitor: Visitor,
    at: AtDesk,
    LastId(id): LastId<LinkId>,
    SignedForm(_): SignedForm,
) -> Result<Response, PageError> {
    match at.desk.cancel_link(id).await {
        Ok(link) => {
            let path = format!("/dashboard/{}/links/{id}", link.project_id);
            Ok(Done::LinkCancelled.leading_to(&app, path))
        }
        Err(Error::LinkNotActive) => question(&app, &visitor, &at, id).await,
        Err(error) => Err(error.into()),
    }
}

/// What cancelling would do; or that it cannot be done any more, which is a conflict.
async fn question(app: &App, visitor: &Visitor, at: &AtDesk, id: LinkId) -> Result<Response, PageError> {
    let link = at.desk.link(id).await?;
    let shell = shell::at_desk(app, visitor, at, Section::Links).await?;
    let now = app.engine.now();
    let filter = PaymentFilter { link_id: Some(id), status: Some((Status::Pending, now)), ..PaymentFilter::default() };
    let (pending, _) = at.desk.payments(&filter, Window { offset: 0, limit: 1 }).await?;
    let words = shell.words;
    let ended = match link.status_at(now) {
        LinkStatus::Active => None,
        LinkStatus::Cancelled => Some(fl!(words, "link-cancel-already")),
        LinkStatus::Inactive => Some(fl!(words, "link-cancel-expired")),
    };
    let base = shell::base(app, at.desk.project());
    let view = CancelLink {
        link_url: format!("{base}/links/{id}"),
        action: format!("{base}/links/{id}/cancel"),
        title: link.title,
        pending: match pending.total {
            0 => fl!(words, "link-cancel-none"),
            count => {
                let count = count.to_string();
                fl!(words, "link-cancel-pending", count = count)
            }
        },
        ended,
        shell,
    };
    let status = if view.ended.is_some() { StatusCode::CONFLICT } else { StatusCode::OK };
    Ok(page(status, &view))
}
