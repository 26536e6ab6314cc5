//! New payments and new payment links: a request of the right JSON shape becomes an order that satisfies every rule
//! of the contract, or an error that names the first field that does not.

use std::time::Duration;

use crate::{
    bank::Bank,
    id::ProjectId,
    link::CustomerFields,
    metadata::Metadata,
    method::{Method, MethodKind},
    money::Rupiah,
    payment_terms::PaymentTerms,
    pricing::{Pricing, PricingRequest},
    project::Project,
    return_url::ReturnUrl,
    rules::{DESCRIPTION, Invalid, REFERENCE, TITLE, positive_amount},
    time::Timestamp,
};

/// A payment method as a request names it.
#[derive(Clone, Debug, Default)]
pub struct MethodRequest {
    pub kind: Option<String>,
    pub bank: Option<String>,
}

/// The fields of a new direct payment, of the right JSON types and nothing more.
#[derive(Clone, Debug, Default)]
pub struct PaymentRequest {
    pub reference: Option<String>,
    pub amount: Option<i64>,
    pub method: Option<MethodRequest>,
    pub expires_in_minutes: Option<i64>,
    pub metadata: Option<Vec<(String, String)>>,
    pub return_url: Option<String>,
}

/// A new payment that satisfies every rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PaymentOrder {
    pub reference: String,
    pub amount: Rupiah,
    pub method: Method,
    pub lifetime: Duration,
    pub metadata: Option<Metadata>,
    pub return_url: Option<ReturnUrl>,
}

/// The fields of a new payment link, of the right JSON types and nothing more.
#[derive(Clone, Debug, Default)]
pub struct LinkRequest {
    pub title: Option<String>,
    pub amount: Option<i64>,
    pub quantity_max: Option<i64>,
    pub amount_min: Option<i64>,
    pub amount_max: Option<i64>,
    pub reference: Option<String>,
    pub description: Option<String>,
    pub expires_at: Option<String>,
    pub methods: Option<Vec<MethodRequest>>,
    pub allow_multiple_payments: Option<bool>,
    pub customer_fields: CustomerFields,
    pub metadata: Option<Vec<(String, String)>>,
    pub return_url: Option<String>,
}

/// A new link that satisfies every rule. Without a reference, the engine generates one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkOrder {
    pub title: String,
    /// As the link shows it: for one piece, or 0 where the customer types it.
    pub amount: Rupiah,
    pub pricing: Pricing,
    pub reference: Option<String>,
    pub description: String,
    pub expires_at: Option<Timestamp>,
    pub methods: Vec<Method>,
    pub allow_multiple_payments: bool,
    pub customer_fields: CustomerFields,
    pub metadata: Option<Metadata>,
    pub return_url: Option<ReturnUrl>,
}

impl PaymentRequest {
    pub fn check(self, project: &Project) -> Result<PaymentOrder, Invalid> {
        let reference = REFERENCE.check(required("reference", self.reference)?)?;
        let amount = required("amount", self.amount)?;
        let method = method(project, "payment_method", required("payment_method", self.method)?)?;
        let kind = method.kind();
        let amount = amount_at_least(amount, kind.floor(), kind.word())?;
        let lifetime = lifetime(kind, self.expires_in_minutes)?;
        let metadata = self.metadata.map(Metadata::check).transpose()?;
        let return_url = return_url(self.return_url, project)?;
        Ok(PaymentOrder { reference, amount, method, lifetime, metadata, return_url })
    }
}

impl PaymentOrder {
    /// The terms of the payment that is ordered at `now`.
    pub fn terms(self, project_id: ProjectId, fee: Rupiah, now: Timestamp) -> PaymentTerms {
        let PaymentOrder { reference, amount, method, lifetime, metadata, return_url } = self;
        let direct = PaymentTerms::direct(project_id, reference, amount, method, now.plus(lifetime));
        PaymentTerms { fee, metadata, return_url, ..direct }
    }
}

impl LinkRequest {
    pub fn check(self, project: &Project, now: Timestamp) -> Result<LinkOrder, Invalid> {
        let title = TITLE.check(required("title", self.title)?)?;
        let LinkRequest { amount, quantity_max, amount_min, amount_max, .. } = self;
        let asked = PricingRequest { amount, quantity_max, amount_min, amount_max };
        asked.check_members()?;
        let methods = link_methods(project, self.methods.unwrap_or_default())?;
        let (amount, pricing) = asked.check(&methods)?;
        Ok(LinkOrder {
            title,
            amount,
            pricing,
            reference: self.reference.map(|reference| REFERENCE.check(reference)).transpose()?,
            description: DESCRIPTION.check(self.description.unwrap_or_default())?,
            expires_at: self.expires_at.map(|text| future(&text, now)).transpose()?,
            methods,
            allow_multiple_payments: self.allow_multiple_payments.unwrap_or(false),
            customer_fields: self.customer_fields,
            metadata: self.metadata.map(Metadata::check).transpose()?,
            return_url: return_url(self.return_url, project)?,
        })
    }
}

fn required<T>(field: &str, value: Option<T>) -> Result<T, Invalid> {
    value.ok_or_else(|| Invalid::new(field, "is required"))
}

fn return_url(given: Option<String>, project: &Project) -> Result<Option<ReturnUrl>, Invalid> {
    given.map(|text| ReturnUrl::check(text, project.environment)).transpose()
}

fn amount_at_least(amount: i64, floor: Rupiah, method: &str) -> Result<Rupiah, Invalid> {
    let amount = positive_amount(amount)?;
    if amount < floor {
        return Err(Invalid::new("amount", format!("must be at least {} for {method}", floor.get())));
    }
    Ok(amount)
}

fn lifetime(kind: MethodKind, minutes: Option<i64>) -> Result<Duration, Invalid> {
    let Some(minutes) = minutes else { return Ok(kind.default_lifetime()) };
    match u64::try_from(minutes) {
        Ok(minutes) if minutes >= 1 => Ok(Duration::from_secs(minutes.saturating_mul(60)).min(kind.longest_lifetime())),
        _ => Err(Invalid::new("expires_in_minutes", "must be at least 1")),
    }
}

fn future(text: &str, now: Timestamp) -> Result<Timestamp, Invalid> {
    let at = Timestamp::parse(text).map_err(|error| Invalid::new("expires_at", error.to_string()))?;
    if at <= now {
        return Err(Invalid::new("expires_at", "must be in the future"));
    }
    Ok(at)
}

fn method(project: &Project, field: &str, request: MethodRequest) -> Result<Method, Invalid> {
    match request_kind(field, &request)? {
        MethodKind::Qris => Ok(Method::Qris),
        MethodKind::VirtualAccount => {
            let code = required(&format!("{field}.bank"), request.bank)?;
            bank(project, field, &code).map(Method::VirtualAccount)
        }
    }
}

/// Checks the type, and that `bank` is not given for QRIS, where it has no meaning.
fn request_kind(field: &str, request: &MethodRequest) -> Result<MethodKind, Invalid> {
    let word = required(&format!("{field}.type"), request.kind.as_deref())?;
    let kind = MethodKind::parse(word)
        .ok_or_else(|| Invalid::new(format!("{field}.type"), "must be `qris` or `virtual_account`"))?;
    if kind == MethodKind::Qris && request.bank.is_some() {
        return Err(Invalid::new(format!("{field}.bank"), "must not be given for `qris`"));
    }
    Ok(kind)
}

fn bank(project: &Project, field: &str, code: &str) -> Result<Bank, Invalid> {
    let offered = || project.banks.iter().map(|bank| bank.code()).collect::<Vec<_>>().join(", ");
    Bank::from_code(code)
        .filter(|bank| project.offers(Method::VirtualAccount(*bank)))
        .ok_or_else(|| Invalid::new(format!("{field}.bank"), format!("must be one of {}", offered())))
}

/// Expands `virtual_account` without a bank to every bank that the project offers. An empty list means the project's
/// default methods.
fn link_methods(project: &Project, requests: Vec<MethodRequest>) -> Result<Vec<Method>, Invalid> {
    if requests.is_empty() {
        return Ok(project.usable_defaults());
    }
    let mut methods = Vec::new();
    for (index, request) in requests.into_iter().enumerate() {
        let field = format!("allowed_payment_methods[{index}]");
        let named = match (request_kind(&field, &request)?, &request.bank) {
            (MethodKind::VirtualAccount, None) => project.banks.iter().copied().map(Method::VirtualAccount).collect(),
            _ => vec![method(project, &field, request)?],
        };
        if named.is_empty() {
            return Err(Invalid::new(field, "is not on offer: the project has no bank"));
        }
        if named.iter().any(|method| methods.contains(method)) {
            return Err(Invalid::new(field, "repeats a method that is already in the list"));
        }
        methods.extend(named);
    }
    Ok(methods)
}

#[cfg(test)]
mod tests;
