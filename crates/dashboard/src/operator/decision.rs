//! The decisions that an operator can take about a project.

use domain::{
    id::ProjectId,
    project::{Environment, Project},
};
use i18n_embed_fl::fl;

use super::tabs::project_path;
use crate::words::Words;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Decision {
    Approve,
    WithdrawApproval,
    Activate,
    Deactivate,
}

impl Decision {
    pub(crate) const ALL: [Decision; 4] =
        [Decision::Approve, Decision::WithdrawApproval, Decision::Activate, Decision::Deactivate];

    pub(crate) const fn word(self) -> &'static str {
        match self {
            Decision::Approve => "approve",
            Decision::WithdrawApproval => "withdraw-approval",
            Decision::Activate => "activate",
            Decision::Deactivate => "deactivate",
        }
    }

    /// Whether the project can do less afterwards.
    pub(crate) const fn takes_away(self) -> bool {
        matches!(self, Decision::WithdrawApproval | Decision::Deactivate)
    }

    /// The path of the page that asks for it.
    pub(crate) fn path(self, id: ProjectId) -> String {
        format!("{}/{}", project_path(id), self.word())
    }

    /// The decisions that would change something about `project`.
    pub(crate) fn of(project: &Project) -> Vec<Decision> {
        let approval = match (project.environment, project.approved) {
            (Environment::Sandbox, _) => None,
            (Environment::Production, false) => Some(Decision::Approve),
            (Environment::Production, true) => Some(Decision::WithdrawApproval),
        };
        let activity = if project.active { Decision::Deactivate } else { Decision::Activate };
        approval.into_iter().chain([activity]).collect()
    }

    /// The text of its button.
    pub(crate) fn button(self, words: Words) -> String {
        match self {
            Decision::Approve => fl!(words, "operator-approve"),
            Decision::WithdrawApproval => fl!(words, "operator-withdraw"),
            Decision::Activate => fl!(words, "operator-activate"),
            Decision::Deactivate => fl!(words, "operator-deactivate"),
        }
    }

    /// The question before it is carried out.
    pub(crate) fn question(self, words: Words, project: &str) -> String {
        match self {
            Decision::Approve => fl!(words, "operator-approve-heading", project = project),
            Decision::WithdrawApproval => fl!(words, "operator-withdraw-heading", project = project),
            Decision::Activate => fl!(words, "operator-activate-heading", project = project),
            Decision::Deactivate => fl!(words, "operator-deactivate-heading", project = project),
        }
    }

    /// What follows from it.
    pub(crate) fn effects(self, words: Words) -> Vec<String> {
        match self {
            Decision::Approve => vec![fl!(words, "operator-approve-effect"), fl!(words, "operator-approve-back")],
            Decision::Activate => vec![fl!(words, "operator-activate-effect")],
            Decision::WithdrawApproval | Decision::Deactivate => {
                vec![fl!(words, "operator-stop-effect"), fl!(words, "operator-stop-pending")]
            }
        }
    }
}
