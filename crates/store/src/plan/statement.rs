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

/// A list of words in one column.
pub(super) fn joined<T: ToString>(items: impl IntoIterator<Item = T>) -> Value {
    let words: Vec<String> = items.into_iter().map(|item| item.to_string()).collect();
    words.join(",").into()
}

/// The form in which texts are searched; search terms are folded alike. Each character is folded by itself, unlike in
/// `str::to_lowercase`, which writes a sigma at the end of a word differently: a part of a text must fold to the same
/// characters as it does within the whole text.
pub(crate) fn folded(text: &str) -> String {
    text.chars().flat_map(char::to_lowercase).collect()
}
