//! A real browser for tests: headless Chromium. Tests do what a person does, and check what a person sees.
//!
//! Every wait has a limit. A failure reports the URL, the title and the beginning of the page's text. When a test fails while its
//! browser is open, a screenshot and the source of the page are saved in `target/browser-failures`.

mod acts;
mod checks;
mod driver;
mod look;
mod picture;
mod session;
#[cfg(test)]
mod tests;
mod traffic;

use std::{
    fs,
    path::{Path, PathBuf},
    sync::{
        LazyLock, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use base64::{Engine, engine::general_purpose::STANDARD};
use serde_json::{Value, json};
use tokio::sync::{Semaphore, SemaphorePermit};

pub use checks::{TARGET_LEAST, Violation};
pub use look::{Look, Theme};
pub use picture::decode_qr;
pub use traffic::Transfer;

use driver::Driver;
use session::{Done, Session};

/// Longer than a page of ours takes for anything on a busy machine.
const PATIENCE: Duration = Duration::from_secs(20);
const POLL_INTERVAL: Duration = Duration::from_millis(20);
/// How long a test waits for a free browser; all other tests of the process may come first.
const PERMIT_PATIENCE: Duration = Duration::from_secs(600);
/// How many browsers a process has open at once: one per core, since each keeps a core busy, but no more than memory allows.
const BROWSERS_LEAST: usize = 2;
const BROWSERS_MOST: usize = 4;
/// How much of the page's text a failure shows.
const SHOWN_CHARACTERS: usize = 600;
/// Where screenshots of failures are saved, below the root of the repository.
const FAILURES: &str = "target/browser-failures";
/// Chromium's flags: it starts quickly, makes no requests of its own and needs no graphics.
const ARGUMENTS: [&str; 11] = [
    "--headless=new",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--no-default-browser-check",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-extensions",
    // The shared memory of a container may be too small for a page.
    "--disable-dev-shm-usage",
    // The password manager would otherwise wait for a key ring, which a server does not have.
    "--password-store=basic",
];

static PERMITS: LazyLock<Semaphore> = LazyLock::new(|| {
    let cores = thread::available_parallelism().map_or(BROWSERS_LEAST, usize::from);
    Semaphore::new(cores.clamp(BROWSERS_LEAST, BROWSERS_MOST))
});

/// A browser of its own, with no history, no cookies and an empty cache. It is closed with this value.
pub struct Browser {
    session: Session,
    /// The profile and the downloads.
    directory: PathBuf,
    user_agent: String,
    look: Mutex<Look>,
    patience: Duration,
    /// The permit to have a browser open. Fields are dropped after `drop` has closed the browser, so the next test starts then.
    _permit: SemaphorePermit<'static>,
}

/// Opening and closing.
impl Browser {
    /// Opens a browser once a permit is free. A test that needs two at once uses [`Browser::open_two`].
    pub async fn open(look: Look) -> Browser {
        Browser::start(look, waited(PERMITS.acquire()).await).await
    }

    /// Opens two separate browsers. Both permits are taken together, so that two tests cannot each hold one and wait for another.
    pub async fn open_two(first: Look, second: Look) -> (Browser, Browser) {
        let mut permits = waited(PERMITS.acquire_many(2)).await;
        let other = permits.split(1).unwrap();
        (Browser::start(first, permits).await, Browser::start(second, other).await)
    }

    async fn start(look: Look, permit: SemaphorePermit<'static>) -> Browser {
        let driver = Driver::shared();
        let directory = driver.fresh_directory();
        let started = Session::start(&driver.url(), &capabilities(driver.browser(), &directory)).await;
        let session = started.unwrap_or_else(|fault| panic!("Chromium does not start: {fault}"));
        let (user_agent, patience) = (String::new(), PATIENCE);
        let mut browser =
            Browser { session, directory, user_agent, look: Mutex::new(look.clone()), patience, _permit: permit };
        let version = browser.devtools("Browser.getVersion", json!({})).await;
        browser.user_agent = version["userAgent"].as_str().unwrap_or_default().to_owned();
        let downloads = json!({ "behavior": "allow", "downloadPath": browser.downloads() });
        browser.devtools("Browser.setDownloadBehavior", downloads).await;
        // The page must behave as in a focused window, which a headless browser does not have.
        browser.devtools("Emulation.setFocusEmulationEnabled", json!({ "enabled": true })).await;
        browser.look_with(look).await;
        browser
    }

    /// Changes the device and preferences. The layout changes at once, but the language only with the next request, and whether
    /// scripts run only with the next page. It is faster than a new browser.
    pub async fn look_with(&self, look: Look) {
        for (method, parameters) in look.commands(&self.user_agent) {
            self.devtools(method, parameters).await;
        }
        *self.locked_look() = look;
    }

    /// Clears cookies, storage and cache.
    pub async fn forget(&self) {
        for method in ["Network.clearBrowserCookies", "Network.clearBrowserCache"] {
            self.devtools(method, json!({})).await;
        }
        let everything = json!({ "origin": "*", "storageTypes": "all" });
        self.devtools("Storage.clearDataForOrigin", everything).await;
    }

    /// The current device and preferences.
    pub fn look(&self) -> Look {
        self.locked_look().clone()
    }

    fn locked_look(&self) -> MutexGuard<'_, Look> {
        self.look.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn downloads(&self) -> PathBuf {
        self.directory.join("downloads")
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let (session, failing) = (self.session.again(), thread::panicking());
        let name = thread::current().name().map(str::to_owned);
        // On a thread with its own runtime, because the test's runtime may be shutting down and cannot be waited for here.
        let closing = thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                if failing {
                    println!("{}", save_failure(&session, name.as_deref()).await);
                }
                // A browser that cannot be closed is killed when the process ends.
                let _ = session.quit().await;
            });
        });
        let _ = closing.join();
        let _ = fs::remove_dir_all(&self.directory);
    }
}

/// Asking and failing.
impl Browser {
    /// A command of Chromium's DevTools protocol, for what has no method here.
    pub async fn devtools(&self, method: &str, parameters: Value) -> Value {
        self.must(method, self.session.devtools(method, parameters).await).await
    }

    /// Runs the body of a function in the page.
    async fn run(&self, when: &str, body: &str, arguments: Value) -> Value {
        self.must(when, self.session.run(body, arguments).await).await
    }

    async fn must<T>(&self, what: &str, done: Done<T>) -> T {
        match done {
            Ok(value) => value,
            Err(fault) => self.fail(&format!("{what}: {fault}")).await,
        }
    }

    /// Polls until there is an answer. Faults that may pass count as no answer yet.
    async fn until<T>(&self, what: &str, ask: impl AsyncFn() -> Done<Option<T>>) -> T {
        let started = Instant::now();
        loop {
            let last = match ask().await {
                Ok(Some(answer)) => return answer,
                Ok(None) => String::new(),
                Err(fault) if fault.may_pass() => format!(" ({fault})"),
                Err(fault) => self.fail(&format!("{what}: {fault}")).await,
            };
            if started.elapsed() > self.patience {
                self.fail(&format!("no sign after {:?} of {what}{last}", self.patience)).await;
            }
            tokio::time::sleep(POLL_INTERVAL).await;
        }
    }

    /// Fails the test with a description of the page.
    pub async fn fail(&self, why: &str) -> ! {
        let page = describe(&self.session).await;
        panic!("{why}\n{page}");
    }
}

/// A permit, once one is free.
async fn waited<'a, E: std::fmt::Debug>(
    permit: impl Future<Output = Result<SemaphorePermit<'a>, E>>,
) -> SemaphorePermit<'a> {
    let waited = tokio::time::timeout(PERMIT_PATIENCE, permit).await;
    waited.expect("other tests never close their browsers").unwrap()
}

fn capabilities(browser: &Path, directory: &Path) -> Value {
    let mut arguments = ARGUMENTS.map(str::to_owned).to_vec();
    arguments.push(format!("--user-data-dir={}", directory.join("profile").display()));
    if driver::is_root() {
        arguments.push("--no-sandbox".to_owned());
    }
    let limit = u64::try_from(PATIENCE.as_millis()).unwrap();
    json!({
        "browserName": "chrome",
        "goog:chromeOptions": { "binary": browser, "args": arguments },
        "goog:loggingPrefs": { "browser": "ALL", "performance": "ALL" },
        "timeouts": { "implicit": 0, "pageLoad": limit, "script": limit },
    })
}

/// The page's URL, title and the beginning of its text.
async fn describe(session: &Session) -> String {
    let word = |answer: Done<String>| answer.unwrap_or_else(|fault| format!("({fault})"));
    let text = session.run("return document.body?.innerText ?? ''", json!([])).await;
    let text = word(text.map(|text| text.as_str().unwrap_or_default().to_owned()));
    let text: String = text.chars().take(SHOWN_CHARACTERS).collect();
    format!("at {}\ntitle: {}\n{text}", word(session.text("/url").await), word(session.text("/title").await))
}

/// Saves a screenshot and the source of the page for the investigation of a failure; returns a line that says where.
async fn save_failure(session: &Session, name: Option<&str>) -> String {
    static SAVED: AtomicU64 = AtomicU64::new(1);
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(FAILURES);
    let name: String = name.unwrap_or("unnamed").replace("::", ".");
    let name = format!("{name}-{}-{}", std::process::id(), SAVED.fetch_add(1, Ordering::Relaxed));
    let picture = session.devtools("Page.captureScreenshot", json!({ "format": "png" })).await;
    let picture = picture.ok().and_then(|taken| STANDARD.decode(taken["data"].as_str()?).ok()).unwrap_or_default();
    let source = session.text("/source").await.unwrap_or_default();
    let saved = fs::create_dir_all(&folder)
        .and_then(|()| fs::write(folder.join(format!("{name}.png")), picture))
        .and_then(|()| fs::write(folder.join(format!("{name}.html")), source));
    match saved {
        Ok(()) => format!("the page is saved as {FAILURES}/{name}.png and .html"),
        Err(error) => format!("the page cannot be saved in {FAILURES}: {error}"),
    }
}
