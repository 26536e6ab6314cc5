//! Where projects want notices to go.

use super::statement::Statement;
use crate::{
    change::{NoticeTarget, NoticeWrite},
    error::Guard,
    language_column,
    value::Value,
};

pub(super) fn plan(statements: &mut Vec<Statement>, write: NoticeWrite) {
    let statement = match write {
        NoticeWrite::TargetCreated { target, sealed_url, sealed_secret } => created(target, sealed_url, sealed_secret),
        NoticeWrite::TargetChanged { target, sealed_url } => changed(target, sealed_url),
        NoticeWrite::SecretRotated { project_id, replaced, previous, sealed, at } => Statement::new(
            "UPDATE notice_targets SET previous_secret = $1, secret = $2, rotated_at = $3 WHERE project_id = $4 AND secret = $5",
            [previous.into(), sealed.into(), at.into(), Value::stored(project_id), replaced.into()],
        ),
        NoticeWrite::TargetRemoved { project_id } => {
            Statement::new("DELETE FROM notice_targets WHERE project_id = $1", [Value::stored(project_id)])
        }
    };
    statements.push(statement.guarded(Guard::NoticeTarget));
}

fn created(target: NoticeTarget, sealed_url: Vec<u8>, sealed_secret: Vec<u8>) -> Statement {
    Statement::new(
        "INSERT INTO notice_targets (project_id, url, secret, language, sends_receipts, summary) \
         VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT DO NOTHING",
        [
            Value::stored(target.project_id),
            sealed_url.into(),
            sealed_secret.into(),
            language_column::word(target.language).into(),
            target.sends_receipts.into(),
            target.summary.map(|period| period.word()).into(),
        ],
    )
}

fn changed(target: NoticeTarget, sealed_url: Vec<u8>) -> Statement {
    Statement::new(
        "UPDATE notice_targets SET url = $1, language = $2, sends_receipts = $3, summary = $4 WHERE project_id = $5",
        [
            sealed_url.into(),
            language_column::word(target.language).into(),
            target.sends_receipts.into(),
            target.summary.map(|period| period.word()).into(),
            Value::stored(target.project_id),
        ],
    )
}
