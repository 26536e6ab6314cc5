//! `/dashboard/<project>/settings/refunds`: when a refund waits for a second person.

use askama::Template;
use axum::{Router, http::StatusCode, response::Response, routing::get};
use domain::{access::Act, money::Rupiah, project::Environment, refund_settings::RefundSettings};
use engine::ProjectUpdate;
use i18n_embed_fl::fl;
use web::{
    App,
    page::{form::Form, page_error::PageError},
};

use crate::{
    done::Done,
    input::{self, NoAmount, amount_mistake},
    page::Page,
    session::SignedForm,
    shell::{Section, Shell},
    words::Words,
};

#[derive(Template)]
#[template(path = "settings/refunds.html")]
pub(crate) struct RefundSettingsPage {
    pub(crate) shell: Shell,
    /// `/dashboard/prj_…/settings`.
    pub(crate) base: String,
    /// A member whose role may not change anything sees no form.
    pub(crate) may_configure: bool,
    /// Whether the project has one owner, who then approves what they asked for themselves.
    pub(crate) is_alone: bool,
    /// The amount above which refunds wait for an approval; empty where none do.
    pub(crate) above: String,
    pub(crate) above_mistake: Option<String>,
    pub(crate) key_needs_approval: bool,
    pub(crate) returns_fee: bool,
}

pub(crate) fn routes() -> Router<App> {
    Router::new().route("/dashboard/{project}/settings/refunds", get(show).post(save))
}

async fn show(page: Page) -> Result<Response, PageError> {
    let above = page.project().refunds.approval_above;
    let typed = match page.desk.may(Act::Configure) {
        true => above.map(|above| above.get().to_string()),
        false => above.map(|above| above.to_string()),
    };
    render(&page, StatusCode::OK, typed.unwrap_or_default(), None, needs_approval(&page)).await
}

async fn save(page: Page, SignedForm(form): SignedForm) -> Result<Response, PageError> {
    page.require(Act::Configure)?;
    let typed = form.text("approval_above").unwrap_or_default().trim();
    let by_key = form.text("key_destinations").is_some();
    match above(page.words(), typed) {
        Ok(approval_above) => {
            page.desk.configure(update(&page, &form, approval_above)).await?;
            Ok(page.redirect(page.path("/settings/refunds"), Done::SettingsSaved))
        }
        Err(why) => render(&page, StatusCode::UNPROCESSABLE_ENTITY, typed.to_owned(), Some(why), by_key).await,
    }
}

/// What the form changes; whether fees are given back is not the merchant's to say.
fn update(page: &Page, form: &Form, approval_above: Option<Rupiah>) -> ProjectUpdate {
    let refunds = RefundSettings {
        approval_above,
        key_destination_needs_approval: Some(form.text("key_destinations").is_some()),
        ..page.project().refunds
    };
    ProjectUpdate { refunds: Some(refunds), ..ProjectUpdate::default() }
}

/// The amount above which refunds wait; an empty field is none.
fn above(words: Words, typed: &str) -> Result<Option<Rupiah>, String> {
    match input::rupiah(typed) {
        Ok(amount) if amount < Rupiah::ZERO => Err(amount_mistake(words, NoAmount::NotWhole)),
        Ok(amount) => Ok(Some(amount)),
        Err(NoAmount::Missing) => Ok(None),
        Err(why) => Err(amount_mistake(words, why)),
    }
}

async fn render(
    page: &Page,
    status: StatusCode,
    above: String,
    above_mistake: Option<String>,
    key_needs_approval: bool,
) -> Result<Response, PageError> {
    let mut shell = page.shell(Section::Settings).await?;
    if above_mistake.is_some() {
        shell.warn(fl!(shell.words, "mistake-form"));
    }
    let view = RefundSettingsPage {
        base: page.url(page.path("/settings")),
        may_configure: page.desk.may(Act::Configure),
        is_alone: page.desk.is_only_owner().await?,
        above,
        above_mistake,
        key_needs_approval,
        returns_fee: page.project().refunds.returns_fee,
        shell,
    };
    Ok(page.render(status, &view))
}

/// Whether destinations that are typed with a key wait for an approval, chosen or by default.
fn needs_approval(page: &Page) -> bool {
    let project = page.project();
    let is_production = project.environment == Environment::Production;
    project.refunds.key_destination_needs_approval.unwrap_or(is_production)
}
