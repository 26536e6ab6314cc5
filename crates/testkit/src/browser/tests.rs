//! Tests of the browser itself, on a small site of their own: that it does, sees and checks what it says.

mod site;

use std::{
    fs,
    io::{BufRead, BufReader, Read},
    net::TcpListener,
    panic::AssertUnwindSafe,
    path::{Path, PathBuf},
    process::{Command, Stdio, exit},
    thread,
    time::{Duration, Instant},
};

use futures_util::FutureExt;

use self::site::{QR_SAYS, Site};
use super::{Browser, FAILURES, Look, PATIENCE, POLL_INTERVAL, Violation, decode_qr, driver::Driver};

/// Set in the environment of the process that a test starts and kills.
const ENDS: &str = "LUNAS_TEST_BROWSER_ENDS";
/// For waits that must fail.
const IMPATIENCE: Duration = Duration::from_millis(200);

async fn opened(look: Look, path: &str) -> (Site, Browser) {
    let (site, browser) = (Site::start().await, Browser::open(look).await);
    browser.goto(&site.url(path)).await;
    (site, browser)
}

/// The message of an act that must fail.
async fn failure(act: impl Future<Output = ()>) -> String {
    let failed = AssertUnwindSafe(act).catch_unwind().await.expect_err("it does not fail");
    *failed.downcast::<String>().expect("a failure is words")
}

fn ids(violations: &[Violation]) -> Vec<&str> {
    violations.iter().map(|violation| violation.id.as_str()).collect()
}

fn png_size(png: &[u8]) -> (u32, u32) {
    let reader = png::Decoder::new(std::io::Cursor::new(png)).read_info().unwrap();
    (reader.info().width, reader.info().height)
}

#[tokio::test]
async fn a_good_page_passes_every_check_and_a_bad_one_fails_each() {
    let (site, browser) = opened(Look::phone(), "/good").await;
    for look in [Look::phone(), Look::narrow().dark(), Look::desktop().zoomed(), Look::desktop().dark()] {
        browser.look_with(look).await;
        browser.check_page().await;
        assert_eq!(browser.axe_undecided().await, []);
    }
    assert_eq!(browser.console_errors().await, [""; 0]);

    browser.goto(&site.url("/bad")).await;
    for look in [Look::narrow(), Look::desktop()] {
        browser.look_with(look).await;
        let violations = browser.axe().await;
        let found = ids(&violations);
        assert!(found.contains(&"image-alt") && found.contains(&"color-contrast"), "{violations:?}");
        let pale = violations.iter().find(|violation| violation.id == "color-contrast").unwrap();
        assert_eq!(pale.targets, ["#pale"]);
        let undecided = browser.axe_undecided().await;
        let pictured = undecided.iter().find(|violation| violation.id == "color-contrast").unwrap();
        assert_eq!(pictured.targets, ["#pictured"]);
        assert!(browser.has_sideways_scroll().await);
        let small = browser.small_targets().await.join("\n");
        for name in ["button#tiny \"x\" (20 × 20)", "a#crowded", "label#dots"] {
            assert!(small.contains(name), "{name} is not in:\n{small}");
        }
    }
    let said = failure(browser.check_page()).await;
    for part in ["image-alt: ", "too small to hit: button#tiny", "it scrolls sideways", "/bad", "title: Salah", "Pucat"]
    {
        assert!(said.contains(part), "`{part}` is not in:\n{said}");
    }
}

#[tokio::test]
async fn script_errors_and_breaches_of_the_policy_are_on_the_console_once() {
    let (site, browser) = opened(Look::phone(), "/bad").await;
    let errors = browser.console_errors().await;
    assert!(errors.iter().any(|error| error.contains("undefinedFunction is not defined")), "{errors:?}");
    assert!(errors.iter().any(|error| error.contains("Content Security Policy")), "{errors:?}");
    assert_eq!(browser.console_errors().await, [""; 0]);
    browser.goto(&site.url("/nowhere")).await;
    let errors = browser.console_errors().await;
    assert!(errors.iter().any(|error| error.contains("404")), "{errors:?}");
}

#[tokio::test]
async fn a_page_without_a_viewport_scrolls_sideways_on_a_phone() {
    let (_site, browser) = opened(Look::phone(), "/language").await;
    assert!(browser.has_sideways_scroll().await);
}

/// Fonts that `make fonts` installs besides the pinned ones, and that desktops have, must not decide how a page is laid out.
#[tokio::test]
async fn a_browser_sees_the_pinned_fonts_and_no_others_of_the_machine() {
    let (_site, browser) = opened(Look::phone(), "/good").await;
    let width = |font: &str| {
        let script = format!(
            "(() => {{ const pen = document.createElement('canvas').getContext('2d'); pen.font = `20px {font}`; \
             return pen.measureText('illimwwm').width; }})()"
        );
        let browser = &browser;
        async move { browser.evaluate(&script).await.as_f64().unwrap() }
    };
    let (wide, code) = (width("\"DejaVu Sans\"").await, width("\"DejaVu Sans Mono\"").await);
    assert!(wide != code && width("\"Liberation Sans Narrow\"").await < wide);
    for family in ["sans-serif", "system-ui", "serif"] {
        assert_eq!(width(family).await, wide, "{family}");
    }
    assert_eq!(width("monospace").await, code);
    for font in ["Liberation Serif", "Liberation Sans", "DejaVu Serif", "Noto Sans", "Roboto", "Inter"] {
        assert_eq!(width(&format!("\"{font}\", monospace")).await, code, "{font}");
    }
}

#[tokio::test]
async fn a_look_is_what_the_page_sees() {
    let (site, browser) = opened(Look::narrow(), "/good").await;
    let sees = "[innerWidth, innerHeight, devicePixelRatio, matchMedia('(prefers-color-scheme: dark)').matches,
        matchMedia('(prefers-reduced-motion: reduce)').matches, matchMedia('(pointer: coarse)').matches, navigator.language]";
    let light = serde_json::json!([320, 568, 2, false, false, true, "id"]);
    assert_eq!(browser.evaluate(sees).await, light);
    browser.look_with(Look::desktop().dark().english().with_reduced_motion()).await;
    browser.reload().await;
    let dark = serde_json::json!([1280, 800, 1, true, true, false, "en"]);
    assert_eq!(browser.evaluate(sees).await, dark);
    assert_eq!(png_size(&browser.screenshot().await), (1280, 800));
    for (look, asked) in [(Look::phone(), "id"), (Look::phone().english(), "en")] {
        browser.look_with(look).await;
        browser.goto(&site.url("/language")).await;
        assert_eq!(browser.text("p").await, asked);
    }
}

#[tokio::test]
async fn with_script_off_pages_run_none_and_can_still_be_used_and_checked() {
    let (site, browser) = opened(Look::phone().without_script(), "/good").await;
    assert_eq!(browser.text("#plain").await, "Tanpa skrip");
    browser.click("#copy").await;
    assert_eq!(browser.text("#state").await, "");
    browser.check_page().await;
    browser.choose("#bca").await;
    browser.fill("#name", "Sari").await;
    browser.click("#pay").await;
    let url = browser.wait_for_url(|url| url.contains('?')).await;
    assert_eq!(url, site.url("/good?method=bca&name=Sari"));
    browser.look_with(Look::phone()).await;
    browser.reload().await;
    assert!(!browser.is_shown("#plain").await);
}

#[tokio::test]
async fn a_person_can_fill_choose_press_and_copy() {
    let (site, browser) = opened(Look::phone(), "/good").await;
    assert_eq!(browser.title().await, "Bayar");
    assert_eq!(browser.attribute("html", "lang").await.as_deref(), Some("id"));
    assert_eq!(browser.attribute("html", "class").await, None);
    browser.click("#copy").await;
    browser.wait_for_text("#state", "Tersalin").await;
    assert_eq!(browser.clipboard().await, "8808123412341234");
    assert_eq!(browser.count("textarea").await, 0);
    assert_eq!(browser.attribute("#copy", "data-clicks").await.as_deref(), Some("1"));
    browser.double_click("#copy").await;
    assert_eq!(browser.attribute("#copy", "data-clicks").await.as_deref(), Some("3"));

    assert!(!browser.is_shown("#late").await);
    browser.fill("#name", "Budi").await;
    browser.fill("#name", "Sari").await;
    assert_eq!(browser.value("#name").await, "Sari");
    browser.wait_for("#late").await;
    browser.click("#late").await;
    browser.wait_until_gone("#late").await;
    browser.wait_for_text("#state", "first").await;

    browser.choose("#qris").await;
    browser.choose("#bca").await;
    assert_eq!(browser.evaluate("[qris.checked, bca.checked]").await, serde_json::json!([false, true]));
    assert_eq!(browser.count("input[type=radio]").await, 2);
    browser.click("#name").await;
    browser.press("Tab").await;
    assert_eq!(browser.focused().await, "button#pay");
    browser.press("Shift+Tab").await;
    assert_eq!(browser.focused().await, "input#name");
    browser.press("Enter").await;
    browser.wait_for_url(|url| url.ends_with("?method=bca&name=Sari")).await;
    browser.back().await;
    assert_eq!(browser.url().await, site.url("/good"));
    browser.click("#save").await;
    assert_eq!(decode_qr(&browser.downloaded("REF-1.png").await).as_deref(), Some(QR_SAYS));
    assert_eq!(browser.console_errors().await, [""; 0]);
}

#[tokio::test]
async fn a_qr_code_on_a_screenshot_can_be_read() {
    let (_site, browser) = opened(Look::narrow(), "/good").await;
    for look in [Look::narrow(), Look::phone().dark(), Look::desktop()] {
        browser.look_with(look).await;
        assert_eq!(decode_qr(&browser.screenshot_of("#code").await).as_deref(), Some(QR_SAYS));
        assert_eq!(decode_qr(&browser.page_screenshot().await).as_deref(), Some(QR_SAYS));
    }
    assert_eq!(decode_qr(&browser.screenshot_of("h1").await), None);
    let (_, height) = png_size(&browser.page_screenshot().await);
    browser.look_with(Look { height: 200, ..Look::desktop() }).await;
    assert_eq!(png_size(&browser.screenshot().await), (1280, 200));
    assert!(height > 200 && png_size(&browser.page_screenshot().await).1 > 200);
    assert_eq!(decode_qr(&browser.screenshot().await), None, "the code is further down");
}

#[tokio::test]
async fn traffic_is_what_was_received_since_the_last_call() {
    let (site, browser) = opened(Look::phone(), "/moved").await;
    let traffic = browser.traffic().await;
    let paths: Vec<(String, Option<u16>)> =
        traffic.iter().map(|transfer| (transfer.url.replace(&site.url(""), ""), transfer.status)).collect();
    let expected = [("/moved", 303), ("/good", 200), ("/good.css", 200), ("/good.js", 200), ("/code.png", 200)];
    assert_eq!(paths, expected.map(|(path, status)| (path.to_owned(), Some(status))));
    let page = &traffic[1];
    let body = u64::try_from(include_str!("tests/good.html").len()).unwrap();
    assert!(page.bytes > body && page.bytes < body + 1_000, "head and body are counted: {page:?}, {body}");
    assert!(traffic.iter().all(|transfer| transfer.bytes > 0 && transfer.is_finished && transfer.method == "GET"));
    assert_eq!(browser.traffic().await, []);

    browser.fill("#name", "Sari").await;
    browser.click("#late").await;
    browser.wait_for_text("#state", "first").await;
    let streams = browser.traffic().await;
    assert_eq!(streams.len(), 1);
    assert!(streams[0].is_stream && !streams[0].is_finished && streams[0].bytes > 0, "{streams:?}");
}

#[tokio::test]
async fn a_browser_has_its_own_cookies_and_forgets_them() {
    let site = Site::start().await;
    let (first, second) = Browser::open_two(Look::phone(), Look::desktop()).await;
    first.goto(&site.url("/good")).await;
    let cookies = first.cookies().await;
    assert_eq!(cookies.len(), 1);
    assert_eq!((cookies[0]["name"].as_str(), cookies[0]["httpOnly"].as_bool()), (Some("visited"), Some(true)));
    second.goto(&site.url("/endless-not")).await;
    assert_eq!(second.cookies().await, [serde_json::Value::Null; 0]);
    first.evaluate("localStorage.setItem('kept', 'yes')").await;
    first.forget().await;
    assert_eq!(first.evaluate("localStorage.length").await, 0);
    assert_eq!(first.cookies().await, [serde_json::Value::Null; 0]);
}

#[tokio::test]
async fn a_wait_that_fails_describes_the_page() {
    let (site, mut browser) = opened(Look::phone(), "/good").await;
    browser.patience = IMPATIENCE;
    let said = failure(browser.wait_for("#never")).await;
    let address = format!("at {}", site.url("/good"));
    for part in ["no sign after 200ms of `#never`", "no such element", &address, "title: Bayar", "Pilih cara bayar"] {
        assert!(said.contains(part), "`{part}` is not in:\n{said}");
    }
    let vain = [
        failure(browser.wait_for("#late")).await,
        failure(browser.click("#late")).await,
        failure(browser.fill("#late", "Sari")).await,
        failure(browser.wait_until_gone("#copy")).await,
        failure(browser.wait_until("document.title === ''")).await,
        failure(async { drop(browser.wait_for_text("h1", "Lunas").await) }).await,
        failure(async { drop(browser.wait_for_url(|url| url.ends_with("/pay")).await) }).await,
        failure(async { drop(browser.downloaded("nothing.png").await) }).await,
    ];
    for said in vain {
        assert!(said.contains("no sign after 200ms") && said.contains("title: Bayar"), "{said}");
    }
    let said = failure(async { drop(browser.evaluate("nonsense.member").await) }).await;
    assert!(said.contains("nonsense is not defined"), "{said}");
    let closed = TcpListener::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap();
    let said = failure(browser.goto(&format!("http://{closed}/"))).await;
    assert!(said.contains("ERR_CONNECTION_REFUSED"), "{said}");
}

#[tokio::test]
async fn a_test_that_fails_leaves_a_screenshot_of_the_page() {
    let (_site, browser) = opened(Look::phone(), "/good").await;
    let directory = browser.directory.clone();
    assert!(directory.join("profile").exists());
    let said = failure(async move {
        browser.wait_for("h1").await;
        panic!("{}", "as meant");
    })
    .await;
    assert_eq!(said, "as meant");
    assert!(!directory.exists(), "a closed browser leaves nothing else");
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(FAILURES);
    let ours = format!("browser.tests.a_test_that_fails_leaves_a_screenshot_of_the_page-{}", std::process::id());
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut kept: Vec<PathBuf> =
        entries.filter(|path| path.file_name().unwrap().to_str().unwrap().starts_with(&ours)).collect();
    kept.sort();
    assert_eq!(kept.len(), 2, "{kept:?}");
    assert!(fs::read_to_string(&kept[0]).unwrap().contains("Pilih cara bayar"));
    assert_eq!(png_size(&fs::read(&kept[1]).unwrap()), (720, 1480));
    kept.iter().for_each(|path| fs::remove_file(path).unwrap());
}

/// How many processes have their working directory in `directory`, even if it has been removed.
fn working_in(directory: &Path) -> usize {
    let entries = fs::read_dir("/proc").unwrap().filter_map(|entry| Some(entry.ok()?.path()));
    entries.filter(|entry| fs::read_link(entry.join("cwd")).is_ok_and(|path| path.starts_with(directory))).count()
}

#[test]
fn a_process_that_ends_in_any_way_leaves_no_browser() {
    for ends in ["by exit", "by kill"] {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "browser::tests::another_process", "--ignored", "--nocapture"]).env(ENDS, ends);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
        let directory = lines.find_map(|line| Some(PathBuf::from(line.split_once("directory: ")?.1))).unwrap();
        assert!(working_in(&directory) > 2, "a browser runs");
        if ends == "by exit" {
            drop(child.stdin.take());
        } else {
            child.kill().unwrap();
        }
        child.wait().unwrap();
        let started = Instant::now();
        while directory.exists() {
            assert!(started.elapsed() < PATIENCE, "{} is still there", directory.display());
            thread::sleep(POLL_INTERVAL);
        }
        assert_eq!(working_in(&directory), 0);
    }
}

#[tokio::test]
#[ignore = "the process that `a_process_that_ends_in_any_way_leaves_no_browser` starts; alone it does nothing"]
async fn another_process() {
    if std::env::var(ENDS).is_err() {
        return;
    }
    let _browser = Browser::open(Look::phone()).await;
    println!("\ndirectory: {}", Driver::shared().directory().display());
    // Waits until it is killed or its input ends.
    let _ = std::io::stdin().read(&mut [0]);
    exit(0);
}
