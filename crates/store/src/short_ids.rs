//! The short forms that ids have in a SQLite file. Nearly every row names a project and most name a payment, so a payment's id is
//! stored as the 16 bytes behind its letters, and a project's as the few bytes that the table `project_numbers` has for it. All other
//! ids are texts, and on PostgreSQL all are.

use std::{cell::RefCell, collections::HashMap};

use domain::id::{PaymentId, ProjectId, bytes_of, of_bytes};
use rusqlite::{Connection, OptionalExtension, functions::FunctionFlags, types::Value as Cell};

use crate::error::StoreError;

/// Projects that a connection remembers. When there are more, all are forgotten, and looked up again.
const REMEMBERED_MOST: usize = 10_000;

/// The projects that a connection has looked up. A project keeps its short form for ever.
#[derive(Default)]
pub(crate) struct Projects {
    shorts: RefCell<HashMap<ProjectId, Vec<u8>>>,
    ids: RefCell<HashMap<Vec<u8>, ProjectId>>,
}

impl Projects {
    fn remember(&self, id: ProjectId, short: Vec<u8>) {
        if self.ids.borrow().len() >= REMEMBERED_MOST {
            self.forget();
        }
        self.shorts.borrow_mut().insert(id, short.clone());
        self.ids.borrow_mut().insert(short, id);
    }

    /// For when something is rolled back: a project that was created with it leaves its short form to the next.
    pub(crate) fn forget(&self) {
        self.shorts.borrow_mut().clear();
        self.ids.borrow_mut().clear();
    }
}

/// A connection with the projects that it has looked up.
#[derive(Clone, Copy)]
pub(crate) struct ShortIds<'a> {
    connection: &'a Connection,
    projects: &'a Projects,
}

impl<'a> ShortIds<'a> {
    pub(crate) fn new(connection: &'a Connection, projects: &'a Projects) -> ShortIds<'a> {
        ShortIds { connection, projects }
    }

    /// Gives a project's short form to `take`; none where there is no such project.
    pub(crate) fn with_short<T>(
        self,
        id: ProjectId,
        take: impl FnOnce(Option<&[u8]>) -> rusqlite::Result<T>,
    ) -> rusqlite::Result<T> {
        if !self.projects.shorts.borrow().contains_key(&id) {
            let mut statement = self.connection.prepare_cached("SELECT short FROM project_numbers WHERE id = $1")?;
            let short = statement.query_row([id.to_string()], |row| row.get(0)).optional()?;
            if let Some(short) = short {
                self.projects.remember(id, short);
            }
        }
        take(self.projects.shorts.borrow().get(&id).map(Vec::as_slice))
    }

    /// The project with this short form.
    pub(crate) fn project(self, short: &[u8]) -> Result<ProjectId, StoreError> {
        if let Some(id) = self.projects.ids.borrow().get(short) {
            return Ok(*id);
        }
        let sql = "SELECT id FROM project_numbers WHERE short = $1";
        let mut statement = self.connection.prepare_cached(sql).map_err(StoreError::unavailable)?;
        let text = statement.query_row([short], |row| row.get::<_, String>(0)).optional();
        let text = text.map_err(StoreError::unavailable)?;
        let id = text.as_deref().and_then(|text| text.parse().ok());
        let id = id.ok_or_else(|| StoreError::unexpected(format!("no project is {short:02x?}: {text:?}")))?;
        self.projects.remember(id, short.to_owned());
        Ok(id)
    }

    /// The text of an id, of whatever kind it is.
    pub(crate) fn text(self, short: &[u8]) -> Result<String, StoreError> {
        match payment_of(short) {
            Some(id) => Ok(id.to_string()),
            None => self.project(short).map(|id| id.to_string()),
        }
    }
}

/// The payment with this short form; none where it is that of a project.
pub(crate) fn payment_of(short: &[u8]) -> Option<PaymentId> {
    short.try_into().ok().map(of_bytes)
}

/// The short form of the project with this number: a byte for each of the first 191, two for the next 8,000. They sort as the
/// numbers do.
fn project_short(number: u32) -> Vec<u8> {
    match u16::try_from(number) {
        Ok(number @ ..0xc0) => vec![number.to_be_bytes()[1]],
        Ok(number @ ..0x2000) => (0xc000 | number).to_be_bytes().to_vec(),
        _ => [&[0xe0], &number.to_be_bytes()[..]].concat(),
    }
}

/// Gives a connection the functions that SQL needs to go from the short form of a payment's id to its text or back, and to make that of
/// a project. What is no id of a payment stays as it is.
pub(crate) fn add_functions(connection: &Connection) -> rusqlite::Result<()> {
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC | FunctionFlags::SQLITE_INNOCUOUS;
    connection.create_scalar_function("payment_text", 1, flags, |context| {
        let given = context.get_raw(0);
        Ok(match given.as_blob().map(payment_of) {
            Ok(Some(id)) => Cell::from(id.to_string()),
            _ => Cell::try_from(given)?,
        })
    })?;
    connection.create_scalar_function("payment_short", 1, flags, |context| {
        let given = context.get_raw(0);
        Ok(match given.as_str().map(str::parse::<PaymentId>) {
            Ok(Ok(id)) => Cell::from(bytes_of(id).to_vec()),
            _ => Cell::try_from(given)?,
        })
    })?;
    connection.create_scalar_function("project_short", 1, flags, |context| Ok(project_short(context.get(0)?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_forms_of_projects_sort_by_their_numbers_and_are_never_those_of_payments() {
        let numbers = (1..70_000).chain([0x00ff_ffff, 0x0100_0000, u32::MAX - 1, u32::MAX]);
        let shorts: Vec<Vec<u8>> = numbers.map(project_short).collect();
        assert!(shorts.is_sorted_by(|one, next| one < next));
        assert!(shorts.iter().all(|short| payment_of(short).is_none()));
        assert_eq!([1, 191, 192, 8_191, 8_192].map(|number| project_short(number).len()), [1, 1, 2, 2, 5]);
    }

    #[test]
    fn sql_goes_from_a_payments_text_to_its_short_form_and_back() {
        let connection = Connection::open_in_memory().unwrap();
        add_functions(&connection).unwrap();
        let id: PaymentId = of_bytes([7; 16]);
        let there_and_back = "SELECT payment_short($1) = $2, payment_text(payment_short($1)) = $1";
        let given = rusqlite::params![id.to_string(), bytes_of(id)];
        let both = connection.query_row(there_and_back, given, |row| Ok((row.get(0)?, row.get(1)?)));
        assert_eq!(both.unwrap(), (true, true));
        for other in ["''", "'pay_1'", "'key_7zzzzzzzzzzzzzzzzzzzzzzzzz'", "x'05'", "7", "NULL"] {
            let sql = format!("SELECT payment_short({other}) IS {other} AND payment_text({other}) IS {other}");
            assert!(connection.query_row(&sql, [], |row| row.get::<_, bool>(0)).unwrap(), "{other}");
        }
    }
}
