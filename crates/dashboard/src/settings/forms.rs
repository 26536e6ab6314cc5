//! The content of the settings' forms, and what is wrong with it.

use domain::{
    bank::Bank,
    method::Method,
    project::{
        Environment, MerchantProfile, POSTAL_CODE_DIGITS, Project, SuccessWord, checked_merchant, is_postal_code,
        not_offered,
    },
    rules::{MERCHANT_CITY, MERCHANT_NAME},
};
use engine::{
    ProjectUpdate,
    addresses::{self, FRAME_ORIGINS_MOST, ORIGINS_MOST, WrongOrigins},
};
use i18n_embed_fl::fl;
use web::page::form::Form;

use crate::{input::text_mistake, labels::every_method, words::Words};

/// The content of all forms: the project as it is, or what a form has sent, with the reason why it was not saved.
pub(crate) struct Filled {
    pub(crate) merchant: MerchantProfile,
    pub(crate) name_mistake: Option<String>,
    pub(crate) city_mistake: Option<String>,
    pub(crate) postal_mistake: Option<String>,
    /// What the form for origins has sent; none where the project's own are shown.
    pub(crate) origins: Option<String>,
    pub(crate) origins_mistake: Option<String>,
    environment: Environment,
    pub(crate) frames: String,
    pub(crate) frames_mistake: Option<String>,
    pub(crate) banks: Vec<Bank>,
    pub(crate) defaults: Vec<Method>,
    pub(crate) defaults_mistake: Option<String>,
    pub(crate) success_word: SuccessWord,
    pub(crate) success_mistake: Option<String>,
}

/// The name of the checkbox for a bank on offer. It differs from that of the same bank among the default methods.
pub(crate) fn bank_field(bank: Bank) -> String {
    format!("bank_{}", bank.code())
}

/// The name of the checkbox for a default method.
pub(crate) fn default_field(method: Method) -> String {
    match method.bank() {
        None => "default_qris".to_owned(),
        Some(bank) => format!("default_{}", bank.code()),
    }
}

impl Filled {
    pub(crate) fn of(project: &Project) -> Filled {
        Filled {
            merchant: project.merchant.clone(),
            name_mistake: None,
            city_mistake: None,
            postal_mistake: None,
            origins: None,
            origins_mistake: None,
            environment: project.environment,
            frames: project.frame_origins.join("\n"),
            frames_mistake: None,
            banks: project.banks.clone(),
            defaults: project.default_methods.clone(),
            defaults_mistake: None,
            success_word: project.success_word,
            success_mistake: None,
        }
    }

    pub(crate) fn merchant(&mut self, words: Words, form: &Form) -> Option<ProjectUpdate> {
        let text = |name: &str| form.text(name).unwrap_or_default().trim().to_owned();
        self.merchant = MerchantProfile {
            name: text("merchant_name"),
            city: text("merchant_city"),
            postal_code: text("merchant_postal_code"),
        };
        self.name_mistake = text_mistake(words, MERCHANT_NAME, &self.merchant.name);
        self.city_mistake = text_mistake(words, MERCHANT_CITY, &self.merchant.city);
        self.postal_mistake = (!is_postal_code(&self.merchant.postal_code)).then(|| {
            let digits = POSTAL_CODE_DIGITS.to_string();
            fl!(words, "settings-postal-wrong", digits = digits)
        });
        let merchant = checked_merchant(self.merchant.clone()).ok()?;
        Some(ProjectUpdate { merchant: Some(merchant), ..ProjectUpdate::default() })
    }

    pub(crate) fn origins(&mut self, words: Words, form: &Form) -> Option<ProjectUpdate> {
        let (typed, lines) = lines(form, "allowed_origins");
        self.origins = Some(typed);
        match addresses::origins(&lines) {
            Ok(origins) => Some(ProjectUpdate { allowed_origins: Some(origins), ..ProjectUpdate::default() }),
            Err(WrongOrigins::TooMany { .. }) => {
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

    pub(crate) fn frames(&mut self, words: Words, form: &Form) -> Option<ProjectUpdate> {
        let (typed, lines) = lines(form, "frame_origins");
        self.frames = typed;
        match addresses::frame_origins(&lines, self.environment) {
            Ok(origins) => Some(ProjectUpdate { frame_origins: Some(origins), ..ProjectUpdate::default() }),
            Err(WrongOrigins::TooMany { .. }) => {
                let most = FRAME_ORIGINS_MOST.to_string();
                self.frames_mistake = Some(fl!(words, "settings-origins-many", most = most));
                None
            }
            Err(WrongOrigins::Wrong { origin, .. }) => {
                let origin = shortened(&origin);
                self.frames_mistake = Some(fl!(words, "settings-frames-wrong", origin = origin));
                None
            }
        }
    }

    pub(crate) fn methods(&mut self, words: Words, form: &Form) -> Option<ProjectUpdate> {
        self.banks = Bank::ALL.into_iter().filter(|bank| form.text(&bank_field(*bank)).is_some()).collect();
        self.defaults = every_method().filter(|method| form.text(&default_field(*method)).is_some()).collect();
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

    pub(crate) fn success_word(&mut self, words: Words, form: &Form) -> Option<ProjectUpdate> {
        let word = form.text("success_word").and_then(SuccessWord::parse);
        match word {
            Some(word) => Some(ProjectUpdate { success_word: Some(word), ..ProjectUpdate::default() }),
            None => {
                self.success_mistake = Some(fl!(words, "mistake-choice"));
                None
            }
        }
    }
}

/// What was typed into a field with one origin per line, and its lines.
fn lines(form: &Form, field: &str) -> (String, Vec<String>) {
    let typed = form.text(field).unwrap_or_default().replace("\r\n", "\n");
    let lines = typed.lines().map(str::trim).filter(|line| !line.is_empty()).map(str::to_owned).collect();
    (typed, lines)
}

/// The beginning of a line, long enough to find the line again.
fn shortened(text: &str) -> String {
    const CHARACTERS: usize = 80;
    match text.char_indices().nth(CHARACTERS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
