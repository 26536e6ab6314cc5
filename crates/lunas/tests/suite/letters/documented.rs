//! The tables of letters and of notices in the documentation say what the program does.

use std::fs;

use domain::letter::LetterKind;

use crate::support::repository::root;

/// The cells of the rows of the table that has this head, without the marks of code.
fn table(page: &str, head: &str) -> Vec<Vec<String>> {
    let page = fs::read_to_string(root().join("docs").join(page)).unwrap();
    let (_, rows) = page.split_once(head).unwrap_or_else(|| panic!("no table {head}"));
    let rows = rows.lines().skip(2).take_while(|line| line.starts_with('|'));
    let cells = |row: &str| row.trim_matches('|').split(" | ").map(|cell| cell.trim().replace('`', "")).collect();
    rows.map(cells).collect()
}

#[test]
fn the_table_of_letters_says_who_switches_each_off_and_which_become_notices() {
    let rows = table("mail.md", "| Letter | `kind` | To whom | When | Switched off by | Notice |");
    let kinds: Vec<&str> = rows.iter().map(|row| row[1].as_str()).collect();
    for kind in LetterKind::ALL {
        assert_eq!(kinds.iter().filter(|word| **word == kind.word()).count(), 1, "{}", kind.word());
    }
    assert_eq!(rows.len(), LetterKind::ALL.len());
    for row in rows {
        let [_, word, to, _, switched_off_by, notice] = &row[..] else { panic!("{row:?}") };
        let kind = LetterKind::parse(word).unwrap();
        let expected = match (kind.for_customers(), kind.is_optional()) {
            (true, _) => "owners",
            (false, true) => "the reader",
            (false, false) => "nobody",
        };
        assert_eq!(switched_off_by, expected, "{word}");
        assert_eq!(notice, if kind.may_be_notice() { "yes" } else { "no" }, "{word}");
        assert_eq!(to.contains("customer"), kind.for_customers(), "{word}");
    }
}

#[test]
fn the_table_of_notices_has_every_letter_that_may_be_one_and_no_other() {
    let rows = table("notices.md", "| `kind` | Where it goes | `values` |");
    let mut listed: Vec<&str> = rows.iter().map(|row| row[0].as_str()).collect();
    listed.sort_unstable();
    let notices = LetterKind::ALL.iter().filter(|kind| kind.may_be_notice());
    let mut expected: Vec<&str> = notices.map(|kind| kind.word()).collect();
    expected.sort_unstable();
    assert_eq!(listed, expected);
}
