//! `lunas mail`: trying whether letters arrive, and looking at the queue.

use testkit::{Manner, Relay};

use crate::support::commands::program;

fn settings(relay: &Relay) -> Vec<String> {
    ["--mail-url", &relay.url(), "--mail-from", "Toko <toko@example.com>"].map(str::to_owned).to_vec()
}

fn words<'a>(first: &[&'a str], settings: &'a [String]) -> Vec<&'a str> {
    first.iter().copied().chain(settings.iter().map(String::as_str)).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_test_letter_says_how_each_step_went() {
    let (program, relay) = (program(), Relay::start().await);
    let settings = settings(&relay);
    let tried = program.json(&words(&["mail", "test", "siti@example.com", "--json"], &settings));
    assert_eq!(tried["taken"], true);
    let steps: Vec<&str> =
        tried["steps"].as_array().unwrap().iter().map(|step| step["step"].as_str().unwrap()).collect();
    assert_eq!(steps, ["connect", "sender", "recipient", "data", "letter"]);
    assert_eq!(relay.has(1).await[0].to, "siti@example.com");
    relay.behave(Manner::Refuses);
    let ran = program.run(&words(&["mail", "test", "siti@example.com"], &settings));
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.stdout.contains("FAILED") && ran.stdout.contains("550 nobody here"), "{ran:?}");
}

#[test]
fn without_a_relay_nothing_is_tried_and_a_wrong_setting_is_named() {
    let program = program();
    let refused = |more: &[&str], expected: &str| {
        let ran = program.run(&[&["mail", "test", "siti@example.com"], more].concat());
        assert_eq!(ran.code, 1, "{ran:?}");
        assert!(ran.stderr.contains(expected), "{ran:?}");
    };
    refused(&[], "LUNAS_MAIL_URL");
    refused(&["--mail-url", "smtps://relay.example.com"], "LUNAS_MAIL_FROM");
    let from = ["--mail-from", "toko@example.com", "--mail-url"];
    refused(&[&from[..], &["smtp+plain://relay.example.com"]].concat(), "unencrypted");
    refused(&[&from[..], &["smtps://budi:word@relay.example.com"]].concat(), "LUNAS_MAIL_PASSWORD");
    refused(&[&from[..], &["smtps://relay.example.com", "--mail-user", "budi"]].concat(), "both or neither");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn letters_are_listed_with_their_state_and_sent_again() {
    let (program, relay) = (program(), Relay::with(Manner::Refuses).await);
    let settings = settings(&relay);
    let running = program.dev_with(&words(&[], &settings));
    assert_eq!(program.json(&["mail", "list", "--json"]).as_array().unwrap().len(), 0);
    let missing = program.run(&["mail", "show", "ltr_1"]);
    assert_eq!(missing.code, 1, "{missing:?}");
    let wrong = program.run(&["mail", "list", "--state", "lost"]);
    assert_eq!(wrong.code, 2, "{wrong:?}");
    drop(running);
}
