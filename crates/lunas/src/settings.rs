//! Every setting, as the command line declares it: its variable, its flag, its default and what it means. The help, the configuration
//! file, `lunas config` and the table in docs/operating.md are made from this list.

use std::{any::TypeId, error::Error, ffi::OsStr};

use clap::{
    Arg, Command,
    error::{ContextKind, ContextValue},
};

use crate::{logging, mail_options, notice_options, options::Networks, secret_key, variables};

/// The variable that names the configuration file, so it is in no such file.
pub(crate) const CONFIG_VARIABLE: &str = "LUNAS_CONFIG";
const DATABASE_VARIABLE: &str = "LUNAS_DATABASE";

/// The settings that no flag may give.
const WITHOUT_FLAG: [(&str, &str, bool); 6] = [
    (
        secret_key::VARIABLE,
        "The key that stored secrets are encrypted with: 32 bytes in base64, which `openssl rand -base64 32` generates. `lunas \
         serve` needs it; other commands also find it in the file secret.key, where `lunas dev` puts it: beside lunas.db, or in \
         the directory LUNAS_DATA when the database is on a server.",
        true,
    ),
    (
        secret_key::PREVIOUS_VARIABLE,
        "The key before it, which only decrypts, while `lunas secret rotate` has not replaced it everywhere. Commands also find \
         it in the file secret.key.previous, beside secret.key.",
        true,
    ),
    (
        secret_key::NEXT_VARIABLE,
        "The key that other nodes encrypt with already, which only decrypts, while nodes change over one by one.",
        true,
    ),
    (mail_options::PASSWORD_VARIABLE, "The password to sign in to the relay with, see LUNAS_MAIL_URL.", true),
    (
        notice_options::SECRET_VARIABLE,
        "The secret that signs what is sent to LUNAS_NOTICE_URL: 32 characters or more, such as `openssl rand -hex 32` generates.",
        true,
    ),
    (
        logging::VARIABLE,
        "The filter of the log on standard error, such as `debug` or `warn,engine=debug`. Without it, servers log from `info` \
         on and other commands from `warn` on.",
        false,
    ),
];

/// Something that an operator or a developer can set.
pub(crate) struct Setting {
    pub(crate) variable: String,
    pub(crate) default: Option<String>,
    pub(crate) meaning: String,
    is_secret: bool,
    /// The argument of the first command that has it.
    argument: Option<Arg>,
}

/// How a value is written in the configuration file.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Number,
    Text,
    /// A text with commas, or a list of texts.
    Texts,
}

impl Setting {
    /// Its name in the configuration file.
    pub(crate) fn key(&self) -> String {
        variables::key(&self.variable)
    }

    pub(crate) fn is_in_file(&self) -> bool {
        self.variable != CONFIG_VARIABLE
    }

    pub(crate) fn flag(&self) -> Option<String> {
        Some(format!("--{}", self.argument.as_ref()?.get_long()?))
    }

    /// The name of its argument among those of a command.
    pub(crate) fn argument_id(&self) -> Option<&str> {
        Some(self.argument.as_ref()?.get_id().as_str())
    }

    /// The first sentence about it.
    pub(crate) fn first_sentence(&self) -> &str {
        self.meaning.split_once(". ").map_or(self.meaning.trim_end_matches('.'), |(first, _)| first)
    }

    /// Whether this value of it must not be shown. The URL of a database is a secret only with a password.
    pub(crate) fn hides(&self, value: &str) -> bool {
        self.is_secret && (self.variable != DATABASE_VARIABLE || has_password(value))
    }

    pub(crate) fn kind(&self) -> Kind {
        let Some(argument) = &self.argument else { return Kind::Text };
        let parsed = argument.get_value_parser().type_id();
        let numbers = [TypeId::of::<u16>(), TypeId::of::<u32>(), TypeId::of::<u64>(), TypeId::of::<i64>()];
        match parsed {
            parsed if numbers.iter().any(|number| parsed == *number) => Kind::Number,
            parsed if parsed == TypeId::of::<Networks>() => Kind::Texts,
            _ => Kind::Text,
        }
    }

    /// What is wrong with a value; none if commands can use it.
    pub(crate) fn mistake_in(&self, value: &str) -> Option<String> {
        match (&self.argument, self.variable.as_str()) {
            (Some(argument), _) => refusal(argument, value),
            (None, logging::VARIABLE) => logging::filter(value).err(),
            (None, mail_options::PASSWORD_VARIABLE | notice_options::SECRET_VARIABLE) => None,
            (None, _) => secret_key::is_malformed(value).then(|| "it is not the base64 of 32 bytes".to_owned()),
        }
    }
}

/// Every setting of a command line, in the order in which its commands declare them.
pub(crate) fn all(command: &Command) -> Vec<Setting> {
    let mut settings = Vec::new();
    collect(command, &mut settings);
    settings.extend(WITHOUT_FLAG.map(|(variable, meaning, is_secret)| Setting {
        variable: variable.to_owned(),
        default: None,
        meaning: meaning.to_owned(),
        is_secret,
        argument: None,
    }));
    settings
}

fn collect(command: &Command, settings: &mut Vec<Setting>) {
    for argument in command.get_arguments() {
        let Some(variable) = argument.get_env().and_then(OsStr::to_str) else { continue };
        if settings.iter().all(|setting| setting.variable != variable) {
            settings.push(of_argument(variable, argument));
        }
    }
    command.get_subcommands().for_each(|command| collect(command, settings));
}

fn of_argument(variable: &str, argument: &Arg) -> Setting {
    let default = argument.get_default_values().first().map(|value| value.to_string_lossy().into_owned());
    let help = argument.get_help().map(ToString::to_string).unwrap_or_default();
    Setting {
        variable: variable.to_owned(),
        default: default.filter(|value| !value.is_empty()),
        // The last full stop of a help text is left out by those who show it.
        meaning: format!("{}.", help.trim_end_matches('.')),
        is_secret: argument.is_hide_env_values_set(),
        argument: Some(argument.clone()),
    }
}

/// What the parser of an argument says about a value that it refuses.
fn refusal(argument: &Arg, value: &str) -> Option<String> {
    let parser = argument.get_value_parser().clone();
    let alone = Command::new("setting").no_binary_name(true).arg(Arg::new("value").value_parser(parser));
    let error = alone.try_get_matches_from(["--", value]).err()?;
    Some(match (error.source(), error.get(ContextKind::ValidValue)) {
        (Some(source), _) => source.to_string(),
        (None, Some(ContextValue::Strings(valid))) => format!("it must be one of {}", valid.join(", ")),
        (None, _) => "it cannot be used".to_owned(),
    })
}

fn has_password(url: &str) -> bool {
    let user = url.split_once("://").and_then(|(_, rest)| rest.rsplit_once('@')).map(|(user, _)| user);
    user.is_some_and(|user| user.contains(':')) || url.contains("password=")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_url_of_a_database_is_a_secret_where_it_has_a_password() {
        for (url, secret) in [
            ("sqlite:/var/lib/lunas/lunas.db", false),
            ("postgres://lunas@localhost:5432/lunas", false),
            ("postgres://localhost/lunas", false),
            ("postgres://lunas:quiet@localhost/lunas", true),
            ("postgres://lunas:qu@iet@one:5432,two/lunas", true),
            ("postgres://localhost/lunas?user=lunas&password=quiet", true),
        ] {
            assert_eq!(has_password(url), secret, "{url}");
        }
    }
}
