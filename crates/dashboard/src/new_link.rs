//! `/dashboard/<project>/links/new`: the form for a payment link. It shows the fees of each method while it is filled
//! in, and creates one link even when it is sent twice.

use askama::Template;
use axum::{
    Router,
    http::StatusCode,
    response::Response,
    routing::{get, post},
};
use domain::{
    access::Act,
    customer::CustomerField,
    fee::FeeSchedule,
    link::CustomerFields,
    method::{Method, MethodKind},
    money::Rupiah,
    orders::{LinkRequest, MethodRequest},
    project::Project,
    rules::{DESCRIPTION, Invalid, REFERENCE, TITLE},
    time::Timestamp,
};
use engine::Error;
use i18n_embed_fl::fl;
use sha2::{Digest, Sha256};
use web::{App, page::page_error::PageError};

use crate::{
    attempt,
    done::Done,
    input::{self, NoAmount, amount_mistake, text_mistake},
    labels::{customer_field_name, every_method, method_name},
    page::Page,
    session::SignedForm,
    shell::{Section, Shell},
    words::Words,
};

/// The page with the form.
#[derive(Template)]
#[template(path = "new_link.html")]
pub(crate) struct NewLink {
    pub(crate) shell: Shell,
    pub(crate) base: String,
    pub(crate) attempt: String,
    pub(crate) filled: Filled,
    pub(crate) mistakes: Mistakes,
    pub(crate) notice: Option<String>,
    pub(crate) fees: Fees,
    pub(crate) methods: Vec<Choice>,
    pub(crate) asked: Vec<Choice>,
}

/// The fees alone, which the page's script fetches while the form is filled in.
#[derive(Template)]
#[template(path = "link_fees.html")]
pub(crate) struct FeesOnly {
    pub(crate) fees: Fees,
}

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

/// A checkbox.
pub(crate) struct Choice {
    pub(crate) name: String,
    pub(crate) text: String,
    pub(crate) checked: bool,
}

/// The fields as they were filled in.
#[derive(Clone, Default)]
pub(crate) struct Filled {
    pub(crate) title: String,
    pub(crate) amount: String,
    pub(crate) reference: String,
    pub(crate) description: String,
    pub(crate) expires_at: String,
    pub(crate) methods: Vec<Method>,
    pub(crate) many: bool,
    pub(crate) asked: CustomerFields,
}

/// What is wrong, field by field.
#[derive(Default)]
pub(crate) struct Mistakes {
    pub(crate) title: Option<String>,
    pub(crate) amount: Option<String>,
    pub(crate) reference: Option<String>,
    pub(crate) description: Option<String>,
    pub(crate) expires_at: Option<String>,
    pub(crate) methods: Option<String>,
}

impl Mistakes {
    fn any(&self) -> bool {
        let Mistakes { title, amount, reference, description, expires_at, methods } = self;
        [title, amount, reference, description, expires_at, methods].into_iter().any(Option::is_some)
    }
}

/// The form as it is shown.
struct LinkForm {
    attempt: String,
    filled: Filled,
    mistakes: Mistakes,
    notice: Option<String>,
}

impl LinkForm {
    /// A form without mistakes.
    fn clean(attempt: String, filled: Filled) -> LinkForm {
        LinkForm { attempt, filled, mistakes: Mistakes::default(), notice: None }
    }
}

pub(crate) fn routes() -> Router<App> {
    Router::new()
        .route("/dashboard/{project}/links", post(create))
        .route("/dashboard/{project}/links/new", get(show))
        .route("/dashboard/{project}/links/fees", get(preview))
}

impl Filled {
    fn read<'a>(text: impl Fn(&str) -> Option<&'a str>) -> Filled {
        let given = |name: &str| text(name).unwrap_or_default().trim().to_owned();
        let ticked = |name: &str| text(name).is_some();
        Filled {
            title: given("title"),
            amount: given("amount"),
            reference: given("reference"),
            // Browsers send a line break as two characters, but count it as one.
            description: given("description").replace("\r\n", "\n"),
            expires_at: given("expires_at"),
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
    fn offered(&self, project: &Project) -> Vec<Method> {
        if self.methods.is_empty() { project.usable_defaults() } else { self.methods.clone() }
    }

    fn mistakes(&self, words: Words, project: &Project, now: Timestamp) -> Mistakes {
        let reference = Some(&self.reference).filter(|reference| !reference.is_empty());
        let methods = self.offered(project);
        let stale = methods.iter().any(|method| !project.offers(*method));
        Mistakes {
            title: text_mistake(words, TITLE, &self.title),
            amount: input::rupiah(&self.amount)
                .map_or_else(|why| Some(amount_mistake(words, why)), |amount| below_floor(words, &methods, amount)),
            reference: reference.and_then(|reference| text_mistake(words, REFERENCE, reference)),
            description: text_mistake(words, DESCRIPTION, &self.description),
            expires_at: Some(&self.expires_at).filter(|text| !text.is_empty()).and_then(
                |text| match input::local_time(text) {
                    None => Some(fl!(words, "mistake-time")),
                    Some(at) if at <= now => Some(fl!(words, "link-expires-past")),
                    Some(_) => None,
                },
            ),
            methods: (stale || methods.is_empty()).then(|| fl!(words, "link-methods-stale")),
        }
    }

    fn request(&self) -> LinkRequest {
        let methods = self.methods.iter().map(|method| MethodRequest {
            kind: Some(method.kind().word().to_owned()),
            bank: method.bank().map(|bank| bank.code().to_owned()),
        });
        let given = |text: &String| Some(text.clone()).filter(|text| !text.is_empty());
        LinkRequest {
            title: given(&self.title),
            amount: input::rupiah(&self.amount).ok().map(Rupiah::get),
            reference: given(&self.reference),
            description: given(&self.description),
            expires_at: input::local_time(&self.expires_at).map(|at| at.to_string()),
            methods: Some(methods.collect()),
            allow_multiple_payments: Some(self.many),
            customer_fields: self.asked,
            ..LinkRequest::default()
        }
    }

    /// The idempotency key of this form: its id and a hash of its fields. A user who goes back and changes a field
    /// wants another link.
    fn key(&self, attempt: &str) -> String {
        let Filled { title, amount, reference, description, expires_at, methods, many, asked } = self;
        let choices = format!("{methods:?}{many}{asked:?}");
        let mut hasher = Sha256::new();
        for text in [title, amount, reference, description, expires_at, &choices] {
            hasher.update(text.len().to_be_bytes());
            hasher.update(text);
        }
        let digest: String = hasher.finalize().iter().take(16).map(|byte| format!("{byte:02x}")).collect();
        format!("{attempt} {digest}")
    }
}

/// The mistake of an amount that is below the minimum of one of the methods.
fn below_floor(words: Words, methods: &[Method], amount: Rupiah) -> Option<String> {
    let highest = methods.iter().map(|method| method.kind()).max_by_key(|kind| kind.floor())?;
    (amount < highest.floor()).then(|| {
        let floor = highest.floor().to_string();
        match highest {
            MethodKind::Qris => fl!(words, "link-floor-qris", floor = floor),
            MethodKind::VirtualAccount => fl!(words, "link-floor-account", floor = floor),
        }
    })
}

fn fees(words: Words, schedule: FeeSchedule, project: &Project, filled: &Filled) -> Fees {
    let methods = filled.offered(project);
    let amount = match input::rupiah(&filled.amount) {
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
    Fees { words, rows: rows.collect(), note: below_floor(words, &methods, amount) }
}

async fn show(page: Page) -> Result<Response, PageError> {
    page.require(Act::ManageLinks)?;
    let link_form = LinkForm::clean(attempt::fresh(), Filled::default());
    form_page(&page, StatusCode::OK, link_form).await
}

/// The fees of a form that is being filled in. Nothing is stored.
async fn preview(page: Page) -> Result<Response, PageError> {
    page.require(Act::ManageLinks)?;
    let filled = Filled::read(|name| page.query(name));
    let words = page.words();
    let fees = fees(words, page.desk.fees(), page.project(), &filled);
    Ok(page.render(StatusCode::OK, &FeesOnly { fees }))
}

async fn create(page: Page, SignedForm(form): SignedForm) -> Result<Response, PageError> {
    page.require(Act::ManageLinks)?;
    let filled = Filled::read(|name| form.text(name));
    let attempt = attempt::sent(form.text("attempt"));
    let words = page.words();
    if form.text("preview").is_some() {
        return form_page(&page, StatusCode::OK, LinkForm::clean(attempt, filled)).await;
    }
    let key = filled.key(&attempt);
    let mistakes = filled.mistakes(words, page.project(), page.now());
    let (status, mistakes, notice) = if mistakes.any() {
        (StatusCode::UNPROCESSABLE_ENTITY, mistakes, fl!(words, "mistake-form"))
    } else {
        match page.desk.create_link(&key, filled.request()).await {
            Ok(link) => {
                return Ok(page.redirect(page.path(&format!("/links/{}", link.id)), Done::LinkCreated));
            }
            Err(Error::Invalid(invalid)) => {
                (StatusCode::UNPROCESSABLE_ENTITY, by_field(words, &invalid), fl!(words, "mistake-form"))
            }
            Err(Error::ProjectUnusable) => (StatusCode::CONFLICT, Mistakes::default(), fl!(words, "link-unusable")),
            Err(error) => return Err(error.into()),
        }
    };
    form_page(&page, status, LinkForm { attempt, filled, mistakes, notice: Some(notice) }).await
}

/// The mistake of a field that only the engine refused: it names the field, but not what is wrong in words for users.
fn by_field(words: Words, invalid: &Invalid) -> Mistakes {
    let why = Some(fl!(words, "mistake-refused"));
    let none = Mistakes::default();
    match invalid.field.as_str() {
        "title" => Mistakes { title: why, ..none },
        "amount" => Mistakes { amount: why, ..none },
        "reference" => Mistakes { reference: why, ..none },
        "description" => Mistakes { description: why, ..none },
        "expires_at" => Mistakes { expires_at: why, ..none },
        _ => Mistakes { methods: why, ..none },
    }
}

async fn form_page(page: &Page, status: StatusCode, link_form: LinkForm) -> Result<Response, PageError> {
    let LinkForm { attempt, filled, mistakes, notice } = link_form;
    let shell = page.shell(Section::Links).await?;
    let (words, project) = (shell.words, page.project());
    let methods = every_method().filter(|method| project.offers(*method)).map(|method| Choice {
        name: method.to_string(),
        text: method_name(words, method),
        checked: filled.methods.contains(&method),
    });
    let asked = CustomerField::ALL.into_iter().map(|field| Choice {
        name: format!("ask_{}", field.word()),
        text: customer_field_name(words, field),
        checked: filled.asked.asks(field),
    });
    let view = NewLink {
        base: page.base(),
        attempt,
        fees: fees(words, page.desk.fees(), project, &filled),
        methods: methods.collect(),
        asked: asked.collect(),
        filled,
        mistakes,
        notice,
        shell,
    };
    Ok(page.render(status, &view))
}
