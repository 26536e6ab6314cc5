//! Hostile texts, and how a page in a real browser shows that none of them did anything.

use serde_json::json;
use testkit::Browser;

/// Each would set `window.hacked`, open a dialog or load something if a page took it for more than text.
pub(crate) const HOSTILE: [&str; 40] = [
    "<script>window.hacked=1</script>",
    "</script><script>window.hacked=1</script>",
    "<ScRiPt>window.hacked=1</sCrIpT>",
    "<script src=/hacked.js></script>",
    "<img src=x onerror=window.hacked=1>",
    "<img src=/hacked.png>",
    "<svg onload=window.hacked=1>",
    "<svg><script>window.hacked=1</script></svg>",
    "<svg/onload=window.hacked=1//",
    "<body onload=window.hacked=1>",
    "<iframe srcdoc='<script>parent.hacked=1</script>'></iframe>",
    "<iframe src=javascript:parent.hacked=1></iframe>",
    "<a href=javascript:window.hacked=1>x</a>",
    "<object data=/hacked></object>",
    "<embed src=/hacked>",
    "<link rel=stylesheet href=/hacked.css>",
    "<style>body{display:none}</style>",
    "<style>@import '/hacked.css';</style>",
    "<meta http-equiv=refresh content='0;url=/hacked'>",
    "<base href=https://hacked.invalid/>",
    "<form action=/hacked><button>x</button></form>",
    "<input autofocus onfocus=window.hacked=1>",
    "<details open ontoggle=window.hacked=1>",
    "<video><source onerror=window.hacked=1></video>",
    "<math><mtext><script>window.hacked=1</script>",
    "<template><script>window.hacked=1</script></template>",
    "\" onmouseover=window.hacked=1 x=\"",
    "' onmouseover=window.hacked=1 x='",
    "\"><script>window.hacked=1</script>",
    "'><script>window.hacked=1</script>",
    "</title><script>window.hacked=1</script>",
    "</textarea><script>window.hacked=1</script>",
    "--><script>window.hacked=1</script>",
    "]]><script>window.hacked=1</script>",
    "{{7*7}}{% raw %}${7*7}<%= 7*7 %>",
    "{ $merchant } { -brand } { hacked() }",
    "javascript:window.hacked=1",
    "&lt;script&gt;window.hacked=1&lt;/script&gt;",
    "&#60;script&#62;window.hacked=1&#60;/script&#62;",
    "\u{feff}\u{2028}＜script＞window.hacked=1＜/script＞",
];

/// A text that is refused where it is input, since it shows what follows it from right to left. Rows of before that was
/// so may hold it.
pub(crate) const OF_BEFORE: &str = "Kopi \u{202e}<script>window.hacked=1</script>\u{2066}usus";

/// What a page shows, and what a text would leave behind if the page had taken it for anything but text.
const TRACES: &str = "({ ran: window.hacked !== undefined, \
                      foreign: document.querySelectorAll('iframe, object, embed, style, base, video, template, math').length, \
                      scripts: document.scripts.length, shown: document.body.innerText })";

/// Checks that a text left no trace on the page; returns what the page shows.
pub(crate) async fn left_no_trace(browser: &Browser, text: &str, place: &str) -> String {
    let found = browser.evaluate(TRACES).await;
    assert_eq!(found["ran"], json!(false), "{text} ran in {place}");
    assert_eq!(found["foreign"], json!(0), "{text} in {place}");
    assert_eq!(found["scripts"], json!(1), "{text} in {place}");
    // What the content security policy blocked would be logged here.
    let errors = browser.console_errors().await;
    let is_answer = |error: &&String| ["401", "409", "422"].iter().any(|status| error.contains(status));
    let loads: Vec<&String> = errors.iter().filter(|error| !is_answer(error)).collect();
    assert_eq!(loads, [""; 0], "{text} in {place}");
    found["shown"].as_str().unwrap().to_owned()
}

/// Checks that a text left no trace, and is shown as it is.
pub(crate) async fn is_shown_as_text(browser: &Browser, text: &str, place: &str) {
    let shown = left_no_trace(browser, text, place).await;
    assert!(contains(&shown, text), "{text} is not shown in {place}: {shown}");
}

/// Whether a page shows a text unchanged. Browsers collapse white space.
pub(crate) fn contains(shown: &str, text: &str) -> bool {
    let plain = |text: &str| text.chars().filter(|c| !c.is_whitespace()).collect::<String>();
    plain(shown).contains(&plain(text))
}
