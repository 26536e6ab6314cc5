//! The commands on PostgreSQL: they do what they do on a file, and report in one line what prevents that.

use std::{
    fs,
    io::{Read, Write},
    net::{TcpListener, TcpStream},
    process::Command,
    thread,
};

use testkit::{Api, Cluster, Program, Ran, Running};

use crate::support::{
    commands::{program, secret_key},
    repository::root,
    samples,
    wait::until,
};

/// Runs a command on the database at `url`, as an operator would.
fn on(program: &Program, url: &str, arguments: &[&str]) -> Ran {
    program.command(arguments).env("LUNAS_DATABASE", url).output().unwrap().into()
}

/// Checks that a command on the database at `url` fails with one line that says `reason` and shows no password.
#[track_caller]
fn refuses(url: &str, arguments: &[&str], reason: &str) {
    let program = program();
    let ran = on(&program, url, arguments);
    let lines = ran.failed(1);
    assert_eq!(lines.len(), 1, "{arguments:?}: {lines:?}");
    assert!(lines[0].contains(reason), "{arguments:?}: `{reason}` is not in {lines:?}");
    let password = url.split_once("://").and_then(|(_, rest)| rest.split_once('@')?.0.split_once(':'));
    if let Some((_, password)) = password.filter(|(_, password)| !password.is_empty()) {
        assert!(!ran.stderr.contains(password), "a password shows: {lines:?}");
    }
    assert_eq!(fs::read_dir(program.directory.path()).unwrap().count(), 0, "nothing was made");
}

/// Everything in a database's schema, to check that nothing has changed.
fn relations(cluster: &Cluster, url: &str) -> String {
    let sql = "SELECT c.relname, c.relkind FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace \
               WHERE n.nspname = 'public' UNION ALL SELECT extname, 'e' FROM pg_extension ORDER BY 1, 2";
    cluster.run(url, sql).unwrap()
}

/// The same address with another user, whose password ends in a word of its own.
fn as_user(url: &str, user: &str) -> String {
    let (_, place) = url.split_once('@').unwrap();
    format!("postgres://{user}:{user}-quiet@{place}")
}

/// Regression: each of the other nodes logged a warning that it was gone.
#[tokio::test]
async fn a_server_that_stops_in_good_order_is_no_node_any_more_and_a_killed_one_is_until_it_is_missed() {
    let (program, url) = (program(), Cluster::shared().fresh_database());
    let nodes = || Cluster::shared().run(&url, "SELECT COUNT(*) FROM nodes").unwrap();
    let stopping = program.dev_with(&["--database", &url]);
    until(async || nodes() == "1").await;
    assert_eq!(stopping.terminate(), Some(0));
    assert_eq!(nodes(), "0");
    let dying = program.dev_with(&["--database", &url]);
    until(async || nodes() == "1").await;
    dying.kill();
    assert_eq!(nodes(), "1");
}

#[tokio::test]
async fn dev_works_on_postgresql_as_on_a_file() {
    let (program, url) = (program(), Cluster::shared().fresh_database());
    let first = program.dev_with(&["--database", &url]);
    let payment = first.api().pay("k", &samples::order(first.said("project_id"))).await.expect(201);
    let id = payment["id"].as_str().unwrap().to_owned();
    let said = first.ready.clone();
    assert!(program.data().join("secret.key").is_file());
    assert!(!program.data().join("lunas.db").exists());
    // Commands find the server's files by LUNAS_DATA, or in the default folder.
    assert_eq!(on(&program, &url, &["pay", &id, "--json"]).json(0)["status"], "paid");
    assert_eq!(on(&program, &url, &["project", "list", "--json"]).json(0)[0]["id"], said["project_id"]);
    let made = ["project", "create", "--name", "Toko", "--environment", "sandbox", "--json"];
    assert!(on(&program, &url, &made).json(0)["webhook_secret"].is_string());
    assert_eq!(on(&program, &url, &["trigger", "payment.paid", "--json"]).code, 0);
    assert_eq!(first.terminate(), Some(0));
    let second = program.dev_with(&["--database", &url]);
    for member in ["project_id", "api_key", "webhook_secret"] {
        assert_eq!(second.ready[member], said[member], "{member}");
    }
    assert_eq!(second.api().get(&format!("/v1/payments/{id}")).await.expect(200)["status"], "paid");
    assert_eq!(second.terminate(), Some(0));
    assert_eq!(on(&program, &url, &["verify", "--json"]).json(0)["ok"], true);
    // Without the installation's secret key, stored secrets cannot be read.
    fs::remove_file(program.data().join("secret.key")).unwrap();
    let ran = on(&program, &url, &["dev", "--listen", "127.0.0.1:0"]);
    assert!(ran.failed(1)[0].contains("secret.key"), "{ran:?}");
}

#[tokio::test]
async fn what_dev_prints_shows_no_password_and_works() {
    let (program, url) = (program(), Cluster::shared().fresh_database());
    let running = program.dev_with(&["--database", &url]);
    let payment = running.api().pay("k", &samples::order(running.said("project_id"))).await.expect(201);
    assert_eq!(running.terminate(), Some(0));
    let mut command = program.command(&["dev", "--listen", "127.0.0.1:0"]);
    command.env("LUNAS_DATABASE", &url);
    let mut child = command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::null()).spawn().unwrap();
    let mut text = String::new();
    let mut lines = std::io::BufRead::lines(std::io::BufReader::new(child.stdout.take().unwrap()));
    while !text.contains("Ctrl-C") {
        text.push_str(&lines.next().unwrap().unwrap());
        text.push('\n');
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let password = url.split_once('@').unwrap().0.rsplit_once(':').unwrap().1;
    assert!(text.contains("postgres://lunas@127.0.0.1") && !text.contains(password), "{text}");
    let id = payment["id"].as_str().unwrap();
    let line = text.lines().find(|line| line.ends_with(" pay PAYMENT_ID")).unwrap().replace("PAYMENT_ID", id);
    let mut shell = Command::new("sh");
    shell.arg("-c").arg(&line).current_dir(program.directory.path()).env("LUNAS_DATABASE", &url);
    let running = program.dev_with(&["--database", &url]);
    assert!(shell.output().unwrap().status.success(), "{line}");
    assert_eq!(running.api().get(&format!("/v1/payments/{id}")).await.expect(200)["status"], "paid");
}

#[tokio::test]
async fn serve_works_on_postgresql_but_refuses_a_development_database() {
    let (program, cluster, key) = (program(), Cluster::shared(), secret_key());
    let url = cluster.fresh_database();
    let served = |arguments: &[&str], url: &str, key: &str| {
        let mut command = program.served(arguments, key);
        command.env("LUNAS_DATABASE", url);
        command
    };
    // A server that refuses to start creates nothing.
    let ran = Ran::from(served(&["serve"], &url, "").output().unwrap());
    assert_eq!(ran.failed(1).len(), 1, "{ran:?}");
    assert_eq!(relations(cluster, &url), "plpgsql|e");
    let serving = Running::start(served(&["serve", "--json"], &url, &key), program.directory.path());
    Api::new(serving.address(), None).get("/readyz").await.expect(200);
    let arguments = ["project", "create", "--name", "Toko", "--environment", "production", "--json"];
    let project = Ran::from(served(&arguments, &url, &key).output().unwrap()).json(0);
    assert!(project["id"].is_string());
    let other = Ran::from(served(&["serve"], &url, &secret_key()).output().unwrap());
    assert!(other.failed(1)[0].contains("LUNAS_SECRET_KEY"), "{other:?}");
    assert_eq!(serving.terminate(), Some(0));

    let url = cluster.fresh_database();
    assert_eq!(program.dev_with(&["--database", &url]).terminate(), Some(0));
    let key = fs::read_to_string(program.data().join("secret.key")).unwrap();
    let ran = Ran::from(served(&["serve"], &url, key.trim()).output().unwrap());
    let lines = ran.failed(1);
    assert!(lines.len() == 1 && lines[0].contains("development"), "{lines:?}");
}

#[test]
fn a_database_without_our_tables_counts_as_missing() {
    let cluster = Cluster::shared();
    let url = cluster.fresh_database();
    let id = |prefix: &str| format!("{prefix}_{}", "0".repeat(26));
    let (project, key, payment) = (id("prj"), id("key"), id("pay"));
    for arguments in [
        &["project", "list"][..],
        &["project", "show", &project],
        &["key", "list", "--project", &project],
        &["key", "revoke", &key],
        &["webhook", "rotate-secret", &project],
        &["pay", &payment],
        &["verify"],
    ] {
        refuses(&url, arguments, "there are no tables of Lunas in postgres://lunas@127.0.0.1");
    }
    assert_eq!(relations(cluster, &url), "plpgsql|e");
}

#[test]
fn an_unusable_database_url_is_reported() {
    for (url, reason) in [
        ("postgres://", "names no host"),
        ("postgres://u:quiet@/d", "names no host"),
        ("postgres://:quiet@h/d", "names no user"),
        ("postgres://h/d", "names no user"),
        ("postgres://u:quiet@h", "names no database"),
        ("postgres://u:quiet@h/", "names no database"),
        ("postgres://u:quiet@h/d?sslrootcert=x", "unknown option `sslrootcert`"),
        ("postgres://u:quiet@h/d?sslmode=perhaps", "invalid value for option `sslmode`"),
        ("postgres://u:quiet@h:port/d", "invalid value for option `port`"),
        ("postgres://u:qui@et@h/d", "more than one `@`"),
        ("mysql://u:quiet@h/d", "postgres://USER:PASSWORD@HOST/DATABASE"),
    ] {
        refuses(url, &["migrate"], reason);
        refuses(url, &["project", "list"], reason);
    }
    let program = program();
    for number in ["7", "1001", "many"] {
        program.run(&["verify", "--database-connections", number]).failed(2);
    }
}

#[test]
fn a_server_that_cannot_be_reached_or_refuses_the_login_is_reported() {
    let cluster = Cluster::shared();
    let url = cluster.fresh_database();
    let password = url.split_once('@').unwrap().0.rsplit_once(':').unwrap().1;
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    for (url, reason) in [
        (format!("postgres://u:quiet@{closed}/d"), "cannot be reached: Connection refused"),
        ("postgres://u:quiet@%2Fnowhere/d".to_owned(), "cannot be reached: No such file"),
        (url.replace(password, "quiet"), "does not let this user in: password authentication failed"),
        (as_user(&url, "nobody"), "does not let this user in"),
        (format!("{url}?sslmode=require"), "cannot be encrypted: server does not support TLS"),
        (cluster.url("missing"), "database \"missing\" does not exist; make it first"),
    ] {
        for arguments in [&["migrate"][..], &["project", "list"], &["verify"]] {
            refuses(&url, arguments, reason);
        }
    }
    // A server that accepts the connection and never answers.
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("postgres://u:quiet@{}/d", silent.local_addr().unwrap());
    refuses(&url, &["migrate"], "does not answer in time");
}

/// A server that accepts every login, and answers every query with version 12.3 or that it takes writes.
fn old_server() -> String {
    fn message(kind: u8, body: &[u8]) -> Vec<u8> {
        let length = u32::try_from(body.len() + 4).unwrap().to_be_bytes();
        [&[kind], &length[..], body].concat()
    }
    fn row(name: &str, value: &str) -> Vec<u8> {
        let column = [name.as_bytes(), &[0; 7], &25_u32.to_be_bytes(), &(-1_i16).to_be_bytes(), &[0xff; 4], &[0; 2]];
        let length = u32::try_from(value.len()).unwrap().to_be_bytes();
        let described = message(b'T', &[&1_u16.to_be_bytes()[..], &column.concat()].concat());
        let data = message(b'D', &[&1_u16.to_be_bytes()[..], &length, value.as_bytes()].concat());
        [described, data, message(b'C', b"SHOW\0")].concat()
    }
    fn serve(mut stream: TcpStream) -> std::io::Result<()> {
        let mut length = [0; 4];
        stream.read_exact(&mut length)?;
        let mut rest = vec![0; u32::from_be_bytes(length) as usize - 4];
        stream.read_exact(&mut rest)?;
        let ready = message(b'Z', b"I");
        let greeting = [message(b'R', &[0; 4]), message(b'S', b"server_version\x0012.3\0"), ready.clone()];
        stream.write_all(&greeting.concat())?;
        loop {
            let mut head = [0; 5];
            stream.read_exact(&mut head)?;
            let mut body = vec![0; u32::from_be_bytes(head[1..].try_into().unwrap()) as usize - 4];
            stream.read_exact(&mut body)?;
            let asked = String::from_utf8_lossy(&body);
            let answer = match asked.contains("server_version") {
                true => row("server_version", "12.3"),
                false => row("transaction_read_only", "off"),
            };
            stream.write_all(&[answer, ready.clone()].concat())?;
        }
    }
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for stream in listener.incoming() {
            // The thread ends when the client disconnects.
            thread::spawn(move || serve(stream.unwrap()));
        }
    });
    format!("postgres://u:quiet@{address}/d")
}

#[test]
fn a_server_that_is_too_old_is_reported() {
    let url = old_server();
    for arguments in [&["migrate"][..], &["project", "list"]] {
        refuses(&url, arguments, "runs PostgreSQL 12.3, and 13 is the oldest that will do");
    }
}

#[test]
fn rights_that_are_missing_are_named_and_nothing_is_left_behind() {
    let cluster = Cluster::shared();
    for role in ["mayread", "mayplace", "mayown"] {
        cluster.run("postgres", &format!("CREATE ROLE {role} LOGIN PASSWORD '{role}-quiet'")).unwrap();
    }
    let url = cluster.fresh_database();
    let before = relations(cluster, &url);
    refuses(
        &as_user(&url, "mayread"),
        &["migrate"],
        "may not use or make its tables: permission denied for schema public",
    );
    cluster.run(&url, "GRANT CREATE ON SCHEMA public TO mayplace").unwrap();
    refuses(&as_user(&url, "mayplace"), &["migrate"], "CREATE EXTENSION pg_trgm");
    assert_eq!(relations(cluster, &url), before);
    // Doing what the lines say is enough.
    cluster.run("postgres", "CREATE DATABASE owned OWNER mayown").unwrap();
    let owned = as_user(&cluster.url("owned"), "mayown");
    assert_eq!(on(&program(), &owned, &["migrate", "--json"]).json(0)["tables"], "made");
    assert_eq!(on(&program(), &owned, &["verify", "--json"]).json(0)["ok"], true);
    cluster.run(&url, "CREATE EXTENSION pg_trgm").unwrap();
    assert_eq!(on(&program(), &as_user(&url, "mayplace"), &["migrate", "--json"]).json(0)["tables"], "made");
    refuses(&as_user(&url, "mayread"), &["project", "list"], "may not use or make its tables");
    cluster.run(&url, "REVOKE ALL ON SCHEMA public FROM PUBLIC").unwrap();
    refuses(&as_user(&url, "mayread"), &["migrate"], "may not use or make its tables");
}

#[test]
fn a_database_of_another_program_or_a_newer_version_is_left_alone() {
    let cluster = Cluster::shared();
    let history = "CREATE TABLE refinery_schema_history (version INT4 PRIMARY KEY, name VARCHAR(255), \
                   applied_on VARCHAR(255), checksum VARCHAR(255)); ";
    for theirs in [
        "CREATE TABLE orders (id INT)".to_owned(),
        format!("{history} INSERT INTO refinery_schema_history VALUES (1, 'initial', 'yesterday', 'none')"),
        format!("{history} INSERT INTO refinery_schema_history VALUES (99, 'theirs', '', '7'); CREATE TABLE a (b INT)"),
        format!("{history} CREATE TABLE payments (id INT)"),
        "CREATE TABLE refinery_schema_history (made TEXT); CREATE TABLE payments (id INT)".to_owned(),
    ] {
        let url = cluster.fresh_database();
        cluster.run(&url, &theirs).unwrap();
        let before = relations(cluster, &url);
        for arguments in [&["migrate"][..], &["verify"], &["project", "list"]] {
            refuses(&url, arguments, "it holds the tables of another program");
        }
        assert_eq!(relations(cluster, &url), before);
    }
    let newer = "INSERT INTO refinery_schema_history (version, name, applied_on, checksum) \
                 VALUES (99, 'future', '2027-01-15T08:00:00Z', '1')";
    let url = cluster.fresh_database();
    assert_eq!(on(&program(), &url, &["migrate", "--json"]).json(0)["tables"], "made");
    cluster.run(&url, newer).unwrap();
    for arguments in [&["migrate"][..], &["verify"], &["project", "list"]] {
        refuses(&url, arguments, "it was made by a newer version of lunas");
    }
}

#[test]
fn a_standby_alone_is_refused_and_beside_its_primary_it_is_passed_over() {
    let primary = Cluster::start(&[]);
    let standby = primary.standby_of("standby", &[]);
    let url = primary.url("postgres");
    let alone = standby.url("postgres");
    refuses(&alone, &["migrate"], "the server takes no writes");
    refuses(&alone, &["project", "list"], "the server takes no writes");
    let both = url.replace("127.0.0.1:", &format!("127.0.0.1:{},127.0.0.1:", standby.port()));
    assert_eq!(on(&program(), &both, &["migrate", "--json"]).json(0)["tables"], "made");
    assert_eq!(on(&program(), &both, &["verify", "--json"]).json(0)["ok"], true);
}

#[test]
fn tables_are_created_once_however_many_processes_start_at_once() {
    const AT_ONCE: usize = 8;
    let (program, cluster) = (program(), Cluster::shared());
    let url = cluster.fresh_database();
    let mut said: Vec<String> = thread::scope(|scope| {
        let asking = || on(&program, &url, &["migrate", "--json"]).json(0)["tables"].as_str().unwrap().to_owned();
        let asking: Vec<_> = (0..AT_ONCE).map(|_| scope.spawn(asking)).collect();
        asking.into_iter().map(|asked| asked.join().unwrap()).collect()
    });
    said.sort();
    assert_eq!(said.pop().as_deref(), Some("made"));
    assert_eq!(said, ["current"; AT_ONCE - 1]);
    let migrations = fs::read_dir(root().join("crates/store/migrations/postgres")).unwrap().count();
    let applied = cluster.run(&url, "SELECT count(*) FROM refinery_schema_history").unwrap();
    assert_eq!(applied, migrations.to_string());
    let text = on(&program, &url, &["migrate"]);
    assert!(text.stdout.contains("already up to date"), "{text:?}");
}

#[test]
fn a_file_is_migrated_too() {
    let program = program();
    let migrate = ["migrate", "--json", "--database", "sqlite:own.db"];
    assert_eq!(program.json(&migrate)["tables"], "made");
    assert_eq!(program.json(&migrate)["tables"], "current");
    assert_eq!(program.json(&["verify", "--json", "--database", "sqlite:own.db"])["ok"], true);
    let nowhere = program.run(&["migrate", "--database", "sqlite:missing/own.db"]);
    assert!(nowhere.failed(1)[0].contains("directory"), "{nowhere:?}");
}
