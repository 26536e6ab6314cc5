//! What the pages of a claim link share: `/r/<token>`, on which a customer says where money that comes back shall go.

/// What is given back.
pub(crate) struct Returning {
    pub(crate) merchant: String,
    /// `Rp150.000`.
    pub(crate) amount: String,
    /// Why, in the merchant's words.
    pub(crate) reason: Option<String>,
    /// What the payment was for; payments without a link have no title.
    pub(crate) title: Option<String>,
    pub(crate) reference: String,
}

/// A bank account, as far as a page shows it.
pub(crate) struct AccountRow {
    pub(crate) bank: &'static str,
    /// In groups of four digits, or the last four of them.
    pub(crate) number: String,
}
