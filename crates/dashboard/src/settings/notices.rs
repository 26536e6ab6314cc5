//! `/dashboard/<project>/settings/notices`: the URL that notices of the project go to, what goes there, and the secret that signs it.

use askama::Template;
use axum::{Router, http::StatusCode, response::Response, routing::get};
use domain::{access::Act, language::Language, letter::SummaryPeriod};
use engine::{Error, NoticeSettings};
use i18n_embed_fl::fl;
use secrecy::ExposeSecret;
use web::{
    App,
    page::{form::Form, moment::Moment, page_error::PageError},
};

use crate::{
    done::Done,
    notifications::{url::refusal_sentence, view::ShownSecret},
    page::Page,
    session::SignedForm,
    shell::{Section, Shell},
    words::code,
};

const PATH: &str = "/settings/notices";

#[derive(Template)]
#[template(path = "settings/notices.html")]
pub(crate) struct NoticesPage {
    pub(crate) shell: Shell,
    /// `/dashboard/prj_…/settings`.
    pub(crate) base: String,
    /// None for a member whose role may not change anything: receipts with what customers have left go there.
    pub(crate) form: Option<NoticeForm>,
    /// The secret, where it was just made.
    pub(crate) secret: Option<ShownSecret>,
}

/// What can be set, filled in.
pub(crate) struct NoticeForm {
    /// Whether the project has a URL.
    pub(crate) has_url: bool,
    pub(crate) url: String,
    pub(crate) mistake: Option<String>,
    /// `id` or `en`.
    pub(crate) chosen_language: &'static str,
    /// `daily`, `weekly`, or nothing.
    pub(crate) summary: &'static str,
    pub(crate) sends_receipts: bool,
    /// Until when notices are signed with the previous secret as well; replacing the secret again ends that at once.
    pub(crate) previous_until: Option<Moment>,
}

pub(crate) fn routes() -> Router<App> {
    Router::new()
        .route("/dashboard/{project}/settings/notices", get(show).post(save))
        .route("/dashboard/{project}/settings/notices/secret", get(show).post(rotate))
        .route("/dashboard/{project}/settings/notices/remove", get(show).post(remove))
        .route("/dashboard/{project}/settings/notices/test", get(show).post(test))
}

async fn show(page: Page) -> Result<Response, PageError> {
    let form = if page.desk.may(Act::Configure) { Some(filled(&page).await?) } else { None };
    render(&page, StatusCode::OK, form, None).await
}

async fn render(
    page: &Page,
    status: StatusCode,
    form: Option<NoticeForm>,
    secret: Option<ShownSecret>,
) -> Result<Response, PageError> {
    let mut shell = page.shell(Section::Settings).await?;
    if status != StatusCode::OK {
        shell.warn(fl!(shell.words, "mistake-form"));
    }
    Ok(page.render(status, &NoticesPage { base: page.url(page.path("/settings")), form, secret, shell }))
}

async fn filled(page: &Page) -> Result<NoticeForm, Error> {
    Ok(match page.desk.notice_target().await? {
        None => NoticeForm {
            has_url: false,
            url: String::new(),
            mistake: None,
            chosen_language: code(Language::Indonesian),
            summary: "",
            sends_receipts: false,
            previous_until: None,
        },
        Some(shown) => NoticeForm {
            has_url: true,
            url: shown.url.unwrap_or_default(),
            mistake: None,
            chosen_language: code(shown.target.language),
            summary: shown.target.summary.map_or("", SummaryPeriod::word),
            sends_receipts: shown.target.sends_receipts,
            previous_until: shown.rotating_until.map(|until| page.moment(until)),
        },
    })
}

fn settings(form: &Form) -> NoticeSettings {
    NoticeSettings {
        url: form.text("url").unwrap_or_default().trim().to_owned(),
        language: if form.text("language") == Some("en") { Language::English } else { Language::Indonesian },
        sends_receipts: form.text("receipts").is_some(),
        summary: form.text("summary").and_then(SummaryPeriod::parse),
    }
}

async fn save(page: Page, SignedForm(form): SignedForm) -> Result<Response, PageError> {
    page.require(Act::Configure)?;
    let (words, settings) = (page.words(), settings(&form));
    let mistake = if settings.url.is_empty() {
        fl!(words, "mistake-empty")
    } else {
        match page.desk.set_notice_target(settings.clone()).await {
            Ok(None) => return Ok(page.redirect(page.path(PATH), Done::SettingsSaved)),
            Ok(Some(secret)) => {
                let secret = ShownSecret {
                    title: fl!(words, "notices-secret-new"),
                    text: fl!(words, "notices-secret-once"),
                    value: secret.expose_secret().to_owned(),
                };
                return render(&page, StatusCode::OK, Some(filled(&page).await?), Some(secret)).await;
            }
            Err(Error::Invalid(_)) => refusal_sentence(&page, &settings.url).await?,
            Err(error) => return Err(error.into()),
        }
    };
    let form = NoticeForm {
        url: settings.url,
        mistake: Some(mistake),
        chosen_language: code(settings.language),
        summary: settings.summary.map_or("", SummaryPeriod::word),
        sends_receipts: settings.sends_receipts,
        ..filled(&page).await?
    };
    render(&page, StatusCode::UNPROCESSABLE_ENTITY, Some(form), None).await
}

async fn rotate(page: Page, SignedForm(form): SignedForm) -> Result<Response, PageError> {
    page.require(Act::Configure)?;
    match page.desk.rotate_notice_secret(form.text("at_once").is_some()).await {
        Ok((secret, until)) => {
            let (words, until) = (page.words(), page.moment(until).text);
            let secret = ShownSecret {
                title: fl!(words, "notices-secret-new"),
                text: fl!(words, "notices-secret-rolled", until = until),
                value: secret.expose_secret().to_owned(),
            };
            render(&page, StatusCode::OK, Some(filled(&page).await?), Some(secret)).await
        }
        Err(Error::StillRotating { .. }) => render(&page, StatusCode::CONFLICT, Some(filled(&page).await?), None).await,
        Err(error) => Err(error.into()),
    }
}

async fn remove(page: Page, SignedForm(_): SignedForm) -> Result<Response, PageError> {
    page.desk.remove_notice_target().await?;
    Ok(page.redirect(page.path(PATH), Done::UrlRemoved))
}

async fn test(page: Page, SignedForm(_): SignedForm) -> Result<Response, PageError> {
    page.desk.test_notice().await?;
    Ok(page.redirect(page.path(PATH), Done::NoticeTested))
}
