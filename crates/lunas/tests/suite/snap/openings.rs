//! Codes that a bank issues when we ask it: one code for one key, whatever happens to the call.

use std::{sync::Arc, time::Duration};

use demobank::{CodeState, Fault, PayOrder, QrFault, Service};
use domain::{
    method::Method,
    opening::OpeningState,
    payment::{Checkout, State},
};
use engine::{Attempt, Error};
use futures_util::future::join_all;
use serde_json::json;
use testkit::{Api, Kit, Reply, on_every_database, on_sqlite_alone};

use crate::support::{
    acquirers::{AMOUNT, QRIS_PROFILES, acquired, acquired_for, ask_after, code_of, hosted_there},
    json::{text, with},
    links::{cancel_link, create_link},
    nodes::Node,
    payments::{count_payments, fetch, status, stored_state, unapplied},
    receipts::{decide, receipts},
};

on_every_database![
    a_virtual_account_that_the_bank_hosts_is_issued_and_paid,
    a_key_that_is_used_again_leads_to_the_same_code,
    fifty_first_uses_of_one_key_ask_the_bank_once on 2 threads,
    two_nodes_ask_for_one_key_once on 2 threads,
    a_lost_answer_is_found_again_by_a_retry_and_no_second_code_can_be_paid,
    a_lost_answer_is_found_again_without_a_retry,
    a_bank_that_is_not_reached_leaves_the_key_to_be_used_again,
    a_bank_that_refuses_is_asked_anew_by_a_retry,
    an_opening_without_an_answer_is_given_up_after_ten_minutes_and_voided,
    a_retry_after_an_opening_was_given_up_gets_a_new_code,
    a_link_that_is_cancelled_voids_its_codes,
    a_customer_who_chooses_another_method_has_the_old_code_voided_when_the_new_one_is_there,
    a_link_that_is_cancelled_while_the_bank_works_gains_no_payment_and_the_code_is_voided,
    an_expiry_is_written_after_the_bank_was_asked,
    a_bank_that_says_processing_is_asked_until_it_knows,
    word_of_money_during_a_question_is_asked_about_after_it on 2 threads,
    a_payment_whose_money_is_held_expires_like_any_other,
    the_code_of_a_payment_that_held_money_pays_is_voided,
];

on_sqlite_alone![
    a_code_of_every_profile_is_issued_and_paid_by_its_notification,
    an_amount_that_the_bank_does_not_take_is_a_bad_request,
    a_qr_that_is_not_the_one_ordered_is_shown_to_nobody_and_voided,
    a_token_that_dies_is_renewed_and_the_call_repeated_once,
];

#[track_caller]
fn unavailable(reply: Reply) {
    assert!(reply.header("retry-after").unwrap().parse::<u64>().unwrap() >= 1);
    reply.refused(503, "PAYMENT_PROVIDER_UNAVAILABLE");
}

async fn a_code_of_every_profile_is_issued_and_paid_by_its_notification(kit: Arc<Kit>) {
    for profile in QRIS_PROFILES {
        let acquired = acquired(&kit, profile).await;
        let payment = acquired.payment().await;
        assert_eq!(text(&payment, "status"), "pending", "{profile}");
        let code = acquired.asked.code(code_of(&payment)).unwrap();
        assert_eq!((code.amount, acquired.asked_to_issue()), (AMOUNT, 1), "{profile}");
        assert_eq!(fetch(&acquired.project, &payment).await, payment, "{profile}");
        let paid = acquired.pays(&payment).await;
        assert_eq!(paid.answers.iter().map(|answer| answer.status).collect::<Vec<_>>(), [200], "{profile}");
        // What the bank has not signed is asked about.
        ask_after(&kit, Duration::ZERO).await;
        assert_eq!(status(&acquired.project, &payment).await, "paid", "{profile}");
        ask_after(&kit, Duration::from_hours(48)).await;
        assert_eq!((count_payments(&acquired.project, "").await, unapplied(&acquired.project).await), (1, 0));
    }
}

async fn a_virtual_account_that_the_bank_hosts_is_issued_and_paid(kit: Arc<Kit>) {
    for profile in ["briva-ws", "doku", "midtrans", "generic"] {
        let acquired = hosted_there(&kit, profile).await;
        let payment = acquired.payment().await;
        let code = acquired.asked.code(code_of(&payment)).unwrap();
        assert_eq!((code.amount, code.content.as_str()), (AMOUNT, code_of(&payment)), "{profile}");
        let paid = acquired.pays(&payment).await;
        assert_eq!(paid.answers.len(), 1);
        assert!(paid.answers[0].code().starts_with("200"), "{profile} {}", paid.answers[0].text);
        assert_eq!(status(&acquired.project, &payment).await, "paid", "{profile}");
    }
}

async fn a_key_that_is_used_again_leads_to_the_same_code(kit: Arc<Kit>) {
    let acquired = acquired(&kit, "midtrans").await;
    let reply = acquired.pay("key").await;
    let payment = reply.expect(201);
    let again = acquired.pay("key").await;
    assert_eq!(again.header("idempotent-replayed"), Some("true"));
    assert_eq!(again.expect(200), payment);
    let other = with(acquired.order(), "amount", AMOUNT + 1);
    acquired.project.api.pay("key", &other).await.refused(409, "IDEMPOTENCY_CONFLICT");
    // Also where the bank is gone.
    acquired.doors.close().await;
    assert_eq!(acquired.pay("key").await.expect(200), payment);
    assert_eq!((acquired.asked_to_issue(), count_payments(&acquired.project, "").await), (1, 1));
}

async fn fifty_first_uses_of_one_key_ask_the_bank_once(kit: Arc<Kit>) {
    let acquired = acquired(&kit, "midtrans").await;
    acquired.asked.fail_next_of(Service::Generate, Fault::Late(Duration::from_millis(300)));
    let replies = join_all((0..50).map(|_| acquired.pay("key"))).await;
    let mut statuses: Vec<u16> = replies.iter().map(|reply| reply.status.as_u16()).collect();
    statuses.sort_unstable();
    assert_eq!((statuses[49], statuses[48]), (201, 200), "{statuses:?}");
    assert_eq!(statuses[0], 200);
    assert_eq!((acquired.asked_to_issue(), acquired.asked.codes().len()), (1, 1));
    assert_eq!(count_payments(&acquired.project, "").await, 1);
}

async fn two_nodes_ask_for_one_key_once(kit: Arc<Kit>) {
    let acquired = acquired(&kit, "dana").await;
    let node = Node::beside(&kit).await;
    let there = Api::new(node.address, Some(&acquired.project.key));
    acquired.asked.fail_next_of(Service::Generate, Fault::Late(Duration::from_millis(300)));
    let order = acquired.order();
    let pay = |number: usize| {
        let api = if number.is_multiple_of(2) { &acquired.project.api } else { &there };
        api.pay("key", &order)
    };
    let replies = join_all((0..20).map(pay)).await;
    let created = replies.iter().filter(|reply| reply.status == 201).count();
    let replayed = replies.iter().filter(|reply| reply.status == 200).count();
    assert_eq!((created, replayed, acquired.asked_to_issue()), (1, 19, 1));
    node.stop().await;
}

async fn a_lost_answer_is_found_again_by_a_retry_and_no_second_code_can_be_paid(kit: Arc<Kit>) {
    for profile in QRIS_PROFILES {
        for fault in [Fault::LostAfter, Fault::LostBefore, Fault::StatusAfter(500), Fault::Status(202)] {
            let acquired = acquired(&kit, profile).await;
            acquired.asked.fail_next_of(Service::Generate, fault.clone());
            unavailable(acquired.pay("key").await);
            assert_eq!(count_payments(&acquired.project, "").await, 0);
            kit.clock.advance(Duration::from_secs(10));
            let payment = acquired.pay("key").await.expect(200);
            assert_eq!(count_payments(&acquired.project, "").await, 1, "{profile} {fault:?}");
            ask_after(&kit, Duration::from_secs(1)).await;
            let code = acquired.asked.code(code_of(&payment)).unwrap();
            // A bank that cannot void keeps a code that nobody has seen.
            if profile != "bri-qris" {
                assert_eq!(acquired.payable(), [code.reference], "{profile} {fault:?}");
            }
            acquired.pays(&payment).await;
            ask_after(&kit, Duration::ZERO).await;
            assert_eq!(status(&acquired.project, &payment).await, "paid", "{profile} {fault:?}");
        }
    }
}

async fn a_lost_answer_is_found_again_without_a_retry(kit: Arc<Kit>) {
    for acquired in [acquired(&kit, "midtrans").await, hosted_there(&kit, "briva-ws").await] {
        let service = if acquired.method == Method::Qris { Service::Generate } else { Service::CreateVa };
        acquired.asked.fail_next_of(service, Fault::LostAfter);
        unavailable(acquired.pay("key").await);
        ask_after(&kit, Duration::from_secs(10)).await;
        assert_eq!(count_payments(&acquired.project, "").await, 1);
        let asked_before = acquired.asked.calls().len();
        let payment = acquired.pay("key").await.expect(200);
        assert_eq!(acquired.asked.calls().len(), asked_before, "the bank is not asked again");
        assert_eq!((acquired.asked.codes().len(), acquired.payable().len()), (1, 1));
        acquired.pays(&payment).await;
        assert_eq!(status(&acquired.project, &payment).await, "paid");
    }
}

async fn a_bank_that_is_not_reached_leaves_the_key_to_be_used_again(kit: Arc<Kit>) {
    let acquired = acquired(&kit, "midtrans").await;
    acquired.doors.close().await;
    for _ in 0..3 {
        unavailable(acquired.pay("key").await);
    }
    assert_eq!((acquired.asked_to_issue(), count_payments(&acquired.project, "").await), (0, 0));
    acquired.doors.reopen().await.unwrap();
    let payment = acquired.pay("key").await.expect(200);
    assert_eq!(text(&payment, "status"), "pending");
    assert_eq!((acquired.asked.codes().len(), count_payments(&acquired.project, "").await), (1, 1));
}

async fn a_bank_that_refuses_is_asked_anew_by_a_retry(kit: Arc<Kit>) {
    for fault in [Fault::Case(403, "05"), Fault::Case(400, "01"), Fault::Case(404, "08")] {
        let acquired = acquired(&kit, "dana").await;
        acquired.asked.fail_next_of(Service::Generate, fault.clone());
        unavailable(acquired.pay("key").await);
        let payment = acquired.pay("key").await.expect(200);
        assert_eq!((acquired.asked_to_issue(), acquired.asked.codes().len()), (2, 1), "{fault:?}");
        acquired.pays(&payment).await;
        assert_eq!(status(&acquired.project, &payment).await, "paid");
    }
}

async fn an_amount_that_the_bank_does_not_take_is_a_bad_request(kit: Arc<Kit>) {
    let acquired = acquired(&kit, "dana").await;
    acquired.asked.fail_next_of(Service::Generate, Fault::Case(403, "02"));
    acquired.pay("key").await.refused(400, "VALIDATION_ERROR");
    let too_much = with(acquired.order(), "amount", 10_000_001);
    acquired.project.api.pay("another", &too_much).await.refused(400, "VALIDATION_ERROR");
    assert_eq!((acquired.asked_to_issue(), count_payments(&acquired.project, "").await), (1, 0));
}

async fn a_qr_that_is_not_the_one_ordered_is_shown_to_nobody_and_voided(kit: Arc<Kit>) {
    let faults =
        [QrFault::OtherAmount(AMOUNT + 1), QrFault::NoAmount, QrFault::BadCrc, QrFault::Static, QrFault::OtherCurrency];
    for fault in faults {
        let acquired = acquired(&kit, "midtrans").await;
        acquired.asked.fail_next_of(Service::Generate, Fault::Qr(fault.clone()));
        unavailable(acquired.pay("key").await);
        ask_after(&kit, Duration::from_secs(1)).await;
        assert_eq!((acquired.payable(), count_payments(&acquired.project, "").await), (vec![], 0), "{fault:?}");
        let payment = acquired.pay("key").await.expect(200);
        assert_eq!(acquired.payable(), [acquired.asked.code(code_of(&payment)).unwrap().reference]);
    }
}

async fn a_token_that_dies_is_renewed_and_the_call_repeated_once(kit: Arc<Kit>) {
    let acquired = acquired(&kit, "midtrans").await;
    acquired.payment().await;
    acquired.asked.fail_next_of(Service::Generate, Fault::TokenDies);
    acquired.payment().await;
    let calls = acquired.asked.calls_of(Service::Generate);
    let ids: std::collections::BTreeSet<_> = calls.iter().map(|call| &call.external_id).collect();
    assert_eq!((calls.len(), ids.len(), acquired.asked.codes().len()), (3, 3, 2));
    assert_eq!(acquired.asked.calls_of(Service::Token).len(), 2);
}

async fn an_opening_without_an_answer_is_given_up_after_ten_minutes_and_voided(kit: Arc<Kit>) {
    let acquired = acquired(&kit, "midtrans").await;
    acquired.asked.fail_next_of(Service::Generate, Fault::LostAfter);
    acquired.asked.fail_every(Service::Query, Some(Fault::Status(500)));
    unavailable(acquired.pay("key").await);
    assert_eq!(acquired.payable().len(), 1);
    ask_after(&kit, Duration::from_mins(11)).await;
    acquired.asked.fail_every(Service::Query, None);
    ask_after(&kit, Duration::from_mins(2)).await;
    assert_eq!((acquired.payable(), count_payments(&acquired.project, "").await), (vec![], 0));
}

async fn a_retry_after_an_opening_was_given_up_gets_a_new_code(kit: Arc<Kit>) {
    let acquired = acquired(&kit, "midtrans").await;
    acquired.asked.fail_next_of(Service::Generate, Fault::LostAfter);
    acquired.asked.fail_every(Service::Query, Some(Fault::Status(500)));
    unavailable(acquired.pay("key").await);
    ask_after(&kit, Duration::from_mins(11)).await;
    acquired.asked.fail_every(Service::Query, None);
    let payment = acquired.pay("key").await.expect(200);
    ask_after(&kit, Duration::from_secs(1)).await;
    assert_eq!(acquired.payable(), [acquired.asked.code(code_of(&payment)).unwrap().reference]);
    // Its life begins with it.
    assert!(text(&payment, "expires_at") > kit.engine.now().plus(Duration::from_mins(1)).to_string().as_str());
}

/// A link of the project, and what its page leads a customer to.
async fn attempt(kit: &Kit, link: &serde_json::Value, attempt: Attempt) -> Result<domain::payment::Payment, Error> {
    kit.engine.attempt_link(text(link, "id").parse().unwrap(), &attempt).await
}

fn by_qris() -> Attempt {
    Attempt::new(Method::Qris, Checkout::default())
}

async fn a_link_that_is_cancelled_voids_its_codes(kit: Arc<Kit>) {
    let acquired = acquired(&kit, "midtrans").await;
    let link = create_link(&acquired.project, json!({ "allow_multiple_payments": true })).await;
    for _ in 0..3 {
        attempt(&kit, &link, by_qris()).await.unwrap();
    }
    assert_eq!(acquired.payable().len(), 3);
    cancel_link(&acquired.project, &link).await;
    ask_after(&kit, Duration::from_secs(1)).await;
    assert_eq!(acquired.payable(), [""; 0]);
    assert_eq!(acquired.asked.calls_of(Service::Cancel).len(), 3);
}

async fn a_customer_who_chooses_another_method_has_the_old_code_voided_when_the_new_one_is_there(kit: Arc<Kit>) {
    let acquired = acquired(&kit, "midtrans").await;
    let project = acquired.project;
    let bri = Method::VirtualAccount(domain::bank::Bank::Bri);
    let there = acquired_for(&kit, project, "briva-ws", bri, &[]).await;
    let link = create_link(&there.project, json!({})).await;
    let first = attempt(&kit, &link, by_qris()).await.unwrap();
    let change = Attempt { replaces: Some(first.id), ..Attempt::new(bri, Checkout::default()) };
    // The new bank fails: the old code stays.
    there.asked.fail_next_of(Service::CreateVa, Fault::Case(403, "05"));
    assert!(matches!(attempt(&kit, &link, change.clone()).await, Err(Error::NoBank(_))));
    ask_after(&kit, Duration::from_secs(1)).await;
    assert_eq!(acquired.asked.code(&first.code).unwrap().state, CodeState::Unpaid);
    let second = attempt(&kit, &link, change).await.unwrap();
    assert_eq!(kit.engine.known_payment(first.id).await.unwrap().state, State::Cancelled { at: kit.engine.now() });
    ask_after(&kit, Duration::from_secs(1)).await;
    assert_eq!(acquired.asked.code(&first.code).unwrap().state, CodeState::Voided);
    // The sibling of a link that is paid is voided too.
    let other = attempt(&kit, &link, Attempt { visitor: Some("other".to_owned()), ..by_qris() }).await.unwrap();
    there.asked.pay_code(&second.code, demobank::PayOrder::default()).await.unwrap();
    ask_after(&kit, Duration::from_secs(1)).await;
    assert_eq!(acquired.asked.code(&other.code).unwrap().state, CodeState::Voided);
}

async fn a_link_that_is_cancelled_while_the_bank_works_gains_no_payment_and_the_code_is_voided(kit: Arc<Kit>) {
    let acquired = acquired(&kit, "midtrans").await;
    let link = create_link(&acquired.project, json!({})).await;
    acquired.asked.fail_next_of(Service::Generate, Fault::Late(Duration::from_millis(500)));
    let (attempted, ()) = futures_util::future::join(attempt(&kit, &link, by_qris()), async {
        crate::support::wait::until(async || acquired.asked_to_issue() == 1).await;
        cancel_link(&acquired.project, &link).await;
    })
    .await;
    assert!(matches!(attempted, Err(Error::LinkNotActive)), "{attempted:?}");
    ask_after(&kit, Duration::from_secs(1)).await;
    assert_eq!((acquired.payable(), count_payments(&acquired.project, "").await), (vec![], 0));
}

async fn an_expiry_is_written_after_the_bank_was_asked(kit: Arc<Kit>) {
    let acquired = acquired(&kit, "midtrans").await;
    let (unpaid, paid) = (acquired.payment().await, acquired.payment().await);
    // A customer pays at the last moment, and nobody tells us.
    let order = demobank::PayOrder { notice: demobank::NotifyHabit::Never, ..demobank::PayOrder::default() };
    acquired.pays_as(&paid, order).await;
    acquired.asked.fail_every(Service::Query, Some(Fault::Status(503)));
    ask_after(&kit, Duration::from_hours(25)).await;
    kit.engine.expire_due().await.unwrap();
    for payment in [&unpaid, &paid] {
        assert_eq!(status(&acquired.project, payment).await, "expired", "as readers see it");
        assert_eq!(stored_state(&kit, payment).await, State::Pending);
    }
    acquired.asked.fail_every(Service::Query, None);
    ask_after(&kit, Duration::from_hours(1)).await;
    assert_eq!(stored_state(&kit, &unpaid).await, State::Expired);
    assert_eq!(status(&acquired.project, &paid).await, "paid");
}

async fn a_bank_that_says_processing_is_asked_until_it_knows(kit: Arc<Kit>) {
    let acquired = acquired(&kit, "midtrans").await;
    let payment = acquired.payment().await;
    acquired.asked.set_state(code_of(&payment), CodeState::Processing).unwrap();
    acquired.asked.tell(code_of(&payment), "02", demobank::Knobs::default()).await.unwrap();
    assert_eq!(status(&acquired.project, &payment).await, "processing");
    for _ in 0..5 {
        ask_after(&kit, Duration::from_hours(1)).await;
        assert_eq!(status(&acquired.project, &payment).await, "processing");
    }
    let order = demobank::PayOrder { notice: demobank::NotifyHabit::Never, ..demobank::PayOrder::default() };
    acquired.pays_as(&payment, order).await;
    ask_after(&kit, Duration::from_hours(1)).await;
    assert_eq!(status(&acquired.project, &payment).await, "paid");
    let opening = kit.store.opening_of_payment(text(&payment, "id").parse().unwrap()).await.unwrap().unwrap();
    assert!(matches!(opening.state, OpeningState::Issued { .. }));
}

async fn word_of_money_during_a_question_is_asked_about_after_it(kit: Arc<Kit>) {
    // This bank signs no body, so its word only makes us ask.
    let acquired = acquired(&kit, "bri-qris").await;
    let payment = acquired.payment().await;
    let in_time = kit.engine.now().as_millis();
    kit.clock.advance(Duration::from_hours(25));
    acquired.asked.fail_next_of(Service::Query, Fault::HeldAfter);
    let engine = kit.engine.clone();
    let asking = tokio::spawn(async move { engine.ask_due().await.unwrap() });
    acquired.asked.wait_held(1).await;
    let order = demobank::PayOrder { paid_at_ms: Some(in_time), ..demobank::PayOrder::default() };
    acquired.pays_as(&payment, order).await;
    acquired.asked.release();
    asking.await.unwrap();
    ask_after(&kit, Duration::from_secs(1)).await;
    assert_eq!(status(&acquired.project, &payment).await, "paid");
}

async fn a_payment_whose_money_is_held_expires_like_any_other(kit: Arc<Kit>) {
    let acquired = acquired(&kit, "midtrans").await;
    let payment = acquired.payment().await;
    let order = demobank::PayOrder { amount: Some(AMOUNT - 1), ..demobank::PayOrder::default() };
    acquired.pays_as(&payment, order).await;
    assert_eq!(
        (status(&acquired.project, &payment).await.as_str(), unapplied(&acquired.project).await),
        ("pending", AMOUNT - 1)
    );
    ask_after(&kit, Duration::from_hours(25)).await;
    assert_eq!(stored_state(&kit, &payment).await, State::Expired);
}

async fn the_code_of_a_payment_that_held_money_pays_is_voided(kit: Arc<Kit>) {
    let acquired = acquired(&kit, "midtrans").await;
    let (sender, wanted) = (acquired.payment().await, acquired.payment().await);
    acquired.pays_as(&sender, PayOrder { amount: Some(AMOUNT - 1_000), ..PayOrder::default() }).await;
    let [held] = &receipts(&acquired.project, "state=held").await[..] else { panic!("the wrong amount is held") };
    assert_eq!((text(held, "payment_id"), text(held, "reason")), (text(&sender, "id"), "wrong_amount"));
    let body = json!({ "note": "x", "payment_id": text(&wanted, "id"), "accept_difference": true });
    decide(&acquired.project, held, "accept", &body).await.expect(200);
    ask_after(&kit, Duration::from_secs(1)).await;
    assert_eq!(acquired.asked.code(code_of(&wanted)).unwrap().state, CodeState::Voided);
    ask_after(&kit, Duration::from_hours(25)).await;
    assert_eq!((status(&acquired.project, &wanted).await, unapplied(&acquired.project).await), ("paid".to_owned(), 0));
    assert_eq!(status(&acquired.project, &sender).await, "expired");
}
