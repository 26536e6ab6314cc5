//! What tells money of a bank apart where its id does not: ids of banks are unique for an account, a service and a day at best.

use crate::time::Timestamp;

/// What a bank has said of some money besides its id and amount. A bank says more of it in one message than in another. Two
/// messages are about the same money only if everything that both of them say agrees.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MoneyMarks {
    /// Our reference of the code that was paid.
    pub reference: Option<String>,
    /// The bank's reference of the code.
    pub bank_reference: Option<String>,
    /// The number that was paid.
    pub number: Option<String>,
    /// The number that the issuer gave to the transaction.
    pub rrn: Option<String>,
    /// The bank's reference of the transaction.
    pub payment_reference: Option<String>,
    pub paid_at: Option<Timestamp>,
    /// Whether it has left out the amount, so that the amount of the bill stands for it.
    pub lacks_amount: bool,
}

impl MoneyMarks {
    /// Whether `other` says something that this does not.
    pub fn lacks(&self, other: &MoneyMarks) -> bool {
        let texts = |marks: &MoneyMarks| {
            let MoneyMarks { reference, bank_reference, number, rrn, payment_reference, .. } = marks;
            [reference, bank_reference, number, rrn, payment_reference].map(Option::is_some)
        };
        let lacks_text = texts(self).into_iter().zip(texts(other)).any(|(ours, theirs)| !ours && theirs);
        lacks_text || (self.paid_at.is_none() && other.paid_at.is_some())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_that_says_more_is_told_from_one_that_says_the_same() {
        let rrn = MoneyMarks { rrn: Some("1".to_owned()), ..MoneyMarks::default() };
        let both = MoneyMarks { paid_at: Some(Timestamp::from_millis(1)), ..rrn.clone() };
        for (has, other, lacks) in [(&rrn, &both, true), (&both, &rrn, false), (&rrn, &rrn, false)] {
            assert_eq!(has.lacks(other), lacks, "{has:?} {other:?}");
        }
        assert!(MoneyMarks::default().lacks(&rrn));
    }
}
