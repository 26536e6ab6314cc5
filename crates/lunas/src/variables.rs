//! Settings that commands look up by the name of their variable: in the environment, else in the configuration file. A variable that
//! is set to nothing counts as not set.

use std::{collections::BTreeMap, env, ffi::OsString, sync::OnceLock};

/// The values of the configuration file by variable. They are set once, before a command runs.
static FILE: OnceLock<FileValues> = OnceLock::new();

/// What a configuration file says. Without `Debug`, because secrets are among the values.
#[derive(Default)]
pub(crate) struct FileValues {
    /// The name of the file, for messages.
    pub(crate) file: String,
    /// Values by the name of their variable.
    pub(crate) values: BTreeMap<String, String>,
}

/// A value, and where it was found, for messages.
pub(crate) struct Value {
    pub(crate) text: OsString,
    pub(crate) origin: String,
}

/// Keeps the values of the configuration file for [`get`]. Only the first call counts.
pub(crate) fn remember(values: FileValues) {
    // A second command of the same process, as in tests, keeps what the first one has read.
    let _ = FILE.set(values);
}

pub(crate) fn get(variable: &str) -> Option<Value> {
    let given = env::var_os(variable).filter(|text| !text.is_empty());
    let given = given.map(|text| Value { text, origin: variable.to_owned() });
    given.or_else(|| {
        let FileValues { file, values } = FILE.get()?;
        let text = values.get(variable)?.into();
        Some(Value { text, origin: format!("{} in {file}", key(variable)) })
    })
}

/// The name of a setting in the configuration file: that of its variable in lower case, without the prefix.
pub(crate) fn key(variable: &str) -> String {
    variable.strip_prefix("LUNAS_").unwrap_or(variable).to_lowercase()
}
