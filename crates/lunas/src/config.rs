//! `lunas config`: says which settings there are, which values they have, and where each value comes from. It shows no secret.

use std::env;

use clap::{ArgMatches, Subcommand, parser::ValueSource};
use engine::addresses::{Scheme, base_url};
use serde::Serialize;

use crate::{
    configuration::Configuration,
    database::Database,
    error::CliError,
    options::GlobalOptions,
    output::{Output, table},
    settings::Setting,
};

const HIDDEN: &str = "(secret)";

#[derive(Subcommand)]
pub(crate) enum ConfigCommand {
    /// Show the value of each setting and where it comes from: a flag, the environment, the configuration file or its default.
    /// Fails with one line per mistake.
    Check,
    /// List every setting: its variable, its name in lunas.toml, its flag, its default and what it means.
    List,
}

#[derive(Serialize)]
struct CheckedJson<'a> {
    ok: bool,
    file: Option<String>,
    settings: Vec<ValueJson>,
    mistakes: &'a [String],
}

#[derive(Serialize)]
struct ValueJson {
    variable: String,
    /// Not there for a secret.
    value: Option<String>,
    from: &'static str,
    /// The line of the configuration file.
    line: Option<usize>,
}

#[derive(Serialize)]
struct SettingJson<'a> {
    variable: &'a str,
    key: Option<String>,
    flag: Option<String>,
    default: Option<&'a str>,
    meaning: &'a str,
}

/// A value that is set, or the default.
struct Used<'a> {
    setting: &'a Setting,
    text: String,
    from: &'static str,
    line: Option<usize>,
}

pub(crate) fn run(
    command: &ConfigCommand,
    configuration: &Configuration,
    matches: &ArgMatches,
    global: &GlobalOptions,
) -> Result<(), CliError> {
    match command {
        ConfigCommand::Check => check(configuration, matches, global.output()),
        ConfigCommand::List => list(configuration, global.output()),
    }
}

fn check(configuration: &Configuration, matches: &ArgMatches, output: Output) -> Result<(), CliError> {
    let used: Vec<Used<'_>> =
        configuration.settings.iter().filter_map(|setting| used(setting, configuration, matches)).collect();
    let mut mistakes = configuration.mistakes.clone();
    mistakes.extend(configuration.left_out.clone());
    mistakes.extend(used.iter().filter_map(mistake));
    let checked = CheckedJson {
        ok: mistakes.is_empty(),
        file: configuration.file.as_ref().map(|path| path.display().to_string()),
        settings: used.iter().map(shown).collect(),
        mistakes: &mistakes,
    };
    if checked.ok || output.json {
        output.show(&checked, CheckedJson::text)?;
    }
    match mistakes.is_empty() {
        true => Ok(()),
        false => Err(CliError::several(mistakes)),
    }
}

impl CheckedJson<'_> {
    fn text(&self) -> String {
        let row = |value: &ValueJson| {
            let from = match value.line {
                Some(line) => format!("{} line {line}", self.file.as_deref().unwrap_or_default()),
                None => value.from.to_owned(),
            };
            [value.variable.clone(), value.value.clone().unwrap_or_else(|| HIDDEN.to_owned()), from]
        };
        let rows: Vec<_> = self.settings.iter().map(row).collect();
        let file = self.file.as_deref().unwrap_or("none");
        format!("Configuration file: {file}\n\n{}", table(["SETTING", "VALUE", "FROM"], &rows))
    }
}

/// The value that commands use; none where there is not even a default.
fn used<'a>(setting: &'a Setting, configuration: &Configuration, matches: &ArgMatches) -> Option<Used<'a>> {
    let variable = setting.variable.as_str();
    let used = |text: &str, from, line| Some(Used { setting, text: text.to_owned(), from, line });
    let flag = setting.argument_id().and_then(|id| flag(matches, id));
    let in_environment = env::var_os(variable).filter(|text| !text.is_empty());
    match (flag, in_environment, configuration.of_file(variable)) {
        (Some(text), ..) => used(&text, "flag", None),
        (None, Some(text), _) => used(&text.to_string_lossy(), "environment", None),
        (None, None, Some((text, line))) => used(text, "file", Some(line)),
        (None, None, None) => used(setting.default.as_deref()?, "default", None),
    }
}

/// The value that the command line gives to an argument of the command or to one of all commands.
fn flag(matches: &ArgMatches, id: &str) -> Option<String> {
    let is_given = matches.try_contains_id(id).is_ok() && matches.value_source(id) == Some(ValueSource::CommandLine);
    let text = is_given.then(|| matches.get_raw(id)).flatten()?.next()?;
    Some(text.to_string_lossy().into_owned())
}

fn mistake(used: &Used<'_>) -> Option<String> {
    let Used { setting, text, from, line } = used;
    let why = match (setting.mistake_in(text), setting.variable.as_str()) {
        (Some(why), _) => why,
        (None, "LUNAS_DATABASE") => Database::parse(text, store::CONNECTIONS).err()?.reasons().join("; "),
        (None, "LUNAS_BASE_URL" | "LUNAS_CHECKOUT_URL_BASE" | "LUNAS_URL") => {
            base_url(text, Scheme::HttpOrHttps).err()?.to_string()
        }
        (None, _) => return None,
    };
    let place = line.map_or_else(|| (*from).to_owned(), |line| format!("file, line {line}"));
    Some(format!("{} ({place}): {why}; `lunas config list` says what it takes", setting.variable))
}

fn shown(used: &Used<'_>) -> ValueJson {
    let Used { setting, text, from, line } = used;
    let value = (!setting.hides(text)).then(|| text.clone());
    ValueJson { variable: setting.variable.clone(), value, from, line: *line }
}

fn list(configuration: &Configuration, output: Output) -> Result<(), CliError> {
    let settings: Vec<SettingJson<'_>> = configuration.settings.iter().map(SettingJson::of).collect();
    output.show(settings.as_slice(), |settings| settings.iter().map(SettingJson::text).collect::<Vec<_>>().join("\n\n"))
}

impl SettingJson<'_> {
    fn of(setting: &Setting) -> SettingJson<'_> {
        SettingJson {
            variable: &setting.variable,
            key: setting.is_in_file().then(|| setting.key()),
            flag: setting.flag(),
            default: setting.default.as_deref(),
            meaning: &setting.meaning,
        }
    }

    fn text(&self) -> String {
        let names = [Some(self.variable.to_owned()), self.key.clone(), self.flag.clone()];
        let names = names.into_iter().flatten().collect::<Vec<_>>().join(", ");
        let default = self.default.map(|default| format!("\n  Default: {default}")).unwrap_or_default();
        format!("{names}\n  {}{default}", self.meaning)
    }
}
