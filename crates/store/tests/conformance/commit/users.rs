//! Writes about users, replaced keys and the audit log whose guard does not hold.

use domain::{
    audit::{Actor, Deed},
    audit_chain::{ChainHead, SALT_BYTES},
    id::mint,
};
use store::{AuditSeals, Guard, KeyWrite, PeopleWrite, Write};

use super::{World, writes};
use crate::samples::{self, NOW, after, entropy};

pub(super) fn refused_about_users(guard: Guard, world: &World) -> Vec<Write> {
    let (user_id, nobody) = (world.viewer.id, mint(NOW, entropy()));
    let email = world.viewer.email.clone();
    match guard {
        Guard::OperatorHeld => {
            let by = Some(world.owner.id);
            writes([
                PeopleWrite::UserDeactivated { user_id, by, at: NOW },
                PeopleWrite::UserActivated { user_id, by },
                PeopleWrite::UserRemoved { user_id, email, by, at: NOW },
            ])
        }
        Guard::UserActive => writes([PeopleWrite::UserDeactivated { user_id: nobody, by: None, at: NOW }]),
        Guard::UserInactive => {
            writes([user_id, nobody].map(|user_id| PeopleWrite::UserActivated { user_id, by: None }))
        }
        Guard::UserPresent => writes([
            PeopleWrite::UserRemoved { user_id: nobody, email, by: None, at: NOW },
            // The address is another one by now.
            PeopleWrite::UserRemoved { user_id, email: world.owner.email.clone(), by: None, at: NOW },
        ]),
        Guard::KeyNotReplaced => {
            let project_id = world.project.id;
            writes([
                KeyWrite::Replaced { id: world.revoked_key.id, project_id, expires_at: after(1) },
                KeyWrite::Replaced { id: world.live_key.id, project_id: mint(NOW, entropy()), expires_at: after(1) },
            ])
        }
        Guard::AuditChain => {
            let line = samples::audit_line(Actor::CommandLine, None, Deed::UserCreated);
            let seals = |length| {
                let head = ChainHead { length, ..ChainHead::empty(None) };
                AuditSeals {
                    project_id: None,
                    length,
                    seals: vec![(line.id, line.subject.clone(), head.seal(&line, [1; SALT_BYTES]))],
                }
            };
            // A line that is not there, and a chain that ends elsewhere.
            writes([seals(0), seals(7)])
        }
        _ => Vec::new(),
    }
}
