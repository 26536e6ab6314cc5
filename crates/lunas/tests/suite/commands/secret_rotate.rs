//! `lunas secret rotate` encrypts all stored secrets with a new key while servers serve, and can be interrupted.

use std::{
    fs,
    process::{Child, Command},
};

use aes_gcm::{
    Aes256Gcm, KeyInit,
    aead::{Aead, Payload},
};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use domain::signature::{TOLERANCE, verify};
use engine::{Clock, SystemClock};
use serde_json::Value;
use testkit::{Api, Cluster, Database, Program, Ran, Received, Receiver, Running, TestProject};

use crate::support::{
    commands::{dev, program, secret_key},
    payments::{fresh_key, paid},
    rows::rows,
    wait::until,
};

/// Makes two tests of each function in the list, as the test kit's macro of the same name does for running servers.
macro_rules! on_every_database {
    ($($test:ident),* $(,)?) => {
        mod on_sqlite {
            $(
                #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
                async fn $test() {
                    super::$test(super::Site::on_sqlite().await).await;
                }
            )*
        }

        mod on_postgres {
            $(
                #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
                async fn $test() {
                    super::$test(super::Site::on_postgres().await).await;
                }
            )*
        }
    };
}

on_every_database![
    a_rotation_that_is_killed_half_way_is_continued_while_a_server_serves,
    what_version_0_1_encrypted_is_encrypted_anew,
    a_wrong_old_key_changes_nothing_and_is_named,
    nodes_change_over_one_by_one,
    secrets_that_were_exchanged_do_not_open_and_are_reported,
];

/// The keys that a server or a command is given: the key itself, the previous one and the next one.
#[derive(Clone, Copy)]
struct Keys<'a>(&'a str, &'a str, &'a str);

/// An installation with one project, whose webhook secret was rotated a moment ago.
struct Site {
    program: Program,
    database: Database,
    old_key: String,
    receiver: Receiver,
    project: String,
    /// The API key of the project.
    api_key: Value,
    /// The project's webhook secret, and the one before.
    secrets: [String; 2],
}

impl Site {
    async fn on_sqlite() -> Site {
        let program = program();
        let database = Database::Sqlite(program.directory.path().join("lunas.db"));
        Site::new(program, database).await
    }

    async fn on_postgres() -> Site {
        Site::new(program(), Database::Postgres { url: Cluster::shared().fresh_database() }).await
    }

    async fn new(program: Program, database: Database) -> Site {
        let (old_key, receiver) = (secret_key(), Receiver::start().await);
        let mut site = Site {
            program,
            database,
            old_key: old_key.clone(),
            receiver,
            project: String::new(),
            api_key: Value::Null,
            secrets: Default::default(),
        };
        let run = |arguments: &[&str]| site.run(arguments, Keys(&old_key, "", "")).json(0);
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        run(&["migrate", "--json"]);
        let made = run(&["project", "create", "--name", "Toko", "--environment", "sandbox", "--json"]);
        let project = text(&made["id"]);
        run(&["project", "update", &project, "--webhook-url", &site.receiver.url(), "--json"]);
        let rotated = run(&["webhook", "rotate-secret", &project, "--json"]);
        let api_key = run(&["key", "create", "--project", &project, "--name", "first", "--json"]);
        site.secrets = [text(&rotated["webhook_secret"]), text(&made["webhook_secret"])];
        (site.project, site.api_key) = (project, api_key);
        site
    }

    fn command(&self, arguments: &[&str], Keys(key, previous, next): Keys<'_>) -> Command {
        let mut command = self.program.served(arguments, key);
        command
            .env("LUNAS_DATABASE", self.database.url())
            .env("LUNAS_SECRET_KEY_PREVIOUS", previous)
            .env("LUNAS_SECRET_KEY_NEXT", next)
            .env("LUNAS_WEBHOOK_ALLOW", "127.0.0.1")
            .env("LUNAS_RATE_LIMIT", "0");
        command
    }

    fn run(&self, arguments: &[&str], keys: Keys<'_>) -> Ran {
        self.command(arguments, keys).output().unwrap().into()
    }

    fn serve(&self, keys: Keys<'_>) -> Running {
        Running::start(self.command(&["serve", "--json"], keys), self.program.directory.path())
    }

    fn rotate(&self, keys: Keys<'_>) -> Ran {
        self.run(&["secret", "rotate", "--json"], keys)
    }

    /// Pays through the server, and checks that the webhook is signed with both webhook secrets.
    async fn pay(&self, server: &Running) -> Received {
        let (text, before) = (|member: &str| self.api_key[member].as_str().unwrap(), self.receiver.count());
        let project = TestProject {
            id: self.project.parse().unwrap(),
            key_id: text("id").parse().unwrap(),
            key: text("key").to_owned(),
            api: Api::new(server.address(), Some(text("key"))),
        };
        paid(&project, &fresh_key(), 15_000).await;
        let webhook = self.receiver.arrived(before + 1).await.remove(before);
        for secret in &self.secrets {
            let header = webhook.header("x-service-signature");
            assert_eq!(verify(header, secret, &webhook.body, SystemClock.now(), TOLERANCE), Ok(()));
        }
        webhook
    }

    /// Runs SQL beside the program; returns the first value, if there is one.
    fn sql(&self, sql: &str) -> String {
        match &self.database {
            Database::Sqlite(path) => {
                let connection = rusqlite::Connection::open(path).unwrap();
                match sql.starts_with("SELECT") {
                    true => connection.query_row(sql, [], |row| row.get(0)).unwrap(),
                    false => connection.execute_batch(sql).map(|()| String::new()).unwrap(),
                }
            }
            Database::Postgres { url } => Cluster::shared().run(url, sql).unwrap(),
        }
    }

    /// What is stored in a column of bytes of the project, as hex digits.
    fn stored(&self, column: &str) -> String {
        match self.database {
            Database::Sqlite(_) => self.sql(&format!("SELECT lower(hex({column})) FROM projects")),
            Database::Postgres { .. } => self.sql(&format!("SELECT encode({column}, 'hex') FROM projects")),
        }
    }

    /// Makes every update of the previous webhook secrets hang.
    fn stall(&self) {
        let sql = match self.database {
            Database::Sqlite(_) => {
                "CREATE VIEW endless AS WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers) \
                 SELECT n FROM numbers; CREATE TRIGGER stall BEFORE UPDATE OF previous_webhook_secret ON projects \
                 BEGIN SELECT MAX(n) FROM endless; END"
            }
            Database::Postgres { .. } => {
                "CREATE FUNCTION stall() RETURNS trigger LANGUAGE plpgsql \
                 AS $$ BEGIN PERFORM pg_sleep(3600); RETURN NEW; END $$; \
                 CREATE TRIGGER stall BEFORE UPDATE OF previous_webhook_secret ON projects \
                 FOR EACH ROW EXECUTE FUNCTION stall()"
            }
        };
        self.sql(sql);
    }

    /// Undoes that, after the process that hung was killed.
    fn go_on(&self) {
        if let Database::Postgres { .. } = self.database {
            // The server does not notice that its client is gone.
            let stuck = "datname = current_database() AND wait_event = 'PgSleep'";
            self.sql(&format!("SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE {stuck}"));
            self.sql("DROP FUNCTION stall CASCADE");
        } else {
            self.sql("DROP TRIGGER stall; DROP VIEW endless");
        }
    }

    /// Seals a secret in a column as version 0.1 did.
    fn store_as_version_0_1(&self, column: &str, secret: &str) {
        let key: [u8; 32] = STANDARD.decode(&self.old_key).unwrap().try_into().unwrap();
        let nonce = [7; 12];
        let payload = Payload { msg: secret.as_bytes(), aad: self.project.as_bytes() };
        let sealed = Aes256Gcm::new(&key.into()).encrypt(&nonce.into(), payload).unwrap();
        let hex: String = nonce.iter().chain(&sealed).map(|byte| format!("{byte:02x}")).collect();
        let value = match self.database {
            Database::Sqlite(_) => format!("x'{hex}'"),
            Database::Postgres { .. } => format!("'\\x{hex}'"),
        };
        self.sql(&format!("UPDATE projects SET {column} = {value}"));
    }

    /// The verdict of `lunas doctor` about the secret key, and what it says.
    fn verdict(&self, keys: Keys<'_>) -> (String, String) {
        let ran = self.run(&["doctor", "--json"], keys);
        let said: Value = serde_json::from_str(&ran.stdout).unwrap();
        let point = said["points"].as_array().unwrap().iter().find(|point| point["point"] == "secret key").unwrap();
        let text = |member: &str| point[member].as_str().unwrap().to_owned();
        (text("verdict"), text("finding"))
    }

    /// The rows that `lunas verify` reports.
    fn breaches(&self, keys: Keys<'_>) -> Vec<String> {
        let ran = self.run(&["verify", "--json"], keys);
        let said: Value = serde_json::from_str(&ran.stdout).unwrap();
        let breaches = said["breaches"].as_array().unwrap();
        assert_eq!(ran.code, i32::from(!breaches.is_empty()), "{ran:?}");
        breaches.iter().map(|breach| format!("{}: {}", breach["invariant"], breach["row"])).collect()
    }
}

/// Checks that a command failed with one line that says all of `words` and shows no secret.
#[track_caller]
fn refused(ran: &Ran, words: &[&str]) {
    let lines = ran.failed(1);
    assert!(lines.len() == 1 && words.iter().all(|word| lines[0].contains(word)), "{words:?}: {ran:?}");
    assert!(!lines[0].contains("whsec_"), "{ran:?}");
}

async fn a_rotation_that_is_killed_half_way_is_continued_while_a_server_serves(site: Site) {
    let (old, new) = (site.old_key.as_str(), secret_key());
    let (both, new_alone) = (Keys(&new, old, ""), Keys(&new, "", ""));
    let server = site.serve(both);
    site.pay(&server).await;
    site.stall();
    let before = [site.stored("webhook_secret"), site.stored("previous_webhook_secret")];
    let mut rotating: Child = site.command(&["secret", "rotate"], both).spawn().unwrap();
    until(async || site.stored("webhook_secret") != before[0]).await;
    rotating.kill().unwrap();
    rotating.wait().unwrap();
    site.go_on();

    assert_eq!(site.stored("previous_webhook_secret"), before[1], "half of it is done");
    site.pay(&server).await;
    let (verdict, finding) = site.verdict(both);
    assert!(verdict == "warning" && finding.contains("1 stored") && finding.contains("secret rotate"), "{finding}");
    let (verdict, finding) = site.verdict(new_alone);
    assert!(verdict == "failure" && finding.contains("LUNAS_SECRET_KEY_PREVIOUS"), "{finding}");
    assert_eq!(site.breaches(both), [""; 0]);
    let [breach] = &site.breaches(new_alone)[..] else { panic!("one secret needs the old key") };
    assert!(breach.contains("I16") && breach.contains("projects.previous_webhook_secret"), "{breach}");
    // On SQLite there is one server at a time, and this one would be refused for that.
    if let Database::Postgres { .. } = site.database {
        refused(&site.run(&["serve"], new_alone), &["not the one", "LUNAS_SECRET_KEY_PREVIOUS", &site.project]);
    }
    refused(&site.rotate(new_alone), &["nothing was changed", "LUNAS_SECRET_KEY_PREVIOUS"]);

    let done = site.rotate(both).json(0);
    assert_eq!((&done["resealed"], &done["total"]), (&1.into(), &2.into()));
    let done = site.rotate(both).json(0);
    assert_eq!((&done["resealed"], &done["total"]), (&0.into(), &2.into()), "and then there is nothing to do");
    site.pay(&server).await;
    assert_eq!(site.verdict(new_alone).0, "ok");
    assert_eq!(site.breaches(new_alone), [""; 0]);
    assert_eq!(server.terminate(), Some(0));
    refused(&site.run(&["serve"], Keys(old, "", "")), &["not the one"]);
    site.pay(&site.serve(new_alone)).await;
}

async fn what_version_0_1_encrypted_is_encrypted_anew(site: Site) {
    let (old, new) = (site.old_key.as_str(), secret_key());
    for (key, next) in [(Keys(old, "", ""), old), (Keys(&new, old, ""), new.as_str())] {
        let [current, previous] = &site.secrets;
        site.store_as_version_0_1("webhook_secret", current);
        site.store_as_version_0_1("previous_webhook_secret", previous);
        let (verdict, finding) = site.verdict(key);
        assert!(verdict == "warning" && finding.contains("2 stored secrets"), "{finding}");
        let server = site.serve(key);
        site.pay(&server).await;
        assert_eq!(site.rotate(key).json(0)["resealed"], 2);
        site.pay(&server).await;
        assert_eq!(server.terminate(), Some(0));
        assert_eq!(site.verdict(Keys(next, "", "")).0, "ok");
        site.pay(&site.serve(Keys(next, "", ""))).await;
    }
    let text = site.run(&["secret", "rotate"], Keys(&new, old, ""));
    assert!(text.code == 0 && text.stdout.contains("without LUNAS_SECRET_KEY_PREVIOUS"), "{text:?}");
}

async fn a_wrong_old_key_changes_nothing_and_is_named(site: Site) {
    let (old, new, other) = (site.old_key.as_str(), secret_key(), secret_key());
    let before = rows(&site.database);
    for (keys, words) in [
        (Keys(&new, &other, ""), &["nothing was changed", "LUNAS_SECRET_KEY_PREVIOUS", "not the ones"][..]),
        (Keys(&new, "", ""), &["nothing was changed", "LUNAS_SECRET_KEY_PREVIOUS", "not the one"]),
        (Keys(old, old, ""), &["same key"]),
        (Keys(&new, "junk", ""), &["LUNAS_SECRET_KEY_PREVIOUS", "base64"]),
        (Keys("junk", old, ""), &["LUNAS_SECRET_KEY is not", "base64"]),
        (Keys("", old, ""), &["LUNAS_SECRET_KEY is not set"]),
    ] {
        refused(&site.rotate(keys), words);
        assert_eq!(rows(&site.database), before, "{words:?}");
    }
    site.pay(&site.serve(Keys(old, "", ""))).await;
}

/// First every node can read the new key, then every node encrypts with it, then everything is encrypted anew.
async fn nodes_change_over_one_by_one(site: Site) {
    let (old, new) = (site.old_key.clone(), secret_key());
    let (reads_both, writes_new) = (Keys(&old, "", &new), Keys(&new, &old, ""));
    let mut site = site;
    let first = site.serve(reads_both);
    // Another node encrypts a secret with the new key already, and the first one sends webhooks with it.
    let arguments = ["webhook", "rotate-secret", &site.project, "--now", "--json"];
    let rotated = site.run(&arguments, writes_new).json(0);
    let newest = rotated["webhook_secret"].as_str().unwrap().to_owned();
    site.secrets = [newest, site.secrets[0].clone()];
    site.pay(&first).await;
    assert_eq!(site.verdict(reads_both).0, "warning");
    // On SQLite there is one server at a time.
    let second = match site.database {
        Database::Sqlite(_) => {
            assert_eq!(first.terminate(), Some(0));
            site.serve(writes_new)
        }
        Database::Postgres { .. } => {
            let second = site.serve(writes_new);
            assert_eq!(first.terminate(), Some(0));
            second
        }
    };
    assert_eq!(site.rotate(writes_new).json(0)["total"], 2);
    site.pay(&second).await;
    assert_eq!(site.verdict(Keys(&new, "", "")).0, "ok");
}

async fn secrets_that_were_exchanged_do_not_open_and_are_reported(site: Site) {
    let keys = Keys(&site.old_key, "", "");
    let exchange =
        "UPDATE projects SET webhook_secret = previous_webhook_secret, previous_webhook_secret = webhook_secret";
    site.sql(exchange);
    let (verdict, finding) = site.verdict(keys);
    assert!(verdict == "failure" && finding.contains("moved") && finding.contains(&site.project), "{finding}");
    let breaches = site.breaches(keys);
    assert!(breaches.len() == 2 && breaches.iter().all(|breach| breach.contains("I16")), "{breaches:?}");
    let before = rows(&site.database);
    let ran = site.rotate(keys);
    assert!(ran.failed(1).iter().all(|line| line.contains("nothing was changed")), "{ran:?}");
    assert_eq!(rows(&site.database), before);
    // Other projects do not suffer from it: the server starts, and says so in its log.
    let server = site.serve(keys);
    assert!(server.log().contains("projects.webhook_secret"), "{}", server.log());
    site.sql(exchange);
    site.pay(&server).await;
}

#[test]
fn a_development_server_finds_the_previous_key_in_a_file() {
    let (program, running) = dev();
    let secret = running.said("webhook_secret").to_owned();
    assert_eq!(running.terminate(), Some(0));
    let (file, previous) = (program.data().join("secret.key"), program.data().join("secret.key.previous"));
    fs::rename(&file, &previous).unwrap();
    fs::copy(&previous, &file).unwrap();
    fs::write(&file, secret_key()).unwrap();
    let running = program.dev();
    assert_eq!(running.said("webhook_secret"), secret);
    assert_eq!(program.json(&["secret", "rotate", "--json"])["resealed"], 1);
    fs::remove_file(&previous).unwrap();
    assert_eq!(program.json(&["doctor", "--json"])["ok"], true);
    assert_eq!(running.terminate(), Some(0));
    assert_eq!(program.dev().said("webhook_secret"), secret);
}
