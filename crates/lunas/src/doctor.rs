//! `lunas doctor`: examines the database, the secret key and the bank accounts, and prints a verdict for each point, and what to do where one is not
//! fine. It changes nothing.

mod banks;
mod judge;
mod letters;
mod point;

use clap::Args;
use engine::{Clock, SecretsFound, Settings, SystemClock};
use serde::Serialize;
use store::{PostgresFindings, SqliteFindings, Store, Tables};

use self::point::{Point, Verdict};
use crate::{
    database::{Database, Installation},
    error::{CliError, chain},
    mail_options::MailOptions,
    options::{GlobalOptions, PublicUrl},
    output::table,
    secret_key::{self, FoundKeys},
};

#[derive(Args)]
pub(crate) struct DoctorOptions {
    #[command(flatten)]
    public_url: PublicUrl,
    #[command(flatten)]
    mail: MailOptions,
}

#[derive(Serialize)]
struct ExaminedJson {
    /// Whether no point fails; there may be warnings.
    ok: bool,
    database: String,
    points: Vec<Point>,
}

impl ExaminedJson {
    fn text(&self) -> String {
        let word = |verdict| match verdict {
            Verdict::Ok => "ok",
            Verdict::Warning => "warning",
            Verdict::Failure => "FAILURE",
        };
        let row = |point: &Point| [word(point.verdict).to_owned(), point.point.to_owned(), point.finding.clone()];
        let rows: Vec<_> = self.points.iter().map(row).collect();
        format!("{}\n\n{}", self.database, table(["VERDICT", "POINT", "FINDING"], &rows))
    }
}

pub(crate) async fn run(options: &DoctorOptions, global: &GlobalOptions) -> Result<(), CliError> {
    let database = Database::of(global)?;
    let points = examine(&database, options).await;
    let failures = points.iter().filter(|point| point.verdict == Verdict::Failure).count();
    let examined = ExaminedJson { ok: failures == 0, database: database.to_string(), points };
    global.output().show(&examined, ExaminedJson::text)?;
    match failures {
        0 => Ok(()),
        _ => Err(CliError::new(format!("points that fail: {failures}; each line above says what to do"))),
    }
}

async fn examine(database: &Database, options: &DoctorOptions) -> Vec<Point> {
    let (mut points, contents) = match database {
        Database::Sqlite(_) if !database.has_directory() => {
            let point = Point::failure("file", "its directory does not exist; create it, then run `lunas migrate`");
            (vec![point], Contents::None)
        }
        Database::Sqlite(path) if !path.exists() => {
            (vec![Point::failure("file", "there is none; `lunas migrate` creates it")], Contents::None)
        }
        Database::Sqlite(path) => match Store::inspect_sqlite(path).await {
            Ok(found) => (judge::file(&found), Contents::of_file(&found)),
            Err(error) => (vec![Point::failure("file", chain(&error))], Contents::None),
        },
        Database::Postgres(url, connections) => match Store::inspect_postgres(url, || SystemClock.now()).await {
            Ok(found) => (judge::server(&found, *connections, url.is_here()), Contents::of_server(&found)),
            Err(error) => (vec![Point::failure("server", chain(&error))], Contents::None),
        },
    };
    points.push(key(database, contents).await);
    points.push(letters::set_up(&options.mail));
    if contents.can_be_read() {
        let failure = |error: CliError| vec![Point::failure(banks::ACCOUNTS, error.reasons().join("; "))];
        points.extend(contents_of(database, contents, &options.public_url).await.unwrap_or_else(failure));
    }
    points
}

/// What is in a database, as far as the points about its contents go.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Contents {
    /// Nothing, or nothing that can be read; another point says why.
    None,
    /// Tables of an older version, which this one cannot read before they are migrated.
    Old,
    /// Current tables in a SQLite file without a write-ahead log. Opened as by a server, the file would get one.
    WithoutLog,
    Current,
}

impl Contents {
    fn of_file(found: &SqliteFindings) -> Contents {
        match found.tables {
            Ok(Tables::Current) if found.journal_mode == "wal" => Contents::Current,
            Ok(Tables::Current) => Contents::WithoutLog,
            Ok(Tables::Behind) => Contents::Old,
            Ok(Tables::Missing) | Err(_) => Contents::None,
        }
    }

    fn of_server(found: &PostgresFindings) -> Contents {
        match found.tables {
            Ok(Tables::Current) if found.settings.takes_writes && found.rights.may_use_tables => Contents::Current,
            Ok(Tables::Behind) => Contents::Old,
            _ => Contents::None,
        }
    }

    fn can_be_read(self) -> bool {
        matches!(self, Contents::WithoutLog | Contents::Current)
    }

    /// Opens the database without changing it.
    async fn open(self, database: &Database) -> Result<Store, CliError> {
        match (self, database) {
            (Contents::WithoutLog, Database::Sqlite(path)) => Ok(Store::open_sqlite_to_read(path)),
            _ => database.open().await,
        }
    }
}

/// The points about bank accounts and letters, of a database that can be read. They need no secret key.
async fn contents_of(database: &Database, contents: Contents, public_url: &PublicUrl) -> Result<Vec<Point>, CliError> {
    let keys = secret_key::placeholder()?;
    let installation = Installation::new(contents.open(database).await?, Settings::default(), keys);
    let (engine, now) = (&installation.engine, SystemClock.now());
    let points = match banks::examine(engine, public_url, now).await {
        Ok(points) => letters::examine(engine, now).await.map(|letters| points.into_iter().chain(letters).collect()),
        Err(error) => Err(error),
    };
    installation.close().await;
    points
}

/// The point about the secret key: whether there is one, and where the database can be read, whether it decrypts the secrets in it.
async fn key(database: &Database, contents: Contents) -> Point {
    let found = match secret_key::find(&database.home()) {
        Ok(found) => found,
        Err(error) => return Point::failure(KEY, error.reasons().join("; ")),
    };
    if !contents.can_be_read() {
        return match found {
            Some(found) if contents == Contents::Old => {
                let why = "it cannot be compared with the stored secrets before the tables are migrated";
                Point::warning(
                    KEY,
                    format!("found in {}; {why}, run `lunas migrate` and then this again", found.origin()),
                )
            }
            Some(found) => Point::ok(KEY, format!("found in {}", found.origin())),
            None => Point::warning(KEY, missing_key(database)),
        };
    }
    match fits(database, contents, found).await {
        Ok(point) => point,
        Err(error) => Point::failure(KEY, error.reasons().join("; ")),
    }
}

const KEY: &str = "secret key";

fn missing_key(database: &Database) -> String {
    let file = secret_key::file_in(&database.home());
    format!("{} is not set and there is no {}; `lunas serve` needs it", secret_key::VARIABLE, file.display())
}

/// Judges the keys by what is in the database.
async fn fits(database: &Database, contents: Contents, found: Option<FoundKeys>) -> Result<Point, CliError> {
    let keys = match &found {
        Some(found) => found.keys.clone(),
        None => secret_key::placeholder()?,
    };
    let installation = Installation::new(contents.open(database).await?, Settings::default(), keys);
    let secrets = installation.engine.examine_secrets().await;
    installation.close().await;
    let secrets = secrets?;
    let none = secrets.current + secrets.outdated == 0 && secrets.unopened.is_empty();
    Ok(match found {
        Some(found) if none => Point::ok(KEY, format!("found in {}; there are no secrets yet", found.origin())),
        Some(found) => opened(&found, &secrets),
        None if none => Point::warning(KEY, missing_key(database)),
        None => {
            Point::failure(KEY, format!("{}; use the key that the database was created with", missing_key(database)))
        }
    })
}

/// Judges keys by how they open the stored secrets.
fn opened(keys: &FoundKeys, secrets: &SecretsFound) -> Point {
    if let Some(reason) = keys.missing_for(&secrets.unopened) {
        return Point::failure(KEY, reason);
    }
    let origin = keys.origin();
    match (secrets.unopened.first(), secrets.outdated, keys.origins_of_others()) {
        (Some(first), ..) => {
            let count = secrets.unopened.len();
            let what = format!("stored secrets that are damaged or were moved: {count}, the first is {}", first.place);
            Point::failure(KEY, format!("{what}; restore them, or replace them with `lunas webhook rotate-secret`"))
        }
        (None, 1.., _) => {
            let what = format!("{} stored secrets are not encrypted with the one in {origin}", secrets.outdated);
            Point::warning(KEY, format!("{what}, or as version 0.1 did it; run `lunas secret rotate`"))
        }
        (None, 0, []) => Point::ok(KEY, format!("the one in {origin} decrypts the stored secrets")),
        (None, 0, others) => {
            let unused = format!("{} is not needed for them", others.join(" and "));
            Point::ok(KEY, format!("the one in {origin} decrypts the stored secrets; {unused}"))
        }
    }
}
