//! The log at a developer's terminal: each request is one short line, which fits beside the block that `lunas dev` printed before.
//! Everything else looks as in any other log.

use std::fmt::{self, Debug};

use tracing::{
    Event, Subscriber,
    field::{Field, Visit},
};
use tracing_subscriber::{
    fmt::{FmtContext, FormatEvent, FormatFields, format::Writer},
    registry::LookupSpan,
};

/// Longer paths are cut, so that a line stays on one line of a terminal.
const PATH_CHARACTERS_MOST: usize = 56;
const ERROR_CHARACTERS_MOST: usize = 200;
const MICROSECONDS_OF_MILLISECOND: u64 = 1_000;

/// Writes requests briefly, and all other events as `Others` does.
pub(crate) struct RequestLines<Others> {
    others: Others,
}

impl<Others> RequestLines<Others> {
    pub(crate) fn new(others: Others) -> RequestLines<Others> {
        RequestLines { others }
    }
}

impl<S, N, Others> FormatEvent<S, N> for RequestLines<Others>
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
    Others: FormatEvent<S, N>,
{
    fn format_event(&self, context: &FmtContext<'_, S, N>, mut writer: Writer<'_>, event: &Event<'_>) -> fmt::Result {
        // Only the line about a request has this field.
        if event.metadata().fields().field("duration_us").is_none() {
            return self.others.format_event(context, writer, event);
        }
        let mut line = RequestLine::default();
        event.record(&mut line);
        line.write(&mut writer)
    }
}

/// What is shown of a request.
#[derive(Default)]
struct RequestLine {
    method: String,
    path: String,
    status: u64,
    duration_us: u64,
    error: Option<String>,
}

impl Visit for RequestLine {
    fn record_u64(&mut self, field: &Field, value: u64) {
        match field.name() {
            "status" => self.status = value,
            "duration_us" => self.duration_us = value,
            _ => {}
        }
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        match field.name() {
            "path" => self.path = value.to_owned(),
            "error" => self.error = Some(value.to_owned()),
            _ => {}
        }
    }

    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        if field.name() == "method" {
            self.method = format!("{value:?}");
        }
    }
}

impl RequestLine {
    fn write(&self, to: &mut impl fmt::Write) -> fmt::Result {
        let RequestLine { method, status, duration_us, .. } = self;
        let milliseconds = duration_us.div_ceil(MICROSECONDS_OF_MILLISECOND);
        write!(
            to,
            "{status} {method:6} {:PATH_CHARACTERS_MOST$} {milliseconds:>5} ms",
            cut(&self.path, PATH_CHARACTERS_MOST)
        )?;
        match &self.error {
            Some(error) => writeln!(to, "  {}", cut(error, ERROR_CHARACTERS_MOST)),
            None => writeln!(to),
        }
    }
}

/// A text without control characters, which ends with `…` where it was cut.
fn cut(text: &str, most: usize) -> String {
    let plain = text.chars().map(|character| if character.is_control() { ' ' } else { character });
    match text.chars().count() > most {
        true => plain.take(most - 1).chain(['…']).collect(),
        false => plain.collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(path: &str, error: Option<&str>) -> String {
        let (method, path) = ("POST".to_owned(), path.to_owned());
        let line = RequestLine { method, path, status: 201, duration_us: 2_001, error: error.map(str::to_owned) };
        let mut text = String::new();
        line.write(&mut text).unwrap();
        text
    }

    #[test]
    fn a_request_is_one_line_that_fits_a_terminal() {
        let line = shown("/v1/payments", None);
        assert_eq!(line.split_whitespace().collect::<Vec<_>>(), ["201", "POST", "/v1/payments", "3", "ms"]);
        for path in ["/", "/v1/payments", &format!("/{}\u{1b}[2J\n", "a".repeat(1_000))] {
            let line = shown(path, None);
            assert!(line.chars().count() <= 80 && line.lines().count() == 1, "{line}");
            assert!(!line.contains('\u{1b}'), "{line}");
        }
        assert!(shown("/", Some("the disk\nis full")).ends_with("  the disk is full\n"));
    }
}
