//! The addresses of the doors. Every call that reaches a door of an account is noted for the account's log, and one that
//! has not proved to be the bank's for a log beside it.

use std::{sync::Arc, time::Instant};

use axum::{
    Router,
    extract::{Path, Request, State},
    http::Uri,
    response::Response,
    routing::any,
};
use domain::{id::BankAccountId, time::Timestamp};
use engine::{Error, OpenAccount};
use gateway::snap::{Hosting, Notice, Undecided};
use serde_json::Map;
use web::{App, client};

use crate::{
    answer::{AnsweredCode, Refusal},
    door::{Call, Proved, caller},
    inquiry, notification, payment,
    service::Service,
    token, undecided,
};

pub(crate) const FOLDER: &str = "snap";
/// Every answer of the token door has it as the bank has sent it.
const CLIENT_KEY: &str = "x-client-key";

pub(crate) fn router(app: &App) -> Router {
    let door = |service: Service| {
        any(move |State(app): State<App>, Path(account): Path<String>, request: Request| {
            answer(app, account, service, request)
        })
    };
    let address = |service: Service| format!("/{FOLDER}/{{account}}{}", service.path());
    let doors =
        Service::ALL.into_iter().fold(Router::new(), |doors, service| doors.route(&address(service), door(service)));
    doors.fallback(no_door).with_state(app.clone())
}

async fn no_door(State(app): State<App>, uri: Uri) -> Response {
    Refusal::NoSuchService.answer(Service::of_path(uri.path()), app.engine.now(), None)
}

async fn answer(app: App, account: String, service: Service, request: Request) -> Response {
    let started = Instant::now();
    let now = app.engine.now();
    let client_key = request.headers().get(CLIENT_KEY).filter(|_| service == Service::Token).cloned();
    let mut response = respond(&app, &account, service, now, started, request).await;
    if let Some(key) = client_key {
        response.headers_mut().insert(CLIENT_KEY, key);
    }
    response
}

/// Answers a call, within the time that the bank allows, and notes it in the log of its account.
async fn respond(
    app: &App,
    account: &str,
    service: Service,
    now: Timestamp,
    started: Instant,
    request: Request,
) -> Response {
    let address = client::limited_as(caller(app, &request));
    let open = match find_account(app, account).await {
        Ok(Some(open)) if open.account.enabled || service.outlives_account() => open,
        Ok(_) => return limited(app, address, Refusal::UNKNOWN_CLIENT).answer(service, now, None),
        Err(error) => {
            let refusal = Refusal::of_error(&error);
            return match service {
                Service::Payment => undecided_without_account(app, account, now, &refusal),
                _ => refusal.answer(service, now, None),
            };
        }
    };
    let id = open.id();
    let data = open.parameters.full_answers.then(Map::new);
    let say = open.parameters.undecided;
    let decides = service == Service::Payment && open.parameters.hosting == Hosting::Ours;
    let proved = Proved::default();
    let handled = handle(app, Arc::clone(&open), service, (now, started), proved.clone(), request);
    let handled = tokio::time::timeout(open.parameters.deadline, handled).await;
    let response =
        handled.unwrap_or(Err(Refusal::Timeout)).unwrap_or_else(|refusal| match decides && refusal.is_open() {
            true => undecided::answer(say, &refusal, now, data),
            false => limited(app, address, refusal).answer(service, now, data),
        });
    let code = response.extensions().get::<AnsweredCode>().map(|code| code.0.clone()).unwrap_or_default();
    let took = started.elapsed();
    match proved.is_set() {
        true => app.engine.note_bank_call(id, now, service.number(), &code, took),
        false => app.engine.note_unproved_call(id, now, service.number(), &code, took),
    }
    response
}

/// The answer to a payment call whose account cannot be read now.
fn undecided_without_account(app: &App, account: &str, now: Timestamp, refusal: &Refusal) -> Response {
    let last_seen = account.parse().ok().and_then(|id: BankAccountId| app.engine.last_seen_bank_account(id));
    match last_seen.as_deref().map(|open| &open.parameters) {
        Some(parameters) if parameters.hosting == Hosting::Theirs => refusal.answer(Service::Payment, now, None),
        Some(parameters) => {
            let data = parameters.full_answers.then(Map::new);
            undecided::answer(parameters.undecided, refusal, now, data)
        }
        // This makes no bank give money back.
        None => undecided::answer(Undecided::InProgress, refusal, now, None),
    }
}

async fn find_account(app: &App, account: &str) -> Result<Option<Arc<OpenAccount>>, Error> {
    match account.parse::<BankAccountId>() {
        Ok(id) => app.engine.bank_door(id).await,
        Err(_) => Ok(None),
    }
}

async fn handle(
    app: &App,
    open: Arc<OpenAccount>,
    service: Service,
    (now, started): (Timestamp, Instant),
    proved: Proved,
    request: Request,
) -> Result<Response, Refusal> {
    // The same money would be taken twice if it could be told at a door beside the one where it was asked to be taken.
    if service.door().is_some_and(|door| !open.has_door(door)) {
        return Err(Refusal::NoSuchService);
    }
    let call = Call::read(app, open, now, proved, request).await?;
    match service {
        Service::Token => token::answer(&call),
        Service::Inquiry => inquiry::answer(call).await,
        Service::Payment if call.open.parameters.hosting == Hosting::Theirs => notification::taken(call).await,
        Service::Payment => payment::answer(call, started).await,
        Service::VaNotify => notification::answer(call, Notice::VaNotify).await,
        Service::QrNotify => notification::answer(call, Notice::QrNotify).await,
        Service::DebitNotify => notification::answer(call, Notice::DebitNotify).await,
        Service::Unknown => Err(Refusal::NoSuchService),
    }
}

/// Counts calls that prove nothing, by address. Beyond the limit they learn no more than that.
fn limited(app: &App, address: std::net::IpAddr, refusal: Refusal) -> Refusal {
    match refusal {
        Refusal::Unauthorized(_) | Refusal::InvalidToken => match app.limits.failed_login(address) {
            Some(_) => Refusal::TooMany,
            None => refusal,
        },
        other => other,
    }
}
