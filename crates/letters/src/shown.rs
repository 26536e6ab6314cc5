//! Texts of others, as letters show them: on one line, not too long, and unable to hide something or to turn around the text beside
//! them.

use domain::visible::escape_hidden;

/// The most characters of a value. Names and titles may be longer; a letter needs no more to be understood.
const CHARACTERS_MOST: usize = 200;
/// The most characters of a value within a subject.
const IN_SUBJECT_MOST: usize = 60;
/// The most characters of a subject.
pub(crate) const SUBJECT_MOST: usize = 180;
/// What shows that a text was cut off.
const CUT: char = '…';
/// The marks that keep a text that is written from right to left apart from what surrounds it.
const ISOLATE: char = '\u{2068}';
const END_OF_ISOLATE: char = '\u{2069}';

/// A value in a letter.
pub(crate) fn shown(text: &str) -> String {
    let line = one_line(text, CHARACTERS_MOST);
    if line.contains(is_written_leftwards) { format!("{ISOLATE}{line}{END_OF_ISOLATE}") } else { line }
}

/// A value in a subject, which has no marks of direction at all.
pub(crate) fn shown_in_subject(text: &str) -> String {
    one_line(text, IN_SUBJECT_MOST)
}

/// A subject: what programs that send mail can take as one line.
pub(crate) fn subject(text: &str) -> String {
    one_line(text, SUBJECT_MOST)
}

/// The text with its white space joined, hidden characters written by their numbers, and cut to `most` characters.
fn one_line(text: &str, most: usize) -> String {
    let words: Vec<&str> = text.split(char::is_whitespace).filter(|word| !word.is_empty()).collect();
    let line = escape_hidden(&words.join(" "));
    if line.chars().count() <= most {
        return line;
    }
    line.chars().take(most - 1).chain([CUT]).collect()
}

/// Whether a letter belongs to a script that is written from right to left: Hebrew, Arabic and those beside them.
fn is_written_leftwards(character: char) -> bool {
    matches!(
        character,
        '\u{590}'..='\u{8ff}' | '\u{fb1d}'..='\u{fdff}' | '\u{fe70}'..='\u{fefc}' | '\u{10800}'..='\u{10fff}'
            | '\u{1e800}'..='\u{1efff}'
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_of_others_is_one_line_that_hides_nothing() {
        for (text, line) in [
            ("Toko Kopi", "Toko Kopi"),
            (" Toko\r\nBcc: a@b \t Kopi ", "Toko Bcc: a@b Kopi"),
            ("Toko\u{202e}ipoK", "Toko\\u{202e}ipoK"),
            ("Toko\u{0}\u{1b}[31m", "Toko\\u{0}\\u{1b}[31m"),
            ("Toko\u{2028}Kopi\u{85}Enak", "Toko Kopi Enak"),
            ("מלון", "\u{2068}מלון\u{2069}"),
        ] {
            assert_eq!(shown(text), line, "{text:?}");
        }
        assert_eq!(shown_in_subject("מלון"), "מלון");
    }

    #[test]
    fn a_text_of_others_is_cut_where_it_is_too_long() {
        for (most, line) in
            [(CHARACTERS_MOST, shown(&"é".repeat(300))), (IN_SUBJECT_MOST, shown_in_subject(&"é".repeat(300)))]
        {
            assert_eq!(line.chars().count(), most);
            assert!(line.ends_with("é…"), "{line}");
        }
        assert_eq!(shown(&"é".repeat(CHARACTERS_MOST)), "é".repeat(CHARACTERS_MOST));
    }
}
