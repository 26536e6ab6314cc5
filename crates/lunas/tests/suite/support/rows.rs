//! Everything that is stored, to be compared before and after.

use domain::id::{kind, of_bytes};
use rusqlite::types::Value as Cell;
use testkit::{Cluster, Database};

use crate::support::short_ids::short;

/// Every row of every table, sorted, so that two reads of an unchanged database are equal.
pub(crate) fn rows(database: &Database) -> Vec<String> {
    let mut rows = match database {
        Database::Sqlite(path) => {
            let connection = rusqlite::Connection::open(path).unwrap();
            // A full-text index is stored in tables of its own, which are read.
            let names = "SELECT name FROM sqlite_master WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL %'";
            let tables: Vec<String> = select(&connection, names).into_iter().map(|row| row.concat()).collect();
            let of = |table: &String| {
                let rows = select(&connection, &format!("SELECT * FROM \"{table}\""));
                rows.into_iter().map(|row| format!("{table}: {}", row.join(","))).collect::<Vec<_>>()
            };
            tables.iter().flat_map(of).collect::<Vec<_>>()
        }
        Database::Postgres { url } => {
            let each = "query_to_xml(format('SELECT * FROM %I', tablename), true, true, tablename)";
            // Nodes count up their rows by themselves.
            let sql = format!("SELECT {each} FROM pg_tables WHERE schemaname = 'public' AND tablename <> 'nodes'");
            Cluster::shared().run(url, &sql).unwrap().lines().map(str::to_owned).collect()
        }
    };
    rows.sort();
    rows
}

/// Runs a statement beside the server, as somebody does who reaches the database by hand.
pub(crate) fn run_by_hand(database: &Database, sql: &str) {
    match database {
        Database::Sqlite(path) => rusqlite::Connection::open(path).unwrap().execute_batch(sql).unwrap(),
        Database::Postgres { url } => drop(Cluster::shared().run(url, sql).unwrap()),
    }
}

/// Deletes what is stored of the customer of a payment, as an operator would who is asked to.
pub(crate) fn erase_customer(database: &Database, payment: &str) {
    let id = match database {
        Database::Sqlite(_) => short(payment),
        Database::Postgres { .. } => format!("'{payment}'"),
    };
    run_by_hand(database, &format!("DELETE FROM checkouts WHERE payment_id = {id}"));
}

fn select(connection: &rusqlite::Connection, sql: &str) -> Vec<Vec<String>> {
    let mut statement = connection.prepare(sql).unwrap();
    let columns = statement.column_count();
    let shown = |cell: Cell| match cell {
        Cell::Text(text) => text,
        // As many as the id of a payment has; other bytes may be shown so as well.
        Cell::Blob(bytes) if bytes.len() == 16 => of_bytes::<kind::Payment>(bytes.try_into().unwrap()).to_string(),
        cell => format!("{cell:?}"),
    };
    let row = |row: &rusqlite::Row<'_>| (0..columns).map(|column| row.get(column).map(shown)).collect();
    statement.query_map([], row).unwrap().collect::<Result<_, _>>().unwrap()
}
