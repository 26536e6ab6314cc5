//! A link that takes no more payments.

use askama::Template;
use i18n_embed_fl::fl;

use super::{
    frame::Frame,
    order::{Looked, Order},
};

/// `/p/<link_id>` of a link that takes no more payments.
#[derive(Template)]
#[template(path = "view/closed.html")]
pub(crate) struct Closed {
    pub(crate) frame: Frame,
    pub(crate) order: Order,
    pub(crate) reason: ClosedReason,
    pub(crate) looked: Looked,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ClosedReason {
    Cancelled,
    /// The link has expired, or its merchant takes no payments at the moment.
    Inactive,
    AlreadyPaid,
    /// Another payment of the link is being processed.
    BeingPaid,
    /// The merchant cannot take money yet by any method of the link.
    NoMethod,
}
