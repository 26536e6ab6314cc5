//! Users who are deactivated, activated and removed: an operator and an owner remain, also where several decide at the same time.

use domain::{
    access::Role,
    id::UserId,
    project::Project,
    user::{Email, Invite, User, UserState},
};
use futures_util::future::join_all;
use store::{Guard, KeyWrite, PeopleWrite, SessionWrite, Store};

use crate::{
    database::{Database, Outcome, commit, keep, on_every_database},
    samples::{self, NOW, after, kept_member, kept_project, kept_session, kept_user, member, token_hash},
};

on_every_database![
    a_deactivated_user_has_no_way_in_until_they_are_activated,
    a_removed_user_leaves_an_id_and_nothing_else,
    who_was_removed_stays_removed_and_their_address_is_free,
    an_active_operator_remains,
    an_active_owner_remains_in_each_project,
    operators_and_owners_who_remove_each_other_at_once_leave_one,
    of_many_who_decide_about_a_user_at_once_one_does,
    no_session_begins_for_a_deactivated_user,
    who_was_removed_joins_nothing,
    that_a_user_has_no_live_key_anywhere_is_known_when_it_is_committed,
];

fn deactivated(user: &User) -> PeopleWrite {
    PeopleWrite::UserDeactivated { user_id: user.id, by: None, at: after(1) }
}

fn removed(user: &User) -> PeopleWrite {
    PeopleWrite::UserRemoved { user_id: user.id, email: user.email.clone(), by: None, at: after(2) }
}

async fn kept_operator(store: &Store) -> User {
    let user = kept_user(store).await;
    keep(store, PeopleWrite::OperatorSet { user_id: user.id, is_operator: true }).await;
    User { is_operator: true, ..user }
}

async fn state(store: &Store, id: UserId) -> UserState {
    store.user(id).await.unwrap().unwrap().state
}

async fn a_deactivated_user_has_no_way_in_until_they_are_activated(database: Database) {
    let store = database.open().await;
    let user = kept_user(&store).await;
    let active = || PeopleWrite::UserActivated { user_id: user.id, by: None };
    let unchanged = || PeopleWrite::PasswordUnchanged { user_id: user.id, password: "$argon2id$none".to_owned() };
    assert_eq!(commit(&store, active()).await, Outcome::Conflict(Guard::UserInactive));
    keep(&store, unchanged()).await;
    keep(&store, deactivated(&user)).await;
    assert_eq!(state(&store, user.id).await, UserState::Deactivated { at: after(1) });
    assert_eq!(commit(&store, unchanged()).await, Outcome::Conflict(Guard::PasswordUnchanged));
    assert_eq!(commit(&store, deactivated(&user)).await, Outcome::Conflict(Guard::UserActive));
    assert_eq!(store.users().await.unwrap().len(), 1, "they are listed");
    keep(&store, active()).await;
    assert_eq!(state(&store, user.id).await, UserState::Active);
    keep(&store, unchanged()).await;
}

async fn a_removed_user_leaves_an_id_and_nothing_else(database: Database) {
    let store = database.open().await;
    let project = kept_project(&store).await;
    let (owner, user) =
        (kept_member(&store, &project, Role::Owner).await, kept_member(&store, &project, Role::Viewer).await);
    kept_session(&store, &user, NOW).await;
    let address = "hashed".to_owned();
    keep(&store, SessionWrite::AddressKnown { user_id: user.id, address, at: NOW, most: 9 }).await;
    invite_both(&store, &project, &owner, &user).await;
    keep(&store, removed(&user)).await;
    let rows = database.rows().concat();
    assert!(!rows.contains(user.email.as_str()), "{rows}");
    assert_eq!(rows.matches(&user.id.to_string()).count(), 2, "as an id, and as what stands for the address: {rows}");
    assert_eq!(store.user_by_email(&user.email).await.unwrap(), None);
    assert_eq!(store.users().await.unwrap(), [owner]);
    assert_eq!(store.members(project.id).await.unwrap().len(), 1);
    assert_eq!(store.invites(project.id, NOW).await.unwrap().len(), 1, "that of the other");
}

/// An invitation to the user, one that they have accepted, one that they have created and one of the owner's.
async fn invite_both(store: &Store, project: &Project, owner: &User, user: &User) {
    let rows = [(&user.email, owner), (&user.email, owner), (&owner.email, user), (&owner.email, owner)];
    for (email, created_by) in rows {
        let invite = samples::invite(project, NOW);
        let invite = Invite { email: email.clone(), created_by: Some(created_by.id), ..invite };
        let hash = token_hash(invite.id);
        keep(store, PeopleWrite::Invited { invite, hash }).await;
    }
    let accepted = store.invites(project.id, NOW).await.unwrap().into_iter().find(|invite| invite.email == user.email);
    keep(store, PeopleWrite::InviteUsed { id: accepted.unwrap().id, user_id: user.id, at: NOW }).await;
}

async fn who_was_removed_stays_removed_and_their_address_is_free(database: Database) {
    let store = database.open().await;
    let user = kept_user(&store).await;
    keep(&store, removed(&user)).await;
    let kept = store.user(user.id).await.unwrap().unwrap();
    assert_eq!((kept.state, kept.email.clone()), (UserState::Removed { at: after(2) }, Email::of_removed(user.id)));
    assert_eq!(commit(&store, removed(&kept)).await, Outcome::Conflict(Guard::UserPresent));
    let active = PeopleWrite::UserActivated { user_id: user.id, by: None };
    assert_eq!(commit(&store, active).await, Outcome::Conflict(Guard::UserInactive));
    let again = samples::user(user.email.as_str());
    keep(&store, PeopleWrite::UserCreated { user: again, password: String::new() }).await;
    assert_eq!(store.breaches().await.unwrap(), []);
}

async fn an_active_operator_remains(database: Database) {
    let store = database.open().await;
    let (first, second) = (kept_operator(&store).await, kept_operator(&store).await);
    keep(&store, deactivated(&first)).await;
    for write in [deactivated(&second), removed(&second)] {
        assert_eq!(commit(&store, write).await, Outcome::Conflict(Guard::OperatorRemains));
    }
    // One who is deactivated is removed without taking an active one away.
    keep(&store, removed(&first)).await;
    assert!(store.has_operator().await.unwrap());
}

async fn an_active_owner_remains_in_each_project(database: Database) {
    let store = database.open().await;
    let (project, other) = (kept_project(&store).await, kept_project(&store).await);
    let (owner, deputy) =
        (kept_member(&store, &project, Role::Owner).await, kept_member(&store, &project, Role::Owner).await);
    keep(&store, member(&other, &deputy, Role::Owner)).await;
    for write in [deactivated(&deputy), removed(&deputy)] {
        assert_eq!(commit(&store, write).await, Outcome::Conflict(Guard::OwnerRemains));
    }
    assert_eq!(store.projects_owned_alone(deputy.id).await.unwrap(), [other]);
    keep(&store, deactivated(&owner)).await;
    assert_eq!(store.projects_owned_alone(deputy.id).await.unwrap().len(), 2, "who is deactivated owns nothing");
    let leave = PeopleWrite::MemberRemoved { project_id: project.id, user_id: deputy.id };
    let demote = PeopleWrite::RoleChanged { project_id: project.id, user_id: deputy.id, role: Role::Viewer };
    assert_eq!(commit(&store, leave).await, Outcome::Conflict(Guard::OwnerRemains));
    assert_eq!(commit(&store, demote).await, Outcome::Conflict(Guard::OwnerRemains));
    keep(&store, removed(&owner)).await;
    assert_eq!(store.breaches().await.unwrap(), []);
}

async fn operators_and_owners_who_remove_each_other_at_once_leave_one(database: Database) {
    let store = database.open().await;
    for round in 0..6 {
        let project = kept_project(&store).await;
        let mut users = Vec::new();
        for _ in 0..3 {
            let user = kept_operator(&store).await;
            keep(&store, member(&project, &user, Role::Owner)).await;
            users.push(user);
        }
        let each = (0..3).map(|at| {
            let (by, user) = (Some(users[at].id), &users[(at + 1) % 3]);
            let (user_id, email, at) = (user.id, user.email.clone(), after(1));
            match round % 2 {
                0 => commit(&store, PeopleWrite::UserDeactivated { user_id, by, at }),
                _ => commit(&store, PeopleWrite::UserRemoved { user_id, email, by, at }),
            }
        });
        join_all(each).await;
        let mut active = Vec::new();
        for user in &users {
            active.extend(store.user(user.id).await.unwrap().filter(User::is_active));
        }
        assert!(!active.is_empty(), "an owner and operator remains");
        assert!(active.len() < 3, "and one of the three decides");
        assert_eq!(store.breaches().await.unwrap(), []);
    }
}

async fn of_many_who_decide_about_a_user_at_once_one_does(database: Database) {
    let store = database.open().await;
    for remove in [false, true] {
        let user = kept_user(&store).await;
        let write = || if remove { removed(&user) } else { deactivated(&user) };
        let outcomes = join_all((0..8).map(|_| commit(&store, write()))).await;
        let kept = outcomes.iter().filter(|outcome| **outcome == Outcome::Kept).count();
        assert_eq!(kept, 1, "{outcomes:?}");
    }
    let (operator, user) = (kept_operator(&store).await, kept_user(&store).await);
    kept_operator(&store).await;
    keep(&store, deactivated(&operator)).await;
    let by = PeopleWrite::UserDeactivated { user_id: user.id, by: Some(operator.id), at: NOW };
    assert_eq!(commit(&store, by).await, Outcome::Conflict(Guard::OperatorHeld), "who is out decides nothing");
}

async fn no_session_begins_for_a_deactivated_user(database: Database) {
    let store = database.open().await;
    let user = kept_user(&store).await;
    keep(&store, deactivated(&user)).await;
    // As an earlier version begins one, which knows nothing of it.
    let session = samples::session(&user, NOW);
    let begun = commit(&store, SessionWrite::Begun { hash: token_hash(session.id), session }).await;
    assert_ne!(begun, Outcome::Kept);
    assert_eq!(store.sessions(user.id).await.unwrap(), []);
}

async fn who_was_removed_joins_nothing(database: Database) {
    let store = database.open().await;
    let (project, user) = (kept_project(&store).await, kept_user(&store).await);
    keep(&store, removed(&user)).await;
    let joined = commit(&store, member(&project, &user, Role::Owner)).await;
    assert_eq!(joined, Outcome::Conflict(Guard::UserPresent));
}

async fn that_a_user_has_no_live_key_anywhere_is_known_when_it_is_committed(database: Database) {
    let store = database.open().await;
    let user = kept_user(&store).await;
    let none = || KeyWrite::AllRevokedBy { created_by: user.id };
    let mut keys = Vec::new();
    for _ in 0..2 {
        let project = kept_project(&store).await;
        let key = domain::api_key::ApiKey { created_by: Some(user.id), ..samples::key(&project, "server") };
        keep(&store, KeyWrite::Created { hash: samples::key_hash(&key), key: key.clone() }).await;
        keys.push(key);
    }
    assert_eq!(store.keys_created_by(user.id).await.unwrap(), keys);
    keep(&store, samples::revocation(&keys[0], NOW)).await;
    assert_eq!(commit(&store, none()).await, Outcome::Conflict(Guard::KeysRevoked));
    keep(&store, samples::revocation(&keys[1], NOW).with(none())).await;
    assert_eq!(store.keys_created_by(user.id).await.unwrap(), []);
}
