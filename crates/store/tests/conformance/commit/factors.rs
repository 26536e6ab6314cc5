//! Changes about second factors that are refused.

use domain::{project::Project, user::User};
use store::{FactorWrite, Guard, SessionWrite, Write};

use super::writes;
use crate::{
    factors::factor,
    samples::{self, NOW},
};

/// `owner` has a factor and has used its first recovery code; `viewer` has none.
pub(super) fn refused_about_factors(guard: Guard, project: &Project, owner: &User, viewer: &User) -> Vec<Write> {
    let (own, none) = (owner.id, viewer.id);
    match guard {
        Guard::FactorShown => {
            let session = samples::session(owner, NOW);
            writes([SessionWrite::Begun { hash: samples::token_hash(session.id), session }])
        }
        Guard::FactorPresent => writes([
            factor(own),
            FactorWrite::RecoveryCodesRenewed { user_id: none, codes: vec![[2; 32]] },
            FactorWrite::Removed { user_id: none },
            FactorWrite::LiftAsked { user_id: none, lift_at: NOW },
            FactorWrite::LiftRefused { user_id: own, at: NOW },
            FactorWrite::Lifted { user_id: own, at: NOW },
            FactorWrite::Required { project_id: project.id, required: true, by: none, at: NOW },
        ]),
        _ => writes([
            FactorWrite::CodeAccepted { user_id: own, step: 7 },
            FactorWrite::CodeAccepted { user_id: none, step: 8 },
            FactorWrite::RecoveryCodeUsed { user_id: own, hash: [9; 32], at: NOW },
            FactorWrite::RecoveryCodeUsed { user_id: own, hash: [1; 32], at: NOW },
        ]),
    }
}
