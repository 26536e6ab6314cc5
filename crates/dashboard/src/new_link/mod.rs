//! `/dashboard/<project>/links/new`: the form for a payment link. It shows the fees of each method and the customer's page
//! while it is filled in, and creates one link even when it is sent twice.

pub(crate) mod filled;
pub(crate) mod preview;
pub(crate) mod price;
#[cfg(test)]
pub(crate) mod samples;

use askama::Template;
use axum::{
    Router,
    http::StatusCode,
    response::Response,
    routing::{get, post},
};
use domain::{access::Act, customer::CustomerField, id::LinkId};
use engine::Error;
use i18n_embed_fl::fl;
use web::{App, page::page_error::PageError};

use filled::{Filled, Mistakes, by_field};
use preview::Preview;
use price::PriceKind;

use crate::{
    attempt,
    done::Done,
    labels::customer_field_name,
    labels::every_method,
    page::Page,
    session::SignedForm,
    shell::{Section, Shell},
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
    pub(crate) preview: Preview,
    pub(crate) prices: Vec<Choice>,
    pub(crate) methods: Vec<Choice>,
    pub(crate) asked: Vec<Choice>,
}

/// A checkbox.
pub(crate) struct Choice {
    pub(crate) name: String,
    pub(crate) text: String,
    pub(crate) checked: bool,
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
        .route("/dashboard/{project}/links/fees", get(refresh))
}

async fn show(page: Page) -> Result<Response, PageError> {
    page.require(Act::ManageLinks)?;
    let filled = match page.visitor.query.text("from").map_err(|_| Error::NotFound("link"))? {
        Some(id) => {
            let id: LinkId = id.parse().map_err(|_| Error::NotFound("link"))?;
            Filled::like(page.desk.link(id).await?, page.project(), page.now())
        }
        None => Filled::fresh(page.project()),
    };
    let link_form = LinkForm::clean(attempt::fresh(), filled);
    form_page(&page, StatusCode::OK, link_form).await
}

/// The fees and the phone of a form that is being filled in. Nothing is stored.
async fn refresh(page: Page) -> Result<Response, PageError> {
    page.require(Act::ManageLinks)?;
    let filled = Filled::read(|name| page.query(name));
    let preview = Preview::of(&page, &filled);
    Ok(page.render(StatusCode::OK, &preview))
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

async fn form_page(page: &Page, status: StatusCode, link_form: LinkForm) -> Result<Response, PageError> {
    let LinkForm { attempt, filled, mistakes, notice } = link_form;
    let shell = page.shell(Section::Links).await?;
    let (words, project) = (shell.words, page.project());
    let methods = every_method().filter(|method| project.offers(*method)).map(|method| Choice {
        name: method.to_string(),
        text: method.bank().map_or("QRIS", |bank| bank.short_name()).to_owned(),
        checked: filled.methods.contains(&method),
    });
    let asked = CustomerField::ALL.into_iter().map(|field| Choice {
        name: format!("ask_{}", field.word()),
        text: customer_field_name(words, field),
        checked: filled.asked.asks(field),
    });
    let prices = PriceKind::ALL.map(|kind| Choice {
        name: kind.word().to_owned(),
        text: kind.name(words),
        checked: kind == filled.price.kind,
    });
    let view = NewLink {
        base: page.base(),
        attempt,
        preview: Preview::of(page, &filled),
        prices: prices.into(),
        methods: methods.collect(),
        asked: asked.collect(),
        filled,
        mistakes,
        notice,
        shell,
    };
    Ok(page.render(status, &view))
}
