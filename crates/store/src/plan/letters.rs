//! Letters, and what people have chosen to get.

use domain::{
    id::LetterId,
    letter_queue::{Channel, HELD_BACK, LetterState, QueuedLetter, may_be_dropped},
    time::Timestamp,
};

use super::statement::Statement;
use crate::{
    change::{LetterChoices, LetterWrite, NewLetter, NodeId},
    error::Guard,
    language_column,
    value::Value,
};

/// When mail is due that is none: the last moment that a time can be written of.
const NEVER: Timestamp = Timestamp::from_millis(253_402_300_799_999);
/// What a letter is said to have been answered that was dropped as it was queued.
const TOO_MANY: &str = "too many letters wait for this address";

pub(super) fn plan(statements: &mut Vec<Statement>, write: LetterWrite) {
    match write {
        LetterWrite::Queued(letter) => queued(statements, letter),
        LetterWrite::Leased { id, due_at, node } => statements.push(
            Statement::new(
                "UPDATE letters SET leased_by = $1 WHERE id = $2 AND state = 'waiting' \
                 AND COALESCE(notice_due_at, due_at) = $3 AND leased_by IS NULL",
                [node.into(), Value::stored(id), due_at.into()],
            )
            .guarded(Guard::LetterDue),
        ),
        LetterWrite::LeaseHeld { id, node } => statements.push(
            Statement::new(
                "UPDATE letters SET leased_by = leased_by WHERE id = $1 AND leased_by = $2",
                [Value::stored(id), node.into()],
            )
            .guarded(Guard::LetterLeased),
        ),
        LetterWrite::Attempted { letter, node, is_secret } => statements.push(attempted(letter, node, is_secret)),
        LetterWrite::NoticeAttempted { letter, node, address } => {
            statements.push(notice_attempted(letter, node, address));
        }
        LetterWrite::OrphansReleased => statements.push(orphans_released()),
        LetterWrite::AllReleased { node, channel } => statements.push(released_of(node, channel)),
        LetterWrite::ProjectPutOff { project_id, until } => statements.push(Statement::new(
            "UPDATE letters SET due_at = $1, answer = $2 WHERE project_id = $3 AND state = 'waiting' AND urgent = 0 \
             AND due_at < $1 AND leased_by IS NULL",
            [until.into(), HELD_BACK.into(), Value::stored(project_id)],
        )),
        LetterWrite::RecipientPutOff { recipient, until } => statements.push(Statement::new(
            "UPDATE letters SET due_at = $1, answer = $2 WHERE recipient = $3 AND ended_at IS NULL AND due_at < $1 \
             AND leased_by IS NULL",
            [until.into(), HELD_BACK.into(), recipient.into()],
        )),
        LetterWrite::NoticesPutOff { recipient, until } => statements.push(notices_put_off(recipient, until)),
        LetterWrite::SentAgain { id, at, expires_at } => statements.push(sent_again(id, at, expires_at)),
        LetterWrite::Forgotten { before, most } => statements.push(Statement::new(
            "DELETE FROM letters WHERE id IN (SELECT id FROM letters WHERE ended_at < $1 ORDER BY ended_at LIMIT $2)",
            [before.into(), most.into()],
        )),
        LetterWrite::Erased { id } => statements.push(erased(id)),
        LetterWrite::AlertRaised { subject, at } => statements.push(
            Statement::new(
                "INSERT INTO letter_alerts (subject, raised_at) VALUES ($1, $2) ON CONFLICT DO NOTHING",
                [subject.into(), at.into()],
            )
            .guarded(Guard::AlertNew),
        ),
        LetterWrite::AlertEnded { subject } => {
            statements.push(Statement::new("DELETE FROM letter_alerts WHERE subject = $1", [subject.into()]));
        }
        LetterWrite::Chosen(choices) => chosen(statements, choices),
        LetterWrite::KindRefused { user_id, kind } => statements.push(Statement::new(
            "INSERT INTO letter_refusals (user_id, kind) VALUES ($1, $2) ON CONFLICT DO NOTHING",
            [Value::stored(user_id), kind.word().into()],
        )),
        LetterWrite::SummaryStopped { user_id } => statements.push(Statement::new(
            "UPDATE letter_choices SET summary = NULL WHERE user_id = $1",
            [Value::stored(user_id)],
        )),
        LetterWrite::ReceiptsSwitched { project_id, are_on } => {
            let sql = match are_on {
                true => "INSERT INTO receipt_letters (project_id) VALUES ($1) ON CONFLICT DO NOTHING",
                false => "DELETE FROM receipt_letters WHERE project_id = $1",
            };
            statements.push(Statement::new(sql, [Value::stored(project_id)]));
        }
    }
}

/// The statements decide by what its user has chosen at the time of the commit, and by how many letters wait then.
fn queued(statements: &mut Vec<Statement>, letter: NewLetter) {
    let (id, urgent, may_be_dropped) = (letter.id, letter.kind.is_security(), may_be_dropped(letter.kind));
    let (at, recipient, most) = (letter.at, letter.recipient.clone(), letter.channel.waiting_most());
    let (due_at, notice_due_at) = due_columns(letter.channel, at);
    statements.push(Statement::new(
        "INSERT INTO letters (id, kind, urgent, project_id, user_id, address, recipient, language, content, cause, queued_at, \
         due_at, notice_due_at, expires_at, attempts, state, channel) SELECT $1, $2, CAST($3 AS BIGINT), $4, $5, $6, $7, \
         COALESCE((SELECT c.language FROM letter_choices c WHERE c.user_id = $5), $8), $9, $10, CAST($11 AS BIGINT), \
         CAST($12 AS BIGINT), CAST($13 AS BIGINT), CAST($14 AS BIGINT), 0, 'waiting', $15 \
         WHERE NOT EXISTS (SELECT 1 FROM letter_refusals r WHERE r.user_id = $5 AND r.kind = $2) ON CONFLICT DO NOTHING",
        [
            Value::stored(id),
            letter.kind.word().into(),
            urgent.into(),
            letter.project_id.map_or(Value::Null, Value::stored),
            letter.user_id.map_or(Value::Null, Value::stored),
            letter.address.into(),
            letter.recipient.into(),
            language_column::word(letter.language).into(),
            letter.content.into(),
            letter.cause.into(),
            at.into(),
            due_at.into(),
            notice_due_at.into(),
            letter.expires_at.into(),
            letter.channel.word().into(),
        ],
    ));
    if may_be_dropped {
        statements.push(Statement::new(
            "UPDATE letters SET state = 'dropped', due_at = NULL, notice_due_at = NULL, ended_at = $1, content = NULL, answer = $2 WHERE id = $3 \
             AND (SELECT COUNT(*) FROM letters w WHERE w.recipient = $4 AND w.ended_at IS NULL) > $5",
            [
                at.into(),
                TOO_MANY.into(),
                Value::stored(id),
                recipient.into(),
                i64::from(most).into(),
            ],
        ));
    }
}

/// The two columns that say when a letter is due. That of a notice is one that programs of earlier versions do not know.
fn due_columns(channel: Channel, at: Timestamp) -> (Timestamp, Option<Timestamp>) {
    match channel {
        Channel::Mail => (at, None),
        Channel::Notice => (NEVER, Some(at)),
    }
}

fn attempted(letter: QueuedLetter, node: NodeId, is_secret: bool) -> Statement {
    let (due_at, ended_at) = match letter.state {
        LetterState::Waiting { due_at } => (Some(due_at), None),
        ended => (None, Some(ended.at())),
    };
    Statement::new(
        "UPDATE letters SET state = $1, due_at = $2, ended_at = $3, attempts = $4, answer = $5, leased_by = NULL, \
         content = CASE WHEN CAST($6 AS BIGINT) = 1 THEN NULL ELSE content END WHERE id = $7 AND leased_by = $8",
        [
            letter.state.word().into(),
            due_at.into(),
            ended_at.into(),
            i64::from(letter.attempts).into(),
            letter.answer.into(),
            (is_secret && ended_at.is_some()).into(),
            Value::stored(letter.id),
            node.into(),
        ],
    )
    .guarded(Guard::LetterLeased)
}

fn notice_attempted(letter: QueuedLetter, node: NodeId, address: Option<Vec<u8>>) -> Statement {
    let (due, ended_at) = match letter.state {
        LetterState::Waiting { due_at } => (Some(due_columns(Channel::Notice, due_at)), None),
        ended => (None, Some(ended.at())),
    };
    Statement::new(
        "UPDATE letters SET state = $1, due_at = $2, notice_due_at = $3, ended_at = $4, attempts = $5, answer = $6, \
         leased_by = NULL, address = COALESCE($7, address) WHERE id = $8 AND leased_by = $9",
        [
            letter.state.word().into(),
            due.map(|(due_at, _)| due_at).into(),
            due.and_then(|(_, notice_due_at)| notice_due_at).into(),
            ended_at.into(),
            i64::from(letter.attempts).into(),
            letter.answer.into(),
            address.into(),
            Value::stored(letter.id),
            node.into(),
        ],
    )
    .guarded(Guard::LetterLeased)
}

/// On SQLite no node is known, so the server may do this only before it leases anything.
pub(super) fn orphans_released() -> Statement {
    Statement::new(
        "UPDATE letters SET leased_by = NULL WHERE leased_by IS NOT NULL AND leased_by NOT IN (SELECT id FROM nodes)",
        [],
    )
}

pub(super) fn released(node: NodeId) -> Statement {
    Statement::new("UPDATE letters SET leased_by = NULL WHERE leased_by = $1", [node.into()])
}

fn released_of(node: NodeId, channel: Channel) -> Statement {
    Statement::new(
        "UPDATE letters SET leased_by = NULL WHERE leased_by = $1 AND channel = $2",
        [node.into(), channel.word().into()],
    )
}

fn notices_put_off(recipient: String, until: Timestamp) -> Statement {
    Statement::new(
        "UPDATE letters SET notice_due_at = $1, answer = $2 WHERE recipient = $3 AND notice_due_at < $1 AND leased_by IS NULL",
        [until.into(), HELD_BACK.into(), recipient.into()],
    )
}

fn erased(id: LetterId) -> Statement {
    Statement::new("DELETE FROM letters WHERE id = $1 AND leased_by IS NULL", [Value::stored(id)])
}

fn sent_again(id: LetterId, at: Timestamp, expires_at: Timestamp) -> Statement {
    Statement::new(
        "UPDATE letters SET state = 'waiting', due_at = CASE WHEN channel = 'notice' THEN CAST($1 AS BIGINT) \
         ELSE CAST($2 AS BIGINT) END, notice_due_at = CASE WHEN channel = 'notice' THEN CAST($2 AS BIGINT) END, \
         ended_at = NULL, expires_at = $3, attempts = 0 WHERE id = $4 AND state <> 'waiting' AND content IS NOT NULL",
        [NEVER.into(), at.into(), expires_at.into(), Value::stored(id)],
    )
    .guarded(Guard::LetterEnded)
}

fn chosen(statements: &mut Vec<Statement>, choices: LetterChoices) {
    let user_id = Value::stored(choices.user_id);
    statements.push(Statement::new(
        "INSERT INTO letter_choices (user_id, language, summary) VALUES ($1, $2, $3) \
         ON CONFLICT (user_id) DO UPDATE SET language = $2, summary = $3",
        [
            user_id.clone(),
            language_column::word(choices.language).into(),
            choices.summary.map(|period| period.word()).into(),
        ],
    ));
    statements.push(Statement::new("DELETE FROM letter_refusals WHERE user_id = $1", [user_id.clone()]));
    statements.extend(choices.refused.into_iter().map(|kind| {
        Statement::new(
            "INSERT INTO letter_refusals (user_id, kind) VALUES ($1, $2) ON CONFLICT DO NOTHING",
            [user_id.clone(), kind.word().into()],
        )
    }));
}
