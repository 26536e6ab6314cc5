//! What every page is checked for: barriers, targets that are hard to hit, and sideways scrolling.

use std::{fmt, fs, ops::Range, path::Path, sync::LazyLock, time::Duration};

use serde_json::{Value, json};
use tokio::time::sleep;

use super::Browser;

/// Where `make axe` installs it, below the root of the repository.
const AXE: &str = "target/axe-core/node_modules/axe-core/axe.min.js";
/// The rules that pages must keep.
const AXE_TAGS: [&str; 6] = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];
/// The rules whose result may differ between the themes of a page, as these differ in colours alone.
const COLOUR_RULES: [&str; 2] = ["color-contrast", "link-in-text-block"];
/// The rules whose result may differ between widths of a screen on which the same elements are shown.
const LAYOUT_RULES: [&str; 4] = ["color-contrast", "link-in-text-block", "scrollable-region-focusable", "target-size"];
/// Which elements of the page are shown, by their order.
const SHOWN: &str =
    "return Array.from(document.querySelectorAll('*'), part => Number(part.checkVisibility())).join('')";
/// Without `preload`: axe would fetch the styles again, and the page's policy would forbid it with an error on the console.
/// Returns null if axe is not loaded, and no more of the results than is used, because chromedriver takes long to copy them.
const RUN_AXE: &str = "if (window.axe === undefined) return null;
const results = await axe.run(document, {
    runOnly: { type: arguments[0], values: arguments[1] }, resultTypes: ['violations', 'incomplete'], preload: false,
});
const brief = rules => rules.map(({ id, help, nodes }) => ({ id, help, targets: nodes.flatMap(node => node.target.flat()) }));
return { violations: brief(results.violations), incomplete: brief(results.incomplete) }";
/// The least width and height of anything that a finger must hit.
pub const TARGET_LEAST: u32 = 44;
const SMALL_TARGETS: &str = include_str!("small_targets.js");
const SIDEWAYS: &str =
    "return document.scrollingElement.scrollWidth > Math.min(document.scrollingElement.clientWidth, arguments[0])";
/// A narrow and a wide font. A page is measured in both and in its own, because nobody knows the fonts of a visitor's device: a
/// target that is large enough in one may be too small in another.
const FONTS: [&str; 2] = ["Liberation Sans Narrow", "DejaVu Sans"];
const IN_FONTS: &str = include_str!("in_fonts.js");
/// The sizes in which fonts are looked for, one after the other until they are found, and what lies between two tries.
const FONT_SIZES: Range<u32> = 20..40;
const FONT_INTERVAL: Duration = Duration::from_millis(250);

/// A rule of axe that a page breaks, or may break.
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
    /// The rules of axe that the page breaks as it is now: WCAG 2.2 A and AA, and its best practices.
    pub async fn axe(&self) -> Vec<Violation> {
        violations(&self.run_axe("tag", &AXE_TAGS).await["violations"])
    }

    /// The same for a page that broke none of them in the other theme: only the rules about colours are checked again.
    pub async fn axe_colours(&self) -> Vec<Violation> {
        violations(&self.run_axe("rule", &COLOUR_RULES).await["violations"])
    }

    /// The same for a page that broke none of them at another width, where the same elements were shown.
    pub async fn axe_layout(&self) -> Vec<Violation> {
        violations(&self.run_axe("rule", &LAYOUT_RULES).await["violations"])
    }

    /// Which elements of the page are shown: equal texts mean the same ones.
    pub async fn shown_elements(&self) -> String {
        self.run("when shown elements are listed", SHOWN, json!([])).await.to_string()
    }

    /// The rules that axe cannot decide on by itself, such as the contrast of text on a picture.
    pub async fn axe_undecided(&self) -> Vec<Violation> {
        violations(&self.run_axe("tag", &AXE_TAGS).await["incomplete"])
    }

    async fn run_axe(&self, kind: &str, values: &[&str]) -> Value {
        static SOURCE: LazyLock<String> = LazyLock::new(axe_source);
        // Axe waits by timers, which do not run while script is off. The page was loaded without script, so its own scripts
        // still do not run.
        let script = self.look().script;
        if !script {
            self.devtools("Emulation.setScriptExecutionDisabled", json!({ "value": false })).await;
        }
        let mut results = self.run("when axe is run", RUN_AXE, json!([kind, values])).await;
        if results.is_null() {
            // By DevTools, to which the page's policy does not apply. It defines `axe` on the window.
            self.devtools("Runtime.evaluate", json!({ "expression": *SOURCE })).await;
            results = self.run("when axe is run", RUN_AXE, json!([kind, values])).await;
            assert!(!results.is_null(), "{AXE} defines no `axe`");
        }
        if !script {
            self.devtools("Emulation.setScriptExecutionDisabled", json!({ "value": true })).await;
        }
        results
    }

    /// The controls that are narrower or lower than [`TARGET_LEAST`] in one of the fonts, each as `selector (width × height)`. A
    /// radio button or a checkbox counts by its label, a link within a sentence not at all.
    pub async fn small_targets(&self) -> Vec<String> {
        let measured = self.in_fonts("when targets are measured", SMALL_TARGETS, json!(TARGET_LEAST)).await;
        let mut found: Vec<String> = measured.iter().flat_map(strings).collect();
        found.sort_unstable();
        found.dedup();
        found
    }

    /// Whether something is wider than the screen in one of the fonts.
    pub async fn has_sideways_scroll(&self) -> bool {
        let width = self.look().width;
        self.in_fonts("when the width is measured", SIDEWAYS, json!(width)).await.contains(&Value::Bool(true))
    }

    /// What the body of a function returns, in the page's own font and in each of [`FONTS`].
    async fn in_fonts(&self, when: &str, measure: &str, argument: Value) -> Vec<Value> {
        let body = format!("const measure = function () {{ {measure}\n}};\n{IN_FONTS}");
        let mut missing = Value::Null;
        // On a busy machine, the browser now and then does not find a font that is there.
        for size in FONT_SIZES {
            missing = match self.run(when, &body, json!([FONTS, size, argument])).await {
                Value::Array(measured) => return measured,
                missing => missing,
            };
            sleep(FONT_INTERVAL).await;
        }
        panic!("the font {missing} was not found; `make test` installs it, or: make fonts")
    }

    /// Fails with every barrier, small target and sideways scroll that the page has as it is now.
    pub async fn check_page(&self) {
        self.check_sizes_and(self.axe().await).await;
    }

    /// The same for a page that passed in the other theme: of the rules of axe, only those about colours are checked again.
    pub async fn check_colours(&self) {
        self.check_sizes_and(self.axe_colours().await).await;
    }

    async fn check_sizes_and(&self, violations: Vec<Violation>) {
        let mut wrong: Vec<String> = violations.iter().map(Violation::to_string).collect();
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
        targets: strings(&rule["targets"]),
    };
    found.as_array().into_iter().flatten().map(one).collect()
}

fn strings(list: &Value) -> Vec<String> {
    list.as_array().into_iter().flatten().filter_map(|entry| Some(entry.as_str()?.to_owned())).collect()
}
