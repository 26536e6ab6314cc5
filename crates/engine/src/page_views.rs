//! When customers first saw the page of their payment. Views are noted in memory and saved by a reconciler, so that no
//! page waits or fails because of it.

use domain::payment::Payment;
use store::{Change, PaymentWrite};

use crate::{
    Engine, Error,
    memory::page_views::{SAVED_AT_ONCE, View},
};

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
