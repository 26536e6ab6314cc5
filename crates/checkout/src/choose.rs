//! `/p/<link_id>`: the customer chooses how to pay. The form makes one payment, however often it is sent.

use axum::{
    extract::State,
    http::{HeaderMap, HeaderValue, StatusCode, header},
    response::Response,
};
use domain::{
    customer::CustomerField,
    id::{LinkId, PaymentId},
    link::LinkStanding,
    method::Method,
    payment::{Checkout, Customer, Location, Payment, Status},
    rules::Fault,
};
use engine::{Attempt, Error, LinkPage};
use rand::RngExt;
use web::{
    App, Failure, client,
    page::{
        cookie::Cookie,
        device,
        form::Form,
        page_error::PageError,
        render::{page, see_other},
        visitor::Visitor,
    },
};

use crate::{
    page::{bank_row, frame, order},
    path::PathId,
    view::{Choose, Closed, ClosedReason, Field, FieldKind, MethodRow, Mistake, Notice, Replaced},
};

/// What the browser keeps for a link: its payment's id, or before there is one the id of its form.
const CHECKOUT_COOKIE: &str = "lunas_checkout";
/// A week, as long as the longest-lived payment.
const COOKIE_SECONDS: u32 = 7 * 24 * 60 * 60;
const RETRY_AFTER_DOWN: u64 = 30;

type LinkPath = Result<PathId<LinkId>, PageError>;

/// What is in the form when it is shown.
struct Filled {
    method: Option<Method>,
    answers: Customer,
    faults: Vec<(CustomerField, Fault)>,
    form: String,
    replaces: Option<PaymentId>,
    notice: Option<Notice>,
}

impl Filled {
    /// What a customer has sent. `known`: what the browser keeps for this link.
    fn by(form: &Form, link_page: &LinkPage, known: Option<&str>) -> Result<Filled, PageError> {
        let fields = link_page.link.customer_fields;
        // Browsers send two characters for a line break, and count one.
        let answers = fields.answered(|field| form.text(field.word()).unwrap_or_default().replace("\r\n", "\n"));
        Ok(Filled {
            method: form.text("method").and_then(Method::parse).filter(|method| link_page.methods.contains(method)),
            faults: fields.faults(&answers),
            answers,
            form: form.text("attempt").or(known).map_or_else(fresh_form, str::to_owned),
            replaces: form.text("replaces").map(str::parse).transpose().map_err(|_| Error::NotFound("payment"))?,
            notice: None,
        })
    }
}

pub(super) async fn show(State(app): State<App>, visitor: Visitor, id: LinkPath) -> Result<Response, PageError> {
    let PathId(id) = id?;
    let link_page = app.engine.link_page(id).await?;
    let known = visitor.cookie(CHECKOUT_COOKIE);
    let change = visitor.query.text("change").ok().flatten().and_then(|id| id.parse().ok());
    let change = pending_of(&app, &link_page, change).await?;
    if change.is_none()
        && let Some(payment) = payment_of(&app, &link_page, known.and_then(|id| id.parse().ok())).await?
        && resumes(&app, &link_page, &payment)
    {
        return Ok(see_other(&app.settings.urls.url(format_args!("/pay/{}", payment.id))));
    }
    if let Some(reason) = closed(link_page.standing) {
        return Ok(closed_page(&app, &visitor, &link_page, StatusCode::OK, reason));
    }
    let form = fresh_form();
    let filled = Filled {
        method: None,
        answers: Customer::default(),
        faults: Vec::new(),
        form: form.clone(),
        replaces: change.map(|payment| payment.id),
        notice: None,
    };
    let mut response = chooser(&app, &visitor, &link_page, StatusCode::OK, filled);
    if known.is_none() {
        remember(&app, id, &form, response.headers_mut());
    }
    Ok(response)
}

/// What one filling-in of the form is known by.
fn fresh_form() -> String {
    format!("{:032x}", rand::rng().random::<u128>())
}

/// Whether a browser that was led to `payment` before is led there again.
fn resumes(app: &App, link_page: &LinkPage, payment: &Payment) -> bool {
    match payment.status_at(app.engine.now()) {
        Status::Pending | Status::Processing => true,
        Status::Paid => !link_page.link.allow_multiple_payments,
        Status::Failed | Status::Expired | Status::Cancelled => false,
    }
}

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
    let known = visitor.cookie(CHECKOUT_COOKIE);
    let filled = Filled::by(&form, &link_page, known)?;
    let Some(method) = filled.method.filter(|_| filled.faults.is_empty()) else {
        return Ok(match closed(link_page.standing) {
            Some(reason) => closed_page(&app, &visitor, &link_page, StatusCode::CONFLICT, reason),
            None => {
                let filled = Filled { notice: Some(Notice::Mistakes), ..filled };
                chooser(&app, &visitor, &link_page, StatusCode::UNPROCESSABLE_ENTITY, filled)
            }
        });
    };
    let attempt = Attempt {
        method,
        checkout: Checkout {
            customer: filled.answers.clone(),
            location: Location { ip: Some(visitor.address.to_string()), country: visitor.country.clone() },
            device: device::of(visitor.user_agent.as_deref()),
        },
        form: Some(filled.form.clone()),
        replaces: filled.replaces,
        remembered: known.and_then(|id| id.parse().ok()),
    };
    match app.engine.attempt_link(id, &attempt).await {
        Ok(payment) => Ok(led_to(&app, id, payment.id)),
        Err(Error::LinkNotActive | Error::NotEditable) => refuse_closed(&app, &visitor, id, attempt.remembered).await,
        Err(Error::Provider(_)) => {
            let filled = Filled { notice: Some(Notice::MethodDown), ..filled };
            let mut response = chooser(&app, &visitor, &link_page, StatusCode::SERVICE_UNAVAILABLE, filled);
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(RETRY_AFTER_DOWN));
            Ok(response)
        }
        Err(error) => Err(error.into()),
    }
}

fn led_to(app: &App, link: LinkId, payment: PaymentId) -> Response {
    let mut response = see_other(&app.settings.urls.url(format_args!("/pay/{payment}")));
    remember(app, link, &payment.to_string(), response.headers_mut());
    response
}

/// The link takes no attempt. If that is so because of this browser's own payment, its page says it best.
async fn refuse_closed(
    app: &App,
    visitor: &Visitor,
    id: LinkId,
    remembered: Option<PaymentId>,
) -> Result<Response, PageError> {
    let link_page = app.engine.link_page(id).await?;
    if let Some(payment) = payment_of(app, &link_page, remembered).await?
        && resumes(app, &link_page, &payment)
    {
        return Ok(led_to(app, id, payment.id));
    }
    // Someone may have given way in between: then the same form works the next time.
    let reason = closed(link_page.standing).ok_or(Error::Contended)?;
    Ok(closed_page(app, visitor, &link_page, StatusCode::CONFLICT, reason))
}

/// That payment, if it is one of this link.
async fn payment_of(app: &App, link_page: &LinkPage, id: Option<PaymentId>) -> Result<Option<Payment>, PageError> {
    let Some(id) = id else { return Ok(None) };
    match app.engine.payment(link_page.project.id, id).await {
        Ok(payment) => Ok(Some(payment).filter(|payment| payment.link_id == Some(link_page.link.id))),
        Err(Error::NotFound(_)) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

async fn pending_of(app: &App, link_page: &LinkPage, id: Option<PaymentId>) -> Result<Option<Payment>, PageError> {
    let payment = payment_of(app, link_page, id).await?;
    Ok(payment.filter(|payment| payment.status_at(app.engine.now()) == Status::Pending))
}

fn remember(app: &App, link: LinkId, value: &str, headers: &mut HeaderMap) {
    let urls = &app.settings.urls;
    let path = urls.url(format_args!("/p/{link}"));
    Cookie { name: CHECKOUT_COOKIE, value, path: &path, seconds: COOKIE_SECONDS, secure: urls.https }.write(headers);
}

fn closed(standing: LinkStanding) -> Option<ClosedReason> {
    match standing {
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
    page(status, &Closed { frame: frame(app, visitor, Some(project)), order: order(project, link), reason })
}

fn chooser(app: &App, visitor: &Visitor, link_page: &LinkPage, status: StatusCode, filled: Filled) -> Response {
    let LinkPage { project, link, methods, .. } = link_page;
    let urls = &app.settings.urls;
    let rows = methods.iter().map(|method| {
        let is_chosen = filled.method == Some(*method);
        let failed = is_chosen && filled.notice == Some(Notice::MethodDown);
        let down = failed || !app.engine.is_up(project, *method);
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
        value: filled.answers.answer(field).to_owned(),
        mistake: filled.faults.iter().find(|(wrong, _)| *wrong == field).map(|(_, fault)| mistake(*fault)),
    });
    let mut frame = frame(app, visitor, Some(project));
    if let Some(id) = filled.replaces {
        frame.switch_url = format!("{}&change={id}", frame.switch_url);
    }
    let view = Choose {
        frame,
        order: order(project, link),
        methods: rows.collect(),
        fields: fields.collect(),
        action: urls.url(format_args!("/p/{}", link.id)),
        attempt: filled.form,
        replaces: filled
            .replaces
            .map(|id| Replaced { payment_id: id.to_string(), url: urls.url(format_args!("/pay/{id}")) }),
        notice: filled.notice,
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
