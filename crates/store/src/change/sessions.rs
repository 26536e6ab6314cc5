//! Writes about sessions and attempts to sign in.

use std::time::Duration;

use domain::{
    id::{SessionId, UserId},
    time::Timestamp,
    user::{Session, TokenHash},
};

pub enum SessionWrite {
    /// Guarded: the user has shown their second factor, if they have one.
    Begun { session: Session, hash: TokenHash },
    /// Sets the time of the session's last use, unless a later one is stored.
    Seen { id: SessionId, at: Timestamp },
    /// The user has proved in the session that they are there. Guarded: the session exists and is that user's.
    Proved { id: SessionId, user_id: UserId, at: Timestamp, by_factor: bool },
    /// Guarded: the session exists and is that user's.
    Ended { id: SessionId, user_id: UserId },
    /// Ends all sessions of a user, except the one that asks for it.
    AllEnded { user_id: UserId, but: Option<SessionId> },
    /// Deletes sessions, their forms, failed attempts to sign in, and links for lost passwords from before `created_before`, at most
    /// `most` of each.
    /// The caller chooses a time so long ago that all of them have ended.
    OldDeleted { created_before: Timestamp, most: i64 },
    /// Counts an attempt to sign in as failed before the password is checked. Guarded: the subject need not wait. Of
    /// several in one change, subjects come in alphabetical order. `longest`: the longest delay that failures lead to.
    Tried { subject: String, at: Timestamp, longest: Duration },
    /// Counts an attempt after which its subject must wait until then, whatever its outcome. Guarded and ordered as `Tried`.
    Paused { subject: String, at: Timestamp, until: Timestamp },
    /// The attempt succeeded: deletes the failures of the subject `forgiven`, and takes this attempt back from those of
    /// the address; each if the attempt was counted there.
    Succeeded { forgiven: Option<String>, address: Option<String> },
    /// Deletes all failed attempts, so that nobody has to wait.
    AllForgiven,
    /// The user has signed in from that address. Of the user's addresses the `most` recent ones are kept.
    AddressKnown { user_id: UserId, address: String, at: Timestamp, most: i64 },
    /// Forgets from which addresses the user has signed in.
    AddressesForgotten { user_id: UserId },
    /// The user has sent a form that created `resource`. Guarded: that form was not sent before.
    FormSent { user_id: UserId, form: String, resource: String, at: Timestamp },
}
