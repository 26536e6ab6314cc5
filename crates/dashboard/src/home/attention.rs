//! What needs attention, money first.

use domain::{language::Language, money::Rupiah};
use engine::{FAILING_COUNTED, FailingSince, Home, RefundsWaiting};
use i18n_embed_fl::fl;
use web::page::words::grouped;

use crate::{
    page::Page,
    shell::{Shell, Unusable},
    words::Words,
};

/// Something that needs attention.
pub(crate) struct Concern {
    pub(crate) url: String,
    pub(crate) title: String,
    pub(crate) detail: String,
}

pub(super) fn concerns(page: &Page, shell: &Shell, home: &Home, refunds: &RefundsWaiting, base: &str) -> Vec<Concern> {
    let words = shell.words;
    let mut concerns = Vec::new();
    if home.held.receipts > 0 {
        let amount = home.held.amount.to_string();
        concerns.push(Concern {
            url: format!("{base}/balance/receipts"),
            title: fl!(words, "attention-held", amount = amount),
            detail: fl!(words, "attention-held-text", count = home.held.receipts),
        });
    }
    concerns.extend(waiting_refunds(words, refunds, base));
    if let Some(FailingSince { deliveries, since }) = home.failing.exhausted {
        let (shown, since) = (counted(page.language(), deliveries), page.moment(since).text);
        concerns.push(Concern {
            url: format!("{base}/notifications?show=exhausted"),
            title: fl!(words, "attention-exhausted", count = deliveries, shown = shown),
            detail: fl!(words, "attention-exhausted-text", since = since),
        });
    }
    if let Some(FailingSince { deliveries, since }) = home.failing.retrying {
        let (shown, since) = (counted(page.language(), deliveries), page.moment(since).text);
        concerns.push(Concern {
            url: format!("{base}/notifications?show=failing"),
            title: fl!(words, "attention-retrying", count = deliveries, shown = shown),
            detail: fl!(words, "attention-since", since = since),
        });
    }
    if let Some(unusable) = shell.unusable {
        let (title, detail) = match unusable {
            Unusable::Inactive => (fl!(words, "attention-inactive"), fl!(words, "attention-inactive-text")),
            Unusable::AwaitingApproval => (fl!(words, "attention-awaiting"), fl!(words, "attention-awaiting-text")),
        };
        concerns.push(Concern { url: format!("{base}/settings"), title, detail });
    }
    if page.project().webhook_url.is_none() {
        concerns.push(Concern {
            url: format!("{base}/notifications"),
            title: fl!(words, "attention-no-url"),
            detail: fl!(words, "attention-no-url-text"),
        });
    }
    concerns
}

/// Refunds that go no further by themselves, what is least certain first.
fn waiting_refunds(words: Words, waiting: &RefundsWaiting, base: &str) -> Vec<Concern> {
    let text = |amount: Rupiah| amount.to_string();
    let rows = [
        (
            waiting.uncertain,
            "?status=pending",
            fl!(words, "attention-refund-unknown", amount = text(waiting.uncertain.amount)),
        ),
        (waiting.short, "?status=pending", fl!(words, "attention-refund-short", amount = text(waiting.short.amount))),
        (
            waiting.to_approve,
            "?status=pending",
            fl!(words, "attention-refund-approval", amount = text(waiting.to_approve.amount)),
        ),
        (
            waiting.to_transfer,
            "/transfers",
            fl!(words, "attention-refund-transfer", amount = text(waiting.to_transfer.amount)),
        ),
        (
            waiting.without_account,
            "?status=requires_action",
            fl!(words, "attention-refund-accounts", amount = text(waiting.without_account.amount)),
        ),
    ];
    rows.into_iter()
        .filter(|(sum, ..)| sum.refunds > 0)
        .map(|(sum, rest, title)| Concern {
            url: format!("{base}/refunds{rest}"),
            title,
            detail: fl!(words, "attention-refund-count", count = sum.refunds),
        })
        .collect()
}

/// How many, or at least how many.
fn counted(language: Language, deliveries: i64) -> String {
    if deliveries < FAILING_COUNTED {
        deliveries.to_string()
    } else {
        format!("{}+", grouped(language, FAILING_COUNTED))
    }
}
