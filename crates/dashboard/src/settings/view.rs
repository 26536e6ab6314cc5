//! The page with all settings.

use askama::Template;
use domain::{access::Act, bank::Bank, method::Method, project::Environment};
use engine::MethodStanding;
use i18n_embed_fl::fl;

use super::forms::{Filled, bank_field, default_field};
use crate::{
    labels::{Badge, every_method, method_name, project_badge},
    method_state::{MethodState, method_states},
    page::Page,
    shell::Shell,
    words::Words,
};

const BASIS_POINTS_IN_PERCENT: i64 = 100;

#[derive(Template)]
#[template(path = "settings/view.html")]
pub(crate) struct SettingsPage {
    pub(crate) shell: Shell,
    /// `/dashboard/prj_…/settings`.
    pub(crate) base: String,
    /// A member whose role may not change anything sees no forms.
    pub(crate) may_configure: bool,
    pub(crate) facts: Facts,
    /// By which methods it can take money; empty for a sandbox.
    pub(crate) method_states: Vec<MethodState>,
    pub(crate) merchant: MerchantForm,
    pub(crate) origins: OriginsForm,
    /// The origins whose pages may show the checkout in a frame.
    pub(crate) frames: OriginsForm,
    pub(crate) methods: MethodsForm,
    /// `paid` or `succeeded`.
    pub(crate) success_word: &'static str,
    pub(crate) success_mistake: Option<String>,
}

/// What cannot be changed on this page.
pub(crate) struct Facts {
    pub(crate) project_id: String,
    pub(crate) sandbox: bool,
    pub(crate) state: Badge,
    pub(crate) fee_qris: String,
    pub(crate) fee_account: String,
}

pub(crate) struct MerchantForm {
    pub(crate) name: String,
    pub(crate) name_mistake: Option<String>,
    pub(crate) city: String,
    pub(crate) city_mistake: Option<String>,
    pub(crate) postal_code: String,
    pub(crate) postal_mistake: Option<String>,
}

pub(crate) struct OriginsForm {
    pub(crate) text: String,
    pub(crate) mistake: Option<String>,
}

pub(crate) struct MethodsForm {
    pub(crate) banks: Vec<Check>,
    pub(crate) defaults: Vec<Check>,
    pub(crate) mistake: Option<String>,
    /// The same in one line each, for members who see no forms.
    pub(crate) offered: String,
    pub(crate) chosen: String,
}

pub(crate) struct Check {
    pub(crate) field: String,
    pub(crate) label: String,
    pub(crate) checked: bool,
}

pub(crate) fn view(
    page: &Page,
    shell: Shell,
    filled: Filled,
    origins: &[String],
    standings: &[(Method, MethodStanding)],
) -> SettingsPage {
    let (project, words) = (page.project(), shell.words);
    let (fees, methods) = (page.desk.fees(), methods_form(words, &filled));
    SettingsPage {
        base: page.url(page.path("/settings")),
        may_configure: page.desk.may(Act::Configure),
        facts: Facts {
            project_id: project.id.to_string(),
            sandbox: project.environment == Environment::Sandbox,
            state: project_badge(words, project),
            fee_qris: percent(words, fees.qris_basis_points),
            fee_account: fees.virtual_account.to_string(),
        },
        method_states: method_states(words, standings),
        merchant: MerchantForm {
            name: filled.merchant.name,
            name_mistake: filled.name_mistake,
            city: filled.merchant.city,
            city_mistake: filled.city_mistake,
            postal_code: filled.merchant.postal_code,
            postal_mistake: filled.postal_mistake,
        },
        origins: OriginsForm {
            text: filled.origins.unwrap_or_else(|| origins.join("\n")),
            mistake: filled.origins_mistake,
        },
        frames: OriginsForm { text: filled.frames, mistake: filled.frames_mistake },
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
        (Bank::ALL.into_iter().map(bank).collect(), every_method().map(method).collect());
    let listed = |checks: &[Check]| {
        let checked = checks.iter().filter(|check| check.checked);
        checked.map(|check| check.label.as_str()).collect::<Vec<_>>().join(", ")
    };
    let (offered, chosen) = (listed(&banks), listed(&defaults));
    MethodsForm { banks, defaults, mistake: filled.defaults_mistake.clone(), offered, chosen }
}

/// Basis points as a percentage in the page's language: `0,7%`.
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
    fn a_percentage_is_written_as_its_language_writes_it() {
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
