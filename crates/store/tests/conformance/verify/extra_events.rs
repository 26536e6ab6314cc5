//! Events that projects ask for.

use super::{History, Row};

const TOLD: &str = "I7 no payment is told twice to have expired or to be cancelled, and each of these events is about its project's payment";

pub(super) fn extra_event_rows(history: &History) -> Vec<Row> {
    let loser = history.loser.id.to_string();
    let told = |id: &str, kind: &str, project: &str, subject: &str| {
        format!(
            "INSERT INTO events (id, project_id, kind, subject, created_at) \
             VALUES ('{id}', '{project}', '{kind}', '{subject}', 1); "
        )
    };
    let (project, elsewhere) = (history.loser.terms.project_id.to_string(), history.other.id.to_string());
    let twice =
        told("evt_1", "payment.expired", &project, &loser) + &told("evt_2", "payment.cancelled", &project, &loser);
    vec![
        (TOLD, twice, loser.clone()),
        (TOLD, told("evt_1", "payment.cancelled", &elsewhere, &loser), loser),
        (TOLD, told("evt_1", "payment.expired", &project, "pay_none"), "pay_none".to_owned()),
    ]
}
