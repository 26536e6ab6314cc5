//! The states of a payment: as it was last written, and as it is at some instant.

use crate::time::Timestamp;

/// The state as it was last written. A `Pending` payment past its expiry counts as expired even before the state says
/// so: use [`State::status_at`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    Pending,
    Processing,
    Paid { at: Timestamp },
    Failed { at: Timestamp },
    Expired,
    Cancelled { at: Timestamp },
}

impl State {
    /// The exact status at `now` of a payment in this state, whether or not its expiry was written yet.
    pub fn status_at(self, now: Timestamp, expires_at: Timestamp) -> Status {
        match self {
            State::Pending if now > expires_at => Status::Expired,
            State::Pending => Status::Pending,
            State::Processing => Status::Processing,
            State::Paid { .. } => Status::Paid,
            State::Failed { .. } => Status::Failed,
            State::Expired => Status::Expired,
            State::Cancelled { .. } => Status::Cancelled,
        }
    }
}

/// What a payment is at some instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Status {
    Pending,
    Processing,
    Paid,
    Failed,
    Expired,
    Cancelled,
}

impl Status {
    pub const ALL: [Status; 6] =
        [Status::Pending, Status::Processing, Status::Paid, Status::Failed, Status::Expired, Status::Cancelled];

    pub const fn word(self) -> &'static str {
        match self {
            Status::Pending => "pending",
            Status::Processing => "processing",
            Status::Paid => "paid",
            Status::Failed => "failed",
            Status::Expired => "expired",
            Status::Cancelled => "cancelled",
        }
    }

    pub const fn is_final(self) -> bool {
        !matches!(self, Status::Pending | Status::Processing)
    }
}
