//! Loads the texts of pages in Indonesian and English from Fluent files. A surface has one [`Catalogue`]; its `fl!` calls are
//! checked against the Indonesian file when the program is compiled. No text is written here.

use std::{borrow::Cow, collections::HashMap, ops::Deref, sync::OnceLock};

use domain::{language::Language, money::Rupiah};
use fluent_bundle::FluentValue;
use i18n_embed::{I18nAssets, LanguageLoader, fluent::FluentLanguageLoader};

/// The texts of one surface in one language; templates pass it to `fl!`.
pub type Words = &'static Texts;

/// The texts of one surface in one language.
pub struct Texts {
    loader: FluentLanguageLoader,
    /// The texts without variables, by key. Most texts have none, and the loader would format them again on every use.
    constant: HashMap<String, String>,
}

/// The texts of one surface in both languages, loaded on first use.
pub struct Catalogue {
    files: Files,
    indonesian: OnceLock<Texts>,
    english: OnceLock<Texts>,
}

/// The Fluent files of one surface.
struct Files {
    /// The name of the files, as in the surface's `i18n.toml`.
    domain: &'static str,
    indonesian: &'static str,
    english: &'static str,
}

impl Catalogue {
    pub const fn new(domain: &'static str, indonesian: &'static str, english: &'static str) -> Catalogue {
        let files = Files { domain, indonesian, english };
        Catalogue { files, indonesian: OnceLock::new(), english: OnceLock::new() }
    }

    pub fn words(&'static self, language: Language) -> Words {
        let texts = match language {
            Language::Indonesian => &self.indonesian,
            Language::English => &self.english,
        };
        texts.get_or_init(|| Texts::load(&self.files, language))
    }
}

impl I18nAssets for Files {
    fn get_files(&self, path: &str) -> Vec<Cow<'_, [u8]>> {
        let text = [Language::Indonesian, Language::English].into_iter().find(|language| path == self.path(*language));
        text.map(|language| Cow::Borrowed(self.text(language).as_bytes())).into_iter().collect()
    }

    fn filenames_iter(&self) -> Box<dyn Iterator<Item = String> + '_> {
        Box::new([Language::Indonesian, Language::English].into_iter().map(|language| self.path(language)))
    }
}

impl Files {
    fn path(&self, language: Language) -> String {
        format!("{}/{}.ftl", code(language), self.domain)
    }

    const fn text(&self, language: Language) -> &'static str {
        match language {
            Language::Indonesian => self.indonesian,
            Language::English => self.english,
        }
    }
}

impl Texts {
    fn load(files: &Files, language: Language) -> Texts {
        let loader = loaded(files, language);
        let keys = |language| {
            loader.with_message_iter(language, |texts| texts.map(|text| text.id.name.to_owned()).collect::<Vec<_>>())
        };
        let keys = loader.current_languages().iter().flat_map(keys).collect::<Vec<_>>();
        let constant = keys.into_iter().filter_map(|key| Some((constant(&loader, &key)?, key)));
        Texts { constant: constant.map(|(text, key)| (key, text)).collect(), loader }
    }

    /// `fl!` calls this for a text without variables.
    pub fn get(&self, key: &str) -> String {
        self.constant.get(key).cloned().unwrap_or_else(|| self.loader.get(key))
    }
}

/// For a text with variables `fl!` calls the loader itself.
impl Deref for Texts {
    type Target = FluentLanguageLoader;

    fn deref(&self) -> &FluentLanguageLoader {
        &self.loader
    }
}

/// The text of that key, if it has no variables.
fn constant(loader: &FluentLanguageLoader, key: &str) -> Option<String> {
    let text = loader.with_fluent_message_and_bundle(key, |message, bundle| {
        let mut missing = Vec::new();
        let text = bundle.format_pattern(message.value()?, None, &mut missing).into_owned();
        missing.is_empty().then_some(text)
    });
    text.flatten()
}

/// The name of a language in HTML and in cookies.
pub const fn code(language: Language) -> &'static str {
    match language {
        Language::Indonesian => "id",
        Language::English => "en",
    }
}

#[expect(clippy::expect_used, reason = "the texts are part of the program, and tests load each of them")]
fn loaded(files: &Files, language: Language) -> FluentLanguageLoader {
    let identifier = |language| code(language).parse().expect("the codes are language identifiers");
    let loader = FluentLanguageLoader::new(files.domain, identifier(Language::Indonesian));
    loader.load_languages(files, &[identifier(language)]).expect("the Fluent files are well-formed");
    // Without Unicode isolation marks around variables: both languages are written left to right, and numbers that customers copy
    // must not contain invisible characters.
    loader.set_use_isolating(false);
    loader.with_bundles_mut(|bundle| {
        bundle.set_formatter(match language {
            Language::Indonesian => Some(format_indonesian),
            Language::English => Some(format_english),
        });
    });
    loader
}

/// A count as people write it, with its thousands apart: `6.510`, in English `6,510`.
pub fn grouped(language: Language, count: i64) -> String {
    let dotted = Rupiah::new(count).to_string().replace("Rp", "");
    match language {
        Language::Indonesian => dotted,
        Language::English => dotted.replace('.', ","),
    }
}

fn format_indonesian<M>(value: &FluentValue<'_>, _: &M) -> Option<String> {
    format_count(Language::Indonesian, value)
}

fn format_english<M>(value: &FluentValue<'_>, _: &M) -> Option<String> {
    format_count(Language::English, value)
}

/// A whole number in a text; none for other values, which are written as they are.
fn format_count(language: Language, value: &FluentValue<'_>) -> Option<String> {
    let FluentValue::Number(number) = value else { return None };
    // `as_string` writes the digits that the number was given with.
    number.as_string().parse().ok().map(|count| grouped(language, count))
}

#[cfg(test)]
mod tests {
    use super::*;

    static SAMPLE: Catalogue = Catalogue::new(
        "sample",
        "greeting = Halo\nbutton = Bayar { $amount }\nnested = { greeting } juga\n",
        "greeting = Hello\nbutton = Pay { $amount }\nnested = { greeting } too\n",
    );

    #[test]
    fn texts_without_variables_are_formatted_once_and_stay_the_same() {
        for (language, greeting) in [(Language::Indonesian, "Halo"), (Language::English, "Hello")] {
            let words = SAMPLE.words(language);
            let mut constant: Vec<&str> = words.constant.keys().map(String::as_str).collect();
            constant.sort_unstable();
            assert_eq!(constant, ["greeting", "nested"]);
            assert_eq!((words.get("greeting").as_str(), words.get("nested")), (greeting, words.loader.get("nested")));
        }
    }

    #[test]
    fn counts_have_their_thousands_apart() {
        for (count, indonesian, english) in [
            (0, "0", "0"),
            (999, "999", "999"),
            (6_510, "6.510", "6,510"),
            (1_234_567, "1.234.567", "1,234,567"),
            (-6_510, "-6.510", "-6,510"),
        ] {
            let text = |language| SAMPLE.words(language).get_args("button", HashMap::from([("amount", count)]));
            assert_eq!(text(Language::Indonesian), format!("Bayar {indonesian}"));
            assert_eq!(text(Language::English), format!("Pay {english}"));
        }
        let digits = SAMPLE.words(Language::English).get_args("button", HashMap::from([("amount", "6510")]));
        assert_eq!(digits, "Pay 6510", "texts stay as they are");
    }

    #[test]
    fn each_language_has_texts_of_its_own_without_isolation_marks() {
        let text = |language| SAMPLE.words(language).get_args("button", HashMap::from([("amount", "Rp150.000")]));
        assert_eq!(text(Language::Indonesian), "Bayar Rp150.000");
        assert_eq!(text(Language::English), "Pay Rp150.000");
    }
}
