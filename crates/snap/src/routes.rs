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
use engine::OpenAccount;
use gateway::snap::{Hosting, NotificationKind, Undecided};
use serde_json::Map;
use tokio::time::{timeout, timeout_at};
use web::{App, client};

use crate::{
    answer::{AnsweredCode, Refusal},
    door::{Call, Proved, caller},
    inquiry, notification, payment,
    service::Service,
    token,
    undecided::{self, decided_by},
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
    let last_seen = last_seen(app, account).filter(|_| service == Service::Payment);
    let open = match find_account(app, account, last_seen.as_deref(), started).await {
        Ok(Some(open)) if open.account.enabled || service.outlives_account() => open,
        Ok(_) => return limited(app, address, Refusal::UNKNOWN_CLIENT).answer(service, now, None),
        Err(refusal) => {
            return match service {
                Service::Payment => undecided_without_account(app, last_seen, (now, started), &refusal, request).await,
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
    // It ends what has not been read by then. What has been read is decided before.
    let handled = timeout(open.parameters.deadline, handled).await;
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

/// The answer to a payment call whose account cannot be read now. If this node has seen the account since it was started, the call
/// is read, and what the bank is told about it is kept. Otherwise nothing says whose the call is, and it is not read.
async fn undecided_without_account(
    app: &App,
    last_seen: Option<Arc<OpenAccount>>,
    (now, started): (Timestamp, Instant),
    refusal: &Refusal,
    request: Request,
) -> Response {
    let Some(open) = last_seen else {
        // This makes no bank give money back. The log has the request and why the account is not known.
        return undecided::answer(Undecided::InProgress, refusal, now, None);
    };
    if open.parameters.hosting == Hosting::Theirs {
        return refusal.answer(Service::Payment, now, None);
    }
    let left = open.parameters.deadline.saturating_sub(started.elapsed());
    let reading = Call::read(app, Arc::clone(&open), now, Proved::default(), request);
    if let Ok(Ok(call)) = timeout(left, reading).await {
        payment::keep_word(call);
    }
    let data = open.parameters.full_answers.then(Map::new);
    undecided::answer(open.parameters.undecided, refusal, now, data)
}

fn last_seen(app: &App, account: &str) -> Option<Arc<OpenAccount>> {
    account.parse().ok().and_then(|id: BankAccountId| app.engine.last_seen_bank_account(id))
}

/// The account, read again; by the time at which we must know what to say, where its deadline is known.
async fn find_account(
    app: &App,
    account: &str,
    last_seen: Option<&OpenAccount>,
    started: Instant,
) -> Result<Option<Arc<OpenAccount>>, Refusal> {
    let Ok(id) = account.parse::<BankAccountId>() else { return Ok(None) };
    let finding = app.engine.bank_door(id);
    let found = match last_seen {
        Some(last_seen) => {
            let by = decided_by(started, last_seen.parameters.deadline);
            timeout_at(by.into(), finding).await.map_err(|_| Refusal::Timeout)?
        }
        None => finding.await,
    };
    found.map_err(|error| Refusal::of_error(&error))
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
        Service::VaNotify => notification::answer(call, NotificationKind::VaNotify).await,
        Service::QrNotify => notification::answer(call, NotificationKind::QrNotify).await,
        Service::DebitNotify => notification::answer(call, NotificationKind::DebitNotify).await,
        Service::SknNotify | Service::RtgsNotify => notification::of_transfer(call, service).await,
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
