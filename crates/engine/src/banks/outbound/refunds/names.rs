//! Whose account a destination is, as its bank says: for the customer who confirms it, and before money is sent there.

use domain::{
    destination::{Destination, TypedDestination},
    money::Rupiah,
    opening::bank_reference,
    project::{Environment, Project},
    refund::{Failure, Refund},
};
use gateway::snap::{CallError, NameAsked, NameTold};
use rand::RngExt;

use super::{
    call::{Question, Reply},
    plan::{Way, bank_named, pays_for},
};
use crate::{Engine, Error, banks::contracts::open_account::OpenAccount};

/// As long as a holder's name is kept.
const NAME_CHARACTERS_MOST: usize = 100;

/// What is known of the holder of an account.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum AccountName {
    /// The bank has said it.
    Told(String),
    /// The bank knows no such account, or it is closed.
    NoAccount,
    /// No bank could be asked.
    Unchecked,
}

/// Whether a refund goes on after its destination was asked about.
pub(super) enum NameChecked {
    Go(Way),
    NoAccount(String),
    /// The bank does not say whose the account is.
    Nameless {
        has_answered: bool,
    },
}

impl Engine {
    /// Whose account this is, by an account of ours that could send money there.
    pub(crate) async fn account_name(
        &self,
        project: &Project,
        to: &TypedDestination,
        amount: Rupiah,
    ) -> Result<AccountName, Error> {
        if project.environment != Environment::Production {
            return Ok(AccountName::Unchecked);
        }
        let assigned = self.store.project_accounts(project.id).await?;
        for open in self.paying_accounts().await? {
            let transfers = &open.parameters.transfers;
            let bank = bank_named(to.bank);
            let pays = pays_for(&open, project, &assigned) && transfers.names(bank);
            let is_own_bank = transfers.own_bank.as_deref() == Some(to.bank.code);
            let Some(rail) = transfers.rails.carrying(amount, is_own_bank).next().filter(|_| pays) else { continue };
            let reference = drawn(&open);
            let asked = NameAsked { rail, reference: &reference, bank, number: to.number.reveal(), amount };
            match self.ask_bank(&open, &Question::Name(asked)).await? {
                Ok(Reply::Name(NameTold::Named(name))) => return Ok(AccountName::Told(cut(&name))),
                Ok(Reply::Name(NameTold::NoAccount { .. })) => return Ok(AccountName::NoAccount),
                // Another account of ours may know.
                Ok(_) | Err(_) => {}
            }
        }
        Ok(AccountName::Unchecked)
    }

    /// Asks for the name right before a transfer, under the transfer's own reference, as some banks want it.
    pub(super) async fn check_name(
        &self,
        open: &OpenAccount,
        refund: &Refund,
        way: Way,
        reference: &str,
    ) -> Result<NameChecked, Error> {
        let Way::Account { rail, to, number } = way else { return Ok(NameChecked::Go(way)) };
        let bank = bank_named(to.bank);
        let asked = NameAsked { rail, reference, bank, number: number.reveal(), amount: refund.amount };
        Ok(match self.ask_bank(open, &Question::Name(asked)).await? {
            Ok(Reply::Name(NameTold::Named(name))) => {
                let to = Destination { holder: Some(cut(&name)), is_checked: true, ..to };
                NameChecked::Go(Way::Account { rail, to, number })
            }
            Ok(Reply::Name(NameTold::NoAccount { code })) => {
                NameChecked::NoAccount(Failure::of_refusal(&code).reason())
            }
            Ok(_) => NameChecked::Nameless { has_answered: true },
            Err(error) => {
                tracing::warn!(%error, refund = %refund.id, "a refund waits until its bank says whose the account is");
                let is_refused = matches!(error, CallError::Refused { .. }) || error.code().starts_with("403");
                NameChecked::Nameless { has_answered: is_refused }
            }
        })
    }
}

fn cut(name: &str) -> String {
    name.chars().take(NAME_CHARACTERS_MOST).collect()
}

fn drawn(open: &OpenAccount) -> String {
    let mut reference = bank_reference(rand::rng().random());
    reference.truncate(open.parameters.transfers.reference_max);
    reference
}
