//! Pages as customers see them: Chromium without a window, driven by what a person does and asked for what a person sees.
//!
//! Every wait has a limit. A failure tells the URL, the title and the beginning of the page, and leaves a picture of it in
//! `target/browser-failures`; so does a test that fails while its browser is open.

mod acts;
mod checks;
mod driver;
mod fonts;
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
/// How long a page may take to load, and a script to end. Axe looks at a long page with all of a core, which a busy machine does
/// not have for it.
const PAGE_LIMIT: Duration = Duration::from_secs(90);
const POLL_INTERVAL: Duration = Duration::from_millis(20);
/// How long a test waits until others have closed their browsers; all tests of a process may be before it.
const TURN_PATIENCE: Duration = Duration::from_secs(600);
/// How many browsers a process has open: one for each core, since each keeps one busy, and no more than memory allows.
const BROWSERS_LEAST: usize = 2;
const BROWSERS_MOST: usize = 4;
/// How much of the page's text a failure shows.
const SHOWN_CHARACTERS: usize = 600;
/// Where a browser puts what it downloads, below its directory.
const DOWNLOADS: &str = "downloads";
/// Where screenshots of failures are saved, below the root of the repository.
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

static PERMITS: LazyLock<Semaphore> = LazyLock::new(|| {
    let cores = thread::available_parallelism().map_or(BROWSERS_LEAST, usize::from);
    Semaphore::new(cores.clamp(BROWSERS_LEAST, BROWSERS_MOST))
});

/// Chromium processes that tests have closed, as new: to start one takes a second or two, and the next test uses one of these.
static IDLE: Mutex<Vec<Process>> = Mutex::new(Vec::new());

/// A Chromium that runs.
struct Process {
    session: Session,
    /// The profile and the downloads.
    directory: PathBuf,
    user_agent: String,
}

/// A browser with no history, no cookies and an empty cache. It is closed with this value.
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
        tokio::join!(Browser::start(first, permits), Browser::start(second, other))
    }

    async fn start(look: Look, permit: SemaphorePermit<'static>) -> Browser {
        let idle = IDLE.lock().unwrap().pop();
        let process = match idle {
            Some(process) => Process { session: process.session.again(), ..process },
            None => Process::start().await,
        };
        let Process { session, directory, user_agent } = process;
        let shown = Mutex::new(look.clone());
        let browser = Browser { session, directory, user_agent, look: shown, patience: PATIENCE, _permit: permit };
        let downloads = json!({ "behavior": "allow", "downloadPath": browser.downloads() });
        browser.devtools("Browser.setDownloadBehavior", downloads).await;
        // Chromium lets the page in front write to the clipboard; its headless shell would ask a user whom it does not have.
        let copying = json!({ "permission": { "name": "clipboard-write" }, "setting": "granted" });
        browser.devtools("Browser.setPermission", copying).await;
        // The page must behave as in a focused window, which a headless browser does not have.
        browser.devtools("Emulation.setFocusEmulationEnabled", json!({ "enabled": true })).await;
        for (method, parameters) in look.commands(&browser.user_agent) {
            browser.devtools(method, parameters).await;
        }
        browser
    }

    /// Changes what pages are looked at with. The page is laid out anew at once, but only the next request asks for another
    /// language, and only the next page notices that script is off.
    pub async fn look_with(&self, look: Look) {
        let known = self.look().commands(&self.user_agent);
        for command in look.commands(&self.user_agent) {
            if !known.contains(&command) {
                self.devtools(command.0, command.1).await;
            }
        }
        *self.locked_look() = look;
    }

    /// Deletes cookies, storage and cache.
    pub async fn forget(&self) {
        self.must("deleting cookies", forget(&self.session).await).await;
    }

    /// What pages are looked at with now.
    pub fn look(&self) -> Look {
        self.locked_look().clone()
    }

    fn locked_look(&self) -> MutexGuard<'_, Look> {
        self.look.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn downloads(&self) -> PathBuf {
        self.directory.join(DOWNLOADS)
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let (session, failing) = (self.session.again(), thread::panicking());
        let (directory, user_agent) = (self.directory.clone(), std::mem::take(&mut self.user_agent));
        let process = Process { session, directory, user_agent };
        let name = thread::current().name().map(str::to_owned);
        // On another thread with a runtime of its own, because the test's runtime may be at its end.
        let closing = thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(process.close(failing, name.as_deref()));
        });
        let _ = closing.join();
    }
}

impl Process {
    async fn start() -> Process {
        let driver = Driver::shared();
        let directory = driver.fresh_directory();
        let started = Session::start(&driver.url(), &capabilities(driver, &directory)).await;
        let session = started.unwrap_or_else(|fault| panic!("Chromium does not start: {fault}"));
        let version = session.devtools("Browser.getVersion", json!({})).await;
        let version = version.unwrap_or_else(|fault| panic!("Chromium does not start: {fault}"));
        let user_agent = version["userAgent"].as_str().unwrap_or_default().to_owned();
        Process { session, directory, user_agent }
    }

    /// Keeps the process for the next test, unless this test fails: what is wrong with its browser then is not known.
    async fn close(self, failing: bool, name: Option<&str>) {
        if failing {
            println!("{}", keep(&self.session, name).await);
        } else if self.renew().await.is_ok() {
            return IDLE.lock().unwrap().push(self);
        }
        // A browser that does not quit is killed when the process of the tests ends.
        let _ = self.session.quit().await;
        let _ = fs::remove_dir_all(&self.directory);
    }

    /// Makes it as new: another window, which has no history and none of the old one's settings, and nothing stored.
    async fn renew(&self) -> Done<()> {
        let old = self.session.get("/window/handles").await?;
        let new = self.session.post("/window/new", json!({ "type": "window" })).await?;
        for handle in old.as_array().into_iter().flatten() {
            self.session.switch_to(handle).await?;
            self.session.close_window().await?;
        }
        self.session.switch_to(&new["handle"]).await?;
        forget(&self.session).await?;
        for log in ["browser", "performance"] {
            self.session.log(log).await?;
        }
        // It may not exist, as not every test downloads something.
        let _ = fs::remove_dir_all(self.directory.join(DOWNLOADS));
        Ok(())
    }
}

async fn forget(session: &Session) -> Done<()> {
    for method in ["Network.clearBrowserCookies", "Network.clearBrowserCache"] {
        session.devtools(method, json!({})).await?;
    }
    let everything = json!({ "origin": "*", "storageTypes": "all" });
    session.devtools("Storage.clearDataForOrigin", everything).await.map(drop)
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
            tokio::time::sleep(POLL_INTERVAL).await;
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

fn capabilities(driver: &Driver, directory: &Path) -> Value {
    let mut arguments = ARGUMENTS.map(str::to_owned).to_vec();
    arguments.push(format!("--user-data-dir={}", directory.join("profile").display()));
    if driver::is_root() {
        arguments.push("--no-sandbox".to_owned());
    }
    let limit = u64::try_from(PAGE_LIMIT.as_millis()).unwrap();
    json!({
        "browserName": driver.browser_name(),
        "goog:chromeOptions": { "binary": driver.browser(), "args": arguments },
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
