//! What has just happened, told on the page that one is led to. Only these words are told, whatever an address says.

use axum::response::Response;
use i18n_embed_fl::fl;
use web::{
    App,
    page::{render::see_other, visitor::Visitor},
};

use crate::words::Words;

/// The query parameter that says what has just been done.
pub(crate) const DONE: &str = "done";

macro_rules! done {
    ($($name:ident $word:literal $key:literal,)*) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum Done {
            $($name,)*
        }

        impl Done {
            const fn word(self) -> &'static str {
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
    UrlSaved "url-saved" "done-url-saved",
    UrlRemoved "url-removed" "done-url-removed",
    Resent "resent" "done-resent",
    Tested "tested" "done-tested",
    Simulated "simulated" "done-simulated",
    ReceiptAccepted "receipt-accepted" "done-receipt-accepted",
    ReceiptReturned "receipt-returned" "done-receipt-returned",
    SettingsSaved "settings-saved" "done-settings-saved",
    RoleChanged "role-changed" "done-role-changed",
    MemberRemoved "member-removed" "done-member-removed",
    InviteWithdrawn "invite-withdrawn" "done-invite-withdrawn",
    Joined "joined" "done-joined",
    PasswordChanged "password-changed" "done-password-changed",
    SessionEnded "session-ended" "done-session-ended",
    ProjectCreated "project-created" "done-project-created",
    Approved "approved" "done-approved",
    ApprovalWithdrawn "approval-withdrawn" "done-approval-withdrawn",
    Activated "activated" "done-activated",
    Deactivated "deactivated" "done-deactivated",
}

impl Done {
    /// What the address says has been done.
    pub(crate) fn of(visitor: &Visitor) -> Option<Done> {
        visitor.query.text(DONE).ok().flatten().and_then(Done::parse)
    }

    /// Leads to `path` of ours, which then tells it.
    pub(crate) fn leading_to(self, app: &App, path: impl std::fmt::Display) -> Response {
        see_other(&app.settings.urls.url(format_args!("{path}?{DONE}={}", self.word())))
    }
}
