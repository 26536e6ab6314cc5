//! `lunas webhook verify` says whether a received webhook is genuine, and if not, why.

use std::{fs, process::Stdio};

use domain::signature::signature_header;
use engine::{Clock, SystemClock};
use serde_json::json;
use testkit::{Program, Ran};

use crate::support::{
    commands::program,
    webhooks::{seconds_ago, secret},
};

const BODY: &[u8] = r#"{"id":"evt_1","data":{"name":"Toko Kopi ☕"}}"#.as_bytes();

/// A directory with the body, in which `lunas webhook verify` is run.
struct Bench(Program);

impl Bench {
    fn new() -> Bench {
        let program = program();
        fs::write(program.directory.path().join("body"), BODY).unwrap();
        Bench(program)
    }

    fn verify(&self, secret: &str, header: &str, more: &[&str]) -> Ran {
        let usual = ["webhook", "verify", "--secret", secret, "--header", header, "--body"];
        let body = if more.contains(&"--body") { &[][..] } else { &["body"] };
        let usual = if body.is_empty() { &usual[..6] } else { &usual };
        self.0.run(&[usual, body, more].concat())
    }

    #[track_caller]
    fn genuine(&self, secret: &str, header: &str, more: &[&str]) {
        let ran = self.verify(secret, header, more);
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{ran:?}");
        assert!(ran.stdout.starts_with("genuine"), "{ran:?}");
        let ran = self.verify(secret, header, &[more, &["--json"]].concat());
        assert_eq!(ran.json(0), json!({ "genuine": true, "reason": null }));
    }

    #[track_caller]
    fn refused(&self, secret: &str, header: &str, more: &[&str], reason: &str) {
        let ran = self.verify(secret, header, more);
        let lines = ran.failed(1);
        assert_eq!(lines.len(), 1, "{ran:?}");
        assert!(lines[0].starts_with("lunas: not genuine: ") && lines[0].contains(reason), "{reason}: {lines:?}");
        assert!(secret.is_empty() || !ran.stderr.contains(secret), "a secret is not repeated");
        let ran = self.verify(secret, header, &[more, &["--json"]].concat());
        let verdict = ran.json(1);
        assert_eq!(verdict["genuine"], false);
        assert!(verdict["reason"].as_str().unwrap().contains(reason), "{reason}: {verdict}");
    }
}

#[test]
fn webhooks_that_are_genuine_exit_0() {
    let bench = Bench::new();
    let (new, old) = (secret("baru"), secret("lama"));
    let header = signature_header(&[&new], SystemClock.now(), BODY);
    bench.genuine(&new, &header, &[]);
    bench.genuine(&new, &format!("X-Service-Signature: {header}"), &[]);
    let both = signature_header(&[&new, &old], SystemClock.now(), BODY);
    bench.genuine(&new, &both, &[]);
    bench.genuine(&old, &both, &[]);
    let kept = signature_header(&[&new], seconds_ago(86_400), BODY);
    bench.genuine(&new, &kept, &["--ignore-age"]);
    bench.genuine(&new, &kept, &["--tolerance", "90000"]);
}

#[test]
fn webhooks_that_are_not_genuine_exit_1_with_the_reason() {
    let bench = Bench::new();
    let known = secret("lunas");
    let header = signature_header(&[&known], SystemClock.now(), BODY);
    let signature = header.split_once("v1=").unwrap().1;
    let time = header.split_once(',').unwrap().0;
    for (header, reason) in [
        (String::new(), "no `t=`"),
        (format!("v1={signature}"), "no `t=`"),
        (format!("t=soon,v1={signature}"), "not a number of seconds"),
        (time.to_owned(), "no `v1=`"),
        (format!("{time},v1=abc"), "not 64 hexadecimal digits"),
        (format!("{time},v1={}", "0".repeat(64)), "no signature matches"),
        (signature_header(&[&known], seconds_ago(600), BODY), "and at most 300 s are allowed"),
        (signature_header(&[&known], seconds_ago(-600), BODY), "in the future"),
        (signature_header(&[&known], SystemClock.now(), b"{}"), "no signature matches"),
    ] {
        bench.refused(&known, &header, &[], reason);
    }
    bench.refused(&secret("lunar"), &header, &[], "no signature matches");
    let minute_old = signature_header(&[&known], seconds_ago(60), BODY);
    bench.refused(&known, &minute_old, &["--tolerance", "5"], "and at most 5 s are allowed");
    bench.refused(&secret("lunar"), &minute_old, &["--ignore-age"], "no signature matches");
}

#[test]
fn a_line_break_that_an_editor_added_is_named_as_the_reason() {
    let bench = Bench::new();
    let known = secret("lunas");
    let header = signature_header(&[&known], SystemClock.now(), BODY);
    for ending in ["\n", "\r\n"] {
        fs::write(bench.0.directory.path().join("body"), [BODY, ending.as_bytes()].concat()).unwrap();
        bench.refused(&known, &header, &[], "ends with a line break");
        bench.refused(&secret("lunar"), &header, &[], "no signature matches");
    }
}

#[test]
fn the_secret_comes_from_the_environment_and_the_body_from_standard_input_too() {
    let bench = Bench::new();
    let known = secret("lunas");
    let header = signature_header(&[&known], SystemClock.now(), BODY);
    let mut command = bench.0.command(&["webhook", "verify", "--header", &header, "--body", "-"]);
    command.env("LUNAS_WEBHOOK_SECRET", &known).stdin(fs::File::open(bench.0.directory.path().join("body")).unwrap());
    let ran = Ran::from(command.output().unwrap());
    assert_eq!(ran.code, 0, "{ran:?}");
    let ran = Ran::from(command.stdin(Stdio::null()).output().unwrap());
    assert_eq!(ran.failed(1).len(), 1, "an empty body is another one");
}

#[test]
fn a_body_that_cannot_be_read_exits_1_with_one_line() {
    let bench = Bench::new();
    fs::write(bench.0.directory.path().join("large"), vec![b' '; 1_024 * 1_024 + 1]).unwrap();
    for file in ["missing", ".", "large"] {
        let ran = bench.verify(&secret("lunas"), "t=1,v1=", &["--body", file]);
        let lines = ran.failed(1);
        assert!(lines.len() == 1 && lines[0].contains(file), "{file}: {ran:?}");
    }
}

#[test]
fn options_of_verify_that_are_missing_or_make_no_sense_exit_2() {
    let bench = Bench::new();
    let known = secret("lunas");
    for arguments in [
        &[][..],
        &["--secret", &known, "--header", "t=1"],
        &["--secret", &known, "--body", "body"],
        &["--header", "t=1", "--body", "body"],
        &["--secret", "", "--header", "t=1", "--body", "body"],
        &["--secret", &known, "--header", "t=1", "--body", "body", "--tolerance", "soon"],
        &["--secret", &known, "--header", "t=1", "--body", "body", "--tolerance", "-1"],
        &["--secret", &known, "--header", "t=1", "--body", "body", "--tolerance", "5", "--ignore-age"],
    ] {
        let ran = bench.0.run(&[&["webhook", "verify"], arguments].concat());
        ran.failed(2);
        assert!(!ran.stderr.contains(&known), "a secret is not repeated: {ran:?}");
    }
    bench.0.run(&["webhook"]).failed(2);
}
