//! The pages of the counter, rendered from samples in both languages.

use askama::DynTemplate;
use domain::language::Language;

use crate::{
    counter::{SalePage, SaleRow, Standing, TillPage},
    money_samples::{badge, check_page, hostile, now, shell},
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
        badge: badge(),
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

#[test]
fn every_page_of_the_counter_has_one_heading_and_nothing_that_its_policy_forbids() {
    for language in [Language::Indonesian, Language::English] {
        let pending = |simulate_url| Standing::Pending { image: "data:,".to_owned(), until: hostile(), simulate_url };
        let pages: [(&str, &dyn DynTemplate); 7] = [
            ("till", &till(language, shell(language), None)),
            ("cashier's till", &till(language, cashier(language), Some(hostile()))),
            ("pending", &sale(language, "pending", pending(Some(url())))),
            ("pending in production", &sale(language, "pending", pending(None))),
            ("processing", &sale(language, "processing", Standing::Processing)),
            ("paid", &sale(language, "paid", Standing::Paid { at: hostile() })),
            ("cancelled", &sale(language, "cancelled", Standing::Unpaid { text: hostile() })),
        ];
        for (name, page) in pages {
            let html = page.dyn_render().unwrap();
            check_page(name, &html, language);
            let has_more = html.contains("/settings\"") || html.contains("/search\"") || html.contains("projects/new");
            assert_eq!(has_more, name == "till", "{name}: a cashier's menu has the counter alone");
        }
    }
}
