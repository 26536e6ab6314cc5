//! How many requests are too many. Limits are kept in memory, per process.

use std::{
    collections::{HashMap, hash_map::Entry},
    net::IpAddr,
    num::NonZeroU32,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use axum::http::{HeaderMap, HeaderName, HeaderValue};
use domain::id::{KeyId, SessionId};
use governor::{
    Quota, RateLimiter,
    clock::{Clock, DefaultClock},
    middleware::StateInformationMiddleware,
    state::keyed::DashMapStateStore,
};

const FAILED_LOGINS_PER_MINUTE: NonZeroU32 = NonZeroU32::new(60).unwrap();
/// Open pages of one address that are told of news; more of them ask by themselves. Mobile networks put many customers behind one.
const STREAMS_PER_ADDRESS: usize = 512;
const CHECKOUTS_PER_MINUTE: NonZeroU32 = NonZeroU32::new(30).unwrap();
/// Forget those that have been quiet, once in this many requests of addresses or of sessions: neither may fill the memory.
const FORGET_EVERY: u32 = 1_024;

type Keyed<Key> = RateLimiter<Key, DashMapStateStore<Key>, DefaultClock, StateInformationMiddleware>;

/// The limits of one process; `None` where they are lifted.
pub(crate) struct Limits {
    on: Option<Limiters>,
}

struct Limiters {
    callers: Keyed<Limited>,
    per_second: NonZeroU32,
    sessions_counted: AtomicU32,
    failed_logins: ByAddress,
    checkouts: ByAddress,
    streams: Arc<Streams>,
}

/// Whose requests are counted together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Limited {
    Key(KeyId),
    Session(SessionId),
}

/// How many event streams each address has open.
#[derive(Default)]
struct Streams(Mutex<HashMap<IpAddr, usize>>);

/// One event stream's place among those of its address; it is free again when this is dropped.
pub(crate) struct Place(Option<(Arc<Streams>, IpAddr)>);

/// What an address may do only so often.
struct ByAddress {
    limiter: Keyed<IpAddr>,
    counted: AtomicU32,
}

/// Where a caller stands with its limit; said in the headers of every answer to it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Standing {
    limit: u32,
    remaining: u32,
    reset_seconds: u64,
    /// Set when this request is one too many.
    pub(crate) retry_after: Option<u64>,
}

impl Limits {
    pub(crate) fn new(per_second: u32) -> Limits {
        let on = NonZeroU32::new(per_second).map(|per_second| {
            let burst = per_second.saturating_mul(const { NonZeroU32::new(2).unwrap() });
            Limiters {
                callers: keyed(Quota::per_second(per_second).allow_burst(burst)),
                per_second,
                sessions_counted: AtomicU32::new(0),
                failed_logins: ByAddress::new(FAILED_LOGINS_PER_MINUTE),
                checkouts: ByAddress::new(CHECKOUTS_PER_MINUTE),
                streams: Arc::default(),
            }
        });
        Limits { on }
    }

    /// Counts one request of a key or a session.
    pub(crate) fn request(&self, caller: Limited) -> Option<Standing> {
        let limiters = self.on.as_ref()?;
        // Keys are made by the dozen and stay; sessions come and go by the thousand.
        if matches!(caller, Limited::Session(_)) && is_time_to_forget(&limiters.sessions_counted) {
            limiters.callers.retain_recent();
        }
        Some(match limiters.callers.check_key(&caller) {
            Ok(state) => {
                let limit = state.quota().burst_size().get();
                let remaining = state.remaining_burst_capacity();
                let missing = limit.saturating_sub(remaining);
                let reset_seconds = u64::from(missing.div_ceil(limiters.per_second.get()));
                Standing { limit, remaining, reset_seconds, retry_after: None }
            }
            Err(refused) => {
                let wait = whole_seconds(refused.wait_time_from(DefaultClock::default().now()));
                let limit = refused.quota().burst_size().get();
                let reset_seconds = u64::from(limit.div_ceil(limiters.per_second.get()));
                Standing { limit, remaining: 0, reset_seconds, retry_after: Some(wait) }
            }
        })
    }

    /// Counts one failed authentication; answers how long to wait when there were too many.
    pub(crate) fn failed_login(&self, address: IpAddr) -> Option<u64> {
        self.on.as_ref()?.failed_logins.count(address)
    }

    /// Counts one form of the checkout; answers how long to wait when there were too many.
    pub(crate) fn checkout(&self, address: IpAddr) -> Option<u64> {
        self.on.as_ref()?.checkouts.count(address)
    }

    /// A place for one more event stream of an address; none when it has too many.
    pub(crate) fn stream(&self, address: IpAddr) -> Option<Place> {
        let Some(limiters) = &self.on else { return Some(Place(None)) };
        let mut open = limiters.streams.open();
        let count = open.entry(address).or_default();
        if *count >= STREAMS_PER_ADDRESS {
            return None;
        }
        *count += 1;
        Some(Place(Some((Arc::clone(&limiters.streams), address))))
    }
}

impl Streams {
    fn open(&self) -> MutexGuard<'_, HashMap<IpAddr, usize>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let Some((streams, address)) = &self.0 else { return };
        let mut open = streams.open();
        if let Entry::Occupied(mut entry) = open.entry(*address) {
            *entry.get_mut() -= 1;
            if *entry.get() == 0 {
                entry.remove();
            }
        }
    }
}

impl ByAddress {
    fn new(per_minute: NonZeroU32) -> ByAddress {
        ByAddress { limiter: keyed(Quota::per_minute(per_minute)), counted: AtomicU32::new(0) }
    }

    fn count(&self, address: IpAddr) -> Option<u64> {
        if is_time_to_forget(&self.counted) {
            self.limiter.retain_recent();
        }
        let refused = self.limiter.check_key(&address).err()?;
        Some(whole_seconds(refused.wait_time_from(DefaultClock::default().now())))
    }
}

fn is_time_to_forget(counted: &AtomicU32) -> bool {
    counted.fetch_add(1, Ordering::Relaxed) % FORGET_EVERY == FORGET_EVERY - 1
}

fn keyed<Key: Clone + Eq + std::hash::Hash>(quota: Quota) -> Keyed<Key> {
    RateLimiter::dashmap(quota).with_middleware()
}

fn whole_seconds(duration: Duration) -> u64 {
    duration.as_secs() + u64::from(duration.subsec_nanos() > 0)
}

impl Standing {
    pub(crate) fn write(self, headers: &mut HeaderMap) {
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
    fn an_address_has_so_many_event_streams_at_once_and_a_place_is_free_again_when_one_ends() {
        let (limits, lifted) = (Limits::new(1), Limits::new(0));
        let (one, other) = (IpAddr::from([192, 0, 2, 1]), IpAddr::from([192, 0, 2, 2]));
        let mut places: Vec<Place> = (0..STREAMS_PER_ADDRESS).filter_map(|_| limits.stream(one)).collect();
        assert_eq!(places.len(), STREAMS_PER_ADDRESS);
        assert!(limits.stream(one).is_none() && limits.stream(other).is_some());
        places.pop();
        places.extend(limits.stream(one));
        assert!(limits.stream(one).is_none());
        drop(places);
        assert!(limits.on.as_ref().is_some_and(|limiters| limiters.streams.open().is_empty()), "nobody is remembered");
        assert!((0..=STREAMS_PER_ADDRESS).all(|_| lifted.stream(one).is_some()));
    }
}
