//! Which webhook URLs can be saved: one that could reach the server's own network is refused with a reason.

use std::sync::Arc;

use domain::project::Environment;
use engine::{Engine, Error, ProjectUpdate, SecretKey, Settings};
use secrecy::ExposeSecret;
use serde_json::{Value, json};
use testkit::{Kit, Program, on_sqlite_alone};

use crate::support::commands::program;

on_sqlite_alone![
    a_url_to_an_internal_address_is_refused_with_a_reason_and_the_old_one_stays,
    a_production_project_takes_https_only_wherever_it_leads,
    development_allows_this_machine_and_a_setting_allows_the_networks_it_names,
];

/// URLs that only an installation for development accepts, and a word of the reason.
const REFUSED: [(&str, &str); 25] = [
    ("http://127.0.0.1/hook", "127.0.0.1"),
    ("http://localhost:8080/hook", "localhost"),
    ("http://toko.localhost/", "toko.localhost"),
    ("http://2130706433/", "127.0.0.1"),
    ("http://0x7f.1/", "127.0.0.1"),
    ("http://[::1]/", "::1"),
    ("http://10.0.0.7/", "private"),
    ("http://172.16.3.4/", "private"),
    ("http://192.168.1.1/", "private"),
    ("http://100.64.0.1/", "100.64.0.1"),
    ("http://169.254.169.254/latest/meta-data", "169.254.169.254"),
    ("http://0.0.0.0/", "0.0.0.0"),
    ("http://[::ffff:10.0.0.7]/", "10.0.0.7"),
    ("http://[64:ff9b::a00:7]/", "10.0.0.7"),
    ("http://[fd00::1]/", "fd00::1"),
    ("http://[fe80::1]/", "fe80::1"),
    ("https://user:pass@8.8.8.8/", "user name or a password"),
    ("ftp://8.8.8.8/", "http"),
    ("8.8.8.8/hook", "http"),
    ("https://8.8.8.8/hook#top", "fragment"),
    ("https://8.8.8.8/a b", "white space"),
    ("https://", "URL"),
    ("https://8.8.8.8:22/", "port 22"),
    ("http://8.8.8.8:25/", "port 25"),
    ("https://8.8.8.8:0/", "port 0"),
];

fn over_long() -> String {
    format!("https://8.8.8.8/{}", "a".repeat(2_048))
}

fn to(url: &str) -> ProjectUpdate {
    ProjectUpdate { webhook_url: Some(Some(url.to_owned())), ..ProjectUpdate::default() }
}

fn with_networks(kit: &Kit, networks: &[&str]) -> Engine {
    let webhook_allow = networks.iter().map(|network| network.parse().unwrap()).collect();
    let settings = Settings { webhook_allow, ..Settings::default() };
    Engine::new(kit.store.clone(), kit.clock.clone(), settings, kit.secret_key.clone())
}

/// Saves a URL that must be refused; returns the reason.
async fn reason(engine: &Engine, project: domain::id::ProjectId, url: &str) -> String {
    match engine.update_project(project, to(url)).await {
        Err(Error::Invalid(invalid)) => invalid.to_string(),
        other => panic!("{url}: {other:?}"),
    }
}

async fn a_url_to_an_internal_address_is_refused_with_a_reason_and_the_old_one_stays(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let old = "https://8.8.8.8/hook";
    kit.update(project.id, to(old)).await;
    for (url, said) in REFUSED {
        let reason = reason(&kit.engine, project.id, url).await;
        assert!(reason.contains(said) && reason.contains("webhook_url"), "{url}: {reason}");
    }
    // A label of this length is invalid, so no DNS server is asked. That it does not exist is not told.
    let unknown = reason(&kit.engine, project.id, &format!("https://{}.invalid/", "a".repeat(64))).await;
    assert!(unknown.contains("cannot be resolved to public addresses"), "{unknown}");
    let reason = reason(&kit.engine, project.id, &over_long()).await;
    assert!(reason.contains("2048"), "{reason}");
    assert_eq!(kit.engine.project(project.id).await.unwrap().webhook_url.as_deref(), Some(old));
}

async fn a_production_project_takes_https_only_wherever_it_leads(kit: Arc<Kit>) {
    let project = kit.project(Environment::Production).await;
    let engine = with_networks(&kit, &["10.0.0.0/8"]);
    for url in ["http://8.8.8.8/", "http://10.0.0.7/"] {
        assert!(reason(&engine, project.id, url).await.contains("https://"), "{url}");
    }
    for url in ["https://8.8.8.8/", "https://10.0.0.7/"] {
        engine.update_project(project.id, to(url)).await.unwrap();
    }
    kit.engine.mark_development().await.unwrap();
    assert!(reason(&kit.engine, project.id, "http://127.0.0.1/").await.contains("https://"));
    kit.engine.update_project(project.id, to("https://127.0.0.1/")).await.unwrap();
}

async fn development_allows_this_machine_and_a_setting_allows_the_networks_it_names(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let engine = with_networks(&kit, &["10.1.0.0/16", "fd00::/8"]);
    for (url, taken) in [
        ("http://10.1.2.3:9000/hook", true),
        ("http://[::ffff:10.1.2.3]/hook", true),
        ("http://[fd00::1]/", true),
        ("http://10.2.0.1/", false),
        ("http://127.0.0.1/", false),
        ("http://169.254.169.254/", false),
    ] {
        assert_eq!(engine.update_project(project.id, to(url)).await.is_ok(), taken, "{url}");
    }
    kit.engine.mark_development().await.unwrap();
    for (url, taken) in [
        ("http://127.0.0.1:9000/hook", true),
        ("http://localhost:9000/hook", true),
        ("http://[::1]:9000/", true),
        ("http://10.1.2.3/", false),
        ("http://169.254.169.254/", false),
    ] {
        assert_eq!(kit.engine.update_project(project.id, to(url)).await.is_ok(), taken, "{url}");
    }
}

/// The real binary on a database that is not for development.
struct Served {
    program: Program,
    secret_key: String,
    project: String,
}

impl Served {
    fn new() -> Served {
        let program = program();
        let secret_key = SecretKey::generate_base64().expose_secret().to_owned();
        let mut served = Served { program, secret_key, project: String::new() };
        let running = served.program.serve(&served.secret_key);
        assert_eq!(running.terminate(), Some(0), "a first start makes the database");
        let create = ["project", "create", "--name", "Toko", "--environment", "sandbox"];
        served.project = served.run(&create, "").json(0)["id"].as_str().unwrap().to_owned();
        served
    }

    fn run(&self, arguments: &[&str], allow: &str) -> testkit::Ran {
        let arguments = [&["--json"], arguments].concat();
        let mut command = self.program.served(&arguments, &self.secret_key);
        command.env("LUNAS_WEBHOOK_ALLOW", allow).output().unwrap().into()
    }

    fn update(&self, url: &str, allow: &str) -> testkit::Ran {
        self.run(&["project", "update", &self.project, "--webhook-url", url], allow)
    }

    fn url(&self) -> Value {
        self.run(&["project", "show", &self.project], "").json(0)["webhook_url"].clone()
    }
}

#[test]
fn the_command_refuses_the_same_urls_with_one_line_that_says_why() {
    let served = Served::new();
    let old = json!("https://8.8.8.8/hook");
    assert_eq!(served.update("https://8.8.8.8/hook", "").json(0)["webhook_url"], old);
    for (url, said) in REFUSED.into_iter().step_by(3) {
        let ran = served.update(url, "");
        let lines = ran.failed(1);
        assert!(lines.len() == 1 && lines[0].to_lowercase().contains(&said.to_lowercase()), "{url}: {lines:?}");
    }
    assert_eq!(served.update(&over_long(), "").failed(1).len(), 1);
    assert_eq!(served.url(), old);
}

#[test]
fn lunas_webhook_allow_allows_the_networks_it_names_in_the_command() {
    let served = Served::new();
    served.update("http://10.1.2.3/hook", "").failed(1);
    served.update("http://10.1.2.3/hook", "10.2.0.0/16, 192.168.0.0/24").failed(1);
    let kept = served.update("http://10.1.2.3/hook", "192.168.0.0/24,10.1.0.0/16").json(0);
    assert_eq!(kept["webhook_url"], "http://10.1.2.3/hook");
    served.update("http://127.0.0.1/hook", "10.1.0.0/16").failed(1);
    assert_eq!(served.url(), "http://10.1.2.3/hook");
}
