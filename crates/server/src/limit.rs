//! How many requests are too many. Limits are kept in memory, per process.

use std::{
    net::IpAddr,
    num::NonZeroU32,
    sync::atomic::{AtomicU32, Ordering},
    time::Duration,
};

use axum::http::{HeaderMap, HeaderName, HeaderValue};
use domain::id::KeyId;
use governor::{
    Quota, RateLimiter,
    clock::{Clock, DefaultClock},
    middleware::StateInformationMiddleware,
    state::keyed::DashMapStateStore,
};

const FAILED_LOGINS_PER_MINUTE: NonZeroU32 = NonZeroU32::new(60).unwrap();
/// Forget addresses that have been quiet, once in this many failures, so that strangers cannot fill the memory.
const FORGET_EVERY: u32 = 1_024;

type Keyed<Key> = RateLimiter<Key, DashMapStateStore<Key>, DefaultClock, StateInformationMiddleware>;

/// The limits of one process; `None` where they are lifted.
pub(crate) struct Limits {
    on: Option<Limiters>,
}

struct Limiters {
    keys: Keyed<KeyId>,
    per_second: NonZeroU32,
    failed_logins: Keyed<IpAddr>,
    failures: AtomicU32,
}

/// Where a key stands with its limit; said in the headers of every answer to it.
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
                keys: keyed(Quota::per_second(per_second).allow_burst(burst)),
                per_second,
                failed_logins: keyed(Quota::per_minute(FAILED_LOGINS_PER_MINUTE)),
                failures: AtomicU32::new(0),
            }
        });
        Limits { on }
    }

    /// Counts one request of a key.
    pub(crate) fn request(&self, key: KeyId) -> Option<Standing> {
        let limiters = self.on.as_ref()?;
        Some(match limiters.keys.check_key(&key) {
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
        let limiters = self.on.as_ref()?;
        if limiters.failures.fetch_add(1, Ordering::Relaxed) % FORGET_EVERY == FORGET_EVERY - 1 {
            limiters.failed_logins.retain_recent();
        }
        let refused = limiters.failed_logins.check_key(&address).err()?;
        Some(whole_seconds(refused.wait_time_from(DefaultClock::default().now())))
    }
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
