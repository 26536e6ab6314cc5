//! A merchant that sends money from its account at a bank, and the customers who get it.

use serde_json::{Value, json};

use super::shop::{CLIENT, Shop};
use crate::{BankCodes, Habits, NewAccount, Service};

pub(super) const SOURCE: &str = "5550001111";
pub(super) const BALANCE: i64 = 10_000_000;
/// A customer of the merchant's own bank, and one of another.
pub(super) const NEAR: &str = "1234500001";
pub(super) const FAR: &str = "9876500002";

pub(super) struct Sender {
    pub(super) shop: Shop,
    /// The merchant's own bank, and the other one.
    pub(super) home: &'static str,
    pub(super) other: &'static str,
}

impl Sender {
    pub(super) async fn open(habits: Habits) -> Sender {
        let home = habits.transfer.home;
        let other = if home == "014" { "002" } else { "014" };
        let shop = Shop::open(habits).await;
        for (bank, number, name, owner, balance) in [
            (home, SOURCE, "TOKO UJI COBA", Some(CLIENT.to_owned()), BALANCE),
            (home, NEAR, "SITI AMINAH", None, 0),
            (other, FAR, "BUDI SANTOSO", None, 0),
        ] {
            let (bank, number, name) = (bank.to_owned(), number.to_owned(), name.to_owned());
            shop.asked.open_account(NewAccount { bank, number, name, owner, balance });
        }
        shop.asked.deposit_float(CLIENT, BALANCE);
        Sender { shop, home, other }
    }

    /// The other bank's code, as the bank wants it.
    pub(super) fn other_code(&self) -> &'static str {
        match (self.shop.habits.transfer.bank_codes, self.other) {
            (BankCodes::Swift, "002") => "BRINIDJA",
            (BankCodes::Swift, _) => "CENAIDJA",
            (_, code) => code,
        }
    }

    fn now(&self) -> String {
        crate::time::text(self.shop.now_ms(), self.shop.habits.milliseconds)
    }

    /// The body of an order: 17, 18, 22, 23 or 43.
    pub(super) fn order(&self, service: Service, reference: &str, amount: i64) -> Value {
        let amount = json!({ "value": format!("{amount}.00"), "currency": "IDR" });
        if service == Service::TransferBank {
            return json!({
                "partnerReferenceNo": reference, "customerNumber": "6281388370001", "amount": amount,
                "beneficiaryAccountNumber": FAR, "beneficiaryBankCode": self.other_code(),
                "additionalInfo": { "fundType": "MERCHANT_WITHDRAW_FOR_CORPORATE" },
            });
        }
        let mut order = json!({
            "partnerReferenceNo": reference, "amount": amount, "sourceAccountNo": SOURCE,
            "beneficiaryAccountNo": if service == Service::Intrabank { NEAR } else { FAR },
            "transactionDate": self.now(), "remark": "REFUND 17", "feeType": "OUR",
        });
        if service != Service::Intrabank {
            order["beneficiaryAccountName"] = "BUDI SANTOSO".into();
            order["beneficiaryBankCode"] = self.other_code().into();
            order["additionalInfo"] = json!({ "transferType": "2", "purposeCode": "99" });
            order["beneficiaryCustomerResidence"] = "1".into();
            order["beneficiaryCustomerType"] = "1".into();
        }
        order
    }

    pub(super) async fn send(&self, service: Service, reference: &str, amount: i64) -> Option<(u16, Value)> {
        self.shop.call(service, &self.order(service, reference, amount)).await
    }

    /// Sends and reads the HTTP status and the code.
    pub(super) async fn code(&self, service: Service, reference: &str, amount: i64) -> String {
        self.shop.code(service, &self.order(service, reference, amount)).await
    }

    /// A question about a transfer, by all of its names.
    pub(super) fn question(&self, service: Service, reference: &str) -> Value {
        let known = self.shop.asked.transfer(reference);
        let is_emoney = service == Service::TransferBank;
        let code = if is_emoney { self.shop.habits.transfer.emoney_service_code } else { service.digits() };
        json!({
            "originalPartnerReferenceNo": reference, "serviceCode": code, "transactionDate": self.now(),
            "originalExternalId": known.as_ref().map_or("0".to_owned(), |transfer| transfer.external_id.clone()),
        })
    }

    /// What 36 says about a transfer: the status, or the code of the answer.
    pub(super) async fn status(&self, service: Service, reference: &str) -> String {
        let (_, body) = self.ask(service, reference).await;
        let status = body["latestTransactionStatus"].as_str();
        status.unwrap_or_else(|| body["responseCode"].as_str().unwrap()).to_owned()
    }

    pub(super) async fn ask(&self, service: Service, reference: &str) -> (u16, Value) {
        self.shop.call(Service::TransferStatus, &self.question(service, reference)).await.unwrap()
    }

    /// What an account has.
    pub(super) fn has(&self, bank: &str, number: &str) -> i64 {
        self.shop.asked.account(bank, number).unwrap().balance
    }

    /// What the merchant has sent, by the books of the accounts that got it. Nothing was made or lost.
    #[track_caller]
    pub(super) fn sent(&self) -> i64 {
        let sent = BALANCE - self.has(self.home, SOURCE) + BALANCE - self.shop.asked.float(CLIENT);
        assert_eq!(sent, self.has(self.home, NEAR) + self.has(self.other, FAR));
        assert_eq!(self.shop.asked.books_total(), 0);
        sent
    }
}
