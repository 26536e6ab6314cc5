//! How many calls a bank account takes: beyond its rate a bank asks again later, and no money is given back for that.

use std::{num::NonZeroU32, sync::Arc};

use demobank::{Answer, Conclusion, Knobs, Style};
use testkit::{Kit, Options, on_sqlite_alone};

use super::{
    acts::{call, said},
    late_commits::open_differences,
};
use crate::support::{
    banks::{COMPANY_CODE, contracted, number},
    options::rate_limit,
    payments::status,
    rows::rows,
    wait::until,
};

on_sqlite_alone![
    an_account_over_its_rate_answers_inquiries_with_429_and_suspends_payments with one_call_each_second(),
    calls_that_prove_nothing_use_up_nothing_of_an_accounts_rate with one_call_each_second(),
    a_resend_over_the_rate_is_looked_after_if_the_first_was_booked with one_call_each_second(),
];

/// More calls than a server of these tests answers in a second for each that it may take.
const CALLS_MOST: usize = 200;

fn one_call_each_second() -> Options {
    Options { bank_calls_per_second: Some(NonZeroU32::MIN), ..rate_limit(1_000) }
}

async fn an_account_over_its_rate_answers_inquiries_with_429_and_suspends_payments(kit: Arc<Kit>) {
    let (own, other) = (contracted(&kit, Style::BCA).await, contracted(&kit, Style::GENERIC).await);
    let payment = own.payment().await;
    let number = number(&payment);
    let prepared = own.prepared(&number, &Knobs::default()).await;
    let nobodys = format!("{COMPANY_CODE}00000000000");
    let over = async |service: &str, code: &str| -> Answer {
        for _ in 0..CALLS_MOST {
            // Nobody has this number, so that nothing is booked by a call that is within the rate.
            let answer = call(&own, service, &nobodys, Knobs::default()).await;
            if answer.code() == code {
                return answer;
            }
        }
        panic!("{CALLS_MOST} calls were all within the rate");
    };
    let refused = over("24", "4292400").await;
    assert_eq!((refused.status, refused.flag(), refused.message()), (429, "02", "Too Many Requests"));
    let suspended = over("25", "2022500").await;
    assert_eq!((suspended.flag(), suspended.conclusion), ("02", Some(Conclusion::Suspended)));
    // Each account has its own rate.
    assert_eq!(said(&other.ask(&self::number(&other.payment().await), Knobs::default()).await), ("2002400", "00"));
    // The bank asks again, and at last the money is taken, once.
    until(async || own.send(&prepared).await.flag() == "00").await;
    assert_eq!(status(&own.project, &payment).await, "paid");
    own.is_paid_once(&payment, &number).await;
}

/// Regression: what is over the rate was not read, so nobody looked whether the first request had booked the money.
async fn a_resend_over_the_rate_is_looked_after_if_the_first_was_booked(kit: Arc<Kit>) {
    let contracted = contracted(&kit, Style::BCA).await;
    let number = number(&contracted.payment().await);
    let paid = contracted.pay(&number, Knobs::default()).await;
    assert_eq!(said(&paid), ("2002500", "00"));
    for calls in 1.. {
        assert!(calls <= CALLS_MOST, "all calls were within the rate");
        let resent = contracted.pay(&number, Knobs::resend_of(&paid.sent)).await;
        if said(&resent) == ("2022500", "02") {
            break;
        }
        assert_eq!(said(&resent), ("4042518", "00"));
    }
    kit.engine.look_after_undecided().await.unwrap();
    let found = open_differences(&kit).await;
    let subjects: Vec<&str> = found.iter().map(|difference| difference.key.subject.as_str()).collect();
    assert_eq!(subjects, [paid.sent.request_id.as_str()]);
}

async fn calls_that_prove_nothing_use_up_nothing_of_an_accounts_rate(kit: Arc<Kit>) {
    let contracted = contracted(&kit, Style::BCA).await;
    let number = number(&contracted.payment().await);
    contracted.bank.token(&contracted.contract).await.unwrap();
    let before = rows(&kit.database);
    for _ in 0..10 {
        let forged = Knobs { signature: Some("A".repeat(88)), ..Knobs::default() };
        assert_eq!(contracted.ask(&number, forged).await.code(), "4012400");
    }
    assert_eq!(rows(&kit.database), before);
    assert_eq!(said(&contracted.ask(&number, Knobs::default()).await), ("2002400", "00"));
}
