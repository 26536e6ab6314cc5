//! The books: accounts at this bank and at others, and every rupiah that moves between them. Pure: the time is given.
//!
//! Money comes from an account and goes to an account, so all balances together are always 0: what is outside of the bank has
//! an account too, which owes what people have brought in.

use std::collections::{BTreeMap, VecDeque};

/// How many accounts there are at the most.
const ACCOUNTS_MOST: usize = 10_000;
/// How many lines an account remembers. The oldest are forgotten first; its balance stays right.
const LINES_MOST: usize = 20_000;

/// A bank's code of three digits, or nothing for what the bank keeps for itself, and the number there.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct AccountKey {
    pub bank: String,
    pub number: String,
}

impl AccountKey {
    pub fn new(bank: &str, number: &str) -> AccountKey {
        AccountKey { bank: bank.to_owned(), number: number.to_owned() }
    }

    /// What is outside of all books.
    pub(super) fn outside() -> AccountKey {
        AccountKey::new("", "outside")
    }

    /// The people who pay QR codes, all together.
    pub(crate) fn payers() -> AccountKey {
        AccountKey::new("", "payers")
    }

    /// What the bank owes a merchant for QR codes that were paid, and has from it for transfers of a non-bank.
    pub(crate) fn float(client_id: &str) -> AccountKey {
        AccountKey::new("", &format!("float {client_id}"))
    }
}

/// Whether an account takes and gives money.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AccountState {
    #[default]
    Open,
    Closed,
    Dormant,
    /// Frozen by the bank or by a court.
    Blocked,
}

/// An account to open.
#[derive(Clone, Debug, Default)]
pub struct NewAccount {
    /// Three digits: one of `BANKS`.
    pub bank: String,
    pub number: String,
    pub name: String,
    /// The client id of the merchant that may look at it and send from it; none: a customer's.
    pub owner: Option<String>,
    /// What is brought in at once.
    pub balance: i64,
}

/// An account.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Account {
    pub key: AccountKey,
    pub name: String,
    pub owner: Option<String>,
    pub state: AccountState,
    /// With what is held.
    pub balance: i64,
    /// What transfers that are not decided yet hold.
    pub held: i64,
}

impl Account {
    pub fn available(&self) -> i64 {
        self.balance - self.held
    }
}

/// Money in or out of an account.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    pub at_ms: i64,
    /// Below 0 if it went out.
    pub amount: i64,
    pub balance_after: i64,
    pub remark: String,
    /// The bank's reference of what moved it.
    pub bank_reference: String,
}

struct Kept {
    account: Account,
    lines: VecDeque<Line>,
}

/// Money on its way from one account to another.
pub(super) struct Posting<'a> {
    pub(super) from: &'a AccountKey,
    pub(super) to: &'a AccountKey,
    pub(super) amount: i64,
    /// What the statement of each side says.
    pub(super) remarks: [&'a str; 2],
    pub(super) bank_reference: &'a str,
    pub(super) at_ms: i64,
}

/// All accounts.
#[derive(Default)]
pub(super) struct Books {
    accounts: BTreeMap<AccountKey, Kept>,
}

impl Books {
    /// Opens an account; one that is there keeps its money and gets the name and owner. Whether there was room.
    pub(super) fn open(&mut self, key: AccountKey, name: &str, owner: Option<String>) -> bool {
        if let Some(kept) = self.accounts.get_mut(&key) {
            name.clone_into(&mut kept.account.name);
            kept.account.owner = owner;
            return true;
        }
        if self.accounts.len() >= ACCOUNTS_MOST {
            return false;
        }
        let account =
            Account { key: key.clone(), name: name.to_owned(), owner, state: AccountState::Open, balance: 0, held: 0 };
        self.accounts.insert(key, Kept { account, lines: VecDeque::new() });
        true
    }

    pub(super) fn account(&self, key: &AccountKey) -> Option<&Account> {
        self.accounts.get(key).map(|kept| &kept.account)
    }

    pub(super) fn account_mut(&mut self, key: &AccountKey) -> Option<&mut Account> {
        self.accounts.get_mut(key).map(|kept| &mut kept.account)
    }

    /// What can be taken from an account; nothing where there is none.
    pub(super) fn available(&self, key: &AccountKey) -> i64 {
        self.account(key).map_or(0, Account::available)
    }

    /// The accounts at banks, without what the bank keeps for itself.
    pub(super) fn at_banks(&self) -> impl Iterator<Item = &Account> {
        self.accounts.values().map(|kept| &kept.account).filter(|account| !account.key.bank.is_empty())
    }

    /// The lines of an account, the oldest first.
    pub(super) fn lines(&self, key: &AccountKey) -> impl DoubleEndedIterator<Item = &Line> {
        self.accounts.get(key).into_iter().flat_map(|kept| kept.lines.iter())
    }

    /// Moves money. Both sides get a line; a side without an account is opened, as it is one of the bank's own.
    pub(super) fn post(&mut self, posting: &Posting<'_>) {
        for (key, amount, remark) in
            [(posting.from, -posting.amount, posting.remarks[0]), (posting.to, posting.amount, posting.remarks[1])]
        {
            if !self.accounts.contains_key(key) {
                self.open(key.clone(), "", None);
            }
            let Some(kept) = self.accounts.get_mut(key) else { continue };
            kept.account.balance += amount;
            // What the bank keeps for itself has no statement.
            if key.bank.is_empty() {
                continue;
            }
            if kept.lines.len() >= LINES_MOST {
                kept.lines.pop_front();
            }
            kept.lines.push_back(Line {
                at_ms: posting.at_ms,
                amount,
                balance_after: kept.account.balance,
                remark: remark.to_owned(),
                bank_reference: posting.bank_reference.to_owned(),
            });
        }
    }

    /// Sets money aside, or with a negative amount lets go of it.
    pub(super) fn hold(&mut self, key: &AccountKey, amount: i64) {
        if let Some(account) = self.account_mut(key) {
            account.held += amount;
        }
    }

    /// All balances together: 0 unless money was made or lost.
    pub(super) fn total(&self) -> i64 {
        self.accounts.values().map(|kept| kept.account.balance).sum()
    }
}
