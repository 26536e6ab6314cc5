//! People pay codes, fail to, or are given their money back, and the bank tells the merchant of it, in time or not.

use std::{fmt, sync::Arc};

use super::{
    bank::{BankServices, Member},
    codes::{Code, CodeKind, CodePayment, CodeState},
    habits::RrnIn,
};
use crate::{
    answer::Answer, crypto::random_digits, journal::held, notification::Notification, order::Knobs, prepared::Service,
    time,
};

/// How a code is paid. The default is honest: in full, now, and the merchant is told once.
#[derive(Clone, Debug, Default)]
pub struct PayOrder {
    /// In rupiah, if it is not what the code is for.
    pub amount: Option<i64>,
    /// In milliseconds since 1970, if it is not the bank's present time.
    pub paid_at_ms: Option<i64>,
    /// The RRN or `paymentRequestId`, if the bank is not to choose it.
    pub receipt_id: Option<String>,
    /// What the bank keeps, where its report says so.
    pub fee: Option<i64>,
    pub notice: NotifyHabit,
    /// The amount that the merchant is told, if it is not the one that was paid.
    pub told_amount: Option<i64>,
    /// How the notification departs from an honest one.
    pub knobs: Knobs,
}

/// What the merchant is told of a payment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NotifyHabit {
    #[default]
    Once,
    Never,
    /// The same notification twice, one after the other, with an external id each.
    Twice,
    /// That it is paid, and after that what was true before: that someone is paying.
    Reordered,
}

/// A code that was paid, and what the merchant's side answered to the notifications.
#[derive(Debug)]
pub struct PaidCode {
    pub code: Code,
    pub receipt_id: String,
    pub answers: Vec<Answer>,
}

/// The bank has issued no such code.
#[derive(Debug, PartialEq, Eq)]
pub struct UnknownCode;

impl fmt::Display for UnknownCode {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("the bank has issued no such code")
    }
}

impl std::error::Error for UnknownCode {}

impl BankServices {
    /// Pays a code by its QR text, its number, the bank's reference or the merchant's, also one that is paid, cancelled or
    /// expired, and tells the merchant. A merchant without a door is told nothing.
    pub async fn pay_code(&self, name: &str, order: PayOrder) -> Result<PaidCode, UnknownCode> {
        let (code, payment) = self.take_money(name.trim(), &order)?;
        let told = self.notification(&code, "00", Some(&payment), order.told_amount);
        let processing = Notification { status: "02".to_owned(), ..told.clone() };
        let notices = match order.notice {
            NotifyHabit::Never => vec![],
            NotifyHabit::Once => vec![told],
            NotifyHabit::Twice => vec![told.clone(), told],
            NotifyHabit::Reordered => vec![told, processing],
        };
        let answers = self.send_notices(&code, notices, &order.knobs).await;
        Ok(PaidCode { code, receipt_id: payment.receipt_id, answers })
    }

    /// Moves a code to a state without money, and tells nobody: a person begins to pay, fails or gets money back.
    pub fn set_state(&self, name: &str, state: CodeState) -> Result<Code, UnknownCode> {
        let mut codes = held(&self.codes);
        let code = codes.of_any(name.trim()).ok_or(UnknownCode)?;
        code.state = state;
        Ok(code.clone())
    }

    /// The bank loses the money of a code from its books: it is as if nobody had paid.
    pub fn forget_money(&self, name: &str) -> Result<Code, UnknownCode> {
        let mut codes = held(&self.codes);
        let code = codes.of_any(name.trim()).ok_or(UnknownCode)?;
        self.book_payment(&code.client_id, -code.taken());
        code.payments.clear();
        code.state = CodeState::Unpaid;
        Ok(code.clone())
    }

    /// Tells the merchant about a code: the status that is given, with the first payment if there is one.
    pub async fn tell(&self, name: &str, status: &str, knobs: Knobs) -> Result<Vec<Answer>, UnknownCode> {
        let code = self.code(name.trim()).ok_or(UnknownCode)?;
        let told = self.notification(&code, status, code.payments.first(), None);
        Ok(self.send_notices(&code, vec![told], &knobs).await)
    }

    fn take_money(&self, name: &str, order: &PayOrder) -> Result<(Code, CodePayment), UnknownCode> {
        let now_ms = self.now_ms();
        let mut codes = held(&self.codes);
        let code = codes.of_any(name).ok_or(UnknownCode)?;
        let payment = CodePayment {
            receipt_id: order.receipt_id.clone().unwrap_or_else(|| new_receipt_id(code.kind, now_ms)),
            amount: order.amount.unwrap_or(code.amount),
            paid_at_ms: order.paid_at_ms.unwrap_or(now_ms),
            fee: order.fee,
        };
        code.take(payment.clone());
        self.book_payment(&code.client_id, payment.amount);
        Ok((code.clone(), payment))
    }

    fn notification(
        &self,
        code: &Code,
        status: &str,
        payment: Option<&CodePayment>,
        amount: Option<i64>,
    ) -> Notification {
        let member = self.member(&code.client_id);
        let has_receipt =
            code.kind == CodeKind::Va || member.is_some_and(|member| member.habits.rrn_in != RrnIn::Nowhere);
        let receipt_id = payment.filter(|_| has_receipt).map(|payment| payment.receipt_id.clone());
        let is_va = code.kind == CodeKind::Va;
        Notification {
            reference: code.reference.clone(),
            bank_reference: code.bank_reference.clone(),
            number: if is_va { code.content.clone() } else { String::new() },
            amount: amount.or(payment.map(|payment| payment.amount)).unwrap_or(code.amount),
            status: status.to_owned(),
            paid_at_ms: payment.map(|payment| payment.paid_at_ms),
            receipt_id: receipt_id.unwrap_or_default(),
            ..Notification::default()
        }
    }

    async fn send_notices(&self, code: &Code, notices: Vec<Notification>, knobs: &Knobs) -> Vec<Answer> {
        let Some(member) = self.member(&code.client_id) else { return Vec::new() };
        let Some(door) = &member.door else { return Vec::new() };
        let service = notice_service(&member, code.kind);
        let mut answers = Vec::new();
        for notice in notices {
            answers.push(door.bank.notify(&door.contract, service, notice, knobs.clone()).await);
        }
        answers
    }
}

fn notice_service(member: &Arc<Member>, kind: CodeKind) -> Service {
    match kind {
        CodeKind::Qr => member.habits.qr_notice,
        CodeKind::Va => member.habits.va_notice,
    }
}

/// Twelve digits for a QR, the time and random digits for a virtual account.
fn new_receipt_id(kind: CodeKind, now_ms: i64) -> String {
    match kind {
        CodeKind::Qr => random_digits(12),
        CodeKind::Va => time::digits(now_ms) + &random_digits(16),
    }
}
