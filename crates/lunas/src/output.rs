//! Standard output of commands: tables for people, or one line of JSON for programs. Log lines never go there.

use std::io::{self, Write};

use domain::visible::escape_hidden;
use serde::Serialize;

use crate::error::CliError;

#[derive(Clone, Copy)]
pub(crate) struct Output {
    pub(crate) json: bool,
}

impl Output {
    /// Prints `value` as one line of JSON, or as the text that `human` makes of it. In that text no name and no answer of
    /// others controls the terminal, or changes the order in which a line is shown.
    pub(crate) fn show<T: Serialize + ?Sized>(
        self,
        value: &T,
        human: impl FnOnce(&T) -> String,
    ) -> Result<(), CliError> {
        let text = match self.json {
            true => serde_json::to_string(value).map_err(|error| CliError::because("cannot write JSON", &error))?,
            false => escape_hidden(&human(value)),
        };
        print(&text)
    }
}

/// Writes `text` as whole lines. A pipe that the reader has closed early, as `| head` does, is no error.
pub(crate) fn print(text: &str) -> Result<(), CliError> {
    let mut stdout = io::stdout().lock();
    match writeln!(stdout, "{}", text.trim_end_matches('\n')).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(CliError::because("cannot write to standard output", &error))
        }
        _ => Ok(()),
    }
}

/// A table with headings, its columns two spaces apart.
pub(crate) fn table<const COLUMNS: usize>(headings: [&str; COLUMNS], rows: &[[String; COLUMNS]]) -> String {
    let width = |column: usize| {
        let cells = rows.iter().map(|row| row[column].chars().count());
        cells.chain([headings[column].len()]).max().unwrap_or_default()
    };
    let widths: [usize; COLUMNS] = std::array::from_fn(width);
    let line = |cells: [&str; COLUMNS]| {
        let padded = cells.into_iter().zip(widths).map(|(cell, width)| format!("{cell:width$}"));
        padded.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    let body = rows.iter().map(|row| line(std::array::from_fn(|column| row[column].as_str())));
    std::iter::once(line(headings)).chain(body).collect::<Vec<_>>().join("\n")
}

/// Names and values, one pair per line.
pub(crate) fn fields(fields: &[(&str, String)]) -> String {
    let width = fields.iter().map(|(name, _)| name.len()).max().unwrap_or_default();
    let line = |(name, value): &(&str, String)| format!("{name:width$}  {value}").trim_end().to_owned();
    fields.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// Quotes a word for a POSIX shell, so that a printed command can be copied.
pub(crate) fn shell_word(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-./:@%+=,".contains(&byte);
    match !text.is_empty() && text.bytes().all(plain) {
        true => text.to_owned(),
        false => format!("'{}'", text.replace('\'', r"'\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up_by_characters_and_lines_end_without_spaces() {
        let rows = [["toko é".to_owned(), String::new()], ["b".to_owned(), "yes".to_owned()]];
        assert_eq!(table(["NAME", "ACTIVE"], &rows), "NAME    ACTIVE\ntoko é\nb       yes");
        assert_eq!(table(["NAME"], &[]), "NAME");
        assert_eq!(fields(&[("id", "1".to_owned()), ("name", String::new())]), "id    1\nname");
    }

    #[test]
    fn words_with_spaces_or_quotes_are_quoted_for_the_shell() {
        for (text, word) in [
            ("target/release/lunas", "target/release/lunas"),
            ("sqlite:my data/lunas.db", "'sqlite:my data/lunas.db'"),
            ("it's", r"'it'\''s'"),
            ("$(rm)", "'$(rm)'"),
            ("", "''"),
        ] {
            assert_eq!(shell_word(text), word);
        }
    }
}
