//! The rows of jobs, calls and payments that asking a bank writes.

use domain::{
    method::Method,
    opening::{BankCode, BankJob, BankSend, JobKey, JobKind, Opening},
    payment::Payment,
    time::Timestamp,
};
use gateway::snap::{About, CodeKind, Service};
use store::{OpeningWrite, PaymentWrite};

pub(in crate::banks) const fn code_kind(method: Method) -> CodeKind {
    match method {
        Method::Qris => CodeKind::Qr,
        Method::VirtualAccount(_) => CodeKind::Va,
    }
}

pub(in crate::banks) const fn issue_service(method: Method) -> Service {
    match method {
        Method::Qris => Service::QrGenerate,
        Method::VirtualAccount(_) => Service::CreateVa,
    }
}

pub(in crate::banks) const fn issue_key(code: &BankCode) -> JobKey {
    JobKey { opening_id: code.opening_id, kind: JobKind::Issue, generation: code.generation }
}

/// A job about a code, due at once.
pub(in crate::banks) const fn job(kind: JobKind, code: &BankCode, now: Timestamp) -> BankJob {
    BankJob {
        key: JobKey { opening_id: code.opening_id, kind, generation: code.generation },
        account_id: code.account_id,
        due_at: Some(now),
        tries: 0,
        created_at: now,
    }
}

/// The job of an attempt; the node that has committed it holds the first lease.
pub(in crate::banks) fn issue_job(
    opening: &Opening,
    code: &BankCode,
    leased_until: Timestamp,
    now: Timestamp,
) -> BankJob {
    BankJob { due_at: Some(leased_until), tries: 1, account_id: opening.account_id, ..job(JobKind::Issue, code, now) }
}

pub(in crate::banks) fn job_done(key: &JobKey, outcome: &str) -> OpeningWrite {
    OpeningWrite::JobDone { key: *key, outcome: outcome.to_owned() }
}

/// Ends a job under its lease; nothing if it has been queued again since.
pub(in crate::banks) fn job_ended(key: JobKey, leased_until: Timestamp, outcome: &str) -> OpeningWrite {
    OpeningWrite::JobEnded { key, leased_until, outcome: outcome.to_owned() }
}

pub(in crate::banks) fn answer_write(send: &BankSend, code: String, at: Timestamp) -> OpeningWrite {
    OpeningWrite::Answered {
        account_id: send.account_id,
        day: send.day,
        external_id: send.external_id.clone(),
        code,
        at,
    }
}

pub(in crate::banks) fn moved(payment: &Payment) -> PaymentWrite {
    PaymentWrite::Moved {
        id: payment.id,
        version: payment.version,
        state: payment.state,
        settles_at: None,
        link_id: payment.terms.link_id,
    }
}

/// What a bank speaks of when it answers about a code.
pub(in crate::banks) fn our_name(code: &BankCode) -> About {
    About { reference: Some(code.reference.clone()), ..About::default() }
}

/// How the bank names what was paid, for a person to find it by.
pub(in crate::banks) fn name_given(about: &About) -> String {
    let names = [&about.number, &about.reference, &about.bank_reference];
    names.into_iter().flatten().next().cloned().unwrap_or_default()
}
