//! Pages of claim links in every state, and pages of payments of which money goes back.

use askama::Template;
use i18n_embed_fl::fl;

use super::{HOSTILE, Setting, moment};
use crate::{
    claim_pages::bank_options,
    view::{
        AccountRow, BankMistake, ClaimConfirm, ClaimForm, ClaimStanding, ClaimStatus, Ended, Holder, HolderMistake,
        Looked, NumberMistake, RefundLine, RefundStanding, Returning,
    },
    words::words,
};

const ACTION: &str = "/r/0a1b2c3d";
/// BCA.
const BANK: &str = "014";
/// As long as a sealed account with a long name.
const TICKET_BYTES: usize = 150;

impl Setting {
    fn returning(self) -> Returning {
        let order = self.order();
        let hostile = self.merchant == HOSTILE;
        Returning {
            merchant: order.merchant,
            amount: order.amount,
            reason: Some(if hostile { HOSTILE } else { "Satu kemasan rusak di jalan" }.to_owned()),
            title: order.title,
            reference: order.reference,
        }
    }

    fn claim_form(self) -> ClaimForm {
        let (common, others) = bank_options("");
        ClaimForm {
            frame: self.frame(),
            returning: self.returning(),
            action: ACTION.to_owned(),
            common,
            others,
            number: String::new(),
            bank_mistake: None,
            number_mistake: None,
            wait_until: None,
            open_until: moment(),
        }
    }

    fn mistaken_claim(self, bank: &str, mistakes: (Option<BankMistake>, Option<NumberMistake>)) -> ClaimForm {
        let (common, others) = bank_options(bank);
        let number = if self.merchant == HOSTILE { HOSTILE } else { "0123-45a" }.to_owned();
        let (bank_mistake, number_mistake) = mistakes;
        ClaimForm { common, others, number, bank_mistake, number_mistake, ..self.claim_form() }
    }

    fn account_row(number: &str) -> AccountRow {
        AccountRow { bank: "Bank Central Asia (BCA)", number: number.to_owned() }
    }

    fn claim_confirm(self, holder: Holder) -> ClaimConfirm {
        ClaimConfirm {
            frame: self.frame(),
            returning: self.returning(),
            action: ACTION.to_owned(),
            ticket: "5f".repeat(TICKET_BYTES),
            account: Setting::account_row("0123 4567 89"),
            holder,
        }
    }

    fn claim_status(self, standing: ClaimStanding) -> ClaimStatus {
        let is_named = !matches!(standing, ClaimStanding::Expired | ClaimStanding::Exhausted);
        let text = fl!(words(self.language), "claim-looked", time = "#");
        let (before, after) = text.split_once('#').unwrap();
        ClaimStatus {
            frame: self.frame(),
            returning: self.returning(),
            standing,
            account: is_named.then(|| Setting::account_row("•••• 6789")),
            sent_at: (standing == ClaimStanding::Succeeded).then(moment),
            bank_reference: (standing == ClaimStanding::Succeeded).then(|| "20261119CENAIDJA0108273645".to_owned()),
            came_late: false,
            page_url: ACTION.to_owned(),
            status_url: format!("{ACTION}/status"),
            now_millis: 1_794_752_125_000,
            looked: Looked {
                before: before.to_owned(),
                time: "21.15.25".to_owned(),
                utc: moment().utc,
                after: after.to_owned(),
            },
        }
    }
}

/// Every standing that a claim link's page shows.
pub(crate) const STANDINGS: [ClaimStanding; 8] = [
    ClaimStanding::Expired,
    ClaimStanding::Exhausted,
    ClaimStanding::Checked,
    ClaimStanding::OnItsWay,
    ClaimStanding::Succeeded,
    ClaimStanding::Failed,
    ClaimStanding::Cancelled,
    ClaimStanding::Returned,
];

const fn name(standing: ClaimStanding) -> &'static str {
    match standing {
        ClaimStanding::Expired => "claim-ended-expired",
        ClaimStanding::Exhausted => "claim-ended-exhausted",
        ClaimStanding::Checked => "claim-waits-checked",
        ClaimStanding::OnItsWay => "claim-waits-on-its-way",
        ClaimStanding::Succeeded => "claim-ended-succeeded",
        ClaimStanding::Failed => "claim-ended-failed",
        ClaimStanding::Cancelled => "claim-ended-cancelled",
        ClaimStanding::Returned => "claim-ended-returned",
    }
}

pub(crate) fn claims(setting: Setting) -> Vec<(&'static str, String)> {
    let hostile = setting.merchant == HOSTILE;
    let said = if hostile { HOSTILE } else { "SARI DEWI LESTARI" };
    let asked = |value: &str, mistake| Holder::Asked { value: value.to_owned(), mistake };
    let confirm = |holder| setting.claim_confirm(holder).render().unwrap();
    let mistaken = |bank, mistakes| setting.mistaken_claim(bank, mistakes).render().unwrap();
    let late = ClaimStatus { came_late: true, ..setting.claim_status(ClaimStanding::OnItsWay) };
    let statuses = STANDINGS.map(|standing| (name(standing), setting.claim_status(standing).render().unwrap()));
    let wait = ClaimForm { wait_until: Some("21.30.05".to_owned()), ..setting.mistaken_claim(BANK, (None, None)) };
    let missing = (Some(BankMistake::Missing), Some(NumberMistake::Missing));
    let mut pages = vec![
        ("claim-form", setting.claim_form().render().unwrap()),
        ("claim-form-missing", mistaken("", missing)),
        ("claim-form-malformed", mistaken(BANK, (None, Some(NumberMistake::Malformed)))),
        ("claim-form-refused", mistaken(BANK, (None, Some(NumberMistake::Refused)))),
        ("claim-form-out-of-reach", mistaken(BANK, (Some(BankMistake::OutOfReach), None))),
        ("claim-form-wait", wait.render().unwrap()),
        ("claim-confirm", confirm(Holder::Said(said.to_owned()))),
        ("claim-confirm-asked", confirm(asked("", None))),
        ("claim-confirm-missing", confirm(asked("", Some(HolderMistake::Missing)))),
        ("claim-confirm-long", confirm(asked(said, Some(HolderMistake::TooLong { most: 100 })))),
        ("claim-confirm-malformed", confirm(asked(said, Some(HolderMistake::Malformed)))),
        ("claim-waits-late", late.render().unwrap()),
    ];
    pages.extend(statuses);
    pages
}

/// Receipts of payments of which money goes back.
pub(super) fn refunded(setting: Setting) -> Vec<(&'static str, String)> {
    let refunds = || {
        let line = |standing| RefundLine { amount: "Rp50.000".to_owned(), standing };
        vec![
            line(RefundStanding::Succeeded { at: moment() }),
            line(RefundStanding::OnItsWay),
            line(RefundStanding::NeedsAccount),
        ]
    };
    let ended = || Ended { refunds: refunds(), ..setting.ended() };
    let slip = crate::view::Slip { ended: ended(), ..setting.slip() };
    vec![("paid-refunded", setting.paid(ended()).render().unwrap()), ("slip-refunded", slip.render().unwrap())]
}
