//! What a database says about its own making, and whether it is one of ours. The same for every kind of database.

use refinery::Migration;

use crate::error::OpenError;

/// Where refinery notes what it has done.
pub(crate) const HISTORY: &str = "refinery_schema_history";
/// Tables that every version of ours has had.
pub(crate) const TABLES_OF_OURS: [&str; 2] = ["installation", "payments"];

/// How far the tables of a database are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tables {
    Missing,
    Behind,
    Current,
}

/// One line of a history.
pub(crate) struct Applied {
    pub(crate) version: i64,
    pub(crate) name: String,
    pub(crate) checksum: String,
}

/// What was found in a database.
pub(crate) struct Found {
    /// None where there is no history at all.
    pub(crate) history: Option<Vec<Applied>>,
    /// Whether there are tables beside the history.
    pub(crate) other_tables: bool,
    pub(crate) tables_of_ours: bool,
}

impl Found {
    /// Judges what was found by what this program would have made.
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
        let found = Found { history, other_tables: others, tables_of_ours: of_ours };
        let judged = match found.judge(&ours()) {
            Ok(tables) => format!("{tables:?}"),
            Err(error) => format!("{error:?}"),
        };
        assert_eq!(judged, expected);
    }

    #[test]
    fn only_a_history_of_our_own_is_ours() {
        let whole = &[(1, "initial"), (2, "more")][..];
        check(None, false, false, "Missing");
        check(None, true, false, "OtherProgram");
        check(None, true, true, "OtherProgram");
        // What is left when making the tables was broken off.
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
