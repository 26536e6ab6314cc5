//! What a page looks like on paper: a browser prints it into a PDF, whose pages are then drawn as a printer would.

use std::{fs, path::Path, process::Command};

use testkit::Browser;

use crate::support::repository::root;

/// As many dots as a cheap printer has.
const DOTS_PER_INCH: &str = "150";

/// A sheet of paper that a page was printed on.
pub(crate) struct PrintedPage {
    /// Width and height in millimetres.
    pub(crate) size: (u32, u32),
    pub(crate) png: Vec<u8>,
}

/// Prints the page that is open, on the paper that its style sheet asks for.
pub(crate) async fn printed(browser: &Browser) -> Vec<PrintedPage> {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("printed.pdf");
    fs::write(&file, browser.print().await).unwrap();
    pages(&file)
}

fn pages(file: &Path) -> Vec<PrintedPage> {
    let python = root().join("target/test-tools/bin/python");
    assert!(python.exists(), "{} is not there: run `make tools`", python.display());
    let script = root().join("crates/lunas/tests/print/pages.py");
    let drawn = Command::new(python).arg(script).arg(file).arg(DOTS_PER_INCH).output().unwrap();
    assert!(drawn.status.success(), "{}", String::from_utf8_lossy(&drawn.stderr));
    let sizes = String::from_utf8(drawn.stdout).unwrap();
    let page = |(index, size): (usize, &str)| {
        let (width, height) = size.split_once(' ').unwrap();
        let png = fs::read(file.with_file_name(format!("page-{}.png", index + 1))).unwrap();
        PrintedPage { size: (width.parse().unwrap(), height.parse().unwrap()), png }
    };
    sizes.lines().enumerate().map(page).collect()
}
