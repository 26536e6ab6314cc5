//! `lunas migrate`: creates or updates the database's tables, before servers of a new version start.

use serde::Serialize;
use store::Tables;

use crate::{database::Database, error::CliError, options::GlobalOptions};

#[derive(Serialize)]
struct MigratedJson {
    database: String,
    /// `made`, `updated` or `current`.
    tables: &'static str,
}

impl MigratedJson {
    fn text(&self) -> String {
        let done = match self.tables {
            "made" => "tables created",
            "updated" => "tables updated",
            _ => "tables already up to date",
        };
        format!("{}: {done}", self.database)
    }
}

pub(crate) async fn run(global: &GlobalOptions) -> Result<(), CliError> {
    let database = Database::of(global)?;
    let tables = match database.migrate().await? {
        Tables::Missing => "made",
        Tables::Behind => "updated",
        Tables::Current => "current",
    };
    let migrated = MigratedJson { database: database.to_string(), tables };
    global.output().show(&migrated, MigratedJson::text)
}
