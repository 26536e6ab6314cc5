//! The content of the form for a payment link, and what is wrong with it.

use domain::{
    link::{CustomerFields, Link},
    method::Method,
    orders::{LinkRequest, MethodRequest},
    pricing::PricingRequest,
    project::Project,
    return_url::ReturnUrl,
    rules::{DESCRIPTION, Invalid, REFERENCE, TITLE},
    time::Timestamp,
};
use i18n_embed_fl::fl;
use sha2::{Digest, Sha256};

use super::price::{PriceFields, PriceMistakes};
use crate::{
    input::{self, text_mistake},
    labels::every_method,
    words::Words,
};

/// The fields as they were filled in.
#[derive(Clone, Default)]
pub(crate) struct Filled {
    pub(crate) title: String,
    pub(crate) price: PriceFields,
    pub(crate) reference: String,
    pub(crate) description: String,
    pub(crate) expires_at: String,
    pub(crate) return_url: String,
    pub(crate) methods: Vec<Method>,
    pub(crate) many: bool,
    pub(crate) asked: CustomerFields,
}

/// What is wrong, field by field.
#[derive(Default)]
pub(crate) struct Mistakes {
    pub(crate) title: Option<String>,
    pub(crate) price: PriceMistakes,
    pub(crate) reference: Option<String>,
    pub(crate) description: Option<String>,
    pub(crate) expires_at: Option<String>,
    pub(crate) return_url: Option<String>,
    pub(crate) methods: Option<String>,
}

impl Mistakes {
    pub(super) fn any(&self) -> bool {
        let Mistakes { title, price, reference, description, expires_at, return_url, methods } = self;
        let others = [title, reference, description, expires_at, return_url, methods];
        price.any() || others.into_iter().any(Option::is_some)
    }
}

impl Filled {
    /// A form that nobody has filled in: with the project's default methods.
    pub(super) fn fresh(project: &Project) -> Filled {
        Filled { methods: project.usable_defaults(), ..Filled::default() }
    }

    /// Everything of another link but its reference, which belongs to one order, and an expiry that has passed.
    pub(super) fn like(link: Link, project: &Project, now: Timestamp) -> Filled {
        Filled {
            price: PriceFields::like(&link),
            reference: String::new(),
            expires_at: link.expires_at.filter(|at| *at > now).map(input::local_field).unwrap_or_default(),
            methods: link.offered_methods(project),
            many: link.allow_multiple_payments,
            return_url: link.return_url.map(|url| url.as_str().to_owned()).unwrap_or_default(),
            asked: link.customer_fields,
            title: link.title,
            description: link.description,
        }
    }

    pub(super) fn read<'a>(text: impl Fn(&str) -> Option<&'a str>) -> Filled {
        let given = |name: &str| text(name).unwrap_or_default().trim().to_owned();
        let ticked = |name: &str| text(name).is_some();
        Filled {
            title: given("title"),
            price: PriceFields::read(given),
            reference: given("reference"),
            // Browsers send a line break as two characters, but count it as one.
            description: given("description").replace("\r\n", "\n"),
            expires_at: given("expires_at"),
            return_url: given("return_url"),
            methods: every_method().filter(|method| ticked(&method.to_string())).collect(),
            many: ticked("allow_multiple_payments"),
            asked: CustomerFields {
                name: ticked("ask_name"),
                email: ticked("ask_email"),
                phone: ticked("ask_phone"),
                address: ticked("ask_address"),
            },
        }
    }

    /// The methods that customers could choose from: the project's default methods where none is ticked.
    pub(super) fn offered(&self, project: &Project) -> Vec<Method> {
        if self.methods.is_empty() { project.usable_defaults() } else { self.methods.clone() }
    }

    pub(super) fn mistakes(&self, words: Words, project: &Project, now: Timestamp) -> Mistakes {
        let reference = Some(&self.reference).filter(|reference| !reference.is_empty());
        let methods = self.offered(project);
        let stale = methods.iter().any(|method| !project.offers(*method));
        Mistakes {
            title: text_mistake(words, TITLE, &self.title),
            price: self.price.mistakes(words, &methods),
            reference: reference.and_then(|reference| text_mistake(words, REFERENCE, reference)),
            description: text_mistake(words, DESCRIPTION, &self.description),
            expires_at: Some(&self.expires_at).filter(|text| !text.is_empty()).and_then(
                |text| match input::local_time(text) {
                    None => Some(fl!(words, "mistake-time")),
                    Some(at) if at <= now => Some(fl!(words, "link-expires-past")),
                    Some(_) => None,
                },
            ),
            return_url: self.return_url_mistake(words, project),
            methods: (stale || methods.is_empty()).then(|| fl!(words, "link-methods-stale")),
        }
    }

    fn return_url_mistake(&self, words: Words, project: &Project) -> Option<String> {
        let given = Some(&self.return_url).filter(|url| !url.is_empty())?;
        ReturnUrl::check(given.clone(), project.environment).err().map(|_| fl!(words, "link-return-wrong"))
    }

    pub(super) fn request(&self) -> LinkRequest {
        let methods = self.methods.iter().map(|method| MethodRequest {
            kind: Some(method.kind().word().to_owned()),
            bank: method.bank().map(|bank| bank.code().to_owned()),
        });
        let given = |text: &String| Some(text.clone()).filter(|text| !text.is_empty());
        let PricingRequest { amount, quantity_max, amount_min, amount_max } = self.price.request();
        LinkRequest {
            title: given(&self.title),
            amount,
            quantity_max,
            amount_min,
            amount_max,
            return_url: given(&self.return_url),
            reference: given(&self.reference),
            description: given(&self.description),
            expires_at: input::local_time(&self.expires_at).map(|at| at.to_string()),
            methods: Some(methods.collect()),
            allow_multiple_payments: Some(self.many),
            customer_fields: self.asked,
            metadata: None,
        }
    }

    /// The idempotency key of this form: its id and a hash of its fields. A user who goes back and changes a field
    /// wants another link.
    pub(super) fn key(&self, attempt: &str) -> String {
        let Filled { title, price, reference, description, expires_at, return_url, methods, many, asked } = self;
        let choices = format!("{price:?}{methods:?}{many}{asked:?}");
        let mut hasher = Sha256::new();
        for text in [title, reference, description, expires_at, return_url, &choices] {
            hasher.update(text.len().to_be_bytes());
            hasher.update(text);
        }
        let digest: String = hasher.finalize().iter().take(16).map(|byte| format!("{byte:02x}")).collect();
        format!("{attempt} {digest}")
    }
}

/// The mistake of a field that only the engine refused: it names the field, but not what is wrong in words for users.
pub(super) fn by_field(words: Words, invalid: &Invalid) -> Mistakes {
    let why = Some(fl!(words, "mistake-refused"));
    let none = Mistakes::default();
    match invalid.field.as_str() {
        "title" => Mistakes { title: why, ..none },
        "amount" => Mistakes { price: PriceMistakes { amount: why, ..PriceMistakes::default() }, ..none },
        "quantity_max" => Mistakes { price: PriceMistakes { quantity_max: why, ..PriceMistakes::default() }, ..none },
        "amount_min" => Mistakes { price: PriceMistakes { amount_min: why, ..PriceMistakes::default() }, ..none },
        "amount_max" => Mistakes { price: PriceMistakes { amount_max: why, ..PriceMistakes::default() }, ..none },
        "return_url" => Mistakes { return_url: why, ..none },
        "reference" => Mistakes { reference: why, ..none },
        "description" => Mistakes { description: why, ..none },
        "expires_at" => Mistakes { expires_at: why, ..none },
        _ => Mistakes { methods: why, ..none },
    }
}
