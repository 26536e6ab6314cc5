//! Money that a bank tells of without an id: some banks say no more than that a number is paid. Such money is called by our
//! reference of its code, and is the same as money for that code which the bank tells of with an id, before or after.

use std::time::Duration;

use domain::{id::BankAccountId, opening::BankCode, receipt::ReceiptKey};
use gateway::snap::BankMoney;
use store::BookedMoney;

use crate::{Engine, Error};

/// Money that was paid later than this after other money is not the same: clocks of banks and ours are not further apart.
const SAME_MONEY_WITHIN: Duration = Duration::from_mins(5);

/// Money with a name: the bank's id of it, or our reference of its code.
pub(in crate::banks) struct NamedMoney {
    pub(in crate::banks) id: String,
    /// The same money as it is booked, where it was told without an id before, or is now.
    pub(in crate::banks) booked: Option<BookedMoney>,
    /// Whether the bank names it now for the first time. From then on no other name is about the same money.
    pub(in crate::banks) is_named_now: bool,
}

impl Engine {
    /// Names money that a bank tells of: by the bank's id, unless the bank tells of the same money without one.
    pub(in crate::banks) async fn name_money(
        &self,
        account_id: BankAccountId,
        code: Option<&BankCode>,
        money: &BankMoney,
    ) -> Result<NamedMoney, Error> {
        let own = || NamedMoney { id: money.receipt_id.clone(), booked: None, is_named_now: false };
        // Only virtual accounts are told of without an id.
        let Some(code) = code.filter(|code| money.is_unnamed() || code.number.is_some()) else { return Ok(own()) };
        let provider = account_id.to_string();
        let key = |id: &str| ReceiptKey { provider: provider.clone(), id: id.to_owned() };
        let by_code = name_by_code(code);
        let called_so = self.store.booked_money(&key(&by_code)).await?;
        let naming = match &called_so {
            Some(_) => self.store.money_naming(&key(&by_code)).await?,
            None => None,
        };
        if !money.is_unnamed() {
            let Some((booked, naming)) = called_so.zip(naming) else { return Ok(own()) };
            let is_named_now = naming.bank_id == by_code;
            let can_be_named_so = is_named_now || naming.bank_id == money.receipt_id;
            // The bank's id may stand for other money of the same amount beside it.
            let is_same = can_be_named_so
                && is_same(&booked, money, naming.lacks_amount)
                && self.store.booked_money(&key(&money.receipt_id)).await?.is_none();
            return Ok(if is_same { NamedMoney { id: by_code, booked: Some(booked), is_named_now } } else { own() });
        }
        let is_called_so = called_so.is_some();
        let lacks_amount = money.marks.lacks_amount || naming.is_some_and(|naming| naming.lacks_amount);
        if let Some(booked) = called_so.filter(|booked| is_same(booked, money, lacks_amount)) {
            return Ok(NamedMoney { id: by_code, booked: Some(booked), is_named_now: false });
        }
        let opening = self.store.opening(code.opening_id).await?.ok_or(Error::NotFound("opening"))?;
        if let Some(payment_id) = opening.payment_id() {
            let known = self.store.money_of_payment(&provider, payment_id).await?;
            let lacks_amount = money.marks.lacks_amount;
            if let Some((id, booked)) = known.into_iter().find(|(_, booked)| is_same(booked, money, lacks_amount)) {
                return Ok(NamedMoney { id, booked: Some(booked), is_named_now: false });
            }
        }
        let id = match money.paid_at.filter(|_| is_called_so) {
            Some(paid_at) => format!("{by_code} {}", paid_at.as_millis()),
            None => by_code,
        };
        Ok(NamedMoney { id, booked: None, is_named_now: false })
    }
}

/// What money without an id is called.
fn name_by_code(code: &BankCode) -> String {
    format!("{} paid", code.reference)
}

/// Whether money of which one telling has no id is the same: not paid later, and as much, unless one telling lacks the amount.
fn is_same(booked: &BookedMoney, money: &BankMoney, lacks_amount: bool) -> bool {
    let is_later = money.paid_at.is_some_and(|at| at > booked.paid_at.plus(SAME_MONEY_WITHIN));
    (lacks_amount || booked.amount == money.amount) && !is_later
}
