//! How the settings look.

use askama::Template;
use domain::{
    access::Act,
    bank::Bank,
    method::Method,
    project::{Environment, Project},
};
use i18n_embed_fl::fl;
use web::App;

use crate::{
    fragment::{Badge, method_name},
    session::AtDesk,
    settings::forms::{Filled, bank_field, default_field, methods},
    shell::Shell,
    words::Words,
};

const BASIS_POINTS_IN_PERCENT: i64 = 100;

#[derive(Template)]
#[template(path = "settings.html")]
pub(in super::super) struct SettingsPage {
    pub(in super::super) shell: Shell,
    /// `/dashboard/prj_…/settings`.
    pub(in super::super) base: String,
    /// Whoever may not change anything sees no forms.
    pub(in super::super) may_configure: bool,
    pub(in super::super) facts: Facts,
    pub(in super::super) merchant: MerchantForm,
    pub(in super::super) origins: OriginsForm,
    pub(in super::super) methods: MethodsForm,
    /// `paid` or `succeeded`.
    pub(in super::super) success_word: &'static str,
    pub(in super::super) success_mistake: Option<String>,
}

/// What nobody changes here.
pub(in super::super) struct Facts {
    pub(in super::super) project_id: String,
    pub(in super::super) sandbox: bool,
    pub(in super::super) standing: Badge,
    pub(in super::super) fee_qris: String,
    pub(in super::super) fee_account: String,
}

pub(in super::super) struct MerchantForm {
    pub(in super::super) name: String,
    pub(in super::super) name_mistake: Option<String>,
    pub(in super::super) city: String,
    pub(in super::super) city_mistake: Option<String>,
    pub(in super::super) postal_code: String,
    pub(in super::super) postal_mistake: Option<String>,
}

pub(in super::super) struct OriginsForm {
    pub(in super::super) text: String,
    pub(in super::super) mistake: Option<String>,
}

pub(in super::super) struct MethodsForm {
    pub(in super::super) banks: Vec<Check>,
    pub(in super::super) defaults: Vec<Check>,
    pub(in super::super) mistake: Option<String>,
    /// The same in a line each, for whoever only reads.
    pub(in super::super) offered: String,
    pub(in super::super) chosen: String,
}

pub(in super::super) struct Check {
    pub(in super::super) field: String,
    pub(in super::super) label: String,
    pub(in super::super) checked: bool,
}

pub(super) fn view(app: &App, at: &AtDesk, shell: Shell, filled: Filled) -> SettingsPage {
    let (project, words) = (at.desk.project(), shell.words);
    let (fees, methods) = (at.desk.fees(), methods_form(words, &filled));
    SettingsPage {
        base: app.settings.urls.url(format_args!("/dashboard/{}/settings", project.id)),
        may_configure: at.desk.may(Act::Configure),
        facts: Facts {
            project_id: project.id.to_string(),
            sandbox: project.environment == Environment::Sandbox,
            standing: standing(words, project),
            fee_qris: percent(words, fees.qris_basis_points),
            fee_account: fees.virtual_account.to_string(),
        },
        merchant: MerchantForm {
            name: filled.merchant.name,
            name_mistake: filled.name_mistake,
            city: filled.merchant.city,
            city_mistake: filled.city_mistake,
            postal_code: filled.merchant.postal_code,
            postal_mistake: filled.postal_mistake,
        },
        origins: OriginsForm { text: filled.origins, mistake: filled.origins_mistake },
        methods,
        success_word: filled.success_word.word(),
        success_mistake: filled.success_mistake,
        shell,
    }
}

fn methods_form(words: Words, filled: &Filled) -> MethodsForm {
    let bank = |bank: Bank| Check {
        field: bank_field(bank),
        label: bank.name().to_owned(),
        checked: filled.banks.contains(&bank),
    };
    let method = |method: Method| Check {
        field: default_field(method),
        label: method_name(words, method),
        checked: filled.defaults.contains(&method),
    };
    let (banks, defaults): (Vec<Check>, Vec<Check>) =
        (Bank::ALL.into_iter().map(bank).collect(), methods().map(method).collect());
    let listed = |checks: &[Check]| {
        let checked = checks.iter().filter(|check| check.checked);
        checked.map(|check| check.label.as_str()).collect::<Vec<_>>().join(", ")
    };
    let (offered, chosen) = (listed(&banks), listed(&defaults));
    MethodsForm { banks, defaults, mistake: filled.defaults_mistake.clone(), offered, chosen }
}

/// Whether a project works, and what it waits for.
pub(in super::super) fn standing(words: Words, project: &Project) -> Badge {
    match (project.active, project.is_usable()) {
        (false, _) => Badge { status: "inactive", text: fl!(words, "project-inactive") },
        (true, false) => Badge { status: "wait", text: fl!(words, "project-waiting") },
        (true, true) => Badge { status: "active", text: fl!(words, "project-active") },
    }
}

/// Hundredths of a percent as people write them: `0,7%`.
fn percent(words: Words, basis_points: i64) -> String {
    let (whole, rest) = (basis_points / BASIS_POINTS_IN_PERCENT, basis_points % BASIS_POINTS_IN_PERCENT);
    let rest = format!("{rest:02}");
    let rest = rest.trim_end_matches('0');
    let mark = fl!(words, "decimal-mark");
    if rest.is_empty() { format!("{whole}%") } else { format!("{whole}{mark}{rest}%") }
}

#[cfg(test)]
mod tests {
    use domain::language::Language;

    use super::*;
    use crate::words::words;

    #[test]
    fn a_share_is_written_as_its_language_writes_it() {
        for (basis_points, indonesian, english) in [
            (70, "0,7%", "0.7%"),
            (0, "0%", "0%"),
            (100, "1%", "1%"),
            (1_005, "10,05%", "10.05%"),
            (3, "0,03%", "0.03%"),
        ] {
            assert_eq!(percent(words(Language::Indonesian), basis_points), indonesian);
            assert_eq!(percent(words(Language::English), basis_points), english);
        }
    }
}
