//! What the commands about refunds share: the account that money shall go to, and the refund's id.

use clap::Args;
use domain::id::RefundId;

use crate::{api_objects, error::CliError};

/// The bank account that the money shall go to.
#[derive(Args)]
#[group(requires_all = ["bank", "account_number"])]
pub(super) struct AccountOptions {
    /// The bank of the account that the money shall go to, such as 014; `lunas refund banks` lists them.
    #[arg(long, value_name = "CODE", required = false)]
    pub(super) bank: String,
    /// The number of that account.
    #[arg(long, value_name = "DIGITS", required = false)]
    pub(super) account_number: String,
    /// Whom that account belongs to.
    #[arg(long, value_name = "TEXT")]
    pub(super) account_name: Option<String>,
}

pub(super) fn refund_id(text: &str) -> Result<RefundId, CliError> {
    api_objects::id("refund", text)
}
