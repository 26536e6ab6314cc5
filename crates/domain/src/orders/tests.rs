use super::*;
use crate::{
    face::Face,
    fee::FeeOverrides,
    id::mint,
    project::{Environment, MerchantProfile, SuccessWord, initial_default_methods},
};

const NOW: Timestamp = Timestamp::from_millis(1_800_000_000_000);

fn project() -> Project {
    Project {
        id: mint(NOW, [1; 10]),
        name: "Toko".to_owned(),
        environment: Environment::Sandbox,
        merchant: MerchantProfile {
            name: "Toko".to_owned(),
            city: "JAKARTA".to_owned(),
            postal_code: "10110".to_owned(),
        },
        active: true,
        approved: true,
        success_word: SuccessWord::Paid,
        webhook_url: None,
        extra_events: Vec::new(),
        face: Face::default(),
        fees: FeeOverrides::default(),
        banks: Bank::ALL.to_vec(),
        default_methods: initial_default_methods(),
        frame_origins: Vec::new(),
        refunds: crate::refund_settings::RefundSettings::default(),
        accounts: Vec::new(),
        created_at: NOW,
        version: 1,
    }
}

fn named(kind: &str, bank: Option<&str>) -> MethodRequest {
    MethodRequest { kind: Some(kind.to_owned()), bank: bank.map(str::to_owned) }
}

fn qris(amount: i64) -> PaymentRequest {
    PaymentRequest {
        reference: Some("order-1".to_owned()),
        amount: Some(amount),
        method: Some(named("qris", None)),
        ..PaymentRequest::default()
    }
}

fn bca(amount: i64) -> PaymentRequest {
    PaymentRequest { method: Some(named("virtual_account", Some("bca"))), ..qris(amount) }
}

#[track_caller]
fn refused(request: PaymentRequest, field: &str) {
    let shown = format!("{request:?}");
    assert_eq!(request.check(&project()).unwrap_err().field, field, "{shown}");
}

#[test]
fn amounts_keep_to_the_floor_of_the_method_and_to_the_ceiling() {
    assert!(qris(100).check(&project()).is_ok());
    assert!(bca(10_000).check(&project()).is_ok());
    assert!(qris(Rupiah::MAX.get()).check(&project()).is_ok());
    for request in [qris(99), qris(0), qris(-100), qris(i64::MIN), qris(Rupiah::MAX.get() + 1), bca(9_999)] {
        refused(request, "amount");
    }
}

#[test]
fn a_payment_has_the_terms_that_were_ordered() {
    let request = PaymentRequest {
        expires_in_minutes: Some(30),
        metadata: Some(vec![("meja".to_owned(), "12".to_owned())]),
        return_url: Some("https://shop.example/back".to_owned()),
        ..bca(10_000)
    };
    let order = request.check(&project()).unwrap();
    let terms = order.clone().terms(project().id, Rupiah::new(4_000), NOW);
    assert_eq!((terms.project_id, terms.link_id, terms.checkout), (project().id, None, None));
    assert_eq!((terms.amount, terms.quantity, terms.fee), (Rupiah::new(10_000), None, Rupiah::new(4_000)));
    assert_eq!((terms.reference, terms.method), (order.reference, order.method));
    assert_eq!((terms.metadata, terms.return_url), (order.metadata, order.return_url));
    assert_eq!(terms.expires_at, NOW.plus(Duration::from_mins(30)));
}

#[test]
fn required_fields_are_required() {
    refused(PaymentRequest { reference: None, ..qris(100) }, "reference");
    refused(PaymentRequest { reference: Some(String::new()), ..qris(100) }, "reference");
    refused(PaymentRequest { amount: None, ..qris(100) }, "amount");
    refused(PaymentRequest { method: None, ..qris(100) }, "payment_method");
    refused(PaymentRequest { method: Some(MethodRequest::default()), ..qris(100) }, "payment_method.type");
    refused(PaymentRequest { method: Some(named("virtual_account", None)), ..qris(10_000) }, "payment_method.bank");
}

#[test]
fn unknown_methods_and_banks_are_refused() {
    refused(PaymentRequest { method: Some(named("card", None)), ..qris(100) }, "payment_method.type");
    refused(PaymentRequest { method: Some(named("qris", Some("bca"))), ..qris(100) }, "payment_method.bank");
    for bank in ["", "BCA", "xyz"] {
        refused(
            PaymentRequest { method: Some(named("virtual_account", Some(bank))), ..qris(10_000) },
            "payment_method.bank",
        );
    }
    let narrow = Project { banks: vec![Bank::Bni], ..project() };
    assert_eq!(bca(10_000).check(&narrow).unwrap_err().field, "payment_method.bank");
}

#[test]
fn lifetimes_default_and_are_lowered_to_the_maximum() {
    for (request, minutes, expected) in [
        (qris(100), None, 15),
        (qris(100), Some(1), 1),
        (qris(100), Some(61), 60),
        (qris(100), Some(i64::MAX), 60),
        (bca(10_000), None, 1_440),
        (bca(10_000), Some(10_081), 10_080),
    ] {
        let order = PaymentRequest { expires_in_minutes: minutes, ..request }.check(&project()).unwrap();
        assert_eq!(order.lifetime, Duration::from_mins(expected));
    }
    for minutes in [0, -1, i64::MIN] {
        refused(PaymentRequest { expires_in_minutes: Some(minutes), ..qris(100) }, "expires_in_minutes");
    }
}

fn link(methods: Option<Vec<MethodRequest>>, amount: i64) -> LinkRequest {
    LinkRequest { title: Some("Kopi".to_owned()), amount: Some(amount), methods, ..LinkRequest::default() }
}

#[test]
fn a_link_must_reach_the_highest_floor_among_its_methods() {
    let both = || Some(vec![named("qris", None), named("virtual_account", Some("bca"))]);
    assert!(link(Some(vec![named("qris", None)]), 100).check(&project(), NOW).is_ok());
    assert_eq!(link(both(), 9_999).check(&project(), NOW).unwrap_err().field, "amount");
    assert!(link(both(), 10_000).check(&project(), NOW).is_ok());
    assert_eq!(link(None, 9_999).check(&project(), NOW).unwrap_err().field, "amount");
}

#[test]
fn a_link_that_names_no_methods_takes_the_projects_defaults() {
    for methods in [None, Some(vec![])] {
        assert_eq!(link(methods, 10_000).check(&project(), NOW).unwrap().methods, initial_default_methods());
    }
}

#[test]
fn virtual_account_without_a_bank_means_every_bank() {
    let order = link(Some(vec![named("virtual_account", None)]), 10_000).check(&project(), NOW).unwrap();
    assert_eq!(order.methods, Bank::ALL.map(Method::VirtualAccount));
}

#[test]
fn methods_of_a_link_are_distinct() {
    for methods in [
        vec![named("qris", None), named("qris", None)],
        vec![named("virtual_account", Some("bca")), named("virtual_account", None)],
    ] {
        let refused = link(Some(methods), 10_000).check(&project(), NOW).unwrap_err();
        assert_eq!(refused.field, "allowed_payment_methods[1]");
    }
}

#[test]
fn a_link_expires_in_the_future_or_never() {
    let expiring = |text: &str| LinkRequest { expires_at: Some(text.to_owned()), ..link(None, 10_000) };
    let later = NOW.plus(Duration::from_millis(1));
    assert_eq!(expiring(&later.to_string()).check(&project(), NOW).unwrap().expires_at, Some(later));
    for text in [NOW.to_string().as_str(), "2020-01-01T00:00:00Z", "tomorrow", ""] {
        assert_eq!(expiring(text).check(&project(), NOW).unwrap_err().field, "expires_at", "{text}");
    }
}
