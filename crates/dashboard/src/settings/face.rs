//! `/dashboard/<project>/settings/face`: what customers see of a shop besides its name. Its logo, its colour, and how it
//! can be reached; one form for each.

use askama::Template;
use axum::{Router, http::StatusCode, response::Response, routing::get};
use domain::{
    access::Act,
    colour::Colour,
    face::{Contacts, Face, Palette, email_address, phone_number, whatsapp_number},
};
use engine::{LogoError, ProjectUpdate, addresses};
use i18n_embed_fl::fl;
use web::{
    App,
    page::{
        form::Form,
        page_error::PageError,
        upload::{FILE_BYTES_MOST, UploadedFile},
    },
};

use crate::{
    done::Done,
    logo::ShownLogo,
    page::Page,
    session::{SignedForm, SignedUpload},
    shell::{Section, Shell},
    words::Words,
};

/// The colour that the form offers to those who have none yet: that of our own pages.
const FIRST_COLOUR: Colour = Colour::new(0x0b, 0x64, 0x53);
const BYTES_PER_KILOBYTE: usize = 1_024;

#[derive(Template)]
#[template(path = "settings/face.html")]
pub(crate) struct FacePage {
    pub(crate) shell: Shell,
    /// `/dashboard/prj_…/settings`.
    pub(crate) base: String,
    /// A member whose role may not change anything sees no forms.
    pub(crate) may_configure: bool,
    pub(crate) logo: Option<ShownLogo>,
    pub(crate) logo_hint: String,
    pub(crate) logo_mistake: Option<String>,
    pub(crate) colour: ColourForm,
    pub(crate) contacts: ContactsForm,
}

pub(crate) struct ColourForm {
    /// Whether the shop has a colour of its own.
    pub(crate) is_own: bool,
    /// What the field contains, as `#rrggbb`.
    pub(crate) asked: String,
    pub(crate) mistake: Option<String>,
    /// What pages show; none for a shop without a colour of its own.
    pub(crate) used: Option<UsedColours>,
}

/// The saved colour beside what became of it.
pub(crate) struct UsedColours {
    pub(crate) swatches: Vec<Swatch>,
    /// Whether a theme shows another colour than the merchant asked for.
    pub(crate) is_adjusted: bool,
}

pub(crate) struct Swatch {
    pub(crate) label: String,
    pub(crate) colour: String,
}

#[derive(Default)]
pub(crate) struct ContactsForm {
    pub(crate) whatsapp: ContactField,
    pub(crate) phone: ContactField,
    pub(crate) email: ContactField,
    pub(crate) site: ContactField,
}

#[derive(Default)]
pub(crate) struct ContactField {
    pub(crate) text: String,
    pub(crate) mistake: Option<String>,
}

pub(crate) fn routes() -> Router<App> {
    // A user whose session has ended signs in at the form's address, and then sees the page there.
    Router::new()
        .route("/dashboard/{project}/settings/face", get(show))
        .route("/dashboard/{project}/settings/face/logo", get(show).post(save_logo))
        .route("/dashboard/{project}/settings/face/colour", get(show).post(save_colour))
        .route("/dashboard/{project}/settings/face/contacts", get(show).post(save_contacts))
}

async fn show(page: Page) -> Result<Response, PageError> {
    face_page(&page, StatusCode::OK, |_| {}).await
}

async fn save_logo(page: Page, SignedUpload(upload): SignedUpload) -> Result<Response, PageError> {
    page.require(Act::Configure)?;
    let words = page.words();
    let read = match upload.file {
        UploadedFile::Whole(file) => {
            page.app.engine.read_logo(file).await?.map(Some).map_err(|error| why(words, error))
        }
        UploadedFile::TooLarge => Err(why(words, LogoError::TooManyBytes)),
        UploadedFile::None if upload.form.text("remove").is_some() => Ok(None),
        UploadedFile::None => Err(fl!(words, "face-logo-none")),
    };
    match read {
        Ok(logo) => save(&page, ProjectUpdate { logo: Some(logo), ..ProjectUpdate::default() }).await,
        Err(mistake) => {
            let wrong = |view: &mut FacePage| view.logo_mistake = Some(mistake);
            face_page(&page, StatusCode::UNPROCESSABLE_ENTITY, wrong).await
        }
    }
}

async fn save_colour(page: Page, SignedForm(form): SignedForm) -> Result<Response, PageError> {
    page.require(Act::Configure)?;
    let typed = form.text("colour").unwrap_or_default();
    let colour = match form.text("colour_kind") {
        Some("own") => Colour::parse(typed).map(Some),
        Some("usual") => Some(None),
        _ => None,
    };
    match colour {
        Some(colour) => save(&page, ProjectUpdate { colour: Some(colour), ..ProjectUpdate::default() }).await,
        None => {
            let mistake = fl!(page.words(), "face-colour-wrong");
            let wrong = |view: &mut FacePage| {
                view.colour = ColourForm { is_own: true, asked: typed.to_owned(), mistake: Some(mistake), used: None };
            };
            face_page(&page, StatusCode::UNPROCESSABLE_ENTITY, wrong).await
        }
    }
}

async fn save_contacts(page: Page, SignedForm(form): SignedForm) -> Result<Response, PageError> {
    page.require(Act::Configure)?;
    match read_contacts(page.words(), &form) {
        (contacts @ Some(_), _) => save(&page, ProjectUpdate { contacts, ..ProjectUpdate::default() }).await,
        (None, wrong) => face_page(&page, StatusCode::UNPROCESSABLE_ENTITY, |view| view.contacts = wrong).await,
    }
}

async fn save(page: &Page, update: ProjectUpdate) -> Result<Response, PageError> {
    page.desk.configure(update).await?;
    Ok(page.redirect(page.path("/settings/face"), Done::SettingsSaved))
}

/// What the form says, if all of it is right, and the form as it was sent.
fn read_contacts(words: Words, form: &Form) -> (Option<Contacts>, ContactsForm) {
    let mut fields = ContactsForm::default();
    let mut is_wrong = false;
    let mut read = |name: &str, field: &mut ContactField, check: fn(&str) -> Option<String>, mistake: String| {
        field.text = form.text(name).unwrap_or_default().trim().to_owned();
        let checked = Some(field.text.as_str()).filter(|text| !text.is_empty()).map(check);
        if checked == Some(None) {
            field.mistake = Some(mistake);
            is_wrong = true;
        }
        checked.flatten()
    };
    let contacts = Contacts {
        whatsapp: read("whatsapp", &mut fields.whatsapp, whatsapp_number, fl!(words, "face-number-wrong")),
        phone: read("phone", &mut fields.phone, phone_number, fl!(words, "face-number-wrong")),
        email: read("email", &mut fields.email, email_address, fl!(words, "face-email-wrong")),
        site: read("site", &mut fields.site, |text| addresses::site(text).ok(), fl!(words, "face-site-wrong")),
    };
    ((!is_wrong).then_some(contacts), fields)
}

/// What to do about a file that was not taken.
fn why(words: Words, error: LogoError) -> String {
    match error {
        LogoError::TooManyBytes => fl!(words, "face-logo-bytes", kilobytes = kilobytes()),
        LogoError::TooManyPixels => fl!(words, "face-logo-pixels"),
        LogoError::UnknownFormat => fl!(words, "face-logo-format"),
        LogoError::Animated => fl!(words, "face-logo-animated"),
        LogoError::Damaged => fl!(words, "face-logo-damaged"),
    }
}

fn kilobytes() -> String {
    (FILE_BYTES_MOST / BYTES_PER_KILOBYTE).to_string()
}

/// The page; `change` puts in what a form has sent.
async fn face_page(page: &Page, status: StatusCode, change: impl FnOnce(&mut FacePage)) -> Result<Response, PageError> {
    let mut shell = page.shell(Section::Settings).await?;
    if status != StatusCode::OK {
        shell.warn(fl!(shell.words, "mistake-form"));
    }
    let mut view = view(page, shell);
    change(&mut view);
    Ok(page.render(status, &view))
}

fn view(page: &Page, shell: Shell) -> FacePage {
    let Face { colour, contacts, .. } = page.project().face.clone();
    let words = shell.words;
    let field = |text: Option<String>| ContactField { text: text.unwrap_or_default(), mistake: None };
    FacePage {
        base: page.url(page.path("/settings")),
        may_configure: page.desk.may(Act::Configure),
        logo: ShownLogo::of(page),
        logo_hint: fl!(words, "face-logo-hint", kilobytes = kilobytes()),
        logo_mistake: None,
        colour: ColourForm {
            is_own: colour.is_some(),
            asked: colour.unwrap_or(FIRST_COLOUR).to_string(),
            mistake: None,
            used: colour.map(|colour| used_colours(words, colour)),
        },
        contacts: ContactsForm {
            whatsapp: field(contacts.whatsapp.map(|digits| format!("+{digits}"))),
            phone: field(contacts.phone),
            email: field(contacts.email),
            site: field(contacts.site),
        },
        shell,
    }
}

fn used_colours(words: Words, asked: Colour) -> UsedColours {
    let palette = Palette::of(asked);
    let swatch = |label: String, colour: Colour| Swatch { label, colour: colour.to_string() };
    UsedColours {
        swatches: vec![
            swatch(fl!(words, "face-colour-asked"), asked),
            swatch(fl!(words, "face-colour-light"), palette.light.accent),
            swatch(fl!(words, "face-colour-dark"), palette.dark.accent),
        ],
        is_adjusted: palette.is_adjusted(asked),
    }
}
