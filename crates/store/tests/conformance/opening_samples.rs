//! Sample openings, and the changes that the engine would commit for them.

use domain::{
    bank_account::BankAccount,
    bank_money::MoneyMarks,
    bank_request::jakarta_day,
    id::mint,
    method::Method,
    money::Rupiah,
    opening::{
        BankCode, BankJob, BankSend, JobKey, JobKind, MoneySource, Opening, OpeningAttempt, OpeningState,
        bank_reference,
    },
    payment::{Checkout, Customer, Payment, PaymentTerms, State},
    project::Project,
    receipt::ReceiptKey,
    time::Timestamp,
};
use store::{Change, OpeningWrite, PaymentWrite, Store};

use crate::{
    database::keep,
    samples::{AMOUNT, NOW, after, confirmation_under, entropy},
};

/// An attempt to have a bank issue a QRIS.
pub(crate) fn opening(project: &Project, account: &BankAccount) -> Opening {
    let terms = PaymentTerms::direct(project.id, "INV-1".to_owned(), AMOUNT, Method::Qris, after(1_000));
    Opening {
        id: mint(NOW, entropy()),
        account_id: account.id,
        terms: PaymentTerms { fee: Rupiah::new(700), ..terms },
        attempt: None,
        state: OpeningState::Open,
        generation: 1,
        created_at: NOW,
        version: 1,
    }
}

pub(crate) fn with_terms(mut opening: Opening, change: impl FnOnce(&mut PaymentTerms)) -> Opening {
    change(&mut opening.terms);
    opening
}

/// The same for a customer of a link.
pub(crate) fn attempted(opening: Opening, replaces: &[&Payment]) -> Opening {
    let customer = Customer { name: "Siti".to_owned(), email: "siti@example.com".to_owned(), ..Customer::default() };
    let attempt = OpeningAttempt {
        visitor: Some("visitor".to_owned()),
        network: Some("203.0.113.9".to_owned()),
        replaces: replaces.iter().map(|payment| payment.id).collect(),
    };
    Opening {
        attempt: Some(attempt),
        ..with_terms(opening, |terms| terms.checkout = Some(Checkout { customer, ..Checkout::default() }))
    }
}

pub(crate) fn code(opening: &Opening) -> BankCode {
    BankCode {
        account_id: opening.account_id,
        opening_id: opening.id,
        generation: opening.generation,
        reference: bank_reference(u128::from_be_bytes(opening.id.uuid().into_bytes()) + opening.generation as u128),
        bank_reference: None,
        number: None,
        asked_at: NOW,
    }
}

pub(crate) fn job(code: &BankCode, kind: JobKind, due_at: Timestamp) -> BankJob {
    let key = JobKey { opening_id: code.opening_id, kind, generation: code.generation };
    BankJob { key, account_id: code.account_id, due_at: Some(due_at), tries: 0, created_at: NOW }
}

pub(crate) fn send(code: &BankCode, external_id: &str) -> BankSend {
    BankSend {
        account_id: code.account_id,
        day: jakarta_day(NOW),
        external_id: external_id.to_owned(),
        service: 47,
        about: Some((code.opening_id, code.generation)),
        sent_at: NOW,
        answer: None,
    }
}

/// What is committed before the bank is asked.
pub(crate) fn opened(opening: &Opening, code: &BankCode) -> Change {
    Change::from(OpeningWrite::Opened { opening: Box::new(opening.clone()), code: code.clone() })
        .with(OpeningWrite::JobQueued(job(code, JobKind::Issue, after(30))))
        .with(OpeningWrite::Sent(send(code, &code.reference)))
}

pub(crate) async fn kept_opening(store: &Store, project: &Project, account: &BankAccount) -> Opening {
    let opening = opening(project, account);
    keep(store, opened(&opening, &code(&opening))).await;
    opening
}

/// What is committed when the code is there.
pub(crate) fn issued(opening: &Opening, payment: &Payment) -> Change {
    let code = code(opening);
    let key = JobKey { opening_id: opening.id, kind: JobKind::Issue, generation: opening.generation };
    Change::from(PaymentWrite::CreatedAtBank { payment: payment.clone() })
        .with(OpeningWrite::Issued { id: opening.id, version: opening.version, payment_id: payment.id })
        .with(OpeningWrite::JobDone { key, outcome: "issued".to_owned() })
        .with(OpeningWrite::JobQueued(job(&code, JobKind::Query, after(1_060))))
}

pub(crate) fn payment_of(opening: &Opening) -> Payment {
    opening.payment(mint(after(1), entropy()), format!("code of {}", opening.id), after(1))
}

pub(crate) async fn kept_issued(store: &Store, project: &Project, account: &BankAccount) -> (Opening, Payment) {
    let opening = kept_opening(store, project, account).await;
    let payment = payment_of(&opening);
    keep(store, issued(&opening, &payment)).await;
    let state = OpeningState::Issued { payment_id: payment.id };
    (Opening { state, version: 2, ..opening }, payment)
}

/// What is committed when nobody waits for the code any more.
pub(crate) fn abandoned(opening: &Opening) -> Change {
    let code = code(opening);
    let key = JobKey { opening_id: opening.id, kind: JobKind::Issue, generation: opening.generation };
    Change::from(OpeningWrite::Abandoned { id: opening.id, version: opening.version, at: after(600) })
        .with(OpeningWrite::JobDone { key, outcome: "late".to_owned() })
        .with(OpeningWrite::JobQueued(job(&code, JobKind::Void, after(600))))
}

pub(crate) fn money_told(account: &BankAccount, receipt_id: &str) -> OpeningWrite {
    let receipt = ReceiptKey { provider: account.id.to_string(), id: receipt_id.to_owned() };
    OpeningWrite::MoneyTold {
        receipt,
        bank_id: receipt_id.to_owned(),
        marks: MoneyMarks::default(),
        source: MoneySource::Notification,
        amount: AMOUNT,
        paid_at: NOW,
        at: after(10),
    }
}

/// Money for an issued code, as it is told by a notification.
pub(crate) fn paid(account: &BankAccount, payment: &Payment, receipt_id: &str) -> Change {
    let key = ReceiptKey { provider: account.id.to_string(), id: receipt_id.to_owned() };
    Change::from(money_told(account, receipt_id)).then(confirmation_under(key, payment, None))
}

/// Money for a code that never came, which makes the payment.
pub(crate) fn paid_unissued(account: &BankAccount, opening: &Opening, receipt_id: &str) -> (Payment, Change) {
    let payment = Payment { code: String::new(), ..payment_of(opening) };
    let made = Change::from(PaymentWrite::CreatedAtBank { payment: payment.clone() })
        .with(OpeningWrite::Paid { id: opening.id, version: opening.version, payment_id: payment.id })
        .then(paid(account, &payment, receipt_id));
    (Payment { state: State::Paid { at: NOW }, ..payment }, made)
}
