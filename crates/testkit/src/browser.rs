//! Pages as customers see them: Chromium without a window, driven by what a person does and asked for what a person sees.
//!
//! Every wait has a limit. A failure tells the URL, the title and the beginning of the page, and leaves a picture of it in
//! `target/browser-failures`; so does a test that fails while its browser is open.

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
const LOOK_AGAIN: Duration = Duration::from_millis(20);
/// How long a test waits until others have closed their browsers; all tests of a process may be before it.
const TURN_PATIENCE: Duration = Duration::from_secs(600);
/// How many browsers a process has open: one for each core, since each keeps one busy, and no more than memory allows.
const BROWSERS_LEAST: usize = 2;
const BROWSERS_MOST: usize = 4;
/// How much of the page's text a failure shows.
const SHOWN_CHARACTERS: usize = 600;
/// Where pictures of failures go, below the root of the repository.
const FAILURES: &str = "target/browser-failures";
/// It starts quickly, asks nobody but our servers for anything and needs no graphics.
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
    // A container's shared memory may be too small for a page.
    "--disable-dev-shm-usage",
    // The password manager and its like would wait for a key ring that a server does not have.
    "--password-store=basic",
];

static TURNS: LazyLock<Semaphore> = LazyLock::new(|| {
    let cores = thread::available_parallelism().map_or(BROWSERS_LEAST, usize::from);
    Semaphore::new(cores.clamp(BROWSERS_LEAST, BROWSERS_MOST))
});

/// A browser of its own, with no history, no cookies and an empty cache. It is closed with this value.
pub struct Browser {
    session: Session,
    /// The profile and what was downloaded.
    directory: PathBuf,
    user_agent: String,
    look: Mutex<Look>,
    patience: Duration,
    /// Given to the next when this browser is closed: fields are dropped after that.
    _turn: SemaphorePermit<'static>,
}

/// Opening and closing.
impl Browser {
    /// Waits for its turn. A test that wants two at once takes them by [`Browser::open_two`].
    pub async fn open(look: Look) -> Browser {
        let turn = TURNS.acquire();
        Browser::start(look, waited(turn).await).await
    }

    /// Two browsers that know nothing of each other. Both turns are taken together, so that no test waits for another's second.
    pub async fn open_two(first: Look, second: Look) -> (Browser, Browser) {
        let mut turns = waited(TURNS.acquire_many(2)).await;
        let other = turns.split(1).unwrap();
        (Browser::start(first, turns).await, Browser::start(second, other).await)
    }

    async fn start(look: Look, turn: SemaphorePermit<'static>) -> Browser {
        let driver = Driver::shared();
        let directory = driver.fresh_directory();
        let started = Session::start(&driver.url(), &capabilities(driver.browser(), &directory)).await;
        let session = started.unwrap_or_else(|fault| panic!("Chromium does not start: {fault}"));
        let (user_agent, patience) = (String::new(), PATIENCE);
        let mut browser =
            Browser { session, directory, user_agent, look: Mutex::new(look.clone()), patience, _turn: turn };
        let version = browser.devtools("Browser.getVersion", json!({})).await;
        browser.user_agent = version["userAgent"].as_str().unwrap_or_default().to_owned();
        let downloads = json!({ "behavior": "allow", "downloadPath": browser.downloads() });
        browser.devtools("Browser.setDownloadBehavior", downloads).await;
        // The page believes that it is looked at, as that of somebody who has one window.
        browser.devtools("Emulation.setFocusEmulationEnabled", json!({ "enabled": true })).await;
        browser.look_with(look).await;
        browser
    }

    /// Looks at pages with something else from now on. What is shown is laid out anew at once, but only the next request is
    /// made in another language, and only the next page notices that script is off. It takes less time than a new browser.
    pub async fn look_with(&self, look: Look) {
        for (method, parameters) in look.commands(&self.user_agent) {
            self.devtools(method, parameters).await;
        }
        *self.locked_look() = look;
    }

    /// Forgets cookies, storage and cache, as if nobody had been anywhere.
    pub async fn forget(&self) {
        for method in ["Network.clearBrowserCookies", "Network.clearBrowserCache"] {
            self.devtools(method, json!({})).await;
        }
        let everything = json!({ "origin": "*", "storageTypes": "all" });
        self.devtools("Storage.clearDataForOrigin", everything).await;
    }

    /// What pages are looked at with now.
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
        // Of its own runtime, as this one may be at its end, and nothing here may wait for it.
        let closing = thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                if failing {
                    println!("{}", keep(&session, name.as_deref()).await);
                }
                // A browser that cannot be closed any more is ended with the process.
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

    /// Asks again until there is an answer. A fault that may pass is none.
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
            tokio::time::sleep(LOOK_AGAIN).await;
        }
    }

    /// Fails the test, and tells what is on the screen.
    pub async fn fail(&self, why: &str) -> ! {
        let page = describe(&self.session).await;
        panic!("{why}\n{page}");
    }
}

/// A turn, once there is one.
async fn waited<'a, E: std::fmt::Debug>(
    turn: impl Future<Output = Result<SemaphorePermit<'a>, E>>,
) -> SemaphorePermit<'a> {
    let waited = tokio::time::timeout(TURN_PATIENCE, turn).await;
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

/// The page in words.
async fn describe(session: &Session) -> String {
    let word = |told: Done<String>| told.unwrap_or_else(|fault| format!("({fault})"));
    let text = session.run("return document.body?.innerText ?? ''", json!([])).await;
    let text = word(text.map(|text| text.as_str().unwrap_or_default().to_owned()));
    let text: String = text.chars().take(SHOWN_CHARACTERS).collect();
    format!("at {}\ntitle: {}\n{text}", word(session.text("/url").await), word(session.text("/title").await))
}

/// Leaves a picture and the source of the page to whoever looks into the failure; answers where.
async fn keep(session: &Session, name: Option<&str>) -> String {
    static KEPT: AtomicU64 = AtomicU64::new(1);
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(FAILURES);
    let name: String = name.unwrap_or("unnamed").replace("::", ".");
    let name = format!("{name}-{}-{}", std::process::id(), KEPT.fetch_add(1, Ordering::Relaxed));
    let picture = session.devtools("Page.captureScreenshot", json!({ "format": "png" })).await;
    let picture = picture.ok().and_then(|taken| STANDARD.decode(taken["data"].as_str()?).ok()).unwrap_or_default();
    let source = session.text("/source").await.unwrap_or_default();
    let kept = fs::create_dir_all(&folder)
        .and_then(|()| fs::write(folder.join(format!("{name}.png")), picture))
        .and_then(|()| fs::write(folder.join(format!("{name}.html")), source));
    match kept {
        Ok(()) => format!("the page is kept as {FAILURES}/{name}.png and .html"),
        Err(error) => format!("the page cannot be kept in {FAILURES}: {error}"),
    }
}
