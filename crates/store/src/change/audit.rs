//! Seals of the audit log.

use domain::{
    audit_chain::Seal,
    id::{AuditId, ProjectId},
};

/// Seals the next lines of a chain. Guarded: the chain has `length` lines before, and none of these is sealed.
pub struct AuditSeals {
    /// None for the chain of the installation.
    pub project_id: Option<ProjectId>,
    pub length: i64,
    /// In their order, at least one.
    pub seals: Vec<(AuditId, Seal)>,
}
