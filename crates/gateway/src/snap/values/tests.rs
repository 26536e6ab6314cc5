use super::*;

#[test]
fn an_external_id_is_judged_by_its_kind_and_length() {
    let check = |kind: &str, id: &str| ExternalId::parse(kind).unwrap().accepts(id);
    for (kind, good, bad) in [
        ("digits:9", "123456789", vec!["12345678", "1234567890", "12345678a"]),
        ("numeric:4", "0123", vec!["", "12345", "12a", "١٢"]),
        ("alnum:5", "aZ-09", vec!["", "abcdef", "a b", "a_b", "é"]),
        ("reference", "20260115/x_y", vec!["", "a b", "a\n"]),
    ] {
        assert!(check(kind, good), "{kind} {good}");
        assert!(bad.iter().all(|id| !check(kind, id)), "{kind}");
    }
    assert!(!check("reference", &"1".repeat(129)));
    for text in ["", "digits", "digits:", "digits:0", "numeric:37", "alnum:+5", "words:5", "reference:5"] {
        assert_eq!(ExternalId::parse(text), None, "{text}");
    }
}

#[test]
fn channel_ids_are_single_ones_patterns_and_ranges() {
    let channels = ChannelIds::parse("6199,60xx,00001-00009").unwrap();
    for id in ["6199", "6000", "6099", "00001", "00009"] {
        assert!(channels.accepts(id), "{id}");
    }
    for id in ["", "6198", "60x1", "60xx", "600", "00000", "00010", "0000a", "1"] {
        assert!(!channels.accepts(id), "{id}");
    }
    assert!(ChannelIds::parse("any").unwrap().accepts("12345"));
    for (text, sent) in [("any", None), ("95231", Some("95231")), ("60xx,6199", None), ("1-9", None)] {
        assert_eq!(ChannelIds::parse(text).unwrap().to_send(), sent, "{text}");
    }
    for text in ["", ",", "95231,", "123456", "a", "9-1", "1-10", "1-2-3", "x-9", &["1"; 21].join(",")] {
        assert_eq!(ChannelIds::parse(text), None, "{text}");
    }
}

#[test]
fn a_response_case_becomes_the_code_of_a_service() {
    let expired = ResponseCase::parse("404xx20").unwrap();
    assert_eq!((expired.code("24").as_str(), expired.status), ("4042420", 404));
    assert_eq!(ResponseCase::new(400, 1).to_string(), "400xx01");
    for text in ["", "404", "4042420", "404xx", "200xx00", "500xx00", "404xx1", "404xx100", "0404xx1", "404xx-1"] {
        assert_eq!(ResponseCase::parse(text), None, "{text}");
    }
}

#[test]
fn services_have_codes_of_their_own() {
    for one in Service::ALL {
        assert_eq!(Service::parse(one.word()), Some(*one));
        assert_eq!(Service::ALL.iter().filter(|other| other.code() == one.code()).count(), 1);
    }
}
