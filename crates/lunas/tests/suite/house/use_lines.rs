//! Reads from the text of a Rust file what it imports, what it names by a path within its code, and which modules it
//! declares. What is only there for its unit tests, under `#[cfg(test)]`, is left out.

/// What one file says about modules.
#[derive(Default)]
pub(super) struct Source {
    pub(super) imports: Vec<Import>,
    pub(super) inline_paths: Vec<InlinePath>,
    /// Modules whose text stands in this file, by their path below it.
    pub(super) inline_modules: Vec<Vec<String>>,
    /// Modules in files of their own that only tests have, by their path below this file.
    pub(super) test_modules: Vec<Vec<String>>,
    /// The names of the functions, types, constants and so on that stand in this file.
    pub(super) items: Vec<String>,
}

/// One name of a `use` line.
pub(super) struct Import {
    /// The inline module that the line stands in, below the file's own; mostly none.
    pub(super) inside: Vec<String>,
    /// The path as it is written, one segment each; a glob ends in `*`.
    pub(super) path: Vec<String>,
    /// What the name is called from here on.
    pub(super) name: String,
    /// Whether others may import the name from here.
    pub(super) is_public: bool,
}

/// A path within code, such as that of the function in `crate::desk::open()`.
pub(super) struct InlinePath {
    /// The inline module that it stands in, below the file's own; mostly none.
    pub(super) inside: Vec<String>,
    /// The path as it is written, one segment each.
    pub(super) path: Vec<String>,
}

/// Words that are followed by the name of what they define.
const DEFINING: [&str; 8] = ["fn", "struct", "enum", "trait", "type", "const", "static", "union"];

impl Source {
    pub(super) fn read(text: &str) -> Source {
        let mut reader = Reader { tokens: tokens(text), at: 0, blocks: Vec::new(), source: Source::default() };
        while reader.at < reader.tokens.len() {
            reader.read_next();
        }
        reader.source
    }
}

struct Reader {
    tokens: Vec<String>,
    at: usize,
    /// The braces that are open; those of an inline module have its name.
    blocks: Vec<Option<String>>,
    source: Source,
}

impl Reader {
    fn token(&self, ahead: usize) -> &str {
        self.tokens.get(self.at + ahead).map_or("", String::as_str)
    }

    /// The inline modules that are open, from the outermost.
    fn inside(&self) -> Vec<String> {
        self.blocks.iter().flatten().cloned().collect()
    }

    fn read_next(&mut self) {
        match self.token(0) {
            "#" if self.token(1) == "[" => self.read_attribute(),
            "{" => self.open(None),
            "}" => {
                self.blocks.pop();
                self.at += 1;
            }
            "mod" if self.token(2) == "{" => {
                let name = self.token(1).to_owned();
                self.at += 2;
                self.open(Some(name));
                let module = self.inside();
                self.source.inline_modules.push(module);
            }
            // `pub(in crate::desk)` says who may see an item, and imports nothing.
            "pub" if self.token(1) == "(" && self.token(2) == "in" => {
                self.at += 1;
                self.skip_brackets();
            }
            // `use<'a>` in a type is no import.
            "use" if self.token(1) != "<" => self.read_use(),
            word if DEFINING.contains(&word) => {
                let name = self.token(1).to_owned();
                self.source.items.push(name);
                self.at += 1;
            }
            word if self.token(1) == "::" && word.chars().all(is_word) => self.read_inline_path(),
            _ => self.at += 1,
        }
    }

    /// From the first word of a path to behind its last. Arguments, as in `Vec::<u8>::new`, end it.
    fn read_inline_path(&mut self) {
        let mut path = vec![self.token(0).to_owned()];
        self.at += 1;
        while self.token(0) == "::" && self.token(1).chars().all(is_word) {
            path.push(self.token(1).to_owned());
            self.at += 2;
        }
        self.source.inline_paths.push(InlinePath { inside: self.inside(), path });
    }

    fn open(&mut self, module: Option<String>) {
        self.blocks.push(module);
        self.at += 1;
    }

    fn read_attribute(&mut self) {
        let begin = self.at + 2;
        self.at += 1;
        self.skip_brackets();
        if self.tokens[begin..self.at - 1].concat() == "cfg(test)" {
            self.skip_item();
        } else {
            // What it names counts like other code.
            self.at = begin;
        }
    }

    /// From an opening bracket of any kind to behind the one that closes it.
    fn skip_brackets(&mut self) {
        let mut depth = 0;
        while self.at < self.tokens.len() {
            match self.token(0) {
                "(" | "[" | "{" => depth += 1,
                ")" | "]" | "}" => depth -= 1,
                _ => {}
            }
            self.at += 1;
            if depth == 0 {
                return;
            }
        }
    }

    /// To behind an item that only tests have. Its end is a semicolon, or the end of its block.
    fn skip_item(&mut self) {
        while self.at < self.tokens.len() {
            match self.token(0) {
                "mod" if self.token(2) == ";" => {
                    let mut module = self.inside();
                    module.push(self.token(1).to_owned());
                    self.source.test_modules.push(module);
                    self.at += 3;
                    return;
                }
                ";" => {
                    self.at += 1;
                    return;
                }
                "{" => return self.skip_brackets(),
                "}" => return,
                "(" | "[" => self.skip_brackets(),
                _ => self.at += 1,
            }
        }
    }

    fn read_use(&mut self) {
        let before = self.at.checked_sub(1).map_or("", |at| &self.tokens[at]);
        let is_public = before == "pub" || before == ")";
        self.at += 1;
        let mut names = Vec::new();
        self.read_tree(&[], &mut names);
        let inside = self.inside();
        let import = |(path, name)| Import { inside: inside.clone(), path, name, is_public };
        self.source.imports.extend(names.into_iter().map(import));
    }

    /// Reads one branch of a `use` line: every path that it stands for, and what its last part is called from here on.
    fn read_tree(&mut self, above: &[String], names: &mut Vec<(Vec<String>, String)>) {
        let mut path = above.to_vec();
        while self.at < self.tokens.len() {
            match self.token(0) {
                "::" => self.at += 1,
                "{" => {
                    self.at += 1;
                    while self.token(0) != "}" && self.at < self.tokens.len() {
                        self.read_tree(&path, names);
                        self.at += usize::from(self.token(0) == ",");
                    }
                    self.at += 1;
                    return;
                }
                "," | ";" | "}" => break,
                "as" => {
                    let name = self.token(1).to_owned();
                    self.at += 2;
                    return names.push((path, name));
                }
                // `module::{self}` is the module itself.
                "self" if !path.is_empty() => self.at += 1,
                segment => {
                    path.push(segment.to_owned());
                    self.at += 1;
                }
            }
        }
        let name = path.last().cloned().unwrap_or_default();
        names.push((path, name));
    }
}

/// Words and marks, without white space, comments and what stands between quotes.
fn tokens(text: &str) -> Vec<String> {
    let mut tokens = Vec::new();
    let mut rest = text;
    while let Some(letter) = rest.chars().next() {
        let length = if is_word(letter) {
            let word = rest.find(|letter| !is_word(letter)).unwrap_or(rest.len());
            let quoted = quoted_length(&rest[word..]).filter(|_| ["r", "b", "br", "c", "cr"].contains(&&rest[..word]));
            if quoted.is_none() {
                tokens.push(rest[..word].to_owned());
            }
            word + quoted.unwrap_or(0)
        } else if let Some(length) = comment_length(rest).or_else(|| quoted_length(rest)) {
            length
        } else if rest.starts_with("::") {
            tokens.push("::".to_owned());
            2
        } else {
            if !letter.is_whitespace() {
                tokens.push(letter.to_string());
            }
            letter.len_utf8()
        };
        rest = &rest[length..];
    }
    tokens
}

fn is_word(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

/// How long the comment is that `text` begins with.
fn comment_length(text: &str) -> Option<usize> {
    if text.starts_with("//") {
        return Some(text.find('\n').unwrap_or(text.len()));
    }
    text.starts_with("/*").then(|| text.find("*/").map_or(text.len(), |end| end + 2))
}

/// How long the quoted text is that `text` begins with: `"…"`, `#"…"#` as in raw strings, or a single letter.
fn quoted_length(text: &str) -> Option<usize> {
    let hashes = text.bytes().take_while(|byte| *byte == b'#').count();
    let inner = text[hashes..].strip_prefix('"');
    match inner {
        Some(inner) if hashes > 0 => {
            let end = format!("\"{}", "#".repeat(hashes));
            Some(inner.find(&end).map_or(text.len(), |at| hashes + 1 + at + end.len()))
        }
        Some(inner) => Some(1 + unescaped(inner, '"')),
        None => text.strip_prefix('\'').and_then(letter_length),
    }
}

/// How long a letter's literal is behind its first quote. A lifetime has no second quote.
fn letter_length(inner: &str) -> Option<usize> {
    let mut letters = inner.char_indices();
    let (_, first) = letters.next()?;
    let is_letter = first == '\\' || letters.next().is_some_and(|(_, second)| second == '\'');
    is_letter.then(|| 1 + unescaped(inner, '\''))
}

/// How far it is to behind the first `end` that no backslash stands before.
fn unescaped(text: &str, end: char) -> usize {
    let mut is_escaped = false;
    for (at, letter) in text.char_indices() {
        if letter == end && !is_escaped {
            return at + end.len_utf8();
        }
        is_escaped = letter == '\\' && !is_escaped;
    }
    text.len()
}
