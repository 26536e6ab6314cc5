//! Which text, icon or attribute belongs to which state. What the texts say stands in `locales`.

use i18n_embed_fl::fl;
use web::page::page_error::ProblemKind;

use crate::{
    view::{Choose, Closed, ClosedReason, Field, FieldKind, Frame, Mistake, Notice, Problem, Unpaid, Why},
    words::Words,
};

/// Lines for a 24 by 24 grid, drawn inside of the ring that the style sheet puts around them.
pub(super) mod icon {
    pub(crate) const CHECK: &str = "M7.5 12.5l3 3 6-6.5";
    pub(crate) const CLOCK: &str = "M12 5a7 7 0 1 0 .01 0M12 8.5V12l2.5 1.5";
    pub(crate) const CROSS: &str = "M8.5 8.5l7 7m0-7l-7 7";
    pub(crate) const DASH: &str = "M8 12h8";
    pub(crate) const PAUSE: &str = "M10 8.5v7m4-7v7";
    pub(crate) const QUESTION: &str = "M9.5 9.5a2.5 2.5 0 1 1 3.5 2.3q-1 .4-1 1.7m0 3v.01";
    pub(crate) const EXCLAMATION: &str = "M12 7v6m0 3.5v.01";
}

impl Frame {
    /// The language that the switch leads to.
    pub(crate) fn other_language(&self) -> &'static str {
        if self.language == "id" { "en" } else { "id" }
    }

    /// What stands in the tile beside the merchant's name, in the way of a logo.
    pub(crate) fn initial(&self) -> String {
        let merchant = self.merchant.as_deref().unwrap_or_default();
        merchant
            .chars()
            .find(|character| character.is_alphanumeric())
            .into_iter()
            .flat_map(char::to_uppercase)
            .collect()
    }
}

impl Choose {
    pub(crate) fn title(&self) -> String {
        match self.notice {
            Some(Notice::Mistakes) => fl!(self.frame.words, "choose-title-mistakes"),
            Some(Notice::MethodDown) | None => {
                fl!(self.frame.words, "choose-title", amount = self.order.amount.as_str())
            }
        }
    }

    pub(crate) fn heading(&self) -> String {
        let fallback = || fl!(self.frame.words, "choose-heading", merchant = self.order.merchant.as_str());
        self.order.title.clone().unwrap_or_else(fallback)
    }

    /// Whether the form came back because nothing was chosen.
    pub(crate) fn method_is_missing(&self) -> bool {
        self.notice == Some(Notice::Mistakes) && !self.methods.iter().any(|row| row.checked)
    }
}

impl Notice {
    pub(crate) fn text(self, words: Words) -> String {
        match self {
            Notice::Mistakes => fl!(words, "notice-mistakes"),
            Notice::MethodDown => fl!(words, "notice-method-down"),
        }
    }
}

impl FieldKind {
    /// What the form calls the field, and what its label and its mistake point to.
    pub(crate) const fn id(self) -> &'static str {
        match self {
            FieldKind::Name => "name",
            FieldKind::Email => "email",
            FieldKind::Phone => "phone",
            FieldKind::Address => "address",
        }
    }

    /// What lets a browser fill the field in.
    pub(crate) const fn autocomplete(self) -> &'static str {
        match self {
            FieldKind::Name => "name",
            FieldKind::Email => "email",
            FieldKind::Phone => "tel",
            FieldKind::Address => "street-address",
        }
    }

    /// What brings up the right keyboard.
    pub(crate) const fn input_type(self) -> &'static str {
        match self {
            FieldKind::Name | FieldKind::Address => "text",
            FieldKind::Email => "email",
            FieldKind::Phone => "tel",
        }
    }

    pub(crate) fn label(self, words: Words) -> String {
        match self {
            FieldKind::Name => fl!(words, "field-name"),
            FieldKind::Email => fl!(words, "field-email"),
            FieldKind::Phone => fl!(words, "field-phone"),
            FieldKind::Address => fl!(words, "field-address"),
        }
    }
}

impl Field {
    /// What is wrong with the answer.
    pub(crate) fn why(&self, words: Words) -> Option<String> {
        Some(match (self.mistake?, self.kind) {
            (Mistake::Missing, _) => fl!(words, "mistake-missing"),
            (Mistake::TooLong { most }, _) => fl!(words, "mistake-too-long", most = most),
            (Mistake::Malformed, FieldKind::Name) => fl!(words, "mistake-name"),
            (Mistake::Malformed, FieldKind::Email) => fl!(words, "mistake-email"),
            (Mistake::Malformed, FieldKind::Phone) => fl!(words, "mistake-phone"),
            (Mistake::Malformed, FieldKind::Address) => fl!(words, "mistake-address"),
        })
    }
}

impl Why {
    /// What the status endpoints call this end.
    pub(crate) const fn status(self) -> &'static str {
        match self {
            Why::Expired => "expired",
            Why::Failed => "failed",
            Why::Cancelled => "cancelled",
        }
    }

    pub(crate) const fn icon(self) -> &'static str {
        match self {
            Why::Expired => icon::CLOCK,
            Why::Failed => icon::CROSS,
            Why::Cancelled => icon::DASH,
        }
    }
}

impl Unpaid {
    pub(crate) fn title(&self) -> String {
        match self.why {
            Why::Expired => fl!(self.frame.words, "expired-title"),
            Why::Failed => fl!(self.frame.words, "failed-title"),
            Why::Cancelled => fl!(self.frame.words, "cancelled-title"),
        }
    }

    pub(crate) fn heading(&self) -> String {
        match self.why {
            Why::Expired => fl!(self.frame.words, "expired-heading"),
            Why::Failed => fl!(self.frame.words, "failed-heading"),
            Why::Cancelled => fl!(self.frame.words, "cancelled-heading"),
        }
    }

    pub(crate) fn text(&self) -> String {
        match self.why {
            Why::Expired => fl!(self.frame.words, "expired-text"),
            Why::Failed => fl!(self.frame.words, "failed-text"),
            Why::Cancelled => fl!(self.frame.words, "cancelled-text"),
        }
    }

    pub(crate) fn if_already_paid(&self) -> String {
        let merchant = self.ended.order.merchant.as_str();
        match self.why {
            Why::Expired => fl!(self.frame.words, "expired-already-paid", merchant = merchant),
            Why::Failed | Why::Cancelled => fl!(self.frame.words, "unpaid-already-paid", merchant = merchant),
        }
    }

    pub(crate) fn again(&self) -> String {
        match self.why {
            Why::Expired => fl!(self.frame.words, "again-expired"),
            Why::Failed => fl!(self.frame.words, "again-failed"),
            Why::Cancelled => fl!(self.frame.words, "again-cancelled"),
        }
    }
}

impl Choose {
    /// Whether there is anything to choose at the moment.
    pub(crate) fn has_a_way(&self) -> bool {
        self.methods.iter().any(|row| !row.down)
    }
}

impl ClosedReason {
    pub(crate) const fn icon(self) -> &'static str {
        match self {
            ClosedReason::Cancelled => icon::DASH,
            ClosedReason::Inactive => icon::PAUSE,
            ClosedReason::AlreadyPaid => icon::CHECK,
            ClosedReason::BeingPaid => icon::CLOCK,
        }
    }

    /// The class of the ring around the icon.
    pub(crate) const fn tone(self) -> &'static str {
        match self {
            ClosedReason::Cancelled | ClosedReason::Inactive => "",
            ClosedReason::AlreadyPaid => "good",
            ClosedReason::BeingPaid => "turning",
        }
    }
}

impl Closed {
    pub(crate) fn title(&self) -> String {
        match self.reason {
            ClosedReason::Cancelled => fl!(self.frame.words, "closed-cancelled-title"),
            ClosedReason::Inactive => fl!(self.frame.words, "closed-inactive-title"),
            ClosedReason::AlreadyPaid => fl!(self.frame.words, "closed-already-paid-title"),
            ClosedReason::BeingPaid => fl!(self.frame.words, "closed-being-paid-title"),
        }
    }

    pub(crate) fn heading(&self) -> String {
        match self.reason {
            ClosedReason::Cancelled => fl!(self.frame.words, "closed-cancelled-heading"),
            ClosedReason::Inactive => fl!(self.frame.words, "closed-inactive-heading"),
            ClosedReason::AlreadyPaid => fl!(self.frame.words, "closed-already-paid-heading"),
            ClosedReason::BeingPaid => fl!(self.frame.words, "closed-being-paid-heading"),
        }
    }

    pub(crate) fn text(&self) -> String {
        let merchant = self.order.merchant.as_str();
        match self.reason {
            ClosedReason::Cancelled => fl!(self.frame.words, "closed-cancelled-text", merchant = merchant),
            ClosedReason::Inactive => fl!(self.frame.words, "closed-inactive-text", merchant = merchant),
            ClosedReason::AlreadyPaid => fl!(self.frame.words, "closed-already-paid-text", merchant = merchant),
            ClosedReason::BeingPaid => fl!(self.frame.words, "closed-being-paid-text"),
        }
    }
}

impl Problem {
    pub(crate) const fn icon(&self) -> &'static str {
        match self.kind {
            ProblemKind::NotFound => icon::QUESTION,
            ProblemKind::Forbidden => icon::DASH,
            ProblemKind::TooMany => icon::PAUSE,
            ProblemKind::NotUnderstood | ProblemKind::Broken => icon::EXCLAMATION,
            ProblemKind::Unavailable => icon::CLOCK,
        }
    }
}

impl Problem {
    pub(crate) fn title(&self) -> String {
        match self.kind {
            ProblemKind::NotFound => fl!(self.frame.words, "problem-not-found-title"),
            ProblemKind::Forbidden => fl!(self.frame.words, "problem-forbidden-title"),
            ProblemKind::TooMany => fl!(self.frame.words, "problem-too-many-title"),
            ProblemKind::NotUnderstood => fl!(self.frame.words, "problem-not-understood-title"),
            ProblemKind::Unavailable => fl!(self.frame.words, "problem-unavailable-title"),
            ProblemKind::Broken => fl!(self.frame.words, "problem-broken-title"),
        }
    }

    pub(crate) fn heading(&self) -> String {
        match self.kind {
            ProblemKind::NotFound => fl!(self.frame.words, "problem-not-found-heading"),
            ProblemKind::Forbidden => fl!(self.frame.words, "problem-forbidden-heading"),
            ProblemKind::TooMany => fl!(self.frame.words, "problem-too-many-heading"),
            ProblemKind::NotUnderstood => fl!(self.frame.words, "problem-not-understood-heading"),
            ProblemKind::Unavailable => fl!(self.frame.words, "problem-unavailable-heading"),
            ProblemKind::Broken => fl!(self.frame.words, "problem-broken-heading"),
        }
    }

    pub(crate) fn text(&self) -> String {
        match self.kind {
            ProblemKind::NotFound => fl!(self.frame.words, "problem-not-found-text"),
            ProblemKind::Forbidden => fl!(self.frame.words, "problem-forbidden-text"),
            ProblemKind::TooMany => fl!(self.frame.words, "problem-too-many-text"),
            ProblemKind::NotUnderstood => fl!(self.frame.words, "problem-not-understood-text"),
            ProblemKind::Unavailable => fl!(self.frame.words, "problem-unavailable-text"),
            ProblemKind::Broken => fl!(self.frame.words, "problem-broken-text"),
        }
    }

    /// What the one next action is called. A form that was refused must be filled in anew; everything else may be repeated.
    pub(crate) fn next(&self) -> String {
        match self.kind {
            ProblemKind::NotFound | ProblemKind::Forbidden | ProblemKind::NotUnderstood => {
                fl!(self.frame.words, "problem-reopen")
            }
            ProblemKind::TooMany | ProblemKind::Unavailable | ProblemKind::Broken => {
                fl!(self.frame.words, "problem-retry")
            }
        }
    }
}
