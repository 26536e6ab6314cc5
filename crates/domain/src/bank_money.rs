//! Money of a bank: what tells it apart where its id does not, since ids of banks are unique for an account, a service and a day at
//! best; and when it counts as paid.

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

/// The time in which a code can be paid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PayableTime {
    /// When the code was given out, or asked for.
    pub from: Timestamp,
    pub expires_at: Timestamp,
}

impl PayableTime {
    /// When money counts as paid that was paid at `stated` by the bank's clock. Nobody can pay a code before there is one, so an
    /// earlier time says that the bank's clock is behind ours. What the bank says decides whether the money is late; but no payment
    /// in time is dated ahead of our clock.
    pub fn paid_at(self, stated: Timestamp, now: Timestamp) -> Timestamp {
        let paid_at = stated.max(self.from);
        if paid_at > self.expires_at { paid_at } else { paid_at.min(now.max(self.from)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn money_counts_as_paid_neither_before_its_code_nor_in_our_future_unless_it_is_late() {
        let at = Timestamp::from_millis;
        let payable = PayableTime { from: at(100), expires_at: at(200) };
        for (stated, now, paid_at) in [
            (150, 160, 150),
            (99, 160, 100),
            (170, 160, 160),
            (200, 160, 160),
            (201, 160, 201),
            (150, 300, 150),
            (201, 300, 201),
            // Our own clock was set back since the code was given out.
            (150, 90, 100),
        ] {
            assert_eq!(payable.paid_at(at(stated), at(now)), at(paid_at), "stated {stated}, now {now}");
        }
    }

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
