//! Writes about sessions and attempts to sign in.

use domain::{
    id::{SessionId, UserId},
    time::Timestamp,
    user::{Session, TokenHash},
};

pub enum SessionWrite {
    Begun {
        session: Session,
        hash: TokenHash,
    },
    /// Sets the time of the session's last use, unless a later one is stored.
    Seen {
        id: SessionId,
        at: Timestamp,
    },
    /// Guarded: the session exists and is that user's.
    Ended {
        id: SessionId,
        user_id: UserId,
    },
    /// Ends all sessions of a user, except the one that asks for it.
    AllEnded {
        user_id: UserId,
        but: Option<SessionId>,
    },
    /// Deletes sessions and failed attempts to sign in from before `created_before`, at most `most` of each. The caller
    /// chooses a time so long ago that all of them have ended.
    OldDeleted {
        created_before: Timestamp,
        most: i64,
    },
    /// Counts an attempt to sign in as failed before the password is checked. Guarded: the subject need not wait. Of
    /// several in one change, accounts come before addresses.
    Tried {
        subject: String,
        at: Timestamp,
    },
    /// The attempt succeeded: deletes the account's failures, and takes this attempt back from those of the address, if
    /// it was counted there.
    Succeeded {
        account: String,
        address: Option<String>,
        at: Timestamp,
    },
}
