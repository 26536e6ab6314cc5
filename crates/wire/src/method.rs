//! The JSON of a payment method, such as `{"type": "virtual_account", "bank": "bca"}`.

use domain::method::Method;
use serde::Serialize;
use utoipa::ToSchema;

use crate::schemas;

/// A payment method.
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
