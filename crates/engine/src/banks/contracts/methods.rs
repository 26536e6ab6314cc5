//! Which methods of a production project can take real money, and what is missing for the others.

use domain::{bank::Bank, method::Method, project::Project};

use super::numbers::has_issuer;
use crate::{Engine, Error};

/// Whether a production project can take money by a method.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MethodStanding {
    Ready,
    /// No bank account is assigned to it.
    NoAccount,
    AccountDisabled,
    /// Its account is enabled, but the operator has not approved the project.
    NotApproved,
    /// Its account is enabled, but the project is deactivated.
    Inactive,
    /// An account is assigned to it, but the project's settings do not offer it.
    NotOffered,
}

impl MethodStanding {
    /// Whether an enabled account is assigned to the method, so that only the project's own state can be in the way.
    pub const fn has_account(self) -> bool {
        matches!(self, MethodStanding::Ready | MethodStanding::NotApproved | MethodStanding::Inactive)
    }
}

impl Engine {
    /// How the methods stand that a production project offers, or that an account is assigned to.
    pub(crate) async fn method_standings(&self, project: &Project) -> Result<Vec<(Method, MethodStanding)>, Error> {
        let assigned = self.store.project_accounts(project.id).await?;
        let methods = std::iter::once(Method::Qris).chain(Bank::ALL.into_iter().map(Method::VirtualAccount));
        let standing = |method: Method| {
            let is_assigned = assigned.iter().any(|(assigned, _)| *assigned == method);
            match (project.offers(method), has_issuer(project, method)) {
                (false, _) => is_assigned.then_some(MethodStanding::NotOffered),
                (true, false) if is_assigned => Some(MethodStanding::AccountDisabled),
                (true, false) => Some(MethodStanding::NoAccount),
                (true, true) if !project.active => Some(MethodStanding::Inactive),
                (true, true) if !project.approved => Some(MethodStanding::NotApproved),
                (true, true) => Some(MethodStanding::Ready),
            }
        };
        Ok(methods.filter_map(|method| Some((method, standing(method)?))).collect())
    }
}
