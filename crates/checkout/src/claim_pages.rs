//! Fills the pages of a claim link: the form, the account to be confirmed, and what has become of the money.
//!
//! Who has the link may not be who has paid. So pages name nothing of the payment but what its own page shows to everybody,
//! and nothing of a named account but its bank and its last digits.

use std::time::Duration;

use axum::{http::StatusCode, response::Response};
use domain::{
    bank::Bank,
    destination::{Destination, TransferBank, TypedDestination},
    refund::{PendingReason, RefundState},
    time::Timestamp,
};
use engine::ClaimPage;
use i18n_embed_fl::fl;
use web::page::{
    moment::{clock_time, moment},
    render::page,
};

use crate::{
    claim_link::ClaimLink,
    parts::{frame, looked},
    view::{
        AccountRow, BankMistake, BankOption, ClaimConfirm, ClaimForm, ClaimStanding, ClaimStatus, Frame, Holder,
        NumberMistake, Returning,
    },
    words::words,
};

/// Banks that stand before all others in the list.
const COMMON_BANKS: usize = 9;
/// What most names of banks begin with, by which nobody looks for them.
const COMMON_WORD: &str = "Bank ";
/// Numbers are shown in groups of this many digits.
const GROUP_DIGITS: usize = 4;
/// In place of the digits that are not shown.
const HIDDEN_DIGITS: &str = "••••";

/// What the form contains when the page shows it.
#[derive(Default)]
pub(crate) struct Typed {
    /// The code of a bank.
    pub(crate) bank: String,
    pub(crate) number: String,
    pub(crate) bank_mistake: Option<BankMistake>,
    pub(crate) number_mistake: Option<NumberMistake>,
    /// Seconds until a bank may be asked again from the visitor's address.
    pub(crate) wait: Option<u64>,
}

/// Where the refund stands; none while the link's form can be sent.
pub(crate) fn standing(page: &ClaimPage, now: Timestamp) -> Option<ClaimStanding> {
    let refund = &page.refund;
    Some(match refund.state {
        RefundState::RequiresAction if refund.takes_claims(now) => return None,
        RefundState::RequiresAction if refund.takes_account(now) => ClaimStanding::Exhausted,
        RefundState::RequiresAction => ClaimStanding::Expired,
        RefundState::Pending(PendingReason::AwaitingApproval) => ClaimStanding::Checked,
        // That the shop's bank account lacks money is the shop's own affair.
        RefundState::Pending(PendingReason::InsufficientBalance | PendingReason::Processing) => ClaimStanding::OnItsWay,
        RefundState::Succeeded { .. } => ClaimStanding::Succeeded,
        RefundState::Failed => ClaimStanding::Failed,
        RefundState::Cancelled => ClaimStanding::Cancelled,
        RefundState::Returned { .. } => ClaimStanding::Returned,
    })
}

/// The banks that most customers have, and all others by name.
pub(crate) fn bank_options(chosen: &str) -> (Vec<BankOption>, Vec<BankOption>) {
    let option = |bank: &TransferBank, label| BankOption { code: bank.code, label, is_chosen: bank.code == chosen };
    let (common, others) = TransferBank::ALL.split_at(COMMON_BANKS.min(TransferBank::ALL.len()));
    let common = common.iter().map(|bank| option(bank, common_label(bank)));
    let mut others: Vec<BankOption> =
        others.iter().map(|bank| option(bank, bank.name.trim_start_matches(COMMON_WORD).to_owned())).collect();
    others.sort_by_key(|bank| bank.label.to_lowercase());
    (common.collect(), others)
}

/// What people call the bank, and then its whole name where that is another one.
fn common_label(bank: &TransferBank) -> String {
    let short = Bank::ALL.into_iter().find(|one| one.interbank_code() == bank.code).map(Bank::short_name);
    let name = bank.name.split(" (").next().unwrap_or(bank.name);
    match short {
        Some(short) if !name.contains(short) => format!("{short} – {name}"),
        _ => name.trim_start_matches(COMMON_WORD).to_owned(),
    }
}

impl ClaimLink<'_> {
    /// The page for where the refund stands.
    pub(crate) fn page_as_it_stands(&self, status: StatusCode) -> Response {
        match standing(&self.page, self.app.engine.now()) {
            None => self.form(status, Typed::default()),
            Some(standing) => self.ended(status, standing, false),
        }
    }

    pub(crate) fn form(&self, status: StatusCode, typed: Typed) -> Response {
        let (common, others) = bank_options(&typed.bank);
        let now = self.app.engine.now();
        let language = self.visitor.language;
        let open_until = self.page.refund.claim.map_or(now, |claim| claim.expires_at);
        let wait = |seconds| clock_time(now.plus(Duration::from_secs(seconds)), language);
        let view = ClaimForm {
            frame: self.frame(),
            returning: self.returning(),
            action: self.url(""),
            common,
            others,
            number: typed.number,
            bank_mistake: typed.bank_mistake,
            number_mistake: typed.number_mistake,
            wait_until: typed.wait.map(wait),
            open_until: moment(open_until, language),
        };
        page(status, &view)
    }

    pub(crate) fn confirmation(
        &self,
        status: StatusCode,
        destination: &TypedDestination,
        ticket: String,
        holder: Holder,
    ) -> Response {
        let digits: Vec<char> = destination.number.reveal().chars().collect();
        let groups: Vec<String> = digits.chunks(GROUP_DIGITS).map(|group| group.iter().collect()).collect();
        let view = ClaimConfirm {
            frame: self.frame(),
            returning: self.returning(),
            action: self.url(""),
            ticket,
            account: AccountRow { bank: destination.bank.name, number: groups.join(" ") },
            holder,
        };
        page(status, &view)
    }

    /// What has become of the money. `came_late`: the visitor has named another account than the one that counts.
    pub(crate) fn ended(&self, status: StatusCode, standing: ClaimStanding, came_late: bool) -> Response {
        let now = self.app.engine.now();
        let language = self.visitor.language;
        let refund = &self.page.refund;
        let has_succeeded = standing == ClaimStanding::Succeeded;
        let view = ClaimStatus {
            frame: self.frame(),
            returning: self.returning(),
            standing,
            account: refund.destination.as_ref().map(account_row),
            sent_at: refund.state.succeeded_at().filter(|_| has_succeeded).map(|at| moment(at, language)),
            bank_reference: refund.bank_reference.clone().filter(|_| has_succeeded),
            came_late,
            page_url: self.url(""),
            status_url: self.url("/status"),
            now_millis: now.as_millis(),
            looked: looked(now, self.visitor, |time| fl!(words(language), "claim-looked", time = time)),
        };
        page(status, &view)
    }

    /// A claim link is never shown in another site's page.
    fn frame(&self) -> Frame {
        Frame { framed: None, ..frame(self.app, self.visitor, Some(&self.page.project)) }
    }

    fn returning(&self) -> Returning {
        let ClaimPage { project, refund, payment, .. } = &self.page;
        let text = |text: &str| Some(text).filter(|text| !text.is_empty()).map(str::to_owned);
        Returning {
            merchant: project.merchant.name.clone(),
            amount: refund.amount.to_string(),
            reason: text(&refund.reason),
            title: self.title.clone(),
            reference: payment.terms.reference.clone(),
        }
    }
}

fn account_row(destination: &Destination) -> AccountRow {
    AccountRow { bank: destination.bank.name, number: format!("{HIDDEN_DIGITS} {}", destination.last_digits) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_bank_is_offered_once_and_found_by_what_people_call_it() {
        let (common, others) = bank_options("014");
        assert_eq!(common.len() + others.len(), TransferBank::ALL.len());
        let chosen: Vec<&str> =
            common.iter().chain(&others).filter(|bank| bank.is_chosen).map(|bank| bank.label.as_str()).collect();
        assert_eq!(chosen, ["BCA – Bank Central Asia"]);
        for label in ["Mandiri", "BRI – Bank Rakyat Indonesia", "BTN", "CIMB Niaga"] {
            assert!(common.iter().any(|bank| bank.label == label), "{label}");
        }
        let labels: Vec<String> = others.iter().map(|bank| bank.label.to_lowercase()).collect();
        assert!(labels.is_sorted() && labels.iter().any(|label| label == "jago"), "{labels:?}");
        assert!(labels.iter().all(|label| !label.starts_with("bank ")), "{labels:?}");
    }
}
