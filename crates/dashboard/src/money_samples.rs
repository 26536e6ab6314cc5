//! Every page about money, rendered from samples in both languages, and what must hold on all of them.

use askama::Template;
use domain::{language::Language, money::Rupiah, time::Timestamp};
use engine::Day;
use web::page::moment::{Moment, moment};

use crate::{
    balance::{BalancePage, Line, Tab, Tile},
    chart::Chart,
    home::{
        Concern, HomePage, Stat,
        guide::{Button, Guide, Step, StepState},
    },
    labels::Badge,
    payment::{Fact, PaymentShown, Through, timeline::Happening},
    payments::{
        Found, PaymentRow, PaymentsPage,
        filter::{Asked, Choice, Mistakes},
    },
    receipts::{
        decide::{Accepting, Answer, DecidePage, Offered},
        list::{ReceiptsPage, Row},
        wording::TakenDecision,
    },
    shell::{Attention, Section, Shell, ShellProject},
    table::Paging,
    words::{code, words},
};

/// A text that tries to break out of its place, and a word that tries to push the page sideways.
const HOSTILE: &str = "<script>alert(1)</script>\"'&WWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWW";
const NOW: Timestamp = Timestamp::from_millis(1_794_753_000_000);

fn hostile() -> String {
    HOSTILE.to_owned()
}

fn shell(language: Language) -> Shell {
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
        project: Some(ShellProject {
            name: hostile(),
            sandbox: true,
            rehearsal: true,
            base: "/dashboard/prj_1".to_owned(),
            attention: Attention { undecided: 1, failing: true },
        }),
        projects: Vec::new(),
        section: Section::Home,
        notice: None,
        unusable: None,
        live_url: Some("/dashboard/prj_1/live".to_owned()),
    }
}

fn now(language: Language) -> Moment {
    moment(NOW, language)
}

fn badge() -> Badge {
    Badge { status: "paid", text: "Dibayar".to_owned() }
}

fn chart(language: Language) -> Chart {
    Chart::of(&[Day { begins: NOW, payments: 2, amount: Rupiah::new(150_000) }], language)
}

fn paging() -> Paging {
    Paging { summary: "1–1".to_owned(), newer: Some("?page=1".to_owned()), older: Some("?page=3".to_owned()) }
}

fn row(language: Language, paid: bool) -> PaymentRow {
    PaymentRow {
        url: "/dashboard/prj_1/payments/pay_1".to_owned(),
        reference: hostile(),
        amount: "Rp999.999.999.999".to_owned(),
        badge: badge(),
        method: "QRIS".to_owned(),
        created: now(language),
        paid: paid.then(|| now(language)),
    }
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
        stats: vec![Stat { label: "Hari ini".to_owned(), amount: "Rp0".to_owned(), count: "0".to_owned() }],
        chart: chart(language),
        lacks_accounts: is_new,
        attention: if is_new {
            Vec::new()
        } else {
            vec![Concern { url: "/x".to_owned(), title: hostile(), detail: hostile() }]
        },
        recent: if is_new { Vec::new() } else { vec![row(language, true), row(language, false)] },
    }
}

fn payments(language: Language, found: Option<(usize, bool)>) -> PaymentsPage {
    let mistake = || found.is_none().then(hostile);
    let [search, status, method, from, to, link] = [(); 6].map(|()| hostile());
    PaymentsPage {
        shell: shell(language),
        path: "/dashboard/prj_1/payments".to_owned(),
        asked: Asked { search, status, method, from, to, link },
        mistakes: Mistakes { search: mistake(), status: mistake(), from: mistake(), ..Mistakes::default() },
        statuses: vec![Choice { value: hostile(), label: hostile(), chosen: true }],
        methods: Vec::new(),
        found: found.map(|(rows, is_everything)| Found {
            rows: (0..rows).map(|index| row(language, index == 0)).collect(),
            is_everything,
            count: "2".to_owned(),
            total: "Rp1".to_owned(),
            paging: paging(),
            csv_url: "/x.csv".to_owned(),
            excel_url: "/x.csv?separator=semicolon".to_owned(),
        }),
        begin_url: Some("/x".to_owned()),
    }
}

fn payment(language: Language, direct: bool) -> PaymentShown {
    let happening = |tone| Happening {
        tone,
        title: hostile(),
        detail: hostile(),
        at: (tone != "wait").then(|| now(language)),
        more_url: Some("/x".to_owned()),
    };
    PaymentShown {
        shell: shell(language),
        list_url: "/x".to_owned(),
        id: "pay_1".to_owned(),
        reference: hostile(),
        badge: badge(),
        say: "Dibayar".to_owned(),
        amount: "Rp150.000".to_owned(),
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
    }
}

fn decision(language: Language) -> TakenDecision {
    TakenDecision { badge: badge(), note: hostile(), at: now(language) }
}

fn receipts(language: Language, decided: bool, rows: usize) -> ReceiptsPage {
    let row = |_| Row {
        url: "/x".to_owned(),
        amount: "Rp1".to_owned(),
        reason: hostile(),
        paid: now(language),
        decision: decided.then(|| decision(language)),
    };
    ReceiptsPage {
        shell: shell(language),
        balance_url: "/x".to_owned(),
        path: "/x".to_owned(),
        decided,
        rows: (0..rows).map(row).collect(),
        paging: paging(),
    }
}

fn receipt(language: Language, offered: Offered) -> DecidePage {
    DecidePage {
        shell: shell(language),
        list_url: "/x".to_owned(),
        provider: hostile(),
        id: hostile(),
        amount: "Rp1".to_owned(),
        paid: now(language),
        received: now(language),
        reason: "x".to_owned(),
        payment_url: "/x".to_owned(),
        reference: hostile(),
        payment_amount: "Rp2".to_owned(),
        payment_badge: badge(),
        notice: Some(hostile()),
        offered,
    }
}

fn choice(accepts: bool) -> Offered {
    let answer = Answer { note: hostile(), mistake: Some(hostile()) };
    let accepting = Accepting { fee: "Rp1".to_owned(), net: "Rp1".to_owned(), answer: answer.clone() };
    Offered::Choice { accept: if accepts { Ok(accepting) } else { Err(hostile()) }, returning: answer }
}

fn samples(language: Language) -> Vec<(&'static str, String)> {
    let pages: [(&str, &dyn askama::DynTemplate); 16] = [
        ("home", &home(language, false)),
        ("first home", &home(language, true)),
        ("payments", &payments(language, Some((2, false)))),
        ("no payments", &payments(language, Some((0, true)))),
        ("no match", &payments(language, Some((0, false)))),
        ("mistaken", &payments(language, None)),
        ("payment", &payment(language, false)),
        ("direct payment", &payment(language, true)),
        ("balance", &balance(language, 2)),
        ("empty balance", &balance(language, 0)),
        ("receipts", &receipts(language, false, 2)),
        ("decided receipts", &receipts(language, true, 2)),
        ("no receipts", &receipts(language, false, 0)),
        ("receipt", &receipt(language, choice(true))),
        ("unfit receipt", &receipt(language, choice(false))),
        ("decided receipt", &receipt(language, Offered::Decided(decision(language)))),
    ];
    let viewer = receipt(language, Offered::Nothing).render().unwrap();
    let rendered = pages.map(|(name, page)| (name, page.dyn_render().unwrap()));
    rendered.into_iter().chain([("a viewer's receipt", viewer)]).collect()
}

#[test]
fn every_page_has_one_heading_and_nothing_that_its_policy_forbids() {
    for language in [Language::Indonesian, Language::English] {
        for (name, html) in samples(language) {
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
        }
    }
}

#[test]
fn every_part_that_follows_has_an_id() {
    for (name, html) in samples(Language::English) {
        for part in html.split("<").filter(|tag| tag.contains(" data-live")) {
            let tag = part.split('>').next().unwrap();
            assert!(tag.contains("data-live-url") || tag.contains(" id=\""), "{name}: {tag}");
        }
    }
}
