//! What a bank asks us about an account number that we host: what is to be paid (24), and to take money (25).

use crate::{
    id::{BankAccountId, PaymentId},
    money::Rupiah,
    payment::{Payment, State, Status},
    receipt::Unapplied,
    time::{DAY_MILLIS, Timestamp, WIB},
};

/// How long a day's date is when it is written.
const DATE_CHARACTERS: usize = 10;

/// The services of SNAP that a bank calls with an external id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BankService {
    Inquiry,
    Payment,
}

impl BankService {
    /// Its number in SNAP.
    pub const fn number(self) -> i64 {
        match self {
            BankService::Inquiry => 24,
            BankService::Payment => 25,
        }
    }

    pub fn from_number(number: i64) -> Option<BankService> {
        [BankService::Inquiry, BankService::Payment].into_iter().find(|service| service.number() == number)
    }
}

/// What we tell the bank about a bill.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Verdict {
    /// It can be paid; or, where the bank asked us to take money, that we took it.
    Accepted,
    /// Nobody can pay this number: it was never given out, or its payment was cancelled or has failed.
    Unknown,
    Expired,
    /// Other money has paid it, or has paid the link that it belongs to.
    AlreadyPaid,
    WrongAmount,
}

impl Verdict {
    pub const ALL: [Verdict; 5] =
        [Verdict::Accepted, Verdict::Unknown, Verdict::Expired, Verdict::AlreadyPaid, Verdict::WrongAmount];

    pub const fn word(self) -> &'static str {
        match self {
            Verdict::Accepted => "accepted",
            Verdict::Unknown => "unknown",
            Verdict::Expired => "expired",
            Verdict::AlreadyPaid => "already_paid",
            Verdict::WrongAmount => "wrong_amount",
        }
    }

    pub fn parse(word: &str) -> Option<Verdict> {
        Verdict::ALL.into_iter().find(|verdict| verdict.word() == word)
    }

    /// The answer to an inquiry about `payment`, whose link other money may have paid.
    pub fn of_bill(payment: &Payment, link_is_claimed: bool, now: Timestamp) -> Verdict {
        match payment.status_at(now) {
            Status::Paid => Verdict::AlreadyPaid,
            _ if link_is_claimed => Verdict::AlreadyPaid,
            Status::Pending | Status::Processing => Verdict::Accepted,
            Status::Expired => Verdict::Expired,
            Status::Failed | Status::Cancelled => Verdict::Unknown,
        }
    }

    /// The answer when money could not pay `payment`.
    pub const fn of_refusal(reason: Unapplied, state: State) -> Verdict {
        match (reason, state) {
            (Unapplied::WrongAmount, _) => Verdict::WrongAmount,
            (Unapplied::AlreadyPaid | Unapplied::LinkClaimed | Unapplied::ReceiptReused, _) => Verdict::AlreadyPaid,
            (Unapplied::TooLate, State::Cancelled { .. } | State::Failed { .. }) => Verdict::Unknown,
            (Unapplied::TooLate, _) => Verdict::Expired,
        }
    }
}

/// A request of a bank that was answered, as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BankRequest {
    pub account_id: BankAccountId,
    pub service: BankService,
    /// The day of its arrival in Jakarta; external ids are unique within it.
    pub day: i64,
    pub external_id: String,
    pub request_id: String,
    /// The id under which its money is booked, or would have been: the request id, unless other money has that. None for an
    /// inquiry.
    pub receipt_id: Option<String>,
    /// Whether it is the first request about its money, and so the one that was judged. Inquiries are never that.
    pub is_first: bool,
    pub number: String,
    pub payment_id: Option<PaymentId>,
    /// The money that the bank asked us to take.
    pub amount: Option<Rupiah>,
    pub verdict: Verdict,
    pub at: Timestamp,
}

/// The number of a day in Jakarta, counted from 1970.
pub fn jakarta_day(at: Timestamp) -> i64 {
    at.plus(WIB).as_millis().div_euclid(DAY_MILLIS)
}

/// When a day begins in Jakarta.
pub fn jakarta_day_begin(day: i64) -> Timestamp {
    Timestamp::from_millis(day.saturating_mul(DAY_MILLIS)).minus(WIB)
}

/// A day as `2026-11-14`.
pub fn day_text(day: i64) -> String {
    let text = Timestamp::from_millis(day.saturating_mul(DAY_MILLIS)).to_string();
    text.get(..DATE_CHARACTERS).unwrap_or_default().to_owned()
}

/// The day that a text such as `2026-11-14` means; none if it is not written so, or there is no such day.
pub fn parse_day(text: &str) -> Option<i64> {
    let midnight = Timestamp::parse(&format!("{text}T00:00:00Z")).ok()?;
    let day = midnight.as_millis().div_euclid(DAY_MILLIS);
    (day_text(day) == text).then_some(day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_in_jakarta_begins_at_17_hours_utc() {
        let midnight = Timestamp::parse("2026-01-15T17:00:00Z").unwrap();
        assert_eq!(jakarta_day(midnight), jakarta_day(midnight.minus(std::time::Duration::from_millis(1))) + 1);
        assert_eq!(jakarta_day(midnight), jakarta_day(midnight.plus(std::time::Duration::from_hours(23))));
    }

    #[test]
    fn days_are_read_as_they_are_written_and_in_no_other_form() {
        let day = parse_day("2026-11-14").unwrap();
        assert_eq!((day_text(day).as_str(), jakarta_day(jakarta_day_begin(day))), ("2026-11-14", day));
        assert_eq!(jakarta_day_begin(day).to_string(), "2026-11-13T17:00:00.000Z");
        assert_eq!(parse_day("2024-02-29").map(day_text).as_deref(), Some("2024-02-29"));
        let others =
            ["", "2026-11-31", "2026-02-29", "2026-1-4", "14-11-2026", "2026-11-14T00:00:00Z", "2026-11-14 ", "now"];
        for other in others.into_iter().chain(["2026-11-14T00:00:00.5", "-2026-11-14", "２026-11-14"]) {
            assert_eq!(parse_day(other), None, "{other}");
        }
    }

    #[test]
    fn words_and_numbers_read_back() {
        for verdict in Verdict::ALL {
            assert_eq!(Verdict::parse(verdict.word()), Some(verdict));
        }
        for service in [BankService::Inquiry, BankService::Payment] {
            assert_eq!(BankService::from_number(service.number()), Some(service));
        }
    }

    #[test]
    fn a_refusal_says_what_is_wrong_with_the_bill() {
        let at = Timestamp::from_millis(1);
        for (reason, state, verdict) in [
            (Unapplied::WrongAmount, State::Pending, Verdict::WrongAmount),
            (Unapplied::AlreadyPaid, State::Paid { at }, Verdict::AlreadyPaid),
            (Unapplied::LinkClaimed, State::Cancelled { at }, Verdict::AlreadyPaid),
            (Unapplied::TooLate, State::Pending, Verdict::Expired),
            (Unapplied::TooLate, State::Expired, Verdict::Expired),
            (Unapplied::TooLate, State::Cancelled { at }, Verdict::Unknown),
            (Unapplied::TooLate, State::Failed { at }, Verdict::Unknown),
        ] {
            assert_eq!(Verdict::of_refusal(reason, state), verdict, "{reason:?} {state:?}");
        }
    }
}
