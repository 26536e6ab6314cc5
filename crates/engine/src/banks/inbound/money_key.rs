//! Whether money that a bank tells us of is in our books, and under which key: ids of banks are known to repeat, since
//! several issuers count for themselves, and some count anew each day.

use std::time::Duration;

use domain::{
    bank_money::MoneyMarks,
    id::BankAccountId,
    opening::{BankCode, MoneySource},
    receipt::ReceiptKey,
};
use gateway::snap::{About, BankMoney};
use store::{BookedMoney, MarkedMoney};

use super::unnamed_money::NamedMoney;
use crate::{Engine, Error, banks::outbound::rows::name_given};

/// How far a bank's clock may be behind ours. It is far less than a number rests before another code has it.
pub(in crate::banks) const CLOCKS_APART: Duration = Duration::from_hours(24);
/// Keys that are tried for money whose id other money has.
const KEYS_MOST: usize = 64;

/// Money that a bank has told us of.
pub(in crate::banks) struct ToldOf<'a> {
    pub(in crate::banks) account_id: BankAccountId,
    /// The code that it was paid for, if it is ours.
    pub(in crate::banks) code: Option<&'a BankCode>,
    /// What the bank has named.
    pub(in crate::banks) about: &'a About,
    pub(in crate::banks) money: &'a BankMoney,
    pub(in crate::banks) source: MoneySource,
}

/// Under which key money is booked, or would be.
pub(in crate::banks) struct MoneyKey {
    pub(in crate::banks) key: ReceiptKey,
    /// The bank's id of the money, or what stands in place of one that the bank has not told.
    pub(in crate::banks) bank_id: String,
    /// Whether the bank's id of the money is that of money for something else.
    pub(in crate::banks) reused: bool,
    /// What stood in place of the bank's id, where the bank names money now that is booked without one.
    pub(in crate::banks) named_from: Option<String>,
    /// Everything that the bank has said of it now.
    pub(in crate::banks) marks: MoneyMarks,
    /// None if the money is new.
    pub(in crate::banks) booked: Option<KnownMoney>,
}

/// Money that is in our books.
pub(in crate::banks) struct KnownMoney {
    pub(in crate::banks) money: BookedMoney,
    /// What the bank has said of it before; none where it asked us to take it, or one telling of it has no id.
    pub(in crate::banks) marks: Option<MoneyMarks>,
    /// Whether it was booked by an answer or a report, and no notification has told of it so far.
    pub(in crate::banks) awaits_notification: bool,
}

impl ToldOf<'_> {
    /// Whether the money is from long before its code, and so for an earlier code with the same number.
    fn is_of_earlier_code(&self) -> bool {
        let before = |code: &BankCode| self.money.paid_at.is_some_and(|at| at < code.asked_at.minus(CLOCKS_APART));
        self.code.is_some_and(before)
    }

    fn marks(&self) -> MoneyMarks {
        let code = self.code.filter(|_| !self.is_of_earlier_code());
        let marks = &self.money.marks;
        MoneyMarks {
            reference: code.map(|code| code.reference.clone()).or_else(|| self.about.reference.clone()),
            bank_reference: marks.bank_reference.clone().or_else(|| self.about.bank_reference.clone()),
            number: self.about.number.clone(),
            paid_at: self.money.paid_at,
            ..marks.clone()
        }
    }
}

impl Engine {
    /// The key of money that a bank has taken. Money is the same only if all agrees that the bank has said of it then and now. A
    /// notification in another amount is other money; but a bank that is asked, or reports, may know the same money in another.
    pub(in crate::banks) async fn money_key(&self, told: &ToldOf<'_>) -> Result<MoneyKey, Error> {
        let (id, marks) = (told.account_id, told.marks());
        let NamedMoney { id: name, bank_id, booked, named_from } = self.name_money(id, told.code, told.money).await?;
        let plain = ReceiptKey { provider: id.to_string(), id: name };
        let known = |money| Some(KnownMoney { money, marks: None, awaits_notification: false });
        if let Some(money) = booked {
            return Ok(MoneyKey { key: plain, bank_id, reused: false, named_from, marks, booked: known(money) });
        }
        // Keys are looked for first: if the same money takes one meanwhile, it is found after that.
        let taken = self.store.booked_money(&plain).await?;
        let free = match taken {
            Some(_) => self.free_money_key(told, &plain).await?,
            None => plain.clone(),
        };
        if let Some(alike) = self.store.money_alike(id, &plain.id, &marks, (told.money.amount, told.source)).await?
            && let Some(money) = self.known_as(told, &plain, &alike).await?
        {
            let key = ReceiptKey { id: alike.receipt_id, ..plain };
            let booked = Some(KnownMoney { money, marks: Some(alike.marks), awaits_notification: !alike.is_notified });
            return Ok(MoneyKey { key, bank_id, reused: false, named_from, marks, booked });
        }
        let Some(taken) = taken else {
            return Ok(MoneyKey { key: free, bank_id, reused: false, named_from, marks, booked: None });
        };
        let is_told = self.store.is_bank_id_shared(&plain, "").await?;
        if !is_told && self.is_what_was_taken(told, &taken).await? {
            return Ok(MoneyKey { key: plain, bank_id, reused: false, named_from, marks, booked: known(taken) });
        }
        let reused = match told.code {
            Some(code) => !is_told || self.store.is_bank_id_shared(&plain, &code.reference).await?,
            None => false,
        };
        Ok(MoneyKey { key: free, bank_id, reused, named_from, marks, booked: None })
    }

    /// A key for money whose id other money has. However often it is told at once, it gets the same key.
    async fn free_money_key(&self, told: &ToldOf<'_>, plain: &ReceiptKey) -> Result<ReceiptKey, Error> {
        let apart = match told.code {
            Some(code) => plain.reused_by(&code.reference),
            None => plain.reused_by(&name_given(told.about)),
        };
        for count in 1..=KEYS_MOST {
            let key = if count == 1 { apart.clone() } else { apart.reused_by(&count.to_string()) };
            if self.store.booked_money(&key).await?.is_none() {
                return Ok(key);
            }
        }
        Err(Error::Contended)
    }

    /// Money that agrees with what is told, as it is booked; none if it is other money. Where it was told without our reference,
    /// or by an earlier version, it is known by what it was booked for.
    async fn known_as(
        &self,
        told: &ToldOf<'_>,
        plain: &ReceiptKey,
        alike: &MarkedMoney,
    ) -> Result<Option<BookedMoney>, Error> {
        let key = ReceiptKey { provider: plain.provider.clone(), id: alike.receipt_id.clone() };
        let Some(booked) = self.store.booked_money(&key).await? else { return Ok(None) };
        let is_other = match told.code {
            Some(code) if alike.marks.reference.is_none() => self.is_other(&booked, code, told).await?,
            _ => false,
        };
        Ok((!is_other).then_some(booked))
    }

    /// Whether told money is what the bank has asked us to take, while the numbers lived here.
    async fn is_what_was_taken(&self, told: &ToldOf<'_>, booked: &BookedMoney) -> Result<bool, Error> {
        if let Some(code) = told.code {
            return Ok(!self.is_other(booked, code, told).await?);
        }
        let Some(number) = &told.about.number else { return Ok(booked.amount == told.money.amount) };
        let (id, amount) = (&told.money.receipt_id, told.money.amount);
        Ok(self.store.first_bank_request(told.account_id, id, number, amount).await?.is_some())
    }

    /// Whether what is booked under the id of this money is other money.
    async fn is_other(&self, booked: &BookedMoney, code: &BankCode, told: &ToldOf<'_>) -> Result<bool, Error> {
        if told.is_of_earlier_code() {
            return Ok(false);
        }
        let money = told.money;
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
