//! The way to a first payment: four steps, each to be done by a button or from a terminal.

use domain::{access::Act, payment::Payment, project::Environment};
use engine::{Error, LinkFilter, SetupProgress, Window};
use i18n_embed_fl::fl;
use serde_json::{Value, json};
use web::{App, page::visitor::Visitor};

use crate::{
    session::AtDesk,
    shell,
    words::{Words, words},
};

const STEPS: usize = 4;
const SAMPLE_AMOUNT: i64 = 15_000;

pub(crate) struct Guide {
    /// How far it is, in words.
    pub(crate) progress: String,
    pub(crate) steps: Vec<Step>,
}

pub(crate) struct Step {
    pub(crate) number: usize,
    pub(crate) title: String,
    pub(crate) standing: Standing,
}

pub(crate) enum Standing {
    Done,
    /// The first that is not done: what to do, by a button where one's role has one, and by a command.
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

/// The guide, unless all of it is done.
pub(super) async fn of(
    app: &App,
    visitor: &Visitor,
    at: &AtDesk,
    firsts: &SetupProgress,
    recent: &[Payment],
) -> Result<Option<Guide>, Error> {
    let words = words(visitor.language);
    let done = [firsts.key, firsts.link || firsts.paid || !recent.is_empty(), firsts.paid, firsts.delivered];
    let Some(now) = done.iter().position(|done| !done) else { return Ok(None) };
    let titles =
        [fl!(words, "guide-key"), fl!(words, "guide-link"), fl!(words, "guide-pay"), fl!(words, "guide-webhook")];
    let mut steps = Vec::with_capacity(STEPS);
    for (index, (title, is_done)) in titles.into_iter().zip(done).enumerate() {
        let standing = match is_done {
            true => Standing::Done,
            false if index == now => body(app, words, at, index, recent).await?,
            false => Standing::Later,
        };
        steps.push(Step { number: index + 1, title, standing });
    }
    let (count, all) = (done.iter().filter(|done| **done).count().to_string(), STEPS.to_string());
    Ok(Some(Guide { progress: fl!(words, "guide-progress", count = count, all = all), steps }))
}

async fn body(app: &App, words: Words, at: &AtDesk, step: usize, recent: &[Payment]) -> Result<Standing, Error> {
    let project = at.desk.project();
    let (base, id) = (shell::base(app, project), project.id.to_string());
    let button = |act: Act, url: String, label: String| at.desk.may(act).then_some(Button { url, label });
    Ok(match step {
        0 => Standing::Now {
            text: fl!(words, "guide-key-text"),
            button: button(Act::ManageKeys, format!("{base}/keys"), fl!(words, "guide-key-button")),
            curl: curl(app, "/v1/balance", None),
        },
        1 => {
            let body = json!({ "project_id": id, "title": "Kopi susu", "amount": SAMPLE_AMOUNT });
            Standing::Now {
                text: fl!(words, "guide-link-text"),
                button: button(Act::ManageLinks, format!("{base}/links/new"), fl!(words, "guide-link-button")),
                curl: curl(app, "/v1/payment-links", Some(&body)),
            }
        }
        2 => pay(app, words, at, recent).await?,
        _ => {
            let (text, label) = match project.webhook_url {
                None => (fl!(words, "guide-webhook-text"), fl!(words, "guide-webhook-button")),
                Some(_) => (fl!(words, "guide-webhook-set"), fl!(words, "guide-webhook-test")),
            };
            Standing::Now {
                text,
                button: button(Act::ManageWebhooks, format!("{base}/notifications"), label),
                curl: curl(app, "/v1/events?type=payment.paid", None),
            }
        }
    })
}

/// Something to pay: a payment that waits for it, or else a link, whose page makes one.
async fn pay(app: &App, words: Words, at: &AtDesk, recent: &[Payment]) -> Result<Standing, Error> {
    let (project, now) = (at.desk.project(), app.engine.now());
    let is_sandbox = project.environment == Environment::Sandbox;
    let waiting = recent.iter().find(|payment| !payment.status_at(now).is_final());
    let page = match waiting {
        Some(payment) => Some(format!("/pay/{}", payment.id)),
        None => {
            let latest = at.desk.links(&LinkFilter::default(), Window { offset: 0, limit: 1 }).await?.items.pop();
            latest.map(|link| format!("/p/{}", link.id))
        }
    };
    let body = json!({
        "project_id": project.id.to_string(), "reference": "order-1", "amount": SAMPLE_AMOUNT, "payment_method": { "type": "qris" },
    });
    let command = match waiting {
        Some(payment) if is_sandbox => {
            curl(app, &format!("/v1/sandbox/payments/{}/simulate", payment.id), Some(&json!({ "outcome": "paid" })))
        }
        Some(payment) => curl(app, &format!("/v1/payments/{}", payment.id), None),
        None => curl(app, "/v1/payments", Some(&body)),
    };
    Ok(Standing::Now {
        text: match (is_sandbox, waiting) {
            (true, Some(_)) => fl!(words, "guide-pay-sandbox"),
            (true, None) => fl!(words, "guide-pay-open"),
            (false, _) => fl!(words, "guide-pay-production"),
        },
        button: page.map(|path| Button {
            url: format!("{}{path}", app.settings.pages_url),
            label: fl!(words, "guide-pay-button"),
        }),
        curl: command,
    })
}

/// A command that does it. The key is whatever the shell knows by that name: none ever stands here.
fn curl(app: &App, path: &str, body: Option<&Value>) -> String {
    let quote = if path.contains('?') { "'" } else { "" };
    let mut command = format!("curl {quote}{}{path}{quote}", app.settings.base_url);
    command.push_str(" \\\n  -H \"Authorization: Bearer $LUNAS_KEY\"");
    if path == "/v1/payments" {
        command.push_str(" \\\n  -H \"Idempotency-Key: order-1-$(date +%s)\"");
    }
    if let Some(body) = body {
        command.push_str(&format!(" \\\n  -H \"Content-Type: application/json\" \\\n  -d '{body}'"));
    }
    command
}
