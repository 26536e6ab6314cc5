//! The ways in which the bank fails, and the queues in which they wait for a call.

use std::{
    collections::{HashMap, VecDeque},
    time::Duration,
};

use crate::prepared::Service;

/// How many faults wait in one queue.
const FAULTS_MOST: usize = 10_000;

/// How the bank fails at one call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The right answer, after a while. The work is done at once.
    Late(Duration),
    /// Nothing is done until `BankServices::release`, and then it is done even if the caller has hung up.
    HeldBefore,
    /// The work is done at once and answered after `BankServices::release`.
    HeldAfter,
    /// The work is done and the connection closed without an answer.
    LostAfter,
    /// The connection is closed and nothing is done.
    LostBefore,
    /// An HTTP status with the response code that belongs to it, and nothing done: 500, 503, 202, 429, …
    Status(u16),
    /// The same, though the work is done.
    StatusAfter(u16),
    /// An HTTP status and the case of its response code, and nothing done: `Case(404, "01")`.
    Case(u16, &'static str),
    /// The same, though the work is done: `CaseAfter(409, "01")`.
    CaseAfter(u16, &'static str),
    /// An inquiry about an account says this name.
    Name(&'static str),
    /// The right answer with another response code.
    WrongCode(String),
    /// The right answer with another HTTP status.
    WrongStatus(u16),
    /// `expiresIn` of a token as a number.
    NumericExpiry,
    /// A proxy sends the call twice, and the caller gets the second answer.
    Duplicate,
    /// The answer's JSON is cut in half.
    BrokenJson,
    /// The answer has white space of all kinds between its parts.
    WhiteSpace,
    /// Texts of digits, such as codes and amounts, come as bare numbers.
    BareNumbers,
    /// The right answer without these members, wherever they stand in it.
    Lacks(&'static [&'static str]),
    /// The bank's clock is this many milliseconds ahead during the call.
    SkewedClock(i64),
    /// The bank forgets the token that the call carries: 401xx01.
    TokenDies,
    /// The QR that is issued is wrong.
    Qr(QrFault),
    /// The right answer, with a member that makes it this many bytes long.
    Long(usize),
    /// The right answer, a byte at a time with a pause before each.
    Slow(Duration),
    /// The right answer with another content type.
    ContentType(&'static str),
    /// A redirect to another address, and nothing done.
    Redirect(String),
    /// A question about a code is answered with this `latestTransactionStatus`, true or not.
    Says(&'static str),
    /// The code is paid and the merchant told of it before the order is answered.
    PaidFirst,
}

/// What is wrong with a QR.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum QrFault {
    /// It is for another amount.
    OtherAmount(i64),
    /// The person who scans it is to type the amount.
    NoAmount,
    BadCrc,
    /// It says that it may be paid again and again.
    Static,
    /// It is in dollars.
    OtherCurrency,
}

impl Fault {
    /// Whether the bank does the work that it was called for.
    pub(super) fn is_work_done(&self) -> bool {
        !matches!(self, Fault::LostBefore | Fault::Status(_) | Fault::Case(..) | Fault::Redirect(_))
    }
}

/// The faults that wait for a call.
#[derive(Default)]
pub(super) struct Faults {
    of_any: VecDeque<Fault>,
    of_service: HashMap<Service, VecDeque<Fault>>,
    of_every: HashMap<Service, Fault>,
}

impl Faults {
    pub(super) fn push(&mut self, service: Option<Service>, fault: Fault) {
        let queue = match service {
            Some(service) => self.of_service.entry(service).or_default(),
            None => &mut self.of_any,
        };
        assert!(queue.len() < FAULTS_MOST, "at most {FAULTS_MOST} faults wait");
        queue.push_back(fault);
    }

    pub(super) fn set_every(&mut self, service: Service, fault: Option<Fault>) {
        match fault {
            Some(fault) => self.of_every.insert(service, fault),
            None => self.of_every.remove(&service),
        };
    }

    /// The fault of a call: the next of its service, else the next of all, else the one that its service always has.
    pub(super) fn take(&mut self, service: Option<Service>) -> Option<Fault> {
        let of_service = service.and_then(|service| self.of_service.get_mut(&service)?.pop_front());
        let of_every = || self.of_every.get(&service?).cloned();
        of_service.or_else(|| self.of_any.pop_front()).or_else(of_every)
    }
}
