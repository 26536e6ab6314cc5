//! The pages of the counter, as samples for tests.

use askama::Template;
use domain::language::Language;

use super::{SalePage, SaleRow, Standing, TillPage};
use crate::{
    samples::{badge, hostile, now, shell},
    shell::{Shell, ShellProject},
};

fn url() -> String {
    "/dashboard/prj_1/counter".to_owned()
}

/// Around the page of a member who may only sell.
fn cashier(language: Language) -> Shell {
    let shell = shell(language);
    let project = shell.project.map(|project| ShellProject { may_look: false, ..project });
    Shell { project, ..shell }
}

fn rows(language: Language, most: usize) -> Vec<SaleRow> {
    let row = |number| SaleRow {
        url: url(),
        amount: "Rp999.999.999.999".to_owned(),
        reference: hostile(),
        badge: badge("paid"),
        created: now(language),
        is_shown: number == 0,
    };
    (0..most).map(row).collect()
}

fn till(language: Language, shell: Shell, mistake: Option<String>) -> TillPage {
    let sales = rows(language, 2 * usize::from(mistake.is_some()));
    let (base, merchant, amount) = (url(), hostile(), hostile());
    TillPage { shell, base, merchant, attempt: "0123".to_owned(), amount, mistake, sales }
}

fn sale(language: Language, status: &'static str, standing: Standing) -> SalePage {
    SalePage {
        shell: cashier(language),
        base: url(),
        merchant: hostile(),
        id: "pay_1".to_owned(),
        amount: "Rp15.000".to_owned(),
        reference: hostile(),
        status,
        standing,
        sales: rows(language, 2),
    }
}

pub(crate) fn pages(language: Language) -> Vec<(&'static str, String)> {
    let pending = |simulate_url| Standing::Pending { image: "data:,".to_owned(), until: hostile(), simulate_url };
    vec![
        ("till", till(language, shell(language), None).render().unwrap()),
        ("cashier's till", till(language, cashier(language), Some(hostile())).render().unwrap()),
        ("pending", sale(language, "pending", pending(Some(url()))).render().unwrap()),
        ("pending in production", sale(language, "pending", pending(None)).render().unwrap()),
        ("processing", sale(language, "processing", Standing::Processing).render().unwrap()),
        ("paid", sale(language, "paid", Standing::Paid { at: hostile() }).render().unwrap()),
        ("cancelled", sale(language, "cancelled", Standing::Unpaid { text: hostile() }).render().unwrap()),
    ]
}
