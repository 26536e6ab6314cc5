//! What it would do to let held money pay a payment.

use std::cmp::Ordering;

use domain::{
    money::Rupiah,
    receipt::{Difference, UnappliedReceipt, Unfit},
};
use engine::ReceiptFit;
use i18n_embed_fl::fl;
use web::page::form::Form;

use super::wording::{difference, unfit};
use crate::words::Words;

/// What letting money pay a payment would do, in rupiah.
pub(crate) struct Effect {
    pub(crate) sentence: String,
    /// What moves in the ledger.
    pub(crate) moves: String,
    pub(crate) received: String,
    pub(crate) due: String,
    /// None where the amounts are the same.
    pub(crate) difference: Option<String>,
    pub(crate) fee: String,
    pub(crate) net: String,
}

/// What it would do to let the money pay the payment, the difference included; or why it cannot.
pub(super) fn effect(words: Words, held: &UnappliedReceipt, fit: &ReceiptFit) -> Result<Effect, String> {
    if let Some(why) = fit.unfit {
        return Err(unfit(words, why, &fit.payment));
    }
    let (received, due) = (held.receipt.amount, fit.payment.terms.amount);
    let (fee, net) = (fit.payment.terms.fee.to_string(), fit.net.to_string());
    let (less, more) = ((due - received).to_string(), (received - due).to_string());
    Ok(Effect {
        sentence: match fit.difference.cmp(&Rupiah::ZERO) {
            Ordering::Less => fl!(words, "receipt-accept-less", amount = less),
            Ordering::Equal => fl!(words, "receipt-accept-paid"),
            Ordering::Greater => fl!(words, "receipt-accept-more", amount = more),
        },
        moves: fl!(words, "receipt-accept-ledger", net = net.clone(), fee = fee.clone()),
        received: received.to_string(),
        due: due.to_string(),
        difference: difference(words, received, due),
        fee,
        net,
    })
}

/// Why the money cannot pay the payment just like that. A difference must be looked at, and accepted, one by one.
pub(super) fn unfit_as_it_is(fit: &ReceiptFit) -> Option<Unfit> {
    fit.unfit.or((fit.difference != Rupiah::ZERO).then_some(Unfit::WrongAmount))
}

/// A form that has shown the difference says so.
pub(super) fn difference_of(form: &Form) -> Difference {
    match form.text("difference") {
        Some("accepted") => Difference::Accepted,
        _ => Difference::Refused,
    }
}
