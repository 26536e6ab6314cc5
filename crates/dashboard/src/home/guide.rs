//! The steps to a first payment, each by a button or from a terminal.

use domain::{access::Act, payment::Payment, project::Environment};
use engine::{Error, LinkFilter, SetupProgress, Window};
use i18n_embed_fl::fl;
use serde_json::{Value, json};

use crate::page::Page;

const STEPS: usize = 4;
const SAMPLE_AMOUNT: i64 = 15_000;

pub(crate) struct Guide {
    /// How many steps are done, in words.
    pub(crate) progress: String,
    pub(crate) steps: Vec<Step>,
}

pub(crate) struct Step {
    pub(crate) number: usize,
    pub(crate) title: String,
    pub(crate) state: StepState,
}

pub(crate) enum StepState {
    Done,
    /// The first step that is not done: a button, where the member's role allows the step, and a command.
    Now {
        text: String,
        button: Option<Button>,
        curl: String,
    },
    Later,
}

pub(crate) struct Button {
    pub(crate) url: String,
    pub(crate) label: String,
}

/// The guide, unless all of its steps are done.
pub(crate) async fn of(page: &Page, firsts: &SetupProgress, recent: &[Payment]) -> Result<Option<Guide>, Error> {
    let words = page.words();
    let done = [firsts.key, firsts.link || firsts.paid || !recent.is_empty(), firsts.paid, firsts.delivered];
    let Some(now) = done.iter().position(|done| !done) else { return Ok(None) };
    let titles =
        [fl!(words, "guide-key"), fl!(words, "guide-link"), fl!(words, "guide-pay"), fl!(words, "guide-webhook")];
    let mut steps = Vec::with_capacity(STEPS);
    for (index, (title, is_done)) in titles.into_iter().zip(done).enumerate() {
        let state = match is_done {
            true => StepState::Done,
            false if index == now => next_step(page, index, recent).await?,
            false => StepState::Later,
        };
        steps.push(Step { number: index + 1, title, state });
    }
    let (count, all) = (done.iter().filter(|done| **done).count().to_string(), STEPS.to_string());
    Ok(Some(Guide { progress: fl!(words, "guide-progress", count = count, all = all), steps }))
}

async fn next_step(page: &Page, step: usize, recent: &[Payment]) -> Result<StepState, Error> {
    let (words, project) = (page.words(), page.project());
    let (base, id) = (page.base(), project.id.to_string());
    let button = |act: Act, url: String, label: String| page.desk.may(act).then_some(Button { url, label });
    Ok(match step {
        0 => StepState::Now {
            text: fl!(words, "guide-key-text"),
            button: button(Act::ManageKeys, format!("{base}/keys"), fl!(words, "guide-key-button")),
            curl: curl(page, "/v1/balance", None),
        },
        1 => {
            let body = json!({ "project_id": id, "title": "Kopi susu", "amount": SAMPLE_AMOUNT });
            StepState::Now {
                text: fl!(words, "guide-link-text"),
                button: button(Act::ManageLinks, format!("{base}/links/new"), fl!(words, "guide-link-button")),
                curl: curl(page, "/v1/payment-links", Some(&body)),
            }
        }
        2 => pay(page, recent).await?,
        _ => {
            let (text, label) = match project.webhook_url {
                None => (fl!(words, "guide-webhook-text"), fl!(words, "guide-webhook-button")),
                Some(_) => (fl!(words, "guide-webhook-set"), fl!(words, "guide-webhook-test")),
            };
            StepState::Now {
                text,
                button: button(Act::ManageWebhooks, format!("{base}/notifications"), label),
                curl: curl(page, "/v1/events?type=payment.paid", None),
            }
        }
    })
}

/// The step of paying: a recent payment that has not ended, or else the newest link, whose page creates a payment.
async fn pay(page: &Page, recent: &[Payment]) -> Result<StepState, Error> {
    let (words, project, now) = (page.words(), page.project(), page.now());
    let is_sandbox = project.environment == Environment::Sandbox;
    let pending = recent.iter().find(|payment| !payment.status_at(now).is_final());
    let path = match pending {
        Some(payment) => Some(format!("/pay/{}", payment.id)),
        None => {
            let latest = page.desk.links(&LinkFilter::default(), Window { offset: 0, limit: 1 }).await?.items.pop();
            latest.map(|link| format!("/p/{}", link.id))
        }
    };
    let body = json!({
        "project_id": project.id.to_string(), "reference": "order-1", "amount": SAMPLE_AMOUNT, "payment_method": { "type": "qris" },
    });
    let command = match pending {
        Some(payment) if is_sandbox => {
            curl(page, &format!("/v1/sandbox/payments/{}/simulate", payment.id), Some(&json!({ "outcome": "paid" })))
        }
        Some(payment) => curl(page, &format!("/v1/payments/{}", payment.id), None),
        None => curl(page, "/v1/payments", Some(&body)),
    };
    Ok(StepState::Now {
        text: match (is_sandbox, pending) {
            (true, Some(_)) => fl!(words, "guide-pay-sandbox"),
            (true, None) => fl!(words, "guide-pay-open"),
            (false, _) => fl!(words, "guide-pay-production"),
        },
        button: path.map(|path| Button {
            url: format!("{}{path}", page.app.settings.pages_url),
            label: fl!(words, "guide-pay-button"),
        }),
        curl: command,
    })
}

/// A command that does the step. It reads the key from a variable of the user's shell, so no page shows a key.
fn curl(page: &Page, path: &str, body: Option<&Value>) -> String {
    let quote = if path.contains('?') { "'" } else { "" };
    let mut command = format!("curl {quote}{}{path}{quote}", page.app.settings.base_url);
    command.push_str(" \\\n  -H \"Authorization: Bearer $LUNAS_API_KEY\"");
    if path == "/v1/payments" {
        command.push_str(" \\\n  -H \"Idempotency-Key: order-1-$(date +%s)\"");
    }
    if let Some(body) = body {
        command.push_str(&format!(" \\\n  -H \"Content-Type: application/json\" \\\n  -d '{body}'"));
    }
    command
}
