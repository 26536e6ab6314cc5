//! The shapes of request bodies, for the OpenAPI document. Bodies are read member by member, so that every mistake gets
//! its own message; these types only describe. Members that they do not name are ignored, so no shape is closed.

use serde::Serialize;
use utoipa::ToSchema;

use crate::document::words;

#[derive(Serialize, ToSchema)]
#[schema(examples(json!({
    "project_id": "prj_01kzdq3f5ve8x9m2r7t4w6y8za", "reference": "order-1", "amount": 15000,
    "payment_method": { "type": "virtual_account", "bank": "bca" }
})))]
pub(crate) struct CreatePayment {
    /// Must be the API key's own project.
    #[schema(value_type = words::ProjectId)]
    project_id: String,
    /// Your order id; need not be unique.
    #[schema(min_length = 1, max_length = 255, pattern = "^[^\\u0000-\\u001f\\u007f-\\u009f]*$", examples("order-1"))]
    reference: String,
    /// Whole rupiah, at least 100 for `qris` and 10000 for `virtual_account`.
    #[schema(minimum = 100, maximum = 999_999_999_999_i64, examples(15000))]
    amount: i64,
    #[schema(value_type = words::PaymentMethodBody)]
    payment_method: String,
    /// 15 by default for `qris` and at most 60; 1440 for `virtual_account` and at most 10080. More is lowered to that.
    #[schema(value_type = Option<words::Minutes>)]
    expires_in_minutes: Option<i64>,
}

#[derive(Serialize, ToSchema)]
#[schema(examples(json!({
    "project_id": "prj_01kzdq3f5ve8x9m2r7t4w6y8za", "title": "Kopi susu", "amount": 50000,
    "allowed_payment_methods": [{ "type": "qris" }, { "type": "virtual_account", "bank": "bca" }]
})))]
pub(crate) struct CreateLink {
    /// Must be the API key's own project.
    #[schema(value_type = words::ProjectId)]
    project_id: String,
    /// Shown to the customer.
    #[schema(
        min_length = 1,
        max_length = 255,
        pattern = "^[^\\u0000-\\u001f\\u007f-\\u009f]*$",
        examples("Kopi susu")
    )]
    title: String,
    /// Whole rupiah, at least the highest floor among the allowed methods: 100 for `qris`, 10000 for `virtual_account`.
    #[schema(minimum = 100, maximum = 999_999_999_999_i64, examples(50000))]
    amount: i64,
    /// Your order id; made up when omitted.
    #[schema(min_length = 1, max_length = 255, pattern = "^[^\\u0000-\\u001f\\u007f-\\u009f]*$", examples("order-1"))]
    reference: Option<String>,
    /// Shown below the title; may have several lines.
    #[schema(
        max_length = 2000,
        pattern = "^[^\\u0000-\\u0009\\u000b\\u000c\\u000e-\\u001f\\u007f-\\u009f]*$",
        examples("Dua gelas")
    )]
    description: Option<String>,
    /// From when on the link takes no payment; never when omitted.
    #[schema(value_type = Option<words::FutureDateTime>)]
    expires_at: Option<String>,
    /// The ways to pay, each at most once; the project's default methods when omitted or empty.
    #[schema(value_type = Option<Vec<words::AllowedMethodBody>>, max_items = 14)]
    allowed_payment_methods: Option<String>,
    /// Whether the link stays payable after its first payment; false when omitted.
    allow_multiple_payments: Option<bool>,
    customer_fields: Option<CustomerFieldsBody>,
}

/// What the checkout page must ask the customer for; nothing that is not named here.
#[derive(Serialize, ToSchema)]
pub(crate) struct CustomerFieldsBody {
    name: Option<bool>,
    email: Option<bool>,
    phone: Option<bool>,
    address: Option<bool>,
}

#[derive(Serialize, ToSchema)]
#[schema(examples(json!({ "outcome": "paid" })))]
pub(crate) struct Simulate {
    #[schema(value_type = words::Outcome)]
    outcome: String,
    /// What the customer pays; the payment's amount when omitted.
    #[schema(minimum = 1, maximum = 999_999_999_999_i64, examples(15000))]
    amount: Option<i64>,
    /// When the customer pays; now when omitted.
    #[schema(value_type = Option<words::GivenDateTime>)]
    paid_at: Option<String>,
    /// Repeats a receipt when it was sent before.
    #[schema(
        min_length = 1,
        max_length = 255,
        pattern = "^[^\\u0000-\\u001f\\u007f-\\u009f]*$",
        examples("receipt-1")
    )]
    receipt_id: Option<String>,
}

#[derive(Serialize, ToSchema)]
#[schema(examples(json!({ "name": "Kasir 1" })))]
pub(crate) struct CreateApiKey {
    /// A name to know the key by, which no other live key of the project has.
    #[schema(min_length = 1, max_length = 255, pattern = "^[^\\u0000-\\u001f\\u007f-\\u009f]*$", examples("Kasir 1"))]
    name: String,
}
