//! The payment object, as every endpoint and event shows it.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use domain::{
    method::Method,
    payment::{Device, Location, Payment, Status},
    project::SuccessWord,
    qr_image,
    steps::{Language, payment_steps},
    time::Timestamp,
};
use serde::Serialize;
use utoipa::ToSchema;

use super::method::MethodJson;

/// What a payment's JSON depends on besides the payment.
#[derive(Clone, Copy)]
pub(crate) struct View<'a> {
    pub(crate) now: Timestamp,
    pub(crate) success_word: SuccessWord,
    pub(crate) language: Language,
    pub(crate) checkout_url_base: &'a str,
}

#[derive(Serialize, ToSchema)]
#[schema(title = "Payment", as = Payment)]
pub(crate) struct PaymentJson {
    #[schema(example = "pay_01kzdq3f5ve8x9m2r7t4w6y8za")]
    id: String,
    /// Null for a direct payment.
    payment_link_id: Option<String>,
    #[schema(example = "prj_01kzdq3f5ve8x9m2r7t4w6y8za")]
    project_id: String,
    #[schema(example = "order-1")]
    reference: String,
    /// Whole rupiah.
    #[schema(example = 15000)]
    amount: i64,
    #[schema(example = "IDR")]
    currency: &'static str,
    #[schema(example = "merchant")]
    fee_bearer: &'static str,
    #[schema(example = 105)]
    fee_amount: i64,
    #[schema(example = 14895)]
    merchant_net: i64,
    /// `pending`, `processing`, `paid` (or `succeeded`, by the project's setting), `failed`, `expired`, `cancelled`.
    #[schema(example = "pending")]
    status: &'static str,
    checkout_url: String,
    payment_method: MethodJson,
    instructions: InstructionsJson,
    customer: CustomerJson,
    checkout_context: ContextJson,
    #[schema(format = DateTime)]
    expires_at: String,
    /// Null until paid.
    #[schema(format = DateTime)]
    paid_at: Option<String>,
    #[schema(format = DateTime)]
    created_at: String,
}

#[derive(Serialize, ToSchema)]
#[serde(untagged)]
#[schema(title = "Instructions", as = Instructions)]
enum InstructionsJson {
    Qris {
        /// The raw QRIS payload, for drawing a QR code of your own.
        qr_string: String,
        /// A PNG as a `data:` URI, ready to display.
        qr_image_url: String,
    },
    VirtualAccount {
        bank_name: &'static str,
        virtual_account_number: String,
        /// Displayable as they are.
        payment_steps: Vec<String>,
    },
}

#[derive(Default, Serialize, ToSchema)]
#[schema(title = "Customer", as = Customer)]
struct CustomerJson {
    name: String,
    email: String,
    phone: String,
    address: String,
}

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
    ip: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    country: Option<String>,
}

#[derive(Default, Serialize, ToSchema)]
#[schema(title = "Device", as = Device)]
struct DeviceJson {
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    kind: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    os: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    browser: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    user_agent: Option<String>,
}

impl PaymentJson {
    pub(crate) fn of(payment: Payment, view: View<'_>) -> PaymentJson {
        let status = match payment.status_at(view.now) {
            Status::Paid => view.success_word.word(),
            other => other.word(),
        };
        let (customer, context) = checkout(&payment);
        PaymentJson {
            id: payment.id.to_string(),
            payment_link_id: payment.link_id.map(|id| id.to_string()),
            project_id: payment.project_id.to_string(),
            amount: payment.amount.get(),
            currency: "IDR",
            fee_bearer: "merchant",
            fee_amount: payment.fee.get(),
            merchant_net: payment.merchant_net().get(),
            status,
            checkout_url: format!("{}/pay/{}", view.checkout_url_base, payment.id),
            payment_method: payment.method.into(),
            customer,
            checkout_context: context,
            expires_at: payment.expires_at.to_string(),
            paid_at: payment.paid_at().map(|at| at.to_string()),
            created_at: payment.created_at.to_string(),
            instructions: instructions(&payment, view.language),
            reference: payment.reference,
        }
    }
}

fn instructions(payment: &Payment, language: Language) -> InstructionsJson {
    match payment.method {
        Method::Qris => {
            // Payloads are made by us within the standard's 512 characters, which always fit.
            let image = qr_image::png(&payment.code).unwrap_or_default();
            InstructionsJson::Qris {
                qr_string: payment.code.clone(),
                qr_image_url: format!("data:image/png;base64,{}", STANDARD.encode(image)),
            }
        }
        Method::VirtualAccount(bank) => InstructionsJson::VirtualAccount {
            bank_name: bank.name(),
            virtual_account_number: payment.code.clone(),
            payment_steps: payment_steps(bank, &payment.code, payment.amount, language),
        },
    }
}

fn checkout(payment: &Payment) -> (CustomerJson, ContextJson) {
    let Some(checkout) = payment.checkout.clone() else { return Default::default() };
    let (customer, Location { ip, country }) = (checkout.customer, checkout.location);
    let Device { kind, os, browser, user_agent } = checkout.device;
    (
        CustomerJson { name: customer.name, email: customer.email, phone: customer.phone, address: customer.address },
        ContextJson { location: LocationJson { ip, country }, device: DeviceJson { kind, os, browser, user_agent } },
    )
}
