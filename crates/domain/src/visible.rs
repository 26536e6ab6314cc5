//! Makes characters visible that texts of others could hide something with: control characters, and invisible marks that
//! change the order or the look of the text around them. Texts that we take are checked for them; texts that others send us,
//! such as answers to webhooks and banks' ids, are stored as they came.

use crate::rules::changes_direction;

/// A part of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    /// It is shown as it is.
    Plain(String),
    /// A character that nobody would see, written by its number: `\u{202e}`.
    Escape(String),
}

/// The text in pieces. Line breaks and tabs stay as they are.
pub fn split_hidden(text: &str) -> Vec<Piece> {
    let mut pieces = Vec::new();
    for character in text.chars() {
        match pieces.last_mut() {
            _ if is_hidden(character) => pieces.push(Piece::Escape(escape(character))),
            Some(Piece::Plain(plain)) => plain.push(character),
            _ => pieces.push(Piece::Plain(character.into())),
        }
    }
    pieces
}

/// The text with every hidden character written by its number. Line breaks and tabs stay as they are.
pub fn escape_hidden(text: &str) -> String {
    let parts = split_hidden(text).into_iter().map(|piece| match piece {
        Piece::Plain(text) | Piece::Escape(text) => text,
    });
    parts.collect()
}

fn is_hidden(character: char) -> bool {
    match character {
        '\n' | '\t' => false,
        // Soft hyphen, spaces of no width, and separators of lines that not all programs break at.
        '\u{ad}' | '\u{180e}' | '\u{200b}' | '\u{2028}' | '\u{2029}' | '\u{2060}' | '\u{feff}' => true,
        // A joiner of marks, fillers for letters of Hangul, signs of formulas that are not drawn, and old controls of digits and
        // joined letters. The joiners of letters and of emoji (200c, 200d, fe0f) are part of what people write.
        '\u{34f}' | '\u{115f}' | '\u{1160}' | '\u{3164}' | '\u{ffa0}' => true,
        '\u{2061}'..='\u{2064}' | '\u{206a}'..='\u{206f}' => true,
        // Tags, and variants of ideographs, which can carry a whole text.
        '\u{e0000}'..='\u{e007f}' | '\u{e0100}'..='\u{e01ef}' => true,
        _ => character.is_control() || changes_direction(character),
    }
}

fn escape(character: char) -> String {
    match character {
        '\r' => "\\r".to_owned(),
        _ => character.escape_unicode().collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nobody_would_see_is_written_by_its_number() {
        for (text, shown) in [
            ("", ""),
            ("ok\n\tJumlah: Rp1.000 é 😀 מלון", "ok\n\tJumlah: Rp1.000 é 😀 מלון"),
            ("a\u{1b}[31mb\u{7}", "a\\u{1b}[31mb\\u{7}"),
            ("\u{202e}dibayar\u{202c}", "\\u{202e}dibayar\\u{202c}"),
            ("a\u{200b}b\u{2066}c\u{feff}", "a\\u{200b}b\\u{2066}c\\u{feff}"),
            ("\u{9b}31m\u{85}\u{7f}\u{0}", "\\u{9b}31m\\u{85}\\u{7f}\\u{0}"),
            ("one\r\ntwo\u{2028}", "one\\r\ntwo\\u{2028}"),
            ("\u{e0041}", "\\u{e0041}"),
            ("a\u{2061}b\u{2064}c\u{206a}d\u{206f}", "a\\u{2061}b\\u{2064}c\\u{206a}d\\u{206f}"),
            ("\u{34f}\u{115f}\u{1160}\u{3164}\u{ffa0}", "\\u{34f}\\u{115f}\\u{1160}\\u{3164}\\u{ffa0}"),
            ("a\u{e0100}\u{e01ef}", "a\\u{e0100}\\u{e01ef}"),
            ("क\u{200c}ख 👩\u{200d}🌾 ☀\u{fe0f} 한글", "क\u{200c}ख 👩\u{200d}🌾 ☀\u{fe0f} 한글"),
        ] {
            assert_eq!(escape_hidden(text), shown, "{text:?}");
        }
    }

    #[test]
    fn escapes_are_apart_from_a_text_that_looks_like_one() {
        let plain = |text: &str| Piece::Plain(text.to_owned());
        let escape = |text: &str| Piece::Escape(text.to_owned());
        let wanted = [plain("\\u{202e}a"), escape("\\u{202e}"), escape("\\u{1b}"), plain("b")];
        assert_eq!(split_hidden("\\u{202e}a\u{202e}\u{1b}b"), wanted);
    }
}
