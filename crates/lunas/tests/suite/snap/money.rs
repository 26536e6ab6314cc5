//! Money that comes late, early or for the wrong code: it is booked once, for the payment that it belongs to, and what fits
//! nothing is held or kept as a stray. Nothing that a bank has taken is refused.

use std::{sync::Arc, time::Duration};

use demobank::{CodeState, Fault, Knobs, Notification, NotifyHabit, PayOrder, Service};
use domain::{
    bank::Bank,
    method::Method,
    money::Rupiah,
    payment::{Checkout, State},
};
use engine::Attempt;
use futures_util::future::join_all;
use serde_json::{Value, json};
use testkit::{Kit, on_every_database};

use crate::support::{
    acquirers::{AMOUNT, Acquired, acquired, acquired_for, ask_after, code_of, hosted_there, open_strays, silently},
    json::{at, text, with},
    links::{cancel_link, create_link},
    nodes::Node,
    payments::{count_payments, events_of, fetch, status, stored_state, unapplied},
};

on_every_database![
    money_for_an_opening_that_was_never_answered_makes_its_payment_and_pays_it,
    money_that_nobody_told_of_is_found_by_the_job_of_its_opening,
    timely_money_for_an_abandoned_opening_pays,
    money_after_an_opening_was_abandoned_is_held_on_its_payment,
    a_void_that_finds_the_code_paid_is_judged_by_the_time_of_the_money,
    money_that_comes_before_the_answer_is_in_the_answer,
    of_two_codes_of_one_opening_that_are_both_paid_one_pays_and_the_other_is_held,
    a_payment_that_was_paid_by_its_first_code_has_the_second_voided,
    money_of_another_amount_for_an_issued_code_is_held,
    money_of_another_amount_for_a_qr_that_was_never_answered_is_a_stray,
    money_of_another_amount_for_an_account_that_was_never_answered_makes_a_pending_payment,
    a_pending_payment_that_money_has_made_expires_like_any_other,
    late_word_of_timely_money_pays_and_late_money_is_held,
    money_for_what_is_not_ours_is_a_stray_and_answered_with_success,
    a_payment_is_found_by_the_banks_reference_alone,
    a_number_that_the_bank_chose_is_learned_from_its_word,
    the_same_money_is_booked_once_however_often_it_is_told,
    two_nodes_that_are_told_at_once_book_once on 2 threads,
];

/// One account for QRIS and one for virtual accounts that the bank hosts.
async fn both_kinds(kit: &Kit) -> [Acquired; 2] {
    [acquired(kit, "midtrans").await, hosted_there(kit, "briva-ws").await]
}

fn number_of(payment: &Value) -> &str {
    text(&payment["instructions"], "virtual_account_number")
}

/// The bank makes a code, and its answer is lost.
pub(super) async fn lose_answer(acquired: &Acquired, key: &str) -> demobank::Code {
    acquired.asked.fail_next_of(acquired.issue_service(), Fault::LostAfter);
    acquired.pay(key).await.refused(503, "PAYMENT_PROVIDER_UNAVAILABLE");
    acquired.last_code()
}

/// Checks that a payment is paid by one receipt, and that the project holds nothing else.
async fn is_paid_once(acquired: &Acquired, payment: &Value) {
    assert_eq!(status(&acquired.project, payment).await, "paid");
    assert_eq!(events_of(&acquired.project, payment, "payment.paid").await.len(), 1);
    assert_eq!(unapplied(&acquired.project).await, 0);
}

/// What the customer would pay to, of a payment that money has made: a QR that nobody has read is empty.
#[track_caller]
fn shows_what_is_known(acquired: &Acquired, payment: &Value, code: &demobank::Code) {
    match acquired.method {
        Method::Qris => assert_eq!(text(&payment["instructions"], "qr_string"), ""),
        Method::VirtualAccount(_) => assert_eq!(number_of(payment), code.content),
    }
}

async fn money_for_an_opening_that_was_never_answered_makes_its_payment_and_pays_it(kit: Arc<Kit>) {
    for acquired in both_kinds(&kit).await {
        let code = lose_answer(&acquired, "key").await;
        assert_eq!(count_payments(&acquired.project, "").await, 0);
        let paid = acquired.asked.pay_code(&code.reference, PayOrder::default()).await.unwrap();
        assert_eq!(paid.answers[0].status, 200, "{}", paid.answers[0].text);
        let calls = acquired.asked.calls().len();
        let reply = acquired.pay("key").await;
        assert_eq!(reply.header("idempotent-replayed"), Some("true"));
        let payment = reply.expect(200);
        assert_eq!(text(&payment, "status"), "paid");
        shows_what_is_known(&acquired, &payment, &code);
        assert_eq!(fetch(&acquired.project, &payment).await, payment);
        assert_eq!(acquired.asked.calls().len(), calls, "the bank is not asked again");
        ask_after(&kit, Duration::from_hours(48)).await;
        is_paid_once(&acquired, &payment).await;
        assert_eq!((acquired.asked_to_issue(), count_payments(&acquired.project, "").await), (1, 1));
    }
}

async fn money_that_nobody_told_of_is_found_by_the_job_of_its_opening(kit: Arc<Kit>) {
    for acquired in both_kinds(&kit).await {
        let code = lose_answer(&acquired, "key").await;
        acquired.asked.pay_code(&code.reference, silently()).await.unwrap();
        ask_after(&kit, Duration::from_secs(10)).await;
        let payment = acquired.pay("key").await.expect(200);
        shows_what_is_known(&acquired, &payment, &code);
        is_paid_once(&acquired, &payment).await;
        // The word of it comes after all.
        acquired.asked.tell(&code.reference, "00", Knobs::default()).await.unwrap();
        is_paid_once(&acquired, &payment).await;
        assert_eq!((acquired.asked_to_issue(), count_payments(&acquired.project, "").await), (1, 1));
    }
    // A bank that is asked for the same code again gives it, paid or not; then its expiry asks.
    let acquired = acquired(&kit, "dana").await;
    let code = lose_answer(&acquired, "key").await;
    acquired.asked.pay_code(&code.reference, silently()).await.unwrap();
    ask_after(&kit, Duration::from_secs(10)).await;
    let payment = acquired.pay("key").await.expect(200);
    assert_eq!(code_of(&payment), code.content);
    ask_after(&kit, Duration::from_hours(25)).await;
    is_paid_once(&acquired, &payment).await;
}

/// The service that voids a code, and the one that tells where it stands.
fn void_and_query(acquired: &Acquired) -> (Service, Service) {
    match acquired.method {
        Method::Qris => (Service::Cancel, Service::Query),
        Method::VirtualAccount(_) => (Service::DeleteVa, Service::Status),
    }
}

async fn timely_money_for_an_abandoned_opening_pays(kit: Arc<Kit>) {
    for acquired in both_kinds(&kit).await {
        let (_, query) = void_and_query(&acquired);
        acquired.asked.fail_every(query, Some(Fault::Status(500)));
        let code = lose_answer(&acquired, "key").await;
        let paid_at = kit.engine.now();
        acquired.asked.pay_code(&code.reference, silently()).await.unwrap();
        ask_after(&kit, Duration::from_mins(11)).await;
        assert_eq!(count_payments(&acquired.project, "").await, 0, "it was given up, and the bank cannot be asked");
        acquired.asked.fail_every(query, None);
        ask_after(&kit, Duration::from_mins(10)).await;
        let payment = acquired.pay("key").await.expect(200);
        shows_what_is_known(&acquired, &payment, &code);
        assert_eq!(at(&payment, "paid_at").as_millis() / 1_000, paid_at.as_millis() / 1_000);
        is_paid_once(&acquired, &payment).await;
        assert_eq!((acquired.asked_to_issue(), count_payments(&acquired.project, "").await), (1, 1));
    }
}

async fn money_after_an_opening_was_abandoned_is_held_on_its_payment(kit: Arc<Kit>) {
    for acquired in both_kinds(&kit).await {
        let (void, query) = void_and_query(&acquired);
        acquired.asked.fail_every(query, Some(Fault::Status(500)));
        acquired.asked.fail_every(void, Some(Fault::LostBefore));
        let code = lose_answer(&acquired, "key").await;
        ask_after(&kit, Duration::from_mins(11)).await;
        kit.clock.advance(Duration::from_secs(1));
        let paid = acquired.asked.pay_code(&code.reference, PayOrder::default()).await.unwrap();
        assert_eq!(paid.answers[0].status, 200, "{}", paid.answers[0].text);
        let payment = acquired.pay("key").await.expect(200);
        assert_eq!((text(&payment, "status"), unapplied(&acquired.project).await), ("cancelled", AMOUNT));
        // The void and the query that follows it tell of the same money.
        acquired.asked.fail_every(query, None);
        acquired.asked.fail_every(void, None);
        ask_after(&kit, Duration::from_mins(10)).await;
        assert_eq!(
            (status(&acquired.project, &payment).await.as_str(), count_payments(&acquired.project, "").await),
            ("cancelled", 1)
        );
        assert_eq!((unapplied(&acquired.project).await, open_strays(&kit).await.len()), (AMOUNT, 0));
        assert!(events_of(&acquired.project, &payment, "payment.paid").await.is_empty());
    }
}

async fn a_void_that_finds_the_code_paid_is_judged_by_the_time_of_the_money(kit: Arc<Kit>) {
    let acquired = acquired(&kit, "midtrans").await;
    for is_timely in [true, false] {
        let link = create_link(&acquired.project, json!({ "amount": AMOUNT })).await;
        let id = text(&link, "id").parse().unwrap();
        let attempt = Attempt::new(Method::Qris, Checkout::default());
        let payment = kit.engine.attempt_link(id, &attempt).await.unwrap();
        let shown = json!({ "id": payment.id.to_string() });
        if is_timely {
            acquired.asked.pay_code(&payment.code, silently()).await.unwrap();
        }
        kit.clock.advance(Duration::from_mins(1));
        cancel_link(&acquired.project, &link).await;
        assert_eq!(status(&acquired.project, &shown).await, "cancelled");
        kit.clock.advance(Duration::from_mins(1));
        if !is_timely {
            acquired.asked.pay_code(&payment.code, silently()).await.unwrap();
        }
        ask_after(&kit, Duration::ZERO).await;
        assert_eq!(acquired.asked.code(&payment.code).unwrap().state, CodeState::Paid);
        let (standing, held, events) = if is_timely { ("paid", 0, 1) } else { ("cancelled", AMOUNT, 0) };
        assert_eq!(
            (status(&acquired.project, &shown).await.as_str(), unapplied(&acquired.project).await),
            (standing, held)
        );
        assert_eq!(events_of(&acquired.project, &shown, "payment.paid").await.len(), events);
    }
}

async fn money_that_comes_before_the_answer_is_in_the_answer(kit: Arc<Kit>) {
    for acquired in both_kinds(&kit).await {
        acquired.asked.fail_next_of(acquired.issue_service(), Fault::PaidFirst);
        let payment = acquired.pay("first").await.expect(201);
        shows_what_is_known(&acquired, &payment, &acquired.last_code());
        is_paid_once(&acquired, &payment).await;
        assert_eq!(acquired.pay("first").await.expect(200), payment);

        acquired.asked.fail_next_of(acquired.issue_service(), Fault::HeldAfter);
        let (reply, ()) = futures_util::future::join(acquired.pay("held"), async {
            acquired.asked.wait_held(1).await;
            let reference = acquired.last_code().reference;
            acquired.asked.pay_code(&reference, PayOrder::default()).await.unwrap();
            acquired.asked.release();
        })
        .await;
        let payment = reply.expect(201);
        assert_eq!(text(&payment, "status"), "paid");
        ask_after(&kit, Duration::from_hours(48)).await;
        is_paid_once(&acquired, &payment).await;
        assert_eq!((acquired.asked_to_issue(), count_payments(&acquired.project, "").await), (2, 2));
    }
}

/// An opening whose first answer was lost, and which got a second code: both references, and the payment.
async fn two_codes(kit: &Kit, acquired: &Acquired, key: &str) -> (demobank::Code, Value) {
    acquired.asked.fail_every(Service::Cancel, Some(Fault::LostBefore));
    let first = lose_answer(acquired, key).await;
    kit.clock.advance(Duration::from_secs(10));
    let payment = acquired.pay(key).await.expect(200);
    assert_ne!(code_of(&payment), first.content);
    (first, payment)
}

async fn of_two_codes_of_one_opening_that_are_both_paid_one_pays_and_the_other_is_held(kit: Arc<Kit>) {
    for profile in ["bri-qris", "doku"] {
        let acquired = acquired(&kit, profile).await;
        let mut held = 0;
        for is_first_paid_first in [false, true] {
            let (first, payment) = two_codes(&kit, &acquired, &format!("key-{is_first_paid_first}")).await;
            let mut names = [code_of(&payment).to_owned(), first.content];
            names.rotate_left(usize::from(is_first_paid_first));
            for name in names {
                let paid = acquired.asked.pay_code(&name, PayOrder::default()).await.unwrap();
                assert_eq!(paid.answers[0].status, 200, "{}", paid.answers[0].text);
                ask_after(&kit, Duration::ZERO).await;
                assert_eq!(status(&acquired.project, &payment).await, "paid", "{profile}");
                assert_eq!(unapplied(&acquired.project).await, held, "{profile}");
                held += AMOUNT;
            }
            held -= AMOUNT;
            assert_eq!(unapplied(&acquired.project).await, held, "{profile}");
            assert_eq!(events_of(&acquired.project, &payment, "payment.paid").await.len(), 1, "{profile}");
            kit.clock.advance(Duration::from_mins(1));
        }
    }
}

async fn a_payment_that_was_paid_by_its_first_code_has_the_second_voided(kit: Arc<Kit>) {
    let acquired = acquired(&kit, "doku").await;
    let (first, payment) = two_codes(&kit, &acquired, "key").await;
    acquired.asked.pay_code(&first.reference, PayOrder::default()).await.unwrap();
    is_paid_once(&acquired, &payment).await;
    acquired.asked.fail_every(Service::Cancel, None);
    ask_after(&kit, Duration::from_mins(1)).await;
    assert_eq!(acquired.asked.code(code_of(&payment)).unwrap().state, CodeState::Voided);
    is_paid_once(&acquired, &payment).await;
}

/// Money that is one rupiah too much.
fn too_much() -> PayOrder {
    PayOrder { amount: Some(AMOUNT + 1), ..PayOrder::default() }
}

async fn money_of_another_amount_for_an_issued_code_is_held(kit: Arc<Kit>) {
    for acquired in both_kinds(&kit).await {
        let payment = acquired.payment().await;
        let paid = acquired.pays_as(&payment, too_much()).await;
        assert_eq!(paid.answers[0].status, 200, "{}", paid.answers[0].text);
        assert_eq!(
            (status(&acquired.project, &payment).await.as_str(), unapplied(&acquired.project).await),
            ("pending", AMOUNT + 1)
        );
        // An account may be paid again, by another transfer.
        if acquired.method != Method::Qris {
            acquired.pays(&payment).await;
            assert_eq!(status(&acquired.project, &payment).await, "paid");
        }
        assert_eq!(unapplied(&acquired.project).await, AMOUNT + 1);
    }
}

async fn money_of_another_amount_for_a_qr_that_was_never_answered_is_a_stray(kit: Arc<Kit>) {
    let acquired = acquired(&kit, "midtrans").await;
    let code = lose_answer(&acquired, "key").await;
    let paid = acquired.asked.pay_code(&code.reference, too_much()).await.unwrap();
    assert_eq!(paid.answers[0].code(), "2005200");
    let strays = open_strays(&kit).await;
    assert_eq!((strays.len(), strays[0].number.as_str()), (1, code.reference.as_str()));
    assert_eq!((count_payments(&acquired.project, "").await, unapplied(&acquired.project).await), (0, 0));
    // The opening is given up; a retry gets a code of its own, and the stray stays one.
    ask_after(&kit, Duration::from_mins(11)).await;
    let payment = acquired.pay("key").await.expect(200);
    ask_after(&kit, Duration::from_mins(1)).await;
    assert_eq!((open_strays(&kit).await.len(), acquired.payable().len()), (1, 1));
    acquired.pays(&payment).await;
    is_paid_once(&acquired, &payment).await;
}

async fn money_of_another_amount_for_an_account_that_was_never_answered_makes_a_pending_payment(kit: Arc<Kit>) {
    let acquired = hosted_there(&kit, "briva-ws").await;
    let code = lose_answer(&acquired, "lost").await;
    acquired.asked.pay_code(&code.reference, too_much()).await.unwrap();
    let lost = acquired.pay("lost").await.expect(200);
    assert_eq!((text(&lost, "status"), number_of(&lost)), ("pending", code.content.as_str()));
    assert_eq!(unapplied(&acquired.project).await, AMOUNT + 1);

    acquired.asked.fail_next_of(Service::CreateVa, Fault::HeldAfter);
    let (reply, ()) = futures_util::future::join(acquired.pay("held"), async {
        acquired.asked.wait_held(1).await;
        acquired.asked.pay_code(&acquired.last_code().reference, too_much()).await.unwrap();
        acquired.asked.release();
    })
    .await;
    let held = reply.expect(201);
    assert_eq!((text(&held, "status"), number_of(&held)), ("pending", acquired.last_code().content.as_str()));
    assert_eq!(count_payments(&acquired.project, "").await, 2);
    for payment in [&lost, &held] {
        acquired.pays(payment).await;
        assert_eq!(status(&acquired.project, payment).await, "paid");
        assert_eq!(events_of(&acquired.project, payment, "payment.paid").await.len(), 1);
    }
    assert_eq!((unapplied(&acquired.project).await, acquired.asked_to_issue()), (2 * (AMOUNT + 1), 2));
}

async fn a_pending_payment_that_money_has_made_expires_like_any_other(kit: Arc<Kit>) {
    let acquired = hosted_there(&kit, "midtrans").await;
    let code = lose_answer(&acquired, "key").await;
    acquired.asked.pay_code(&code.reference, too_much()).await.unwrap();
    let payment = acquired.pay("key").await.expect(200);
    // The bank itself has another opinion of what was paid than that it was paid: nobody has paid the bill.
    acquired.asked.set_state(&code.reference, CodeState::Unpaid).unwrap();
    ask_after(&kit, Duration::from_hours(25)).await;
    assert_eq!(stored_state(&kit, &payment).await, State::Expired);
    assert_eq!(unapplied(&acquired.project).await, AMOUNT + 1);
}

async fn late_word_of_timely_money_pays_and_late_money_is_held(kit: Arc<Kit>) {
    for acquired in both_kinds(&kit).await {
        let (timely, late) = (acquired.payment().await, acquired.payment().await);
        let paid_at = at(&timely, "expires_at");
        ask_after(&kit, Duration::from_hours(25)).await;
        for payment in [&timely, &late] {
            assert_eq!(stored_state(&kit, payment).await, State::Expired);
        }
        let order = PayOrder { paid_at_ms: Some(paid_at.as_millis() / 1_000 * 1_000), ..PayOrder::default() };
        acquired.pays_as(&timely, order).await;
        is_paid_once(&acquired, &timely).await;
        let paid = acquired.pays(&late).await;
        assert_eq!(paid.answers[0].status, 200, "{}", paid.answers[0].text);
        assert_eq!(
            (status(&acquired.project, &late).await.as_str(), unapplied(&acquired.project).await),
            ("expired", AMOUNT)
        );
    }
}

async fn money_for_what_is_not_ours_is_a_stray_and_answered_with_success(kit: Arc<Kit>) {
    let [qris, account] = both_kinds(&kit).await;
    let told = Notification { amount: AMOUNT, status: "00".to_owned(), ..Notification::default() };
    let of_reference = Notification {
        reference: "ANOTHERS".to_owned(),
        bank_reference: "BANK1".to_owned(),
        receipt_id: "111111111111".to_owned(),
        ..told.clone()
    };
    let of_bank_reference =
        Notification { bank_reference: "BANK2".to_owned(), receipt_id: "222222222222".to_owned(), ..told.clone() };
    let of_number = Notification { number: "777770000000000001".to_owned(), receipt_id: "3".repeat(30), ..told };
    let cases = [
        (&qris, Service::QrNotify, of_reference, "ANOTHERS", "2005200"),
        (&qris, Service::QrNotify, of_bank_reference, "BANK2", "2005200"),
        (&account, Service::VaNotify, of_number, "777770000000000001", "2003400"),
    ];
    for (row, (acquired, service, told, name, code)) in cases.into_iter().enumerate() {
        // Twice, and kept once.
        for _ in 0..2 {
            assert_eq!(acquired.tells(service, told.clone(), Knobs::default()).await.code(), code, "{name}");
        }
        let strays = open_strays(&kit).await;
        assert_eq!(strays.len(), row + 1, "{name}");
        let stray = strays.iter().find(|stray| stray.number == name).unwrap();
        assert_eq!((stray.account_id, stray.amount.map(Rupiah::get)), (acquired.account, Some(AMOUNT)), "{name}");
    }
    for acquired in [&qris, &account] {
        assert_eq!((count_payments(&acquired.project, "").await, unapplied(&acquired.project).await), (0, 0));
    }
    // What is no money and not ours is answered with success, and nothing is kept.
    let told = Notification {
        reference: "ANOTHERS".to_owned(),
        amount: AMOUNT,
        status: "06".to_owned(),
        ..Notification::default()
    };
    assert_eq!(qris.tells(Service::QrNotify, told, Knobs::default()).await.code(), "2005200");
    assert_eq!(open_strays(&kit).await.len(), 3);
}

async fn a_payment_is_found_by_the_banks_reference_alone(kit: Arc<Kit>) {
    let acquired = acquired(&kit, "midtrans").await;
    let payment = acquired.payment().await;
    let bank_reference = acquired.asked.code(code_of(&payment)).unwrap().bank_reference;
    let told = Notification { bank_reference, amount: AMOUNT, status: "00".to_owned(), ..Notification::default() };
    let unnamed = Knobs { missing_member: Some("originalPartnerReferenceNo".to_owned()), ..Knobs::default() };
    assert_eq!(acquired.tells(Service::QrNotify, told, unnamed).await.code(), "2005200");
    is_paid_once(&acquired, &payment).await;
    assert!(open_strays(&kit).await.is_empty());
}

async fn a_number_that_the_bank_chose_is_learned_from_its_word(kit: Arc<Kit>) {
    let (project, bri) = (kit.production().await, Method::VirtualAccount(Bank::Bri));
    let acquired = acquired_for(&kit, project, "doku", bri, &[("numbers", "theirs")]).await;
    let code = lose_answer(&acquired, "key").await;
    acquired.asked.pay_code(&code.reference, PayOrder::default()).await.unwrap();
    let payment = acquired.pay("key").await.expect(200);
    assert_eq!(number_of(&payment), code.content);
    is_paid_once(&acquired, &payment).await;
    assert_eq!(acquired.asked_to_issue(), 1);
}

async fn the_same_money_is_booked_once_however_often_it_is_told(kit: Arc<Kit>) {
    let [qris, account] = both_kinds(&kit).await;
    for acquired in [qris, account, acquired(&kit, "dana").await, acquired(&kit, "bri-qris").await] {
        for notice in [NotifyHabit::Twice, NotifyHabit::Reordered, NotifyHabit::Once] {
            let payment = acquired.payment().await;
            let order = PayOrder { notice, ..PayOrder::default() };
            let paid = acquired.pays_as(&payment, order).await;
            assert!(paid.answers.iter().all(|answer| answer.status == 200), "{:?}", paid.answers);
            ask_after(&kit, Duration::ZERO).await;
            is_paid_once(&acquired, &payment).await;
            // By a question too, and by a word that comes after that.
            ask_after(&kit, Duration::from_hours(25)).await;
            acquired.asked.tell(code_of(&payment), "00", Knobs::default()).await.unwrap();
            ask_after(&kit, Duration::ZERO).await;
            is_paid_once(&acquired, &payment).await;
        }
        assert!(open_strays(&kit).await.is_empty());
    }
}

async fn two_nodes_that_are_told_at_once_book_once(kit: Arc<Kit>) {
    let acquired = acquired(&kit, "midtrans").await;
    let node = Node::beside(&kit).await;
    for is_answered in [true, false] {
        let key = format!("key-{is_answered}");
        let code = match is_answered {
            true => acquired.asked.code(code_of(&acquired.pay(&key).await.expect(201))).unwrap(),
            false => lose_answer(&acquired, &key).await,
        };
        let paid = acquired.asked.pay_code(&code.reference, silently()).await.unwrap();
        let told = Notification {
            reference: code.reference.clone(),
            bank_reference: code.bank_reference.clone(),
            amount: AMOUNT,
            status: "00".to_owned(),
            receipt_id: paid.receipt_id,
            ..Notification::default()
        };
        let here = acquired.prepared(Service::QrNotify, told).await;
        let mut there = here.clone();
        there.url = here.url.replace(&kit.address.to_string(), &node.address.to_string());
        assert_ne!(here.url, there.url);
        let answers = join_all((0..20).map(|turn| acquired.send(if turn % 2 == 0 { &here } else { &there }))).await;
        assert!(answers.iter().all(|answer| answer.code() == "2005200"), "{answers:?}");
        let payment = acquired.pay(&key).await.expect(200);
        is_paid_once(&acquired, &payment).await;
    }
    assert_eq!(count_payments(&acquired.project, "").await, 2);
    assert!(open_strays(&kit).await.is_empty());
    // What a merchant sends with another amount still does not fit the key.
    let other = with(acquired.order(), "amount", AMOUNT + 1);
    acquired.project.api.pay("key-true", &other).await.refused(409, "IDEMPOTENCY_CONFLICT");
    node.stop().await;
}
