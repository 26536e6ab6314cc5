//! The shapes of request bodies, for the OpenAPI document. Bodies are read member by member, so that every mistake gets
//! its own message; these types only describe.

use serde::Serialize;
use utoipa::ToSchema;

#[derive(Serialize, ToSchema)]
pub(crate) struct CreatePayment {
    /// Must be the API key's own project.
    #[schema(example = "prj_01kzdq3f5ve8x9m2r7t4w6y8za")]
    project_id: String,
    /// Your order id; need not be unique.
    #[schema(min_length = 1, max_length = 255, example = "order-1")]
    reference: String,
    /// Whole rupiah, at least 100 for `qris` and 10000 for `virtual_account`.
    #[schema(minimum = 100, maximum = 999_999_999_999_i64, example = 15000)]
    amount: i64,
    payment_method: MethodBody,
    /// 15 by default for `qris` and at most 60; 1440 for `virtual_account` and at most 10080.
    #[schema(minimum = 1, example = 15)]
    expires_in_minutes: Option<i64>,
}

#[derive(Serialize, ToSchema)]
pub(crate) struct MethodBody {
    /// `qris` or `virtual_account`.
    #[serde(rename = "type")]
    #[schema(example = "qris")]
    kind: String,
    /// The bank's code, for `virtual_account` only.
    bank: Option<String>,
}

#[derive(Serialize, ToSchema)]
pub(crate) struct CreateLink {
    /// Must be the API key's own project.
    #[schema(example = "prj_01kzdq3f5ve8x9m2r7t4w6y8za")]
    project_id: String,
    #[schema(min_length = 1, max_length = 255, example = "Kopi susu")]
    title: String,
    /// Whole rupiah, at least the highest floor among the allowed methods.
    #[schema(minimum = 100, maximum = 999_999_999_999_i64, example = 50000)]
    amount: i64,
    /// Made up when omitted.
    #[schema(min_length = 1, max_length = 255)]
    reference: Option<String>,
    #[schema(max_length = 2000)]
    description: Option<String>,
    /// In the future, with any offset.
    #[schema(format = DateTime)]
    expires_at: Option<String>,
    /// The project's default methods when omitted or empty.
    allowed_payment_methods: Option<Vec<MethodBody>>,
    allow_multiple_payments: Option<bool>,
    customer_fields: Option<CustomerFieldsBody>,
}

#[derive(Serialize, ToSchema)]
pub(crate) struct CustomerFieldsBody {
    name: Option<bool>,
    email: Option<bool>,
    phone: Option<bool>,
    address: Option<bool>,
}

#[derive(Serialize, ToSchema)]
pub(crate) struct Simulate {
    /// `paid`, `failed` or `processing`.
    #[schema(example = "paid")]
    outcome: String,
    /// What the customer pays; the payment's amount when omitted.
    #[schema(minimum = 1, maximum = 999_999_999_999_i64)]
    amount: Option<i64>,
    /// When the customer pays; now when omitted.
    #[schema(format = DateTime)]
    paid_at: Option<String>,
    /// Repeats a receipt when it was sent before.
    #[schema(min_length = 1, max_length = 255)]
    receipt_id: Option<String>,
}
