//! Rows of banks, and writes about them that are refused.

use domain::{
    bank_account::{BankAccount, Credential, CredentialKind, Stage},
    bank_difference::{DifferenceKey, DifferenceKind},
    id::mint,
    opening::{JobKind, Opening},
    payment::Payment,
    project::Project,
    stray::Stray,
};
use store::{BankWrite, Guard, OpeningWrite, SealedColumn, Store, Write};

use super::writes;
use crate::{
    bank_samples::{self, changed, credential, inquiry, kept_account, kept_stray, refused, set, stray, taken},
    database::keep,
    opening_samples::{code, job, kept_opening, send},
    samples::{NOW, after, entropy},
};

pub(super) struct BankWorld {
    account: BankAccount,
    in_use: Credential,
    returned: Stray,
    /// Has the number that is its code.
    billed: Payment,
    opening: Opening,
}

pub(super) async fn bank_world(store: &Store, project: &Project, billed: &Payment) -> BankWorld {
    let account = kept_account(store).await;
    let world = BankWorld {
        in_use: credential(&account, CredentialKind::Inbound, Stage::Current),
        returned: kept_stray(store, &account, "returned").await,
        billed: billed.clone(),
        opening: kept_opening(store, project, &account).await,
        account,
    };
    let account = &world.account;
    keep(store, set(&world.in_use)).await;
    keep(store, bank_samples::returned(&world.returned)).await;
    keep(store, taken(account, billed, NOW)).await;
    keep(store, BankWrite::Requested(inquiry(account, "used"))).await;
    keep(store, BankWrite::Requested(refused(account, "used", "used"))).await;
    keep(store, OpeningWrite::ComparisonLeased { account_id: account.id, now: NOW, until: after(60) }).await;
    keep(store, OpeningWrite::SerialsReserved { account_id: account.id, day: 1, from: 0, upto: 9 }).await;
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
        _ => refused_about_codes(guard, world),
    }
}

fn refused_about_codes(guard: Guard, world: &BankWorld) -> Vec<Write> {
    let (account, opening) = (&world.account, &world.opening);
    let code = code(opening);
    let key = job(&code, JobKind::Issue, NOW).key;
    match guard {
        Guard::OpeningVersion => writes([
            OpeningWrite::Refused { id: opening.id, version: 7, at: NOW },
            OpeningWrite::Abandoned { id: opening.id, version: 7, at: NOW },
            OpeningWrite::Issued { id: opening.id, version: 7, payment_id: world.billed.id },
            OpeningWrite::Paid { id: opening.id, version: 7, payment_id: world.billed.id },
        ]),
        Guard::JobDue => writes([
            OpeningWrite::JobLeased { key, from: NOW, to: NOW },
            OpeningWrite::JobPostponed { key, from: NOW, to: NOW, outcome: String::new() },
        ]),
        Guard::ExternalId => writes([OpeningWrite::Sent(send(&code, &code.reference))]),
        Guard::Serials => {
            writes([OpeningWrite::SerialsReserved { account_id: account.id, day: 1, from: 0, upto: 100 }])
        }
        Guard::DifferenceOpen => {
            let subject = "unheard of".to_owned();
            let key = DifferenceKey { account_id: account.id, subject, kind: DifferenceKind::Amount };
            writes([OpeningWrite::DifferenceSettled { key, at: NOW, note: String::new() }])
        }
        Guard::Comparing => writes([
            OpeningWrite::ComparisonLeased { account_id: account.id, now: NOW, until: after(60) },
            OpeningWrite::ComparisonRenewed { account_id: account.id, from: NOW, until: after(60) },
        ]),
        _ => Vec::new(),
    }
}
