//! Lists the guides of `docs` for the program to include: one source for readers of the repository and of the pages. A file that is
//! added or removed there changes the program and no line of code.

use std::{env, error::Error, fmt::Write, fs, path::Path};

/// The folders of guides, below `docs`; the first is `docs` itself.
const FOLDERS: [&str; 3] = ["", "guides", "id"];

fn main() -> Result<(), Box<dyn Error>> {
    let docs = Path::new(&env::var("CARGO_MANIFEST_DIR")?).join("../../docs").canonicalize()?;
    let mut list = String::from("&[\n");
    for folder in FOLDERS {
        let path = docs.join(folder);
        if !path.is_dir() {
            continue;
        }
        // A folder that is missing would make Cargo build the crate again each time.
        println!("cargo::rerun-if-changed={}", path.display());
        let mut names = Vec::new();
        for entry in fs::read_dir(&path)? {
            let name = entry?.file_name().to_string_lossy().into_owned();
            names.extend(name.strip_suffix(".md").map(str::to_owned));
        }
        names.sort();
        for name in names {
            let file = path.join(format!("{name}.md"));
            writeln!(list, "    File {{ folder: {folder:?}, name: {name:?}, text: include_str!({file:?}) }},")?;
        }
    }
    list.push(']');
    fs::write(Path::new(&env::var("OUT_DIR")?).join("files.rs"), list)?;
    Ok(())
}
