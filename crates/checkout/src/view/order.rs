//! What pages show of an order, of the bank that takes its money, and of money that came for it.

/// What is being paid for.
pub(crate) struct Order {
    pub(crate) merchant: String,
    /// Direct payments have neither title nor description.
    pub(crate) title: Option<String>,
    pub(crate) description: Option<String>,
    pub(crate) reference: String,
    /// `Rp150.000`.
    pub(crate) amount: String,
    /// `3 × Rp50.000`, where the customer has chosen how many.
    pub(crate) pieces: Option<String>,
}

pub(crate) struct BankRow {
    pub(crate) name: &'static str,
    /// The bank's name in a few letters, in place of a logo, such as `BCA`: banks' logos are their trademarks.
    pub(crate) mark: String,
    /// The CSS class of the mark's colour: a pale shade of a colour that people know the bank by.
    pub(crate) tint: &'static str,
}

/// Money that came for a payment but did not pay it.
pub(crate) struct Unapplied {
    /// `Rp150.000`.
    pub(crate) amount: String,
    pub(crate) standing: UnappliedStanding,
}

/// Why the money did not pay, or what the merchant has done with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum UnappliedStanding {
    TooLate,
    /// It came after the payment had been cancelled.
    Cancelled,
    OtherAmount,
    PaidTwice,
    /// Another payment has paid the link.
    LinkPaid,
    /// It must be looked into.
    Unclear,
    Returned,
    /// The merchant returns it.
    OnItsWay,
    /// The merchant used it for another payment.
    UsedElsewhere,
}

/// When the server looked at the payment's status for the page: a sentence around the time, which the script replaces.
pub(crate) struct Looked {
    pub(crate) before: String,
    /// `21.30.05`.
    pub(crate) time: String,
    /// The same in UTC.
    pub(crate) utc: String,
    pub(crate) after: String,
}
