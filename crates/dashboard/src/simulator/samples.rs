//! The simulator, as samples for tests.

use askama::Template;
use domain::language::Language;

use super::{FoundPayment, PendingRow, SimulatorPage};
use crate::{
    samples::{badge, hostile, now, shell, text},
    shell::Flash,
};

const BASE: &str = "/dashboard/prj_01kc2m8r5gfq9t3v7x1y4z6a8b";

fn simulator(language: Language, rows: Vec<PendingRow>, may_simulate: bool) -> String {
    let found = FoundPayment {
        merchant: hostile(),
        amount: text("Rp150.000"),
        reference: hostile(),
        url: format!("{BASE}/payments/pay_1"),
        method: text("QRIS"),
        badge: badge("pending"),
        action: format!("{BASE}/simulator/pay_1"),
        attempt: text("0"),
        typed: hostile(),
        mistake: Some(text("Rupiah bulat")),
    };
    let view = SimulatorPage {
        shell: shell(language),
        base: text(BASE),
        may_simulate,
        more: true,
        code: hostile(),
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
        reference: hostile(),
        amount: text("Rp150.000"),
        method: text("QRIS"),
        expires: now(language),
        action: format!("{BASE}/simulator/pay_1"),
    }
}

pub(crate) fn pages(language: Language) -> Vec<(&'static str, String)> {
    vec![
        ("simulator", simulator(language, vec![pending(language)], true)),
        ("simulator of a viewer", simulator(language, Vec::new(), false)),
    ]
}
