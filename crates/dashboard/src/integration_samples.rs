//! The pages for links, keys, webhooks and the simulator, rendered from samples, and what must hold on all of them.

use askama::Template;
use domain::{access::Role, language::Language, time::Timestamp, visible::split_hidden};
use web::page::moment::{Moment, moment};

use crate::{
    keys::{CreatedKey, KeyFields, KeyRow, Keys, RevokeKey, RightChoice},
    labels::Badge,
    links::{CancelLink, LinkPage, LinkRow, Links, PaymentRow, share::Share},
    new_link::{
        Choice, NewLink,
        filled::{Filled, Mistakes},
        preview::{FeeRow, Fees, Phone, PhoneMethod, Preview},
        price::{PriceFields, PriceMistakes},
    },
    notifications::{
        delivery::{Answer, AttemptRow, DeliveryPage},
        events::EventChoice,
        log::{EventRow, FilterChoice, KindChoice, LastShown, Log},
        secret::ReplaceSecret,
        snippets::snippets,
        url::RemoveUrl,
        view::{Notifications, ShownSecret},
    },
    shell::{Attention, Failing, Flash, ProjectChoice, Section, Shell, ShellProject},
    simulator::{Found, PendingRow, SimulatorPage},
    table::Paging,
    words::{code, words},
};

const LANGUAGES: [Language; 2] = [Language::Indonesian, Language::English];
const BASE: &str = "/dashboard/prj_01kc2m8r5gfq9t3v7x1y4z6a8b";
/// A name that tries to break out of its place.
const HOSTILE: &str =
    "</textarea><script>alert(1)</script>\"'&WWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWW";

fn text(text: &str) -> String {
    text.to_owned()
}

fn at(language: Language) -> Moment {
    moment(Timestamp::from_millis(1_794_752_125_000), language)
}

fn badge(status: &'static str) -> Badge {
    Badge { status, text: text("Aktif") }
}

fn shell(language: Language) -> Shell {
    Shell {
        words: words(language),
        language: code(language),
        switch_url: text("?lang=en"),
        style_url: "/assets/dashboard.css".into(),
        script_url: "/assets/dashboard.js".into(),
        email: text("siti@example.com"),
        is_operator: false,
        form_token: text("f0"),
        home_url: text("/dashboard"),
        new_project_url: text("/dashboard/projects/new"),
        account_url: text("/dashboard/account"),
        sign_out_url: text("/dashboard/sign-out"),
        operator_url: text("/dashboard/operator"),
        docs_url: Some("/docs".to_owned()),
        project: Some(ShellProject {
            name: text(HOSTILE),
            sandbox: true,
            rehearsal: true,
            base: text(BASE),
            may_look: true,
            may_sell: true,
            attention: Attention { undecided: 0, failing: Failing::Exhausted },
        }),
        projects: vec![ProjectChoice {
            url: text(BASE),
            name: text(HOSTILE),
            sandbox: true,
            role: Role::Owner,
            current: true,
        }],
        section: Section::Links,
        notice: None,
        unusable: None,
        live_url: Some(format!("{BASE}/live")),
    }
}

fn paging() -> Paging {
    Paging { summary: text("1–20 dari 40"), newer: None, older: Some(format!("{BASE}/links?page=2")) }
}

fn link_row(language: Language) -> LinkRow {
    LinkRow {
        url: format!("{BASE}/links/pl_1"),
        title: text(HOSTILE),
        reference: text(HOSTILE),
        amount: text("Rp999.999.999.999"),
        badge: badge("active"),
        created: at(language),
    }
}

fn links(language: Language, rows: Vec<LinkRow>, search: &str) -> String {
    let view = Links {
        shell: shell(language),
        base: text(BASE),
        search: text(search),
        rows,
        paging: paging(),
        may_create: true,
    };
    view.render().unwrap()
}

fn link(language: Language, payments: Vec<PaymentRow>) -> String {
    let view = LinkPage {
        shell: shell(language),
        base: text(BASE),
        row: link_row(language),
        description: text(HOSTILE),
        metadata: vec![(text(HOSTILE), text(HOSTILE)), (text("kasir"), text(""))],
        checkout_url: text("https://pay.example/p/pl_1"),
        share: Some(Share {
            whatsapp_url: text("https://wa.me/?text=Kopi"),
            poster_url: format!("{BASE}/links/pl_1/poster"),
            title: text(HOSTILE),
            text: text(HOSTILE),
        }),
        image_url: format!("{BASE}/links/pl_1/qr.png"),
        image_name: text("QR-PL-1.png"),
        expires: Some(at(language)),
        return_url: Some(text(HOSTILE)),
        cancelled: Some(at(language)),
        many: false,
        methods: vec![text("QRIS"), text("Virtual account BCA")],
        asked: vec![text("Nama")],
        payments,
        payments_url: format!("{BASE}/payments?link=pl_1"),
        payments_total: Some(text("11")),
        duplicate_url: Some(format!("{BASE}/links/new?from=pl_1")),
        edit_url: Some(format!("{BASE}/links/pl_1/edit")),
        cancel_url: Some(format!("{BASE}/links/pl_1/cancel")),
    };
    view.render().unwrap()
}

fn payment_row(language: Language) -> PaymentRow {
    PaymentRow {
        url: format!("{BASE}/payments/pay_1"),
        customer: text(HOSTILE),
        method: text("QRIS"),
        amount: text("Rp150.000"),
        badge: badge("paid"),
        created: at(language),
    }
}

fn cancel_link(language: Language, ended: Option<String>) -> String {
    let view = CancelLink {
        shell: shell(language),
        link_url: format!("{BASE}/links/pl_1"),
        title: text(HOSTILE),
        action: format!("{BASE}/links/pl_1/cancel"),
        pending: text("2"),
        ended,
    };
    view.render().unwrap()
}

fn fees(language: Language) -> Fees {
    let row = FeeRow {
        method: text("QRIS"),
        customer_pays: text("Rp150.000"),
        fee: text("Rp1.050"),
        you_receive: text("Rp148.950"),
    };
    Fees { words: words(language), rows: vec![row], note: Some(text("Paling sedikit Rp10.000")) }
}

fn preview(language: Language) -> Preview {
    let phone = Phone {
        words: words(language),
        is_sandbox: true,
        shop: text(HOSTILE),
        initial: text("<"),
        logo: None,
        amount: Some(text("Rp150.000")),
        choice: Some(text(HOSTILE)),
        title: text(HOSTILE),
        description: text(HOSTILE),
        reference: text(HOSTILE),
        methods: vec![PhoneMethod { mark: text("QR"), name: "QRIS" }],
        asked: vec![text("Nama")],
    };
    Preview { fees: fees(language), phone }
}

fn new_link(language: Language, mistake: Option<String>) -> String {
    let hostile = || text(HOSTILE);
    let choice = |name: &str| Choice { name: text(name), text: text("QRIS"), checked: true };
    let view = NewLink {
        shell: shell(language),
        base: text(BASE),
        attempt: text("0"),
        filled: Filled {
            title: hostile(),
            price: PriceFields { amount: hostile(), ..PriceFields::default() },
            description: hostile(),
            ..Filled::default()
        },
        mistakes: Mistakes {
            title: mistake.clone(),
            price: PriceMistakes {
                amount: mistake.clone(),
                quantity_max: mistake.clone(),
                amount_min: mistake.clone(),
                amount_max: mistake.clone(),
            },
            reference: mistake.clone(),
            description: mistake.clone(),
            expires_at: mistake.clone(),
            return_url: mistake.clone(),
            methods: mistake.clone(),
        },
        notice: mistake,
        preview: preview(language),
        prices: vec![choice("fixed")],
        methods: vec![choice("qris"), choice("virtual_account:bca")],
        asked: vec![choice("ask_name")],
    };
    view.render().unwrap()
}

fn key_row(language: Language) -> KeyRow {
    KeyRow {
        id: text("key_1"),
        name: text(HOSTILE),
        shown: text("sk_test_…abcd"),
        rights: text("Pembayaran"),
        networks: text("203.0.113.0/24, 2001:db8::/32"),
        created: at(language),
        used: Some(at(language)),
        badge: badge("active"),
        revoke_url: Some(format!("{BASE}/keys/key_1/revoke")),
    }
}

fn keys(language: Language, rows: Vec<KeyRow>, created: Option<CreatedKey>) -> String {
    let mistake = created.is_none().then(|| text("Nama sudah dipakai"));
    let view = Keys {
        shell: shell(language),
        base: text(BASE),
        attempt: text("0"),
        rows,
        may_manage: true,
        notice: mistake.clone(),
        new: KeyFields {
            name: text(HOSTILE),
            name_mistake: mistake.clone(),
            rights: vec![RightChoice {
                field: text("right-payments"),
                name: text(HOSTILE),
                hint: text(HOSTILE),
                checked: true,
            }],
            owners_give_more: created.is_none(),
            networks: text(HOSTILE),
            networks_mistake: mistake,
        },
        created,
    };
    view.render().unwrap()
}

fn revoke_key(language: Language, is_revoked: bool) -> String {
    let (keys_url, action) = (format!("{BASE}/keys"), format!("{BASE}/keys/key_1/revoke"));
    RevokeKey { shell: shell(language), keys_url, action, key: key_row(language), is_revoked }.render().unwrap()
}

fn notifications(language: Language, rows: Vec<EventRow>, may_manage: bool) -> String {
    let secret = ShownSecret { title: text("Secret"), text: text("Simpan"), value: text(HOSTILE) };
    let view = Notifications {
        shell: shell(language),
        base: text(BASE),
        may_manage,
        sandbox: true,
        has_url: true,
        url: text(HOSTILE),
        url_mistake: Some(text("Alamat ini tidak bisa dibaca")),
        previous_until: Some(at(language)),
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
        filters: vec![FilterChoice { url: text(HOSTILE), label: text(HOSTILE), is_chosen: is_filtered }],
        show: if is_filtered { "failing" } else { "" },
        kinds: vec![KindChoice { word: "payment.paid", is_chosen: is_filtered }],
        is_filtered,
    }
}

fn event_row(language: Language, status: Option<String>) -> EventRow {
    EventRow {
        url: format!("{BASE}/notifications/deliveries/evt_1"),
        kind: "payment.paid",
        about: text(HOSTILE),
        created: at(language),
        badge: badge("retrying"),
        next: Some(at(language)),
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
        at: at(language),
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
        about: text(HOSTILE),
        about_url: format!("{BASE}/payments/pay_1"),
        created: at(language),
        badge: badge("retrying"),
        next: Some(at(language)),
        attempts,
        url,
        headers: text("Content-Type: application/json"),
        pretty_body: text(HOSTILE),
        body: text(HOSTILE),
        resend_url: Some(format!("{BASE}/notifications/deliveries/evt_1/resend")),
        notice: Some(text("Belum ada URL")),
    };
    view.render().unwrap()
}

fn simulator(language: Language, rows: Vec<PendingRow>, may_simulate: bool) -> String {
    let found = Found {
        merchant: text(HOSTILE),
        amount: text("Rp150.000"),
        reference: text(HOSTILE),
        url: format!("{BASE}/payments/pay_1"),
        method: text("QRIS"),
        badge: badge("pending"),
        action: format!("{BASE}/simulator/pay_1"),
        attempt: text("0"),
        typed: text(HOSTILE),
        mistake: Some(text("Rupiah bulat")),
    };
    let view = SimulatorPage {
        shell: shell(language),
        base: text(BASE),
        may_simulate,
        more: true,
        code: text(HOSTILE),
        code_mistake: Some(text("Tidak ada")),
        found: (!rows.is_empty()).then_some(found),
        rows,
        flash: Some(Flash { text: text("Sudah selesai"), bad: may_simulate }),
    };
    view.render().unwrap()
}

fn pending(language: Language) -> PendingRow {
    PendingRow {
        url: format!("{BASE}/payments/pay_1"),
        reference: text(HOSTILE),
        amount: text("Rp150.000"),
        method: text("QRIS"),
        expires: at(language),
        action: format!("{BASE}/simulator/pay_1"),
    }
}

/// Every page in its states.
fn samples(language: Language) -> Vec<(&'static str, String)> {
    let created = CreatedKey {
        id: text("key_1"),
        title: text("Jadi"),
        secret: text("rahasia"),
        rights: text("Hanya membaca"),
        example: text(HOSTILE),
        example_text: text("Coba"),
    };
    let failed = Some((text("Server Anda tidak bisa dihubungi."), text(HOSTILE)));
    let attempts = vec![
        attempt(language, 3, None, Answer::Json { pretty: split_hidden(HOSTILE), raw: split_hidden(HOSTILE) }),
        attempt(language, 2, None, Answer::Text(split_hidden("a\u{202e}b\u{1b}"))),
        attempt(language, 1, failed, Answer::Empty),
    ];
    vec![
        ("links", links(language, vec![link_row(language)], HOSTILE)),
        ("no links", links(language, Vec::new(), "")),
        ("no link found", links(language, Vec::new(), HOSTILE)),
        ("link", link(language, vec![payment_row(language)])),
        ("new link's page", link(language, Vec::new())),
        ("cancel link", cancel_link(language, None)),
        ("cancelled link", cancel_link(language, Some(text("Sudah dibatalkan")))),
        ("new link", new_link(language, None)),
        ("new link again", new_link(language, Some(text("Salah")))),
        ("keys", keys(language, vec![key_row(language)], None)),
        ("created key", keys(language, Vec::new(), Some(created))),
        ("revoke key", revoke_key(language, false)),
        ("revoked key", revoke_key(language, true)),
        (
            "notifications",
            notifications(language, vec![event_row(language, None), event_row(language, Some(text("200")))], true),
        ),
        ("notifications without a match", notifications(language, Vec::new(), true)),
        ("notifications of a viewer", notifications(language, Vec::new(), false)),
        ("replace secret", replace_secret(language, None)),
        ("replace secret again", replace_secret(language, Some(at(language)))),
        ("remove url", remove_url(language, Some(text(HOSTILE)))),
        ("no url", remove_url(language, None)),
        ("delivery", delivery(language, attempts, Some(text(HOSTILE)))),
        ("event without url", delivery(language, Vec::new(), None)),
        ("simulator", simulator(language, vec![pending(language)], true)),
        ("simulator of a viewer", simulator(language, Vec::new(), false)),
    ]
}

#[test]
fn every_page_is_whole_in_both_languages_and_lets_nothing_break_out() {
    for language in LANGUAGES {
        for (name, html) in samples(language) {
            let name = format!("{name} ({})", code(language));
            assert_eq!(html.matches("<h1").count(), 1, "{name} has one heading");
            assert!(html.contains("<title>") && !html.contains("<title> ·"), "{name} has a title");
            assert!(!html.contains("No localization for id"), "{name} has all its texts");
            for wrong in ["<script>alert", " style=", " onclick=", " onsubmit=", "javascript:"] {
                assert!(!html.contains(wrong), "{name} has {wrong}");
            }
            assert!(html.contains("&#60;script&#62;"), "{name} shows hostile text as text");
            let main = html.split_once("<main").unwrap().1;
            assert!(
                main.matches("class=\"main\"").count() + main.matches("button main\"").count() <= 1,
                "{name}: one thing to do"
            );
            for form in main.split("<form").skip(1).filter(|form| form.contains("method=\"post\"")) {
                let form = form.split("</form>").next().unwrap();
                assert!(form.contains("name=\"form_token\""), "{name}: {form}");
            }
            let mut ids: Vec<&str> = html.split(" id=\"").skip(1).map(|rest| rest.split('"').next().unwrap()).collect();
            ids.sort_unstable();
            assert!(ids.windows(2).all(|pair| pair[0] != pair[1]), "{name} has an id twice: {ids:?}");
        }
    }
}

#[test]
fn the_preview_alone_is_what_the_form_shows_of_it() {
    for language in LANGUAGES {
        let (alone, whole) = (preview(language).render().unwrap(), new_link(language, None));
        assert!(alone.contains("Rp148.950") && !alone.contains("<html") && !alone.contains("<script>alert"));
        for part in [fees(language).render().unwrap(), preview(language).phone.render().unwrap()] {
            assert!(alone.contains(part.trim()) && whole.contains(part.trim()), "{part}");
        }
    }
}
