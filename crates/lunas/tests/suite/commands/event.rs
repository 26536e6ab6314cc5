//! `lunas event` shows what was sent to merchants and with what result, and sends it again.

use domain::time::Timestamp;
use serde_json::{Value, json};
use testkit::{Answer, Program, Ran, Receiver, Running};

use crate::support::{commands::program, wait::until};

/// `lunas dev`, the commands beside it, and the receiver of the demo project's webhooks.
struct Shop {
    program: Program,
    running: Running,
    receiver: Receiver,
}

impl Shop {
    /// A shop without a webhook URL.
    async fn silent() -> Shop {
        let program = program();
        let running = program.dev();
        Shop { program, running, receiver: Receiver::start().await }
    }

    /// A shop whose receiver gives these answers first, and 503 after them.
    async fn answering(answers: impl IntoIterator<Item = Answer>) -> Shop {
        let shop = Shop::silent().await;
        shop.receiver.answer_next(answers);
        shop.receiver.answer(Answer::Status(503));
        shop.tell(&shop.receiver.url());
        shop
    }

    fn project(&self) -> &str {
        self.running.said("project_id")
    }

    fn tell(&self, url: &str) {
        self.program.json(&["project", "update", self.project(), "--webhook-url", url, "--json"]);
    }

    fn run(&self, arguments: &[&str]) -> Ran {
        self.program.run(&[&["event"], arguments].concat())
    }

    #[track_caller]
    fn json(&self, arguments: &[&str]) -> Value {
        self.run(&[arguments, &["--json"]].concat()).json(0)
    }

    /// The output for people.
    #[track_caller]
    fn text(&self, arguments: &[&str]) -> String {
        let ran = self.run(arguments);
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{ran:?}");
        ran.stdout
    }

    fn list(&self, more: &[&str]) -> Value {
        self.json(&[&["list", "--project", self.project()], more].concat())
    }

    fn recover(&self, since: &Value) -> Vec<String> {
        let arguments = ["recover", "--project", self.project(), "--since", since.as_str().unwrap()];
        arguments.map(str::to_owned).to_vec()
    }

    /// Triggers an event; returns its id and that of its subject.
    fn trigger(&self, kind: &str) -> (String, String) {
        let made = self.program.json(&["trigger", kind, "--json"]);
        let subject = if kind == "apikey.deleted" { "api_key_id" } else { "payment_id" };
        (made["event_id"].as_str().unwrap().to_owned(), made[subject].as_str().unwrap().to_owned())
    }

    /// Waits until at least so many attempts are recorded; returns what `show` prints then.
    async fn attempted(&self, event: &str, count: u64) -> Value {
        until(async || self.json(&["show", event])["attempts"].as_u64() >= Some(count)).await;
        self.json(&["show", event])
    }
}

fn moment(value: &Value) -> Timestamp {
    Timestamp::parse(value.as_str().unwrap()).unwrap()
}

fn words(line: &str) -> Vec<&str> {
    line.split_whitespace().collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_list_shows_how_each_delivery_stands() {
    let shop = Shop::silent().await;
    let (untold, payment) = shop.trigger("payment.paid");
    shop.receiver.answer_next([Answer::Status(204)]);
    shop.receiver.answer(Answer::Status(503));
    shop.tell(&shop.receiver.url());
    let (delivered, refused) = shop.trigger("payment.failed");
    shop.attempted(&delivered, 1).await;
    let (retried, key) = shop.trigger("apikey.deleted");
    let shown = shop.attempted(&retried, 1).await;
    assert!(moment(&shown["next_attempt_at"]) > moment(&shown["tries"][0]["at"]), "{shown}");

    let list = shop.list(&[]);
    let wanted = [
        (&retried, "apikey.deleted", &key, "pending"),
        (&delivered, "payment.failed", &refused, "delivered"),
        (&untold, "payment.paid", &payment, "none"),
    ];
    assert_eq!(list.as_array().unwrap().len(), 3, "{list}");
    for (line, (id, kind, subject, delivery)) in list.as_array().unwrap().iter().zip(wanted) {
        let event = shop.running.api().get(&format!("/v1/events/{id}")).await.expect(200);
        let mut wanted = json!({
            "id": id, "type": kind, "subject": subject, "created_at": event["created_at"], "delivery": delivery,
            "attempts": u64::from(delivery == "delivered"), "next_attempt_at": null,
        });
        if delivery == "pending" {
            assert!(line["attempts"].as_u64() >= Some(1) && line["next_attempt_at"].is_string(), "{line}");
            (wanted["attempts"], wanted["next_attempt_at"]) =
                (line["attempts"].clone(), line["next_attempt_at"].clone());
        }
        assert_eq!(*line, wanted);
    }

    let table = shop.text(&["list", "--project", shop.project()]);
    let rows: Vec<Vec<&str>> = table.lines().map(words).collect();
    assert_eq!(rows[0], ["ID", "TYPE", "SUBJECT", "CREATED", "DELIVERY", "ATTEMPTS", "NEXT", "ATTEMPT"]);
    for (row, (id, kind, subject, delivery)) in rows[1..].iter().zip(wanted) {
        assert_eq!((row[0], row[1], row[2], row[4]), (id.as_str(), kind, subject.as_str(), delivery));
        assert_eq!(row.len(), if delivery == "pending" { 7 } else { 6 }, "only what is tried again has a next time");
    }
    assert_eq!(rows.len(), 4);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_list_has_one_project_one_type_and_as_many_as_are_asked_for() {
    let shop = Shop::silent().await;
    let triggered = ["payment.paid", "payment.failed", "payment.paid"].map(|kind| shop.trigger(kind).0);
    let ids = |more: &[&str]| -> Vec<String> {
        let list = shop.list(more);
        list.as_array().unwrap().iter().map(|line| line["id"].as_str().unwrap().to_owned()).collect()
    };
    let [first, failed, last] = &triggered;
    assert_eq!(ids(&["--type", "payment.paid"]), [last.as_str(), first]);
    assert_eq!(ids(&["--type", "payment.failed"]), [failed.as_str()]);
    assert_eq!(ids(&["--type", "apikey.deleted"]), [""; 0]);
    assert_eq!(ids(&["--limit", "1"]), [last.as_str()]);
    assert_eq!(ids(&["--limit", "2"]), [last.as_str(), failed]);
    assert_eq!(ids(&["--limit", "1000"]), [last.as_str(), failed, first]);
    assert_eq!(ids(&["--limit", "1", "--type", "payment.failed"]), [failed.as_str()]);

    let other = shop.program.json(&["project", "create", "--name", "Toko", "--environment", "sandbox", "--json"]);
    let other = ["list", "--project", other["id"].as_str().unwrap()];
    assert_eq!(shop.json(&other), json!([]));
    assert_eq!(shop.text(&other).lines().count(), 1, "the headings");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_attempt_is_shown_with_its_status_its_latency_its_failure_and_its_answer() {
    let answers = [Answer::Body(500, b"no room".to_vec()), Answer::Close, Answer::Body(200, b"thanks".to_vec())];
    let shop = Shop::answering(answers).await;
    let (event, payment) = shop.trigger("payment.paid");
    for made in 1..=2 {
        shop.attempted(&event, made).await;
        shop.json(&["resend", &event]);
    }
    let shown = shop.attempted(&event, 3).await;
    let wanted = json!({
        "id": event, "type": "payment.paid", "subject": payment, "project_id": shop.project(), "delivery": "delivered",
        "attempts": 3, "next_attempt_at": null, "created_at": shown["created_at"], "tries": shown["tries"],
    });
    assert_eq!(shown, wanted);
    let tries = shown["tries"].as_array().unwrap();
    assert_eq!(tries.len(), 3);
    for (attempt, (status, failure, answer)) in tries.iter().zip([
        (json!(500), json!("status"), "no room"),
        (Value::Null, json!("closed"), ""),
        (json!(200), Value::Null, "thanks"),
    ]) {
        assert_eq!((&attempt["status"], &attempt["failure"], &attempt["answer"]), (&status, &failure, &json!(answer)));
        assert_eq!(attempt["detail"].is_null(), failure.is_null(), "a failure is explained: {attempt}");
        assert!(attempt["latency_ms"].is_u64() && moment(&attempt["at"]) >= moment(&shown["created_at"]), "{attempt}");
    }
    assert!(tries.is_sorted_by_key(|attempt| moment(&attempt["at"])));

    let text = shop.text(&["show", &event]);
    let lines: Vec<&str> = text.lines().collect();
    for (line, wanted) in lines.iter().zip([["id", &event], ["type", "payment.paid"], ["subject", &payment]]) {
        assert_eq!(words(line), wanted);
    }
    assert!(lines.contains(&"next attempt  none"), "{text}");
    let heading = lines.iter().position(|line| words(line) == ["AT", "TOOK", "STATUS", "FAILURE", "ANSWER"]).unwrap();
    let rows = &lines[heading + 1..];
    assert_eq!(rows.len(), 3, "{text}");
    for (row, wanted) in rows.iter().zip(["500     the receiver answered 500", " ms ", " 200 "]) {
        assert!(row.contains(" ms") && row.contains(wanted), "{text}");
    }
    assert!(rows[0].ends_with("no room") && rows[2].ends_with("thanks"), "{text}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_event_that_was_not_sent_is_shown_without_attempts() {
    let shop = Shop::silent().await;
    let (event, _) = shop.trigger("payment.paid");
    let shown = shop.json(&["show", &event]);
    assert_eq!((&shown["delivery"], &shown["attempts"], &shown["tries"]), (&json!("none"), &json!(0), &json!([])));
    let text = shop.text(&["show", &event]);
    assert!(text.ends_with("No attempt was made.\n"), "{text}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_receiver_answers_cannot_move_the_cursor_or_fill_the_screen() {
    let escapes = "\u{1b}[2J\u{1b}]0;owned\u{7}\u{9b}31m\u{202e}\u{7f}\u{8}\rgone\nlunas: all is well\n\tÿ\u{0}";
    let hostile = [escapes.as_bytes(), b"\xff\xfe", &[b'x'; 5 * 1_024]].concat();
    let shop = Shop::answering([Answer::Body(500, hostile)]).await;
    let (event, _) = shop.trigger("payment.paid");
    shop.attempted(&event, 1).await;

    let text = shop.text(&["show", &event]);
    let stray = |character: char| character != '\n' && (character.is_control() || character == '\u{202e}');
    assert!(!text.contains(stray), "{text:?}");
    let (_, attempts) = text.split_once("ANSWER\n").unwrap();
    assert!(attempts.lines().all(|line| line.contains(" ms ")), "one line for each attempt: {text}");
    assert!(attempts.lines().next().unwrap().contains(r"\u{1b}[2J"), "it is still to be recognised: {text}");
    assert!(text.lines().all(|line| line.chars().count() < 200), "{text}");

    // Programs get everything that is stored; JSON escapes control characters.
    let ran = shop.run(&["show", &event, "--json"]);
    let answer = ran.json(0)["tries"][0]["answer"].as_str().unwrap().to_owned();
    assert!(answer.starts_with(&escapes[..10]) && (4_000..=4_096).contains(&answer.len()), "{}", answer.len());
    assert!(!ran.stdout.trim_end().contains(|character: char| character.is_ascii_control() && character != '\u{7f}'));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn resending_brings_the_same_event_again() {
    let shop = Shop::silent().await;
    let (event, _) = shop.trigger("payment.paid");
    shop.tell(&shop.receiver.url());
    // First an event that was not sent, then one that was delivered.
    for made in 1..=2 {
        let resent = shop.json(&["resend", &event]);
        assert_eq!((&resent["id"], &resent["type"]), (&json!(event), &json!("payment.paid")));
        let received = shop.receiver.arrived(made).await;
        assert_eq!((received.len(), received[made - 1].event_id()), (made, event.clone()));
        assert_eq!(received[made - 1].body, received[0].body);
        let shown = shop.attempted(&event, made as u64).await;
        assert_eq!((&shown["delivery"], &shown["attempts"]), (&json!("delivered"), &json!(made)));
    }
    assert_eq!(shop.text(&["resend", &event]), format!("{event} will be sent again\n"));
    assert_eq!(shop.receiver.arrived(3).await[2].event_id(), event);
    assert_eq!(shop.list(&[]).as_array().unwrap().len(), 1, "it is no new event");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn recovering_resends_what_failed_since_then_and_nothing_else() {
    let shop = Shop::silent().await;
    let (early, _) = shop.trigger("payment.paid");
    shop.tell(&shop.receiver.url());
    let (delivered, _) = shop.trigger("payment.failed");
    shop.attempted(&delivered, 1).await;
    shop.receiver.answer(Answer::Status(503));
    let failed = ["payment.paid", "apikey.deleted"].map(|kind| shop.trigger(kind).0);
    shop.json(&["resend", &early]);
    for event in [&early, &failed[0], &failed[1]] {
        shop.attempted(event, 1).await;
    }
    let created = |event: &str| shop.json(&["show", event])["created_at"].clone();
    let recover = |since: &Value, more: &[&str]| {
        let arguments = shop.recover(since);
        shop.run(&[&arguments.iter().map(String::as_str).collect::<Vec<_>>(), more].concat())
    };
    assert_eq!(recover(&created(&delivered), &["--json"]).json(0), json!({ "requeued": 2 }));
    // What waits to be sent again is not counted until that has failed too. On a slow machine, retries may come in between.
    let one_again = async || {
        let ran = recover(&created(&failed[1]), &[]);
        let said = ran.stdout.as_str();
        assert!(["0 events will be sent again\n", "1 event will be sent again\n"].contains(&said), "{ran:?}");
        said.starts_with('1')
    };
    until(one_again).await;
    assert_eq!(recover(&json!("2999-01-01T00:00:00+07:00"), &[]).stdout, "0 events will be sent again\n");
    let all_again = || recover(&json!("0000-01-01T00:00:00Z"), &["--json"]).json(0)["requeued"].clone();
    until(async || all_again() == 3).await;

    shop.receiver.answer(Answer::Status(200));
    for event in [&early, &failed[0], &failed[1]] {
        // Before the receiver was well, they may have failed twice since then. Their own retry would come half a minute later.
        let is_delivered = async || {
            all_again();
            shop.json(&["show", event])["delivery"] == "delivered"
        };
        until(is_delivered).await;
    }
    assert_eq!(shop.json(&["show", &delivered])["attempts"], 1, "what was delivered was left alone");
    assert_eq!(recover(&json!("1999-01-01T00:00:00Z"), &["--json"]).json(0), json!({ "requeued": 0 }));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_a_webhook_url_resending_fails_and_says_what_to_do() {
    let shop = Shop::silent().await;
    let (event, _) = shop.trigger("payment.paid");
    let before = shop.list(&[]);
    for json in [&[][..], &["--json"]] {
        for arguments in
            [&["resend", &event][..], &["recover", "--project", shop.project(), "--since", "1999-01-01T00:00:00Z"]]
        {
            let ran = shop.run(&[arguments, json].concat());
            let lines = ran.failed(1);
            assert!(lines.len() == 1 && lines[0].contains("no webhook URL"), "{ran:?}");
            assert!(lines[0].contains("lunas project update") && lines[0].contains("--webhook-url"), "{ran:?}");
        }
    }
    assert_eq!(shop.list(&[]), before);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_list_needs_no_project_where_there_is_only_one() {
    let shop = Shop::silent().await;
    shop.trigger("payment.paid");
    assert_eq!(shop.json(&["list"]), shop.list(&[]));
    shop.program.json(&["project", "create", "--name", "Lain", "--environment", "sandbox", "--json"]);
    let ran = shop.run(&["list"]);
    let lines = ran.failed(1);
    assert!(lines.len() == 1 && lines[0].contains("there are 2 projects"), "{lines:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_unknown_event_is_reported_in_one_line_and_changes_nothing() {
    let shop = Shop::silent().await;
    shop.tell(&shop.receiver.url());
    let (event, payment) = shop.trigger("payment.paid");
    shop.attempted(&event, 1).await;
    let before = shop.list(&[]);
    let id = |prefix: &str| format!("{prefix}_{}", "0".repeat(26));
    let (no_event, no_project) = (id("evt"), id("prj"));
    let since = ["--since", "1999-01-01T00:00:00Z"];
    for wrong in [&no_event, "junk", "", "evt_", &event.to_uppercase(), &payment, shop.project(), "a\nb\u{1b}[2J"] {
        for command in ["show", "resend"] {
            for json in [&[][..], &["--json"]] {
                let ran = shop.run(&[&[command, wrong], json].concat());
                let lines = ran.failed(1);
                assert!(lines.len() == 1 && lines[0].contains("there is no event"), "{wrong:?}: {ran:?}");
                assert!(!lines[0].contains('\u{1b}'), "{ran:?}");
            }
        }
    }
    for wrong in [&no_project, "junk", "", &event, "a\nb\u{1b}[2J"] {
        for arguments in [&["list", "--project", wrong][..], &["recover", "--project", wrong, since[0], since[1]]] {
            let ran = shop.run(arguments);
            let lines = ran.failed(1);
            assert!(lines.len() == 1 && lines[0].contains("there is no project"), "{wrong:?}: {ran:?}");
            assert!(!lines[0].contains('\u{1b}'), "{ran:?}");
        }
    }
    assert_eq!((shop.list(&[]), shop.receiver.count()), (before, 1));
}

#[test]
fn wrong_arguments_exit_2_and_say_what_is_possible() {
    let program = program();
    let project = format!("prj_{}", "0".repeat(26));
    for (arguments, reason) in [
        (&["list", "--project", &project, "--limit", "0"][..], "1..=1000"),
        (&["list", "--project", &project, "--limit", "1001"], "1..=1000"),
        (&["list", "--project", &project, "--limit=-1"], "1..=1000"),
        (&["list", "--project", &project, "--limit", "many"], "--limit"),
        (&["list", "--project", &project, "--type", "payment.refunded"], "payment.paid, payment.failed"),
        (&["list", "--project", &project, "--type", ""], "payment.paid"),
        (&["show"], "<ID>"),
        (&["resend"], "<ID>"),
        (&["recover", "--since", "2026-11-15T00:00:00Z"], "--project"),
        (&["recover", "--project", &project], "--since"),
        (&["recover", "--project", &project, "--since", "yesterday"], "2026-11-15T09:30:00+07:00"),
        (&["recover", "--project", &project, "--since", "2026-11-15"], "2026-11-15T09:30:00+07:00"),
        (&["recover", "--project", &project, "--since", "2026-13-45T00:00:00Z"], "2026-11-15T09:30:00+07:00"),
    ] {
        let ran = program.run(&[&["event"], arguments].concat());
        ran.failed(2);
        assert!(ran.stderr.contains(reason), "{arguments:?}: {ran:?}");
    }
    assert_eq!(std::fs::read_dir(program.directory.path()).unwrap().count(), 0, "nothing was made");
}
