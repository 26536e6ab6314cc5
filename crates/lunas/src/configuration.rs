//! The configuration file `lunas.toml`: where it is, what it says, and what is wrong with it. A flag overrides the environment, which
//! overrides the file, which overrides the defaults.
//!
//! No message contains the value of a secret setting.

use std::{
    collections::BTreeMap,
    env,
    ffi::{OsStr, OsString},
    io::{self, Read},
    os::unix::{ffi::OsStrExt, fs::MetadataExt},
    path::{Path, PathBuf},
};

use clap::{Arg, Command};
use toml::de::{DeTable, DeValue};

use crate::{
    private_files,
    settings::{self, CONFIG_VARIABLE, Kind, Setting},
    variables::FileValues,
};

/// Where the file is looked for when none is given, in this order.
const PLACES: [&str; 2] = ["lunas.toml", "/etc/lunas/lunas.toml"];
/// Far more than all settings need.
const BYTES_MOST: u64 = 1_024 * 1_024;
const READABLE_BY_OTHERS: u32 = 0o004;
/// How many letters may be wrong in a name for which another one is suggested.
const WRONG_LETTERS_MOST: usize = 3;

/// All settings, and what the configuration file says about them.
pub(crate) struct Configuration {
    pub(crate) settings: Vec<Setting>,
    pub(crate) file: Option<PathBuf>,
    /// The usable values of the file by variable.
    values: BTreeMap<String, FileValue>,
    /// What is wrong with the file, one line each.
    pub(crate) mistakes: Vec<String>,
    /// Why a file that was not asked for is left out.
    pub(crate) left_out: Option<String>,
}

struct FileValue {
    text: String,
    line: usize,
}

/// A file that can be read.
struct Opened {
    path: PathBuf,
    /// Empty where it is not believed.
    text: String,
    is_readable_by_others: bool,
    /// Why its values are not used.
    distrust: Option<String>,
}

impl Configuration {
    /// Reads the file that the command line, the environment or its usual place names.
    pub(crate) fn read(command: &Command, words: &[OsString]) -> Configuration {
        let mut configuration = Configuration {
            settings: settings::all(command),
            file: None,
            values: BTreeMap::new(),
            mistakes: Vec::new(),
            left_out: None,
        };
        let given = flag(words).or_else(|| env::var_os(CONFIG_VARIABLE).map(PathBuf::from));
        match given.filter(|path| !path.as_os_str().is_empty()) {
            Some(path) => match open(&path) {
                Ok(opened) => configuration.take(&opened),
                Err(error) => configuration.mistakes.push(unreadable(&path, &error)),
            },
            None => configuration.search(&PLACES.map(Path::new)),
        }
        configuration
    }

    /// Takes the first file that exists. One that this user may not read is left out, because it is of another installation.
    fn search(&mut self, places: &[&Path]) {
        for path in places {
            match open(path) {
                Ok(opened) => return self.take(&opened),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                    return self.left_out = Some(unreadable(path, &error));
                }
                Err(error) => return self.mistakes.push(unreadable(path, &error)),
            }
        }
    }

    fn take(&mut self, opened: &Opened) {
        self.file = Some(opened.path.clone());
        let name = opened.path.display();
        if let Some(reason) = &opened.distrust {
            return self.mistakes.push(format!("{name} is not read: {reason}"));
        }
        let (table, errors) = DeTable::parse_recoverable(&opened.text);
        let position = |error: &toml::de::Error| error.span().unwrap_or_default().start;
        // Errors after the first one may follow from it.
        if let Some(error) = errors.iter().min_by_key(|error| position(error)) {
            let (line, what) = (line_at(&opened.text, position(error)), error.message().replace('\n', ", "));
            return self.mistakes.push(format!("{name} line {line}: {what}; write `key = value`, one to a line"));
        }
        let mut found: Vec<_> = table.get_ref().iter().collect();
        found.sort_by_key(|(key, _)| key.span().start);
        for (key, value) in found {
            let line = line_at(&opened.text, key.span().start);
            match self.value(key.get_ref(), value.get_ref(), opened) {
                Ok(None) => {}
                Ok(Some((variable, text))) => drop(self.values.insert(variable, FileValue { text, line })),
                Err(mistake) => self.mistakes.push(format!("{name} line {line}: {mistake}")),
            }
        }
    }

    /// The variable that a key stands for and its value; none where the value is empty, which counts as not set.
    fn value(&self, key: &str, value: &DeValue<'_>, opened: &Opened) -> Result<Option<(String, String)>, String> {
        let setting = self.settings.iter().find(|setting| setting.is_in_file() && setting.key() == key);
        let setting = setting.ok_or_else(|| self.unknown(key))?;
        let text = text_of(setting, value)?;
        if text.is_empty() {
            return Ok(None);
        }
        if opened.is_readable_by_others && setting.hides(&text) {
            let what = format!("`{key}` has a secret, and every user of this machine can read the file");
            return Err(format!("{what}; run `chmod o-r {}`", opened.path.display()));
        }
        match setting.mistake_in(&text) {
            Some(mistake) => Err(format!("`{key}` is wrong: {mistake}; `lunas config list` says what it takes")),
            None => Ok(Some((setting.variable.clone(), text))),
        }
    }

    fn unknown(&self, key: &str) -> String {
        let plain = key.to_lowercase().replace('-', "_");
        let plain = plain.strip_prefix("lunas_").unwrap_or(&plain);
        let keys = self.settings.iter().filter(|setting| setting.is_in_file()).map(Setting::key);
        let nearest = keys.map(|known| (strsim::damerau_levenshtein(plain, &known), known)).min();
        let what = format!("there is no setting `{}`", key.escape_debug());
        match nearest.filter(|(wrong, _)| *wrong <= WRONG_LETTERS_MOST) {
            Some((_, known)) => format!("{what}; did you mean `{known}`?"),
            None => format!("{what}; remove it, `lunas config list` names those that there are"),
        }
    }

    /// The same command line with the file's values as its defaults, and without variables that are set to nothing.
    pub(crate) fn fill(&self, command: Command) -> Command {
        let fill = |argument: Arg| {
            let Some(variable) = argument.get_env().and_then(OsStr::to_str).map(str::to_owned) else { return argument };
            let is_empty = env::var_os(&variable).is_some_and(|text| text.is_empty());
            let argument = if is_empty { argument.env(None::<&str>) } else { argument };
            let Some(value) = self.values.get(&variable) else { return argument };
            let hide = argument.is_hide_env_values_set();
            argument.default_value(value.text.clone()).hide_default_value(hide).required(false)
        };
        command.mut_args(fill).mut_subcommands(|command| self.fill(command))
    }

    /// A value of the file, and its line.
    pub(crate) fn of_file(&self, variable: &str) -> Option<(&str, usize)> {
        self.values.get(variable).map(|value| (value.text.as_str(), value.line))
    }

    /// The file's values, for settings that commands look up by their variable.
    pub(crate) fn file_values(&self) -> FileValues {
        let file = self.file.as_ref().map(|path| path.display().to_string()).unwrap_or_default();
        let values = self.values.iter().map(|(variable, value)| (variable.clone(), value.text.clone())).collect();
        FileValues { file, values }
    }
}

/// The value of `--config`. It is found before the command line is parsed, because the file gives defaults to the parser.
fn flag(words: &[OsString]) -> Option<PathBuf> {
    let mut words = words.iter().skip(1).take_while(|word| *word != "--");
    while let Some(word) = words.next() {
        if word == "--config" {
            return words.next().map(PathBuf::from);
        }
        if let Some(path) = word.as_bytes().strip_prefix(b"--config=") {
            return Some(PathBuf::from(OsStr::from_bytes(path)));
        }
    }
    None
}

fn open(path: &Path) -> io::Result<Opened> {
    let path = path.to_owned();
    let file = match private_files::open_believed(&path)? {
        Ok(file) => file,
        Err(reason) => {
            return Ok(Opened { path, text: String::new(), is_readable_by_others: false, distrust: Some(reason) });
        }
    };
    let is_readable_by_others = file.metadata()?.mode() & READABLE_BY_OTHERS != 0;
    let mut text = String::new();
    file.take(BYTES_MOST + 1).read_to_string(&mut text)?;
    if text.len() as u64 > BYTES_MOST {
        return Err(io::Error::other(format!("it is longer than {BYTES_MOST} bytes")));
    }
    Ok(Opened { path, text, is_readable_by_others, distrust: None })
}

fn unreadable(path: &Path, error: &io::Error) -> String {
    format!("cannot read {}: {error}; mend that, or give another file with --config", path.display())
}

/// A value as an environment variable would have it.
fn text_of(setting: &Setting, value: &DeValue<'_>) -> Result<String, String> {
    let key = setting.key();
    match (setting.kind(), value) {
        (Kind::Number, DeValue::Integer(number)) => {
            let number = i64::from_str_radix(&number.as_str().replace('_', ""), number.radix());
            number.map(|number| number.to_string()).map_err(|_| format!("`{key}` is too large a number; lower it"))
        }
        (Kind::Number, _) => Err(format!("`{key}` must be a number without quotes, such as `{key} = 10`")),
        (Kind::Text | Kind::Texts, DeValue::String(text)) => Ok(text.clone().into_owned()),
        (Kind::Texts, DeValue::Array(texts)) => {
            let texts: Option<Vec<&str>> = texts.iter().map(|text| text.get_ref().as_str()).collect();
            texts.map(|texts| texts.join(",")).ok_or_else(|| format!("`{key}` must be a list of texts in quotes"))
        }
        (Kind::Text, _) => Err(format!("`{key}` must be a text in quotes, such as `{key} = \"…\"`")),
        (Kind::Texts, _) => Err(format!("`{key}` must be a list of texts, such as `{key} = [\"10.0.0.0/8\"]`")),
    }
}

fn line_at(text: &str, position: usize) -> usize {
    text.bytes().take(position).filter(|byte| *byte == b'\n').count() + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_is_named_by_a_flag_before_or_after_the_command() {
        let found = |line: &str| flag(&line.split(' ').map(OsString::from).collect::<Vec<_>>());
        for line in ["lunas --config a.toml dev", "lunas dev --config a.toml --json", "lunas dev --config=a.toml"] {
            assert_eq!(found(line), Some(PathBuf::from("a.toml")), "{line}");
        }
        for line in
            ["lunas", "lunas dev", "lunas dev --config", "lunas dev -- --config a.toml", "lunas dev --configs a"]
        {
            assert_eq!(found(line), None, "{line}");
        }
    }

    #[test]
    fn the_first_file_that_exists_is_taken_and_one_that_is_no_file_is_a_mistake() {
        let directory = tempfile::tempdir().unwrap();
        let [missing, first, second] =
            ["missing.toml", "first.toml", "second.toml"].map(|name| directory.path().join(name));
        private_files::replace_private(&first, "").unwrap();
        private_files::replace_private(&second, "unknown = 1").unwrap();
        let searched = |places: &[&Path]| {
            let mut configuration =
                Configuration::read(&Command::new("lunas"), &["lunas".into(), "--config".into(), "/dev/null".into()]);
            configuration.file = None;
            configuration.search(places);
            (configuration.file, configuration.mistakes.len())
        };
        assert_eq!(searched(&[&missing, &first, &second]), (Some(first.clone()), 0));
        assert_eq!(searched(&[&second, &first]), (Some(second.clone()), 1));
        assert_eq!(searched(&[&missing]), (None, 0));
        assert_eq!(searched(&[directory.path(), &first]), (None, 1));
    }
}
