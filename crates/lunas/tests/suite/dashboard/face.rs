//! A shop's face: what owners set on its page, what files are taken as a logo, and what customers see of it.

use std::sync::Arc;

use domain::{
    access::Role,
    audit::Deed,
    colour::Colour,
    face::{Contacts, Face, LogoMark},
    project::Project,
};
use reqwest::Method;
use serde_json::json;
use testkit::{Browser, Kit, Look, Reply, TestProject, on_every_database, on_sqlite, on_sqlite_alone};

use crate::support::{
    customer::{Customer, attribute, is_page, link_path, pay_path},
    dashboard::audited,
    dashboard_browser::{at, enter, owner_of},
    face::{give_face, logo_file},
    held::{contains_all, held},
    json::text,
    links::{cancel_link, create_link},
    payments::{pending_qris, simulate_paid},
    people::{Person, desk},
    rows::rows,
};

on_every_database![two_owners_who_change_different_parts_at_once_both_succeed];

on_sqlite_alone![
    a_logo_is_made_anew_and_served_under_its_hash,
    a_logo_is_shown_to_customers_until_it_is_removed,
    a_file_that_is_no_usable_logo_is_refused_with_what_to_do_and_nothing_is_kept,
    a_colour_that_cannot_be_read_is_adjusted_and_the_page_says_so,
    what_is_no_colour_is_reported_and_the_usual_one_can_be_had_again,
    contacts_are_kept_as_links_need_them_and_wrong_ones_are_reported_at_their_field,
    pages_that_tell_to_contact_the_merchant_link_to_it,
    receipts_posters_and_the_phone_beside_a_new_link_show_the_face_too,
    members_who_are_no_owners_see_the_face_and_change_none,
];

const BOUNDARY: &str = "----lunas-test";

fn page_of(project: &TestProject) -> String {
    format!("{}/settings/face", desk(project.id))
}

/// Sends a file as the page's form does.
async fn upload(person: &Person, project: &TestProject, file: &[u8]) -> Reply {
    let token = person.token().unwrap().form_token();
    let part = |head: &str, content: &[u8]| {
        [format!("--{BOUNDARY}\r\nContent-Disposition: form-data; {head}\r\n\r\n").as_bytes(), content, b"\r\n"]
            .concat()
    };
    let body = [
        part("name=\"form_token\"", token.as_bytes()),
        part("name=\"logo\"; filename=\"logo.png\"\r\nContent-Type: image/png", file),
        format!("--{BOUNDARY}--\r\n").into_bytes(),
    ];
    let request = person.request(Method::POST, &format!("{}/logo", page_of(project)));
    let request = request.header("sec-fetch-site", "same-origin");
    let request = request.header("content-type", format!("multipart/form-data; boundary={BOUNDARY}"));
    person.browser.send(request.body(body.concat())).await
}

async fn project_now(kit: &Kit, project: &TestProject) -> Project {
    kit.engine.project(project.id).await.unwrap()
}

async fn owner(kit: &Kit, project: &TestProject) -> Person {
    Person::member(kit, project.id, Role::Owner, "siti@example.com").await
}

/// A file of the server as bytes, with its head.
async fn file_at(kit: &Kit, path: &str) -> (Reply, Vec<u8>) {
    let customer = Customer::of(kit);
    let response = customer.begin(customer.request(Method::GET, path)).await;
    let (status, headers) = (response.status(), response.headers().clone());
    let bytes = response.bytes().await.unwrap().to_vec();
    (Reply { status, headers, json: json!(null), text: String::new() }, bytes)
}

/// The address of the project's logo.
async fn logo_at(kit: &Kit, project: &TestProject) -> String {
    let LogoMark { hash, width, height } = project_now(kit, project).await.face.logo.unwrap();
    assert_eq!((width, height), (480, 160));
    format!("/p/logo/{hash}.png")
}

async fn a_logo_is_made_anew_and_served_under_its_hash(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let owner = owner(&kit, &project).await;
    let sent = [logo_file(900, 300), b"<script>alert(1)</script>PK\x03\x04".to_vec()].concat();
    let reply = upload(&owner, &project, &sent).await;
    let saved = format!("{}?done=settings-saved", page_of(&project));
    assert_eq!(reply.header("location"), Some(saved.as_str()), "{}", reply.text);
    let path = logo_at(&kit, &project).await;
    let (head, bytes) = file_at(&kit, &path).await;
    assert_eq!(head.status, 200);
    for (name, value) in [
        ("content-type", "image/png"),
        ("cache-control", "public, max-age=31536000, immutable"),
        ("x-content-type-options", "nosniff"),
    ] {
        assert_eq!(head.header(name), Some(value), "{name}");
    }
    assert!(head.header("content-security-policy").unwrap().starts_with("default-src 'none'; "));
    assert!(bytes.starts_with(b"\x89PNG") && bytes.len() < 4_000, "{}", bytes.len());
    for hidden in [&b"script"[..], b"PK\x03\x04", b"Comment", b"106.8"] {
        assert!(!bytes.windows(hidden.len()).any(|window| window == hidden));
    }
    for unknown in ["/p/logo/00ff.png", &path.replace(".png", ""), "/p/logo/.png"] {
        assert_eq!(file_at(&kit, unknown).await.0.status, 404, "{unknown}");
    }
}

async fn a_logo_is_shown_to_customers_until_it_is_removed(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let owner = owner(&kit, &project).await;
    let link = create_link(&project, json!({})).await;
    assert_eq!(upload(&owner, &project, &logo_file(900, 300)).await.status, 303);
    let path = logo_at(&kit, &project).await;
    let page = Customer::of(&kit).open(&link_path(&link)).await;
    assert!(
        page.text.contains(&format!("<img class=\"logo\" src=\"{path}\" width=\"480\" height=\"160\"")),
        "{}",
        page.text
    );
    assert!(owner.open(&page_of(&project)).await.text.contains(&format!("src=\"{path}\"")));
    assert_eq!(owner.post(&format!("{}/logo", page_of(&project)), &[("remove", "logo")]).await.status, 303);
    assert_eq!(project_now(&kit, &project).await.face, Face::default());
    assert_eq!(file_at(&kit, &path).await.0.status, 404);
    assert_eq!(audited(&kit, Deed::SettingsChanged).await.len(), 2);
    let log = owner.open(&format!("{}/audit", desk(project.id))).await;
    assert!(log.text.contains("Logo"), "{}", log.text);
}

async fn a_file_that_is_no_usable_logo_is_refused_with_what_to_do_and_nothing_is_kept(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let owner = owner(&kit, &project).await;
    let small = logo_file(40, 20);
    // The header, which ends after 33 bytes, in another size.
    let header = [&30_000_u32.to_be_bytes()[..], &30_000_u32.to_be_bytes(), &small[24..29]].concat();
    let huge = [&small[..8], &chunk(b"IHDR", &header), &small[33..]].concat();
    let animated = [&small[..33], &chunk(b"acTL", &[0, 0, 0, 1, 0, 0, 0, 0]), &small[33..]].concat();
    let before = rows(&kit.database);
    for (file, told) in [
        (&b"<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'/>"[..], "bukan PNG, JPEG, atau WebP"),
        (b"GIF89a;", "bukan PNG, JPEG, atau WebP"),
        (&[], "Pilih berkas logo dulu"),
        (&huge, "paling banyak 4 juta piksel"),
        (&small[..small.len() / 2], "rusak atau tidak lengkap"),
        (&animated, "tidak boleh bergerak"),
        (&vec![0x89; 256 * 1024 + 1], "lebih besar dari 256 KB"),
        (&vec![0x89; 6 * 1024 * 1024], "lebih besar dari 256 KB"),
    ] {
        let page = upload(&owner, &project, file).await;
        is_page(told, &page, 422);
        let why = page.text.split("id=\"logo-why\">").nth(1).unwrap_or_else(|| panic!("{}", page.text));
        assert!(why.split('<').next().unwrap().contains(told), "{told}: {why}");
    }
    let empty = owner.post(&format!("{}/logo", page_of(&project)), &[]).await;
    is_page("no file", &empty, 422);
    assert_eq!(rows(&kit.database), before);
}

/// A chunk of a PNG file.
fn chunk(name: &[u8; 4], content: &[u8]) -> Vec<u8> {
    let named = [name.as_slice(), content].concat();
    let step = |sum: u32, byte: &u8| {
        (0..8).fold(sum ^ u32::from(*byte), |sum, _| if sum & 1 == 1 { sum >> 1 ^ 0xedb8_8320 } else { sum >> 1 })
    };
    let sum = !named.iter().fold(u32::MAX, step);
    [&(content.len() as u32).to_be_bytes(), named.as_slice(), &sum.to_be_bytes()].concat()
}

async fn a_colour_that_cannot_be_read_is_adjusted_and_the_page_says_so(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let owner = owner(&kit, &project).await;
    let link = create_link(&project, json!({})).await;
    let colour = format!("{}/colour", page_of(&project));
    let plain = Customer::of(&kit).open(&link_path(&link)).await;
    assert!(!plain.text.contains("/p/colour/"));
    assert_eq!(owner.post(&colour, &[("colour_kind", "own"), ("colour", "#FFEE00")]).await.status, 303);
    assert_eq!(project_now(&kit, &project).await.face.colour, Colour::parse("#ffee00"));
    let page = owner.open(&page_of(&project)).await;
    assert!(page.text.contains("fill=\"#ffee00\"") && page.text.contains("kami sesuaikan"), "{}", page.text);
    let page = Customer::of(&kit).open(&link_path(&link)).await;
    let path = attribute(page.text.split("<link rel=\"stylesheet\"").nth(2).unwrap(), "href");
    let (head, sheet) = file_at(&kit, &path).await;
    assert_eq!((head.status.as_u16(), head.header("content-type")), (200, Some("text/css; charset=utf-8")));
    assert_eq!(head.header("cache-control"), Some("public, max-age=31536000, immutable"));
    let sheet = String::from_utf8(sheet).unwrap();
    let (light, dark) = sheet.split_once("prefers-color-scheme:dark").unwrap();
    assert!(!light.contains("#ffee00") && dark.contains("--accent:#ffee00;--on-accent:#000000"), "{sheet}");
    for wrong in ["/p/colour/ffee00.00000000.css", "/p/colour/ffee00.css", "/p/colour/x.css", "/p/colour/%2e%2e"] {
        assert_eq!(file_at(&kit, wrong).await.0.status, 404, "{wrong}");
    }
}

async fn what_is_no_colour_is_reported_and_the_usual_one_can_be_had_again(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let owner = owner(&kit, &project).await;
    let colour = format!("{}/colour", page_of(&project));
    assert_eq!(owner.post(&colour, &[("colour_kind", "own"), ("colour", "#ffee00")]).await.status, 303);
    let before = rows(&kit.database);
    for fields in
        [&[("colour_kind", "own"), ("colour", "red")][..], &[("colour_kind", "own")], &[("colour", "#000000")]]
    {
        let page = owner.post(&colour, fields).await;
        is_page("colour", &page, 422);
        assert!(page.text.contains("id=\"colour-why\""), "{}", page.text);
    }
    assert_eq!(rows(&kit.database), before);
    assert_eq!(owner.post(&colour, &[("colour_kind", "usual"), ("colour", "#ffee00")]).await.status, 303);
    assert_eq!(project_now(&kit, &project).await.face.colour, None);
}

async fn contacts_are_kept_as_links_need_them_and_wrong_ones_are_reported_at_their_field(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let owner = owner(&kit, &project).await;
    let contacts = format!("{}/contacts", page_of(&project));
    let fields = [
        ("whatsapp", "0812-3456-7890"),
        ("phone", "(021) 555 0000"),
        ("email", "toko@example.com"),
        ("site", "https://toko.example"),
    ];
    assert_eq!(owner.post(&contacts, &fields).await.status, 303);
    let kept = Contacts {
        whatsapp: Some("6281234567890".to_owned()),
        phone: Some("+62215550000".to_owned()),
        email: Some("toko@example.com".to_owned()),
        site: Some("https://toko.example/".to_owned()),
    };
    assert_eq!(project_now(&kit, &project).await.face.contacts, kept);
    let page = owner.open(&page_of(&project)).await;
    assert!(page.text.contains("value=\"+6281234567890\""), "{}", page.text);
    let before = rows(&kit.database);
    let long = format!("https://toko.example/{}", "a".repeat(2_048));
    for (field, typed) in [
        ("whatsapp", "nomor saya"),
        ("phone", "12"),
        ("email", "toko@"),
        ("email", "a@b.id?bcc=c@d.id"),
        ("site", "http://toko.example"),
        ("site", "javascript:alert(1)"),
        ("site", "https://user:pass@toko.example"),
        ("site", "https://toko.example/\u{202e}"),
        ("site", &long),
    ] {
        let page = owner
            .post(&contacts, &[("email", "lain@example.com"), (field, typed)][usize::from(field == "email")..])
            .await;
        is_page(typed, &page, 422);
        assert!(page.text.contains(&format!("id=\"{field}-why\"")), "{field} {typed}: {}", page.text);
    }
    assert_eq!(rows(&kit.database), before);
    assert_eq!(owner.post(&contacts, &[]).await.status, 303);
    assert_eq!(project_now(&kit, &project).await.face.contacts, Contacts::default());
}

async fn pages_that_tell_to_contact_the_merchant_link_to_it(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let owner = owner(&kit, &project).await;
    let cancelled = create_link(&project, json!({})).await;
    cancel_link(&project, &cancelled).await;
    let less = pending_qris(&project, 15_000).await;
    held(&kit, &project, &less, "less", 14_000).await;
    let dropped = pending_qris(&project, 15_000).await;
    project
        .api
        .post(&format!("/v1/sandbox/payments/{}/simulate", text(&dropped, "id")), &json!({ "outcome": "failed" }))
        .await
        .expect(200);
    let pages = [link_path(&cancelled), pay_path(&less), pay_path(&dropped)];
    for path in &pages {
        assert!(!Customer::of(&kit).open(path).await.text.contains("wa.me"), "{path}");
    }
    let contacts = format!("{}/contacts", page_of(&project));
    for (field, typed, address, words) in [
        ("whatsapp", "0812 3456 7890", "https://wa.me/6281234567890", "lewat WhatsApp"),
        ("phone", "1500123", "tel:1500123", "lewat telepon"),
        ("email", "toko@example.com", "mailto:toko@example.com", "lewat email"),
        ("site", "https://toko.example/kontak", "https://toko.example/kontak", "lewat situsnya"),
    ] {
        assert_eq!(owner.post(&contacts, &[(field, typed)]).await.status, 303);
        for path in &pages {
            let page = Customer::of(&kit).open(path).await;
            let link = format!("<a class=\"button\" href=\"{address}\"");
            assert_eq!(page.text.matches(&link).count(), 1, "{path}: {}", page.text);
            assert!(page.text.contains("Hubungi ") && page.text.contains(words), "{path}: {}", page.text);
        }
    }
}

async fn receipts_posters_and_the_phone_beside_a_new_link_show_the_face_too(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let owner = owner(&kit, &project).await;
    let link = create_link(&project, json!({})).await;
    let paid = pending_qris(&project, 15_000).await;
    simulate_paid(&project, &paid).await;
    give_face(&kit, project.id).await;
    let logo = format!("src=\"{}\"", logo_at(&kit, &project).await);
    let texts = ["WhatsApp +6281234567890", "1500123", "toko@example.com", "toko.example"];
    for path in [pay_path(&paid), format!("{}?print=80mm", pay_path(&paid))] {
        let page = Customer::of(&kit).open(&path).await;
        contains_all(&page, &[&logo, "href=\"https://wa.me/6281234567890\"", "href=\"tel:1500123\""]);
        contains_all(&page, &texts);
    }
    let waits = Customer::of(&kit).open(&pay_path(&pending_qris(&project, 15_000).await)).await;
    contains_all(&waits, &[&logo, "href=\"https://wa.me/6281234567890\"", "lewat WhatsApp"]);
    let poster = owner.open(&format!("{}/links/{}/poster", desk(project.id), text(&link, "id"))).await;
    contains_all(&poster, &[&logo, "fill=\"#0b57d0\"", &texts.join(" · ")]);
    contains_all(&owner.open(&format!("{}/links/new", desk(project.id))).await, &[&logo]);
}

async fn members_who_are_no_owners_see_the_face_and_change_none(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    owner(&kit, &project).await;
    let people = [
        (Person::member(&kit, project.id, Role::Viewer, "budi@example.com").await, 403, 200),
        (Person::member(&kit, project.id, Role::Developer, "dewi@example.com").await, 403, 200),
        (Person::new(&kit, "mallory@example.com").await, 404, 404),
    ];
    let before = rows(&kit.database);
    for (person, refused, shown) in people {
        let page = person.open(&page_of(&project)).await;
        is_page("the face", &page, shown);
        assert!(!page.text.contains("type=\"file\""), "{}", page.text);
        is_page("logo", &upload(&person, &project, &logo_file(20, 20)).await, refused);
        for (part, fields) in
            [("colour", &[("colour_kind", "usual")][..]), ("contacts", &[]), ("logo", &[("remove", "logo")])]
        {
            is_page(part, &person.post(&format!("{}/{part}", page_of(&project)), fields).await, refused);
        }
    }
    assert_eq!(rows(&kit.database), before);
}

async fn two_owners_who_change_different_parts_at_once_both_succeed(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let first = owner(&kit, &project).await;
    let second = Person::member(&kit, project.id, Role::Owner, "dewi@example.com").await;
    let (colour, contacts) = (format!("{}/colour", page_of(&project)), format!("{}/contacts", page_of(&project)));
    let file = logo_file(30, 30);
    let (logo, colour, contacts) = tokio::join!(
        upload(&first, &project, &file),
        second.post(&colour, &[("colour_kind", "own"), ("colour", "#0b57d0")]),
        first.post(&contacts, &[("phone", "1500123")]),
    );
    for reply in [logo, colour, contacts] {
        assert_eq!(reply.status, 303, "{}", reply.text);
    }
    let Face { logo, colour, contacts } = project_now(&kit, &project).await.face;
    assert!(logo.is_some() && colour.is_some() && contacts.phone.is_some());
}

#[tokio::test]
async fn an_owner_uploads_a_logo_and_a_colour_and_the_checkout_shows_both_in_a_browser() {
    on_sqlite(|kit| async move {
        let project = kit.sandbox().await;
        owner_of(&kit, project.id, "siti@example.com").await;
        let link = create_link(&project, json!({ "title": "Kopi susu" })).await;
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("logo.png");
        std::fs::write(&file, logo_file(600, 200)).unwrap();
        let browser = Browser::open(Look::phone()).await;
        enter(&browser, &kit, "siti@example.com", &page_of(&project)).await;
        browser.check_page().await;
        browser.fill("#logo", file.to_str().unwrap()).await;
        browser.click("form[action$='/logo'] button.main").await;
        browser.wait_for("img.logo").await;
        browser.choose("input[value=own]").await;
        browser.evaluate("document.getElementById('colour').value = '#ffcc00'").await;
        browser.click("form[action$='/colour'] button").await;
        browser.wait_for_text("dl.swatches", "#ffcc00").await;
        browser.check_page().await;
        browser.goto(text(&link, "url")).await;
        let loaded = "document.querySelector('img.logo').naturalHeight === 160";
        browser.wait_until(loaded).await;
        browser.check_page().await;
        browser.look_with(Look::phone().dark()).await;
        browser.check_colours().await;
        let accent = "getComputedStyle(document.querySelector('.main')).backgroundColor";
        assert_eq!(browser.evaluate(accent).await, json!("rgb(255, 204, 0)"));
        browser.goto(&at(&kit, &page_of(&project))).await;
        browser.check_colours().await;
        assert_eq!(browser.console_errors().await, [""; 0]);
    })
    .await;
}
