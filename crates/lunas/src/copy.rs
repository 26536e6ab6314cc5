//! `lunas copy`: copies an installation from the embedded database to PostgreSQL, completely or not at all. It never changes the
//! embedded database's data.

use clap::Args;
use serde::Serialize;
use store::Store;

use crate::{
    database::Database,
    error::{CliError, chain},
    options::GlobalOptions,
    output::table,
    secret_key,
};

#[derive(Args)]
pub(crate) struct CopyOptions {
    /// The embedded database, sqlite:PATH. It is only read.
    #[arg(long, value_name = "URL")]
    from: String,
    /// An empty PostgreSQL database, postgres://USER:PASSWORD@HOST/DATABASE. Without it, the one of --database or LUNAS_DATABASE;
    /// use the variable to keep a password out of the process list.
    #[arg(long, value_name = "URL")]
    to: Option<String>,
}

#[derive(Serialize)]
struct CopiedJson {
    from: String,
    to: String,
    rows: i64,
    tables: Vec<TableJson>,
    invariants: usize,
}

#[derive(Serialize)]
struct TableJson {
    table: &'static str,
    rows: i64,
}

impl CopiedJson {
    fn text(&self) -> String {
        let rows: Vec<_> = self.tables.iter().map(|table| [table.table.to_owned(), table.rows.to_string()]).collect();
        let CopiedJson { from, to, rows: total, invariants, .. } = self;
        let variable = secret_key::VARIABLE;
        format!(
            "{}\n\nAll {total} rows of {from} are in {to}, and {invariants} invariants hold there.\n\n\
             What to do next: start `lunas serve` with LUNAS_DATABASE set to the new URL, and with the same {variable}.\n\
             Move the old file away: anything that a server writes to it from now on is missing in the new database.",
            table(["TABLE", "ROWS"], &rows),
        )
    }
}

pub(crate) async fn run(options: &CopyOptions, global: &GlobalOptions) -> Result<(), CliError> {
    let connections = global.database_connections();
    let from = Database::parse(&options.from, connections)?;
    let to = match &options.to {
        Some(url) => Database::parse(url, connections)?,
        None => Database::of(global)?,
    };
    let (Database::Sqlite(path), Database::Postgres(url, _)) = (&from, &to) else {
        let what = format!("cannot copy from {from} to {to}");
        return Err(CliError::new(format!("{what}; use --from sqlite:PATH --to postgres://…")));
    };
    if !path.exists() {
        return Err(CliError::new(format!(
            "there is no database at {}; give the file of an installation",
            path.display()
        )));
    }
    let lock = from.lock_for_copy()?;
    let copied = Store::copy(path, url).await;
    drop(lock);
    let copied = copied.map_err(|error| CliError::new(format!("cannot copy {from} to {to}: {}", chain(&error))))?;
    let tables: Vec<_> = copied.iter().map(|copied| TableJson { table: copied.table, rows: copied.rows }).collect();
    let copied = CopiedJson {
        from: from.to_string(),
        to: to.to_string(),
        rows: tables.iter().map(|table| table.rows).sum(),
        tables,
        invariants: Store::invariants_checked(),
    };
    global.output().show(&copied, CopiedJson::text)
}
