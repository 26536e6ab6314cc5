//! Values that are written to and read from a database; SQLite and PostgreSQL share them.

use std::{borrow::Cow, str::FromStr};

use domain::{id::ProjectId, metadata::Metadata, money::Rupiah, return_url::ReturnUrl, time::Timestamp};
use rusqlite::types::{ToSqlOutput, ValueRef};
use tokio_postgres::types::{IsNull, Type, private::BytesMut, to_sql_checked};

use crate::{error::StoreError, metadata_column};

/// A parameter of a statement.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Value {
    Text(Cow<'static, str>),
    Integer(i64),
    Bytes(Vec<u8>),
    Null,
}

impl Value {
    /// Anything with a text form, such as an id.
    pub(crate) fn shown(value: impl ToString) -> Value {
        Value::Text(value.to_string().into())
    }
}

impl From<&'static str> for Value {
    fn from(text: &'static str) -> Value {
        Value::Text(text.into())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Value {
        Value::Text(text.into())
    }
}

impl From<i64> for Value {
    fn from(number: i64) -> Value {
        Value::Integer(number)
    }
}

impl From<bool> for Value {
    fn from(truth: bool) -> Value {
        Value::Integer(truth.into())
    }
}

impl From<Timestamp> for Value {
    fn from(at: Timestamp) -> Value {
        Value::Integer(at.as_millis())
    }
}

impl From<Rupiah> for Value {
    fn from(amount: Rupiah) -> Value {
        Value::Integer(amount.get())
    }
}

impl From<Vec<u8>> for Value {
    fn from(bytes: Vec<u8>) -> Value {
        Value::Bytes(bytes)
    }
}

impl<T: Into<Value>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Value {
        value.map_or(Value::Null, Into::into)
    }
}

impl rusqlite::ToSql for Value {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self {
            Value::Text(text) => ValueRef::Text(text.as_bytes()),
            Value::Integer(number) => ValueRef::Integer(*number),
            Value::Bytes(bytes) => ValueRef::Blob(bytes),
            Value::Null => ValueRef::Null,
        }))
    }
}

impl tokio_postgres::types::ToSql for Value {
    fn to_sql(&self, column: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn std::error::Error + Sync + Send>> {
        match self {
            Value::Text(text) => text.as_ref().to_sql(column, out),
            Value::Integer(number) => number.to_sql(column, out),
            Value::Bytes(bytes) => bytes.to_sql(column, out),
            Value::Null => Ok(IsNull::Yes),
        }
    }

    fn accepts(column: &Type) -> bool {
        matches!(*column, Type::TEXT | Type::INT8 | Type::BYTEA)
    }

    to_sql_checked!();
}

/// A statement that reads.
pub(crate) struct Query {
    pub(crate) sql: Cow<'static, str>,
    pub(crate) parameters: Vec<Value>,
}

impl Query {
    pub(crate) fn new(sql: impl Into<Cow<'static, str>>, parameters: impl Into<Vec<Value>>) -> Query {
        let (sql, parameters) = (sql.into(), parameters.into());
        debug_assert_parameters(&sql, parameters.len());
        Query { sql, parameters }
    }

    /// The project whose rows are read. Every query about a project's rows has its id as a parameter, before any text that
    /// somebody has chosen.
    pub(crate) fn project(&self) -> Option<ProjectId> {
        self.parameters.iter().find_map(|parameter| match parameter {
            Value::Text(text) => text.parse().ok(),
            _ => None,
        })
    }
}

/// Checks that `$1`, `$2`, … first appear in this order: SQLite numbers parameters by first appearance, PostgreSQL by
/// their digits, and only in this order both agree.
pub(crate) fn debug_assert_parameters(sql: &str, count: usize) {
    if cfg!(debug_assertions) {
        let mut seen = 0;
        for piece in sql.split('$').skip(1) {
            let digits: String = piece.chars().take_while(char::is_ascii_digit).collect();
            let number: usize = digits.parse().unwrap_or(0);
            assert!(number >= 1 && number <= seen + 1, "parameter ${number} appears out of order in {sql}");
            seen = seen.max(number);
        }
        assert_eq!(seen, count, "parameters of {sql}");
    }
}

/// Decodes one row into a domain value.
pub(crate) type Decode<T> = fn(&mut Columns<'_>) -> Result<T, StoreError>;

/// Takes one row after another. Reads are compiled for this type once, and not again for every [`Decode`].
pub(crate) type TakeRow<'a> = dyn FnMut(&mut Columns<'_>) -> Result<(), StoreError> + 'a;

/// The columns of one row, taken in the order in which the statement names them.
pub(crate) struct Columns<'a> {
    row: Row<'a>,
    next: usize,
}

#[derive(Clone, Copy)]
enum Row<'a> {
    Sqlite(&'a rusqlite::Row<'a>),
    Postgres(&'a tokio_postgres::Row),
}

impl<'a> Columns<'a> {
    pub(crate) fn of_sqlite(row: &'a rusqlite::Row<'a>) -> Columns<'a> {
        Columns { row: Row::Sqlite(row), next: 0 }
    }

    /// Starts at the column `from`.
    pub(crate) fn of_postgres(row: &'a tokio_postgres::Row, from: usize) -> Columns<'a> {
        Columns { row: Row::Postgres(row), next: from }
    }

    fn take<T>(&mut self) -> Result<T, StoreError>
    where
        T: rusqlite::types::FromSql + for<'b> tokio_postgres::types::FromSql<'b>,
    {
        let index = self.next;
        self.next += 1;
        match self.row {
            Row::Sqlite(row) => row.get(index).map_err(StoreError::unexpected),
            Row::Postgres(row) => row.try_get(index).map_err(StoreError::unexpected),
        }
    }

    /// The same row, from so many columns further on.
    pub(crate) const fn ahead(&self, columns: usize) -> Columns<'a> {
        Columns { row: self.row, next: self.next + columns }
    }

    /// Skips columns.
    pub(crate) fn skip(&mut self, columns: usize) {
        self.next += columns;
    }

    pub(crate) fn text(&mut self) -> Result<String, StoreError> {
        self.take()
    }

    pub(crate) fn optional_text(&mut self) -> Result<Option<String>, StoreError> {
        self.take()
    }

    pub(crate) fn metadata(&mut self) -> Result<Option<Metadata>, StoreError> {
        self.optional_text()?.map(|text| read(&text, metadata_column::read)).transpose()
    }

    pub(crate) fn return_url(&mut self) -> Result<Option<ReturnUrl>, StoreError> {
        Ok(self.optional_text()?.map(ReturnUrl::stored))
    }

    pub(crate) fn integer(&mut self) -> Result<i64, StoreError> {
        self.take()
    }

    pub(crate) fn optional_integer(&mut self) -> Result<Option<i64>, StoreError> {
        self.take()
    }

    pub(crate) fn truth(&mut self) -> Result<bool, StoreError> {
        Ok(self.integer()? != 0)
    }

    pub(crate) fn bytes(&mut self) -> Result<Vec<u8>, StoreError> {
        self.take()
    }

    pub(crate) fn optional_bytes(&mut self) -> Result<Option<Vec<u8>>, StoreError> {
        self.take()
    }

    pub(crate) fn count(&mut self) -> Result<u32, StoreError> {
        self.integer()?.try_into().map_err(StoreError::unexpected)
    }

    pub(crate) fn rupiah(&mut self) -> Result<Rupiah, StoreError> {
        self.integer().map(Rupiah::new)
    }

    pub(crate) fn timestamp(&mut self) -> Result<Timestamp, StoreError> {
        self.integer().map(Timestamp::from_millis)
    }

    pub(crate) fn optional_timestamp(&mut self) -> Result<Option<Timestamp>, StoreError> {
        Ok(self.optional_integer()?.map(Timestamp::from_millis))
    }

    /// A text that `FromStr` reads, such as an id.
    pub(crate) fn parsed<T: FromStr>(&mut self) -> Result<T, StoreError> {
        self.word(|text| text.parse().ok())
    }

    pub(crate) fn optional_parsed<T: FromStr>(&mut self) -> Result<Option<T>, StoreError> {
        self.optional_text()?.map(|text| read(&text, |text| text.parse().ok())).transpose()
    }

    /// A text that `parse` knows.
    pub(crate) fn word<T>(&mut self, parse: impl Fn(&str) -> Option<T>) -> Result<T, StoreError> {
        read(&self.text()?, parse)
    }

    /// A comma-separated list of texts that `parse` knows.
    pub(crate) fn words<T>(&mut self, parse: impl Fn(&str) -> Option<T>) -> Result<Vec<T>, StoreError> {
        let text = self.text()?;
        text.split(',').filter(|word| !word.is_empty()).map(|word| read(word, &parse)).collect()
    }
}

fn read<T>(text: &str, parse: impl Fn(&str) -> Option<T>) -> Result<T, StoreError> {
    parse(text).ok_or_else(|| StoreError::unexpected(format!("cannot read {text:?}")))
}
