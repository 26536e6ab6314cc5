//! Writes about second factors and their recovery codes.

use domain::{
    id::{ProjectId, UserId},
    second_factor::RecoveryHash,
    time::Timestamp,
};

pub enum FactorWrite {
    /// Guarded: the user has no factor that still counts at that time. `codes` replace all recovery codes that the user had. It locks the user's row, as each sign-in does, so that
    /// no session begins without the factor once this is committed. `step` is that of the code that proved it.
    Added { user_id: UserId, sealed: Vec<u8>, at: Timestamp, step: i64, codes: Vec<RecoveryHash> },
    /// A code was accepted. Guarded: no code of that step or a later one was accepted before.
    CodeAccepted { user_id: UserId, step: i64 },
    /// Guarded: the user has that recovery code, and it is unused.
    RecoveryCodeUsed { user_id: UserId, hash: RecoveryHash, at: Timestamp },
    /// Guarded: the user has a factor.
    RecoveryCodesRenewed { user_id: UserId, codes: Vec<RecoveryHash> },
    /// Deletes a factor and its recovery codes. Guarded: the user has one.
    Removed { user_id: UserId },
    /// Guarded: the user has a factor, and nobody has asked yet.
    LiftAsked { user_id: UserId, lift_at: Timestamp },
    /// Guarded: somebody has asked, and it is not lifted yet.
    LiftRefused { user_id: UserId, at: Timestamp },
    /// Deletes a factor that counts no more, and its recovery codes. Guarded: there is one.
    Lifted { user_id: UserId, at: Timestamp },
    /// Whether every member of the project needs a second factor. Guarded: who demands it has one that counts at that time.
    Required { project_id: ProjectId, required: bool, by: UserId, at: Timestamp },
}
