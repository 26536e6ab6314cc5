//! Settings of accounts as the command line has them: `NAME=VALUE`.

use std::{collections::BTreeMap, str::FromStr};

use crate::error::CliError;

/// A setting and its new value.
#[derive(Clone)]
pub(super) struct Assignment {
    name: String,
    value: String,
}

impl FromStr for Assignment {
    type Err = String;

    fn from_str(text: &str) -> Result<Assignment, String> {
        match text.split_once('=') {
            Some((name, value)) if !name.is_empty() => {
                Ok(Assignment { name: name.to_owned(), value: value.to_owned() })
            }
            _ => Err("it must be NAME=VALUE, such as partner_service_id=88899".to_owned()),
        }
    }
}

/// The settings by name. One that is given twice is an error, since one of the two would be lost.
pub(super) fn by_name(assignments: Vec<Assignment>) -> Result<BTreeMap<String, String>, CliError> {
    let mut settings = BTreeMap::new();
    for Assignment { name, value } in assignments {
        if settings.contains_key(&name) {
            return Err(CliError::new(format!("`{}` is given twice; give it once", name.escape_debug())));
        }
        settings.insert(name, value);
    }
    Ok(settings)
}
