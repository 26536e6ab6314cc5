//! Writes about links that are refused.

use domain::{id::mint, link::Link, link_edit::LinkTerms};
use store::LinkWrite;

use crate::samples::{NOW, entropy};

/// A cancelled link, and one that does not exist, cannot be changed.
pub(super) fn refused_edits(cancelled: &Link) -> [LinkWrite; 2] {
    let terms = LinkTerms::of(cancelled);
    [cancelled.id, mint(NOW, entropy())].map(|id| LinkWrite::Edited {
        id,
        reference: cancelled.reference.clone(),
        from: terms.clone(),
        to: LinkTerms { title: "Teh".to_owned(), ..terms.clone() },
        at: NOW,
    })
}
