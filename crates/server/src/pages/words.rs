//! The texts of the pages, in the languages we speak. `fl!` looks each of them up when the program is built.

use std::{collections::HashMap, ops::Deref, sync::LazyLock};

use domain::steps::Language;
use i18n_embed::{LanguageLoader, fluent::FluentLanguageLoader};
use rust_embed::RustEmbed;

#[derive(RustEmbed)]
#[folder = "locales"]
struct Texts;

/// Templates pass it to `fl!`.
pub(crate) type Words = &'static Spoken;

/// The texts of one language.
pub(crate) struct Spoken {
    loader: FluentLanguageLoader,
    /// Texts without variables by their keys. Most texts of a page are such, and the loader would put them together each time.
    constant: HashMap<String, String>,
}

impl Spoken {
    fn new(code: &str) -> Spoken {
        let loader = loaded(code);
        let keys = |language| {
            loader.with_message_iter(language, |texts| texts.map(|text| text.id.name.to_owned()).collect::<Vec<_>>())
        };
        let keys = loader.current_languages().iter().flat_map(keys).collect::<Vec<_>>();
        let constant = keys.into_iter().filter_map(|key| Some((constant(&loader, &key)?, key)));
        Spoken { constant: constant.map(|(text, key)| (key, text)).collect(), loader }
    }

    /// What `fl!` calls for a text without variables.
    pub(crate) fn get(&self, key: &str) -> String {
        self.constant.get(key).cloned().unwrap_or_else(|| self.loader.get(key))
    }
}

/// What `fl!` calls for a text with variables is the loader's own.
impl Deref for Spoken {
    type Target = FluentLanguageLoader;

    fn deref(&self) -> &FluentLanguageLoader {
        &self.loader
    }
}

/// The text of that key, if nothing has to be given for it.
fn constant(loader: &FluentLanguageLoader, key: &str) -> Option<String> {
    let text = loader.with_fluent_message_and_bundle(key, |message, bundle| {
        let mut missing = Vec::new();
        let text = bundle.format_pattern(message.value()?, None, &mut missing).into_owned();
        missing.is_empty().then_some(text)
    });
    text.flatten()
}

static INDONESIAN: LazyLock<Spoken> = LazyLock::new(|| Spoken::new(code(Language::Indonesian)));
static ENGLISH: LazyLock<Spoken> = LazyLock::new(|| Spoken::new(code(Language::English)));

pub(crate) fn words(language: Language) -> Words {
    match language {
        Language::Indonesian => &INDONESIAN,
        Language::English => &ENGLISH,
    }
}

/// What HTML and cookies call a language.
pub(crate) const fn code(language: Language) -> &'static str {
    match language {
        Language::Indonesian => "id",
        Language::English => "en",
    }
}

#[expect(clippy::expect_used, reason = "the texts are part of the program, and tests load each of them")]
fn loaded(code: &str) -> FluentLanguageLoader {
    let identifier = |code: &str| code.parse().expect("the codes are language identifiers");
    let loader = FluentLanguageLoader::new("pages", identifier(self::code(Language::Indonesian)));
    loader.load_languages(&Texts, &[identifier(code)]).expect("the texts in `locales` are well-formed");
    // Marks for mixed directions of writing: both languages go the same way, and a copied number must not hold any.
    loader.set_use_isolating(false);
    loader
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::*;

    /// The keys of a file, each with the variables of its text. That the file is well-formed is the loader's to find out.
    fn keys(code: &str) -> BTreeMap<String, BTreeSet<String>> {
        let file = Texts::get(&format!("{code}/pages.ftl")).unwrap();
        let mut keys: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        let mut key = None;
        for line in std::str::from_utf8(&file.data).unwrap().lines() {
            if line.starts_with(|first: char| first.is_ascii_lowercase()) {
                let name = line.split_once(" =").unwrap().0.to_owned();
                assert!(keys.insert(name.clone(), BTreeSet::new()).is_none(), "{code} has {name} twice");
                key = Some(name);
            } else if !line.starts_with(' ') {
                key = None;
            }
            let variables = line.split('$').skip(1).filter_map(|rest| rest.split([' ', '}']).next());
            if let Some(key) = &key {
                keys.entry(key.clone()).or_default().extend(variables.map(str::to_owned));
            }
        }
        keys
    }

    #[test]
    fn both_languages_have_the_same_texts_with_the_same_variables() {
        let (indonesian, english) = (keys("id"), keys("en"));
        assert!(indonesian.len() > 100, "{}", indonesian.len());
        assert_eq!(indonesian, english);
    }

    #[test]
    fn texts_without_variables_are_put_together_once_and_are_the_same_then() {
        for language in [Language::Indonesian, Language::English] {
            let (keys, words) = (keys(code(language)), words(language));
            let plain: BTreeSet<&String> =
                keys.iter().filter(|(_, given)| given.is_empty()).map(|(key, _)| key).collect();
            assert_eq!(words.constant.keys().collect::<BTreeSet<_>>(), plain);
            for key in plain {
                assert_eq!(words.get(key), words.loader.get(key));
            }
        }
    }

    #[test]
    fn each_language_has_texts_of_its_own_and_marks_no_direction_of_writing() {
        let texts = |language| i18n_embed_fl::fl!(words(language), "pay-button", amount = "Rp150.000");
        assert_eq!(texts(Language::Indonesian), "Bayar Rp150.000");
        assert_eq!(texts(Language::English), "Pay Rp150.000");
    }
}
