//! From nothing to an account that takes money, and its end.

use domain::audit::{Actor, Deed};
use serde_json::{Value, json};

use super::site::{Site, id};
use crate::support::bank_keys::public_bank_key;

on_every_database![a_project_takes_money_by_an_account_until_it_is_taken_away];

#[tokio::test]
async fn an_account_is_enabled_once_nothing_is_missing() {
    let site = Site::on_sqlite();
    let added = site.json(&["bank", "add", "--profile", "bca", "--name", "BCA Toko"]);
    let account = id(&added);
    assert!(account.starts_with("bac_"));
    assert_eq!(added["inbound_url"], format!("https://api.lunas.test/snap/{account}"));
    assert_eq!(added["missing"], json!(["partner_service_id", "bank_key", "inbound"]));
    assert_eq!((&added["enabled"], &added["profile"]), (&json!(false), &json!("bca")));
    assert_eq!(added["next"], format!("lunas bank set {account} partner_service_id=VALUE"));

    let refused = site.run(&["bank", "enable", &account, "--json"]);
    let lines = refused.failed(1);
    assert!(lines[0].ends_with("cannot be enabled: partner_service_id, bank_key, inbound missing"), "{lines:?}");
    let commands = ["set", "key", "inbound"].map(|word| format!("lunas bank {word} {account}"));
    assert!(lines[1..].iter().zip(&commands).all(|(line, command)| line.contains(command)), "{lines:?}");
    assert_eq!(lines.len(), 4, "{lines:?}");
    assert_eq!(site.show(&account)["enabled"], false);

    let set = site.json(&["bank", "set", &account, "partner_service_id=88899"]);
    assert_eq!(set["missing"], json!(["bank_key", "inbound"]));
    keys_and_secrets_are_set(&site, &account);
    let enabled = site.json(&["bank", "enable", &account]);
    assert_eq!((&enabled["enabled"], &enabled["missing"]), (&json!(true), &json!([])));
    assert_eq!(enabled["next"], format!("lunas bank assign {account} --project PROJECT --method bca"));
}

fn keys_and_secrets_are_set(site: &Site, account: &str) {
    let made = site.json(&["bank", "key", account, "--make"]);
    assert_eq!((&made["kind"], &made["stage"]), (&json!("our_key"), &json!("current")));
    assert!(made["public_key"].as_str().unwrap().starts_with("-----BEGIN PUBLIC KEY-----\n"));
    let pem = public_bank_key();
    std::fs::write(site.program.directory.path().join("bank.pem"), &pem).unwrap();
    let imported = site.json(&["bank", "key", account, "--import", "bank.pem"]);
    assert_eq!((&imported["kind"], &imported["public_key"]), (&json!("bank_key"), &json!(pem)));
    assert_eq!(imported["next"], format!("lunas bank inbound {account}"));
    let inbound = site.json(&["bank", "inbound", account]);
    assert_eq!(inbound["client_id"].as_str().unwrap().len(), 24);
    assert_eq!(inbound["secret"].as_str().unwrap().len(), 48);
}

async fn a_project_takes_money_by_an_account_until_it_is_taken_away(site: Site) {
    let (project, account) = (site.approved(), site.enabled_account());
    let assigned = site.json(&["bank", "assign", &account, "--project", &project, "--method", "bca"]);
    let whole = json!({
        "project_id": project, "method": "bca", "account_id": account, "takes": ["bca"], "next": null
    });
    assert_eq!(assigned, whole);
    let listed = site.json(&["bank", "list"]);
    assert_eq!(listed.as_array().unwrap().len(), 1);
    let short = &listed[0];
    assert_eq!((&short["id"], &short["name"]), (&json!(account), &json!("BCA Toko")));
    assert_eq!(short["assignments"], json!([{ "project_id": project, "method": "bca" }]));
    assert_eq!((&short["numbers_used_percent"], &short["last_call_at"]), (&json!(0), &Value::Null));
    assert_eq!(short["next"], Value::Null);

    let unassigned = site.json(&["bank", "unassign", "--project", &project, "--method", "bca"]);
    assert_eq!((&unassigned["account_id"], &unassigned["takes"]), (&Value::Null, &json!([])));
    assert_eq!(site.json(&["bank", "disable", &account])["enabled"], false);
    assert_eq!(site.show(&account)["assignments"], json!([]));
    assert_eq!(site.json(&["verify"])["ok"], true);
    let lines = site.audit().await;
    for deed in [
        Deed::BankAccountCreated,
        Deed::BankKeyImported,
        Deed::BankSecretSet,
        Deed::BankAccountEnabled,
        Deed::BankAccountAssigned,
        Deed::BankAccountDisabled,
    ] {
        let line = lines.iter().find(|line| line.deed == deed);
        assert!(line.is_some_and(|line| line.actor == Actor::CommandLine), "{deed:?}");
    }
}

#[tokio::test]
async fn a_next_key_waits_beside_the_current_one_until_the_account_is_rotated() {
    let site = Site::on_sqlite();
    let account = site.bare_account();
    let (first, second) = (public_bank_key(), public_bank_key());
    let stages = |kind: &str| -> Vec<(String, Value)> {
        let credentials = site.show(&account)["credentials"].as_array().unwrap().clone();
        let of_kind = credentials.into_iter().filter(|credential| credential["kind"] == kind);
        let open = |credential: Value| match credential["public_key"].is_null() {
            true => credential["client_id"].clone(),
            false => credential["public_key"].clone(),
        };
        of_kind.map(|credential| (credential["stage"].as_str().unwrap().to_owned(), open(credential))).collect()
    };
    let import = |pem: &str| site.told_json(pem, &["bank", "key", &account, "--import", "-"]);
    let inbound = |client: &str| {
        let arguments = ["bank", "inbound", &account, "--client-id", client, "--secret-file", "-"];
        site.told_json(&"s".repeat(16), &arguments)
    };
    assert_eq!((&import(&first)["stage"], &inbound("one")["stage"]), (&json!("current"), &json!("current")));
    let nothing = site.run(&["bank", "rotate", &account]);
    assert!(nothing.failed(1)[0].contains("nothing to rotate to"), "{nothing:?}");
    let waiting = import(&second);
    assert_eq!((&waiting["stage"], &waiting["next"]), (&json!("next"), &json!(format!("lunas bank rotate {account}"))));
    let given = inbound("two");
    assert_eq!((&given["client_id"], given.get("secret")), (&json!("two"), None), "the secret was given to us");
    let both =
        |current: &str, next: &str| vec![("current".to_owned(), json!(current)), ("next".to_owned(), json!(next))];
    assert_eq!(stages("bank_key"), both(&first, &second));
    assert_eq!(stages("inbound"), both("one", "two"));

    let rotated = site.json(&["bank", "rotate", &account]);
    assert_eq!(rotated["rotated"], json!(["bank_key", "inbound"]));
    assert_eq!(stages("bank_key"), [("current".to_owned(), json!(second))]);
    assert_eq!(stages("inbound"), [("current".to_owned(), json!("two"))]);
    assert!(site.run(&["bank", "rotate", &account]).failed(1)[0].contains("nothing to rotate to"));
    assert_eq!(site.audit().await[0].deed, Deed::BankRotated);
}

#[tokio::test]
async fn settings_are_the_profiles_unless_the_account_has_its_own() {
    let site = Site::on_sqlite();
    let account = site.bare_account();
    let setting = |name: &str| -> (String, bool) {
        let shown = site.show(&account);
        let settings = shown["settings"].as_array().unwrap().clone();
        let setting = settings.into_iter().find(|setting| setting["name"] == name).unwrap();
        (setting["value"].as_str().unwrap().to_owned(), setting["own"].as_bool().unwrap())
    };
    assert_eq!(setting("partner_service_id"), ("88899".to_owned(), true));
    assert_eq!(setting("channel_id"), ("95231".to_owned(), false));
    site.json(&["bank", "set", &account, "channel_id=95251", "deadline=5"]);
    assert_eq!(setting("channel_id"), ("95251".to_owned(), true));
    assert_eq!(setting("deadline"), ("5".to_owned(), true));
    site.json(&["bank", "set", &account, "channel_id="]);
    assert_eq!(setting("channel_id"), ("95231".to_owned(), false));
    assert_eq!(setting("deadline"), ("5".to_owned(), true));
    let changed: Vec<String> = site
        .audit()
        .await
        .into_iter()
        .filter(|line| line.deed == Deed::BankAccountChanged)
        .map(|line| line.detail)
        .collect();
    assert_eq!(changed, ["channel_id", "channel_id, deadline"]);
}

#[tokio::test]
async fn secrets_are_shown_once_and_stored_encrypted() {
    let site = Site::on_sqlite();
    let account = site.bare_account();
    site.json(&["bank", "key", &account, "--make"]);
    let made = site.json(&["bank", "inbound", &account])["secret"].as_str().unwrap().to_owned();
    let given = "a secret that the bank has chosen";
    let mut command = site.command(&["bank", "outbound", &account, "--client-id", "us", "--secret-file", "secret.txt"]);
    std::fs::write(site.program.directory.path().join("secret.txt"), format!("{given}\n")).unwrap();
    let ran: testkit::Ran = command.env("LUNAS_LOG", "trace").output().unwrap().into();
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(!ran.stdout.contains(given) && !ran.stderr.contains(given), "neither shown nor logged");
    let secrets = [made.as_str(), given, "PRIVATE KEY"];
    for arguments in [&["bank", "show", &account][..], &["bank", "list"], &["bank", "disable", &account], &["doctor"]] {
        for json in [&[][..], &["--json"]] {
            let ran = site.run(&[arguments, json].concat());
            for secret in secrets {
                assert!(!ran.stdout.contains(secret) && !ran.stderr.contains(secret), "{arguments:?}");
            }
        }
    }
    for line in site.audit().await {
        let text = format!("{} {}", line.subject, line.detail);
        assert!(secrets.iter().all(|secret| !text.contains(secret)), "{text}");
    }
    let stored = site.database.stored();
    let contains = |text: &str| stored.windows(text.len()).any(|window| window == text.as_bytes());
    assert!(contains("BCA Toko"), "the search finds what is there");
    for secret in secrets {
        assert!(!contains(secret), "{secret}");
    }
}

#[tokio::test]
async fn people_read_what_to_do_next() {
    let site = Site::on_sqlite();
    let add = ["bank", "add", "--profile", "bca", "--name", "BCA Toko", "--set", "partner_service_id=88899"];
    let ran = site.run(&add);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{ran:?}");
    let account = ran.stdout.lines().find_map(|line| line.strip_prefix("id")).unwrap().trim().to_owned();
    for words in [
        "enabled       no",
        &format!("inbound URL   https://api.lunas.test/snap/{account}"),
        "missing       the bank's public key, the client id and secret for the bank's calls",
        &format!("next: lunas bank key {account} --import FILE"),
    ] {
        assert!(ran.stdout.contains(words), "`{words}` is not in {}", ran.stdout);
    }
    let imported = site.run_with_input(&public_bank_key(), &["bank", "key", &account, "--import", "-"]);
    assert!(imported.stdout.contains(&format!("next: lunas bank inbound {account}")), "{imported:?}");
    let inbound = site.run(&["bank", "inbound", &account]);
    for words in ["client id  ", "secret     ", "not shown again", &format!("next: lunas bank enable {account}")] {
        assert!(inbound.stdout.contains(words), "`{words}` is not in {}", inbound.stdout);
    }
    let made = site.run(&["bank", "key", &account, "--make"]);
    assert!(made.stdout.starts_with("-----BEGIN PUBLIC KEY-----\n"), "{made:?}");
    let again = site.run(&["bank", "key", &account, "--make"]);
    assert!(again.stdout.contains("It waits as `next`"), "{again:?}");
    let shown = site.run(&["bank", "show", &account]);
    for words in ["SETTING", "partner_service_id", "88899", "account", "Our public key (next), for the bank:", "never"]
    {
        assert!(shown.stdout.contains(words), "`{words}` is not in {}", shown.stdout);
    }
    let mut elsewhere = site.command(&["bank", "show", &account]);
    let elsewhere: testkit::Ran = elsewhere.env_remove("LUNAS_BASE_URL").output().unwrap().into();
    assert!(elsewhere.stdout.contains("not known here: set LUNAS_BASE_URL"), "{elsewhere:?}");
    let listed = site.run(&["bank", "list"]);
    assert!(listed.stdout.starts_with("ID ") && listed.stdout.contains("BCA Toko"), "{listed:?}");
}

/// Regression: only the address before all of them was shown.
#[tokio::test]
async fn every_address_that_a_bank_needs_is_shown() {
    let site = Site::on_sqlite();
    let (token, inquiry, payment) =
        ("/v1.0/access-token/b2b", "/v1.0/transfer-va/inquiry", "/v1.0/transfer-va/payment");
    let (va, qr, debit) =
        ("/v1.0/transfer-va/notify-payment-intrabank", "/v1.0/qr/qr-mpm-notify", "/v1.0/debit/notify");
    for (profile, doors) in [
        ("bca", &[(73, token), (24, inquiry), (25, payment)][..]),
        ("bri-qris", &[(73, token), (52, qr)]),
        ("briva-ws", &[(73, token), (25, payment), (34, va)]),
        ("dana", &[(56, debit)]),
        ("midtrans", &[(52, qr)]),
    ] {
        let account = id(&site.json(&["bank", "add", "--profile", profile, "--name", profile]));
        let folder = format!("https://api.lunas.test/snap/{account}");
        let expected: Vec<Value> = doors
            .iter()
            .map(|(service, path)| {
                json!({ "service": service, "url": format!("{folder}{path}"), "path": format!("/snap/{account}{path}") })
            })
            .collect();
        assert_eq!(site.show(&account)["doors"], json!(expected), "{profile}");
        let text = site.run(&["bank", "show", &account]).stdout;
        for (_, path) in doors {
            assert!(text.contains(&format!("{folder}{path}\n")), "{path}: {text}");
        }
    }
    // Where the public URL is not known, the paths are shown.
    let account = site.bare_account();
    let mut elsewhere = site.command(&["bank", "show", &account, "--json"]);
    let elsewhere: testkit::Ran = elsewhere.env_remove("LUNAS_BASE_URL").output().unwrap().into();
    let shown = elsewhere.json(0);
    assert_eq!(shown["doors"][0]["url"], Value::Null);
    assert_eq!(shown["doors"][0]["path"], format!("/snap/{account}{token}"));
}

/// Regression: nothing was said to be missing, and the token door answered the bank 4017300.
#[tokio::test]
async fn an_acquirer_that_asks_for_a_token_is_not_ready_without_a_client_for_it() {
    let site = Site::on_sqlite();
    let add =
        ["bank", "add", "--profile", "bri-qris", "--name", "BRI", "--set", "merchant_id=M", "--set", "terminal_id=T"];
    let account = id(&site.json(&[&add[..], &["--set", "base_url=https://bank.example"]].concat()));
    // As the guide says, but for the client.
    site.json(&["bank", "key", &account, "--make"]);
    site.told_json(&public_bank_key(), &["bank", "key", &account, "--import", "-"]);
    let outbound = ["bank", "outbound", &account, "--client-id", "us", "--secret-file", "-"];
    site.told_json("a secret of the bank", &outbound);
    assert_eq!(site.show(&account)["missing"], json!(["inbound"]));
    let refused = site.run(&["bank", "enable", &account, "--json"]);
    assert!(refused.failed(1)[1].contains(&format!("lunas bank inbound {account}")), "{refused:?}");
    site.json(&["bank", "inbound", &account]);
    assert_eq!(site.json(&["bank", "enable", &account])["missing"], json!([]));
}
