//! Invariants about codes that banks issue.

use domain::{
    opening::{JobKind, Opening},
    payment::{Payment, State},
    project::Project,
};
use store::{Change, OpeningWrite, PaymentWrite, Store};

use super::Row;
use crate::{
    bank_samples::{kept_account, stray},
    database::keep,
    opening_samples::{abandoned, code, job, kept_issued, kept_opening, money_told, paid, paid_unissued},
    samples::after,
};

const TOLD: &str = "I20 money that a bank told us of is one receipt or one stray of its account and id, in full";
const LEADS: &str = "I20 an opening leads to a payment with its project, link, method, amount and fee";
const HAS_OPENING: &str =
    "I20 a payment whose expiry waits for a bank came from an opening, and has a code while it can be paid";
const CODES: &str =
    "I21 an opening has as many codes as it says, and while it is open a bank is still to be asked for the last";
const VOIDED: &str = "I21 a bank is told to void the code of a cancelled payment and of an abandoned opening";
const ASKED: &str =
    "I21 a bank has said that an expired payment was not paid, or a person is told that it could not be asked";
const ABOUT: &str = "I22 a job and a call are about a code that a bank was asked for, a report, a number of ours, or a refund, and a transfer is an attempt";

/// One of everything that can happen to a code.
pub(super) struct OpeningHistory {
    open: Opening,
    issued: (Opening, Payment),
    paid: (Opening, Payment),
    early: (Opening, Payment),
    abandoned: Opening,
    cancelled: (Opening, Payment),
    expired: (Opening, Payment),
    stray: String,
}

pub(super) async fn opening_history(store: &Store, project: &Project) -> OpeningHistory {
    let account = kept_account(store).await;
    let early = kept_opening(store, project, &account).await;
    let (early_payment, made) = paid_unissued(&account, &early, "early");
    let kept = stray(&account, "astray");
    let history = OpeningHistory {
        open: kept_opening(store, project, &account).await,
        issued: kept_issued(store, project, &account).await,
        paid: kept_issued(store, project, &account).await,
        abandoned: kept_opening(store, project, &account).await,
        cancelled: kept_issued(store, project, &account).await,
        expired: kept_issued(store, project, &account).await,
        stray: kept.id.to_string(),
        early: (early.clone(), early_payment),
    };
    let done = |opening: &Opening, kind| {
        let key = job(&code(opening), kind, after(0)).key;
        OpeningWrite::JobDone { key, outcome: String::new() }
    };
    let moved = |payment: &Payment, state| PaymentWrite::Moved {
        id: payment.id,
        version: payment.version,
        state,
        settles_at: None,
        link_id: None,
    };
    let query = job(&code(&history.expired.0), JobKind::Query, after(0)).key;
    for change in [
        made.with(done(&early, JobKind::Issue)),
        paid(&account, &history.paid.1, "in time"),
        abandoned(&history.abandoned),
        Change::from(OpeningWrite::VoidQueued { payment_id: history.cancelled.1.id, at: after(5) })
            .with(moved(&history.cancelled.1, State::Cancelled { at: after(5) })),
        OpeningWrite::JobLeased { key: query, from: after(1_060), to: after(1_090) }.into(),
        Change::from(moved(&history.expired.1, State::Expired)).with(done(&history.expired.0, JobKind::Query)),
        Change::from(money_told(&account, "astray")).with(store::BankWrite::StrayReceived(kept)),
    ] {
        keep(store, change).await;
    }
    history
}

pub(super) fn opening_rows(history: &OpeningHistory) -> Vec<Row> {
    [money_rows(history), payment_rows(history), job_rows(history)].concat()
}

fn money_rows(history: &OpeningHistory) -> Vec<Row> {
    let account = history.open.account_id;
    let of = |receipt: &str| format!("{account}:{receipt}");
    vec![
        (TOLD, "DELETE FROM receipts WHERE id = 'early'".to_owned(), of("early")),
        (TOLD, "UPDATE bank_money SET amount = amount + 1 WHERE receipt_id = 'in time'".to_owned(), of("in time")),
        (TOLD, format!("DELETE FROM strays WHERE id = '{}'", history.stray), of("astray")),
    ]
}

fn payment_rows(history: &OpeningHistory) -> Vec<Row> {
    let id = |opening: &Opening| opening.id.to_string();
    let changed = |(opening, payment): &(Opening, Payment), set: &str| {
        (LEADS, format!("UPDATE payments SET {set} WHERE id = '{}'", payment.id), id(opening))
    };
    let (issued, paid) = (&history.issued, &history.paid);
    vec![
        changed(issued, "amount = amount + 1"),
        changed(issued, "fee = fee + 1"),
        changed(issued, "method = 'bca'"),
        changed(issued, "closes_after_query = 0"),
        changed(paid, "project_id = 'prj_none'"),
        (LEADS, format!("UPDATE openings SET state = 'open' WHERE id = '{}'", paid.0.id), id(&paid.0)),
        (HAS_OPENING, format!("UPDATE payments SET code = '' WHERE id = '{}'", issued.1.id), issued.1.id.to_string()),
        (
            HAS_OPENING,
            format!("UPDATE openings SET payment_id = NULL WHERE id = '{}'", history.early.0.id),
            history.early.1.id.to_string(),
        ),
    ]
}

fn job_rows(history: &OpeningHistory) -> Vec<Row> {
    let id = |opening: &Opening| opening.id.to_string();
    let without = |opening: &Opening, kind: &str| {
        format!("DELETE FROM bank_jobs WHERE opening_id = '{}' AND kind = '{kind}'", opening.id)
    };
    let (open, gone) = (&history.open, &history.abandoned);
    let (cancelled, expired) = (&history.cancelled.0, &history.expired);
    let reference = code(open).reference;
    vec![
        (CODES, without(open, "issue"), id(open)),
        (CODES, format!("UPDATE bank_jobs SET due_at = NULL WHERE opening_id = '{}'", open.id), id(open)),
        (CODES, format!("UPDATE openings SET generation = 2 WHERE id = '{}'", gone.id), id(gone)),
        (VOIDED, without(gone, "void"), id(gone)),
        (VOIDED, without(cancelled, "void"), id(cancelled)),
        (ASKED, without(&expired.0, "query"), expired.1.id.to_string()),
        (
            ASKED,
            format!("UPDATE bank_jobs SET tries = 0 WHERE opening_id = '{}' AND kind = 'query'", expired.0.id),
            expired.1.id.to_string(),
        ),
        (
            ABOUT,
            format!("UPDATE bank_jobs SET generation = 9 WHERE opening_id = '{}'", open.id),
            format!("{}:issue", open.id),
        ),
        (
            ABOUT,
            format!("DELETE FROM bank_codes WHERE reference = '{reference}'"),
            format!("{}:{reference}", open.account_id),
        ),
        (
            ABOUT,
            format!(
                "INSERT INTO bank_sends (account_id, day, external_id, service, sent_at) VALUES ('{}', 1, 'LOST', 18, 1)",
                open.account_id
            ),
            format!("{}:LOST", open.account_id),
        ),
    ]
}
