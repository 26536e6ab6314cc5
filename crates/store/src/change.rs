//! A change: plain data that says what must be true after the commit, all of it or nothing.
//!
//! Writes are grouped by what they are about, one file per group. Each group is turned into SQL by the file of the same
//! name in `plan`, with a match that names every write, so that a forgotten one does not compile.

mod audit;
mod banks;
mod factors;
mod keys;
mod ledger;
mod letters;
mod links;
mod maintenance;
mod nodes;
mod notices;
mod openings;
mod password_resets;
mod payments;
mod people;
mod projects;
mod refunds;
mod sessions;
mod webhooks;

use domain::{audit::AuditLine, id::LinkId, idempotency::Idempotency};

use crate::sealed_column::SealedColumn;

pub use audit::AuditSeals;
pub use banks::{BankCall, BankWrite};
pub use factors::FactorWrite;
pub use keys::KeyWrite;
pub use ledger::{LedgerWrite, Noted, ReceiptNote};
pub use letters::{LetterChoices, LetterWrite, NewLetter};
pub use links::{AttemptBounds, LinkAttempt, LinkWrite, NetworkBound};
pub use maintenance::MaintenanceWrite;
pub(crate) use maintenance::{FoldedCheckout, IndexedBatch, IndexedRow, SearchIndex};
pub use nodes::{NodeId, NodeWrite};
pub use notices::{NoticeTarget, NoticeWrite};
pub use openings::OpeningWrite;
pub use password_resets::ResetWrite;
pub use payments::PaymentWrite;
pub use people::PeopleWrite;
pub use projects::{LogoFile, ProjectWrite};
pub use refunds::{RefundWrite, SealedClaim};
pub use sessions::SessionWrite;
pub use webhooks::WebhookWrite;

/// Writes that are committed together, in this order.
#[derive(Default)]
pub struct Change {
    pub(crate) writes: Vec<Write>,
}

impl Change {
    #[must_use]
    pub fn with(mut self, write: impl Into<Write>) -> Change {
        self.writes.push(write.into());
        self
    }

    #[must_use]
    pub fn with_all<W: Into<Write>>(mut self, writes: impl IntoIterator<Item = W>) -> Change {
        self.writes.extend(writes.into_iter().map(Into::into));
        self
    }

    /// These writes, then those of another change.
    #[must_use]
    pub fn then(mut self, next: Change) -> Change {
        self.writes.extend(next.writes);
        self
    }

    /// Whether a task may be waiting for this change: one that sends webhooks or letters, or one that follows a payment for a
    /// page.
    pub(crate) fn is_awaited(&self) -> bool {
        self.writes.iter().any(Write::is_awaited)
    }
}

impl<W: Into<Write>> From<W> for Change {
    fn from(write: W) -> Change {
        Change::default().with(write)
    }
}

/// One thing to write. A write that says "guarded" commits only if its condition holds in the database; if it does not,
/// the whole change fails with the [`Guard`](crate::Guard) and nothing of it is kept.
pub enum Write {
    /// Sets a value of the whole installation. Guarded: it has no value yet.
    Installation {
        name: &'static str,
        value: String,
    },
    /// Binds an Idempotency-Key to the resource that its request created. Guarded: the key is unused.
    Bind {
        idempotency: Idempotency,
        resource: String,
    },
    /// Replaces an encrypted value by the same secret, encrypted anew. Guarded: it is still `from`.
    Resealed {
        column: SealedColumn,
        row: String,
        from: Vec<u8>,
        to: Vec<u8>,
    },
    Audit(AuditLine),
    AuditSeals(AuditSeals),
    Project(ProjectWrite),
    Key(KeyWrite),
    Link(LinkWrite),
    Payment(PaymentWrite),
    Ledger(LedgerWrite),
    Webhook(WebhookWrite),
    Node(NodeWrite),
    People(PeopleWrite),
    Session(SessionWrite),
    Factor(FactorWrite),
    Maintenance(MaintenanceWrite),
    Bank(BankWrite),
    Opening(OpeningWrite),
    Letter(LetterWrite),
    Notice(NoticeWrite),
    Reset(ResetWrite),
    Refund(RefundWrite),
}

macro_rules! groups {
    ($($group:ident($write:ident),)*) => {
        $(impl From<$write> for Write {
            fn from(write: $write) -> Write {
                Write::$group(write)
            }
        })*
    };
}

groups! {
    AuditSeals(AuditSeals),
    Project(ProjectWrite),
    Key(KeyWrite),
    Link(LinkWrite),
    Payment(PaymentWrite),
    Ledger(LedgerWrite),
    Webhook(WebhookWrite),
    Node(NodeWrite),
    People(PeopleWrite),
    Session(SessionWrite),
    Factor(FactorWrite),
    Maintenance(MaintenanceWrite),
    Bank(BankWrite),
    Opening(OpeningWrite),
    Letter(LetterWrite),
    Notice(NoticeWrite),
    Reset(ResetWrite),
    Refund(RefundWrite),
}

impl Write {
    /// Whether a task may be waiting for this write: one that sends webhooks or letters, or one that follows a payment for a
    /// page.
    fn is_awaited(&self) -> bool {
        match self {
            Write::Payment(write) => write.is_awaited(),
            Write::Webhook(write) => write.is_awaited(),
            Write::Node(write) => write.is_awaited(),
            Write::Opening(write) => write.is_awaited(),
            Write::Letter(write) => write.is_awaited(),
            Write::Refund(_) => true,
            Write::Installation { .. }
            | Write::Bind { .. }
            | Write::Resealed { .. }
            | Write::Audit(_)
            | Write::AuditSeals(_)
            | Write::Project(_)
            | Write::Key(_)
            | Write::Link(_)
            | Write::Ledger(_)
            | Write::People(_)
            | Write::Session(_)
            | Write::Factor(_)
            | Write::Maintenance(_)
            | Write::Bank(_)
            | Write::Notice(_)
            | Write::Reset(_) => false,
        }
    }

    /// Whether many requests make such a write at the same time, so that committing them in batches pays off. Only
    /// payments, their money and their webhooks are like that, and what must not be slower than those.
    pub(crate) fn is_frequent(&self) -> bool {
        match self {
            Write::Bind { .. } => true,
            Write::Payment(write) => write.is_frequent(),
            Write::Ledger(write) => write.is_frequent(),
            Write::Webhook(write) => write.is_frequent(),
            Write::Node(write) => write.is_frequent(),
            Write::Bank(write) => write.is_frequent(),
            Write::Opening(write) => write.is_frequent(),
            Write::Installation { .. }
            | Write::Resealed { .. }
            | Write::Audit(_)
            | Write::AuditSeals(_)
            | Write::Project(_)
            | Write::Key(_)
            | Write::Link(_)
            | Write::People(_)
            | Write::Session(_)
            | Write::Factor(_)
            | Write::Maintenance(_)
            | Write::Letter(_)
            | Write::Notice(_)
            | Write::Reset(_)
            | Write::Refund(_) => false,
        }
    }

    /// Whether it creates a payment with what the checkout learnt about a customer.
    pub(crate) const fn has_checkout(&self) -> bool {
        matches!(self, Write::Payment(PaymentWrite::CreatedAtBank { payment }) if payment.terms.checkout.is_some())
    }

    /// The link whose row must be locked first, because the write depends on the link and on its payments together.
    pub(crate) fn link_to_lock(&self) -> Option<LinkId> {
        match self {
            Write::Link(write) => write.link_to_lock(),
            Write::Payment(write) => write.link_to_lock(),
            Write::Installation { .. }
            | Write::Bind { .. }
            | Write::Resealed { .. }
            | Write::Audit(_)
            | Write::AuditSeals(_)
            | Write::Project(_)
            | Write::Key(_)
            | Write::Ledger(_)
            | Write::Webhook(_)
            | Write::Node(_)
            | Write::People(_)
            | Write::Session(_)
            | Write::Factor(_)
            | Write::Maintenance(_)
            | Write::Bank(_)
            | Write::Opening(_)
            | Write::Letter(_)
            | Write::Notice(_)
            | Write::Reset(_)
            | Write::Refund(_) => None,
        }
    }
}
