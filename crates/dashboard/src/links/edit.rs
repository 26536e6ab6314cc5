//! `/dashboard/<project>/links/<link>/edit`: another title, description or expiry for a link that nobody has paid yet.

use askama::Template;
use axum::{Router, http::StatusCode, response::Response, routing::get};
use domain::{
    access::Act,
    hex::hex,
    id::LinkId,
    link::Link,
    link_edit::{EditRefusal, LinkTerms},
    rules::{DESCRIPTION, TITLE},
    time::Timestamp,
};
use engine::Error;
use i18n_embed_fl::fl;
use sha2::{Digest, Sha256};
use web::{
    App,
    page::{form::Form, page_error::PageError},
};

use crate::{
    done::Done,
    input::{self, text_mistake},
    page::Page,
    session::{LastId, SignedForm},
    shell::{Section, Shell},
    words::Words,
};

/// How much of the hash tells two versions of a link's terms apart.
const SEEN_BYTES: usize = 16;

/// The form for what can be changed about a link.
#[derive(Template)]
#[template(path = "links/edit.html")]
pub(crate) struct EditLink {
    pub(crate) shell: Shell,
    pub(crate) link_url: String,
    pub(crate) name: String,
    pub(crate) action: String,
    /// Names what the form was filled from, so that two members do not undo each other's changes unseen.
    pub(crate) seen: String,
    pub(crate) title: String,
    pub(crate) description: String,
    pub(crate) expires_at: String,
    pub(crate) mistakes: EditMistakes,
    pub(crate) notice: Option<String>,
    /// What another member has saved meanwhile.
    pub(crate) saved: Option<Saved>,
    /// Why the link cannot be changed, if it cannot.
    pub(crate) refused: Option<String>,
}

#[derive(Default)]
pub(crate) struct EditMistakes {
    pub(crate) title: Option<String>,
    pub(crate) description: Option<String>,
    pub(crate) expires_at: Option<String>,
}

impl EditMistakes {
    fn any(&self) -> bool {
        let EditMistakes { title, description, expires_at } = self;
        [title, description, expires_at].into_iter().any(Option::is_some)
    }
}

/// The terms that a link has now.
pub(crate) struct Saved {
    pub(crate) title: String,
    pub(crate) description: String,
    pub(crate) expires: String,
}

/// The fields as they were filled in.
struct Filled {
    title: String,
    description: String,
    expires_at: String,
}

impl Filled {
    fn of(terms: &LinkTerms) -> Filled {
        Filled { title: terms.title.clone(), description: terms.description.clone(), expires_at: expiry_field(terms) }
    }

    fn read(form: &Form) -> Filled {
        let given = |name: &str| form.text(name).unwrap_or_default().trim().to_owned();
        Filled {
            title: given("title"),
            // Browsers send a line break as two characters, but count it as one.
            description: given("description").replace("\r\n", "\n"),
            expires_at: given("expires_at"),
        }
    }

    /// The terms that the form asks for. A field has no seconds: an expiry that still reads the same has not been changed.
    fn terms(&self, from: &LinkTerms) -> Option<LinkTerms> {
        let expires_at = match self.expires_at.as_str() {
            text if text == expiry_field(from) => from.expires_at,
            "" => None,
            text => Some(input::local_time(text)?),
        };
        Some(LinkTerms { title: self.title.clone(), description: self.description.clone(), expires_at })
    }

    fn mistakes(&self, words: Words, from: &LinkTerms, now: Timestamp) -> EditMistakes {
        let expires_at = match self.expires_at.as_str() {
            text if text.is_empty() || text == expiry_field(from) => None,
            text => match input::local_time(text) {
                None => Some(fl!(words, "mistake-time")),
                Some(at) => (at <= now).then(|| fl!(words, "link-expires-past")),
            },
        };
        EditMistakes {
            title: text_mistake(words, TITLE, &self.title),
            description: text_mistake(words, DESCRIPTION, &self.description),
            expires_at,
        }
    }
}

fn expiry_field(terms: &LinkTerms) -> String {
    terms.expires_at.map(input::local_field).unwrap_or_default()
}

fn seen(terms: &LinkTerms) -> String {
    let expires_at = terms.expires_at.map(|at| at.to_string()).unwrap_or_default();
    let mut hash = Sha256::new();
    for part in [&terms.title, &terms.description, &expires_at] {
        hash.update(part.len().to_be_bytes());
        hash.update(part);
    }
    hex(&hash.finalize()[..SEEN_BYTES])
}

pub(super) fn routes() -> Router<App> {
    Router::new().route("/dashboard/{project}/links/{link}/edit", get(show).post(save))
}

async fn show(page: Page, LastId(id): LastId<LinkId>) -> Result<Response, PageError> {
    page.require(Act::ManageLinks)?;
    let link = page.desk.link(id).await?;
    if let Some(refusal) = page.desk.link_edit_refusal(&link).await? {
        return answer_refusal(&page, &link, Filled::of(&LinkTerms::of(&link)), refusal).await;
    }
    let filled = Filled::of(&LinkTerms::of(&link));
    form_page(&page, &link, StatusCode::OK, filled, |_| {}).await
}

async fn save(page: Page, LastId(id): LastId<LinkId>, SignedForm(form): SignedForm) -> Result<Response, PageError> {
    page.require(Act::ManageLinks)?;
    let (link, filled) = (page.desk.link(id).await?, Filled::read(&form));
    let from = LinkTerms::of(&link);
    if let Some(refusal) = page.desk.link_edit_refusal(&link).await? {
        return answer_refusal(&page, &link, filled, refusal).await;
    }
    if form.text("seen") != Some(&seen(&from)) {
        return answer_refusal(&page, &link, filled, EditRefusal::ChangedMeanwhile).await;
    }
    let mistakes = filled.mistakes(page.words(), &from, page.now());
    let Some(to) = filled.terms(&from).filter(|_| !mistakes.any()) else {
        return answer_mistakes(&page, &link, filled, mistakes).await;
    };
    match page.desk.edit_link(id, &from, to).await {
        Ok(Ok(())) => Ok(page.redirect(page.path(&format!("/links/{id}")), Done::LinkEdited)),
        Ok(Err(refusal)) => answer_refusal(&page, &page.desk.link(id).await?, filled, refusal).await,
        // Only the clock can make a rule fail that held a moment ago.
        Err(Error::Invalid(_)) => {
            let mistakes = filled.mistakes(page.words(), &from, page.now());
            answer_mistakes(&page, &link, filled, mistakes).await
        }
        Err(error) => Err(error.into()),
    }
}

async fn answer_mistakes(
    page: &Page,
    link: &Link,
    filled: Filled,
    mistakes: EditMistakes,
) -> Result<Response, PageError> {
    form_page(page, link, StatusCode::UNPROCESSABLE_ENTITY, filled, |view| {
        view.notice = Some(fl!(view.shell.words, "mistake-form"));
        view.mistakes = mistakes;
    })
    .await
}

/// Says why nothing was saved. Where another member was faster, the form keeps what was typed and can be sent again.
async fn answer_refusal(page: &Page, link: &Link, filled: Filled, refusal: EditRefusal) -> Result<Response, PageError> {
    form_page(page, link, StatusCode::CONFLICT, filled, |view| {
        let words = view.shell.words;
        match refusal {
            EditRefusal::Paid => view.refused = Some(fl!(words, "link-edit-paid")),
            EditRefusal::NotActive => view.refused = Some(fl!(words, "link-edit-closed")),
            EditRefusal::ChangedMeanwhile => {
                let expires = link.expires_at.map(|at| page.moment(at).text);
                view.notice = Some(fl!(words, "link-edit-changed"));
                view.saved = Some(Saved {
                    title: link.title.clone(),
                    description: link.description.clone(),
                    expires: expires.unwrap_or_else(|| fl!(words, "link-expires-never")),
                });
            }
        }
    })
    .await
}

async fn form_page(
    page: &Page,
    link: &Link,
    status: StatusCode,
    filled: Filled,
    adjust: impl FnOnce(&mut EditLink),
) -> Result<Response, PageError> {
    let shell = page.shell(Section::Links).await?;
    let link_url = format!("{}/links/{}", page.base(), link.id);
    let mut view = EditLink {
        shell,
        action: format!("{link_url}/edit"),
        link_url,
        name: link.title.clone(),
        seen: seen(&LinkTerms::of(link)),
        title: filled.title,
        description: filled.description,
        expires_at: filled.expires_at,
        mistakes: EditMistakes::default(),
        notice: None,
        saved: None,
        refused: None,
    };
    adjust(&mut view);
    Ok(page.render(status, &view))
}
