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
    /// Replaces or removes the project's logo. It belongs to a change of the project, which names the logo.
    Logo {
        project_id: ProjectId,
        logo: Option<LogoFile>,
    },
}

/// A logo as it is served.
#[derive(Clone)]
pub struct LogoFile {
    pub hash: String,
    pub png: Vec<u8>,
}
