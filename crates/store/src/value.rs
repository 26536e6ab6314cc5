//! Values that are written to and read from a database; SQLite and PostgreSQL share them.

use std::{borrow::Cow, str::FromStr};

use domain::{
    bank::Bank,
    id::{self, PaymentId, ProjectId, bytes_of, of_bytes},
    metadata::Metadata,
    method::{Method, MethodKind},
    money::Rupiah,
    return_url::ReturnUrl,
    time::Timestamp,
    user::Email,
};
use rusqlite::types::{ToSqlOutput, ValueRef};
use tokio_postgres::types::{IsNull, Type, private::BytesMut, to_sql_checked};

use crate::{
    error::StoreError,
    metadata_column,
    short_ids::{ShortIds, payment_of},
};

/// A parameter of a statement.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Value {
    Text(Cow<'static, str>),
    Integer(i64),
    Bytes(Vec<u8>),
    /// The bytes behind a payment's id. SQLite stores them, PostgreSQL the text.
    Payment([u8; 16]),
    /// SQLite stores a short form that it looks up, PostgreSQL the text.
    Project(ProjectId),
    Null,
}

impl Value {
    /// The stored form of an id, or of anything else that is one word.
    pub(crate) fn stored(value: impl Stored) -> Value {
        value.stored()
    }

    /// The stored form of a text which is an id of any kind, or of nothing.
    pub(crate) fn named(text: &str) -> Value {
        match (text.parse::<PaymentId>(), text.parse::<ProjectId>()) {
            (Ok(payment), _) => Value::stored(payment),
            (_, Ok(project)) => Value::stored(project),
            _ => text.to_owned().into(),
        }
    }

    /// As PostgreSQL's SQL has it.
    #[cfg(test)]
    pub(crate) fn literal(&self) -> String {
        match self {
            Value::Text(text) => format!("'{}'", text.replace('\'', "''")),
            Value::Integer(number) => number.to_string(),
            Value::Payment(_) | Value::Project(_) => format!("'{}'", self.id_text().unwrap()),
            Value::Bytes(_) => panic!("no statement here has bytes"),
            Value::Null => "NULL".to_owned(),
        }
    }

    /// The text of a payment's or a project's id.
    fn id_text(&self) -> Option<String> {
        match self {
            Value::Payment(bytes) => Some(of_bytes::<id::kind::Payment>(*bytes).to_string()),
            Value::Project(id) => Some(id.to_string()),
            Value::Text(_) | Value::Integer(_) | Value::Bytes(_) | Value::Null => None,
        }
    }
}

/// What is stored as one word.
pub(crate) trait Stored {
    fn stored(&self) -> Value;
}

impl<T: Stored> Stored for &T {
    fn stored(&self) -> Value {
        (*self).stored()
    }
}

impl Stored for PaymentId {
    fn stored(&self) -> Value {
        Value::Payment(bytes_of(*self))
    }
}

impl Stored for ProjectId {
    fn stored(&self) -> Value {
        Value::Project(*self)
    }
}

/// A virtual account's method is stored as the code of its bank.
impl Stored for Method {
    fn stored(&self) -> Value {
        self.bank().map_or(MethodKind::Qris.word(), Bank::code).into()
    }
}

macro_rules! stored_as_text {
    ($($stored:ty),* $(,)?) => {
        $(
            impl Stored for $stored {
                fn stored(&self) -> Value {
                    Value::Text(self.to_string().into())
                }
            }
        )*
    };
}

stored_as_text!(
    id::KeyId,
    id::LinkId,
    id::EventId,
    id::UserId,
    id::SessionId,
    id::InviteId,
    id::AuditId,
    id::BankAccountId,
    id::CredentialId,
    id::StrayId,
    id::ReceiptId,
    id::OpeningId,
    id::LetterId,
    id::RefundId,
    Email,
);

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
            Value::Payment(bytes) => ValueRef::Blob(bytes),
            Value::Project(id) => return Err(rusqlite::Error::ToSqlConversionFailure(id.to_string().into())),
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
            Value::Payment(_) | Value::Project(_) => self.id_text().to_sql(column, out),
            Value::Null => Ok(IsNull::Yes),
        }
    }

    fn accepts(column: &Type) -> bool {
        matches!(*column, Type::TEXT | Type::INT8 | Type::BYTEA)
    }

    to_sql_checked!();
}

/// Binds the parameters of a statement of SQLite. A project that does not exist is bound as NULL, which is equal to nothing.
pub(crate) fn bind(
    statement: &mut rusqlite::Statement<'_>,
    parameters: &[Value],
    ids: ShortIds<'_>,
) -> rusqlite::Result<()> {
    let (given, expected) = (parameters.len(), statement.parameter_count());
    if given != expected {
        return Err(rusqlite::Error::InvalidParameterCount(given, expected));
    }
    parameters.iter().zip(1..).try_for_each(|(value, index): (_, usize)| match value {
        Value::Project(id) => ids.with_short(*id, |short| statement.raw_bind_parameter(index, short)),
        value => statement.raw_bind_parameter(index, value),
    })
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

    /// The project whose rows are read. Every query about a project's rows has its id as a parameter.
    pub(crate) fn project(&self) -> Option<ProjectId> {
        self.parameters.iter().find_map(|parameter| match parameter {
            Value::Project(id) => Some(*id),
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
    Sqlite(&'a rusqlite::Row<'a>, ShortIds<'a>),
    Postgres(&'a tokio_postgres::Row),
}

impl<'a> Columns<'a> {
    pub(crate) fn of_sqlite(row: &'a rusqlite::Row<'a>, ids: ShortIds<'a>) -> Columns<'a> {
        Columns { row: Row::Sqlite(row, ids), next: 0 }
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
            Row::Sqlite(row, _) => row.get(index).map_err(StoreError::unexpected),
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

    /// The short id in the next column; none where it is a text or empty, and then the column is still the next.
    fn short_id(&mut self) -> Result<Option<(&'a [u8], ShortIds<'a>)>, StoreError> {
        let Row::Sqlite(row, ids) = self.row else { return Ok(None) };
        let ValueRef::Blob(short) = row.get_ref(self.next).map_err(StoreError::unexpected)? else { return Ok(None) };
        self.next += 1;
        Ok(Some((short, ids)))
    }

    pub(crate) fn text(&mut self) -> Result<String, StoreError> {
        match self.short_id()? {
            Some((short, ids)) => ids.text(short),
            None => self.take(),
        }
    }

    pub(crate) fn optional_text(&mut self) -> Result<Option<String>, StoreError> {
        match self.short_id()? {
            Some((short, ids)) => ids.text(short).map(Some),
            None => self.take(),
        }
    }

    /// A text to name a row by, also where it has the short id of nothing.
    pub(crate) fn name(&mut self) -> Result<String, StoreError> {
        match self.short_id()? {
            Some((short, ids)) => Ok(ids.text(short).unwrap_or_else(|_| format!("{short:02X?}"))),
            None => self.take(),
        }
    }

    pub(crate) fn payment_id(&mut self) -> Result<PaymentId, StoreError> {
        match self.short_id()? {
            Some((short, _)) => {
                payment_of(short).ok_or_else(|| StoreError::unexpected(format!("no payment is {short:02x?}")))
            }
            None => self.parsed(),
        }
    }

    pub(crate) fn project_id(&mut self) -> Result<ProjectId, StoreError> {
        match self.short_id()? {
            Some((short, ids)) => ids.project(short),
            None => self.parsed(),
        }
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

    pub(crate) fn method(&mut self) -> Result<Method, StoreError> {
        self.word(stored_method)
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

    pub(crate) fn optional_word<T>(&mut self, parse: impl Fn(&str) -> Option<T>) -> Result<Option<T>, StoreError> {
        self.optional_text()?.map(|text| read(&text, parse)).transpose()
    }

    /// A comma-separated list of texts that `parse` knows.
    pub(crate) fn words<T>(&mut self, parse: impl Fn(&str) -> Option<T>) -> Result<Vec<T>, StoreError> {
        let text = self.text()?;
        text.split(',').filter(|word| !word.is_empty()).map(|word| read(word, &parse)).collect()
    }
}

/// The method that a column has this word for.
pub(crate) fn stored_method(word: &str) -> Option<Method> {
    match word == MethodKind::Qris.word() {
        true => Some(Method::Qris),
        false => Bank::from_code(word).map(Method::VirtualAccount),
    }
}

fn read<T>(text: &str, parse: impl Fn(&str) -> Option<T>) -> Result<T, StoreError> {
    parse(text).ok_or_else(|| StoreError::unexpected(format!("cannot read {text:?}")))
}
