//! The migration history of a database, and whether it is a database of ours. SQLite and PostgreSQL share this.

use refinery::Migration;

use crate::error::OpenError;

/// The table in which refinery records applied migrations.
pub(crate) const HISTORY: &str = "refinery_schema_history";
/// Tables that every version of Lunas has had.
pub(crate) const TABLES_OF_OURS: [&str; 2] = ["installation", "payments"];

/// The state of a database's tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tables {
    Missing,
    /// A migration is due.
    Behind,
    Current,
}

/// An applied migration.
pub(crate) struct Applied {
    pub(crate) version: i64,
    pub(crate) name: String,
    pub(crate) checksum: String,
}

/// What was found in a database.
pub(crate) struct ExistingTables {
    /// None where the history table does not exist.
    pub(crate) history: Option<Vec<Applied>>,
    /// Whether there are tables other than the history.
    pub(crate) other_tables: bool,
    pub(crate) tables_of_ours: bool,
}

impl ExistingTables {
    /// Compares what was found with the migrations of this program.
    pub(crate) fn judge(&self, ours: &[Migration]) -> Result<Tables, OpenError> {
        let applied = self.history.as_deref().unwrap_or_default();
        if applied.is_empty() {
            return if self.other_tables { Err(OpenError::OtherProgram) } else { Ok(Tables::Missing) };
        }
        if !self.tables_of_ours {
            return Err(OpenError::OtherProgram);
        }
        for line in applied {
            match ours.iter().find(|migration| i64::from(migration.version()) == line.version) {
                Some(own) if own.name() == line.name && own.checksum().to_string() == line.checksum => {}
                Some(_) => return Err(OpenError::OtherProgram),
                None => return Err(OpenError::Newer),
            }
        }
        Ok(if applied.len() < ours.len() { Tables::Behind } else { Tables::Current })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ours() -> Vec<Migration> {
        ["V1__initial", "V2__more"].map(|name| Migration::unapplied(name, "SELECT 1").unwrap()).into()
    }

    fn line(version: i64, name: &str) -> Applied {
        let own = ours().into_iter().find(|own| own.name() == name);
        let checksum = own.map_or_else(|| "7".to_owned(), |own| own.checksum().to_string());
        Applied { version, name: name.to_owned(), checksum }
    }

    #[track_caller]
    fn check(history: Option<&[(i64, &str)]>, others: bool, of_ours: bool, expected: &str) {
        let history = history.map(|lines| lines.iter().map(|(version, name)| line(*version, name)).collect());
        let found = ExistingTables { history, other_tables: others, tables_of_ours: of_ours };
        let judged = match found.judge(&ours()) {
            Ok(tables) => format!("{tables:?}"),
            Err(error) => format!("{error:?}"),
        };
        assert_eq!(judged, expected);
    }

    #[test]
    fn only_a_database_with_our_own_history_is_ours() {
        let whole = &[(1, "initial"), (2, "more")][..];
        check(None, false, false, "Missing");
        check(None, true, false, "OtherProgram");
        check(None, true, true, "OtherProgram");
        // Left over when the first migration was interrupted.
        check(Some(&[]), false, false, "Missing");
        check(Some(&[]), true, false, "OtherProgram");
        check(Some(&whole[..1]), true, true, "Behind");
        check(Some(whole), true, true, "Current");
        check(Some(whole), true, false, "OtherProgram");
        check(Some(&[(1, "theirs")]), true, false, "OtherProgram");
        check(Some(&[(1, "theirs")]), true, true, "OtherProgram");
        check(Some(&[(1, "initial"), (99, "future")]), true, true, "Newer");
        check(Some(&[(99, "theirs")]), true, false, "OtherProgram");
    }
}
