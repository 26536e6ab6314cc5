//! Writes about codes that banks issue: attempts, what is still to be asked, what was sent, and what banks say in the end.

use domain::{
    bank_difference::{Difference, DifferenceKey, Reconciliation},
    bank_money::MoneyMarks,
    id::{BankAccountId, OpeningId, PaymentId},
    money::Rupiah,
    opening::{BankCode, BankJob, BankSend, JobKey, MoneySource, Opening},
    receipt::ReceiptKey,
    time::Timestamp,
};

pub enum OpeningWrite {
    /// Guarded: no code of the account has its number.
    Opened {
        opening: Box<Opening>,
        code: BankCode,
    },
    /// The bank is asked for another code. Guarded: the opening has the version that was read.
    Reopened {
        id: OpeningId,
        version: i64,
        account_id: BankAccountId,
        created_at: Timestamp,
        expires_at: Timestamp,
        code: BankCode,
    },
    /// The bank has issued the code, and the payment is there: what was kept about its customer is with the payment now.
    /// Guarded: the opening has the version that was read.
    Issued {
        id: OpeningId,
        version: i64,
        payment_id: PaymentId,
    },
    /// Money has come for a code that we do not have, and it made the payment, likewise. Guarded likewise.
    Paid {
        id: OpeningId,
        version: i64,
        payment_id: PaymentId,
    },
    /// The bank has said no. Guarded likewise.
    Refused {
        id: OpeningId,
        version: i64,
        at: Timestamp,
    },
    /// Nobody waits for the code any more. Guarded likewise.
    Abandoned {
        id: OpeningId,
        version: i64,
        at: Timestamp,
    },
    /// What the bank calls a code, and its number where the bank has chosen it.
    CodeTold {
        account_id: BankAccountId,
        reference: String,
        bank_reference: Option<String>,
        number: Option<String>,
    },
    /// Adds a job. Where it is there already it is due no later than this one, and the node that has its lease does not end it.
    JobQueued(BankJob),
    /// Queues the void of a payment's code, if a bank has issued it.
    VoidQueued {
        payment_id: PaymentId,
        at: Timestamp,
    },
    /// Moves the time at which a job is due, and counts a try. Guarded: it was due at the time that was read.
    JobLeased {
        key: JobKey,
        from: Timestamp,
        to: Timestamp,
    },
    /// Moves the time at which a job is due. Guarded: the lease under which it was done still holds.
    JobPostponed {
        key: JobKey,
        from: Timestamp,
        to: Timestamp,
        outcome: String,
    },
    /// Nothing more is to be asked. The job may be done already.
    JobDone {
        key: JobKey,
        outcome: String,
    },
    /// The same for the node that did the job; nothing if it is due at another time by now.
    JobEnded {
        key: JobKey,
        leased_until: Timestamp,
        outcome: String,
    },
    /// Guarded: the external id is new on that day.
    Sent(BankSend),
    Answered {
        account_id: BankAccountId,
        day: i64,
        external_id: String,
        code: String,
        at: Timestamp,
    },
    /// Forgets calls from before a day, at most `most`.
    SendsForgotten {
        before: i64,
        most: i64,
    },
    /// Forgets customers whose code was refused or abandoned and whose opening is older than this id, at most `most`.
    AttemptsForgotten {
        before: OpeningId,
        most: i64,
    },
    /// Reserves external ids that are numbers. Guarded: the counter is at `from`.
    SerialsReserved {
        account_id: BankAccountId,
        day: i64,
        from: i64,
        upto: i64,
    },
    /// Guarded: no money of the account has its receipt id.
    MoneyTold {
        receipt: ReceiptKey,
        /// The bank's own id of it, which other money may have too.
        bank_id: String,
        marks: MoneyMarks,
        source: MoneySource,
        amount: Rupiah,
        /// By the bank's clock, where it says when.
        paid_at: Timestamp,
        at: Timestamp,
    },
    /// The bank has said more of money that it told us of before. What it said before stays.
    MoneyMarked {
        receipt: ReceiptKey,
        marks: MoneyMarks,
    },
    /// A notification has come about money that was booked by an answer or a report of the bank. Its time is what later
    /// notifications are compared with. Guarded: no notification was the first meanwhile.
    MoneyNotified {
        receipt: ReceiptKey,
        paid_at: Timestamp,
    },
    /// The bank has named money that it told of without an id. Guarded: it has given it no other name meanwhile.
    MoneyNamed {
        receipt: ReceiptKey,
        /// What stood in place of the bank's id.
        from: String,
        bank_id: String,
    },
    /// Money has come for a code of the opening. Guarded: the opening has this version, so that of two messages about money for it,
    /// the one that is decided about later knows of the other.
    MoneyCame {
        id: OpeningId,
        version: i64,
    },
    /// Takes the comparing of an account's days for this node. Guarded: no other node has it at `now`.
    ComparisonLeased {
        account_id: BankAccountId,
        now: Timestamp,
        until: Timestamp,
    },
    /// Keeps it. Guarded: no other node has taken it over.
    ComparisonRenewed {
        account_id: BankAccountId,
        from: Timestamp,
        until: Timestamp,
    },
    /// Gives it up, unless another node has taken it over. What failed is tried again no sooner than `retry_at`.
    ComparisonEnded {
        account_id: BankAccountId,
        from: Timestamp,
        retry_at: Timestamp,
    },
    Reconciled(Reconciliation),
    /// Adds what a person must look at, unless it is there already.
    DifferenceFound(Difference),
    /// Guarded: nobody has settled it.
    DifferenceSettled {
        key: DifferenceKey,
        at: Timestamp,
        note: String,
    },
}

impl OpeningWrite {
    /// A request may wait for the code on another node.
    pub(super) fn is_awaited(&self) -> bool {
        match self {
            OpeningWrite::Issued { .. }
            | OpeningWrite::Paid { .. }
            | OpeningWrite::Refused { .. }
            | OpeningWrite::Abandoned { .. } => true,
            OpeningWrite::Opened { .. }
            | OpeningWrite::Reopened { .. }
            | OpeningWrite::CodeTold { .. }
            | OpeningWrite::JobQueued(_)
            | OpeningWrite::VoidQueued { .. }
            | OpeningWrite::JobLeased { .. }
            | OpeningWrite::JobPostponed { .. }
            | OpeningWrite::JobDone { .. }
            | OpeningWrite::JobEnded { .. }
            | OpeningWrite::Sent(_)
            | OpeningWrite::Answered { .. }
            | OpeningWrite::SendsForgotten { .. }
            | OpeningWrite::AttemptsForgotten { .. }
            | OpeningWrite::SerialsReserved { .. }
            | OpeningWrite::MoneyTold { .. }
            | OpeningWrite::MoneyMarked { .. }
            | OpeningWrite::MoneyNotified { .. }
            | OpeningWrite::MoneyNamed { .. }
            | OpeningWrite::MoneyCame { .. }
            | OpeningWrite::ComparisonLeased { .. }
            | OpeningWrite::ComparisonRenewed { .. }
            | OpeningWrite::ComparisonEnded { .. }
            | OpeningWrite::Reconciled(_)
            | OpeningWrite::DifferenceFound(_)
            | OpeningWrite::DifferenceSettled { .. } => false,
        }
    }

    pub(super) fn is_frequent(&self) -> bool {
        match self {
            OpeningWrite::Opened { opening, .. } => opening.attempt.is_none(),
            OpeningWrite::Issued { .. }
            | OpeningWrite::CodeTold { .. }
            | OpeningWrite::JobQueued(_)
            | OpeningWrite::JobDone { .. }
            | OpeningWrite::JobEnded { .. }
            | OpeningWrite::Sent(_)
            | OpeningWrite::Answered { .. } => true,
            // A payment that money made is written and moved in one change, which a batch cannot do.
            OpeningWrite::Paid { .. }
            | OpeningWrite::Reopened { .. }
            | OpeningWrite::Refused { .. }
            | OpeningWrite::Abandoned { .. }
            | OpeningWrite::VoidQueued { .. }
            | OpeningWrite::JobLeased { .. }
            | OpeningWrite::JobPostponed { .. }
            | OpeningWrite::SendsForgotten { .. }
            | OpeningWrite::AttemptsForgotten { .. }
            | OpeningWrite::SerialsReserved { .. }
            | OpeningWrite::MoneyTold { .. }
            | OpeningWrite::MoneyMarked { .. }
            | OpeningWrite::MoneyNotified { .. }
            | OpeningWrite::MoneyNamed { .. }
            | OpeningWrite::MoneyCame { .. }
            | OpeningWrite::ComparisonLeased { .. }
            | OpeningWrite::ComparisonRenewed { .. }
            | OpeningWrite::ComparisonEnded { .. }
            | OpeningWrite::Reconciled(_)
            | OpeningWrite::DifferenceFound(_)
            | OpeningWrite::DifferenceSettled { .. } => false,
        }
    }
}
