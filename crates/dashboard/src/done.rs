//! What was just done, as the page that a form redirects to says it. The address names one of these; nothing else from
//! an address is ever shown as a notice.

use i18n_embed_fl::fl;
use web::page::visitor::Visitor;

use crate::words::Words;

/// The query parameter that names what was just done.
pub(crate) const DONE: &str = "done";

macro_rules! done {
    ($($name:ident $word:literal $key:literal,)*) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum Done {
            $($name,)*
        }

        impl Done {
            /// The name in an address.
            pub(crate) const fn word(self) -> &'static str {
                match self {
                    $(Done::$name => $word,)*
                }
            }

            fn parse(word: &str) -> Option<Done> {
                match word {
                    $($word => Some(Done::$name),)*
                    _ => None,
                }
            }

            pub(crate) fn text(self, words: Words) -> String {
                match self {
                    $(Done::$name => fl!(words, $key),)*
                }
            }
        }
    };
}

done! {
    KeyRevoked "key-revoked" "done-key-revoked",
    LinkCreated "link-created" "done-link-created",
    LinkCancelled "link-cancelled" "done-link-cancelled",
    LinkEdited "link-edited" "done-link-edited",
    UrlSaved "url-saved" "done-url-saved",
    UrlRemoved "url-removed" "done-url-removed",
    EventsSaved "events-saved" "done-events-saved",
    Resent "resent" "done-resent",
    Tested "tested" "done-tested",
    NoticeTested "notice-tested" "done-notice-tested",
    Simulated "simulated" "done-simulated",
    ReceiptAccepted "receipt-accepted" "done-receipt-accepted",
    ReceiptAssigned "receipt-assigned" "done-receipt-assigned",
    ReceiptReturned "receipt-returned" "done-receipt-returned",
    RefundCreated "refund-created" "done-refund-created",
    RefundCancelled "refund-cancelled" "done-refund-cancelled",
    RefundApproved "refund-approved" "done-refund-approved",
    RefundDeclined "refund-declined" "done-refund-declined",
    RefundDestined "refund-destined" "done-refund-destined",
    RefundLinkRenewed "refund-link-renewed" "done-refund-link-renewed",
    RefundTransferred "refund-transferred" "done-refund-transferred",
    RefundFailed "refund-failed" "done-refund-failed",
    RefundDoubted "refund-doubted" "done-refund-doubted",
    RefundReturned "refund-returned" "done-refund-returned",
    RefundSimulated "refund-simulated" "done-refund-simulated",
    BatchMade "batch-made" "done-batch-made",
    SettingsSaved "settings-saved" "done-settings-saved",
    RoleChanged "role-changed" "done-role-changed",
    MemberRemoved "member-removed" "done-member-removed",
    InviteWithdrawn "invite-withdrawn" "done-invite-withdrawn",
    Joined "joined" "done-joined",
    PasswordChanged "password-changed" "done-password-changed",
    ResetAsked "reset-asked" "forgot-asked",
    PasswordReset "password-reset" "done-password-reset",
    SessionEnded "session-ended" "done-session-ended",
    FactorRemoved "factor-removed" "done-factor-removed",
    FactorKept "factor-kept" "done-factor-kept",
    FactorRequired "factor-required" "done-factor-required",
    FactorNotRequired "factor-not-required" "done-factor-not-required",
    LiftAsked "lift-asked" "done-lift-asked",
    LettersChosen "letters-chosen" "done-letters-chosen",
    LetterSentAgain "letter-sent-again" "done-letter-sent-again",
    ProjectCreated "project-created" "done-project-created",
    Approved "approved" "done-approved",
    ApprovalWithdrawn "approval-withdrawn" "done-approval-withdrawn",
    Activated "activated" "done-activated",
    Deactivated "deactivated" "done-deactivated",
    UserDeactivated "user-deactivated" "done-user-deactivated",
    UserActivated "user-activated" "done-user-activated",
    UserRemoved "user-removed" "done-user-removed",
    ResetLinkSent "reset-link-sent" "done-reset-link-sent",
    BankEnabled "bank-enabled" "done-bank-enabled",
    BankDisabled "bank-disabled" "done-bank-disabled",
    DayCompared "day-compared" "done-day-compared",
    DayBeingCompared "day-being-compared" "done-day-being-compared",
    DifferenceSettled "difference-settled" "done-difference-settled",
    StrayAssigned "stray-assigned" "done-stray-assigned",
    StrayReturned "stray-returned" "done-stray-returned",
}

impl Done {
    /// The one that the visitor's address names.
    pub(crate) fn asked_for(visitor: &Visitor) -> Option<Done> {
        visitor.query.text(DONE).ok().flatten().and_then(Done::parse)
    }
}
