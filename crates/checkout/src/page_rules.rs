//! What must hold on every page of the checkout, in every state.

use domain::language::Language;

use crate::view::{
    Stripe,
    samples::{Sample, Setting, choosers, claims::claims, ends, pendings, prices, samples, unapplied},
};

/// The most bytes of a page, so that a first load with style sheet, script and headers stays below 14 KB.
const MOST_CHOOSER_BYTES: usize = 6_500;
const MOST_PENDING_BYTES: usize = 7_500;
/// It lists all banks that transfers reach, which compresses well.
const MOST_CLAIM_BYTES: usize = 9_000;

/// The text between `before` and `after`.
fn between<'a>(html: &'a str, before: &str, after: &str) -> &'a str {
    let from = html.find(before).unwrap_or_else(|| panic!("no {before}")) + before.len();
    let length = html[from..].find(after).unwrap_or_else(|| panic!("no {after} after {before}"));
    &html[from..from + length]
}

/// The names of all attributes of a page. A simple scan that respects quotation marks is enough here.
fn attributes(html: &str) -> Vec<&str> {
    let outside_of_quotes = html.split('<').skip(1).flat_map(|tag| tag.split('>').next()).flat_map(|tag| {
        let (head, quoted) = tag.split_once('"').unwrap_or((tag, ""));
        std::iter::once(head).chain(quoted.split('"').skip(1).step_by(2))
    });
    outside_of_quotes.flat_map(|text| text.split_whitespace()).map(|word| word.trim_end_matches('=')).collect()
}

#[test]
fn every_page_says_its_language_and_its_state_once() {
    for Sample { name, language, html, .. } in samples() {
        assert!(html.starts_with(&format!("<!doctype html>\n<html lang=\"{language}\">")), "{name}");
        assert_eq!(html.matches("<h1").count(), 1, "{name}");
        assert_eq!(html.matches("<main").count(), 1, "{name}");
        let title = between(&html, "<title>", "</title>");
        assert!(!title.trim().is_empty() && title.trim() == title, "{name}: {title:?}");
        assert!(html.contains("<meta name=\"robots\" content=\"noindex,nofollow\">"), "{name}");
        let other = if language == "id" { "en" } else { "id" };
        assert!(html.contains(&format!("hreflang=\"{other}\" lang=\"{other}\"")), "{name}");
    }
}

#[test]
fn every_state_has_a_title_of_its_own() {
    let setting = Setting { language: Language::Indonesian, stripe: None, merchant: "Toko" };
    let pages = [choosers(setting), pendings(setting), ends(setting), unapplied(setting), claims(setting)];
    let pages = pages.into_iter().flatten();
    // These show a state that another sample has already.
    let same = [
        "choose-down",
        "choose-replaces",
        "choose-lone",
        "choose-none",
        "choose-untitled",
        "qris-direct",
        "qris-being-paid",
        "account-closed",
        "expired-for-good",
        "failed-paid",
        "failed-withdrawn",
        "account-split",
        "failed-being-paid",
        "expired-held",
        "expired-returned",
        "paid-twice",
        "paid-other",
        "account-held",
        "claim-form-missing",
        "claim-form-malformed",
        "claim-form-refused",
        "claim-form-out-of-reach",
        "claim-form-wait",
        "claim-confirm-asked",
        "claim-confirm-missing",
        "claim-confirm-long",
        "claim-confirm-malformed",
        "claim-waits-late",
    ];
    let mut titles: Vec<_> = pages
        .filter(|(page, _)| !same.contains(page))
        .map(|(_, html)| between(&html, "<title>", "</title>").to_owned())
        .collect();
    let count = titles.len();
    titles.sort();
    titles.dedup();
    assert_eq!(titles.len(), count, "{titles:?}");
}

#[test]
fn no_page_asks_for_what_the_content_security_policy_forbids() {
    for Sample { name, html, .. } in samples() {
        let html = html.replace("<script src=\"/assets/more.js?v=1\" defer></script>", "");
        assert_eq!(html.matches("<script").count(), 1, "{name}");
        assert!(html.contains("<script src=\"/assets/checkout.js?v=1\" defer></script>"), "{name}");
        assert!(!html.contains("<style"), "{name}");
        let html = html.replace(&format!("id=\"back\" href=\"{}", prices::BACK), "");
        // Chats read these; a browser asks for none of them.
        let html: String = html.lines().filter(|line| !line.starts_with("<meta property=\"og:")).collect();
        assert!(!html.contains("http://") && !html.contains("https://") && !html.contains("=\"//"), "{name}");
        for attribute in attributes(&html) {
            assert!(attribute != "style" && !attribute.starts_with("on"), "{name}: {attribute}");
        }
    }
}

#[test]
fn pages_without_real_money_say_so_and_only_the_sandbox_has_a_simulator() {
    for Sample { name, language, stripe, html } in samples() {
        assert_eq!(html.contains("class=\"stripe\""), stripe.is_some(), "{name}");
        let rehearsal = if language == "id" { "Latihan: bukan uang sungguhan" } else { "Rehearsal: no real money" };
        assert_eq!(html.contains(rehearsal), stripe == Some(Stripe::Rehearsal), "{name}");
        let pays = ["qris", "account", "processing"].iter().any(|page| name.starts_with(page));
        assert_eq!(html.contains("name=\"outcome\""), stripe == Some(Stripe::Sandbox) && pays, "{name}");
    }
}

#[test]
fn forms_have_messages_of_ours_and_none_of_the_browsers() {
    for Sample { name, html, .. } in samples() {
        let asks = html.contains("name=\"method\"") || html.contains("name=\"step\"");
        assert_eq!(html.contains("novalidate"), asks, "{name}");
        assert!(!html.contains("maxlength"), "{name}: a browser would cut what is typed without a word");
        assert_eq!(html.contains("data-straight"), name.contains("choose-lone"), "{name}");
    }
}

#[test]
fn a_failure_of_ours_comes_with_a_code_for_support_and_something_to_do() {
    for Sample { name, html, .. } in samples() {
        let fails = ["choose-down", "try-later", "problem-"].iter().any(|kind| name.contains(kind));
        let is_unknown = name.contains("problem-not-found");
        assert_eq!(html.contains("req_01kc2m8r5gfq9t3v7x1y4z6a8b"), fails && !is_unknown, "{name}");
        if fails && !is_unknown || name.contains("choose-none") {
            assert!(html.contains("class=\"main\"") || html.contains("class=\"button main\""), "{name}");
        }
    }
}

#[test]
fn pages_with_a_form_let_the_browser_name_their_origin() {
    for Sample { name, html, .. } in samples() {
        let says = html.contains("<meta name=\"referrer\" content=\"same-origin\">");
        assert_eq!(says, html.contains("<form"), "{name}");
    }
}

/// Whether the focus is on what is wrong.
fn is_mistaken_confirmation(name: &str) -> bool {
    ["missing", "long", "malformed"].iter().any(|mistake| name.contains(&format!("claim-confirm-{mistake}")))
}

#[test]
fn ends_take_the_focus_and_pending_pages_do_not() {
    for Sample { name, html, .. } in samples() {
        let chooses = name.contains("choose") || name.contains("claim-form") || is_mistaken_confirmation(&name);
        let waits = name.contains("qris") || name.contains("account");
        let focuses = html.contains("<h1 tabindex=\"-1\" autofocus>");
        assert_eq!(focuses, !chooses && !waits && !name.contains("slip"), "{name}");
    }
}

#[test]
fn what_can_still_change_is_watched() {
    for Sample { name, html, .. } in samples() {
        let kinds = ["rehearsal-", "live-", "hostile-"];
        let plain = kinds.iter().find_map(|kind| name.strip_prefix(kind)).unwrap_or(&name);
        let status = |page: &str| plain.starts_with(page);
        let expected = match () {
            () if status("qris") || status("account") => Some("pending"),
            () if status("processing") => Some("processing"),
            () if status("expired") => Some("expired"),
            () if status("failed") => Some("failed"),
            () if status("cancelled") => Some("cancelled"),
            () if status("claim-waits-checked") => Some("awaiting_approval"),
            () if status("claim-waits") => Some("processing"),
            () if status("claim-ended") => plain.strip_prefix("claim-ended-").and_then(|name| name.split('.').next()),
            () => None,
        };
        let watched = html.contains("id=\"watch\"").then(|| between(&html, "role=\"status\" data-status=\"", "\""));
        assert_eq!(watched, expected, "{name}");
    }
}

#[test]
fn pages_are_light_enough_for_a_slow_phone() {
    for Sample { name, html, .. } in samples() {
        let most = match name.as_str() {
            "choose.id" | "choose.en" | "rehearsal-choose.id" | "live-choose.id" | "live-choose.en" => {
                MOST_CHOOSER_BYTES
            }
            _ if name.starts_with("hostile") => continue,
            _ if name.contains("claim-form") => MOST_CLAIM_BYTES,
            _ => MOST_PENDING_BYTES,
        };
        assert!(html.len() <= most, "{name} has {} bytes", html.len());
    }
}

#[test]
fn money_that_did_not_pay_is_told_of_and_asks_nobody_to_pay_again() {
    for Sample { name, html, .. } in samples() {
        let tells = name.contains("-held") || name.contains("expired-returned") || name.contains("paid-twice");
        assert_eq!(html.contains("class=\"note held\""), tells, "{name}");
        if name.contains("expired-held") {
            assert!(!html.contains("class=\"button main\""), "{name}: another code is not what is asked for first");
        }
    }
}

#[test]
fn a_claim_link_says_who_gives_back_what_and_why_and_names_no_customer() {
    for Sample { name, language, html, .. } in samples() {
        if !name.contains("claim-") || name.starts_with("hostile") {
            continue;
        }
        let says_why = html.contains("Satu kemasan rusak di jalan") && html.contains("INV-2026-00123");
        assert_eq!(says_why, !name.contains("claim-confirm"), "{name}");
        assert!(html.contains("Rp150.000") && html.contains("Toko Kopi Senja"), "{name}");
        let is_warned = html.contains(if language == "id" { "kode OTP" } else { "OTP code" });
        assert_eq!(is_warned, name.contains("claim-form"), "{name}");
        // The whole number is shown to who has just typed it, and to nobody else.
        assert_eq!(html.contains("0123 4567 89"), name.contains("claim-confirm"), "{name}");
        assert_eq!(
            html.contains("SARI DEWI"),
            name.contains("claim-confirm.")
                || name.contains("claim-confirm-long")
                || name.contains("claim-confirm-malformed"),
            "{name}"
        );
    }
}

#[test]
fn a_receipt_says_what_was_given_back() {
    for Sample { name, language, html, .. } in samples() {
        let done = if language == "id" { "Rp50.000 pada 15 November" } else { "Rp50.000 on 15 November" };
        let open = if language == "id" { "Rp50.000, sedang dikirim" } else { "Rp50.000, on its way" };
        let is_refunded = name.contains("refunded");
        assert_eq!((html.contains(done), html.contains(open)), (is_refunded, is_refunded), "{name}");
    }
}
