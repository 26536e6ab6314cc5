//! What profiles say about transfers and refunds.

use std::time::Duration;

use domain::destination::Rail;

use super::with;
use crate::snap::{
    Profile,
    values::{BankCodes, Codes, RefundWay, Resend, Service, StatementPages},
};

#[test]
fn an_account_that_transfers_needs_its_own_number_and_the_banks_address() {
    let (all, wallet) = (("transfer", "intrabank,bi_fast,online"), ("transfer", "wallet"));
    let clearing = ("transfer", "skn,rtgs");
    let source = ("source_account", "1234567890");
    for (profile, settings, missing) in [
        ("bri", vec![all], vec!["base_url", "source_account"]),
        ("bni", vec![all, source], vec!["base_url"]),
        ("bca", vec![("codes", "none"), all], vec!["base_url", "source_account"]),
        ("mandiri", vec![("codes", "none"), all, source], vec!["base_url"]),
        ("bca", vec![all, source], vec!["partner_service_id", "base_url"]),
        ("generic", vec![("codes", "none"), all], vec!["base_url", "source_account", "own_bank"]),
        ("generic", vec![("codes", "none"), wallet], vec!["base_url", "source_account"]),
        ("dana", vec![("codes", "none"), wallet], vec!["base_url", "source_account"]),
        (
            "bsi",
            vec![all, source, ("codes", "none"), ("sign_out", "type2")],
            vec![
                "base_url",
                "own_bank",
                "path.account_internal",
                "path.transfer_intrabank",
                "path.account_external",
                "path.transfer_interbank",
                "path.transfer_status",
            ],
        ),
        ("generic", vec![("codes", "none"), clearing], vec!["base_url", "source_account", "own_bank"]),
        (
            "bsi",
            vec![clearing, source, ("codes", "none"), ("sign_out", "type2")],
            vec![
                "base_url",
                "own_bank",
                "path.account_external",
                "path.transfer_rtgs",
                "path.transfer_skn",
                "path.transfer_status",
            ],
        ),
        ("bri-qris", vec![("refund", "78")], vec!["merchant_id", "terminal_id", "base_url", "path.qr_refund"]),
        ("bri-qris", vec![("refund", "58")], vec!["merchant_id", "terminal_id", "base_url", "path.debit_refund"]),
    ] {
        assert_eq!(with(profile, &settings).unwrap().missing(), missing, "{profile} {settings:?}");
    }
}

#[test]
fn nothing_is_transferred_until_the_account_says_so() {
    for profile in Profile::all() {
        let rails = with(profile.name, &[]).unwrap().transfers.rails;
        // A contract for nothing else is one for transfers.
        let expected = if profile.serves == Codes::None { "intrabank,online" } else { "none" };
        assert_eq!(rails.to_string(), expected, "{}", profile.name);
    }
}

#[test]
fn profiles_give_money_back_only_where_the_bank_is_known_to() {
    for profile in Profile::all() {
        let refunds = with(profile.name, &[]).unwrap().refunds;
        let known = match profile.name {
            "midtrans" => (RefundWay::Qr, 45),
            "dana" => (RefundWay::Debit, 365),
            _ => (RefundWay::None, 365),
        };
        assert_eq!((refunds.way, refunds.window_days), known, "{}", profile.name);
    }
    // As accounts were set before there were two services.
    assert_eq!(with("doku", &[("refund", "yes")]).unwrap().refund_service(), Some(Service::QrRefund));
    assert_eq!(with("midtrans", &[("refund", "no")]).unwrap().refund_service(), None);
}

#[test]
fn an_order_is_sent_again_only_where_the_bank_is_known_to_take_it_for_the_same() {
    for profile in Profile::all() {
        let transfers = with(profile.name, &[]).unwrap().transfers;
        let known = match profile.name {
            "midtrans" => Resend::SameExternalId,
            "dana" => Resend::SameReference,
            _ => Resend::Never,
        };
        assert_eq!(transfers.resend, known, "{}", profile.name);
        assert!(transfers.not_found_after >= Duration::from_mins(10), "{}", profile.name);
        assert!(transfers.remark_max >= transfers.reference_max, "{}: nothing is found on its statement", profile.name);
    }
}

#[test]
fn refunds_by_the_issuers_reference_are_never_repeated_and_go_one_at_a_time() {
    let issuers = ("refund_reference", "issuers");
    let where_so = "where `refund_reference` is issuers: all refunds of a payment have that reference";
    for (profile, settings, error) in [
        ("dana", vec![issuers], Some(("resend", "same_reference", "never"))),
        ("midtrans", vec![issuers, ("refund_one_at_a_time", "yes")], Some(("resend", "same_external_id", "never"))),
        ("generic", vec![issuers, ("resend", "same_reference")], Some(("resend", "same_reference", "never"))),
        ("generic", vec![issuers, ("refund_one_at_a_time", "no")], Some(("refund_one_at_a_time", "no", "yes"))),
        ("dana", vec![issuers, ("resend", "never")], None),
        ("generic", vec![issuers], None),
    ] {
        let expected = error
            .map(|(name, value, allowed)| format!("`{name}` cannot be `{value}`: it must be {allowed} {where_so}"));
        let parameters = with(profile, &settings);
        assert_eq!(parameters.as_ref().err().map(ToString::to_string), expected, "{profile} {settings:?}");
        assert!(parameters.is_err() || parameters.unwrap().refunds.one_at_a_time, "{profile} {settings:?}");
    }
}

#[test]
fn transfers_have_the_channel_the_codes_and_the_paths_of_their_bank() {
    let bca = with("bca", &[("partner_service_id", "88899"), ("transfer_partner_id", "CORP01")]).unwrap();
    assert_eq!((bca.channel_of(Service::Status), bca.channel_of(Service::Statement)), (Some("95231"), Some("95051")));
    assert_eq!(bca.partner_id_of(Service::Status), Some("88899"));
    assert_eq!(bca.partner_id_of(Service::TransferInterbank), Some("CORP01"));
    let mandiri = "/openapi/transactions/v2.0";
    for (profile, own, codes, intrabank, interbank) in [
        ("bca", "014", BankCodes::Swift, "/openapi/v1.0".to_owned(), "/openapi/v2.0".to_owned()),
        ("mandiri", "008", BankCodes::ThreeDigits, mandiri.to_owned(), mandiri.to_owned()),
        ("bri", "002", BankCodes::ThreeDigits, "/intrabank/snap/v2.0".to_owned(), "/interbank/snap/v1.0".to_owned()),
        ("bni", "009", BankCodes::ThreeDigits, "/snap-service/v1".to_owned(), "/snap-service/v1".to_owned()),
    ] {
        let parameters = with(profile, &[]).unwrap();
        assert_eq!((parameters.transfers.own_bank.as_deref(), parameters.transfers.bank_codes), (Some(own), codes));
        assert_eq!(parameters.paths[&Service::TransferIntrabank], format!("{intrabank}/transfer-intrabank"));
        assert_eq!(parameters.paths[&Service::TransferInterbank], format!("{interbank}/transfer-interbank"));
    }
}

#[test]
fn an_account_that_only_sends_money_is_called_by_nobody() {
    for (profile, settings, takes) in
        [("bri", vec![], false), ("bca", vec![("codes", "none")], false), ("bca", vec![], true), ("dana", vec![], true)]
    {
        let parameters = with(profile, &settings).unwrap();
        assert_eq!(parameters.takes_money(), takes, "{profile}");
        assert!(takes || !parameters.takes_token(), "{profile}");
    }
    // It tells later what became of transfers through the clearing.
    for (rails, is_told) in [("intrabank,online", false), ("skn", true), ("rtgs,online", true)] {
        let parameters = with("bri", &[("transfer", rails)]).unwrap();
        assert_eq!((parameters.is_told(), parameters.takes_token()), (is_told, is_told), "{rails}");
        assert_eq!(parameters.tells_of_transfers(Rail::Skn), rails == "skn", "{rails}");
        assert!(!parameters.tells_of_transfers(Rail::Online), "{rails}");
    }
}

#[test]
fn a_statement_goes_on_as_the_standard_has_it_unless_it_is_of_whole_days() {
    for profile in Profile::all() {
        let pages = with(profile.name, &[]).unwrap().transfers.statement_pages;
        let known = if profile.name == "bca" { StatementPages::None } else { StatementPages::LastRecord };
        assert_eq!(pages, known, "{}", profile.name);
    }
}
