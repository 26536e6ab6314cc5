//! Sets up the log. It goes to standard error only, because standard output is for answers of commands.

use std::io;

use tracing_subscriber::EnvFilter;

use crate::error::CliError;

const VARIABLE: &str = "LUNAS_LOG";

/// Who reads the log, which decides its format and its default level.
#[derive(Clone, Copy)]
pub(crate) enum LogReader {
    /// A developer at a terminal: text, from `info` on.
    Developer,
    /// A program that collects logs: JSON, from `info` on.
    Collector,
    /// The user of a single command: text, from `warn` on.
    CommandUser,
}

pub(crate) fn start(reader: LogReader) -> Result<(), CliError> {
    let usual = match reader {
        LogReader::Developer | LogReader::Collector => "info",
        LogReader::CommandUser => "warn",
    };
    let wanted = std::env::var(VARIABLE).ok().filter(|wanted| !wanted.is_empty());
    let filter = EnvFilter::try_new(wanted.as_deref().unwrap_or(usual)).map_err(|error| {
        CliError::because(format!("{VARIABLE} is not a log filter such as `info` or `engine=debug`"), &error)
    })?;
    let lines = tracing_subscriber::fmt().with_env_filter(filter).with_writer(io::stderr).with_ansi(false);
    let started = match reader {
        LogReader::Developer | LogReader::CommandUser => lines.compact().with_target(false).try_init(),
        LogReader::Collector => {
            lines.json().flatten_event(true).with_current_span(false).with_span_list(false).try_init()
        }
    };
    started.map_err(|error| CliError::because("cannot start logging", error.as_ref()))
}
