//! Writes about where projects want notices to go.

use domain::{
    id::ProjectId,
    language::Language,
    letter::{LetterKind, SummaryPeriod},
    time::Timestamp,
};

pub enum NoticeWrite {
    /// Sets the URL of a project that has none, with a new secret. Guarded: it has none.
    TargetCreated { target: NoticeTarget, sealed_url: Vec<u8>, sealed_secret: Vec<u8> },
    /// Sets another URL or other choices. Guarded: the project has a URL.
    TargetChanged { target: NoticeTarget, sealed_url: Vec<u8> },
    /// Replaces the secret; the old one stays valid for a while. Guarded: `replaced` is the secret in use.
    SecretRotated { project_id: ProjectId, replaced: Vec<u8>, previous: Vec<u8>, sealed: Vec<u8>, at: Timestamp },
    /// Ends notices of a project. Guarded: it has a URL.
    TargetRemoved { project_id: ProjectId },
}

/// What a project has chosen about its notices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoticeTarget {
    pub project_id: ProjectId,
    pub language: Language,
    /// Whether receipts of customers who left a way to reach them go there too, of payments and of refunds.
    pub sends_receipts: bool,
    pub summary: Option<SummaryPeriod>,
}

impl NoticeTarget {
    /// Whether the project wants letters of this kind as notices. What is amiss always goes there.
    pub const fn wants(self, kind: LetterKind) -> bool {
        match kind {
            LetterKind::Receipt | LetterKind::RefundMade => self.sends_receipts,
            LetterKind::Summary => self.summary.is_some(),
            kind => kind.may_be_notice(),
        }
    }
}
