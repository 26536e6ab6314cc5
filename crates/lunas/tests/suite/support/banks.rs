//! A bank that has a contract with the installation under test, and a production project that takes payments by it. The
//! bank is `demobank`, which shares no code with the product.

use std::{collections::BTreeMap, net::SocketAddr, sync::Arc};

use demobank::{Bank, Contract, Style};
use domain::{bank::Bank as BankCode, id::BankAccountId, method::Method};
use engine::{Clock, Engine, NewBankAccount};
use secrecy::ExposeSecret;
use serde_json::Value;
use testkit::{Kit, TestProject};

use super::{bank_keys::bank_key, json::text, payments::create, samples::virtual_account};

pub(crate) const COMPANY_CODE: &str = "88899";
pub(crate) const AMOUNT: i64 = 150_000;

/// A contract on both sides, ready to take money.
pub(crate) struct Contracted {
    pub(crate) bank: Arc<Bank>,
    pub(crate) contract: Contract,
    pub(crate) account: BankAccountId,
    pub(crate) project: TestProject,
    pub(crate) method: Method,
}

/// A contract with a bank of this style, an approved project, and nothing missing.
pub(crate) async fn contracted(kit: &Kit, style: Style) -> Contracted {
    contracted_with(kit, style, &[]).await
}

/// The same, with settings of the account's own.
pub(crate) async fn contracted_with(kit: &Kit, style: Style, settings: &[(&str, &str)]) -> Contracted {
    let project = kit.production().await;
    let mut contracted =
        contract_of(&kit.engine, Arc::clone(&kit.clock) as Arc<dyn Clock>, project, style, settings).await;
    contracted.moved_to(kit.address);
    contracted
}

/// A contract for a project, whose doors are nowhere yet.
pub(crate) async fn contract_of(
    engine: &Engine,
    clock: Arc<dyn Clock>,
    project: TestProject,
    style: Style,
    settings: &[(&str, &str)],
) -> Contracted {
    let key = bank_key();
    let mut all = BTreeMap::from([("partner_service_id".to_owned(), COMPANY_CODE.to_owned())]);
    all.extend(settings.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
    let new = NewBankAccount { name: style.profile.to_owned(), profile: style.profile.to_owned(), settings: all };
    let account = engine.create_bank_account(new).await.unwrap().id;
    engine.import_bank_key(account, &key.public_key_pem()).await.unwrap();
    let inbound = engine.set_bank_inbound(account, None, None).await.unwrap();
    engine.enable_bank_account(account, true).await.unwrap();
    let method = Method::VirtualAccount(match style.profile {
        "briva-online" => BankCode::Bri,
        "bsi" => BankCode::Bsi,
        "mandiri" => BankCode::Mandiri,
        _ => BankCode::Bca,
    });
    engine.assign_bank_account(account, project.id, method).await.unwrap();
    let bank = Bank::new(Arc::new(move || clock.now().as_millis())).unwrap();
    let contract = Contract {
        name: style.profile.to_owned(),
        inbound_url: String::new(),
        signed_prefix: None,
        client_id: inbound.client_id,
        client_secret: inbound.secret.expose_secret().to_owned(),
        company_code: COMPANY_CODE.to_owned(),
        key,
        style,
    };
    Contracted { bank: Arc::new(bank), contract, account, project, method }
}

impl Contracted {
    /// The installation's doors are at this address from now on.
    pub(crate) fn moved_to(&mut self, address: SocketAddr) {
        self.contract.inbound_url = format!("http://{address}/snap/{}", self.account);
    }

    /// A new payment of the project by this bank, as the API shows it.
    pub(crate) async fn payment(&self) -> Value {
        let bank = self.method.bank().unwrap();
        create(&self.project, &virtual_account(&self.project, bank.code(), AMOUNT)).await
    }
}

/// The number that a payment is to be paid to.
#[track_caller]
pub(crate) fn number(payment: &Value) -> String {
    text(&payment["instructions"], "virtual_account_number").to_owned()
}
