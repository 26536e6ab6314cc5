//! The tabs above the operator's pages, and the paths that these pages share.

use domain::id::{BankAccountId, ProjectId, RefundId, StrayId, UserId};

/// The path of the first tab; the paths of all operators' pages begin with it.
pub(crate) const PATH: &str = "/dashboard/operator";

pub(crate) const USERS: &str = "/dashboard/operator/users";

/// The tab that a page belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tab {
    Projects,
    Users,
    Banks,
    Strays,
    Refunds,
    Differences,
    Letters,
    Log,
}

/// The path of a project's page.
pub(crate) fn project_path(id: ProjectId) -> String {
    format!("{PATH}/projects/{id}")
}

pub(crate) fn banks_path() -> String {
    format!("{PATH}/banks")
}

/// The path of a bank account's page.
pub(crate) fn bank_path(id: BankAccountId) -> String {
    format!("{}/{id}", banks_path())
}

pub(crate) fn differences_path() -> String {
    format!("{PATH}/differences")
}

pub(crate) fn strays_path() -> String {
    format!("{PATH}/strays")
}

/// The path of a stray's page.
pub(crate) fn stray_path(id: StrayId) -> String {
    format!("{}/{id}", strays_path())
}

/// The path of a user's page.
pub(crate) fn user_path(id: UserId) -> String {
    format!("{USERS}/{id}")
}

pub(crate) fn refunds_path() -> String {
    format!("{PATH}/refunds")
}

/// The path of a refund's page.
pub(crate) fn refund_path(id: RefundId) -> String {
    format!("{}/{id}", refunds_path())
}
