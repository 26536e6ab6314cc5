//! Refunds as people make them on pages, and money that can be given back.

use domain::{bank_request::Verdict, id::BankAccountId, money::Rupiah};
use engine::{PaymentAsked, Taken};
use serde_json::Value;
use testkit::{Kit, Reply, TestProject};

use crate::support::{
    bank_accounts::account_of,
    banks::number,
    json::{id, text},
    payments::{create, fetch},
    people::{Person, desk},
    samples,
};

/// The bank account of a customer, as forms have it.
pub(crate) const ACCOUNT: [(&str, &str); 3] =
    [("bank", "014"), ("account_number", "1234 5678 90"), ("account_name", "Siti Aisyah")];

/// The page that gives a payment's money back.
pub(crate) fn refund_form(project: &TestProject, payment: &Value) -> String {
    format!("{}/payments/{}/refund", desk(project.id), id(payment))
}

/// The page of a refund.
pub(crate) fn refund_page(project: &TestProject, refund: &str) -> String {
    format!("{}/refunds/{refund}", desk(project.id))
}

/// The refund that a form has led to.
#[track_caller]
pub(crate) fn refund_led_to(reply: &Reply) -> String {
    assert_eq!(reply.status, 303, "{}", reply.text);
    let (path, done) = reply.header("location").unwrap().split_once('?').unwrap();
    assert_eq!(done, "done=refund-created");
    path.rsplit('/').next().unwrap().to_owned()
}

/// The version that a refund's page would approve.
pub(crate) fn version(html: &str) -> String {
    html.split("name=\"version\" value=\"").nth(1).unwrap().split('"').next().unwrap().to_owned()
}

/// Gives back an amount by the usual way; answers with the refund's id.
pub(crate) async fn refund_of(person: &Person, project: &TestProject, payment: &Value, amount: &str) -> String {
    refund_with(person, project, payment, &[("amount", amount), ("road", "usual")]).await
}

/// Gives back an amount to the customer's account.
pub(crate) async fn refund_to_account(person: &Person, project: &TestProject, payment: &Value, amount: &str) -> String {
    let mut fields = vec![("amount", amount), ("road", "typed")];
    fields.extend(ACCOUNT);
    refund_with(person, project, payment, &fields).await
}

async fn refund_with(person: &Person, project: &TestProject, payment: &Value, fields: &[(&str, &str)]) -> String {
    let mut fields = fields.to_vec();
    fields.push(("sure", "yes"));
    refund_led_to(&person.post(&refund_form(project, payment), &fields).await)
}

/// A payment of a production project by virtual account, which is paid.
pub(crate) async fn paid_in_production(kit: &Kit, project: &TestProject, amount: i64) -> Value {
    let account = account_of(kit, project.id).await;
    paid_by(kit, project, account, amount).await
}

/// The same by an account that the project has already.
pub(crate) async fn paid_by(kit: &Kit, project: &TestProject, account: BankAccountId, amount: i64) -> Value {
    let payment = create(project, &samples::virtual_account(project, "bca", amount)).await;
    let open = kit.engine.bank_door(account).await.unwrap().unwrap();
    let asked = PaymentAsked {
        external_id: text(&payment, "id").to_owned(),
        request_id: text(&payment, "id").to_owned(),
        number: number(&payment),
        amount: Rupiah::new(amount),
        total: None,
        paid_at: kit.engine.now(),
    };
    assert_eq!(kit.engine.judge_payment(&open, asked).await.unwrap(), Taken::Judged(Verdict::Accepted));
    let payment = fetch(project, &payment).await;
    assert_eq!(text(&payment, "status"), "paid");
    payment
}

/// A refund to the customer's account that was put into the project's first batch of transfers, and the number of that.
pub(crate) async fn batched(kit: &Kit, person: &Person, project: &TestProject, payment: &Value) -> (String, String) {
    let refund = refund_to_account(person, project, payment, "1000").await;
    let stored = kit.engine.project(project.id).await.unwrap();
    let number = kit.engine.make_refund_batch(&stored, |_| None).await.unwrap();
    (refund, number.to_string())
}
