//! What a bank's answer to an order that sends money means. Only a code that is listed here decides anything: every other,
//! and every doubt, is unknown, since an order that may have been carried out must be asked about and never be sent again.

/// What kind of order was answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OrderKind {
    /// 17, 18 or 43
    Transfer,
    /// 78 or 58
    Refund,
}

/// What follows from an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The bank has carried it out.
    Done,
    /// It never got to the bank.
    NotSent,
    /// The bank did not take the order as it stands: our settings, keys or message are wrong.
    NotTaken,
    /// This payment cannot be given back in this way; another way may do it.
    NotThisWay,
    /// The destination is wrong or closed.
    WrongDestination,
    /// The account that pays has not enough money.
    NoMoney,
    /// After the bank's hours.
    CutOff,
    /// Above a limit, or not by this rail: later, or by another.
    OverLimit,
    /// The bank says that less is left to give back than our books say.
    AboveWhatIsLeft,
    /// It may have been carried out.
    Unknown,
    /// A refusal of the message, after one with the same reference was sent: it says nothing about that one.
    ProvesNothing,
}

impl Verdict {
    /// Whether the bank has surely not carried it out, so that there may be another attempt.
    pub const fn is_refusal(self) -> bool {
        match self {
            Verdict::NotSent
            | Verdict::NotTaken
            | Verdict::NotThisWay
            | Verdict::WrongDestination
            | Verdict::NoMoney
            | Verdict::CutOff
            | Verdict::OverLimit
            | Verdict::AboveWhatIsLeft => true,
            Verdict::Done | Verdict::Unknown | Verdict::ProvesNothing => false,
        }
    }

    /// A word for the timeline and for commands.
    pub const fn word(self) -> &'static str {
        match self {
            Verdict::Done => "done",
            Verdict::NotSent => "not_sent",
            Verdict::NotTaken => "not_taken",
            Verdict::NotThisWay => "not_this_way",
            Verdict::WrongDestination => "wrong_destination",
            Verdict::NoMoney => "no_money",
            Verdict::CutOff => "cut_off",
            Verdict::OverLimit => "over_limit",
            Verdict::AboveWhatIsLeft => "above_what_is_left",
            Verdict::Unknown => "unknown",
            Verdict::ProvesNothing => "proves_nothing",
        }
    }
}

/// An answer, as far as it decides.
#[derive(Clone, Copy, Debug)]
pub(super) struct Answered<'a> {
    pub(super) kind: OrderKind,
    /// The two digits of the service that was called.
    pub(super) service: &'a str,
    /// The HTTP status.
    pub(super) status: u16,
    pub(super) code: &'a str,
    /// Whether this reference was sent for the first time.
    pub(super) is_first: bool,
}

pub(super) fn judge(answered: &Answered<'_>) -> Verdict {
    let Some(case) = case_of(answered) else { return Verdict::Unknown };
    let is_refund = answered.kind == OrderKind::Refund;
    match (answered.status, case) {
        (200, 0) => Verdict::Done,
        (400, 0..=2) | (401, 0..=4) if answered.is_first => Verdict::NotTaken,
        (400, 0..=2) | (401, 0..=4) => Verdict::ProvesNothing,
        (403, 14) => Verdict::NoMoney,
        (403, 6) => Verdict::CutOff,
        (403, 2 | 4 | 20 | 23) | (404, 2 | 3) => Verdict::OverLimit,
        (403, 3 | 5 | 9 | 18) | (404, 11) => Verdict::WrongDestination,
        (403, 15) | (405, 1) if is_refund => Verdict::NotThisWay,
        (404, 13) if is_refund => Verdict::AboveWhatIsLeft,
        _ => Verdict::Unknown,
    }
}

/// The last two digits of a response code that speaks of this status and this service. A code that speaks of others
/// may be a proxy's, or about another call.
fn case_of(answered: &Answered<'_>) -> Option<u8> {
    let code = answered.code;
    if code.len() != 7 || !code.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let (status, rest) = code.split_at(3);
    let (service, case) = rest.split_at(2);
    let agrees = status.parse() == Ok(answered.status) && service == answered.service;
    case.parse().ok().filter(|_| agrees)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(kind: OrderKind, status: u16, code: &str, is_first: bool) -> Verdict {
        let service = if kind == OrderKind::Transfer { "17" } else { "78" };
        judge(&Answered { kind, service, status, code: &code.replace("xx", service), is_first })
    }

    /// What a first order's answer means: for a transfer, and for a refund.
    const TABLE: &[(u16, &str, Verdict, Verdict)] = &[
        (200, "200xx00", Verdict::Done, Verdict::Done),
        (400, "400xx00", Verdict::NotTaken, Verdict::NotTaken),
        (400, "400xx01", Verdict::NotTaken, Verdict::NotTaken),
        (400, "400xx02", Verdict::NotTaken, Verdict::NotTaken),
        (401, "401xx00", Verdict::NotTaken, Verdict::NotTaken),
        (401, "401xx01", Verdict::NotTaken, Verdict::NotTaken),
        (401, "401xx04", Verdict::NotTaken, Verdict::NotTaken),
        (403, "403xx14", Verdict::NoMoney, Verdict::NoMoney),
        (403, "403xx06", Verdict::CutOff, Verdict::CutOff),
        (403, "403xx02", Verdict::OverLimit, Verdict::OverLimit),
        (403, "403xx04", Verdict::OverLimit, Verdict::OverLimit),
        (403, "403xx20", Verdict::OverLimit, Verdict::OverLimit),
        (403, "403xx23", Verdict::OverLimit, Verdict::OverLimit),
        (404, "404xx02", Verdict::OverLimit, Verdict::OverLimit),
        (404, "404xx03", Verdict::OverLimit, Verdict::OverLimit),
        (403, "403xx03", Verdict::WrongDestination, Verdict::WrongDestination),
        (403, "403xx05", Verdict::WrongDestination, Verdict::WrongDestination),
        (403, "403xx09", Verdict::WrongDestination, Verdict::WrongDestination),
        (403, "403xx18", Verdict::WrongDestination, Verdict::WrongDestination),
        (404, "404xx11", Verdict::WrongDestination, Verdict::WrongDestination),
        (403, "403xx15", Verdict::Unknown, Verdict::NotThisWay),
        (405, "405xx01", Verdict::Unknown, Verdict::NotThisWay),
        (404, "404xx13", Verdict::Unknown, Verdict::AboveWhatIsLeft),
    ];

    #[test]
    fn every_listed_code_means_what_the_standard_says() {
        for (status, code, transfer, refund) in TABLE {
            assert_eq!(judged(OrderKind::Transfer, *status, code, true), *transfer, "{code}");
            assert_eq!(judged(OrderKind::Refund, *status, code, true), *refund, "{code}");
        }
    }

    #[test]
    fn every_code_that_is_not_listed_is_unknown() {
        let is_listed = |code: &str| TABLE.iter().any(|(_, listed, ..)| *listed == code);
        for status in 100..600_u16 {
            for case in 0..100_u8 {
                let code = format!("{status}xx{case:02}");
                // 401xx02 and 401xx03 stand between two that are listed.
                if is_listed(&code) || matches!((status, case), (401, 2 | 3)) {
                    continue;
                }
                for kind in [OrderKind::Transfer, OrderKind::Refund] {
                    assert_eq!(judged(kind, status, &code, true), Verdict::Unknown, "{code}");
                }
            }
        }
    }

    #[test]
    fn the_codes_that_others_have_paid_twice_for_are_unknown() {
        for (status, code) in [
            (202, "202xx00"),
            (409, "409xx00"),
            (409, "409xx01"),
            (404, "404xx18"),
            (404, "404xx01"),
            (429, "429xx00"),
            (500, "500xx00"),
            (500, "500xx01"),
            (504, "504xx00"),
        ] {
            assert_eq!(judged(OrderKind::Transfer, status, code, true), Verdict::Unknown, "{code}");
        }
    }

    #[test]
    fn a_code_of_another_status_or_service_decides_nothing() {
        for (status, code) in [
            (200, "2001800"),
            (200, "4031714"),
            (500, "2001700"),
            (403, "4037814"),
            (404, "4037314"),
            (200, ""),
            (403, "403"),
            (403, "403171"),
            (403, "40317014"),
            (403, "+031714"),
            (403, "4٣17"),
        ] {
            assert_eq!(judged(OrderKind::Transfer, status, code, true), Verdict::Unknown, "{status} {code}");
        }
    }

    #[test]
    fn a_refused_message_proves_nothing_about_an_earlier_one() {
        for (status, code) in [(400, "400xx00"), (400, "400xx02"), (401, "401xx00"), (401, "401xx04")] {
            for kind in [OrderKind::Transfer, OrderKind::Refund] {
                assert_eq!(judged(kind, status, code, true), Verdict::NotTaken, "{code}");
                assert_eq!(judged(kind, status, code, false), Verdict::ProvesNothing, "{code}");
            }
        }
        assert!(Verdict::NotTaken.is_refusal() && !Verdict::ProvesNothing.is_refusal());
        assert!(!Verdict::Unknown.is_refusal() && !Verdict::Done.is_refusal());
    }
}
