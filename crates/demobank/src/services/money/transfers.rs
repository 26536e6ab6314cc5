//! What moves money: transfers and refunds, what becomes of each in time, and how they are found again. Pure: the time is
//! given.

use std::collections::{BTreeSet, HashMap, VecDeque};

use serde_json::Value;

use super::books::AccountKey;
use crate::prepared::Service;

/// How many are remembered. The oldest are forgotten first.
const TRANSFERS_MOST: usize = 100_000;

/// Where a transfer or a refund stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransferState {
    /// Its money is held.
    Pending,
    Done,
    /// It was done, and the money came back.
    Returned,
    /// It was pending, and its money was let go.
    Failed,
    /// It was refused at once.
    Refused,
}

/// What becomes of a transfer or a refund that is carried out. The default: it is done at once and stays so.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fate {
    /// It is answered with 202xx00, and pending for so long.
    pub takes_ms: i64,
    /// It fails at the end of `takes_ms` and is not done.
    pub fails: bool,
    /// It comes back so long after it was done.
    pub comes_back_ms: Option<i64>,
    /// 36 does not find it for so long, and `refundHistory[]` does not have it.
    pub hidden_ms: i64,
}

/// Whether money goes out or a payment is given back. The two have references of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Kind {
    Transfer,
    Refund,
}

/// Money that a merchant has sent, or wanted to send.
#[derive(Clone, Debug)]
pub struct Transfer {
    pub client_id: String,
    pub service: Service,
    /// `partnerReferenceNo`, or `partnerRefundNo` of a refund.
    pub reference: String,
    /// The bank's: `referenceNo`, or `refundNo`.
    pub bank_reference: String,
    /// `X-EXTERNAL-ID`.
    pub external_id: String,
    pub source: AccountKey,
    pub beneficiary: AccountKey,
    /// Whose the beneficiary's account is, by the books of its bank.
    pub name: String,
    pub amount: i64,
    pub remark: String,
    pub at_ms: i64,
    pub state: TransferState,
    /// The code that it was answered with first.
    pub code: String,
    /// Of a refund: the bank's reference of the QR code that it gives back.
    pub original: Option<String>,
    pub(super) fate: Fate,
    /// When it changes by itself, and into what.
    pub(super) next: Option<(i64, TransferState)>,
    pub(super) answer: Value,
}

impl Transfer {
    pub(super) fn kind(&self) -> Kind {
        if self.original.is_some() { Kind::Refund } else { Kind::Transfer }
    }

    /// Whether questions about it are answered as if there were none.
    pub(super) fn is_hidden(&self, now_ms: i64) -> bool {
        now_ms < self.at_ms.saturating_add(self.fate.hidden_ms)
    }

    /// Whether its money has left or is held for it.
    pub(super) fn counts(&self) -> bool {
        matches!(self.state, TransferState::Pending | TransferState::Done)
    }
}

/// All transfers and refunds, by the bank's reference.
#[derive(Default)]
pub(super) struct Transfers {
    transfers: HashMap<String, Transfer>,
    /// The bank's references, the oldest first.
    order: VecDeque<String>,
    /// The newest with a reference, and with an external id, of a client.
    by_reference: HashMap<(String, Kind, String), String>,
    by_external_id: HashMap<(String, Kind, String), String>,
    /// The bank's references of the refunds of a QR code, the oldest first.
    by_original: HashMap<String, Vec<String>>,
    due: BTreeSet<(i64, String)>,
}

impl Transfers {
    pub(super) fn insert(&mut self, transfer: Transfer) {
        if self.order.len() >= TRANSFERS_MOST {
            self.forget_oldest();
        }
        let id = transfer.bank_reference.clone();
        let key = |name: &str| (transfer.client_id.clone(), transfer.kind(), name.to_owned());
        self.by_reference.insert(key(&transfer.reference), id.clone());
        self.by_external_id.insert(key(&transfer.external_id), id.clone());
        if let Some(original) = &transfer.original {
            self.by_original.entry(original.clone()).or_default().push(id.clone());
        }
        if let Some((at_ms, _)) = transfer.next {
            self.due.insert((at_ms, id.clone()));
        }
        self.order.push_back(id.clone());
        self.transfers.insert(id, transfer);
    }

    fn forget_oldest(&mut self) {
        let Some(old) = self.order.pop_front().and_then(|oldest| self.transfers.remove(&oldest)) else { return };
        let kind = old.kind();
        for (map, name) in [(&mut self.by_reference, &old.reference), (&mut self.by_external_id, &old.external_id)] {
            let key = (old.client_id.clone(), kind, name.clone());
            // A reference that was used again leads to a newer one.
            if map.get(&key) == Some(&old.bank_reference) {
                map.remove(&key);
            }
        }
        if let Some(original) = &old.original {
            self.by_original.remove(original);
        }
        if let Some((at_ms, _)) = old.next {
            self.due.remove(&(at_ms, old.bank_reference));
        }
    }

    pub(super) fn of_reference(&self, client_id: &str, kind: Kind, reference: &str) -> Option<&Transfer> {
        let id = self.by_reference.get(&(client_id.to_owned(), kind, reference.to_owned()))?;
        self.transfers.get(id)
    }

    pub(super) fn of_external_id(&self, client_id: &str, kind: Kind, external_id: &str) -> Option<&Transfer> {
        let id = self.by_external_id.get(&(client_id.to_owned(), kind, external_id.to_owned()))?;
        self.transfers.get(id)
    }

    /// A client's by the bank's reference.
    pub(super) fn of_bank_reference(&self, client_id: &str, bank_reference: &str) -> Option<&Transfer> {
        self.transfers.get(bank_reference).filter(|transfer| transfer.client_id == client_id)
    }

    /// The newest by the bank's reference or the merchant's.
    pub(super) fn of_any(&self, name: &str) -> Option<&Transfer> {
        let newest = || self.all().rev().find(|transfer| transfer.reference == name);
        self.transfers.get(name).or_else(newest)
    }

    /// The refunds of a QR code, the oldest first.
    pub(super) fn refunds_of(&self, original: &str) -> impl Iterator<Item = &Transfer> {
        self.by_original.get(original).into_iter().flatten().filter_map(|id| self.transfers.get(id))
    }

    /// The oldest first.
    pub(super) fn all(&self) -> impl DoubleEndedIterator<Item = &Transfer> {
        self.order.iter().filter_map(|id| self.transfers.get(id))
    }

    /// The first that is due by now, with what it becomes and when. It is due no more.
    pub(super) fn take_due(&mut self, now_ms: i64) -> Option<(Transfer, TransferState, i64)> {
        let (at_ms, id) = self.due.first().filter(|(at_ms, _)| *at_ms <= now_ms).cloned()?;
        self.due.pop_first();
        let transfer = self.transfers.get_mut(&id)?;
        let (_, state) = transfer.next.take()?;
        Some((transfer.clone(), state, at_ms))
    }

    /// Moves one to a state, which lasts until `next` if there is one.
    pub(super) fn set_state(&mut self, bank_reference: &str, state: TransferState, next: Option<(i64, TransferState)>) {
        let Some(transfer) = self.transfers.get_mut(bank_reference) else { return };
        if let Some((at_ms, _)) = transfer.next {
            self.due.remove(&(at_ms, bank_reference.to_owned()));
        }
        transfer.state = state;
        transfer.next = next;
        if let Some((at_ms, _)) = next {
            self.due.insert((at_ms, bank_reference.to_owned()));
        }
    }
}
