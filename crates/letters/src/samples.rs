//! Samples of every letter, with usual texts and with texts that try to break out.

use domain::{
    access::Role, bank::Bank, colour::Colour, face::Contacts, letter::SummaryPeriod, method::Method, money::Rupiah,
    receipt::Unapplied, time::Timestamp,
};

use crate::letter::{
    ApprovalWanted, Asker, BankDown, Customer, Face, FactorChange, FactorChanged, Invitation, Letter, MoneyHeld,
    NewDevice, Origin, PasswordChange, PasswordChanged, PasswordReset, PaymentReceipt, RefundClaim, RefundMade, Shop,
    Summary, Test, WebhookFailing,
};

/// What somebody might enter to take a letter over: markup, lines of their own, a turned text, and no end.
pub(crate) const HOSTILE: &str =
    "<script>alert(1)</script>\"'&\r\nBcc: x@example.com\u{202e}\u{2066}\0<a href=//x.example>a</a> אבג";
const CHROME: &str = "Mozilla/5.0 (Linux; Android 14; SM-A155F) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0.0.0 \
                      Mobile Safari/537.36";

/// The texts of samples that people or other systems have chosen.
pub(crate) struct Texts {
    pub(crate) shop: String,
    pub(crate) title: String,
    pub(crate) reference: String,
    pub(crate) email: String,
    pub(crate) answer: String,
    pub(crate) browser: String,
}

impl Texts {
    pub(crate) fn usual() -> Texts {
        Texts {
            shop: "Kopi Tiga Saudara".to_owned(),
            title: "2 kg biji kopi Gayo, sangrai sedang".to_owned(),
            reference: "INV-2041".to_owned(),
            email: "siti@example.com".to_owned(),
            answer: "503 Service Unavailable".to_owned(),
            browser: CHROME.to_owned(),
        }
    }

    pub(crate) fn hostile() -> Texts {
        let hostile = || HOSTILE.repeat(5);
        Texts {
            shop: hostile(),
            title: hostile(),
            reference: hostile(),
            email: hostile(),
            answer: hostile(),
            browser: hostile(),
        }
    }
}

pub(crate) fn shop_face(texts: &Texts) -> Face {
    let contacts = Contacts {
        whatsapp: Some("6281234567890".to_owned()),
        email: Some("halo@kopi.example".to_owned()),
        ..Contacts::default()
    };
    let shop = Shop { name: texts.shop.clone(), colour: Some(Colour::new(0xf2, 0x8c, 0x28)), contacts, logo: None };
    Face { shop: Some(shop), host: "bayar.kopi.example".to_owned() }
}

pub(crate) fn own_face() -> Face {
    Face { shop: None, host: "bayar.kopi.example".to_owned() }
}

fn at(hour: i64) -> Timestamp {
    // 15 November 2026, midnight in UTC.
    Timestamp::from_millis(1_794_700_800_000 + hour * domain::time::HOUR_MILLIS)
}

fn page(path: &str) -> String {
    format!("https://bayar.kopi.example{path}")
}

/// Every letter in each of its forms, with a name and the face that it usually has.
pub(crate) fn letters(texts: &Texts) -> Vec<(String, Letter, Face)> {
    let of_shop = money(texts).into_iter().map(|(name, letter)| (name, letter, shop_face(texts)));
    let own = account(texts).into_iter().chain(factor(texts)).map(|(name, letter)| (name, letter, own_face()));
    of_shop.chain(own).collect()
}

fn approval(texts: &Texts) -> ApprovalWanted {
    ApprovalWanted {
        project: texts.shop.clone(),
        amount: Rupiah::new(2_500_000),
        asked_by: Some(Asker::User(texts.email.clone())),
        asked_at: at(5),
        destination: Some(texts.answer.clone()),
        reason: Some(texts.reference.clone()),
        refund_id: "rfd_01kfv7q3h8e6w9x2m4n5p7r8st".to_owned(),
        payment_id: "pay_01kfv7q3h8e6w9x2m4n5p7r8st".to_owned(),
        page_url: page("/dashboard/prj_1/refunds/rfd_01kfv7q3h8e6w9x2m4n5p7r8st"),
        for_operators: false,
        is_sandbox: false,
    }
}

/// What operators are asked where no owner may approve it.
fn approval_by_operator(texts: &Texts) -> ApprovalWanted {
    ApprovalWanted {
        asked_by: Some(Asker::Key),
        destination: None,
        reason: None,
        page_url: page("/dashboard/operator/refunds/rfd_01kfv7q3h8e6w9x2m4n5p7r8st"),
        for_operators: true,
        ..approval(texts)
    }
}

fn refunds(texts: &Texts) -> [(String, Letter); 4] {
    let from_server = ApprovalWanted { asked_by: Some(Asker::CommandLine), is_sandbox: true, ..approval(texts) };
    let claim = RefundClaim {
        title: texts.title.clone(),
        amount: Rupiah::new(125_000),
        reason: Some(texts.reference.clone()),
        payment_id: "pay_01kfv7q3h8e6w9x2m4n5p7r8st".to_owned(),
        reference: Some(texts.reference.clone()),
        claim_url: page(&format!("/r/{}", "5a".repeat(32))),
        expires_at: at(40),
        is_sandbox: false,
    };
    let made = RefundMade {
        title: texts.title.clone(),
        amount: Rupiah::new(125_000),
        destination: Some(texts.answer.clone()),
        made_at: at(20),
        payment_id: "pay_01kfv7q3h8e6w9x2m4n5p7r8st".to_owned(),
        reference: None,
        payment_url: page("/pay/pay_01kfv7q3h8e6w9x2m4n5p7r8st"),
        is_sandbox: true,
        customer: Some(customer(texts)),
    };
    [
        ("refund-claim".to_owned(), Letter::RefundClaim(claim)),
        ("refund-made".to_owned(), Letter::RefundMade(made)),
        ("approval-wanted".to_owned(), Letter::ApprovalWanted(approval(texts))),
        ("approval-wanted-from-server".to_owned(), Letter::ApprovalWanted(from_server)),
    ]
}

fn money(texts: &Texts) -> Vec<(String, Letter)> {
    let receipt = PaymentReceipt {
        title: texts.title.clone(),
        amount: Rupiah::new(385_000),
        paid_at: at(14),
        method: Method::VirtualAccount(Bank::Bca),
        payment_id: "pay_01kfv7q3h8e6w9x2m4n5p7r8st".to_owned(),
        reference: Some(texts.reference.clone()),
        payment_url: page("/pay/pay_01kfv7q3h8e6w9x2m4n5p7r8st"),
        is_sandbox: false,
        customer: Some(customer(texts)),
    };
    let held = |reason| MoneyHeld {
        project: texts.shop.clone(),
        amount: Rupiah::new(150_000),
        received_at: at(3),
        reason,
        payment_id: "pay_01kfv7q3h8e6w9x2m4n5p7r8st".to_owned(),
        page_url: page("/dashboard/projects/prj_1/balance/receipts/rcp_1"),
        is_sandbox: false,
    };
    let summary = |period, from, until| Summary {
        project: texts.shop.clone(),
        period,
        from,
        until,
        paid_count: 1_284,
        paid_sum: Rupiah::new(96_450_000),
        paid_sum_before: Rupiah::new(88_120_500),
        held_count: 2,
        page_url: page("/dashboard/projects/prj_1"),
        is_sandbox: true,
    };
    let webhook = WebhookFailing {
        project: texts.shop.clone(),
        webhook_url: format!("https://{}/hooks", texts.shop.to_lowercase().replace(' ', "-")),
        failing_since: at(1),
        waiting: 37,
        last_answer: Some(texts.answer.clone()),
        page_url: page("/dashboard/projects/prj_1/notifications"),
    };
    let plain_receipt =
        PaymentReceipt { method: Method::Qris, reference: None, is_sandbox: true, customer: None, ..receipt.clone() };
    let mut letters = vec![
        ("receipt".to_owned(), Letter::Receipt(receipt)),
        ("receipt-sandbox".to_owned(), Letter::Receipt(plain_receipt)),
        ("webhook-failing".to_owned(), Letter::WebhookFailing(webhook)),
        ("summary-daily".to_owned(), Letter::Summary(summary(SummaryPeriod::Daily, at(-7), at(17)))),
        ("summary-weekly".to_owned(), Letter::Summary(summary(SummaryPeriod::Weekly, at(-7), at(161)))),
    ];
    let reasons =
        Unapplied::ALL.map(|reason| (format!("money-held-{}", reason.word()), Letter::MoneyHeld(held(reason))));
    letters.extend(reasons);
    letters.extend(refunds(texts));
    letters
}

fn customer(texts: &Texts) -> Customer {
    Customer { name: texts.shop.clone(), email: texts.email.clone(), phone: "081234567890".to_owned() }
}

fn origin(texts: &Texts) -> Origin {
    Origin { at: at(2), address: Some("203.0.113.7".to_owned()), browser: Some(texts.browser.clone()) }
}

fn account(texts: &Texts) -> Vec<(String, Letter)> {
    let token = "5a".repeat(32);
    let invitation = Invitation {
        project: texts.shop.clone(),
        role: Role::Developer,
        invited_by: Some(texts.email.clone()),
        link: page(&format!("/dashboard/invite/{token}")),
        expires_at: at(170),
    };
    let reset = PasswordReset {
        account: texts.email.clone(),
        requested: origin(texts),
        link: page(&format!("/dashboard/reset/{token}")),
        expires_at: at(3),
    };
    let device =
        NewDevice { account: texts.email.clone(), signed_in: origin(texts), account_url: page("/dashboard/account") };
    let changed = |by, changed| {
        let forgot_url = page("/dashboard/forgot");
        Letter::PasswordChanged(PasswordChanged { account: texts.email.clone(), changed, by, forgot_url })
    };
    let on_server = Origin { at: at(2), address: None, browser: None };
    let bank = BankDown {
        bank_account: texts.shop.clone(),
        failing_since: at(1),
        last_error: Some(texts.answer.clone()),
        page_url: page("/dashboard/operator/banks/bac_1"),
    };
    let from_nobody = Invitation { invited_by: None, role: Role::Cashier, ..invitation.clone() };
    vec![
        ("invitation".to_owned(), Letter::Invitation(invitation)),
        ("invitation-from-nobody".to_owned(), Letter::Invitation(from_nobody)),
        ("password-reset".to_owned(), Letter::PasswordReset(reset)),
        ("new-device".to_owned(), Letter::NewDevice(device)),
        ("password-changed".to_owned(), changed(PasswordChange::OldPassword, origin(texts))),
        ("password-changed-by-link".to_owned(), changed(PasswordChange::ResetLink, origin(texts))),
        ("password-changed-by-operator".to_owned(), changed(PasswordChange::CommandLine, on_server)),
        ("bank-down".to_owned(), Letter::BankDown(bank)),
        ("approval-wanted-operators".to_owned(), Letter::ApprovalWanted(approval_by_operator(texts))),
        ("test".to_owned(), Letter::Test(Test { sent_at: at(2) })),
    ]
}

fn factor(texts: &Texts) -> Vec<(String, Letter)> {
    let changes = [
        ("added", FactorChange::Added),
        ("removed", FactorChange::Removed),
        ("codes-renewed", FactorChange::CodesRenewed),
        ("code-used", FactorChange::RecoveryCodeUsed { left: 7 }),
        ("lift-asked", FactorChange::LiftAsked { lifted_at: at(26) }),
        ("lifted", FactorChange::Lifted),
    ];
    let letter = |change| {
        let account_url = page("/dashboard/account");
        Letter::FactorChanged(FactorChanged { account: texts.email.clone(), change, done: origin(texts), account_url })
    };
    changes.into_iter().map(|(name, change)| (format!("factor-{name}"), letter(change))).collect()
}
