//! Commands that are refused: each with its message and exit code, and nothing left behind.

use serde_json::json;

use super::site::{Site, private_key};
use crate::support::{bank_keys::public_bank_key, commands::program, rows::rows};

#[tokio::test]
async fn an_impossible_command_exits_1_says_why_and_changes_nothing() {
    let site = Site::on_sqlite();
    let (production, sandbox) = (site.approved(), site.project("sandbox"));
    let account = site.bare_account();
    let calling = site.bare_account();
    site.json(&["bank", "set", &calling, "base_url=https://bank.example"]);
    let (unknown, nobody) = (format!("bac_{}", "0".repeat(26)), format!("prj_{}", "0".repeat(26)));
    let (stray, payment) = (format!("str_{}", "0".repeat(26)), format!("pay_{}", "0".repeat(26)));
    let add = |more: &[&'static str]| [&["bank", "add", "--profile", "bca", "--name", "x"][..], more].concat();
    let assign = |project: &'_ str, method: &'static str| {
        ["bank", "assign", &account, "--project", project, "--method", method].map(str::to_owned).to_vec()
    };
    let owned = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
    let rows_of_refusals: Vec<(Vec<String>, &str)> = vec![
        (owned(&["bank", "add", "--profile", "nope", "--name", "x"]), "`lunas bank profiles` lists them"),
        (owned(&["bank", "add", "--profile", "bca", "--name", ""]), "`name` must not be empty"),
        (owned(&add(&["--set", "colour=red"])), "there is no setting `colour`; there are: hosting"),
        (owned(&add(&["--set", "customer_digits=5"])), "`customer_digits` cannot be `5`: it must be 6 to 18"),
        (owned(&add(&["--set", "base_url=http://bank.example"])), "must be an https:// address"),
        (owned(&add(&["--set", "deadline="])), "`deadline` cannot be ``"),
        (owned(&add(&["--set", "deadline=1", "--set", "deadline=2"])), "`deadline` is given twice"),
        (owned(&["bank", "set", &account, "base_url=http://127.0.0.1:1"]), "must be an https:// address"),
        (owned(&["bank", "set", &account, "deadline=0"]), "`deadline` cannot be `0`"),
        (owned(&["bank", "set", &account, "deadline=5", "colour=red"]), "there is no setting `colour`"),
        (owned(&["bank", "set", &unknown, "deadline=5"]), "lunas bank list"),
        (assign(&sandbox, "bca"), "sandbox"),
        (assign(&production, "bni"), "the profile `bca` serves bca, not virtual_account:bni"),
        (assign(&production, "qris"), "serves bca, not qris"),
        (assign(&nobody, "bca"), "lunas project list"),
        (owned(&["bank", "unassign", "--project", &nobody, "--method", "bca"]), "lunas project list"),
        (owned(&["bank", "assign", &unknown, "--project", &production, "--method", "bca"]), "lunas bank list"),
        (owned(&["bank", "key", &unknown, "--make"]), "lunas bank list"),
        (owned(&["bank", "key", &unknown, "--import", "none"]), "lunas bank list"),
        (owned(&["bank", "key", &account, "--import", "none"]), "cannot read the bank's public key from none"),
        (owned(&["bank", "inbound", &unknown]), "lunas bank list"),
        (owned(&["bank", "inbound", &account, "--client-id", ""]), "`client_id` must not be empty"),
        (owned(&["bank", "inbound", &account, "--secret-file", "none"]), "cannot read the secret from none"),
        (owned(&["bank", "outbound", &unknown, "--client-id", "x", "--secret-file", "none"]), "lunas bank list"),
        (owned(&["bank", "enable", &unknown]), "lunas bank list"),
        (owned(&["bank", "disable", "junk\nid"]), "lunas bank list"),
        (owned(&["bank", "test", &unknown]), "lunas bank list"),
        (owned(&["bank", "test", &account]), "base_url=https://"),
        (owned(&["bank", "test", &calling]), "cannot be tested: our_key missing"),
        (owned(&["bank", "rotate", &unknown]), "lunas bank list"),
        (owned(&["bank", "rotate", &account]), "nothing to rotate to"),
        (owned(&["bank", "show", &unknown]), "lunas bank list"),
        (owned(&["bank", "profiles", "nope"]), "`lunas bank profiles` lists them"),
        (owned(&["bank", "stray", &stray, "--return", "--note", "x"]), "lunas bank strays"),
        (owned(&["bank", "stray", "junk", "--return", "--note", "x"]), "lunas bank strays"),
        (owned(&["bank", "stray", &stray, "--assign", &payment, "--note", "x"]), "lunas bank strays"),
        (owned(&["bank", "stray", &stray, "--assign", "junk", "--note", "x"]), "there is no payment junk"),
        (owned(&["bank", "stray", &stray, "--return", "--note", ""]), "`note` must not be empty"),
        (owned(&["bank", "list", "--base-url", "http://api.lunas.test"]), "LUNAS_BASE_URL must"),
    ];
    let before = rows(&site.database);
    for (arguments, words) in rows_of_refusals {
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        for json in [&[][..], &["--json"]] {
            let ran = site.run(&[&arguments, json].concat());
            let reasons = ran.failed(1);
            assert!(reasons[0].contains(words), "{arguments:?}: {reasons:?}");
        }
    }
    assert_eq!(rows(&site.database), before, "nothing was changed");
}

#[tokio::test]
async fn what_is_no_key_or_secret_is_refused_without_repeating_it() {
    let site = Site::on_sqlite();
    let account = site.bare_account();
    let private = private_key();
    let before = rows(&site.database);
    let key = ["bank", "key", &account, "--import", "-"];
    let inbound = ["bank", "inbound", &account, "--secret-file", "-"];
    let outbound = ["bank", "outbound", &account, "--client-id", "us", "--secret-file", "-"];
    let garbage = "-----BEGIN PUBLIC KEY-----\nQUJDRA==\n-----END PUBLIC KEY-----\n";
    let (long, huge) = ("x".repeat(513), "x".repeat(70_000));
    let rows_of_refusals: [(&[&str], &str, &str); 14] = [
        (&key, "", "not a PEM file"),
        (&key, "quiet words", "not a PEM file"),
        (&key, garbage, "no RSA public key"),
        (&key, &private, "this is a private key"),
        (&key, &huge, "larger than 64 KiB"),
        (&inbound, "", "there is no secret in -"),
        (&inbound, "\n", "there is no secret in -"),
        (&inbound, "quiet and short", "must have at least 16 characters"),
        (&inbound, "quiet words on one line\nand on another\n", "more than one line"),
        (&inbound, &long, "must be at most 512 characters"),
        (&outbound, "", "there is no secret in -"),
        (&outbound, "quiet and short", "must have at least 16 characters"),
        (&outbound, "quiet words on one line\r\nand on another", "more than one line"),
        (&outbound, "quiet words with a \u{7} bell", "control characters"),
    ];
    for (arguments, input, words) in rows_of_refusals {
        let ran = site.run_with_input(input, arguments);
        let reasons = ran.failed(1);
        assert!(reasons.len() == 1 && reasons[0].contains(words), "{arguments:?}: {reasons:?}");
        assert!(!ran.stderr.contains("quiet") && !ran.stderr.contains("xxxx"), "it is not repeated: {ran:?}");
        assert!(private.lines().nth(1).is_some_and(|line| !ran.stderr.contains(line)), "{ran:?}");
    }
    assert_eq!(rows(&site.database), before, "nothing was changed");
}

/// Without its service id, an account would give out numbers that nobody can pay.
#[tokio::test]
async fn an_enabled_account_keeps_what_it_needs() {
    let site = Site::on_sqlite();
    let account = site.enabled_account();
    let before = rows(&site.database);
    for (setting, lacks) in
        [("partner_service_id=", "partner_service_id"), ("base_url=https://bank.example", "our_key")]
    {
        let ran = site.run(&["bank", "set", &account, setting]);
        let reasons = ran.failed(1);
        assert!(reasons[0].contains(&format!("would lack something with these settings: {lacks}")), "{reasons:?}");
    }
    assert_eq!(rows(&site.database), before, "nothing was changed");
    assert_eq!(site.json(&["bank", "set", &account, "deadline=5"])["enabled"], true);
    site.json(&["bank", "disable", &account]);
    let set = site.json(&["bank", "set", &account, "partner_service_id="]);
    assert_eq!(set["missing"], json!(["partner_service_id"]));
    assert!(site.run(&["bank", "enable", &account]).failed(1)[0].contains("cannot be enabled: partner_service_id"));
}

#[tokio::test]
async fn a_secret_needs_the_secret_key() {
    let site = Site::on_sqlite();
    let account = site.bare_account();
    for arguments in [&["bank", "key", &account, "--make"][..], &["bank", "inbound", &account]] {
        let mut command = site.command(arguments);
        let ran: testkit::Ran = command.env_remove("LUNAS_SECRET_KEY").output().unwrap().into();
        assert!(ran.failed(1)[0].contains("there is no secret key"), "{ran:?}");
    }
    let mut command = site.command(&["bank", "list", "--json"]);
    let listed: testkit::Ran = command.env_remove("LUNAS_SECRET_KEY").output().unwrap().into();
    assert_eq!(listed.json(0)[0]["id"], account);
    // The bank's key is public.
    assert_eq!(site.told_json(&public_bank_key(), &["bank", "key", &account, "--import", "-"])["kind"], "bank_key");
}

#[test]
fn wrong_arguments_exit_2() {
    let program = program();
    for arguments in [
        &["bank"][..],
        &["bank", "add", "--profile", "bca"],
        &["bank", "add", "--name", "x"],
        &["bank", "add", "--profile", "bca", "--name", "x", "--set", "colour"],
        &["bank", "add", "--profile", "bca", "--name", "x", "--set", "=red"],
        &["bank", "set", "bac_1"],
        &["bank", "set", "bac_1", "deadline"],
        &["bank", "key", "bac_1"],
        &["bank", "key", "bac_1", "--make", "--import", "f"],
        &["bank", "inbound", "bac_1", "--secret", "in sight of everybody"],
        &["bank", "outbound", "bac_1", "--client-id", "x"],
        &["bank", "outbound", "bac_1", "--secret-file", "f"],
        &["bank", "assign", "bac_1", "--project", "prj_1"],
        &["bank", "assign", "bac_1", "--project", "prj_1", "--method", "gopay"],
        &["bank", "unassign", "--project", "prj_1"],
        &["bank", "enable"],
        &["bank", "stray", "str_1", "--note", "x"],
        &["bank", "stray", "str_1", "--return"],
        &["bank", "stray", "str_1", "--return", "--assign", "pay_1", "--note", "x"],
        &["bank", "strays", "--limit", "0"],
        &["bank", "list", "extra"],
    ] {
        program.run(arguments).failed(2);
    }
    assert_eq!(std::fs::read_dir(program.directory.path()).unwrap().count(), 0, "nothing was made");
}

#[test]
fn profiles_are_listed_without_a_database() {
    let program = program();
    let profiles = program.json(&["bank", "profiles", "--json"]);
    let names: Vec<&str> =
        profiles.as_array().unwrap().iter().map(|profile| profile["name"].as_str().unwrap()).collect();
    let remote = ["midtrans", "dana", "doku", "bri-qris", "briva-ws", "bri", "bni"];
    assert_eq!(names, [&["bca", "briva-online", "bsi", "mandiri"][..], &remote, &["generic"]].concat());
    assert_eq!(profiles[0]["bank"], "bca");
    assert_eq!(profiles[0]["needs"], json!(["partner_service_id", "bank_key", "inbound"]));
    assert_eq!((&profiles[5]["codes"], &profiles[5]["bank"]), (&json!("qris"), &json!(null)));
    let needs = json!(["merchant_id", "store_id", "base_url", "bank_key", "our_key", "outbound"]);
    assert_eq!(profiles[5]["needs"], needs);
    assert_eq!((&profiles[11]["codes"], &profiles[11]["bank"]), (&json!("both"), &json!(null)));
    let bca = program.json(&["bank", "profiles", "bca", "--json"]);
    let setting = |name: &str| {
        let settings = bca["settings"].as_array().unwrap();
        settings.iter().find(|setting| setting["name"] == name).unwrap().clone()
    };
    assert_eq!(setting("channel_id")["value"], "95231");
    let prefix = json!({ "name": "partner_service_id", "value": null, "allowed": "1 to 8 digits, without padding" });
    assert_eq!(setting("partner_service_id"), prefix);
    let text = program.run(&["bank", "profiles"]);
    assert!(text.stdout.contains("BCA virtual account") && text.stdout.contains("partner_service_id"), "{text:?}");
    assert_eq!(std::fs::read_dir(program.directory.path()).unwrap().count(), 0, "nothing was made");
}
