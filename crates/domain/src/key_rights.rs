//! What an API key may do besides reading. A key without rights only reads.

use crate::rules::Invalid;

/// What a key without rights is called, where its rights are listed in words.
pub const READ_ONLY: &str = "read only";

/// Something that a key may do only if it was given the right.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum KeyRight {
    /// Creating payments and links, cancelling links, simulating payments in the sandbox, revoking other keys.
    Payments,
    /// Deciding about money that fits no payment.
    HeldMoney,
    /// Giving money back to customers, and cancelling that. Never approving it.
    Refunds,
}

impl KeyRight {
    pub const ALL: [KeyRight; 3] = [KeyRight::Payments, KeyRight::HeldMoney, KeyRight::Refunds];

    pub const fn word(self) -> &'static str {
        match self {
            KeyRight::Payments => "payments",
            KeyRight::HeldMoney => "held-money",
            KeyRight::Refunds => "refunds",
        }
    }

    pub fn parse(word: &str) -> Option<KeyRight> {
        KeyRight::ALL.into_iter().find(|right| right.word() == word)
    }

    /// Whether a key with this right decides where money goes. Such rights are given by owners only.
    pub const fn is_over_money(self) -> bool {
        match self {
            KeyRight::Payments => false,
            KeyRight::HeldMoney | KeyRight::Refunds => true,
        }
    }

    const fn bit(self) -> u8 {
        match self {
            KeyRight::Payments => 1,
            KeyRight::HeldMoney => 2,
            KeyRight::Refunds => 4,
        }
    }
}

/// The rights of one key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct KeyRights(u8);

impl KeyRights {
    /// A key that only reads.
    pub const NONE: KeyRights = KeyRights(0);
    /// The rights of a new key for which none are chosen.
    pub const USUAL: KeyRights = KeyRights::NONE.with(KeyRight::Payments);
    pub const ALL: KeyRights =
        KeyRights::NONE.with(KeyRight::Payments).with(KeyRight::HeldMoney).with(KeyRight::Refunds);

    #[must_use]
    pub const fn with(self, right: KeyRight) -> KeyRights {
        KeyRights(self.0 | right.bit())
    }

    pub const fn has(self, right: KeyRight) -> bool {
        self.0 & right.bit() != 0
    }

    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Whether a key with these rights decides where money goes.
    pub fn are_over_money(self) -> bool {
        self.iter().any(KeyRight::is_over_money)
    }

    /// In the order of [`KeyRight::ALL`].
    pub fn iter(self) -> impl Iterator<Item = KeyRight> {
        KeyRight::ALL.into_iter().filter(move |right| self.has(*right))
    }

    pub fn words(self) -> Vec<&'static str> {
        self.iter().map(KeyRight::word).collect()
    }

    /// Reads the words of a request. A right that is named twice is given once.
    pub fn parse(words: &[impl AsRef<str>]) -> Result<KeyRights, Invalid> {
        let right = |(index, word): (usize, &str)| {
            KeyRight::parse(word).ok_or_else(|| {
                let offered = KeyRight::ALL.map(|right| format!("`{}`", right.word())).join(", ");
                Invalid::new(format!("rights[{index}]"), format!("must be one of {offered}"))
            })
        };
        words.iter().map(AsRef::as_ref).enumerate().map(right).collect()
    }
}

impl FromIterator<KeyRight> for KeyRights {
    fn from_iter<Rights: IntoIterator<Item = KeyRight>>(rights: Rights) -> KeyRights {
        rights.into_iter().fold(KeyRights::NONE, KeyRights::with)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_right_is_read_back_by_its_word() {
        for right in KeyRight::ALL {
            assert_eq!(KeyRight::parse(right.word()), Some(right));
        }
        for wrong in ["", "Payments", "held_money", "refund", "payouts", "none"] {
            assert_eq!(KeyRight::parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn rights_are_exactly_those_that_were_given() {
        assert_eq!(KeyRights::ALL, KeyRight::ALL.into_iter().collect());
        assert_eq!(KeyRights::USUAL.words(), ["payments"]);
        assert!(KeyRights::ALL.are_over_money() && !KeyRights::USUAL.are_over_money());
        assert!(KeyRights::NONE.is_empty() && KeyRights::NONE.words().is_empty());
        for right in KeyRight::ALL {
            assert!(!KeyRights::NONE.has(right) && KeyRights::ALL.has(right));
            assert_eq!(KeyRights::NONE.with(right).iter().collect::<Vec<_>>(), [right]);
        }
    }

    #[test]
    fn an_unknown_right_is_named_by_its_place() {
        assert_eq!(KeyRights::parse(&[""; 0]), Ok(KeyRights::NONE));
        assert_eq!(KeyRights::parse(&["held-money", "refunds", "payments", "held-money"]), Ok(KeyRights::ALL));
        let rule = "must be one of `payments`, `held-money`, `refunds`";
        assert_eq!(KeyRights::parse(&["payments", "payouts"]), Err(Invalid::new("rights[1]", rule)));
        assert_eq!(KeyRights::parse(&[""]), Err(Invalid::new("rights[0]", rule)));
    }
}
