//! What callers hold: a bank with its merchants, codes, faults and a record of the calls that it received.

use std::{
    collections::{HashMap, VecDeque},
    sync::{Arc, Mutex},
};

use super::{
    codes::{Code, Codes},
    external_ids::ExternalIds,
    faults::{Fault, Faults},
    habits::Habits,
    holds::Holds,
    money::Ledger,
};
use crate::{
    bank::{Bank, Clock},
    contract::Contract,
    journal::held,
    prepared::Service,
};

const CALLS_MOST: usize = 100_000;

/// What the bank holds about a merchant that calls it. It has no `Debug`, since it holds a secret.
#[derive(Clone)]
pub struct Merchant {
    pub client_id: String,
    pub client_secret: String,
    /// The merchant's RSA key, in PEM.
    pub public_key_pem: String,
    /// `X-PARTNER-ID`; none: any with type 1, the client id with type 2.
    pub partner_id: Option<String>,
    /// The name that people see who scan a QR.
    pub name: String,
}

/// Where the bank tells a merchant of money: the same contract that a [`Bank`] calls the merchant's doors with.
#[derive(Clone)]
pub struct NotifyDoor {
    pub bank: Arc<Bank>,
    pub contract: Contract,
}

/// A call that the bank received.
#[derive(Clone, Debug)]
pub struct Call {
    /// None for a path that the bank does not have.
    pub service: Option<Service>,
    pub method: String,
    pub path: String,
    pub external_id: String,
    /// `partnerRefundNo`, `partnerReferenceNo`, `originalPartnerReferenceNo` or `trxId`; empty if the body has none.
    pub reference: String,
    pub body: String,
    /// What the bank meant to answer; empty if it did nothing.
    pub code: String,
}

/// A bank with doors of its own.
pub struct BankServices {
    clock: Clock,
    pub(super) members: Mutex<HashMap<String, Arc<Member>>>,
    /// By token: whose it is, and when its life ends.
    pub(super) tokens: Mutex<HashMap<String, (String, i64)>>,
    pub(super) external_ids: Mutex<ExternalIds>,
    pub(super) codes: Mutex<Codes>,
    pub(super) faults: Mutex<Faults>,
    /// Locked after `codes` where both are.
    pub(super) ledger: Mutex<Ledger>,
    pub(super) holds: Holds,
    calls: Mutex<VecDeque<Call>>,
}

/// A merchant, how it is dealt with, and where it is told of money.
#[derive(Clone)]
pub(super) struct Member {
    pub(super) merchant: Merchant,
    pub(super) habits: Habits,
    pub(super) door: Option<NotifyDoor>,
}

impl BankServices {
    pub fn new(clock: Clock) -> Arc<BankServices> {
        Arc::new(BankServices {
            clock,
            members: Mutex::default(),
            tokens: Mutex::default(),
            external_ids: Mutex::default(),
            codes: Mutex::default(),
            faults: Mutex::default(),
            ledger: Mutex::default(),
            holds: Holds::default(),
            calls: Mutex::default(),
        })
    }

    /// Lets a merchant in, in place of one with its client id, and deals with it as the standard says.
    pub fn register(&self, merchant: Merchant) {
        self.register_with(merchant, Habits::GENERIC);
    }

    /// Lets a merchant in, in place of one with its client id.
    pub fn register_with(&self, merchant: Merchant, habits: Habits) {
        let mut members = held(&self.members);
        let door = members.get(&merchant.client_id).and_then(|member| member.door.clone());
        members.insert(merchant.client_id.clone(), Arc::new(Member { merchant, habits, door }));
    }

    /// Deals with a registered merchant otherwise from now on.
    pub fn change_habits(&self, client_id: &str, change: impl FnOnce(&mut Habits)) {
        let mut members = held(&self.members);
        if let Some(member) = members.get(client_id) {
            let mut member = Member::clone(member);
            change(&mut member.habits);
            members.insert(client_id.to_owned(), Arc::new(member));
        }
    }

    /// Tells a registered merchant of money from now on, or with `None` no more.
    pub fn notify_at(&self, client_id: &str, door: Option<NotifyDoor>) {
        let mut members = held(&self.members);
        let member = members.get(client_id).map(|member| Arc::new(Member { door, ..Member::clone(member) }));
        members.extend(member.map(|member| (client_id.to_owned(), member)));
    }

    /// Makes a coming call of any service fail. Faults are used up in the order in which they were given, one for each
    /// call.
    pub fn fail_next(&self, fault: Fault) {
        held(&self.faults).push(None, fault);
    }

    /// Makes a coming call of one service fail.
    pub fn fail_next_of(&self, service: Service, fault: Fault) {
        held(&self.faults).push(Some(service), fault);
    }

    /// Makes every call of a service fail that has no fault of its own, until `None` ends it.
    pub fn fail_every(&self, service: Service, fault: Option<Fault>) {
        held(&self.faults).set_every(service, fault);
    }

    /// Returns once at least this many calls wait by `Fault::HeldBefore` or `Fault::HeldAfter`.
    pub async fn wait_held(&self, least: usize) {
        self.holds.until(least).await;
    }

    /// Lets all calls go on that wait.
    pub fn release(&self) {
        self.holds.release();
    }

    /// The calls that the bank received, the oldest first.
    pub fn calls(&self) -> Vec<Call> {
        held(&self.calls).iter().cloned().collect()
    }

    /// The calls of one service, the oldest first.
    pub fn calls_of(&self, service: Service) -> Vec<Call> {
        held(&self.calls).iter().filter(|call| call.service == Some(service)).cloned().collect()
    }

    /// All codes that the bank has issued, the oldest first.
    pub fn codes(&self) -> Vec<Code> {
        held(&self.codes).all().cloned().collect()
    }

    /// The newest code with this QR text, number, bank's reference or merchant's reference.
    pub fn code(&self, name: &str) -> Option<Code> {
        held(&self.codes).of_any(name).cloned()
    }

    /// The present time by the bank's clock.
    pub fn now_ms(&self) -> i64 {
        (self.clock)()
    }

    pub(super) fn member(&self, client_id: &str) -> Option<Arc<Member>> {
        held(&self.members).get(client_id).cloned()
    }

    pub(super) fn record(&self, call: Call) {
        let mut calls = held(&self.calls);
        if calls.len() >= CALLS_MOST {
            calls.pop_front();
        }
        calls.push_back(call);
    }
}
