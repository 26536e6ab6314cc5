//! Money that came for a payment without paying it, on the payment's page: what needs a decision, and what was decided.

use domain::{
    access::Act,
    id::PaymentId,
    money::Rupiah,
    receipt::{Decision, UnappliedReceipt},
    time::Timestamp,
};
use engine::Error;
use i18n_embed_fl::fl;

use crate::{
    page::Page,
    receipts::wording::{decide_url, decided_by, reason},
    words::Words,
};

/// Receipts that the page asks for a decision about, each by itself; the others are counted.
const BANNERS_MOST: usize = 3;

/// A receipt, and who decided about it.
pub(crate) struct Money {
    pub(crate) receipt: UnappliedReceipt,
    pub(crate) by: Option<String>,
}

/// Money that needs a decision.
pub(crate) struct Banner {
    pub(crate) title: String,
    pub(crate) reason: String,
    pub(crate) url: String,
    /// What the link to the receipt is called: only some roles decide.
    pub(crate) act: String,
}

/// One thing that happened with the money.
pub(super) struct Entry {
    pub(super) at: Timestamp,
    pub(super) tone: &'static str,
    pub(super) title: String,
    pub(super) detail: String,
}

/// What was sent for the payment without paying it, and what pays it by a decision; newest first.
pub(super) async fn money_of(page: &Page, id: PaymentId) -> Result<Vec<Money>, Error> {
    let mut money = Vec::new();
    for receipt in page.desk.receipts_of_payment(id).await? {
        let by = match &receipt.decided {
            Some(decided) => decided_by(page, decided).await?,
            None => None,
        };
        money.push(Money { receipt, by });
    }
    Ok(money)
}

/// What needs a decision, the newest of it by itself, and how many others there are.
pub(super) fn banners(page: &Page, money: &[Money], base: &str) -> (Vec<Banner>, Option<String>) {
    let words = page.words();
    let undecided = || money.iter().map(|money| &money.receipt).filter(|receipt| receipt.decided.is_none());
    let banner = |receipt: &UnappliedReceipt| {
        let amount = receipt.receipt.amount.to_string();
        Banner {
            title: fl!(words, "payment-held", amount = amount),
            reason: reason(words, receipt.reason),
            url: decide_url(base, receipt.id),
            act: match page.desk.may(Act::DecideReceipts) {
                true => fl!(words, "payment-held-decide"),
                false => fl!(words, "payment-held-look"),
            },
        }
    };
    let more = undecided().count().saturating_sub(BANNERS_MOST);
    let more = (more > 0).then(|| fl!(words, "payment-held-more", count = more));
    (undecided().take(BANNERS_MOST).map(banner).collect(), more)
}

/// What paid the payment, if that was another amount, which somebody has accepted.
pub(super) fn received_instead(id: PaymentId, money: &[Money]) -> Option<Rupiah> {
    let decisions = money.iter().filter_map(|money| Some((money, money.receipt.decided.as_ref()?.decision)));
    decisions.into_iter().find_map(|(money, decision)| match decision {
        Decision::Accepted { payment_id, difference } if payment_id == id && difference != Rupiah::ZERO => {
            Some(money.receipt.receipt.amount)
        }
        Decision::Accepted { .. } | Decision::Returned => None,
    })
}

/// What happened with one receipt: it came, and somebody decided.
pub(super) fn entries(words: Words, id: PaymentId, money: &Money) -> Vec<Entry> {
    let receipt = &money.receipt;
    let amount = receipt.receipt.amount.to_string();
    let mut entries = Vec::new();
    if receipt.payment_id == id {
        let title = fl!(words, "timeline-held", amount = amount.clone());
        let (at, detail) = (receipt.receipt.received_at, reason(words, receipt.reason));
        entries.push(Entry { at, tone: if receipt.decided.is_some() { "" } else { "wait" }, title, detail });
    }
    let Some(decided) = &receipt.decided else { return entries };
    let (tone, title) = match decided.decision {
        Decision::Accepted { .. } if receipt.payment_id != id => {
            ("good", fl!(words, "timeline-held-from", amount = amount))
        }
        Decision::Accepted { payment_id, .. } if payment_id != id => {
            ("", fl!(words, "timeline-held-assigned", amount = amount))
        }
        Decision::Accepted { .. } => ("good", fl!(words, "timeline-held-accepted", amount = amount)),
        Decision::Returned => ("", fl!(words, "timeline-held-returned", amount = amount)),
    };
    let detail = format!("{}: {}", money.by.clone().unwrap_or_default(), decided.note);
    let detail = detail.trim_start_matches(": ").to_owned();
    entries.push(Entry { at: decided.at, tone, title, detail });
    entries
}
