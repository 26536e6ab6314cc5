//! What has just happened, told on the page that one is led to. Only these words are told, whatever an address says.

use axum::response::Response;
use i18n_embed_fl::fl;

use crate::{
    app::App,
    pages::{render::see_other, visitor::Visitor, words::Words},
};

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
    KeyRevoked "key-revoked" "dash-done-key-revoked",
    LinkCreated "link-created" "dash-done-link-created",
    LinkCancelled "link-cancelled" "dash-done-link-cancelled",
    UrlSaved "url-saved" "dash-done-url-saved",
    UrlRemoved "url-removed" "dash-done-url-removed",
    Resent "resent" "dash-done-resent",
    Tested "tested" "dash-done-tested",
    Simulated "simulated" "dash-done-simulated",
    ReceiptAccepted "receipt-accepted" "dash-done-receipt-accepted",
    ReceiptReturned "receipt-returned" "dash-done-receipt-returned",
    SettingsSaved "settings-saved" "dash-done-settings-saved",
    RoleChanged "role-changed" "dash-done-role-changed",
    MemberRemoved "member-removed" "dash-done-member-removed",
    InviteWithdrawn "invite-withdrawn" "dash-done-invite-withdrawn",
    Joined "joined" "dash-done-joined",
    PasswordChanged "password-changed" "dash-done-password-changed",
    SessionEnded "session-ended" "dash-done-session-ended",
    ProjectCreated "project-created" "dash-done-project-created",
    Approved "approved" "dash-done-approved",
    ApprovalWithdrawn "approval-withdrawn" "dash-done-approval-withdrawn",
    Activated "activated" "dash-done-activated",
    Deactivated "deactivated" "dash-done-deactivated",
}

impl Done {
    /// What the address says has been done.
    pub(crate) fn of(visitor: &Visitor) -> Option<Done> {
        visitor.query.text("done").ok().flatten().and_then(Done::parse)
    }

    /// Leads to `path` of ours, which then tells it.
    pub(crate) fn leading_to(self, app: &App, path: impl std::fmt::Display) -> Response {
        see_other(&app.shared.place.url(format_args!("{path}?done={}", self.word())))
    }
}
