//! Chooses the text, icon or attribute for each state of the pages of a claim link, and for refunds on a payment's page. The
//! texts themselves are in `locales`.

use i18n_embed_fl::fl;

use crate::{
    icon,
    view::{
        BankMistake, ClaimConfirm, ClaimForm, ClaimStanding, ClaimStatus, Holder, HolderMistake, NumberMistake,
        RefundLine, RefundStanding,
    },
    words::Words,
};

impl ClaimForm {
    pub(crate) fn has_mistake(&self) -> bool {
        self.bank_mistake.is_some() || self.number_mistake.is_some()
    }

    /// What stands above the form when it is shown again.
    pub(crate) fn notice(&self) -> Option<String> {
        match &self.wait_until {
            Some(time) => Some(fl!(self.frame.words, "claim-wait", time = time.as_str())),
            None => self.has_mistake().then(|| fl!(self.frame.words, "notice-mistakes")),
        }
    }

    pub(crate) fn title(&self) -> String {
        match self.notice().is_some() {
            true => fl!(self.frame.words, "choose-title-mistakes"),
            false => fl!(self.frame.words, "claim-title", amount = self.returning.amount.as_str()),
        }
    }

    pub(crate) fn bank_why(&self) -> Option<String> {
        Some(match self.bank_mistake.as_ref()? {
            BankMistake::Missing => fl!(self.frame.words, "claim-bank-missing"),
            BankMistake::OutOfReach => {
                fl!(self.frame.words, "claim-bank-out-of-reach", amount = self.returning.amount.as_str())
            }
        })
    }

    pub(crate) fn number_why(&self) -> Option<String> {
        Some(match self.number_mistake? {
            NumberMistake::Missing => fl!(self.frame.words, "mistake-missing"),
            NumberMistake::Malformed => fl!(self.frame.words, "claim-number-malformed"),
            NumberMistake::Refused => fl!(self.frame.words, "claim-number-refused"),
        })
    }
}

impl ClaimConfirm {
    pub(crate) fn has_mistake(&self) -> bool {
        matches!(self.holder, Holder::Asked { mistake: Some(_), .. })
    }

    pub(crate) fn holder_why(&self) -> Option<String> {
        let Holder::Asked { mistake, .. } = &self.holder else { return None };
        Some(match (*mistake)? {
            HolderMistake::Missing => fl!(self.frame.words, "mistake-missing"),
            HolderMistake::TooLong { most } => fl!(self.frame.words, "mistake-too-long", most = most),
            HolderMistake::Malformed => fl!(self.frame.words, "mistake-name"),
        })
    }
}

impl ClaimStanding {
    /// The word that the status endpoint uses for it.
    pub(crate) const fn word(self) -> &'static str {
        match self {
            ClaimStanding::Expired => "expired",
            ClaimStanding::Exhausted => "exhausted",
            ClaimStanding::Checked => "awaiting_approval",
            ClaimStanding::OnItsWay => "processing",
            ClaimStanding::Succeeded => "succeeded",
            ClaimStanding::Failed => "failed",
            ClaimStanding::Cancelled => "cancelled",
            ClaimStanding::Returned => "returned",
        }
    }

    pub(crate) const fn icon(self) -> &'static str {
        match self {
            ClaimStanding::Expired | ClaimStanding::OnItsWay => icon::CLOCK,
            ClaimStanding::Exhausted | ClaimStanding::Checked => icon::PAUSE,
            ClaimStanding::Succeeded => icon::CHECK,
            ClaimStanding::Failed => icon::CROSS,
            ClaimStanding::Cancelled => icon::DASH,
            ClaimStanding::Returned => icon::EXCLAMATION,
        }
    }

    /// The colour of the icon.
    pub(crate) const fn tone(self) -> &'static str {
        match self {
            ClaimStanding::Succeeded => "good",
            ClaimStanding::Checked | ClaimStanding::OnItsWay => "turning",
            _ => "",
        }
    }

    /// Whether it goes on without anybody who reads the page.
    pub(crate) const fn is_waiting(self) -> bool {
        matches!(self, ClaimStanding::Checked | ClaimStanding::OnItsWay)
    }
}

impl ClaimStatus {
    /// Whether the customer can do nothing but ask the merchant.
    pub(crate) const fn asks_merchant(&self) -> bool {
        self.came_late || !(self.standing.is_waiting() || matches!(self.standing, ClaimStanding::Succeeded))
    }

    pub(crate) fn title(&self) -> String {
        let words = self.frame.words;
        match self.standing {
            ClaimStanding::Expired => fl!(words, "claim-expired-title"),
            ClaimStanding::Exhausted => fl!(words, "claim-exhausted-title"),
            ClaimStanding::Checked => fl!(words, "claim-checked-title"),
            ClaimStanding::OnItsWay => fl!(words, "claim-on-its-way-title"),
            ClaimStanding::Succeeded => fl!(words, "claim-succeeded-title"),
            ClaimStanding::Failed => fl!(words, "claim-failed-title"),
            ClaimStanding::Cancelled => fl!(words, "claim-cancelled-title"),
            ClaimStanding::Returned => fl!(words, "claim-returned-title"),
        }
    }

    pub(crate) fn heading(&self) -> String {
        let (words, merchant) = (self.frame.words, self.returning.merchant.as_str());
        match self.standing {
            ClaimStanding::Expired => fl!(words, "claim-expired-heading"),
            ClaimStanding::Exhausted => fl!(words, "claim-exhausted-heading"),
            ClaimStanding::Checked => fl!(words, "claim-checked-heading", merchant = merchant),
            ClaimStanding::OnItsWay => fl!(words, "claim-on-its-way-heading"),
            ClaimStanding::Succeeded => fl!(words, "claim-succeeded-heading"),
            ClaimStanding::Failed => fl!(words, "claim-failed-heading"),
            ClaimStanding::Cancelled => fl!(words, "claim-cancelled-heading"),
            ClaimStanding::Returned => fl!(words, "claim-returned-heading"),
        }
    }

    pub(crate) fn text(&self) -> String {
        let (words, merchant) = (self.frame.words, self.returning.merchant.as_str());
        match self.standing {
            ClaimStanding::Expired => fl!(words, "claim-expired-text", merchant = merchant),
            ClaimStanding::Exhausted => fl!(words, "claim-exhausted-text", merchant = merchant),
            ClaimStanding::Checked => fl!(words, "claim-checked-text", merchant = merchant),
            ClaimStanding::OnItsWay => fl!(words, "claim-on-its-way-text"),
            ClaimStanding::Succeeded => fl!(words, "claim-succeeded-text"),
            ClaimStanding::Failed => fl!(words, "claim-failed-text", merchant = merchant),
            ClaimStanding::Cancelled => fl!(words, "claim-cancelled-text", merchant = merchant),
            ClaimStanding::Returned => fl!(words, "claim-returned-text", merchant = merchant),
        }
    }
}

impl RefundLine {
    pub(crate) fn label(&self, words: Words) -> String {
        match self.standing {
            RefundStanding::Succeeded { .. } => fl!(words, "refund-done-label"),
            RefundStanding::OnItsWay | RefundStanding::NeedsAccount => fl!(words, "refund-open-label"),
        }
    }

    pub(crate) fn text(&self, words: Words) -> String {
        let amount = self.amount.as_str();
        match &self.standing {
            RefundStanding::Succeeded { at } => {
                fl!(words, "refund-done", amount = amount, date = at.text.as_str())
            }
            RefundStanding::OnItsWay => fl!(words, "refund-on-its-way", amount = amount),
            RefundStanding::NeedsAccount => fl!(words, "refund-needs-account", amount = amount),
        }
    }
}
