//! A customer's browser as far as HTTP goes: it keeps cookies by path, sends forms, and follows no redirect by itself.

use std::{collections::BTreeMap, net::SocketAddr, sync::Mutex};

use reqwest::{
    Client, Method, RequestBuilder, Response,
    header::{COOKIE, HeaderMap, SET_COOKIE},
    redirect::Policy,
};
use serde_json::{Value, json};
use testkit::{Kit, Reply, TestProject, plain_client};

use crate::support::{json::text, links::create_link, payments::fetch};

/// The cookie that leads a browser back to its payment.
pub(crate) const CHECKOUT_COOKIE: &str = "lunas_checkout";

pub(crate) struct Customer {
    client: Client,
    base_url: String,
    /// Values by path and name.
    cookies: Mutex<BTreeMap<(String, String), String>>,
}

impl Customer {
    pub(crate) fn of(kit: &Kit) -> Customer {
        Customer::at(kit.address)
    }

    pub(crate) fn at(address: SocketAddr) -> Customer {
        let client = plain_client().redirect(Policy::none()).build().unwrap();
        Customer { client, base_url: format!("http://{address}"), cookies: Mutex::default() }
    }

    /// The same browser, connected to another node.
    pub(crate) fn moved_to(&self, address: SocketAddr) -> Customer {
        let cookies = Mutex::new(self.cookies.lock().unwrap().clone());
        Customer { cookies, ..Customer::at(address) }
    }

    /// A request with the cookies that belong to the path.
    pub(crate) fn request(&self, method: Method, path: &str) -> RequestBuilder {
        let request = self.client.request(method, format!("{}{path}", self.base_url));
        let plain = path.split('?').next().unwrap();
        let belongs = |of: &str| {
            plain.strip_prefix(of).is_some_and(|rest| of.ends_with('/') || rest.is_empty() || rest.starts_with('/'))
        };
        let kept = self.cookies.lock().unwrap();
        let sent: Vec<String> = kept
            .iter()
            .filter(|((of, _), _)| belongs(of))
            .map(|((_, name), value)| format!("{name}={value}"))
            .collect();
        if sent.is_empty() { request } else { request.header(COOKIE, sent.join("; ")) }
    }

    /// Sends a request and stores the cookies of the answer. The body is still to be read.
    pub(crate) async fn begin(&self, request: RequestBuilder) -> Response {
        let response = request.send().await.unwrap();
        for line in response.headers().get_all(SET_COOKIE) {
            let cookie = SetCookie::read(line.to_str().unwrap());
            let (mut kept, place) = (self.cookies.lock().unwrap(), (cookie.path, cookie.name));
            match cookie.seconds {
                0 => kept.remove(&place),
                _ => kept.insert(place, cookie.value),
            };
        }
        response
    }

    pub(crate) async fn send(&self, request: RequestBuilder) -> Reply {
        let response = self.begin(request).await;
        let (status, headers) = (response.status(), response.headers().clone());
        let text = response.text().await.unwrap();
        Reply { status, headers, json: serde_json::from_str(&text).unwrap_or(Value::Null), text }
    }

    pub(crate) async fn open(&self, path: &str) -> Reply {
        self.send(self.request(Method::GET, path)).await
    }

    /// Sends a form's fields to `path`, as they are.
    pub(crate) async fn post(&self, path: &str, fields: &[(&str, &str)]) -> Reply {
        self.send(self.form(path, fields)).await
    }

    pub(crate) fn form(&self, path: &str, fields: &[(&str, &str)]) -> RequestBuilder {
        let body: Vec<String> = fields.iter().map(|(name, value)| format!("{name}={}", encoded(value))).collect();
        self.request(Method::POST, path)
            .header("content-type", "application/x-www-form-urlencoded")
            .body(body.join("&"))
    }

    /// Opens the link's page and sends its form with these answers.
    pub(crate) async fn choose(&self, link: &Value, answers: &[(&str, &str)]) -> Reply {
        self.choose_at(&link_path(link), answers).await
    }

    /// The same from an address of the chooser.
    pub(crate) async fn choose_at(&self, path: &str, answers: &[(&str, &str)]) -> Reply {
        let page = self.open(path).await;
        assert_eq!(page.status, 200, "{path} offers no choice: {}", page.text);
        let hidden = hidden(&page);
        let mut fields: Vec<(&str, &str)> =
            hidden.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        fields.extend(answers);
        self.post(path.split('?').next().unwrap(), &fields).await
    }

    /// Chooses that method; returns the payment as the merchant sees it.
    pub(crate) async fn pays_by(&self, project: &TestProject, link: &Value, method: &str) -> Value {
        self.pays_by_at(project, &link_path(link), method).await
    }

    pub(crate) async fn pays_by_at(&self, project: &TestProject, path: &str, method: &str) -> Value {
        let reply = self.choose_at(path, &[("method", method)]).await;
        payment_of(project, &reply).await
    }

    /// Presses a button of the sandbox's panel.
    pub(crate) async fn press(&self, payment: &Value, outcome: &str) -> Reply {
        self.post(&format!("{}/simulate", pay_path(payment)), &[("outcome", outcome)]).await
    }

    /// The value of a cookie for that path.
    pub(crate) fn cookie(&self, path: &str, name: &str) -> Option<String> {
        self.cookies.lock().unwrap().get(&(path.to_owned(), name.to_owned())).cloned()
    }

    /// The value of the link's cookie: a payment's id or a form's token.
    pub(crate) fn kept(&self, link: &Value) -> Option<String> {
        let place = (link_path(link), CHECKOUT_COOKIE.to_owned());
        self.cookies.lock().unwrap().get(&place).cloned()
    }

    /// Replaces the value of the link's cookie.
    pub(crate) fn keep(&self, link: &Value, value: &str) {
        self.set_cookie(&link_path(link), CHECKOUT_COOKIE, value);
    }

    /// Replaces the value of a cookie for that path.
    pub(crate) fn set_cookie(&self, path: &str, name: &str, value: &str) {
        self.cookies.lock().unwrap().insert((path.to_owned(), name.to_owned()), value.to_owned());
    }
}

/// A cookie as the server sets it.
pub(crate) struct SetCookie {
    pub(crate) name: String,
    pub(crate) value: String,
    pub(crate) path: String,
    /// 0 deletes the cookie.
    pub(crate) seconds: u32,
    /// The attributes other than path and age.
    pub(crate) flags: Vec<String>,
}

impl SetCookie {
    fn read(line: &str) -> SetCookie {
        let mut parts = line.split("; ");
        let (name, value) = parts.next().unwrap().split_once('=').unwrap();
        let (mut path, mut seconds, mut flags) = (None, None, Vec::new());
        for part in parts {
            match part.split_once('=') {
                Some(("Path", of)) => path = Some(of.to_owned()),
                Some(("Max-Age", age)) => seconds = Some(age.parse().unwrap()),
                _ => flags.push(part.to_owned()),
            }
        }
        let (name, value) = (name.to_owned(), value.to_owned());
        SetCookie { name, value, path: path.unwrap(), seconds: seconds.unwrap(), flags }
    }

    pub(crate) fn all(headers: &HeaderMap) -> Vec<SetCookie> {
        headers.get_all(SET_COOKIE).iter().map(|line| SetCookie::read(line.to_str().unwrap())).collect()
    }
}

pub(crate) fn link_path(link: &Value) -> String {
    format!("/p/{}", text(link, "id"))
}

pub(crate) fn pay_path(payment: &Value) -> String {
    format!("/pay/{}", text(payment, "id"))
}

/// A well-formed id that nothing has.
pub(crate) fn unknown(like: &Value) -> String {
    let id = text(like, "id");
    format!("{}{}", &id[..id.len() - 1], if id.ends_with('0') { '1' } else { '0' })
}

/// Where a form redirects to, which must be a payment's page.
#[track_caller]
pub(crate) fn led_to(reply: &Reply) -> String {
    assert_eq!(reply.status, 303, "{}", reply.text);
    let location = reply.header("location").unwrap();
    assert!(location.starts_with("/pay/pay_"), "{location}");
    location.to_owned()
}

/// The payment that a form redirected to, as the merchant sees it.
pub(crate) async fn payment_of(project: &TestProject, reply: &Reply) -> Value {
    let id = led_to(reply).split_off("/pay/".len());
    fetch(project, &json!({ "id": id })).await
}

/// Checks that an answer is a page with that status and the security headers.
#[track_caller]
pub(crate) fn is_page(row: &str, reply: &Reply, status: u16) {
    assert_eq!(reply.status.as_u16(), status, "{row}: {}", reply.text);
    assert_eq!(reply.header("content-type"), Some("text/html; charset=utf-8"), "{row}");
    assert!(reply.text.starts_with("<!doctype html>"), "{row}: {}", reply.text);
    assert!(!reply.text.contains("\"error\""), "{row}: customers are told nothing in the API's words");
    is_protected(row, reply);
}

/// Checks the security headers that every answer to a browser carries.
#[track_caller]
pub(crate) fn is_protected(row: &str, reply: &Reply) {
    is_protected_and_cached(row, reply, "no-store");
}

/// The same of an answer that browsers may keep as `cached` says.
#[track_caller]
pub(crate) fn is_protected_and_cached(row: &str, reply: &Reply, cached: &str) {
    let policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; \
                  form-action 'self'; base-uri 'none'; frame-ancestors 'none'";
    for (name, value) in [
        ("content-security-policy", policy),
        ("x-content-type-options", "nosniff"),
        ("referrer-policy", "no-referrer"),
        ("cross-origin-opener-policy", "same-origin"),
        ("cache-control", cached),
        ("x-robots-tag", "noindex"),
    ] {
        assert_eq!(reply.header(name), Some(value), "{row}: {name}");
        assert_eq!(reply.headers.get_all(name).iter().count(), 1, "{row}: {name} once");
    }
    assert_eq!(reply.header("access-control-allow-origin"), None, "{row}: no other site may read it");
    assert!(reply.header("x-request-id").is_some_and(|id| !id.is_empty()), "{row}");
}

/// The hidden fields of a page's form.
pub(crate) fn hidden(page: &Reply) -> Vec<(String, String)> {
    let inputs = page.text.split("<input type=\"hidden\"").skip(1);
    inputs.map(|input| (attribute(input, "name"), attribute(input, "value"))).collect()
}

/// The page's heading.
#[track_caller]
pub(crate) fn heading(page: &Reply) -> String {
    let (_, rest) = page.text.split_once("<h1").unwrap_or_else(|| panic!("no heading in {}", page.text));
    rest.split(['<', '>']).nth(1).unwrap().to_owned()
}

/// The value of the first attribute of that name.
#[track_caller]
pub(crate) fn attribute(html: &str, name: &str) -> String {
    let found = html.split_once(&format!(" {name}=\"")).and_then(|(_, rest)| rest.split_once('"'));
    found.unwrap_or_else(|| panic!("no {name} in {html}")).0.to_owned()
}

fn encoded(text: &str) -> String {
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_.".contains(byte);
    text.bytes().map(|byte| if plain(&byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") }).collect()
}

/// A link with some members of its own, a browser in which its page was opened, and the QRIS payment that was started
/// there.
pub(crate) async fn begin_payment(kit: &Kit, project: &TestProject, members: Value) -> (Value, Customer, Value) {
    let link = create_link(project, members).await;
    let customer = Customer::of(kit);
    let payment = customer.pays_by(project, &link, "qris").await;
    (link, customer, payment)
}
