//! The pages about webhooks, as samples for tests.

use askama::Template;
use domain::{language::Language, visible::split_hidden};
use web::page::moment::Moment;

use super::{
    delivery::{Answer, AttemptRow, DeliveryPage},
    events::EventChoice,
    log::{EventRow, FilterChoice, KindChoice, LastShown, Log},
    secret::ReplaceSecret,
    snippets::snippets,
    url::RemoveUrl,
    view::{Notifications, ShownSecret},
};
use crate::{
    samples::{HOSTILE, badge, hostile, now, paging, shell, text},
    shell::Flash,
};

const BASE: &str = "/dashboard/prj_01kc2m8r5gfq9t3v7x1y4z6a8b";

fn notifications(language: Language, rows: Vec<EventRow>, may_manage: bool) -> String {
    let secret = ShownSecret { title: text("Secret"), text: text("Simpan"), value: hostile() };
    let view = Notifications {
        shell: shell(language),
        base: text(BASE),
        may_manage,
        sandbox: true,
        has_url: true,
        url: hostile(),
        url_mistake: Some(text("Alamat ini tidak bisa dibaca")),
        previous_until: Some(now(language)),
        secret: Some(secret),
        attempt: text("0"),
        events: vec![EventChoice { kind: "payment.expired", text: text("Tidak dibayar"), checked: may_manage }],
        log: log(rows, may_manage),
        since: text("2026-11-15T21:30"),
        since_mistake: Some(text("Waktu itu belum tiba")),
        flash: Some(Flash { text: text("Ada kabar"), bad: may_manage }),
        snippets: snippets(),
    };
    view.render().unwrap()
}

fn log(rows: Vec<EventRow>, is_filtered: bool) -> Log {
    Log {
        rows,
        paging: paging(),
        filters: vec![FilterChoice { url: hostile(), label: hostile(), is_chosen: is_filtered }],
        show: if is_filtered { "failing" } else { "" },
        kinds: vec![KindChoice { word: "payment.paid", is_chosen: is_filtered }],
        is_filtered,
    }
}

fn event_row(language: Language, status: Option<String>) -> EventRow {
    EventRow {
        url: format!("{BASE}/notifications/deliveries/evt_1"),
        kind: "payment.paid",
        about: hostile(),
        created: now(language),
        badge: badge("retrying"),
        next: Some(now(language)),
        last: Some(LastShown { is_failure: status.is_none(), status, latency: text("412") }),
        attempts: text("3"),
    }
}

fn replace_secret(language: Language, previous_until: Option<Moment>) -> String {
    let (back_url, action) = (format!("{BASE}/notifications"), format!("{BASE}/notifications/secret/roll"));
    ReplaceSecret { shell: shell(language), back_url, action, previous_until }.render().unwrap()
}

fn remove_url(language: Language, url: Option<String>) -> String {
    let (back_url, action) = (format!("{BASE}/notifications"), format!("{BASE}/notifications/url/remove"));
    RemoveUrl { shell: shell(language), back_url, action, url }.render().unwrap()
}

fn attempt(language: Language, number: usize, failure: Option<(String, String)>, answer: Answer) -> AttemptRow {
    AttemptRow {
        number,
        at: now(language),
        delivered: failure.is_none(),
        status: failure.is_none().then(|| text("200")),
        latency: text("412"),
        answer,
        failure,
    }
}

fn delivery(language: Language, attempts: Vec<AttemptRow>, url: Option<String>) -> String {
    let view = DeliveryPage {
        shell: shell(language),
        back_url: format!("{BASE}/notifications"),
        id: text("evt_1"),
        kind: "payment.paid",
        about: hostile(),
        about_url: format!("{BASE}/payments/pay_1"),
        created: now(language),
        badge: badge("retrying"),
        next: Some(now(language)),
        attempts,
        url,
        headers: text("Content-Type: application/json"),
        pretty_body: hostile(),
        body: hostile(),
        resend_url: Some(format!("{BASE}/notifications/deliveries/evt_1/resend")),
        notice: Some(text("Belum ada URL")),
    };
    view.render().unwrap()
}

pub(crate) fn pages(language: Language) -> Vec<(&'static str, String)> {
    let failed = Some((text("Server Anda tidak bisa dihubungi."), hostile()));
    let attempts = vec![
        attempt(language, 3, None, Answer::Json { pretty: split_hidden(HOSTILE), raw: split_hidden(HOSTILE) }),
        attempt(language, 2, None, Answer::Text(split_hidden("a\u{202e}b\u{1b}"))),
        attempt(language, 1, failed, Answer::Empty),
    ];
    vec![
        (
            "notifications",
            notifications(language, vec![event_row(language, None), event_row(language, Some(text("200")))], true),
        ),
        ("notifications without a match", notifications(language, Vec::new(), true)),
        ("notifications of a viewer", notifications(language, Vec::new(), false)),
        ("replace secret", replace_secret(language, None)),
        ("replace secret again", replace_secret(language, Some(now(language)))),
        ("remove url", remove_url(language, Some(hostile()))),
        ("no url", remove_url(language, None)),
        ("delivery", delivery(language, attempts, Some(hostile()))),
        ("event without url", delivery(language, Vec::new(), None)),
    ]
}
