//! Writes about users, members and invitations.

use domain::{
    access::Role,
    id::{InviteId, ProjectId, UserId},
    time::Timestamp,
    user::{Email, Invite, TokenHash, User},
};

pub enum PeopleWrite {
    /// `password` is the password's hash. Guarded: nobody has that e-mail address.
    UserCreated {
        user: User,
        password: String,
    },
    PasswordChanged {
        user_id: UserId,
        password: String,
    },
    /// Changes nothing. Guarded: the stored hash is still `password`, and the user is active. It locks the user's row, so that the password
    /// cannot be changed before this change is committed.
    PasswordUnchanged {
        user_id: UserId,
        password: String,
    },
    /// Deactivates a user. Guarded: they are active, `by` is an active operator if it is given, an active operator remains,
    /// and each project of which the user is an owner keeps an active one.
    UserDeactivated {
        user_id: UserId,
        by: Option<UserId>,
        at: Timestamp,
    },
    /// Guarded: the user is deactivated and not removed.
    UserActivated {
        user_id: UserId,
        by: Option<UserId>,
    },
    /// Deletes all that is personal about a user, and all of their memberships and sessions; the id stays. `email` is the
    /// address that they had, which becomes their id in the audit log. Guarded like `UserDeactivated`, but they may be
    /// deactivated already.
    UserRemoved {
        user_id: UserId,
        email: Email,
        by: Option<UserId>,
        at: Timestamp,
    },
    /// Deletes the open invitations to any project that the user created.
    AllInvitesVoided {
        created_by: UserId,
    },
    OperatorSet {
        user_id: UserId,
        is_operator: bool,
    },
    /// Guarded: the user is not removed, and not a member yet.
    MemberAdded {
        project_id: ProjectId,
        user_id: UserId,
        role: Role,
        at: Timestamp,
    },
    /// Guarded: the user is a member, and the project keeps an active owner.
    RoleChanged {
        project_id: ProjectId,
        user_id: UserId,
        role: Role,
    },
    /// Removes a member, and the open invitations of their address to the same project. Guarded like `RoleChanged`.
    MemberRemoved {
        project_id: ProjectId,
        user_id: UserId,
    },
    /// Changes nothing. Guarded: the user has that role in the project. It locks the project's row like `MemberRemoved`
    /// does, so that what a member creates is either found by their removal, or not created.
    RoleHeld {
        project_id: ProjectId,
        user_id: UserId,
        role: Role,
    },
    /// Deletes the open invitations to the project that the user created.
    InvitesVoided {
        project_id: ProjectId,
        created_by: UserId,
    },
    Invited {
        invite: Invite,
        hash: TokenHash,
    },
    /// Guarded: the invitation is unused and has not expired.
    InviteUsed {
        id: InviteId,
        user_id: UserId,
        at: Timestamp,
    },
    /// Guarded: the invitation is unused.
    InviteWithdrawn {
        id: InviteId,
        project_id: ProjectId,
    },
}
