//! The audit log: who did what, when and from where. Lines are only ever added; `audit_chain` seals them.

use crate::{
    id::{AuditId, KeyId, ProjectId, UserId},
    time::Timestamp,
};

/// Who did it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Actor {
    /// A signed-in user, and the address they came from.
    User { id: UserId, address: String },
    /// A program with an API key.
    Key(KeyId),
    /// The operator, with a command on the machine itself.
    CommandLine,
    /// Somebody who is not signed in, from that address.
    Stranger { address: String },
}

macro_rules! deeds {
    ($($name:ident $word:literal,)*) => {
        /// What was done.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Deed {
            $($name,)*
        }

        impl Deed {
            pub const ALL: &[Deed] = &[$(Deed::$name,)*];

            pub const fn word(self) -> &'static str {
                match self {
                    $(Deed::$name => $word,)*
                }
            }
        }
    };
}

deeds! {
    KeyCreated "key.created",
    KeyRevoked "key.revoked",
    KeyRotated "key.rotated",
    WebhookUrlChanged "webhook.url_changed",
    WebhookSecretShown "webhook.secret_shown",
    WebhookSecretRotated "webhook.secret_rotated",
    WebhookResent "webhook.resent",
    WebhooksRecovered "webhook.recovered",
    WebhookTested "webhook.tested",
    NoticeUrlChanged "notice.url_changed",
    NoticeUrlRemoved "notice.url_removed",
    NoticeSecretRotated "notice.secret_rotated",
    NoticeTested "notice.tested",
    LinkCreated "link.created",
    LinkCancelled "link.cancelled",
    LinkEdited "link.edited",
    SaleCreated "sale.created",
    SaleCancelled "sale.cancelled",
    PaymentSimulated "payment.simulated",
    ReceiptAccepted "receipt.accepted",
    ReceiptAssigned "receipt.assigned",
    ReceiptReturned "receipt.returned",
    RefundCreated "refund.created",
    RefundDestinationGiven "refund.destination_given",
    RefundApproved "refund.approved",
    RefundDeclined "refund.declined",
    RefundCancelled "refund.cancelled",
    RefundLinkRenewed "refund.link_renewed",
    RefundMovedToTransfer "refund.moved_to_transfer",
    RefundsExported "refund.exported",
    RefundMarkedDone "refund.marked_done",
    RefundDoubted "refund.doubted",
    RefundMarkedFailed "refund.marked_failed",
    RefundMarkedReturned "refund.marked_returned",
    RefundSimulated "refund.simulated",
    SecretsResealed "secrets.resealed",
    BankAccountCreated "bank.created",
    BankAccountChanged "bank.changed",
    BankAccountEnabled "bank.enabled",
    BankAccountDisabled "bank.disabled",
    BankAccountAssigned "bank.assigned",
    BankAccountTested "bank.tested",
    BankKeyMade "bank.key_made",
    BankKeyImported "bank.key_imported",
    BankSecretSet "bank.secret_set",
    BankRotated "bank.rotated",
    BankDayCompared "bank.day_compared",
    DifferenceSettled "difference.settled",
    StrayStated "stray.amount_stated",
    StrayAssigned "stray.assigned",
    StrayReturned "stray.returned",
    ProjectCreated "project.created",
    SettingsChanged "project.settings_changed",
    ProjectApproved "project.approved",
    ApprovalWithdrawn "project.approval_withdrawn",
    ProjectActivated "project.activated",
    ProjectDeactivated "project.deactivated",
    MemberInvited "member.invited",
    InviteWithdrawn "member.invite_withdrawn",
    MemberJoined "member.joined",
    RoleChanged "member.role_changed",
    MemberRemoved "member.removed",
    UserCreated "user.created",
    OperatorMade "user.operator_made",
    OperatorUnmade "user.operator_unmade",
    UserDeactivated "user.deactivated",
    UserActivated "user.activated",
    UserRemoved "user.removed",
    SignedIn "user.signed_in",
    SignInRefused "user.sign_in_refused",
    SignedOut "user.signed_out",
    PasswordChanged "user.password_changed",
    ResetLinkMade "user.reset_link_made",
    PasswordReset "user.password_reset",
    SessionEnded "user.session_ended",
    FactorAdded "user.factor_added",
    FactorRemoved "user.factor_removed",
    RecoveryCodesRenewed "user.recovery_codes_renewed",
    RecoveryCodeUsed "user.recovery_code_used",
    FactorLiftAsked "user.factor_lift_asked",
    FactorLiftRefused "user.factor_lift_refused",
    FactorLifted "user.factor_lifted",
    FactorRequired "project.factor_required",
    FactorNotRequired "project.factor_not_required",
    LettersChosen "letters.chosen",
    LettersStopped "letters.stopped",
    LetterSentAgain "letters.sent_again",
    ReceiptLettersChanged "letters.receipts_changed",
}

impl Deed {
    pub fn parse(word: &str) -> Option<Deed> {
        Deed::ALL.iter().copied().find(|deed| deed.word() == word)
    }
}

/// One line of the audit log. It is never changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditLine {
    pub id: AuditId,
    pub at: Timestamp,
    pub actor: Actor,
    /// None for actions that concern the whole installation or only a user.
    pub project_id: Option<ProjectId>,
    pub deed: Deed,
    /// What it was done to: an id, an e-mail address, a name.
    pub subject: String,
    /// What else a reader needs to know, such as the new URL. Never a secret.
    pub detail: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_deed_is_read_back_by_its_word() {
        for deed in Deed::ALL {
            assert_eq!(Deed::parse(deed.word()), Some(*deed));
        }
    }
}
