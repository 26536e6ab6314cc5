//! Reads of a desk. Every member may read everything of their own project except secrets.

use domain::{
    delivery::{Attempt, Delivery},
    event::Event,
    id::{EventId, LinkId, PaymentId},
    ledger::Account,
    link::Link,
    money::Rupiah,
    payment::Payment,
    receipt::{ReceiptKey, UnappliedReceipt},
    time::{DAY, DAY_MILLIS, HOUR_MILLIS, Timestamp, WIB},
};
use store::{
    EventLogFilter, LedgerLine, LinkFilter, Listed, Matches, PaymentFilter, Scan, SetupProgress, UnappliedFilter,
    Window,
};
use wire::event::EventWithSubject;

use super::Desk;
use crate::{Audited, BalanceAt, BankStory, Error};

const DAYS_SHOWN: u32 = 30;
/// Receipts listed on the home page; the others are only counted.
const RECEIPTS_LISTED: i64 = 5;

/// What the home page shows.
#[derive(Debug)]
pub struct Home {
    pub setup: SetupProgress,
    /// The last thirty days, today last.
    pub days: Vec<Day>,
    /// Receipts that nobody has decided about: the newest of them, and how many there are.
    pub undecided: Listed<UnappliedReceipt>,
    /// Deliveries that have failed: how many, and since when.
    pub failing: Option<(i64, Timestamp)>,
}

/// What was paid on one day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Day {
    /// Its midnight in western Indonesia.
    pub begins: Timestamp,
    pub payments: i64,
    pub amount: Rupiah,
}

/// A payment with everything that its page shows.
#[derive(Clone, Debug)]
pub struct PaymentFile {
    pub payment: Payment,
    pub link: Option<Link>,
    pub viewed_at: Option<Timestamp>,
    pub sent: Vec<Sent>,
    /// What happened at the bank; none if no bank was asked for the code.
    pub at_bank: Option<BankStory>,
}

/// An event and its delivery.
#[derive(Clone, Debug)]
pub struct Sent {
    pub event: Event,
    pub delivery: Option<Delivery>,
    pub attempts: Vec<Attempt>,
}

impl Desk {
    pub async fn home(&self) -> Result<Home, Error> {
        let store = &self.engine.store;
        let window = Window { offset: 0, limit: RECEIPTS_LISTED };
        Ok(Home {
            setup: store.setup_progress(self.id()).await?,
            days: self.days().await?,
            undecided: store.unapplied_receipts(self.id(), UnappliedFilter::Undecided, window).await?,
            failing: store.failing_since(self.id()).await?,
        })
    }

    /// What was paid on each of the last thirty days, today last.
    pub async fn days(&self) -> Result<Vec<Day>, Error> {
        let now = self.engine.now();
        let today = midnight(now);
        let first = today.minus(DAY * (DAYS_SHOWN - 1));
        let hours = self.engine.store.volume(self.id(), first, now.plus(DAY)).await?;
        let days = (0..DAYS_SHOWN).map(|day| {
            let begins = first.plus(DAY * day);
            let ends = begins.plus(DAY);
            let begun = |hour: i64| Timestamp::from_millis(hour * HOUR_MILLIS);
            let of_day = hours.iter().filter(|volume| (begins..ends).contains(&begun(volume.hour)));
            of_day.fold(Day { begins, payments: 0, amount: Rupiah::ZERO }, |day, volume| Day {
                payments: day.payments + volume.payments,
                amount: day.amount + volume.amount,
                ..day
            })
        });
        Ok(days.collect())
    }

    /// A text that changes whenever something changes that the desk's pages show.
    pub async fn change_token(&self) -> Result<String, Error> {
        self.engine.change_token(self.id()).await
    }

    /// How many receipts nobody has decided about.
    pub async fn undecided(&self) -> Result<i64, Error> {
        let none = Window { offset: 0, limit: 0 };
        Ok(self.engine.store.unapplied_receipts(self.id(), UnappliedFilter::Undecided, none).await?.total)
    }

    /// Whether any delivery has failed.
    pub async fn is_failing(&self) -> Result<bool, Error> {
        Ok(self.engine.store.failing_since(self.id()).await?.is_some())
    }

    /// One page of payments, and how many there are with the sum of their amounts, unless they are very many.
    pub async fn payments(&self, filter: &PaymentFilter, window: Window) -> Result<(Vec<Payment>, Matches), Error> {
        let payments = self.engine.store.payments_window(self.id(), filter, window).await?;
        Ok((payments, self.engine.store.payments_matching(self.id(), filter).await?))
    }

    /// The next payments of a list that is read as a whole, newest first: with `before`, those older than that payment.
    pub async fn payments_scan(
        &self,
        filter: &PaymentFilter,
        before: Option<PaymentId>,
        most: i64,
    ) -> Result<Scan, Error> {
        Ok(self.engine.store.payments_scan(self.id(), filter, before, most).await?)
    }

    /// At most `most` payments, newest first: with `before`, those older than that payment. Nothing is counted.
    pub async fn payments_before(
        &self,
        filter: &PaymentFilter,
        before: Option<PaymentId>,
        most: i64,
    ) -> Result<Vec<Payment>, Error> {
        Ok(self.engine.store.payments_page(self.id(), filter, before, most).await?)
    }

    pub async fn payment(&self, id: PaymentId) -> Result<Payment, Error> {
        self.engine.payment(self.id(), id).await
    }

    pub async fn payment_file(&self, id: PaymentId) -> Result<PaymentFile, Error> {
        let payment = self.payment(id).await?;
        let link = match payment.link_id {
            Some(id) => Some(self.link(id).await?),
            None => None,
        };
        let mut sent = Vec::new();
        for event in self.engine.store.events_about(self.id(), &id.to_string()).await? {
            let (delivery, attempts) = self.engine.delivery(event.id).await?.unzip();
            sent.push(Sent { event, delivery, attempts: attempts.unwrap_or_default() });
        }
        let (viewed_at, at_bank) = (self.engine.store.view_of(id).await?, self.engine.bank_story(id).await?);
        Ok(PaymentFile { payment, link, viewed_at, sent, at_bank })
    }

    pub async fn links(&self, filter: &LinkFilter, window: Window) -> Result<Listed<Link>, Error> {
        self.engine.links(self.id(), filter, window).await
    }

    pub async fn link(&self, id: LinkId) -> Result<Link, Error> {
        self.engine.link(self.id(), id).await
    }

    pub async fn log(
        &self,
        filter: EventLogFilter,
        window: Window,
    ) -> Result<Listed<(Event, Option<Delivery>)>, Error> {
        Ok(self.engine.store.event_log(self.id(), filter, window).await?)
    }

    /// An event with its subject, and its delivery.
    pub async fn event(&self, id: EventId) -> Result<(EventWithSubject, Sent), Error> {
        let event = self.engine.event_of(self.id(), id).await?;
        let (delivery, attempts) = self.engine.delivery(id).await?.unzip();
        let sent = Sent { event: event.event.clone(), delivery, attempts: attempts.unwrap_or_default() };
        Ok((event, sent))
    }

    pub async fn balance(&self, at: Option<Timestamp>) -> Result<BalanceAt, Error> {
        self.engine.balance(self.id(), at).await
    }

    /// An account's lines, newest first, each with the balance after it.
    pub async fn ledger(&self, account: Account, window: Window) -> Result<Listed<LedgerLine>, Error> {
        Ok(self.engine.store.ledger_lines(self.id(), account, window).await?)
    }

    pub async fn receipts(&self, filter: UnappliedFilter, window: Window) -> Result<Listed<UnappliedReceipt>, Error> {
        Ok(self.engine.store.unapplied_receipts(self.id(), filter, window).await?)
    }

    pub async fn receipt(&self, key: &ReceiptKey) -> Result<UnappliedReceipt, Error> {
        self.engine.unapplied(self.id(), key).await
    }

    pub async fn allowed_origins(&self) -> Result<Vec<String>, Error> {
        self.engine.allowed_origins(self.id()).await
    }

    pub async fn audit(&self, window: Window) -> Result<Listed<Audited>, Error> {
        self.engine.audited(Some(self.id()), window).await
    }
}

/// The last midnight in western Indonesia.
fn midnight(at: Timestamp) -> Timestamp {
    let local = at.plus(WIB).as_millis();
    Timestamp::from_millis(local - local.rem_euclid(DAY_MILLIS)).minus(WIB)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_begins_at_midnight_in_western_indonesia() {
        for (at, begins) in [
            ("2026-11-14T17:00:00.000Z", "2026-11-14T17:00:00.000Z"),
            ("2026-11-15T16:59:59.999Z", "2026-11-14T17:00:00.000Z"),
            ("2026-11-15T17:00:00.000Z", "2026-11-15T17:00:00.000Z"),
        ] {
            assert_eq!(midnight(Timestamp::parse(at).unwrap()).to_string(), begins);
        }
    }
}
