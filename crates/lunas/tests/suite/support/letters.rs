//! What tests of letters share: mail that goes to a relay of the test, and ways to cause letters.

use demobank::{Knobs, Payment, Style};
use domain::letter_queue::QueuedLetter;
use engine::{Mail, Window};
use gateway::{Mailer, SendLimits};
use serde_json::{Value, json};
use store::LetterFilter;
use testkit::{Kit, Relay, TestProject};

use crate::support::{
    banks::{Contracted, contracted, number},
    customer::{Customer, link_path, payment_of},
    links::create_link,
    payments::{fetch, simulate_paid},
};

/// Has letters sent to the relay, and starts to send.
pub(crate) fn send_to(kit: &Kit, relay: &Relay) {
    send_by(kit, relay.mailer());
}

pub(crate) fn send_by(kit: &Kit, mailer: Mailer) {
    set_up(kit, mailer);
    kit.deliver(SendLimits::default());
}

/// Has letters queued, and sends none yet.
pub(crate) fn set_up(kit: &Kit, mailer: Mailer) {
    kit.engine.set_up_mail(Mail { mailer, pages_url: kit.pages_url.clone() });
}

/// All letters, oldest first.
pub(crate) async fn letters(kit: &Kit) -> Vec<QueuedLetter> {
    let listed = kit.store.letters(&LetterFilter::default(), Window { offset: 0, limit: 10_000 }).await.unwrap();
    listed.items.into_iter().rev().collect()
}

/// The words of the states of all letters, oldest first.
pub(crate) async fn states(kit: &Kit) -> Vec<&'static str> {
    letters(kit).await.into_iter().map(|letter| letter.state.word()).collect()
}

/// A link that asks for the customer's address.
pub(crate) async fn link_with_email(project: &TestProject) -> Value {
    create_link(project, json!({ "allow_multiple_payments": true, "customer_fields": { "email": true } })).await
}

/// A customer who leaves that address pays through the link of a sandbox.
pub(crate) async fn pay_as(kit: &Kit, project: &TestProject, link: &Value, email: &str) -> Value {
    let answers = [("method", "qris"), ("email", email)];
    let reply = Customer::of(kit).choose_at(&link_path(link), &answers).await;
    let payment = payment_of(project, &reply).await;
    simulate_paid(project, &payment).await
}

/// The project's customers get receipts.
pub(crate) async fn with_receipts(kit: &Kit, project: &TestProject) {
    let switched = store::LetterWrite::ReceiptsSwitched { project_id: project.id, are_on: true };
    kit.store.commit(switched.into()).await.unwrap();
}

/// A production shop, whose customers pay by a number at a bank. Unlike a sandbox it writes to everybody.
pub(crate) struct Shop {
    pub(crate) contracted: Contracted,
    link: Value,
}

impl Shop {
    /// A shop that sends no receipts.
    pub(crate) async fn new(kit: &Kit, style: Style) -> Shop {
        let contracted = contracted(kit, style).await;
        let link = link_with_email(&contracted.project).await;
        Shop { contracted, link }
    }

    pub(crate) async fn with_receipts(kit: &Kit, style: Style) -> Shop {
        let shop = Shop::new(kit, style).await;
        with_receipts(kit, &shop.contracted.project).await;
        shop
    }

    /// A customer who leaves that address pays through the link.
    pub(crate) async fn sell_to(&self, kit: &Kit, email: &str) -> Value {
        let method = format!("virtual_account:{}", self.contracted.method.bank().unwrap().code());
        let answers = [("method", method.as_str()), ("email", email)];
        let reply = Customer::of(kit).choose_at(&link_path(&self.link), &answers).await;
        self.pay(&payment_of(&self.contracted.project, &reply).await).await
    }

    /// The customer of a payment pays it.
    pub(crate) async fn pay(&self, payment: &Value) -> Value {
        let money = Payment::of(number(payment), payment["amount"].as_i64().unwrap());
        self.contracted.bank.pay(&self.contracted.contract, money, Knobs::default()).await;
        let paid = fetch(&self.contracted.project, payment).await;
        assert_eq!(paid["status"], "paid", "{paid}");
        paid
    }
}
