//! The cookie that keeps what a customer has filled in, so that it need not be typed again after a change of method, a
//! failed attempt or a switch of language.
//!
//! The answers stay in the customer's own browser. The server does not show them from a payment, because a payment's
//! address is shared with those who are asked to pay it.

use axum::http::HeaderMap;
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use domain::{
    customer::CustomerField,
    link::{CustomerFields, Link},
    payment::Customer,
};
use web::{
    App,
    page::{cookie::Cookie, visitor::Visitor},
};

const ANSWERS_COOKIE: &str = "lunas_answers";
/// Half a day longer than an account number is valid by default, so that a new attempt after it finds the answers.
const COOKIE_SECONDS: u32 = 36 * 60 * 60;
/// Browsers keep 4,096 bytes with name and attributes. Longer answers are not kept.
const COOKIE_BYTES_MOST: usize = 3_500;
/// No answer contains it, because control characters are refused.
const SEPARATOR: char = '\u{1f}';

/// The answers that this browser keeps for the link, without those that the link does not ask for or would refuse.
pub(super) fn kept(visitor: &Visitor, fields: CustomerFields) -> Customer {
    let bytes = visitor.cookie(ANSWERS_COOKIE).and_then(|value| URL_SAFE_NO_PAD.decode(value).ok());
    let text = bytes.and_then(|bytes| String::from_utf8(bytes).ok()).unwrap_or_default();
    let mut parts = text.split(SEPARATOR);
    let given = CustomerField::ALL.map(|_| parts.next().unwrap_or_default());
    sound(fields, |field| {
        let place = CustomerField::ALL.iter().position(|one| *one == field);
        place.and_then(|place| given.get(place)).map(|answer| (*answer).to_owned()).unwrap_or_default()
    })
}

/// Keeps the answers that are sound. Nothing is kept where the link asks for nothing.
pub(super) fn keep(app: &App, link: &Link, answers: &Customer, headers: &mut HeaderMap) {
    let fields = link.customer_fields;
    if !CustomerField::ALL.into_iter().any(|field| fields.asks(field)) {
        return;
    }
    let answers = sound(fields, |field| answers.answer(field).to_owned());
    let text = CustomerField::ALL.map(|field| answers.answer(field)).join(&SEPARATOR.to_string());
    let value = URL_SAFE_NO_PAD.encode(text);
    if value.len() > COOKIE_BYTES_MOST {
        return;
    }
    let urls = &app.settings.urls;
    let path = urls.url(format_args!("/p/{}", link.id));
    let cookie =
        Cookie { name: ANSWERS_COOKIE, value: &value, path: &path, seconds: COOKIE_SECONDS, secure: urls.https };
    cookie.write(headers);
}

/// The answers that keep their field's rule.
fn sound(fields: CustomerFields, given: impl Fn(CustomerField) -> String) -> Customer {
    let answers = fields.with_answers(given);
    let faults = fields.faults(&answers);
    fields.with_answers(|field| {
        let is_faulty = faults.iter().any(|(faulty, _)| *faulty == field);
        if is_faulty { String::new() } else { answers.answer(field).to_owned() }
    })
}
