//! How this node calls banks. Calls run in tasks of their own, so that neither a caller that hangs up nor a time limit
//! loses one.

use std::time::Duration;

use domain::{
    api_key::BASE62,
    bank_request::jakarta_day,
    id::{BankAccountId, OpeningId},
    opening::{BankCode, BankSend},
    time::Timestamp,
};
use gateway::snap::{CallError, CallHealth, ExternalId, Service, SnapClient};
use rand::RngExt;
use store::{CommitError, Guard, OpeningWrite};

use crate::{
    DECIDE_MOST, Engine, Error,
    banks::{
        contracts::{open_account::OpenAccount, open_account::Outgoing},
        memory::outbound::{Call, Serials, unavailable},
    },
    random_text,
};

/// How long calls may take once the server is stopped. Those that take longer are found again by their jobs.
const FINISH_WITHIN: Duration = Duration::from_secs(12);
/// External ids that are numbers are reserved in blocks.
const SERIALS_AT_ONCE: i64 = 100;
/// An external id of at least this length is drawn at random; a shorter one is counted.
const RANDOM_LENGTH_LEAST: usize = 20;
const RANDOM_LENGTH: usize = 32;
/// What follows a reference to make an external id of it.
const SUFFIX_CHARACTERS: usize = 8;

impl Engine {
    /// Begins a call, unless the account's breaker is open or too many calls of it hang.
    pub(in crate::banks) async fn dial(&self, open: &OpenAccount, outgoing: &Outgoing) -> Result<Call, CallError> {
        let client = self.bank_client_for_calls().await?;
        Call::admit(client, self.outbound.line(open.id()), outgoing, self.now())
    }

    /// Ends a call: its result counts for the breaker, and the log gets a line.
    pub(in crate::banks) fn hang_up<T>(
        &self,
        call: Call,
        open: &OpenAccount,
        service: Service,
        result: &Result<T, CallError>,
    ) {
        call.note_health(self.now(), CallHealth::of(result));
        let code = answer_code(service, result);
        if let Some(flight) = call.tokens.take_flight() {
            self.note_call_to_bank(open.id(), call.at, Service::Token, &flight.code, flight.latency);
        }
        self.note_call_to_bank(open.id(), call.at, service, &code, call.began.elapsed());
        let (account, service) = (open.id(), service.code());
        match result {
            Ok(_) => tracing::debug!(%account, service, code, "a bank answered a call"),
            Err(error) => tracing::warn!(%account, service, code, %error, "a call to a bank failed"),
        }
    }

    async fn bank_client_for_calls(&self) -> Result<SnapClient, CallError> {
        let made = self.outbound.client.get_or_try_init(async || {
            let allow_http = self.is_development().await.map_err(|error| unavailable(&error.to_string()))?;
            SnapClient::new(allow_http).map_err(|error| unavailable(&error.to_string()))
        });
        made.await.cloned()
    }

    /// Waits for the calls of this node to end, for a while.
    pub async fn finish_bank_calls(&self) {
        self.outbound.finish(FINISH_WITHIN).await;
    }

    /// The first call about a code, as it is stored before it is sent. Some banks want its reference as external id.
    pub(in crate::banks) async fn first_send(
        &self,
        open: &OpenAccount,
        code: &BankCode,
        service: Service,
        now: Timestamp,
    ) -> Result<BankSend, Error> {
        match open.parameters.external_id {
            ExternalId::Reference => Ok(send_about(code, service, code.reference.clone(), now)),
            _ => self.new_send(open, code, service, now).await,
        }
    }

    /// A call about a code, as it is stored before it is sent.
    pub(in crate::banks) async fn new_send(
        &self,
        open: &OpenAccount,
        code: &BankCode,
        service: Service,
        now: Timestamp,
    ) -> Result<BankSend, Error> {
        let day = jakarta_day(now);
        let external_id = match open.parameters.external_id {
            ExternalId::Reference => format!("{}-{}", code.reference, random_text(BASE62, SUFFIX_CHARACTERS)),
            form => self.external_id(open, form, day).await?,
        };
        Ok(send_about(code, service, external_id, now))
    }

    /// A call that is about no single code, stored before it is sent.
    pub(in crate::banks) async fn stored_send_without_code(
        &self,
        open: &OpenAccount,
        service: Service,
        now: Timestamp,
    ) -> Result<BankSend, Error> {
        let external_id = self.external_id(open, open.parameters.external_id, jakarta_day(now)).await?;
        let send = send_of(open.id(), None, service, external_id, now);
        self.store.commit(OpeningWrite::Sent(send.clone()).into()).await?;
        Ok(send)
    }

    /// A call that orders money to be sent, as it is stored before it is sent.
    pub(in crate::banks) async fn send_of_order(
        &self,
        open: &OpenAccount,
        reference: &str,
        service: Service,
        now: Timestamp,
    ) -> Result<BankSend, Error> {
        let external_id = match open.parameters.external_id {
            ExternalId::Reference => reference.to_owned(),
            form => self.external_id(open, form, jakarta_day(now)).await?,
        };
        Ok(send_of(open.id(), None, service, external_id, now))
    }

    /// An external id that no call of the day has, whatever the call is about.
    async fn external_id(&self, open: &OpenAccount, form: ExternalId, day: i64) -> Result<String, Error> {
        Ok(match form {
            ExternalId::Reference => random_text(BASE62, RANDOM_LENGTH),
            ExternalId::Alnum(most) if most >= RANDOM_LENGTH_LEAST => random_text(BASE62, most.min(RANDOM_LENGTH)),
            ExternalId::Numeric(most) if most >= RANDOM_LENGTH_LEAST => {
                let mut rng = rand::rng();
                (0..most.min(RANDOM_LENGTH)).map(|_| char::from(b'0' + rng.random_range(0..10_u8))).collect()
            }
            ExternalId::Digits(length) | ExternalId::Numeric(length) | ExternalId::Alnum(length) => {
                format!("{:0length$}", self.next_serial(open.id(), day).await?)
            }
        })
    }

    /// The next number of a day that no node has used.
    async fn next_serial(&self, id: BankAccountId, day: i64) -> Result<i64, Error> {
        let line = self.outbound.line(id);
        let mut serials = line.serials.lock().await;
        for _ in 0..DECIDE_MOST {
            if serials.day == day && serials.next < serials.upto {
                serials.next += 1;
                return Ok(serials.next);
            }
            let from = self.store.serials_upto(id, day).await?;
            let upto = from + SERIALS_AT_ONCE;
            match self.store.commit(OpeningWrite::SerialsReserved { account_id: id, day, from, upto }.into()).await {
                Ok(()) => *serials = Serials { day, next: from, upto },
                Err(CommitError::Conflict(Guard::Serials)) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Err(Error::Contended)
    }
}

/// The bank's response code for the timeline and the log. An answer that needs no other word is the service's success.
pub(in crate::banks) fn answer_code<T>(service: Service, result: &Result<T, CallError>) -> String {
    match result {
        Ok(_) => format!("200{}00", service.code()),
        Err(error) => error.code().to_owned(),
    }
}

/// What we call the bank with is not set, or not any more.
pub(in crate::banks) fn not_set_up() -> CallError {
    CallError::Misconfigured("our key or our client id at the bank is not set".to_owned().into())
}

fn send_about(code: &BankCode, service: Service, external_id: String, now: Timestamp) -> BankSend {
    send_of(code.account_id, Some((code.opening_id, code.generation)), service, external_id, now)
}

fn send_of(
    account_id: BankAccountId,
    about: Option<(OpeningId, i64)>,
    service: Service,
    external_id: String,
    now: Timestamp,
) -> BankSend {
    BankSend {
        account_id,
        day: jakarta_day(now),
        external_id,
        service: service.code().parse().unwrap_or_default(),
        about,
        sent_at: now,
        answer: None,
    }
}
