//! Whether money that a bank tells us of is in our books, and under which key: ids of banks are known to repeat, since
//! several issuers count for themselves, and some count anew each day.

use std::time::Duration;

use domain::{id::BankAccountId, opening::BankCode, receipt::ReceiptKey};
use gateway::snap::BankMoney;
use store::BookedMoney;

use crate::{Engine, Error};

/// How far a bank's clock may be behind ours. It is far less than a number rests before another code has it.
pub(super) const CLOCKS_APART: Duration = Duration::from_hours(24);

/// Under which key money is booked, or would be.
pub(super) struct MoneyKey {
    pub(super) key: ReceiptKey,
    /// Whether the bank's id of the money is that of other money.
    pub(super) reused: bool,
    /// None if the money is new.
    pub(super) booked: Option<BookedMoney>,
}

impl Engine {
    /// The key of money that a bank has taken, for a code of ours if it names one.
    pub(super) async fn money_key(
        &self,
        account_id: BankAccountId,
        code: Option<&BankCode>,
        money: &BankMoney,
    ) -> Result<MoneyKey, Error> {
        let key = ReceiptKey { provider: account_id.to_string(), id: money.receipt_id.clone() };
        let booked = self.store.booked_money(&key).await?;
        if let (Some(code), Some(booked)) = (code, &booked)
            && self.is_other(booked, code, money).await?
        {
            let key = key.reused_by(&code.reference);
            let booked = self.store.booked_money(&key).await?;
            return Ok(MoneyKey { key, reused: true, booked });
        }
        Ok(MoneyKey { key, reused: false, booked })
    }

    /// Whether what is booked under the id of this money is other money.
    async fn is_other(&self, booked: &BookedMoney, code: &BankCode, money: &BankMoney) -> Result<bool, Error> {
        // Money from long before the code was for an earlier code with its number.
        if money.paid_at.is_some_and(|at| at < code.asked_at.minus(CLOCKS_APART)) {
            return Ok(false);
        }
        if let Some(number) = &booked.stray_number {
            let names = [Some(&code.reference), code.bank_reference.as_ref(), code.number.as_ref()];
            let is_alike = (money.amount, money.paid_at) == (booked.amount, Some(booked.paid_at));
            if is_alike || names.contains(&Some(number)) {
                return Ok(false);
            }
        }
        let opening = self.store.opening(code.opening_id).await?.ok_or(Error::NotFound("opening"))?;
        Ok(match booked.payment_id {
            Some(payment_id) => opening.payment_id() != Some(payment_id),
            None => opening.payment_id().is_some(),
        })
    }
}
