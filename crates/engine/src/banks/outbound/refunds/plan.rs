//! Whether and how a refund can be sent now: by which account, by which rail, and what is in the way. What is known to be
//! refused is not sent.

use std::{sync::Arc, time::Duration};

use domain::{
    bank_request::{jakarta_day, jakarta_day_begin},
    destination::{AccountNumber, Destination, Rail, TransferBank},
    id::{BankAccountId, PaymentId},
    method::Method,
    money::Rupiah,
    opening::BankCode,
    payment::Payment,
    project::{Environment, Project},
    refund::{
        Failure, FailureKind, Refund, RefundRoad, RefundState,
        transfer::{AttemptState, TransferAttempt},
    },
    time::{DAY, HOUR, Timestamp},
};
use gateway::snap::{BankNamed, PaysFor, RefundReference, Service};
use store::{CodeName, PayingMoney, TriedWay};

use super::call::{Question, Reply};
use crate::{
    Engine, Error,
    banks::{contracts::open_account::OpenAccount, outbound::back_off::back_off},
};

/// After so many attempts another way must be found: by code it takes the customer's account, and then a person transfers it.
const ATTEMPTS_MOST: i64 = 30;
/// How long a refund waits after the bank said that the account lacks money.
const MONEY_WAIT: Duration = Duration::from_mins(10);
/// How long it waits after the bank did not take our message as it stands.
const SETUP_WAIT: Duration = Duration::from_mins(15);
/// When banks work again, in Jakarta.
const MORNING: Duration = Duration::from_hours(7);

/// How a refund goes on.
pub(super) enum Plan {
    Send(Box<Route>),
    /// Something is in the way that passes.
    Wait,
    /// It cannot go back the way that the money came.
    NeedAccount(String),
    /// No bank sends it: a person does.
    ByHand,
}

/// How a refund is sent.
pub(super) struct Route {
    pub(super) open: Arc<OpenAccount>,
    pub(super) way: Way,
}

pub(super) enum Way {
    /// By the code that the money came by.
    Code(Box<PaidCode>),
    Account {
        rail: Rail,
        to: Destination,
        number: AccountNumber,
    },
}

/// The code that a payment's money came by.
pub(super) struct PaidCode {
    pub(super) code: BankCode,
    pub(super) payment: Payment,
    /// What the issuer calls the payment.
    pub(super) rrn: Option<String>,
    /// Whether the refund gives all of the money back in one piece.
    pub(super) is_whole: bool,
}

impl Engine {
    /// How a refund that is ready goes on now.
    pub(super) async fn plan_refund(
        &self,
        project: &Project,
        refund: &Refund,
        payers: &[Arc<OpenAccount>],
    ) -> Result<Plan, Error> {
        let attempts = self.store.refund_attempts(refund.id).await?;
        let now = self.now();
        let is_live = attempts.iter().any(|attempt| attempt.state.may_be_done());
        if is_live || rests(&attempts, now) || self.outbound.is_nameless(refund.id, now) {
            return Ok(Plan::Wait);
        }
        match refund.road {
            RefundRoad::Qris => self.plan_by_code(refund, &tried(&attempts), now).await,
            RefundRoad::Transfer => self.plan_transfer(project, refund, &attempts, payers, now).await,
        }
    }

    async fn plan_by_code(&self, refund: &Refund, tried: &[TriedWay], now: Timestamp) -> Result<Plan, Error> {
        let Some((paid, open, money)) = self.code_of_refund(refund).await? else {
            return Ok(need(FailureKind::NotABanksCode));
        };
        let refunds = &open.parameters.refunds;
        if open.parameters.refund_service().is_none() {
            return Ok(need(FailureKind::NoRefunds));
        }
        if money.is_some_and(|money| !is_in_window(&open, &money, now)) {
            return Ok(need(FailureKind::WindowOver));
        }
        if lacks_reference(&open, &paid) || are_too_many(tried, RefundRoad::Qris) {
            return Ok(need(FailureKind::NotByCode));
        }
        let is_held_up = !open.account.enabled
            || self.outbound.is_resting(open.id(), now)
            || refunds.closed.opens_at(now).is_some()
            || (refunds.one_at_a_time && self.waits_for_another(refund).await?);
        if is_held_up {
            return Ok(Plan::Wait);
        }
        Ok(Plan::Send(Box::new(Route { open, way: Way::Code(Box::new(paid)) })))
    }

    /// The code that the money of a refund came by, with its account; none where no bank has issued it.
    pub(super) async fn code_of_refund(
        &self,
        refund: &Refund,
    ) -> Result<Option<(PaidCode, Arc<OpenAccount>, Option<PayingMoney>)>, Error> {
        match refund.of.payment() {
            Some(payment_id) => self.code_of_payment(payment_id, refund.amount).await,
            None => Ok(None),
        }
    }

    /// Whether a refund of a payment made now can go back by the code that was paid.
    pub(crate) async fn goes_back_by_code(&self, project: &Project, payment_id: PaymentId) -> Result<bool, Error> {
        if project.environment != Environment::Production {
            return Ok(true);
        }
        let found = self.code_of_payment(payment_id, Rupiah::ZERO).await?;
        let now = self.now();
        Ok(found.is_some_and(|(paid, open, money)| {
            open.parameters.refund_service().is_some()
                && money.is_none_or(|money| is_in_window(&open, &money, now))
                && !lacks_reference(&open, &paid)
        }))
    }

    async fn code_of_payment(
        &self,
        payment_id: PaymentId,
        amount: Rupiah,
    ) -> Result<Option<(PaidCode, Arc<OpenAccount>, Option<PayingMoney>)>, Error> {
        let money = self.store.paying_money(payment_id).await?;
        // Money that paid another payment's code may have been accepted for this one.
        let named = match &money {
            Some(PayingMoney { account_id, reference: Some(reference), .. }) => {
                self.store.bank_code(*account_id, CodeName::Reference(reference)).await?
            }
            _ => None,
        };
        let code = match named {
            Some(code) => code,
            None => {
                let Some(opening) = self.store.opening_of_payment(payment_id).await? else { return Ok(None) };
                match self.store.code_of_generation(opening.id, opening.generation).await? {
                    Some(code) => code,
                    None => return Ok(None),
                }
            }
        };
        let open = self.open_account(code.account_id).await?;
        let payment = self.known_payment(payment_id).await?;
        let received = money.as_ref().map_or(payment.terms.amount, |money| money.amount);
        let rrn = money.as_ref().and_then(|money| money.rrn.clone());
        let paid = PaidCode { code, payment, rrn, is_whole: amount == received };
        Ok(Some((paid, open, money)))
    }

    /// Whether another refund of the payment was sent by its code and has no end yet, or shall go first: of those that are ready,
    /// the earliest does.
    async fn waits_for_another(&self, refund: &Refund) -> Result<bool, Error> {
        let Some(payment_id) = refund.of.payment() else { return Ok(false) };
        let others = self.store.refunds_of_payment(payment_id).await?;
        let is_another = |other: &&Refund| {
            other.id != refund.id && other.road == RefundRoad::Qris && matches!(other.state, RefundState::Pending(_))
        };
        for other in others.iter().filter(is_another) {
            if other.id < refund.id && other.is_ready() {
                return Ok(true);
            }
            let attempts = self.store.refund_attempts(other.id).await?;
            if attempts.iter().any(|attempt| attempt.state.may_be_done()) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    async fn plan_transfer(
        &self,
        project: &Project,
        refund: &Refund,
        attempts: &[TransferAttempt],
        payers: &[Arc<OpenAccount>],
        now: Timestamp,
    ) -> Result<Plan, Error> {
        let assigned = self.store.project_accounts(project.id).await?;
        let payers = payers.iter().filter(|open| pays_for(open, project, &assigned));
        let Some((open, rail)) = carrier(payers, refund, &tried(attempts)) else { return Ok(Plan::ByHand) };
        let Some(to) = refund.destination.clone() else { return Ok(Plan::ByHand) };
        if self.outbound.is_resting(open.id(), now) || self.outbound.is_down(open.id(), now) {
            return Ok(Plan::Wait);
        }
        if last_lacked_money(attempts) && !self.has_money_again(open, refund).await? {
            return Ok(Plan::Wait);
        }
        let Some(number) = self.refund_number(refund).await? else { return Ok(Plan::ByHand) };
        Ok(Plan::Send(Box::new(Route { open: Arc::clone(open), way: Way::Account { rail, to, number } })))
    }

    /// Whether the account has money again, where the bank can be asked.
    async fn has_money_again(&self, open: &OpenAccount, refund: &Refund) -> Result<bool, Error> {
        if open.parameters.url(Service::Balance).is_none() {
            return Ok(true);
        }
        Ok(match self.ask_bank(open, &Question::Balance).await? {
            Ok(Reply::Balance(balance)) if balance < refund.amount => {
                self.outbound.rest(open.id(), self.now().plus(MONEY_WAIT));
                false
            }
            // What it does not say, the order will.
            _ => true,
        })
    }

    /// The accounts that pay the refunds of a project.
    pub(crate) async fn payers_of(&self, project: &Project) -> Result<Payers, Error> {
        let assigned = self.store.project_accounts(project.id).await?;
        let mut accounts = self.paying_accounts().await?;
        accounts.retain(|open| pays_for(open, project, &assigned));
        Ok(Payers(accounts))
    }

    /// The accounts that send transfers, oldest first.
    pub(super) async fn paying_accounts(&self) -> Result<Vec<Arc<OpenAccount>>, Error> {
        let mut payers = Vec::new();
        for account in self.store.bank_accounts().await?.into_iter().filter(|account| account.enabled) {
            // One whose settings are not understood any more keeps no other from paying.
            match self.account_at(account.id, account.version).await {
                Ok(open) if !open.parameters.transfers.rails.is_empty() => payers.push(open),
                Ok(_) => {}
                Err(error) => tracing::warn!(%error, account = %account.id, "a bank account cannot be used to pay"),
            }
        }
        Ok(payers)
    }
}

/// The accounts that pay the refunds of one project, oldest first.
pub(crate) struct Payers(Vec<Arc<OpenAccount>>);

impl Payers {
    /// Whether one of them sends a refund that nobody has put into a batch: now, or once nothing is in the way any more.
    pub(crate) fn carry(&self, refund: &Refund, tried: &[TriedWay]) -> bool {
        refund.is_ready() && carrier(self.0.iter(), refund, tried).is_some()
    }
}

/// How a refund was tried.
fn tried(attempts: &[TransferAttempt]) -> Vec<TriedWay> {
    attempts.iter().map(TriedWay::from).collect()
}

/// The account that sends a transfer, and its rail; none where a person does.
fn carrier<'a>(
    mut payers: impl Iterator<Item = &'a Arc<OpenAccount>>,
    refund: &Refund,
    tried: &[TriedWay],
) -> Option<(&'a Arc<OpenAccount>, Rail)> {
    let to = refund.destination.as_ref()?;
    if are_too_many(tried, RefundRoad::Transfer) {
        return None;
    }
    payers.find_map(|open| Some((open, rail_for(open, to, refund, tried)?)))
}

/// Whether an account pays the refunds of a project that takes money by these accounts.
pub(super) fn pays_for(open: &OpenAccount, project: &Project, assigned: &[(Method, BankAccountId)]) -> bool {
    match &open.parameters.transfers.pays_for {
        PaysFor::All => true,
        PaysFor::Projects(ids) => ids.contains(&project.id.to_string()),
        PaysFor::Assigned => assigned.iter().any(|(_, id)| *id == open.id()),
    }
}

/// A bank as orders name it.
pub(super) const fn bank_named(bank: &TransferBank) -> BankNamed<'_> {
    BankNamed { swift: bank.swift, three_digits: bank.code }
}

fn need(why: FailureKind) -> Plan {
    Plan::NeedAccount(Failure::from(why).reason())
}

fn is_in_window(open: &OpenAccount, money: &PayingMoney, now: Timestamp) -> bool {
    now <= money.paid_at.plus(DAY.saturating_mul(open.parameters.refunds.window_days))
}

/// Whether the bank wants the issuer's reference of the payment, and nobody has told it.
fn lacks_reference(open: &OpenAccount, paid: &PaidCode) -> bool {
    open.parameters.refunds.reference == RefundReference::Issuers && paid.rrn.is_none()
}

/// Whether so many attempts by a road came to nothing that no other follows.
fn are_too_many(tried: &[TriedWay], road: RefundRoad) -> bool {
    let is_of_road = |way: &&TriedWay| way.rail.is_none() == (road == RefundRoad::Qris);
    tried.iter().filter(is_of_road).map(|way| way.attempts).sum::<i64>() >= ATTEMPTS_MOST
}

/// The rail by which an account reaches a destination; one that the bank has refused for this refund is not tried again.
/// None where the account cannot name the destination's bank.
fn rail_for(open: &OpenAccount, to: &Destination, refund: &Refund, tried: &[TriedWay]) -> Option<Rail> {
    if !open.parameters.transfers.names(bank_named(to.bank)) {
        return None;
    }
    let is_own_bank = open.parameters.transfers.own_bank.as_deref() == Some(to.bank.code);
    let was_refused = |rail: Rail| {
        let of_rail = |way: &&TriedWay| way.account_id == open.id() && way.rail == Some(rail);
        tried.iter().filter(of_rail).any(|way| refusal(way) == Some(Refusal::Limit))
    };
    let leads_there = |rail: &Rail| matches!(rail, Rail::Intrabank | Rail::Wallet) || to.bank.rails.contains(rail);
    let mut rails = open.parameters.transfers.rails.carrying(refund.amount, is_own_bank).filter(leads_there);
    rails.find(|rail| !was_refused(*rail))
}

/// Why an attempt was refused, by the code that its answer begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Refusal {
    NoMoney,
    CutOff,
    Limit,
    /// The bank did not take our message: settings, keys or token.
    Setup,
    /// It was not reached.
    NotSent,
}

fn refusal(way: &TriedWay) -> Option<Refusal> {
    if way.state != AttemptState::Refused {
        return None;
    }
    let answer = way.answer.as_deref().unwrap_or_default();
    let code = answer.split(' ').next().unwrap_or_default();
    let (status, case) = (code.get(..3).unwrap_or_default(), code.get(5..).unwrap_or_default());
    Some(match (status, case) {
        ("403", "14") => Refusal::NoMoney,
        ("403", "06") => Refusal::CutOff,
        ("403" | "404", _) => Refusal::Limit,
        ("400" | "401", _) => Refusal::Setup,
        _ => Refusal::NotSent,
    })
}

fn last_lacked_money(attempts: &[TransferAttempt]) -> bool {
    attempts.last().is_some_and(|last| refusal(&last.into()) == Some(Refusal::NoMoney))
}

/// Whether it is too early for another attempt.
fn rests(attempts: &[TransferAttempt], now: Timestamp) -> bool {
    let Some(last) = attempts.last() else { return false };
    let Some(refusal) = refusal(&TriedWay::from(last)) else { return false };
    now < next_attempt_at(refusal, last)
}

fn next_attempt_at(refusal: Refusal, last: &TransferAttempt) -> Timestamp {
    let doublings = u32::try_from(last.number.clamp(1, 6) - 1).unwrap_or_default();
    match refusal {
        Refusal::NoMoney => last.updated_at.plus(MONEY_WAIT),
        Refusal::CutOff => morning_after(last.updated_at),
        Refusal::Limit => last.updated_at,
        Refusal::Setup => last.updated_at.plus((SETUP_WAIT * 2_u32.pow(doublings)).min(6 * HOUR)),
        Refusal::NotSent => last.updated_at.plus(back_off(last.number)),
    }
}

/// The next morning in Jakarta.
pub(super) fn morning_after(at: Timestamp) -> Timestamp {
    let morning = jakarta_day_begin(jakarta_day(at)).plus(MORNING);
    if at < morning { morning } else { morning.plus(DAY) }
}

#[cfg(test)]
mod tests {
    use domain::id::mint;

    use super::*;

    fn at(text: &str) -> Timestamp {
        Timestamp::parse(text).unwrap()
    }

    fn refused(answer: &str) -> TransferAttempt {
        let now = at("2026-01-15T10:00:00+07:00");
        TransferAttempt {
            refund_id: mint(now, [1; 10]),
            number: 1,
            account_id: mint(now, [2; 10]),
            reference: "R".to_owned(),
            external_id: "E".to_owned(),
            rail: Some(Rail::BiFast),
            state: AttemptState::Refused,
            bank_reference: None,
            answer: Some(answer.to_owned()),
            sent_at: now,
            updated_at: now,
            ask_at: None,
            asked: 0,
            statement: None,
        }
    }

    #[test]
    fn the_next_attempt_waits_for_what_kept_the_one_before() {
        for (answer, early, late) in [
            ("4031714 no money", "2026-01-15T10:09:59+07:00", "2026-01-15T10:10:00+07:00"),
            ("4031806 cut-off", "2026-01-16T06:59:59+07:00", "2026-01-16T07:00:00+07:00"),
            ("4001701 field", "2026-01-15T10:14:59+07:00", "2026-01-15T10:15:00+07:00"),
            ("not_reached", "2026-01-15T10:00:04+07:00", "2026-01-15T10:00:07+07:00"),
        ] {
            let attempts = [refused(answer)];
            assert!(rests(&attempts, at(early)), "{answer}");
            assert!(!rests(&attempts, at(late)), "{answer}");
        }
        assert!(!rests(&[refused("4031802 limit")], at("2026-01-15T10:00:00+07:00")), "another rail may take it");
        assert!(!rests(&[], at("2026-01-15T10:00:00+07:00")));
        assert_eq!(morning_after(at("2026-01-15T01:00:00+07:00")), at("2026-01-15T07:00:00+07:00"));
    }
}
