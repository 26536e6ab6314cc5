//! Log lines. They all go to standard error, so that standard output carries answers only.

use std::io;

use tracing_subscriber::EnvFilter;

use crate::error::CliError;

const VARIABLE: &str = "LUNAS_LOG";

/// Who reads the log.
#[derive(Clone, Copy)]
pub(crate) enum Readers {
    /// A developer at a terminal, who wants to see what happens.
    Developer,
    /// A program that collects logs.
    Collector,
    /// Someone who ran one command and wants to hear of trouble only.
    Caller,
}

pub(crate) fn start(readers: Readers) -> Result<(), CliError> {
    let usual = match readers {
        Readers::Developer | Readers::Collector => "info",
        Readers::Caller => "warn",
    };
    let wanted = std::env::var(VARIABLE).ok().filter(|wanted| !wanted.is_empty());
    let filter = EnvFilter::try_new(wanted.as_deref().unwrap_or(usual)).map_err(|error| {
        CliError::because(format!("{VARIABLE} is not a log filter such as `info` or `engine=debug`"), &error)
    })?;
    let lines = tracing_subscriber::fmt().with_env_filter(filter).with_writer(io::stderr).with_ansi(false);
    let started = match readers {
        Readers::Developer | Readers::Caller => lines.compact().with_target(false).try_init(),
        Readers::Collector => {
            lines.json().flatten_event(true).with_current_span(false).with_span_list(false).try_init()
        }
    };
    started.map_err(|error| CliError::because("cannot start logging", error.as_ref()))
}
