//! The verdicts of `lunas doctor`: pure functions from what the store found to points for the operator. No I/O.

use std::time::Duration;

use store::{OpenError, PostgresFindings, SqliteFindings, Tables, Trigrams, Writing};

use super::point::Point;
use crate::error::chain;

/// Each node expires and settles payments by its own clock. Leases and list checkpoints allow for half a minute of difference;
/// more than a second should be mended already.
const CLOCK_WARNING_MILLIS: u64 = 1_000;
const CLOCK_FAILURE_MILLIS: u64 = 30_000;
/// How far the time on a message of SNAP may be off, by most banks' rules and by ours.
const BANKS_CLOCK_MILLIS: u64 = 300_000;
/// Every request waits for a few round trips to the server.
const ROUND_TRIP_WARNING: Duration = Duration::from_millis(10);

pub(super) fn file(found: &SqliteFindings) -> Vec<Point> {
    let file = match found.writing {
        Writing::Possible => Point::ok("file", "it can be read and written"),
        Writing::HeldUp => {
            Point::warning("file", "another process has been writing for seconds; check that none hangs")
        }
        Writing::Forbidden => {
            Point::failure("file", "it cannot be written; let this user own the file and its directory")
        }
    };
    let integrity = match found.problems.first() {
        None => Point::ok("integrity", "SQLite finds nothing wrong"),
        Some(problem) => {
            let problem = problem.replace(['\n', '\r'], " ");
            Point::failure("integrity", format!("it is damaged ({problem}); restore a backup"))
        }
    };
    let journal = match found.journal_mode.as_str() {
        "wal" => Point::ok("journal", "write-ahead log"),
        other => Point::warning("journal", format!("it is `{other}`; a server changes it to `wal` when it starts")),
    };
    vec![file, integrity, journal, tables(&found.tables)]
}

/// `connections` is the most that one node opens; `here` says that the server is on this machine.
pub(super) fn server(found: &PostgresFindings, connections: usize, here: bool) -> Vec<Point> {
    vec![
        reached(found),
        writes(found.settings.takes_writes),
        setting("fsync", found.settings.fsync),
        setting("full_page_writes", found.settings.full_page_writes),
        synchronous_commit(&found.settings.synchronous_commit),
        standbys(found),
        clock(found.clock_ahead_millis),
        tables(&found.tables),
        rights(found),
        trigrams(found),
        room(found.settings.connections_most, connections),
        encryption(found.settings.encrypted, here),
    ]
}

fn reached(found: &PostgresFindings) -> Point {
    let finding = format!("PostgreSQL {} answers within {:?}", found.version, found.round_trip);
    match found.round_trip > ROUND_TRIP_WARNING {
        true => Point::warning("server", format!("{finding}; every request waits for it, so run it closer")),
        false => Point::ok("server", finding),
    }
}

fn writes(taken: bool) -> Point {
    match taken {
        true => Point::ok("writes", "accepted"),
        false => {
            Point::failure("writes", "refused, as by a standby or a read-only database; use the address of the primary")
        }
    }
}

fn setting(name: &'static str, on: bool) -> Point {
    match on {
        true => Point::ok(name, "on"),
        false => Point::failure(name, "off, so a power failure loses acknowledged commits; turn it on"),
    }
}

fn synchronous_commit(value: &str) -> Point {
    match value {
        "on" | "remote_apply" => Point::ok("synchronous_commit", value),
        other => Point::warning(
            "synchronous_commit",
            format!("`{other}` by default; Lunas sets `on` for its own connections, other programs may lose commits"),
        ),
    }
}

fn standbys(found: &PostgresFindings) -> Point {
    let awaited = &found.standbys.awaited;
    match (awaited.is_empty(), found.standbys.connected) {
        (true, None) => Point::ok("standbys", "none required; commits do not wait"),
        (true, Some((connected, _))) => {
            Point::ok("standbys", format!("{connected} connected; commits do not wait for them"))
        }
        (false, None) => {
            Point::ok("standbys", format!("commits wait for {awaited}; this user may not see which are connected"))
        }
        (false, Some((_, 0))) => {
            Point::failure("standbys", format!("commits wait for {awaited}, and none of them is connected; start one"))
        }
        (false, Some((connected, waited))) => {
            Point::ok("standbys", format!("{connected} connected; commits wait for {waited} of them ({awaited})"))
        }
    }
}

fn clock(ahead_millis: i64) -> Point {
    let apart = ahead_millis.unsigned_abs();
    let way = if ahead_millis < 0 { "behind" } else { "ahead of" };
    let finding = format!("the server's clock is {apart} ms {way} this machine's");
    let mend = "synchronise both with the same time server";
    match apart {
        0..=CLOCK_WARNING_MILLIS => Point::ok("clock", finding),
        apart if apart <= CLOCK_FAILURE_MILLIS => Point::warning("clock", format!("{finding}; {mend}")),
        apart if apart <= BANKS_CLOCK_MILLIS => Point::failure("clock", format!("{finding}; {mend}")),
        _ => Point::failure("clock", format!("{finding}, and banks allow five minutes; {mend}")),
    }
}

fn tables(found: &Result<Tables, OpenError>) -> Point {
    match found {
        Ok(Tables::Current) => Point::ok("tables", "up to date"),
        Ok(Tables::Behind) => Point::warning(
            "tables",
            "of an older version; `lunas migrate`, or the next start of a server, updates them",
        ),
        Ok(Tables::Missing) => Point::warning(
            "tables",
            "there are none yet; `lunas migrate`, or the first start of a server, creates them",
        ),
        Err(error) => Point::failure("tables", chain(error)),
    }
}

fn rights(found: &PostgresFindings) -> Point {
    let rights = &found.rights;
    match (&found.tables, rights.may_use_tables, rights.may_make_tables) {
        (Ok(Tables::Current), true, true) | (Ok(Tables::Missing), _, true) | (Ok(Tables::Behind), true, true) => {
            Point::ok("rights", "this user has all that are needed")
        }
        (Ok(Tables::Current), true, false) => {
            Point::warning("rights", "this user may not create tables, which a later version may need")
        }
        (Ok(Tables::Current | Tables::Behind), false, _) => {
            Point::failure("rights", "this user may not use the tables; let the user own the database")
        }
        (Ok(_), _, false) => Point::failure("rights", "this user may not create tables; let the user own the database"),
        (Err(_), ..) => Point::warning("rights", "unknown, because the tables are not those of Lunas"),
    }
}

fn trigrams(found: &PostgresFindings) -> Point {
    let administrator = "ask an administrator to run `CREATE EXTENSION pg_trgm` in the database";
    match (found.rights.trigrams, &found.tables) {
        (_, Ok(Tables::Current | Tables::Behind)) => Point::ok("pg_trgm", "only needed to create the tables"),
        (Trigrams::Installed, _) => Point::ok("pg_trgm", "installed"),
        (Trigrams::Missing, _) => {
            Point::failure("pg_trgm", "the server lacks the extension; install its package `postgresql-contrib`")
        }
        (Trigrams::Available, _) => Point::ok("pg_trgm", "not installed yet; it is created together with the tables"),
        (Trigrams::OutOfReach, _) => Point::failure("pg_trgm", format!("this user may not create it; {administrator}")),
    }
}

fn room(most: i64, wanted: usize) -> Point {
    let finding = format!("a node opens up to {wanted}, and the server allows this user {most}");
    match i64::try_from(wanted).is_ok_and(|wanted| wanted <= most) {
        true => Point::ok("connections", finding),
        false => {
            let mend = "lower --database-connections, or raise the server's max_connections or this user's limit";
            Point::failure("connections", format!("{finding}; {mend}"))
        }
    }
}

fn encryption(encrypted: bool, here: bool) -> Point {
    match (encrypted, here) {
        (true, _) => Point::ok("encryption", "on"),
        (false, true) => Point::ok("encryption", "off, and the server is on this machine"),
        (false, false) => {
            let mend = "remove `sslmode=disable` from the URL, unless the network between them is trusted";
            Point::warning("encryption", format!("off, though the server is on another machine; {mend}"))
        }
    }
}

#[cfg(test)]
mod tests {
    use store::{ServerSettings, Standbys, UserRights};

    use super::*;
    use crate::doctor::point::Verdict;

    fn sound() -> PostgresFindings {
        PostgresFindings {
            version: "15.8".to_owned(),
            round_trip: Duration::from_micros(200),
            clock_ahead_millis: -3,
            tables: Ok(Tables::Current),
            settings: ServerSettings {
                takes_writes: true,
                fsync: true,
                full_page_writes: true,
                synchronous_commit: "on".to_owned(),
                connections_most: 97,
                encrypted: false,
            },
            rights: UserRights { may_make_tables: true, may_use_tables: true, trigrams: Trigrams::Installed },
            standbys: Standbys { awaited: String::new(), connected: Some((0, 0)) },
        }
    }

    /// Checks which points are not `ok` after `change` on a sound server.
    #[track_caller]
    fn check(change: impl FnOnce(&mut PostgresFindings), expected: &[(&str, Verdict)]) {
        let mut found = sound();
        change(&mut found);
        let points = server(&found, 20, true);
        let not_ok: Vec<_> = points.iter().filter(|point| point.verdict != Verdict::Ok).collect();
        assert_eq!(not_ok.iter().map(|point| (point.point, point.verdict)).collect::<Vec<_>>(), expected, "{not_ok:?}");
        for point in not_ok {
            assert!(!point.finding.contains('\n'), "{}", point.finding);
        }
    }

    #[test]
    fn each_fault_of_a_server_has_its_own_point() {
        use Verdict::{Failure, Warning};
        check(|_| {}, &[]);
        check(|found| found.round_trip = Duration::from_millis(11), &[("server", Warning)]);
        check(|found| found.settings.takes_writes = false, &[("writes", Failure)]);
        check(|found| found.settings.fsync = false, &[("fsync", Failure)]);
        check(|found| found.settings.full_page_writes = false, &[("full_page_writes", Failure)]);
        check(|found| found.settings.synchronous_commit = "off".to_owned(), &[("synchronous_commit", Warning)]);
        check(|found| found.settings.synchronous_commit = "remote_apply".to_owned(), &[]);
        check(|found| found.settings.connections_most = 20, &[]);
        check(|found| found.settings.connections_most = 19, &[("connections", Failure)]);
        check(|found| found.clock_ahead_millis = 1_000, &[]);
        check(|found| found.clock_ahead_millis = -1_001, &[("clock", Warning)]);
        check(|found| found.clock_ahead_millis = 30_000, &[("clock", Warning)]);
        check(|found| found.clock_ahead_millis = -30_001, &[("clock", Failure)]);
        check(|found| found.clock_ahead_millis = 300_001, &[("clock", Failure)]);
        assert!(clock(-300_001).finding.contains("banks allow five minutes"));
        check(|found| found.tables = Err(OpenError::Newer), &[("tables", Failure), ("rights", Warning)]);
        check(|found| found.tables = Ok(Tables::Behind), &[("tables", Warning)]);
    }

    #[test]
    fn rights_are_judged_by_what_must_still_be_created() {
        use Verdict::{Failure, Warning};
        let rights = |tables, make, using, trigrams| {
            move |found: &mut PostgresFindings| {
                found.tables = Ok(tables);
                found.rights = UserRights { may_make_tables: make, may_use_tables: using, trigrams };
            }
        };
        check(rights(Tables::Current, false, true, Trigrams::Installed), &[("rights", Warning)]);
        check(rights(Tables::Current, true, false, Trigrams::Installed), &[("rights", Failure)]);
        check(rights(Tables::Current, true, true, Trigrams::Missing), &[]);
        check(rights(Tables::Missing, true, false, Trigrams::Available), &[("tables", Warning)]);
        check(rights(Tables::Missing, false, false, Trigrams::Installed), &[("tables", Warning), ("rights", Failure)]);
        check(rights(Tables::Missing, true, false, Trigrams::OutOfReach), &[("tables", Warning), ("pg_trgm", Failure)]);
        check(rights(Tables::Missing, true, false, Trigrams::Missing), &[("tables", Warning), ("pg_trgm", Failure)]);
    }

    #[test]
    fn standbys_that_commits_wait_for_must_be_connected() {
        let standbys = |awaited: &str, connected| {
            let standbys = Standbys { awaited: awaited.to_owned(), connected };
            move |found: &mut PostgresFindings| found.standbys = standbys
        };
        check(standbys("", Some((2, 0))), &[]);
        check(standbys("ANY 1 (a, b)", Some((2, 2))), &[]);
        check(standbys("ANY 1 (a, b)", Some((1, 0))), &[("standbys", Verdict::Failure)]);
        check(standbys("ANY 1 (a, b)", None), &[]);
    }

    #[test]
    fn a_connection_that_leaves_this_machine_is_encrypted() {
        let verdict = |encrypted, here| encryption(encrypted, here).verdict;
        assert_eq!(verdict(false, true), Verdict::Ok);
        assert_eq!(verdict(true, false), Verdict::Ok);
        assert_eq!(verdict(false, false), Verdict::Warning);
    }

    #[test]
    fn a_file_is_judged_point_by_point() {
        let found = |writing, problems: &[&str], journal_mode: &str| SqliteFindings {
            writing,
            problems: problems.iter().map(|problem| (*problem).to_owned()).collect(),
            journal_mode: journal_mode.to_owned(),
            tables: Ok(Tables::Current),
        };
        let verdicts = |found| file(&found).into_iter().map(|point| point.verdict).collect::<Vec<_>>();
        use Verdict::{Failure, Ok as Fine, Warning};
        assert_eq!(verdicts(found(Writing::Possible, &[], "wal")), [Fine, Fine, Fine, Fine]);
        assert_eq!(verdicts(found(Writing::HeldUp, &[], "delete")), [Warning, Fine, Warning, Fine]);
        assert_eq!(verdicts(found(Writing::Forbidden, &["page 3\nis odd"], "wal")), [Failure, Failure, Fine, Fine]);
    }
}
