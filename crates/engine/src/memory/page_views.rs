//! When customers first saw the page of their payment, until it is saved.

use std::{
    collections::HashSet,
    sync::{Mutex, MutexGuard, PoisonError},
};

use domain::{
    id::{PaymentId, ProjectId},
    payment::Payment,
    time::Timestamp,
};

/// Views that one commit saves.
pub(crate) const SAVED_AT_ONCE: usize = 100;
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
pub(crate) struct View {
    pub(crate) payment_id: PaymentId,
    pub(crate) project_id: ProjectId,
    pub(crate) at: Timestamp,
}

impl PageViews {
    pub(crate) fn note(&self, payment: &Payment, at: Timestamp) {
        let mut register = self.lock();
        if register.remembered.len() >= REMEMBERED_MOST {
            register.remembered.clear();
        }
        if register.waiting.len() < WAITING_MOST && register.remembered.insert(payment.id) {
            register.waiting.push(View { payment_id: payment.id, project_id: payment.terms.project_id, at });
        }
    }

    /// Takes the views that have waited longest.
    pub(crate) fn due(&self) -> Vec<View> {
        let mut register = self.lock();
        let count = register.waiting.len().min(SAVED_AT_ONCE);
        register.waiting.drain(..count).collect()
    }

    /// Puts views back that could not be saved; they come first the next time.
    pub(crate) fn put_back(&self, due: Vec<View>) {
        self.lock().waiting.splice(..0, due);
    }

    fn lock(&self) -> MutexGuard<'_, Register> {
        // No method can panic in the middle of a change, so the register is always valid.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
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
