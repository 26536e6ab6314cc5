//! Codes that a bank issues for us, and what it says about them: the words in which calls, notifications and reports are
//! told to the engine.

use domain::{bank_money::MoneyMarks, money::Rupiah, time::Timestamp};

/// What kind of code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CodeKind {
    Qr,
    Va,
}

/// A code that the bank shall issue.
#[derive(Clone, Copy, Debug)]
pub struct CodeOrder<'a> {
    pub kind: CodeKind,
    /// Ours: letters and digits, at most 25.
    pub reference: &'a str,
    /// The whole number of a virtual account, without padding; none where the bank chooses it.
    pub number: Option<&'a str>,
    /// Whose bill it is, as the bank shows it. Any text: it is made plain and cut.
    pub name: &'a str,
    pub amount: Rupiah,
    pub expires_at: Timestamp,
}

/// What the bank has issued, checked against the order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IssuedCode {
    /// The content of a QR, or the whole number of a virtual account without padding.
    pub code: String,
    /// What the bank calls it.
    pub bank_reference: Option<String>,
}

/// A code that we ask about or want voided.
#[derive(Clone, Copy, Debug)]
pub struct CodeAsked<'a> {
    pub kind: CodeKind,
    pub reference: &'a str,
    pub bank_reference: Option<&'a str>,
    /// The whole number of a virtual account.
    pub number: Option<&'a str>,
    pub amount: Rupiah,
    pub created_at: Timestamp,
}

/// What the bank says about a code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Standing {
    /// The bank knows no such code.
    NotFound,
    /// It can be paid, or could have been until it expired; with the code where the answer has it.
    Unpaid {
        code: Option<IssuedCode>,
    },
    /// A customer is paying.
    Processing,
    Paid(BankMoney),
    /// Cancelled, failed or voided: nobody can pay it.
    Ended,
    /// Paid and given back: a matter for a person.
    Refunded,
    /// The bank does not know yet, or says too little to book by.
    AskAgain,
}

/// Money that the bank has taken for us. Notification, query and report of one transaction give equal ones, but for marks that one
/// of them leaves out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BankMoney {
    /// The bank's id of it. Where the bank has told none, [`BankMoney::is_unnamed`] says so.
    pub receipt_id: String,
    pub amount: Rupiah,
    pub paid_at: Option<Timestamp>,
    /// What else identifies it.
    pub marks: MoneyMarks,
}

/// Why a notice of money cannot be booked by what it says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unreadable {
    /// It leaves out the amount, the id or the status: the bank can be asked for them.
    Lacking,
    /// It has an amount, an id or a status that cannot be read, or names nothing at all.
    Malformed,
}

/// No bank's id of money begins so.
const UNNAMED: &str = "unnamed:";

impl BankMoney {
    /// What stands in place of the bank's id where its message has none: the number that was paid to, and when.
    pub(super) fn unnamed_id(number: &str, paid_at: Option<Timestamp>) -> String {
        let seconds = paid_at.map(|at| (at.as_millis() / 1000).to_string()).unwrap_or_default();
        format!("{UNNAMED}{}:{seconds}", number.trim_start_matches(['0', ' ']))
    }

    /// The same, where the bank has told no amount and that of the bill stands for it.
    pub(super) fn without_amount(self) -> BankMoney {
        BankMoney { marks: MoneyMarks { lacks_amount: true, ..self.marks }, ..self }
    }

    /// Whether the bank has told no id of the money.
    pub fn is_unnamed(&self) -> bool {
        self.receipt_id.starts_with(UNNAMED)
    }
}

/// How a void ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Voided {
    /// Nobody can pay it any more.
    Done,
    /// The bank knows no such code.
    NotFound,
    /// Too late, it is paid: ask for the money.
    Paid,
}

/// Which code a bank speaks of.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct About {
    /// Ours.
    pub reference: Option<String>,
    pub bank_reference: Option<String>,
    /// The whole number of a virtual account, without padding.
    pub number: Option<String>,
}

/// A notification, understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotificationRead {
    /// Empty where the notice names nothing that can be read.
    pub about: About,
    pub standing: Standing,
    /// Where it speaks of money, or may do so, and nothing can be booked by it.
    pub unreadable: Option<Unreadable>,
}

/// One transaction of a report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReportLine {
    pub about: About,
    pub money: BankMoney,
    /// What the bank keeps, where it says so.
    pub fee: Option<Rupiah>,
}

/// What a bank tells us of, by its service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotificationKind {
    /// 25, where the bank hosts the number: the money is taken already.
    VaPayment,
    /// 34
    VaNotify,
    /// 52
    QrNotify,
    /// 56
    DebitNotify,
}

impl NotificationKind {
    /// The two digits of the service inside of response codes.
    pub const fn code(self) -> &'static str {
        match self {
            NotificationKind::VaPayment => "25",
            NotificationKind::VaNotify => "34",
            NotificationKind::QrNotify => "52",
            NotificationKind::DebitNotify => "56",
        }
    }
}
