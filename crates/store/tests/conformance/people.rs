//! Users, members, sessions and invitations.

use std::time::Duration;

use domain::{
    access::Role,
    id::mint,
    project::Project,
    user::{Email, Invite, User},
};
use futures_util::future::{join, join_all};
use store::{Change, Guard, Member, Membership, PeopleWrite, ProjectWrite, SessionWrite, Store, Window};

use crate::{
    database::{Database, Outcome, commit, keep, on_every_database},
    samples::{self, NOW, after, entropy, kept_invite, kept_member, kept_project, kept_session, kept_user, token_hash},
};

on_every_database![
    a_user_is_read_back_as_they_were_committed,
    nobody_is_found_who_was_not_committed,
    users_are_listed_page_by_page,
    an_address_is_taken_once_however_many_want_it,
    a_membership_is_seen_from_both_sides_and_nowhere_else,
    a_role_is_changed_while_an_owner_remains,
    a_member_is_removed_while_an_owner_remains,
    two_owners_who_demote_or_remove_each_other_at_once_leave_one,
    a_member_who_is_removed_cannot_come_back_by_an_older_invitation,
    a_member_who_is_removed_leaves_no_invitation_of_theirs,
    no_session_outlives_the_password_that_began_it,
    a_session_is_found_by_its_token,
    a_session_that_was_ended_is_found_no_more,
    sessions_end_all_at_once_but_for_the_one_that_asks,
    old_sessions_are_forgotten_a_few_at_a_time,
    invitations_are_listed_while_they_are_in_time,
    an_invitation_is_open_until_it_is_used_withdrawn_or_late,
    an_invitation_is_used_once_however_many_try,
];

async fn users_are_listed_page_by_page(database: Database) {
    let store = database.open().await;
    for _ in 0..3 {
        kept_user(&store).await;
    }
    let all = store.users().await.unwrap();
    for (offset, shown) in [(0, &all[..2]), (2, &all[2..]), (4, &[])] {
        let page = store.users_page(Window { offset, limit: 2 }).await.unwrap();
        assert_eq!((page.items.as_slice(), page.total), (shown, 3));
    }
    assert!(!store.has_operator().await.unwrap());
    let operator = User { is_operator: true, ..samples::user("operator@example.com") };
    keep(&store, PeopleWrite::UserCreated { user: operator, password: String::new() }).await;
    assert!(store.has_operator().await.unwrap());
}

async fn a_user_is_read_back_as_they_were_committed(database: Database) {
    let store = database.open().await;
    let user = User { is_operator: true, ..samples::user("Siti@Example.com") };
    keep(&store, PeopleWrite::UserCreated { user: user.clone(), password: "first".to_owned() }).await;
    let other = kept_user(&store).await;
    assert_eq!(store.user(user.id).await.unwrap(), Some(user.clone()));
    assert_eq!(store.users().await.unwrap(), [user.clone(), other.clone()]);
    let found = store.user_by_email(&Email::parse("siti@example.com").unwrap()).await.unwrap();
    assert_eq!(found, Some((user.clone(), "first".to_owned())));
    keep(&store, PeopleWrite::PasswordChanged { user_id: user.id, password: "second".to_owned() }).await;
    keep(&store, PeopleWrite::OperatorSet { user_id: user.id, is_operator: false }).await;
    assert_eq!(store.password_of(user.id).await.unwrap().as_deref(), Some("second"));
    assert_eq!(store.password_of(other.id).await.unwrap().as_deref(), Some("$argon2id$none"));
    assert_eq!(store.user(user.id).await.unwrap(), Some(User { is_operator: false, ..user }));
}

async fn nobody_is_found_who_was_not_committed(database: Database) {
    let store = database.open().await;
    kept_user(&store).await;
    let nobody = mint(NOW, entropy());
    assert_eq!(store.user(nobody).await.unwrap(), None);
    assert_eq!(store.password_of(nobody).await.unwrap(), None);
    assert_eq!(store.user_by_email(&Email::parse("nobody@example.com").unwrap()).await.unwrap(), None);
}

async fn an_address_is_taken_once_however_many_want_it(database: Database) {
    let store = database.open().await;
    let wanting = (0..16).map(|_| {
        let user = samples::user("same@example.com");
        commit(&store, PeopleWrite::UserCreated { user, password: String::new() })
    });
    let outcomes = join_all(wanting).await;
    let count = |wanted| outcomes.iter().filter(|outcome| **outcome == wanted).count();
    assert_eq!((count(Outcome::Kept), count(Outcome::Conflict(Guard::EmailFree))), (1, 15));
    assert_eq!(store.users().await.unwrap().len(), 1);
}

async fn a_membership_is_seen_from_both_sides_and_nowhere_else(database: Database) {
    let store = database.open().await;
    let named = |name: &str| Project { name: name.to_owned(), version: 7, ..samples::project() };
    let projects = [named("B"), named("A"), named("B")];
    for project in &projects {
        keep(&store, ProjectWrite::Created { project: project.clone(), sealed_webhook_secret: Vec::new() }).await;
    }
    let [one, two, three] = &projects;
    let (user, other) = (kept_user(&store).await, kept_user(&store).await);
    for (project, who, role) in [
        (one, &user, Role::Owner),
        (two, &user, Role::Viewer),
        (three, &user, Role::Owner),
        (three, &other, Role::Developer),
    ] {
        keep(&store, samples::member(project, who, role)).await;
    }
    let memberships = store.memberships(user.id).await.unwrap();
    assert_eq!(memberships, [(two.clone(), Role::Viewer), (one.clone(), Role::Owner), (three.clone(), Role::Owner)]);
    assert_eq!((store.owned_projects(user.id).await.unwrap(), store.owned_projects(other.id).await.unwrap()), (2, 0));
    let membership = |user: &User, project: &Project| store.membership(user.id, project.id);
    let expected = Membership { role: Role::Viewer, project_version: 7, needs_factor: false };
    assert_eq!(membership(&user, two).await.unwrap(), Some(expected));
    assert_eq!(membership(&other, two).await.unwrap(), None);
    let member = |user: &User, role| Member { user: user.clone(), role, joined_at: NOW };
    let members = store.members(three.id).await.unwrap();
    assert_eq!(members, [member(&user, Role::Owner), member(&other, Role::Developer)]);
    let again = commit(&store, samples::member(three, &other, Role::Owner)).await;
    assert_eq!(again, Outcome::Conflict(Guard::NotMember));
}

async fn roles(store: &Store, project: &Project) -> Vec<Role> {
    store.members(project.id).await.unwrap().into_iter().map(|member| member.role).collect()
}

/// A project with an owner and a viewer, and an owner of another project.
async fn with_members(store: &Store) -> (Project, User, User) {
    let (project, other) = (kept_project(store).await, kept_project(store).await);
    kept_member(store, &other, Role::Owner).await;
    let (owner, viewer) =
        (kept_member(store, &project, Role::Owner).await, kept_member(store, &project, Role::Viewer).await);
    (project, owner, viewer)
}

const REFUSED: Outcome = Outcome::Conflict(Guard::OwnerRemains);

async fn a_role_is_changed_while_an_owner_remains(database: Database) {
    let store = database.open().await;
    let (project, owner, viewer) = with_members(&store).await;
    for (user, role, outcome) in [
        (&viewer, Role::Developer, Outcome::Kept),
        (&owner, Role::Viewer, REFUSED),
        (&owner, Role::Owner, Outcome::Kept),
        (&viewer, Role::Owner, Outcome::Kept),
        (&owner, Role::Viewer, Outcome::Kept),
        (&viewer, Role::Developer, REFUSED),
    ] {
        let changed = PeopleWrite::RoleChanged { project_id: project.id, user_id: user.id, role };
        assert_eq!(commit(&store, changed).await, outcome, "{role:?}");
    }
    assert_eq!(roles(&store, &project).await, [Role::Viewer, Role::Owner]);
    // The project's version has not changed.
    assert_eq!(store.project(project.id).await.unwrap().unwrap().version, project.version);
}

async fn a_member_is_removed_while_an_owner_remains(database: Database) {
    let store = database.open().await;
    let (project, owner, viewer) = with_members(&store).await;
    let removed = |user: &User| commit(&store, PeopleWrite::MemberRemoved { project_id: project.id, user_id: user.id });
    assert_eq!(removed(&owner).await, REFUSED);
    assert_eq!(removed(&viewer).await, Outcome::Kept);
    assert_eq!(removed(&viewer).await, REFUSED);
    assert_eq!(removed(&owner).await, REFUSED);
    assert_eq!(roles(&store, &project).await, [Role::Owner]);
    assert_eq!(store.membership(viewer.id, project.id).await.unwrap(), None);
    kept_member(&store, &project, Role::Owner).await;
    assert_eq!(removed(&owner).await, Outcome::Kept);
}

async fn two_owners_who_demote_or_remove_each_other_at_once_leave_one(database: Database) {
    let store = database.open().await;
    for round in 0..20 {
        let project = kept_project(&store).await;
        let (one, two) =
            (kept_member(&store, &project, Role::Owner).await, kept_member(&store, &project, Role::Owner).await);
        let against = |user: &User, demoted: bool| {
            let (project_id, user_id) = (project.id, user.id);
            match demoted {
                true => PeopleWrite::RoleChanged { project_id, user_id, role: Role::Viewer },
                false => PeopleWrite::MemberRemoved { project_id, user_id },
            }
        };
        let (first, second) =
            join(commit(&store, against(&one, round % 2 == 0)), commit(&store, against(&two, round % 3 == 0))).await;
        let refused = Outcome::Conflict(Guard::OwnerRemains);
        assert!(
            [(Outcome::Kept, refused), (refused, Outcome::Kept)].contains(&(first, second)),
            "{first:?} {second:?}"
        );
        let owners = roles(&store, &project).await.into_iter().filter(|role| *role == Role::Owner).count();
        assert_eq!(owners, 1);
    }
}

/// A member who is removed while they accept another invitation must not be a member afterwards.
async fn a_member_who_is_removed_cannot_come_back_by_an_older_invitation(database: Database) {
    let store = database.open().await;
    for _ in 0..20 {
        let (project, other) = (kept_project(&store).await, kept_project(&store).await);
        kept_member(&store, &project, Role::Owner).await;
        let user = kept_member(&store, &project, Role::Viewer).await;
        let mut invites = Vec::new();
        for project in [&project, &other] {
            let invite = Invite { email: user.email.clone(), ..samples::invite(project, NOW) };
            keep(&store, PeopleWrite::Invited { hash: token_hash(invite.id), invite: invite.clone() }).await;
            invites.push(invite);
        }
        let stranger = kept_invite(&store, &project, NOW).await;
        let taken = || {
            Change::from(PeopleWrite::InviteUsed { id: invites[0].id, user_id: user.id, at: NOW })
                .with(samples::member(&project, &user, Role::Owner))
        };
        let removed = PeopleWrite::MemberRemoved { project_id: project.id, user_id: user.id };
        let (removed, taken_meanwhile) = join(commit(&store, removed), commit(&store, taken())).await;
        assert_eq!(removed, Outcome::Kept);
        assert_ne!(taken_meanwhile, Outcome::Kept);
        assert_eq!(commit(&store, taken()).await, Outcome::Conflict(Guard::InviteOpen));
        assert_eq!(store.membership(user.id, project.id).await.unwrap(), None);
        assert_eq!(store.invites(project.id, NOW).await.unwrap(), [stranger]);
        assert_eq!(store.invites(other.id, NOW).await.unwrap(), invites[1..]);
    }
}

/// Whatever of the two comes first: a member who is removed leaves no invitation of theirs behind.
async fn a_member_who_is_removed_leaves_no_invitation_of_theirs(database: Database) {
    let store = database.open().await;
    for _ in 0..20 {
        let project = kept_project(&store).await;
        let (owner, leaving) =
            (kept_member(&store, &project, Role::Owner).await, kept_member(&store, &project, Role::Owner).await);
        let invited = |user: &User| {
            let invite = Invite { created_by: Some(user.id), ..samples::invite(&project, NOW) };
            let held = PeopleWrite::RoleHeld { project_id: project.id, user_id: user.id, role: Role::Owner };
            Change::from(held).with(PeopleWrite::Invited { hash: token_hash(invite.id), invite })
        };
        assert_eq!(commit(&store, invited(&leaving)).await, Outcome::Kept);
        assert_eq!(commit(&store, invited(&owner)).await, Outcome::Kept);
        let removed = Change::from(PeopleWrite::MemberRemoved { project_id: project.id, user_id: leaving.id })
            .with(PeopleWrite::InvitesVoided { project_id: project.id, created_by: leaving.id });
        let (removed, _) = join(commit(&store, removed), commit(&store, invited(&leaving))).await;
        assert_eq!(removed, Outcome::Kept);
        assert_eq!(commit(&store, invited(&leaving)).await, Outcome::Conflict(Guard::RoleHeld));
        let left = store.invites(project.id, NOW).await.unwrap();
        assert_eq!(left.iter().map(|invite| invite.created_by).collect::<Vec<_>>(), [Some(owner.id)]);
    }
}

async fn no_session_outlives_the_password_that_began_it(database: Database) {
    let store = database.open().await;
    for _ in 0..20 {
        let user = kept_user(&store).await;
        let session = samples::session(&user, NOW);
        let old = store.password_of(user.id).await.unwrap().unwrap();
        let begun = || {
            Change::from(PeopleWrite::PasswordUnchanged { user_id: user.id, password: old.clone() })
                .with(SessionWrite::Begun { hash: token_hash(session.id), session: session.clone() })
        };
        let changed = Change::from(PeopleWrite::PasswordChanged { user_id: user.id, password: "another".to_owned() })
            .with(SessionWrite::AllEnded { user_id: user.id, but: None });
        let (begun_meanwhile, changed) = join(commit(&store, begun()), commit(&store, changed)).await;
        assert_eq!(changed, Outcome::Kept, "{begun_meanwhile:?}");
        assert_eq!(store.sessions(user.id).await.unwrap(), []);
        assert_eq!(commit(&store, begun()).await, Outcome::Conflict(Guard::PasswordUnchanged));
    }
}

async fn a_session_is_found_by_its_token(database: Database) {
    let store = database.open().await;
    let mut sessions = Vec::new();
    for _ in 0..2 {
        let user = kept_user(&store).await;
        sessions.push((kept_session(&store, &user, NOW).await, user));
    }
    // Concurrent reads are sent as one query.
    let asked = (0..64).map(|turn| store.session(token_hash(sessions[turn % 2].0.id)));
    for (turn, found) in join_all(asked).await.into_iter().enumerate() {
        let found = found.unwrap().map(|open| (open.session, open.user));
        assert_eq!(found.as_ref(), Some(&sessions[turn % 2]));
    }
    let id = sessions[0].0.id;
    // The time of the last use never goes back.
    for at in [after(60_000), after(1)] {
        keep(&store, SessionWrite::Seen { id, at }).await;
        let seen = store.session(token_hash(id)).await.unwrap().unwrap().session;
        assert_eq!(seen.seen_at, after(60_000));
    }
}

async fn a_session_that_was_ended_is_found_no_more(database: Database) {
    let store = database.open().await;
    let (user, other) = (kept_user(&store).await, kept_user(&store).await);
    let session = kept_session(&store, &user, NOW).await;
    let foreign = kept_session(&store, &other, NOW).await;
    let ended = |user: &User| commit(&store, SessionWrite::Ended { id: session.id, user_id: user.id });
    assert_eq!(ended(&other).await, Outcome::Conflict(Guard::SessionLive));
    assert!(store.session(token_hash(session.id)).await.unwrap().is_some());
    assert_eq!(ended(&user).await, Outcome::Kept);
    assert_eq!(ended(&user).await, Outcome::Conflict(Guard::SessionLive));
    // A late use does not bring an ended session back.
    keep(&store, SessionWrite::Seen { id: session.id, at: after(120_000) }).await;
    assert_eq!(store.session(token_hash(session.id)).await.unwrap(), None);
    assert!(store.session(token_hash(foreign.id)).await.unwrap().is_some());
}

async fn sessions_end_all_at_once_but_for_the_one_that_asks(database: Database) {
    let store = database.open().await;
    let (user, other) = (kept_user(&store).await, kept_user(&store).await);
    let mut sessions = Vec::new();
    for millis in [3, 1, 2] {
        sessions.push(kept_session(&store, &user, after(millis)).await);
        kept_session(&store, &other, after(millis)).await;
    }
    sessions.sort_by_key(|session| std::cmp::Reverse(session.created_at));
    assert_eq!(store.sessions(user.id).await.unwrap(), sessions);
    keep(&store, SessionWrite::AllEnded { user_id: user.id, but: Some(sessions[1].id) }).await;
    assert_eq!(store.sessions(user.id).await.unwrap(), sessions[1..2]);
    keep(&store, SessionWrite::AllEnded { user_id: user.id, but: None }).await;
    assert_eq!(store.sessions(user.id).await.unwrap(), []);
    assert_eq!(store.sessions(other.id).await.unwrap().len(), 3);
}

async fn old_sessions_are_forgotten_a_few_at_a_time(database: Database) {
    let store = database.open().await;
    let user = kept_user(&store).await;
    for millis in 0..5 {
        kept_session(&store, &user, after(millis)).await;
        keep(
            &store,
            SessionWrite::Tried { subject: millis.to_string(), at: after(millis), longest: Duration::from_mins(15) },
        )
        .await;
    }
    let left = || database.rows().iter().filter(|row| row.starts_with("sign_ins:")).count();
    for expected in [3, 1, 1] {
        keep(&store, SessionWrite::OldDeleted { created_before: after(4), most: 2 }).await;
        assert_eq!((store.sessions(user.id).await.unwrap().len(), left()), (expected, expected));
    }
    assert_eq!(store.sessions(user.id).await.unwrap()[0].created_at, after(4));
}

async fn invitations_are_listed_while_they_are_in_time(database: Database) {
    let store = database.open().await;
    let (project, other) = (kept_project(&store).await, kept_project(&store).await);
    let early = kept_invite(&store, &project, NOW).await;
    let late = kept_invite(&store, &project, after(5)).await;
    kept_invite(&store, &other, NOW).await;
    assert_eq!(store.invite(token_hash(early.id)).await.unwrap(), Some(early.clone()));
    assert_eq!(store.invites(project.id, NOW).await.unwrap(), [late.clone(), early.clone()]);
    assert_eq!(store.invites(project.id, early.expires_at).await.unwrap(), std::slice::from_ref(&late));
    assert_eq!(store.invites(project.id, late.expires_at).await.unwrap(), []);
}

async fn an_invitation_is_open_until_it_is_used_withdrawn_or_late(database: Database) {
    let store = database.open().await;
    let (project, other) = (kept_project(&store).await, kept_project(&store).await);
    let user = kept_user(&store).await;
    let (taken, gone) = (kept_invite(&store, &project, NOW).await, kept_invite(&store, &project, NOW).await);
    let used = |at| PeopleWrite::InviteUsed { id: taken.id, user_id: user.id, at };
    let withdrawn = |id, project: &Project| PeopleWrite::InviteWithdrawn { id, project_id: project.id };
    let refused = Outcome::Conflict(Guard::InviteOpen);
    for (write, outcome) in [
        (used(taken.expires_at), refused),
        (used(after(999)), Outcome::Kept),
        (used(after(999)), refused),
        (withdrawn(taken.id, &project), refused),
        (withdrawn(gone.id, &other), refused),
        (withdrawn(gone.id, &project), Outcome::Kept),
        (withdrawn(gone.id, &project), refused),
    ] {
        assert_eq!(commit(&store, write).await, outcome);
    }
    for invite in [taken, gone] {
        assert_eq!(store.invite(token_hash(invite.id)).await.unwrap(), None);
    }
    assert_eq!(store.invites(project.id, NOW).await.unwrap(), []);
}

async fn an_invitation_is_used_once_however_many_try(database: Database) {
    let store = database.open().await;
    let project = kept_project(&store).await;
    kept_member(&store, &project, Role::Owner).await;
    let invite = kept_invite(&store, &project, NOW).await;
    let mut users = Vec::new();
    for _ in 0..16 {
        users.push(kept_user(&store).await);
    }
    let taking = users.iter().map(|user| {
        let used = PeopleWrite::InviteUsed { id: invite.id, user_id: user.id, at: NOW };
        commit(&store, Change::from(used).with(samples::member(&project, user, invite.role)))
    });
    let outcomes = join_all(taking).await;
    let count = |wanted| outcomes.iter().filter(|outcome| **outcome == wanted).count();
    assert_eq!((count(Outcome::Kept), count(Outcome::Conflict(Guard::InviteOpen))), (1, 15));
    assert_eq!(roles(&store, &project).await, [Role::Owner, Role::Developer]);
    assert_eq!(store.breaches().await.unwrap(), []);
}
