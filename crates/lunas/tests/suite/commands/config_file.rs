//! The configuration file: a flag overrides the environment, which overrides the file, which overrides the defaults.

use std::{
    fs,
    io::Write,
    os::unix::{
        fs::{MetadataExt, PermissionsExt},
        process::CommandExt,
    },
    path::PathBuf,
    process::{Command, Stdio},
};

use serde_json::{Value, json};
use testkit::{Api, Program, Ran, Running};

use crate::support::commands::{program, secret_key, unknown_key};

/// Writes a file that its owner alone can read.
fn write(program: &Program, name: &str, text: &str) -> PathBuf {
    let path = program.directory.path().join(name);
    fs::write(&path, text).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    path
}

/// A command that looks for its file where an operator's would.
fn command(program: &Program, arguments: &[&str]) -> Command {
    let mut command = program.command(arguments);
    command.env_remove("LUNAS_CONFIG");
    command
}

fn run(mut command: Command) -> Ran {
    command.output().unwrap().into()
}

/// The value of a setting, and where it comes from.
fn of(checked: &Value, variable: &str) -> (Value, Value) {
    let settings = checked["settings"].as_array().unwrap();
    let setting = settings.iter().find(|setting| setting["variable"] == variable);
    let setting = setting.unwrap_or_else(|| panic!("no {variable} in {checked}"));
    (setting["value"].clone(), setting["from"].clone())
}

#[test]
fn a_flag_overrides_the_environment_and_that_the_file_and_that_the_default() {
    let program = program();
    let check = ["config", "check", "--json"];
    let connections = |file: &str, variable: Option<&str>, flag: &[&str]| {
        write(&program, "lunas.toml", file);
        let mut command = command(&program, &[&check, flag].concat());
        if let Some(value) = variable {
            command.env("LUNAS_DATABASE_CONNECTIONS", value);
        }
        of(&run(command).json(0), "LUNAS_DATABASE_CONNECTIONS")
    };
    let (file, flag) = ("database_connections = 11", ["--database-connections", "13"]);
    assert_eq!(connections("", None, &[]), (json!("20"), json!("default")));
    assert_eq!(connections(file, None, &[]), (json!("11"), json!("file")));
    assert_eq!(connections(file, Some("12"), &[]), (json!("12"), json!("environment")));
    assert_eq!(connections(file, Some("12"), &flag), (json!("13"), json!("flag")));
    assert_eq!(connections(file, Some(""), &[]), (json!("11"), json!("file")), "an empty variable counts as not set");
}

#[tokio::test]
async fn a_server_takes_its_settings_from_the_file() {
    let program = program();
    let data = program.directory.path().join("elsewhere");
    let text = format!(
        "# A comment.\nlisten = \"127.0.0.1:0\"\nrate_limit = 7\ndata = {:?}\ntrusted_proxies = [\"10.0.0.0/8\", \"::1\"]\n\
         checkout_url_base = \"http://pay.lunas.test\"\nwebhook_in_flight = 1_0\nlog = \"warn\"\n",
        data.display().to_string()
    );
    write(&program, "lunas.toml", &text);
    let start = |change: &dyn Fn(&mut Command)| {
        let mut dev = command(&program, &["dev", "--json"]);
        change(&mut dev);
        Running::start(dev, program.directory.path())
    };
    let burst = async |running: &Running| {
        let body = json!({ "project_id": running.said("project_id"), "title": "Kopi", "amount": 15_000 });
        let reply = running.api().post("/v1/payment-links", &body).await;
        reply.header("ratelimit-limit").map(str::to_owned)
    };
    let running = start(&|_| {});
    assert!(data.join("lunas.db").is_file());
    assert_eq!(running.said("checkout_url_base"), "http://pay.lunas.test");
    assert_eq!(burst(&running).await.as_deref(), Some("14"), "the burst is twice the rate");
    assert!(!running.log().contains("/v1/payment-links"), "the log begins with warnings: {}", running.log());
    // Another command finds the same database by the same file.
    let listed = run(command(&program, &["project", "list", "--json"])).json(0);
    assert_eq!(listed[0]["id"], running.said("project_id"));
    drop(running);
    let by_variable = start(&|dev| {
        dev.env("LUNAS_RATE_LIMIT", "8");
    });
    assert_eq!(burst(&by_variable).await.as_deref(), Some("16"));
    drop(by_variable);
    let by_flag = start(&|dev| {
        dev.env("LUNAS_RATE_LIMIT", "8").args(["--rate-limit", "9"]);
    });
    assert_eq!(burst(&by_flag).await.as_deref(), Some("18"));
}

#[tokio::test]
async fn serve_finds_everything_that_it_needs_in_a_file_that_others_cannot_read() {
    let (program, key) = (program(), secret_key());
    let text = format!(
        "database = {:?}\nsecret_key = \"{key}\"\nlisten = \"127.0.0.1:0\"\nbase_url = \"https://api.lunas.test\"\n",
        program.served_database()
    );
    let path = write(&program, "server.toml", &text);
    let flag = ["--config", path.to_str().unwrap()];
    let serving =
        Running::start(command(&program, &[&["serve", "--json"], &flag[..]].concat()), program.directory.path());
    assert_eq!(serving.said("base_url"), "https://api.lunas.test");
    Api::new(serving.address(), None).get("/readyz").await.expect(200);
    let create = ["project", "create", "--name", "Toko", "--environment", "sandbox", "--json"];
    let mut by_variable = command(&program, &create);
    by_variable.env("LUNAS_CONFIG", &path);
    assert!(run(by_variable).json(0)["webhook_secret"].is_string(), "the secret key of the file encrypts");
    assert_eq!(serving.terminate(), Some(0));
    let checked = run(command(&program, &["config", "check", "--json", flag[0], flag[1]]));
    assert_eq!(of(&checked.json(0), "LUNAS_SECRET_KEY"), (Value::Null, json!("file")));
    assert!(!checked.stdout.contains(&key) && !checked.stderr.contains(&key), "a secret is not shown");
}

#[test]
fn every_mistake_is_one_line_with_its_file_its_line_and_what_to_do() {
    let program = program();
    let text = "listn = \"127.0.0.1:0\"\n\
                LUNAS_BASE_URL = \"https://a.example\"\n\
                base-url = \"https://a.example\"\n\
                colour_of_the_sky = \"blue\"\n\
                rate_limit = \"100\"\n\
                listen = 8080\n\
                database_connections = 7\n\
                trusted_proxies = [\"10.0.0.0/8\", 7]\n\
                webhook_allow = \"proxy.example\"\n\
                webhook_signature_header = \"Host\"\n\
                secret_key = \"quiet\"\n\
                log = \"a=b=c\"\n\
                config = \"other.toml\"\n\
                fee_virtual_account = 1.5\n\
                [server]\nlisten = \"127.0.0.1:0\"\n";
    write(&program, "lunas.toml", text);
    let expected = [
        (1, "`listen`?"),
        (2, "`base_url`?"),
        (3, "`base_url`?"),
        (4, "lunas config list"),
        (5, "`rate_limit` must be a number"),
        (6, "`listen` must be a text"),
        (7, "7 is not in 8..=1000"),
        (8, "`trusted_proxies` must be a list"),
        (9, "`webhook_allow` is wrong"),
        (10, "begins with `X-`"),
        (11, "base64 of 32 bytes"),
        (12, "`log` is wrong"),
        (13, "no setting `config`"),
        (14, "`fee_virtual_account` must be a number"),
        (15, "no setting `server`"),
    ];
    for arguments in [&["config", "check"][..], &["project", "list"], &["serve"], &["dev", "--json"]] {
        let ran = run(command(&program, arguments));
        let lines = ran.failed(1);
        assert_eq!(lines.len(), expected.len(), "{arguments:?}: {lines:#?}");
        for (line, (number, words)) in lines.iter().zip(expected) {
            assert!(line.starts_with(&format!("lunas: lunas.toml line {number}: ")), "{line}");
            assert!(line.contains(words), "no `{words}` in {line}");
        }
        assert!(!ran.stderr.contains("quiet"), "a value is not repeated");
    }
    assert_eq!(fs::read_dir(program.directory.path()).unwrap().count(), 1, "nothing was made");
    for arguments in
        [&["--help"][..], &["serve", "--help"], &["openapi"], &["completions", "bash"], &["config", "list"]]
    {
        assert_eq!(run(command(&program, arguments)).code, 0, "{arguments:?} needs no setting");
    }
}

#[test]
fn a_file_that_is_no_toml_or_cannot_be_read_is_refused_in_one_line() {
    let program = program();
    for (text, line) in
        [("listen = \n", 1), ("a\n", 1), ("rate_limit = 1\nrate_limit = 2\n", 2), ("\n\nlog = \"x\ny\"", 3)]
    {
        write(&program, "lunas.toml", text);
        let ran = run(command(&program, &["project", "list"]));
        let lines = ran.failed(1);
        assert!(lines.len() == 1 && lines[0].contains(&format!("lunas.toml line {line}: ")), "{text:?}: {ran:?}");
    }
    let long = write(&program, "long.toml", &format!("# {}", "x".repeat(2 * 1_024 * 1_024)));
    let bytes = write(&program, "bytes.toml", "");
    fs::write(bytes, [0xff, 0xfe]).unwrap();
    for path in ["missing.toml", ".", "bytes.toml", long.to_str().unwrap()] {
        for by_flag in [true, false] {
            let mut command = command(&program, &["project", "list"]);
            if by_flag {
                command.args(["--config", path])
            } else {
                command.env("LUNAS_CONFIG", path)
            };
            let ran = run(command);
            let lines = ran.failed(1);
            assert!(lines.len() == 1 && lines[0].contains(path) && lines[0].contains("--config"), "{path}: {ran:?}");
        }
    }
}

#[test]
fn a_secret_in_a_file_that_others_can_read_is_refused() {
    let (program, key) = (program(), secret_key());
    let api_key = unknown_key(domain::project::Environment::Sandbox);
    let checked = |text: &str, mode: u32| {
        let path = write(&program, "lunas.toml", text);
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        run(command(&program, &["config", "check", "--json"]))
    };
    for text in [
        format!("secret_key = \"{key}\""),
        format!("secret_key_previous = \"{key}\""),
        format!("api_key = \"{api_key}\""),
        "webhook_secret = \"whsec_quiet\"".to_owned(),
        "database = \"postgres://lunas:quiet@localhost/lunas\"".to_owned(),
    ] {
        let ran = checked(&text, 0o644);
        let lines: Vec<&str> = ran.stderr.lines().collect();
        assert!(ran.code == 1 && lines.len() == 1 && lines[0].contains("chmod o-r lunas.toml"), "{ran:?}");
        for hidden in [&key, &api_key, "quiet"] {
            assert!(!ran.stderr.contains(hidden) && !ran.stdout.contains(hidden), "{ran:?}");
        }
        for mode in [0o600, 0o640] {
            let ran = checked(&text, mode);
            ran.json(0);
            assert!(![&key, &api_key, "quiet"].iter().any(|hidden| ran.stdout.contains(*hidden)), "{ran:?}");
        }
    }
    for text in [
        "database = \"sqlite:lunas.db\"",
        "database = \"postgres://lunas@localhost/lunas\"",
        "listen = \"127.0.0.1:0\"",
    ] {
        checked(text, 0o644).json(0);
    }
}

/// Whether the tests run as root, who alone can give files away.
fn is_root(program: &Program) -> bool {
    fs::metadata(write(program, "mine", "")).unwrap().uid() == 0
}

#[test]
fn a_file_that_another_user_can_change_is_refused_and_one_of_root_for_a_group_is_not() {
    let program = program();
    let text = "rate_limit = 7\nlistn = \"quiet\"\n";
    let path = write(&program, "lunas.toml", text);
    let set = |mode: u32, owner: Option<u32>| {
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        if is_root(&program) {
            std::os::unix::fs::chown(&path, Some(owner.unwrap_or_default()), Some(12_345)).unwrap();
        }
    };
    let refused = |reason: &str| {
        for arguments in [&["config", "check"][..], &["project", "list"], &["serve"], &["dev", "--json"]] {
            for flag in [&[][..], &["--config", "lunas.toml"]] {
                let ran = run(command(&program, &[arguments, flag].concat()));
                let lines = ran.failed(1);
                assert!(lines.len() == 1 && lines[0].contains(reason), "{arguments:?} {reason}: {lines:?}");
                assert!(lines[0].contains("lunas.toml is not read: "), "{lines:?}");
            }
        }
    };
    for (mode, reason) in [(0o660, "chmod g-w lunas.toml"), (0o602, "chmod go-w lunas.toml"), (0o666, "chmod go-w")] {
        set(mode, None);
        refused(reason);
    }
    if is_root(&program) {
        set(0o600, Some(12_345));
        refused("it belongs to another user, number 12345");
    }
    assert!(!program.data().exists(), "nothing was made");
    write(&program, "lunas.toml", "rate_limit = 7");
    for mode in [0o600, 0o640, 0o644, 0o400] {
        set(mode, None);
        let checked = run(command(&program, &["config", "check", "--json"])).json(0);
        assert_eq!(of(&checked, "LUNAS_RATE_LIMIT"), (json!("7"), json!("file")), "{mode:o}");
    }
}

/// Regression: a pipe of another user was read, so that user could choose our settings.
#[test]
fn a_pipe_that_another_user_can_write_into_is_refused_and_ones_own_is_read() {
    let program = program();
    let (directory, path) = (program.directory.path(), program.directory.path().join("lunas.toml"));
    assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
    let checked = |mode: u32| {
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        // It waits until somebody reads.
        let mut writer = Command::new("sh");
        let mut writer =
            writer.args(["-c", "echo 'rate_limit = 7' > lunas.toml"]).current_dir(directory).spawn().unwrap();
        let ran = run(command(&program, &["config", "check", "--json"]));
        // It may have ended already.
        let _ = writer.kill();
        writer.wait().unwrap();
        ran
    };
    let taken = |ran: &Ran| assert_eq!(of(&ran.json(0), "LUNAS_RATE_LIMIT"), (json!("7"), json!("file")));
    for (mode, reason) in [(0o666, "chmod go-w lunas.toml"), (0o620, "chmod g-w lunas.toml")] {
        let ran = checked(mode);
        assert!(ran.code == 1 && ran.stderr.contains("is not read") && ran.stderr.contains(reason), "{ran:?}");
    }
    if is_root(&program) {
        std::os::unix::fs::chown(&path, Some(12_345), None).unwrap();
        let ran = checked(0o600);
        assert!(ran.code == 1 && ran.stderr.contains("it belongs to another user, number 12345"), "{ran:?}");
        std::os::unix::fs::chown(&path, Some(0), None).unwrap();
    }
    taken(&checked(0o600));
    // What a shell passes on is a pipe of the same user.
    let mut piped = command(&program, &["config", "check", "--json", "--config", "/dev/stdin"]);
    let mut piped = piped.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    piped.stdin.take().unwrap().write_all(b"rate_limit = 7").unwrap();
    taken(&piped.wait_with_output().unwrap().into());
}

#[test]
fn a_user_takes_the_file_of_root_and_their_own_and_no_other() {
    let program = program();
    if !is_root(&program) {
        // Only root can run the program as somebody else.
        return;
    }
    let path = write(&program, "lunas.toml", "rate_limit = 7");
    fs::set_permissions(program.directory.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let binary = program.directory.path().join("lunas");
    fs::copy(env!("CARGO_BIN_EXE_lunas"), &binary).unwrap();
    let check_as = |user: u32| {
        let mut command = Command::new(&binary);
        command.args(["config", "check", "--json"]).current_dir(program.directory.path()).env_clear();
        command.uid(user).gid(54_321);
        run(command)
    };
    for (owner, mode, is_taken) in [(0, 0o640, true), (0, 0o660, false), (12_345, 0o600, true), (12_346, 0o644, false)]
    {
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        std::os::unix::fs::chown(&path, Some(owner), Some(54_321)).unwrap();
        let ran = check_as(12_345);
        if is_taken {
            assert_eq!(of(&ran.json(0), "LUNAS_RATE_LIMIT"), (json!("7"), json!("file")), "{owner} {mode:o}");
        } else {
            assert!(ran.code == 1 && ran.stderr.contains("is not read"), "{owner} {mode:o}: {ran:?}");
        }
    }
}

#[test]
fn a_secret_key_or_demo_credentials_that_another_user_can_change_are_refused() {
    let program = program();
    assert_eq!(program.dev().terminate(), Some(0));
    for name in ["secret.key", "dev.json"] {
        let path = program.data().join(name);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o660)).unwrap();
        let ran = program.run(&["dev", "--json", "--listen", "127.0.0.1:0"]);
        let lines = ran.failed(1);
        assert!(lines.len() == 1 && lines[0].contains(name) && lines[0].contains("chmod g-w"), "{lines:?}");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        if is_root(&program) {
            std::os::unix::fs::chown(&path, Some(12_345), None).unwrap();
            let ran = program.run(&["dev", "--json", "--listen", "127.0.0.1:0"]);
            assert!(ran.failed(1)[0].contains("12345"), "{ran:?}");
            std::os::unix::fs::chown(&path, Some(0), None).unwrap();
        }
    }
    assert_eq!(program.dev().terminate(), Some(0));
}

#[test]
fn the_file_of_another_users_installation_is_left_out() {
    let program = program();
    let path = write(&program, "lunas.toml", "rate_limit = 7");
    if fs::metadata(&path).unwrap().uid() == 0 {
        // The superuser may read every file.
        return;
    }
    fs::set_permissions(&path, fs::Permissions::from_mode(0o000)).unwrap();
    assert_eq!(run(command(&program, &["openapi"])).code, 0);
    let ran = run(command(&program, &["config", "check"]));
    assert!(ran.failed(1)[0].contains("lunas.toml"), "{ran:?}");
}

#[test]
fn help_shows_no_secret_of_the_file() {
    let program = program();
    write(
        &program,
        "lunas.toml",
        "database = \"postgres://lunas:quiet@localhost/lunas\"\nwebhook_secret = \"whsec_quiet\"",
    );
    for arguments in
        [&["--help"][..], &["listen", "--help"], &["webhook", "verify", "--help"], &["config", "list", "--json"]]
    {
        let ran = run(command(&program, arguments));
        assert!(ran.code == 0 && !ran.stdout.contains("quiet"), "{ran:?}");
    }
}
