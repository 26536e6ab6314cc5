//! Look-ups of host names, shared out so that names whose DNS servers do not answer delay nobody else.
//!
//! Each look-up occupies a thread until the operating system gives up on it, even when we have stopped waiting, so there
//! is a limit for all, for each project and for each host. Hosts that did not answer last time have a part of their own
//! and can fill no more than that.

use std::{
    collections::HashMap,
    hash::Hash,
    io,
    net::IpAddr,
    panic::resume_unwind,
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
    time::Duration,
};

use domain::id::ProjectId;
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    time::{Instant, sleep},
};

/// How long resolving a name may take; less than a connection may take, so that the error names DNS and not the
/// receiver.
pub(crate) const RESOLVE_TIME_MOST: Duration = Duration::from_secs(4);
/// The most look-ups at once: of hosts that answered last time or are new, and of hosts that did not answer.
const LOOKUPS_MOST: usize = 48;
const SILENT_LOOKUPS_MOST: usize = 16;
/// A project has several hosts at once only while its URL is being changed.
const LOOKUPS_PER_PROJECT: usize = 4;
const LOOKUPS_PER_HOST: usize = 2;
/// How long it is remembered that a host did not answer, and of how many hosts.
const SILENT_FOR: Duration = Duration::from_mins(10);
const SILENT_HOSTS_MOST: usize = 1_024;

/// What an async function of a trait returns, and what is kept to be polled later.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Resolves a host's name to addresses. Only tests have an implementation of their own.
pub trait Resolve: Send + Sync {
    fn resolve<'a>(&'a self, host: &'a str) -> BoxFuture<'a, io::Result<Vec<IpAddr>>>;
}

/// Resolves names with the operating system's resolver, as other programs on the machine do.
struct SystemResolver;

impl Resolve for SystemResolver {
    fn resolve<'a>(&'a self, host: &'a str) -> BoxFuture<'a, io::Result<Vec<IpAddr>>> {
        Box::pin(async move {
            let found = tokio::net::lookup_host((host, 0)).await?;
            Ok(found.map(|address| address.ip()).collect())
        })
    }
}

/// A resolver with its limits. All that share a value share the limits.
pub struct Lookups {
    resolver: Arc<dyn Resolve>,
    of_project: Shares<Option<ProjectId>>,
    of_host: Shares<String>,
    usual: Arc<Semaphore>,
    for_silent: Arc<Semaphore>,
    silent: Arc<SilentHosts>,
}

impl Default for Lookups {
    /// Asks the operating system.
    fn default() -> Lookups {
        Lookups::with(Arc::new(SystemResolver))
    }
}

impl Lookups {
    pub(crate) fn with(resolver: Arc<dyn Resolve>) -> Lookups {
        Lookups {
            resolver,
            of_project: Shares::new(LOOKUPS_PER_PROJECT),
            of_host: Shares::new(LOOKUPS_PER_HOST),
            usual: Arc::new(Semaphore::new(LOOKUPS_MOST)),
            for_silent: Arc::new(Semaphore::new(SILENT_LOOKUPS_MOST)),
            silent: Arc::default(),
        }
    }

    /// The addresses of a host that a project has named; none where the operator has.
    pub(crate) async fn resolve(&self, project: Option<ProjectId>, host: &str) -> io::Result<Vec<IpAddr>> {
        let of_project = self.of_project.permit(project).await?;
        let of_host = self.of_host.permit(host.to_owned()).await?;
        let all = if self.silent.has(host) { &self.for_silent } else { &self.usual };
        let permits = (of_project, of_host, acquire(all).await?);
        let (resolver, silent, host) = (Arc::clone(&self.resolver), Arc::clone(&self.silent), host.to_owned());
        // A task of its own holds the permits for as long as the look-up occupies its thread, even when the caller has
        // stopped waiting.
        let lookup = tokio::spawn(async move {
            let found = watched(&*resolver, &silent, &host).await;
            drop(permits);
            found
        });
        lookup.await.unwrap_or_else(|failed| match failed.try_into_panic() {
            Ok(panic) => resume_unwind(panic),
            Err(cancelled) => Err(io::Error::other(cancelled)),
        })
    }
}

/// Looks a host up, and remembers whether it answered in time.
async fn watched(resolver: &dyn Resolve, silent: &SilentHosts, host: &str) -> io::Result<Vec<IpAddr>> {
    let mut lookup = resolver.resolve(host);
    tokio::select! {
        found = &mut lookup => {
            silent.forget(host);
            found
        }
        () = sleep(RESOLVE_TIME_MOST) => {
            silent.remember(host);
            lookup.await
        }
    }
}

async fn acquire(permits: &Arc<Semaphore>) -> io::Result<OwnedSemaphorePermit> {
    Arc::clone(permits).acquire_owned().await.map_err(io::Error::other)
}

/// The same number of permits for each key. Keys that hold none are not kept.
struct Shares<Key> {
    each: usize,
    permits: Mutex<HashMap<Key, Weak<Semaphore>>>,
}

impl<Key: Eq + Hash> Shares<Key> {
    fn new(each: usize) -> Shares<Key> {
        Shares { each, permits: Mutex::default() }
    }

    async fn permit(&self, key: Key) -> io::Result<OwnedSemaphorePermit> {
        let permits = self.permits_of(key);
        acquire(&permits).await
    }

    fn permits_of(&self, key: Key) -> Arc<Semaphore> {
        let mut permits = self.permits.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(permits) = permits.get(&key).and_then(Weak::upgrade) {
            return permits;
        }
        permits.retain(|_, permits| permits.strong_count() > 0);
        let share = Arc::new(Semaphore::new(self.each));
        permits.insert(key, Arc::downgrade(&share));
        share
    }
}

/// Hosts whose last look-up was not answered in time, and when that was.
#[derive(Default)]
struct SilentHosts(Mutex<HashMap<String, Instant>>);

impl SilentHosts {
    fn has(&self, host: &str) -> bool {
        self.hosts().get(host).is_some_and(|since| since.elapsed() < SILENT_FOR)
    }

    fn remember(&self, host: &str) {
        let mut hosts = self.hosts();
        if hosts.len() >= SILENT_HOSTS_MOST {
            hosts.retain(|_, since| since.elapsed() < SILENT_FOR);
        }
        if hosts.len() >= SILENT_HOSTS_MOST {
            hosts.clear();
        }
        hosts.insert(host.to_owned(), Instant::now());
    }

    fn forget(&self, host: &str) {
        self.hosts().remove(host);
    }

    fn hosts(&self) -> MutexGuard<'_, HashMap<String, Instant>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::{
        net::Ipv4Addr,
        sync::atomic::{AtomicUsize, Ordering},
    };

    use domain::{id::mint, time::Timestamp};
    use tokio::time::timeout;

    use super::*;

    /// DNS servers of names that begin with `silent` never answer.
    #[derive(Default)]
    struct Dns {
        hanging: AtomicUsize,
    }

    impl Resolve for Dns {
        fn resolve<'a>(&'a self, host: &'a str) -> BoxFuture<'a, io::Result<Vec<IpAddr>>> {
            Box::pin(async move {
                if host.starts_with("silent") {
                    self.hanging.fetch_add(1, Ordering::Relaxed);
                    std::future::pending::<()>().await;
                }
                Ok(vec![Ipv4Addr::LOCALHOST.into()])
            })
        }
    }

    fn project(number: u8) -> Option<ProjectId> {
        Some(mint(Timestamp::from_millis(1_700_000_000_000), [number; 10]))
    }

    fn lookups() -> (Arc<Lookups>, Arc<Dns>) {
        let dns = Arc::<Dns>::default();
        (Arc::new(Lookups::with(Arc::clone(&dns) as Arc<dyn Resolve>)), dns)
    }

    /// Looks up `count` silent hosts at once for a project, each under a name of its own, until nobody waits for them any more.
    async fn look_up_silent(lookups: &Arc<Lookups>, project: Option<ProjectId>, names: std::ops::Range<usize>) {
        let ask = |number: usize| {
            let lookups = Arc::clone(lookups);
            let look = async move { lookups.resolve(project, &format!("silent{number}.example")).await };
            tokio::spawn(timeout(RESOLVE_TIME_MOST, look))
        };
        let asked: Vec<_> = names.map(ask).collect();
        for answer in asked {
            assert!(answer.await.unwrap().is_err(), "it never answers");
        }
    }

    async fn answers(lookups: &Lookups, project: Option<ProjectId>, host: &str) -> bool {
        timeout(RESOLVE_TIME_MOST, lookups.resolve(project, host)).await.is_ok_and(|found| found.is_ok())
    }

    #[tokio::test(start_paused = true)]
    async fn a_project_that_names_many_silent_hosts_occupies_its_share_and_delays_only_itself() {
        let (lookups, dns) = lookups();
        look_up_silent(&lookups, project(1), 0..200).await;
        assert_eq!(dns.hanging.load(Ordering::Relaxed), LOOKUPS_PER_PROJECT);
        assert!(answers(&lookups, project(2), "shop.example").await);
        assert!(!answers(&lookups, project(1), "shop.example").await);
    }

    #[tokio::test(start_paused = true)]
    async fn hosts_that_are_known_to_be_silent_never_take_the_look_ups_of_others() {
        let (lookups, dns) = lookups();
        // Each of them once, by its own project; these look-ups end, as the operating system gives up at last.
        for number in 0..100 {
            lookups.silent.remember(&format!("silent{number}.example"));
        }
        for number in 0..100 {
            let (lookups, named) = (Arc::clone(&lookups), usize::from(number));
            tokio::spawn(async move { look_up_silent(&lookups, project(number), named..named + 1).await });
        }
        sleep(2 * RESOLVE_TIME_MOST).await;
        assert_eq!(dns.hanging.load(Ordering::Relaxed), SILENT_LOOKUPS_MOST);
        assert!(answers(&lookups, project(200), "shop.example").await);
    }

    #[tokio::test(start_paused = true)]
    async fn a_host_that_answers_again_is_silent_no_longer() {
        let (lookups, _) = lookups();
        look_up_silent(&lookups, project(1), 0..1).await;
        assert!(lookups.silent.has("silent0.example"));
        lookups.silent.remember("shop.example");
        assert!(answers(&lookups, project(2), "shop.example").await);
        assert!(!lookups.silent.has("shop.example"));
        sleep(SILENT_FOR).await;
        assert!(!lookups.silent.has("silent0.example"));
    }
}
