//! `lunas doctor` says what is wrong with the database or the secret key, and what to do. It changes nothing.

use std::{collections::BTreeMap, fs, time::Duration};

use engine::{Clock, SystemClock};
use serde_json::Value;
use store::Store;
use testkit::{Cluster, Program, Ran};

use crate::support::{
    commands::{program, secret_key},
    wait::until,
};

fn doctor(program: &Program, url: &str, arguments: &[&str]) -> Ran {
    program.command(&[&["doctor", "--json"], arguments].concat()).env("LUNAS_DATABASE", url).output().unwrap().into()
}

/// The points that are not fine, after checking that the exit status shows failures and that each point says what to
/// do.
#[track_caller]
fn unwell(ran: &Ran) -> BTreeMap<String, (String, String)> {
    let fails = ran.code == 1;
    let said = ran.json(i32::from(fails));
    let text = |point: &Value, member: &str| point[member].as_str().unwrap().to_owned();
    let points = said["points"].as_array().unwrap().iter();
    let points = points.map(|point| (text(point, "point"), (text(point, "verdict"), text(point, "finding"))));
    // How quickly a server answers depends on the machine.
    let slow = |point: &str, verdict: &str| (point, verdict) == ("server", "warning");
    let unwell: BTreeMap<_, _> =
        points.filter(|(point, (verdict, _))| verdict != "ok" && !slow(point, verdict)).collect();
    assert_eq!(unwell.values().any(|(verdict, _)| verdict == "failure"), fails, "{said}");
    assert_eq!(said["ok"], !fails);
    assert_eq!(ran.stderr.lines().count(), usize::from(fails), "{ran:?}");
    unwell
}

/// Checks which points are not fine.
#[track_caller]
fn check(ran: &Ran, expected: &[(&str, &str)]) -> BTreeMap<String, (String, String)> {
    let unwell = unwell(ran);
    let found: Vec<_> = unwell.iter().map(|(point, (verdict, _))| (point.as_str(), verdict.as_str())).collect();
    assert_eq!(found, expected, "{ran:?}");
    unwell
}

#[tokio::test]
async fn a_sound_server_passes_before_and_after_it_is_used() {
    let (program, primary) = (program(), Cluster::start(&[("fsync", "on")]));
    let url = primary.fresh_database();
    let tables =
        || primary.run(&url, "SELECT count(*) FROM pg_class WHERE relnamespace = 'public'::regnamespace").unwrap();
    check(&doctor(&program, &url, &[]), &[("secret key", "warning"), ("tables", "warning")]);
    assert_eq!(tables(), "0", "it changes nothing");
    assert_eq!(program.dev_with(&["--database", &url]).terminate(), Some(0));
    let before = tables();
    check(&doctor(&program, &url, &[]), &[]);
    assert_eq!(tables(), before);
    let text: Ran = program.command(&["doctor"]).env("LUNAS_DATABASE", &url).output().unwrap().into();
    assert!(text.code == 0 && text.stdout.contains("decrypts the stored secrets"), "{text:?}");

    let mut other = program.command(&["doctor", "--json"]);
    other.env("LUNAS_DATABASE", &url).env("LUNAS_SECRET_KEY", secret_key());
    check(&other.output().unwrap().into(), &[("secret key", "failure")]);
    fs::remove_file(program.data().join("secret.key")).unwrap();
    check(&doctor(&program, &url, &[]), &[("secret key", "failure")]);
    check(
        &doctor(&program, &url, &["--database-connections", "1000"]),
        &[("connections", "failure"), ("secret key", "failure")],
    );
    stands_by(&program, &primary).await;
}

/// What doctor says about standbys: one that it is pointed at, one that commits wait for, and one that is missing.
async fn stands_by(program: &Program, primary: &Cluster) {
    let standby = primary.standby_of("near", &[]);
    let url = primary.fresh_database();
    program.json(&["migrate", "--json", "--database", &url]);
    let key = ("secret key", "warning");
    let name = url.rsplit_once('/').unwrap().1;
    // The standby follows after a moment.
    until(|| async { standby.run(name, "SELECT 1 FROM payment_searchable").is_ok() }).await;
    check(&doctor(program, &standby.url(name), &[]), &[key, ("writes", "failure")]);
    let wait_for = async |names: &str| {
        primary.run("postgres", &format!("ALTER SYSTEM SET synchronous_standby_names = '{names}'")).unwrap();
        primary.run("postgres", "SELECT pg_reload_conf()").unwrap();
        until(|| async { primary.run("postgres", "SHOW synchronous_standby_names").unwrap() == names }).await;
    };
    wait_for("near").await;
    let synchronous = "SELECT 1 FROM pg_stat_replication WHERE sync_state = 'sync'";
    until(|| async { primary.run("postgres", synchronous).unwrap() == "1" }).await;
    check(&doctor(program, &url, &[]), &[key]);
    wait_for("far").await;
    until(|| async { primary.run("postgres", synchronous).unwrap().is_empty() }).await;
    let unwell = check(&doctor(program, &url, &[]), &[key, ("standbys", "failure")]);
    assert!(unwell["standbys"].1.contains("far"), "{unwell:?}");
}

#[test]
fn a_server_that_could_lose_commits_or_withholds_rights_fails() {
    let (program, cluster) = (program(), Cluster::shared());
    let url = cluster.fresh_database();
    // The cluster that tests share would not survive a power cut.
    let usual =
        [("fsync", "failure"), ("full_page_writes", "failure"), ("secret key", "warning"), ("tables", "warning")];
    check(&doctor(&program, &url, &[]), &usual);
    let name = url.rsplit_once('/').unwrap().1;
    let role = "CREATE ROLE guarded LOGIN PASSWORD 'guarded-quiet' CONNECTION LIMIT 10";
    cluster.run("postgres", role).unwrap();
    cluster.run("postgres", &format!("ALTER ROLE guarded IN DATABASE {name} SET synchronous_commit = off")).unwrap();
    let guarded = format!("postgres://guarded:guarded-quiet@{}", url.split_once('@').unwrap().1);
    let ran = doctor(&program, &guarded, &[]);
    let unwell = check(
        &ran,
        &[
            ("connections", "failure"),
            ("fsync", "failure"),
            ("full_page_writes", "failure"),
            ("pg_trgm", "failure"),
            ("rights", "failure"),
            ("secret key", "warning"),
            ("synchronous_commit", "warning"),
            ("tables", "warning"),
        ],
    );
    assert!(unwell["pg_trgm"].1.contains("CREATE EXTENSION pg_trgm"), "{unwell:?}");
    assert!(!ran.stdout.contains("quiet") && !ran.stderr.contains("quiet"), "{ran:?}");
    for (damage, point) in [("CREATE TABLE orders (id INT)", "tables"), ("SELECT 1", "server")] {
        let url = if point == "server" { url.replace(name, "missing") } else { cluster.fresh_database() };
        let _ = cluster.run(&url, damage);
        let ran = doctor(&program, &url, &[]);
        assert_eq!(unwell_verdict(&ran, point), "failure", "{ran:?}");
    }
}

#[track_caller]
fn unwell_verdict(ran: &Ran, point: &str) -> String {
    unwell(ran).remove(point).unwrap_or_default().0
}

#[test]
fn a_server_that_does_not_answer_fails_in_one_point() {
    let program = program();
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let ran = doctor(&program, &format!("postgres://u:quiet@{closed}/d"), &[]);
    let unwell = check(&ran, &[("secret key", "warning"), ("server", "failure")]);
    assert!(unwell["server"].1.contains("Connection refused"), "{unwell:?}");
    assert!(!ran.stdout.contains("quiet"), "{ran:?}");
    assert_eq!(fs::read_dir(program.directory.path()).unwrap().count(), 0, "it changes nothing");
}

#[tokio::test]
async fn the_servers_clock_is_compared_with_this_machines() {
    const HOUR: Duration = Duration::from_secs(3_600);
    let url = Cluster::shared().fresh_database().parse().unwrap();
    let found = Store::inspect_postgres(&url, || SystemClock.now().minus(HOUR)).await.unwrap();
    let hour = i64::try_from(HOUR.as_millis()).unwrap();
    let slack = 5_000 + i64::try_from(found.round_trip.as_millis()).unwrap();
    assert!((found.clock_ahead_millis - hour).abs() < slack, "{found:?}");
}

/// The points that were examined, in their order.
fn points(ran: &Ran) -> Vec<String> {
    let said: Value = serde_json::from_str(&ran.stdout).unwrap();
    said["points"].as_array().unwrap().iter().map(|point| point["point"].as_str().unwrap().to_owned()).collect()
}

fn doctor_with_key(program: &Program, key: &str) -> Ran {
    let mut command = program.command(&["doctor", "--json"]);
    command.env("LUNAS_DATABASE", program.database()).env("LUNAS_SECRET_KEY", key).output().unwrap().into()
}

/// It said ok with a wrong key, as it left those points out.
#[test]
fn a_file_without_a_write_ahead_log_is_examined_as_fully_as_one_with_it_and_stays_as_it_is() {
    let program = program();
    assert_eq!(program.dev_with(&["--rehearse"]).terminate(), Some(0));
    let (path, key) = (program.data().join("lunas.db"), secret_key());
    let right = doctor(&program, &program.database(), &[]);
    let usual = unwell(&right);
    let expected = points(&right);
    assert!(expected.iter().any(|point| point == "bank accounts"), "{expected:?}");
    for mode in ["DELETE", "TRUNCATE", "PERSIST"] {
        rusqlite::Connection::open(&path).unwrap().pragma_update(None, "journal_mode", mode).unwrap();
        let before = fs::read(&path).unwrap();
        let ran = doctor(&program, &program.database(), &[]);
        assert_eq!(points(&ran), expected, "{mode}");
        let mut found = unwell(&ran);
        assert_eq!(found.remove("journal").unwrap().0, "warning");
        assert_eq!(found, usual, "{mode}");
        let ran = doctor_with_key(&program, &key);
        assert_eq!(points(&ran), expected, "{mode}");
        assert_eq!(unwell_verdict(&ran, "secret key"), "failure", "{mode}");
        assert!(fs::read(&path).unwrap() == before, "it changes nothing");
        assert!(!program.data().join("lunas.db-wal").exists());
    }
    assert_eq!(program.dev().terminate(), Some(0), "a server gives it a log again");
    assert_eq!(unwell_verdict(&doctor_with_key(&program, &key), "secret key"), "failure");
}

#[test]
fn a_key_that_cannot_be_compared_yet_is_not_called_fine() {
    let program = program();
    assert_eq!(program.dev().terminate(), Some(0));
    let file = rusqlite::Connection::open(program.data().join("lunas.db")).unwrap();
    let latest =
        "DELETE FROM refinery_schema_history WHERE version = (SELECT MAX(version) FROM refinery_schema_history)";
    file.execute_batch(latest).unwrap();
    let unwell = check(&doctor_with_key(&program, &secret_key()), &[("secret key", "warning"), ("tables", "warning")]);
    assert!(unwell["secret key"].1.contains("lunas migrate"), "{unwell:?}");
}

#[test]
fn a_file_passes_once_it_is_used_and_each_fault_is_reported() {
    let program = program();
    let database = program.database();
    check(&doctor(&program, &database, &[]), &[("file", "failure"), ("secret key", "warning")]);
    let nowhere = format!("sqlite:{}", program.directory.path().join("none/lunas.db").display());
    let unwell = check(&doctor(&program, &nowhere, &[]), &[("file", "failure"), ("secret key", "warning")]);
    assert!(unwell["file"].1.contains("its directory does not exist"), "`lunas migrate` makes none: {unwell:?}");
    assert_eq!(fs::read_dir(program.directory.path()).unwrap().count(), 0, "it changes nothing");
    let running = program.dev();
    check(&doctor(&program, &database, &[]), &[]);
    assert_eq!(running.terminate(), Some(0));
    check(&doctor(&program, &database, &[]), &[]);
    let mut other = program.command(&["doctor", "--json"]);
    other.env("LUNAS_DATABASE", &database).env("LUNAS_SECRET_KEY", secret_key());
    check(&other.output().unwrap().into(), &[("secret key", "failure")]);

    let blank = program.directory.path().join("blank.db");
    fs::write(&blank, "").unwrap();
    let expected = [("journal", "warning"), ("secret key", "warning"), ("tables", "warning")];
    check(&doctor(&program, &format!("sqlite:{}", blank.display()), &[]), &expected);
    assert_eq!(fs::metadata(&blank).unwrap().len(), 0, "it changes nothing");

    // Overwrites pages of a table, as a bad disk or a careless copy would. Without the pages that list the tables it
    // would not be a database at all.
    let path = program.data().join("lunas.db");
    let pages: Vec<usize> = {
        let connection = rusqlite::Connection::open(&path).unwrap();
        let mut statement = connection.prepare("SELECT pageno FROM dbstat WHERE name = 'projects'").unwrap();
        let pages = statement.query_map([], |row| row.get::<_, i64>(0)).unwrap();
        pages.map(|page| usize::try_from(page.unwrap()).unwrap()).collect()
    };
    let mut bytes = fs::read(&path).unwrap();
    assert!(!pages.is_empty());
    for page in pages {
        bytes[(page - 1) * 4_096..page * 4_096].fill(0xa5);
    }
    fs::write(&path, bytes).unwrap();
    assert_eq!(unwell_verdict(&doctor(&program, &database, &[]), "integrity"), "failure");
    fs::write(&path, "not a database at all".repeat(1_000)).unwrap();
    assert_eq!(unwell_verdict(&doctor(&program, &database, &[]), "file"), "failure");
}
