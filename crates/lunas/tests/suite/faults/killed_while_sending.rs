//! The real process ends while letters and notices are under way, and is started again.

use domain::user::Token;
use serde_json::{Value, json};
use testkit::{Answer, Manner, Program, Receiver, Relay, Running};

use crate::support::{commands::program, customer::Customer, history::create, people::sign_in, wait::until};

/// Each causes a letter and a notice.
const CAUSES: usize = 5;

/// `lunas dev` whose owner gets letters at the relay.
fn start(program: &Program, relay: &Relay) -> Running {
    program.dev_with(&["--mail-url", &relay.url(), "--mail-from", "Toko <toko@example.com>"])
}

/// The owner sets where notices go.
async fn notices_to(running: &Running, receiver: &Receiver) {
    let browser = Customer::at(running.address());
    let owner = (running.said("dashboard_email"), running.said("dashboard_password"));
    assert_eq!(sign_in(&browser, owner.0, owner.1).await.status, 303);
    let token = browser.cookie("/", "lunas_session").as_deref().and_then(Token::parse).unwrap().form_token();
    let path = format!("/dashboard/{}/settings/notices", running.said("project_id"));
    let form = browser.form(&path, &[("url", &receiver.url()), ("form_token", &token)]);
    assert_eq!(browser.send(form.header("sec-fetch-site", "same-origin")).await.status, 200);
}

/// Money comes that fits no payment, so often.
async fn hold(running: &Running) {
    let api = running.api();
    for number in 0..CAUSES {
        let (status, payment) = create(&api, running.said("project_id"), &format!("held-{number}")).await.unwrap();
        assert_eq!(status, 201, "{payment}");
        let path = format!("/v1/sandbox/payments/{}/simulate", payment["id"].as_str().unwrap());
        let report = json!({ "outcome": "paid", "amount": 7_001, "receipt_id": format!("receipt-{number}") });
        api.post(&path, &report).await.expect(200);
    }
}

async fn all_are_sent(program: &Program) {
    let listed = || program.json(&["mail", "list", "--json", "--database", &program.database()]);
    let is_sent = |letter: &Value| letter["state"] == "sent";
    let ended = || listed().as_array().is_some_and(|all| all.len() == 2 * CAUSES && all.iter().all(is_sent));
    until(async || tokio::task::block_in_place(ended)).await;
}

/// How many notices came, and how many of them are different.
fn notices(receiver: &Receiver) -> (usize, usize) {
    different(receiver.received().iter().map(|notice| notice.event_id()).collect())
}

fn letters(relay: &Relay) -> (usize, usize) {
    different(relay.taken().iter().map(|letter| letter.header("Message-ID").unwrap()).collect())
}

fn different(mut all: Vec<String>) -> (usize, usize) {
    let count = all.len();
    all.sort();
    all.dedup();
    (count, all.len())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn kill_9_loses_no_letter_and_no_notice_and_repeats_what_was_under_way_alone() {
    let (program, relay) = (program(), Relay::with(Manner::HangsAfterTaking).await);
    let receiver = Receiver::answering(Answer::Hang).await;
    let running = start(&program, &relay);
    notices_to(&running, &receiver).await;
    hold(&running).await;
    relay.has(1).await;
    receiver.arrived(2).await;
    running.kill();
    let (taken, arrived) = (relay.taken().len(), receiver.count());
    relay.behave(Manner::Takes);
    receiver.answer(Answer::Status(200));
    let running = start(&program, &relay);
    all_are_sent(&program).await;
    assert_eq!(letters(&relay), (CAUSES + taken, CAUSES));
    assert_eq!(notices(&receiver), (CAUSES + arrived, CAUSES));
    drop(running);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sigterm_lets_letters_and_notices_under_way_end_and_repeats_none() {
    let (program, relay, receiver) = (program(), Relay::with(Manner::Slow).await, Receiver::start().await);
    let running = start(&program, &relay);
    notices_to(&running, &receiver).await;
    hold(&running).await;
    relay.has(1).await;
    assert_eq!(running.terminate(), Some(0));
    relay.behave(Manner::Takes);
    let running = start(&program, &relay);
    all_are_sent(&program).await;
    assert_eq!((letters(&relay), notices(&receiver)), ((CAUSES, CAUSES), (CAUSES, CAUSES)));
    drop(running);
}
