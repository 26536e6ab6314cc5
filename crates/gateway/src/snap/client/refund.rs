//! Giving the money of a QR back (78 or 58), and what became of that (51 or 55).

use domain::money::Rupiah;
use serde_json::{Map, Value};

use super::{
    http::SnapClient,
    message::{amount, plain_text, same_reference, with},
    orders::{Outgoing, Said, not_sent},
    qr,
    signed::CallContext,
};
use crate::snap::{
    call_error::CallError,
    money_out::{OrderSent, OrderStanding, RefundAsked, RefundOrder, Shown},
    parameters::Parameters,
    reading::{first_amount, id},
    values::RefundReference,
    verdict::OrderKind,
};

const REASON_CHARACTERS_MOST: usize = 100;
const NO_REASON: &str = "REFUND";
const AMOUNTS: &[&str] = &["refundAmount"];
const REFERENCES: &[&str] = &["partnerRefundNo"];
const BANK_REFERENCES: &[&str] = &["refundNo"];
const HISTORY: &str = "refundHistory";
/// Refunds of one payment that are looked at; more in an answer are not believed.
const HISTORY_MOST: usize = 1_000;
/// The status of a payment whose money was given back.
const REFUNDED: &str = "04";

impl SnapClient {
    /// Orders that money is given back. The caller has stored that it is sent; it is sent once. `is_first` is false where
    /// the same reference was sent before, as the profile's `resend` allows.
    pub async fn refund(&self, context: &CallContext<'_>, order: &RefundOrder<'_>, is_first: bool) -> OrderSent {
        let Some(service) = context.parameters.refund_service() else {
            return not_sent(CallError::refused("no_refund", "this bank gives no money back by a call"));
        };
        let (body, refund_no) = match refund(context.parameters, order) {
            Ok(written) => written,
            Err(error) => return not_sent(error),
        };
        let said = Said { reference: (REFERENCES, &refund_no), amount: (AMOUNTS, order.amount), number: None };
        let kind = OrderKind::Refund;
        self.order(context, Outgoing { kind, service, body, said, bank_reference: BANK_REFERENCES, is_first }).await
    }

    /// Asks what became of a refund: by the history that the payment's query has at some banks, and for a payment that
    /// was given back whole by its status.
    pub async fn refund_standing(
        &self,
        context: &CallContext<'_>,
        asked: &RefundAsked<'_>,
    ) -> Result<OrderStanding, CallError> {
        let parameters = context.parameters;
        let body = qr::query(parameters, &asked.code)?;
        let answer = self.call(context, parameters.query_service(asked.code.kind), &body).await?;
        if answer.status == 202 {
            return Ok(OrderStanding::AskAgain);
        }
        let told = answer.success()?;
        same_reference(asked.code.reference, id(&told, "originalPartnerReferenceNo"))?;
        Ok(standing(&told, asked, parameters.refunds.reference))
    }
}

/// What stands in partnerRefundNo: our reference, or where the bank wants it the issuer's.
pub(super) fn refund_no<'a>(parameters: &Parameters, order: &RefundOrder<'a>) -> Result<&'a str, CallError> {
    match parameters.refunds.reference {
        RefundReference::Ours => Ok(order.reference),
        RefundReference::Issuers => order.issuer_reference.ok_or_else(|| {
            CallError::refused("no_issuer_reference", "the bank wants the issuer's reference, which it has not told")
        }),
    }
}

fn refund(parameters: &Parameters, order: &RefundOrder<'_>) -> Result<(Value, String), CallError> {
    let refund_no = refund_no(parameters, order)?;
    let mut body: Map<String, Value> = qr::names(parameters, &order.code)?;
    with(&mut body, "partnerRefundNo", Some(refund_no));
    body.insert("refundAmount".to_owned(), amount(order.amount));
    with(&mut body, "reason", Some(&plain_text(order.reason, REASON_CHARACTERS_MOST, NO_REASON)));
    parameters.refunds.info.add_to(&mut body);
    Ok((Value::Object(body), refund_no.to_owned()))
}

fn standing(told: &Value, asked: &RefundAsked<'_>, reference: RefundReference) -> OrderStanding {
    let history = told.get(HISTORY).and_then(Value::as_array);
    let Some(history) = history.filter(|history| history.len() <= HISTORY_MOST) else {
        // Only a payment that was given back in one piece says by its status that this refund was made.
        let is_back = asked.is_whole && id(told, "latestTransactionStatus").as_deref() == Some(REFUNDED);
        return match is_back {
            true => OrderStanding::Done { bank_reference: None, shown: Shown::Less },
            false => OrderStanding::AskAgain,
        };
    };
    let of_order = |entry: &&Value| id(entry, "partnerRefundNo").as_deref() == Some(asked.refund_no);
    let entries: Vec<&Value> = history.iter().filter(of_order).collect();
    let has = |status: &str| entries.iter().find(|entry| told_status(entry).as_deref() == Some(status));
    if entries.is_empty() {
        return OrderStanding::NotFound;
    }
    if reference == RefundReference::Issuers && entries.len() > 1 {
        // All refunds of the payment have this reference, and nothing says which of them is ours.
        return OrderStanding::AskAgain;
    }
    if let Some(done) = has("00") {
        let told_amount: Option<Rupiah> = first_amount(done, AMOUNTS);
        let bank_reference = id(done, "refundNo");
        return match told_amount {
            Some(told_amount) if told_amount != asked.amount => OrderStanding::Differs,
            Some(_) => OrderStanding::Done { bank_reference, shown: Shown::Both },
            None => OrderStanding::Done { bank_reference, shown: Shown::Less },
        };
    }
    match (has("03"), has("06")) {
        (Some(_), _) => OrderStanding::Waiting,
        (None, Some(_)) => OrderStanding::NotDone,
        (None, None) => OrderStanding::AskAgain,
    }
}

/// The status of one refund; banks call the member in two ways.
fn told_status(entry: &Value) -> Option<String> {
    id(entry, "refundStatus").or_else(|| id(entry, "latestTransactionStatus"))
}
