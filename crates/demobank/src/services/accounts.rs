//! Virtual accounts that the bank hosts: 27 issues one, 26 tells where it stands, 31 deletes it, 35 reports a day's money.

use serde_json::{Value, json};

use super::{
    bank::{BankServices, Member},
    codes::{Code, CodeKind, CodePayment, CodeState, Codes},
    habits::Habits,
    qr::{end, new_bank_reference, repeated, standing, void},
    request::{Reply, ServiceRequest, money},
};
use crate::{crypto::random_digits, journal::held, notification::status_words, time};

/// How long `partnerServiceId` is, padded with spaces on the left.
const PARTNER_SERVICE_ID_LENGTH: usize = 8;
/// How many digits a number has after the company code if the bank chooses it.
const CHOSEN_DIGITS: usize = 11;
/// How often the bank looks for a number that is free.
const CHOICES_MOST: usize = 100;
const NAME_MOST: usize = 255;
/// How many payments a report has.
const REPORT_LINES_MOST: usize = 10_000;

/// The three members that name an account, without padding.
struct Numbers<'a> {
    company_code: &'a str,
    /// Empty where the bank is to choose, or has chosen.
    customer: &'a str,
}

impl Numbers<'_> {
    fn whole(&self) -> String {
        format!("{}{}", self.company_code, self.customer)
    }
}

impl BankServices {
    /// 27
    pub(super) fn create_account(&self, asked: &ServiceRequest<'_>, member: &Member) -> Result<Reply, Reply> {
        let (body, habits) = (asked.members()?, &member.habits);
        let numbers = numbers(asked, &body, habits)?;
        let (name, reference) = (asked.text(&body, "virtualAccountName")?, asked.text(&body, "trxId")?);
        if name.chars().count() > NAME_MOST {
            return Err(asked.malformed("virtualAccountName"));
        }
        if reference.len() > habits.reference_most {
            return Err(asked.malformed("trxId"));
        }
        let amount = asked.amount(&body, "totalAmount")?;
        if body["virtualAccountTrxType"].as_str().is_some_and(|kind| kind != "C") {
            return Err(asked.malformed("virtualAccountTrxType"));
        }
        let expires_at_ms = end(asked, &body, "expiredDate")?;
        let text = asked.minified();
        let client_id = &member.merchant.client_id;
        let mut codes = held(&self.codes);
        if let Some(known) = codes.of_reference(client_id, reference) {
            return Err(repeated(asked, known, &text, habits.repeats));
        }
        let content = if numbers.customer.is_empty() {
            chosen(numbers.company_code, &codes).ok_or_else(|| asked.answer(500, "00", "General Error"))?
        } else {
            numbers.whole()
        };
        let is_live = |code: &Code| code.state == CodeState::Unpaid && !code.is_expired(asked.now_ms);
        if codes.of_any(&content).is_some_and(|code| is_live(code)) {
            return Err(asked.answer(409, "01", "Duplicate virtualAccountNo"));
        }
        let mut code = Code {
            kind: CodeKind::Va,
            client_id: client_id.clone(),
            reference: reference.to_owned(),
            bank_reference: new_bank_reference(asked.now_ms),
            content,
            company_code: numbers.company_code.to_owned(),
            name: name.to_owned(),
            amount,
            created_at_ms: asked.now_ms,
            expires_at_ms,
            state: CodeState::Unpaid,
            payments: Vec::new(),
            order: text,
            answer: Value::Null,
        };
        let mut account = account(&code);
        account["virtualAccountTrxType"] = "C".into();
        account["expiredDate"] = body["expiredDate"].clone();
        let answer = asked.success(json!({ "virtualAccountData": account, "additionalInfo": {} }));
        code.answer = answer.1.clone();
        codes.insert(code);
        Ok(answer)
    }

    /// 26
    pub(super) fn tell_status(&self, asked: &ServiceRequest<'_>, member: &Member) -> Result<Reply, Reply> {
        let (body, habits) = (asked.members()?, &member.habits);
        let numbers = numbers(asked, &body, habits)?;
        if numbers.customer.is_empty() {
            asked.text(&body, "trxId").map_err(|_| asked.missing("customerNo"))?;
        }
        let mut codes = held(&self.codes);
        let code = account_of(&body, &numbers, member, &mut codes);
        let code = code.ok_or_else(|| asked.answer(404, "01", "Transaction Not Found"))?;
        let (status, payment) = standing(asked, code, habits);
        let mut account = account(code);
        account["paymentFlagStatus"] = status.into();
        let words = status_words(status);
        account["paymentFlagReason"] = json!({ "english": words, "indonesia": words });
        account["inquiryRequestId"] = body["inquiryRequestId"].clone();
        let is_paid = payment.is_some();
        if let Some(payment) = payment {
            add_payment(&mut account, &payment, habits);
        }
        let paid_status = if is_paid { "Y" } else { "N" };
        let additional = json!({ "latestTransactionStatus": status, "paidStatus": paid_status });
        Ok(asked.success(json!({ "virtualAccountData": account, "additionalInfo": additional })))
    }

    /// 31
    pub(super) fn delete_account(&self, asked: &ServiceRequest<'_>, member: &Member) -> Result<Reply, Reply> {
        let body = asked.members()?;
        let numbers = numbers(asked, &body, &member.habits)?;
        asked.text(&body, "trxId")?;
        let mut codes = held(&self.codes);
        let code = account_of(&body, &numbers, member, &mut codes).filter(|code| code.state != CodeState::Voided);
        let code = code.ok_or_else(|| asked.answer(404, "12", "Bill Not Found"))?;
        void(asked, code)?;
        Ok(asked.success(json!({ "virtualAccountData": account(code), "additionalInfo": {} })))
    }

    /// 35: the payments of a day, or of a part of it.
    pub(super) fn report(&self, asked: &ServiceRequest<'_>, member: &Member) -> Result<Reply, Reply> {
        let (body, habits) = (asked.members()?, &member.habits);
        let company_code = company_code(asked, &body)?;
        let begins_at_ms = moment(asked, &body, "startDate", "startTime", "00:00:00")?;
        let end_date = if body["endDate"].is_null() { "startDate" } else { "endDate" };
        let ends_at_ms = moment(asked, &body, end_date, "endTime", "23:59:59")? + 999;
        let client_id = &member.merchant.client_id;
        let codes = held(&self.codes);
        let is_asked = |code: &&Code| {
            code.kind == CodeKind::Va && code.client_id == *client_id && code.company_code == company_code
        };
        let payments = codes.all().filter(is_asked).flat_map(|code| code.payments.iter().map(move |paid| (code, paid)));
        let timely = payments.filter(|(_, payment)| (begins_at_ms..=ends_at_ms).contains(&payment.paid_at_ms));
        let line = |(code, payment): (&Code, &CodePayment)| {
            let mut line = account(code);
            add_payment(&mut line, payment, habits);
            if let Some(fee) = payment.fee {
                line["feeAmount"] = money(fee);
            }
            line
        };
        let lines: Vec<Value> = timely.take(REPORT_LINES_MOST).map(line).collect();
        Ok(asked.success(json!({ "virtualAccountData": lines, "additionalInfo": {} })))
    }
}

fn company_code<'a>(asked: &ServiceRequest<'_>, body: &'a Value) -> Result<&'a str, Reply> {
    let padded = asked.text(body, "partnerServiceId")?;
    let code = padded.trim_start_matches(' ');
    let is_code = !code.is_empty() && code.bytes().all(|byte| byte.is_ascii_digit());
    if padded.len() == PARTNER_SERVICE_ID_LENGTH && is_code {
        return Ok(code);
    }
    Err(asked.malformed("partnerServiceId"))
}

fn numbers<'a>(asked: &ServiceRequest<'_>, body: &'a Value, habits: &Habits) -> Result<Numbers<'a>, Reply> {
    let company_code = company_code(asked, body)?;
    if body["customerNo"].is_null() || body["customerNo"] == "" {
        return Ok(Numbers { company_code, customer: "" });
    }
    let customer = asked.text(body, "customerNo")?;
    if customer.len() > habits.customer_digits_most || !customer.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(asked.malformed("customerNo"));
    }
    let whole = asked.text(body, "virtualAccountNo")?;
    if whole != format!("{company_code:>PARTNER_SERVICE_ID_LENGTH$}{customer}") {
        return Err(asked.malformed("virtualAccountNo"));
    }
    Ok(Numbers { company_code, customer })
}

/// The account with these numbers, with the reference, or with both: a merchant that has not read the answer to its order
/// knows no number that the bank has chosen.
fn account_of<'a>(body: &Value, numbers: &Numbers<'_>, member: &Member, codes: &'a mut Codes) -> Option<&'a mut Code> {
    let (client_id, number) = (&member.merchant.client_id, numbers.whole());
    match body["trxId"].as_str().filter(|reference| !reference.is_empty()) {
        Some(reference) => {
            let code = codes.of_reference(client_id, reference);
            code.filter(|code| code.kind == CodeKind::Va && (numbers.customer.is_empty() || code.content == number))
        }
        None => codes.of_number(client_id, &number),
    }
}

/// A number that the bank has not given out.
fn chosen(company_code: &str, codes: &Codes) -> Option<String> {
    let mut numbers = (0..CHOICES_MOST).map(|_| format!("{company_code}{}", random_digits(CHOSEN_DIGITS)));
    numbers.find(|number| !codes.contains_number(number))
}

/// `virtualAccountData`: what every answer about an account says.
fn account(code: &Code) -> Value {
    let padded = format!("{:>PARTNER_SERVICE_ID_LENGTH$}", code.company_code);
    json!({
        "virtualAccountNo": format!("{padded}{}", code.customer_number()),
        "partnerServiceId": padded,
        "customerNo": code.customer_number(),
        "virtualAccountName": code.name,
        "trxId": code.reference,
        "totalAmount": money(code.amount),
    })
}

fn add_payment(account: &mut Value, payment: &CodePayment, habits: &Habits) {
    account["paymentRequestId"] = payment.receipt_id.clone().into();
    account["paidAmount"] = money(payment.amount);
    account["trxDateTime"] = time::text(payment.paid_at_ms, habits.milliseconds).into();
}

/// A date and a time of day in Jakarta. The time may have an offset, which is not read, and no seconds.
fn moment(
    asked: &ServiceRequest<'_>,
    body: &Value,
    date: &str,
    time_name: &str,
    otherwise: &str,
) -> Result<i64, Reply> {
    let day = asked.text(body, date)?;
    let given = body[time_name].as_str().filter(|text| !text.is_empty()).unwrap_or(otherwise);
    let hour = given.split(['+', 'Z']).next().unwrap_or_default();
    let hour = if hour.len() == 5 { format!("{hour}:{}", &otherwise[6..]) } else { hour.to_owned() };
    time::parse(&format!("{day}T{hour}+07:00")).ok_or_else(|| asked.malformed(date))
}
