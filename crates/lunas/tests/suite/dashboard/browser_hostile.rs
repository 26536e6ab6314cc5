//! Hostile texts everywhere the dashboard shows what a merchant or a customer wrote, in a real browser: shown as they
//! are, never run, and never a formula in a downloaded file.

use domain::{
    access::Role,
    id::ProjectId,
    method::Method,
    project::{Environment, MerchantProfile},
};
use engine::{NewProject, ProjectUpdate};
use serde_json::{Value, json};
use testkit::{Answer, Browser, Kit, Look, TestProject, on_sqlite};

use crate::support::{
    customer::{Customer, payment_of},
    dashboard_browser::{at, enter},
    held::receipt_id,
    hostile::{HOSTILE, contains, is_shown_as_text, left_no_trace},
    json::{text, with},
    links::{attempt, create_link},
    payments::{create, events_of, fresh_key, pending_qris, simulate, simulate_paid},
    people::{Person, desk, make},
    samples,
};

const OWNER: &str = "owner@toko.test";
const OPEN_ALL: &str = "document.querySelectorAll('details').forEach(part => { part.open = true; })";
/// Texts that some spreadsheet takes for a formula.
const FORMULAS: [&str; 9] =
    ["=1+1", "+1+1", "-1+1", "@SUM(1)", "\t=1+1", "\r=1+1", "=HYPERLINK(\"http://x\")", "'=1+1", "\"=1+1"];

/// What was created with one text: everything that has its own page.
struct Made {
    text: &'static str,
    project: ProjectId,
    link: Value,
    key: String,
    payment: Value,
    receipt: String,
}

/// A project with an owner who is also an operator, so that all pages are open to them.
async fn project_with_operator(kit: &Kit) -> (TestProject, Person) {
    let (project, _receiver) = kit.hooked(Answer::Status(200)).await;
    let owner = make(kit, OWNER, true).await;
    kit.engine.add_member(project.id, &owner, Role::Owner).await.unwrap();
    (project, Person::signed_in(kit, owner).await)
}

/// One text in every field: a project's name, a link, a key, a customer, a note.
async fn create_everything_named(kit: &Kit, project: &TestProject, owner: &Person, text_: &'static str) -> Made {
    let new = NewProject { name: text_.to_owned(), environment: Environment::Sandbox, merchant_name: None };
    let named = kit.engine.create_project(new).await.unwrap().0.id;
    kit.engine.add_member(named, &owner.user, Role::Owner).await.unwrap();
    let members = json!({
        "title": text_, "description": text_, "reference": text_, "allow_multiple_payments": true,
        "customer_fields": { "name": true, "address": true },
    });
    let link = create_link(project, members).await;
    let (key, _) = kit.engine.create_key(project.id, text_.to_owned()).await.unwrap();
    let answers = [("method", "qris"), ("name", text_), ("address", text_)];
    let payment = payment_of(project, &Customer::of(kit).choose(&link, &answers).await).await;
    simulate_paid(project, &payment).await;
    // Money that arrives a second time, and the note with which it is returned.
    let receipt = text(&payment, "id");
    let again = json!({ "outcome": "paid", "amount": 49_000, "receipt_id": receipt });
    simulate(project, &payment, &again).await.expect(200);
    let held = receipt_id(kit, project, &payment, receipt).await;
    let returned = format!("{}/balance/receipts/{held}/return", desk(project.id));
    let reply = owner.post(&returned, &[("note", text_)]).await;
    assert_eq!(reply.status, 303, "{}", reply.text);
    Made { text: text_, project: named, link, key: key.id.to_string(), payment, receipt: held }
}

async fn shows(browser: &Browser, kit: &Kit, path: &str, text: &str) {
    browser.goto(&at(kit, path)).await;
    browser.evaluate(OPEN_ALL).await;
    is_shown_as_text(browser, text, path).await;
}

#[tokio::test]
async fn forty_hostile_texts_are_shown_on_every_page_about_them_and_run_nowhere() {
    on_sqlite(|kit| async move {
        let (project, owner) = project_with_operator(&kit).await;
        let browser = Browser::open(Look::desktop()).await;
        enter(&browser, &kit, OWNER, &desk(project.id)).await;
        let base = desk(project.id);
        for hostile in HOSTILE {
            let made = create_everything_named(&kit, &project, &owner, hostile).await;
            let (link, payment) = (text(&made.link, "id"), text(&made.payment, "id"));
            let event = events_of(&project, &made.payment, "payment.paid").await.remove(0);
            let receipt = format!("{base}/balance/receipts/{}", made.receipt);
            let operator = format!("/dashboard/operator/projects/{}/deactivate", made.project);
            for path in [
                format!("{base}/links/{link}"),
                format!("{base}/links/{link}/cancel"),
                format!("{base}/keys/{}/revoke", made.key),
                format!("{base}/payments/{payment}"),
                format!("{base}/notifications/deliveries/{}", text(&event, "id")),
                receipt,
                desk(made.project),
                operator,
            ] {
                shows(&browser, &kit, &path, made.text).await;
            }
        }
    })
    .await;
}

#[tokio::test]
async fn lists_and_logs_show_hostile_texts_and_run_none() {
    on_sqlite(|kit| async move {
        let (project, owner) = project_with_operator(&kit).await;
        let browser = Browser::open(Look::desktop()).await;
        enter(&browser, &kit, OWNER, &desk(project.id)).await;
        let base = desk(project.id);
        // As many as fit on the first page of every list.
        for some in HOSTILE.chunks(3) {
            for hostile in some {
                create_everything_named(&kit, &project, &owner, hostile).await;
            }
            for path in [
                base.clone(),
                format!("{base}/payments"),
                format!("{base}/links"),
                format!("{base}/keys"),
                format!("{base}/balance"),
                format!("{base}/balance/receipts?tab=decided"),
                format!("{base}/notifications"),
                format!("{base}/audit"),
                "/dashboard/operator".to_owned(),
                "/dashboard/operator/audit".to_owned(),
                "/dashboard/account".to_owned(),
            ] {
                browser.goto(&at(&kit, &path)).await;
                browser.evaluate(OPEN_ALL).await;
                let shown = left_no_trace(&browser, &some.join(" "), &path).await;
                for hostile in some {
                    assert!(contains(&shown, hostile), "{hostile} is not shown in {path}: {shown}");
                }
            }
        }
    })
    .await;
}

#[tokio::test]
async fn the_merchants_own_name_is_shown_in_its_settings_and_runs_nowhere() {
    on_sqlite(|kit| async move {
        let (project, _) = project_with_operator(&kit).await;
        Person::member(&kit, project.id, Role::Viewer, "viewer@toko.test").await;
        let browser = Browser::open(Look::phone()).await;
        enter(&browser, &kit, "viewer@toko.test", &desk(project.id)).await;
        let payment = pending_qris(&project, 15_000).await;
        let code = text(&payment["instructions"], "qr_string").to_owned();
        let code: String =
            reqwest::Url::parse_with_params("http://x/", [("code", code)]).unwrap().query().unwrap().into();
        for hostile in HOSTILE {
            let merchant =
                MerchantProfile { name: hostile.to_owned(), city: hostile.to_owned(), postal_code: "10110".to_owned() };
            kit.update(project.id, ProjectUpdate { merchant: Some(merchant), ..ProjectUpdate::default() }).await;
            shows(&browser, &kit, &format!("{}/settings", desk(project.id)), hostile).await;
            shows(&browser, &kit, &format!("{}/simulator?{code}", desk(project.id)), hostile).await;
        }
    })
    .await;
}

#[tokio::test]
async fn searches_and_wrong_input_come_back_as_text() {
    // In every field of a form, without the browser's own validation.
    let fill = "((form, text) => { form.noValidate = true; \
                for (const field of form.querySelectorAll('input:not([type=hidden], [type=checkbox], [type=radio]), textarea')) { \
                field.removeAttribute('maxlength'); field.type = field.localName === 'input' ? 'text' : field.type; field.value = text; } \
                window.old = true; form.requestSubmit(); })";
    on_sqlite(|kit| async move {
        let (project, _) = project_with_operator(&kit).await;
        let browser = Browser::open(Look::desktop()).await;
        enter(&browser, &kit, OWNER, &desk(project.id)).await;
        let base = desk(project.id);
        let everything = HOSTILE.join(" ");
        for (path, form, field) in [
            (format!("{base}/payments"), ".filters", "#q"),
            (format!("{base}/search"), ".filters", "#q"),
            (format!("{base}/links/new"), "form.cols", "#title"),
            (format!("{base}/keys"), "form.card", "#name"),
            (format!("{base}/notifications"), "form[action$='/url']", "#url"),
            (format!("{base}/simulator"), "form[method=get]", "#code"),
            (format!("{base}/settings"), "form[action$='/merchant']", "#merchant_name"),
            (format!("{base}/settings"), "form[action$='/origins']", "#allowed_origins"),
            (format!("{base}/settings/members"), "form[action$='/members']", "#email"),
            ("/dashboard/projects/new".to_owned(), "main form", "#name"),
            ("/dashboard/operator/projects/new".to_owned(), "main form", "#owner"),
        ] {
            // All of them in one text, and some by themselves.
            for hostile in [everything.as_str(), HOSTILE[26], HOSTILE[28], HOSTILE[31]] {
                browser.goto(&at(&kit, &path)).await;
                let (form, written) = (json!(form), json!(hostile));
                browser.evaluate(&format!("{fill}(document.querySelector({form}), {written})")).await;
                browser.wait_until("window.old === undefined && document.readyState === 'complete'").await;
                left_no_trace(&browser, hostile, &path).await;
                if browser.count(&format!("{field}[aria-invalid=true]")).await > 0 {
                    let plain = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
                    assert_eq!(plain(&browser.value(field).await), plain(hostile), "{path}");
                }
            }
        }
    })
    .await;
}

/// The cells of a file, as RFC 4180 has them.
fn cells(file: &str) -> Vec<Vec<String>> {
    let (mut rows, mut row, mut cell, mut quoted) = (Vec::new(), Vec::new(), String::new(), false);
    let mut letters = file.trim_start_matches('\u{feff}').chars().peekable();
    while let Some(letter) = letters.next() {
        match (letter, quoted) {
            ('"', true) if letters.peek() == Some(&'"') => cell.extend(letters.next()),
            ('"', _) => quoted = !quoted,
            (',', false) => row.push(std::mem::take(&mut cell)),
            ('\n', false) => {
                row.push(std::mem::take(&mut cell));
                rows.push(std::mem::take(&mut row));
            }
            ('\r', false) if letters.peek() == Some(&'\n') => {}
            _ => cell.push(letter),
        }
    }
    assert!(cell.is_empty() && row.is_empty() && !quoted, "the last line is whole");
    rows
}

#[tokio::test]
async fn no_cell_of_a_downloaded_file_is_a_formula() {
    on_sqlite(|kit| async move {
        let (project, _) = project_with_operator(&kit).await;
        let mut references = 0;
        for formula in FORMULAS.into_iter().chain(HOSTILE) {
            let body = with(samples::qris(&project, 15_000), "reference", formula);
            // Some are refused as a reference, and never get into a file.
            references += usize::from(project.api.pay(&fresh_key(), &body).await.status == 201);
            let body = with(samples::link(&project, 50_000), "reference", formula);
            let link = project.api.post("/v1/payment-links", &body).await;
            if link.status == 201 {
                attempt(&kit, &project, &link.json, Method::Qris).await;
                references += 1;
            }
        }
        create(&project, &samples::virtual_account(&project, "bca", 15_000)).await;
        let browser = Browser::open(Look::desktop()).await;
        enter(&browser, &kit, OWNER, &format!("{}/payments", desk(project.id))).await;
        browser.click(".head .pop > summary").await;
        browser.click("a[href*='payments.csv']").await;
        let file = String::from_utf8(browser.downloaded("toko-2026-11-14.csv").await).unwrap();
        let rows = cells(&file);
        assert_eq!(rows.len(), references + 2, "a head, and a row for each payment");
        for cell in rows.iter().flatten() {
            assert!(!cell.starts_with(['=', '+', '-', '@', '\t', '\r']), "{cell:?}");
        }
        assert!(rows.iter().all(|row| row.len() == rows[0].len()), "every row has the same cells");
        assert!(rows.iter().flatten().any(|cell| cell == "'=1+1"), "what begins like one is kept as text");
    })
    .await;
}
