//! Pages of links whose customers choose the quantity or the amount, and of payments that lead back to a merchant's site.

use askama::Template;

use super::{Setting, moment};
use crate::{
    price_field::{PriceField, PriceKind, PriceMistake},
    view::{Back, Choose, Ended, FormNotice, Leaves, NextStep, Order, Paid, Unpaid, UnpaidReason},
};

/// How the address of the way back begins.
pub(crate) const BACK: &str = "https://shop.example/";

fn script() -> String {
    "/assets/more.js?v=1".to_owned()
}

fn quantity(mistake: Option<PriceMistake>) -> Option<PriceField> {
    Some(PriceField {
        kind: PriceKind::Quantity { each: 50_000, most: 10 },
        value: "3".to_owned(),
        mistake,
        script_url: script(),
    })
}

fn amount(mistake: Option<PriceMistake>) -> Option<PriceField> {
    let kind = PriceKind::Amount { least: "Rp10.000".to_owned(), most: "Rp500.000".to_owned() };
    Some(PriceField { kind, value: "<b>\"25.000".to_owned(), mistake, script_url: script() })
}

pub(super) fn pages(setting: Setting) -> Vec<(&'static str, String)> {
    let choose = |price| Choose { price, ..setting.choose() }.render().unwrap();
    let wrong = |price| Choose { price, notice: Some(FormNotice::Mistakes), ..setting.choose() }.render().unwrap();
    let ended = |leaves| Ended {
        order: Order { pieces: Some("3 × Rp50.000".to_owned()), ..setting.order() },
        back: Some(Back { url: format!("{BACK}?a=1&status=paid"), leaves }),
        ..setting.ended()
    };
    let paid = |is_fresh| {
        let ended = ended(Some(Leaves { is_fresh, script_url: script() }));
        Paid {
            received: None,
            frame: setting.frame(),
            ended,
            paid_at: moment(),
            again_url: None,
            style_url: "/assets/receipt.css?v=1".to_owned(),
            slip_url: "/pay/pay_1?print=80mm".to_owned(),
        }
        .render()
        .unwrap()
    };
    let unpaid = |why| Unpaid { ended: ended(None), ..setting.unpaid(why, NextStep::AskMerchant) }.render().unwrap();
    vec![
        ("choose-quantity", choose(quantity(None))),
        ("choose-quantity-outside", wrong(quantity(Some(PriceMistake::Outside)))),
        ("choose-quantity-little", wrong(quantity(Some(PriceMistake::TooLittle("Rp10.000".to_owned()))))),
        ("choose-amount", choose(amount(None))),
        ("choose-amount-missing", wrong(amount(Some(PriceMistake::Missing)))),
        ("choose-amount-text", wrong(amount(Some(PriceMistake::NotANumber)))),
        ("choose-amount-much", wrong(amount(Some(PriceMistake::TooMuch("Rp400.000".to_owned()))))),
        ("paid-back", paid(true)),
        ("paid-back-old", paid(false)),
        ("expired-back", unpaid(UnpaidReason::Expired)),
        ("failed-back", unpaid(UnpaidReason::Failed)),
        ("cancelled-back", unpaid(UnpaidReason::Cancelled)),
    ]
}
