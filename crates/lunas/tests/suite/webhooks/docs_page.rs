//! What `docs/webhooks.md` says is true, and every code snippet in it is run.

use std::{
    fs,
    io::{self, Write},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::Duration,
};

use domain::{
    delivery::{ATTEMPTS_MOST, Jitter, wait_after},
    event::EventKind,
    signature::{TOLERANCE, signature_header, verify},
};
use engine::{Clock, SystemClock};
use serde_json::Value;
use tempfile::TempDir;
use testkit::{Ran, Receiver, contract};

use crate::support::{
    repository::root,
    webhooks::{seconds_ago, secret},
};

/// Contains what a careless program would change: non-ASCII letters, a percent sign, a backslash, white space at the
/// end.
const BODY: &str = "{\"id\":\"evt_1\",\"data\":{\"name\":\"Toko Kopi ☕ 100%s\\n$HOME\"}} \n";

fn page() -> String {
    fs::read_to_string(root().join("docs/webhooks.md")).unwrap()
}

/// The blocks of the page that are marked as being in `language`.
fn blocks(language: &str) -> Vec<String> {
    let page = page();
    let pieces = page.split("\n```").collect::<Vec<_>>();
    // Every other piece is inside a block, and begins with its language.
    let inside = pieces.iter().skip(1).step_by(2);
    inside.filter_map(|piece| Some(piece.strip_prefix(language)?.strip_prefix('\n')?.to_owned())).collect()
}

#[track_caller]
fn block(language: &str) -> String {
    let mut found = blocks(language);
    assert_eq!(found.len(), 1, "the page has one block of {language}");
    found.remove(0)
}

/// Where a program is. A missing one is reported on the terminal itself, as the test harness hides what passing tests
/// print.
fn runtime(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path).map(|folder| folder.join(name)).find(|file| file.is_file());
    if found.is_none() {
        let _ = writeln!(io::stderr(), "{name} is not on this machine, so its snippet in docs/webhooks.md was not run");
    }
    found
}

/// A folder with a snippet and the body that it is to verify.
struct Bench(TempDir);

impl Bench {
    fn new(files: &[(&str, &str)]) -> Bench {
        let directory = tempfile::tempdir().unwrap();
        for (name, text) in files {
            fs::write(directory.path().join(name), text).unwrap();
        }
        Bench(directory)
    }

    fn command(&self, program: &Path, arguments: &[&str]) -> Command {
        let mut command = Command::new(program);
        command.args(arguments).current_dir(self.0.path()).stdin(Stdio::null());
        command
    }

    /// Runs a receiver, which gets header, file and secret as arguments and says `genuine` or `refused`.
    #[track_caller]
    fn check(&self, receiver: &dyn Fn() -> Command, header: &str, body: &str, secret: &str, verdict: &str) {
        fs::write(self.0.path().join("body"), body).unwrap();
        let ran = Ran::from(receiver().args([header, "body", secret]).output().unwrap());
        assert_eq!((ran.code, ran.stdout.trim()), (0, verdict), "{header:.200}\n{}", ran.stderr);
    }

    /// Checks that a receiver accepts what is genuine and refuses everything else.
    #[track_caller]
    fn check_receiver(&self, receiver: &dyn Fn() -> Command) {
        let (new, old) = (secret("baru"), secret("lama"));
        let now = SystemClock.now();
        let (alone, both) = (signature_header(&[&new], now, BODY.as_bytes()), [new.as_str(), old.as_str()]);
        let both = signature_header(&both, now, BODY.as_bytes());
        let signed_at = |at| signature_header(&[&new], at, BODY.as_bytes());
        for (header, secret) in [(&alone, &new), (&both, &new), (&both, &old), (&signed_at(seconds_ago(200)), &new)] {
            self.check(receiver, header, BODY, secret, "genuine");
        }
        for tampered in [BODY.trim_end(), &BODY.replace("Kopi", "Teh"), &format!("{BODY}\n"), ""] {
            self.check(receiver, &alone, tampered, &new, "refused");
        }
        for other in [&old, &new.to_uppercase(), "whsec_"] {
            self.check(receiver, &alone, BODY, other, "refused");
        }
        for at in [seconds_ago(600), seconds_ago(-600), seconds_ago(86_400)] {
            self.check(receiver, &signed_at(at), BODY, &new, "refused");
        }
        for header in headers_that_say_nothing(&alone) {
            self.check(receiver, &header, BODY, &new, "refused");
        }
    }
}

/// Headers that a stranger may send, each of which breaks some careless parser.
fn headers_that_say_nothing(genuine: &str) -> Vec<String> {
    let (time, signature) = genuine.split_once(',').unwrap();
    let later = format!("t={}", seconds_ago(-1).as_millis() / 1_000);
    vec![
        String::new(),
        "=,=,,".to_owned(),
        signature.to_owned(),
        time.to_owned(),
        format!("{time},v1"),
        format!("{time},v1="),
        format!("{time},{}", signature.replace("v1=", "v0=")),
        format!("{time},{}", &signature[..signature.len() - 1]),
        format!("{time},{signature}00"),
        format!("{time},v1={}", "é".repeat(32)),
        format!("{time},v1={}", "0".repeat(64)),
        format!("t=,{signature}"),
        format!("t=soon,{signature}"),
        format!("t=-1,{signature}"),
        format!("t={},{signature}", "9".repeat(5_000)),
        format!("{later},{signature}"),
        format!("{later},{time},{signature}"),
    ]
}

#[test]
fn the_bash_snippet_accepts_what_is_ours_and_nothing_else() {
    let (Some(bash), Some(_)) = (runtime("bash"), runtime("openssl")) else { return };
    let call = "\nLUNAS_WEBHOOK_SECRET=$3\nif is_genuine \"$1\" \"$2\"; then echo genuine; else echo refused; fi\n";
    let bench = Bench::new(&[("verify.sh", &format!("{}{call}", block("bash")))]);
    bench.check_receiver(&|| bench.command(&bash, &["verify.sh"]));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_the_bash_snippet_delivers_is_genuine() {
    let (Some(bash), Some(_), Some(_)) = (runtime("bash"), runtime("openssl"), runtime("curl")) else { return };
    let receiver = Receiver::start().await;
    let bench = Bench::new(&[("deliver.sh", &format!("{}\ndeliver \"$1\" body\n", block("bash"))), ("body", BODY)]);
    let mut command = bench.command(&bash, &["deliver.sh", &receiver.url()]);
    let ran = Ran::from(command.env("LUNAS_WEBHOOK_SECRET", secret("lunas")).output().unwrap());
    assert_eq!(ran.code, 0, "{ran:?}");
    let received = receiver.arrived(1).await.remove(0);
    assert_eq!(received.header("content-type"), "application/json");
    assert_eq!(received.text(), BODY);
    let header = received.header("x-service-signature");
    assert_eq!(verify(header, &secret("lunas"), &received.body, SystemClock.now(), TOLERANCE), Ok(()));
}

#[test]
fn the_node_snippet_accepts_what_is_ours_and_nothing_else() {
    let Some(node) = runtime("node") else { return };
    let call = r#"
const [header, path, secret] = process.argv.slice(2);
console.log(isGenuine(header, require("node:fs").readFileSync(path), secret) ? "genuine" : "refused");
"#;
    let bench = Bench::new(&[("verify.js", &format!("{}{call}", block("js")))]);
    bench.check_receiver(&|| bench.command(&node, &["verify.js"]));
}

#[test]
fn the_python_snippet_accepts_what_is_ours_and_nothing_else() {
    let Some(python) = runtime("python3") else { return };
    let call = r#"
import sys
header, path, secret = sys.argv[1:]
print("genuine" if is_genuine(header, open(path, "rb").read(), secret) else "refused")
"#;
    let bench = Bench::new(&[("verify.py", &format!("{}{call}", block("python")))]);
    bench.check_receiver(&|| bench.command(&python, &["verify.py"]));
}

#[test]
fn the_php_snippet_accepts_what_is_ours_and_nothing_else() {
    let Some(php) = runtime("php") else { return };
    let call = "\necho is_genuine($argv[1], file_get_contents($argv[2]), $argv[3]) ? 'genuine' : 'refused';\n";
    let bench = Bench::new(&[("verify.php", &format!("<?php\n{}{call}", block("php")))]);
    bench.check_receiver(&|| bench.command(&php, &["verify.php"]));
}

#[test]
fn the_go_snippet_accepts_what_is_ours_and_nothing_else() {
    let Some(go) = runtime("go") else { return };
    let snippet = block("go").replace("package webhook", "package main");
    let main = r#"package main

import (
	"fmt"
	"os"
)

func main() {
	body, _ := os.ReadFile(os.Args[2])
	fmt.Println(map[bool]string{true: "genuine", false: "refused"}[IsGenuine(os.Args[1], body, os.Args[3])])
}
"#;
    let module = "module receiver\n\ngo 1.19\n";
    let bench = Bench::new(&[("verify.go", &snippet), ("main.go", main), ("go.mod", module)]);
    let mut build = bench.command(&go, &["build", "-o", "receiver"]);
    // Keeps Go from using the home folder and from downloading anything.
    build.env("GOCACHE", bench.0.path().join("cache")).env("GOPATH", bench.0.path().join("path"));
    build.env("GOTOOLCHAIN", "local").env("GOFLAGS", "-mod=mod").env("GOPROXY", "off");
    let built = Ran::from(build.output().unwrap());
    assert_eq!(built.code, 0, "{built:?}");
    bench.check_receiver(&|| bench.command(&bench.0.path().join("receiver"), &[]));
}

/// Built by cargo as a program of its own, with the versions that the workspace has locked, so that nothing is fetched.
#[test]
fn the_rust_snippet_accepts_what_is_ours_and_nothing_else() {
    let call = r#"
fn main() {
    let [_, header, path, secret] = std::env::args().collect::<Vec<_>>().try_into().unwrap();
    println!("{}", if is_genuine(&header, &std::fs::read(path).unwrap(), &secret) { "genuine" } else { "refused" });
}
"#;
    let manifest = "[package]\nname = \"receiver\"\nversion = \"0.0.0\"\nedition = \"2024\"\n[workspace]\n\
                    [[bin]]\nname = \"receiver\"\npath = \"main.rs\"\n[dependencies]\nhmac = \"0.13\"\nsha2 = \"0.11\"\n";
    let lock = fs::read_to_string(root().join("Cargo.lock")).unwrap();
    let program = format!("{}{call}", block("rust"));
    let bench = Bench::new(&[("main.rs", &program), ("Cargo.toml", manifest), ("Cargo.lock", &lock)]);
    // Dependencies are built once and kept beside the build of these tests.
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("webhook-receiver");
    let mut build = bench.command(Path::new(env!("CARGO")), &["build", "--quiet", "--offline"]);
    let built = Ran::from(build.env("CARGO_TARGET_DIR", &target).output().unwrap());
    assert_eq!((built.code, built.stderr.as_str()), (0, ""), "it builds without a warning");
    bench.check_receiver(&|| bench.command(&target.join("debug/receiver"), &[]));
}

#[test]
fn there_is_an_example_of_each_event_and_each_is_one_that_the_api_describes() {
    let examples: Vec<Value> = blocks("json").iter().map(|text| serde_json::from_str(text).unwrap()).collect();
    for example in &examples {
        contract().validate("/components/schemas/Event", example).unwrap();
    }
    let kinds: Vec<&str> = examples.iter().map(|example| example["type"].as_str().unwrap()).collect();
    assert_eq!(kinds, EventKind::ALL.map(EventKind::word));
}

#[test]
fn the_page_has_the_schedule_and_the_limits_that_the_code_has() {
    let words = |rest: Duration| match rest.as_secs() {
        seconds @ 0..60 => format!("{seconds} s"),
        seconds @ 60..3_600 => format!("{} min", seconds / 60),
        seconds => format!("{} h", seconds / 3_600),
    };
    let rests: Vec<String> = (1..).map_while(|made| wait_after(made, Jitter::NONE)).map(words).collect();
    let (last, others) = rests.split_last().unwrap();
    let page = page().replace('\n', " ");
    for told in [
        format!("{} and {last}, each ±10 %: {ATTEMPTS_MOST} attempts", others.join(", ")),
        format!("more than {} s away", TOLERANCE.as_secs()),
        format!("within {} s", gateway::SendLimits::default().total.as_secs()),
        format!("{} KiB of it are read", domain::delivery::ANSWER_READ_BYTES_MOST / 1_024),
        format!("first {} KiB are kept", domain::delivery::ANSWER_KEPT_BYTES_MOST / 1_024),
    ] {
        assert!(page.contains(&told), "the page does not say `{told}`");
    }
}
