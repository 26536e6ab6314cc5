//! What the forms of the settings hold, and what is wrong with it.

use domain::{
    bank::Bank,
    method::Method,
    project::{
        MerchantProfile, POSTAL_CODE_DIGITS, Project, SuccessWord, checked_merchant, is_postal_code, not_offered,
    },
    rules::{MERCHANT_CITY, MERCHANT_NAME},
};
use engine::{
    ProjectUpdate,
    addresses::{self, ORIGINS_MOST, WrongOrigins},
};
use i18n_embed_fl::fl;
use web::page::form::Form;

use crate::{words::Words, wrong};

/// What is in the forms when they are shown: how things are, or what somebody has sent and why it was not taken.
pub(super) struct Filled {
    pub(super) merchant: MerchantProfile,
    pub(super) name_mistake: Option<String>,
    pub(super) city_mistake: Option<String>,
    pub(super) postal_mistake: Option<String>,
    /// One a line.
    pub(super) origins: String,
    pub(super) origins_mistake: Option<String>,
    pub(super) banks: Vec<Bank>,
    pub(super) defaults: Vec<Method>,
    pub(super) defaults_mistake: Option<String>,
    pub(super) success_word: SuccessWord,
    pub(super) success_mistake: Option<String>,
}

/// The field that says whether a bank is offered. Every field of a form has a name of its own.
pub(super) fn bank_field(bank: Bank) -> String {
    format!("bank_{}", bank.code())
}

/// The field that says whether a method is one of the defaults.
pub(super) fn default_field(method: Method) -> String {
    match method.bank() {
        None => "default_qris".to_owned(),
        Some(bank) => format!("default_{}", bank.code()),
    }
}

pub(super) fn methods() -> impl Iterator<Item = Method> {
    std::iter::once(Method::Qris).chain(Bank::ALL.into_iter().map(Method::VirtualAccount))
}

impl Filled {
    pub(super) fn of(project: &Project, origins: &[String]) -> Filled {
        Filled {
            merchant: project.merchant.clone(),
            name_mistake: None,
            city_mistake: None,
            postal_mistake: None,
            origins: origins.join("\n"),
            origins_mistake: None,
            banks: project.banks.clone(),
            defaults: project.default_methods.clone(),
            defaults_mistake: None,
            success_word: project.success_word,
            success_mistake: None,
        }
    }

    pub(super) fn merchant(&mut self, words: Words, form: &Form) -> Option<ProjectUpdate> {
        let text = |name: &str| form.text(name).unwrap_or_default().trim().to_owned();
        self.merchant = MerchantProfile {
            name: text("merchant_name"),
            city: text("merchant_city"),
            postal_code: text("merchant_postal_code"),
        };
        self.name_mistake = wrong::text(words, MERCHANT_NAME, &self.merchant.name);
        self.city_mistake = wrong::text(words, MERCHANT_CITY, &self.merchant.city);
        self.postal_mistake = (!is_postal_code(&self.merchant.postal_code)).then(|| {
            let digits = POSTAL_CODE_DIGITS.to_string();
            fl!(words, "settings-postal-wrong", digits = digits)
        });
        let merchant = checked_merchant(self.merchant.clone()).ok()?;
        Some(ProjectUpdate { merchant: Some(merchant), ..ProjectUpdate::default() })
    }

    pub(super) fn origins(&mut self, words: Words, form: &Form) -> Option<ProjectUpdate> {
        self.origins = form.text("allowed_origins").unwrap_or_default().replace("\r\n", "\n");
        let lines = self.origins.lines().map(str::trim).filter(|line| !line.is_empty());
        let lines: Vec<String> = lines.map(str::to_owned).collect();
        match addresses::origins(&lines) {
            Ok(origins) => Some(ProjectUpdate { allowed_origins: Some(origins), ..ProjectUpdate::default() }),
            Err(WrongOrigins::TooMany(_)) => {
                let most = ORIGINS_MOST.to_string();
                self.origins_mistake = Some(fl!(words, "settings-origins-many", most = most));
                None
            }
            Err(WrongOrigins::Wrong { origin, .. }) => {
                let origin = shortened(&origin);
                self.origins_mistake = Some(fl!(words, "settings-origins-wrong", origin = origin));
                None
            }
        }
    }

    pub(super) fn methods(&mut self, words: Words, form: &Form) -> Option<ProjectUpdate> {
        self.banks = Bank::ALL.into_iter().filter(|bank| form.text(&bank_field(*bank)).is_some()).collect();
        self.defaults = methods().filter(|method| form.text(&default_field(*method)).is_some()).collect();
        let unoffered = not_offered(&self.defaults, &self.banks).and_then(Method::bank);
        self.defaults_mistake = match unoffered {
            Some(bank) => {
                let bank = bank.name();
                Some(fl!(words, "settings-default-unoffered", bank = bank))
            }
            None => self.defaults.is_empty().then(|| fl!(words, "settings-default-none")),
        };
        self.defaults_mistake.is_none().then(|| ProjectUpdate {
            banks: Some(self.banks.clone()),
            default_methods: Some(self.defaults.clone()),
            ..ProjectUpdate::default()
        })
    }

    pub(super) fn success_word(&mut self, words: Words, form: &Form) -> Option<ProjectUpdate> {
        let word = form.text("success_word").and_then(SuccessWord::parse);
        match word {
            Some(word) => Some(ProjectUpdate { success_word: Some(word), ..ProjectUpdate::default() }),
            None => {
                self.success_mistake = Some(fl!(words, "wrong-choice"));
                None
            }
        }
    }
}

/// Enough of a line to find it again.
fn shortened(text: &str) -> String {
    const CHARACTERS: usize = 80;
    match text.char_indices().nth(CHARACTERS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
