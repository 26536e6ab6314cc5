//! Bank accounts for tests, set up as an operator would on the command line, and money that comes by them.

use std::collections::BTreeMap;

use domain::{
    bank::Bank,
    bank_request::Verdict,
    id::{BankAccountId, ProjectId, StrayId},
    method::Method,
    money::Rupiah,
};
use engine::{NewBankAccount, PaymentAsked, Taken, Window};
use secrecy::ExposeSecret;
use testkit::Kit;

use super::bank_keys::public_bank_key;

/// What begins every number of the accounts here.
pub(crate) const SERVICE_ID: &str = "88899";

/// An account at BCA with these settings, and nothing else.
pub(crate) async fn new_account(kit: &Kit, name: &str, settings: &[(&str, &str)]) -> BankAccountId {
    let settings: BTreeMap<String, String> =
        settings.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    let new = NewBankAccount { name: name.to_owned(), profile: "bca".to_owned(), settings };
    kit.engine.create_bank_account(new).await.unwrap().id
}

/// Imports the bank's key and sets what the bank uses at our doors; returns the secret of that.
pub(crate) async fn set_credentials(kit: &Kit, id: BankAccountId) -> String {
    kit.engine.import_bank_key(id, &public_bank_key()).await.unwrap();
    let inbound = kit.engine.set_bank_inbound(id, Some("bank-client".to_owned()), None).await.unwrap();
    inbound.secret.expose_secret().to_owned()
}

/// An enabled account by which a production project takes payments at BCA. The bank keeps money that we refuse, so that
/// such money can become a stray.
pub(crate) async fn account_of(kit: &Kit, project: ProjectId) -> BankAccountId {
    let settings = [("partner_service_id", SERVICE_ID), ("refusal_reverses", "no")];
    let id = new_account(kit, "BCA utama", &settings).await;
    set_credentials(kit, id).await;
    kit.engine.assign_bank_account(id, project, Method::VirtualAccount(Bank::Bca)).await.unwrap();
    kit.engine.enable_bank_account(id, true).await.unwrap();
    id
}

/// Money for a number that we have not given out.
pub(crate) async fn stray(kit: &Kit, id: BankAccountId, receipt: &str, amount: i64) -> StrayId {
    let open = kit.engine.bank_door(id).await.unwrap().unwrap();
    let asked = PaymentAsked {
        external_id: receipt.to_owned(),
        request_id: receipt.to_owned(),
        number: format!("{SERVICE_ID}00000000000"),
        amount: Rupiah::new(amount),
        total: None,
        paid_at: kit.engine.now(),
    };
    assert_eq!(kit.engine.judge_payment(&open, asked).await.unwrap(), Taken::Judged(Verdict::Accepted));
    let listed = kit.engine.strays(true, Window { offset: 0, limit: 100 }).await.unwrap().items;
    listed.into_iter().find(|stray| stray.receipt_id == receipt).unwrap().id
}
