//! The decisions that an operator can take about a user.

use domain::user::User;
use i18n_embed_fl::fl;

use crate::words::Words;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum UserDecision {
    Deactivate,
    Activate,
    Remove,
}

impl UserDecision {
    pub(crate) const ALL: [UserDecision; 3] = [UserDecision::Deactivate, UserDecision::Activate, UserDecision::Remove];

    pub(crate) const fn word(self) -> &'static str {
        match self {
            UserDecision::Deactivate => "deactivate",
            UserDecision::Activate => "activate",
            UserDecision::Remove => "remove",
        }
    }

    /// Whether the user can do less afterwards.
    pub(crate) const fn takes_away(self) -> bool {
        !matches!(self, UserDecision::Activate)
    }

    /// The decisions that would change something about `user`.
    pub(crate) fn of(user: &User) -> Vec<UserDecision> {
        match user.is_active() {
            true => vec![UserDecision::Deactivate, UserDecision::Remove],
            false => vec![UserDecision::Activate, UserDecision::Remove],
        }
    }

    /// The text of its button.
    pub(crate) fn button(self, words: Words) -> String {
        match self {
            UserDecision::Deactivate => fl!(words, "operator-deactivate"),
            UserDecision::Activate => fl!(words, "operator-activate"),
            UserDecision::Remove => fl!(words, "user-remove"),
        }
    }

    /// The question before it is carried out.
    pub(crate) fn question(self, words: Words, email: &str) -> String {
        match self {
            UserDecision::Deactivate => fl!(words, "operator-deactivate-heading", project = email),
            UserDecision::Activate => fl!(words, "operator-activate-heading", project = email),
            UserDecision::Remove => fl!(words, "user-remove-heading", email = email),
        }
    }

    /// What follows from it.
    pub(crate) fn effects(self, words: Words) -> Vec<String> {
        let ends = || [fl!(words, "user-stop-sessions"), fl!(words, "user-stop-invites")];
        match self {
            UserDecision::Deactivate => [fl!(words, "user-deactivate-effect")]
                .into_iter()
                .chain(ends())
                .chain([fl!(words, "user-deactivate-back")])
                .collect(),
            UserDecision::Activate => vec![fl!(words, "user-activate-effect"), fl!(words, "user-activate-keys")],
            UserDecision::Remove => [fl!(words, "user-remove-effect")]
                .into_iter()
                .chain(ends())
                .chain([fl!(words, "user-remove-final")])
                .collect(),
        }
    }
}
