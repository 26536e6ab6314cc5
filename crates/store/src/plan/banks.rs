//! Contracts with banks, what banks asked, and strays.

use std::collections::BTreeMap;

use domain::{
    bank_account::{BankAccount, Credential, CredentialKind, Stage},
    bank_request::BankRequest,
    id::{BankAccountId, CredentialId, ProjectId, StrayId},
    method::Method,
    money::Rupiah,
    stray::{Stray, StrayDecided, StrayDecision, StrayMovement},
    time::Timestamp,
};

use super::{
    statement::{Dialect, Statement},
    undecided,
};
use crate::{
    change::{BankCall, BankWrite},
    error::Guard,
    value::Value,
};

pub(super) fn plan(statements: &mut Vec<Statement>, write: BankWrite, dialect: Dialect) {
    match write {
        BankWrite::AccountCreated { account } => new_account(statements, account),
        BankWrite::AccountChanged { id, version, settings, enabled } => {
            changed(statements, id, version, settings, enabled);
        }
        BankWrite::CredentialSet { credential, sealed } => set(statements, credential, sealed),
        BankWrite::CredentialPromoted { account_id, kind, id } => promoted(statements, account_id, kind, id),
        BankWrite::Assigned { project_id, method, account_id } => assigned(statements, project_id, method, account_id),
        BankWrite::NumberTaken { account_id, number, project_id, payment_id, at, free_at } => statements.push(
            // A row is free once its time is over. Its values are compared with the new ones, since a batch has no
            // parameters there.
            Statement::new(
                "INSERT INTO bank_numbers (account_id, number, project_id, payment_id, taken_at, free_at) \
                 VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (account_id, number) DO UPDATE SET \
                 project_id = excluded.project_id, payment_id = excluded.payment_id, taken_at = excluded.taken_at, \
                 free_at = excluded.free_at WHERE bank_numbers.free_at < excluded.taken_at",
                [
                    Value::stored(account_id),
                    number.into(),
                    Value::stored(project_id),
                    Value::stored(payment_id),
                    at.into(),
                    free_at.into(),
                ],
            )
            .guarded(Guard::AccountNumber),
        ),
        BankWrite::Requested(request) => statements.push(requested(request)),
        BankWrite::Called { account_id, calls, keep } => called(statements, account_id, calls, keep),
        BankWrite::InquiriesForgotten { before, most } => statements.push(inquiries_forgotten(before, most, dialect)),
        BankWrite::StrayReceived(stray) => stray_received(statements, stray),
        BankWrite::StrayStated { id, amount, at } => stray_stated(statements, id, amount, at),
        BankWrite::StrayDecided { stray, decided } => stray_decided(statements, &stray, decided),
        BankWrite::UndecidedSaid(word) => statements.push(undecided::insert_word(word)),
        BankWrite::UndecidedSaidOfBooked(word) => statements.push(undecided::insert_word_of_booked(word)),
        BankWrite::UndecidedLookedAfter { open, finding, due_at } => {
            statements.push(undecided::looked_after(open, finding, due_at));
        }
        BankWrite::DifferenceAnswered { key, theirs } => {
            statements.push(undecided::difference_answered(key, theirs));
        }
    }
}

fn new_account(statements: &mut Vec<Statement>, account: BankAccount) {
    let id = account.id;
    statements.push(Statement::new(
        "INSERT INTO bank_accounts (id, name, profile, enabled, created_at, version) VALUES ($1, $2, $3, $4, $5, $6)",
        [
            Value::stored(id),
            account.name.into(),
            account.profile.into(),
            account.enabled.into(),
            account.created_at.into(),
            account.version.into(),
        ],
    ));
    settings(statements, id, account.settings);
}

fn settings(statements: &mut Vec<Statement>, id: BankAccountId, settings: BTreeMap<String, String>) {
    statements.extend(settings.into_iter().map(|(name, value)| {
        Statement::new(
            "INSERT INTO bank_settings (account_id, name, value) VALUES ($1, $2, $3)",
            [Value::stored(id), name.into(), value.into()],
        )
    }));
}

fn changed(
    statements: &mut Vec<Statement>,
    id: BankAccountId,
    version: i64,
    new_settings: BTreeMap<String, String>,
    enabled: bool,
) {
    let account = Value::stored(id);
    statements.push(
        Statement::new(
            "UPDATE bank_accounts SET enabled = $1, version = version + 1 WHERE id = $2 AND version = $3",
            [enabled.into(), account.clone(), version.into()],
        )
        .guarded(Guard::BankAccountVersion),
    );
    statements.push(Statement::new("DELETE FROM bank_settings WHERE account_id = $1", [account.clone()]));
    settings(statements, id, new_settings);
    statements.push(Statement::new(
        "UPDATE projects SET version = version + 1 \
         WHERE id IN (SELECT a.project_id FROM bank_assignments a WHERE a.account_id = $1)",
        [account],
    ));
}

fn set(statements: &mut Vec<Statement>, credential: Credential, sealed: Option<Vec<u8>>) {
    let (account, kind, stage) =
        (Value::stored(credential.account_id), credential.kind.word(), credential.stage.word());
    statements.push(Statement::new(
        "DELETE FROM bank_credentials WHERE account_id = $1 AND kind = $2 AND stage = $3",
        [account.clone(), kind.into(), stage.into()],
    ));
    statements.push(Statement::new(
        "INSERT INTO bank_credentials (id, account_id, kind, stage, client_id, public_key, sealed, set_at) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
        [
            Value::stored(credential.id),
            account,
            kind.into(),
            stage.into(),
            credential.client_id.into(),
            credential.public_key.into(),
            sealed.into(),
            credential.set_at.into(),
        ],
    ));
}

fn promoted(statements: &mut Vec<Statement>, account_id: BankAccountId, kind: CredentialKind, id: CredentialId) {
    statements.push(Statement::new(
        "DELETE FROM bank_credentials WHERE account_id = $1 AND kind = $2 AND stage = $3",
        [Value::stored(account_id), kind.word().into(), Stage::Current.word().into()],
    ));
    statements.push(
        Statement::new(
            "UPDATE bank_credentials SET stage = $1 WHERE id = $2 AND stage = $3 AND account_id = $4 AND kind = $5",
            [
                Stage::Current.word().into(),
                Value::stored(id),
                Stage::Next.word().into(),
                Value::stored(account_id),
                kind.word().into(),
            ],
        )
        .guarded(Guard::BankAccountVersion),
    );
}

fn assigned(statements: &mut Vec<Statement>, project_id: ProjectId, method: Method, account_id: Option<BankAccountId>) {
    let (project, method) = (Value::stored(project_id), Value::stored(method));
    match account_id.map(Value::stored) {
        Some(account) => {
            // Locks the account: if somebody changes it meanwhile, they see the assignment, or it sees what they changed.
            // So the project has a new version in either case.
            statements
                .push(Statement::new("UPDATE bank_accounts SET version = version WHERE id = $1", [account.clone()]));
            statements.push(Statement::new(
                "INSERT INTO bank_assignments (project_id, method, account_id) VALUES ($1, $2, $3) \
                 ON CONFLICT (project_id, method) DO UPDATE SET account_id = excluded.account_id",
                [project.clone(), method, account],
            ));
        }
        None => statements.push(Statement::new(
            "DELETE FROM bank_assignments WHERE project_id = $1 AND method = $2",
            [project.clone(), method],
        )),
    }
    statements.push(Statement::new("UPDATE projects SET version = version + 1 WHERE id = $1", [project]));
}

fn requested(request: BankRequest) -> Statement {
    Statement::new(
        "INSERT INTO bank_requests (account_id, service, day, external_id, request_id, receipt_id, is_first, number, \
         payment_id, amount, verdict, at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) ON CONFLICT DO NOTHING",
        [
            Value::stored(request.account_id),
            request.service.number().into(),
            request.day.into(),
            request.external_id.into(),
            request.request_id.into(),
            request.receipt_id.into(),
            request.is_first.into(),
            request.number.into(),
            request.payment_id.map(Value::stored).unwrap_or(Value::Null),
            request.amount.into(),
            request.verdict.word().into(),
            request.at.into(),
        ],
    )
    .guarded(Guard::BankRequest)
}

fn called(statements: &mut Vec<Statement>, account_id: BankAccountId, calls: Vec<BankCall>, keep: i64) {
    let account = Value::stored(account_id);
    let proved = calls.iter().all(|call| call.proved);
    statements.extend(calls.into_iter().map(|call| {
        Statement::new(
            "INSERT INTO bank_calls (account_id, id, at, service, code, latency, outbound, proved) \
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT DO NOTHING",
            [
                account.clone(),
                call.id.into(),
                call.at.into(),
                call.service.into(),
                call.code.into(),
                call.latency_ms.into(),
                call.outbound.into(),
                call.proved.into(),
            ],
        )
    }));
    statements.push(Statement::new(
        "DELETE FROM bank_calls WHERE account_id = $1 AND proved = $2 AND id <= (SELECT c.id FROM bank_calls c \
         WHERE c.account_id = $1 AND c.proved = $2 ORDER BY c.id DESC LIMIT 1 OFFSET $3)",
        [account, proved.into(), keep.into()],
    ));
}

fn inquiries_forgotten(before: Timestamp, most: i64, dialect: Dialect) -> Statement {
    let sql = match dialect {
        Dialect::Sqlite => {
            "DELETE FROM bank_requests WHERE (account_id, service, day, external_id) IN \
             (SELECT account_id, service, day, external_id FROM bank_requests WHERE service = 24 AND at < $1 \
             ORDER BY at LIMIT $2)"
        }
        Dialect::Postgres => {
            "DELETE FROM bank_requests WHERE ctid = ANY (ARRAY (SELECT ctid FROM bank_requests WHERE service = 24 \
             AND at < $1 ORDER BY at LIMIT $2 FOR UPDATE SKIP LOCKED))"
        }
    };
    Statement::new(sql, [before.into(), most.into()])
}

fn stray_received(statements: &mut Vec<Statement>, stray: Stray) {
    let (id, amount, at) = (stray.id, stray.amount, stray.received_at);
    statements.push(
        Statement::new(
            "INSERT INTO strays (id, account_id, receipt_id, number, amount, paid_at, received_at, body) \
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT DO NOTHING",
            [
                Value::stored(id),
                Value::stored(stray.account_id),
                stray.receipt_id.into(),
                stray.number.into(),
                amount.into(),
                stray.paid_at.into(),
                at.into(),
                stray.body.into(),
            ],
        )
        .guarded(Guard::Receipt),
    );
    moved(statements, id, StrayMovement::Received, amount, at);
}

fn stray_stated(statements: &mut Vec<Statement>, id: StrayId, amount: Rupiah, at: Timestamp) {
    statements.push(
        Statement::new(
            "UPDATE strays SET amount = $1 WHERE id = $2 AND amount IS NULL AND decision IS NULL",
            [amount.into(), Value::stored(id)],
        )
        .guarded(Guard::StrayUndecided),
    );
    moved(statements, id, StrayMovement::Received, Some(amount), at);
}

fn stray_decided(statements: &mut Vec<Statement>, stray: &Stray, decided: StrayDecided) {
    let StrayDecided { decision, at, note } = decided;
    let (project, payment) = match decision {
        StrayDecision::Assigned { project_id, payment_id } => (Value::stored(project_id), Value::stored(payment_id)),
        StrayDecision::Returned => (Value::Null, Value::Null),
    };
    statements.push(
        Statement::new(
            "UPDATE strays SET decision = $1, decided_at = $2, decision_note = $3, project_id = $4, payment_id = $5 \
             WHERE id = $6 AND decision IS NULL AND COALESCE(amount, 0) = $7",
            [
                decision.word().into(),
                at.into(),
                note.into(),
                project,
                payment,
                Value::stored(stray.id),
                stray.amount.unwrap_or(Rupiah::ZERO).into(),
            ],
        )
        .guarded(Guard::StrayUndecided),
    );
    moved(statements, stray.id, StrayMovement::Decided(decision), stray.amount, at);
}

/// Books a movement; nothing moves while the amount is not known.
fn moved(statements: &mut Vec<Statement>, id: StrayId, movement: StrayMovement, amount: Option<Rupiah>, at: Timestamp) {
    let legs = amount.into_iter().flat_map(|amount| movement.legs(amount));
    statements.extend(legs.map(|(account, amount)| {
        Statement::new(
            "INSERT INTO stray_entries (stray_id, movement, account, at, amount) VALUES ($1, $2, $3, $4, $5)",
            [Value::stored(id), movement.word().into(), account.word().into(), at.into(), amount.into()],
        )
    }));
}
