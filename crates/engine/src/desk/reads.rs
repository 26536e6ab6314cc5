//! Reads of a desk. Every member may read everything of their own project except secrets.

use std::collections::HashMap;

use domain::{
    access::Act,
    delivery::{Attempt, Delivery},
    event::Event,
    id::{AuditId, EventId, LinkId, PaymentId, ReceiptId},
    ledger::Account,
    link::Link,
    money::Rupiah,
    payment::Payment,
    receipt::{Decided, Decider, UnappliedReceipt},
    time::{DAY, Timestamp, midnight},
    user::User,
};
use store::{
    AuditFilter, EventLog, EventLogFilter, FailingDeliveries, HeldReceipt, HeldSum, LedgerLine, LedgerPosting,
    LinkFilter, Listed, Matches, Paid, PaymentFilter, PostingCursor, Scan, SetupProgress, UnappliedFilter, Window,
};
use wire::event::EventWithSubject;

use super::Desk;
use crate::{Audited, BalanceAt, BankStory, Error};

const DAYS_SHOWN: u32 = 30;
/// The shortest and the longest period that the home page shows; yesterday is in each.
const DAYS_LEAST: u32 = 2;
const DAYS_MOST: u32 = 90;

/// What the home page shows.
#[derive(Debug)]
pub struct Home {
    pub setup: SetupProgress,
    /// The days of the period, today last.
    pub days: Vec<Day>,
    /// The period before it, up to the same time of its last day.
    pub before: Paid,
    pub yesterday: Paid,
    /// Yesterday up to the same time of the day.
    pub yesterday_so_far: Paid,
    pub balance: BalanceAt,
    /// Receipts that nobody has decided about.
    pub held: HeldSum,
    pub failing: FailingDeliveries,
}

/// What was paid on one day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Day {
    /// Its midnight in western Indonesia.
    pub begins: Timestamp,
    pub payments: i64,
    pub amount: Rupiah,
}

impl Day {
    fn paid(&self) -> Paid {
        Paid { payments: self.payments, amount: self.amount }
    }
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
    /// The home page with a period of so many days, which are brought between the limits.
    pub async fn home(&self, days: u32) -> Result<Home, Error> {
        let (store, now, days) = (&self.engine.store, self.engine.now(), days.clamp(DAYS_LEAST, DAYS_MOST));
        let today = midnight(now);
        let mut earlier = self.volume(today.minus(DAY * (2 * days - 1)), 2 * days).await?;
        let shown = earlier.split_off(days as usize);
        // The last day of the period before is counted up to the same time as today.
        earlier.pop();
        let last = store.paid_between(self.id(), today.minus(DAY * days), now.minus(DAY * days)).await?;
        let before = earlier
            .iter()
            .map(Day::paid)
            .fold(last, |sum, day| Paid { payments: sum.payments + day.payments, amount: sum.amount + day.amount });
        Ok(Home {
            setup: store.setup_progress(self.id()).await?,
            yesterday: shown.iter().rev().nth(1).map(Day::paid).unwrap_or_default(),
            days: shown,
            before,
            yesterday_so_far: store.paid_between(self.id(), today.minus(DAY), now.minus(DAY)).await?,
            balance: self.balance(None).await?,
            held: store.held_sum(self.id()).await?,
            failing: store.failing_deliveries(self.id()).await?,
        })
    }

    /// What was paid on each of the last thirty days, today last.
    pub async fn days(&self) -> Result<Vec<Day>, Error> {
        let today = midnight(self.engine.now());
        self.volume(today.minus(DAY * (DAYS_SHOWN - 1)), DAYS_SHOWN).await
    }

    async fn volume(&self, first: Timestamp, days: u32) -> Result<Vec<Day>, Error> {
        let paid = self.engine.store.daily_volume(self.id(), first, days).await?;
        let day = |(day, Paid { payments, amount })| Day { begins: first.plus(DAY * day), payments, amount };
        Ok((0..days).zip(paid).map(day).collect())
    }

    /// A text that changes whenever something changes that the desk's pages show.
    pub async fn change_token(&self) -> Result<String, Error> {
        self.engine.change_token(self.id()).await
    }

    /// Deliveries that have failed and are not delivered.
    pub async fn failing_deliveries(&self) -> Result<FailingDeliveries, Error> {
        Ok(self.engine.store.failing_deliveries(self.id()).await?)
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
        let link = match payment.terms.link_id {
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

    pub async fn log(&self, filter: EventLogFilter, window: Window) -> Result<EventLog, Error> {
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

    /// The next postings of the ledger before `until`, at most `most`, oldest first.
    pub async fn postings(
        &self,
        cursor: &PostingCursor,
        until: Timestamp,
        most: i64,
    ) -> Result<Vec<LedgerPosting>, Error> {
        Ok(self.engine.store.postings(self.id(), cursor, until, most).await?)
    }

    /// What came for these payments in place of their amounts: held money that somebody accepted with the difference. All
    /// others are left out.
    pub async fn received_instead(&self, payments: &[Payment]) -> Result<HashMap<PaymentId, Rupiah>, Error> {
        self.engine.received_instead(self.id(), payments).await
    }

    /// Receipts that could not pay their payment, each with that payment.
    pub async fn receipts(&self, filter: UnappliedFilter, window: Window) -> Result<Listed<HeldReceipt>, Error> {
        Ok(self.engine.store.held_receipts(self.id(), filter, window).await?)
    }

    pub async fn receipt(&self, id: ReceiptId) -> Result<UnappliedReceipt, Error> {
        self.engine.receipt(self.id(), id).await
    }

    /// The receipts that were sent for a payment and did not pay it, or that pay it by a decision; newest first.
    pub async fn receipts_of_payment(&self, id: PaymentId) -> Result<Vec<UnappliedReceipt>, Error> {
        self.engine.receipts_of_payment(self.id(), id).await
    }

    /// The receipts that were sent for any of these payments and did not pay it; newest first.
    pub async fn receipts_sent_for(&self, payments: &[PaymentId]) -> Result<Vec<UnappliedReceipt>, Error> {
        Ok(self.engine.store.receipts_sent_for(self.id(), payments).await?)
    }

    /// What is held until somebody decides: how many receipts, and their sum.
    pub async fn held_sum(&self) -> Result<HeldSum, Error> {
        Ok(self.engine.store.held_sum(self.id()).await?)
    }

    /// The user who decided about a receipt; none if a program did, or if it is not known.
    pub async fn decider(&self, decided: &Decided) -> Result<Option<User>, Error> {
        match decided.by {
            Some(Decider::User(id)) => Ok(self.engine.store.user(id).await?),
            Some(Decider::Key(_)) | None => Ok(None),
        }
    }

    pub async fn allowed_origins(&self) -> Result<Vec<String>, Error> {
        self.engine.allowed_origins(self.id()).await
    }

    pub async fn audit(&self, window: Window) -> Result<Listed<Audited>, Error> {
        self.engine.audited(Some(self.id()), &AuditFilter::default(), window).await
    }

    /// The lines of the log that a filter asks for, for those who may take the log out of the dashboard.
    pub async fn audit_list(&self, filter: &AuditFilter, window: Window) -> Result<Listed<Audited>, Error> {
        self.check(Act::ExportAudit)?;
        self.engine.audited(Some(self.id()), filter, window).await
    }

    /// The next lines of the log after a line, oldest first.
    pub async fn audit_after(&self, after: Option<AuditId>, most: i64) -> Result<Vec<Audited>, Error> {
        self.check(Act::ExportAudit)?;
        let lines = self.engine.store.audit_after(self.id(), after, most).await?;
        self.engine.with_users(lines).await
    }
}
