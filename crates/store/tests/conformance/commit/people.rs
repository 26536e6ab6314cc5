//! Writes about people, their sign-ins and what they decide, whose guard does not hold.

use domain::{
    access::Role,
    id::mint,
    key_rights::KeyRight,
    receipt::Decision,
    user::{Session, User},
};
use store::{Guard, KeyWrite, PeopleWrite, ResetWrite, SessionWrite, Write};

use super::{World, factors::refused_about_factors, form_sent, tried, users::refused_about_users, writes};
use crate::samples::{self, NOW, after, entropy};

pub(super) fn refused_to_people(guard: Guard, world: &World) -> Vec<Write> {
    let project = &world.project;
    match guard {
        Guard::EmailFree => {
            let user = samples::user(world.owner.email.as_str());
            writes([PeopleWrite::UserCreated { user, password: String::new() }])
        }
        Guard::NotMember => writes([samples::member(project, &world.viewer, Role::Owner)]),
        Guard::OwnerRemains => owner_remains(world),
        Guard::SessionLive => {
            let Session { id, user_id, .. } = world.session;
            writes([
                SessionWrite::Ended { id: mint(NOW, entropy()), user_id },
                SessionWrite::Ended { id, user_id: world.owner.id },
            ])
        }
        Guard::InviteOpen => {
            let (used, late) = (world.invite.id, world.late_invite.id);
            let (user_id, elsewhere) = (world.viewer.id, mint(NOW, entropy()));
            writes([
                PeopleWrite::InviteUsed { id: used, user_id, at: NOW },
                PeopleWrite::InviteUsed { id: late, user_id, at: world.late_invite.expires_at },
                PeopleWrite::InviteUsed { id: mint(NOW, entropy()), user_id, at: NOW },
                PeopleWrite::InviteWithdrawn { id: used, project_id: project.id },
                PeopleWrite::InviteWithdrawn { id: late, project_id: elsewhere },
            ])
        }
        Guard::FactorShown | Guard::FactorPresent | Guard::FactorCode => {
            refused_about_factors(guard, &world.project, &world.owner, &world.viewer)
        }
        Guard::ResetRequested | Guard::ResetOpen => vec![refused_reset(guard, world)],
        Guard::SignInAllowed => writes([tried(after(999))]),
        Guard::FormUnused => writes([form_sent(world)]),
        Guard::KeysRevoked => {
            let (project_id, created_by) = (project.id, world.viewer.id);
            writes([
                KeyWrite::AllRevokedOf { project_id, created_by },
                KeyWrite::AllRevokedWith { project_id, created_by, right: KeyRight::Payments },
            ])
        }
        Guard::RoleHeld => {
            let held = |project_id, user_id, role| PeopleWrite::RoleHeld { project_id, user_id, role };
            writes([
                held(project.id, world.viewer.id, Role::Owner),
                held(project.id, mint(NOW, entropy()), Role::Owner),
                held(mint(NOW, entropy()), world.owner.id, Role::Owner),
            ])
        }
        Guard::ReceiptUndecided => {
            let decided = |receipt| samples::decided(&world.settled, receipt, Decision::Returned, after(30));
            let elsewhere = samples::with_terms(world.settled.clone(), |terms| terms.project_id = mint(NOW, entropy()));
            writes([
                decided("decided"),
                decided("taken"),
                decided("unheard of"),
                samples::decided(&elsewhere, "held", Decision::Returned, after(30)),
            ])
        }
        other => refused_about_users(other, world),
    }
}

fn refused_reset(guard: Guard, world: &World) -> Write {
    let User { id: user_id, email, .. } = world.owner.clone();
    match guard {
        Guard::ResetRequested => ResetWrite::RequestTaken { email, at: NOW }.into(),
        _ => ResetWrite::LinkUsed { user_id, hash: samples::token_hash("no link"), at: NOW }.into(),
    }
}

fn owner_remains(world: &World) -> Vec<Write> {
    let project_id = world.project.id;
    let (owner, nobody, elsewhere) = (world.owner.id, mint(NOW, entropy()), mint(NOW, entropy()));
    writes([
        PeopleWrite::RoleChanged { project_id, user_id: owner, role: Role::Developer },
        PeopleWrite::RoleChanged { project_id, user_id: nobody, role: Role::Owner },
        PeopleWrite::RoleChanged { project_id: elsewhere, user_id: owner, role: Role::Owner },
        PeopleWrite::MemberRemoved { project_id, user_id: owner },
        PeopleWrite::MemberRemoved { project_id, user_id: nobody },
        PeopleWrite::MemberRemoved { project_id: elsewhere, user_id: world.viewer.id },
    ])
}
