//! Every address of the dashboard, whom it is for, and the forms that are sent there.

use domain::access::Act;
use reqwest::Method;

/// Who an address is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum For {
    /// Everybody who knows the address.
    Anyone,
    SignedIn,
    /// Members whose role allows the act.
    Role(Act),
    Operators,
}

/// One address and one method. `fields`: a form that would be taken from the right person.
pub(super) struct Row {
    pub(super) path: &'static str,
    pub(super) method: Method,
    pub(super) is_for: For,
    pub(super) fields: &'static [(&'static str, &'static str)],
}

const LOOK: For = For::Role(Act::Look);
const SELL: For = For::Role(Act::Sell);
const LINKS: For = For::Role(Act::ManageLinks);
const KEYS: For = For::Role(Act::ManageKeys);
const WEBHOOKS: For = For::Role(Act::ManageWebhooks);
const SIMULATE: For = For::Role(Act::Simulate);
const RECEIPTS: For = For::Role(Act::DecideReceipts);
const REFUND: For = For::Role(Act::Refund);
const CONFIGURE: For = For::Role(Act::Configure);
const MEMBERS: For = For::Role(Act::ManageMembers);
const AUDIT: For = For::Role(Act::ExportAudit);

fn get(path: &'static str, is_for: For) -> Row {
    Row { path, method: Method::GET, is_for, fields: &[] }
}

fn post(path: &'static str, is_for: For, fields: &'static [(&'static str, &'static str)]) -> Row {
    Row { path, method: Method::POST, is_for, fields }
}

/// A form's address that also answers GET, for people who return to it.
fn both(path: &'static str, shown: For, is_for: For, fields: &'static [(&'static str, &'static str)]) -> [Row; 2] {
    [get(path, shown), post(path, is_for, fields)]
}

pub(super) fn table() -> Vec<Row> {
    let mut table = vec![
        get("/dashboard", For::SignedIn),
        post("/dashboard/sign-out", For::SignedIn, &[]),
        get("/dashboard/account", For::SignedIn),
        get("/dashboard/operator", For::Operators),
        get("/dashboard/operator/audit", For::Operators),
        get("/dashboard/operator/letters", For::Operators),
        get("/dashboard/operator/users", For::Operators),
        get("/dashboard/operator/users/{user}", For::Operators),
        get("/dashboard/operator/projects/{project}", For::Operators),
        get("/dashboard/operator/banks", For::Operators),
        get("/dashboard/operator/banks/{account}", For::Operators),
        get("/dashboard/operator/differences", For::Operators),
        get("/dashboard/operator/differences/look", For::Operators),
        get("/dashboard/operator/refunds", For::Operators),
        get("/dashboard/operator/refunds/{refund}", For::Operators),
        get("/dashboard/operator/strays", For::Operators),
        get("/dashboard/operator/strays/{stray}", For::Operators),
        get("/dashboard/{project}", LOOK),
        get("/dashboard/{project}/audit", LOOK),
        get("/dashboard/{project}/audit.csv", AUDIT),
        get("/dashboard/{project}/audit.jsonl", AUDIT),
        get("/dashboard/{project}/balance", LOOK),
        get("/dashboard/{project}/balance/receipts", LOOK),
        get("/dashboard/{project}/balance/receipts/{receipt}", LOOK),
        get("/dashboard/{project}/counter/{sale}", SELL),
        get("/dashboard/{project}/counter/{sale}/status", SELL),
        get("/dashboard/{project}/counter/{sale}/events", SELL),
        get("/dashboard/{project}/customers/{payment}", LOOK),
        get("/dashboard/{project}/links/fees", LINKS),
        get("/dashboard/{project}/links/new", LINKS),
        get("/dashboard/{project}/links/{link}", LOOK),
        get("/dashboard/{project}/links/{link}/poster", LOOK),
        get("/dashboard/{project}/links/{link}/qr.png", LOOK),
        get("/dashboard/{project}/live", LOOK),
        get("/dashboard/{project}/notifications", LOOK),
        get("/dashboard/{project}/notifications/deliveries/{event}", LOOK),
        get("/dashboard/{project}/payments", LOOK),
        get("/dashboard/{project}/payments.csv", LOOK),
        get("/dashboard/{project}/accounting.csv", LOOK),
        get("/dashboard/{project}/payments/{payment}", LOOK),
        get("/dashboard/{project}/refunds", LOOK),
        get("/dashboard/{project}/refunds.csv", LOOK),
        get("/dashboard/{project}/refunds/transfers/{batch}", LOOK),
        get("/dashboard/{project}/refunds/transfers/{batch}/batch.csv", REFUND),
        get("/dashboard/{project}/refunds/{refund}", LOOK),
        get("/dashboard/{project}/search", LOOK),
        get("/dashboard/{project}/settings", LOOK),
        get("/dashboard/{project}/settings/face", LOOK),
        get("/dashboard/{project}/settings/roles", LOOK),
        get("/dashboard/{project}/simulator", LOOK),
    ];
    table.extend(forms());
    table
}

/// The addresses that forms are sent to.
fn forms() -> impl Iterator<Item = Row> {
    [people_forms(), operator_forms(), project_forms(), refund_forms()].into_iter().flatten().flatten()
}

/// Of those about accounts, and of visitors.
fn people_forms() -> Vec<[Row; 2]> {
    let new_project = &[("name", "Toko"), ("environment", "sandbox")];
    let old_and_new = &[("old_password", "twelve or more"), ("new_password", "fourteen or more")];
    vec![
        both("/dashboard/sign-in", For::Anyone, For::Anyone, &[]),
        both("/dashboard/forgot", For::Anyone, For::Anyone, &[("email", "a@b.id")]),
        both("/dashboard/reset/{reset}", For::Anyone, For::Anyone, &[]),
        both("/dashboard/invite/{token}", For::Anyone, For::Anyone, &[]),
        both("/dashboard/invite/{token}/join", For::Anyone, For::SignedIn, &[]),
        both("/dashboard/account/password", For::SignedIn, For::SignedIn, old_and_new),
        both("/dashboard/account/end-others", For::SignedIn, For::SignedIn, &[]),
        both("/dashboard/account/sessions/{session}/end", For::SignedIn, For::SignedIn, &[]),
        both("/dashboard/sign-in/code", For::Anyone, For::Anyone, &[]),
        both("/dashboard/prove", For::SignedIn, For::SignedIn, &[]),
        both("/dashboard/account/factor", For::SignedIn, For::SignedIn, &[("code", "123456")]),
        both("/dashboard/account/factor/codes", For::SignedIn, For::SignedIn, &[]),
        both("/dashboard/account/factor/remove", For::SignedIn, For::SignedIn, &[]),
        both("/dashboard/account/factor/keep", For::SignedIn, For::SignedIn, &[]),
        both("/dashboard/account/letters", For::SignedIn, For::SignedIn, &[("language", "id")]),
        both("/dashboard/letters/stop/{link}", For::Anyone, For::Anyone, &[]),
        both("/dashboard/projects/new", For::SignedIn, For::SignedIn, new_project),
    ]
}

/// Of those for operators.
fn operator_forms() -> Vec<[Row; 2]> {
    let new_project = &[("name", "Toko"), ("environment", "sandbox")];
    let assigned = &[("payment", "pay_01kc2m8r5gfq9t3v7x1y4z6a8b"), ("note", "why")];
    let difference =
        &[("account", "bac_01kc2m8r5gfq9t3v7x1y4z6a8b"), ("subject", "r"), ("kind", "fee"), ("note", "why")];
    vec![
        both("/dashboard/operator/users/{user}/lift", For::Operators, For::Operators, &[]),
        both("/dashboard/operator/letters/{letter}/again", For::Operators, For::Operators, &[]),
        both("/dashboard/operator/letters/test-notice", For::Operators, For::Operators, &[]),
        both("/dashboard/operator/projects/new", For::Operators, For::Operators, new_project),
        both("/dashboard/operator/projects/{project}/approve", For::Operators, For::Operators, &[]),
        both("/dashboard/operator/projects/{project}/withdraw-approval", For::Operators, For::Operators, &[]),
        both("/dashboard/operator/projects/{project}/activate", For::Operators, For::Operators, &[]),
        both("/dashboard/operator/projects/{project}/deactivate", For::Operators, For::Operators, &[]),
        both("/dashboard/operator/users/{user}/deactivate", For::Operators, For::Operators, &[]),
        both("/dashboard/operator/users/{user}/activate", For::Operators, For::Operators, &[]),
        both("/dashboard/operator/users/{user}/remove", For::Operators, For::Operators, &[]),
        both("/dashboard/operator/users/{user}/reset", For::Operators, For::Operators, &[]),
        both("/dashboard/operator/banks/{account}/enable", For::Operators, For::Operators, &[]),
        both("/dashboard/operator/banks/{account}/disable", For::Operators, For::Operators, &[]),
        both("/dashboard/operator/banks/{account}/compare", For::Operators, For::Operators, &[("date", "2026-01-01")]),
        both("/dashboard/operator/differences/settle", For::Operators, For::Operators, difference),
        both("/dashboard/operator/refunds/{refund}/approve", For::Operators, For::Operators, &[("version", "1")]),
        both("/dashboard/operator/refunds/{refund}/decline", For::Operators, For::Operators, &[("text", "why")]),
        both("/dashboard/operator/refunds/{refund}/failed", For::Operators, For::Operators, &[("text", "why")]),
        both("/dashboard/operator/strays/{stray}/assign", For::Operators, For::Operators, assigned),
        both("/dashboard/operator/strays/{stray}/return", For::Operators, For::Operators, &[("note", "why")]),
    ]
}

/// Of those of a project.
fn project_forms() -> Vec<[Row; 2]> {
    let link = &[("title", "Kopi"), ("amount", "15000"), ("attempt", "0123456789abcdef0123456789abcdef")];
    let several = &[("rcp_01kc2m8r5gfq9t3v7x1y4z6a8b", "on"), ("act", "return"), ("note", "why")];
    let assigned = &[("payment", "pay_01kc2m8r5gfq9t3v7x1y4z6a8b"), ("note", "why")];
    let test = &[("attempt", "0123456789abcdef0123456789abcdef")];
    let merchant = &[("merchant_name", "Toko"), ("merchant_city", "Bandung"), ("merchant_postal_code", "40111")];
    vec![
        both("/dashboard/{project}/counter", SELL, SELL, &[("amount", "15000")]),
        both("/dashboard/{project}/counter/{sale}/cancel", SELL, SELL, &[]),
        both("/dashboard/{project}/keys", LOOK, KEYS, &[("name", "server")]),
        both("/dashboard/{project}/keys/{key}/rotate", KEYS, KEYS, &[("overlap", "24")]),
        both("/dashboard/{project}/keys/{key}/revoke", KEYS, KEYS, &[]),
        both("/dashboard/{project}/links", LOOK, LINKS, link),
        both("/dashboard/{project}/links/{link}/cancel", LINKS, LINKS, &[]),
        both("/dashboard/{project}/links/{link}/edit", LINKS, LINKS, &[("title", "Teh")]),
        both("/dashboard/{project}/balance/receipts/several", RECEIPTS, RECEIPTS, several),
        both("/dashboard/{project}/balance/receipts/{receipt}/accept", LOOK, RECEIPTS, &[("note", "why")]),
        both("/dashboard/{project}/balance/receipts/{receipt}/assign", RECEIPTS, RECEIPTS, assigned),
        both("/dashboard/{project}/balance/receipts/{receipt}/return", LOOK, RECEIPTS, &[("note", "why")]),
        both("/dashboard/{project}/notifications/deliveries/{event}/resend", LOOK, WEBHOOKS, &[]),
        both("/dashboard/{project}/notifications/events", LOOK, WEBHOOKS, &[]),
        both("/dashboard/{project}/notifications/recover", LOOK, WEBHOOKS, &[("since", "2026-01-01T00:00")]),
        both("/dashboard/{project}/notifications/secret/show", LOOK, WEBHOOKS, &[]),
        both("/dashboard/{project}/notifications/test", LOOK, WEBHOOKS, test),
        both("/dashboard/{project}/notifications/url", LOOK, WEBHOOKS, &[("url", "https://8.8.8.8/hook")]),
        both("/dashboard/{project}/simulator/{payment}", LOOK, SIMULATE, &[("outcome", "paid")]),
        both("/dashboard/{project}/notifications/secret/roll", WEBHOOKS, WEBHOOKS, &[]),
        both("/dashboard/{project}/notifications/url/remove", WEBHOOKS, WEBHOOKS, &[]),
        both("/dashboard/{project}/settings/members", LOOK, MEMBERS, &[("email", "a@b.id"), ("role", "viewer")]),
        both("/dashboard/{project}/settings/members/factor", LOOK, MEMBERS, &[]),
        both("/dashboard/{project}/settings/members/{user}/role", MEMBERS, MEMBERS, &[("role", "viewer")]),
        both("/dashboard/{project}/settings/members/{user}/remove", MEMBERS, MEMBERS, &[]),
        both("/dashboard/{project}/settings/invites/{invite}/withdraw", LOOK, MEMBERS, &[]),
        both("/dashboard/{project}/settings/face/logo", LOOK, CONFIGURE, &[("remove", "logo")]),
        both("/dashboard/{project}/settings/face/colour", LOOK, CONFIGURE, &[("colour_kind", "usual")]),
        both("/dashboard/{project}/settings/face/contacts", LOOK, CONFIGURE, &[("phone", "1500123")]),
        both("/dashboard/{project}/settings/letters", LOOK, CONFIGURE, &[("receipts", "on")]),
        both("/dashboard/{project}/settings/notices", LOOK, CONFIGURE, &[("url", "https://example.com/notices")]),
        both("/dashboard/{project}/settings/notices/test", LOOK, CONFIGURE, &[]),
        both("/dashboard/{project}/settings/notices/secret", LOOK, CONFIGURE, &[]),
        both("/dashboard/{project}/settings/notices/remove", LOOK, CONFIGURE, &[]),
        both("/dashboard/{project}/settings/merchant", LOOK, CONFIGURE, merchant),
        both("/dashboard/{project}/settings/origins", LOOK, CONFIGURE, &[("allowed_origins", "https://example.com")]),
        both("/dashboard/{project}/settings/frames", LOOK, CONFIGURE, &[("frame_origins", "https://example.com")]),
        both("/dashboard/{project}/settings/methods", LOOK, CONFIGURE, &[("default_qris", "on")]),
        both("/dashboard/{project}/settings/success-word", LOOK, CONFIGURE, &[("success_word", "paid")]),
    ]
}

/// Of those about refunds.
fn refund_forms() -> Vec<[Row; 2]> {
    let account = &[("bank", "014"), ("account_number", "1234567890")];
    let made = &[("amount", "1000"), ("road", "usual"), ("sure", "yes")];
    vec![
        both("/dashboard/{project}/payments/{payment}/refund", REFUND, REFUND, made),
        both("/dashboard/{project}/refunds/transfers", LOOK, REFUND, &[]),
        both("/dashboard/{project}/refunds/{refund}/approve", LOOK, REFUND, &[("version", "1")]),
        both("/dashboard/{project}/refunds/{refund}/decline", LOOK, REFUND, &[("text", "why")]),
        both("/dashboard/{project}/refunds/{refund}/cancel", LOOK, REFUND, &[]),
        both("/dashboard/{project}/refunds/{refund}/link", LOOK, REFUND, &[]),
        both("/dashboard/{project}/refunds/{refund}/destination", LOOK, REFUND, account),
        both("/dashboard/{project}/refunds/{refund}/done", LOOK, REFUND, &[("text", "FT123")]),
        both("/dashboard/{project}/refunds/{refund}/failed", LOOK, REFUND, &[("text", "why")]),
        both("/dashboard/{project}/refunds/{refund}/returned", LOOK, REFUND, &[("text", "why")]),
        both("/dashboard/{project}/refunds/{refund}/simulate", LOOK, SIMULATE, &[("outcome", "succeeded")]),
        both("/dashboard/{project}/settings/refunds", LOOK, CONFIGURE, &[("approval_above", "100000")]),
    ]
}

/// The paths of everything that can be opened, with their placeholders.
pub(crate) fn opened() -> Vec<&'static str> {
    table().iter().filter(|row| row.method == Method::GET).map(|row| row.path).collect()
}
