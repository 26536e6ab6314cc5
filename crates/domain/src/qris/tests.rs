use proptest::prelude::*;

use super::*;
use crate::{id, time::Timestamp};

const FLORIST: &str = concat!(
    "00020101021226670016COM.NOBUBANK.WWW01189360050300000488910214051200000314150303UMI51440014ID.CO.QRI",
    "S.WWW0215ID20200814001780303UMI52045499530336054061750005802ID5912FLORIST LILY6015Banten - Kota T610",
    "51581162540114051600001421300617202305161512305480703A010804POSP63046D61",
);
const AINO: &str = concat!(
    "00020101021226570011ID.DANA.WWW011893600915063899391202096389939120303UKE51440014ID.CO.QRIS.WWW0215I",
    "D20243208378400303UKE520489995303360540115802ID5917PT AINO Indonesia6015Kota Yogyakarta6105552236272",
    "0115YmYu3ZozJT5i9si60490011ID.DANA.WWW0425MER2021071400774509608641050116304CCE3",
);
const SANDBOX: &str = concat!(
    "00020101021226690017ID.CO.SANDBOX.WWW01189360099900000000170215SBX0000000000010303UKE51440014ID.CO.Q",
    "RIS.WWW0215ID10999000000010303UKE52045999530336054061500005802ID5913TOKO UJI COBA6007JAKARTA61051219",
    "062280517PAY01HZX3T9K2Q7B50703A016304F492",
);

fn payment() -> PaymentId {
    id::mint(Timestamp::from_millis(1_800_000_000_000), [7; id::ENTROPY_BYTES])
}

#[test]
fn the_checksum_is_crc_16_ibm_3740_in_four_capital_digits() {
    assert_eq!(checksum("123456789"), "29B1");
}

#[test]
fn payloads_of_other_issuers_are_read() {
    for (text, amount, name, city, label) in [
        (FLORIST, 175_000, "FLORIST LILY", "Banten - Kota T", None),
        (AINO, 1, "PT AINO Indonesia", "Kota Yogyakarta", None),
        (SANDBOX, 150_000, "TOKO UJI COBA", "JAKARTA", Some("PAY01HZX3T9K2Q7B5")),
    ] {
        let payload = parse(text).unwrap();
        assert_eq!(payload.amount(), Some(Rupiah::new(amount)));
        assert_eq!((payload.merchant_name(), payload.city()), (name, city));
        assert_eq!(payload.reference_label(), label);
        assert!(payload.is_dynamic());
    }
}

#[test]
fn our_payload_is_the_sandbox_template_with_a_label_of_16_characters() {
    let merchant = Merchant { name: "Toko Uji Coba", city: "Jakarta", postal_code: "12190" };
    let label = reference_label(payment());
    assert_eq!(label.len(), 16);
    assert!(payment().to_string().to_uppercase().ends_with(&label));
    let (body, _) = SANDBOX.rsplit_once(CHECKSUM_HEADER).unwrap();
    let expected = body.replace("62280517PAY01HZX3T9K2Q7B5", &format!("62270516{label}"));
    assert_eq!(dynamic_payload(&merchant, Rupiah::new(150_000), payment()), sealed(&expected));
}

#[test]
fn names_become_short_plain_capitals_and_are_never_empty() {
    for (text, shown) in [
        ("Kopi  Susu", "KOPI SUSU"),
        ("Café Müller & Søn", "CAFE MULLER & SON"),
        ("Cafe\u{301}", "CAFE"),
        ("Straße Œuvre Þór", "STRASSE OEUVRE THOR"),
        ("Bánh Mì Đặc Biệt", "BANH MI DAC BIET"),
        ("Toko | Ibu\tAni\n", "TOKO IBU ANI"),
        ("Ibu’s “Dapur” – Solo", "IBU'S \"DAPUR\" - SOLO"),
        ("茶 Teh 🍵 Manis", "TEH MANIS"),
        ("茶🍵", "MERCHANT"),
        ("  |  ", "MERCHANT"),
        ("", "MERCHANT"),
        ("PT Sumber Makmur Sentosa Abadi", "PT SUMBER MAKMUR SENTOSA"),
        ("ABCDEFGHIJKLMNOPQRSTUVWXÆ", "ABCDEFGHIJKLMNOPQRSTUVWXA"),
    ] {
        assert_eq!(plain(text, NAME_CHARACTERS, "MERCHANT"), shown, "{text}");
    }
}

#[test]
fn a_postal_code_has_five_digits_whatever_the_settings_say() {
    assert_eq!(postal_code("40115"), "40115");
    for wrong in ["", "4011", "401155", "4011A", "４０１１５"] {
        assert_eq!(postal_code(wrong), "10110");
    }
}

#[test]
fn only_positive_whole_rupiah_without_thousands_marks_are_an_amount() {
    for text in ["1000", "1000.", "1000.0", "1000.00", "0001000"] {
        assert_eq!(amount(text), Ok(Rupiah::new(1_000)), "{text}");
    }
    for text in ["", "0", "0.00", ".", ".00", "1,000", "1000,00", "1000.50", "1.000.00", "-1", "+1", "1e3", " 1"] {
        assert_eq!(amount(text), Err(QrisError::InvalidAmount), "{text}");
    }
}

#[test]
fn an_amount_that_no_payment_can_have_makes_a_payload_that_readers_refuse() {
    let merchant = Merchant { name: "Toko", city: "Solo", postal_code: "57111" };
    for amount in [i64::MIN, -1, 0, i64::MAX] {
        assert!(parse(&dynamic_payload(&merchant, Rupiah::new(amount), payment())).is_err(), "{amount}");
    }
}

#[test]
fn a_reader_says_what_is_wrong() {
    const BASE: &str = "5303360540410005802ID5904TOKO6004SOLO";
    let check = |text: &str, error| assert_eq!(parse(text), Err(error), "{text}");
    check(&"0".repeat(MAX_CHARACTERS + 1), QrisError::TooLong);
    check(&SANDBOX.replace("UJI", "ÜJI"), QrisError::ForbiddenCharacter);
    check(&SANDBOX.replace("UJI", "U|I"), QrisError::ForbiddenCharacter);
    check(&SANDBOX.replace("UJI", "U\nI"), QrisError::ForbiddenCharacter);
    check("", QrisError::NoChecksum);
    check("F492", QrisError::NoChecksum);
    check(&SANDBOX[..SANDBOX.len() - 1], QrisError::NoChecksum);
    check(&SANDBOX.replace("150000", "150001"), QrisError::WrongChecksum);
    check(&SANDBOX.replace("F492", "f492"), QrisError::WrongChecksum);
    for (body, error) in [
        (BASE.to_owned(), QrisError::WrongStart),
        (format!("000202{BASE}"), QrisError::WrongStart),
        (format!("010212000201{BASE}"), QrisError::WrongStart),
        // The checksum lies inside of tag 62, which is therefore last.
        (format!("000201{BASE}6208"), QrisError::NoChecksum),
        (format!("000201{BASE}630400006203"), QrisError::Malformed),
        (format!("000201{BASE}6299"), QrisError::Malformed),
        (format!("000201{BASE}6A0101"), QrisError::Malformed),
        (format!("000201{BASE}+10101"), QrisError::Malformed),
        (format!("000201{BASE}6100"), QrisError::WrongLength { tag: 61 }),
        (format!("000201{BASE}540410005802ID"), QrisError::Duplicate { tag: 54 }),
        (format!("000201{BASE}62100501A0501B"), QrisError::Duplicate { tag: 5 }),
        (format!("000201{BASE}26055002A"), QrisError::Malformed),
        (format!("000201{}", BASE.replace("6004SOLO", "6016SOLOSOLOSOLOSOLO")), QrisError::WrongLength { tag: 60 }),
        (format!("000201{}", BASE.replace("5904TOKO", "")), QrisError::Missing { tag: 59 }),
        (format!("000201{}", BASE.replace("5303360", "5303840")), QrisError::WrongCurrency),
        (format!("000201{}", BASE.replace("54041000", "54051,000")), QrisError::InvalidAmount),
    ] {
        check(&sealed(&body), error);
    }
    let open = parse(&sealed(&format!("000201010211{}", BASE.replace("54041000", "")))).unwrap();
    assert_eq!((open.amount(), open.is_dynamic()), (None, false));
}

proptest! {
    #[test]
    fn any_merchant_and_amount_make_a_payload_that_reads_back(
        name: String,
        city in proptest::collection::vec(any::<char>(), 0..60).prop_map(String::from_iter),
        postal_code: String,
        amount in 1..=Rupiah::MAX.get(),
        millis in 0..281_474_976_710_655_i64,
        entropy: [u8; id::ENTROPY_BYTES],
    ) {
        let payment = id::mint(Timestamp::from_millis(millis), entropy);
        let merchant = Merchant { name: &name, city: &city, postal_code: &postal_code };
        let text = dynamic_payload(&merchant, Rupiah::new(amount), payment);
        prop_assert!(text.is_ascii() && text.len() <= MAX_CHARACTERS);
        let payload = parse(&text).unwrap();
        prop_assert_eq!(payload.amount(), Some(Rupiah::new(amount)));
        prop_assert_eq!(payload.reference_label().map(str::to_owned), Some(reference_label(payment)));
    }

    #[test]
    fn no_text_makes_the_reader_panic(
        letters in proptest::collection::vec(any::<char>(), 0..600),
        body in "[0-9A-Z. ]{0,80}",
    ) {
        let _ = parse(&String::from_iter(letters));
        let _ = parse(&sealed(&body));
        let _ = parse(&sealed(&format!("000201{body}")));
    }

    #[test]
    fn a_payload_with_one_changed_character_is_refused(at in 0..SANDBOX.len(), letter: char) {
        let (before, after) = (&SANDBOX[..at], &SANDBOX[at + 1..]);
        let changed = format!("{before}{letter}{after}");
        prop_assert_eq!(parse(&changed).is_ok(), changed == SANDBOX);
    }
}
