//! The payment method object.

use domain::{method::Method, rules::MethodRequest};
use serde::Serialize;
use utoipa::ToSchema;

use super::{json::ShapeError, shape::Members};
use crate::document::words;

/// One way to pay.
#[derive(Serialize, ToSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
#[schema(title = "PaymentMethod", as = PaymentMethod, examples(json!({ "type": "virtual_account", "bank": "bca" })))]
pub(crate) enum MethodJson {
    Qris,
    VirtualAccount {
        #[schema(value_type = words::BankCode)]
        bank: &'static str,
    },
}

impl From<Method> for MethodJson {
    fn from(method: Method) -> MethodJson {
        match method {
            Method::Qris => MethodJson::Qris,
            Method::VirtualAccount(bank) => MethodJson::VirtualAccount { bank: bank.code() },
        }
    }
}

pub(crate) fn method_request(members: &Members<'_>) -> Result<MethodRequest, ShapeError> {
    Ok(MethodRequest { kind: members.text("type")?, bank: members.text("bank")? })
}
