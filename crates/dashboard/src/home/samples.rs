//! The home page of a project, as samples for tests.

use askama::Template;
use domain::language::Language;

use super::{
    Concern, HomePage, Recent,
    figures::{Change, PeriodChoice, Stat},
    guide::{Button, Guide, Step, StepState},
};
use crate::{
    chart::Chart,
    samples::{badge, chart, hostile, now, shell},
};

fn home(language: Language, is_new: bool) -> HomePage {
    let button = Some(Button { url: "/x".to_owned(), label: hostile() });
    let state = StepState::Now { text: hostile(), button, curl: hostile() };
    let step = |number, state| Step { number, title: hostile(), state };
    let steps = vec![step(1, StepState::Done), step(2, state), step(3, StepState::Later)];
    HomePage {
        shell: shell(language),
        today: "15 November 2026".to_owned(),
        new_link_url: Some("/x".to_owned()),
        payments_url: "/x".to_owned(),
        guide: is_new.then(|| Guide { progress: "1/3".to_owned(), steps }),
        stats: vec![stat(is_new), stat(false)],
        period: stat(is_new),
        periods: vec![PeriodChoice { url: "/x".to_owned(), label: hostile(), is_chosen: is_new }],
        chart: if is_new { Chart::of(&[], language) } else { chart(language) },
        lacks_accounts: is_new,
        attention: if is_new {
            Vec::new()
        } else {
            vec![Concern { url: "/x".to_owned(), title: hostile(), detail: hostile() }]
        },
        recent: if is_new { Vec::new() } else { vec![recent(language)] },
    }
}

fn stat(is_new: bool) -> Stat {
    let percent = if is_new { "" } else { "+15%" }.to_owned();
    let change = Change { tone: if is_new { "" } else { "up" }, percent, text: hostile() };
    Stat { label: "Hari ini".to_owned(), amount: "Rp0".to_owned(), count: "0".to_owned(), change: Some(change) }
}

fn recent(language: Language) -> Recent {
    Recent {
        url: "/x".to_owned(),
        title: hostile(),
        detail: hostile(),
        amount: "Rp999.999.999.999".to_owned(),
        badge: badge("paid"),
        created: now(language),
    }
}

pub(crate) fn pages(language: Language) -> Vec<(&'static str, String)> {
    vec![("home", home(language, false).render().unwrap()), ("first home", home(language, true).render().unwrap())]
}
