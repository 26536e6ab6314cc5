//! The bank's screens: a developer types a number or scans a QRIS code, sees the bill and pays it, also in the ways in which
//! payments go wrong.
//! Plain pages without script. Every form is answered with a redirect, so that reloading a page pays nothing.

mod code_view;
mod form;
mod input;
mod money;
mod money_view;
mod picture;
mod scan;
mod view;
mod visit;

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex},
};

use axum::{
    Router,
    body::{Body, Bytes},
    extract::{DefaultBodyLimit, Path, State},
    http::{HeaderValue, StatusCode, header},
    middleware::map_response,
    response::{IntoResponse, Response},
    routing::{get, post},
};
use tower_http::csrf::CsrfLayer;

use self::{
    form::{field, see_other},
    visit::Visit,
};
use crate::{
    bank::Bank,
    contract::Contract,
    crypto::random_alphanumeric,
    journal::held,
    services::{BankServices, CodeKind},
};

const STYLE: &str = include_str!("../../assets/bank.css");
const CONTENT_SECURITY_POLICY: &str = "default-src 'none'; style-src 'self'; img-src data:; form-action 'self'; \
                                       base-uri 'none'; frame-ancestors 'none'";
const FORM_BYTES_MOST: usize = 8 * 1024;
/// How many visits are remembered. The oldest are forgotten first.
const VISITS_MOST: usize = 200;

/// Locked while a button acts, so that two presses act one after another.
type SharedVisit = Arc<tokio::sync::Mutex<Visit>>;

struct Screens {
    bank: Arc<Bank>,
    /// Whose codes are scanned and paid here.
    asked: Option<Arc<BankServices>>,
    /// What links and redirects begin with, without a slash at the end.
    base: String,
    visits: Mutex<VecDeque<(String, SharedVisit)>>,
}

/// The screens, for the paths that begin with `base`, such as `/bank`. Merge it into the server's routes: it is not to be
/// nested. Browsers see the paths below `links`, which differs from `base` where a proxy cuts a prefix off.
pub fn screens(bank: Arc<Bank>, base: &str, links: &str) -> Router {
    all_screens(bank, None, base, links)
}

/// The same screens, with a page on which the codes are scanned that a bank with doors of its own has issued, and with pages of
/// its accounts, transfers and refunds.
pub fn screens_with_codes(bank: Arc<Bank>, asked: Arc<BankServices>, base: &str, links: &str) -> Router {
    all_screens(bank, Some(asked), base, links)
}

fn all_screens(bank: Arc<Bank>, asked: Option<Arc<BankServices>>, base: &str, links: &str) -> Router {
    let base = base.trim_end_matches('/').to_owned();
    let links = links.trim_end_matches('/').to_owned();
    let path = |rest: &str| format!("{base}{rest}");
    let of_doors = |asked| scan::routes(Arc::clone(&asked), &base, &links).merge(money::routes(asked, &base, &links));
    let of_doors = asked.clone().map(of_doors).unwrap_or_default();
    let mut routes = Router::new()
        .route(&path("/"), get(start))
        .route(&path("/bank.css"), get(style))
        .route(&path("/visits"), post(begin))
        .route(&path("/visits/{id}"), get(show).post(act));
    if !base.is_empty() {
        routes = routes.route(&base, get(start));
    }
    routes
        .with_state(Arc::new(Screens { bank, asked, base: links, visits: Mutex::default() }))
        .merge(of_doors)
        .route_layer(CsrfLayer::new())
        .route_layer(map_response(protect))
        .layer(DefaultBodyLimit::max(FORM_BYTES_MOST))
}

/// Adds the headers that every page has, and words to a form of another site that was refused.
async fn protect(mut response: Response) -> Response {
    if response.status() == StatusCode::FORBIDDEN {
        *response.body_mut() = Body::from("This form was sent by a page of another site.");
    }
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(CONTENT_SECURITY_POLICY));
    // Without a referrer, browsers would send forms with an unknown origin, which is refused.
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("same-origin"));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert("x-robots-tag", HeaderValue::from_static("noindex"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

async fn style() -> Response {
    ([(header::CONTENT_TYPE, "text/css; charset=utf-8")], STYLE).into_response()
}

async fn start(State(screens): State<Arc<Screens>>) -> Response {
    screens.start_page("", "", None)
}

/// Asks for the bill of a number, and begins a visit with it.
async fn begin(State(screens): State<Arc<Screens>>, body: Bytes) -> Response {
    let (name, typed) = (field(&body, "contract"), field(&body, "number"));
    let again = |problem: &str| {
        let page = screens.start_page(&name, &typed, Some(problem));
        (StatusCode::UNPROCESSABLE_ENTITY, page).into_response()
    };
    let number: String = typed.chars().filter(|character| !character.is_whitespace()).collect();
    if number.is_empty() || !number.bytes().all(|byte| byte.is_ascii_digit()) {
        return again("A virtual account number has digits only.");
    }
    if let Some(code) = screens.asked.as_ref().and_then(|asked| asked.code(&number))
        && code.kind == CodeKind::Va
    {
        return see_other(&format!("{}/codes/{}", screens.base, code.bank_reference));
    }
    let known = screens.bank.contracts();
    let is_asked = |contract: &&Arc<Contract>| {
        (name.is_empty() || contract.name == name) && number.starts_with(&contract.company_code)
    };
    let Some(contract) = known.iter().find(is_asked).cloned() else {
        return again("No bank has this number: see what their numbers begin with.");
    };
    let visit = Visit::begin(&screens.bank, contract, number).await;
    let id = random_alphanumeric(32);
    let mut visits = held(&screens.visits);
    if visits.len() >= VISITS_MOST {
        visits.pop_front();
    }
    visits.push_back((id.clone(), Arc::new(tokio::sync::Mutex::new(visit))));
    see_other(&format!("{}/visits/{id}", screens.base))
}

async fn show(State(screens): State<Arc<Screens>>, Path(id): Path<String>) -> Response {
    let Some(visit) = screens.visit(&id) else { return screens.no_such_visit() };
    let visit = visit.lock().await;
    view::visit(&screens.bank, &screens.base, &id, &visit, None)
}

/// Does what a button says. Buttons of one visit act one after another.
async fn act(State(screens): State<Arc<Screens>>, Path(id): Path<String>, body: Bytes) -> Response {
    let Some(visit) = screens.visit(&id) else { return screens.no_such_visit() };
    let mut visit = visit.lock().await;
    let input = if field(&body, "action") == "late" { field(&body, "minutes") } else { field(&body, "amount") };
    match visit.act(&screens.bank, &field(&body, "action"), &input).await {
        Ok(()) => see_other(&format!("{}/visits/{id}#result", screens.base)),
        Err(problem) => {
            let page = view::visit(&screens.bank, &screens.base, &id, &visit, Some(problem));
            (StatusCode::UNPROCESSABLE_ENTITY, page).into_response()
        }
    }
}

impl Screens {
    fn start_page(&self, chosen: &str, number: &str, problem: Option<&str>) -> Response {
        view::start(&self.bank, &self.base, self.asked.is_some(), [chosen, number], problem)
    }

    fn visit(&self, id: &str) -> Option<SharedVisit> {
        held(&self.visits).iter().find(|(known, _)| known == id).map(|(_, visit)| Arc::clone(visit))
    }

    fn no_such_visit(&self) -> Response {
        let page = self.start_page("", "", Some("This visit is over. Type the number again."));
        (StatusCode::NOT_FOUND, page).into_response()
    }
}
