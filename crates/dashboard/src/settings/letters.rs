//! `/dashboard/<project>/settings/letters`: whether customers get receipts, and the letters about the project.

use askama::Template;
use axum::{Router, http::StatusCode, response::Response, routing::get};
use domain::{access::Act, project::Environment};
use i18n_embed_fl::fl;
use web::{App, page::page_error::PageError};

use crate::{
    done::Done,
    letters::{LetterList, row},
    page::Page,
    session::SignedForm,
    shell::{Section, Shell},
    table::PageNumber,
};

#[derive(Template)]
#[template(path = "settings/letters.html")]
pub(crate) struct ProjectLettersPage {
    pub(crate) shell: Shell,
    /// `/dashboard/prj_…/settings`.
    pub(crate) base: String,
    pub(crate) has_mail: bool,
    pub(crate) sends_receipts: bool,
    /// A sandbox writes to its members alone.
    pub(crate) is_sandbox: bool,
    /// None for a member whose role may not change anything: letters name customers and members.
    pub(crate) list: Option<LetterList>,
}

pub(crate) fn routes() -> Router<App> {
    Router::new().route("/dashboard/{project}/settings/letters", get(show).post(save))
}

async fn show(page: Page) -> Result<Response, PageError> {
    let shell = page.shell(Section::Settings).await?;
    let list = if page.desk.may(Act::Configure) { Some(list(&page).await?) } else { None };
    let view = ProjectLettersPage {
        base: page.url(page.path("/settings")),
        has_mail: page.desk.has_mail(),
        sends_receipts: page.desk.sends_receipts().await?,
        is_sandbox: page.desk.project().environment == Environment::Sandbox,
        list,
        shell,
    };
    Ok(page.render(StatusCode::OK, &view))
}

async fn list(page: &Page) -> Result<LetterList, PageError> {
    let number = PageNumber::of(page);
    let listed = page.desk.letters(number.window()).await?;
    let paging = number.paging(page, &page.path("/settings/letters"), "", &listed);
    Ok(LetterList { rows: listed.items.into_iter().map(|shown| row(page, shown, None)).collect(), paging })
}

async fn save(page: Page, SignedForm(form): SignedForm) -> Result<Response, PageError> {
    page.require(Act::Configure)?;
    page.desk.switch_receipts(form.text("receipts").is_some()).await?;
    Ok(page.redirect(page.path("/settings/letters"), Done::SettingsSaved))
}
