//! Writes about letters, and about what people have chosen to get.

use domain::{
    id::{LetterId, ProjectId, UserId},
    language::Language,
    letter::{LetterKind, SummaryPeriod},
    letter_queue::{Channel, QueuedLetter},
    time::Timestamp,
};

use super::nodes::NodeId;

pub enum LetterWrite {
    /// Queues a letter, unless its user does not want such letters, or one was queued for the same cause. If too many wait for its
    /// address, it is dropped, if that may be.
    Queued(NewLetter),
    /// Leases a letter to a node. Guarded: it waits, was due at `due_at`, and no node has it.
    Leased { id: LetterId, due_at: Timestamp, node: NodeId },
    /// Changes nothing. Guarded: the node still has the letter.
    LeaseHeld { id: LetterId, node: NodeId },
    /// Stores what has come of a letter and gives its lease back; `is_secret`: what it says is deleted if it has ended. Guarded: the
    /// node still has it.
    Attempted { letter: QueuedLetter, node: NodeId, is_secret: bool },
    /// The same for a notice, with the URL that it was sent to; none where nothing was sent.
    NoticeAttempted { letter: QueuedLetter, node: NodeId, address: Option<Vec<u8>> },
    /// Gives back what nodes have leased that are not known.
    OrphansReleased,
    /// Gives back what this node has leased of the letters that go this way.
    AllReleased { node: NodeId, channel: Channel },
    /// Lets all letters of a project wait until then that are due before and are not about security.
    ProjectPutOff { project_id: ProjectId, until: Timestamp },
    /// Lets all letters to an address wait until then that are due before.
    RecipientPutOff { recipient: String, until: Timestamp },
    /// Lets all notices to a URL wait until then that are due before.
    NoticesPutOff { recipient: String, until: Timestamp },
    /// Queues a letter again that has ended. Guarded: it has ended, and what it says is still known.
    SentAgain { id: LetterId, at: Timestamp, expires_at: Timestamp },
    /// Forgets letters that ended before then, at most so many.
    Forgotten { before: Timestamp, most: i64 },
    /// Deletes a letter, if no node has it.
    Erased { id: LetterId },
    /// Notes that something is amiss. Guarded: that was not noted before.
    AlertRaised { subject: String, at: Timestamp },
    /// Notes that it is so no more.
    AlertEnded { subject: String },
    /// What a user has chosen.
    Chosen(LetterChoices),
    /// Adds one kind to those that a user does not want.
    KindRefused { user_id: UserId, kind: LetterKind },
    /// Ends the summaries of a user.
    SummaryStopped { user_id: UserId },
    /// Whether customers of a project get receipts.
    ReceiptsSwitched { project_id: ProjectId, are_on: bool },
}

/// A letter to queue, with its sealed values.
pub struct NewLetter {
    pub id: LetterId,
    pub kind: LetterKind,
    pub channel: Channel,
    pub project_id: Option<ProjectId>,
    pub user_id: Option<UserId>,
    pub address: Vec<u8>,
    /// Stands for the address.
    pub recipient: String,
    /// The language, if its user has chosen none.
    pub language: Language,
    pub content: Vec<u8>,
    /// What it is queued for at most once.
    pub cause: Option<String>,
    pub at: Timestamp,
    pub expires_at: Timestamp,
}

/// What a user has chosen about their letters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LetterChoices {
    pub user_id: UserId,
    pub language: Language,
    pub summary: Option<SummaryPeriod>,
    pub refused: Vec<LetterKind>,
}

impl LetterWrite {
    pub(super) const fn is_awaited(&self) -> bool {
        matches!(self, LetterWrite::Queued(_) | LetterWrite::SentAgain { .. })
    }
}
