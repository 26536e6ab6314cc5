//! How metadata is stored: its members in their order, each as its name and its text, ended by control characters that neither
//! can contain.

use domain::metadata::Metadata;

/// Ends a name, and ends a text.
const NAME_END: char = '\u{1f}';
const TEXT_END: char = '\u{1e}';

pub(crate) fn written(metadata: &Metadata) -> String {
    metadata.members.iter().map(|(name, text)| format!("{name}{NAME_END}{text}{TEXT_END}")).collect()
}

pub(crate) fn read(column: &str) -> Option<Metadata> {
    let member = |part: &str| {
        let (name, text) = part.strip_suffix(TEXT_END)?.split_once(NAME_END)?;
        Some((name.to_owned(), text.to_owned()))
    };
    Some(Metadata { members: column.split_inclusive(TEXT_END).map(member).collect::<Option<_>>()? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metadata_is_read_as_it_was_written() {
        let member = |name: &str, text: &str| (name.to_owned(), text.to_owned());
        let members = vec![member("z", "É\r\n\"1\""), member("a", ""), member("\u{10ffff}", "\\ 2")];
        for metadata in [Metadata::check(members).unwrap(), Metadata::default()] {
            assert_eq!(read(&written(&metadata)), Some(metadata));
        }
        assert_eq!(written(&Metadata::default()), "");
    }

    #[test]
    fn what_was_never_written_is_not_read() {
        for column in ["{}", "a", "a\u{1f}b", "a\u{1e}", "a\u{1f}b\u{1e}c"] {
            assert_eq!(read(column), None, "{column:?}");
        }
    }
}
