//! Letters that the product writes to people, and what each kind of letter demands: who may switch it off, and whether it is
//! secret.

use crate::access::Act;

macro_rules! words {
    ($(#[$about:meta])* $name:ident { $($(#[$meaning:meta])* $variant:ident $word:literal,)* }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name {
            $($(#[$meaning])* $variant,)*
        }

        impl $name {
            pub const ALL: &[$name] = &[$($name::$variant,)*];

            pub const fn word(self) -> &'static str {
                match self {
                    $($name::$variant => $word,)*
                }
            }

            pub fn parse(word: &str) -> Option<$name> {
                $name::ALL.iter().copied().find(|value| value.word() == word)
            }
        }
    };
}

words! {
    /// What a letter is about.
    LetterKind {
        /// A customer has paid.
        Receipt "receipt",
        /// A customer is asked where money shall go that comes back.
        RefundClaim "refund_claim",
        /// Money has gone back to a customer.
        RefundMade "refund_made",
        /// Somebody is asked to become a member of a project.
        Invitation "invitation",
        /// A link to set a new password.
        PasswordReset "password_reset",
        /// Somebody has signed in from a browser that is not known.
        NewDevice "new_device",
        PasswordChanged "password_changed",
        /// The second factor of a user was added, removed, lifted, or its recovery codes were used or renewed.
        FactorChanged "factor_changed",
        /// A webhook has failed for an hour.
        WebhookFailing "webhook_failing",
        /// Money came that fits no payment.
        MoneyHeld "money_held",
        /// A refund waits for somebody who approves it.
        ApprovalWanted "approval_wanted",
        /// A bank does not answer.
        BankDown "bank_down",
        /// What a project has taken in a day or a week.
        Summary "summary",
        /// An operator tries whether letters arrive.
        Test "test",
    }
}

words! {
    /// How often a member gets a summary.
    SummaryPeriod {
        Daily "daily",
        Weekly "weekly",
    }
}

impl LetterKind {
    /// Whether it tells a user of a change to their own access. Nobody can switch such a letter off, since who has taken over an
    /// account would do that first.
    pub const fn is_security(self) -> bool {
        match self {
            LetterKind::PasswordReset
            | LetterKind::NewDevice
            | LetterKind::PasswordChanged
            | LetterKind::FactorChanged => true,
            LetterKind::Receipt
            | LetterKind::RefundClaim
            | LetterKind::RefundMade
            | LetterKind::Invitation
            | LetterKind::WebhookFailing
            | LetterKind::MoneyHeld
            | LetterKind::ApprovalWanted
            | LetterKind::BankDown
            | LetterKind::Summary
            | LetterKind::Test => false,
        }
    }

    /// Whether its link lets somebody in, or say where money goes. What it was written with is deleted once it is sent, and it never becomes a webhook.
    pub const fn grants_access(self) -> bool {
        matches!(self, LetterKind::Invitation | LetterKind::PasswordReset | LetterKind::RefundClaim)
    }

    /// Whether it may go to a URL of the operator or the merchant: everything that says how a shop or the installation does, and what
    /// a program passes on to customers. A link that lets somebody in goes to that person alone, and so does what concerns one
    /// person's account.
    pub const fn may_be_notice(self) -> bool {
        !self.grants_access() && !self.is_security()
    }

    /// Whether it goes to people who pay, and not to those who run the shop or the installation.
    pub const fn for_customers(self) -> bool {
        matches!(self, LetterKind::Receipt | LetterKind::RefundClaim | LetterKind::RefundMade)
    }

    /// What members must be allowed to do to get it about their project; none where it is for other people.
    pub const fn member_act(self) -> Option<Act> {
        match self {
            LetterKind::MoneyHeld => Some(Act::DecideReceipts),
            LetterKind::ApprovalWanted => Some(Act::Refund),
            LetterKind::WebhookFailing => Some(Act::ManageWebhooks),
            LetterKind::Summary => Some(Act::Look),
            LetterKind::Receipt
            | LetterKind::RefundClaim
            | LetterKind::RefundMade
            | LetterKind::Invitation
            | LetterKind::PasswordReset
            | LetterKind::NewDevice
            | LetterKind::PasswordChanged
            | LetterKind::FactorChanged
            | LetterKind::BankDown
            | LetterKind::Test => None,
        }
    }

    /// Whether each member chooses for themselves to get it. The others are about their access, or somebody has just asked for them.
    pub const fn is_optional(self) -> bool {
        matches!(
            self,
            LetterKind::WebhookFailing
                | LetterKind::MoneyHeld
                | LetterKind::ApprovalWanted
                | LetterKind::BankDown
                | LetterKind::Summary
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_is_read_back_by_its_word() {
        for kind in LetterKind::ALL {
            assert_eq!(LetterKind::parse(kind.word()), Some(*kind));
        }
        for period in SummaryPeriod::ALL {
            assert_eq!(SummaryPeriod::parse(period.word()), Some(*period));
        }
        assert_eq!(LetterKind::parse("Receipt"), None);
    }

    #[test]
    fn letters_that_members_may_switch_off_are_for_those_whose_role_lets_them_act() {
        for kind in LetterKind::ALL.iter().copied().filter(|kind| *kind != LetterKind::BankDown) {
            assert_eq!(kind.member_act().is_some(), kind.is_optional(), "{kind:?}");
        }
        assert_eq!(LetterKind::BankDown.member_act(), None, "it is for operators");
    }

    #[test]
    fn nobody_switches_off_a_letter_about_security_or_one_that_lets_them_in() {
        for kind in LetterKind::ALL {
            assert!(!kind.is_optional() || !(kind.is_security() || kind.grants_access()), "{kind:?}");
            assert!(!kind.for_customers() || !(kind.is_security() || kind.is_optional()), "{kind:?}");
            assert!(!kind.may_be_notice() || !(kind.is_security() || kind.grants_access()), "{kind:?}");
        }
    }
}
