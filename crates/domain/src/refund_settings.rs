//! What a project has set about refunds, and who takes part in one.

use crate::{
    audit::Actor,
    id::{KeyId, UserId},
    money::Rupiah,
};

/// Who asked for a refund, typed its destination, approved it or said how it ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Party {
    User(UserId),
    Key(KeyId),
    /// The operator, by a command.
    CommandLine,
    /// The customer, on the claim page.
    Customer,
}

const COMMAND_LINE: &str = "command-line";
const CUSTOMER: &str = "customer";

impl Party {
    pub const fn of(actor: &Actor) -> Party {
        match actor {
            Actor::User { id, .. } => Party::User(*id),
            Actor::Key(id) => Party::Key(*id),
            Actor::CommandLine => Party::CommandLine,
            Actor::Stranger { .. } => Party::Customer,
        }
    }

    pub fn parse(text: &str) -> Option<Party> {
        match text {
            COMMAND_LINE => Some(Party::CommandLine),
            CUSTOMER => Some(Party::Customer),
            id => id.parse().map(Party::User).or_else(|_| id.parse().map(Party::Key)).ok(),
        }
    }
}

impl std::fmt::Display for Party {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Party::User(id) => id.fmt(formatter),
            Party::Key(id) => id.fmt(formatter),
            Party::CommandLine => formatter.write_str(COMMAND_LINE),
            Party::Customer => formatter.write_str(CUSTOMER),
        }
    }
}

/// What a project has set about refunds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RefundSettings {
    /// Refunds above this amount wait for an approval; none where none do.
    pub approval_above: Option<Rupiah>,
    /// Whether a destination that was typed with a key waits for an approval. Without a choice it does in production, and in the
    /// sandbox it does not.
    pub key_destination_needs_approval: Option<bool>,
    /// Whether the fee of a refunded payment is given back to the merchant.
    pub returns_fee: bool,
}

impl RefundSettings {
    /// Whether a refund of this amount waits for an approval once it is known where it goes, as `typed_by` has said.
    pub fn needs_approval(self, amount: Rupiah, typed_by: Option<Party>, is_production: bool) -> bool {
        let is_large = self.approval_above.is_some_and(|above| amount > above);
        let by_key = matches!(typed_by, Some(Party::Key(_)));
        is_large || (by_key && self.key_destination_needs_approval.unwrap_or(is_production))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{id::mint, time::Timestamp};

    #[test]
    fn a_party_is_read_back_by_its_text() {
        let now = Timestamp::from_millis(1);
        for party in
            [Party::User(mint(now, [1; 10])), Party::Key(mint(now, [2; 10])), Party::CommandLine, Party::Customer]
        {
            assert_eq!(Party::parse(&party.to_string()), Some(party));
        }
        assert_eq!(Party::parse("pay_x"), None);
    }

    #[test]
    fn large_refunds_and_destinations_typed_with_a_key_wait_for_an_approval() {
        let now = Timestamp::from_millis(1);
        let (key, user) = (Some(Party::Key(mint(now, [1; 10]))), Some(Party::User(mint(now, [2; 10]))));
        let usual = RefundSettings::default();
        let (small, large) = (Rupiah::new(1_000), Rupiah::new(1_001));
        assert!(usual.needs_approval(small, key, true) && !usual.needs_approval(small, key, false));
        assert!(!usual.needs_approval(large, user, true) && !usual.needs_approval(large, None, true));
        let limited = RefundSettings { approval_above: Some(small), ..usual };
        assert!(!limited.needs_approval(small, user, true) && limited.needs_approval(large, user, false));
        let chosen = |needed| RefundSettings { key_destination_needs_approval: Some(needed), ..usual };
        assert!(!chosen(false).needs_approval(small, key, true) && chosen(true).needs_approval(small, key, false));
    }
}
