//! The decisions that an operator can take about a project.

use domain::{
    id::ProjectId,
    project::{Environment, Project},
};
use i18n_embed_fl::fl;

use super::tabs::project_path;
use crate::words::Words;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ProjectDecision {
    Approve,
    WithdrawApproval,
    Activate,
    Deactivate,
}

impl ProjectDecision {
    pub(crate) const ALL: [ProjectDecision; 4] = [
        ProjectDecision::Approve,
        ProjectDecision::WithdrawApproval,
        ProjectDecision::Activate,
        ProjectDecision::Deactivate,
    ];

    pub(crate) const fn word(self) -> &'static str {
        match self {
            ProjectDecision::Approve => "approve",
            ProjectDecision::WithdrawApproval => "withdraw-approval",
            ProjectDecision::Activate => "activate",
            ProjectDecision::Deactivate => "deactivate",
        }
    }

    /// Whether the project can do less afterwards.
    pub(crate) const fn takes_away(self) -> bool {
        matches!(self, ProjectDecision::WithdrawApproval | ProjectDecision::Deactivate)
    }

    /// The path of the page that asks for it.
    pub(crate) fn path(self, id: ProjectId) -> String {
        format!("{}/{}", project_path(id), self.word())
    }

    /// The decisions that would change something about `project`.
    pub(crate) fn of(project: &Project) -> Vec<ProjectDecision> {
        let approval = match (project.environment, project.approved) {
            (Environment::Sandbox, _) => None,
            (Environment::Production, false) => Some(ProjectDecision::Approve),
            (Environment::Production, true) => Some(ProjectDecision::WithdrawApproval),
        };
        let activity = if project.active { ProjectDecision::Deactivate } else { ProjectDecision::Activate };
        approval.into_iter().chain([activity]).collect()
    }

    /// The text of its button.
    pub(crate) fn button(self, words: Words) -> String {
        match self {
            ProjectDecision::Approve => fl!(words, "operator-approve"),
            ProjectDecision::WithdrawApproval => fl!(words, "operator-withdraw"),
            ProjectDecision::Activate => fl!(words, "operator-activate"),
            ProjectDecision::Deactivate => fl!(words, "operator-deactivate"),
        }
    }

    /// The question before it is carried out.
    pub(crate) fn question(self, words: Words, project: &str) -> String {
        match self {
            ProjectDecision::Approve => fl!(words, "operator-approve-heading", project = project),
            ProjectDecision::WithdrawApproval => fl!(words, "operator-withdraw-heading", project = project),
            ProjectDecision::Activate => fl!(words, "operator-activate-heading", project = project),
            ProjectDecision::Deactivate => fl!(words, "operator-deactivate-heading", project = project),
        }
    }

    /// What follows from it.
    pub(crate) fn effects(self, words: Words) -> Vec<String> {
        match self {
            ProjectDecision::Approve => {
                vec![fl!(words, "operator-approve-effect"), fl!(words, "operator-approve-back")]
            }
            ProjectDecision::Activate => vec![fl!(words, "operator-activate-effect")],
            ProjectDecision::WithdrawApproval | ProjectDecision::Deactivate => {
                vec![fl!(words, "operator-stop-effect"), fl!(words, "operator-stop-pending")]
            }
        }
    }
}
