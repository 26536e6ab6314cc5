//! From a number to money: what a bank does, end to end, at each bank that asks us.

use std::sync::Arc;

use demobank::{Conclusion, Inquiry, Knobs, Payment, Style};
use testkit::{Kit, on_every_database};

use crate::support::{
    banks::{AMOUNT, contracted, number},
    payments::status,
};

on_every_database![a_customer_pays_at_each_bank_that_asks_us];

async fn a_customer_pays_at_each_bank_that_asks_us(kit: Arc<Kit>) {
    for style in Style::ALL {
        let contracted = contracted(&kit, style).await;
        let (bank, contract) = (&contracted.bank, &contracted.contract);
        let payment = contracted.payment().await;
        let number = number(&payment);
        let answer = bank.inquire(contract, Inquiry::of(&number), Knobs::default()).await;
        assert_eq!((answer.status, answer.code(), answer.flag()), (200, "2002400", "00"), "{answer:?}");
        assert_eq!(answer.account()["totalAmount"]["value"], format!("{AMOUNT}.00"));
        let answer = bank.pay(contract, Payment::of(&number, AMOUNT), Knobs::default()).await;
        assert_eq!((answer.status, answer.code(), answer.flag()), (200, "2002500", "00"), "{answer:?}");
        assert_eq!(answer.conclusion, Some(Conclusion::Booked));
        assert_eq!(status(&contracted.project, &payment).await, "paid");
        assert_eq!(bank.booked(contract, &number), AMOUNT);
        let answer = bank.inquire(contract, Inquiry::of(&number), Knobs::default()).await;
        assert_eq!((answer.code(), answer.flag()), ("4042414", "01"), "{answer:?}");
        kit.engine.save_bank_calls().await.unwrap();
        let calls = kit.engine.bank_account_file(contracted.account).await.unwrap().calls;
        let codes: Vec<&str> = calls.iter().rev().map(|call| call.code.as_str()).collect();
        assert_eq!(codes, ["2007300", "2002400", "2002500", "4042414"]);
    }
}
