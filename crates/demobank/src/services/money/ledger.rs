//! Books, transfers and rules together: what carries a transfer or a refund out, and what becomes of it as time passes. Pure:
//! the time is given.
//!
//! Each order is carried out at most once here; whether two calls are one order is decided by their doors.

use std::collections::{HashMap, VecDeque};

use serde_json::Value;

use super::{
    books::{AccountKey, AccountState, Books, Posting},
    rules::MoneyRules,
    transfers::{Fate, Transfer, TransferState, Transfers},
};
use crate::{prepared::Service, time};

/// How many fates wait.
const FATES_MOST: usize = 10_000;
/// How many notices wait. The oldest are forgotten first.
const UNTOLD_MOST: usize = 10_000;

/// An order that its door has found to be new and in good shape.
pub(super) struct Order<'a> {
    pub(super) client_id: &'a str,
    pub(super) service: Service,
    pub(super) reference: &'a str,
    pub(super) bank_reference: String,
    pub(super) external_id: &'a str,
    pub(super) source: AccountKey,
    pub(super) beneficiary: AccountKey,
    pub(super) amount: i64,
    pub(super) remark: &'a str,
    pub(super) original: Option<String>,
    pub(super) now_ms: i64,
}

/// Why money does not move: the HTTP status and the case of the answer, and its words.
pub(super) struct Refusal {
    pub(super) status: u16,
    pub(super) case: &'static str,
    pub(super) words: &'static str,
}

pub(super) const fn refusal(status: u16, case: &'static str, words: &'static str) -> Refusal {
    Refusal { status, case, words }
}

/// All that the bank knows about money that leaves.
#[derive(Default)]
pub(crate) struct Ledger {
    pub(super) books: Books,
    pub(super) transfers: Transfers,
    fates: VecDeque<Fate>,
    /// What the merchants of transfers by 22 and 23 are not told of yet: the bank's reference, and the status.
    untold: VecDeque<(String, &'static str)>,
    rules: HashMap<String, MoneyRules>,
}

impl Ledger {
    pub(super) fn rules(&self, client_id: &str) -> MoneyRules {
        self.rules.get(client_id).copied().unwrap_or_default()
    }

    pub(super) fn set_rules(&mut self, client_id: &str, rules: MoneyRules) {
        self.rules.insert(client_id.to_owned(), rules);
    }

    pub(super) fn add_fate(&mut self, fate: Fate) {
        assert!(self.fates.len() < FATES_MOST, "at most {FATES_MOST} fates wait");
        self.fates.push_back(fate);
    }

    /// Lets what is due by now happen, in the order in which it is.
    pub(super) fn advance(&mut self, now_ms: i64) {
        while let Some((transfer, state, at_ms)) = self.transfers.take_due(now_ms) {
            self.end(&transfer, state, at_ms);
        }
    }

    /// Whether the rules that a merchant's orders have in common let this one pass.
    pub(super) fn check_rules(&self, client_id: &str, amount: i64, now_ms: i64) -> Result<(), Refusal> {
        let rules = self.rules(client_id);
        if rules.is_cut_off {
            return Err(refusal(403, "06", "Feature Not Allowed At This Time. [Cut off In Progress]"));
        }
        let (least, most) = rules.amounts;
        if !(least..=most).contains(&amount) {
            return Err(refusal(403, "02", "Exceeds Transaction Amount Limit"));
        }
        if rules.day_most == i64::MAX && rules.day_count_most == usize::MAX {
            return Ok(());
        }
        let today = time::day(now_ms);
        let is_of_today = |transfer: &&Transfer| {
            transfer.client_id == client_id && transfer.counts() && time::day(transfer.at_ms) == today
        };
        let amounts: Vec<i64> = self.transfers.all().filter(is_of_today).map(|transfer| transfer.amount).collect();
        if amounts.len() >= rules.day_count_most {
            return Err(refusal(403, "04", "Activity Count Limit Exceeded"));
        }
        if amounts.iter().sum::<i64>().saturating_add(amount) > rules.day_most {
            return Err(refusal(403, "23", "Account Limit Exceed"));
        }
        Ok(())
    }

    /// Carries an order out whose source has the money: at once, or as its fate says. The answer is written by `answer`.
    pub(super) fn carry_out(
        &mut self,
        order: Order<'_>,
        takes_ms: i64,
        answer: impl FnOnce(bool) -> Value,
    ) -> Transfer {
        let mut fate = self.fates.pop_front().unwrap_or_default();
        fate.takes_ms = fate.takes_ms.max(takes_ms);
        let rules = self.rules(order.client_id);
        if matches!(order.service, Service::Rtgs | Service::Skn) {
            fate.comes_back_ms = fate.comes_back_ms.or(rules.clearing_returns_ms);
        }
        fate.hidden_ms = fate.hidden_ms.max(if order.original.is_none() { rules.hidden_ms } else { 0 });
        let is_pending = fate.takes_ms > 0;
        let answer = answer(is_pending);
        let end = if fate.fails { TransferState::Failed } else { TransferState::Done };
        self.books.hold(&order.source, order.amount);
        let transfer = Transfer {
            state: TransferState::Pending,
            code: answer["responseCode"].as_str().unwrap_or_default().to_owned(),
            next: is_pending.then(|| (order.now_ms.saturating_add(fate.takes_ms), end)),
            ..self.record_of(order, fate, answer)
        };
        let id = transfer.bank_reference.clone();
        self.transfers.insert(transfer.clone());
        if !is_pending {
            self.end(&transfer, end, transfer.at_ms);
        }
        self.transfers.of_any(&id).cloned().unwrap_or(transfer)
    }

    /// Remembers an order that was refused, for the people who look at the screens and for questions about it.
    pub(super) fn refuse(&mut self, order: Order<'_>, code: &str) {
        let refused = self.record_of(order, Fate::default(), Value::Null);
        self.transfers.insert(Transfer { state: TransferState::Refused, code: code.to_owned(), ..refused });
    }

    fn record_of(&self, order: Order<'_>, fate: Fate, answer: Value) -> Transfer {
        Transfer {
            client_id: order.client_id.to_owned(),
            service: order.service,
            reference: order.reference.to_owned(),
            bank_reference: order.bank_reference,
            external_id: order.external_id.to_owned(),
            name: self.books.account(&order.beneficiary).map(|account| account.name.clone()).unwrap_or_default(),
            source: order.source,
            beneficiary: order.beneficiary,
            amount: order.amount,
            remark: order.remark.to_owned(),
            at_ms: order.now_ms,
            state: TransferState::Pending,
            code: String::new(),
            original: order.original,
            fate,
            next: None,
            answer,
        }
    }

    /// Ends a pending transfer, or brings back one that was done. Whether its state allowed that.
    pub(super) fn end(&mut self, transfer: &Transfer, state: TransferState, at_ms: i64) -> bool {
        let (id, amount) = (transfer.bank_reference.as_str(), transfer.amount);
        match (transfer.state, state) {
            (TransferState::Pending, TransferState::Done) => {
                let target = self.books.account(&transfer.beneficiary);
                let is_shut = target.is_some_and(|account| account.state != AccountState::Open);
                self.books.hold(&transfer.source, -amount);
                if is_shut {
                    self.transfers.set_state(id, TransferState::Failed, None);
                    self.note_untold(transfer, "06");
                    return true;
                }
                self.post(transfer, &transfer.source, &transfer.beneficiary, "", at_ms);
                let comes_back = transfer.fate.comes_back_ms;
                let next = comes_back.map(|after_ms| (at_ms.saturating_add(after_ms), TransferState::Returned));
                self.transfers.set_state(id, TransferState::Done, next);
                self.note_untold(transfer, "00");
            }
            (TransferState::Pending, TransferState::Failed) => {
                self.books.hold(&transfer.source, -amount);
                self.transfers.set_state(id, TransferState::Failed, None);
                self.note_untold(transfer, "06");
            }
            (TransferState::Done, TransferState::Returned) => {
                self.post(transfer, &transfer.beneficiary, &transfer.source, "RETURNED ", at_ms);
                self.transfers.set_state(id, TransferState::Returned, None);
                self.note_untold(transfer, "04");
            }
            _ => return false,
        }
        // One that takes no time at all to come back.
        self.advance(at_ms);
        true
    }

    /// Keeps what the merchant is to be told of a transfer through the clearing.
    fn note_untold(&mut self, transfer: &Transfer, status: &'static str) {
        if !matches!(transfer.service, Service::Rtgs | Service::Skn) {
            return;
        }
        if self.untold.len() >= UNTOLD_MOST {
            self.untold.pop_front();
        }
        self.untold.push_back((transfer.bank_reference.clone(), status));
    }

    /// What merchants are to be told, the oldest first. They are told once.
    pub(super) fn take_untold(&mut self) -> Vec<(String, &'static str)> {
        self.untold.drain(..).collect()
    }

    fn post(&mut self, transfer: &Transfer, from: &AccountKey, to: &AccountKey, prefix: &str, at_ms: i64) {
        let remark = if transfer.remark.is_empty() { &transfer.reference } else { &transfer.remark };
        let sender = self.books.account(&transfer.source).map(|account| account.name.clone()).unwrap_or_default();
        let out = format!("{prefix}TRSF {remark} {}", transfer.name);
        let arrives = format!("{prefix}TRSF {remark} {sender}");
        let remarks = if prefix.is_empty() { [&*out, &*arrives] } else { [&*arrives, &*out] };
        let bank_reference = &transfer.bank_reference;
        self.books.post(&Posting { from, to, amount: transfer.amount, remarks, bank_reference, at_ms });
    }
}
