//! Sample bank accounts, what banks ask under them, and the changes that the engine would commit for them.

use domain::{
    bank::Bank,
    bank_account::{BankAccount, Credential, CredentialKind, Stage, number_rests_until},
    bank_request::{BankRequest, BankService, Verdict, jakarta_day},
    id::mint,
    method::Method,
    payment::Payment,
    project::Project,
    receipt::ReceiptKey,
    stray::{Stray, StrayDecided, StrayDecision},
    time::Timestamp,
};
use store::{BankWrite, Change, Store};

use crate::{
    database::keep,
    samples::{AMOUNT, NOW, after, confirmation_under, entropy},
};

pub(crate) const BCA: Method = Method::VirtualAccount(Bank::Bca);

pub(crate) fn account() -> BankAccount {
    let settings = [("partner_service_id", "12345"), ("skew", "60 é")];
    BankAccount {
        id: mint(NOW, entropy()),
        name: "BCA Braga".to_owned(),
        profile: "bca".to_owned(),
        settings: settings.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect(),
        enabled: true,
        created_at: NOW,
        version: 1,
    }
}

pub(crate) async fn kept_account(store: &Store) -> BankAccount {
    let account = account();
    keep(store, BankWrite::AccountCreated { account: account.clone() }).await;
    account
}

/// Stores the settings of `account` and whether it is enabled, if it still has this version.
pub(crate) fn changed(account: &BankAccount) -> BankWrite {
    let BankAccount { id, version, settings, enabled, .. } = account.clone();
    BankWrite::AccountChanged { id, version, settings, enabled }
}

pub(crate) fn assigned(project: &Project, method: Method, account: Option<&BankAccount>) -> BankWrite {
    BankWrite::Assigned { project_id: project.id, method, account_id: account.map(|account| account.id) }
}

pub(crate) fn credential(account: &BankAccount, kind: CredentialKind, stage: Stage) -> Credential {
    let is_key = matches!(kind, CredentialKind::OurKey | CredentialKind::BankKey);
    Credential {
        id: mint(NOW, entropy()),
        account_id: account.id,
        kind,
        stage,
        client_id: (!is_key).then(|| "a client".to_owned()),
        public_key: is_key.then(|| "a public key".to_owned()),
        set_at: NOW,
    }
}

/// Stores a credential, with a secret part where it has one.
pub(crate) fn set(credential: &Credential) -> BankWrite {
    let sealed = (credential.kind != CredentialKind::BankKey).then(|| vec![4, 5, 6]);
    BankWrite::CredentialSet { credential: credential.clone(), sealed }
}

/// Gives the payment its code as its number.
pub(crate) fn taken(account: &BankAccount, payment: &Payment, at: Timestamp) -> BankWrite {
    BankWrite::NumberTaken {
        account_id: account.id,
        number: payment.code.clone(),
        project_id: payment.terms.project_id,
        payment_id: payment.id,
        at,
        free_at: number_rests_until(payment.terms.expires_at),
    }
}

/// A bank asks what is to be paid under a number that nobody has.
pub(crate) fn inquiry(account: &BankAccount, external_id: &str) -> BankRequest {
    BankRequest {
        account_id: account.id,
        service: BankService::Inquiry,
        day: jakarta_day(NOW),
        external_id: external_id.to_owned(),
        request_id: format!("of {external_id}"),
        receipt_id: None,
        is_first: false,
        number: "1234599999".to_owned(),
        payment_id: None,
        amount: None,
        verdict: Verdict::Unknown,
        at: NOW,
    }
}

/// A bank asks for the first time to take money for a number that nobody has, and is refused.
pub(crate) fn refused(account: &BankAccount, external_id: &str, request_id: &str) -> BankRequest {
    BankRequest {
        service: BankService::Payment,
        request_id: request_id.to_owned(),
        receipt_id: Some(request_id.to_owned()),
        is_first: true,
        amount: Some(AMOUNT),
        ..inquiry(account, external_id)
    }
}

/// Everything that the engine commits when a bank is told that its money has paid `payment`.
pub(crate) fn accepted(account: &BankAccount, external_id: &str, request_id: &str, payment: &Payment) -> Change {
    let key = ReceiptKey { provider: account.id.to_string(), id: request_id.to_owned() };
    confirmation_under(key, payment, None).with(BankWrite::Requested(BankRequest {
        number: payment.code.clone(),
        payment_id: Some(payment.id),
        verdict: Verdict::Accepted,
        ..refused(account, external_id, request_id)
    }))
}

pub(crate) fn stray(account: &BankAccount, receipt_id: &str) -> Stray {
    Stray {
        id: mint(NOW, entropy()),
        account_id: account.id,
        receipt_id: receipt_id.to_owned(),
        number: "1234599999".to_owned(),
        amount: Some(AMOUNT),
        paid_at: NOW,
        received_at: after(10),
        decided: None,
        body: None,
    }
}

/// Everything that the engine commits when a bank is told that its money was taken, though it fits no payment.
pub(crate) fn strayed(account: &BankAccount, stray: &Stray) -> Change {
    let request = refused(account, &stray.receipt_id, &stray.receipt_id);
    Change::from(BankWrite::StrayReceived(stray.clone()))
        .with(BankWrite::Requested(BankRequest { verdict: Verdict::Accepted, ..request }))
}

pub(crate) async fn kept_stray(store: &Store, account: &BankAccount, receipt_id: &str) -> Stray {
    let stray = stray(account, receipt_id);
    keep(store, strayed(account, &stray)).await;
    stray
}

pub(crate) fn decision(decision: StrayDecision) -> StrayDecided {
    StrayDecided { decision, at: after(20), note: "Dihubungi\nlewat telepon".to_owned() }
}

pub(crate) fn returned(stray: &Stray) -> BankWrite {
    BankWrite::StrayDecided { stray: stray.clone(), decided: decision(StrayDecision::Returned) }
}

/// Everything that the engine commits when an operator gives a stray to the payment that it pays.
pub(crate) fn assigned_stray(stray: &Stray, payment: &Payment) -> Change {
    let assigned = StrayDecision::Assigned { project_id: payment.terms.project_id, payment_id: payment.id };
    confirmation_under(stray.receipt_key(), payment, None)
        .with(BankWrite::StrayDecided { stray: stray.clone(), decided: decision(assigned) })
}
