//! Renders every page in every state from sample data, and checks what must hold on all pages. For tests only.

mod prices;

use askama::Template;
use domain::{bank::Bank, instructions::step_groups, language::Language, money::Rupiah, qr_image};
use web::page::{moment::Moment, page_error::ProblemKind};

use crate::{
    view::{
        Account, BankRow, Change, Choose, Closed, ClosedReason, ContactLink, ContactWay, Ended, Field, FieldKind,
        Frame, FrameLogo, MethodRow, Mistake, NextStep, Notice, Order, Paid, Pending, Problem, Processing, Qris,
        Replaced, ShopFace, Steps, Stripe, TryLater, Unapplied, UnappliedStanding, Unpaid, UnpaidReason,
    },
    words::{code, words},
};

const LANGUAGES: [Language; 2] = [Language::Indonesian, Language::English];

/// As long as a usual QRIS payload.
const PAYLOAD: &str = "00020101021226590014ID.CO.LUNAS.WWW0118936000000000000001020300003033UME51440014ID.CO.QRIS.WWW0215ID\
                       10200000000010303UME5204581453033605406150000580210D5915Toko Kopi Senja6007BANDUNG6304A1B2";

/// The most bytes of a page, so that a first load with style sheet, script and headers stays below 14 KB.
const MOST_CHOOSER_BYTES: usize = 6_500;
const MOST_PENDING_BYTES: usize = 7_500;

/// A merchant's name that tries to inject script, and that is too long for one line.
const HOSTILE: &str = "<script>alert(1)</script>\"'&WWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWW";

struct Sample {
    name: String,
    language: &'static str,
    stripe: Option<Stripe>,
    html: String,
}

/// The settings that a sample is rendered with.
#[derive(Clone, Copy)]
struct Setting {
    language: Language,
    stripe: Option<Stripe>,
    merchant: &'static str,
}

impl Setting {
    fn frame(self) -> Frame {
        Frame {
            words: words(self.language),
            language: code(self.language),
            switch_url: "/p/pl_01kc2m8r5gfq9t3v7x1y4z6a8b?lang=en".to_owned(),
            style_url: "/assets/checkout.css?v=1".into(),
            script_url: "/assets/checkout.js?v=1".into(),
            stripe: self.stripe,
            merchant: Some(self.merchant.to_owned()),
            face: ShopFace {
                logo: Some(FrameLogo { url: "/p/logo/0a.png".to_owned(), width: 480, height: 160 }),
                style_url: Some("/p/colour/0b57d0.0a.css".to_owned()),
                contact: Some(ContactLink { url: "tel:+62215550000".to_owned(), way: ContactWay::Phone }),
            },
        }
    }

    fn order(self) -> Order {
        let hostile = self.merchant == HOSTILE;
        Order {
            merchant: self.merchant.to_owned(),
            title: Some(if hostile { HOSTILE } else { "Biji kopi Gayo 1 kg" }.to_owned()),
            description: Some("2 × 500 gram, sangrai sedang\nDikirim dari Bandung".to_owned()),
            reference: if hostile { HOSTILE } else { "INV-2026-00123" }.to_owned(),
            amount: if hostile { "Rp999.999.999.999" } else { "Rp150.000" }.to_owned(),
            pieces: None,
        }
    }

    fn pending(self) -> Pending {
        Pending {
            order: self.order(),
            unapplied: Vec::new(),
            payment_id: "pay_01kc2m8r5gfq9t3v7x1y4z6a8b".to_owned(),
            deadline: moment(),
            expires_at_millis: 1_794_753_000_000,
            now_millis: 1_794_752_125_000,
            page_url: "/pay/pay_01kc2m8r5gfq9t3v7x1y4z6a8b".to_owned(),
            status_url: "/pay/pay_01kc2m8r5gfq9t3v7x1y4z6a8b/status".to_owned(),
            events_url: "/pay/pay_01kc2m8r5gfq9t3v7x1y4z6a8b/events".to_owned(),
            change: Change::Allowed { url: "/p/pl_01kc2m8r5gfq9t3v7x1y4z6a8b?change=pay_01kc2m8r5g".to_owned() },
            simulate_url: (self.stripe == Some(Stripe::Sandbox))
                .then(|| "/pay/pay_01kc2m8r5gfq9t3v7x1y4z6a8b/simulate".to_owned()),
        }
    }

    fn ended(self) -> Ended {
        let payment_id = "pay_01kc2m8r5gfq9t3v7x1y4z6a8b".to_owned();
        Ended { order: self.order(), unapplied: Vec::new(), payment_id, method: "QRIS".to_owned(), back: None }
    }

    fn choose(self) -> Choose {
        Choose {
            frame: self.frame(),
            order: self.order(),
            price: None,
            methods: methods(),
            fields: vec![field(FieldKind::Name, None), field(FieldKind::Email, None)],
            action: "/p/pl_01kc2m8r5gfq9t3v7x1y4z6a8b".to_owned(),
            attempt: "01kc2m8r5gfq9t3v7x1y4z6a8b".to_owned(),
            replaces: None,
            notice: None,
        }
    }

    fn qris(self) -> Qris {
        Qris {
            frame: self.frame(),
            pending: self.pending(),
            image: format!("data:image/png;base64,{}", base64(&qr_image::png(PAYLOAD).unwrap())),
            image_url: "/pay/pay_01kc2m8r5gfq9t3v7x1y4z6a8b/qr.png".to_owned(),
            image_name: "INV-2026-00123.png".to_owned(),
        }
    }

    fn account(self, bank: Bank) -> Account {
        let number = bank.account_number(12_345_678);
        let groups = step_groups(bank, &number, Rupiah::new(150_000), self.language).into_iter();
        Account {
            frame: self.frame(),
            pending: self.pending(),
            bank: row(bank),
            grouped_number: number.as_bytes().chunks(4).map(String::from_utf8_lossy).collect::<Vec<_>>().join(" "),
            number,
            amount_digits: "150000".to_owned(),
            steps: groups.map(|group| Steps { title: group.title, steps: group.steps }).collect(),
        }
    }

    fn unpaid(self, why: UnpaidReason, next: NextStep) -> Unpaid {
        Unpaid {
            frame: self.frame(),
            ended: self.ended(),
            why,
            expired_at: moment(),
            next,
            status_url: self.pending().status_url,
            events_url: self.pending().events_url,
        }
    }

    fn problem(self, kind: ProblemKind) -> Problem {
        let known = kind != ProblemKind::NotFound;
        let merchant = self.frame().merchant.filter(|_| known);
        Problem {
            frame: Frame { merchant, ..self.frame() },
            kind,
            support_reference: known.then(|| "req_01kc2m8r5gfq9t3v7x1y4z6a8b".to_owned()),
            next_url: known.then(|| "/p/pl_01kc2m8r5gfq9t3v7x1y4z6a8b".to_owned()),
        }
    }
}

fn base64(bytes: &[u8]) -> String {
    use base64::{Engine, engine::general_purpose::STANDARD};
    STANDARD.encode(bytes)
}

fn moment() -> Moment {
    Moment { text: "15 November 2026 pukul 21.30 WIB".to_owned(), utc: "2026-11-15T14:30:00Z".to_owned() }
}

fn row(bank: Bank) -> BankRow {
    BankRow { name: bank.name(), mark: bank.code().to_uppercase() }
}

/// All payment methods, one of them unavailable.
fn methods() -> Vec<MethodRow> {
    let qris = MethodRow { value: "qris".to_owned(), bank: None, checked: true, down: false };
    let banks = Bank::ALL.into_iter().map(|bank| MethodRow {
        value: format!("virtual_account:{}", bank.code()),
        bank: Some(row(bank)),
        checked: false,
        down: bank == Bank::Bni,
    });
    std::iter::once(qris).chain(banks).collect()
}

fn field(kind: FieldKind, mistake: Option<Mistake>) -> Field {
    let value = match (mistake, kind) {
        (Some(Mistake::Missing), _) => "",
        (_, FieldKind::Name) => "Sari Dewi",
        (_, FieldKind::Email) => "sari.dewi@",
        (_, FieldKind::Phone) => "0812 3456 7890",
        (_, FieldKind::Address) => "Jl. Braga 1\nBandung",
    };
    Field { kind, value: value.to_owned(), mistake }
}

/// The form after a submission with no method chosen and every kind of mistake.
fn mistaken(setting: Setting) -> Choose {
    let methods = methods().into_iter().map(|row| MethodRow { checked: false, ..row }).collect();
    let fields = vec![
        field(FieldKind::Name, Some(Mistake::Missing)),
        field(FieldKind::Email, Some(Mistake::Malformed)),
        field(FieldKind::Phone, Some(Mistake::TooLong { most: 255 })),
        field(FieldKind::Address, Some(Mistake::Malformed)),
    ];
    Choose { methods, fields, notice: Some(Notice::Mistakes), ..setting.choose() }
}

fn choosers(setting: Setting) -> Vec<(&'static str, String)> {
    let replaced = Replaced { payment_id: "pay_1".to_owned(), url: "/pay/pay_1".to_owned() };
    let lone = methods().into_iter().take(1).collect();
    let none = methods().into_iter().map(|row| MethodRow { checked: false, down: true, ..row }).collect();
    let untitled = Order { title: None, description: None, ..setting.order() };
    vec![
        ("choose", setting.choose().render().unwrap()),
        ("choose-mistakes", mistaken(setting).render().unwrap()),
        ("choose-down", Choose { notice: Some(Notice::MethodDown), ..setting.choose() }.render().unwrap()),
        ("choose-replaces", Choose { replaces: Some(replaced), ..setting.choose() }.render().unwrap()),
        ("choose-lone", Choose { methods: lone, fields: vec![], ..setting.choose() }.render().unwrap()),
        ("choose-none", Choose { methods: none, fields: vec![], ..setting.choose() }.render().unwrap()),
        ("choose-untitled", Choose { order: untitled, ..setting.choose() }.render().unwrap()),
    ]
}

fn pendings(setting: Setting) -> Vec<(&'static str, String)> {
    let direct = || {
        let order = Order { title: None, description: None, ..setting.order() };
        Pending { order, change: Change::NotAllowed, ..setting.pending() }
    };
    let with = |change| Pending { change, ..setting.pending() };
    let processing = Processing {
        frame: setting.frame(),
        ended: setting.ended(),
        page_url: setting.pending().page_url,
        status_url: setting.pending().status_url,
        events_url: setting.pending().events_url,
        simulate_url: setting.pending().simulate_url,
    };
    vec![
        ("qris", setting.qris().render().unwrap()),
        ("qris-direct", Qris { pending: direct(), ..setting.qris() }.render().unwrap()),
        ("qris-being-paid", Qris { pending: with(Change::BeingPaid), ..setting.qris() }.render().unwrap()),
        ("account-closed", Account { pending: with(Change::Closed), ..setting.account(Bank::Bca) }.render().unwrap()),
        ("account", setting.account(Bank::Bca).render().unwrap()),
        ("account-direct", Account { pending: direct(), ..setting.account(Bank::Danamon) }.render().unwrap()),
        ("processing", processing.render().unwrap()),
    ]
}

/// Money that did not pay, in every standing.
fn money() -> Vec<Unapplied> {
    let standings = [
        UnappliedStanding::TooLate,
        UnappliedStanding::Cancelled,
        UnappliedStanding::OtherAmount,
        UnappliedStanding::PaidTwice,
        UnappliedStanding::LinkPaid,
        UnappliedStanding::Unclear,
        UnappliedStanding::Returned,
        UnappliedStanding::UsedElsewhere,
    ];
    standings.map(|standing| Unapplied { amount: "Rp150.000".to_owned(), standing }).into()
}

/// Pages of payments with money that did not pay them.
fn unapplied(setting: Setting) -> Vec<(&'static str, String)> {
    let ended = |unapplied| Ended { unapplied, ..setting.ended() };
    let again = NextStep::Again { url: "/p/pl_01kc2m8r5gfq9t3v7x1y4z6a8b".to_owned() };
    let returned = || money().into_iter().filter(|money| !money.is_held()).collect();
    let late = Unpaid { ended: ended(money()), ..setting.unpaid(UnpaidReason::Expired, again) };
    let settled = Unpaid { ended: ended(returned()), ..setting.unpaid(UnpaidReason::Expired, NextStep::AskMerchant) };
    let paid = Paid { frame: setting.frame(), ended: ended(money()), paid_at: moment() };
    let less = Account { pending: Pending { unapplied: money(), ..setting.pending() }, ..setting.account(Bank::Bca) };
    vec![
        ("expired-held", late.render().unwrap()),
        ("expired-returned", settled.render().unwrap()),
        ("paid-twice", paid.render().unwrap()),
        ("account-held", less.render().unwrap()),
    ]
}

fn ends(setting: Setting) -> Vec<(&'static str, String)> {
    let again = || NextStep::Again { url: "/p/pl_01kc2m8r5gfq9t3v7x1y4z6a8b".to_owned() };
    let closed = |reason| Closed { frame: setting.frame(), order: setting.order(), reason }.render().unwrap();
    let problem = |kind| setting.problem(kind).render().unwrap();
    let paid = Paid { frame: setting.frame(), ended: setting.ended(), paid_at: moment() };
    let try_later = TryLater {
        frame: setting.frame(),
        order: setting.order(),
        until: moment(),
        url: "/p/pl_01kc2m8r5gfq9t3v7x1y4z6a8b".to_owned(),
    };
    vec![
        ("paid", paid.render().unwrap()),
        ("expired", setting.unpaid(UnpaidReason::Expired, again()).render().unwrap()),
        ("expired-for-good", setting.unpaid(UnpaidReason::Expired, NextStep::AskMerchant).render().unwrap()),
        ("failed", setting.unpaid(UnpaidReason::Failed, again()).render().unwrap()),
        ("cancelled", setting.unpaid(UnpaidReason::Cancelled, again()).render().unwrap()),
        ("cancelled-paid", setting.unpaid(UnpaidReason::Cancelled, NextStep::AlreadyPaid).render().unwrap()),
        ("failed-being-paid", setting.unpaid(UnpaidReason::Failed, NextStep::BeingPaid).render().unwrap()),
        ("closed-cancelled", closed(ClosedReason::Cancelled)),
        ("closed-inactive", closed(ClosedReason::Inactive)),
        ("closed-already-paid", closed(ClosedReason::AlreadyPaid)),
        ("closed-being-paid", closed(ClosedReason::BeingPaid)),
        ("closed-no-method", closed(ClosedReason::NoMethod)),
        ("try-later", try_later.render().unwrap()),
        ("problem-not-found", problem(ProblemKind::NotFound)),
        ("problem-forbidden", problem(ProblemKind::Forbidden)),
        ("problem-too-many", problem(ProblemKind::TooMany)),
        ("problem-not-understood", problem(ProblemKind::NotUnderstood)),
        ("problem-unavailable", problem(ProblemKind::Unavailable)),
        ("problem-broken", problem(ProblemKind::Broken)),
    ]
}

fn samples() -> Vec<Sample> {
    let kinds = [
        ("", "Toko Kopi Senja", Some(Stripe::Sandbox)),
        ("rehearsal-", "Toko Kopi Senja", Some(Stripe::Rehearsal)),
        ("live-", "Toko Kopi Senja", None),
        ("hostile-", HOSTILE, None),
    ];
    let mut samples = Vec::new();
    for language in LANGUAGES {
        for (kind, merchant, stripe) in kinds {
            let setting = Setting { language, stripe, merchant };
            let pages =
                [choosers(setting), pendings(setting), ends(setting), unapplied(setting), prices::pages(setting)];
            let pages = pages.into_iter().flatten();
            let language = code(language);
            samples.extend(pages.map(|(page, html)| {
                let name = format!("{kind}{page}.{language}");
                Sample { name, language, stripe, html }
            }));
        }
    }
    samples
}

/// The text between `before` and `after`.
fn between<'a>(html: &'a str, before: &str, after: &str) -> &'a str {
    let from = html.find(before).unwrap_or_else(|| panic!("no {before}")) + before.len();
    let length = html[from..].find(after).unwrap_or_else(|| panic!("no {after} after {before}"));
    &html[from..from + length]
}

/// The names of all attributes of a page. A simple scan that respects quotation marks is enough here.
fn attributes(html: &str) -> Vec<&str> {
    let outside_of_quotes = html.split('<').skip(1).flat_map(|tag| tag.split('>').next()).flat_map(|tag| {
        let (head, quoted) = tag.split_once('"').unwrap_or((tag, ""));
        std::iter::once(head).chain(quoted.split('"').skip(1).step_by(2))
    });
    outside_of_quotes.flat_map(|text| text.split_whitespace()).map(|word| word.trim_end_matches('=')).collect()
}

#[test]
fn every_page_says_its_language_and_its_state_once() {
    for Sample { name, language, html, .. } in samples() {
        assert!(html.starts_with(&format!("<!doctype html>\n<html lang=\"{language}\">")), "{name}");
        assert_eq!(html.matches("<h1").count(), 1, "{name}");
        assert_eq!(html.matches("<main").count(), 1, "{name}");
        let title = between(&html, "<title>", "</title>");
        assert!(!title.trim().is_empty() && title.trim() == title, "{name}: {title:?}");
        assert!(html.contains("<meta name=\"robots\" content=\"noindex,nofollow\">"), "{name}");
        let other = if language == "id" { "en" } else { "id" };
        assert!(html.contains(&format!("hreflang=\"{other}\" lang=\"{other}\"")), "{name}");
    }
}

#[test]
fn every_state_has_a_title_of_its_own() {
    let setting = Setting { language: Language::Indonesian, stripe: None, merchant: "Toko" };
    let pages = [choosers(setting), pendings(setting), ends(setting), unapplied(setting)].into_iter().flatten();
    // These show a state that another sample has already.
    let same = [
        "choose-down",
        "choose-replaces",
        "choose-lone",
        "choose-none",
        "choose-untitled",
        "qris-direct",
        "qris-being-paid",
        "account-closed",
        "expired-for-good",
        "cancelled-paid",
        "failed-being-paid",
        "expired-held",
        "expired-returned",
        "paid-twice",
        "account-held",
    ];
    let mut titles: Vec<_> = pages
        .filter(|(page, _)| !same.contains(page))
        .map(|(_, html)| between(&html, "<title>", "</title>").to_owned())
        .collect();
    let count = titles.len();
    titles.sort();
    titles.dedup();
    assert_eq!(titles.len(), count, "{titles:?}");
}

#[test]
fn no_page_asks_for_what_the_content_security_policy_forbids() {
    for Sample { name, html, .. } in samples() {
        let html = html.replace("<script src=\"/assets/more.js?v=1\" defer></script>", "");
        assert_eq!(html.matches("<script").count(), 1, "{name}");
        assert!(html.contains("<script src=\"/assets/checkout.js?v=1\" defer></script>"), "{name}");
        assert!(!html.contains("<style"), "{name}");
        let html = html.replace(&format!("id=\"back\" href=\"{}", prices::BACK), "");
        assert!(!html.contains("http://") && !html.contains("https://") && !html.contains("=\"//"), "{name}");
        for attribute in attributes(&html) {
            assert!(attribute != "style" && !attribute.starts_with("on"), "{name}: {attribute}");
        }
    }
}

#[test]
fn pages_without_real_money_say_so_and_only_the_sandbox_has_a_simulator() {
    for Sample { name, language, stripe, html } in samples() {
        assert_eq!(html.contains("class=\"stripe\""), stripe.is_some(), "{name}");
        let rehearsal = if language == "id" { "Latihan: bukan uang sungguhan" } else { "Rehearsal: no real money" };
        assert_eq!(html.contains(rehearsal), stripe == Some(Stripe::Rehearsal), "{name}");
        let pays = ["qris", "account", "processing"].iter().any(|page| name.starts_with(page));
        assert_eq!(html.contains("name=\"outcome\""), stripe == Some(Stripe::Sandbox) && pays, "{name}");
    }
}

#[test]
fn pages_with_a_form_let_the_browser_name_their_origin() {
    for Sample { name, html, .. } in samples() {
        let says = html.contains("<meta name=\"referrer\" content=\"same-origin\">");
        assert_eq!(says, html.contains("<form"), "{name}");
    }
}

#[test]
fn ends_take_the_focus_and_pending_pages_do_not() {
    for Sample { name, html, .. } in samples() {
        let chooses = name.contains("choose");
        let waits = name.contains("qris") || name.contains("account");
        let focuses = html.contains("<h1 tabindex=\"-1\" autofocus>");
        assert_eq!(focuses, !chooses && !waits, "{name}");
    }
}

#[test]
fn what_can_still_change_is_watched() {
    for Sample { name, html, .. } in samples() {
        let kinds = ["rehearsal-", "live-", "hostile-"];
        let plain = kinds.iter().find_map(|kind| name.strip_prefix(kind)).unwrap_or(&name);
        let status = |page: &str| plain.starts_with(page);
        let expected = match () {
            () if status("qris") || status("account") => Some("pending"),
            () if status("processing") => Some("processing"),
            () if status("expired") => Some("expired"),
            () if status("failed") => Some("failed"),
            () if status("cancelled") => Some("cancelled"),
            () => None,
        };
        let watched = html.contains("id=\"watch\"").then(|| between(&html, "role=\"status\" data-status=\"", "\""));
        assert_eq!(watched, expected, "{name}");
    }
}

#[test]
fn pages_are_light_enough_for_a_slow_phone() {
    for Sample { name, html, .. } in samples() {
        let most = match name.as_str() {
            "choose.id" | "choose.en" | "rehearsal-choose.id" | "live-choose.id" | "live-choose.en" => {
                MOST_CHOOSER_BYTES
            }
            _ if name.starts_with("hostile") => continue,
            _ => MOST_PENDING_BYTES,
        };
        assert!(html.len() <= most, "{name} has {} bytes", html.len());
    }
}

#[test]
fn money_that_did_not_pay_is_told_of_and_asks_nobody_to_pay_again() {
    for Sample { name, html, .. } in samples() {
        let tells = name.contains("-held") || name.contains("-returned") || name.contains("paid-twice");
        assert_eq!(html.contains("class=\"note held\""), tells, "{name}");
        if name.contains("expired-held") {
            assert!(!html.contains("class=\"button main\""), "{name}: another code is not what is asked for first");
        }
    }
}
