//! The short forms that a SQLite file has of ids, for tests that look into one.

use domain::id::{PaymentId, bytes_of, kind, of_bytes};
use rusqlite::Connection;

/// A payment's id as the file's SQL has it.
pub(crate) fn short(payment: &str) -> String {
    let bytes = bytes_of(payment.parse::<PaymentId>().unwrap());
    format!("x'{}'", bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>())
}

/// The id of the payment or the project that has this short form.
pub(crate) fn id_of(file: &Connection, short: &[u8]) -> String {
    match short.try_into() {
        Ok(bytes) => of_bytes::<kind::Payment>(bytes).to_string(),
        Err(_) => {
            let sql = "SELECT id FROM project_numbers WHERE short = $1";
            file.query_row(sql, [short], |row| row.get(0)).unwrap()
        }
    }
}
