//! The payment method object.

use domain::{method::Method, rules::MethodRequest};
use serde::Serialize;
use utoipa::ToSchema;

use super::{json::ShapeError, shape::Members};

#[derive(Serialize, ToSchema)]
#[schema(title = "PaymentMethod", as = PaymentMethod)]
pub(crate) struct MethodJson {
    /// `qris` or `virtual_account`.
    #[serde(rename = "type")]
    #[schema(example = "virtual_account")]
    kind: &'static str,
    /// The bank's code; only for `virtual_account`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(example = "bca")]
    bank: Option<&'static str>,
}

impl From<Method> for MethodJson {
    fn from(method: Method) -> MethodJson {
        MethodJson { kind: method.kind().word(), bank: method.bank().map(|bank| bank.code()) }
    }
}

pub(crate) fn method_request(members: &Members<'_>) -> Result<MethodRequest, ShapeError> {
    Ok(MethodRequest { kind: members.text("type")?, bank: members.text("bank")? })
}
