//! Texts of the document: plain words with pieces of code between back quotes. It knows no HTML; templates escape each piece.

/// A text in pieces.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Prose(pub(crate) Vec<Piece>);

/// Some words, or a piece of code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Piece {
    pub(crate) text: String,
    pub(crate) is_code: bool,
}

impl Prose {
    /// Reads a text of the document. A back quote without its partner is an ordinary character.
    pub(crate) fn read(text: &str) -> Prose {
        // Only the line breaks of the source: a narrow space within a number stays.
        let text = text.split_ascii_whitespace().collect::<Vec<_>>().join(" ");
        let mut pieces = Vec::new();
        let mut rest = text.as_str();
        while let Some((before, after)) = rest.split_once('`') {
            let Some((code, behind)) = after.split_once('`') else { break };
            push_plain(&mut pieces, before);
            pieces.push(Piece { text: code.to_owned(), is_code: true });
            rest = behind;
        }
        push_plain(&mut pieces, rest);
        Prose(pieces)
    }

    /// The text without its back quotes, for titles and attributes.
    pub(crate) fn plain(&self) -> String {
        self.0.iter().map(|piece| piece.text.as_str()).collect()
    }
}

fn push_plain(pieces: &mut Vec<Piece>, text: &str) {
    if !text.is_empty() {
        pieces.push(Piece { text: text.to_owned(), is_code: false });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_between_back_quotes_is_code() {
        let plain = |text: &str| Piece { text: text.to_owned(), is_code: false };
        let code = |text: &str| Piece { text: text.to_owned(), is_code: true };
        let check = |text: &str, pieces: &[Piece]| assert_eq!(Prose::read(text).0, pieces, "{text}");
        check("", &[]);
        check("Whole\n  rupiah.", &[plain("Whole rupiah.")]);
        check("`id` by default, or `en`.", &[code("id"), plain(" by default, or "), code("en"), plain(".")]);
        check("an odd ` quote", &[plain("an odd ` quote")]);
        check("`a` and ` b", &[code("a"), plain(" and ` b")]);
        assert_eq!(Prose::read("with `state=accepted`, the latest").plain(), "with state=accepted, the latest");
    }
}
