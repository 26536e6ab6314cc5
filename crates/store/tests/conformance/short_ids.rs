//! SQL and rows of a SQLite file as the tests write and compare them: with ids as texts, as PostgreSQL has them.

use domain::id::{PaymentId, bytes_of, kind, of_bytes};
use rusqlite::{Connection, OptionalExtension, types::ValueRef};

/// The characters of the id of a payment or of a project.
const ID_LENGTH: usize = 30;

/// The SQL with the short forms of the payments and projects whose ids are quoted in it. A file of an earlier version has none.
pub(crate) fn shortened(connection: &Connection, sql: &str) -> String {
    if !connection.table_exists(None, "project_numbers").unwrap() {
        return sql.to_owned();
    }
    let pieces: Vec<&str> = sql.split('\'').collect();
    let mut shortened = String::new();
    for (index, piece) in pieces.iter().enumerate() {
        let is_id = index % 2 == 1 && piece.len() == ID_LENGTH;
        match (piece.parse::<PaymentId>(), &piece[..4.min(piece.len())]) {
            (Ok(payment), _) if is_id => shortened += &format!("x'{}'", hex(&bytes_of(payment))),
            (_, "prj_") if is_id => {
                shortened += &format!("(SELECT short FROM project_numbers WHERE id = '{piece}')");
            }
            _ if index % 2 == 1 => shortened += &format!("'{piece}'"),
            _ => shortened += piece,
        }
    }
    shortened
}

/// A value as text: a short id in a column of texts as the id that it is.
pub(crate) fn text_of(connection: &Connection, value: ValueRef<'_>, column: &str) -> String {
    match value {
        ValueRef::Blob(short) if column == "TEXT" => match <[u8; 16]>::try_from(short) {
            Ok(bytes) => of_bytes::<kind::Payment>(bytes).to_string(),
            Err(_) => {
                let sql = "SELECT id FROM project_numbers WHERE short = $1";
                let id = connection.query_row(sql, [short], |row| row.get(0)).optional().unwrap();
                id.unwrap_or_else(|| format!("{value:?}"))
            }
        },
        value => value.as_str().map_or_else(|_| format!("{value:?}"), str::to_owned),
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
