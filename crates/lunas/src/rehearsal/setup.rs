//! What all accounts of a rehearsal share: names, and how new keys come into use.

use domain::id::BankAccountId;
use engine::{BankError, Engine};

use crate::error::CliError;

pub(super) const PROJECT_NAME: &str = "Rehearsal";
pub(super) const MERCHANT_NAME: &str = "Rehearsal Shop";

/// Puts new keys and secrets into use. The first ones of an account are in use already.
pub(super) async fn promote(engine: &Engine, id: BankAccountId) -> Result<(), CliError> {
    match engine.rotate_bank_account(id).await {
        Ok(_) | Err(engine::Error::Bank(BankError::NothingNext)) => Ok(()),
        Err(error) => Err(error.into()),
    }
}
