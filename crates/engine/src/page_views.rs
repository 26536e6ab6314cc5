//! When customers first saw the page of their payment. Views are noted in memory and saved by a reconciler, so that no
//! page waits or fails because of it.

use std::{
    collections::HashSet,
    sync::{Mutex, MutexGuard, PoisonError},
};

use domain::{
    id::{PaymentId, ProjectId},
    payment::Payment,
    time::Timestamp,
};
use store::{Change, PaymentWrite};

use crate::{Engine, Error};

/// Views that one commit saves.
const SAVED_AT_ONCE: usize = 100;
/// Payments in memory, so that a page which connects again and again is saved once. When there are more, all are
/// dropped; saving a view again changes nothing.
const REMEMBERED_MOST: usize = 50_000;
/// Views that wait to be saved; while the database is unavailable for long, further views are lost.
const WAITING_MOST: usize = 50_000;

/// Payments whose page was shown by this process.
#[derive(Default)]
pub(crate) struct PageViews(Mutex<Register>);

#[derive(Default)]
struct Register {
    remembered: HashSet<PaymentId>,
    /// Oldest first.
    waiting: Vec<View>,
}

#[derive(Clone, Copy)]
struct View {
    payment_id: PaymentId,
    project_id: ProjectId,
    at: Timestamp,
}

impl PageViews {
    fn note(&self, payment: &Payment, at: Timestamp) {
        let mut register = self.lock();
        if register.remembered.len() >= REMEMBERED_MOST {
            register.remembered.clear();
        }
        if register.waiting.len() < WAITING_MOST && register.remembered.insert(payment.id) {
            register.waiting.push(View { payment_id: payment.id, project_id: payment.terms.project_id, at });
        }
    }

    /// Takes the views that have waited longest.
    fn due(&self) -> Vec<View> {
        let mut register = self.lock();
        let count = register.waiting.len().min(SAVED_AT_ONCE);
        register.waiting.drain(..count).collect()
    }

    /// Puts views back that could not be saved; they come first the next time.
    fn put_back(&self, due: Vec<View>) {
        self.lock().waiting.splice(..0, due);
    }

    fn lock(&self) -> MutexGuard<'_, Register> {
        // No method can panic in the middle of a change, so the register is always valid.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Engine {
    /// Notes that a customer's browser shows the page of `payment`. Only the first view is saved.
    pub fn note_view(&self, payment: &Payment) {
        self.page_views.note(payment, self.now());
    }

    /// One round: saves which pages were shown. Answers 0 when there is nothing more to do at once.
    pub async fn save_page_views(&self) -> Result<usize, Error> {
        let due = self.page_views.due();
        let count = due.len();
        if count == 0 {
            return Ok(0);
        }
        let write = |&View { payment_id, project_id, at }: &View| PaymentWrite::Viewed { payment_id, project_id, at };
        let saved = self.store.commit(Change::default().with_all(due.iter().map(write))).await;
        if let Err(error) = saved {
            self.page_views.put_back(due);
            return Err(error.into());
        }
        Ok(if count == SAVED_AT_ONCE { count } else { 0 })
    }
}

#[cfg(test)]
mod tests {
    use domain::payment::State;

    use super::*;
    use crate::samples::{self, NOW};

    fn payment(number: u32) -> Payment {
        samples::payment(number, State::Pending, 1)
    }

    #[test]
    fn the_first_view_of_a_payment_is_saved_once_and_again_only_when_that_failed() {
        let views = PageViews::default();
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
    fn views_are_saved_in_batches_and_none_is_left_out() {
        let views = PageViews::default();
        for number in 0..250 {
            views.note(&payment(number), NOW);
        }
        assert_eq!([(); 4].map(|()| views.due().len()), [100, 100, 50, 0]);
    }

    #[test]
    fn the_number_of_views_in_memory_is_limited() {
        let views = PageViews::default();
        for number in 0..60_000 {
            views.note(&payment(number), NOW);
        }
        let register = views.lock();
        assert!(register.remembered.len() <= REMEMBERED_MOST && register.waiting.len() == WAITING_MOST);
    }
}
