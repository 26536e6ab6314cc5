//! Requests for refunds: fields of the right JSON types become an order that satisfies every rule.

use super::REASON;
use crate::{
    destination::DestinationRequest,
    metadata::Metadata,
    money::Rupiah,
    rules::{Invalid, positive_amount},
};

/// Every bank takes a transfer of this.
const USUAL: Rupiah = Rupiah::new(50_000);

/// The fields of a new refund, of the right JSON types and nothing more.
#[derive(Clone, Default)]
pub struct RefundRequest {
    /// All that is left, without one.
    pub amount: Option<i64>,
    pub reason: Option<String>,
    pub destination: Option<DestinationRequest>,
    pub metadata: Option<Vec<(String, String)>>,
}

/// A refund that satisfies every rule but those about what is left, and whether the bank takes that much.
#[derive(Clone)]
pub struct RefundOrder {
    pub amount: Option<Rupiah>,
    pub reason: String,
    pub destination: Option<DestinationRequest>,
    pub metadata: Option<Metadata>,
}

impl RefundRequest {
    pub fn check(self) -> Result<RefundOrder, Invalid> {
        let amount = self.amount.map(positive_amount).transpose()?;
        if let Some(destination) = &self.destination {
            // Whether the bank takes the amount is judged again, when it is known how much is left.
            destination.clone().check(amount.unwrap_or(USUAL))?;
        }
        Ok(RefundOrder {
            amount,
            reason: REASON.check(self.reason.unwrap_or_default())?,
            destination: self.destination,
            metadata: self.metadata.map(Metadata::check).transpose()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_amount_is_positive_or_left_out_and_a_reason_short() {
        let of = |amount| RefundRequest { amount: Some(amount), ..RefundRequest::default() };
        assert!(RefundRequest::default().check().is_ok_and(|order| order.amount.is_none() && order.reason.is_empty()));
        assert!(of(1).check().is_ok_and(|order| order.amount == Some(Rupiah::new(1))));
        for wrong in [0, -1, i64::MIN, Rupiah::MAX.get() + 1] {
            assert_eq!(of(wrong).check().err().map(|invalid| invalid.field), Some("amount".to_owned()), "{wrong}");
        }
        let long = RefundRequest { reason: Some("x".repeat(256)), ..RefundRequest::default() };
        assert_eq!(long.check().err().map(|invalid| invalid.field), Some("reason".to_owned()));
        for bank in crate::destination::TransferBank::ALL {
            assert!(bank.is_reached_by(USUAL), "{bank:?}");
        }
        let nowhere = RefundRequest { destination: Some(DestinationRequest::default()), ..RefundRequest::default() };
        assert_eq!(nowhere.check().err().map(|invalid| invalid.field), Some("destination.bank".to_owned()));
    }
}
