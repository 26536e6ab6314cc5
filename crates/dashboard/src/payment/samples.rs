//! The page of a payment, as samples for tests.

use askama::Template;
use domain::language::Language;

use super::{
    FeeOutlook, PaymentShown, RefundLine, RefundedSums, Through,
    customer::Fact,
    held::Banner,
    timeline::{Happening, More},
};
use crate::samples::{badge, hostile, now, shell};

fn banner() -> Banner {
    Banner { title: "Rp1 menunggu keputusan".to_owned(), reason: hostile(), url: "/x".to_owned(), act: "x".to_owned() }
}

fn refund_line(language: Language) -> RefundLine {
    let amount = "Rp50.000".to_owned();
    RefundLine { url: "/x".to_owned(), amount, road: hostile(), badge: badge("wait"), created: now(language) }
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
        badge: badge("paid"),
        refunded_badge: (!direct).then(|| badge("off")),
        refund_url: (!direct).then(hostile),
        refunds: vec![refund_line(language)],
        refunded: (!direct).then(|| RefundedSums { refunded: "-Rp50.000".to_owned(), left: "Rp100.000".to_owned() }),
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

pub(crate) fn pages(language: Language) -> Vec<(&'static str, String)> {
    vec![
        ("payment", payment(language, false).render().unwrap()),
        ("direct payment", payment(language, true).render().unwrap()),
    ]
}
