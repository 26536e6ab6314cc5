//! `lunas user` creates and changes the accounts of people who sign in.

use std::{
    io::Write,
    process::{Command, Stdio},
};

use domain::{
    audit::{Actor, Deed},
    second_factor::LIFT_DELAY,
    time::Timestamp,
};
use engine::{Clock as _, SystemClock};
use reqwest::{Method, header::COOKIE};
use serde_json::{Value, json};
use store::Store;
use testkit::{Api, Cluster, Program, Ran, Reply, Running};

use crate::support::{
    commands::{program, secret_key},
    customer::{Customer, hidden},
    dashboard::audit_log,
    people::{PASSWORD, sign_in},
    second_factor::{App, FACTOR, attempt_of},
};

/// Makes two tests of each function in the list, as the test kit's macro of the same name does for running servers.
macro_rules! on_every_database {
    ($($test:ident),* $(,)?) => {
        mod on_sqlite {
            $(
                #[tokio::test]
                async fn $test() {
                    super::$test(super::Site::on_sqlite()).await;
                }
            )*
        }

        mod on_postgres {
            $(
                #[tokio::test]
                async fn $test() {
                    super::$test(super::Site::on_postgres()).await;
                }
            )*
        }
    };
}

on_every_database![
    a_member_is_made_in_one_go_or_added_later,
    a_new_password_replaces_the_old_one_and_ends_every_session,
    a_user_is_deactivated_activated_and_removed_by_command,
    a_printed_link_sets_a_new_password_once,
];

const HINT: &str = "lunas user create EMAIL --operator";

/// A production installation, on one of the databases.
struct Site {
    program: Program,
    database: String,
    secret_key: String,
}

impl Site {
    fn on_sqlite() -> Site {
        let program = program();
        let database = program.served_database();
        Site::new(program, database)
    }

    fn on_postgres() -> Site {
        Site::new(program(), Cluster::shared().fresh_database())
    }

    fn new(program: Program, database: String) -> Site {
        let site = Site { program, database, secret_key: secret_key() };
        site.json(&["migrate"]);
        site
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.program.served(arguments, &self.secret_key);
        command.env("LUNAS_DATABASE", &self.database).env("LUNAS_RATE_LIMIT", "0");
        command
    }

    fn run(&self, arguments: &[&str]) -> Ran {
        self.command(arguments).output().unwrap().into()
    }

    #[track_caller]
    fn json(&self, arguments: &[&str]) -> Value {
        self.run(&[arguments, &["--json"]].concat()).json(0)
    }

    /// Runs a command that reads `input`.
    fn run_with_input(&self, input: &str, arguments: &[&str]) -> Ran {
        let mut command = self.command(arguments);
        let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = piped.spawn().unwrap();
        child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        child.wait_with_output().unwrap().into()
    }

    fn serve(&self) -> Running {
        Running::start(self.command(&["serve", "--json"]), self.program.directory.path())
    }

    fn project(&self) -> String {
        let made = self.json(&["project", "create", "--name", "Toko", "--environment", "sandbox"]);
        made["id"].as_str().unwrap().to_owned()
    }

    /// The email addresses of all users.
    fn emails(&self) -> Vec<String> {
        let listed = self.json(&["user", "list"]);
        listed.as_array().unwrap().iter().map(|user| user["email"].as_str().unwrap().to_owned()).collect()
    }

    /// Who did that deed last, by the audit log.
    async fn actor(&self, deed: Deed) -> Actor {
        let store = match self.database.strip_prefix("sqlite:") {
            Some(path) => Store::open_sqlite(path.as_ref()).await.unwrap(),
            None => Store::open_postgres(&self.database.parse().unwrap(), 8).await.unwrap(),
        };
        let log = audit_log(&store, None).await;
        store.close().await;
        log.into_iter().find(|line| line.deed == deed).unwrap().actor
    }
}

/// Signs in; returns the session's cookie.
async fn cookie(running: &Running, email: &str, password: &str) -> Result<String, Reply> {
    let browser = Customer::at(running.address());
    let reply = sign_in(&browser, email, password).await;
    match browser.cookie("/", "__Host-lunas_session") {
        Some(token) if reply.status == 303 => Ok(format!("__Host-lunas_session={token}")),
        _ => Err(reply),
    }
}

async fn project(running: &Running, cookie: &str) -> Reply {
    let api = Api::new(running.address(), None);
    api.send(api.request(Method::GET, "/v1/project").header(COOKIE, cookie)).await
}

#[tokio::test]
async fn a_server_without_an_operator_says_how_to_create_one() {
    let site = Site::on_sqlite();
    let running = site.serve();
    assert_eq!(running.log().lines().filter(|line| line.contains(HINT)).count(), 1, "{}", running.log());
    let made = site.json(&["user", "create", "Ops@Example.com", "--operator"]);
    assert_eq!((&made["email"], &made["operator"]), (&json!("ops@example.com"), &json!(true)));
    assert_eq!((&made["project_id"], &made["role"]), (&Value::Null, &Value::Null));
    let password = made["password"].as_str().unwrap();
    assert!(password.len() >= 20, "{password}");
    assert!(cookie(&running, "ops@example.com", password).await.is_ok());
    assert!(cookie(&running, "ops@example.com", PASSWORD).await.is_err());
    assert_eq!(running.terminate(), Some(0));
    let running = site.serve();
    assert!(!running.log().contains(HINT), "{}", running.log());
    assert!(!site.run(&["user", "list"]).stdout.contains(password));
    assert_eq!(site.actor(Deed::UserCreated).await, Actor::CommandLine);
}

async fn a_member_is_made_in_one_go_or_added_later(site: Site) {
    let (one, two, running) = (site.project(), site.project(), site.serve());
    site.json(&["user", "create", "owner@example.com", "--project", &one, "--role", "owner"]);
    site.json(&["user", "add", "owner@example.com", "--project", &two, "--role", "owner"]);
    let made = site.json(&["user", "create", "dev@example.com", "--project", &one, "--role", "developer"]);
    assert_eq!((&made["project_id"], &made["role"]), (&json!(one), &json!("developer")));
    let cookie = cookie(&running, "dev@example.com", made["password"].as_str().unwrap()).await.unwrap();
    let shown = project(&running, &cookie).await.expect(200);
    assert_eq!((&shown["id"], &shown["role"]), (&json!(one), &json!("developer")));
    let add = ["user", "add", "dev@example.com", "--role", "viewer", "--project", &two];
    let added = site.json(&add);
    let whole = json!({ "id": made["id"], "email": "dev@example.com", "project_id": two, "role": "viewer" });
    assert_eq!(added, whole);
    project(&running, &cookie).await.refused(400, "VALIDATION_ERROR");
    let again = site.run(&add);
    assert!(again.failed(1)[0].contains("already"), "{again:?}");
    let listed = site.json(&["user", "list"]);
    let projects = json!([
        { "id": one, "name": "Toko", "role": "developer" }, { "id": two, "name": "Toko", "role": "viewer" }
    ]);
    assert_eq!((&listed[1]["email"], &listed[1]["projects"]), (&json!("dev@example.com"), &projects));
    let text = site.run(&["user", "list"]);
    for words in ["EMAIL", "dev@example.com", &format!("{one} (developer), {two} (viewer)")] {
        assert!(text.stdout.contains(words), "{text:?}");
    }
    assert_eq!(site.actor(Deed::MemberJoined).await, Actor::CommandLine);
    assert_eq!(site.json(&["verify"])["ok"], true);
}

async fn a_new_password_replaces_the_old_one_and_ends_every_session(site: Site) {
    let (id, running) = (site.project(), site.serve());
    let create = ["user", "create", "a@example.com", "--project", &id, "--role", "owner", "--password-stdin"];
    let made = site.run_with_input(&format!("{PASSWORD}\n"), &[&create[..], &["--json"]].concat()).json(0);
    assert_eq!(made["password"], Value::Null, "whoever chose it knows it");
    let session = cookie(&running, "a@example.com", PASSWORD).await.unwrap();
    project(&running, &session).await.expect(200);
    let changed = site.json(&["user", "password", "A@example.com "]);
    let password = changed["password"].as_str().unwrap();
    assert_eq!(changed, json!({ "id": made["id"], "email": "a@example.com", "password": password }));
    project(&running, &session).await.refused(401, "UNAUTHORIZED");
    assert!(cookie(&running, "a@example.com", PASSWORD).await.is_err());
    assert!(cookie(&running, "a@example.com", password).await.is_ok());
    let ran = site.run_with_input("chosen by hand", &["user", "password", "a@example.com", "--password-stdin"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{ran:?}");
    assert!(!ran.stdout.contains("chosen by hand"), "{ran:?}");
    // A user who has to wait after wrong passwords need not wait any more.
    while cookie(&running, "a@example.com", "wrong").await.is_err_and(|reply| reply.status != 429) {}
    site.run_with_input("chosen by hand", &["user", "password", "a@example.com", "--password-stdin"]);
    assert!(cookie(&running, "a@example.com", "chosen by hand").await.is_ok());
    assert_eq!(site.actor(Deed::PasswordChanged).await, Actor::CommandLine);
}

async fn a_printed_link_sets_a_new_password_once(site: Site) {
    let created = site.run_with_input(PASSWORD, &["user", "create", "a@example.com", "--password-stdin", "--json"]);
    let (made, running) = (created.json(0), site.serve());
    let url = "https://bayar.example.com";
    let reset = site.json(&["user", "reset", "A@example.com ", "--checkout-url-base", url]);
    let path = reset["link"].as_str().unwrap().strip_prefix(url).unwrap();
    assert_eq!((&reset["id"], &reset["email"]), (&made["id"], &json!("a@example.com")));
    assert!(path.starts_with("/dashboard/reset/"), "{path}");
    // Until it is used, the old password works, and so do sessions.
    let session = cookie(&running, "a@example.com", PASSWORD).await.unwrap();
    let browser = Customer::at(running.address());
    assert_eq!(browser.open(path).await.status, 200);
    assert_eq!(browser.post(path, &[("password", "chosen by the user")]).await.status, 303);
    assert_eq!(browser.post(path, &[("password", "chosen by another")]).await.status, 404);
    project(&running, &session).await.refused(401, "UNAUTHORIZED");
    assert!(cookie(&running, "a@example.com", PASSWORD).await.is_err());
    assert!(cookie(&running, "a@example.com", "chosen by the user").await.is_ok());
    assert_eq!(site.actor(Deed::ResetLinkMade).await, Actor::CommandLine);
    assert!(matches!(site.actor(Deed::PasswordReset).await, Actor::User { .. }));
    let text = site.run(&["user", "reset", "a@example.com"]);
    assert!(text.code == 0 && text.stdout.contains("link") && text.stdout.contains("works once"), "{text:?}");
    assert!(!running.log().contains(path), "{}", running.log());
}

#[tokio::test]
async fn a_demoted_operator_finds_no_operator_pages_from_the_next_request_on() {
    let site = Site::on_sqlite();
    site.json(&["user", "create", "a@example.com"]);
    let running = site.serve();
    let password = site.json(&["user", "password", "a@example.com"])["password"].as_str().unwrap().to_owned();
    let browser = Customer::at(running.address());
    assert_eq!(sign_in(&browser, "a@example.com", &password).await.status, 303);
    let page = || browser.open("/dashboard/operator");
    assert_eq!(page().await.status, 404);
    for (arguments, operator, status) in [
        (&["user", "operator", "A@example.com"][..], true, 200),
        (&["user", "operator", "a@example.com", "--revoke"], false, 404),
    ] {
        // Repeating the command gives the same answer.
        for _ in 0..2 {
            let set = site.json(arguments);
            assert_eq!((&set["email"], &set["operator"]), (&json!("a@example.com"), &json!(operator)));
            assert_eq!(page().await.status, status);
        }
    }
    for deed in [Deed::OperatorMade, Deed::OperatorUnmade] {
        assert_eq!(site.actor(deed).await, Actor::CommandLine);
    }
}

#[tokio::test]
async fn a_lost_factor_is_lifted_a_day_later_and_asking_again_changes_nothing() {
    let site = Site::on_sqlite();
    let password = site.json(&["user", "create", "a@example.com"])["password"].as_str().unwrap().to_owned();
    let running = site.serve();
    let browser = Customer::at(running.address());
    assert_eq!(sign_in(&browser, "a@example.com", &password).await.status, 303);
    let page = browser.open(FACTOR).await;
    let token = hidden(&page).into_iter().find(|(name, _)| name == "form_token").unwrap().1;
    let (attempt, code) = (attempt_of(&page), App::of(&page).code_at(SystemClock.now()));
    let fields = [("form_token", token.as_str()), ("attempt", &attempt), ("code", &code)];
    assert_eq!(browser.post(FACTOR, &fields).await.status, 200);

    let before = SystemClock.now();
    let lifted = site.json(&["user", "lift-factor", "A@example.com"]);
    assert_eq!(site.json(&["user", "lift-factor", "a@example.com"]), lifted);
    let lift_at = Timestamp::parse(lifted["lifted_at"].as_str().unwrap()).unwrap();
    assert!(lift_at >= before.plus(LIFT_DELAY) && lift_at <= SystemClock.now().plus(LIFT_DELAY), "{lifted}");
    assert_eq!(site.actor(Deed::FactorLiftAsked).await, Actor::CommandLine);
    assert!(browser.open("/dashboard/account").await.text.contains("/dashboard/account/factor/keep"));
}

#[tokio::test]
async fn an_impossible_command_exits_1_with_one_line_and_creates_nothing() {
    let site = Site::on_sqlite();
    let id = site.project();
    site.json(&["user", "create", "a@example.com"]);
    let unknown = format!("prj_{}", "0".repeat(26));
    let rows: [(&[&str], &str); 16] = [
        (&["user", "create", "b@example.com", "--project", &id, "--role", "viewer"], "--role owner"),
        (&["user", "add", "a@example.com", "--project", &id, "--role", "developer"], "--role owner"),
        (&["user", "create", "A@Example.com"], "lunas user password"),
        (&["user", "create", "nonsense"], "`email`"),
        (&["user", "create", ""], "`email`"),
        (&["user", "create", "b@example.com", "--project", &unknown, "--role", "owner"], "lunas project list"),
        (&["user", "create", "b@example.com", "--project", "junk", "--role", "owner"], "lunas project list"),
        (&["user", "password", "b@example.com"], "lunas user create"),
        (&["user", "password", "b@example.com\n"], "lunas user create"),
        (&["user", "reset", "b@example.com"], "lunas user create"),
        (
            &["user", "reset", "a@example.com", "--checkout-url-base", "http://bayar.example.com"],
            "LUNAS_CHECKOUT_URL_BASE must",
        ),
        (&["user", "operator", "b@example.com"], "lunas user create"),
        (&["user", "lift-factor", "b@example.com"], "lunas user create"),
        (&["user", "lift-factor", "a@example.com"], "no second factor"),
        (&["user", "add", "b@example.com", "--project", &id, "--role", "owner"], "lunas user create"),
        (&["user", "add", "a@example.com", "--project", &unknown, "--role", "owner"], "lunas project list"),
    ];
    for (arguments, words) in rows {
        for json in [&[][..], &["--json"]] {
            let ran = site.run(&[arguments, json].concat());
            let reasons = ran.failed(1);
            assert!(reasons.len() == 1 && reasons[0].contains(words), "{arguments:?}: {reasons:?}");
        }
    }
    let longest = "x".repeat(129);
    for (input, words) in [
        ("", "no password"),
        ("\n", "no password"),
        ("too short", "`password`"),
        (&longest, "`password`"),
        ("two lines\nof password\n", "more than one line"),
    ] {
        for arguments in [["user", "create", "b@example.com"], ["user", "password", "a@example.com"]] {
            let ran = site.run_with_input(input, &[&arguments[..], &["--password-stdin"]].concat());
            let reasons = ran.failed(1);
            assert!(reasons.len() == 1 && reasons[0].contains(words), "{input:?}: {reasons:?}");
            assert!(input.trim().is_empty() || !ran.stderr.contains(input.trim()), "it is not repeated: {ran:?}");
        }
    }
    assert_eq!(site.emails(), ["a@example.com"]);
}

#[test]
fn wrong_arguments_exit_2() {
    let program = program();
    for arguments in [
        &["user"][..],
        &["user", "create"],
        &["user", "create", "a@example.com", "--role", "owner"],
        &["user", "create", "a@example.com", "--project", "prj_1"],
        &["user", "create", "a@example.com", "--project", "prj_1", "--role", "operator"],
        &["user", "create", "a@example.com", "--password", "in sight of everybody"],
        &["user", "list", "extra"],
        &["user", "password"],
        &["user", "lift-factor"],
        &["user", "reset"],
        &["user", "add", "a@example.com"],
        &["user", "add", "a@example.com", "--project", "prj_1"],
    ] {
        program.run(arguments).failed(2);
    }
    assert_eq!(std::fs::read_dir(program.directory.path()).unwrap().count(), 0, "nothing was made");
}

#[tokio::test]
async fn people_read_text_that_shows_a_new_password_once() {
    let site = Site::on_sqlite();
    let ran = site.run(&["user", "create", "a@example.com", "--operator"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{ran:?}");
    for words in ["id        usr_", "email     a@example.com", "operator  yes", "password  ", "not shown again"] {
        assert!(ran.stdout.contains(words), "`{words}` is not in {}", ran.stdout);
    }
    let ran = site.run_with_input(PASSWORD, &["user", "create", "b@example.com", "--password-stdin"]);
    assert!(ran.code == 0 && !ran.stdout.contains("password"), "{ran:?}");
    let ran = site.run(&["user", "password", "b@example.com"]);
    assert!(ran.stdout.contains("password  ") && ran.stdout.contains("sessions have ended"), "{ran:?}");
    assert_eq!(site.emails(), ["a@example.com", "b@example.com"]);
}

async fn a_user_is_deactivated_activated_and_removed_by_command(site: Site) {
    let project = site.project();
    let created = |email: &str, more: &[&str]| {
        let arguments = [&["user", "create", email, "--password-stdin", "--json"][..], more].concat();
        site.run_with_input(&format!("{PASSWORD}\n"), &arguments).json(0)
    };
    created("boss@example.com", &["--operator"]);
    created("siti@example.com", &["--project", &project, "--role", "owner"]);
    created("budi@example.com", &["--project", &project, "--role", "developer"]);
    let running = site.serve();
    let browser = Customer::at(running.address());
    assert_eq!(sign_in(&browser, "budi@example.com", PASSWORD).await.status, 303);

    let left = site.json(&["user", "deactivate", "budi@example.com"]);
    assert_eq!((&left["state"], &left["working_keys"]), (&json!("deactivated"), &json!([])));
    assert_eq!(sign_in(&browser, "budi@example.com", PASSWORD).await.status, 401);
    let listed = site.json(&["user", "list"]);
    let active: Vec<bool> = listed.as_array().unwrap().iter().map(|user| user["active"].as_bool().unwrap()).collect();
    assert_eq!(active, [true, true, false]);
    site.json(&["user", "deactivate", "budi@example.com", "--revoke-keys"]);
    assert_eq!(site.json(&["user", "activate", "budi@example.com"])["state"], "active");
    assert_eq!(sign_in(&browser, "budi@example.com", PASSWORD).await.status, 303);

    for (email, reason) in
        [("boss@example.com", "last active operator"), ("siti@example.com", "only active owner of Toko")]
    {
        for word in ["deactivate", "remove"] {
            let reasons = site.run(&["user", word, email]).failed(1).join("\n");
            assert!(reasons.contains(reason), "{word} {email}: {reasons}");
        }
    }
    assert_eq!(site.json(&["user", "remove", "budi@example.com"])["state"], "removed");
    assert_eq!(site.emails(), ["boss@example.com", "siti@example.com"]);
    site.run(&["user", "remove", "budi@example.com"]).failed(1);
    assert_eq!(site.actor(Deed::UserRemoved).await, Actor::CommandLine);
    assert_eq!(site.json(&["verify"])["ok"], true);
}
