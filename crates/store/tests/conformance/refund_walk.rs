//! Random walks: payments, refunds, their ends, held money and settlements in any order, compared after each step with a small book
//! that is kept beside them by the rules as they are written down.

use domain::{
    id::PaymentId,
    money::Rupiah,
    project::Project,
    receipt::{ReceiptState, Unapplied},
    refund::{NoRoom, Refund, RefundState},
};
use store::{Balance, Store, UnappliedFilter};

use crate::{
    database::{Database, keep, on_every_database},
    refund_samples::{PROCESSING, beginning, cancelled, failed, paid, returned, returning, settled, succeeded},
    samples::{self, AMOUNT, EVERYTHING, FEE, after, kept_payment, kept_project},
};

on_every_database![books_agree_with_a_small_reference_whatever_happens];

const WALKS: u64 = 4;
const STEPS: usize = 60;

/// A payment as the reference knows it.
struct Paid {
    id: PaymentId,
    pending: i64,
    is_settled: bool,
    /// The sum of its refunds that were not undone.
    refunded: i64,
    /// How much of its fee its refunds stand on.
    fee_used: i64,
}

/// Where a refund's money came from.
#[derive(Clone, Copy)]
enum From {
    Payment { index: usize, pending: i64, fee: i64 },
    Held,
}

struct Back {
    refund: Refund,
    amount: i64,
    from: From,
    is_done: bool,
}

/// The reference.
#[derive(Default)]
struct Book {
    available: i64,
    unapplied: i64,
    refunding: i64,
    refunded: i64,
    payments: Vec<Paid>,
    refunds: Vec<Back>,
}

/// Draws numbers that are the same for the same seed.
struct Draw(u64);

impl Draw {
    fn below(&mut self, most: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from((self.0 >> 33) % most as u64).unwrap()
    }
}

impl Book {
    fn balance(&self) -> Balance {
        let pending: i64 = self.payments.iter().map(|payment| payment.pending).sum();
        Balance {
            available: Rupiah::new(self.available),
            pending: Rupiah::new(pending),
            unapplied: Rupiah::new(self.unapplied),
            refunding: Rupiah::new(self.refunding),
            refunded: Rupiah::new(self.refunded),
        }
    }

    /// Whether a refund may be made, by the sentence: no more than what is available, the payment's own pending and what is not
    /// used of its fee; and no more than is left.
    fn may(&self, index: usize, amount: i64) -> bool {
        let payment = &self.payments[index];
        let fee_left = FEE.get() - payment.fee_used;
        let covered = self.available.max(0) + payment.pending + fee_left;
        amount <= AMOUNT.get() - payment.refunded && amount <= covered
    }

    fn take(&mut self, index: usize, amount: i64) -> From {
        let payment = &mut self.payments[index];
        let pending = amount.min(payment.pending);
        let rest = amount - pending;
        let fee = (rest - self.available.max(0)).max(0);
        payment.pending -= pending;
        payment.refunded += amount;
        payment.fee_used += fee;
        self.available -= rest;
        self.refunding += amount;
        From::Payment { index, pending, fee }
    }

    fn give_back(&mut self, from: From, amount: i64) {
        match from {
            From::Held => self.unapplied += amount,
            From::Payment { index, pending, fee } => {
                let payment = &mut self.payments[index];
                payment.refunded -= amount;
                payment.fee_used -= fee;
                let to_pending = if payment.is_settled { 0 } else { pending };
                payment.pending += to_pending;
                self.available += amount - to_pending;
            }
        }
    }
}

async fn walk(store: &Store, project: &Project, draw: &mut Draw) {
    let mut book = Book::default();
    for number in 0..STEPS {
        step(store, project, draw, &mut book, number).await;
        assert_eq!(store.balance(project.id, None).await.unwrap(), book.balance(), "after step {number}");
    }
    for payment in &book.payments {
        let basis = store.refundable(payment.id).await.unwrap().unwrap();
        assert_eq!(basis.refundable.left().get(), AMOUNT.get() - payment.refunded);
        assert_eq!(basis.refundable.own_pending().get(), payment.pending);
    }
    let held = store.unapplied_receipts(project.id, UnappliedFilter::Undecided, None, EVERYTHING).await.unwrap();
    let held: i64 = held.items.iter().map(|held| held.receipt.amount.get()).sum();
    assert_eq!(held, book.unapplied);
}

async fn step(store: &Store, project: &Project, draw: &mut Draw, book: &mut Book, number: usize) {
    match draw.below(10) {
        0 | 1 => {
            let payment = paid(store, project).await;
            let pending = AMOUNT.get() - FEE.get();
            let paid = Paid { id: payment.id, pending, is_settled: false, refunded: 0, fee_used: 0 };
            book.payments.push(paid);
        }
        2..=4 if !book.payments.is_empty() => refund(store, project, draw, book).await,
        5 | 6 if !book.refunds.is_empty() => end(store, draw, book).await,
        7 if !book.payments.is_empty() => {
            let index = draw.below(book.payments.len());
            if !book.payments[index].is_settled {
                settled(store, book.payments[index].id, after(60_000)).await;
                let payment = &mut book.payments[index];
                book.available += std::mem::take(&mut payment.pending);
                payment.is_settled = true;
            }
        }
        8 => {
            let payment = kept_payment(store, samples::payment(project)).await;
            let receipt = format!("held {number} {}", payment.id);
            keep(store, samples::surplus(&payment, &receipt, AMOUNT, Unapplied::TooLate)).await;
            book.unapplied += AMOUNT.get();
        }
        _ => send_back(store, project, book).await,
    }
}

async fn refund(store: &Store, project: &Project, draw: &mut Draw, book: &mut Book) {
    let index = draw.below(book.payments.len());
    let amounts = [1, 70, 71, 2_500, 9_930, 9_999, 10_000, 10_001];
    let amount = amounts[draw.below(amounts.len())];
    let states = [PROCESSING, RefundState::RequiresAction];
    let state = states[draw.below(states.len())];
    let made = beginning(store, project, book.payments[index].id, Some(amount), state).await;
    match made {
        Ok((refund, change)) => {
            assert!(book.may(index, amount), "{amount} is refunded though there is no room");
            keep(store, change).await;
            let from = book.take(index, amount);
            book.refunds.push(Back { refund, amount, from, is_done: false });
        }
        Err(why) => {
            assert!(!book.may(index, amount), "{amount}: {why:?}");
            assert_eq!(why == NoRoom::NothingLeft, amount <= 10_000 && book.payments[index].refunded == 10_000);
        }
    }
}

async fn end(store: &Store, draw: &mut Draw, book: &mut Book) {
    let index = draw.below(book.refunds.len());
    let back = &book.refunds[index];
    let (amount, from, is_waiting) = (back.amount, back.from, back.refund.state == RefundState::RequiresAction);
    if back.is_done {
        returned(store, &back.refund).await;
        book.refunded -= amount;
        book.give_back(from, amount);
        book.refunds.remove(index);
        return;
    }
    match draw.below(3) {
        0 if !is_waiting => {
            succeeded(store, &back.refund).await;
            book.refunds[index].is_done = true;
            book.refunding -= amount;
            book.refunded += amount;
        }
        1 if !is_waiting => {
            failed(store, &back.refund).await;
            book.refunding -= amount;
            book.give_back(from, amount);
            book.refunds.remove(index);
        }
        _ => {
            cancelled(store, &back.refund).await;
            book.refunding -= amount;
            book.give_back(from, amount);
            book.refunds.remove(index);
        }
    }
}

/// Sends back the oldest money that is held, if there is any.
async fn send_back(store: &Store, project: &Project, book: &mut Book) {
    let held = store.unapplied_receipts(project.id, UnappliedFilter::Undecided, None, EVERYTHING).await.unwrap();
    let Some(held) = held.items.last() else { return };
    assert_eq!(held.state(), ReceiptState::Held);
    let (refund, change) = returning(project, held);
    keep(store, change).await;
    let amount = held.receipt.amount.get();
    book.unapplied -= amount;
    book.refunding += amount;
    book.refunds.push(Back { refund, amount, from: From::Held, is_done: false });
}

async fn books_agree_with_a_small_reference_whatever_happens(database: Database) {
    let store = database.open().await;
    for seed in 1..=WALKS {
        let project = kept_project(&store).await;
        walk(&store, &project, &mut Draw(seed)).await;
        assert_eq!(store.breaches().await.unwrap(), [], "seed {seed}");
    }
}
