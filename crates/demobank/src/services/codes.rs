//! The codes that the bank has issued, in memory and bounded. Pure: the time is given.

use std::collections::{HashMap, VecDeque};

use serde_json::Value;

/// How many codes are remembered. The oldest are forgotten first.
const CODES_MOST: usize = 100_000;
/// How many payments of one code are remembered.
const PAYMENTS_MOST: usize = 1_000;

/// What kind of code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CodeKind {
    Qr,
    Va,
}

/// Where a code stands. That it has expired follows from the time: see [`Code::is_expired`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CodeState {
    Unpaid,
    /// Someone is paying: 02.
    Processing,
    Paid,
    Refunded,
    /// Cancelled by the merchant.
    Voided,
    Failed,
}

/// Money for a code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodePayment {
    /// The RRN of a QR, the `paymentRequestId` of a virtual account.
    pub receipt_id: String,
    pub amount: i64,
    pub paid_at_ms: i64,
    /// What the bank keeps, where its report says so.
    pub fee: Option<i64>,
}

/// A code that the bank has issued.
#[derive(Clone, Debug)]
pub struct Code {
    pub kind: CodeKind,
    /// Whose it is.
    pub client_id: String,
    /// The merchant's reference: `partnerReferenceNo` or `trxId`.
    pub reference: String,
    /// The bank's own reference.
    pub bank_reference: String,
    /// The text of a QR, or the whole number of a virtual account without padding.
    pub content: String,
    /// `partnerServiceId` of a virtual account, without padding.
    pub company_code: String,
    /// The merchant of a QR, the customer of a virtual account.
    pub name: String,
    pub amount: i64,
    pub created_at_ms: i64,
    pub expires_at_ms: Option<i64>,
    pub state: CodeState,
    /// The oldest first. All but the first are money that came once too often.
    pub payments: Vec<CodePayment>,
    /// The order, without white space, and what it was answered with.
    pub(super) order: String,
    pub(super) answer: Value,
}

impl Code {
    /// Whether it has waited for money until its end.
    pub fn is_expired(&self, now_ms: i64) -> bool {
        self.state == CodeState::Unpaid && self.expires_at_ms.is_some_and(|ends_at_ms| ends_at_ms <= now_ms)
    }

    /// All that was paid to it.
    pub fn taken(&self) -> i64 {
        self.payments.iter().map(|payment| payment.amount).sum()
    }

    /// `customerNo` of a virtual account.
    pub(super) fn customer_number(&self) -> &str {
        self.content.strip_prefix(self.company_code.as_str()).unwrap_or(&self.content)
    }
}

/// All codes, by the bank's reference.
#[derive(Default)]
pub(super) struct Codes {
    codes: HashMap<String, Code>,
    /// The bank's references, the oldest first.
    order: VecDeque<String>,
    /// By client id and the merchant's reference.
    by_reference: HashMap<(String, String), String>,
    /// By QR text and by number. A number that was issued again leads to its newest code.
    by_content: HashMap<String, String>,
}

impl Codes {
    pub(super) fn insert(&mut self, code: Code) {
        if self.order.len() >= CODES_MOST {
            self.forget_oldest();
        }
        let id = code.bank_reference.clone();
        self.by_reference.insert((code.client_id.clone(), code.reference.clone()), id.clone());
        self.by_content.insert(code.content.clone(), id.clone());
        self.order.push_back(id.clone());
        self.codes.insert(id, code);
    }

    fn forget_oldest(&mut self) {
        let Some(code) = self.order.pop_front().and_then(|oldest| self.codes.remove(&oldest)) else { return };
        self.by_reference.remove(&(code.client_id, code.reference));
        // A number that was issued again leads to a newer code.
        if self.by_content.get(&code.content) == Some(&code.bank_reference) {
            self.by_content.remove(&code.content);
        }
    }

    /// A merchant's code by the merchant's reference.
    pub(super) fn of_reference(&mut self, client_id: &str, reference: &str) -> Option<&mut Code> {
        let id = self.by_reference.get(&(client_id.to_owned(), reference.to_owned()))?;
        self.codes.get_mut(id)
    }

    /// A merchant's code by the bank's reference.
    pub(super) fn of_bank_reference(&mut self, client_id: &str, bank_reference: &str) -> Option<&mut Code> {
        self.codes.get_mut(bank_reference).filter(|code| code.client_id == client_id)
    }

    /// A merchant's virtual account by its number.
    pub(super) fn of_number(&mut self, client_id: &str, number: &str) -> Option<&mut Code> {
        let code = self.codes.get_mut(self.by_content.get(number)?)?;
        Some(code).filter(|code| code.client_id == client_id && code.kind == CodeKind::Va)
    }

    /// The newest code by any of its names: QR text, number, the bank's reference or the merchant's.
    pub(super) fn of_any(&mut self, name: &str) -> Option<&mut Code> {
        let by_reference =
            || self.order.iter().rev().find(|id| self.codes.get(*id).is_some_and(|it| it.reference == name));
        let id = match self.by_content.get(name) {
            Some(id) => id.clone(),
            None if self.codes.contains_key(name) => name.to_owned(),
            None => by_reference()?.clone(),
        };
        self.codes.get_mut(&id)
    }

    pub(super) fn contains_number(&self, number: &str) -> bool {
        self.by_content.contains_key(number)
    }

    /// The oldest first.
    pub(super) fn all(&self) -> impl Iterator<Item = &Code> {
        self.order.iter().filter_map(|id| self.codes.get(id))
    }
}

impl Code {
    /// Takes money, also money that comes too late or once too often: a bank that has it cannot refuse it.
    pub(super) fn take(&mut self, payment: CodePayment) {
        self.state = CodeState::Paid;
        if self.payments.len() < PAYMENTS_MOST {
            self.payments.push(payment);
        }
    }
}
