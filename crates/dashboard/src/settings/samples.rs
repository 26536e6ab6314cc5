//! The settings of a project, as samples for tests.

use askama::Template;

use super::{
    face::{ColourForm, ContactField, ContactsForm, FacePage, Swatch, UsedColours},
    letters::ProjectLettersPage,
    notices::{NoticeForm, NoticesPage},
    refunds::RefundSettingsPage,
    view::{Check, Facts, MerchantForm, MethodsForm, OriginsForm, SettingsPage},
};
use crate::{
    labels::Badge,
    letters::LetterList,
    logo::ShownLogo,
    notifications::view::ShownSecret,
    samples::{Setting, moment, url},
    shell::Section,
};

fn settings(setting: Setting, may_configure: bool) -> String {
    let check = |field: &str| Check { field: field.to_owned(), label: setting.text(), checked: true };
    let page = SettingsPage {
        shell: setting.shell(Section::Settings, true),
        base: url("/prj_1/settings"),
        may_configure,
        facts: Facts {
            project_id: setting.text(),
            sandbox: true,
            state: Badge { status: "active", text: setting.text() },
            fee_qris: "0,7%".to_owned(),
            fee_account: "Rp4.000".to_owned(),
        },
        method_states: setting.methods(),
        merchant: MerchantForm {
            name: setting.text(),
            name_mistake: setting.mistake(),
            city: setting.text(),
            city_mistake: setting.mistake(),
            postal_code: setting.text(),
            postal_mistake: None,
        },
        origins: OriginsForm { text: setting.text(), mistake: setting.mistake() },
        frames: OriginsForm { text: setting.text(), mistake: setting.mistake() },
        methods: MethodsForm {
            banks: vec![check("bank_bca")],
            defaults: vec![check("default_qris"), check("default_bca")],
            mistake: setting.mistake(),
            offered: setting.text(),
            chosen: setting.text(),
        },
        success_word: "paid",
        success_mistake: setting.mistake(),
    };
    page.render().unwrap()
}

fn face(setting: Setting, may_configure: bool) -> String {
    let field = || ContactField { text: setting.text(), mistake: setting.mistake() };
    let swatch = || Swatch { label: setting.text(), colour: "#0b57d0".to_owned() };
    let page = FacePage {
        shell: setting.shell(Section::Settings, true),
        base: url("/prj_1/settings"),
        may_configure,
        logo: Some(ShownLogo { url: "/p/logo/0a.png".to_owned(), width: 480, height: 160 }),
        logo_hint: setting.text(),
        logo_mistake: setting.mistake(),
        colour: ColourForm {
            is_own: true,
            asked: setting.text(),
            mistake: setting.mistake(),
            used: Some(UsedColours { swatches: vec![swatch(), swatch()], is_adjusted: true }),
        },
        contacts: ContactsForm { whatsapp: field(), phone: field(), email: field(), site: field() },
    };
    page.render().unwrap()
}

fn letters(setting: Setting, has_mail: bool, may_configure: bool) -> String {
    let page = ProjectLettersPage {
        shell: setting.shell(Section::Settings, true),
        base: url("/prj_1/settings"),
        has_mail,
        sends_receipts: has_mail,
        is_sandbox: may_configure,
        list: may_configure.then(|| LetterList {
            rows: if has_mail { setting.letters(None) } else { vec![] },
            paging: setting.paging(),
        }),
    };
    page.render().unwrap()
}

fn refunds(setting: Setting, may_configure: bool) -> String {
    let page = RefundSettingsPage {
        shell: setting.shell(Section::Settings, true),
        base: url("/prj_1/settings"),
        may_configure,
        is_alone: may_configure,
        above: setting.text(),
        above_mistake: setting.mistake(),
        key_needs_approval: true,
        returns_fee: !may_configure,
    };
    page.render().unwrap()
}

fn notices(setting: Setting, has_url: bool, is_rotating: bool) -> String {
    let secret =
        is_rotating.then(|| ShownSecret { title: setting.text(), text: setting.text(), value: setting.text() });
    let form = NoticeForm {
        has_url,
        url: setting.text(),
        mistake: setting.mistake(),
        chosen_language: if has_url { "en" } else { "id" },
        summary: if has_url { "daily" } else { "" },
        sends_receipts: has_url,
        previous_until: is_rotating.then(moment),
    };
    let (shell, base) = (setting.shell(Section::Settings, true), url("/prj_1/settings"));
    NoticesPage { shell, base, form: Some(form), secret }.render().unwrap()
}

fn notices_of_others(setting: Setting) -> String {
    let (shell, base) = (setting.shell(Section::Settings, true), url("/prj_1/settings"));
    NoticesPage { shell, base, form: None, secret: None }.render().unwrap()
}

pub(crate) fn pages(setting: Setting) -> Vec<(&'static str, String)> {
    vec![
        ("settings", settings(setting, true)),
        ("face", face(setting, true)),
        ("face-read", face(setting, false)),
        ("project-letters", letters(setting, true, true)),
        ("project-letters-none", letters(setting, false, true)),
        ("project-letters-of-others", letters(setting, false, false)),
        ("refund-settings", refunds(setting, true)),
        ("refund-settings-of-others", refunds(setting, false)),
        ("notices", notices(setting, true, false)),
        ("notices-rotating", notices(setting, true, true)),
        ("notices-none", notices(setting, false, false)),
        ("notices-of-others", notices_of_others(setting)),
        ("settings-of-others", settings(setting, false)),
    ]
}
