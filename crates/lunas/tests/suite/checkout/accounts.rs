//! How a pending virtual account is shown: the numbers as the bank's screens ask for them, and the steps.

use std::sync::Arc;

use domain::bank::Bank;
use testkit::{Kit, on_sqlite_alone};

use crate::support::{
    customer::{Customer, attribute, is_page, pay_path},
    held::contains_all,
    json::text,
    payments::create,
    samples::virtual_account,
};

on_sqlite_alone![
    a_number_that_a_bank_asks_for_in_two_parts_is_shown_and_copied_in_two_parts_and_whole,
    steps_lead_through_todays_apps_and_from_another_bank,
    names_of_menus_are_marked_as_indonesian_in_english_pages,
];

async fn a_number_that_a_bank_asks_for_in_two_parts_is_shown_and_copied_in_two_parts_and_whole(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    for bank in Bank::ALL {
        let payment = create(&project, &virtual_account(&project, bank.code(), 150_000)).await;
        let number = text(&payment["instructions"], "virtual_account_number");
        let page = Customer::of(&kit).open(&pay_path(&payment)).await;
        is_page(bank.code(), &page, 200);
        let copied: Vec<String> =
            page.text.split("<button type=\"button\"").skip(1).map(|button| attribute(button, "data-copy")).collect();
        let parts = match bank {
            Bank::Mandiri => vec![&number[..5], &number[5..], number, "150000"],
            Bank::Bsi => vec![&number[..4], &number[4..], number, "150000"],
            _ => vec![number, "150000"],
        };
        assert_eq!(copied, parts, "{bank:?}");
        let labels = match bank {
            Bank::Mandiri => &["Kode perusahaan", "Nomor pelanggan", "Nomor virtual account lengkap"][..],
            Bank::Bsi => &["Kode institusi", "Kode bayar", "Nomor virtual account lengkap"],
            _ => &["Nomor virtual account"],
        };
        contains_all(&page, labels);
        contains_all(&page, &["class=\"mark ", bank.name()]);
    }
}

async fn steps_lead_through_todays_apps_and_from_another_bank(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    for (bank, apps) in [
        ("bca", &["myBCA", "BCA mobile", "KlikBCA"][..]),
        ("bni", &["wondr by BNI", "BNI Mobile Banking"]),
        ("bri", &["BRImo"]),
        ("mandiri", &["Livin&#39; by Mandiri"]),
        ("permata", &["PermataME"]),
        ("cimb", &["OCTO by CIMB Niaga"]),
        ("bsi", &["BYOND by BSI"]),
    ] {
        let payment = create(&project, &virtual_account(&project, bank, 150_000)).await;
        let page = Customer::of(&kit).open(&pay_path(&payment)).await;
        for app in apps {
            contains_all(&page, &[&format!("<summary>{app}</summary>")]);
        }
        contains_all(&page, &["<summary>Dari bank lain</summary>", "bukan BI-FAST"]);
    }
}

async fn names_of_menus_are_marked_as_indonesian_in_english_pages(kit: Arc<Kit>) {
    let project = kit.sandbox().await;
    let payment = create(&project, &virtual_account(&project, "bca", 150_000)).await;
    let page = Customer::of(&kit).open(&format!("{}?lang=en", pay_path(&payment))).await;
    contains_all(&page, &["<html lang=\"en\"", "Choose <b lang=\"id\">m-BCA › m-Transfer › BCA Virtual Account</b>"]);
    assert_eq!(page.text.matches("<li>Choose <b lang=\"id\">").count(), page.text.matches("<li>Choose ").count());
}
