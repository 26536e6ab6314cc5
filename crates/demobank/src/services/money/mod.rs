//! Money that leaves: accounts with books, transfers to accounts of this bank and of others, and refunds of QR payments.
//!
//! Doors, by service (`Service::…`), and the path that each has at a bank without paths of its own:
//!
//! | | Service | Path |
//! |---|---|---|
//! | 11 | `Balance` | `/v1.0/balance-inquiry` |
//! | 14 | `Statement` | `/v1.0/bank-statement` |
//! | 15, 16 | `InternalInquiry`, `ExternalInquiry` | `/v1.0/account-inquiry-internal`, `/v1.0/account-inquiry-external` |
//! | 17, 18 | `Intrabank`, `Interbank` | `/v1.0/transfer-intrabank`, `/v1.0/transfer-interbank` |
//! | 22, 23 | `Rtgs`, `Skn` | `/v1.0/transfer-rtgs`, `/v1.0/transfer-skn` (also `…-sknbi`) |
//! | 36 | `TransferStatus` | `/v1.0/transfer/status` |
//! | 42, 43 | `BankAccountInquiry`, `TransferBank` | `/v1.0/emoney/bank-account-inquiry`, `/v1.0/emoney/transfer-bank` |
//! | 00, 53 | `TransferBankStatus`, `EmoneyStatus` | `/v1.0/emoney/transfer-bank-status`, `/v1.0/qr/qr-mpm-status` |
//! | 78, 58 | `QrRefund`, `DebitRefund` | `/v1.0/qr/qr-mpm-refund`, `/v1.0/debit/refund`; 55 `DebitStatus` has `refundHistory[]` |
//!
//! `.htm` may end each path and any prefix may begin it. `TransferHabits::paths` lists the paths that a bank wants to the
//! letter (`#` is any digit); any other gets 404xx02.
//!
//! What callers set up on [`BankServices`](super::BankServices):
//!
//! | | |
//! |---|---|
//! | `open_account(NewAccount)` | an account at a bank of `BANKS`; with `owner`, a merchant's source account |
//! | `open_people()` | customers at several banks, for rehearsals |
//! | `deposit(bank, number, amount, remark)`, `withdraw(…)` | money from and to outside |
//! | `deposit_float(client_id, amount)` | what a non-bank (42, 43) and refunds pay from: paid QR codes add to it |
//! | `set_account_state(bank, number, AccountState)` | `Open`, `Closed` (403xx18), `Dormant` (403xx09), `Blocked` (403xx05) |
//! | `rename_account(bank, number, name)` | what inquiries say from now on |
//! | `account(…)`, `accounts()`, `lines(…)`, `transfers()`, `transfer(reference)`, `books_total()` | to look at; the total is always 0 |
//!
//! Knobs, beside those of [`Fault`](super::Fault) that every door has (`Late`, `LostBefore`, `LostAfter`, `Status(202)`,
//! `StatusAfter(504)`, `Case(403, "14")`, `BrokenJson`, …):
//!
//! | | |
//! |---|---|
//! | `Fault::CaseAfter(404, "18")` | the work is done, and answered with this case: also `(409, "01")` |
//! | `Fault::Name(name)` | an inquiry says another name |
//! | `fate_of_next(Fate)` | what becomes of the next transfer or refund that is carried out: see [`Fate`] |
//! | `set_money_rules(client_id, MoneyRules)` | cut-off, limits, refunds that are not allowed, how long 36 says “not found”: see [`MoneyRules`] |
//! | `end_transfer(reference, TransferState)` | ends a pending one now, or brings back one that was done |
//! | `tell_transfers(Knobs)` | 75, 76: tells merchants what became of transfers by 23 and 22 since they were told last |

mod banks;
mod books;
mod inquiries;
mod ledger;
mod money_habits;
mod open;
#[cfg(test)]
mod properties;
mod refunds;
mod rules;
mod sending;
mod statements;
mod status;
mod telling;
mod transfers;

pub use banks::{BANKS, BankCodes, NamedBank};
pub use books::{Account, AccountKey, AccountState, Line, NewAccount};
pub use money_habits::{RefundHabits, RefundKey, StatusKey, TransferHabits, UnknownTransfer};
pub use open::NoSuchMoney;
pub use rules::{MoneyRules, RefundRule};
pub use transfers::{Fate, Transfer, TransferState};

pub(crate) use banks::bank_name;
pub(super) use ledger::Ledger;
