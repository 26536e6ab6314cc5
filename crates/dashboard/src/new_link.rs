//! Making a payment link: a form that shows what each way to pay costs while it is filled in, and makes one link however often it
//! is sent.

use askama::Template;
use axum::{Router, extract::State, http::StatusCode, response::Response, routing::get};
use domain::{
    access::Act,
    bank::Bank,
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
use web::{
    App,
    page::{page_error::PageError, render::page, visitor::Visitor},
};

use crate::{
    done::Done,
    fragment::method_name,
    links::field_name,
    session::{AtDesk, SignedForm},
    shell::{self, Section, Shell},
    typed::{self, NoAmount, known_form, only_for, text_mistake},
    words::Words,
};

/// The form.
#[derive(Template)]
#[template(path = "new_link.html")]
pub(super) struct NewLink {
    pub(super) shell: Shell,
    pub(super) base: String,
    pub(super) attempt: String,
    pub(super) filled: Filled,
    pub(super) mistakes: Mistakes,
    pub(super) notice: Option<String>,
    pub(super) fees: Fees,
    pub(super) methods: Vec<Choice>,
    pub(super) asked: Vec<Choice>,
}

/// What each way to pay costs, alone: what a form that is being filled in asks for.
#[derive(Template)]
#[template(path = "link_fees.html")]
pub(super) struct FeesOnly {
    pub(super) fees: Fees,
}

pub(super) struct Fees {
    pub(super) words: Words,
    pub(super) rows: Vec<FeeRow>,
    /// Why there are no rows, or what is wrong with the amount.
    pub(super) note: Option<String>,
}

pub(super) struct FeeRow {
    pub(super) method: String,
    pub(super) customer_pays: String,
    pub(super) fee: String,
    pub(super) you_receive: String,
}

/// A box to tick.
pub(super) struct Choice {
    pub(super) name: String,
    pub(super) text: String,
    pub(super) checked: bool,
}

/// What was typed, as it was typed.
#[derive(Clone, Default)]
pub(super) struct Filled {
    pub(super) title: String,
    pub(super) amount: String,
    pub(super) reference: String,
    pub(super) description: String,
    pub(super) expires_at: String,
    pub(super) methods: Vec<Method>,
    pub(super) many: bool,
    pub(super) asked: CustomerFields,
}

/// What is wrong, field by field.
#[derive(Default)]
pub(super) struct Mistakes {
    pub(super) title: Option<String>,
    pub(super) amount: Option<String>,
    pub(super) reference: Option<String>,
    pub(super) description: Option<String>,
    pub(super) expires_at: Option<String>,
    pub(super) methods: Option<String>,
}

impl Mistakes {
    fn any(&self) -> bool {
        let Mistakes { title, amount, reference, description, expires_at, methods } = self;
        [title, amount, reference, description, expires_at, methods].into_iter().any(Option::is_some)
    }
}

/// The form as it goes out or comes back.
struct Sheet {
    attempt: String,
    filled: Filled,
    mistakes: Mistakes,
    notice: Option<String>,
}

impl Sheet {
    /// One without anything to complain about.
    fn clean(attempt: String, filled: Filled) -> Sheet {
        Sheet { attempt, filled, mistakes: Mistakes::default(), notice: None }
    }
}

pub(super) fn routes() -> Router<App> {
    Router::new()
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
            // Browsers send two characters for a line break, and count one.
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

    /// What customers could choose from; nothing ticked means the project's usual ways.
    fn offered(&self, project: &Project) -> Vec<Method> {
        if self.methods.is_empty() { project.usable_defaults() } else { self.methods.clone() }
    }

    fn mistakes(&self, words: Words, project: &Project, now: Timestamp) -> Mistakes {
        let reference = Some(&self.reference).filter(|reference| !reference.is_empty());
        let methods = self.offered(project);
        let stale = methods.iter().any(|method| !project.offers(*method));
        Mistakes {
            title: text_mistake(words, TITLE, &self.title),
            amount: typed::rupiah(&self.amount)
                .map_or_else(|why| Some(no_amount(words, why)), |amount| below_floor(words, &methods, amount)),
            reference: reference.and_then(|reference| text_mistake(words, REFERENCE, reference)),
            description: text_mistake(words, DESCRIPTION, &self.description),
            expires_at: Some(&self.expires_at).filter(|text| !text.is_empty()).and_then(|text| {
                match typed::moment(text) {
                    None => Some(fl!(words, "typed-moment")),
                    Some(at) if at <= now => Some(fl!(words, "link-expires-past")),
                    Some(_) => None,
                }
            }),
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
            amount: typed::rupiah(&self.amount).ok().map(Rupiah::get),
            reference: given(&self.reference),
            description: given(&self.description),
            expires_at: typed::moment(&self.expires_at).map(|at| at.to_string()),
            methods: Some(methods.collect()),
            allow_multiple_payments: Some(self.many),
            customer_fields: self.asked,
        }
    }

    /// What this filling-in is known by: the form, and what was typed. Whoever goes back and changes something means another link.
    fn known_by(&self, attempt: &str) -> String {
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

fn every_method() -> impl Iterator<Item = Method> {
    std::iter::once(Method::Qris).chain(Bank::ALL.into_iter().map(Method::VirtualAccount))
}

fn no_amount(words: Words, why: NoAmount) -> String {
    match why {
        NoAmount::Missing => fl!(words, "typed-missing"),
        NoAmount::NotWhole => fl!(words, "typed-amount"),
        NoAmount::TooLarge => {
            let most = Rupiah::MAX.to_string();
            fl!(words, "typed-amount-large", most = most)
        }
    }
}

/// A sentence for the highest floor that an amount does not reach.
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
    let amount = match typed::rupiah(&filled.amount) {
        Ok(amount) => amount,
        Err(NoAmount::Missing) => {
            return Fees { words, rows: Vec::new(), note: Some(fl!(words, "link-fees-none")) };
        }
        Err(why) => return Fees { words, rows: Vec::new(), note: Some(no_amount(words, why)) },
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

async fn show(State(app): State<App>, visitor: Visitor, at: AtDesk) -> Result<Response, PageError> {
    only_for(&at.desk, Act::ManageLinks)?;
    let sheet = Sheet::clean(typed::fresh_form(), Filled::default());
    form_page(&app, &visitor, &at, StatusCode::OK, sheet).await
}

/// What a form that is being filled in would cost. Nothing is kept of it.
async fn preview(visitor: Visitor, at: AtDesk) -> Result<Response, PageError> {
    only_for(&at.desk, Act::ManageLinks)?;
    let filled = Filled::read(|name| visitor.query.text(name).ok().flatten());
    let words = crate::words::words(visitor.language);
    let fees = fees(words, at.desk.fees(), at.desk.project(), &filled);
    Ok(page(StatusCode::OK, &FeesOnly { fees }))
}

pub(super) async fn create(
    State(app): State<App>,
    visitor: Visitor,
    at: AtDesk,
    SignedForm(form): SignedForm,
) -> Result<Response, PageError> {
    only_for(&at.desk, Act::ManageLinks)?;
    let filled = Filled::read(|name| form.text(name));
    let attempt = known_form(form.text("attempt"));
    let words = crate::words::words(visitor.language);
    if form.text("preview").is_some() {
        return form_page(&app, &visitor, &at, StatusCode::OK, Sheet::clean(attempt, filled)).await;
    }
    let known_by = filled.known_by(&attempt);
    let mistakes = filled.mistakes(words, at.desk.project(), app.engine.now());
    let (status, mistakes, notice) = if mistakes.any() {
        (StatusCode::UNPROCESSABLE_ENTITY, mistakes, fl!(words, "typed-look"))
    } else {
        match at.desk.create_link(&known_by, filled.request()).await {
            Ok(link) => {
                let path = format!("/dashboard/{}/links/{}", link.project_id, link.id);
                return Ok(Done::LinkCreated.leading_to(&app, path));
            }
            Err(Error::Invalid(invalid)) => {
                (StatusCode::UNPROCESSABLE_ENTITY, by_field(words, &invalid), fl!(words, "typed-look"))
            }
            Err(Error::ProjectUnusable) => (StatusCode::CONFLICT, Mistakes::default(), fl!(words, "link-unusable")),
            Err(error) => return Err(error.into()),
        }
    };
    form_page(&app, &visitor, &at, status, Sheet { attempt, filled, mistakes, notice: Some(notice) }).await
}

/// A rule that only the engine knows: the field is named, and what is wrong with it is not.
fn by_field(words: Words, invalid: &Invalid) -> Mistakes {
    let why = Some(fl!(words, "typed-malformed"));
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

async fn form_page(
    app: &App,
    visitor: &Visitor,
    at: &AtDesk,
    status: StatusCode,
    sheet: Sheet,
) -> Result<Response, PageError> {
    let Sheet { attempt, filled, mistakes, notice } = sheet;
    let shell = shell::at_desk(app, visitor, at, Section::Links).await?;
    let (words, project) = (shell.words, at.desk.project());
    let methods = every_method().filter(|method| project.offers(*method)).map(|method| Choice {
        name: method.to_string(),
        text: method_name(words, method),
        checked: filled.methods.contains(&method),
    });
    let asked = CustomerField::ALL.into_iter().map(|field| Choice {
        name: format!("ask_{}", field.word()),
        text: field_name(words, field),
        checked: filled.asked.asks(field),
    });
    let view = NewLink {
        base: shell::base(app, project),
        attempt,
        fees: fees(words, at.desk.fees(), project, &filled),
        methods: methods.collect(),
        asked: asked.collect(),
        filled,
        mistakes,
        notice,
        shell,
    };
    Ok(page(status, &view))
}
