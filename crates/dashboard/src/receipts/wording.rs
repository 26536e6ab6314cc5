//! What pages say about a receipt: why its money pays nothing, and what was decided.

use domain::receipt::{Decision, ReceiptKey, Unapplied, UnappliedReceipt};
use i18n_embed_fl::fl;
use url::form_urlencoded::Serializer;
use web::page::moment::Moment;

use crate::{labels::Badge, page::PublicPage, words::Words};

/// A decision that was taken.
pub(crate) struct TakenDecision {
    pub(crate) badge: Badge,
    pub(crate) note: String,
    pub(crate) at: Moment,
}

/// The page on which a member decides about a receipt.
pub(crate) fn decide_url(base: &str, key: &ReceiptKey) -> String {
    let mut query = Serializer::new(String::new());
    query.append_pair("provider", &key.provider).append_pair("id", &key.id);
    format!("{base}/balance/receipts/decide?{}", query.finish())
}

/// Why money pays nothing, in a sentence.
pub(crate) fn reason(words: Words, reason: Unapplied) -> String {
    match reason {
        Unapplied::WrongAmount => fl!(words, "receipt-wrong-amount"),
        Unapplied::AlreadyPaid => fl!(words, "receipt-already-paid"),
        Unapplied::LinkClaimed => fl!(words, "receipt-link-claimed"),
        Unapplied::TooLate => fl!(words, "receipt-too-late"),
        Unapplied::ReceiptReused => fl!(words, "receipt-reused"),
    }
}

/// The decision about a receipt, if there is one.
pub(crate) fn taken_decision(page: &PublicPage, receipt: &UnappliedReceipt) -> Option<TakenDecision> {
    let (words, decided) = (page.words(), receipt.decided.as_ref()?);
    let badge = match decided.decision {
        Decision::Accepted => Badge { status: "good", text: fl!(words, "receipt-accepted") },
        Decision::Returned => Badge { status: "off", text: fl!(words, "receipt-returned") },
    };
    Some(TakenDecision { badge, note: decided.note.clone(), at: page.short_moment(decided.at) })
}
