//! Where a payment stands at the bank that issues its code, as its page tells a merchant; and a payment whose code was lost.

use std::{sync::Arc, time::Duration};

use demobank::{Fault, NotifyHabit, PayOrder, Service};
use domain::{access::Role, user::User};
use serde_json::{Value, json};
use testkit::{Kit, on_every_database, on_sqlite_alone};

use crate::support::{
    acquirers::{Acquired, acquired, ask_after, code_of},
    customer::{Customer, is_page, pay_path},
    json::text,
    links::{cancel_link, create_link},
    payments::{count_payments, fetch, pending_qris, status},
    people::{Person, desk},
};

on_every_database![
    the_history_tells_that_the_bank_was_asked_and_has_issued_the_code,
    the_history_tells_of_answers_that_were_lost_and_of_asking_again,
    the_history_tells_that_the_bank_was_asked_whether_a_code_was_paid,
    the_history_tells_whether_the_bank_has_cancelled_a_code,
    the_history_does_not_say_that_a_code_was_cancelled_which_the_bank_does_not_know,
];

on_sqlite_alone![
    a_payment_whose_code_was_lost_shows_no_code_anywhere,
    payments_that_no_bank_was_asked_for_have_no_word_of_a_bank,
];

/// A member who looks at payments of the project.
struct Reader<'a> {
    kit: &'a Kit,
    user: User,
    desk: String,
}

impl Reader<'_> {
    async fn of<'a>(kit: &'a Kit, acquired: &Acquired) -> Reader<'a> {
        let user = Person::member(kit, acquired.project.id, Role::Owner, "owner@example.com").await.user;
        Reader { kit, user, desk: desk(acquired.project.id) }
    }

    async fn page(&self, payment: &Value, language: &str) -> String {
        // Sessions end sooner than some payments.
        let person = Person::signed_in(self.kit, self.user.clone()).await;
        let page = person.open(&format!("{}/payments/{}?lang={language}", self.desk, text(payment, "id"))).await;
        is_page("a payment", &page, 200);
        page.text
    }

    /// The headlines of the history, in order.
    async fn history(&self, payment: &Value) -> Vec<String> {
        let page = self.page(payment, "en").await;
        let (_, history) = page.split_once("<ol class=\"timeline\">").unwrap();
        let history = history.split("</ol>").next().unwrap();
        let headlines = history.split("<b>").skip(1).map(|rest| rest.split("</b>").next().unwrap().to_owned());
        headlines.collect()
    }
}

async fn the_history_tells_that_the_bank_was_asked_and_has_issued_the_code(kit: Arc<Kit>) {
    let acquired = acquired(&kit, "midtrans").await;
    let reader = Reader::of(&kit, &acquired).await;
    let payment = acquired.payment().await;
    let asked = ["Asked the bank for the code", "The bank issued the code", "Created"];
    let waiting = ["The bank will be asked whether the code was paid", "Waiting for the customer"];
    assert_eq!(reader.history(&payment).await, [&asked[..], &waiting[..]].concat());
    let page = reader.page(&payment, "id").await;
    for words in ["Kode diminta dari bank", "Bank menerbitkan kode", "Bank akan ditanya apakah kodenya sudah dibayar"] {
        assert!(page.contains(words), "{words}: {page}");
    }
    acquired.pays(&payment).await;
    assert_eq!(status(&acquired.project, &payment).await, "paid");
    assert_eq!(reader.history(&payment).await[..4], [&asked[..], &["Paid"]].concat()[..]);
}

async fn the_history_tells_of_answers_that_were_lost_and_of_asking_again(kit: Arc<Kit>) {
    for (profile, expected) in [
        ("midtrans", &["The bank gave no answer", "Asked the bank whether it has issued the code"][..]),
        ("dana", &["The bank gave no answer", "Asked the bank for the code again"]),
        ("bri-qris", &["The bank gave no answer", "Asked the bank for a new code"]),
    ] {
        kit.on_another(testkit::Options::default(), async |kit: Arc<Kit>| {
            let acquired = acquired(&kit, profile).await;
            let reader = Reader::of(&kit, &acquired).await;
            acquired.asked.fail_next_of(Service::Generate, Fault::LostAfter);
            assert_eq!(acquired.pay("key").await.status, 503);
            ask_after(&kit, Duration::from_secs(10)).await;
            let payment = acquired.pay("key").await.expect(200);
            let history = reader.history(&payment).await;
            let whole =
                [&["Asked the bank for the code"][..], expected, &["The bank issued the code", "Created"]].concat();
            assert_eq!(history[..5], whole[..], "{profile}");
            let page = reader.page(&payment, "en").await;
            assert!(page.contains("The connection was cut off."), "{profile}: {page}");
        })
        .await;
    }
}

async fn the_history_tells_that_the_bank_was_asked_whether_a_code_was_paid(kit: Arc<Kit>) {
    let acquired = acquired(&kit, "midtrans").await;
    let reader = Reader::of(&kit, &acquired).await;
    let payment = acquired.payment().await;
    acquired.asked.fail_every(Service::Query, Some(Fault::Status(500)));
    // A QRIS lives for 15 minutes, and the bank is asked a minute later.
    ask_after(&kit, Duration::from_mins(17)).await;
    ask_after(&kit, Duration::from_secs(10)).await;
    let asked = "Asked the bank whether the code was paid";
    let history = reader.history(&payment).await;
    assert!(history.contains(&asked.to_owned()) && history.contains(&"The bank gave no answer".to_owned()));
    assert!(history.contains(&"The bank will be asked whether the code was paid".to_owned()), "{history:?}");
    let page = reader.page(&payment, "en").await;
    assert!(page.contains("2 times") && page.contains("Response code: 5005100"), "{page}");
    assert!(history.iter().all(|headline| !headline.contains("500")), "{history:?}");
    acquired.asked.fail_every(Service::Query, None);
    ask_after(&kit, Duration::from_mins(1)).await;
    let history = reader.history(&payment).await;
    assert_eq!(history.last().map(String::as_str), Some(asked), "{history:?}");
}

async fn the_history_tells_whether_the_bank_has_cancelled_a_code(kit: Arc<Kit>) {
    let acquired = acquired(&kit, "midtrans").await;
    let reader = Reader::of(&kit, &acquired).await;
    let customer = Customer::of(&kit);
    let voided = create_link(&acquired.project, json!({})).await;
    let payment = customer.pays_by(&acquired.project, &voided, "qris").await;
    cancel_link(&acquired.project, &voided).await;
    assert!(reader.history(&payment).await.contains(&"The bank will be asked to cancel the code".to_owned()));
    ask_after(&kit, Duration::from_secs(1)).await;
    let history = reader.history(&payment).await;
    let place = |headline: &str| history.iter().position(|each| each == headline);
    let (asked, done) = (place("Asked the bank to cancel the code"), place("The bank cancelled the code"));
    assert!(asked.is_some() && asked < done, "{history:?}");

    let paid_first = create_link(&acquired.project, json!({})).await;
    let payment = Customer::of(&kit).pays_by(&acquired.project, &paid_first, "qris").await;
    acquired.pays_as(&payment, PayOrder { notice: NotifyHabit::Never, ..PayOrder::default() }).await;
    kit.clock.advance(Duration::from_secs(1));
    cancel_link(&acquired.project, &paid_first).await;
    ask_after(&kit, Duration::from_secs(1)).await;
    let history = reader.history(&payment).await;
    for headline in [
        "Asked the bank to cancel the code",
        "The bank did not cancel the code",
        "Asked the bank whether the code was paid",
    ] {
        assert!(history.contains(&headline.to_owned()), "{headline}: {history:?}");
    }
    assert_eq!(status(&acquired.project, &payment).await, "paid", "it was paid before it was cancelled");
}

async fn the_history_does_not_say_that_a_code_was_cancelled_which_the_bank_does_not_know(kit: Arc<Kit>) {
    let acquired = acquired(&kit, "midtrans").await;
    let reader = Reader::of(&kit, &acquired).await;
    let link = create_link(&acquired.project, json!({})).await;
    let payment = Customer::of(&kit).pays_by(&acquired.project, &link, "qris").await;
    acquired.asked.fail_next_of(Service::Cancel, Fault::Case(404, "01"));
    cancel_link(&acquired.project, &link).await;
    ask_after(&kit, Duration::from_secs(1)).await;
    let history = reader.history(&payment).await;
    assert!(history.contains(&"The bank does not know the code".to_owned()), "{history:?}");
    assert!(!history.contains(&"The bank cancelled the code".to_owned()), "{history:?}");
    assert!(reader.page(&payment, "id").await.contains("Bank tidak mengenal kodenya"));
}

async fn a_payment_whose_code_was_lost_shows_no_code_anywhere(kit: Arc<Kit>) {
    let acquired = acquired(&kit, "midtrans").await;
    let reader = Reader::of(&kit, &acquired).await;
    acquired.asked.fail_next_of(Service::Generate, Fault::LostAfter);
    assert_eq!(acquired.pay("key").await.status, 503);
    let lost = acquired.asked.codes().pop().unwrap();
    acquired.asked.pay_code(&lost.reference, PayOrder::default()).await.unwrap();
    ask_after(&kit, Duration::from_secs(10)).await;
    let payment = acquired.pay("key").await.expect(200);
    assert_eq!((text(&payment, "status"), count_payments(&acquired.project, "").await), ("paid", 1));
    assert!(!payment.to_string().contains(&lost.content), "{payment}");

    let history = reader.history(&payment).await;
    assert!(history.contains(&"The bank’s code never reached us".to_owned()), "{history:?}");
    assert!(history.contains(&"Paid".to_owned()), "{history:?}");
    for (language, words) in [("en", "so there is none to show"), ("id", "tidak ada yang bisa ditampilkan")] {
        let page = reader.page(&payment, language).await;
        assert!(page.contains(words) && !page.contains(" id=\"code\""), "{page}");
    }
    let customer = Customer::of(&kit);
    let page = customer.open(&pay_path(&payment)).await;
    is_page("the receipt", &page, 200);
    assert!(!page.text.contains("<img") && !page.text.contains("qr.png"), "{}", page.text);
    is_page("the picture", &customer.open(&format!("{}/qr.png", pay_path(&payment))).await, 404);
    let shown = fetch(&acquired.project, &payment).await;
    assert!(shown["instructions"].get("qr_image").is_none_or(Value::is_null), "{shown}");
    assert_eq!(code_or_none(&shown), None);
}

fn code_or_none(payment: &Value) -> Option<&str> {
    let text = payment["instructions"].get("qr_string")?.as_str()?;
    Some(text).filter(|text| !text.is_empty())
}

async fn payments_that_no_bank_was_asked_for_have_no_word_of_a_bank(kit: Arc<Kit>) {
    let acquired = acquired(&kit, "midtrans").await;
    let sandbox = kit.sandbox().await;
    let payment = pending_qris(&sandbox, 15_000).await;
    let person = Person::member(&kit, sandbox.id, Role::Owner, "other@example.com").await;
    let page = person.open(&format!("{}/payments/{}?lang=en", desk(sandbox.id), text(&payment, "id"))).await;
    assert!(!page.text.contains("the bank"), "{}", page.text);
    assert!(code_of(&payment).len() > 20 && page.text.contains(" id=\"code\""));
    drop(acquired);
}
