//! Writes about projects and their settings.

use domain::{id::ProjectId, project::Project};

pub enum ProjectWrite {
    Created {
        project: Project,
        sealed_webhook_secret: Vec<u8>,
    },
    /// All settings except the allowed origins and the webhook secret. Guarded: the project has the version that was
    /// read.
    Changed {
        project: Project,
    },
    /// Replaces the project's allowed origins by these.
    AllowedOrigins {
        project_id: ProjectId,
        origins: Vec<String>,
    },
}
