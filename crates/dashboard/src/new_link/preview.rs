//! What the form for a payment link shows while it is filled in: the fees, and the customer's page as a phone shows it.

use askama::Template;
use domain::{
    customer::CustomerField,
    fee::FeeSchedule,
    method::Method,
    project::{Environment, Project},
};
use i18n_embed_fl::fl;

use super::{
    filled::Filled,
    price::{PriceKind, below_highest},
};
use crate::{
    input::{self, NoAmount, amount_mistake},
    labels::{customer_field_name, method_name},
    logo::ShownLogo,
    page::Page,
    words::Words,
};

/// The fees and the phone alone, which the page's script fetches while the form is filled in.
#[derive(Template)]
#[template(path = "new_link/preview.html")]
pub(crate) struct Preview {
    pub(crate) fees: Fees,
    pub(crate) phone: Phone,
}

/// The page that customers would see, in the language of the merchant.
#[derive(Template)]
#[template(path = "new_link/preview/phone.html")]
pub(crate) struct Phone {
    pub(crate) words: Words,
    pub(crate) is_sandbox: bool,
    pub(crate) shop: String,
    /// The first letter of the shop's name, in place of a logo.
    pub(crate) initial: String,
    pub(crate) logo: Option<ShownLogo>,
    /// None while it is not filled in, or not valid.
    pub(crate) amount: Option<String>,
    /// What the customer chooses about the amount, in words; none where it is fixed.
    pub(crate) choice: Option<String>,
    pub(crate) title: String,
    pub(crate) description: String,
    pub(crate) reference: String,
    pub(crate) methods: Vec<PhoneMethod>,
    pub(crate) asked: Vec<String>,
}

pub(crate) struct PhoneMethod {
    /// One word in place of a logo.
    pub(crate) mark: String,
    pub(crate) name: &'static str,
}

/// What the merchant receives by each method.
#[derive(Template)]
#[template(path = "new_link/preview/fees.html")]
pub(crate) struct Fees {
    pub(crate) words: Words,
    pub(crate) rows: Vec<FeeRow>,
    /// Why there are no rows, or what is wrong with the amount.
    pub(crate) note: Option<String>,
}

pub(crate) struct FeeRow {
    pub(crate) method: String,
    pub(crate) customer_pays: String,
    pub(crate) fee: String,
    pub(crate) you_receive: String,
}

impl Preview {
    pub(super) fn of(page: &Page, filled: &Filled) -> Preview {
        Preview { fees: fees(page.words(), page.desk.fees(), page.project(), filled), phone: phone(page, filled) }
    }
}

fn phone(page: &Page, filled: &Filled) -> Phone {
    let (words, project) = (page.words(), page.project());
    let shop = project.merchant.name.clone();
    let asked = CustomerField::ALL.into_iter().filter(|field| filled.asked.asks(*field));
    Phone {
        words,
        is_sandbox: project.environment == Environment::Sandbox,
        initial: shop.chars().next().map(|letter| letter.to_uppercase().to_string()).unwrap_or_default(),
        shop,
        logo: ShownLogo::of(page),
        amount: shown_amount(filled),
        choice: choice(words, filled),
        title: filled.title.clone(),
        description: filled.description.clone(),
        reference: filled.reference.clone(),
        methods: filled.offered(project).into_iter().map(phone_method).collect(),
        asked: asked.map(|field| customer_field_name(words, field)).collect(),
    }
}

/// The amount in large letters: for one piece, where the customer chooses how many, and none where the customer types it.
fn shown_amount(filled: &Filled) -> Option<String> {
    let is_typed = filled.price.kind == PriceKind::Open;
    input::rupiah(&filled.price.amount).ok().filter(|_| !is_typed).map(|amount| amount.to_string())
}

fn choice(words: Words, filled: &Filled) -> Option<String> {
    let price = &filled.price;
    match price.kind {
        PriceKind::Fixed => None,
        PriceKind::PerPiece => Some(fl!(words, "preview-quantity", most = price.quantity_max.as_str())),
        PriceKind::Open => {
            Some(fl!(words, "preview-amount", least = price.amount_min.as_str(), most = price.amount_max.as_str()))
        }
    }
}

fn phone_method(method: Method) -> PhoneMethod {
    let Some(bank) = method.bank() else { return PhoneMethod { mark: "QR".to_owned(), name: "QRIS" } };
    PhoneMethod { mark: bank.mark(), name: bank.name() }
}

fn fees(words: Words, schedule: FeeSchedule, project: &Project, filled: &Filled) -> Fees {
    let methods = filled.offered(project);
    let amount = match input::rupiah(filled.price.least()) {
        Ok(amount) => amount,
        Err(NoAmount::Missing) => {
            return Fees { words, rows: Vec::new(), note: Some(fl!(words, "link-fees-none")) };
        }
        Err(why) => return Fees { words, rows: Vec::new(), note: Some(amount_mistake(words, why)) },
    };
    let taken = methods.iter().filter(|method| amount >= method.kind().floor());
    let rows = taken.map(|method| {
        let preview = schedule.preview(*method, amount);
        FeeRow {
            method: method_name(words, *method),
            customer_pays: preview.customer_amount.to_string(),
            fee: preview.fee.to_string(),
            you_receive: preview.merchant_net.to_string(),
        }
    });
    Fees {
        words,
        rows: rows.collect(),
        note: below_highest(words, &methods, amount).or_else(|| which_amount(words, filled)),
    }
}

/// Which of several amounts the fees are for.
fn which_amount(words: Words, filled: &Filled) -> Option<String> {
    match filled.price.kind {
        PriceKind::Fixed => None,
        PriceKind::PerPiece => Some(fl!(words, "link-fees-piece")),
        PriceKind::Open => Some(fl!(words, "link-fees-least")),
    }
}
