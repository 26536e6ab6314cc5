//! `/p/<link_id>`: the page where the customer chooses how to pay. Its form creates one payment, no matter how often it is sent.

use axum::{
    extract::State,
    http::{HeaderMap, HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use domain::{
    customer::CustomerField,
    id::{LinkId, PaymentId},
    link::LinkStanding,
    method::Method,
    payment::{Checkout, Customer, Location, Payment, Status},
    pricing::Pricing,
    rules::Fault,
    time::Timestamp,
};
use engine::{Attempt, Error, LinkPage};
use i18n_embed_fl::fl;
use rand::RngExt;
use web::{
    App, Failure, client,
    page::{
        cookie::Cookie,
        device,
        form::Form,
        moment::moment,
        page_error::PageError,
        render::{page, see_other},
        visitor::Visitor,
    },
};

use crate::{
    answers,
    parts::{PRICE_SCRIPT, address, bank_row, frame, looked, order},
    path_id::PathId,
    pay::has_held_money,
    preview::Preview,
    price::Entered,
    view::{Choose, Closed, ClosedReason, Field, FieldKind, FormNotice, MethodRow, Mistake, Order, Replaced, TryLater},
    words::words,
};

/// The cookie that a browser keeps for a link: the id of its payment, or of its form while there is no payment.
const CHECKOUT_COOKIE: &str = "lunas_checkout";
/// A week, the longest time until a payment expires.
const COOKIE_SECONDS: u32 = 7 * 24 * 60 * 60;
const RETRY_AFTER_DOWN: u64 = 30;
const MILLIS_PER_SECOND: u64 = 1_000;
const MINUTE_MILLIS: i64 = 60_000;

/// The parameter by which a customer asks for the form in place of a payment that has ended.
const AGAIN: &str = "again";

type LinkPath = Result<PathId<LinkId>, PageError>;

/// What the form contains when the page shows it.
struct FormContent {
    method: Option<Method>,
    price: Entered,
    answers: Customer,
    faults: Vec<(CustomerField, Fault)>,
    form_id: String,
    replaces: Option<PaymentId>,
    notice: Option<FormNotice>,
}

impl FormContent {
    /// What a customer has sent. `cookie` is the value of [`CHECKOUT_COOKIE`] that the browser keeps for this link.
    fn sent(form: &Form, link_page: &LinkPage, cookie: Option<&str>) -> Result<FormContent, PageError> {
        let fields = link_page.link.customer_fields;
        // Browsers send two characters for a line break, but count it as one against the field's limit.
        let answers = fields.with_answers(|field| form.text(field.word()).unwrap_or_default().replace("\r\n", "\n"));
        Ok(FormContent {
            method: form.text("method").and_then(Method::parse).filter(|method| link_page.methods.contains(method)),
            price: Entered::sent(form, &link_page.link),
            faults: fields.faults(&answers),
            answers,
            form_id: form.text("attempt").or(cookie).map_or_else(new_form_id, str::to_owned),
            replaces: form.text("replaces").map(str::parse).transpose().map_err(|_| Error::NotFound("payment"))?,
            notice: None,
        })
    }
}

/// GET `/p/<link_id>`: the form, or the payment that this browser already has for the link.
pub(super) async fn show(State(app): State<App>, visitor: Visitor, id: LinkPath) -> Result<Response, PageError> {
    let PathId(id) = id?;
    let link_page = app.engine.link_page(id).await?;
    let cookie = visitor.cookie(CHECKOUT_COOKIE);
    let change = visitor.query.text("change").ok().flatten().and_then(|id| id.parse().ok());
    let change = pending_of(&app, &link_page, change).await?;
    if change.is_none()
        && let Some(id) = cookie.and_then(|id| id.parse().ok())
        && let Some(id) = resumed(&app, &link_page, id, asks_again(&visitor)).await?
    {
        return Ok(see_other(&address(&app, &visitor, format_args!("/pay/{id}"))));
    }
    if let Some(reason) = closed(&link_page) {
        return Ok(closed_page(&app, &visitor, &link_page, StatusCode::OK, reason));
    }
    let form_id = new_form_id();
    let content = FormContent {
        method: None,
        price: Entered::first(&link_page.link, change.as_ref()),
        answers: answers::kept(&visitor, link_page.link.customer_fields),
        faults: Vec::new(),
        form_id: form_id.clone(),
        replaces: change.map(|payment| payment.id),
        notice: None,
    };
    let mut response = chooser(&app, &visitor, &link_page, StatusCode::OK, content);
    if cookie.is_none() {
        set_cookie(&app, id, &form_id, response.headers_mut());
    }
    Ok(response)
}

/// Identifies one form, so that sending it twice creates one payment.
fn new_form_id() -> String {
    format!("{:032x}", rand::rng().random::<u128>())
}

fn asks_again(visitor: &Visitor) -> bool {
    visitor.query.text(AGAIN).ok().flatten().is_some()
}

/// The payment that a browser which remembers `remembered` is sent back to.
async fn resumed(
    app: &App,
    link_page: &LinkPage,
    remembered: PaymentId,
    asks_again: bool,
) -> Result<Option<PaymentId>, PageError> {
    let Some(payment) = payment_of(app, link_page, Some(remembered)).await? else { return Ok(None) };
    if is_resumed(app, &payment, asks_again).await? {
        return Ok(Some(payment.id));
    }
    Ok(app.engine.own_claim(&link_page.link, remembered).await?.filter(|_| !asks_again))
}

/// Whether a browser that has `payment` for this link is sent back to its page. One that has ended says what became of the
/// customer's money, and offers to pay again where that is possible: `asks_again` is true after that.
async fn is_resumed(app: &App, payment: &Payment, asks_again: bool) -> Result<bool, PageError> {
    Ok(match payment.status_at(app.engine.now()) {
        Status::Pending | Status::Processing => true,
        Status::Paid => !asks_again,
        Status::Failed | Status::Expired | Status::Cancelled => !asks_again && has_held_money(app, payment.id).await?,
    })
}

/// POST `/p/<link_id>`: creates the payment that the form asks for, and redirects to its page.
pub(super) async fn submit(
    State(app): State<App>,
    visitor: Visitor,
    id: LinkPath,
    form: Result<Form, PageError>,
) -> Result<Response, PageError> {
    if let Some(retry_after) = app.limits.public_form(client::limited_as(visitor.address)) {
        return Err(Failure::RateLimited { retry_after }.into());
    }
    let form = form?;
    let PathId(id) = id?;
    let link_page = app.engine.link_page(id).await?;
    let content = FormContent::sent(&form, &link_page, visitor.cookie(CHECKOUT_COOKIE))?;
    let given = content.answers.clone();
    let mut response = pay(&app, &visitor, &link_page, content).await.unwrap_or_else(IntoResponse::into_response);
    answers::keep(&app, &link_page.link, &given, response.headers_mut());
    Ok(response)
}

/// Makes the payment that the form asks for, or shows the form again.
async fn pay(app: &App, visitor: &Visitor, link_page: &LinkPage, content: FormContent) -> Result<Response, PageError> {
    let id = link_page.link.id;
    let cookie = visitor.cookie(CHECKOUT_COOKIE);
    let Some(method) = content.method.filter(|_| content.faults.is_empty() && content.price.mistake.is_none()) else {
        return Ok(match closed(link_page) {
            Some(reason) => closed_page(app, visitor, link_page, StatusCode::CONFLICT, reason),
            None => mistaken(app, visitor, link_page, content),
        });
    };
    let attempt = Attempt {
        method,
        chosen: content.price.number,
        checkout: Checkout {
            customer: content.answers.clone(),
            location: Location { ip: Some(visitor.address.to_string()), country: visitor.country.clone() },
            device: device::of(visitor.user_agent.as_deref()),
            language: Some(visitor.language),
        },
        form: Some(content.form_id.clone()),
        replaces: content.replaces,
        remembered: cookie.and_then(|id| id.parse().ok()),
        // A browser that keeps no cookies is known by its form alone.
        visitor: Some(cookie.unwrap_or(&content.form_id).to_owned()),
        network: app.limits.are_on().then(|| client::limited_as(visitor.address)),
    };
    match app.engine.attempt_link(id, &attempt).await {
        Ok(payment) => Ok(redirect_to_payment(app, visitor, id, payment.id)),
        Err(Error::LinkNotActive | Error::NotEditable) => {
            answer_closed_link(app, visitor, link_page, attempt.remembered).await
        }
        Err(Error::Mispriced(why)) => {
            let price = content.price.refused(why);
            Ok(mistaken(app, visitor, link_page, FormContent { price, ..content }))
        }
        Err(Error::AttemptsFull { until }) => Ok(try_later(app, visitor, link_page, until)),
        Err(Error::NoBank(_)) => {
            let content = FormContent { notice: Some(FormNotice::MethodDown), ..content };
            let mut response = chooser(app, visitor, link_page, StatusCode::SERVICE_UNAVAILABLE, content);
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(RETRY_AFTER_DOWN));
            Ok(response)
        }
        Err(error) => Err(error.into()),
    }
}

/// The form with what is wrong in it.
fn mistaken(app: &App, visitor: &Visitor, link_page: &LinkPage, content: FormContent) -> Response {
    let content = FormContent { notice: Some(FormNotice::Mistakes), ..content };
    chooser(app, visitor, link_page, StatusCode::UNPROCESSABLE_ENTITY, content)
}

fn redirect_to_payment(app: &App, visitor: &Visitor, link: LinkId, payment: PaymentId) -> Response {
    let mut response = see_other(&address(app, visitor, format_args!("/pay/{payment}")));
    set_cookie(app, link, &payment.to_string(), response.headers_mut());
    response
}

/// Answers an attempt on a link that takes no payments: with the page of this browser's own payment where that is the reason,
/// and else with the page that says why the link is closed.
async fn answer_closed_link(
    app: &App,
    visitor: &Visitor,
    seen: &LinkPage,
    remembered: Option<PaymentId>,
) -> Result<Response, PageError> {
    // The link is read a second time only where it was still open before the attempt: it has been closed since, by another
    // customer, the merchant or the clock, so what was read then cannot say why.
    let link_page = match closed(seen) {
        Some(_) => seen.clone(),
        None => app.engine.link_page(seen.link.id).await?,
    };
    if let Some(payment) = payment_of(app, &link_page, remembered).await?
        // On a link for many payments, an earlier receipt would pass for one of this attempt.
        && is_resumed(app, &payment, link_page.link.allow_multiple_payments).await?
    {
        return Ok(redirect_to_payment(app, visitor, link_page.link.id, payment.id));
    }
    // The other customer's payment may have failed in between: then the link is open again, and the same form works when retried.
    let reason = closed(&link_page).ok_or(Error::Contended)?;
    Ok(closed_page(app, visitor, &link_page, StatusCode::CONFLICT, reason))
}

/// The payment with that id, if it belongs to this link.
async fn payment_of(app: &App, link_page: &LinkPage, id: Option<PaymentId>) -> Result<Option<Payment>, PageError> {
    let Some(id) = id else { return Ok(None) };
    match app.engine.payment(link_page.project.id, id).await {
        Ok(payment) => Ok(Some(payment).filter(|payment| payment.terms.link_id == Some(link_page.link.id))),
        Err(Error::NotFound(_)) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// The payment with that id, if it belongs to this link and is pending.
async fn pending_of(app: &App, link_page: &LinkPage, id: Option<PaymentId>) -> Result<Option<Payment>, PageError> {
    let payment = payment_of(app, link_page, id).await?;
    Ok(payment.filter(|payment| payment.status_at(app.engine.now()) == Status::Pending))
}

fn set_cookie(app: &App, link: LinkId, value: &str, headers: &mut HeaderMap) {
    let urls = &app.settings.urls;
    let path = urls.url(format_args!("/p/{link}"));
    Cookie { name: CHECKOUT_COOKIE, value, path: &path, seconds: COOKIE_SECONDS, secure: urls.https }.write(headers);
}

/// Why the link takes no payments; none where it takes them.
fn closed(link_page: &LinkPage) -> Option<ClosedReason> {
    match link_page.standing {
        LinkStanding::Open if link_page.methods.is_empty() => Some(ClosedReason::NoMethod),
        LinkStanding::Open => None,
        LinkStanding::Cancelled => Some(ClosedReason::Cancelled),
        LinkStanding::Inactive => Some(ClosedReason::Inactive),
        LinkStanding::Paid => Some(ClosedReason::AlreadyPaid),
        LinkStanding::Processing => Some(ClosedReason::BeingPaid),
    }
}

fn closed_page(
    app: &App,
    visitor: &Visitor,
    link_page: &LinkPage,
    status: StatusCode,
    reason: ClosedReason,
) -> Response {
    let LinkPage { project, link, .. } = link_page;
    let mut frame = frame(app, visitor, Some(project));
    frame.preview = Some(Preview::of(app, visitor.language, link_page));
    let looked =
        looked(app.engine.now(), visitor, |time| fl!(words(visitor.language), "looked-processing", time = time));
    page(status, &Closed { frame, order: order(project, link), reason, looked })
}

/// Says when the link may have room for one more attempt.
fn try_later(app: &App, visitor: &Visitor, link_page: &LinkPage, until: Timestamp) -> Response {
    let LinkPage { project, link, .. } = link_page;
    // The page shows minutes: the first one that is not too early.
    let shown_until = Timestamp::from_millis((until.as_millis() + MINUTE_MILLIS - 1) / MINUTE_MILLIS * MINUTE_MILLIS);
    let view = TryLater {
        frame: frame(app, visitor, Some(project)),
        order: order(project, link),
        until: moment(shown_until, visitor.language),
        url: address(app, visitor, format_args!("/p/{}", link.id)),
        support_reference: visitor.request_id.clone(),
    };
    let wait = until.as_millis() - app.engine.now().as_millis();
    let seconds = u64::try_from(wait).unwrap_or_default().div_ceil(MILLIS_PER_SECOND).max(1);
    let mut response = page(StatusCode::TOO_MANY_REQUESTS, &view);
    response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
    response
}

/// The page with the form.
fn chooser(app: &App, visitor: &Visitor, link_page: &LinkPage, status: StatusCode, content: FormContent) -> Response {
    let LinkPage { project, link, methods, .. } = link_page;
    let rows = methods.iter().map(|method| {
        let is_chosen = content.method == Some(*method);
        let has_failed = is_chosen && content.notice == Some(FormNotice::MethodDown);
        let down = has_failed || !app.engine.is_up(project, *method);
        MethodRow {
            value: method.to_string(),
            bank: method.bank().map(bank_row),
            checked: !down && (is_chosen || methods.len() == 1),
            down,
        }
    });
    let asked = CustomerField::ALL.into_iter().filter(|field| link.customer_fields.asks(*field));
    let fields = asked.map(|field| Field {
        kind: kind(field),
        value: content.answers.answer(field).to_owned(),
        mistake: content.faults.iter().find(|(wrong, _)| *wrong == field).map(|(_, fault)| mistake(*fault)),
    });
    let fields: Vec<Field> = fields.collect();
    let rows: Vec<MethodRow> = rows.collect();
    let has_no_choice =
        matches!(rows.as_slice(), [row] if !row.down) && fields.is_empty() && link.pricing == Pricing::Fixed;
    let mut frame = frame(app, visitor, Some(project));
    if asks_again(visitor) {
        frame.switch_url = format!("{}&{AGAIN}=1", frame.switch_url);
    }
    frame.preview = Some(Preview::of(app, visitor.language, link_page));
    if let Some(id) = content.replaces {
        frame.switch_url = format!("{}&change={id}", frame.switch_url);
    }
    let order = match link.pricing {
        Pricing::PerPiece { .. } => Order { amount: link.amount.to_string(), ..order(project, link) },
        Pricing::Fixed | Pricing::Open { .. } => order(project, link),
    };
    let view = Choose {
        frame,
        order,
        price: content.price.field(link, app.settings.urls.url(PRICE_SCRIPT.path())),
        is_straight: has_no_choice && content.notice.is_none() && content.replaces.is_none(),
        methods: rows,
        fields,
        action: address(app, visitor, format_args!("/p/{}", link.id)),
        attempt: content.form_id,
        replaces: content
            .replaces
            .map(|id| Replaced { payment_id: id.to_string(), url: address(app, visitor, format_args!("/pay/{id}")) }),
        notice: content.notice,
        support_reference: visitor.request_id.clone().filter(|_| content.notice == Some(FormNotice::MethodDown)),
    };
    page(status, &view)
}

fn kind(field: CustomerField) -> FieldKind {
    match field {
        CustomerField::Name => FieldKind::Name,
        CustomerField::Email => FieldKind::Email,
        CustomerField::Phone => FieldKind::Phone,
        CustomerField::Address => FieldKind::Address,
    }
}

fn mistake(fault: Fault) -> Mistake {
    match fault {
        Fault::Empty => Mistake::Missing,
        Fault::TooLong { most } => Mistake::TooLong { most },
        Fault::Malformed => Mistake::Malformed,
    }
}
