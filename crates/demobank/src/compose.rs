//! Writes and signs the bank's calls. Pure: the ids, the token and the time are given.

use crate::{
    contract::Contract,
    crypto::{base64, hex, hmac_sha512, sha256_hex},
    json::{Json, quoted_with_escapes, with_white_space},
    notification::{self, Notification},
    order::{AmountText, Knobs, Padding, Payment},
    prepared::{Prepared, Service},
    style::{SignatureText, Signing},
    time,
};

/// What a call is about, all ids chosen.
pub(crate) struct Subject {
    pub(crate) service: Service,
    pub(crate) payment: Payment,
    /// For the services that notify. Its number and amount are those of `payment`.
    pub(crate) notification: Notification,
    pub(crate) external_id: String,
    pub(crate) request_id: String,
    /// The access token; none for a call without one.
    pub(crate) token: Option<String>,
    pub(crate) now_ms: i64,
}

/// Writes, signs and, as the knobs say, spoils a call.
pub(crate) fn compose(contract: &Contract, subject: Subject, knobs: &Knobs) -> Prepared {
    let style = &contract.style;
    let method = knobs.method.clone().unwrap_or_else(|| "POST".to_owned());
    let own_timestamp = time::text(subject.now_ms.saturating_add(knobs.skew_ms), style.milliseconds);
    let timestamp = knobs.timestamp.clone().unwrap_or(own_timestamp);
    let signed_body = signed_body(contract, &subject, knobs);
    let mut headers = vec![header("content-type", "application/json"), header("X-TIMESTAMP", &timestamp)];
    let signature = if subject.service == Service::Token {
        headers.push(header("X-CLIENT-KEY", &contract.client_id));
        let signature = contract.key.sign(&format!("{}|{timestamp}", contract.client_id));
        if knobs.hex_signature { hex(&signature) } else { base64(&signature) }
    } else {
        if knobs.signing.unwrap_or(style.signing) == Signing::ClientTime {
            headers.push(header("X-CLIENT-KEY", &contract.client_id));
        }
        if let Some(token) = &subject.token {
            let word = knobs.token_word.unwrap_or("Bearer");
            headers.push(header("Authorization", format!("{word} {token}").trim_start()));
        }
        headers.push(header("X-PARTNER-ID", &contract.company_code));
        headers.push(header("X-EXTERNAL-ID", &subject.external_id));
        headers.push(header("CHANNEL-ID", style.channel_id));
        let path = knobs.signed_path.clone().unwrap_or_else(|| contract.signed_path(subject.service.path()));
        let signed = Signed { method: &method, path: &path, body: &signed_body, timestamp: &timestamp };
        call_signature(contract, &signed, subject.token.as_deref(), knobs)
    };
    headers.push(header("X-SIGNATURE", knobs.signature.as_deref().unwrap_or(&signature)));
    spoil_headers(&mut headers, knobs);
    Prepared {
        service: subject.service,
        method,
        url: contract.url(subject.service.path()),
        headers,
        body: spoiled_body(signed_body, knobs),
        contract: contract.name.clone(),
        number: subject.payment.number,
        amount: subject.payment.amount,
        paid_at_ms: subject.payment.paid_at_ms.unwrap_or(subject.now_ms),
        external_id: subject.external_id,
        request_id: subject.request_id,
        lost_answer: knobs.lost_answer,
        concludes: style.concludes,
        deadline: style.deadline,
    }
}

fn header(name: &str, value: &str) -> (String, String) {
    (name.to_owned(), value.to_owned())
}

/// The parts of a call that its signature covers.
pub(crate) struct Signed<'a> {
    pub(crate) method: &'a str,
    pub(crate) path: &'a str,
    pub(crate) body: &'a [u8],
    pub(crate) timestamp: &'a str,
}

impl Signed<'_> {
    /// The text of a signature of type 1.
    pub(crate) fn with_token(&self, token: &str) -> String {
        format!("{}:{}:{token}:{}:{}", self.method, self.path, sha256_hex(self.body), self.timestamp)
    }

    /// The text of a signature of type 2.
    pub(crate) fn without_token(&self) -> String {
        format!("{}:{}:{}:{}", self.method, self.path, sha256_hex(self.body), self.timestamp)
    }
}

fn call_signature(contract: &Contract, signed: &Signed<'_>, token: Option<&str>, knobs: &Knobs) -> String {
    let bytes = match knobs.signing.unwrap_or(contract.style.signing) {
        Signing::Secret => hmac_sha512(&contract.client_secret, &signed.with_token(token.unwrap_or_default())),
        Signing::Key => contract.key.sign(&signed.without_token()),
        Signing::ClientTime => contract.key.sign(&format!("{}|{}", contract.client_id, signed.timestamp)),
    };
    let in_hex = knobs.hex_signature || contract.style.signature == SignatureText::Hex;
    if in_hex { hex(&bytes) } else { base64(&bytes) }
}

/// The bytes that the signature covers.
fn signed_body(contract: &Contract, subject: &Subject, knobs: &Knobs) -> Vec<u8> {
    let mut body = knobs.raw_body.clone().unwrap_or_else(|| {
        let mut body = Json::Object(members(contract, subject, knobs));
        for (path, value) in &knobs.members {
            body.set(path, Json::raw(value));
        }
        if let Some((name, value)) = &knobs.duplicate_member {
            body.append(name, Json::raw(value));
        }
        for path in knobs.left_out.iter().copied().chain(knobs.missing_member.as_deref()) {
            body.remove(path);
        }
        body.compact().into_bytes()
    });
    if let Some(length) = knobs.length {
        body.resize(length.max(body.len()), b' ');
    }
    body
}

fn members(contract: &Contract, subject: &Subject, knobs: &Knobs) -> Vec<(String, Json)> {
    let (mut members, additional) = match subject.service {
        Service::Token => return vec![("grantType".to_owned(), Json::text("client_credentials"))],
        Service::Payment => (payment_members(contract, subject, knobs), Json::raw("{}")),
        service @ (Service::VaNotify
        | Service::QrNotify
        | Service::DebitNotify
        | Service::SknNotify
        | Service::RtgsNotify) => {
            let (told, amount) = (&subject.notification, amount(subject.payment.amount, knobs));
            let mut members = notification::members(contract, service, told, amount, subject.now_ms);
            if service == Service::VaNotify {
                members.splice(0..0, numbers(contract, subject, knobs));
            }
            (members, notification::additional(service, told, amount_value(subject.payment.amount, knobs)))
        }
        _ => (inquiry_members(contract, subject, knobs), Json::raw("{}")),
    };
    members.push(("additionalInfo".to_owned(), additional));
    members
}

/// The bytes that are sent in place of those that were signed.
fn spoiled_body(signed: Vec<u8>, knobs: &Knobs) -> Vec<u8> {
    let mut body = match String::from_utf8(signed) {
        Ok(text) if knobs.white_space => with_white_space(&text).into_bytes(),
        Ok(text) => text.into_bytes(),
        Err(bytes) => bytes.into_bytes(),
    };
    if knobs.changed_body {
        let changed: &[u8] = if body.ends_with(b"}") { b",\"changed\":true}" } else { b" " };
        body.truncate(body.len() - usize::from(body.ends_with(b"}")));
        body.extend_from_slice(changed);
    }
    body
}

fn spoil_headers(headers: &mut Vec<(String, String)>, knobs: &Knobs) {
    for (name, value) in &knobs.headers {
        match headers.iter_mut().find(|(header, _)| header.eq_ignore_ascii_case(name)) {
            Some((_, old)) => old.clone_from(value),
            None => headers.push(header(name, value)),
        }
    }
    if let Some(missing) = &knobs.missing_header {
        headers.retain(|(name, _)| !name.eq_ignore_ascii_case(missing));
    }
}

/// `partnerServiceId`, `customerNo` and `virtualAccountNo`.
fn numbers(contract: &Contract, subject: &Subject, knobs: &Knobs) -> [(String, Json); 3] {
    let code = &contract.company_code;
    let partner = match knobs.padding {
        Padding::Spaces => contract.partner_service_id(),
        Padding::None => code.clone(),
        Padding::Zeros => format!("{code:0>8}"),
        Padding::Right => format!("{code:<8}"),
    };
    let customer = contract.customer_number(&subject.payment.number);
    let whole = format!("{partner}{customer}");
    let customer = if knobs.whole_customer_no { subject.payment.number.as_str() } else { customer };
    [
        ("partnerServiceId".to_owned(), Json::text(partner)),
        ("customerNo".to_owned(), Json::text(customer)),
        ("virtualAccountNo".to_owned(), Json::text(whole)),
    ]
}

fn inquiry_members(contract: &Contract, subject: &Subject, knobs: &Knobs) -> Vec<(String, Json)> {
    let more = [
        ("trxDateInit", Json::text(time::text(subject.now_ms, false))),
        ("channelCode", Json::raw(contract.style.channel_code)),
        ("language", Json::text("")),
        ("amount", Json::raw("null")),
        ("hashedSourceAccountNo", Json::text("")),
        ("sourceBankCode", Json::text("014")),
        ("passApp", Json::text("")),
        ("inquiryRequestId", Json::text(subject.request_id.clone())),
    ];
    numbers(contract, subject, knobs).into_iter().chain(more.map(|(name, value)| (name.to_owned(), value))).collect()
}

fn payment_members(contract: &Contract, subject: &Subject, knobs: &Knobs) -> Vec<(String, Json)> {
    let payment = &subject.payment;
    let name = if knobs.escaped_name {
        Json::raw(quoted_with_escapes(&payment.name))
    } else {
        Json::text(payment.name.clone())
    };
    let paid_at_ms = payment.paid_at_ms.unwrap_or(subject.now_ms);
    let more = [
        ("virtualAccountName", name),
        ("virtualAccountEmail", Json::text("")),
        ("virtualAccountPhone", Json::text("")),
        ("trxId", Json::text(payment.trx_id.clone())),
        ("paymentRequestId", Json::text(subject.request_id.clone())),
        ("channelCode", Json::raw(contract.style.channel_code)),
        ("hashedSourceAccountNo", Json::text("")),
        ("sourceBankCode", Json::text("014")),
        ("paidAmount", amount(payment.amount, knobs)),
        ("cumulativePaymentAmount", Json::raw("null")),
        ("paidBills", Json::text("")),
        ("totalAmount", amount(payment.total_amount.unwrap_or(payment.amount), knobs)),
        ("trxDateTime", Json::text(time::text(paid_at_ms, contract.style.milliseconds))),
        ("referenceNo", Json::text(subject.request_id.chars().rev().take(11).collect::<String>())),
        ("journalNum", Json::text("")),
        ("paymentType", Json::text("")),
        ("flagAdvise", Json::text(if knobs.flag_advise { "Y" } else { "N" })),
        ("subCompany", Json::text("00000")),
        ("billDetails", Json::raw("[]")),
        ("freeTexts", Json::raw("[]")),
    ];
    numbers(contract, subject, knobs).into_iter().chain(more.map(|(name, value)| (name.to_owned(), value))).collect()
}

fn amount(rupiah: i64, knobs: &Knobs) -> Json {
    let currency = knobs.currency.as_deref().unwrap_or("IDR");
    let members = [("value", amount_value(rupiah, knobs)), ("currency", Json::text(currency))];
    Json::Object(members.map(|(name, value)| (name.to_owned(), value)).into())
}

fn amount_value(rupiah: i64, knobs: &Knobs) -> Json {
    Json::raw(match &knobs.amount_text {
        AmountText::TwoDecimals => format!("\"{rupiah}.00\""),
        AmountText::OneDecimal => format!("\"{rupiah}.0\""),
        AmountText::Whole => format!("\"{rupiah}\""),
        AmountText::BareTwoDecimals => format!("{rupiah}.00"),
        AmountText::BareOneDecimal => format!("{rupiah}.0"),
        AmountText::BareWhole => rupiah.to_string(),
        AmountText::Raw(raw) => raw.clone(),
    })
}
