//! The ten ledger accounts of a merchant, kept by hand as the rules are written down (docs/contract.md, decisions §9), by nothing
//! of the product: what a walk through refunds compares the product with. Each sentence of the rules is a few lines here.

use std::collections::BTreeMap;

/// The accounts by their names in the ledger. In these walks nothing is paid out, so three of them stay empty.
const ACCOUNTS: [&str; 10] = [
    "available",
    "clearing",
    "fees",
    "paid_out",
    "paying_out",
    "pending",
    "refunded",
    "refunding",
    "settled_directly",
    "unapplied",
];
/// How long the sandbox takes for a refund, and after how long one comes back whose amount says so.
const ON_ITS_WAY_MS: i64 = 2_000;
const COMES_BACK_MS: i64 = 10_000;

/// A payment.
pub(crate) struct Sale {
    pub(crate) amount: i64,
    pub(crate) fee: i64,
    pub(crate) is_qris: bool,
    pub(crate) expires_at: i64,
    /// The money that paid it.
    pub(crate) received: Option<i64>,
    is_settled: bool,
}

/// Money that could not be applied to its payment.
#[derive(Clone, Copy)]
pub(crate) struct Held {
    pub(crate) sale: usize,
    pub(crate) amount: i64,
    pub(crate) is_open: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    Sale(usize),
    Held(usize),
}

/// How a refund stands; with when the sandbox does something next, if it does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Standing {
    NeedsAccount,
    OnItsWay(Option<i64>),
    Succeeded(Option<i64>),
    Failed,
    Cancelled,
    Returned,
}

impl Standing {
    /// As the API calls it.
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Standing::NeedsAccount => "requires_action",
            Standing::OnItsWay(_) => "pending",
            Standing::Succeeded(_) => "succeeded",
            Standing::Failed => "failed",
            Standing::Cancelled => "cancelled",
            Standing::Returned => "returned",
        }
    }

    /// Whether its money is not back where it was taken from.
    const fn is_live(self) -> bool {
        matches!(self, Standing::NeedsAccount | Standing::OnItsWay(_) | Standing::Succeeded(_))
    }
}

pub(crate) struct Back {
    pub(crate) source: Source,
    pub(crate) amount: i64,
    pub(crate) standing: Standing,
    from_pending: i64,
    /// How much of what it took from `available` was there only as the fee of its payment.
    from_fee: i64,
    fee_returned: i64,
}

/// Why a refund is not made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoRefund {
    /// More than was ever received: the request is wrong.
    AboveReceived,
    /// There is no room for it now.
    NoRoom,
}

#[derive(Default)]
pub(crate) struct TenAccounts {
    sums: BTreeMap<&'static str, i64>,
    pub(crate) returns_fee: bool,
    pub(crate) sales: Vec<Sale>,
    pub(crate) held: Vec<Held>,
    pub(crate) refunds: Vec<Back>,
}

impl TenAccounts {
    /// What each account holds.
    pub(crate) fn all(&self) -> BTreeMap<String, i64> {
        ACCOUNTS.into_iter().map(|account| (account.to_owned(), self.holds(account))).collect()
    }

    pub(crate) fn holds(&self, account: &str) -> i64 {
        self.sums.get(account).copied().unwrap_or_default()
    }

    fn moves(&mut self, from: &'static str, to: &'static str, amount: i64) {
        *self.sums.entry(from).or_default() -= amount;
        *self.sums.entry(to).or_default() += amount;
    }

    /// A payment that nobody has paid yet.
    pub(crate) fn offers(&mut self, sale: (i64, bool), expires_at: i64) {
        let (amount, is_qris) = sale;
        // 0.7 % by QRIS, rounded half up, and Rp4,000 by virtual account.
        let fee = if is_qris { rounded(amount * 7, 1_000) } else { amount.min(4_000) };
        self.sales.push(Sale { amount, fee, is_qris, expires_at, received: None, is_settled: false });
    }

    /// Money comes for a payment: in full, in time and for the first time it pays; else it is held.
    pub(crate) fn comes(&mut self, index: usize, amount: i64, paid_at: i64) {
        let sale = &mut self.sales[index];
        if amount == sale.amount && sale.received.is_none() && paid_at <= sale.expires_at {
            sale.received = Some(amount);
            let fee = sale.fee;
            self.moves("clearing", "pending", amount - fee);
            self.moves("clearing", "fees", fee);
        } else {
            self.moves("clearing", "unapplied", amount);
            self.held.push(Held { sale: index, amount, is_open: true });
        }
    }

    /// Somebody decides that held money pays its payment after all. Whether that is possible.
    pub(crate) fn accepts(&mut self, index: usize) -> bool {
        let Held { sale, amount, is_open } = self.held[index];
        let sale = &mut self.sales[sale];
        if !is_open || sale.received.is_some() || amount < sale.fee {
            return false;
        }
        sale.received = Some(amount);
        let fee = sale.fee;
        self.held[index].is_open = false;
        self.moves("unapplied", "pending", amount - fee);
        self.moves("unapplied", "fees", fee);
        true
    }

    /// Somebody gives held money back outside of the product. Whether that is possible.
    pub(crate) fn hands_back(&mut self, index: usize) -> bool {
        let Held { amount, is_open, .. } = self.held[index];
        if is_open {
            self.held[index].is_open = false;
            self.moves("unapplied", "clearing", amount);
        }
        is_open
    }

    /// Held money is sent to an account, by a refund of its own. Whether that is possible.
    pub(crate) fn sends_back(&mut self, index: usize, now: i64) -> bool {
        let Held { amount, is_open, .. } = self.held[index];
        if is_open {
            self.held[index].is_open = false;
            self.moves("unapplied", "refunding", amount);
            let standing = on_its_way(amount, now);
            let source = Source::Held(index);
            self.refunds.push(Back { source, amount, standing, from_pending: 0, from_fee: 0, fee_returned: 0 });
        }
        is_open
    }

    fn live_of(&self, sale: usize) -> impl Iterator<Item = &Back> {
        self.refunds.iter().filter(move |back| back.source == Source::Sale(sale) && back.standing.is_live())
    }

    /// What can still be given back of a payment.
    pub(crate) fn left(&self, sale: usize) -> i64 {
        self.sales[sale].received.unwrap_or_default() - self.live_of(sale).map(|back| back.amount).sum::<i64>()
    }

    fn own_pending(&self, index: usize) -> i64 {
        let sale = &self.sales[index];
        match sale.received {
            Some(received) if !sale.is_settled => {
                received - sale.fee - self.live_of(index).map(|back| back.from_pending).sum::<i64>()
            }
            _ => 0,
        }
    }

    /// A payment's money is given back; without an amount, all that is left. It covers: what is pending of the payment itself, what
    /// is available, and what of its fee was neither used so nor returned.
    pub(crate) fn gives_back(
        &mut self,
        sale: usize,
        amount: Option<i64>,
        has_account: bool,
        now: i64,
    ) -> Result<i64, NoRefund> {
        let received = self.sales[sale].received.ok_or(NoRefund::NoRoom)?;
        let left = self.left(sale);
        let amount = amount.unwrap_or(left);
        if amount > received {
            return Err(NoRefund::AboveReceived);
        }
        let used: i64 = self.live_of(sale).map(|back| back.from_fee + back.fee_returned).sum();
        let (available, own_pending) = (self.holds("available").max(0), self.own_pending(sale));
        let kept_fee = (self.sales[sale].fee - used).max(0);
        if left == 0 || amount > left || amount > own_pending + available + kept_fee {
            return Err(NoRefund::NoRoom);
        }
        let from_pending = amount.min(own_pending);
        let from_available = amount - from_pending;
        let from_fee = (from_available - available).max(0);
        self.moves("pending", "refunding", from_pending);
        self.moves("available", "refunding", from_available);
        let goes_by_code = self.sales[sale].is_qris && amount % 1_000 != 902;
        let standing = if goes_by_code || has_account { on_its_way(amount, now) } else { Standing::NeedsAccount };
        let source = Source::Sale(sale);
        self.refunds.push(Back { source, amount, standing, from_pending, from_fee, fee_returned: 0 });
        Ok(amount)
    }

    /// The bank says what became of a refund. Whether that can be.
    pub(crate) fn ends(&mut self, index: usize, word: &str, now: i64) -> bool {
        let Back { standing, amount, source, .. } = self.refunds[index];
        match (standing, word) {
            (standing, word) if standing.word() == word => {}
            (Standing::OnItsWay(_), "succeeded") => {
                let fee = self.fee_due(source, amount);
                let comes_back = (amount % 1_000 == 904).then_some(now + COMES_BACK_MS);
                let back = &mut self.refunds[index];
                (back.standing, back.fee_returned) = (Standing::Succeeded(comes_back), fee);
                self.moves("refunding", "refunded", amount);
                self.moves("fees", "available", fee);
            }
            (Standing::OnItsWay(_), "failed") => self.releases(index, "refunding", Standing::Failed),
            (Standing::Succeeded(_), "returned") => {
                let fee = std::mem::take(&mut self.refunds[index].fee_returned);
                self.moves("available", "fees", fee);
                self.releases(index, "refunded", Standing::Returned);
            }
            _ => return false,
        }
        true
    }

    /// The merchant does not want it any more. Whether that is possible.
    pub(crate) fn cancels(&mut self, index: usize) -> bool {
        let is_unfinished = matches!(self.refunds[index].standing, Standing::NeedsAccount | Standing::OnItsWay(_));
        if is_unfinished {
            self.releases(index, "refunding", Standing::Cancelled);
        }
        is_unfinished
    }

    /// The money goes back where it came from; what was pending of a payment that has settled meanwhile is available.
    fn releases(&mut self, index: usize, from: &'static str, standing: Standing) {
        let Back { source, amount, from_pending, .. } = self.refunds[index];
        self.refunds[index].standing = standing;
        match source {
            Source::Held(held) => {
                self.held[held].is_open = true;
                self.moves(from, "unapplied", amount);
            }
            Source::Sale(sale) => {
                let to_pending = if self.sales[sale].is_settled { 0 } else { from_pending };
                self.moves(from, "pending", to_pending);
                self.moves(from, "available", amount - to_pending);
            }
        }
    }

    /// How much of a payment's fee its merchant gets back with one more refund: all in all the part of the fee that is the refunded
    /// part of the money.
    fn fee_due(&self, source: Source, amount: i64) -> i64 {
        let Source::Sale(sale) = source else { return 0 };
        if !self.returns_fee {
            return 0;
        }
        let done = self.live_of(sale).filter(|back| matches!(back.standing, Standing::Succeeded(_)));
        let (gone, returned) =
            done.fold((amount, 0), |(gone, fee), back| (gone + back.amount, fee + back.fee_returned));
        let (fee, received) = (self.sales[sale].fee, self.sales[sale].received.unwrap_or(1));
        (rounded(fee * gone, received) - returned).max(0)
    }

    /// Every payment settles that has not: what is left of it becomes available.
    pub(crate) fn settles(&mut self) {
        for index in 0..self.sales.len() {
            let left = self.own_pending(index);
            if self.sales[index].received.is_some() && !self.sales[index].is_settled {
                self.sales[index].is_settled = true;
                self.moves("pending", "available", left);
            }
        }
    }

    /// The sandbox does what is due, the oldest first: the last three digits of an amount say what.
    pub(crate) fn passes(&mut self, now: i64) {
        let due = |(index, back): (usize, &Back)| match back.standing {
            Standing::OnItsWay(Some(at)) | Standing::Succeeded(Some(at)) if at <= now => Some((at, index)),
            _ => None,
        };
        let mut due: Vec<_> = self.refunds.iter().enumerate().filter_map(due).collect();
        due.sort_unstable();
        for (_, index) in due {
            let back = &self.refunds[index];
            let word = match back.standing {
                Standing::Succeeded(_) => "returned",
                _ if back.amount % 1_000 == 901 => "failed",
                _ => "succeeded",
            };
            self.ends(index, word, now);
        }
    }
}

fn on_its_way(amount: i64, now: i64) -> Standing {
    Standing::OnItsWay((amount % 1_000 != 903).then_some(now + ON_ITS_WAY_MS))
}

/// A quotient, rounded half up.
const fn rounded(of: i64, by: i64) -> i64 {
    let rest = of % by;
    of / by + if 2 * rest >= by { 1 } else { 0 }
}
