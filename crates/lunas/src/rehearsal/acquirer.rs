//! The acquirer of a rehearsal: a bank of our own that issues QRIS codes when it is asked, at doors on this machine, gives payments
//! back and sends money to accounts at banks. It keeps all of it in memory, so it ends with the server.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use demobank::{
    Bank, BankKey, BankServices, Clock, Contract, Doors, Habits, Knobs, Merchant, NewAccount, NotifyDoor, Style,
};
use domain::{
    bank_account::{CredentialKind, Stage},
    id::{BankAccountId, ProjectId},
    method::Method,
};
use engine::{BankAccountFile, Engine, NewBankAccount};
use rand::RngExt;

use super::setup::{MERCHANT_NAME, PROJECT_NAME, promote};
use crate::error::CliError;

const NAME: &str = "QRIS";
const BASE_URL: &str = "base_url";
/// What the acquirer has given the rehearsal's merchant, as an operator sets it. It names each payment of a QR by an id of its
/// own, so money that comes twice is told apart.
const SETTINGS: [(&str, &str); 3] = [("merchant_id", "REHEARSAL"), ("channel_id", "12345"), ("receipt", "rrn")];

/// By which the merchant gives money back: to the code that was paid, or from its account there to a customer's. What is more than
/// Rp25 million goes to other banks through the clearing, whose end the acquirer tells.
const PAYING: [(&str, &str); 10] = [
    ("transfer", "intrabank,bi_fast:1..25000000,online:10000..25000000,skn"),
    ("source_account", SOURCE_ACCOUNT),
    ("own_bank", Habits::MIDTRANS.transfer.home),
    ("path.account_internal", "/v1.0/account-inquiry-internal"),
    ("path.account_external", "/v1.0/account-inquiry-external"),
    ("path.transfer_intrabank", "/v1.0/transfer-intrabank"),
    ("path.transfer_interbank", "/v1.0/transfer-interbank"),
    ("path.transfer_skn", "/v1.0/transfer-skn"),
    ("path.transfer_status", "/v1.0/transfer/status"),
    ("path.statement", "/v1.0/bank-statement"),
];

/// The merchant's account there, which transfers are sent from, and what it has at the start.
const SOURCE_ACCOUNT: &str = "7000123456";
const SOURCE_BALANCE: i64 = 100_000_000;

/// How often the acquirer tells what became of transfers.
const TELLS_EVERY: Duration = Duration::from_secs(1);

pub(super) struct Acquirer {
    pub(super) asked: Arc<BankServices>,
    pub(super) account: BankAccountId,
    client_id: String,
    /// How it tells us of money.
    contract: Contract,
    /// They close with the process.
    _doors: Doors,
}

impl Acquirer {
    /// Opens its doors, and has an account that calls them, with keys and secrets that both sides have from now on.
    pub(super) async fn prepare(
        engine: &Engine,
        project_id: ProjectId,
        key: &BankKey,
        clock: Clock,
    ) -> Result<Acquirer, CliError> {
        let asked = BankServices::new(clock);
        let doors =
            asked.open().await.map_err(|error| CliError::because("cannot open the acquirer's doors", &error))?;
        let known = engine.bank_accounts().await?;
        let is_it = |file: &&BankAccountFile| file.assignments.contains(&(project_id, Method::Qris));
        let known = known.iter().find(is_it);
        let account = match known {
            Some(file) => file.account.id,
            None => create_account(engine, &doors).await?,
        };
        // The doors are at another port at each start, and a rehearsal of an earlier version gave nothing back.
        let paying = PAYING.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned()));
        let settings: BTreeMap<String, String> = paying.chain([(BASE_URL.to_owned(), doors.url())]).collect();
        engine.set_bank_account(account, &settings).await?;
        let our_key = known.and_then(|file| file.credential(CredentialKind::OurKey, Stage::Current));
        let public_key_pem = match our_key.and_then(|key| key.public_key.clone()) {
            Some(pem) => pem,
            None => engine.make_bank_key(account).await?,
        };
        let (client_id, client_secret) = (random_hex(), random_hex());
        engine.import_bank_key(account, &key.public_key_pem()).await?;
        engine.set_bank_outbound(account, client_id.clone(), client_secret.clone().into()).await?;
        promote(engine, account).await?;
        if known.is_none() {
            engine.enable_bank_account(account, true).await?;
            engine.assign_bank_account(account, project_id, Method::Qris).await?;
        }
        let merchant = Merchant {
            client_id: client_id.clone(),
            client_secret: client_secret.clone(),
            public_key_pem,
            partner_id: None,
            name: MERCHANT_NAME.to_owned(),
        };
        asked.register_with(merchant, Habits::MIDTRANS);
        open_accounts(&asked, &client_id);
        let contract = Contract {
            name: NAME.to_owned(),
            inbound_url: String::new(),
            signed_prefix: None,
            client_id: client_id.clone(),
            client_secret,
            company_code: String::new(),
            key: key.clone(),
            style: Style::MIDTRANS,
        };
        Ok(Acquirer { asked, account, client_id, contract, _doors: doors })
    }

    /// Tells it where it may tell us of money, and of transfers, which it does from now on.
    pub(super) fn notify_at(&self, bank: &Arc<Bank>, inbound_url: String, signed_prefix: String) {
        let contract = Contract { inbound_url, signed_prefix: Some(signed_prefix), ..self.contract.clone() };
        self.asked.notify_at(&self.client_id, Some(NotifyDoor { bank: Arc::clone(bank), contract }));
        let asked = Arc::clone(&self.asked);
        tokio::spawn(async move {
            loop {
                tokio::time::sleep(TELLS_EVERY).await;
                asked.tell_transfers(Knobs::default()).await;
            }
        });
    }
}

/// An account of the merchant, and accounts of customers at several banks, to which refunds can be sent.
fn open_accounts(asked: &BankServices, client_id: &str) {
    asked.open_people();
    asked.open_account(NewAccount {
        bank: Habits::MIDTRANS.transfer.home.to_owned(),
        number: SOURCE_ACCOUNT.to_owned(),
        name: MERCHANT_NAME.to_uppercase(),
        owner: Some(client_id.to_owned()),
        balance: SOURCE_BALANCE,
    });
}

async fn create_account(engine: &Engine, doors: &Doors) -> Result<BankAccountId, CliError> {
    let mut settings: BTreeMap<String, String> =
        SETTINGS.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
    settings.insert(BASE_URL.to_owned(), doors.url());
    let new = NewBankAccount {
        name: format!("{PROJECT_NAME} {NAME}"),
        profile: Habits::MIDTRANS.profile.to_owned(),
        settings,
    };
    Ok(engine.create_bank_account(new).await?.id)
}

fn random_hex() -> String {
    format!("{:032x}", rand::rng().random::<u128>())
}
