//! Renders every page in every state from sample data. For tests only.

pub(crate) mod claims;
pub(crate) mod prices;

use askama::Template;
use domain::{bank::Bank, language::Language, money::Rupiah};
use i18n_embed_fl::fl;
use picture::qr_image;
use web::page::{moment::Moment, page_error::ProblemKind};

use crate::{
    parts::bank_row,
    pay::{numbers, steps},
    preview::Preview,
    view::{
        Account, Change, Choose, Closed, ClosedReason, ContactLink, ContactWay, Ended, Field, FieldKind, FormNotice,
        Frame, FrameLogo, Looked, MethodRow, Mistake, NextStep, Order, Paid, Pending, Problem, Processing, Qris,
        Replaced, ShopFace, Slip, Stripe, TryLater, Unapplied, UnappliedStanding, Unpaid, UnpaidReason,
    },
    words::{code, words},
};

const LANGUAGES: [Language; 2] = [Language::Indonesian, Language::English];

/// As long as a usual QRIS payload.
const PAYLOAD: &str = "00020101021226590014ID.CO.LUNAS.WWW0118936000000000000001020300003033UME51440014ID.CO.QRIS.WWW0215ID\
                       10200000000010303UME5204581453033605406150000580210D5915Toko Kopi Senja6007BANDUNG6304A1B2";

/// A merchant's name that tries to inject script, and that is too long for one line.
pub(crate) const HOSTILE: &str =
    "<script>alert(1)</script>\"'&WWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWW";

pub(crate) struct Sample {
    pub(crate) name: String,
    pub(crate) language: &'static str,
    pub(crate) stripe: Option<Stripe>,
    pub(crate) html: String,
}

/// The settings that a sample is rendered with.
#[derive(Clone, Copy)]
pub(crate) struct Setting {
    pub(crate) language: Language,
    pub(crate) stripe: Option<Stripe>,
    pub(crate) merchant: &'static str,
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
                contacts: vec![ContactLink {
                    url: "tel:+62215550000".to_owned(),
                    way: ContactWay::Phone,
                    text: "+62215550000".to_owned(),
                }],
            },
            preview: None,
            framed: None,
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

    fn looked(self) -> Looked {
        let text = fl!(words(self.language), "looked-pending", time = "#");
        let (before, after) = text.split_once('#').unwrap();
        Looked { before: before.to_owned(), time: "21.15.25".to_owned(), utc: moment().utc, after: after.to_owned() }
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
            looked: self.looked(),
            simulate_url: (self.stripe == Some(Stripe::Sandbox))
                .then(|| "/pay/pay_01kc2m8r5gfq9t3v7x1y4z6a8b/simulate".to_owned()),
        }
    }

    fn ended(self) -> Ended {
        let payment_id = "pay_01kc2m8r5gfq9t3v7x1y4z6a8b".to_owned();
        Ended {
            order: self.order(),
            unapplied: Vec::new(),
            refunds: Vec::new(),
            payment_id,
            method: "QRIS".to_owned(),
            back: None,
        }
    }

    fn choose(self) -> Choose {
        Choose {
            frame: Frame { preview: Some(Preview::sample(self.merchant)), ..self.frame() },
            order: self.order(),
            price: None,
            methods: methods(),
            fields: vec![field(FieldKind::Name, None), field(FieldKind::Email, None)],
            action: "/p/pl_01kc2m8r5gfq9t3v7x1y4z6a8b".to_owned(),
            attempt: "01kc2m8r5gfq9t3v7x1y4z6a8b".to_owned(),
            replaces: None,
            notice: None,
            is_straight: false,
            support_reference: None,
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
        Account {
            frame: self.frame(),
            pending: self.pending(),
            bank: bank_row(bank),
            numbers: numbers(bank, &number),
            amount_digits: "150000".to_owned(),
            steps: steps(bank, &number, Rupiah::new(150_000), self.language),
        }
    }

    fn paid(self, ended: Ended) -> Paid {
        Paid {
            frame: self.frame(),
            ended,
            received: None,
            paid_at: moment(),
            again_url: Some("/p/pl_01kc2m8r5gfq9t3v7x1y4z6a8b?again=1".to_owned()),
            style_url: "/assets/receipt.css?v=1".to_owned(),
            slip_url: "/pay/pay_01kc2m8r5gfq9t3v7x1y4z6a8b?print=80mm".to_owned(),
        }
    }

    fn slip(self) -> Slip {
        Slip {
            frame: self.frame(),
            ended: self.ended(),
            received: None,
            paid_at: moment(),
            style_url: "/assets/slip.css?v=1".to_owned(),
            page_url: self.pending().page_url,
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
            now_millis: self.pending().now_millis,
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

/// All payment methods, one of them unavailable.
fn methods() -> Vec<MethodRow> {
    let qris = MethodRow { value: "qris".to_owned(), bank: None, checked: true, down: false };
    let banks = Bank::ALL.into_iter().map(|bank| MethodRow {
        value: format!("virtual_account:{}", bank.code()),
        bank: Some(bank_row(bank)),
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
    Choose { methods, fields, notice: Some(FormNotice::Mistakes), ..setting.choose() }
}

pub(crate) fn choosers(setting: Setting) -> Vec<(&'static str, String)> {
    let replaced = Replaced { payment_id: "pay_1".to_owned(), url: "/pay/pay_1".to_owned() };
    let lone = methods().into_iter().take(1).collect();
    let none = methods().into_iter().map(|row| MethodRow { checked: false, down: true, ..row }).collect();
    let support_reference = Some("req_01kc2m8r5gfq9t3v7x1y4z6a8b".to_owned());
    let down = Choose { notice: Some(FormNotice::MethodDown), support_reference, ..setting.choose() };
    let untitled = Order { title: None, description: None, ..setting.order() };
    vec![
        ("choose", setting.choose().render().unwrap()),
        ("choose-mistakes", mistaken(setting).render().unwrap()),
        ("choose-down", down.render().unwrap()),
        ("choose-replaces", Choose { replaces: Some(replaced), ..setting.choose() }.render().unwrap()),
        (
            "choose-lone",
            Choose { methods: lone, fields: vec![], is_straight: true, ..setting.choose() }.render().unwrap(),
        ),
        ("choose-none", Choose { methods: none, fields: vec![], ..setting.choose() }.render().unwrap()),
        ("choose-untitled", Choose { order: untitled, ..setting.choose() }.render().unwrap()),
    ]
}

pub(crate) fn pendings(setting: Setting) -> Vec<(&'static str, String)> {
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
        now_millis: setting.pending().now_millis,
        looked: setting.looked(),
        simulate_url: setting.pending().simulate_url,
    };
    vec![
        ("qris", setting.qris().render().unwrap()),
        ("qris-direct", Qris { pending: direct(), ..setting.qris() }.render().unwrap()),
        ("qris-being-paid", Qris { pending: with(Change::BeingPaid), ..setting.qris() }.render().unwrap()),
        ("account-closed", Account { pending: with(Change::Closed), ..setting.account(Bank::Bca) }.render().unwrap()),
        ("account", setting.account(Bank::Bca).render().unwrap()),
        ("account-split", Account { pending: direct(), ..setting.account(Bank::Mandiri) }.render().unwrap()),
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
        UnappliedStanding::OnItsWay,
        UnappliedStanding::UsedElsewhere,
    ];
    standings.map(|standing| Unapplied { amount: "Rp150.000".to_owned(), standing }).into()
}

/// Pages of payments with money that did not pay them.
pub(crate) fn unapplied(setting: Setting) -> Vec<(&'static str, String)> {
    let ended = |unapplied| Ended { unapplied, ..setting.ended() };
    let again = NextStep::Again { url: "/p/pl_01kc2m8r5gfq9t3v7x1y4z6a8b".to_owned() };
    let returned = || money().into_iter().filter(|money| !money.is_held()).collect();
    let late = Unpaid { ended: ended(money()), ..setting.unpaid(UnpaidReason::Expired, again) };
    let settled = Unpaid { ended: ended(returned()), ..setting.unpaid(UnpaidReason::Expired, NextStep::AskMerchant) };
    let paid = setting.paid(ended(money()));
    let less = Account { pending: Pending { unapplied: money(), ..setting.pending() }, ..setting.account(Bank::Bca) };
    vec![
        ("expired-held", late.render().unwrap()),
        ("expired-returned", settled.render().unwrap()),
        ("paid-twice", paid.render().unwrap()),
        ("account-held", less.render().unwrap()),
    ]
}

pub(crate) fn ends(setting: Setting) -> Vec<(&'static str, String)> {
    let again = || NextStep::Again { url: "/p/pl_01kc2m8r5gfq9t3v7x1y4z6a8b".to_owned() };
    let closed = |reason| {
        Closed { frame: setting.frame(), order: setting.order(), reason, looked: setting.looked() }.render().unwrap()
    };
    let problem = |kind| setting.problem(kind).render().unwrap();
    let try_later = TryLater {
        frame: setting.frame(),
        order: setting.order(),
        until: moment(),
        url: "/p/pl_01kc2m8r5gfq9t3v7x1y4z6a8b".to_owned(),
        support_reference: Some("req_01kc2m8r5gfq9t3v7x1y4z6a8b".to_owned()),
    };
    vec![
        ("paid", setting.paid(setting.ended()).render().unwrap()),
        (
            "paid-other",
            Paid { received: Some("Rp149.000".to_owned()), ..setting.paid(setting.ended()) }.render().unwrap(),
        ),
        ("slip", setting.slip().render().unwrap()),
        ("expired", setting.unpaid(UnpaidReason::Expired, again()).render().unwrap()),
        ("expired-for-good", setting.unpaid(UnpaidReason::Expired, NextStep::AskMerchant).render().unwrap()),
        ("failed", setting.unpaid(UnpaidReason::Failed, again()).render().unwrap()),
        ("cancelled", setting.unpaid(UnpaidReason::Cancelled, NextStep::AskMerchant).render().unwrap()),
        ("cancelled-replaced", setting.unpaid(UnpaidReason::Replaced, again()).render().unwrap()),
        ("cancelled-withdrawn", setting.unpaid(UnpaidReason::Withdrawn, NextStep::Nothing).render().unwrap()),
        ("cancelled-superseded", setting.unpaid(UnpaidReason::Superseded, NextStep::Nothing).render().unwrap()),
        ("failed-paid", setting.unpaid(UnpaidReason::Failed, NextStep::AlreadyPaid).render().unwrap()),
        ("failed-withdrawn", setting.unpaid(UnpaidReason::Failed, NextStep::Withdrawn).render().unwrap()),
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

pub(crate) fn samples() -> Vec<Sample> {
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
            let pages = [
                choosers(setting),
                pendings(setting),
                ends(setting),
                unapplied(setting),
                prices::pages(setting),
                claims::claims(setting),
                claims::refunded(setting),
            ];
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
