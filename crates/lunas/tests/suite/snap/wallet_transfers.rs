//! Refunds that a wallet transfers from the merchant's balance there to customers' bank accounts (42, 43), as DANA does it.

use std::{sync::Arc, time::Duration};

use demobank::{AccountState, Fate, Fault, Service};
use domain::{
    destination::Rail,
    refund::{RefundStatus, transfer::AttemptState},
};
use serde_json::{Value, json};
use testkit::{Kit, on_sqlite_alone};

use crate::support::refund_bank::{BALANCE, CUSTOMER, OTHER_BANK, RefundBank};

on_sqlite_alone![
    a_wallet_says_whose_an_account_is_and_transfers_to_it,
    whatever_happens_to_a_wallets_answer_the_money_leaves_once_at_most,
    a_wallet_that_knows_no_such_account_gets_no_order,
];

const MINUTE: Duration = Duration::from_mins(1);
const AMOUNT: i64 = 20_000;
const PHONE: &str = "6281388370001";

async fn open_bank(kit: &Kit) -> (RefundBank, Value) {
    let settings = [("transfer", "wallet"), ("source_account", PHONE)];
    let (bank, payment) = RefundBank::with_payment(kit, "dana", &settings).await;
    bank.acquired.asked.deposit_float(&bank.acquired.client_id, BALANCE);
    (bank, payment)
}

fn bodies_of(bank: &RefundBank, service: Service) -> Vec<Value> {
    let calls = bank.acquired.asked.calls_of(service);
    calls.iter().map(|call| serde_json::from_str(&call.body).unwrap()).collect()
}

async fn a_wallet_says_whose_an_account_is_and_transfers_to_it(kit: Arc<Kit>) {
    let (bank, payment) = open_bank(&kit).await;
    let refund = bank.refund_to(&payment, AMOUNT, OTHER_BANK).await;
    let (refund, attempts) = bank.follow(&kit, &refund, (MINUTE, 0)).await;
    assert_eq!(refund.status(), RefundStatus::Succeeded, "{attempts:?}");
    assert_eq!((attempts[0].state, attempts[0].rail), (AttemptState::Done, Some(Rail::Wallet)));
    assert_eq!(bank.arrived(OTHER_BANK), AMOUNT);
    let inquiry = bodies_of(&bank, Service::BankAccountInquiry).remove(0);
    let info = json!({ "beneficiaryBankCode": OTHER_BANK, "fundType": "MERCHANT_WITHDRAW_FOR_CORPORATE" });
    assert_eq!((&inquiry["additionalInfo"], &inquiry["customerNumber"]), (&info, &json!(PHONE)));
    let order = bodies_of(&bank, Service::TransferBank).remove(0);
    let info = json!({ "beneficiaryAccountName": "SITI NURHALIZA", "fundType": "MERCHANT_WITHDRAW_FOR_CORPORATE" });
    assert_eq!((&order["additionalInfo"], &order["beneficiaryBankCode"]), (&info, &json!(OTHER_BANK)));
    assert_eq!((&order["beneficiaryAccountNumber"], &order["customerNumber"]), (&json!(CUSTOMER), &json!(PHONE)));
}

async fn whatever_happens_to_a_wallets_answer_the_money_leaves_once_at_most(kit: Arc<Kit>) {
    let (bank, payment) = open_bank(&kit).await;
    for (fault, takes_ms, is_made) in [
        (Some(Fault::LostAfter), 0, true),
        (Some(Fault::LostBefore), 0, false),
        (Some(Fault::CaseAfter(404, "18")), 0, false),
        (Some(Fault::StatusAfter(500)), 0, true),
        // 2024300: on its way, and done after a while.
        (None, 120_000, true),
    ] {
        let before = (bank.arrived(OTHER_BANK), bank.calls(Service::TransferBank));
        if takes_ms > 0 {
            bank.acquired.asked.fate_of_next(Fate { takes_ms, ..Fate::default() });
        }
        let refund = bank.refund_to(&payment, AMOUNT, OTHER_BANK).await;
        if let Some(fault) = fault.clone() {
            bank.acquired.asked.fail_next_of(Service::TransferBank, fault);
        }
        let (now, attempts) = bank.follow(&kit, &refund, (MINUTE, 10)).await;
        let expected = if is_made { RefundStatus::Succeeded } else { RefundStatus::Pending };
        assert_eq!((now.status(), attempts.len()), (expected, 1), "{fault:?}: {attempts:?}");
        assert_eq!(bank.calls(Service::TransferBank) - before.1, 1, "{fault:?}: a transfer is never sent twice");
        assert!(bank.arrived(OTHER_BANK) - before.0 <= AMOUNT, "{fault:?}");
    }
    let questions = bodies_of(&bank, Service::TransferBankStatus);
    assert!(questions.iter().all(|asked| asked["serviceCode"] == "00"), "{questions:?}");
}

async fn a_wallet_that_knows_no_such_account_gets_no_order(kit: Arc<Kit>) {
    let (bank, payment) = open_bank(&kit).await;
    bank.set_customer(OTHER_BANK, AccountState::Closed);
    let refund = bank.refund_to(&payment, AMOUNT, OTHER_BANK).await;
    let (now, attempts) = bank.follow(&kit, &refund, (MINUTE, 0)).await;
    assert_eq!((now.status(), attempts.len()), (RefundStatus::Failed, 0));
    assert_eq!(now.failure_reason.as_deref(), Some("The account is closed (4034218)"));
    assert_eq!(bank.calls(Service::TransferBank), 0);
}
