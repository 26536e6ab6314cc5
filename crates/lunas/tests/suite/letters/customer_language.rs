//! Letters to customers are in the language in which they used the checkout when they began to pay.

use std::{sync::Arc, time::Duration};

use demobank::{Fault, PayOrder, Service};
use domain::{access::Role, language::Language, letter::LetterKind};
use reqwest::header::ACCEPT_LANGUAGE;
use serde_json::Value;
use testkit::{Kit, Relay, TestProject, on_every_database, on_sqlite_alone};

use crate::support::{
    acquirers::acquired,
    customer::{Customer, hidden, link_path, payment_of},
    letters::{letters, link_with_email, pay_as, send_to, set_up, with_receipts},
    payments::{pending_qris, simulate_paid},
    people::Person,
    refunds::{refund, simulate_end},
};

on_every_database![
    receipts_and_letters_about_refunds_are_in_the_language_of_the_page on 2 threads,
    a_customer_whose_code_a_bank_issued_late_gets_the_receipt_in_their_language on 2 threads,
];

on_sqlite_alone![
    the_language_is_what_the_page_was_shown_in_as_the_form_was_sent on 2 threads,
    a_sandbox_sends_letters_about_refunds_to_its_members_alone on 2 threads,
];

/// Whose sandbox it is: it sends letters to its members alone.
const EMAIL: &str = "siti@example.com";

/// Letters of one moment have no order.
const SECOND: Duration = Duration::from_secs(1);

/// A sandbox that sends receipts to `EMAIL`, and a link that asks for an address.
async fn shop(kit: &Kit) -> (TestProject, Value) {
    let project = kit.sandbox().await;
    Person::member(kit, project.id, Role::Viewer, EMAIL).await;
    Person::member(kit, project.id, Role::Owner, "owner@example.com").await;
    with_receipts(kit, &project).await;
    let link = link_with_email(&project).await;
    (project, link)
}

/// A customer begins to pay on the page with this query, and pays.
async fn buy(kit: &Kit, project: &TestProject, link: &Value, query: &str) -> Value {
    let path = format!("{}{query}", link_path(link));
    let reply = Customer::of(kit).choose_at(&path, &[("method", "qris"), ("email", EMAIL)]).await;
    simulate_paid(project, &payment_of(project, &reply).await).await
}

async fn sent(kit: &Kit) -> Vec<(LetterKind, Language)> {
    letters(kit).await.into_iter().map(|letter| (letter.kind, letter.language)).collect()
}

async fn receipts_and_letters_about_refunds_are_in_the_language_of_the_page(kit: Arc<Kit>) {
    let relay = Relay::start().await;
    let (project, link) = shop(&kit).await;
    send_to(&kit, &relay);
    for (number, (query, language, words)) in [
        ("?lang=en", Language::English, ["Payment received", "Money sent back", "Enter your account"]),
        ("?lang=id", Language::Indonesian, ["Pembayaran diterima", "Uang dikembalikan", "Isi rekening tujuan"]),
    ]
    .into_iter()
    .enumerate()
    {
        let before = number * 3;
        let payment = buy(&kit, &project, &link, query).await;
        let [receipt, made, asks] = words;
        let taken = relay.has(before + 1).await;
        assert!(taken[before].words().contains(receipt), "{}", taken[before].words());
        // Amounts that end in 902 need the customer's account, and those that end in 903 stay until they are simulated.
        kit.clock.advance(SECOND);
        let back = refund(&project, &payment, 1_903).await;
        simulate_end(&project, &back, "succeeded").await.expect(200);
        let taken = relay.has(before + 2).await;
        assert!(taken[before + 1].words().contains(made), "{}", taken[before + 1].words());
        kit.clock.advance(SECOND);
        refund(&project, &payment, 1_902).await;
        let taken = relay.has(before + 3).await;
        assert!(taken[before + 2].words().contains(asks), "{}", taken[before + 2].words());
        let kinds = [LetterKind::Receipt, LetterKind::RefundMade, LetterKind::RefundClaim];
        assert_eq!(sent(&kit).await[before..], kinds.map(|kind| (kind, language)));
        kit.clock.advance(SECOND);
    }
}

async fn a_customer_whose_code_a_bank_issued_late_gets_the_receipt_in_their_language(kit: Arc<Kit>) {
    let relay = Relay::start().await;
    let acquired = acquired(&kit, "midtrans").await;
    with_receipts(&kit, &acquired.project).await;
    let link = link_with_email(&acquired.project).await;
    send_to(&kit, &relay);
    // The answer is lost, so the customer's language waits with what else they filled in.
    acquired.asked.fail_next_of(Service::Generate, Fault::LostAfter);
    let path = format!("{}?lang=en", link_path(&link));
    Customer::of(&kit).choose_at(&path, &[("method", "qris"), ("email", "budi@example.com")]).await;
    acquired.asked.pay_code(&acquired.last_code().reference, PayOrder::default()).await.unwrap();
    let taken = relay.has(1).await;
    assert_eq!(taken[0].to, "budi@example.com");
    assert!(taken[0].words().contains("Payment received"), "{}", taken[0].words());
    assert_eq!(sent(&kit).await, [(LetterKind::Receipt, Language::English)]);
}

async fn the_language_is_what_the_page_was_shown_in_as_the_form_was_sent(kit: Arc<Kit>) {
    let relay = Relay::start().await;
    let (project, link) = shop(&kit).await;
    set_up(&kit, relay.mailer());
    for (accepted, remembered, language) in [
        (None, None, Language::Indonesian),
        (Some("fr"), None, Language::Indonesian),
        (Some("en-GB,id;q=0.5"), None, Language::English),
        (Some("en"), Some("id"), Language::Indonesian),
        (Some("id"), Some("en"), Language::English),
    ] {
        let (customer, path, before) = (Customer::of(&kit), link_path(&link), letters(&kit).await.len());
        let page = customer.open(&path).await;
        let hidden = hidden(&page);
        let mut fields: Vec<(&str, &str)> = hidden.iter().map(|(name, value)| (&**name, &**value)).collect();
        fields.extend([("method", "qris"), ("email", EMAIL)]);
        if let Some(code) = remembered {
            customer.set_cookie("/", "lunas_lang", code);
        }
        let form = customer.form(&path, &fields);
        let form = accepted.into_iter().fold(form, |form, accepted| form.header(ACCEPT_LANGUAGE, accepted));
        let payment = payment_of(&project, &customer.send(form).await).await;
        simulate_paid(&project, &payment).await;
        assert_eq!(sent(&kit).await[before..], [(LetterKind::Receipt, language)], "{accepted:?} {remembered:?}");
        kit.clock.advance(SECOND);
    }
}

/// As receipts are: a sandbox takes no real money, so everybody may have one, and must not have letters sent to strangers.
async fn a_sandbox_sends_letters_about_refunds_to_its_members_alone(kit: Arc<Kit>) {
    let relay = Relay::start().await;
    let (project, link) = shop(&kit).await;
    let without = pending_qris(&project, 20_000).await;
    set_up(&kit, relay.mailer());
    let of_stranger = pay_as(&kit, &project, &link, "stranger@example.com").await;
    let of_nobody = simulate_paid(&project, &without).await;
    let of_member = pay_as(&kit, &project, &link, EMAIL).await;
    for payment in [&of_stranger, &of_nobody, &of_member] {
        let made = refund(&project, payment, 1_903).await;
        simulate_end(&project, &made, "succeeded").await.expect(200);
    }
    let mut kinds: Vec<LetterKind> = sent(&kit).await.into_iter().map(|(kind, _)| kind).collect();
    kinds.sort_by_key(|kind| *kind != LetterKind::Receipt);
    assert_eq!(kinds, [LetterKind::Receipt, LetterKind::RefundMade]);
}
