//! Rows of banks, and writes about them that are refused.

use domain::{
    bank_account::{BankAccount, Credential, CredentialKind, Stage},
    id::mint,
    payment::Payment,
    stray::Stray,
};
use store::{BankWrite, Guard, SealedColumn, Store, Write};

use super::writes;
use crate::{
    bank_samples::{self, changed, credential, inquiry, kept_account, kept_stray, refused, set, stray, taken},
    database::keep,
    samples::{NOW, entropy},
};

pub(super) struct BankWorld {
    account: BankAccount,
    in_use: Credential,
    returned: Stray,
    /// Has the number that is its code.
    billed: Payment,
}

pub(super) async fn bank_world(store: &Store, billed: &Payment) -> BankWorld {
    let account = kept_account(store).await;
    let world = BankWorld {
        in_use: credential(&account, CredentialKind::Inbound, Stage::Current),
        returned: kept_stray(store, &account, "returned").await,
        billed: billed.clone(),
        account,
    };
    let account = &world.account;
    keep(store, set(&world.in_use)).await;
    keep(store, bank_samples::returned(&world.returned)).await;
    keep(store, taken(account, billed, NOW)).await;
    keep(store, BankWrite::Requested(inquiry(account, "used"))).await;
    keep(store, BankWrite::Requested(refused(account, "used", "used"))).await;
    world
}

/// Writes about banks whose `guard` does not hold; none if it is not a guard of theirs.
pub(super) fn refused_to_banks(guard: Guard, world: &BankWorld) -> Vec<Write> {
    let account = &world.account;
    match guard {
        Guard::BankAccountVersion => {
            let Credential { account_id, kind, id, .. } = world.in_use;
            writes([
                changed(&BankAccount { version: 0, ..account.clone() }),
                changed(&BankAccount { id: mint(NOW, entropy()), ..account.clone() }),
                BankWrite::CredentialPromoted { account_id, kind, id },
            ])
        }
        Guard::BankRequest => writes(
            [inquiry(account, "used"), refused(account, "used", "unused"), refused(account, "unused", "used")]
                .map(BankWrite::Requested),
        ),
        Guard::StrayUndecided => writes([&world.returned, &stray(account, "unheard of")].map(bank_samples::returned)),
        Guard::Receipt => writes([BankWrite::StrayReceived(stray(account, "returned"))]),
        Guard::AccountNumber => {
            writes([taken(account, &Payment { id: mint(NOW, entropy()), ..world.billed.clone() }, NOW)])
        }
        Guard::SealedValue => {
            let (column, row) = (SealedColumn::BankCredential, world.in_use.id.to_string());
            vec![Write::Resealed { column, row, from: vec![4, 5], to: vec![9] }]
        }
        _ => Vec::new(),
    }
}
