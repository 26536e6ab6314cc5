//! Reads the HTML of our own templates, as far as tests need: its tags, its attributes and its text.

/// Elements that are never closed.
const VOID: [&str; 4] = ["meta", "link", "input", "br"];

/// The tags of a page, each without its angle brackets. No attribute of ours contains a raw `>`, and texts are escaped.
fn tags(page: &str) -> Vec<&str> {
    page.split('<').skip(1).map(|piece| piece.split_once('>').expect("a tag that ends").0).collect()
}

/// Fails where an element is not closed in its order.
pub(super) fn check_balanced(path: &str, page: &str) {
    let mut open: Vec<&str> = Vec::new();
    for tag in tags(page).into_iter().filter(|tag| !tag.starts_with('!') && !tag.ends_with('/')) {
        let name = tag.trim_start_matches('/').split_whitespace().next().unwrap();
        if tag.starts_with('/') {
            assert_eq!(open.pop(), Some(name), "{path} closes {name}");
        } else if !VOID.contains(&name) {
            open.push(name);
        }
    }
    assert!(open.is_empty(), "{path} leaves {open:?} open");
}

/// The values of an attribute of that name, in all tags.
pub(super) fn attributes(page: &str, name: &str) -> Vec<String> {
    let mut values = Vec::new();
    for tag in tags(page) {
        // Every second piece between double quotes is a value, and what stands before it is its name.
        let pieces: Vec<&str> = tag.split('"').collect();
        for pair in pieces.chunks_exact(2) {
            if pair[0].trim_end_matches('=').split_whitespace().next_back() == Some(name) {
                values.push(pair[1].to_owned());
            }
        }
    }
    values
}

/// The text of a page, its entities replaced by what they stand for.
pub(super) fn without_tags(page: &str) -> String {
    let texts = page.split('<').map(|piece| piece.split_once('>').map_or(piece, |(_, text)| text));
    let mut text: String = texts.collect();
    for (entity, character) in [
        ("&#34;", "\""),
        ("&#39;", "'"),
        ("&#60;", "<"),
        ("&#62;", ">"),
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&#38;", "&"),
        ("&amp;", "&"),
    ] {
        text = text.replace(entity, character);
    }
    text
}
