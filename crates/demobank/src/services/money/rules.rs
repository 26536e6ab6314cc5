//! What an operator of the bank sets for one merchant, for as long as it is set.

/// The knobs of a merchant's money. The default is a bank that is open, without limits of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MoneyRules {
    /// No transfers and no refunds now: 403xx06.
    pub is_cut_off: bool,
    /// The least and the most of one transfer, beside those of the service: 403xx02.
    pub amounts: (i64, i64),
    /// The most of all transfers of a Jakarta day together: 403xx23.
    pub day_most: i64,
    /// The most transfers of a Jakarta day: 403xx04.
    pub day_count_most: usize,
    /// 36 does not find a transfer for so long, though it was carried out, and 14 shows it.
    pub hidden_ms: i64,
    /// How long 22 and 23 take.
    pub clearing_ms: i64,
    /// So long after a transfer by 22 or 23 was done its money comes back; none: it stays.
    pub clearing_returns_ms: Option<i64>,
    /// How many lines 14 tells at once, but never half of a second's.
    pub statement_lines: usize,
    /// 14 tells a remark in lines of so many characters, each in a member of its own: `remark`, `remark2` and so on.
    pub remark_line: usize,
    pub refunds: RefundRule,
}

/// Whether payments by QR can be given back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RefundRule {
    #[default]
    Allowed,
    /// The payer's bank does not do it: 405xx01.
    Unsupported,
    /// The time for it is over, or the money has been settled: 403xx15.
    Over,
}

impl Default for MoneyRules {
    fn default() -> MoneyRules {
        MoneyRules {
            is_cut_off: false,
            amounts: (1, i64::MAX),
            day_most: i64::MAX,
            day_count_most: usize::MAX,
            hidden_ms: 0,
            clearing_ms: 60_000,
            clearing_returns_ms: None,
            statement_lines: 500,
            remark_line: usize::MAX,
            refunds: RefundRule::Allowed,
        }
    }
}
