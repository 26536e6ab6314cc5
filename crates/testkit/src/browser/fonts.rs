//! The fonts that browsers of tests see: a few that `make fonts` installs, whatever else the machine has. So a page is laid out the
//! same way on a bare server and on a desktop, and in a wide font.

use std::{
    fs, io,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
};

/// Below it, each family has a folder.
const INSTALLED: &str = "/usr/share/fonts/truetype";
/// A wide font for text, one for code whose letters are wider still, and a narrow one.
const FILES: [&str; 6] = [
    "DejaVuSans.ttf",
    "DejaVuSans-Bold.ttf",
    "DejaVuSansMono.ttf",
    "DejaVuSansMono-Bold.ttf",
    "LiberationSansNarrow-Regular.ttf",
    "LiberationSansNarrow-Bold.ttf",
];

/// What pages and Chromium itself call fonts for text: the generic families, and what Chromium takes for these by default.
const SANS: [&str; 9] =
    ["sans-serif", "sans", "system-ui", "serif", "cursive", "fantasy", "Arial", "Helvetica", "Times New Roman"];

/// Writes the configuration of fontconfig for these fonts alone, into a new directory in `parent`; returns the file's path.
pub(super) fn configure(parent: &Path) -> PathBuf {
    let directory = parent.join("fonts");
    fs::create_dir(&directory).unwrap();
    for name in FILES {
        let file =
            find(name).unwrap_or_else(|| panic!("{name} was not found; `make test` installs it, or: make fonts"));
        symlink(file, directory.join(name)).unwrap();
    }
    let alias = |family: &str, font: &str| {
        format!("<alias binding=\"same\"><family>{family}</family><prefer><family>{font}</family></prefer></alias>\n")
    };
    let sans = SANS.map(|family| alias(family, "DejaVu Sans"));
    let mono = ["monospace", "ui-monospace"].map(|family| alias(family, "DejaVu Sans Mono"));
    let text = format!(
        "<?xml version=\"1.0\"?>\n<!DOCTYPE fontconfig SYSTEM \"fonts.dtd\">\n<fontconfig>\n<dir>{}</dir>\n\
         <cachedir>{}</cachedir>\n{}{}</fontconfig>\n",
        directory.display(),
        parent.join("font-cache").display(),
        sans.concat(),
        mono.concat()
    );
    let file = parent.join("fonts.conf");
    fs::write(&file, text).unwrap();
    file
}

/// The file of that name in one of the folders of installed fonts.
fn find(name: &str) -> Option<PathBuf> {
    let folders: io::Result<Vec<PathBuf>> =
        fs::read_dir(INSTALLED).ok()?.map(|entry| entry.map(|entry| entry.path())).collect();
    folders.ok()?.into_iter().map(|folder| folder.join(name)).find(|file| file.is_file())
}
