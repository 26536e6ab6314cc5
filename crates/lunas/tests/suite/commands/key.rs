//! `lunas key create` and `lunas key list`: what a key may do, and from where.

use serde_json::{Value, json};

use crate::support::commands::program;

#[test]
fn a_key_has_the_rights_and_networks_that_the_command_names() {
    let program = program();
    let running = program.dev();
    let (project, database) = (running.said("project_id"), program.database());
    let create = |name: &str, more: &[&str]| {
        let arguments = ["key", "create", "--project", project, "--name", name, "--json", "--database", &database];
        program.json(&[&arguments[..], more].concat())
    };
    let rows: [(&str, &[&str], Value, Value); 5] = [
        ("usual", &[], json!(["payments"]), json!([])),
        ("reader", &["--rights", "none"], json!([]), json!([])),
        ("money", &["--rights", "held-money"], json!(["held-money"]), json!([])),
        (
            "all",
            &["--rights", "refunds, held-money, payments"],
            json!(["payments", "held-money", "refunds"]),
            json!([]),
        ),
        (
            "office",
            &["--networks", "203.0.113.7, 10.0.0.0/8"],
            json!(["payments"]),
            json!(["203.0.113.7/32", "10.0.0.0/8"]),
        ),
    ];
    let list = ["key", "list", "--project", project, "--database", &database];
    for (name, more, rights, networks) in rows {
        let made = create(name, more);
        assert_eq!((&made["rights"], &made["networks"]), (&rights, &networks), "{name}");
        let listed = program.json(&[&list[..], &["--json"]].concat());
        let listed = listed.as_array().unwrap().iter().find(|key| key["id"] == made["id"]).unwrap();
        assert_eq!((&listed["rights"], &listed["networks"]), (&rights, &networks), "{name}");
    }
    let shown = program.run(&list).stdout;
    for (name, rights, networks) in [
        (" dev ", "payments, held-money, refunds", "everywhere"),
        (" reader ", "read only", "everywhere"),
        (" office ", "payments ", "203.0.113.7/32, 10.0.0.0/8"),
    ] {
        let line = shown.lines().find(|line| line.contains(name)).unwrap();
        assert!(line.contains(rights) && line.contains(networks), "{line}");
    }
}

#[test]
fn wrong_rights_and_networks_exit_2_and_create_no_key() {
    let program = program();
    let running = program.dev();
    let (project, database) = (running.said("project_id"), program.database());
    for (more, said) in [
        (["--rights", "payouts"], "must be one of `payments`, `held-money`, `refunds`, or none alone"),
        (["--rights", "none,payments"], "or none alone"),
        (["--rights", ""], "or none alone"),
        (["--networks", "10.0.0.1,shop.example"], "`shop.example` must be an address or a network"),
        (["--networks", "10.0.0.5/8"], "`10.0.0.5/8` must be a whole network, such as 10.0.0.0/8, or one address"),
        (["--networks", ""], "`` must be an address or a network"),
    ] {
        let arguments = ["key", "create", "--project", project, "--name", "n", "--database", &database];
        let ran = program.run(&[&arguments[..], &more].concat());
        let reasons = ran.failed(2).join("\n");
        assert!(reasons.contains(said), "{more:?}: {reasons}");
    }
    let listed = program.json(&["key", "list", "--project", project, "--database", &database, "--json"]);
    assert_eq!(listed.as_array().unwrap().len(), 1, "that of `lunas dev`");
}

#[test]
fn a_key_is_rotated_by_command_and_the_old_one_goes_on_for_the_overlap() {
    let program = program();
    let running = program.dev();
    let (project, database) = (running.said("project_id"), program.database());
    let run = |arguments: &[&str]| program.run(&[arguments, &["--database", &database]].concat());
    let list = || run(&["key", "list", "--project", project, "--json"]).json(0);
    let old = list()[0]["id"].as_str().unwrap().to_owned();
    for (overlap, reason) in [("0", "from 1 to 720"), ("721", "from 1 to 720"), ("x", "from 1 to 720")] {
        let reasons = run(&["key", "rotate", &old, "--overlap", overlap]).failed(2).join("\n");
        assert!(reasons.contains(reason), "{reasons}");
    }
    let rotated = run(&["key", "rotate", &old, "--overlap", "1", "--json"]).json(0);
    assert_eq!((&rotated["old_id"], &rotated["name"]), (&json!(old), &json!("dev")));
    let listed = list();
    assert_eq!(listed.as_array().unwrap().len(), 2);
    assert_eq!(listed[0]["expires_at"], rotated["old_expires_at"]);
    assert_eq!(listed[1]["expires_at"], Value::Null);
    let reasons = run(&["key", "rotate", &old]).failed(1).join("\n");
    assert!(reasons.contains("replaced or revoked already"), "{reasons}");
    run(&["key", "rotate", "key_01kzdq3f5ve8x9m2r7t4w6y8za"]).failed(1);
}
