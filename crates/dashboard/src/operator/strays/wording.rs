//! What pages say about a stray.

use domain::{
    bank_account::BankAccount,
    stray::{Stray, StrayDecision},
    visible::escape_hidden,
};
use engine::Error;
use i18n_embed_fl::fl;
use web::page::moment::Moment;

use crate::{
    labels::Badge,
    operator::tabs::{bank_path, project_path, stray_path},
    page::OperatorPage,
};

/// The command that states an amount which nobody could read; the page has no form for it.
pub(crate) const STATE_AMOUNT: &str = "lunas bank stray ID --amount RUPIAH --note …";

/// A stray as every page shows it.
pub(crate) struct StrayFacts {
    pub(crate) url: String,
    pub(crate) id: String,
    pub(crate) amount: String,
    pub(crate) bank: String,
    pub(crate) bank_url: String,
    pub(crate) number: String,
    pub(crate) paid: Moment,
    pub(crate) received: Moment,
    pub(crate) receipt_id: String,
    /// Whether nobody knows the amount.
    pub(crate) unreadable: bool,
    /// The bank's notice as it came, where it cannot be read. Marks that would not be seen are written out.
    pub(crate) body: Option<String>,
}

/// A decision that was taken.
pub(crate) struct TakenDecision {
    pub(crate) badge: Badge,
    pub(crate) note: String,
    pub(crate) at: Moment,
    /// The payment and its project, where it was assigned.
    pub(crate) assigned: Option<Assigned>,
}

pub(crate) struct Assigned {
    pub(crate) payment_id: String,
    pub(crate) project: String,
    pub(crate) project_url: String,
}

pub(crate) fn facts(page: &OperatorPage, stray: &Stray, account: &BankAccount) -> StrayFacts {
    StrayFacts {
        url: page.url(stray_path(stray.id)),
        id: stray.id.to_string(),
        amount: stray.amount.map_or_else(|| fl!(page.words(), "stray-unreadable"), |amount| amount.to_string()),
        bank: account.name.clone(),
        bank_url: page.url(bank_path(account.id)),
        number: escape_hidden(&stray.number),
        paid: page.moment(stray.paid_at),
        received: page.moment(stray.received_at),
        receipt_id: escape_hidden(&stray.receipt_id),
        unreadable: stray.amount.is_none(),
        body: stray.body.as_deref().map(escape_hidden),
    }
}

/// The decision about a stray, if there is one.
pub(crate) async fn taken_decision(page: &OperatorPage, stray: &Stray) -> Result<Option<TakenDecision>, Error> {
    let Some(decided) = &stray.decided else { return Ok(None) };
    let words = page.words();
    let (badge, assigned) = match decided.decision {
        StrayDecision::Returned => (Badge { status: "off", text: fl!(words, "receipt-returned") }, None),
        StrayDecision::Assigned { project_id, payment_id } => {
            let assigned = Assigned {
                payment_id: payment_id.to_string(),
                project: page.operator.project(project_id).await?.name,
                project_url: page.url(project_path(project_id)),
            };
            (Badge { status: "good", text: fl!(words, "stray-assigned") }, Some(assigned))
        }
    };
    Ok(Some(TakenDecision { badge, note: decided.note.clone(), at: page.moment(decided.at), assigned }))
}
