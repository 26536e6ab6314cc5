//! Chooses the text, icon or attribute for each state of a view. The texts themselves are in `locales`.

use i18n_embed_fl::fl;
use web::page::page_error::ProblemKind;

use crate::{
    icon,
    view::{
        Choose, Closed, ClosedReason, ContactLink, ContactWay, Ended, Field, FieldKind, FormNotice, Frame, Mistake,
        NumberLabel, Order, Paid, Pending, Problem, Slip, Stripe, Unapplied, UnappliedStanding, Unpaid, UnpaidReason,
    },
    words::Words,
};

impl Frame {
    /// The language that the language switch leads to.
    pub(crate) fn other_language(&self) -> &'static str {
        if self.language == "id" { "en" } else { "id" }
    }

    /// What the link says by which the customer reaches the merchant.
    pub(crate) fn contact_text(&self, contact: &ContactLink) -> String {
        let merchant = self.merchant.as_deref().unwrap_or_default();
        match contact.way {
            ContactWay::WhatsApp => fl!(self.words, "contact-whatsapp", merchant = merchant),
            ContactWay::Phone => fl!(self.words, "contact-phone", merchant = merchant),
            ContactWay::Email => fl!(self.words, "contact-email", merchant = merchant),
            ContactWay::Site => fl!(self.words, "contact-site", merchant = merchant),
        }
    }

    /// The first letter of the merchant's name, in place of a logo.
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

impl Stripe {
    pub(crate) fn text(self, words: Words) -> String {
        match self {
            Stripe::Sandbox => fl!(words, "sandbox-stripe"),
            Stripe::Rehearsal => fl!(words, "rehearsal-stripe"),
        }
    }
}

impl Choose {
    pub(crate) fn title(&self) -> String {
        match self.notice {
            Some(FormNotice::Mistakes) => fl!(self.frame.words, "choose-title-mistakes"),
            Some(FormNotice::MethodDown) | None if self.price.is_some() => self.heading(),
            Some(FormNotice::MethodDown) | None => {
                fl!(self.frame.words, "choose-title", amount = self.order.amount.as_str())
            }
        }
    }

    pub(crate) fn heading(&self) -> String {
        let fallback = || fl!(self.frame.words, "choose-heading", merchant = self.order.merchant.as_str());
        self.order.title.clone().unwrap_or_else(fallback)
    }

    /// What stands above the amount of the order.
    pub(crate) fn amount_label(&self) -> String {
        let words = self.frame.words;
        self.price.as_ref().map_or_else(|| fl!(words, "amount-label"), |field| field.kind.amount_label(words))
    }

    /// The text of the button; with script it follows what is entered.
    pub(crate) fn pay_text(&self) -> String {
        match self.price {
            None => fl!(self.frame.words, "pay-button", amount = self.order.amount.as_str()),
            Some(_) => fl!(self.frame.words, "price-pay"),
        }
    }

    /// Whether the form is shown again because no payment method was chosen.
    pub(crate) fn method_is_missing(&self) -> bool {
        self.notice == Some(FormNotice::Mistakes) && !self.methods.iter().any(|row| row.checked)
    }
}

impl FormNotice {
    pub(crate) fn text(self, words: Words) -> String {
        match self {
            FormNotice::Mistakes => fl!(words, "notice-mistakes"),
            FormNotice::MethodDown => fl!(words, "notice-method-down"),
        }
    }
}

impl FieldKind {
    /// The field's name in the form, and the id that its label and its message refer to.
    pub(crate) const fn id(self) -> &'static str {
        match self {
            FieldKind::Name => "name",
            FieldKind::Email => "email",
            FieldKind::Phone => "phone",
            FieldKind::Address => "address",
        }
    }

    /// The value of `autocomplete`, by which browsers fill the field in.
    pub(crate) const fn autocomplete(self) -> &'static str {
        match self {
            FieldKind::Name => "name",
            FieldKind::Email => "email",
            FieldKind::Phone => "tel",
            FieldKind::Address => "street-address",
        }
    }

    /// The input type, by which phones show the right keyboard.
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
    /// What is wrong with the customer's answer.
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

impl NumberLabel {
    pub(crate) fn text(self, words: Words) -> String {
        match self {
            NumberLabel::Account => fl!(words, "account-number"),
            NumberLabel::CompanyCode => fl!(words, "account-company-code"),
            NumberLabel::CustomerNumber => fl!(words, "account-customer-number"),
            NumberLabel::InstitutionCode => fl!(words, "account-institution-code"),
            NumberLabel::PaymentCode => fl!(words, "account-payment-code"),
            NumberLabel::Whole => fl!(words, "account-whole-number"),
        }
    }
}

impl Unapplied {
    /// Whether the merchant has still to decide about the money.
    pub(crate) const fn is_held(&self) -> bool {
        !matches!(
            self.standing,
            UnappliedStanding::Returned | UnappliedStanding::OnItsWay | UnappliedStanding::UsedElsewhere
        )
    }

    pub(crate) fn text(&self, words: Words, order: &Order) -> String {
        let (merchant, due, amount) = (order.merchant.as_str(), order.amount.as_str(), self.amount.as_str());
        match self.standing {
            UnappliedStanding::TooLate => fl!(words, "held-late", amount = amount, merchant = merchant),
            UnappliedStanding::Cancelled => fl!(words, "held-cancelled", amount = amount, merchant = merchant),
            UnappliedStanding::OtherAmount => {
                fl!(words, "held-amount", amount = amount, due = due, merchant = merchant)
            }
            UnappliedStanding::PaidTwice => fl!(words, "held-twice", amount = amount, merchant = merchant),
            UnappliedStanding::LinkPaid => fl!(words, "held-link-paid", amount = amount, merchant = merchant),
            UnappliedStanding::Unclear => fl!(words, "held-unclear", amount = amount, merchant = merchant),
            UnappliedStanding::Returned => fl!(words, "held-returned", amount = amount, merchant = merchant),
            UnappliedStanding::OnItsWay => fl!(words, "held-on-its-way", amount = amount, merchant = merchant),
            UnappliedStanding::UsedElsewhere => fl!(words, "held-elsewhere", amount = amount, merchant = merchant),
        }
    }
}

/// Whether the merchant has still to decide about money of the customer.
fn has_held(unapplied: &[Unapplied]) -> bool {
    unapplied.iter().any(Unapplied::is_held)
}

impl Pending {
    pub(crate) fn has_held(&self) -> bool {
        has_held(&self.unapplied)
    }
}

impl Ended {
    pub(crate) fn has_held(&self) -> bool {
        has_held(&self.unapplied)
    }
}

impl Paid {
    /// What was paid.
    pub(crate) fn amount(&self) -> &str {
        self.received.as_ref().unwrap_or(&self.ended.order.amount)
    }
}

impl Slip {
    /// What was paid.
    pub(crate) fn amount(&self) -> &str {
        self.received.as_ref().unwrap_or(&self.ended.order.amount)
    }
}

impl UnpaidReason {
    /// The word that the status endpoints use for it.
    pub(crate) const fn status(self) -> &'static str {
        match self {
            UnpaidReason::Expired => "expired",
            UnpaidReason::Failed => "failed",
            UnpaidReason::Replaced | UnpaidReason::Withdrawn | UnpaidReason::Superseded | UnpaidReason::Cancelled => {
                "cancelled"
            }
        }
    }

    pub(crate) const fn icon(self) -> &'static str {
        match self {
            UnpaidReason::Expired => icon::CLOCK,
            UnpaidReason::Failed => icon::CROSS,
            UnpaidReason::Superseded => icon::CHECK,
            UnpaidReason::Replaced | UnpaidReason::Withdrawn | UnpaidReason::Cancelled => icon::DASH,
        }
    }
}

impl Unpaid {
    pub(crate) fn title(&self) -> String {
        match self.why {
            UnpaidReason::Expired => fl!(self.frame.words, "expired-title"),
            UnpaidReason::Failed => fl!(self.frame.words, "failed-title"),
            UnpaidReason::Replaced => fl!(self.frame.words, "replaced-title"),
            UnpaidReason::Withdrawn => fl!(self.frame.words, "withdrawn-title"),
            UnpaidReason::Superseded => fl!(self.frame.words, "superseded-title"),
            UnpaidReason::Cancelled => fl!(self.frame.words, "cancelled-title"),
        }
    }

    pub(crate) fn heading(&self) -> String {
        match self.why {
            UnpaidReason::Expired => fl!(self.frame.words, "expired-heading"),
            UnpaidReason::Failed => fl!(self.frame.words, "failed-heading"),
            UnpaidReason::Replaced => fl!(self.frame.words, "replaced-heading"),
            UnpaidReason::Withdrawn => fl!(self.frame.words, "closed-cancelled-heading"),
            UnpaidReason::Superseded => fl!(self.frame.words, "closed-already-paid-heading"),
            UnpaidReason::Cancelled => fl!(self.frame.words, "cancelled-heading"),
        }
    }

    pub(crate) fn text(&self) -> String {
        let merchant = self.ended.order.merchant.as_str();
        match self.why {
            UnpaidReason::Expired => fl!(self.frame.words, "expired-text"),
            UnpaidReason::Failed => fl!(self.frame.words, "failed-text"),
            UnpaidReason::Replaced => fl!(self.frame.words, "replaced-text"),
            UnpaidReason::Withdrawn => fl!(self.frame.words, "closed-cancelled-text", merchant = merchant),
            UnpaidReason::Superseded => fl!(self.frame.words, "closed-already-paid-text", merchant = merchant),
            UnpaidReason::Cancelled => fl!(self.frame.words, "cancelled-text"),
        }
    }

    pub(crate) fn if_already_paid(&self) -> String {
        let merchant = self.ended.order.merchant.as_str();
        match self.why {
            UnpaidReason::Expired => fl!(self.frame.words, "expired-already-paid", merchant = merchant),
            UnpaidReason::Failed
            | UnpaidReason::Replaced
            | UnpaidReason::Withdrawn
            | UnpaidReason::Superseded
            | UnpaidReason::Cancelled => fl!(self.frame.words, "unpaid-already-paid", merchant = merchant),
        }
    }

    pub(crate) fn again(&self) -> String {
        match self.why {
            UnpaidReason::Expired => fl!(self.frame.words, "again-expired"),
            UnpaidReason::Failed => fl!(self.frame.words, "again-failed"),
            UnpaidReason::Replaced => fl!(self.frame.words, "again-replaced"),
            UnpaidReason::Withdrawn | UnpaidReason::Superseded | UnpaidReason::Cancelled => {
                fl!(self.frame.words, "again-cancelled")
            }
        }
    }
}

impl Choose {
    /// Whether at least one payment method is available.
    pub(crate) fn has_available_method(&self) -> bool {
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
            ClosedReason::NoMethod => icon::EXCLAMATION,
        }
    }

    /// The CSS class of the ring around the icon.
    pub(crate) const fn tone(self) -> &'static str {
        match self {
            ClosedReason::Cancelled | ClosedReason::Inactive | ClosedReason::NoMethod => "",
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
            ClosedReason::NoMethod => fl!(self.frame.words, "closed-no-method-title"),
        }
    }

    pub(crate) fn heading(&self) -> String {
        match self.reason {
            ClosedReason::Cancelled => fl!(self.frame.words, "closed-cancelled-heading"),
            ClosedReason::Inactive => fl!(self.frame.words, "closed-inactive-heading"),
            ClosedReason::AlreadyPaid => fl!(self.frame.words, "closed-already-paid-heading"),
            ClosedReason::BeingPaid => fl!(self.frame.words, "closed-being-paid-heading"),
            ClosedReason::NoMethod => fl!(self.frame.words, "closed-no-method-heading"),
        }
    }

    pub(crate) fn text(&self) -> String {
        let merchant = self.order.merchant.as_str();
        match self.reason {
            ClosedReason::Cancelled => fl!(self.frame.words, "closed-cancelled-text", merchant = merchant),
            ClosedReason::Inactive => fl!(self.frame.words, "closed-inactive-text", merchant = merchant),
            ClosedReason::AlreadyPaid => fl!(self.frame.words, "closed-already-paid-text", merchant = merchant),
            ClosedReason::BeingPaid => fl!(self.frame.words, "closed-being-paid-text"),
            ClosedReason::NoMethod => fl!(self.frame.words, "closed-no-method-text", merchant = merchant),
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

    /// The label of the next action. A form that was refused must be filled in again; everything else may be retried.
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
