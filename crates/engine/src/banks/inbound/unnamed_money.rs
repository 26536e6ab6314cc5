//! Money that a bank tells of without an id: some banks say no more than that a number is paid. Such money is called by our
//! reference of its code, and is the same as money for that code which the bank tells of with an id, before or after.

use std::time::Duration;

use domain::{id::BankAccountId, opening::BankCode, receipt::ReceiptKey};
use gateway::snap::BankMoney;
use store::{BookedMoney, MoneyNaming};

use crate::{Engine, Error};

/// Money that was paid further apart than this is not the same: clocks of banks and ours are not further apart.
const SAME_MONEY_WITHIN: Duration = Duration::from_mins(5);

/// Money with a name: the bank's id of it, or our reference of its code.
pub(in crate::banks) struct NamedMoney {
    pub(in crate::banks) id: String,
    /// The bank's id of it, or what stands in place of one that the bank has not told.
    pub(in crate::banks) bank_id: String,
    /// The same money as it is booked, where it was told without an id before, or is now.
    pub(in crate::banks) booked: Option<BookedMoney>,
    /// What stood in place of the bank's id, where the bank names the money now for the first time. From then on no other name is
    /// about the same money.
    pub(in crate::banks) named_from: Option<String>,
}

impl Engine {
    /// Names money that a bank tells of: by the bank's id, unless the bank tells of the same money without one.
    pub(in crate::banks) async fn name_money(
        &self,
        account_id: BankAccountId,
        code: Option<&BankCode>,
        money: &BankMoney,
    ) -> Result<NamedMoney, Error> {
        let own = || {
            let id = money.receipt_id.clone();
            NamedMoney { bank_id: id.clone(), id, booked: None, named_from: None }
        };
        // Only virtual accounts are told of without an id.
        let Some(code) = code.filter(|code| money.is_unnamed() || code.number.is_some()) else { return Ok(own()) };
        if !money.is_unnamed() {
            return Ok(self.told_without_id(account_id, code, money).await?.unwrap_or_else(own));
        }
        let provider = account_id.to_string();
        let key = |id: &str| ReceiptKey { provider: provider.clone(), id: id.to_owned() };
        let by_code = name_by_code(code);
        let same = |id, booked| NamedMoney { id, bank_id: by_code.clone(), booked, named_from: None };
        let called_so = self.store.booked_money(&key(&by_code)).await?;
        let naming = match &called_so {
            Some(_) => self.store.money_naming(&key(&by_code)).await?,
            None => None,
        };
        let is_called_so = called_so.is_some();
        let naming = naming.unwrap_or_default();
        if let Some(booked) = called_so.filter(|booked| is_same(booked, &naming, money)) {
            return Ok(same(by_code.clone(), Some(booked)));
        }
        let opening = self.store.opening(code.opening_id).await?.ok_or(Error::NotFound("opening"))?;
        if let Some(payment_id) = opening.payment_id() {
            let mut known = self.store.money_of_payment(&provider, payment_id).await?;
            // What was booked in this amount comes before what was booked without knowing the amount.
            let in_amount = known
                .iter()
                .position(|(_, naming, booked)| booked.amount == money.amount && is_same_time(booked, naming, money));
            let in_any = || known.iter().position(|(_, naming, booked)| is_same(booked, naming, money));
            if let Some(index) = in_amount.or_else(in_any) {
                let (id, _, booked) = known.swap_remove(index);
                return Ok(same(id, Some(booked)));
            }
        }
        let id = match money.paid_at.filter(|_| is_called_so) {
            Some(paid_at) => format!("{by_code} {}", paid_at.as_millis()),
            None => by_code.clone(),
        };
        Ok(same(id, None))
    }

    /// Money that the bank tells of with an id now, and told of without one before; none where it did not. Of several that it could
    /// be, one in the same amount, and of those the one that was paid at the nearest time.
    async fn told_without_id(
        &self,
        account_id: BankAccountId,
        code: &BankCode,
        money: &BankMoney,
    ) -> Result<Option<NamedMoney>, Error> {
        let (by_code, bank_id) = (name_by_code(code), money.receipt_id.clone());
        let key = |id: &str| ReceiptKey { provider: account_id.to_string(), id: id.to_owned() };
        let mut nearest: Option<((bool, i64), NamedMoney)> = None;
        for (id, naming) in self.store.money_called(account_id, [&by_code, &bank_id]).await? {
            if !id.starts_with(&by_code) {
                continue;
            }
            let Some(booked) = self.store.booked_money(&key(&id)).await? else { continue };
            let apart = apart(&booked, money);
            if is_same(&booked, &naming, money) && nearest.as_ref().is_none_or(|(least, _)| apart < *least) {
                let named_from = (naming.bank_id != bank_id).then_some(naming.bank_id);
                nearest = Some((apart, NamedMoney { id, bank_id: bank_id.clone(), booked: Some(booked), named_from }));
            }
        }
        let Some((_, named)) = nearest else { return Ok(None) };
        // The bank's id may stand for other money of the same amount beside it. What has the id elsewhere says nothing about this.
        let of = |booked: &BookedMoney| booked.payment_id;
        let beside = self.store.booked_money(&key(&bank_id)).await?;
        let is_taken = beside.is_some_and(|beside| Some(of(&beside)) == named.booked.as_ref().map(of));
        Ok((!is_taken).then_some(named))
    }
}

/// What money without an id is called.
fn name_by_code(code: &BankCode) -> String {
    format!("{} paid", code.reference)
}

/// How unlike two tellings are: money in the same amount is nearer than any other, and then the nearer in time.
fn apart(booked: &BookedMoney, money: &BankMoney) -> (bool, i64) {
    let millis = money.paid_at.map_or(0, |at| (at.as_millis() - booked.paid_at.as_millis()).abs());
    (booked.amount != money.amount, millis)
}

/// Whether money of which one telling has no id is the same: paid at the same time, and as much, unless one telling lacks the
/// amount.
fn is_same(booked: &BookedMoney, naming: &MoneyNaming, money: &BankMoney) -> bool {
    let lacks_amount = naming.lacks_amount || money.marks.lacks_amount;
    (lacks_amount || booked.amount == money.amount) && is_same_time(booked, naming, money)
}

/// Where the bank had not said when it was paid, the money is booked as paid when we heard of it, which is later than it was.
fn is_same_time(booked: &BookedMoney, naming: &MoneyNaming, money: &BankMoney) -> bool {
    let Some(at) = money.paid_at else { return true };
    let is_earlier = naming.stated_at.is_some_and(|stated_at| at.plus(SAME_MONEY_WITHIN) < stated_at);
    let is_later = at > naming.stated_at.unwrap_or(booked.paid_at).plus(SAME_MONEY_WITHIN);
    !is_earlier && !is_later
}

#[cfg(test)]
mod tests {
    use domain::{bank_money::MoneyMarks, money::Rupiah, time::Timestamp};

    use super::*;

    fn booked(amount: i64, minute: i64) -> BookedMoney {
        let paid_at = Timestamp::from_millis(minute * 60_000);
        BookedMoney { amount: Rupiah::new(amount), paid_at, payment_id: None, stray_number: None }
    }

    fn bank_money(amount: i64, minute: Option<i64>, lacks_amount: bool) -> BankMoney {
        BankMoney {
            receipt_id: "P-1".to_owned(),
            amount: Rupiah::new(amount),
            paid_at: minute.map(|minute| Timestamp::from_millis(minute * 60_000)),
            marks: MoneyMarks { lacks_amount, ..MoneyMarks::default() },
        }
    }

    /// Regression: a status without amount and time was taken for the first money that had come, in whatever amount.
    #[test]
    fn money_in_the_same_amount_is_nearer_than_any_other() {
        for minute in [None, Some(7)] {
            let status = bank_money(100, minute, true);
            assert!(apart(&booked(100, 0), &status) < apart(&booked(125, 7), &status));
        }
        assert!(
            apart(&booked(100, 7), &bank_money(100, Some(8), false))
                < apart(&booked(100, 5), &bank_money(100, Some(8), false))
        );
    }

    #[test]
    fn money_is_the_same_within_five_minutes_of_what_was_stated_and_not_later_than_it_was_heard_of() {
        let stated = |minute: i64| MoneyNaming {
            stated_at: Some(Timestamp::from_millis(minute * 60_000)),
            ..MoneyNaming::default()
        };
        for (minute, with_stated, without) in [(4, false, true), (5, true, true), (15, true, true), (16, false, false)]
        {
            let money = bank_money(100, Some(minute), false);
            assert_eq!(is_same(&booked(100, 10), &stated(10), &money), with_stated, "{minute}");
            assert_eq!(is_same(&booked(100, 10), &MoneyNaming::default(), &money), without, "{minute}");
        }
        assert!(is_same(&booked(100, 10), &stated(10), &bank_money(100, None, false)));
        assert!(!is_same(&booked(100, 10), &stated(10), &bank_money(99, None, false)));
        assert!(is_same(&booked(100, 10), &stated(10), &bank_money(99, None, true)));
    }
}
