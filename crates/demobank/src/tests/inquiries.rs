//! Questions about accounts: 11, 15, 16 and 42.

use serde_json::{Value, json};

use super::sender::{FAR, NEAR, SOURCE, Sender};
use crate::{AccountState, Fate, Fault, Habits, NewAccount, Service};

fn near(number: &str) -> Value {
    json!({ "partnerReferenceNo": "I1", "beneficiaryAccountNo": number })
}

fn far(sender: &Sender, number: &str) -> Value {
    json!({
        "partnerReferenceNo": "I1", "beneficiaryAccountNo": number, "beneficiaryBankCode": sender.other_code(),
    })
}

fn by_emoney(sender: &Sender, number: &str) -> Value {
    json!({
        "customerNumber": "6281388370001", "amount": { "value": "150000.00", "currency": "IDR" },
        "beneficiaryAccountNumber": number,
        "additionalInfo": {
            "fundType": "MERCHANT_WITHDRAW_FOR_CORPORATE", "beneficiaryBankCode": sender.other_code(),
        },
    })
}

#[tokio::test]
async fn every_bank_says_whose_an_account_is() {
    for habits in Habits::ALL {
        let sender = Sender::open(habits).await;
        let profile = sender.shop.habits.profile;
        let (status, body) = sender.shop.call(Service::InternalInquiry, &near(NEAR)).await.unwrap();
        assert_eq!((status, &body["responseCode"]), (200, &json!("2001500")), "{profile}: {body}");
        assert_eq!(
            (&body["beneficiaryAccountName"], &body["beneficiaryAccountNo"]),
            (&json!("SITI AMINAH"), &json!(NEAR))
        );
        let (status, body) = sender.shop.call(Service::ExternalInquiry, &far(&sender, FAR)).await.unwrap();
        assert_eq!((status, &body["responseCode"]), (200, &json!("2001600")), "{profile}: {body}");
        assert_eq!(
            (&body["beneficiaryAccountName"], &body["partnerReferenceNo"]),
            (&json!("BUDI SANTOSO"), &json!("I1"))
        );
        assert!(body["beneficiaryBankName"].as_str().unwrap().starts_with("Bank "));
    }
}

#[tokio::test]
async fn a_non_bank_says_whose_an_account_is() {
    for habits in [Habits::GENERIC, Habits::DANA] {
        let sender = Sender::open(habits).await;
        let ask = async |body: &Value| sender.shop.call(Service::BankAccountInquiry, body).await.unwrap();
        let (status, body) = ask(&by_emoney(&sender, FAR)).await;
        assert_eq!((status, &body["responseCode"]), (200, &json!("2004200")), "{body}");
        assert_eq!(
            (&body["beneficiaryAccountName"], &body["beneficiaryBankShortName"]),
            (&json!("BUDI SANTOSO"), &json!("BCA"))
        );
        assert_eq!(body["amount"]["value"], "150000.00");
        assert_eq!(ask(&by_emoney(&sender, "1")).await.1["responseCode"], "4044211");
        for name in ["customerNumber", "amount", "beneficiaryAccountNumber"] {
            let mut question = by_emoney(&sender, FAR);
            question[name] = Value::Null;
            assert_eq!(ask(&question).await.1["responseCode"], "4004202", "{name}");
        }
        let mut outside = by_emoney(&sender, FAR);
        outside["beneficiaryBankCode"] = outside["additionalInfo"]["beneficiaryBankCode"].take();
        let expected = if sender.shop.habits.profile == "dana" { "4004202" } else { "2004200" };
        assert_eq!(ask(&outside).await.1["responseCode"], expected);
        let mut other_fund = by_emoney(&sender, FAR);
        other_fund["additionalInfo"]["fundType"] = "OTHER".into();
        let expected = if sender.shop.habits.profile == "dana" { "4004201" } else { "2004200" };
        assert_eq!(ask(&other_fund).await.1["responseCode"], expected);
    }
}

#[tokio::test]
async fn an_account_that_is_unknown_or_takes_no_money_gets_its_code() {
    let sender = Sender::open(Habits::GENERIC).await;
    let near_code = async |number: &str| sender.shop.code(Service::InternalInquiry, &near(number)).await;
    let far_code = async |number: &str| sender.shop.code(Service::ExternalInquiry, &far(&sender, number)).await;
    assert_eq!(near_code(FAR).await, "404 4041511", "it is another bank's");
    assert_eq!(far_code(NEAR).await, "404 4041611");
    for number in ["12A", "-1", &"1".repeat(40)] {
        assert_eq!(near_code(number).await, "400 4001501", "{number}");
        assert_eq!(far_code(number).await, "400 4001601", "{number}");
    }
    assert_eq!(near_code("").await, "400 4001502");
    for (state, case) in [(AccountState::Closed, "18"), (AccountState::Dormant, "09"), (AccountState::Blocked, "05")] {
        sender.shop.asked.set_account_state(sender.home, NEAR, state).unwrap();
        assert_eq!(near_code(NEAR).await, format!("403 40315{case}"));
        sender.shop.asked.set_account_state(sender.other, FAR, state).unwrap();
        assert_eq!(far_code(FAR).await, format!("403 40316{case}"));
    }
    for (code, expected) in [("999", "404 4041603"), ("022", "404 4041602"), ("1", "400 4001601")] {
        let mut question = far(&sender, FAR);
        question["beneficiaryBankCode"] = code.into();
        assert_eq!(sender.shop.code(Service::ExternalInquiry, &question).await, expected);
    }
}

#[tokio::test]
async fn an_inquiry_can_say_another_name_once_or_from_now_on() {
    let sender = Sender::open(Habits::GENERIC).await;
    let name = async || {
        let (_, body) = sender.shop.call(Service::ExternalInquiry, &far(&sender, FAR)).await.unwrap();
        body["beneficiaryAccountName"].as_str().unwrap().to_owned()
    };
    sender.shop.asked.fail_next_of(Service::ExternalInquiry, Fault::Name("ORANG LAIN"));
    assert_eq!((name().await.as_str(), name().await.as_str()), ("ORANG LAIN", "BUDI SANTOSO"));
    sender.shop.asked.rename_account(sender.other, FAR, "BUDI SETIAWAN").unwrap();
    assert_eq!(name().await, "BUDI SETIAWAN");
    assert!(sender.shop.asked.rename_account(sender.other, "1", "X").is_err());
}

#[tokio::test]
async fn a_balance_is_told_to_its_owner_with_what_is_held() {
    for habits in [Habits::GENERIC, Habits::BCA] {
        let sender = Sender::open(habits).await;
        sender.shop.asked.fate_of_next(Fate { takes_ms: 60_000, ..Fate::default() });
        sender.send(Service::Intrabank, "T1", 1_500_000).await.unwrap();
        let ask = json!({ "partnerReferenceNo": "B1", "accountNo": SOURCE });
        let (status, body) = sender.shop.call(Service::Balance, &ask).await.unwrap();
        assert_eq!((status, &body["responseCode"], &body["name"]), (200, &json!("2001100"), &json!("TOKO UJI COBA")));
        let infos = &body["accountInfos"];
        assert_eq!(infos.is_object(), sender.shop.habits.profile == "bca");
        let info = if infos.is_array() { &infos[0] } else { infos };
        let value = |name: &str| info[name]["value"].as_str().unwrap();
        assert_eq!(value("amount"), "10000000.00");
        assert_eq!((value("holdAmount"), value("availableBalance")), ("1500000.00", "8500000.00"));
        assert_eq!((&info["status"], value("ledgerBalance")), (&json!("0001"), "0.00"), "it was opened today");
        for number in [NEAR, "1"] {
            let ask = json!({ "partnerReferenceNo": "B1", "accountNo": number });
            assert_eq!(sender.shop.code(Service::Balance, &ask).await, "404 4041111");
        }
        assert_eq!(sender.shop.code(Service::Balance, &json!({})).await, "400 4001102");
    }
}

#[tokio::test]
async fn people_of_a_rehearsal_have_accounts_at_several_banks() {
    let sender = Sender::open(Habits::GENERIC).await;
    sender.shop.asked.open_people();
    sender.shop.asked.open_people();
    let accounts = sender.shop.asked.accounts();
    assert_eq!(accounts.len(), 3 + 9);
    let banks: std::collections::BTreeSet<&str> = accounts.iter().map(|account| account.key.bank.as_str()).collect();
    assert!(banks.len() >= 6);
    assert_eq!(accounts.iter().filter(|account| account.state == AccountState::Closed).count(), 1);
    let closed =
        NewAccount { bank: "014".into(), number: "9999999999".into(), name: "X".into(), ..NewAccount::default() };
    sender.shop.asked.open_account(closed);
    assert_eq!(sender.shop.asked.account("014", "9999999999").unwrap().state, AccountState::Closed);
}
