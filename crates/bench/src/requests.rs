//! The HTTP requests that the groups send.

use std::{io, sync::Arc};

use serde::Deserialize;

use crate::{
    load::Requests,
    prefill::Prefilled,
    process::{Caller, Served},
};

pub(crate) const VIRTUAL_ACCOUNT: &str = r#"{"type":"virtual_account","bank":"bca"}"#;
/// What every payment that is created is worth, in rupiah.
pub(crate) const AMOUNT: i64 = 15_000;
pub(crate) const QRIS: &str = r#"{"type":"qris"}"#;

/// Creates payments, each with an Idempotency-Key of its own.
pub(crate) fn creates(served: &Served, method: &'static str, run: &str) -> Requests {
    creates_by(vec![served.caller()], method, run)
}

/// The same with several callers in turn.
pub(crate) fn creates_by(callers: Vec<Caller>, method: &'static str, run: &str) -> Requests {
    let run = run.to_owned();
    keyed_creates(callers, method, move |index| format!("{run}-{index}"))
}

/// Creates payments whose Idempotency-Keys `key` makes.
pub(crate) fn keyed_creates(
    callers: Vec<Caller>,
    method: &'static str,
    key: impl Fn(u64) -> String + Send + Sync + 'static,
) -> Requests {
    Arc::new(move |index, out| {
        let Caller { project_id: project, api_key } = turn(&callers, index);
        let body = format!(
            r#"{{"project_id":"{project}","reference":"order-{index}","amount":{AMOUNT},"payment_method":{method}}}"#
        );
        post(out, "/v1/payments", api_key, &format!("Idempotency-Key: {}\r\n", key(index)), &body);
    })
}

/// Pays the payments that were created with these `answers`.
pub(crate) fn pays(served: &Served, answers: Vec<Vec<u8>>) -> io::Result<Requests> {
    pays_by(vec![served.caller()], answers)
}

/// The same for payments that several callers have created in turn.
pub(crate) fn pays_by(callers: Vec<Caller>, answers: Vec<Vec<u8>>) -> io::Result<Requests> {
    let ids = ids_of(answers)?;
    Ok(Arc::new(move |index, out| {
        simulate(out, &ids[index as usize], &turn(&callers, index).api_key);
    }))
}

/// Pays one payment.
pub(crate) fn pay(served: &Served, id: String) -> Requests {
    let key = served.ready.api_key.clone();
    Arc::new(move |_, out| simulate(out, &id, &key))
}

/// What every refund gives back of its payment, in rupiah.
const REFUNDED: i64 = 5_000;

/// Asks for a refund of each of these payments, each with an Idempotency-Key of its own.
pub(crate) fn refunds(served: &Served, ids: Vec<String>, run: String) -> Requests {
    let key = served.ready.api_key.clone();
    Arc::new(move |index, out| {
        let path = format!("/v1/payments/{}/refunds", ids[index as usize]);
        post(out, &path, &key, &format!("Idempotency-Key: {run}-{index}\r\n"), &format!(r#"{{"amount":{REFUNDED}}}"#));
    })
}

fn simulate(out: &mut Vec<u8>, id: &str, key: &str) {
    post(out, &format!("/v1/sandbox/payments/{id}/simulate"), key, "", r#"{"outcome":"paid"}"#);
}

fn turn(callers: &[Caller], index: u64) -> &Caller {
    &callers[index as usize % callers.len()]
}

/// Reads prefilled payments from all over the list.
pub(crate) fn gets(served: &Served, prefilled: &Arc<Prefilled>) -> Requests {
    let prefilled = Arc::clone(prefilled);
    reads(served, move |index| format!("/v1/payments/{}", prefilled.id(index.wrapping_mul(7_919))))
}

pub(crate) fn reads(served: &Served, path: impl Fn(u64) -> String + Send + Sync + 'static) -> Requests {
    let key = served.ready.api_key.clone();
    Arc::new(move |index, out| {
        let path = path(index);
        out.extend_from_slice(
            format!("GET {path} HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer {key}\r\n\r\n").as_bytes(),
        );
    })
}

pub(crate) fn posts(
    served: &Served,
    path: &'static str,
    body: impl Fn(u64) -> String + Send + Sync + 'static,
) -> Requests {
    let key = served.ready.api_key.clone();
    Arc::new(move |index, out| post(out, path, &key, "", &body(index)))
}

fn post(out: &mut Vec<u8>, path: &str, key: &str, headers: &str, body: &str) {
    let length = body.len();
    out.extend_from_slice(
        format!(
            "POST {path} HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer {key}\r\nContent-Type: application/json\r\n\
             {headers}Content-Length: {length}\r\n\r\n{body}"
        )
        .as_bytes(),
    );
}

/// The ids in the answers of create requests.
pub(crate) fn ids_of(answers: Vec<Vec<u8>>) -> io::Result<Vec<String>> {
    #[derive(Deserialize)]
    struct Made {
        id: String,
    }
    let id = |answer: Vec<u8>| serde_json::from_slice::<Made>(&answer).map(|made| made.id);
    answers.into_iter().map(id).collect::<Result<_, _>>().map_err(io::Error::other)
}
