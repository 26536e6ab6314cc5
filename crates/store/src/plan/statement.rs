//! Statements: SQL with its parameters, and for some a guard.

use crate::{
    error::Guard,
    value::{Value, debug_assert_parameters},
};

/// The kinds of SQL there are, for the few statements whose text differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dialect {
    Sqlite,
    Postgres,
}

/// A statement with a guard must change at least one row; if it does not, the whole plan is rolled back.
pub(crate) struct Statement {
    pub(crate) sql: &'static str,
    pub(crate) parameters: Vec<Value>,
    pub(crate) guard: Option<Guard>,
}

impl Statement {
    pub(super) fn new(sql: &'static str, parameters: impl Into<Vec<Value>>) -> Statement {
        let parameters = parameters.into();
        debug_assert_parameters(sql, parameters.len());
        Statement { sql, parameters, guard: None }
    }

    pub(super) fn guarded(self, guard: Guard) -> Statement {
        Statement { guard: Some(guard), ..self }
    }
}

/// An INSERT of one row, whose columns are given as lists of names. Its parameters are in the order of the columns.
pub(super) fn insert(table: &str, columns: &[&str]) -> String {
    let columns = columns.join(", ");
    let values: Vec<String> = (1..=columns.split(", ").count()).map(|number| format!("${number}")).collect();
    format!("INSERT INTO {table} ({columns}) VALUES ({})", values.join(", "))
}

/// A list of words in one column.
pub(super) fn joined<T: ToString>(items: impl IntoIterator<Item = T>) -> Value {
    let words: Vec<String> = items.into_iter().map(|item| item.to_string()).collect();
    words.join(",").into()
}

#[cfg(test)]
mod tests {
    use domain::search::folded;

    use super::*;

    const MIGRATIONS: [&str; 2] = [
        include_str!("../../migrations/sqlite/V4__receipts.sql"),
        include_str!("../../migrations/postgres/V4__receipts.sql"),
    ];

    #[test]
    fn an_insert_has_a_parameter_for_each_column() {
        assert_eq!(insert("t", &["a, b", "c"]), "INSERT INTO t (a, b, c) VALUES ($1, $2, $3)");
    }

    #[test]
    fn letters_with_the_same_capital_fold_to_the_same() {
        for (one, other) in [("σας", "ΣΑΣ"), ("σασ", "ΣΑΣ"), ("straße", "STRASSE"), ("STRAẞE", "strasse"), ("ſ", "S")]
        {
            assert_eq!(folded(one), folded(other), "{one} {other}");
        }
    }

    #[test]
    fn the_migration_folds_stored_texts_as_new_ones_are_folded() {
        for sql in MIGRATIONS {
            let pairs = sql.split_once("(letter, folded) VALUES").unwrap().1.split_once(';').unwrap().0;
            let texts: Vec<&str> = pairs.split('\'').collect();
            // Texts stand between quotes. One letter, which cannot be shown by itself, is written as a number.
            let letters: Vec<&str> = texts.iter().skip(1).step_by(2).copied().collect();
            let number = letters.iter().position(|text| *text == "ι").unwrap();
            let without_number = letters[..number].chunks(2).chain(letters[number + 1..].chunks(2));
            let mut checked = 0;
            for pair in without_number {
                assert_eq!(folded(pair[0]), pair[1], "{}", pair[0]);
                checked += 1;
            }
            assert_eq!((checked, folded("\u{345}").as_str()), (97, "ι"));
        }
    }
}
