//! What must hold on every page of the dashboard, in every state that its samples show.

use domain::language::Language;

use crate::{
    account, audit, balance, counter, customer, forgot, home, invite, key_rotation, keys, letters, links, members,
    new_link, new_project, notifications,
    operator::{self, banks, differences, strays},
    payment, payments, prove, receipts, refunds, reset, roles,
    samples::{HOSTILE, LANGUAGES, Setting},
    search, second_factor, settings, sign_in_code, simulator,
    words::code,
};

type Pages = Vec<(&'static str, String)>;

/// The pages about money.
fn money_pages(language: Language) -> Pages {
    let pages = [
        home::samples::pages(language),
        payments::samples::pages(language),
        customer::samples::pages(language),
        search::samples::pages(language),
        payment::samples::pages(language),
        balance::samples::pages(language),
        receipts::samples::pages(language),
        refunds::samples::pages(language),
        counter::samples::pages(language),
        links::samples::edit_pages(language).into(),
        links::samples::posters(language).into(),
    ];
    pages.into_iter().flatten().collect()
}

/// The pages about links, keys, webhooks and the simulator.
fn integration_pages(language: Language) -> Pages {
    let pages = [
        links::samples::pages(language),
        new_link::samples::pages(language),
        keys::samples::pages(language),
        key_rotation::samples::pages(language),
        notifications::samples::pages(language),
        simulator::samples::pages(language),
    ];
    pages.into_iter().flatten().collect()
}

/// The pages about people, settings and the installation.
fn people_pages(language: Language) -> Pages {
    let setting = Setting { language, text: HOSTILE };
    let pages = [
        account::samples::pages(setting),
        second_factor::samples::pages(setting),
        prove::samples::pages(setting),
        sign_in_code::samples::pages(setting),
        new_project::samples::pages(setting),
        settings::samples::pages(setting),
        members::samples::pages(setting),
        roles::samples::pages(setting),
        forgot::samples::pages(setting),
        reset::samples::pages(setting),
        invite::samples::pages(setting),
        letters::stop::samples::pages(setting),
        audit::samples::pages(setting),
        operator::samples::pages(setting),
        banks::samples::pages(setting),
        strays::samples::pages(setting),
        differences::samples::pages(setting),
    ];
    pages.into_iter().flatten().collect()
}

/// What must hold on every page about money and integration.
fn check_page(name: &str, html: &str, language: Language) {
    assert_eq!(html.matches("<h1").count(), 1, "{name}");
    assert!(html.contains(&format!("<html lang=\"{}\">", code(language))), "{name}");
    assert!(!html.contains("No localization for id"), "{name}: {html}");
    for forbidden in [" style=", " onclick=", " onload=", "javascript:", "<script>", "</script>\"'"] {
        assert!(!html.contains(forbidden), "{name} has {forbidden}");
    }
    for form in html.split("<form").skip(1).filter(|form| form.contains("method=\"post\"")) {
        assert!(form.contains("name=\"form_token\""), "{name}: every form that is posted has a token");
    }
    let ids: Vec<&str> = html.split(" id=\"").skip(1).filter_map(|rest| rest.split('"').next()).collect();
    for id in &ids {
        assert_eq!(ids.iter().filter(|other| *other == id).count(), 1, "{name} has the id {id} once");
    }
    for part in html.split('<').filter(|tag| tag.contains(" data-live")) {
        let tag = part.split('>').next().unwrap();
        assert!(tag.contains("data-live-url") || tag.contains(" id=\""), "{name}: what follows has an id: {tag}");
    }
}

#[test]
fn every_page_has_one_heading_and_nothing_that_its_policy_forbids() {
    for language in LANGUAGES {
        for (name, html) in [money_pages(language), integration_pages(language)].concat() {
            check_page(name, &html, language);
        }
    }
}

#[test]
fn a_cashiers_menu_has_the_counter_alone() {
    for language in LANGUAGES {
        for (name, html) in counter::samples::pages(language) {
            let has_more = html.contains("/settings\"") || html.contains("/search\"") || html.contains("projects/new");
            assert_eq!(has_more, name == "till", "{name}");
        }
    }
}

#[test]
fn the_poster_of_a_closed_link_asks_for_no_money() {
    for language in LANGUAGES {
        let [open, closed] =
            links::samples::posters(language).map(|(_, html)| html.matches("class=\"amount\"").count());
        assert!(open > 0 && closed == 0, "{open} and {closed}");
    }
}

#[test]
fn every_page_is_whole_in_both_languages_and_lets_nothing_break_out() {
    for language in LANGUAGES {
        for (name, html) in integration_pages(language) {
            let name = format!("{name} ({})", code(language));
            assert_eq!(html.matches("<h1").count(), 1, "{name} has one heading");
            assert!(html.contains("<title>") && !html.contains("<title> ·"), "{name} has a title");
            assert!(!html.contains("No localization for id"), "{name} has all its texts");
            for wrong in ["<script>alert", " style=", " onclick=", " onsubmit=", "javascript:"] {
                assert!(!html.contains(wrong), "{name} has {wrong}");
            }
            assert!(html.contains("&#60;script&#62;"), "{name} shows hostile text as text");
            let main = html.split_once("<main").unwrap().1;
            assert!(
                main.matches("class=\"main\"").count() + main.matches("button main\"").count() <= 1,
                "{name}: one thing to do"
            );
            for form in main.split("<form").skip(1).filter(|form| form.contains("method=\"post\"")) {
                let form = form.split("</form>").next().unwrap();
                assert!(form.contains("name=\"form_token\""), "{name}: {form}");
            }
            let mut ids: Vec<&str> = html.split(" id=\"").skip(1).map(|rest| rest.split('"').next().unwrap()).collect();
            ids.sort_unstable();
            assert!(ids.windows(2).all(|pair| pair[0] != pair[1]), "{name} has an id twice: {ids:?}");
        }
    }
}

/// Checks what `holds` says on every page about people, with its name and its language.
fn check(holds: impl Fn(&str, &'static str, &str)) {
    for language in LANGUAGES {
        for (name, html) in people_pages(language) {
            holds(name, code(language), &html);
        }
    }
}

#[test]
fn every_page_about_people_has_its_language_one_heading_and_a_title() {
    check(|name, language, html| {
        assert!(html.contains(&format!("<html lang=\"{language}\">")), "{name}");
        assert_eq!(html.matches("<h1").count(), 1, "{name}");
        assert_eq!(html.matches("<main").count(), 1, "{name}");
        let title = html.split_once("<title>").and_then(|(_, rest)| rest.split_once("</title>")).unwrap().0;
        assert!(!title.trim_start_matches([' ', '·']).starts_with("Lunas"), "{name}: {title}");
        // A text that is missing is shown as its key.
        assert!(!html.contains("dash-") && !html.contains("No localization"), "{name}");
    });
}

#[test]
fn no_text_of_a_user_becomes_markup_and_no_page_breaks_its_policy() {
    check(|name, _, html| {
        assert_eq!(html.matches("<script").count(), 1, "{name}");
        assert!(!html.contains("<script>alert") && !html.contains("</script>\"'"), "{name}");
        assert!(!html.contains("<style") && !html.contains(" style=") && !html.contains(" onclick="), "{name}");
    });
}

#[test]
fn every_form_that_a_signed_in_user_posts_carries_their_token() {
    check(|name, _, html| {
        for form in html.split("<form").skip(1).map(|form| form.split("</form>").next().unwrap()) {
            let of_strangers =
                ["invite-new-account", "invite-sign-in", "forgot-", "reset-", "sign-in-code", "letters-stop"];
            let is_open_to_strangers = of_strangers.iter().any(|start| name.starts_with(start));
            let posts = form.contains("method=\"post\"") && !is_open_to_strangers;
            assert_eq!(form.contains("name=\"form_token\" value=\"0123456789abcdef\""), posts, "{name}: {form}");
        }
    });
}

#[test]
fn a_member_who_may_not_change_anything_sees_no_form_for_it() {
    check(|name, _, html| {
        if name.ends_with("-of-others") {
            // The one that signs out is in the menu twice; searching changes nothing.
            let posted = html.split("<form").skip(1).filter(|form| form.contains("method=\"post\""));
            assert_eq!(posted.count(), 2, "{name}");
            assert!(!html.contains("<button class=\"main\""), "{name}");
        }
    });
}
