//! `lunas webhook rotate-secret`: a new secret, and a day in which both are valid.

use std::{fs, process::Command, time::Duration};

use domain::{
    signature::{TOLERANCE, Unverified, verify},
    time::Timestamp,
};
use engine::{Clock, SystemClock};
use serde_json::Value;
use testkit::{Program, Ran, Received, Receiver, Running};

use crate::support::commands::{dev, secret_key};

fn rotate(program: &Program, project: &str) -> Value {
    program.json(&["webhook", "rotate-secret", project, "--json"])
}

/// What `lunas dev` stores for the demo project.
fn kept(program: &Program) -> Value {
    serde_json::from_str(&fs::read_to_string(program.data().join("dev.json")).unwrap()).unwrap()
}

fn check(received: &Received, secret: &str) -> Result<(), Unverified> {
    verify(received.header("x-service-signature"), secret, &received.body, SystemClock.now(), TOLERANCE)
}

fn signatures(received: &Received) -> usize {
    received.header("x-service-signature").matches("v1=").count()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_running_server_signs_with_the_new_secret_and_with_the_old_one() {
    let (program, running) = dev();
    let (receiver, project) = (Receiver::start().await, running.said("project_id"));
    program.json(&["project", "update", project, "--webhook-url", &receiver.url(), "--json"]);
    program.json(&["trigger", "payment.paid", "--json"]);
    let old = running.said("webhook_secret");
    let before = receiver.arrived(1).await.remove(0);
    assert_eq!((check(&before, old), signatures(&before)), (Ok(()), 1));

    let asked_at = SystemClock.now();
    let rotated = rotate(&program, project);
    assert_eq!(rotated.as_object().unwrap().len(), 3);
    assert_eq!(rotated["project_id"], project);
    let until = Timestamp::parse(rotated["old_secret_until"].as_str().unwrap()).unwrap();
    let day = Duration::from_hours(24);
    assert!(asked_at.plus(day) <= until && until <= SystemClock.now().plus(day), "{rotated}");
    let new = rotated["webhook_secret"].as_str().unwrap();
    assert!(new.starts_with("whsec_") && new.len() == old.len() && new != old);

    program.json(&["trigger", "payment.paid", "--json"]);
    let after = receiver.arrived(2).await.remove(1);
    assert_eq!(signatures(&after), 2);
    fs::write(program.directory.path().join("body"), &after.body).unwrap();
    for secret in [new, old] {
        assert_eq!(check(&after, secret), Ok(()));
        let header = after.header("x-service-signature");
        let arguments = ["webhook", "verify", "--secret", secret, "--header", header, "--body", "body", "--json"];
        assert_eq!(program.json(&arguments)["genuine"], true);
    }

    // Only two secrets are valid at a time, so a third within a day must be confirmed.
    refused(program.command(&["webhook", "rotate-secret", project]), "less than a day ago");
    let newest = program.json(&["webhook", "rotate-secret", project, "--now", "--json"]);
    program.json(&["trigger", "payment.paid", "--json"]);
    let last = receiver.arrived(3).await.remove(2);
    assert_eq!(signatures(&last), 2);
    assert_eq!((check(&last, newest["webhook_secret"].as_str().unwrap()), check(&last, new)), (Ok(()), Ok(())));
    assert_eq!(check(&last, old), Err(Unverified::NoMatch));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_demo_projects_new_secret_is_kept_and_listeners_sign_with_it() {
    let (program, running) = dev();
    let before = kept(&program);
    let rotated = rotate(&program, running.said("project_id"));
    let new = rotated["webhook_secret"].as_str().unwrap();
    let mut wanted = before.clone();
    wanted["webhook_secret"] = new.into();
    assert_eq!(kept(&program), wanted, "and nothing else has changed");

    let receiver = Receiver::start().await;
    let directory = program.directory.path().join("listen");
    fs::create_dir_all(&directory).unwrap();
    let listen = program.command(&["listen", "--json", "--forward-to", &receiver.url()]);
    let _listening = Running::start(listen, &directory);
    program.json(&["trigger", "payment.paid", "--json"]);
    assert_eq!(check(&receiver.arrived(1).await[0], new), Ok(()));

    assert_eq!(running.terminate(), Some(0));
    assert_eq!(program.dev().said("webhook_secret"), new, "and so the next start finds it");
}

#[test]
fn people_are_told_what_to_do_with_the_new_secret() {
    let (program, running) = dev();
    let ran = program.run(&["webhook", "rotate-secret", running.said("project_id")]);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    let new = kept(&program)["webhook_secret"].as_str().unwrap().to_owned();
    assert!(ran.stdout.contains(&new) && new != running.said("webhook_secret"), "{ran:?}");
    assert!(
        ran.stdout.contains("old one until") && ran.stdout.contains("Give the new secret to the receiver"),
        "{ran:?}"
    );
}

#[test]
fn another_projects_rotation_leaves_the_demo_project_alone() {
    let (program, _running) = dev();
    let before = kept(&program);
    let other = program.json(&["project", "create", "--name", "Toko", "--environment", "sandbox", "--json"]);
    let rotated = rotate(&program, other["id"].as_str().unwrap());
    assert!(rotated["webhook_secret"] != other["webhook_secret"]);
    assert_eq!(kept(&program), before);
}

#[track_caller]
fn refused(mut command: Command, reason: &str) {
    let ran = Ran::from(command.output().unwrap());
    let lines = ran.failed(1);
    assert!(lines.len() == 1 && lines[0].contains(reason), "{reason}: {ran:?}");
    assert!(!ran.stderr.contains("whsec_"), "{ran:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_cannot_be_rotated_exits_1_with_one_line_and_stays_as_it_is() {
    let (program, running) = dev();
    let project = running.said("project_id");
    let (unknown, event) = (format!("prj_{}", "0".repeat(26)), format!("evt_{}", "0".repeat(26)));
    for json in [&[][..], &["--json"]] {
        let command = |project| program.command(&[&["webhook", "rotate-secret", project], json].concat());
        for wrong in [&unknown, "junk", "", &event, running.said("api_key"), "a\nb"] {
            refused(command(wrong), "there is no project");
        }
        for (key, reason) in [(secret_key().as_str(), "not the one"), ("junk", "base64")] {
            let mut command = command(project);
            command.env("LUNAS_SECRET_KEY", key);
            refused(command, reason);
        }
        let file = program.data().join("secret.key");
        let key = fs::read(&file).unwrap();
        fs::remove_file(&file).unwrap();
        refused(command(project), "LUNAS_SECRET_KEY");
        assert!(!file.exists(), "no other key was made");
        fs::write(&file, key).unwrap();
    }
    program.run(&["webhook", "rotate-secret"]).failed(2);

    let secret = running.said("webhook_secret");
    assert_eq!(kept(&program)["webhook_secret"], secret);
    let receiver = Receiver::start().await;
    program.json(&["project", "update", project, "--webhook-url", &receiver.url(), "--json"]);
    program.json(&["trigger", "payment.paid", "--json"]);
    let received = receiver.arrived(1).await.remove(0);
    assert_eq!((check(&received, secret), signatures(&received)), (Ok(()), 1));
}
