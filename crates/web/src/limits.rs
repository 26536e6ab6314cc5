//! Rate limits: requests per key and session, failed sign-ins, public forms, inquiries and event streams per address. They are kept
//! in memory, so each process counts for itself and a restart forgets them.

use std::{
    net::IpAddr,
    num::NonZeroU32,
    sync::atomic::{AtomicU32, Ordering},
    time::Duration,
};

use axum::http::{HeaderMap, HeaderName, HeaderValue};
use domain::id::{BankAccountId, KeyId, SessionId};
use governor::{
    Quota, RateLimiter,
    clock::{Clock, DefaultClock},
    middleware::StateInformationMiddleware,
    state::keyed::DashMapStateStore,
};

use crate::address_slots::{AddressSlot, AddressSlots};

const FAILED_LOGINS_PER_MINUTE: NonZeroU32 = NonZeroU32::new(60).unwrap();
/// Event streams per address; further pages poll. It is high because mobile networks put many people behind one address.
const STREAMS_PER_ADDRESS: usize = 512;
/// Calls of one bank account. A bank that has more is asked to repeat them later.
pub const BANK_CALLS_PER_SECOND: NonZeroU32 = NonZeroU32::new(500).unwrap();
const PUBLIC_FORMS_PER_MINUTE: NonZeroU32 = NonZeroU32::new(30).unwrap();
/// Accounts whose holders one address may ask banks for. A link has a limit of its own, which many links do not lift.
const ACCOUNT_INQUIRIES_PER_MINUTE: NonZeroU32 = NonZeroU32::new(10).unwrap();
/// After this many requests, entries of addresses and sessions that have been idle are dropped, so that they cannot fill the
/// memory.
const DROP_EVERY: u32 = 1_024;

type Keyed<Key> = RateLimiter<Key, DashMapStateStore<Key>, DefaultClock, StateInformationMiddleware>;

/// The limits of one process.
pub struct Limits {
    /// None where the operator has lifted all limits.
    on: Option<Limiters>,
}

struct Limiters {
    callers: Keyed<LimitedCaller>,
    per_second: NonZeroU32,
    sessions_counted: AtomicU32,
    failed_logins: ByAddress,
    public_forms: ByAddress,
    account_inquiries: ByAddress,
    streams: AddressSlots,
    banks: Keyed<BankAccountId>,
}

/// A permit for one event stream of an address. Dropping it gives the permit back.
pub type StreamSlot = AddressSlot;

/// A caller whose requests are counted together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LimitedCaller {
    Key(KeyId),
    Session(SessionId),
}

/// A limit per address and minute.
struct ByAddress {
    limiter: Keyed<IpAddr>,
    counted: AtomicU32,
}

/// How much of its rate limit a caller has used. Every answer to the caller says so in its headers.
#[derive(Clone, Copy, Debug)]
pub struct LimitUsage {
    limit: u32,
    remaining: u32,
    reset_seconds: u64,
    /// Set when this request is over the limit: seconds to wait.
    pub retry_after: Option<u64>,
}

impl Limits {
    pub fn new(per_second: u32, bank_calls_per_second: NonZeroU32) -> Limits {
        let on = NonZeroU32::new(per_second).map(|per_second| {
            let burst = per_second.saturating_mul(const { NonZeroU32::new(2).unwrap() });
            Limiters {
                callers: keyed(Quota::per_second(per_second).allow_burst(burst)),
                per_second,
                sessions_counted: AtomicU32::new(0),
                failed_logins: ByAddress::new(FAILED_LOGINS_PER_MINUTE),
                public_forms: ByAddress::new(PUBLIC_FORMS_PER_MINUTE),
                account_inquiries: ByAddress::new(ACCOUNT_INQUIRIES_PER_MINUTE),
                streams: AddressSlots::new(STREAMS_PER_ADDRESS),
                banks: keyed(Quota::per_second(bank_calls_per_second)),
            }
        });
        Limits { on }
    }

    /// Whether anything is limited by rate; the operator may have lifted all limits.
    pub fn are_on(&self) -> bool {
        self.on.is_some()
    }

    /// Counts one request of a key or a session; none where limits are lifted.
    pub fn request(&self, caller: LimitedCaller) -> Option<LimitUsage> {
        let limiters = self.on.as_ref()?;
        // Only sessions need clearing: a project has few keys and keeps them, while sessions are created all the time.
        if matches!(caller, LimitedCaller::Session(_)) && is_time_to_drop(&limiters.sessions_counted) {
            limiters.callers.retain_recent();
        }
        Some(match limiters.callers.check_key(&caller) {
            Ok(state) => {
                let limit = state.quota().burst_size().get();
                let remaining = state.remaining_burst_capacity();
                let missing = limit.saturating_sub(remaining);
                let reset_seconds = u64::from(missing.div_ceil(limiters.per_second.get()));
                LimitUsage { limit, remaining, reset_seconds, retry_after: None }
            }
            Err(refused) => {
                let wait = whole_seconds(refused.wait_time_from(DefaultClock::default().now()));
                let limit = refused.quota().burst_size().get();
                let reset_seconds = u64::from(limit.div_ceil(limiters.per_second.get()));
                LimitUsage { limit, remaining: 0, reset_seconds, retry_after: Some(wait) }
            }
        })
    }

    /// Counts one failed authentication. Over the limit it returns how many seconds to wait.
    pub fn failed_login(&self, address: IpAddr) -> Option<u64> {
        self.on.as_ref()?.failed_logins.count(address)
    }

    /// Counts one form of a visitor who is not signed in. Over the limit it returns how many seconds to wait.
    pub fn public_form(&self, address: IpAddr) -> Option<u64> {
        self.on.as_ref()?.public_forms.count(address)
    }

    /// Counts one account whose holder is asked for. Over the limit it returns how many seconds to wait.
    pub fn account_inquiry(&self, address: IpAddr) -> Option<u64> {
        self.on.as_ref()?.account_inquiries.count(address)
    }

    /// Counts one call of a bank, and answers whether it is within the limit. There are few accounts, so none is dropped.
    pub fn bank_call(&self, account: BankAccountId) -> bool {
        self.on.as_ref().is_none_or(|limiters| limiters.banks.check_key(&account).is_ok())
    }

    /// A slot for one more event stream of an address; none when the address has too many open.
    pub fn stream(&self, address: IpAddr) -> Option<StreamSlot> {
        match &self.on {
            Some(limiters) => limiters.streams.take(address),
            None => Some(AddressSlot::unlimited()),
        }
    }
}

impl ByAddress {
    fn new(per_minute: NonZeroU32) -> ByAddress {
        ByAddress { limiter: keyed(Quota::per_minute(per_minute)), counted: AtomicU32::new(0) }
    }

    fn count(&self, address: IpAddr) -> Option<u64> {
        if is_time_to_drop(&self.counted) {
            self.limiter.retain_recent();
        }
        let refused = self.limiter.check_key(&address).err()?;
        Some(whole_seconds(refused.wait_time_from(DefaultClock::default().now())))
    }
}

fn is_time_to_drop(counted: &AtomicU32) -> bool {
    counted.fetch_add(1, Ordering::Relaxed) % DROP_EVERY == DROP_EVERY - 1
}

fn keyed<Key: Clone + Eq + std::hash::Hash>(quota: Quota) -> Keyed<Key> {
    RateLimiter::dashmap(quota).with_middleware()
}

fn whole_seconds(duration: Duration) -> u64 {
    duration.as_secs() + u64::from(duration.subsec_nanos() > 0)
}

impl LimitUsage {
    pub fn write(self, headers: &mut HeaderMap) {
        for (name, value) in [
            ("ratelimit-limit", u64::from(self.limit)),
            ("ratelimit-remaining", u64::from(self.remaining)),
            ("ratelimit-reset", self.reset_seconds),
        ] {
            headers.insert(HeaderName::from_static(name), HeaderValue::from(value));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_a_limit_of_event_streams_unless_limits_are_lifted() {
        let (limits, lifted) = (Limits::new(1, BANK_CALLS_PER_SECOND), Limits::new(0, BANK_CALLS_PER_SECOND));
        let address = IpAddr::from([192, 0, 2, 1]);
        let slots: Vec<StreamSlot> = (0..STREAMS_PER_ADDRESS).filter_map(|_| limits.stream(address)).collect();
        assert_eq!(slots.len(), STREAMS_PER_ADDRESS);
        assert!(limits.stream(address).is_none());
        assert!((0..=STREAMS_PER_ADDRESS).all(|_| lifted.stream(address).is_some()));
    }
}
