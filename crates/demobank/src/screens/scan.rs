//! The page on which a developer scans a QRIS code, and the page of a code that this bank has issued, on which it is paid in
//! all the ways in which people pay.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex},
};

use axum::{
    Router,
    body::Bytes,
    extract::{DefaultBodyLimit, Path, State, rejection::BytesRejection},
    http::{HeaderMap, StatusCode, header::CONTENT_TYPE},
    response::{IntoResponse, Response},
    routing::{get, post},
};
use tokio::sync::Semaphore;

use super::{
    code_view::{self, CodeOutcome},
    form::{field, part, see_other},
    input::{AMOUNT_MOST, MINUTES_MOST, number_up_to},
    picture,
};
use crate::{
    journal::held,
    order::Knobs,
    services::{BankServices, Code, CodeKind, CodeState, NotifyHabit, PayOrder, UnknownCode, read_qris},
};

/// How much longer a form is than the picture in it.
const FORM_BYTES_MOST: usize = picture::BYTES_MOST + 16 * 1024;
/// What currency codes are in.
const RUPIAH: &str = "360";
/// Pictures that are decoded or wait for it, each in memory. Further ones are turned away.
const PICTURES_MOST: usize = 8;
/// How many results are remembered. The oldest are forgotten first.
const OUTCOMES_MOST: usize = 200;

struct Scans {
    asked: Arc<BankServices>,
    /// What links and redirects begin with, without a slash at the end.
    base: String,
    /// By the bank's reference of the code, the newest first.
    outcomes: Mutex<VecDeque<(String, CodeOutcome)>>,
    /// One picture is decoded at a time, since a large one takes memory.
    decoding: Arc<Semaphore>,
    /// Those that are decoded or wait.
    pictures: Semaphore,
}

pub(super) fn routes(asked: Arc<BankServices>, base: &str, links: &str) -> Router {
    let path = |rest: &str| format!("{base}{rest}");
    let state = Scans {
        asked,
        base: links.to_owned(),
        outcomes: Mutex::default(),
        decoding: Arc::new(Semaphore::new(1)),
        pictures: Semaphore::new(PICTURES_MOST),
    };
    Router::new()
        .route(&path("/scan"), get(form).post(scan).layer(DefaultBodyLimit::max(FORM_BYTES_MOST)))
        .route(&path("/codes/{id}"), get(show))
        .route(&path("/codes/{id}"), post(act))
        .with_state(Arc::new(state))
}

async fn form(State(scans): State<Arc<Scans>>) -> Response {
    code_view::scan(&scans.base, "", None)
}

/// Reads what was pasted or uploaded, and leads to the code's page.
async fn scan(State(scans): State<Arc<Scans>>, headers: HeaderMap, body: Result<Bytes, BytesRejection>) -> Response {
    let Ok(body) = body else {
        let page = code_view::scan(&scans.base, "", Some("This picture is longer than 4 MB: cut out the QR code."));
        return (StatusCode::PAYLOAD_TOO_LARGE, page).into_response();
    };
    let kind = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default().to_owned();
    let pasted = match part(&kind, &body, "text") {
        Some(text) => String::from_utf8_lossy(text).trim().to_owned(),
        None => field(&body, "text").trim().to_owned(),
    };
    match scans.find(&kind, body, &pasted).await {
        Ok(code) => see_other(&format!("{}/codes/{}", scans.base, code.bank_reference)),
        Err(problem) => {
            let page = code_view::scan(&scans.base, &pasted, Some(&problem));
            (StatusCode::UNPROCESSABLE_ENTITY, page).into_response()
        }
    }
}

async fn show(State(scans): State<Arc<Scans>>, Path(id): Path<String>) -> Response {
    match scans.asked.code(&id) {
        Some(code) => scans.page(&code, None),
        None => scans.no_such_code(),
    }
}

/// Does what a button says.
async fn act(State(scans): State<Arc<Scans>>, Path(id): Path<String>, body: Bytes) -> Response {
    let Some(code) = scans.asked.code(&id) else { return scans.no_such_code() };
    match scans.act(&code, &field(&body, "action"), &body).await {
        Ok(outcome) => {
            let mut outcomes = held(&scans.outcomes);
            outcomes.truncate(OUTCOMES_MOST - 1);
            outcomes.push_front((code.bank_reference.clone(), outcome));
            see_other(&format!("{}/codes/{}#result", scans.base, code.bank_reference))
        }
        Err(problem) => (StatusCode::UNPROCESSABLE_ENTITY, scans.page(&code, Some(problem))).into_response(),
    }
}

impl Scans {
    /// The code that was pasted or is in the picture. An error is a sentence.
    async fn find(&self, kind: &str, body: Bytes, pasted: &str) -> Result<Code, String> {
        let text = if pasted.is_empty() {
            let picture = part(kind, &body, "picture").filter(|picture| !picture.is_empty());
            let picture = picture.ok_or("Paste the text of a QRIS code, or choose a picture of one.")?.to_vec();
            self.decoded(picture).await?
        } else {
            pasted.to_owned()
        };
        let scanned = read_qris(&text)?;
        if scanned.currency != RUPIAH {
            return Err("This QRIS code is not in rupiah.".to_owned());
        }
        let code = self.asked.code(text.trim()).filter(|code| code.kind == CodeKind::Qr);
        code.ok_or_else(|| {
            let amount = scanned.amount.map_or("any amount".to_owned(), code_view::rupiah);
            let place = if scanned.city.is_empty() { String::new() } else { format!(" in {}", scanned.city) };
            format!("This bank did not issue this code. It is for {amount} to {}{place}.", scanned.merchant)
        })
    }

    async fn decoded(&self, picture: Vec<u8>) -> Result<String, &'static str> {
        let unreadable = "This picture could not be read.";
        if picture.len() > picture::BYTES_MOST {
            return Err("This picture is longer than 4 MB: cut out the QR code.");
        }
        let busy = "Other pictures are being read. Try again in a moment.";
        let _place = self.pictures.try_acquire().map_err(|_| busy)?;
        let permit = Arc::clone(&self.decoding).acquire_owned().await.map_err(|_| unreadable)?;
        let decoding = tokio::task::spawn_blocking(move || {
            // Held to the end, even when the request that brought the picture is gone.
            let _permit = permit;
            picture::scanned(&picture)
        });
        decoding.await.map_err(|_| unreadable)?
    }

    async fn act(&self, code: &Code, action: &str, body: &[u8]) -> Result<CodeOutcome, &'static str> {
        let honest = PayOrder::default();
        match action {
            "pay" => self.pay(code, "Paid", honest).await,
            "again" => self.pay(code, "Paid a second time", honest).await,
            "twice" => self.pay(code, "Paid, told twice", PayOrder { notice: NotifyHabit::Twice, ..honest }).await,
            "quiet" => self.pay(code, "Paid, not told", PayOrder { notice: NotifyHabit::Never, ..honest }).await,
            "late" => {
                let minutes = number_up_to(&field(body, "minutes"), MINUTES_MOST);
                let minutes = minutes.ok_or("Type a number of minutes, up to a year.")?;
                let paid_at_ms = Some(self.asked.now_ms() + minutes * 60_000);
                self.pay(code, "Paid late", PayOrder { paid_at_ms, ..honest }).await
            }
            "amount" => {
                let amount = number_up_to(&field(body, "amount"), AMOUNT_MOST).filter(|amount| *amount > 0);
                let amount = Some(amount.ok_or("Type an amount in rupiah, in digits.")?);
                self.pay(code, "Paid another amount", PayOrder { amount, ..honest }).await
            }
            "begin" => self.turn(code, "Began to pay", CodeState::Processing, "02").await,
            "fail" => self.turn(code, "Failed to pay", CodeState::Failed, "06").await,
            _ => Err("There is no such button."),
        }
    }

    async fn pay(&self, code: &Code, title: &'static str, order: PayOrder) -> Result<CodeOutcome, &'static str> {
        let paid = self.asked.pay_code(&code.bank_reference, order).await.map_err(forgotten)?;
        Ok(CodeOutcome { title, receipt_id: Some(paid.receipt_id), answers: paid.answers })
    }

    /// Moves an unpaid QR to a state without money, and tells the merchant.
    async fn turn(
        &self,
        code: &Code,
        title: &'static str,
        state: CodeState,
        status: &str,
    ) -> Result<CodeOutcome, &'static str> {
        if code.kind == CodeKind::Va {
            return Err("Banks do not tell of virtual accounts that nobody paid.");
        }
        if !matches!(code.state, CodeState::Unpaid | CodeState::Processing) {
            return Err("This code does not wait for money any more.");
        }
        self.asked.set_state(&code.bank_reference, state).map_err(forgotten)?;
        let answers = self.asked.tell(&code.bank_reference, status, Knobs::default()).await.map_err(forgotten)?;
        Ok(CodeOutcome { title, receipt_id: None, answers })
    }

    fn page(&self, code: &Code, problem: Option<&str>) -> Response {
        let outcomes = held(&self.outcomes);
        let own = outcomes.iter().filter(|(id, _)| *id == code.bank_reference).map(|(_, outcome)| outcome);
        let refunds = self.asked.refunds_of(&code.bank_reference);
        code_view::code(&self.base, code, &refunds, own, self.asked.now_ms(), problem)
    }

    fn no_such_code(&self) -> Response {
        let page = code_view::scan(&self.base, "", Some("This bank has no such code. Scan it again."));
        (StatusCode::NOT_FOUND, page).into_response()
    }
}

fn forgotten(_: UnknownCode) -> &'static str {
    "This bank has forgotten the code."
}
