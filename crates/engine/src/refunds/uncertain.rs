//! What people see of a refund of which no bank has said what became of it, before they decide about it.

use domain::refund::{
    Refund,
    doubt::Doubt,
    transfer::{AttemptState, TransferAttempt},
};

use crate::{Engine, UncertainTerms};

/// A refund that a bank may have made.
#[derive(Clone, Debug)]
pub struct UncertainRefund {
    /// What was sent, and what the bank said last.
    pub attempt: TransferAttempt,
    /// By what it may be ended; none where the settings of its account are not understood any more.
    pub terms: Option<UncertainTerms>,
    /// Who has said that it was not made.
    pub doubt: Option<Doubt>,
}

impl UncertainRefund {
    /// Whether the bank is not asked any more, since it does not say for longer what became of an order: a person decides.
    pub fn is_left_to_people(&self) -> bool {
        self.attempt.ask_at.is_none()
    }
}

impl Engine {
    /// What was sent of a refund and is not certain; none where everything is.
    pub async fn uncertain_refund(&self, refund: &Refund, attempts: &[TransferAttempt]) -> Option<UncertainRefund> {
        let attempt = attempts.iter().find(|attempt| attempt.state == AttemptState::Unknown)?;
        let terms = self.uncertain_terms(attempt).await;
        Some(UncertainRefund { attempt: attempt.clone(), terms, doubt: refund.doubt_about(attempt.number) })
    }
}
