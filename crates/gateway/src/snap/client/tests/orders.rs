//! What is sent to move money, byte for byte, at each bank.

use domain::{destination::Rail, money::Rupiah, time::Timestamp};

use serde_json::json;

use super::support::{Account, Bank, PATIENT, REFERENCE, answer, body, header, now, question};
use crate::snap::{
    BankNamed, Beneficiary, CodeKind, NameAsked, NameTold, OrderSent, RefundAsked, RefundOrder, TransferAsked,
    TransferOrder, Verdict,
};

pub(super) const SOURCE: (&str, &str) = ("source_account", "0098765432");
pub(super) const NUMBER: &str = "1234567890";
pub(super) const BANK: BankNamed<'static> = BankNamed { swift: Some("BRINIDJA"), three_digits: "002" };
pub(super) const PAID_BACK: Rupiah = Rupiah::new(50_000);
const MONEY: &str = r#"{"currency":"IDR","value":"50000.00"}"#;

pub(super) fn order(rail: Rail) -> TransferOrder<'static> {
    TransferOrder {
        rail,
        reference: REFERENCE,
        amount: PAID_BACK,
        to: Beneficiary { bank: BANK, number: NUMBER, name: "Siti <b>Nurhaliza</b> & Café" },
        remark: "Refund INV/2026-01 – kopi & roti",
        ordered_at: at("2026-01-15T03:20:30.999Z"),
    }
}

pub(super) fn status_question(rail: Rail) -> TransferAsked<'static> {
    TransferAsked {
        rail,
        reference: REFERENCE,
        external_id: "123456789",
        bank_reference: None,
        amount: PAID_BACK,
        number: NUMBER,
        ordered_at: now(),
    }
}

pub(super) fn refund_order() -> RefundOrder<'static> {
    RefundOrder {
        code: question(CodeKind::Qr),
        reference: "R3FUND",
        issuer_reference: Some("RRN-1"),
        amount: PAID_BACK,
        reason: "Barang <habis> / kosong",
    }
}

pub(super) fn refund_asked() -> RefundAsked<'static> {
    RefundAsked { code: question(CodeKind::Qr), refund_no: "R3FUND", amount: PAID_BACK, is_whole: false }
}

fn at(text: &str) -> Timestamp {
    Timestamp::parse(text).unwrap()
}

fn bytes(request: &str) -> &str {
    request.split_once("\r\n\r\n").unwrap().1
}

fn path(request: &str) -> &str {
    request.split(' ').nth(1).unwrap()
}

async fn sent(profile: &str, settings: &[(&str, &str)], rail: Rail) -> (String, OrderSent) {
    let bank = Bank::start(vec![answer("200 OK", r#"{"responseCode":"2009900"}"#)]).await;
    let account = Account::with(&bank.url, profile, PATIENT, &[&[SOURCE], settings].concat());
    let sent = account.client.transfer(&account.context(), &order(rail), true).await;
    (bank.calls().remove(0), sent)
}

#[tokio::test]
async fn a_transfer_is_ordered_in_the_words_of_its_bank() {
    let common = format!(
        r#""currency":"IDR","customerReference":"{REFERENCE}","feeType":"OUR","partnerReferenceNo":"{REFERENCE}","remark":"#
    );
    let end = r#""sourceAccountNo":"0098765432","transactionDate":"2026-01-15T10:20:30+07:00"}"#;
    let remark = format!(r#""{REFERENCE} REFUND INV","#);
    let name = r#""beneficiaryAccountName":"SITI B NURHALIZA B CAFE","beneficiaryAccountNo":"1234567890""#;
    let within = format!(r#""amount":{MONEY},"beneficiaryAccountNo":"1234567890",{common}{remark}{end}"#);
    let between =
        |code: &str| format!(r#""amount":{MONEY},{name},"beneficiaryBankCode":"{code}",{common}{remark}{end}"#);
    let typed = |kind: &str| format!(r#""additionalInfo":{{"purposeCode":"99","transferType":"{kind}"}},"#);
    for (profile, rail, place, body) in [
        ("bca", Rail::Intrabank, "/openapi/v1.0/transfer-intrabank", within.clone()),
        ("bca", Rail::Online, "/openapi/v2.0/transfer-interbank", format!("{}{}", typed("1"), between("BRINIDJA"))),
        ("bca", Rail::BiFast, "/openapi/v2.0/transfer-interbank", format!("{}{}", typed("2"), between("BRINIDJA"))),
        ("bri", Rail::Intrabank, "/intrabank/snap/v2.0/transfer-intrabank", within.clone()),
        ("bri", Rail::Online, "/interbank/snap/v1.0/transfer-interbank", between("002")),
        ("mandiri", Rail::Intrabank, "/openapi/transactions/v2.0/transfer-intrabank", within.clone()),
        ("mandiri", Rail::BiFast, "/openapi/transactions/v2.0/transfer-interbank", between("002")),
        ("bni", Rail::Intrabank, "/snap-service/v1/transfer-intrabank", within.clone()),
        ("bni", Rail::Online, "/snap-service/v1/transfer-interbank", between("002")),
        ("generic", Rail::Online, "/v1.0/transfer-interbank", between("002")),
    ] {
        let (request, _) = sent(profile, &[], rail).await;
        assert_eq!(
            (path(&request), bytes(&request)),
            (&*format!("/gateway{place}"), &*format!("{{{body}")),
            "{profile}"
        );
    }
}

#[tokio::test]
async fn a_wallet_pays_from_its_balance() {
    let (request, _) = sent("dana", &[], Rail::Wallet).await;
    assert_eq!(path(&request), "/gateway/v1.0/emoney/transfer-bank.htm");
    let body = format!(
        r#"{{"additionalInfo":{{"beneficiaryAccountName":"SITI B NURHALIZA B CAFE","fundType":"MERCHANT_WITHDRAW_FOR_CORPORATE"}},"amount":{MONEY},"beneficiaryAccountNumber":"1234567890","beneficiaryBankCode":"002","customerNumber":"0098765432","partnerReferenceNo":"{REFERENCE}"}}"#
    );
    assert_eq!(bytes(&request), body);
}

#[tokio::test]
async fn a_wallet_without_such_members_has_all_of_them_outside() {
    let (request, _) = sent("generic", &[("wallet_info", "fundType:X")], Rail::Wallet).await;
    assert!(bytes(&request).starts_with(r#"{"additionalInfo":{"fundType":"X"},"#), "{request}");
    for member in ["beneficiaryAccountName", "beneficiaryAccountNumber", "beneficiaryBankCode", "customerNumber"] {
        assert!(body(&request)[member].is_string(), "{member}: {request}");
    }
}

#[tokio::test]
async fn clearing_is_told_where_the_customer_lives_and_what_they_are() {
    for (profile, settings, rail, place, residence, kind) in [
        ("bca", vec![], Rail::Skn, "/openapi/v1.0/transfer-skn", "1", "1"),
        ("bri", vec![], Rail::Skn, "/snap/v1.0/transfer-sknbi", "1", "1"),
        ("mandiri", vec![], Rail::Rtgs, "/openapi/transactions/v2.0/transfer-rtgs", "1", "1"),
        (
            "bni",
            vec![("beneficiary_residence", "2"), ("beneficiary_type", "2"), ("rtgs_info", "a:b")],
            Rail::Rtgs,
            "/snap-service/v1/transfer-rtgs",
            "2",
            "2",
        ),
    ] {
        let (request, _) = sent(profile, &settings, rail).await;
        assert_eq!(path(&request), format!("/gateway{place}"));
        let sent = body(&request);
        assert_eq!(
            (&sent["beneficiaryCustomerResidence"], &sent["beneficiaryCustomerType"]),
            (&json!(residence), &json!(kind))
        );
        assert_eq!(sent["additionalInfo"]["a"].is_string(), profile == "bni", "{profile}");
        assert!(sent["beneficiaryAccountName"].is_string() && sent["beneficiaryBankCode"].is_string());
    }
}

#[tokio::test]
async fn calls_about_transfers_have_a_channel_and_a_partner_of_their_own() {
    let (request, _) = sent("bca", &[("transfer_partner_id", "CORP01")], Rail::Intrabank).await;
    assert_eq!(header(&request, "CHANNEL-ID").as_deref(), Some("95051"));
    assert_eq!(header(&request, "X-PARTNER-ID").as_deref(), Some("CORP01"));
    assert_eq!(header(&request, "X-EXTERNAL-ID").as_deref(), Some("123456789"));
    let (request, _) = sent("bca", &[("transfer_channel_id", "same")], Rail::Intrabank).await;
    assert_eq!(header(&request, "CHANNEL-ID").as_deref(), Some("95231"));
    assert_eq!(header(&request, "X-PARTNER-ID").as_deref(), Some("88899"));
}

#[tokio::test]
async fn a_fee_type_and_members_of_a_contract_are_sent_as_set() {
    let settings = [("fee_type", "SHA|1000"), ("intrabank_info", "deviceId:LUNAS")];
    let (request, _) = sent("bri", &settings, Rail::Intrabank).await;
    assert!(bytes(&request).starts_with(r#"{"additionalInfo":{"deviceId":"LUNAS"},"#), "{request}");
    assert!(bytes(&request).contains(r#""feeType":"SHA|1000""#), "{request}");
    let (request, _) = sent("bri", &[("fee_type", "none")], Rail::Intrabank).await;
    assert!(!bytes(&request).contains("feeType"), "{request}");
}

#[tokio::test]
async fn without_an_account_to_pay_from_nothing_is_sent() {
    let bank = Bank::start(vec![answer("200 OK", "{}")]).await;
    let account = Account::at(&bank, "bri");
    let found = account.client.transfer(&account.context(), &order(Rail::Intrabank), true).await;
    assert_eq!((found.verdict, bank.calls().len()), (Verdict::NotSent, 0));
}

#[tokio::test]
async fn a_destination_is_asked_about_by_its_rail() {
    for (profile, rail, place, body) in [
        (
            "bca",
            Rail::Intrabank,
            "/openapi/v1.0/account-inquiry-internal",
            format!(r#"{{"beneficiaryAccountNo":"1234567890","partnerReferenceNo":"{REFERENCE}"}}"#),
        ),
        (
            "bca",
            Rail::BiFast,
            "/openapi/v2.0/account-inquiry-external",
            format!(
                r#"{{"additionalInfo":{{"inquiryService":"2"}},"beneficiaryAccountNo":"1234567890","beneficiaryBankCode":"BRINIDJA","partnerReferenceNo":"{REFERENCE}"}}"#
            ),
        ),
        (
            "dana",
            Rail::Wallet,
            "/v1.0/emoney/bank-account-inquiry.htm",
            format!(
                r#"{{"additionalInfo":{{"beneficiaryBankCode":"002","fundType":"MERCHANT_WITHDRAW_FOR_CORPORATE"}},"amount":{MONEY},"beneficiaryAccountNumber":"1234567890","customerNumber":"0098765432","partnerReferenceNo":"{REFERENCE}"}}"#
            ),
        ),
    ] {
        let told = r#"{"responseCode":"2001500","beneficiaryAccountName":" Siti Nurhaliza "}"#;
        let bank = Bank::start(vec![answer("200 OK", told)]).await;
        let settings = [SOURCE, ("inquiry_info", "inquiryService:2")];
        let account = Account::with(&bank.url, profile, PATIENT, &settings);
        let asked = NameAsked { rail, reference: REFERENCE, bank: BANK, number: NUMBER, amount: PAID_BACK };
        let found = account.client.beneficiary_name(&account.context(), &asked).await;
        assert_eq!(found, Ok(NameTold::Named("Siti Nurhaliza".to_owned())), "{profile}");
        let request = bank.calls().remove(0);
        assert_eq!((path(&request), bytes(&request)), (&*format!("/gateway{place}"), &*body), "{profile}");
    }
}

#[tokio::test]
async fn a_transfer_is_asked_about_by_both_ids_and_its_service() {
    for (profile, rail, place, service) in [
        ("bca", Rail::Intrabank, "/openapi/v1.0/transfer/status", "17"),
        ("bca", Rail::BiFast, "/openapi/v1.0/transfer/status", "18"),
        ("bca", Rail::Rtgs, "/openapi/v1.0/transfer/status", "22"),
        ("bca", Rail::Skn, "/openapi/v1.0/transfer/status", "23"),
        ("dana", Rail::Wallet, "/v1.0/emoney/transfer-bank-status.htm", "00"),
    ] {
        let bank = Bank::start(vec![answer("200 OK", "{}")]).await;
        let account = Account::with(&bank.url, profile, PATIENT, &[SOURCE]);
        let _ = account.client.transfer_standing(&account.context(), &status_question(rail)).await;
        let request = bank.calls().remove(0);
        let (start, end) = match rail {
            Rail::Wallet => (String::new(), ""),
            _ => (format!(r#""amount":{MONEY},"#), r#","transactionDate":"2026-01-15T10:20:30+07:00""#),
        };
        let body = format!(
            r#"{{{start}"originalExternalId":"123456789","originalPartnerReferenceNo":"{REFERENCE}","serviceCode":"{service}"{end}}}"#
        );
        assert_eq!((path(&request), bytes(&request)), (&*format!("/gateway{place}"), &*body), "{profile}");
    }
}

#[tokio::test]
async fn a_refund_names_the_code_that_the_money_came_by() {
    let start = r#""externalStoreId":"S1","merchantId":"M1""#;
    let end = |no: &str| {
        format!(
            r#""originalPartnerReferenceNo":"{REFERENCE}","originalReferenceNo":"B-1","partnerRefundNo":"{no}","reason":"BARANG HABIS KOSONG","refundAmount":{MONEY},"terminalId":"T1"}}"#
        )
    };
    for (profile, settings, place, body) in [
        ("midtrans", vec![], "/v1.0/qr/qr-mpm-refund", format!("{{{start},{}", end("R3FUND"))),
        ("dana", vec![], "/v1.0/debit/refund.htm", format!("{{{start},{}", end("R3FUND"))),
        (
            "doku",
            vec![("refund", "78"), ("refund_info", "a.b:1")],
            "/snap-adapter/b2b/v1.0/qr/qr-mpm-refund",
            format!(r#"{{"additionalInfo":{{"a":{{"b":"1"}}}},{start},{}"#, end("R3FUND")),
        ),
        (
            "generic",
            vec![("refund", "78"), ("refund_reference", "issuers")],
            "/v1.0/qr/qr-mpm-refund",
            format!("{{{start},{}", end("RRN-1")),
        ),
    ] {
        let bank = Bank::start(vec![answer("200 OK", "{}")]).await;
        let account = Account::with(&bank.url, profile, PATIENT, &settings);
        let _ = account.client.refund(&account.context(), &refund_order(), true).await;
        let request = bank.calls().remove(0);
        assert_eq!((path(&request), bytes(&request)), (&*format!("/gateway{place}"), &*body), "{profile}");
    }
}

#[tokio::test]
async fn a_refund_that_the_bank_has_no_words_for_is_not_sent() {
    let bank = Bank::start(vec![answer("200 OK", "{}")]).await;
    let nameless = RefundOrder { issuer_reference: None, ..refund_order() };
    for (settings, order) in
        [(vec![("refund", "no")], refund_order()), (vec![("refund", "78"), ("refund_reference", "issuers")], nameless)]
    {
        let account = Account::with(&bank.url, "generic", PATIENT, &settings);
        let found = account.client.refund(&account.context(), &order, true).await;
        assert_eq!(found.verdict, Verdict::NotSent, "{settings:?}");
    }
    assert_eq!(bank.calls(), [""; 0]);
}
