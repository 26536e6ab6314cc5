//! One customer at the bank's screens: the number they typed, its bill, and what they did about it.

use std::{collections::VecDeque, sync::Arc};

use super::input::{AMOUNT_MOST, MINUTES_MOST, number_up_to};
use crate::{
    answer::Answer,
    bank::Bank,
    contract::Contract,
    order::{Inquiry, Knobs, Payment},
    prepared::{Prepared, Service},
};

/// How many results a visit shows. The oldest are forgotten first.
const RESULTS_MOST: usize = 20;

pub(super) struct Visit {
    pub(super) contract: Arc<Contract>,
    pub(super) number: String,
    /// The last answer about the bill.
    pub(super) inquiry: Answer,
    /// The amount and name of the last bill that there was.
    pub(super) bill: Option<Bill>,
    /// The newest first.
    pub(super) results: VecDeque<Outcome>,
    /// The payment that was sent last.
    pub(super) last: Option<LastPayment>,
}

#[derive(Clone)]
pub(super) struct Bill {
    pub(super) amount: i64,
    pub(super) name: String,
}

/// What a button did.
pub(super) struct Outcome {
    pub(super) title: &'static str,
    pub(super) answer: Answer,
}

pub(super) struct LastPayment {
    payment: Payment,
    prepared: Prepared,
}

impl Visit {
    pub(super) async fn begin(bank: &Bank, contract: Arc<Contract>, number: String) -> Visit {
        let inquiry = bank.inquire(&contract, Inquiry::of(number.clone()), Knobs::default()).await;
        let bill = bill(&inquiry);
        Visit { contract, number, inquiry, bill, results: VecDeque::new(), last: None }
    }

    /// Does what a button says. An error is a sentence about what was typed.
    pub(super) async fn act(&mut self, bank: &Bank, action: &str, input: &str) -> Result<(), &'static str> {
        let honest = Knobs::default();
        match action {
            "inquire" => {
                self.inquiry = bank.inquire(&self.contract, Inquiry::of(self.number.clone()), honest).await;
                self.bill = bill(&self.inquiry).or_else(|| self.bill.take());
            }
            "pay" => self.pay(bank, "Paid", self.payment()?, &honest, 1).await,
            "again" => self.pay(bank, "Paid a second time", self.payment()?, &honest, 1).await,
            "twice" => self.pay(bank, "Paid, sent twice at once", self.payment()?, &honest, 2).await,
            "amount" => {
                let amount = number_up_to(input, AMOUNT_MOST).ok_or("Type an amount in rupiah, in digits.")?;
                let payment =
                    Payment { amount, ..self.payment().unwrap_or_else(|_| Payment::of(&self.number, amount)) };
                self.pay(bank, "Paid another amount", payment, &honest, 1).await;
            }
            "late" => {
                let minutes = number_up_to(input, MINUTES_MOST).ok_or("Type a number of minutes, up to a year.")?;
                let paid_at_ms = Some(bank.now_ms() + minutes * 60_000);
                self.pay(bank, "Paid late", Payment { paid_at_ms, ..self.payment()? }, &honest, 1).await;
            }
            "lose" => {
                let knobs = Knobs { lost_answer: true, ..honest };
                self.pay(bank, "Paid, answer lost", self.payment()?, &knobs, 1).await;
            }
            "repeat" => {
                let last = self.last.as_ref().ok_or("Nothing was paid yet.")?;
                let prepared = Prepared { lost_answer: false, ..last.prepared.clone() };
                let answer = bank.send(&prepared).await;
                self.record("The last payment, sent again", answer);
            }
            "resend" => {
                let last = self.last.as_ref().ok_or("Nothing was paid yet.")?;
                let (payment, knobs) = (last.payment.clone(), Knobs::resend_of(&last.prepared));
                self.pay(bank, "The last payment, resent with flagAdvise Y", payment, &knobs, 1).await;
            }
            _ => return Err("There is no such button."),
        }
        Ok(())
    }

    /// The bill in full, paid now.
    fn payment(&self) -> Result<Payment, &'static str> {
        let bill = self.bill.clone().ok_or("There is no bill to pay: type an amount.")?;
        Ok(Payment { name: bill.name, ..Payment::of(&self.number, bill.amount) })
    }

    async fn pay(&mut self, bank: &Bank, title: &'static str, payment: Payment, knobs: &Knobs, copies: usize) {
        let payment = Payment { paid_at_ms: payment.paid_at_ms.or(Some(bank.now_ms())), ..payment };
        match bank.prepare_payment(&self.contract, payment.clone(), knobs).await {
            Ok(prepared) => {
                let answers = bank.send_many(&prepared, copies).await;
                self.last = Some(LastPayment { payment, prepared });
                for answer in answers {
                    self.record(title, answer);
                }
            }
            Err(no_token) => self.record(title, *no_token),
        }
    }

    fn record(&mut self, title: &'static str, answer: Answer) {
        self.results.truncate(RESULTS_MOST - 1);
        self.results.push_front(Outcome { title, answer });
    }
}

/// The bill that an inquiry was answered with.
fn bill(answer: &Answer) -> Option<Bill> {
    if answer.sent.service != Service::Inquiry || answer.code() != "2002400" {
        return None;
    }
    let account = answer.account();
    let value = &account["totalAmount"]["value"];
    let written = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let amount = written.split('.').next()?.parse().ok()?;
    Some(Bill { amount, name: account["virtualAccountName"].as_str().unwrap_or_default().to_owned() })
}
