//! `/dashboard/operator/letters`: the letters of the installation, what has become of them, and sending them again. A test notice
//! to operators is sent from here too.

use askama::Template;
use axum::{
    Router,
    http::StatusCode,
    response::Response,
    routing::{get, post},
};
use domain::{id::LetterId, letter_queue::LetterState};
use engine::LetterFilter;
use i18n_embed_fl::fl;
use web::{App, page::page_error::PageError};

use super::tabs::{PATH, Tab};
use crate::{
    done::Done,
    letters::{LetterRow, row},
    page::OperatorPage,
    session::{LastId, SignedForm},
    shell::Shell,
    table::{PageNumber, Paging},
};

const LETTERS: &str = "/dashboard/operator/letters";
const TEST_NOTICE: &str = "/dashboard/operator/letters/test-notice";

#[derive(Template)]
#[template(path = "operator/letters.html")]
pub(crate) struct LettersPage {
    pub(crate) shell: Shell,
    pub(crate) tab: Tab,
    pub(crate) base: String,
    /// Whether mail is set up.
    pub(crate) has_mail: bool,
    pub(crate) notices: Option<OperatorNotices>,
    pub(crate) filters: Vec<LetterFilterLink>,
    pub(crate) rows: Vec<LetterRow>,
    pub(crate) paging: Paging,
}

/// Where notices for operators go.
pub(crate) struct OperatorNotices {
    /// Names the host.
    pub(crate) text: String,
    pub(crate) test_url: String,
}

/// A link to the letters in one state.
pub(crate) struct LetterFilterLink {
    pub(crate) url: String,
    pub(crate) text: String,
    pub(crate) is_current: bool,
}

pub(crate) fn routes() -> Router<App> {
    Router::new()
        .route(LETTERS, get(show))
        .route("/dashboard/operator/letters/{letter}/again", post(again).get(show))
        .route(TEST_NOTICE, post(test_notice).get(show))
}

async fn show(page: OperatorPage) -> Result<Response, PageError> {
    let (shell, number) = (page.shell().await?, PageNumber::of(&page));
    let asked = page.query("state");
    let state = LetterState::WORDS.into_iter().find(|word| Some(*word) == asked);
    let filter = LetterFilter { state, ..LetterFilter::default() };
    let listed = page.operator.letters(&filter, number.window()).await?;
    let query = state.map(|word| format!("state={word}")).unwrap_or_default();
    let paging = number.paging(&page, LETTERS, &query, &listed);
    let words = shell.words;
    let link = |word: Option<&str>, text: String| LetterFilterLink {
        url: word.map_or_else(|| page.url(LETTERS), |word| page.url(format_args!("{LETTERS}?state={word}"))),
        text,
        is_current: word == state,
    };
    let filters = vec![
        link(None, fl!(words, "operator-all")),
        link(Some("waiting"), fl!(words, "letter-waiting")),
        link(Some("sent"), fl!(words, "letter-sent")),
        link(Some("given_up"), fl!(words, "letter-given-up")),
        link(Some("dropped"), fl!(words, "letter-dropped")),
    ];
    let rows = listed.items.into_iter().map(|shown| {
        let again = page.url(format_args!("{LETTERS}/{}/again", shown.letter.id));
        row(&page, shown, Some(again))
    });
    let (base, has_mail, rows) = (page.url(PATH), page.app.engine.has_mail(), rows.collect());
    let notices = page.operator.notices_go_to().map(|host| OperatorNotices {
        text: fl!(words, "operator-notices-text", host = host),
        test_url: page.url(TEST_NOTICE),
    });
    let view = LettersPage { tab: Tab::Letters, base, has_mail, notices, filters, rows, paging, shell };
    Ok(page.render(StatusCode::OK, &view))
}

async fn again(page: OperatorPage, LastId(id): LastId<LetterId>, _: SignedForm) -> Result<Response, PageError> {
    page.operator.send_letter_again(id).await?;
    Ok(page.redirect(LETTERS, Done::LetterSentAgain))
}

async fn test_notice(page: OperatorPage, _: SignedForm) -> Result<Response, PageError> {
    page.operator.test_notice().await?;
    Ok(page.redirect(LETTERS, Done::NoticeTested))
}
