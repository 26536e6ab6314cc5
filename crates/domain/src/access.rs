//! Who may do what in a project.

use crate::key_rights::KeyRight;

/// A member's role in a project.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
    /// Sells at the counter, and sees nothing but its own sales.
    Cashier,
    Viewer,
    Developer,
    Owner,
}

/// What a role may allow. Actions that the same roles may always do are one act.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Act {
    /// Reading everything but secrets.
    Look,
    /// Making sales at the counter, and cancelling one's own.
    Sell,
    /// Creating, changing and cancelling payment links.
    ManageLinks,
    /// Having the sandbox's simulator report payments.
    Simulate,
    ManageKeys,
    /// Changing the webhook's URL and secret, and sending webhooks again.
    ManageWebhooks,
    /// Accepting or returning money that fits no payment.
    DecideReceipts,
    /// Giving money back to customers, and approving that.
    Refund,
    /// Changing what customers and the API see: name, origins, methods.
    Configure,
    ManageMembers,
    /// Taking the audit log out of the dashboard, as a file or through the API.
    ExportAudit,
}

impl Role {
    pub const ALL: [Role; 4] = [Role::Owner, Role::Developer, Role::Viewer, Role::Cashier];

    pub const fn word(self) -> &'static str {
        match self {
            Role::Owner => "owner",
            Role::Developer => "developer",
            Role::Viewer => "viewer",
            Role::Cashier => "cashier",
        }
    }

    pub fn parse(word: &str) -> Option<Role> {
        Role::ALL.into_iter().find(|role| role.word() == word)
    }

    pub const fn may(self, act: Act) -> bool {
        match act {
            Act::Look => !matches!(self, Role::Cashier),
            Act::Sell => !matches!(self, Role::Viewer),
            Act::ManageLinks | Act::Simulate | Act::ManageKeys | Act::ManageWebhooks => {
                matches!(self, Role::Owner | Role::Developer)
            }
            Act::DecideReceipts | Act::Refund | Act::Configure | Act::ManageMembers | Act::ExportAudit => {
                matches!(self, Role::Owner)
            }
        }
    }

    /// Whether the role may create keys with this right. A right over money is for owners alone to give: with the key, a
    /// member would decide what their role does not let them decide.
    pub const fn may_give(self, right: KeyRight) -> bool {
        self.may(Act::ManageKeys) && (matches!(self, Role::Owner) || !right.is_over_money())
    }
}

impl Act {
    pub const ALL: [Act; 11] = [
        Act::Look,
        Act::Sell,
        Act::ManageLinks,
        Act::Simulate,
        Act::ManageKeys,
        Act::ManageWebhooks,
        Act::DecideReceipts,
        Act::Refund,
        Act::Configure,
        Act::ManageMembers,
        Act::ExportAudit,
    ];
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn viewers_look_cashiers_sell_developers_integrate_and_owners_do_everything() {
        let may = |role: Role| Act::ALL.into_iter().filter(|act| role.may(*act)).collect::<Vec<_>>();
        assert_eq!(may(Role::Cashier), [Act::Sell]);
        assert_eq!(may(Role::Viewer), [Act::Look]);
        assert_eq!(
            may(Role::Developer),
            [Act::Look, Act::Sell, Act::ManageLinks, Act::Simulate, Act::ManageKeys, Act::ManageWebhooks]
        );
        assert_eq!(may(Role::Owner), Act::ALL);
    }

    #[test]
    fn only_owners_give_rights_over_money() {
        let may_give = |role: Role| KeyRight::ALL.into_iter().filter(|right| role.may_give(*right)).collect::<Vec<_>>();
        assert_eq!(may_give(Role::Cashier), []);
        assert_eq!(may_give(Role::Viewer), []);
        assert_eq!(may_give(Role::Developer), [KeyRight::Payments]);
        assert_eq!(may_give(Role::Owner), KeyRight::ALL);
    }

    #[test]
    fn a_role_is_read_back_by_its_word() {
        for role in Role::ALL {
            assert_eq!(Role::parse(role.word()), Some(role));
        }
        assert_eq!(Role::parse("operator"), None);
    }
}
