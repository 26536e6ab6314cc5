//! The token of one account and one credential: asked for once, however many calls need it, and renewed before it ends.

use std::{
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use domain::time::Timestamp;
use secrecy::{ExposeSecret, SecretString};

use super::token::Token;
use crate::snap::call_error::CallError;

/// A token is renewed after this part of its life.
const RENEWED_AFTER_PERCENT: u32 = 80;
/// A token that could not be renewed is used for as long as it lives, and renewing is tried again after this time.
const RENEWED_AGAIN_AFTER: Duration = Duration::from_secs(10);

/// How the log calls a flight that brought a token.
const TOKEN_GIVEN: &str = "2007300";

/// The cache of a token. By the clock of those who call.
#[derive(Default)]
pub struct Tokens {
    held: Mutex<Held>,
    /// Held by the caller that asks the bank.
    flight: tokio::sync::Mutex<()>,
}

/// How the bank was asked for a token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flight {
    pub code: String,
    pub latency: Duration,
}

#[derive(Default)]
struct Held {
    token: Option<HeldToken>,
    /// How many times the bank was asked, and why it gave no token the last time.
    flights: u64,
    failure: Option<CallError>,
    /// The last time, until somebody has taken it for the log.
    unlogged: Option<Flight>,
}

#[derive(Clone)]
struct HeldToken {
    value: SecretString,
    obtained_at: Timestamp,
    renewed_at: Timestamp,
    expires_at: Timestamp,
}

impl Tokens {
    pub fn new() -> Tokens {
        Tokens::default()
    }

    /// How long we have had the token; none where there is none that can be used.
    pub fn age(&self, now: Timestamp) -> Option<Duration> {
        self.held().usable(now).map(|token| token.obtained_at.until(now))
    }

    /// Holds a token that the caller has asked for.
    pub fn keep(&self, now: Timestamp, token: Token) {
        // What lands is the token that came in.
        let _ = self.held().land(now, Ok(token));
    }

    /// How the bank was last asked for a token; once.
    pub fn take_flight(&self) -> Option<Flight> {
        self.held().unlogged.take()
    }

    /// Forgets a token that the bank has refused, unless it has been replaced since.
    pub(super) fn discard(&self, value: &SecretString) {
        let mut held = self.held();
        if held.token.as_ref().is_some_and(|token| token.value.expose_secret() == value.expose_secret()) {
            held.token = None;
        }
    }

    /// A token that can be used, from `ask` where there is none. Callers who waited while another asked share what
    /// that one got, be it a token or a failure.
    pub(super) async fn get<F>(&self, now: Timestamp, ask: impl FnOnce() -> F) -> Result<SecretString, CallError>
    where
        F: Future<Output = Result<Token, CallError>>,
    {
        let (in_use, flights) = {
            let held = self.held();
            (held.usable(now).cloned(), held.flights)
        };
        let _flight = match in_use {
            Some(token) if now < token.renewed_at => return Ok(token.value),
            // Somebody renews it, and until then it is good.
            Some(token) => match self.flight.try_lock() {
                Ok(flight) => flight,
                Err(_) => return Ok(token.value),
            },
            None => self.flight.lock().await,
        };
        if let Some(shared) = self.held().landed(now, flights) {
            return shared;
        }
        let began = Instant::now();
        let asked = ask().await;
        let code = asked.as_ref().map_or_else(|error| error.code().to_owned(), |_| TOKEN_GIVEN.to_owned());
        let mut held = self.held();
        held.unlogged = Some(Flight { code, latency: began.elapsed() });
        held.land(now, asked)
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Held {
    fn usable(&self, now: Timestamp) -> Option<&HeldToken> {
        self.token.as_ref().filter(|token| now < token.expires_at)
    }

    /// What a flight brought that ended since there had been `flights`.
    fn landed(&self, now: Timestamp, flights: u64) -> Option<Result<SecretString, CallError>> {
        if let Some(token) = self.usable(now).filter(|token| now < token.renewed_at) {
            return Some(Ok(token.value.clone()));
        }
        let failure = self.failure.clone().filter(|_| self.flights != flights);
        failure.map(|failure| self.usable(now).map(|token| token.value.clone()).ok_or(failure))
    }

    fn land(&mut self, now: Timestamp, asked: Result<Token, CallError>) -> Result<SecretString, CallError> {
        self.flights += 1;
        self.failure = None;
        match asked {
            Ok(Token { value, expires_in }) => {
                let token = HeldToken {
                    value: value.clone(),
                    obtained_at: now,
                    renewed_at: now.plus(expires_in * RENEWED_AFTER_PERCENT / 100),
                    expires_at: now.plus(expires_in),
                };
                self.token = Some(token);
                Ok(value)
            }
            Err(error) => {
                self.failure = Some(error.clone());
                let token = self.token.as_mut().filter(|token| now < token.expires_at).ok_or(error)?;
                token.renewed_at = now.plus(RENEWED_AGAIN_AFTER);
                Ok(token.value.clone())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::SeqCst},
    };

    use tokio::sync::Notify;

    use super::*;

    fn at(seconds: u64) -> Timestamp {
        Timestamp::from_millis(1_000_000).plus(Duration::from_secs(seconds))
    }

    fn token(value: &str) -> Result<Token, CallError> {
        Ok(Token { value: value.into(), expires_in: Duration::from_secs(900) })
    }

    fn down() -> Result<Token, CallError> {
        Err(CallError::setting("down"))
    }

    async fn got(tokens: &Tokens, now: Timestamp, asked: Result<Token, CallError>) -> Result<String, CallError> {
        tokens.get(now, || async { asked }).await.map(|value| value.expose_secret().to_owned())
    }

    #[tokio::test]
    async fn a_token_is_renewed_at_80_percent_of_its_life() {
        let tokens = Tokens::new();
        assert_eq!(
            (got(&tokens, at(0), token("a")).await.unwrap().as_str(), tokens.age(at(3))),
            ("a", Some(Duration::from_secs(3)))
        );
        assert_eq!(got(&tokens, at(719), token("b")).await.unwrap(), "a");
        assert_eq!(got(&tokens, at(720), token("b")).await.unwrap(), "b");
        assert_eq!(tokens.age(at(720 + 900)), None);
    }

    #[tokio::test]
    async fn a_token_that_cannot_be_renewed_is_used_until_it_ends() {
        let tokens = Tokens::new();
        got(&tokens, at(0), token("a")).await.unwrap();
        assert_eq!(got(&tokens, at(720), down()).await.unwrap(), "a");
        assert_eq!(got(&tokens, at(729), token("b")).await.unwrap(), "a", "renewing is not tried at every call");
        assert_eq!(got(&tokens, at(730), token("b")).await.unwrap(), "b");
        assert_eq!(got(&tokens, at(730 + 900), down()).await, down().map(|_| String::new()));
    }

    #[tokio::test]
    async fn a_refused_token_is_dropped_unless_it_was_replaced() {
        let tokens = Tokens::new();
        got(&tokens, at(0), token("a")).await.unwrap();
        tokens.discard(&"b".into());
        assert_eq!(got(&tokens, at(1), token("c")).await.unwrap(), "a");
        tokens.discard(&"a".into());
        assert_eq!(got(&tokens, at(1), token("c")).await.unwrap(), "c");
    }

    /// One caller asks and two wait; `asked` is what the bank says.
    async fn together(asked: fn() -> Result<Token, CallError>) -> (usize, Vec<Result<String, CallError>>) {
        let (tokens, flights, landing) =
            (Arc::new(Tokens::new()), Arc::new(AtomicUsize::new(0)), Arc::new(Notify::new()));
        let call = || {
            let (tokens, flights, landing) = (Arc::clone(&tokens), Arc::clone(&flights), Arc::clone(&landing));
            tokio::spawn(async move {
                let ask = || async {
                    flights.fetch_add(1, SeqCst);
                    landing.notified().await;
                    asked()
                };
                tokens.get(at(0), ask).await.map(|value| value.expose_secret().to_owned())
            })
        };
        let calls = [call(), call(), call()];
        // On one thread, the others run until they wait.
        tokio::task::yield_now().await;
        landing.notify_one();
        let mut results = Vec::new();
        for call in calls {
            results.push(call.await.unwrap());
        }
        (flights.load(SeqCst), results)
    }

    #[tokio::test]
    async fn concurrent_calls_share_one_flight_and_its_failure() {
        assert_eq!(together(|| token("a")).await, (1, vec![Ok("a".to_owned()); 3]));
        assert_eq!(together(down).await, (1, vec![down().map(|_| String::new()); 3]));
    }

    #[tokio::test]
    async fn a_flight_that_is_given_up_is_taken_over() {
        let tokens = Tokens::new();
        let forever = tokens.get(at(0), std::future::pending);
        assert!(tokio::time::timeout(Duration::from_millis(1), forever).await.is_err());
        assert_eq!(got(&tokens, at(0), token("a")).await.unwrap(), "a");
    }

    #[tokio::test]
    async fn each_flight_is_told_once_with_its_code() {
        let tokens = Tokens::new();
        assert_eq!(tokens.take_flight(), None);
        got(&tokens, at(0), token("a")).await.unwrap();
        got(&tokens, at(1), token("b")).await.unwrap();
        assert_eq!(tokens.take_flight().map(|flight| flight.code).as_deref(), Some("2007300"));
        assert_eq!(tokens.take_flight(), None, "the second call needed none");
        got(&tokens, at(720), down()).await.unwrap();
        assert_eq!(tokens.take_flight().map(|flight| flight.code).as_deref(), Some("settings"));
        tokens.keep(at(800), token("c").unwrap());
        assert_eq!(got(&tokens, at(801), down()).await.unwrap(), "c");
    }
}
