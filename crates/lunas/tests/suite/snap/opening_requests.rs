//! Requests that end before the bank has answered: the work goes on, and a retry of the key finds it.

use std::{sync::Arc, time::Duration};

use demobank::{Fault, Service};
use testkit::{Kit, Options, on_every_database};
use web::Timeouts;

use crate::support::{
    acquirers::{Acquired, acquired, ask_after, code_of},
    payments::{count_payments, status},
    wait::until,
};

on_every_database![
    a_client_that_hangs_up_gets_its_payment_on_retry_without_a_second_call on 2 threads,
    a_request_that_took_too_long_gets_its_payment_on_retry_without_a_second_call on 2 threads with impatient(),
];

fn impatient() -> Options {
    Options { timeouts: Timeouts { request: Duration::from_secs(1), ..Timeouts::default() }, ..Options::default() }
}

/// The bank answers, and the payment is there without anybody having asked again.
async fn is_finished(kit: &Kit, acquired: &Acquired) {
    acquired.asked.release();
    until(async || count_payments(&acquired.project, "").await == 1).await;
    let reply = acquired.pay("key").await;
    assert_eq!(reply.header("idempotent-replayed"), Some("true"));
    let payment = reply.expect(200);
    assert_eq!((acquired.asked_to_issue(), acquired.asked.codes().len()), (1, 1));
    assert_eq!(acquired.asked.codes()[0].content, code_of(&payment));
    acquired.pays(&payment).await;
    ask_after(kit, Duration::ZERO).await;
    assert_eq!(status(&acquired.project, &payment).await, "paid");
}

async fn a_client_that_hangs_up_gets_its_payment_on_retry_without_a_second_call(kit: Arc<Kit>) {
    for fault in [Fault::HeldBefore, Fault::HeldAfter] {
        let acquired = acquired(&kit, "doku").await;
        acquired.asked.fail_next_of(Service::Generate, fault);
        tokio::select! {
            reply = acquired.pay("key") => panic!("the bank has not answered: {}", reply.text),
            () = acquired.asked.wait_held(1) => {}
        }
        is_finished(&kit, &acquired).await;
    }
}

async fn a_request_that_took_too_long_gets_its_payment_on_retry_without_a_second_call(kit: Arc<Kit>) {
    for fault in [Fault::HeldBefore, Fault::HeldAfter] {
        let acquired = acquired(&kit, "doku").await;
        acquired.asked.fail_next_of(Service::Generate, fault);
        assert_eq!(acquired.pay("key").await.status, 503);
        assert_eq!(count_payments(&acquired.project, "").await, 0);
        is_finished(&kit, &acquired).await;
    }
}
