//! Seals of the audit log.

use domain::{
    audit_chain::Seal,
    id::{AuditId, ProjectId},
};

/// Seals the next lines of a chain. Guarded: the chain has `length` lines before, and none of these is sealed or has another subject by now.
pub struct AuditSeals {
    /// None for the chain of the installation.
    pub project_id: Option<ProjectId>,
    pub length: i64,
    /// The lines in their order, at least one, with the subject that was sealed.
    pub seals: Vec<(AuditId, String, Seal)>,
}
