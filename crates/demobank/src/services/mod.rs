//! The bank that is asked: a QRIS acquirer and a host of virtual accounts, whose doors a merchant's side calls. It verifies
//! what it is sent by its own code, keeps the codes that it issues, lets people pay them and tells the merchant of it. It
//! can be told to fail in the ways in which banks fail.
//!
//! It keeps accounts too, moves money between them and gives QR payments back: see [`money`], whose head lists doors, habits
//! and knobs.
//!
//! `bank` is what callers hold, `habits` how banks differ, `request` and `verify` judge who asks, `qr` and `accounts` answer,
//! `codes` and `external_ids` are the memory, `people` pay, `faults` spoil, `holds` keeps calls waiting, and `door` and `doors` serve it all over HTTP.

mod accounts;
mod bank;
mod codes;
mod door;
mod doors;
mod external_ids;
mod faults;
mod habits;
mod holds;
mod money;
mod people;
mod qr;
mod qris;
mod repeats;
mod request;
mod verify;

pub use bank::{BankServices, Call, Merchant, NotifyDoor};
pub use codes::{Code, CodeKind, CodePayment, CodeState};
pub use doors::Doors;
pub use faults::{Fault, QrFault};
pub use habits::{Habits, QueryKey, RrnIn};
pub(crate) use money::bank_name;
pub use money::{
    Account, AccountKey, AccountState, BANKS, BankCodes, Fate, Line, MoneyRules, NamedBank, NewAccount, NoSuchMoney,
    RefundHabits, RefundKey, RefundRule, StatusKey, Transfer, TransferHabits, TransferState, UnknownTransfer,
};
pub use people::{NotifyHabit, PaidCode, PayOrder, UnknownCode};
pub(crate) use qris::read as read_qris;
pub use repeats::Repeats;
