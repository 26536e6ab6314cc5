//! What callers hold of the bank's money: they open accounts, bring money in, set knobs and look at what became of it.

use super::{
    banks::bank_of,
    books::{Account, AccountKey, AccountState, Line, NewAccount, Posting},
    rules::MoneyRules,
    transfers::{Fate, Transfer, TransferState},
};
use crate::{journal::held, services::bank::BankServices};

/// Customers of a rehearsal: a bank, a number and a name each.
const PEOPLE: [(&str, &str, &str); 8] = [
    ("014", "1234567890", "BUDI SANTOSO"),
    ("014", "2345678901", "SITI AMINAH"),
    ("002", "123401000567530", "DEWI LESTARI"),
    ("008", "1310098765432", "AGUS WIJAYA"),
    ("009", "0987654321", "RINA KARTIKA"),
    ("022", "706512345678", "HENDRA GUNAWAN"),
    ("451", "7112345678", "NUR HIDAYAH"),
    ("542", "105512345678", "YOGA PRATAMA"),
];

/// An account whose state shows what inquiries and transfers are refused with.
const CLOSED: (&str, &str, &str) = ("014", "9999999999", "AKUN DITUTUP");

/// The bank has no such account, no such transfer, or none whose state allows it.
#[derive(Debug, PartialEq, Eq)]
pub struct NoSuchMoney;

impl std::fmt::Display for NoSuchMoney {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("the bank has no such account or transfer, or its state does not allow this")
    }
}

impl std::error::Error for NoSuchMoney {}

impl BankServices {
    /// Opens an account; one that is there gets the name and the owner, and the money on top.
    ///
    /// # Panics
    ///
    /// If there is no bank with this code, or no room for one more account.
    pub fn open_account(&self, new: NewAccount) {
        assert!(bank_of(&new.bank).is_some(), "{} is the code of a bank", new.bank);
        let key = AccountKey::new(&new.bank, &new.number);
        let opened = held(&self.ledger).books.open(key, &new.name, new.owner);
        assert!(opened, "there is room for one more account");
        if new.balance > 0 {
            self.deposit(&new.bank, &new.number, new.balance, "OPENING BALANCE").unwrap_or_default();
        }
    }

    /// Opens accounts of customers at several banks, one of them closed.
    pub fn open_people(&self) {
        for (bank, number, name) in PEOPLE.into_iter().chain([CLOSED]) {
            let (bank, number, name) = (bank.to_owned(), number.to_owned(), name.to_owned());
            self.open_account(NewAccount { bank, number, name, owner: None, balance: 0 });
        }
        let (bank, number, _) = CLOSED;
        self.set_account_state(bank, number, AccountState::Closed).unwrap_or_default();
    }

    /// Brings money into an account from outside.
    pub fn deposit(&self, bank: &str, number: &str, amount: i64, remark: &str) -> Result<(), NoSuchMoney> {
        let key = AccountKey::new(bank, number);
        self.account(bank, number).filter(|_| amount > 0).ok_or(NoSuchMoney)?;
        self.post_outside(&AccountKey::outside(), &key, amount, remark);
        Ok(())
    }

    /// Takes money out of an account, as far as it is there.
    pub fn withdraw(&self, bank: &str, number: &str, amount: i64, remark: &str) -> Result<(), NoSuchMoney> {
        let key = AccountKey::new(bank, number);
        let account = self.account(bank, number).ok_or(NoSuchMoney)?;
        if amount <= 0 || account.available() < amount {
            return Err(NoSuchMoney);
        }
        self.post_outside(&key, &AccountKey::outside(), amount, remark);
        Ok(())
    }

    /// Brings money to what the bank has of a merchant for transfers of a non-bank and for refunds; below 0, takes it away.
    pub fn deposit_float(&self, client_id: &str, amount: i64) {
        let (float, outside) = (AccountKey::float(client_id), AccountKey::outside());
        self.post_outside(&outside, &float, amount, "DEPOSIT");
    }

    /// What the bank has of a merchant for transfers of a non-bank and for refunds.
    pub fn float(&self, client_id: &str) -> i64 {
        self.look(|ledger| ledger.books.available(&AccountKey::float(client_id)))
    }

    /// The same for every merchant that has or had any: its name, and the amount.
    pub(crate) fn floats(&self) -> Vec<(String, i64)> {
        let mut floats: Vec<(String, i64)> = held(&self.members)
            .values()
            .map(|member| (member.merchant.name.clone(), self.float(&member.merchant.client_id)))
            .filter(|(_, amount)| *amount != 0)
            .collect();
        floats.sort();
        floats
    }

    pub fn set_account_state(&self, bank: &str, number: &str, state: AccountState) -> Result<(), NoSuchMoney> {
        let mut ledger = held(&self.ledger);
        ledger.books.account_mut(&AccountKey::new(bank, number)).ok_or(NoSuchMoney)?.state = state;
        Ok(())
    }

    /// Gives an account another name, which inquiries say from now on.
    pub fn rename_account(&self, bank: &str, number: &str, name: &str) -> Result<(), NoSuchMoney> {
        let mut ledger = held(&self.ledger);
        let account = ledger.books.account_mut(&AccountKey::new(bank, number)).ok_or(NoSuchMoney)?;
        name.clone_into(&mut account.name);
        Ok(())
    }

    pub fn set_money_rules(&self, client_id: &str, rules: MoneyRules) {
        held(&self.ledger).set_rules(client_id, rules);
    }

    /// What becomes of a coming transfer or refund that is carried out. Fates are used up in the order in which they were
    /// given.
    pub fn fate_of_next(&self, fate: Fate) {
        held(&self.ledger).add_fate(fate);
    }

    /// Ends a pending transfer or refund now, as done or failed, or brings back one that was done, by either reference.
    pub fn end_transfer(&self, reference: &str, state: TransferState) -> Result<(), NoSuchMoney> {
        let now_ms = self.now_ms();
        let mut ledger = held(&self.ledger);
        ledger.advance(now_ms);
        let transfer = ledger.transfers.of_any(reference).cloned().ok_or(NoSuchMoney)?;
        if ledger.end(&transfer, state, now_ms) { Ok(()) } else { Err(NoSuchMoney) }
    }

    pub fn account(&self, bank: &str, number: &str) -> Option<Account> {
        self.look(|ledger| ledger.books.account(&AccountKey::new(bank, number)).cloned())
    }

    /// All accounts at banks, by bank and number.
    pub fn accounts(&self) -> Vec<Account> {
        self.look(|ledger| ledger.books.at_banks().cloned().collect())
    }

    /// What came to and went from an account, the oldest first.
    pub fn lines(&self, bank: &str, number: &str) -> Vec<Line> {
        self.look(|ledger| ledger.books.lines(&AccountKey::new(bank, number)).cloned().collect())
    }

    /// All transfers and refunds, with those that were refused, the oldest first.
    pub fn transfers(&self) -> Vec<Transfer> {
        self.look(|ledger| ledger.transfers.all().cloned().collect())
    }

    /// The newest transfer or refund with this reference, of the merchant or of the bank.
    pub fn transfer(&self, reference: &str) -> Option<Transfer> {
        self.look(|ledger| ledger.transfers.of_any(reference).cloned())
    }

    /// The refunds of a code, by the bank's reference of it, the oldest first.
    pub fn refunds_of(&self, bank_reference: &str) -> Vec<Transfer> {
        self.look(|ledger| ledger.transfers.refunds_of(bank_reference).cloned().collect())
    }

    /// All balances together, with what is outside: 0 unless the bank has made or lost money.
    pub fn books_total(&self) -> i64 {
        self.look(|ledger| ledger.books.total())
    }

    /// A person pays a code, or the bank takes the money of a payment out of its books again, with an amount below 0.
    pub(crate) fn book_payment(&self, client_id: &str, amount: i64) {
        let (payers, float) = (AccountKey::payers(), AccountKey::float(client_id));
        self.post_outside(&payers, &float, amount, "");
    }

    fn post_outside(&self, from: &AccountKey, to: &AccountKey, amount: i64, remark: &str) {
        let at_ms = self.now_ms();
        let mut ledger = held(&self.ledger);
        ledger.advance(at_ms);
        ledger.books.post(&Posting { from, to, amount, remarks: [remark, remark], bank_reference: "", at_ms });
    }

    /// Looks at the books as they are now.
    fn look<T>(&self, read: impl FnOnce(&super::ledger::Ledger) -> T) -> T {
        let now_ms = self.now_ms();
        let mut ledger = held(&self.ledger);
        ledger.advance(now_ms);
        read(&ledger)
    }
}
