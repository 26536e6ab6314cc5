//! `/dashboard/<project>/counter`: a phone page for the shop's counter. A member types an amount, the customer scans the QRIS, and
//! the page says when it is paid. Below it are the member's sales of today.

mod live;
#[cfg(test)]
pub(crate) mod samples;

use askama::Template;
use axum::{Router, http::StatusCode, response::Response, routing::get};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use domain::{
    id::PaymentId,
    money::Rupiah,
    payment::{Payment, Status},
    project::Environment,
};
use engine::Error;
use i18n_embed_fl::fl;
use picture::qr_image;
use web::{
    App,
    page::{
        assets::{self, Asset},
        moment::{Moment, short_time},
        page_error::PageError,
        render::see_other,
    },
};

use crate::{
    attempt,
    input::{self, amount_mistake},
    labels::{Badge, payment_badge},
    page::CounterPage,
    session::{LastId, SignedForm},
    shell::Shell,
    words::Words,
};

/// The dashboard's style and script with those of the counter, so that a phone on a weak connection asks for two files.
pub(crate) static STYLE: Asset = Asset::style(
    "counter",
    &[assets::TOKENS, include_str!("../assets/dashboard.css"), include_str!("../assets/counter.css")],
);
pub(crate) static SCRIPT: Asset = Asset::script(
    "counter",
    &[assets::COPY_TEXT, include_str!("../assets/dashboard.js"), include_str!("../assets/counter.js")],
);

/// The form for the next sale.
#[derive(Template)]
#[template(path = "counter.html")]
pub(crate) struct TillPage {
    pub(crate) shell: Shell,
    pub(crate) base: String,
    pub(crate) merchant: String,
    pub(crate) attempt: String,
    /// What was typed.
    pub(crate) amount: String,
    pub(crate) mistake: Option<String>,
    pub(crate) sales: Vec<SaleRow>,
}

/// One sale.
#[derive(Template)]
#[template(path = "counter/sale.html")]
pub(crate) struct SalePage {
    pub(crate) shell: Shell,
    pub(crate) base: String,
    pub(crate) merchant: String,
    pub(crate) id: String,
    pub(crate) amount: String,
    pub(crate) reference: String,
    /// A status of the API.
    pub(crate) status: &'static str,
    pub(crate) standing: Standing,
    pub(crate) sales: Vec<SaleRow>,
}

/// What a sale's page is about.
pub(crate) enum Standing {
    Pending {
        /// The code as an image in the page itself, which needs no second answer of the server.
        image: String,
        until: String,
        /// The customer's page, where a sandbox payment is paid by a press; none in production.
        simulate_url: Option<String>,
    },
    Processing,
    Paid {
        at: String,
    },
    /// Expired, failed or cancelled.
    Unpaid {
        text: String,
    },
}

/// One of today's sales.
pub(crate) struct SaleRow {
    pub(crate) url: String,
    pub(crate) amount: String,
    pub(crate) reference: String,
    pub(crate) badge: Badge,
    pub(crate) created: Moment,
    /// Whether it is the one that the page is about.
    pub(crate) is_shown: bool,
}

pub(crate) fn routes() -> Router<App> {
    // A user whose session has ended signs in at the form's address, and then sees the page there.
    Router::new()
        .route("/dashboard/{project}/counter", get(show).post(sell))
        .route("/dashboard/{project}/counter/{sale}", get(show_sale))
        .route("/dashboard/{project}/counter/{sale}/cancel", get(show_sale).post(cancel))
        .route("/dashboard/{project}/counter/{sale}/status", get(live::status))
        .route("/dashboard/{project}/counter/{sale}/events", get(live::events))
}

async fn show(page: CounterPage) -> Result<Response, PageError> {
    till(&page, StatusCode::OK, attempt::fresh(), String::new(), None).await
}

async fn sell(page: CounterPage, SignedForm(form): SignedForm) -> Result<Response, PageError> {
    let (words, typed) = (page.words(), form.text("amount").unwrap_or_default());
    let attempt = attempt::sent(form.text("attempt"));
    let amount = match checked(&page, typed).await? {
        Ok(amount) => amount,
        Err(why) => {
            return till(&page, StatusCode::UNPROCESSABLE_ENTITY, attempt, typed.to_owned(), Some(why)).await;
        }
    };
    let (status, why) = match page.counter.sell(&attempt, amount).await {
        Ok(payment) => return Ok(see_other(&format!("{}/{}", page.base(), payment.id))),
        Err(Error::Invalid(_)) => (StatusCode::UNPROCESSABLE_ENTITY, fl!(words, "mistake-refused")),
        Err(Error::ProjectUnusable) => (StatusCode::CONFLICT, fl!(words, "counter-unusable")),
        Err(Error::NoBank(_)) => (StatusCode::SERVICE_UNAVAILABLE, fl!(words, "counter-down")),
        Err(error) => return Err(error.into()),
    };
    till(&page, status, attempt, typed.to_owned(), Some(why)).await
}

/// The amount that was typed, or what is wrong with it.
async fn checked(page: &CounterPage, typed: &str) -> Result<Result<Rupiah, String>, Error> {
    let words = page.words();
    let amount = match input::rupiah(typed) {
        Ok(amount) => amount,
        Err(why) => return Ok(Err(amount_mistake(words, why))),
    };
    let amounts = page.counter.amounts().await?;
    if amounts.contains(&amount) {
        return Ok(Ok(amount));
    }
    let (least, most) = (amounts.start().to_string(), amounts.end().to_string());
    Ok(Err(fl!(words, "counter-limits", least = least, most = most)))
}

async fn show_sale(page: CounterPage, LastId(id): LastId<PaymentId>) -> Result<Response, PageError> {
    let payment = page.counter.sale(id).await?;
    sale_page(&page, StatusCode::OK, &payment, None).await
}

async fn cancel(
    page: CounterPage,
    LastId(id): LastId<PaymentId>,
    SignedForm(_): SignedForm,
) -> Result<Response, PageError> {
    match page.counter.cancel(id).await {
        Ok(_) => Ok(see_other(&format!("{}/{id}", page.base()))),
        Err(Error::NotEditable) => {
            let payment = page.counter.sale(id).await?;
            let why = fl!(page.words(), "counter-cancel-late");
            sale_page(&page, StatusCode::CONFLICT, &payment, Some(why)).await
        }
        Err(error) => Err(error.into()),
    }
}

/// What stands around a page of the counter, which has a style and a script of its own.
async fn shell(page: &CounterPage) -> Result<Shell, Error> {
    let mut shell = page.shell().await?;
    shell.style_url = page.url(STYLE.path());
    shell.script_url = page.url(SCRIPT.path());
    Ok(shell)
}

async fn till(
    page: &CounterPage,
    status: StatusCode,
    attempt: String,
    amount: String,
    mistake: Option<String>,
) -> Result<Response, PageError> {
    let view = TillPage {
        shell: shell(page).await?,
        base: page.base(),
        merchant: page.project().merchant.name.clone(),
        attempt,
        amount,
        mistake,
        sales: rows(page, None).await?,
    };
    Ok(page.render(status, &view))
}

async fn sale_page(
    page: &CounterPage,
    status: StatusCode,
    payment: &Payment,
    notice: Option<String>,
) -> Result<Response, PageError> {
    let mut shell = shell(page).await?;
    if let Some(notice) = notice {
        shell.warn(notice);
    }
    let received = page.counter.received_instead(std::slice::from_ref(payment)).await?.remove(&payment.id);
    let view = SalePage {
        base: page.base(),
        merchant: page.project().merchant.name.clone(),
        id: payment.id.to_string(),
        amount: received.unwrap_or(payment.terms.amount).to_string(),
        reference: payment.terms.reference.clone(),
        status: payment.status_at(page.now()).word(),
        standing: standing(page, shell.words, payment),
        sales: rows(page, Some(payment.id)).await?,
        shell,
    };
    Ok(page.render(status, &view))
}

fn standing(page: &CounterPage, words: Words, payment: &Payment) -> Standing {
    let time = |at| short_time(at, page.language());
    match payment.status_at(page.now()) {
        Status::Pending => {
            let image = qr_image::png(&payment.code).unwrap_or_default();
            let is_sandbox = page.project().environment == Environment::Sandbox;
            Standing::Pending {
                image: format!("data:image/png;base64,{}", STANDARD.encode(image)),
                until: time(payment.terms.expires_at),
                simulate_url: is_sandbox.then(|| format!("{}/pay/{}", page.app.settings.pages_url, payment.id)),
            }
        }
        Status::Processing => Standing::Processing,
        Status::Paid => Standing::Paid { at: time(payment.paid_at().unwrap_or(payment.created_at)) },
        Status::Expired => Standing::Unpaid { text: fl!(words, "counter-expired") },
        Status::Failed => Standing::Unpaid { text: fl!(words, "counter-failed") },
        Status::Cancelled => Standing::Unpaid { text: fl!(words, "counter-cancelled") },
    }
}

async fn rows(page: &CounterPage, shown: Option<PaymentId>) -> Result<Vec<SaleRow>, Error> {
    let (words, now, base) = (page.words(), page.now(), page.base());
    let sales = page.counter.sales().await?;
    let received = page.counter.received_instead(&sales).await?;
    let row = |payment: &Payment| SaleRow {
        url: format!("{base}/{}", payment.id),
        amount: received.get(&payment.id).unwrap_or(&payment.terms.amount).to_string(),
        reference: payment.terms.reference.clone(),
        badge: payment_badge(words, payment.status_at(now)),
        created: Moment { text: short_time(payment.created_at, page.language()), utc: payment.created_at.to_string() },
        is_shown: shown == Some(payment.id),
    };
    Ok(sales.iter().map(row).collect())
}
