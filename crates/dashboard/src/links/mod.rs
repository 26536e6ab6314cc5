//! Payment links: the list, one link with its address, its QR code and its payments, and cancelling a link.

pub(crate) mod edit;
pub(crate) mod poster;
#[cfg(test)]
pub(crate) mod samples;
pub(crate) mod share;
mod terms;

use askama::Template;
use axum::{
    Router,
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
    routing::get,
};
use domain::{
    access::Act,
    customer::CustomerField,
    id::LinkId,
    link::{Link, LinkStatus},
    money::Rupiah,
    payment::{Payment, Status},
};
use engine::{Error, LinkFilter, MATCHES_COUNTED, Matches, PaymentFilter, Sums, Window};
use i18n_embed_fl::fl;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use picture::qr_image;
use web::{
    App,
    page::{moment::Moment, page_error::PageError, words::grouped},
};

use share::Share;
use terms::checkout_url;

use crate::{
    done::Done,
    labels::{Badge, customer_field_name, method_name, payment_badge},
    page::Page,
    session::{LastId, SignedForm},
    shell::{Section, Shell},
    table::{PageNumber, Paging},
};

/// Payments that a link's page shows; the page of payments lists all of them.
const PAYMENTS_SHOWN: i64 = 10;
const FILE_NAME_CHARACTERS: usize = 60;

/// All links of a project.
#[derive(Template)]
#[template(path = "links.html")]
pub(crate) struct Links {
    pub(crate) shell: Shell,
    pub(crate) base: String,
    pub(crate) search: String,
    pub(crate) rows: Vec<LinkRow>,
    pub(crate) paging: Paging,
    pub(crate) may_create: bool,
}

pub(crate) struct LinkRow {
    pub(crate) url: String,
    pub(crate) title: String,
    pub(crate) reference: String,
    pub(crate) amount: String,
    pub(crate) badge: Badge,
    pub(crate) created: Moment,
}

/// One link.
#[derive(Template)]
#[template(path = "links/link.html")]
pub(crate) struct LinkPage {
    pub(crate) shell: Shell,
    pub(crate) base: String,
    pub(crate) row: LinkRow,
    pub(crate) description: String,
    /// What the merchant noted about the link.
    pub(crate) metadata: Vec<(String, String)>,
    /// The address where customers pay.
    pub(crate) checkout_url: String,
    /// None where the link cannot be paid, so that there is nothing to share.
    pub(crate) share: Option<Share>,
    pub(crate) image_url: String,
    pub(crate) image_name: String,
    pub(crate) expires: Option<Moment>,
    /// Where customers are led back to.
    pub(crate) return_url: Option<String>,
    pub(crate) cancelled: Option<Moment>,
    pub(crate) many: bool,
    pub(crate) methods: Vec<String>,
    pub(crate) asked: Vec<String>,
    pub(crate) payments: Vec<PaymentRow>,
    pub(crate) payments_url: String,
    /// How many payments there are, where the page does not show all of them.
    pub(crate) payments_total: Option<String>,
    pub(crate) duplicate_url: Option<String>,
    pub(crate) edit_url: Option<String>,
    pub(crate) cancel_url: Option<String>,
}

pub(crate) struct PaymentRow {
    pub(crate) url: String,
    pub(crate) customer: String,
    pub(crate) method: String,
    pub(crate) amount: String,
    pub(crate) badge: Badge,
    pub(crate) created: Moment,
}

/// Asks whether to cancel a link.
#[derive(Template)]
#[template(path = "links/cancel.html")]
pub(crate) struct CancelLink {
    pub(crate) shell: Shell,
    pub(crate) link_url: String,
    pub(crate) title: String,
    pub(crate) action: String,
    /// What happens to pending payments, in a sentence.
    pub(crate) pending: String,
    /// Why the link cannot be cancelled, if it cannot.
    pub(crate) ended: Option<String>,
}

pub(crate) fn routes() -> Router<App> {
    Router::new()
        .route("/dashboard/{project}/links", get(list))
        .route("/dashboard/{project}/links/{link}", get(show))
        .route("/dashboard/{project}/links/{link}/qr.png", get(qr_code))
        .route("/dashboard/{project}/links/{link}/cancel", get(ask).post(cancel))
        .merge(edit::routes())
        .merge(poster::routes())
}

async fn list(page: Page) -> Result<Response, PageError> {
    let shell = page.shell(Section::Links).await?;
    // A search that is not valid lists all links, as an empty one does.
    let search = page.visitor.query.search().ok().flatten();
    let number = PageNumber::of(&page);
    let listed =
        page.desk.links(&LinkFilter { search: search.clone(), ..LinkFilter::default() }, number.window()).await?;
    let query = search.as_deref().map(|text| format!("search={}", utf8_percent_encode(text, NON_ALPHANUMERIC)));
    let paging = number.paging(&page, &page.path("/links"), &query.unwrap_or_default(), &listed);
    let base = page.base();
    let rows = listed.items.iter().map(|link| row(&page, &base, link)).collect();
    let view = Links {
        rows,
        paging,
        search: search.unwrap_or_default(),
        may_create: page.desk.may(Act::ManageLinks),
        base,
        shell,
    };
    Ok(page.render(StatusCode::OK, &view))
}

/// A link as lists show it. `base`: the address of its project's desk.
pub(crate) fn row(page: &Page, base: &str, link: &Link) -> LinkRow {
    LinkRow {
        url: format!("{base}/links/{}", link.id),
        title: link.title.clone(),
        reference: link.reference.clone(),
        amount: link.price_text(),
        badge: link_badge(page, link),
        created: page.moment(link.created_at),
    }
}

fn link_badge(page: &Page, link: &Link) -> Badge {
    let (words, status) = (page.words(), link.status_at(page.now(), page.desk.project()));
    if link.claimed_by.is_some() {
        return payment_badge(words, Status::Paid);
    }
    let text = match status {
        LinkStatus::Active => fl!(words, "link-active"),
        LinkStatus::Cancelled => fl!(words, "link-cancelled"),
        LinkStatus::Inactive if link.is_past_expiry(page.now()) => fl!(words, "link-inactive"),
        LinkStatus::Inactive => fl!(words, "link-unpayable"),
    };
    Badge { status: status.word(), text }
}

async fn show(page: Page, LastId(id): LastId<LinkId>) -> Result<Response, PageError> {
    let shell = page.shell(Section::Links).await?;
    let link = page.desk.link(id).await?;
    let filter = PaymentFilter { link_id: Some(id), ..PaymentFilter::default() };
    let (payments, matches) = page.desk.payments(&filter, Window { offset: 0, limit: PAYMENTS_SHOWN }).await?;
    let (base, now, project) = (page.base(), page.now(), page.desk.project());
    let received = page.desk.received_instead(&payments).await?;
    let shown = |payment: &Payment| payment_row(&page, &base, payment, received.get(&payment.id).copied());
    let rows = payments.iter().map(shown).collect();
    let may_manage = page.desk.may(Act::ManageLinks);
    let is_payable = link.status_at(now, project) == LinkStatus::Active && link.claimed_by.is_none();
    let may_edit = may_manage && page.desk.link_edit_refusal(&link).await?.is_none();
    let methods = link.offered_methods(project);
    let asked = CustomerField::ALL.into_iter().filter(|field| link.customer_fields.asks(*field));
    let view = LinkPage {
        row: row(&page, &base, &link),
        checkout_url: checkout_url(&page, id),
        share: is_payable.then(|| Share::of(&page, &link)),
        image_url: format!("{base}/links/{id}/qr.png"),
        image_name: image_name(&link),
        expires: link.expires_at.map(|expires_at| page.moment(expires_at)),
        cancelled: link.cancelled_at.map(|at| page.moment(at)),
        many: link.allow_multiple_payments,
        methods: methods.iter().map(|method| method_name(shell.words, *method)).collect(),
        asked: asked.map(|field| customer_field_name(shell.words, field)).collect(),
        payments: rows,
        payments_url: format!("{base}/payments?link={id}"),
        payments_total: match matches {
            Matches::All(Sums { payments, .. }) => {
                (payments > PAYMENTS_SHOWN).then(|| grouped(page.language(), payments))
            }
            Matches::More => Some(format!("{}+", grouped(page.language(), MATCHES_COUNTED))),
        },
        duplicate_url: may_manage.then(|| format!("{base}/links/new?from={id}")),
        edit_url: may_edit.then(|| format!("{base}/links/{id}/edit")),
        cancel_url: (may_manage && is_payable).then(|| format!("{base}/links/{id}/cancel")),
        return_url: link.return_url.map(|url| url.as_str().to_owned()),
        description: link.description,
        metadata: link.metadata.map(|metadata| metadata.members).unwrap_or_default(),
        base,
        shell,
    };
    Ok(page.render(StatusCode::OK, &view))
}

/// `received`: what came in place of the payment's amount.
fn payment_row(page: &Page, base: &str, payment: &Payment, received: Option<Rupiah>) -> PaymentRow {
    let words = page.words();
    let customer = payment.terms.checkout.as_ref().map(|checkout| &checkout.customer);
    let named = customer.map(|customer| [&customer.name, &customer.email, &customer.phone]);
    let name = named.and_then(|names| names.into_iter().find(|name| !name.is_empty()).cloned());
    PaymentRow {
        url: format!("{base}/payments/{}", payment.id),
        customer: name.unwrap_or_else(|| payment.id.to_string()),
        method: method_name(words, payment.terms.method),
        amount: received.unwrap_or(payment.terms.amount).to_string(),
        badge: payment_badge(words, payment.status_at(page.now())),
        created: page.moment(payment.created_at),
    }
}

/// The name of the QR code's file, such as `QR-PL-1.png`. Of the reference it keeps the characters that every file
/// system allows.
fn image_name(link: &Link) -> String {
    let plain = |character: char| match character {
        'A'..='Z' | 'a'..='z' | '0'..='9' | '-' | '_' => character,
        _ => '-',
    };
    let reference: String = link.reference.chars().take(FILE_NAME_CHARACTERS).map(plain).collect();
    format!("QR-{reference}.png")
}

async fn qr_code(page: Page, LastId(id): LastId<LinkId>) -> Result<Response, PageError> {
    let link = page.desk.link(id).await?;
    let png = qr_image::png(&checkout_url(&page, id)).map_err(|_| Error::NotFound("QR code"))?;
    let disposition = format!("attachment; filename=\"{}\"", image_name(&link));
    let disposition = HeaderValue::try_from(disposition).unwrap_or(HeaderValue::from_static("attachment"));
    let headers =
        [(header::CONTENT_TYPE, HeaderValue::from_static("image/png")), (header::CONTENT_DISPOSITION, disposition)];
    Ok((headers, png).into_response())
}

async fn ask(page: Page, LastId(id): LastId<LinkId>) -> Result<Response, PageError> {
    page.require(Act::ManageLinks)?;
    question(&page, id).await
}

async fn cancel(page: Page, LastId(id): LastId<LinkId>, SignedForm(_): SignedForm) -> Result<Response, PageError> {
    match page.desk.cancel_link(id).await {
        Ok(_) => Ok(page.redirect(page.path(&format!("/links/{id}")), Done::LinkCancelled)),
        Err(Error::LinkNotActive) => question(&page, id).await,
        Err(error) => Err(error.into()),
    }
}

/// Says what cancelling would do, or that the link has ended already, which is a conflict.
async fn question(page: &Page, id: LinkId) -> Result<Response, PageError> {
    let shell = page.shell(Section::Links).await?;
    let link = page.desk.link(id).await?;
    let now = page.now();
    let filter = PaymentFilter { link_id: Some(id), status: Some((Status::Pending, now)), ..PaymentFilter::default() };
    let (_, pending) = page.desk.payments(&filter, Window { offset: 0, limit: 1 }).await?;
    let words = shell.words;
    let ended = match link.status_at(now, page.desk.project()) {
        LinkStatus::Active => None,
        LinkStatus::Cancelled => Some(fl!(words, "link-cancel-already")),
        LinkStatus::Inactive if link.is_past_expiry(now) => Some(fl!(words, "link-cancel-expired")),
        LinkStatus::Inactive => Some(fl!(words, "link-cancel-unpayable")),
    };
    let base = page.base();
    let view = CancelLink {
        link_url: format!("{base}/links/{id}"),
        action: format!("{base}/links/{id}/cancel"),
        title: link.title,
        pending: match pending {
            Matches::All(Sums { payments: 0, .. }) => fl!(words, "link-cancel-none"),
            Matches::All(Sums { payments, .. }) => fl!(words, "link-cancel-pending", count = payments),
            Matches::More => fl!(words, "link-cancel-many", most = MATCHES_COUNTED),
        },
        ended,
        shell,
    };
    let status = if view.ended.is_some() { StatusCode::CONFLICT } else { StatusCode::OK };
    Ok(page.render(status, &view))
}
