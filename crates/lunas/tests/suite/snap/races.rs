//! Many calls at once: in any order, money is booked once, and the bank and we agree on it.

use std::{sync::Arc, time::Duration};

use demobank::{Answer, Conclusion, Knobs, Payment, Prepared, Style};
use engine::Attempt;
use futures_util::future::join_all;
use serde_json::{Value, json};
use testkit::{Kit, on_every_database};

use super::acts::{payment_id, said, shaped};
use crate::support::{
    banks::{AMOUNT, Contracted, contracted, number},
    json::{at, id},
    links::{attempt, create_link},
    payments::{balance, status, unapplied},
};

on_every_database![
    fifty_identical_payments_are_booked_once_and_echoed_49_times on 2 threads,
    of_fifty_payments_of_one_bill_one_is_taken_and_49_are_refused on 2 threads,
    fifty_calls_with_one_request_id_are_one_payment_with_one_result on 2 threads,
    a_customer_who_pays_by_two_channels_at_once_pays_once on 2 threads,
    a_link_whose_numbers_at_two_banks_are_paid_at_once_is_paid_once on 2 threads,
    a_payment_that_is_cancelled_while_the_bank_pays_is_judged_by_time on 2 threads,
    a_payment_that_is_replaced_while_the_bank_pays_is_judged_by_time on 2 threads,
    a_payment_that_expires_while_the_bank_pays_is_judged_by_time on 2 threads,
];

const AT_ONCE: usize = 50;
/// How often two things are done at the same time, so that they meet in both orders.
const ROUNDS: usize = 10;

async fn send_all(contracted: &Contracted, prepared: &[Prepared]) -> Vec<Answer> {
    join_all(prepared.iter().map(|prepared| contracted.send(prepared))).await
}

/// How many answers have this code and flag.
fn count(answers: &[Answer], expected: (&str, &str)) -> usize {
    answers.iter().filter(|answer| said(answer) == expected).count()
}

async fn fifty_identical_payments_are_booked_once_and_echoed_49_times(kit: Arc<Kit>) {
    let contracted = contracted(&kit, Style::BCA).await;
    let payment = contracted.payment().await;
    let number = number(&payment);
    let prepared = contracted.prepared(&number, &Knobs::default()).await;
    let answers: Vec<Answer> = contracted.bank.send_many(&prepared, AT_ONCE).await.into_iter().map(shaped).collect();
    let counted = (count(&answers, ("2002500", "00")), count(&answers, ("4042518", "00")));
    assert_eq!(counted, (1, AT_ONCE - 1), "{answers:?}");
    contracted.is_paid_once(&payment, &number).await;
}

async fn of_fifty_payments_of_one_bill_one_is_taken_and_49_are_refused(kit: Arc<Kit>) {
    let contracted = contracted(&kit, Style::BCA).await;
    let payment = contracted.payment().await;
    let number = number(&payment);
    let mut prepared = Vec::new();
    for _ in 0..AT_ONCE {
        prepared.push(contracted.prepared(&number, &Knobs::default()).await);
    }
    let answers = send_all(&contracted, &prepared).await;
    let counted = (count(&answers, ("2002500", "00")), count(&answers, ("4042514", "01")));
    assert_eq!(counted, (1, AT_ONCE - 1), "{answers:?}");
    contracted.is_paid_once(&payment, &number).await;
}

async fn fifty_calls_with_one_request_id_are_one_payment_with_one_result(kit: Arc<Kit>) {
    let contracted = contracted(&kit, Style::BCA).await;
    for (amount, expected) in [(AMOUNT + 1, ("4042513", "01")), (AMOUNT, ("2002500", "00"))] {
        let payment = contracted.payment().await;
        let number = number(&payment);
        let mut prepared = Vec::new();
        let mut knobs = Knobs::default();
        for _ in 0..AT_ONCE {
            let order = Payment::of(&number, amount);
            prepared.push(contracted.bank.prepare_payment(&contracted.contract, order, &knobs).await.unwrap());
            knobs.request_id = prepared.first().map(|first| first.request_id.clone());
        }
        let answers = send_all(&contracted, &prepared).await;
        assert_eq!(count(&answers, expected), AT_ONCE, "{answers:?}");
        if expected.1 == "00" {
            contracted.is_paid_once(&payment, &number).await;
        } else {
            contracted.has_no_money().await;
        }
    }
}

async fn a_customer_who_pays_by_two_channels_at_once_pays_once(kit: Arc<Kit>) {
    let contracted = contracted(&kit, Style::BRIVA_ONLINE).await;
    for _ in 0..ROUNDS {
        let payment = contracted.payment().await;
        let number = number(&payment);
        let by_channel =
            |channel: &str| Knobs { headers: vec![("CHANNEL-ID".to_owned(), channel.to_owned())], ..Knobs::default() };
        let (phone, teller) =
            tokio::join!(contracted.pay(&number, by_channel("00001")), contracted.pay(&number, by_channel("00002")),);
        let answers = [phone, teller];
        let counted = (count(&answers, ("2002500", "00")), count(&answers, ("4042514", "01")));
        assert_eq!(counted, (1, 1), "{answers:?}");
        contracted.is_paid_once(&payment, &number).await;
    }
}

async fn a_link_whose_numbers_at_two_banks_are_paid_at_once_is_paid_once(kit: Arc<Kit>) {
    let (bca, bri) = (contracted(&kit, Style::BCA).await, contracted(&kit, Style::BRIVA_ONLINE).await);
    kit.engine.assign_bank_account(bri.account, bca.project.id, bri.method).await.unwrap();
    for _ in 0..ROUNDS {
        let link = create_link(&bca.project, json!({ "amount": AMOUNT })).await;
        let at_bca = attempt(&kit, &bca.project, &link, bca.method).await;
        let at_bri = attempt(&kit, &bca.project, &link, bri.method).await;
        let (first, second) = (number(&at_bca), number(&at_bri));
        let (one, other) = tokio::join!(bca.pay(&first, Knobs::default()), bri.pay(&second, Knobs::default()));
        let answers = [one, other];
        let counted = (count(&answers, ("2002500", "00")), count(&answers, ("4042514", "01")));
        assert_eq!(counted, (1, 1), "{answers:?}");
        let booked = (bca.bank.booked(&bca.contract, &first), bri.bank.booked(&bri.contract, &second));
        assert_eq!(booked.0 + booked.1, AMOUNT);
        assert_eq!(status(&bca.project, &at_bca).await == "paid", booked.0 == AMOUNT);
        assert_eq!(status(&bca.project, &at_bri).await == "paid", booked.1 == AMOUNT);
    }
    assert_eq!(unapplied(&bca.project).await, 0);
}

/// Checks that the bank has booked exactly what pays the payment here.
async fn agree(contracted: &Contracted, payment: &Value, answer: &Answer, refusal: &str) {
    let (booked, is_paid) = (answer.flag() == "00", status(&contracted.project, payment).await == "paid");
    assert_eq!((answer.code(), booked), if is_paid { ("2002500", true) } else { (refusal, false) }, "{}", answer.text);
    let conclusion = if is_paid { Conclusion::Booked } else { Conclusion::Reversed };
    assert_eq!(answer.conclusion, Some(conclusion));
    assert_eq!(contracted.bank.booked(&contracted.contract, &number(payment)), if is_paid { AMOUNT } else { 0 });
    assert_eq!(unapplied(&contracted.project).await, 0);
}

async fn a_payment_that_is_cancelled_while_the_bank_pays_is_judged_by_time(kit: Arc<Kit>) {
    let contracted = contracted(&kit, Style::BCA).await;
    for round in 0..ROUNDS {
        let link = create_link(&contracted.project, json!({ "amount": AMOUNT })).await;
        let payment = attempt(&kit, &contracted.project, &link, contracted.method).await;
        // Before the cancellation, or after it.
        let is_timely = round % 2 == 0;
        let paid_at = kit.engine.now().plus(Duration::from_secs(if is_timely { 0 } else { 1 }));
        let path = format!("/v1/payment-links/{}/cancel", id(&link));
        let number = number(&payment);
        let nothing = json!({});
        let (answer, _) = tokio::join!(
            contracted.pay_at(&number, paid_at, Knobs::default()),
            contracted.project.api.post(&path, &nothing),
        );
        assert!(!is_timely || answer.flag() == "00", "{}", answer.text);
        agree(&contracted, &payment, &answer, "4042512").await;
    }
}

async fn a_payment_that_is_replaced_while_the_bank_pays_is_judged_by_time(kit: Arc<Kit>) {
    let (bca, bri) = (contracted(&kit, Style::BCA).await, contracted(&kit, Style::BRIVA_ONLINE).await);
    kit.engine.assign_bank_account(bri.account, bca.project.id, bri.method).await.unwrap();
    for round in 0..ROUNDS {
        let link = create_link(&bca.project, json!({ "amount": AMOUNT })).await;
        let old = attempt(&kit, &bca.project, &link, bca.method).await;
        let is_timely = round % 2 == 0;
        let paid_at = kit.engine.now().plus(Duration::from_secs(if is_timely { 0 } else { 1 }));
        let replacing = Attempt {
            replaces: Some(payment_id(&old)),
            ..Attempt::new(bri.method, domain::payment::Checkout::default())
        };
        let (link_id, number) = (id(&link).parse().unwrap(), number(&old));
        let (answer, _) =
            tokio::join!(bca.pay_at(&number, paid_at, Knobs::default()), kit.engine.attempt_link(link_id, &replacing),);
        assert!(!is_timely || answer.flag() == "00", "{}", answer.text);
        agree(&bca, &old, &answer, "4042512").await;
    }
}

async fn a_payment_that_expires_while_the_bank_pays_is_judged_by_time(kit: Arc<Kit>) {
    let contracted = contracted(&kit, Style::BCA).await;
    for round in 0..ROUNDS {
        let payment = contracted.payment_for(60).await;
        let expires_at = at(&payment, "expires_at");
        kit.clock.set(expires_at.plus(Duration::from_secs(1)));
        let is_timely = round % 2 == 0;
        let paid_at = if is_timely { expires_at } else { expires_at.plus(Duration::from_secs(1)) };
        let number = number(&payment);
        let (answer, expired) =
            tokio::join!(contracted.pay_at(&number, paid_at, Knobs::default()), kit.engine.expire_due());
        expired.unwrap();
        assert_eq!(answer.flag() == "00", is_timely, "{}", answer.text);
        agree(&contracted, &payment, &answer, "4042519").await;
    }
    let timely = i64::try_from(ROUNDS / 2).unwrap();
    let fee = contracted.shown(&contracted.payment().await).await["fee_amount"].as_i64().unwrap();
    assert_eq!(balance(&contracted.project, "pending").await, timely * (AMOUNT - fee));
}
