//! What a person does with a page and sees on it: clicks, keys, texts, screenshots, downloads and requests. Every act waits until
//! its element is there and can be used.

use std::fs;

use base64::{Engine, engine::general_purpose::STANDARD};
use serde_json::{Value, json};

use super::{
    Browser, Transfer,
    session::{Done, Element},
    traffic::Traffic,
};

/// The keys that tests press, and their codes in WebDriver.
const KEYS: [(&str, &str); 7] = [
    ("Tab", "\u{e004}"),
    ("Enter", "\u{e007}"),
    ("Escape", "\u{e00c}"),
    ("Space", " "),
    ("Slash", "/"),
    ("ArrowUp", "\u{e013}"),
    ("ArrowDown", "\u{e015}"),
];
const SHIFT: &str = "\u{e008}";
const CONTROL: &str = "\u{e009}";
const PASTE_FIELD: &str = "return document.body.appendChild(document.createElement('textarea'))";
const PASTED: &str = "const text = arguments[0].value; arguments[0].remove(); return text";
/// Returns the label that a person would click, or the field if it has none.
const LABEL: &str = "return arguments[0].labels?.[0] ?? arguments[0]";
const FOCUSED: &str = "const element = document.activeElement;
return element === null ? '' : element.localName + (element.id === '' ? '' : '#' + element.id)";
const BOX: &str = "const box = arguments[0].getBoundingClientRect();
return { x: box.x + window.scrollX, y: box.y + window.scrollY, width: box.width, height: box.height }";

/// Navigation.
impl Browser {
    /// Opens a page and waits until it is loaded.
    pub async fn goto(&self, url: &str) {
        self.must(&format!("opening {url}"), self.session.post("/url", json!({ "url": url })).await).await;
    }

    pub async fn reload(&self) {
        self.must("loading the page again", self.session.post("/refresh", json!({})).await).await;
    }

    pub async fn back(&self) {
        self.must("going back", self.session.post("/back", json!({})).await).await;
    }

    /// Goes on inside a frame of the page: what follows is about the page in it.
    pub async fn enter_frame(&self, css: &str) {
        let ask = async || {
            let frame = self.session.find(css).await?;
            self.session.post("/frame", json!({ "id": frame.argument() })).await.map(Some)
        };
        self.until(&format!("the frame `{css}`"), ask).await;
    }

    /// Goes on with the page itself.
    pub async fn leave_frame(&self) {
        self.must("leaving the frame", self.session.post("/frame", json!({ "id": null })).await).await;
    }

    pub async fn url(&self) -> String {
        self.must("the address", self.session.text("/url").await).await
    }

    pub async fn title(&self) -> String {
        self.must("the title", self.session.text("/title").await).await
    }

    /// Waits until `wanted` accepts the URL, and returns it.
    pub async fn wait_for_url(&self, wanted: impl Fn(&str) -> bool) -> String {
        let ask = async || Ok(Some(self.session.text("/url").await?).filter(|url| wanted(url)));
        self.until("the wanted address", ask).await
    }
}

/// Mouse and keyboard. A CSS selector means the first element that it finds.
impl Browser {
    /// Clicks the middle of an element, once nothing covers it.
    pub async fn click(&self, css: &str) {
        let ask = async || {
            let element = self.session.find(css).await?;
            self.session.post(&self.session.on(&element, "click"), json!({})).await.map(Some)
        };
        self.until(&format!("`{css}` being clicked"), ask).await;
    }

    /// Clicks twice in quick succession, as impatient people do.
    pub async fn double_click(&self, css: &str) {
        let ask = async || {
            let element = self.session.find(css).await?;
            let there = json!({ "type": "pointerMove", "x": 0, "y": 0, "origin": element.argument() });
            let (down, up) =
                (json!({ "type": "pointerDown", "button": 0 }), json!({ "type": "pointerUp", "button": 0 }));
            let moves = json!([there, down, up, down, up]);
            let actions = json!({ "actions": [{ "type": "pointer", "id": "mouse", "actions": moves }] });
            self.session.post("/actions", actions).await.map(Some)
        };
        self.until(&format!("`{css}` being clicked twice"), ask).await;
    }

    /// Replaces the text of a field, key by key.
    pub async fn fill(&self, css: &str, text: &str) {
        let ask = async || {
            let element = self.session.find(css).await?;
            self.session.post(&self.session.on(&element, "clear"), json!({})).await?;
            self.session.post(&self.session.on(&element, "value"), json!({ "text": text })).await.map(Some)
        };
        self.until(&format!("`{css}` being filled"), ask).await;
    }

    /// Chooses a radio button or a checkbox by its label, and checks that it is chosen.
    pub async fn choose(&self, css: &str) {
        let ask = async || {
            let field = self.session.find(css).await?;
            let label = self.session.run(LABEL, json!([field.argument()])).await?;
            let label = Element::from(&label);
            // Scrolled to the middle, as a person would, so that bars at the edges of the screen do not cover it.
            self.session.run("arguments[0].scrollIntoView({ block: 'center' })", json!([label.argument()])).await?;
            self.session.post(&self.session.on(&label, "click"), json!({})).await?;
            let chosen = self.session.get(&self.session.on(&field, "selected")).await?;
            Ok((chosen == true).then_some(()))
        };
        self.until(&format!("`{css}` being chosen"), ask).await;
    }

    /// Presses a key, such as `Tab`, `Enter` or `Shift+Tab`, in the focused element.
    pub async fn press(&self, name: &str) {
        let key = name.strip_prefix("Shift+").unwrap_or(name);
        let found = KEYS.iter().find(|(known, _)| *known == key);
        let (_, code) = found.unwrap_or_else(|| panic!("`{key}` is none of the keys {KEYS:?}"));
        let stroke = |kind: &str, code: &str| json!({ "type": kind, "value": code });
        let mut strokes = vec![stroke("keyDown", code), stroke("keyUp", code)];
        if key != name {
            strokes.insert(0, stroke("keyDown", SHIFT));
            strokes.push(stroke("keyUp", SHIFT));
        }
        let actions = json!({ "actions": [{ "type": "key", "id": "keyboard", "actions": strokes }] });
        self.must(&format!("pressing {name}"), self.session.post("/actions", actions).await).await;
    }

    /// The focused element, such as `button#pay`; `body` if none is.
    pub async fn focused(&self) -> String {
        text_of(&self.run("the focus", FOCUSED, json!([])).await)
    }
}

/// What the page shows.
impl Browser {
    /// Waits until an element is visible.
    pub async fn wait_for(&self, css: &str) {
        let ask = async || {
            let element = self.session.find(css).await?;
            let shown = self.session.get(&self.session.on(&element, "displayed")).await?;
            Ok((shown == true).then_some(()))
        };
        self.until(&format!("`{css}`"), ask).await;
    }

    /// Waits until no such element is visible.
    pub async fn wait_until_gone(&self, css: &str) {
        self.until(&format!("`{css}` being gone"), async || Ok((!self.is_shown_now(css).await?).then_some(()))).await;
    }

    /// Waits until the text of an element contains `part`, and returns the whole text.
    pub async fn wait_for_text(&self, css: &str, part: &str) -> String {
        let ask = async || {
            let element = self.session.find(css).await?;
            let text = self.session.text(&self.session.on(&element, "text")).await?;
            Ok(text.contains(part).then_some(text))
        };
        self.until(&format!("the text `{part}` in `{css}`"), ask).await
    }

    /// The visible text of an element, once the element exists.
    pub async fn text(&self, css: &str) -> String {
        self.wait_for_text(css, "").await
    }

    /// Whether an element is visible now.
    pub async fn is_shown(&self, css: &str) -> bool {
        let shown = self.is_shown_now(css).await;
        self.must(css, shown).await
    }

    async fn is_shown_now(&self, css: &str) -> Done<bool> {
        for element in self.session.find_all(css).await? {
            match self.session.get(&self.session.on(&element, "displayed")).await {
                Ok(shown) if shown == true => return Ok(true),
                Err(fault) if !fault.may_pass() => return Err(fault),
                _ => {}
            }
        }
        Ok(false)
    }

    /// How many elements the selector finds now, including hidden ones.
    pub async fn count(&self, css: &str) -> usize {
        let found = self.session.find_all(css).await;
        self.must(css, found).await.len()
    }

    /// An attribute of an element, once the element exists.
    pub async fn attribute(&self, css: &str, name: &str) -> Option<String> {
        let body = "return arguments[0].getAttribute(arguments[1])";
        let found = self.with_element(css, body, json!(name)).await;
        found.as_str().map(str::to_owned)
    }

    /// The value of a field.
    pub async fn value(&self, css: &str) -> String {
        text_of(&self.with_element(css, "return arguments[0].value", Value::Null).await)
    }

    async fn with_element(&self, css: &str, body: &str, argument: Value) -> Value {
        let ask = async || {
            let element = self.session.find(css).await?;
            self.session.run(body, json!([element.argument(), argument])).await.map(Some)
        };
        self.until(&format!("`{css}`"), ask).await
    }

    /// The value of a JavaScript expression in the page; a promise is awaited. It works even where the page may run no scripts.
    pub async fn evaluate(&self, expression: &str) -> Value {
        self.run(expression, &format!("return ({expression})"), json!([])).await
    }

    /// Waits until a JavaScript expression is true.
    pub async fn wait_until(&self, expression: &str) {
        let body = format!("return Boolean({expression})");
        let ask = async || Ok((self.session.run(&body, json!([])).await? == true).then_some(()));
        self.until(&format!("`{expression}`"), ask).await;
    }

    /// The content of the clipboard, read by pasting it, which no policy of the page can forbid.
    pub async fn clipboard(&self) -> String {
        let field = self.run("when a field is made to paste into", PASTE_FIELD, json!([])).await;
        let field = Element::from(&field);
        let keys = json!({ "text": format!("{CONTROL}v") });
        self.must("pasting", self.session.post(&self.session.on(&field, "value"), keys).await).await;
        text_of(&self.run("when the pasted is read", PASTED, json!([field.argument()])).await)
    }

    /// The cookies that a request to this page would carry, as WebDriver writes them: `name`, `value`, `httpOnly`, `sameSite` …
    pub async fn cookies(&self) -> Vec<Value> {
        let cookies = self.session.get("/cookie").await;
        self.must("the cookies", cookies).await.as_array().cloned().unwrap_or_default()
    }

    /// Waits for a downloaded file, and returns its content.
    pub async fn downloaded(&self, name: &str) -> Vec<u8> {
        let path = self.downloads().join(name);
        // Chromium gives it this name only when it is complete.
        self.until(&format!("the download {name}"), async || Ok(fs::read(&path).ok())).await
    }
}

/// Screenshots and logs.
impl Browser {
    /// A screenshot of the visible part, as a PNG.
    pub async fn screenshot(&self) -> Vec<u8> {
        self.capture(json!({ "format": "png" })).await
    }

    /// A screenshot of the whole page, as a PNG.
    pub async fn page_screenshot(&self) -> Vec<u8> {
        let metrics = self.devtools("Page.getLayoutMetrics", json!({})).await;
        self.capture_area(metrics["cssContentSize"].clone()).await
    }

    /// A screenshot of one element, including what covers it, as a PNG.
    pub async fn screenshot_of(&self, css: &str) -> Vec<u8> {
        let area = self.with_element(css, BOX, Value::Null).await;
        self.capture_area(area).await
    }

    /// The page as a PDF, on the paper that its style sheet asks for.
    pub async fn print(&self) -> Vec<u8> {
        let how = json!({ "preferCSSPageSize": true, "printBackground": true });
        let printed = self.devtools("Page.printToPDF", how).await;
        STANDARD.decode(printed["data"].as_str().unwrap_or_default()).unwrap()
    }

    async fn capture_area(&self, mut area: Value) -> Vec<u8> {
        area["scale"] = json!(1);
        self.capture(json!({ "format": "png", "captureBeyondViewport": true, "clip": area })).await
    }

    async fn capture(&self, how: Value) -> Vec<u8> {
        let taken = self.devtools("Page.captureScreenshot", how).await;
        STANDARD.decode(taken["data"].as_str().unwrap_or_default()).unwrap()
    }

    /// The errors on the console since the last call: of scripts, of loading, and of the Content Security Policy.
    pub async fn console_errors(&self) -> Vec<String> {
        let entries = self.must("the console", self.log("browser").await).await;
        entries.iter().filter(|entry| entry["level"] == "SEVERE").map(|entry| text_of(&entry["message"])).collect()
    }

    /// The entries of a log up to now. Chromium reports in order, so once a script has run, all earlier entries have arrived.
    async fn log(&self, kind: &str) -> Done<Vec<Value>> {
        self.session.run("return null", json!([])).await?;
        self.session.log(kind).await
    }

    /// The requests since the last call, once all are answered completely. Event streams may go on.
    pub async fn traffic(&self) -> Vec<Transfer> {
        let traffic = tokio::sync::Mutex::new(Traffic::default());
        let ask = async || {
            let mut traffic = traffic.lock().await;
            self.log("performance").await?.iter().for_each(|entry| traffic.note(entry));
            Ok(traffic.all_finished().then_some(()))
        };
        self.until("the end of all transfers", ask).await;
        traffic.into_inner().into_transfers()
    }
}

fn text_of(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}
