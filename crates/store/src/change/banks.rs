//! Writes about contracts with banks, what banks asked, and strays.

use std::collections::BTreeMap;

use domain::{
    bank_account::{BankAccount, Credential, CredentialKind},
    bank_difference::DifferenceKey,
    bank_request::BankRequest,
    id::{BankAccountId, CredentialId, PaymentId, ProjectId, StrayId},
    method::Method,
    money::Rupiah,
    stray::{Stray, StrayDecided},
    time::Timestamp,
    undecided::{OpenWord, UndecidedFinding, UndecidedWord},
};

pub enum BankWrite {
    AccountCreated {
        account: BankAccount,
    },
    /// Replaces the settings, and enables or disables the account. Projects that take payments by it get a new version,
    /// so that all nodes notice. Guarded: the account has the version that was read.
    AccountChanged {
        id: BankAccountId,
        version: i64,
        settings: BTreeMap<String, String>,
        enabled: bool,
    },
    /// Replaces what is stored at its stage. Goes with [`BankWrite::AccountChanged`].
    CredentialSet {
        credential: Credential,
        sealed: Option<Vec<u8>>,
    },
    /// The credential that was next is current; the one that was current is gone. Guarded: it is next. Goes with
    /// [`BankWrite::AccountChanged`].
    CredentialPromoted {
        account_id: BankAccountId,
        kind: CredentialKind,
        id: CredentialId,
    },
    /// The project takes payments of the method by this account from now on; by none if there is none.
    Assigned {
        project_id: ProjectId,
        method: Method,
        account_id: Option<BankAccountId>,
    },
    /// Gives a number to a payment. Guarded: the number is new, or its rest was over before `at`.
    NumberTaken {
        account_id: BankAccountId,
        number: String,
        project_id: ProjectId,
        payment_id: PaymentId,
        at: Timestamp,
        free_at: Timestamp,
    },
    /// Guarded: the external id is new on that day, and for the first request to take some money, its receipt id too.
    Requested(BankRequest),
    /// Adds calls to the log of an account, and removes the oldest beyond `keep`. Either all or none of them are proved to be
    /// the bank's or ours; those that are not have a log for themselves.
    Called {
        account_id: BankAccountId,
        calls: Vec<BankCall>,
        keep: i64,
    },
    /// Forgets inquiries from before `before`, at most `most`.
    InquiriesForgotten {
        before: Timestamp,
        most: i64,
    },
    /// Guarded: no stray has its receipt id.
    StrayReceived(Stray),
    /// An operator has read the amount of a stray from the bank's notice. Guarded: it had none, and nobody has decided about it.
    StrayStated {
        id: StrayId,
        amount: Rupiah,
        at: Timestamp,
    },
    /// Guarded: nobody has decided about it, and it has this amount.
    StrayDecided {
        stray: Stray,
        decided: StrayDecided,
    },
    /// Keeps what a bank was told while an outcome was not known. It is to be looked after at once.
    UndecidedSaid(UndecidedWord),
    /// The same about a request that was not committed and never will be: keeps it only if an earlier one has booked the money.
    UndecidedSaidOfBooked(UndecidedWord),
    /// What was found out about such a word, and when it is to be looked after again. Guarded: it was due as it was read.
    UndecidedLookedAfter {
        open: OpenWord,
        finding: Option<UndecidedFinding>,
        due_at: Option<Timestamp>,
    },
    /// How much the bank has of the money of a difference, as it says itself.
    DifferenceAnswered {
        key: DifferenceKey,
        theirs: Rupiah,
    },
}

/// One call between a bank and us, as the log keeps it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BankCall {
    /// Sorts by time.
    pub id: String,
    pub at: Timestamp,
    pub service: i64,
    pub code: String,
    pub latency_ms: i64,
    /// Whether we called the bank.
    pub outbound: bool,
    /// Whether it is ours, or has proved to be the bank's.
    pub proved: bool,
}

impl BankWrite {
    pub(super) fn is_frequent(&self) -> bool {
        match self {
            BankWrite::NumberTaken { .. } | BankWrite::Requested(_) => true,
            BankWrite::AccountCreated { .. }
            | BankWrite::AccountChanged { .. }
            | BankWrite::CredentialSet { .. }
            | BankWrite::CredentialPromoted { .. }
            | BankWrite::Assigned { .. }
            | BankWrite::Called { .. }
            | BankWrite::InquiriesForgotten { .. }
            | BankWrite::StrayReceived(_)
            | BankWrite::StrayStated { .. }
            | BankWrite::StrayDecided { .. }
            | BankWrite::UndecidedSaid(_)
            | BankWrite::UndecidedSaidOfBooked(_)
            | BankWrite::UndecidedLookedAfter { .. }
            | BankWrite::DifferenceAnswered { .. } => false,
        }
    }
}
