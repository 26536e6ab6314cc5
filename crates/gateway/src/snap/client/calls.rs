//! The calls about one code: issue, query, void.

use super::{
    http::{Answer, SnapClient},
    qr,
    signed::CallContext,
    va,
};
use crate::snap::{
    call_error::CallError,
    codes::{CodeAsked, CodeKind, CodeOrder, IssuedCode, Standing, Voided},
    values::Service,
};

impl SnapClient {
    /// Has the bank issue a code (47 or 27). What comes back has been checked against the order: `bad_qr` and
    /// `bad_number` are refusals of ours, after which something exists at the bank that must be voided.
    pub async fn issue(&self, context: &CallContext<'_>, order: &CodeOrder<'_>) -> Result<IssuedCode, CallError> {
        let parameters = context.parameters;
        match order.kind {
            CodeKind::Qr => {
                let answer = self.call(context, Service::QrGenerate, &qr::order(parameters, order)).await?;
                qr::issued(&answer.success()?, order)
            }
            CodeKind::Va => {
                let answer = self.call(context, Service::CreateVa, &va::order(parameters, order)?).await?;
                va::issued(parameters, &answer.success()?, order)
            }
        }
    }

    /// Asks where a code stands (51, 55 or 26).
    pub async fn query(&self, context: &CallContext<'_>, asked: &CodeAsked<'_>) -> Result<Standing, CallError> {
        let parameters = context.parameters;
        let body = match asked.kind {
            CodeKind::Qr => qr::query(parameters, asked)?,
            CodeKind::Va => va::query(parameters, asked)?,
        };
        let answer = self.call(context, parameters.query_service(asked.kind), &body).await?;
        if let Some(standing) = standing_by_code(&answer) {
            return Ok(standing);
        }
        let told = answer.success()?;
        match asked.kind {
            CodeKind::Qr => qr::standing(parameters, &told, asked),
            CodeKind::Va => va::standing(parameters, &told, asked),
        }
    }

    /// Makes a code unpayable (77, 57 or 31).
    pub async fn void(&self, context: &CallContext<'_>, asked: &CodeAsked<'_>) -> Result<Voided, CallError> {
        let parameters = context.parameters;
        let Some(service) = parameters.void_service(asked.kind) else {
            return Err(CallError::refused("no_void", "this bank voids no code by a call"));
        };
        let body = match asked.kind {
            CodeKind::Qr => qr::void(parameters, asked)?,
            CodeKind::Va => va::void(parameters, asked)?,
        };
        let answer = self.call(context, service, &body).await?;
        match (answer.status, answer.case().as_deref()) {
            (404, Some("01" | "12")) => Ok(Voided::NotFound),
            (404, Some("14")) => Ok(Voided::Paid),
            // It has expired there.
            (404, Some("19")) => Ok(Voided::Done),
            _ => answer.success().map(|_| Voided::Done),
        }
    }
}

/// What a status that is no success says about a code.
fn standing_by_code(answer: &Answer) -> Option<Standing> {
    match (answer.status, answer.case().as_deref()) {
        (202, _) => Some(Standing::AskAgain),
        (404, Some("01" | "12")) => Some(Standing::NotFound),
        // Paid, but not when, how much and under which id.
        (404, Some("14")) => Some(Standing::AskAgain),
        // Expired there, and so never paid.
        (404, Some("19")) => Some(Standing::Unpaid { code: None }),
        _ => None,
    }
}
