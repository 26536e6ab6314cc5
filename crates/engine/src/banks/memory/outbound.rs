//! The state of this node's calls to banks: one HTTP client, and for each account a token, a breaker, and limits.

use std::{
    collections::{HashMap, HashSet},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use domain::{
    id::{BankAccountId, CredentialId, RefundId},
    time::Timestamp,
};
use gateway::snap::{Breaker, CallContext, CallError, CallHealth, SnapClient, Tokens};
use tokio::{
    sync::{Mutex as AsyncMutex, OnceCell, OwnedSemaphorePermit, Semaphore},
    time::timeout,
};

use crate::banks::contracts::open_account::{OpenAccount, Outgoing};

/// Calls of this node that run at once, and those of one account: a bank that hangs leaves room for the others.
const CALLS_MOST: u32 = 4_096;
const CALLS_PER_ACCOUNT_MOST: usize = 1_024;

/// References that a node remembers as never sent; what is beyond that is asked about.
const UNSENT_MOST: usize = 10_000;
/// Refunds that a node remembers as waiting for a name; what is beyond that is asked about in each round.
const NAMELESS_MOST: usize = 10_000;

/// The state of this node's calls.
pub(crate) struct Outbound {
    pub(in crate::banks) client: OnceCell<SnapClient>,
    lines: Mutex<HashMap<BankAccountId, Arc<Line>>>,
    running: Arc<Semaphore>,
    /// References that this node has stored as sent, or may have, and knows that it has not sent.
    unsent: Mutex<HashSet<String>>,
    /// Refunds of which no bank has said whose account they go to, though it was asked.
    nameless: Mutex<HashMap<RefundId, Nameless>>,
}

/// A refund that waits until its bank says whose an account is.
struct Nameless {
    tries: i64,
    /// How many of the tries the bank has answered, without a name.
    answers: i64,
    rests_until: Timestamp,
}

/// What is kept for the calls of one account.
pub(in crate::banks) struct Line {
    tokens: Mutex<Option<(CredentialId, Arc<Tokens>)>>,
    breaker: Mutex<Breaker>,
    calls: Arc<Semaphore>,
    pub(in crate::banks) serials: AsyncMutex<Serials>,
    /// Until when no money is sent from the account: it lacks money, or its bank has closed.
    rests_until: Mutex<Option<Timestamp>>,
}

/// External ids that this node may still use.
#[derive(Default)]
pub(in crate::banks) struct Serials {
    pub(in crate::banks) day: i64,
    pub(in crate::banks) next: i64,
    pub(in crate::banks) upto: i64,
}

/// One call that was admitted. It must be ended by `Engine::hang_up`.
pub(in crate::banks) struct Call {
    pub(in crate::banks) client: SnapClient,
    pub(in crate::banks) tokens: Arc<Tokens>,
    line: Arc<Line>,
    pub(in crate::banks) began: Instant,
    pub(in crate::banks) at: Timestamp,
    _permit: OwnedSemaphorePermit,
}

impl Default for Outbound {
    fn default() -> Outbound {
        Outbound {
            client: OnceCell::new(),
            lines: Mutex::default(),
            running: Arc::new(Semaphore::new(CALLS_MOST as usize)),
            unsent: Mutex::default(),
            nameless: Mutex::default(),
        }
    }
}

impl Outbound {
    pub(in crate::banks) fn line(&self, id: BankAccountId) -> Arc<Line> {
        Arc::clone(held(&self.lines).entry(id).or_insert_with(|| {
            Arc::new(Line {
                tokens: Mutex::default(),
                breaker: Mutex::default(),
                calls: Arc::new(Semaphore::new(CALLS_PER_ACCOUNT_MOST)),
                serials: AsyncMutex::default(),
                rests_until: Mutex::default(),
            })
        }))
    }

    /// Whether calls of the account would be turned away now.
    pub(crate) fn is_down(&self, id: BankAccountId, now: Timestamp) -> bool {
        let line = held(&self.lines).get(&id).cloned();
        line.is_some_and(|line| held(&line.breaker).is_open(now))
    }

    /// How long this node has had the account's token; none where it has none that can be used.
    pub(in crate::banks) fn token_age(&self, id: BankAccountId, now: Timestamp) -> Option<Duration> {
        let line = held(&self.lines).get(&id).cloned()?;
        held(&line.tokens).as_ref().and_then(|(_, tokens)| tokens.age(now))
    }

    /// Sends no money from the account until then.
    pub(in crate::banks) fn rest(&self, id: BankAccountId, until: Timestamp) {
        *held(&self.line(id).rests_until) = Some(until);
    }

    pub(in crate::banks) fn is_resting(&self, id: BankAccountId, now: Timestamp) -> bool {
        let line = held(&self.lines).get(&id).cloned();
        line.is_some_and(|line| held(&line.rests_until).is_some_and(|until| now < until))
    }

    /// Remembers that an order with this reference was never sent by this node, though it may be stored as sent.
    pub(in crate::banks) fn note_unsent(&self, reference: &str) {
        let mut unsent = held(&self.unsent);
        if unsent.len() < UNSENT_MOST {
            unsent.insert(reference.to_owned());
        }
    }

    pub(in crate::banks) fn is_unsent(&self, reference: &str) -> bool {
        held(&self.unsent).contains(reference)
    }

    pub(in crate::banks) fn forget_unsent(&self, reference: &str) {
        held(&self.unsent).remove(reference);
    }

    /// No bank has said whose account a refund goes to: it rests for longer each time, as `rest` says. Answers how often its bank has
    /// answered so.
    pub(in crate::banks) fn rest_nameless(
        &self,
        id: RefundId,
        now: Timestamp,
        rest: fn(i64) -> Duration,
        has_answered: bool,
    ) -> i64 {
        let mut nameless = held(&self.nameless);
        if nameless.len() >= NAMELESS_MOST {
            nameless.retain(|_, refund| now < refund.rests_until);
        }
        let (tries, answers) = nameless.get(&id).map_or((0, 0), |refund| (refund.tries, refund.answers));
        let (tries, answers) = (tries + 1, answers + i64::from(has_answered));
        if tries > 1 || nameless.len() < NAMELESS_MOST {
            nameless.insert(id, Nameless { tries, answers, rests_until: now.plus(rest(tries)) });
        }
        answers
    }

    pub(in crate::banks) fn is_nameless(&self, id: RefundId, now: Timestamp) -> bool {
        held(&self.nameless).get(&id).is_some_and(|refund| now < refund.rests_until)
    }

    pub(in crate::banks) fn forget_nameless(&self, id: RefundId) {
        held(&self.nameless).remove(&id);
    }

    /// A place for one more task that calls banks; none if there are too many.
    pub(in crate::banks) fn enter(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.running).try_acquire_owned().ok()
    }

    /// Waits for all tasks that call banks to end, for a while.
    pub(in crate::banks) async fn finish(&self, within: Duration) {
        // It fails only when the semaphore is closed, which never happens.
        let _ = timeout(within, self.running.acquire_many(CALLS_MOST)).await;
    }
}

impl Line {
    /// The tokens that were issued to the present client id; others are dropped.
    fn tokens(&self, credential: CredentialId) -> Arc<Tokens> {
        let mut kept = held(&self.tokens);
        match kept.as_ref() {
            Some((of, tokens)) if *of == credential => Arc::clone(tokens),
            _ => {
                let tokens = Arc::new(Tokens::default());
                *kept = Some((credential, Arc::clone(&tokens)));
                tokens
            }
        }
    }
}

impl Call {
    /// Admits a call, unless the account's breaker is open or too many calls of it hang.
    pub(in crate::banks) fn admit(
        client: SnapClient,
        line: Arc<Line>,
        outgoing: &Outgoing,
        at: Timestamp,
    ) -> Result<Call, CallError> {
        let full = || unavailable("too many calls to it hang");
        let permit = Arc::clone(&line.calls).try_acquire_owned().map_err(|_| full())?;
        if !held(&line.breaker).admit(at) {
            return Err(unavailable("its last calls have failed"));
        }
        let tokens = line.tokens(outgoing.credential);
        Ok(Call { client, tokens, line, began: Instant::now(), at, _permit: permit })
    }

    pub(in crate::banks) fn context<'a>(
        &'a self,
        open: &'a OpenAccount,
        outgoing: &'a Outgoing,
        external_id: &'a str,
    ) -> CallContext<'a> {
        CallContext {
            parameters: &open.parameters,
            client_id: &outgoing.client_id,
            secret: &outgoing.secret,
            key: &outgoing.key,
            tokens: &self.tokens,
            external_id,
            now: self.at,
        }
    }

    /// Counts the call's result for the breaker.
    pub(in crate::banks) fn note_health(&self, now: Timestamp, health: CallHealth) {
        held(&self.line.breaker).note(now, health);
    }
}

/// A call that was not made.
pub(in crate::banks) fn unavailable(why: &str) -> CallError {
    CallError::Unavailable(why.to_owned().into())
}

fn held<T>(lock: &Mutex<T>) -> MutexGuard<'_, T> {
    lock.lock().unwrap_or_else(PoisonError::into_inner)
}
