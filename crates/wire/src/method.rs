//! The payment method object.

use domain::method::Method;
use serde::Serialize;
use utoipa::ToSchema;

use crate::schemas;

/// One way to pay.
#[derive(Serialize, ToSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
#[schema(title = "PaymentMethod", as = PaymentMethod, examples(json!({ "type": "virtual_account", "bank": "bca" })))]
pub enum MethodJson {
    Qris,
    VirtualAccount {
        #[schema(value_type = schemas::BankCode)]
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
