//! A bank that issues codes itself, with which the installation under test has a contract: `demobank`, which shares no code
//! with the product.

use std::{collections::BTreeMap, net::SocketAddr, sync::Arc, time::Duration};

use demobank::{
    Answer, Bank, BankServices, Code, CodeState, Contract, Doors, Fault, Habits, Knobs, Merchant, Notification,
    NotifyDoor, NotifyHabit, PaidCode, PayOrder, Prepared, Service, Style,
};
use domain::{bank::Bank as BankCode, id::BankAccountId, method::Method, stray::Stray};
use engine::{Clock, Engine, NewBankAccount, Window};
use futures_util::future::join;
use secrecy::ExposeSecret;
use serde_json::Value;
use testkit::{Kit, Reply, TestProject};

use super::{
    bank_keys::bank_key,
    json::text,
    payments::fresh_key,
    samples::{qris, virtual_account},
};

pub(crate) const AMOUNT: i64 = 150_000;
/// The profiles by which QRIS is issued, each with what differs from its defaults.
pub(crate) const QRIS_PROFILES: [&str; 5] = ["midtrans", "dana", "doku", "bri-qris", "generic"];
const SERVICE_ID: &str = "77777";

/// A contract on both sides, and a production project that uses it.
pub(crate) struct Acquired {
    pub(crate) asked: Arc<BankServices>,
    pub(crate) doors: Doors,
    pub(crate) account: BankAccountId,
    pub(crate) project: TestProject,
    pub(crate) method: Method,
    pub(crate) client_id: String,
    notifies: NotifyDoor,
}

/// A contract for QRIS with a bank of this profile.
pub(crate) async fn acquired(kit: &Kit, profile: &str) -> Acquired {
    acquired_for(kit, kit.production().await, profile, Method::Qris, &[]).await
}

/// A contract for virtual accounts that the bank hosts.
pub(crate) async fn hosted_there(kit: &Kit, profile: &str) -> Acquired {
    acquired_for(kit, kit.production().await, profile, Method::VirtualAccount(BankCode::Bri), &[]).await
}

pub(crate) async fn acquired_for(
    kit: &Kit,
    project: TestProject,
    profile: &str,
    method: Method,
    settings: &[(&str, &str)],
) -> Acquired {
    kit.engine.mark_development().await.unwrap();
    let clock = Arc::clone(&kit.clock) as Arc<dyn Clock>;
    let mut acquired = contract_of(&kit.engine, clock, project, profile, method, settings).await;
    acquired.told_at(kit.address);
    acquired
}

/// A contract for a project; the bank tells nobody of money yet.
pub(crate) async fn contract_of(
    engine: &Engine,
    clock: Arc<dyn Clock>,
    project: TestProject,
    profile: &str,
    method: Method,
    settings: &[(&str, &str)],
) -> Acquired {
    let now = Arc::new(move || clock.now().as_millis());
    let asked = BankServices::new(now.clone());
    let doors = asked.open().await.unwrap();
    let url = doors.url();
    let codes = if method == Method::Qris { "qris" } else { "va" };
    let mut all = BTreeMap::from(
        [
            ("base_url", url.as_str()),
            ("codes", codes),
            ("hosting", "theirs"),
            ("merchant_id", "M100"),
            ("terminal_id", "T100"),
            ("store_id", "S100"),
            ("channel_id", "95221"),
            ("partner_service_id", SERVICE_ID),
        ]
        .map(|(name, value)| (name.to_owned(), value.to_owned())),
    );
    all.extend(settings.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
    let new = NewBankAccount { name: profile.to_owned(), profile: profile.to_owned(), settings: all };
    let account = engine.create_bank_account(new).await.unwrap().id;
    let bank_key = bank_key();
    let public_key_pem = engine.make_bank_key(account).await.unwrap();
    engine.import_bank_key(account, &bank_key.public_key_pem()).await.unwrap();
    let inbound = engine.set_bank_inbound(account, None, None).await.unwrap();
    let (client_id, client_secret) = (format!("client-{account}"), format!("secret-{account}-{}", fresh_key()));
    engine.set_bank_outbound(account, client_id.clone(), client_secret.clone().into()).await.unwrap();
    engine.assign_bank_account(account, project.id, method).await.unwrap();
    engine.enable_bank_account(account, true).await.unwrap();
    let merchant = Merchant {
        client_id: client_id.clone(),
        client_secret,
        public_key_pem,
        partner_id: None,
        name: "Toko".to_owned(),
    };
    asked.register_with(merchant, Habits::of(profile).unwrap());
    let contract = Contract {
        name: profile.to_owned(),
        inbound_url: String::new(),
        signed_prefix: None,
        client_id: inbound.client_id,
        client_secret: inbound.secret.expose_secret().to_owned(),
        company_code: SERVICE_ID.to_owned(),
        key: bank_key,
        style: Style::of(profile).unwrap(),
    };
    let bank = Arc::new(Bank::new(now).unwrap());
    let notifies = NotifyDoor { bank, contract };
    Acquired { asked, doors, account, project, method, client_id, notifies }
}

/// An honest word about money for a payment, of an unsaid time.
pub(crate) fn word_of(acquired: &Acquired, payment: &Value) -> Notification {
    let code = acquired.asked.code(code_of(payment)).unwrap();
    Notification {
        reference: code.reference,
        bank_reference: code.bank_reference,
        number: if acquired.method == Method::Qris { String::new() } else { code.content },
        amount: AMOUNT,
        status: "00".to_owned(),
        paid_at_ms: None,
        receipt_id: "123456789012".to_owned(),
        ..Notification::default()
    }
}

impl Acquired {
    /// The bank tells the installation at this address of money.
    pub(crate) fn told_at(&mut self, address: SocketAddr) {
        self.notifies.contract.inbound_url = format!("http://{address}/snap/{}", self.account);
        self.asked.notify_at(&self.client_id, Some(self.notifies.clone()));
    }

    /// The bank's profile.
    pub(crate) fn name(&self) -> &str {
        &self.notifies.contract.name
    }

    /// What a merchant sends to create a payment by this bank.
    pub(crate) fn order(&self) -> Value {
        match self.method.bank() {
            None => qris(&self.project, AMOUNT),
            Some(bank) => virtual_account(&self.project, bank.code(), AMOUNT),
        }
    }

    pub(crate) async fn pay(&self, key: &str) -> Reply {
        self.project.api.pay(key, &self.order()).await
    }

    /// A new payment, as the API shows it.
    pub(crate) async fn payment(&self) -> Value {
        self.pay(&fresh_key()).await.expect(201)
    }

    /// A customer pays, and the bank tells of it once.
    pub(crate) async fn pays(&self, payment: &Value) -> PaidCode {
        self.pays_as(payment, PayOrder::default()).await
    }

    pub(crate) async fn pays_as(&self, payment: &Value, order: PayOrder) -> PaidCode {
        self.asked.pay_code(code_of(payment), order).await.unwrap()
    }

    /// The service that issues a code.
    pub(crate) fn issue_service(&self) -> Service {
        if self.method == Method::Qris { Service::Generate } else { Service::CreateVa }
    }

    /// Does something while the bank makes the code that it is asked for by `ordering`.
    pub(crate) async fn while_it_works<T>(
        &self,
        ordering: impl Future<Output = T>,
        meanwhile: impl Future<Output = ()>,
    ) -> T {
        self.asked.fail_next_of(self.issue_service(), Fault::HeldAfter);
        let (ordered, ()) = join(ordering, async {
            self.asked.wait_held(1).await;
            meanwhile.await;
            self.asked.release();
        })
        .await;
        ordered
    }

    /// How often the bank was asked to issue a code.
    pub(crate) fn asked_to_issue(&self) -> usize {
        self.asked.calls_of(self.issue_service()).len()
    }

    /// The code that the bank has made last.
    pub(crate) fn last_code(&self) -> Code {
        self.asked.codes().pop().unwrap()
    }

    /// The references under which the bank has codes that could be paid.
    pub(crate) fn payable(&self) -> Vec<String> {
        let codes = self.asked.codes().into_iter().filter(|code| code.state == CodeState::Unpaid);
        codes.map(|code| code.reference).collect()
    }

    /// The bank tells us something, true or not.
    pub(crate) async fn tells(&self, service: Service, told: Notification, knobs: Knobs) -> Answer {
        self.notifies.bank.notify(&self.notifies.contract, service, told, knobs).await
    }

    /// A notification that is signed and not sent yet.
    pub(crate) async fn prepared(&self, service: Service, told: Notification) -> Prepared {
        let NotifyDoor { bank, contract } = &self.notifies;
        bank.prepare_notification(contract, service, told, &Knobs::default()).await.unwrap()
    }

    pub(crate) async fn send(&self, prepared: &Prepared) -> Answer {
        self.notifies.bank.send(prepared).await
    }

    /// A token for our doors.
    pub(crate) async fn token(&self) -> String {
        self.notifies.bank.token(&self.notifies.contract).await.unwrap()
    }
}

/// The bank tells nobody of the money.
pub(crate) fn silently() -> PayOrder {
    PayOrder { notice: NotifyHabit::Never, ..PayOrder::default() }
}

/// Money that fits no payment and about which nobody has decided.
pub(crate) async fn open_strays(kit: &Kit) -> Vec<Stray> {
    kit.engine.strays(true, Window { offset: 0, limit: 100 }).await.unwrap().items
}

/// What the customer pays to.
#[track_caller]
pub(crate) fn code_of(payment: &Value) -> &str {
    let instructions = &payment["instructions"];
    let name = if instructions["qr_string"].is_string() { "qr_string" } else { "virtual_account_number" };
    text(instructions, name)
}

/// Lets time pass and does what is then due at banks, until nothing is due any more.
pub(crate) async fn ask_after(kit: &Kit, time: Duration) {
    kit.clock.advance(time);
    for _ in 0..20 {
        if kit.engine.ask_due().await.unwrap() == 0 {
            return;
        }
    }
    panic!("there is always something to ask");
}
