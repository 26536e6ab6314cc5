//! Whatever a bank does to a call, nothing is lost, nothing is doubled, one code can be paid, and the log of calls says what
//! happened. A bank that fails again and again is left alone for a while, and delays no other.

use std::{sync::Arc, time::Duration};

use demobank::{Fault, Service};
use domain::{bank::Bank, method::Method, payment::Checkout};
use engine::Attempt;
use gateway::SendLimits;
use serde_json::{Value, json};
use testkit::{Kit, Reply, on_every_database, on_sqlite_alone};

use crate::support::{
    acquirers::{AMOUNT, Acquired, QRIS_PROFILES, acquired, acquired_for, ask_after, code_of, hosted_there, silently},
    customer::{Customer, attribute, is_page, link_path},
    json::{text, with},
    links::{cancel_link, create_link},
    payments::{count_payments, fresh_key, status, unapplied},
    wait::until,
};

on_every_database![
    whatever_happens_to_an_order_there_is_one_payment_and_one_code_that_can_be_paid,
    whatever_happens_to_a_question_the_money_is_found,
    whatever_happens_to_a_void_the_code_is_voided,
    while_a_bank_is_gone_nothing_is_lost,
    a_code_that_may_exist_is_not_ordered_anew_while_the_bank_is_gone,
];

on_sqlite_alone![
    a_redirect_is_never_followed,
    a_bank_without_tls_is_not_called_and_the_key_can_be_used_again,
    a_bank_whose_token_is_refused_again_is_asked_no_third_time,
    five_faults_close_a_method_and_no_other,
    a_closed_method_is_opened_by_a_probe_that_succeeds,
    a_retry_while_the_bank_is_left_alone_is_answered_at_once,
    refusals_never_close_a_method,
    a_bank_that_hangs_delays_no_other on 2 threads,
];

/// The longest answer that anybody would send.
const LONG: usize = 1_000_000;
const TEN_MINUTES_MS: i64 = 10 * 60 * 1_000;

#[track_caller]
fn unavailable(reply: Reply) {
    reply.refused(503, "PAYMENT_PROVIDER_UNAVAILABLE");
}

/// The codes of the latest calls to the bank by one service, the newest first, as operators see them.
async fn logged(kit: &Kit, acquired: &Acquired, service: Service) -> Vec<String> {
    kit.engine.save_bank_calls().await.unwrap();
    let calls = kit.store.bank_calls(acquired.account, 200).await.unwrap();
    let ours = calls.into_iter().filter(|call| call.outbound && call.service.to_string() == service.digits());
    ours.map(|call| call.code).collect()
}

/// What follows from a fault of an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Follows {
    /// The payment at once.
    Payment,
    /// Nobody knows, so the job finds out.
    Unknown,
    /// The bank has made nothing, or what it made is voided: a retry orders anew.
    Refused,
}

/// Each fault of an order, what follows, and what the log of calls says; none where the bank's own code is logged.
fn faults_of_orders() -> Vec<(Fault, Follows, Option<&'static str>)> {
    use Follows::{Payment, Refused, Unknown};
    vec![
        (Fault::Long(LONG), Unknown, Some("unreadable")),
        (Fault::ContentType("text/html"), Payment, None),
        (Fault::WrongCode("5009999".to_owned()), Payment, None),
        (Fault::WrongStatus(500), Unknown, None),
        (Fault::WrongStatus(404), Refused, Some("http_404")),
        (Fault::WrongStatus(401), Refused, None),
        (Fault::Status(202), Unknown, None),
        (Fault::StatusAfter(202), Unknown, None),
        (Fault::Status(429), Refused, None),
        (Fault::Status(500), Unknown, None),
        (Fault::StatusAfter(503), Unknown, None),
        (Fault::StatusAfter(504), Unknown, None),
        (Fault::BrokenJson, Unknown, Some("unreadable")),
        (Fault::WhiteSpace, Payment, None),
        (Fault::BareNumbers, Payment, None),
        (Fault::Duplicate, Unknown, None),
        (Fault::SkewedClock(TEN_MINUTES_MS), Refused, None),
        (Fault::SkewedClock(-TEN_MINUTES_MS), Refused, None),
        (Fault::LostAfter, Unknown, Some("cut_off")),
        (Fault::LostBefore, Unknown, Some("cut_off")),
        (Fault::TokenDies, Payment, None),
        (Fault::Late(Duration::from_millis(50)), Payment, None),
    ]
}

async fn whatever_happens_to_an_order_there_is_one_payment_and_one_code_that_can_be_paid(kit: Arc<Kit>) {
    for acquired in [acquired(&kit, "midtrans").await, hosted_there(&kit, "briva-ws").await] {
        let service = acquired.issue_service();
        for (row, (fault, follows, code)) in faults_of_orders().into_iter().enumerate() {
            // Faults that lie further apart do not close the method.
            kit.clock.advance(Duration::from_mins(1));
            let key = fresh_key();
            let calls = acquired.asked_to_issue();
            acquired.asked.fail_next_of(service, fault.clone());
            let reply = acquired.pay(&key).await;
            let logged = logged(&kit, &acquired, service).await;
            let asked = acquired.asked_to_issue() - calls;
            assert_eq!(logged.len().min(200), acquired.asked_to_issue().min(200), "one line for each call: {fault:?}");
            assert_eq!(asked, if fault == Fault::TokenDies { 2 } else { 1 }, "{fault:?}");
            if let Some(code) = code {
                assert_eq!(logged[0], code, "{fault:?}");
            }
            let payment = match follows {
                Follows::Payment => reply.expect(201),
                Follows::Unknown | Follows::Refused => {
                    unavailable(reply);
                    if follows == Follows::Unknown {
                        kit.clock.advance(Duration::from_secs(10));
                    }
                    acquired.pay(&key).await.expect(200)
                }
            };
            ask_after(&kit, Duration::from_secs(1)).await;
            let code = acquired.asked.code(code_of(&payment)).unwrap();
            assert_eq!(acquired.payable(), [code.reference], "{fault:?}");
            acquired.pays(&payment).await;
            assert_eq!(status(&acquired.project, &payment).await, "paid", "{fault:?}");
            let count = i64::try_from(row).unwrap() + 1;
            assert_eq!((count_payments(&acquired.project, "").await, unapplied(&acquired.project).await), (count, 0));
        }
    }
}

/// Each fault of a call that may be repeated, whether or not it was understood.
fn faults_of_repeatable_calls() -> Vec<Fault> {
    let orders = faults_of_orders().into_iter().map(|(fault, ..)| fault);
    let refusals = [Fault::Case(400, "00"), Fault::Case(403, "00"), Fault::Case(401, "00"), Fault::Status(504)];
    orders.chain(refusals).collect()
}

async fn whatever_happens_to_a_question_the_money_is_found(kit: Arc<Kit>) {
    for acquired in [acquired(&kit, "midtrans").await, hosted_there(&kit, "briva-ws").await] {
        let service = if acquired.method == Method::Qris { Service::Query } else { Service::Status };
        let faults = faults_of_repeatable_calls();
        let mut payments = Vec::new();
        for fault in &faults {
            acquired.asked.fail_next_of(service, fault.clone());
            let payment = acquired.payment().await;
            acquired.pays_as(&payment, silently()).await;
            payments.push(payment);
        }
        ask_after(&kit, Duration::from_hours(25)).await;
        let all_paid = async || {
            let mut paid = 0;
            for payment in &payments {
                paid += usize::from(status(&acquired.project, payment).await == "paid");
            }
            paid == payments.len()
        };
        // Each round, those that are asked without a fault are found; the method may be closed for a round.
        for _ in 0..40 {
            if all_paid().await {
                break;
            }
            ask_after(&kit, Duration::from_mins(6)).await;
        }
        assert!(all_paid().await);
        assert!(acquired.asked.calls_of(service).len() > faults.len(), "every fault was met");
        assert_eq!(logged(&kit, &acquired, service).await.len(), acquired.asked.calls_of(service).len());
        assert_eq!((unapplied(&acquired.project).await, acquired.asked_to_issue()), (0, payments.len()));
    }
}

/// A payment by a link, whose cancellation voids the code.
async fn of_link(kit: &Kit, acquired: &Acquired) -> (Value, domain::payment::Payment) {
    let link = create_link(&acquired.project, json!({})).await;
    let attempt = Attempt::new(acquired.method, Checkout::default());
    let payment = kit.engine.attempt_link(text(&link, "id").parse().unwrap(), &attempt).await.unwrap();
    (link, payment)
}

async fn whatever_happens_to_a_void_the_code_is_voided(kit: Arc<Kit>) {
    for acquired in [acquired(&kit, "midtrans").await, hosted_there(&kit, "briva-ws").await] {
        let service = if acquired.method == Method::Qris { Service::Cancel } else { Service::DeleteVa };
        let faults = faults_of_repeatable_calls();
        for fault in &faults {
            acquired.asked.fail_next_of(service, fault.clone());
            let (link, _) = of_link(&kit, &acquired).await;
            cancel_link(&acquired.project, &link).await;
        }
        assert_eq!(acquired.payable().len(), faults.len());
        for _ in 0..40 {
            if acquired.payable().is_empty() {
                break;
            }
            ask_after(&kit, Duration::from_mins(6)).await;
        }
        assert!(acquired.payable().is_empty(), "{:?}", acquired.payable());
        assert_eq!(logged(&kit, &acquired, service).await.len(), acquired.asked.calls_of(service).len());
        assert_eq!(count_payments(&acquired.project, "status=cancelled").await, i64::try_from(faults.len()).unwrap());
    }
}

async fn a_redirect_is_never_followed(kit: Arc<Kit>) {
    let (acquired, elsewhere) = (acquired(&kit, "midtrans").await, acquired(&kit, "midtrans").await);
    let redirect = Fault::Redirect(format!("{}/v1.0/qr/qr-mpm-generate", elsewhere.doors.url()));
    acquired.asked.fail_next_of(Service::Generate, redirect.clone());
    unavailable(acquired.pay("key").await);
    assert_eq!(logged(&kit, &acquired, Service::Generate).await, ["http_307"]);
    let payment = acquired.pay("key").await.expect(200);
    acquired.pays_as(&payment, silently()).await;
    acquired.asked.fail_next_of(Service::Query, redirect.clone());
    ask_after(&kit, Duration::from_hours(25)).await;
    assert_eq!(status(&acquired.project, &payment).await, "expired", "nobody knows yet");
    ask_after(&kit, Duration::from_hours(2)).await;
    assert_eq!(status(&acquired.project, &payment).await, "paid");
    let (link, _) = of_link(&kit, &acquired).await;
    acquired.asked.fail_next_of(Service::Cancel, redirect.clone());
    cancel_link(&acquired.project, &link).await;
    ask_after(&kit, Duration::ZERO).await;
    assert_eq!(acquired.payable().len(), 1);
    ask_after(&kit, Duration::from_mins(10)).await;
    assert!(acquired.payable().is_empty());
    // Nor a redirect of the token.
    kit.clock.advance(Duration::from_mins(20));
    acquired.asked.fail_next_of(Service::Token, redirect);
    unavailable(acquired.pay("token").await);
    acquired.pay("token").await.expect(200);
    assert!(elsewhere.asked.calls().is_empty());
}

async fn set_address(kit: &Kit, acquired: &Acquired, url: &str) {
    let settings = [("base_url".to_owned(), url.to_owned())].into();
    kit.engine.set_bank_account(acquired.account, &settings).await.unwrap();
}

async fn a_bank_without_tls_is_not_called_and_the_key_can_be_used_again(kit: Arc<Kit>) {
    let acquired = acquired(&kit, "midtrans").await;
    let payment = acquired.payment().await;
    acquired.pays_as(&payment, silently()).await;
    let calls = acquired.asked.calls().len();
    // Nobody speaks TLS there.
    let url = acquired.doors.url();
    set_address(&kit, &acquired, &url.replace("http://", "https://")).await;
    unavailable(acquired.pay("key").await);
    assert_eq!(logged(&kit, &acquired, Service::Generate).await[0], "not_reached");
    ask_after(&kit, Duration::from_hours(25)).await;
    assert_eq!(logged(&kit, &acquired, Service::Query).await[0], "not_reached");
    assert_eq!((acquired.asked.calls().len(), count_payments(&acquired.project, "").await), (calls, 1));
    set_address(&kit, &acquired, &url).await;
    acquired.pay("key").await.expect(200);
    ask_after(&kit, Duration::from_hours(2)).await;
    assert_eq!(status(&acquired.project, &payment).await, "paid");
}

async fn while_a_bank_is_gone_nothing_is_lost(kit: Arc<Kit>) {
    for profile in QRIS_PROFILES {
        let acquired = acquired(&kit, profile).await;
        let paid = acquired.payment().await;
        acquired.pays_as(&paid, silently()).await;
        let (link, _) = of_link(&kit, &acquired).await;
        cancel_link(&acquired.project, &link).await;
        acquired.doors.close().await;
        for _ in 0..4 {
            ask_after(&kit, Duration::from_hours(7)).await;
        }
        unavailable(acquired.pay("key").await);
        assert_eq!(status(&acquired.project, &paid).await, "expired", "{profile}");
        acquired.doors.reopen().await.unwrap();
        ask_after(&kit, Duration::from_hours(2)).await;
        ask_after(&kit, Duration::from_hours(2)).await;
        assert_eq!(status(&acquired.project, &paid).await, "paid", "{profile}");
        let payment = acquired.pay("key").await.expect(200);
        let code = acquired.asked.code(code_of(&payment)).unwrap();
        // One bank cannot void.
        if profile != "bri-qris" {
            assert_eq!(acquired.payable(), [code.reference], "{profile}");
        }
    }
}

async fn a_code_that_may_exist_is_not_ordered_anew_while_the_bank_is_gone(kit: Arc<Kit>) {
    for profile in ["dana", "midtrans", "doku"] {
        let acquired = acquired(&kit, profile).await;
        acquired.asked.fail_next_of(Service::Generate, Fault::LostAfter);
        unavailable(acquired.pay("key").await);
        acquired.doors.close().await;
        ask_after(&kit, Duration::from_secs(10)).await;
        ask_after(&kit, Duration::from_secs(40)).await;
        acquired.doors.reopen().await.unwrap();
        ask_after(&kit, Duration::from_mins(1)).await;
        let payment = acquired.pay("key").await.expect(200);
        ask_after(&kit, Duration::from_mins(1)).await;
        assert_eq!(acquired.payable(), [acquired.asked.code(code_of(&payment)).unwrap().reference], "{profile}");
        acquired.pays(&payment).await;
        assert_eq!(status(&acquired.project, &payment).await, "paid", "{profile}");
        assert_eq!(count_payments(&acquired.project, "").await, 1, "{profile}");
    }
}

async fn a_bank_whose_token_is_refused_again_is_asked_no_third_time(kit: Arc<Kit>) {
    let acquired = acquired(&kit, "midtrans").await;
    acquired.payment().await;
    for _ in 0..2 {
        acquired.asked.fail_next_of(Service::Generate, Fault::TokenDies);
    }
    unavailable(acquired.pay("key").await);
    assert_eq!(acquired.asked_to_issue(), 3);
    acquired.pay("key").await.expect(200);
    assert_eq!((acquired.asked.codes().len(), count_payments(&acquired.project, "").await), (2, 2));
}

/// Whether the page of a link lets a customer choose a method.
async fn can_choose(kit: &Kit, link: &Value, method: &str) -> bool {
    let page = Customer::of(kit).open(&link_path(link)).await;
    is_page("the choice", &page, 200);
    let mut rows = page.text.split("<input type=\"radio\"").skip(1);
    let row = rows.find(|row| attribute(row, "value") == method).unwrap();
    !row.split('>').next().unwrap().contains(" disabled")
}

/// Fails so often that the method is closed.
async fn close(acquired: &Acquired) {
    acquired.asked.fail_every(Service::Generate, Some(Fault::Status(500)));
    for _ in 0..5 {
        unavailable(acquired.pay(&fresh_key()).await);
    }
}

async fn five_faults_close_a_method_and_no_other(kit: Arc<Kit>) {
    let acquired = acquired(&kit, "midtrans").await;
    let bri = Method::VirtualAccount(Bank::Bri);
    let there = acquired_for(&kit, kit.production().await, "briva-ws", bri, &[]).await;
    // The other account serves this project too.
    kit.engine.assign_bank_account(there.account, acquired.project.id, bri).await.unwrap();
    let link = create_link(&acquired.project, json!({})).await;
    close(&acquired).await;
    let calls = acquired.asked.calls().len();
    unavailable(acquired.pay("unused").await);
    assert_eq!((acquired.asked.calls().len(), count_payments(&acquired.project, "").await), (calls, 0));
    assert!(!can_choose(&kit, &link, "qris").await);
    assert!(can_choose(&kit, &link, "virtual_account:bri").await);
    there.payment().await;
    let payment = Customer::of(&kit).pays_by(&acquired.project, &link, "virtual_account:bri").await;
    assert_eq!(text(&payment, "status"), "pending");
}

async fn a_closed_method_is_opened_by_a_probe_that_succeeds(kit: Arc<Kit>) {
    let acquired = acquired(&kit, "midtrans").await;
    let link = create_link(&acquired.project, json!({})).await;
    close(&acquired).await;
    unavailable(acquired.pay("unused").await);
    // One probe fails, and the method stays closed.
    kit.clock.advance(Duration::from_secs(30));
    assert!(can_choose(&kit, &link, "qris").await);
    for _ in 0..3 {
        unavailable(acquired.pay(&fresh_key()).await);
    }
    assert_eq!(acquired.asked_to_issue(), 6);
    assert!(!can_choose(&kit, &link, "qris").await);
    // The next succeeds and opens it. The key was not used: it may come with another order.
    acquired.asked.fail_every(Service::Generate, None);
    kit.clock.advance(Duration::from_secs(30));
    acquired.project.api.pay("unused", &with(acquired.order(), "amount", AMOUNT + 1)).await.expect(201);
    assert!(can_choose(&kit, &link, "qris").await);
    acquired.payment().await;
}

async fn a_retry_while_the_bank_is_left_alone_is_answered_at_once(kit: Arc<Kit>) {
    let acquired = acquired(&kit, "midtrans").await;
    acquired.asked.fail_every(Service::Generate, Some(Fault::StatusAfter(500)));
    for number in 0..5 {
        unavailable(acquired.pay(&format!("key-{number}")).await);
    }
    let calls = acquired.asked.calls().len();
    // The job of the attempt is due, and it is not for this request to wait for it.
    kit.clock.advance(Duration::from_secs(10));
    let began = std::time::Instant::now();
    unavailable(acquired.pay("key-0").await);
    assert!(began.elapsed() < Duration::from_secs(10));
    assert_eq!(acquired.asked.calls().len(), calls);
    acquired.asked.fail_every(Service::Generate, None);
    kit.clock.advance(Duration::from_secs(30));
    acquired.pay("key-0").await.expect(200);
    assert_eq!(acquired.asked.codes().len(), 5);
}

async fn refusals_never_close_a_method(kit: Arc<Kit>) {
    let acquired = acquired(&kit, "midtrans").await;
    let link = create_link(&acquired.project, json!({})).await;
    for fault in [Fault::Case(403, "05"), Fault::Case(400, "01"), Fault::Case(404, "08"), Fault::Status(429)] {
        for _ in 0..6 {
            acquired.asked.fail_next_of(Service::Generate, fault.clone());
            unavailable(acquired.pay(&fresh_key()).await);
            assert!(can_choose(&kit, &link, "qris").await, "{fault:?}");
        }
    }
    acquired.payment().await;
}

async fn a_bank_that_hangs_delays_no_other(kit: Arc<Kit>) {
    let (dead, alive) = (acquired(&kit, "midtrans").await, acquired(&kit, "midtrans").await);
    dead.asked.fail_every(Service::Query, Some(Fault::HeldAfter));
    let mut payments = Vec::new();
    for acquired in [&dead, &alive] {
        for _ in 0..12 {
            let payment = acquired.payment().await;
            acquired.pays_as(&payment, silently()).await;
            payments.push(payment);
        }
    }
    kit.clock.advance(Duration::from_hours(25));
    kit.deliver(SendLimits::default());
    dead.asked.wait_held(1).await;
    for payment in &payments[12..] {
        until(async || status(&alive.project, payment).await == "paid").await;
    }
    assert_eq!(status(&dead.project, &payments[0]).await, "expired", "its bank has not answered");
    dead.asked.fail_every(Service::Query, None);
    dead.asked.release();
    for payment in &payments[..12] {
        until(async || {
            dead.asked.release();
            status(&dead.project, payment).await == "paid"
        })
        .await;
    }
    kit.stop_delivering().await;
}
