//! An account's calls in figures: how many of each service and code, how long they took, our token, and what is still to be asked.

use domain::visible::escape_hidden;
use engine::{BankAccountFile, BankHealth, CallGroup};
use i18n_embed_fl::fl;
use web::page::{moment::Moment, words::grouped};

use super::wording::{answer, direction, service};
use crate::{labels::Badge, page::OperatorPage};

pub(crate) struct Figures {
    /// What the account's own calls do; none for an account that the bank only calls.
    pub(crate) ours: Option<OwnCalls>,
    pub(crate) rows: Vec<FigureRow>,
}

/// How our calls to the bank stand.
pub(crate) struct OwnCalls {
    pub(crate) state: Badge,
    /// When the bank last gave us a token; none where none is known.
    pub(crate) token: Option<Moment>,
    /// How much is due to be asked.
    pub(crate) due: String,
    pub(crate) oldest: Option<Moment>,
}

/// Calls of one service that ended alike.
pub(crate) struct FigureRow {
    pub(crate) direction: String,
    pub(crate) service: String,
    pub(crate) code: String,
    pub(crate) answer: Badge,
    pub(crate) count: usize,
    pub(crate) median_ms: i64,
    pub(crate) worst_ms: i64,
}

pub(super) fn figures(page: &OperatorPage, file: &BankAccountFile, health: &BankHealth) -> Figures {
    Figures {
        ours: file.calls_bank().then(|| own_calls(page, health)),
        rows: health.groups.iter().map(|group| row(page, file, group)).collect(),
    }
}

fn own_calls(page: &OperatorPage, health: &BankHealth) -> OwnCalls {
    let words = page.words();
    let state = match (health.is_suspended, &health.failing) {
        (true, _) => Badge { status: "bad", text: fl!(words, "bank-calls-suspended") },
        (false, Some(_)) => Badge { status: "wait", text: fl!(words, "bank-calls-failing") },
        (false, None) => Badge { status: "good", text: fl!(words, "bank-calls-fine") },
    };
    OwnCalls {
        state,
        token: health.token_at.map(|at| page.moment(at)),
        due: grouped(page.language(), health.jobs.count),
        oldest: health.jobs.oldest_due_at.map(|at| page.moment(at)),
    }
}

fn row(page: &OperatorPage, file: &BankAccountFile, group: &CallGroup) -> FigureRow {
    let words = page.words();
    FigureRow {
        direction: direction(words, group.outbound),
        service: service(words, group.service),
        code: escape_hidden(&group.code),
        answer: answer(words, file, group.outbound, group.service, &group.code),
        count: group.count,
        median_ms: group.median_ms,
        worst_ms: group.worst_ms,
    }
}

/// What an operator should do something about.
pub(super) fn warnings(page: &OperatorPage, health: &BankHealth) -> Vec<String> {
    let words = page.words();
    let mut warnings = Vec::new();
    if health.is_suspended {
        warnings.push(fl!(words, "bank-warn-suspended"));
    } else if let Some(failing) = &health.failing {
        let (count, since) = (failing.count, page.moment(failing.since).text);
        warnings.push(fl!(words, "bank-warn-failing", count = count, since = since));
    }
    if let Some(due) = health.jobs.oldest_due_at.filter(|_| health.is_late(page.now())) {
        let since = page.moment(due).text;
        warnings.push(fl!(words, "bank-warn-late", since = since));
    }
    warnings
}
