//! The JSON of a payment, the same in every endpoint and event.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use domain::{
    event::HeldMoney,
    language::Language,
    method::Method,
    payment::{Device, Location, Payment, Status},
    project::SuccessWord,
    time::Timestamp,
};
use picture::qr_image;
use serde::Serialize;
use serde_json::value::RawValue;
use utoipa::ToSchema;

use crate::{metadata::MetadataJson, method::MethodJson, schemas, steps::steps_json};

/// What a payment's JSON depends on besides the payment.
#[derive(Clone, Copy)]
pub struct View<'a> {
    pub now: Timestamp,
    pub success_word: SuccessWord,
    pub language: Language,
    /// The URL at which people reach the pages.
    pub pages_url: &'a str,
}

/// One attempt to collect an amount by one payment method.
#[derive(Serialize, ToSchema)]
#[schema(title = "Payment", as = Payment, examples(json!({
    "id": "pay_01kzdq3f5ve8x9m2r7t4w6y8za", "payment_link_id": null,
    "project_id": "prj_01kzdq3f5ve8x9m2r7t4w6y8za", "reference": "order-1", "amount": 15000, "currency": "IDR",
    "fee_bearer": "merchant", "fee_amount": 4000, "merchant_net": 11000, "refunded_amount": 0, "status": "pending",
    "checkout_url": "https://pay.example/pay/pay_01kzdq3f5ve8x9m2r7t4w6y8za",
    "payment_method": { "type": "virtual_account", "bank": "bca" },
    "instructions": {
        "bank_name": "Bank Central Asia (BCA)", "virtual_account_number": "9901418357157900",
        "payment_steps": ["BCA mobile: buka aplikasi lalu masuk"]
    },
    "customer": { "name": "", "email": "", "phone": "", "address": "" },
    "checkout_context": { "location": {}, "device": {} },
    "expires_at": "2026-11-15T09:30:00.000Z", "paid_at": null, "created_at": "2026-11-14T09:30:00.000Z"
})))]
pub struct PaymentJson {
    #[schema(value_type = schemas::PaymentId)]
    id: String,
    /// Null for a direct payment.
    #[schema(value_type = Option<schemas::PaymentLinkId>, required)]
    payment_link_id: Option<String>,
    #[schema(value_type = schemas::ProjectId)]
    project_id: String,
    /// Your own order id.
    #[schema(min_length = 1, max_length = 255, examples("order-1"))]
    reference: String,
    #[schema(value_type = schemas::Amount)]
    amount: i64,
    #[schema(value_type = schemas::Currency)]
    currency: &'static str,
    #[schema(value_type = schemas::FeeBearer)]
    fee_bearer: &'static str,
    /// The fee that the merchant is charged.
    #[schema(value_type = schemas::Amount)]
    fee_amount: i64,
    /// The amount that the merchant receives: the amount minus the fee.
    #[schema(value_type = schemas::Amount)]
    merchant_net: i64,
    /// What customers have got back of it: the sum of its refunds that have succeeded. 0 in events.
    #[schema(value_type = schemas::Amount)]
    refunded_amount: i64,
    #[schema(value_type = schemas::PaymentStatus)]
    status: &'static str,
    /// The checkout page of this payment.
    #[schema(format = "uri", examples("https://pay.example/pay/pay_01kzdq3f5ve8x9m2r7t4w6y8za"))]
    checkout_url: String,
    payment_method: MethodJson,
    instructions: InstructionsJson,
    customer: CustomerJson,
    checkout_context: ContextJson,
    /// When the payment expires and can no longer be paid.
    #[schema(value_type = schemas::DateTime)]
    expires_at: String,
    /// When the customer paid; null until then.
    #[schema(value_type = Option<schemas::DateTime>, required)]
    paid_at: Option<String>,
    #[schema(value_type = schemas::DateTime)]
    created_at: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = schemas::Metadata, required = false)]
    metadata: Option<MetadataJson>,
    /// Only where the link lets the customer choose it: `amount` is for all pieces.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = schemas::Quantity, required = false)]
    quantity: Option<i64>,
    /// Only where it was given, for the payment or for its link.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = schemas::ReturnUrl, required = false)]
    return_url: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = HeldReceiptJson, required = false)]
    receipt: Option<HeldReceiptJson>,
}

/// Money that came for the payment and could not pay it. Only in the event `payment.held`.
#[derive(Serialize, ToSchema)]
#[schema(title = "HeldReceipt", as = HeldReceipt)]
struct HeldReceiptJson {
    #[schema(value_type = schemas::ReceiptId)]
    id: String,
    #[schema(value_type = schemas::Amount)]
    amount: i64,
    #[schema(value_type = schemas::HeldReason)]
    reason: &'static str,
    /// When the customer paid, as the bank says.
    #[schema(value_type = schemas::DateTime)]
    paid_at: String,
}

/// How the customer pays: the first form for `qris`, the second for `virtual_account`.
#[derive(Serialize, ToSchema)]
#[serde(untagged)]
#[schema(title = "Instructions", as = Instructions)]
enum InstructionsJson {
    Qris {
        /// The raw QRIS payload, for drawing a QR code of your own. Empty only for a payment whose money came before we got
        /// its code.
        #[schema(pattern = "^(000201|$)", max_length = 512, examples("00020101021226…"))]
        qr_string: String,
        /// A PNG as a `data:` URI, ready to display. Empty where the payload is.
        #[schema(pattern = "^(data:image/png;base64,[A-Za-z0-9+/]+=*)?$")]
        qr_image_url: String,
    },
    VirtualAccount {
        #[schema(examples("Bank Central Asia (BCA)"))]
        bank_name: &'static str,
        /// The account number to transfer the money to.
        #[schema(min_length = 1, examples("9901418357157900"))]
        virtual_account_number: String,
        /// Instructions for the customer, ready to display.
        #[schema(value_type = Vec<String>, min_items = 1)]
        payment_steps: Box<RawValue>,
    },
}

/// The customer's details that the checkout page collected; empty where it collected none.
#[derive(Default, Serialize, ToSchema)]
#[schema(title = "Customer", as = Customer)]
struct CustomerJson {
    #[schema(max_length = 255, examples("Siti"))]
    name: String,
    #[schema(max_length = 255, examples("siti@example.com"))]
    email: String,
    #[schema(max_length = 255, examples("+62 812 0000 0000"))]
    phone: String,
    #[schema(max_length = 1000, examples("Jl. Melati 1, Bandung"))]
    address: String,
}

/// Where and on which device the customer chose to pay; empty for a direct payment.
#[derive(Default, Serialize, ToSchema)]
#[schema(title = "CheckoutContext", as = CheckoutContext)]
struct ContextJson {
    location: LocationJson,
    device: DeviceJson,
}

#[derive(Default, Serialize, ToSchema)]
#[schema(title = "Location", as = Location)]
struct LocationJson {
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, required = false, examples("203.0.113.9"))]
    ip: Option<String>,
    /// Only where a proxy in front of the service supplies it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, required = false, examples("ID"))]
    country: Option<String>,
}

#[derive(Default, Serialize, ToSchema)]
#[schema(title = "Device", as = Device)]
struct DeviceJson {
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = schemas::DeviceType, required = false)]
    kind: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, required = false, examples("Android"))]
    os: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, required = false, examples("Chrome"))]
    browser: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, required = false, examples("Mozilla/5.0"))]
    user_agent: Option<String>,
}

impl PaymentJson {
    pub fn of(payment: Payment, view: View<'_>) -> PaymentJson {
        PaymentJson::with_receipt(payment, view, None)
    }

    pub(crate) fn with_receipt(payment: Payment, view: View<'_>, held: Option<HeldMoney>) -> PaymentJson {
        let status = match payment.status_at(view.now) {
            Status::Paid => view.success_word.word(),
            other => other.word(),
        };
        let (customer, context) = checkout(&payment);
        PaymentJson {
            id: payment.id.to_string(),
            payment_link_id: payment.terms.link_id.map(|id| id.to_string()),
            project_id: payment.terms.project_id.to_string(),
            amount: payment.terms.amount.get(),
            currency: "IDR",
            fee_bearer: "merchant",
            fee_amount: payment.terms.fee.get(),
            merchant_net: payment.merchant_net().get(),
            refunded_amount: payment.refunds.succeeded.get(),
            status,
            checkout_url: format!("{}/pay/{}", view.pages_url, payment.id),
            payment_method: payment.terms.method.into(),
            customer,
            checkout_context: context,
            expires_at: payment.terms.expires_at.to_string(),
            paid_at: payment.paid_at().map(|at| at.to_string()),
            created_at: payment.created_at.to_string(),
            instructions: instructions(&payment, view.language),
            reference: payment.terms.reference,
            metadata: payment.terms.metadata.map(MetadataJson),
            quantity: payment.terms.quantity,
            return_url: payment.terms.return_url.map(|url| url.as_str().to_owned()),
            receipt: held.map(HeldReceiptJson::from),
        }
    }
}

impl From<HeldMoney> for HeldReceiptJson {
    fn from(money: HeldMoney) -> HeldReceiptJson {
        HeldReceiptJson {
            id: money.receipt.to_string(),
            amount: money.amount.get(),
            reason: money.reason.word(),
            paid_at: money.paid_at.to_string(),
        }
    }
}

fn instructions(payment: &Payment, language: Language) -> InstructionsJson {
    match payment.terms.method {
        Method::Qris if payment.code.is_empty() => {
            InstructionsJson::Qris { qr_string: String::new(), qr_image_url: String::new() }
        }
        Method::Qris => {
            // Our payloads have at most the 512 characters of the standard, which always fit a QR code.
            let image = qr_image::png(&payment.code).unwrap_or_default();
            InstructionsJson::Qris {
                qr_string: payment.code.clone(),
                qr_image_url: format!("data:image/png;base64,{}", STANDARD.encode(image)),
            }
        }
        Method::VirtualAccount(bank) => InstructionsJson::VirtualAccount {
            bank_name: bank.name(),
            virtual_account_number: payment.code.clone(),
            payment_steps: steps_json(bank, &payment.code, payment.terms.amount, language),
        },
    }
}

fn checkout(payment: &Payment) -> (CustomerJson, ContextJson) {
    let Some(checkout) = payment.terms.checkout.clone() else { return Default::default() };
    let (customer, Location { ip, country }) = (checkout.customer, checkout.location);
    let Device { kind, os, browser, user_agent } = checkout.device;
    (
        CustomerJson { name: customer.name, email: customer.email, phone: customer.phone, address: customer.address },
        ContextJson { location: LocationJson { ip, country }, device: DeviceJson { kind, os, browser, user_agent } },
    )
}
