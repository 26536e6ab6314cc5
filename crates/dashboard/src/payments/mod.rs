//! `/dashboard/<project>/payments`: the payments that the address filters, as a page and as a CSV file.

mod chosen_link;
mod csv;
pub(crate) mod filter;
pub(crate) mod period;
pub(crate) mod picks;
pub(crate) mod rows;
#[cfg(test)]
pub(crate) mod samples;

use askama::Template;
use axum::{
    Router,
    http::{HeaderMap, StatusCode},
    response::Response,
    routing::get,
};
use domain::{access::Act, language::Language, money::Rupiah, payment::Payment};
use engine::{Error, MATCHES_COUNTED, Matches, PaymentFilter, PaymentOrder, Sums};
use i18n_embed_fl::fl;
use web::{
    App,
    page::{page_error::PageError, words::grouped},
};

pub(crate) use self::chosen_link::OfferedLink;
use crate::{
    page::Page,
    payments::{
        chosen_link::{ChosenLink, chosen_link},
        csv::PaymentTable,
        filter::{Choice, Mistakes, TypedFilter, filter},
        picks::{Head, Pick, Picks},
        rows::{PaymentRow, rows},
    },
    shell::{Section, Shell},
    table::{PageNumber, Paging},
    words::Words,
};

/// Titles of links that the field for a link offers while one types; others can be typed too.
const TITLES_OFFERED: i64 = 50;

#[derive(Template)]
#[template(path = "payments.html")]
pub(crate) struct PaymentsPage {
    pub(crate) shell: Shell,
    pub(crate) path: String,
    pub(crate) asked: TypedFilter,
    pub(crate) mistakes: Mistakes,
    pub(crate) tabs: Vec<Pick>,
    pub(crate) periods: Vec<Pick>,
    /// Filters that are set in the closed part of the form.
    pub(crate) chosen: Vec<Pick>,
    pub(crate) statuses: Vec<Choice>,
    pub(crate) methods: Vec<Choice>,
    pub(crate) sorts: Vec<Choice>,
    pub(crate) titles: Vec<String>,
    /// The links that a text may mean, where it is not clear which.
    pub(crate) offered: Vec<OfferedLink>,
    /// None where a filter is wrong.
    pub(crate) found: Option<PaymentList>,
    /// The form for a payment link, offered while there are no payments.
    pub(crate) begin_url: Option<String>,
}

/// The payments that the address asks for.
pub(crate) struct PaymentList {
    pub(crate) rows: Vec<PaymentRow>,
    /// Whether no filter is set.
    pub(crate) is_everything: bool,
    pub(crate) sums: Vec<Tile>,
    /// Why the payments are not in the order that was asked for.
    pub(crate) unsorted: Option<String>,
    pub(crate) by_time: Head,
    pub(crate) by_amount: Head,
    pub(crate) paging: Paging,
    pub(crate) csv_url: String,
    pub(crate) excel_url: String,
}

/// One figure of what a list adds up to.
pub(crate) struct Tile {
    pub(crate) label: String,
    pub(crate) figure: String,
    pub(crate) text: String,
}

/// What an address asks for.
struct Wanted {
    asked: TypedFilter,
    filter: PaymentFilter,
    /// The title of the link that is asked for.
    link: Option<String>,
}

/// Why an address cannot be understood.
struct Mistaken {
    asked: TypedFilter,
    mistakes: Box<Mistakes>,
    offered: Vec<OfferedLink>,
}

pub(crate) fn routes() -> Router<App> {
    Router::new()
        .route("/dashboard/{project}/payments", get(list))
        .route("/dashboard/{project}/payments.csv", get(export))
}

async fn list(page: Page) -> Result<Response, PageError> {
    let shell = page.shell(Section::Payments).await?;
    let wanted = match wanted(&page).await? {
        Ok(wanted) => wanted,
        Err(mistaken) => return refused(&page, shell, mistaken).await,
    };
    let number = PageNumber::of(&page);
    let (payments, matches) = page.desk.payments(&wanted.filter, number.window()).await?;
    let found = found(&page, &wanted, number, &payments, matches).await?;
    let view = PaymentsPage { found: Some(found), ..view(&page, shell, wanted.asked, wanted.link).await? };
    Ok(page.render(StatusCode::OK, &view))
}

/// The same payments as a file, which is read from the database while it is sent.
async fn export(page: Page, headers: HeaderMap) -> Result<Response, PageError> {
    let now = page.now();
    let filter = match wanted(&page).await? {
        Ok(wanted) => wanted.filter,
        Err(mistaken) => return refused(&page, page.shell(Section::Payments).await?, mistaken).await,
    };
    crate::csv::download(&page, &headers, "", PaymentTable { filter, now })
}

/// What the address asks for, or what is wrong with it.
async fn wanted(page: &Page) -> Result<Result<Wanted, Mistaken>, Error> {
    let asked = TypedFilter::of(&page.visitor.query);
    let (link, title, offered) = match chosen_link(page, &asked).await? {
        ChosenLink::Any => (Ok(None), None, Vec::new()),
        ChosenLink::One { id, title } => (Ok(Some(id)), Some(title), Vec::new()),
        ChosenLink::Unclear { why, offered } => (Err(why), None, offered),
    };
    Ok(match filter(&page.visitor.query, link, page.now(), page.words()) {
        Ok(filter) => Ok(Wanted { asked, filter, link: title }),
        Err(mistakes) => Err(Mistaken { asked, mistakes, offered }),
    })
}

/// The page with a sentence at each field that is wrong. It lists no payments, which a reader could take for the
/// filtered ones.
async fn refused(page: &Page, shell: Shell, mistaken: Mistaken) -> Result<Response, PageError> {
    let Mistaken { asked, mistakes, offered } = mistaken;
    let view = PaymentsPage { mistakes: *mistakes, offered, ..view(page, shell, asked, None).await? };
    Ok(page.render(StatusCode::UNPROCESSABLE_ENTITY, &view))
}

/// The page without any payments.
async fn view(page: &Page, shell: Shell, asked: TypedFilter, link: Option<String>) -> Result<PaymentsPage, Error> {
    let (words, base) = (shell.words, page.base());
    let path = format!("{base}/payments");
    let begins = page.desk.may(Act::ManageLinks) && page.project().is_usable();
    let picks = Picks { path: &path, asked: &asked, words };
    let methods = asked.methods(words);
    Ok(PaymentsPage {
        tabs: picks.statuses(),
        periods: picks.periods(),
        chosen: picks.chosen(&methods, link),
        statuses: asked.statuses(words),
        methods,
        sorts: asked.sorts(words),
        titles: page.desk.newest_link_titles(TITLES_OFFERED).await?,
        begin_url: begins.then(|| format!("{base}/links/new")),
        path,
        shell,
        asked,
        mistakes: Mistakes::default(),
        offered: Vec::new(),
        found: None,
    })
}

async fn found(
    page: &Page,
    wanted: &Wanted,
    number: PageNumber,
    payments: &[Payment],
    matches: Matches,
) -> Result<PaymentList, Error> {
    let (words, asked, base) = (page.words(), &wanted.asked, page.base());
    // A file has the newest payments first, however the page sorts them.
    let query = TypedFilter { sort: String::new(), ..asked.clone() }.query();
    let csv_url = |more: &str| {
        let query = [query.as_str(), more].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("&");
        format!("{base}/payments.csv{}{query}", if query.is_empty() { "" } else { "?" })
    };
    let by_amount = matches!(wanted.filter.order, PaymentOrder::AmountHighest | PaymentOrder::AmountLowest);
    let is_unsorted = by_amount && !matches.can_be_sorted_by_amount();
    let order = if is_unsorted { PaymentOrder::Newest } else { wanted.filter.order };
    let [by_time, by_amount] = Picks { path: &format!("{base}/payments"), asked, words }.heads(order);
    let most = grouped(page.language(), MATCHES_COUNTED);
    let (path, query, shown) = (page.path("/payments"), asked.query(), payments.len());
    Ok(PaymentList {
        rows: rows(page, payments).await?,
        is_everything: asked.is_everything(),
        sums: sums(words, page.language(), matches),
        unsorted: is_unsorted.then(|| fl!(words, "sort-too-many", most = most)),
        by_time,
        by_amount,
        paging: match matches {
            Matches::All(Sums { payments, .. }) => number.paging_of(page, &path, &query, shown, payments),
            Matches::More => number.paging_of_many(page, &path, &query, shown),
        },
        csv_url: csv_url(""),
        excel_url: csv_url("separator=semicolon"),
    })
}

/// How many payments there are, and what was paid. Money that did not come is in no sum.
fn sums(words: Words, language: Language, matches: Matches) -> Vec<Tile> {
    let Matches::All(Sums { payments, paid, amount, fee }) = matches else {
        let most = grouped(language, MATCHES_COUNTED);
        return vec![Tile {
            label: fl!(words, "nav-payments"),
            figure: fl!(words, "sums-many", most = most),
            text: fl!(words, "sums-many-text"),
        }];
    };
    let tile = |label: String, amount: Rupiah, text: String| Tile { label, figure: amount.to_string(), text };
    let paid = grouped(language, paid);
    vec![
        Tile {
            label: fl!(words, "nav-payments"),
            figure: grouped(language, payments),
            text: fl!(words, "sums-of-them-paid", count = paid),
        },
        tile(fl!(words, "sums-paid"), amount, fl!(words, "sums-paid-text")),
        tile(fl!(words, "sums-fee"), fee, fl!(words, "sums-fee-text")),
        tile(fl!(words, "sums-net"), amount - fee, fl!(words, "sums-net-text")),
    ]
}
