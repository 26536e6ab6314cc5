//! Deciding about several held receipts at once.

use std::sync::Arc;

use domain::access::Role;
use testkit::{Browser, Kit, Look, Reply, TestProject, on_every_database, on_sqlite, on_sqlite_alone};

use crate::support::{
    customer::is_page,
    dashboard_browser::{enter, owner_of},
    held::{Held, contains_all, held, held_late, member},
    payments::{balance, pending_qris, status, unapplied},
    people::{PASSWORD, Person, desk},
};

on_every_database![
    several_are_accepted_with_one_note_and_the_result_says_which_were_not,
    several_without_a_note_come_back_and_the_same_form_again_changes_nothing,
    several_are_recorded_as_returned_with_one_note,
];

on_sqlite_alone![a_choice_of_none_of_too_many_or_of_other_projects_decides_nothing];

fn path(project: &TestProject) -> String {
    format!("{}/balance/receipts/several", desk(project.id))
}

/// The address to which the list's form leads with these rows ticked.
fn ticked(project: &TestProject, chosen: &[&Held]) -> String {
    let ticks: Vec<String> = chosen.iter().map(|held| format!("{}=on", held.id)).collect();
    format!("{}?{}", path(project), ticks.join("&"))
}

async fn decide(person: &Person, project: &TestProject, chosen: &[&Held], act: &str, note: &str) -> Reply {
    let mut fields = vec![("act", act), ("note", note)];
    fields.extend(chosen.iter().map(|held| (held.id.as_str(), "on")));
    person.post(&path(project), &fields).await
}

async fn several_are_accepted_with_one_note_and_the_result_says_which_were_not(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let (one, two) = (held_late(&kit, &project, "one").await, held_late(&kit, &project, "two").await);
    let less = held(&kit, &project, &pending_qris(&project, 20_000).await, "less", 19_000).await;
    let gone = held_late(&kit, &project, "gone").await;
    let chosen = [&one, &two, &less, &gone];
    let person = member(&kit, &project, Role::Owner).await;
    let page = person.open(&ticked(&project, &chosen)).await;
    is_page("confirm", &page, 200);
    contains_all(
        &page,
        &[
            "4 penerimaan dipilih, jumlahnya Rp64.000.",
            "Lunas, Rp14.895 masuk ke saldo",
            "Jumlahnya tidak sama dengan tagihan.",
            "3 pembayaran menjadi lunas: Rp45.000 masuk, biaya Rp315, Rp44.685 pindah",
            "1 lainnya tidak bisa diterima begitu saja",
            "Terima 3</button>",
            "Catat 4 sudah dikembalikan</button>",
        ],
    );
    // Another member is quicker with one of them.
    assert_eq!(gone.decide(&person, &project, "return", "lebih cepat").await.status, 303);
    let result = decide(&person, &project, &chosen, "accept", "telat sedikit").await;
    is_page("result", &result, 200);
    contains_all(
        &result,
        &[
            "2 diterima, jumlahnya Rp30.000.",
            "2 tidak berubah:",
            &less.path(&project),
            "Jumlahnya tidak sama dengan tagihan.",
            &gone.path(&project),
            "Sudah diputuskan sebelumnya.",
        ],
    );
    assert!(!result.text.contains(&one.path(&project)), "{}", result.text);
    for (held, expected) in [(&one, "paid"), (&two, "paid"), (&less, "expired"), (&gone, "expired")] {
        assert_eq!(status(&project, &held.payment).await, expected);
    }
    assert_eq!((balance(&project, "pending").await, unapplied(&project).await), (2 * 14_895, 19_000));
}

async fn several_without_a_note_come_back_and_the_same_form_again_changes_nothing(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let (one, two) = (held_late(&kit, &project, "one").await, held_late(&kit, &project, "two").await);
    let person = member(&kit, &project, Role::Owner).await;
    let unnoted = decide(&person, &project, &[&one, &two], "accept", " ").await;
    is_page("no note", &unnoted, 422);
    contains_all(&unnoted, &["Tulis catatan", "Terima 2</button>"]);
    assert_eq!(unapplied(&project).await, 30_000);
    is_page("result", &decide(&person, &project, &[&one, &two], "accept", "telat sedikit").await, 200);
    let again = decide(&person, &project, &[&one, &two], "accept", "telat sedikit").await;
    is_page("again", &again, 409);
    contains_all(&again, &["2 tidak berubah:"]);
    assert_eq!((balance(&project, "pending").await, unapplied(&project).await), (2 * 14_895, 0));
}

async fn several_are_recorded_as_returned_with_one_note(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let late = held_late(&kit, &project, "late").await;
    let less = held(&kit, &project, &pending_qris(&project, 20_000).await, "less", 19_000).await;
    let person = member(&kit, &project, Role::Owner).await;
    let page = person.open(&ticked(&project, &[&less])).await;
    contains_all(&page, &["Catat 1 sudah dikembalikan</button>"]);
    assert!(!page.text.contains("value=\"accept\""), "another amount is accepted one by one: {}", page.text);
    let result = decide(&person, &project, &[&late, &less], "return", "transfer balik").await;
    is_page("result", &result, 200);
    contains_all(&result, &["2 dicatat sudah dikembalikan, jumlahnya Rp34.000."]);
    assert!(!result.text.contains("tidak berubah"), "{}", result.text);
    assert_eq!((balance(&project, "pending").await, unapplied(&project).await), (0, 0));
    let gone = person.open(&ticked(&project, &[&late, &less])).await;
    is_page("gone", &gone, 409);
    contains_all(&gone, &["sudah diputuskan, atau bukan milik proyek ini"]);
}

async fn a_choice_of_none_of_too_many_or_of_other_projects_decides_nothing(kit: Arc<Kit>) {
    let (project, other) = (kit.sandbox().await, kit.sandbox().await);
    let (late, foreign) = (held_late(&kit, &project, "late").await, held_late(&kit, &other, "foreign").await);
    let person = member(&kit, &project, Role::Owner).await;
    let viewer = member(&kit, &project, Role::Viewer).await;
    let none = person.open(&path(&project)).await;
    is_page("none", &none, 200);
    contains_all(&none, &["Belum ada yang dipilih", &late.path(&project)]);
    let junk = person.open(&format!("{}?rcp_junk=on&pay_x=on&x", path(&project))).await;
    contains_all(&junk, &["Belum ada yang dipilih"]);
    is_page("none sent", &decide(&person, &project, &[], "return", "x").await, 422);
    let many: Vec<Held> =
        (0..101).map(|number| Held { payment: late.payment.clone(), id: format!("rcp_{number:026}") }).collect();
    let many: Vec<&Held> = many.iter().collect();
    let page = decide(&person, &project, &many, "return", "x").await;
    is_page("too many", &page, 422);
    contains_all(&page, &["Paling banyak 100 sekaligus."]);
    for act in ["", "assign", "Accept"] {
        is_page(act, &decide(&person, &project, &[&late], act, "x").await, 422);
    }
    is_page("foreign", &decide(&person, &project, &[&foreign], "return", "x").await, 404);
    is_page("viewer", &decide(&viewer, &project, &[&late], "return", "x").await, 403);
    is_page("viewer", &viewer.open(&ticked(&project, &[&late])).await, 403);
    assert_eq!((unapplied(&project).await, unapplied(&other).await), (15_000, 15_000));
    // Of a mixed choice, only what is the project's own is decided about.
    let mixed = decide(&person, &project, &[&late, &foreign], "return", "x").await;
    is_page("mixed", &mixed, 200);
    contains_all(&mixed, &["1 dicatat sudah dikembalikan"]);
    assert_eq!((unapplied(&project).await, unapplied(&other).await), (0, 15_000));
}

#[tokio::test]
async fn ticks_survive_what_happens_meanwhile_and_lead_to_one_decision_about_all_in_a_browser() {
    on_sqlite(|kit| async move {
        let project = kit.sandbox().await;
        let owner = owner_of(&kit, project.id, "owner@toko.test").await;
        let (one, two) = (held_late(&kit, &project, "one").await, held_late(&kit, &project, "two").await);
        let browser = Browser::open(Look::phone()).await;
        enter(&browser, &kit, owner.email.as_str(), &format!("{}/balance/receipts", desk(project.id))).await;
        browser.click(&format!("label:has(#pick-{})", one.id)).await;
        // The page updates itself while the member is still choosing.
        browser.evaluate("document.activeElement.blur()").await;
        let three = held_late(&kit, &project, "three").await;
        browser.wait_for(&format!("#pick-{}", three.id)).await;
        assert_eq!(browser.count("td.pick input:checked").await, 1);
        browser.click("label.pick").await;
        assert_eq!(browser.count("td.pick input:checked").await, 3);
        browser.check_page().await;
        browser.click("main form button").await;
        browser.wait_for("textarea").await;
        browser.check_page().await;
        browser.fill("textarea", "telat sedikit").await;
        browser.click("button[value=accept]").await;
        // The money was held long after the sign-in.
        browser.fill("#proof", PASSWORD).await;
        browser.click("form.confirm button.main").await;
        browser.wait_for_text(".note.ok", "3 diterima, jumlahnya Rp45.000.").await;
        browser.check_page().await;
        for held in [&one, &two, &three] {
            assert_eq!(status(&project, &held.payment).await, "paid");
        }
    })
    .await;
}
