mod sending;

use std::{collections::BTreeMap, net::IpAddr, time::Duration};

use domain::{bank::Bank, method::Method, money::Rupiah};

use super::*;
use crate::snap::{
    extra_members::ExtraMembers,
    parameters::Parameters,
    sending::Transfers,
    settings::{BadSetting, check_base_url, known_settings},
    values::{ChannelIds, Codes, HttpMethod, Precision, Repeat, Service},
};

fn with(profile: &str, settings: &[(&str, &str)]) -> Result<Parameters, BadSetting> {
    let settings: BTreeMap<String, String> =
        settings.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    Profile::named(profile).unwrap().parameters(&settings)
}

fn generic(name: &str, value: &str) -> Result<Parameters, BadSetting> {
    with("generic", &[(name, value)])
}

/// For each setting: a value other than the default of `generic`, and bad ones.
const EXAMPLES: [(&str, &str, &[&str]); 124] = [
    ("codes", "both", &["", "qr", "VA"]),
    ("numbers", "theirs", &["both"]),
    ("status_delay", "60", &["601", "-1", ""]),
    ("service_code", "17", &["", "4", "470", "x7"]),
    ("receipt", "rrn", &["issuerRrn"]),
    ("qr_info", "acquirer:gopay,envInfo.terminalType:SYSTEM", &["", "acquirer", "a:b c", "a:1,a:2"]),
    ("va_info", "channel:VIRTUAL_ACCOUNT_BCA", &["channel:", "a/b:c"]),
    ("grant_member", "grant_type", &["grant"]),
    ("hosting", "theirs", &["", "Ours", "both"]),
    ("sign_out", "type2", &["client_ts", "1"]),
    ("signature_encoding", "hex", &["base32"]),
    ("sign_in", "client_ts", &["none", "type3"]),
    ("asks_token", "yes", &["type1"]),
    ("bare_token", "yes", &["Bearer"]),
    ("precision", "milliseconds", &["ms", "0"]),
    ("external_id", "digits:9", &["9", "digits:0", "numeric:37"]),
    ("channel_id", "60xx,6199", &["", "six", "123456"]),
    ("partner_id", "service_id", &["", "two words", "1234567890123456789012345678901234567"]),
    ("customer_digits", "8", &["", "5", "19", "-8", "+8", "8.0", " 8"]),
    ("number_digits", "16..18", &["16", "18..16", "0..16", "16..29", "16..=18", "a..b"]),
    ("customer_no", "rest", &["whole", ""]),
    ("service_id_padding", "spaces", &["zeros", "right"]),
    ("payment_needs", "totalAmount,flagAdvise", &["", "paidAmount", "flagAdvise,", "flagAdvise,flagAdvise"]),
    ("name_max", "30", &["0", "256"]),
    ("request_id_max", "30", &["0", "129"]),
    ("query_key", "theirs", &["both"]),
    ("retry", "fresh", &["never"]),
    ("repeat", "4042518", &["4042519"]),
    ("undecided", "silence", &["2002500", "02", "5XX"]),
    ("notify_retries", "no", &["true", "No"]),
    ("deadline", "5", &["0", "26", "5s"]),
    ("validity", "20..15552000", &["0..60", "60", "60..31622401"]),
    ("amounts", "10000..50000000", &["0..1", "10000.00..20000", "2..1", "1..1000000000000", "..5"]),
    ("void", "no", &["1"]),
    ("transfer", "intrabank,bi_fast:10000..100000000", &["", "swift", "online,online", "bi_fast:0..1"]),
    ("source_account", "1234567890", &["", "1234", "12345a", "123-456-789"]),
    ("pays_for", "prj_1,prj_2", &["", "none", "prj 1", "prj_1,"]),
    ("own_bank", "014", &["", "14", "0140", "BCA"]),
    ("transfer_channel_id", "95051", &["", "950511", "9505x", "any"]),
    ("transfer_partner_id", "SHOP01", &["", "two words", "a/b"]),
    ("reference_max", "20", &["19", "65", ""]),
    ("resend", "same_reference", &["", "yes", "same"]),
    ("not_found_after", "600", &["59", "604801", "1d"]),
    ("status_days", "31", &["0", "3651"]),
    ("bank_codes", "swift", &["", "digits"]),
    ("remark_max", "25", &["24", "101"]),
    ("fee_type", "SHA|1000", &["", "OUR BEN", "a<b"]),
    ("inquiry_info", "inquiryService:2", &["", "a"]),
    ("intrabank_info", "deviceId:1", &["", "a"]),
    ("bi_fast_info", "transferType:2,purposeCode:99", &["", "a"]),
    ("online_info", "transferType:1", &["", "a"]),
    ("skn_info", "senderName:TOKO", &["", "a"]),
    ("rtgs_info", "senderName:TOKO", &["", "a"]),
    ("wallet_info", "fundType:X", &["", "a"]),
    ("beneficiary_residence", "2", &["", "0", "3"]),
    ("beneficiary_type", "3", &["", "0", "4"]),
    ("wallet_details", "additional_info", &["", "inside"]),
    ("statement_pages", "numbers:50", &["", "numbers", "numbers:0", "numbers:1001", "numbers:+1"]),
    ("refund", "58", &["", "none", "77"]),
    ("refund_window", "45", &["0", "3651"]),
    ("refund_one_at_a_time", "yes", &["", "1"]),
    ("refund_reference", "issuers", &["", "theirs"]),
    ("refund_closed", "23:55-06:00", &["", "23:55", "06:00-06:00"]),
    ("refund_info", "a:1", &["", "a"]),
    ("token_type", "BearerToken", &["", "Bearer Token", "aaaaaaaaaaaaaaaaaaaaa"]),
    ("skew", "60", &["29", "901"]),
    ("ips", "203.0.113.0/24, 198.51.100.7,2001:db8::/32", &["", "203.0.113.0/33", "bank.example", "1.2.3.4,"]),
    ("refusal_reverses", "no", &["maybe"]),
    ("full_answers", "yes", &["y"]),
    ("inquiry_expired", "404xx20", &["4042420", "200xx00"]),
    ("bad_data", "404xx11", &["11"]),
    (
        "base_url",
        "https://bank.example/gateway",
        &["", "bank.example", "ftp://bank.example", "https://u:p@bank.example"],
    ),
    ("partner_service_id", "88899", &["", "   88899", "123456789", "8889a"]),
    ("merchant_id", "M-1", &["", "M 1"]),
    ("terminal_id", "T-1", &["é"]),
    ("store_id", "S-1", &["a\tb"]),
    ("path.token", "/openapi/v1.0/access-token/b2b", &["", "/", "v1.0/x", "//x", "/x/", "/../x", "/x?y", "/x y", "/é"]),
    ("path.status", "/v2.0/transfer-va/status", &["#"]),
    ("path.create_va", "/v2.0/transfer-va/create-va", &[""]),
    ("path.delete_va", "/v2.0/transfer-va/delete-va", &[""]),
    ("path.report", "/v2.0/transfer-va/report", &[""]),
    ("path.qr_generate", "/v1.0/qr/qr-mpm-generate.htm", &[""]),
    ("path.qr_query", "/v1.1/qr/qr-mpm-query", &[""]),
    ("path.qr_cancel", "/v1.1/qr/qr-mpm-cancel", &[""]),
    ("path.qr_refund", "/v2.0/qr/qr-mpm-refund", &[""]),
    ("path.debit_status", "/v1.0/debit/status.htm", &[""]),
    ("path.debit_cancel", "/v1.0/debit/cancel.htm", &[""]),
    ("method.debit_status", "GET", &[""]),
    ("method.debit_cancel", "PUT", &[""]),
    ("method.token", "GET", &["get", "PATCH"]),
    ("method.status", "GET", &[""]),
    ("method.create_va", "PUT", &[""]),
    ("method.delete_va", "POST", &[""]),
    ("method.report", "GET", &[""]),
    ("method.qr_generate", "PUT", &[""]),
    ("method.qr_query", "GET", &[""]),
    ("method.qr_cancel", "DELETE", &[""]),
    ("method.qr_refund", "PUT", &[""]),
    ("path.debit_refund", "/v9.0/x/debit-refund", &[""]),
    ("method.debit_refund", "PUT", &[""]),
    ("path.balance", "/v9.0/x/balance", &[""]),
    ("method.balance", "PUT", &[""]),
    ("path.statement", "/v9.0/x/statement", &[""]),
    ("method.statement", "PUT", &[""]),
    ("path.account_internal", "/v9.0/x/account-internal", &[""]),
    ("method.account_internal", "PUT", &[""]),
    ("path.account_external", "/v9.0/x/account-external", &[""]),
    ("method.account_external", "PUT", &[""]),
    ("path.transfer_intrabank", "/v9.0/x/transfer-intrabank", &[""]),
    ("method.transfer_intrabank", "PUT", &[""]),
    ("path.transfer_interbank", "/v9.0/x/transfer-interbank", &[""]),
    ("path.transfer_rtgs", "/v9.0/x/transfer-rtgs", &[""]),
    ("path.transfer_skn", "/v9.0/x/transfer-skn", &[""]),
    ("method.transfer_interbank", "PUT", &[""]),
    ("method.transfer_rtgs", "PUT", &[""]),
    ("method.transfer_skn", "PUT", &[""]),
    ("path.transfer_status", "/v9.0/x/transfer-status", &[""]),
    ("method.transfer_status", "PUT", &[""]),
    ("path.wallet_inquiry", "/v9.0/x/wallet-inquiry", &[""]),
    ("method.wallet_inquiry", "PUT", &[""]),
    ("path.wallet_transfer", "/v9.0/x/wallet-transfer", &[""]),
    ("method.wallet_transfer", "PUT", &[""]),
    ("path.wallet_status", "/v9.0/x/wallet-status", &[""]),
    ("method.wallet_status", "PUT", &[""]),
];

#[test]
fn every_setting_takes_good_values_and_refuses_bad_ones_by_name() {
    let mut names: Vec<String> = known_settings().map(|(name, _)| name).collect();
    let mut examples = EXAMPLES.map(|(name, ..)| name.to_owned()).to_vec();
    names.sort();
    examples.sort();
    assert_eq!(names, examples);
    let defaults = with("generic", &[]).unwrap();
    for (name, good, bad) in EXAMPLES {
        assert_ne!(generic(name, good).unwrap(), defaults, "{name}");
        let (_, allowed) = known_settings().find(|(known, _)| known == name).unwrap();
        for value in bad {
            let message = format!("`{name}` cannot be `{value}`: it must be {allowed}");
            assert_eq!(generic(name, value).unwrap_err().to_string(), message);
        }
    }
}

fn written(parameters: &Parameters) -> BTreeMap<String, String> {
    parameters.in_force().into_iter().collect()
}

#[test]
fn parameters_are_written_as_the_settings_that_they_are_read_from() {
    for profile in Profile::all() {
        let parameters = profile.parameters(&BTreeMap::new()).unwrap();
        assert_eq!(profile.parameters(&written(&parameters)).unwrap(), parameters, "{}", profile.name);
    }
    for (name, good, _) in EXAMPLES {
        let parameters = generic(name, good).unwrap();
        let written = written(&parameters);
        let (given, read) = (good.replace(", ", ","), written[name].replace("198.51.100.7/32", "198.51.100.7"));
        assert_eq!(read, given, "{name}");
        assert_eq!(Profile::named("generic").unwrap().parameters(&written).unwrap(), parameters, "{name}");
    }
}

#[test]
fn an_unknown_setting_is_answered_with_the_names() {
    for name in ["", "colour", "path.", "path.inquiry", "method.x", "Hosting", "base_url "] {
        let message = generic(name, "x").unwrap_err().to_string();
        assert!(
            message.starts_with(&format!("there is no setting `{name}`; there are: hosting, codes, ")),
            "{message}"
        );
        assert!(known_settings().all(|(known, _)| message.contains(&known)), "{message}");
    }
}

#[test]
fn a_value_without_end_is_refused_and_not_repeated() {
    for name in ["ips", "channel_id", "merchant_id", "base_url", "path.token"] {
        let message = generic(name, &"1,".repeat(10_000)).unwrap_err().to_string();
        assert!(message.len() < 400, "{message}");
    }
}

#[test]
fn values_become_what_they_mean() {
    let typed = with(
        "generic",
        &[("validity", "20..60"), ("amounts", "100..200"), ("deadline", "3"), ("precision", "milliseconds")],
    )
    .unwrap();
    assert_eq!(typed.validity, Duration::from_secs(20)..=Duration::from_secs(60));
    assert_eq!(typed.amounts, Rupiah::new(100)..=Rupiah::new(200));
    assert_eq!((typed.deadline, typed.precision), (Duration::from_secs(3), Precision::Milliseconds));
}

#[test]
fn profiles_are_found_by_name_and_serve_their_methods() {
    let served = [
        ("bca", Codes::Va, Some(Bank::Bca)),
        ("briva-online", Codes::Va, Some(Bank::Bri)),
        ("bsi", Codes::Va, Some(Bank::Bsi)),
        ("mandiri", Codes::Va, Some(Bank::Mandiri)),
        ("midtrans", Codes::Both, None),
        ("dana", Codes::Qris, None),
        ("doku", Codes::Both, None),
        ("bri-qris", Codes::Qris, None),
        ("briva-ws", Codes::Va, Some(Bank::Bri)),
        ("bri", Codes::None, None),
        ("bni", Codes::None, None),
        ("generic", Codes::Both, None),
    ];
    let found: Vec<_> = Profile::all().iter().map(|profile| (profile.name, profile.serves, profile.bank)).collect();
    assert_eq!(found, served);
    for unknown in ["", "BCA", "bca ", "permata"] {
        assert!(Profile::named(unknown).is_none());
    }
    let serves = |name: &str, codes, method| Profile::named(name).unwrap().serves(codes, method);
    let (bca, bri) = (Method::VirtualAccount(Bank::Bca), Method::VirtualAccount(Bank::Bri));
    for (name, codes, methods, words) in [
        ("bca", Codes::Va, [true, false, false], "bca"),
        ("briva-ws", Codes::Va, [false, true, false], "bri"),
        ("dana", Codes::Qris, [false, false, true], "qris"),
        ("doku", Codes::Qris, [false, false, true], "qris"),
        ("doku", Codes::Both, [true, true, true], "qris and virtual accounts"),
        ("generic", Codes::Va, [true, true, false], "virtual accounts"),
        ("bri", Codes::None, [false, false, false], "transfers"),
        ("bca", Codes::None, [false, false, false], "transfers"),
    ] {
        let found = [bca, bri, Method::Qris].map(|method| serves(name, codes, method));
        assert_eq!((found, Profile::named(name).unwrap().served(codes)), (methods, words), "{name}");
    }
}

#[test]
fn an_account_issues_only_codes_that_its_profile_serves() {
    for (profile, codes) in [("bca", "qris"), ("bca", "both"), ("dana", "va"), ("dana", "both"), ("briva-ws", "qris")] {
        let error = with(profile, &[("codes", codes)]).unwrap_err().to_string();
        let own = Profile::named(profile).unwrap().serves.word();
        assert_eq!(error, format!("`codes` cannot be `{codes}`: it must be {own} with the profile {profile}"));
    }
    for (profile, codes) in [("doku", "va"), ("doku", "both"), ("generic", "qris"), ("dana", "qris")] {
        assert!(with(profile, &[("codes", codes)]).is_ok(), "{profile} {codes}");
    }
}

/// So that a typing error in a file shows: its values must be ones that a setting could have.
#[test]
fn every_profile_needs_what_its_bank_must_be_told() {
    for (profile, settings, missing) in [
        ("bca", vec![], vec!["partner_service_id"]),
        ("briva-online", vec![], vec!["partner_service_id"]),
        ("bsi", vec![], vec!["partner_service_id"]),
        ("mandiri", vec![], vec!["partner_service_id"]),
        ("generic", vec![], vec!["partner_service_id"]),
        ("generic", vec![("hosting", "theirs")], vec!["partner_service_id", "base_url"]),
        ("generic", vec![("codes", "qris")], vec!["merchant_id", "base_url"]),
        ("generic", vec![("codes", "both")], vec!["partner_service_id", "merchant_id", "base_url"]),
        ("generic", vec![("codes", "qris"), ("sign_out", "none")], vec!["merchant_id", "base_url", "sign_out"]),
        ("midtrans", vec![], vec!["merchant_id", "base_url"]),
        ("midtrans", vec![("codes", "va")], vec!["partner_service_id", "base_url"]),
        ("dana", vec![], vec!["merchant_id", "store_id", "base_url"]),
        ("doku", vec![], vec!["merchant_id", "base_url"]),
        ("bri-qris", vec![], vec!["merchant_id", "terminal_id", "base_url"]),
        ("bri-qris", vec![("void", "yes")], vec!["merchant_id", "terminal_id", "base_url", "path.qr_cancel"]),
        ("briva-ws", vec![], vec!["partner_service_id", "base_url"]),
        ("bri", vec![], vec!["base_url", "source_account"]),
        ("bni", vec![], vec!["base_url", "source_account"]),
    ] {
        assert_eq!(with(profile, &settings).unwrap().missing(), missing, "{profile} {settings:?}");
        let all = [
            ("partner_service_id", "88899"),
            ("merchant_id", "M"),
            ("terminal_id", "T"),
            ("store_id", "S"),
            ("base_url", "https://bank.example"),
            ("source_account", "1234567890"),
        ];
        let by_settings = ["sign_out", "path.qr_cancel"];
        let missing: Vec<_> = missing.into_iter().filter(|name| by_settings.contains(name)).collect();
        assert_eq!(with(profile, &[&all[..], &settings].concat()).unwrap().missing(), missing, "{profile}");
    }
    for profile in Profile::all() {
        let bare = with(profile.name, &[]).unwrap();
        for (service, path) in &bare.paths {
            let name = format!("path.{}", service.word());
            assert_eq!(with(profile.name, &[(&name, path)]).unwrap(), bare);
        }
        assert_eq!(ChannelIds::parse(&bare.channel_id.to_string()), Some(bare.channel_id), "{}", profile.name);
        let Transfers { inquiry_info, intrabank_info, bi_fast_info, online_info, wallet_info, .. } = &bare.transfers;
        let of_clearing = [&bare.transfers.skn_info, &bare.transfers.rtgs_info, &bare.refunds.info];
        let of_orders = [inquiry_info, intrabank_info, bi_fast_info, online_info, wallet_info];
        for info in [&bare.qr_info, &bare.va_info].into_iter().chain(of_orders).chain(of_clearing) {
            assert_eq!(ExtraMembers::parse(&info.to_string()).as_ref(), Some(info), "{}", profile.name);
        }
    }
}

#[test]
fn a_bank_at_which_we_create_numbers_needs_an_address_and_paths() {
    let missing = with("bsi", &[("hosting", "theirs"), ("void", "yes")]).unwrap().missing();
    assert_eq!(
        missing,
        ["partner_service_id", "base_url", "sign_out", "path.create_va", "path.status", "path.delete_va"]
    );
    let missing = with("bsi", &[("hosting", "theirs"), ("sign_out", "type1")]).unwrap().missing();
    assert_eq!(missing, ["partner_service_id", "base_url", "path.token", "path.create_va", "path.status"]);
}

#[test]
fn a_number_is_the_service_id_without_padding_and_the_customers_digits() {
    let parameters = with("bca", &[("partner_service_id", "88899")]).unwrap();
    assert_eq!(parameters.padded_service_id(), "   88899");
    assert_eq!(parameters.number("12345678901"), "8889912345678901");
    assert_eq!(parameters.partner_id(), Some("88899"));
    assert_eq!(with("bca", &[("partner_service_id", "12345678")]).unwrap().padded_service_id(), "12345678");
    assert_eq!(with("bca", &[]).unwrap().padded_service_id(), "");
    assert_eq!(with("bsi", &[]).unwrap().partner_id(), None);
    assert_eq!(with("bca", &[("partner_id", "XYZ")]).unwrap().partner_id(), Some("XYZ"));
}

#[test]
fn numbers_have_the_length_that_the_bank_allows() {
    for (profile, settings, wrong) in [
        ("bca", [("partner_service_id", "88899"), ("customer_digits", "18")], None),
        ("briva-online", [("partner_service_id", "88899"), ("customer_digits", "14")], Some("at most 13")),
        ("mandiri", [("partner_service_id", "8889"), ("customer_digits", "12")], Some("it would have 16")),
        ("mandiri", [("partner_service_id", "88899"), ("customer_digits", "14")], None),
        ("mandiri", [("partner_service_id", "88899"), ("customer_digits", "15")], Some("has 17 to 19 digits")),
    ] {
        let error = with(profile, &settings).err().map(|error| error.to_string());
        assert_eq!(error.is_some(), wrong.is_some(), "{error:?}");
        let error = error.unwrap_or_default();
        assert!(wrong.is_none_or(|part| error.starts_with("`customer_digits` ") && error.contains(part)), "{error}");
    }
}

#[test]
fn banks_answer_in_their_own_codes() {
    for (profile, expired, bad_data, token_type) in [
        ("bca", "4042419", "4002401", "Bearer"),
        ("briva-online", "4042419", "4002401", "Bearer"),
        ("bsi", "4042420", "4042411", "BearerToken"),
    ] {
        let parameters = with(profile, &[]).unwrap();
        assert_eq!(parameters.inquiry_expired.code("24"), expired);
        assert_eq!(parameters.bad_data.code("24"), bad_data);
        assert_eq!(parameters.token_type, token_type);
    }
}

#[test]
fn only_a_bank_that_is_known_to_go_by_its_flag_is_answered_4042518() {
    for profile in Profile::all() {
        let parameters = with(profile.name, &[]).unwrap();
        let expected = if profile.name == "bca" { Repeat::Inconsistent } else { Repeat::Stored };
        assert_eq!(parameters.repeat, expected, "{}", profile.name);
        assert_eq!(parameters.payment_needs.names(), [""; 0], "{}", profile.name);
    }
}

#[test]
fn a_bank_that_signs_by_type_1_or_says_so_asks_us_for_a_token() {
    let asking = Profile::all().iter().filter(|profile| with(profile.name, &[]).unwrap().takes_token());
    let names: Vec<&str> = asking.map(|profile| profile.name).collect();
    assert_eq!(names, ["bca", "briva-online", "bsi", "mandiri", "doku", "bri-qris", "briva-ws", "generic"]);
}

#[test]
fn a_bank_is_called_by_https_unless_the_installation_is_for_development() {
    for (url, allow_http, is_good) in [
        ("https://bank.example", false, true),
        ("https://bank.example:8443/gateway/", false, true),
        ("http://127.0.0.1:9000", false, false),
        ("http://127.0.0.1:9000", true, true),
        ("http://bank.example", false, false),
        ("file:///etc/hosts", true, false),
        ("https://bank.example/?a=b", true, false),
        ("https://bank.example/#a", true, false),
        ("https://", true, false),
    ] {
        assert_eq!(check_base_url(url, allow_http).is_ok(), is_good, "{url}");
    }
    let error = check_base_url("http://bank.example", false).unwrap_err().to_string();
    assert!(error.contains("`base_url`") && error.contains("must be an https://"), "{error}");
}

#[test]
fn a_service_is_below_the_banks_address_with_its_prefix() {
    for (base, url) in [
        ("https://bank.example", "https://bank.example/openapi/v1.0/access-token/b2b"),
        ("https://bank.example/gw/", "https://bank.example/gw/openapi/v1.0/access-token/b2b"),
    ] {
        let parameters = with("bca", &[("base_url", base)]).unwrap();
        assert_eq!(parameters.url(Service::Token).unwrap().as_str(), url);
        assert_eq!(parameters.url(Service::CreateVa), None);
    }
    assert_eq!(with("bca", &[]).unwrap().url(Service::Token), None);
    assert_eq!(with("bca", &[]).unwrap().method(Service::DeleteVa), HttpMethod::Delete);
    let changed = generic("method.delete_va", "POST").unwrap();
    assert_eq!(changed.method(Service::DeleteVa), HttpMethod::Post);
}

#[test]
fn calls_come_from_the_banks_networks_alone_once_they_are_set() {
    let address = |text: &str| text.parse::<IpAddr>().unwrap();
    let parameters = generic("ips", "203.0.113.0/24,198.51.100.7,2001:db8::/32").unwrap();
    for allowed in ["203.0.113.200", "198.51.100.7", "::ffff:198.51.100.7", "2001:db8::1"] {
        assert!(parameters.allows(address(allowed)), "{allowed}");
    }
    for other in ["203.0.114.1", "198.51.100.8", "2001:db9::1", "::1"] {
        assert!(!parameters.allows(address(other)), "{other}");
    }
    for open in [with("generic", &[]).unwrap(), generic("ips", "any").unwrap()] {
        assert!(open.allows(address("192.0.2.1")));
    }
}
