use std::{io::Read, process::Stdio, time::Duration};
use std::{
    io::{BufRead, BufReader},
    process::{Output, exit},
    sync::mpsc,
};

use super::{databases::name_of, *};

/// Tells [`another_process`] that the other test started it, and how it will be ended.
const ENDS: &str = "PGCLUSTER_ENDS";

/// Connects to a URL with psql, as any other client would.
fn dial(url: &str, sql: &str) -> Output {
    let mut psql = Host::get().command(Host::get().program("psql"), Path::new("/"));
    psql.args(["-X", "-q", "-A", "-t", "-c", sql, url]).output().unwrap()
}

fn printed(output: &Output) -> &str {
    str::from_utf8(if output.status.success() { &output.stdout } else { &output.stderr }).unwrap().trim()
}

/// A database with one row in it.
fn remembering(cluster: &Cluster) -> String {
    let url = cluster.fresh_database();
    cluster.run(&url, "CREATE TABLE kept (what text); INSERT INTO kept VALUES ('this')").unwrap();
    url
}

#[track_caller]
fn assert_kept(cluster: &Cluster, database: &str) {
    assert_eq!(cluster.run(database, "SELECT what FROM kept").as_deref(), Ok("this"));
}

/// How many processes have their working directory in this one, which may have been removed.
fn working_in(directory: &Path) -> usize {
    let entries = fs::read_dir("/proc").unwrap().filter_map(|entry| Some(entry.ok()?.path()));
    entries.filter(|entry| fs::read_link(entry.join("cwd")).is_ok_and(|path| path.starts_with(directory))).count()
}

#[test]
fn urls_work_with_the_password_only() {
    let url = Cluster::shared().fresh_database();
    assert_eq!(printed(&dial(&url, "SELECT current_user")), "lunas");
    let wrong = url.replacen(&Cluster::shared().password, "guess", 1);
    assert!(printed(&dial(&wrong, "SELECT 1")).contains("password authentication failed"));
    let without = url.replacen(&format!(":{}", Cluster::shared().password), "", 1);
    assert!(printed(&dial(&without, "SELECT 1")).contains("no password supplied"));
}

#[test]
fn other_programs_of_postgresql_work_on_a_database_over_the_network() {
    let cluster = Cluster::shared();
    let url = remembering(cluster);
    let dumped = cluster.run_program("pg_dump", &url, &["--data-only"], "").unwrap();
    assert!(dumped.contains("this"), "{dumped}");
    let over = "SELECT 1 / (inet_server_addr() IS NOT NULL)::int;";
    assert!(cluster.run_program("pgbench", &url, &["-n", "-t", "1", "-f", "-"], over).unwrap().contains("tps = "));
    assert!(cluster.run_program("pgbench", &url, &["-n", "-t", "1", "-f", "-"], "SELECT 1 / 0;").is_err());
}

#[test]
fn text_is_ordered_by_its_bytes() {
    let sorted = "SELECT string_agg(word, '' ORDER BY word), pg_encoding_to_char(encoding) \
                  FROM (VALUES ('a'), ('B'), ('é')) words (word), pg_database WHERE datname = 'template1' GROUP BY encoding";
    assert_eq!(Cluster::shared().run("template1", sorted).as_deref(), Ok("Baé|UTF8"));
}

#[test]
fn fresh_databases_are_separate_also_when_made_at_once() {
    let cluster = Cluster::shared();
    let mut urls: Vec<String> = thread::scope(|scope| {
        let makers: Vec<_> = (0..4).map(|_| scope.spawn(|| remembering(cluster))).collect();
        makers.into_iter().map(|maker| maker.join().unwrap()).collect()
    });
    cluster.run(&urls[0], "DELETE FROM kept").unwrap();
    assert_eq!(cluster.run(&urls[0], "SELECT count(*) FROM kept").as_deref(), Ok("0"));
    urls[1..].iter().for_each(|url| assert_kept(cluster, url));
    urls.sort();
    urls.dedup();
    assert_eq!(urls.len(), 4);
}

#[test]
fn a_copy_has_what_its_template_had_and_goes_its_own_way() {
    let cluster = Cluster::shared();
    let template = remembering(cluster);
    let copy = cluster.fresh_database_like(&template);
    assert_kept(cluster, &copy);
    cluster.run(&copy, "DROP TABLE kept").unwrap();
    assert_kept(cluster, &template);
}

#[test]
fn a_dropped_database_is_gone_even_under_a_client() {
    let cluster = Cluster::shared();
    let url = remembering(cluster);
    thread::scope(|scope| {
        let client = scope.spawn(|| cluster.run(&url, "SELECT pg_sleep(100)"));
        let sleeping =
            format!("SELECT 1 FROM pg_stat_activity WHERE datname = '{}' AND query ~ 'sleep'", name_of(&url));
        cluster.wait_until("runs the statement", || cluster.run("postgres", &sleeping).as_deref() == Ok("1"));
        cluster.drop_database(&url);
        client.join().unwrap().unwrap_err();
    });
    assert!(cluster.run(&url, "SELECT 1").unwrap_err().contains("does not exist"));
}

#[test]
fn a_scratch_database_is_dropped_with_its_value() {
    let cluster = Cluster::shared();
    let scratch = ScratchDatabase::copy_of(&remembering(cluster));
    assert_kept(cluster, scratch.url());
    let name = name_of(scratch.url()).to_owned();
    let there =
        || cluster.run("postgres", &format!("SELECT count(*) FROM pg_database WHERE datname = '{name}'")).unwrap();
    assert_eq!(there(), "1");
    drop(scratch);
    cluster.wait_until("has dropped it", || there() == "0");
}

#[test]
fn rows_are_lines_and_columns_are_separated() {
    let rows = "SELECT 1, NULL, 'a b'; SELECT true; SELECT 2 WHERE false";
    assert_eq!(Cluster::shared().run("postgres", rows).as_deref(), Ok("1||a b\nt"));
}

#[test]
fn an_error_is_returned_as_text_and_stops_the_rest() {
    let cluster = Cluster::shared();
    let url = remembering(cluster);
    let sql = "SELECT nothing; DELETE FROM kept;";
    for error in [cluster.run(&url, sql), cluster.run_script(&url, sql)].map(Result::unwrap_err) {
        assert!(error.contains("column \"nothing\" does not exist"), "{error}");
    }
    assert_kept(cluster, &url);
    let script = "COPY kept FROM STDIN;\nthat\n\\.\nSELECT count(*) FROM kept;";
    assert_eq!(cluster.run_script(&url, script).as_deref(), Ok("2"));
}

#[test]
fn settings_are_taken_and_win() {
    let cluster = Cluster::start(&[("fsync", "on"), ("search_path", r"it's, a\b")]);
    let shown = cluster.run("postgres", "SHOW fsync; SHOW max_connections; SHOW search_path");
    assert_eq!(shown.as_deref(), Ok("on\n300\nit's, a\\b"));
}

#[test]
#[should_panic(expected = "unrecognized configuration parameter \"no_such_setting\"")]
fn a_server_that_does_not_start_says_why() {
    Cluster::start(&[("no_such_setting", "1")]);
}

#[test]
fn a_port_that_someone_takes_is_given_up_at_the_first_start() {
    let mut cluster = Cluster::start(&[]);
    cluster.stop(StopMode::Fast);
    let taken = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    cluster.port = taken.local_addr().unwrap().port();
    let cluster = cluster.first_start();
    assert_ne!(cluster.port(), taken.local_addr().unwrap().port());
    assert_eq!(printed(&dial(&cluster.url("postgres"), "SELECT 1")), "1");
}

#[test]
fn data_survive_every_stop_and_start_on_the_same_port() {
    let cluster = Cluster::start(&[]);
    let url = remembering(&cluster);
    let stops: [fn(&Cluster); 5] = [
        |cluster| cluster.stop(StopMode::Fast),
        |cluster| cluster.stop(StopMode::Immediate),
        |cluster| cluster.kill(),
        |cluster| {
            cluster.pause();
            cluster.stop(StopMode::Fast);
        },
        |cluster| {
            cluster.pause();
            cluster.kill();
        },
    ];
    for stop in stops {
        stop(&cluster);
        assert_eq!(working_in(&cluster.data()), 0);
        assert!(printed(&dial(&url, "SELECT 1")).contains("Connection refused"));
        cluster.start_again();
        assert_eq!(printed(&dial(&url, "SELECT what FROM kept")), "this");
        assert_kept(&cluster, &cluster.fresh_database_like(&url));
    }
}

#[test]
fn a_paused_server_answers_nobody_until_it_goes_on() {
    let cluster = Cluster::start(&[]);
    let url = remembering(&cluster);
    cluster.pause();
    thread::scope(|scope| {
        let (sender, answers) = mpsc::channel();
        let url = &url;
        scope.spawn(move || sender.send(printed(&dial(url, "SELECT what FROM kept")).to_owned()));
        let early = answers.recv_timeout(Duration::from_millis(500));
        cluster.resume();
        assert_eq!(early, Err(mpsc::RecvTimeoutError::Timeout), "a paused server answers nothing");
        assert_eq!(answers.recv_timeout(PATIENCE).as_deref(), Ok("this"));
    });
}

#[test]
fn a_standby_follows_and_takes_over() {
    let primary = Cluster::start(&[]);
    let url = remembering(&primary);
    let standby = primary.standby_of("second", &[("max_standby_streaming_delay", "1s")]);
    assert_eq!((primary.is_standby(), standby.is_standby()), (false, true));
    assert_ne!(primary.port(), standby.port());
    assert_eq!(standby.run("postgres", "SHOW max_standby_streaming_delay").as_deref(), Ok("1s"));

    // When the primary's commits wait for the standby, the standby has everything that the primary has acknowledged.
    primary.administer("ALTER SYSTEM SET synchronous_standby_names = 'second'");
    primary.administer("SELECT pg_reload_conf()");
    let synchronous = "SELECT sync_state FROM pg_stat_replication WHERE application_name = 'second'";
    primary.wait_until("waits for the standby", || primary.run("postgres", synchronous).as_deref() == Ok("sync"));
    primary.run(&url, "SET synchronous_commit = remote_apply; UPDATE kept SET what = 'that'").unwrap();
    assert_eq!(standby.run(&url, "SELECT what FROM kept").as_deref(), Ok("that"));
    assert!(standby.run(&url, "DELETE FROM kept").unwrap_err().contains("read-only transaction"));

    primary.kill();
    standby.promote();
    assert!(!standby.is_standby());
    assert_kept(&standby, &standby.fresh_database_like(&remembering(&standby)));
    standby.run(&url, "UPDATE kept SET what = 'this'").unwrap();
    assert_kept(&standby, &url);
}

#[test]
fn a_dropped_cluster_leaves_nothing() {
    let spoils: [fn(&Cluster); 4] =
        [|_| (), |cluster| cluster.stop(StopMode::Fast), |cluster| cluster.kill(), |cluster| cluster.pause()];
    for spoil in spoils {
        let cluster = Cluster::start(&[]);
        let directory = cluster.directory().to_owned();
        let segment = fs::read_to_string(cluster.data().join("postmaster.pid")).unwrap();
        let segment = segment.lines().nth(6).unwrap().split_whitespace().nth(1).unwrap().to_owned();
        spoil(&cluster);
        drop(cluster);
        assert!(!directory.exists());
        assert_eq!(working_in(&directory), 0);
        let segments = fs::read_to_string("/proc/sysvipc/shm").unwrap();
        assert!(!segments.lines().any(|line| line.split_whitespace().nth(1) == Some(&segment)), "{segments}");
    }
}

#[test]
fn a_process_that_ends_in_any_way_leaves_nothing() {
    for ends in ["by exit", "by kill", "by kill, with a paused server"] {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "tests::another_process", "--ignored", "--nocapture"]).env(ENDS, ends);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
        let directory = lines.find_map(|line| Some(PathBuf::from(line.split_once("directory: ")?.1))).unwrap();
        assert!(directory.join("data").exists());
        assert!(working_in(&directory) > 2, "a server runs");
        if ends == "by exit" {
            drop(child.stdin.take());
        } else {
            child.kill().unwrap();
        }
        child.wait().unwrap();
        let started = Instant::now();
        while directory.exists() {
            assert!(started.elapsed() < PATIENCE, "{} is still there", directory.display());
            thread::sleep(POLL_INTERVAL);
        }
        assert_eq!(working_in(&directory), 0);
    }
}

#[test]
#[ignore = "a process that `a_process_that_ends_in_any_way_leaves_nothing` starts; by itself it does nothing"]
fn another_process() {
    let Ok(ends) = std::env::var(ENDS) else { return };
    let cluster = Cluster::shared();
    cluster.fresh_database();
    if ends.contains("paused") {
        cluster.pause();
    }
    println!("\ndirectory: {}", cluster.directory().display());
    // Wait until the other test kills this process or closes its input.
    let _ = std::io::stdin().read(&mut [0]);
    exit(0);
}
