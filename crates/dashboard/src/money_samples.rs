//! Every page about money, rendered from samples in both languages, and what must hold on all of them.

use domain::{language::Language, money::Rupiah, time::Timestamp};
use engine::Day;
use web::page::moment::{Moment, moment};

use crate::{
    balance::{AccountingForm, BalancePage, Line, Tab, Tile},
    chart::Chart,
    customer::{CustomerPage, Figure},
    home::{
        Concern, HomePage, Recent,
        figures::{Change, PeriodChoice, Stat},
        guide::{Button, Guide, Step, StepState},
    },
    labels::Badge,
    links::LinkRow,
    payment::{
        FeeOutlook, PaymentShown, Through,
        customer::Fact,
        held::Banner,
        timeline::{Happening, More},
    },
    payments::{
        Found, OfferedLink, PaymentsPage, Tile as SumTile,
        filter::{Asked, Choice, Mistakes},
        picks::{Head, Pick},
        rows::PaymentRow,
    },
    search::{CustomerRow, Found as SearchFound, SearchPage},
    shell::{Attention, Failing, Section, Shell, ShellProject},
    table::Paging,
    words::{code, words},
};

/// A text that tries to break out of its place, and a word that tries to push the page sideways.
const HOSTILE: &str = "<script>alert(1)</script>\"'&WWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWW";
const NOW: Timestamp = Timestamp::from_millis(1_794_753_000_000);

pub(crate) fn hostile() -> String {
    HOSTILE.to_owned()
}

pub(crate) fn shell(language: Language) -> Shell {
    Shell {
        words: words(language),
        language: code(language),
        switch_url: "/dashboard?lang=en".to_owned(),
        style_url: "/assets/dashboard.css".into(),
        script_url: "/assets/dashboard.js".into(),
        email: "siti@example.com".to_owned(),
        is_operator: false,
        form_token: "token".to_owned(),
        home_url: "/dashboard".to_owned(),
        new_project_url: "/dashboard/projects/new".to_owned(),
        account_url: "/dashboard/account".to_owned(),
        sign_out_url: "/dashboard/sign-out".to_owned(),
        operator_url: "/dashboard/operator".to_owned(),
        docs_url: Some("/docs".to_owned()),
        project: Some(ShellProject {
            name: hostile(),
            sandbox: true,
            rehearsal: true,
            base: "/dashboard/prj_1".to_owned(),
            may_look: true,
            may_sell: true,
            attention: Attention { undecided: 1, failing: Failing::Exhausted },
        }),
        projects: Vec::new(),
        section: Section::Home,
        notice: None,
        unusable: None,
        live_url: Some("/dashboard/prj_1/live".to_owned()),
    }
}

pub(crate) fn now(language: Language) -> Moment {
    moment(NOW, language)
}

pub(crate) fn badge() -> Badge {
    Badge { status: "paid", text: "Dibayar".to_owned() }
}

fn chart(language: Language) -> Chart {
    let amounts = [150_000, 90_000, 0, 120_000, 80_000_000];
    let day = |amount| Day { begins: NOW, payments: 2, amount: Rupiah::new(amount) };
    Chart::of(&amounts.map(day), language)
}

pub(crate) fn paging() -> Paging {
    Paging { summary: "1–1".to_owned(), newer: Some("?page=1".to_owned()), older: Some("?page=3".to_owned()) }
}

fn row(language: Language, is_named: bool) -> PaymentRow {
    PaymentRow {
        url: "/dashboard/prj_1/payments/pay_1".to_owned(),
        who: hostile(),
        reference: is_named.then(hostile),
        amount: "Rp999.999.999.999".to_owned(),
        billed: is_named.then(|| "tagihan Rp999.999.999.998".to_owned()),
        badge: badge(),
        method: "QRIS".to_owned(),
        created: now(language),
    }
}

fn pick() -> Pick {
    Pick { url: "/x".to_owned(), label: hostile(), is_chosen: true }
}

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
        badge: badge(),
        created: now(language),
    }
}

fn payments(language: Language, found: Option<(usize, bool)>) -> PaymentsPage {
    let mistake = || found.is_none().then(hostile);
    let [q, status, method, period, from, to, link, sort] = [(); 8].map(|()| hostile());
    let choice = || vec![Choice { value: hostile(), label: hostile(), chosen: true }];
    let head = |sorted| Head { url: "/x".to_owned(), sorted };
    PaymentsPage {
        shell: shell(language),
        path: "/dashboard/prj_1/payments".to_owned(),
        asked: Asked { q, status, method, period, from, to, link, sort },
        mistakes: Mistakes { q: mistake(), link: mistake(), from: mistake(), sort: mistake(), ..Mistakes::default() },
        tabs: vec![pick()],
        periods: vec![pick()],
        chosen: vec![pick()],
        statuses: choice(),
        methods: Vec::new(),
        sorts: choice(),
        titles: vec![hostile()],
        offered: vec![OfferedLink { url: "/x".to_owned(), title: hostile(), reference: hostile() }],
        found: found.map(|(rows, is_everything)| Found {
            rows: (0..rows).map(|index| row(language, index == 0)).collect(),
            is_everything,
            sums: vec![SumTile { label: "Dibayar".to_owned(), figure: "Rp1".to_owned(), text: "x".to_owned() }],
            unsorted: is_everything.then(hostile),
            by_time: head("descending"),
            by_amount: head(""),
            paging: paging(),
            csv_url: "/x.csv".to_owned(),
            excel_url: "/x.csv?separator=semicolon".to_owned(),
        }),
        begin_url: Some("/x".to_owned()),
    }
}

fn customer(language: Language) -> CustomerPage {
    CustomerPage {
        shell: shell(language),
        payments_url: "/x".to_owned(),
        name: hostile(),
        email: hostile(),
        phone: hostile(),
        figures: vec![Figure { label: "Sudah dibayar".to_owned(), figure: "Rp1".to_owned() }],
        held: Some(hostile()),
        receipts_url: "/x".to_owned(),
        rows: vec![row(language, true)],
        paging: paging(),
    }
}

fn search(language: Language, found: Option<usize>) -> SearchPage {
    let link = |_| LinkRow {
        url: "/x".to_owned(),
        title: hostile(),
        reference: hostile(),
        amount: "Rp1".to_owned(),
        badge: badge(),
        created: now(language),
    };
    let customer = |_| CustomerRow { url: "/x".to_owned(), name: hostile(), reached: hostile() };
    SearchPage {
        shell: shell(language),
        path: "/x".to_owned(),
        q: hostile(),
        mistake: found.is_none().then(hostile),
        found: found.map(|rows| SearchFound {
            payments: (0..rows).map(|_| row(language, true)).collect(),
            more_url: Some("/x".to_owned()),
            links: (0..rows).map(link).collect(),
            customers: (0..rows).map(customer).collect(),
        }),
    }
}

fn banner() -> Banner {
    Banner { title: "Rp1 menunggu keputusan".to_owned(), reason: hostile(), url: "/x".to_owned(), act: "x".to_owned() }
}

fn payment(language: Language, direct: bool) -> PaymentShown {
    let happening = |tone| Happening {
        tone,
        title: hostile(),
        detail: hostile(),
        at: (tone != "wait").then(|| now(language)),
        more: Some(More { url: "/x".to_owned(), label: hostile() }),
    };
    PaymentShown {
        shell: shell(language),
        list_url: "/x".to_owned(),
        id: "pay_1".to_owned(),
        reference: hostile(),
        badge: badge(),
        say: "Dibayar".to_owned(),
        amount: "Rp150.000".to_owned(),
        billed: "Rp150.000".to_owned(),
        banners: (0..3).map(|_| banner()).filter(|_| !direct).collect(),
        banners_more: (!direct).then(hostile),
        received: (!direct).then(|| "Rp149.000".to_owned()),
        pieces: (!direct).then(|| "3 × Rp50.000".to_owned()),
        fees: if direct { FeeOutlook::Expected } else { FeeOutlook::Taken },
        fee: "-Rp1.050".to_owned(),
        net: "Rp148.950".to_owned(),
        method: "QRIS".to_owned(),
        code_label: "QRIS".to_owned(),
        code: hostile(),
        created: now(language),
        paid: (!direct).then(|| now(language)),
        expires: now(language),
        happenings: ["", "good", "bad", "wait"].map(happening).into(),
        link: (!direct).then(|| Through { url: "/x".to_owned(), title: hostile() }),
        customer: (!direct).then(|| vec![Fact { label: "Nama".to_owned(), text: hostile() }]),
        customer_url: (!direct).then(hostile),
        device: vec![Fact { label: "Perangkat".to_owned(), text: hostile() }],
        metadata: vec![(hostile(), hostile())],
        json: hostile(),
        checkout_url: "/pay/pay_1".to_owned(),
        simulator_url: direct.then(|| "/x".to_owned()),
    }
}

fn balance(language: Language, lines: usize) -> BalancePage {
    let line = |_| Line {
        at: now(language),
        kind: hostile(),
        payment_url: "/x".to_owned(),
        reference: hostile(),
        amount: "+Rp1".to_owned(),
        balance: "Rp1".to_owned(),
    };
    BalancePage {
        shell: shell(language),
        tiles: vec![Tile { label: "Tersedia".to_owned(), amount: "Rp1".to_owned(), text: "x".to_owned() }],
        receipts_url: "/x".to_owned(),
        undecided: (lines > 0).then(hostile),
        chart: chart(language),
        tabs: vec![Tab { url: "/x".to_owned(), label: "Tersedia".to_owned(), is_chosen: true }],
        lines: (0..lines).map(line).collect(),
        paging: paging(),
        accounting_url: "/x".to_owned(),
        accounting: AccountingForm { from: hostile(), to_mistake: Some(hostile()), ..AccountingForm::default() },
    }
}

fn samples(language: Language) -> Vec<(&'static str, String)> {
    let pages: [(&str, &dyn askama::DynTemplate); 14] = [
        ("home", &home(language, false)),
        ("first home", &home(language, true)),
        ("payments", &payments(language, Some((2, false)))),
        ("no payments", &payments(language, Some((0, true)))),
        ("no match", &payments(language, Some((0, false)))),
        ("mistaken", &payments(language, None)),
        ("customer", &customer(language)),
        ("search", &search(language, Some(2))),
        ("nothing found", &search(language, Some(0))),
        ("mistaken search", &search(language, None)),
        ("payment", &payment(language, false)),
        ("direct payment", &payment(language, true)),
        ("balance", &balance(language, 2)),
        ("empty balance", &balance(language, 0)),
    ];
    pages.map(|(name, page)| (name, page.dyn_render().unwrap())).into()
}

/// What must hold on every page.
pub(crate) fn check_page(name: &str, html: &str, language: Language) {
    assert_eq!(html.matches("<h1").count(), 1, "{name}");
    assert!(html.contains(&format!("<html lang=\"{}\">", code(language))), "{name}");
    assert!(!html.contains("No localization for id"), "{name}: {html}");
    for forbidden in [" style=", " onclick=", " onload=", "javascript:", "<script>", "</script>\"'"] {
        assert!(!html.contains(forbidden), "{name} has {forbidden}");
    }
    for form in html.split("<form").skip(1).filter(|form| form.contains("method=\"post\"")) {
        assert!(form.contains("name=\"form_token\""), "{name}: every form that is posted has a token");
    }
    let ids: Vec<&str> = html.split(" id=\"").skip(1).filter_map(|rest| rest.split('"').next()).collect();
    for id in &ids {
        assert_eq!(ids.iter().filter(|other| *other == id).count(), 1, "{name} has the id {id} once");
    }
    for part in html.split('<').filter(|tag| tag.contains(" data-live")) {
        let tag = part.split('>').next().unwrap();
        assert!(tag.contains("data-live-url") || tag.contains(" id=\""), "{name}: what follows has an id: {tag}");
    }
}

#[test]
fn every_page_has_one_heading_and_nothing_that_its_policy_forbids() {
    for language in [Language::Indonesian, Language::English] {
        for (name, html) in samples(language) {
            check_page(name, &html, language);
        }
    }
}
