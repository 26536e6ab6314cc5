//! Schemas of simple values for the OpenAPI document: ids, times, amounts and enumerations. Each takes its values from the domain,
//! so the document cannot differ from what the service does.

use domain::{
    access::Role,
    api_key::key_prefix,
    audit::Deed,
    bank::Bank,
    destination::Rail as TransferRail,
    event::EventKind,
    key_rights::KeyRight as Right,
    link::LinkStatus as Link,
    metadata::{KEY, MEMBERS_MOST, VALUE},
    method::MethodKind,
    money::Rupiah,
    payment::Status,
    pricing::QUANTITY_MAX,
    project::{Environment as Surroundings, SuccessWord},
    receipt::{ReceiptState as Receipt, Unapplied},
    refund::{PendingReason as Pending, RefundRoad as Road, RefundStatus as Refunded},
    return_url::RETURN_URL,
};
use utoipa::{
    PartialSchema, ToSchema,
    openapi::{
        KnownFormat, ObjectBuilder, OneOfBuilder, Ref, RefOr, SchemaFormat,
        schema::{AdditionalProperties, Schema, Type},
    },
};

/// The pattern of texts on one line: without control characters.
pub const ONE_LINE: &str = "^[^\\u0000-\\u001f\\u007f-\\u009f]*$";
/// The same without characters that change the direction of text.
const ONE_LINE_ONE_WAY: &str =
    "^[^\\u0000-\\u001f\\u007f-\\u009f\\u061c\\u200e\\u200f\\u202a-\\u202e\\u2066-\\u2069]*$";
/// The same with line breaks.
const LINES: &str = "^[^\\u0000-\\u0009\\u000b\\u000c\\u000e-\\u001f\\u007f-\\u009f\\u061c\\u200e\\u200f\\u202a-\\u202e\\u2066-\\u2069]*$";
const EXAMPLE_ID: &str = "01kzdq3f5ve8x9m2r7t4w6y8za";

macro_rules! schemas {
    ($($name:ident = $description:literal $schema:expr;)*) => {
        $(
            pub enum $name {}

            impl PartialSchema for $name {
                fn schema() -> RefOr<Schema> {
                    $schema.description(Some($description)).into()
                }
            }

            impl ToSchema for $name {}
        )*
    };
}

schemas! {
    PaymentId = "Identifies a payment." id("pay");
    PaymentLinkId = "Identifies a payment link." id("pl");
    ProjectId = "Identifies a project." id("prj");
    ApiKeyId = "Identifies an API key; not the key itself." id("key");
    AuditLineId = "Identifies a line of the audit log." id("aud");
    AuditAction = "What was done." words(Deed::ALL.iter().map(|deed| deed.word()));
    RefundId = "Identifies a refund." id("rfd");
    RefundStatus = "How the refund stands." words(Refunded::ALL.iter().map(|status| status.word()));
    PendingReason = "What a pending refund waits for: `awaiting_approval` for a person, `insufficient_balance` for money on the bank account that pays, `processing` for the bank."
        words(Pending::ALL.iter().map(|reason| reason.word()));
    RefundRoad = "How the money goes back: by the QRIS code that was paid, or by a transfer to a bank account." words(Road::ALL.iter().map(|road| road.word()));
    RefundOutcome = "What becomes of the refund; `returned` only of one that has succeeded." words(["succeeded", "failed", "returned"]);
    TransferBankCode = "The three digits by which banks know each other." text().pattern(Some("^[0-9]{3}$")).examples(["014"]);
    Rail = "By which network transfers go." words(TransferRail::ALL.map(TransferRail::word));
    EventId = "Identifies an event. Use it to recognise an event that you have processed already." id("evt");
    ReceiptId = "Identifies money that could not pay its payment when it came." id("rcp");
    DeciderId = "The user or the API key that decided." text()
        .pattern(Some("^(usr|key)_[0-7][0-9a-hjkmnp-tv-z]{25}$"))
        .examples([format!("key_{EXAMPLE_ID}")]);
    ReceiptState = "What has become of the money: `held` until somebody has decided." words(Receipt::ALL.map(Receipt::word));
    HeldReason = "Why the money could not pay its payment." words(Unapplied::ALL.map(Unapplied::word));
    Difference = "Whole rupiah; negative if the money is less." ObjectBuilder::new()
        .schema_type(Type::Integer)
        .format(Some(SchemaFormat::KnownFormat(KnownFormat::Int64)))
        .minimum(Some(-Rupiah::MAX.get()))
        .maximum(Some(Rupiah::MAX.get()))
        .examples([0]);
    DateTime = "In UTC, to the millisecond." text()
        .format(Some(SchemaFormat::KnownFormat(KnownFormat::DateTime)))
        .pattern(Some("^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\\.[0-9]{3}Z$"))
        .examples(["2026-11-14T09:30:00.000Z"]);
    GivenDateTime = "RFC 3339, with any offset." text()
        .format(Some(SchemaFormat::KnownFormat(KnownFormat::DateTime)))
        .examples(["2026-11-14T16:30:00+07:00"]);
    PastDateTime = "RFC 3339, with any offset, not after now." text()
        .format(Some(SchemaFormat::KnownFormat(KnownFormat::DateTime)))
        .examples(["2026-11-14T16:30:00+07:00"]);
    FutureDateTime = "RFC 3339, with any offset, after now." text()
        .format(Some(SchemaFormat::KnownFormat(KnownFormat::DateTime)))
        .examples(["2099-12-31T23:59:59+07:00"]);
    Amount = "Whole rupiah." integer(0).examples([15_000]);
    Minutes = "A number of minutes; a larger one than allowed is lowered to the maximum."
        ObjectBuilder::new().schema_type(Type::Integer).minimum(Some(1)).examples([15]);
    PaymentStatus = "The payment's status. Projects can choose to read `succeeded` in place of `paid`." words(payment_statuses());
    PaymentLinkStatus = "The link's status; `inactive` means that it is past its expiry, or that the project offers none of its methods."
        words([Link::Active, Link::Cancelled, Link::Inactive].map(Link::word));
    MethodType = "The type of a payment method." words([MethodKind::Qris, MethodKind::VirtualAccount].map(MethodKind::word));
    BankCode = "A bank that issues virtual accounts." words(Bank::ALL.map(Bank::code));
    Environment = "`sandbox` for tests without real money, or `production`." words(ENVIRONMENTS.map(Surroundings::word));
    KeyPrefix = "The first characters of the key." words(ENVIRONMENTS.map(key_prefix));
    KeySecret = "The key itself. It is not shown again."
        text().pattern(Some("^sk_(test|live)_[0-9A-Za-z]{38}$"));
    LastFour = "The last four characters of the key." text().pattern(Some("^[0-9A-Za-z]{4}$")).examples(["a1B2"]);
    KeyRight = "What a key may do besides reading: `payments` creates payments and links, cancels links, simulates payments in the sandbox and revokes other keys; `held-money` decides about money that fits no payment; `refunds` gives money back to customers."
        words(Right::ALL.map(Right::word));
    KeyNetwork = "A network with its prefix." text().pattern(Some("^[0-9a-f.:]+/[0-9]{1,3}$")).examples(["203.0.113.0/24"]);
    GivenNetwork = "An address or a network, such as 203.0.113.7 or 203.0.113.0/24." text()
        .pattern(Some("^[0-9A-Fa-f.:]+(/[0-9]{1,3})?$"))
        .examples(["203.0.113.0/24"]);
    SuccessStatus = "The status that a paid payment has in this project."
        words([SuccessWord::Paid, SuccessWord::Succeeded].map(SuccessWord::word));
    Origin = "A web origin: scheme, host, and port if it is not the default."
        text().examples(["https://shop.example"]);
    MemberRole = "The role of a member in a project." words(Role::ALL.map(Role::word));
    EventType = "The type of an event." words(EventKind::ALL.map(EventKind::word));
    ExtraEventType = "The type of an event that a project gets only if its settings name it."
        words(EventKind::EXTRA.map(EventKind::word));
    Currency = "Always rupiah." words(["IDR"]);
    FeeBearer = "Who pays the fee: always the merchant." words(["merchant"]);
    Outcome = "What the simulated bank reports; or `expired`, as if `expires_at` were now." words(["paid", "failed", "processing", "expired"]);
    ReturnUrl = "Where the checkout page leads the customer back to: an https address of yours, in the sandbox also http to the same computer. `payment_id`, `reference` and `status` are added to its query. Anybody can make them up, so look the payment up before you rely on them." text()
        .format(Some(SchemaFormat::Custom("uri".to_owned())))
        .min_length(Some(RETURN_URL.least))
        .max_length(Some(RETURN_URL.most))
        .pattern(Some("^[Hh][Tt][Tt][Pp][Ss]?://[^\\s\\\\/][^\\s\\\\]*$"))
        .examples(["https://shop.example/order/1"]);
    Quantity = "How many pieces the customer pays for." ObjectBuilder::new()
        .schema_type(Type::Integer)
        .minimum(Some(1))
        .maximum(Some(*QUANTITY_MAX.end()))
        .examples([2]);
    QuantityMax = "How many pieces the customer may choose at most; `amount` is for one." ObjectBuilder::new()
        .schema_type(Type::Integer)
        .minimum(Some(*QUANTITY_MAX.start()))
        .maximum(Some(*QUANTITY_MAX.end()))
        .examples([10]);
    Metadata = "What you noted about your order; only where it was given." metadata();
    DeviceType = "The customer's kind of device, guessed from the browser's User-Agent." words(["desktop", "mobile", "tablet", "bot", "unknown"]);
    OpenApiDocument = "An OpenAPI 3.1 document." ObjectBuilder::new()
        .property("openapi", text().pattern(Some("^3\\.1\\.[0-9]+$")))
        .required("openapi")
        .additional_properties(Some(AdditionalProperties::FreeForm(true)));
    PaymentMethodBody = "A payment method." OneOfBuilder::new()
        .item(qris_body())
        .item(account_body(Ref::from_schema_name(BankCode::name())).required("bank"))
        .examples([serde_json::json!({ "type": "virtual_account", "bank": "bca" })]);
    AllowedMethodBody = "A payment method; `virtual_account` without `bank` means every bank that the project offers."
        OneOfBuilder::new()
            .item(qris_body())
            .item(account_body(OneOfBuilder::new().item(Ref::from_schema_name(BankCode::name())).item(nothing())))
            .examples([serde_json::json!({ "type": "virtual_account" })]);
}

const ENVIRONMENTS: [Surroundings; 2] = [Surroundings::Sandbox, Surroundings::Production];

fn text() -> ObjectBuilder {
    ObjectBuilder::new().schema_type(Type::String)
}

/// An amount of rupiah from `least` on.
fn integer(least: i64) -> ObjectBuilder {
    let bounded = ObjectBuilder::new().schema_type(Type::Integer).minimum(Some(least)).maximum(Some(Rupiah::MAX.get()));
    bounded.format(Some(SchemaFormat::KnownFormat(KnownFormat::Int64)))
}

/// One of a few words.
fn words(words: impl IntoIterator<Item = &'static str>) -> ObjectBuilder {
    let words: Vec<&str> = words.into_iter().collect();
    let first = words.first().copied();
    text().enum_values(Some(words)).examples(first)
}

fn id(prefix: &str) -> ObjectBuilder {
    // Crockford's alphabet without i, l, o and u; 26 of its characters hold 130 bits, an id only 128.
    text()
        .pattern(Some(format!("^{prefix}_[0-7][0-9a-hjkmnp-tv-z]{{25}}$")))
        .examples([format!("{prefix}_{EXAMPLE_ID}")])
}

/// The values of a payment's `status`, in the order in which a payment may have them.
fn payment_statuses() -> Vec<&'static str> {
    Status::ALL
        .into_iter()
        .flat_map(|status| match status {
            Status::Paid => vec![SuccessWord::Paid.word(), SuccessWord::Succeeded.word()],
            other => vec![other.word()],
        })
        .collect()
}

fn metadata() -> ObjectBuilder {
    let value = text().max_length(Some(VALUE.most)).pattern(Some(LINES));
    let key = text().min_length(Some(KEY.least)).max_length(Some(KEY.most)).pattern(Some(ONE_LINE_ONE_WAY));
    ObjectBuilder::new()
        .property_names(Some(key))
        .additional_properties(Some(AdditionalProperties::RefOr(value.into())))
        .max_properties(Some(MEMBERS_MOST))
        .examples([serde_json::json!({ "cashier": "Kasir 1", "table": "12" })])
}

fn nothing() -> ObjectBuilder {
    ObjectBuilder::new().schema_type(Type::Null)
}

fn qris_body() -> ObjectBuilder {
    let kind = words([MethodKind::Qris.word()]);
    ObjectBuilder::new().property("type", kind).required("type").property("bank", nothing())
}

fn account_body(bank: impl Into<RefOr<Schema>>) -> ObjectBuilder {
    let kind = words([MethodKind::VirtualAccount.word()]);
    ObjectBuilder::new().property("type", kind).required("type").property("bank", bank)
}
