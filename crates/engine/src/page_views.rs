//! When customers first saw the page of their payment. It is noted in passing and written down a moment later, so that no page
//! waits for it, and none is refused because of it.

use std::{
    collections::HashSet,
    sync::{Mutex, MutexGuard, PoisonError},
};

use domain::{
    id::{PaymentId, ProjectId},
    payment::Payment,
    time::Timestamp,
};
use store::{Change, Write};

use crate::{Engine, Error};

const KEPT_AT_ONCE: usize = 100;
/// Payments remembered, so that a page which connects again and again is written down once. Beyond that all are forgotten, and
/// what is written down a second time changes nothing.
const REMEMBERED_MOST: usize = 50_000;
/// Views that wait to be written down; while a database is away for long, later ones are lost.
const WAITING_MOST: usize = 50_000;

/// Payments whose page was shown by this process.
#[derive(Default)]
pub(crate) struct Views(Mutex<Register>);

#[derive(Default)]
struct Register {
    remembered: HashSet<PaymentId>,
    /// The earliest first.
    waiting: Vec<View>,
}

#[derive(Clone, Copy)]
struct View {
    payment_id: PaymentId,
    project_id: ProjectId,
    at: Timestamp,
}

impl Views {
    fn note(&self, payment: &Payment, at: Timestamp) {
        let mut register = self.lock();
        if register.remembered.len() >= REMEMBERED_MOST {
            register.remembered.clear();
        }
        if register.waiting.len() < WAITING_MOST && register.remembered.insert(payment.id) {
            register.waiting.push(View { payment_id: payment.id, project_id: payment.project_id, at });
        }
    }

    /// Those that have waited longest.
    fn due(&self) -> Vec<View> {
        let mut register = self.lock();
        let count = register.waiting.len().min(KEPT_AT_ONCE);
        register.waiting.drain(..count).collect()
    }

    /// They could not be written down, and come first the next time.
    fn put_back(&self, due: Vec<View>) {
        self.lock().waiting.splice(..0, due);
    }

    fn lock(&self) -> MutexGuard<'_, Register> {
        // Nothing here is left half done by a panic.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Engine {
    /// Notes that a customer's browser shows the page of `payment`. Only the first time counts.
    pub fn note_view(&self, payment: &Payment) {
        self.views.note(payment, self.now());
    }

    /// Writes down which pages were shown; answers whether there may be more of them.
    pub(crate) async fn keep_views(&self) -> Result<bool, Error> {
        let due = self.views.due();
        if due.is_empty() {
            return Ok(false);
        }
        let more = due.len() == KEPT_AT_ONCE;
        let write = |&View { payment_id, project_id, at }: &View| Write::PaymentViewed { payment_id, project_id, at };
        let kept = self.store.commit(Change::default().with_all(due.iter().map(write))).await;
        if let Err(error) = kept {
            self.views.put_back(due);
            return Err(error.into());
        }
        Ok(more)
    }
}

#[cfg(test)]
mod tests {
    use domain::{
        id::{ENTROPY_BYTES, mint},
        method::Method,
        money::Rupiah,
        payment::State,
    };

    use super::*;

    const NOW: Timestamp = Timestamp::from_millis(1_800_000_000_000);

    fn payment(number: u32) -> Payment {
        let mut entropy = [0; ENTROPY_BYTES];
        // The first bytes of an id are not all its own.
        entropy[6..].copy_from_slice(&number.to_be_bytes());
        Payment {
            id: mint(NOW, entropy),
            project_id: mint(NOW, [0; ENTROPY_BYTES]),
            link_id: None,
            reference: String::new(),
            amount: Rupiah::new(10_000),
            fee: Rupiah::ZERO,
            method: Method::Qris,
            code: String::new(),
            checkout: None,
            state: State::Pending,
            created_at: NOW,
            expires_at: NOW,
            version: 1,
        }
    }

    #[test]
    fn a_payment_is_written_down_once_with_its_first_view_and_again_only_where_that_failed() {
        let views = Views::default();
        for at in 1..=2 {
            views.note(&payment(1), Timestamp::from_millis(at));
        }
        let due = views.due();
        assert_eq!(due.iter().map(|view| view.at.as_millis()).collect::<Vec<_>>(), [1]);
        views.note(&payment(1), Timestamp::from_millis(3));
        assert!(views.due().is_empty());
        views.note(&payment(2), Timestamp::from_millis(4));
        views.put_back(due);
        assert_eq!(views.due().iter().map(|view| view.at.as_millis()).collect::<Vec<_>>(), [1, 4]);
    }

    #[test]
    fn some_are_written_down_at_once_and_none_is_left_out() {
        let views = Views::default();
        for number in 0..250 {
            views.note(&payment(number), NOW);
        }
        assert_eq!([(); 4].map(|()| views.due().len()), [100, 100, 50, 0]);
    }

    #[test]
    fn so_many_are_remembered_and_wait_and_no_more() {
        let views = Views::default();
        for number in 0..60_000 {
            views.note(&payment(number), NOW);
        }
        let register = views.lock();
        assert!(register.remembered.len() <= REMEMBERED_MOST && register.waiting.len() == WAITING_MOST);
    }
}
