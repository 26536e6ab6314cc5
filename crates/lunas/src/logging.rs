//! Sets up the log. It goes to standard error only, because standard output is for answers of commands.
//!
//! A line that cannot be written, such as on a full disk, is lost and counted. It never fails what it tells of.

use std::{
    io::{self, IsTerminal, Write},
    sync::atomic::{AtomicBool, AtomicU64, Ordering},
};

use tracing_subscriber::{EnvFilter, fmt::MakeWriter};

use crate::{
    error::{CliError, chain},
    request_lines::RequestLines,
    variables,
};

pub(crate) const VARIABLE: &str = "LUNAS_LOG";

/// Leaves requests out of the log, but not what goes wrong with them.
const WITHOUT_REQUESTS: &str = "web::handle_request=warn";

/// Who reads the log, which decides its format and its default level.
#[derive(Clone, Copy)]
pub(crate) enum LogReader {
    /// A developer: text, from `info` on. At a terminal, a request is one short line.
    Developer { with_requests: bool },
    /// A program that collects logs: JSON, from `info` on.
    Collector,
    /// The user of a single command: text, from `warn` on.
    CommandUser,
}

pub(crate) fn start(reader: LogReader) -> Result<(), CliError> {
    let usual = match reader {
        LogReader::Developer { .. } | LogReader::Collector => "info",
        LogReader::CommandUser => "warn",
    };
    let wanted = variables::get(VARIABLE).map(|wanted| wanted.text.to_string_lossy().into_owned());
    let mut filter = filter(wanted.as_deref().unwrap_or(usual)).map_err(|error| {
        CliError::new(format!("{VARIABLE} is not a log filter such as `info` or `engine=debug`: {error}"))
    })?;
    if let (LogReader::Developer { with_requests: false }, Ok(directive)) = (reader, WITHOUT_REQUESTS.parse()) {
        filter = filter.add_directive(directive);
    }
    let log = LossyLog::new(|| io::stderr().lock());
    let lines = tracing_subscriber::fmt().with_env_filter(filter).with_writer(log).with_ansi(false);
    let compact = tracing_subscriber::fmt::format().compact().with_target(false).with_ansi(false);
    let started = match reader {
        LogReader::Developer { .. } if io::stderr().is_terminal() => {
            lines.event_format(RequestLines::new(compact)).try_init()
        }
        LogReader::Developer { .. } | LogReader::CommandUser => lines.event_format(compact).try_init(),
        LogReader::Collector => {
            lines.json().flatten_event(true).with_current_span(false).with_span_list(false).try_init()
        }
    };
    started.map_err(|error| CliError::because("cannot start logging", error.as_ref()))
}

/// The filter that a text describes, or why it describes none.
pub(crate) fn filter(text: &str) -> Result<EnvFilter, String> {
    EnvFilter::try_new(text).map_err(|error| chain(&error))
}

/// Tells people on standard error why a command failed. The exit status says so too, so a text that cannot be written is dropped.
pub(crate) fn tell(reason: &str) {
    let _ = writeln!(io::stderr(), "lunas: {reason}");
}

/// The log on what `open` returns. It takes every line, and counts those that cannot be written.
struct LossyLog<Open> {
    open: Open,
    losses: Losses,
}

/// How many lines were lost since the start, and how many of them the log has told of.
#[derive(Default)]
struct Losses {
    lost: AtomicU64,
    told: AtomicU64,
    /// Whether the last line that was lost has been written in part.
    torn: AtomicBool,
}

impl<Open> LossyLog<Open> {
    fn new(open: Open) -> LossyLog<Open> {
        LossyLog { open, losses: Losses::default() }
    }
}

impl<'a, Opened: Write, Open: Fn() -> Opened> MakeWriter<'a> for LossyLog<Open>
where
    Open: 'a,
{
    type Writer = Lines<'a, Opened>;

    fn make_writer(&'a self) -> Lines<'a, Opened> {
        Lines { to: (self.open)(), losses: &self.losses }
    }
}

/// Writes lines. The subscriber hands over each line in one piece.
struct Lines<'a, Opened> {
    to: Opened,
    losses: &'a Losses,
}

impl<Opened: Write> Write for Lines<'_, Opened> {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        if self.end_torn_line() && self.write_whole(line) {
            self.tell_of_losses();
        } else {
            self.losses.lost.fetch_add(1, Ordering::Relaxed);
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        // Standard error has no buffer.
        Ok(())
    }
}

impl<Opened: Write> Lines<'_, Opened> {
    /// Whether the next line can begin: a line that was written in part is ended first.
    fn end_torn_line(&mut self) -> bool {
        if self.losses.torn.load(Ordering::Relaxed) {
            let is_ended = self.to.write_all(b"\n").is_ok();
            self.losses.torn.store(!is_ended, Ordering::Relaxed);
            return is_ended;
        }
        true
    }

    fn write_whole(&mut self, line: &[u8]) -> bool {
        let mut rest = line;
        while !rest.is_empty() {
            match self.to.write(rest) {
                Ok(written) if written > 0 => rest = &rest[written..],
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                _ => {
                    self.losses.torn.store(rest.len() < line.len(), Ordering::Relaxed);
                    return false;
                }
            }
        }
        true
    }

    /// Writing works again, so the log can say how much of it is missing.
    fn tell_of_losses(&self) {
        let lost = self.losses.lost.load(Ordering::Relaxed);
        if self.losses.told.swap(lost, Ordering::Relaxed) != lost {
            // This line is written here too. If it is lost as well, the number has grown and is told after the next line.
            tracing::error!(lost, "the log could not be written; this many of its lines were lost since the start");
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    /// A disk with room for so many more bytes, and what is on it.
    #[derive(Default)]
    struct Disk(Mutex<(usize, Vec<u8>)>);

    impl Write for &Disk {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let (room, written) = &mut *self.0.lock().unwrap();
            let fits = bytes.len().min(*room);
            if fits == 0 {
                return Err(io::ErrorKind::StorageFull.into());
            }
            *room -= fits;
            written.extend_from_slice(&bytes[..fits]);
            Ok(fits)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn lines_that_do_not_fit_are_lost_and_counted_and_told_of_once_there_is_room() {
        let disk = Disk::default();
        let log = LossyLog::new(|| &disk);
        let has_room = |bytes: usize| disk.0.lock().unwrap().0 = bytes;
        let write = |line: &str| log.make_writer().write_all(line.as_bytes()).unwrap();
        let counts = || (log.losses.lost.load(Ordering::Relaxed), log.losses.told.load(Ordering::Relaxed));
        has_room(10);
        write("one\n");
        assert_eq!(counts(), (0, 0));
        write("two is cut\n");
        write("three is lost\n");
        assert_eq!(counts(), (2, 0));
        has_room(1_000);
        write("four\n");
        assert_eq!(counts(), (2, 2));
        has_room(0);
        write("five\n");
        assert_eq!(counts(), (3, 2));
        let written = disk.0.lock().unwrap().1.clone();
        assert_eq!(String::from_utf8(written).unwrap(), "one\ntwo is\nfour\n", "a torn line is ended");
    }
}
