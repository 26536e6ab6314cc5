//! Checks for every page: accessibility rules of axe, targets that are too small to hit, and sideways scrolling.

use std::{fmt, fs, path::Path, sync::LazyLock};

use serde_json::{Value, json};

use super::Browser;

/// Where `make axe` installs axe, below the root of the repository.
const AXE: &str = "target/axe-core/node_modules/axe-core/axe.min.js";
/// The sets of rules that pages must keep.
const AXE_TAGS: [&str; 6] = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];
/// Without `preload`, since fetching the style sheets again would break the page's Content Security Policy.
const RUN_AXE: &str = "return axe.run(document, {
    runOnly: { type: 'tag', values: arguments[0] }, resultTypes: ['violations', 'incomplete'], preload: false,
})";
/// The least width and height of targets for a finger, in CSS pixels.
pub const TARGET_LEAST: u32 = 44;
const SMALL_TARGETS: &str = include_str!("small_targets.js");
const SIDEWAYS: &str =
    "return document.scrollingElement.scrollWidth > Math.min(document.scrollingElement.clientWidth, arguments[0])";

/// A rule of axe that the page breaks, or may break.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The rule's name, such as `color-contrast`.
    pub id: String,
    pub help: String,
    /// CSS selectors of the elements that break it.
    pub targets: Vec<String>,
}

impl fmt::Display for Violation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}: {}", self.id, self.help, self.targets.join(", "))
    }
}

impl Browser {
    /// The rules of axe that the page breaks now: WCAG 2.2 A and AA, and axe's best practices.
    pub async fn axe(&self) -> Vec<Violation> {
        violations(&self.axe_results().await["violations"])
    }

    /// The rules that axe cannot decide, such as the contrast of text on an image.
    pub async fn axe_undecided(&self) -> Vec<Violation> {
        violations(&self.axe_results().await["incomplete"])
    }

    async fn axe_results(&self) -> Value {
        static SOURCE: LazyLock<String> = LazyLock::new(axe_source);
        // Axe needs timers, which do not run while scripts are off. The page's own scripts were skipped at load and stay off.
        let script = self.look().script;
        self.devtools("Emulation.setScriptExecutionDisabled", json!({ "value": false })).await;
        // Run by WebDriver, to which the page's Content Security Policy does not apply. It defines `window.axe`.
        self.run("when axe is loaded", &SOURCE, json!([])).await;
        let results = self.run("when axe is run", RUN_AXE, json!([AXE_TAGS])).await;
        self.devtools("Emulation.setScriptExecutionDisabled", json!({ "value": !script })).await;
        results
    }

    /// Links, buttons and fields smaller than [`TARGET_LEAST`], each as `selector (width × height)`. Radio buttons and checkboxes
    /// are measured by their labels; links within a sentence do not count.
    pub async fn small_targets(&self) -> Vec<String> {
        let found = self.run("when targets are measured", SMALL_TARGETS, json!([TARGET_LEAST])).await;
        strings(&found)
    }

    /// Whether the page is wider than the screen.
    pub async fn has_sideways_scroll(&self) -> bool {
        let width = self.look().width;
        self.run("when the width is measured", SIDEWAYS, json!([width])).await == true
    }

    /// Fails if the page breaks a rule of axe, has a small target or scrolls sideways, and lists everything found.
    pub async fn check_page(&self) {
        let mut wrong: Vec<String> = self.axe().await.iter().map(Violation::to_string).collect();
        wrong.extend(self.small_targets().await.into_iter().map(|target| format!("too small to hit: {target}")));
        if self.has_sideways_scroll().await {
            wrong.push("it scrolls sideways".to_owned());
        }
        if !wrong.is_empty() {
            self.fail(&format!("the page is not as pages must be:\n{}", wrong.join("\n"))).await;
        }
    }
}

fn axe_source() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(AXE);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{AXE}: {error}; `make test` installs it, or: make axe"))
}

fn violations(found: &Value) -> Vec<Violation> {
    let one = |rule: &Value| Violation {
        id: rule["id"].as_str().unwrap_or_default().to_owned(),
        help: rule["help"].as_str().unwrap_or_default().to_owned(),
        // For elements inside of frames the selector is a list.
        targets: rule["nodes"].as_array().into_iter().flatten().flat_map(|node| strings(&node["target"])).collect(),
    };
    found.as_array().into_iter().flatten().map(one).collect()
}

fn strings(list: &Value) -> Vec<String> {
    list.as_array().into_iter().flatten().filter_map(|entry| Some(entry.as_str()?.to_owned())).collect()
}
