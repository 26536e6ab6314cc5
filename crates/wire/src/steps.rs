//! The steps for paying a virtual account, as JSON.
//!
//! For all payments of one bank they are the same but for the account number and the amount. So the text is made once for each bank
//! and language, with gaps, and an answer copies it and fills the gaps.

use std::sync::LazyLock;

use domain::{bank::Bank, instructions::payment_steps, language::Language, money::Rupiah};
use serde_json::value::{RawValue, to_raw_value};

/// What stands for a gap while a text is made, and how JSON writes it. No step has control characters.
const COMPANY_CODE: (&str, &str) = ("\u{1}", "\\u0001");
const CUSTOMER_NUMBER: (&str, &str) = ("\u{2}", "\\u0002");
const AMOUNT: (&str, &str) = ("\u{3}", "\\u0003");
/// Room for the account numbers and amounts of one text.
const FILLED_BYTES: usize = 512;

static TEMPLATES: LazyLock<Vec<Template>> = LazyLock::new(|| {
    let languages = [Language::Indonesian, Language::English];
    Bank::ALL.into_iter().flat_map(|bank| languages.map(|language| Template::new(bank, language))).collect()
});

/// The steps of one bank in one language. The JSON is `start`, and then of each part what fills its gap and its text.
struct Template {
    bank: Bank,
    language: Language,
    start: String,
    parts: Vec<(Gap, String)>,
    bytes: usize,
}

#[derive(Clone, Copy)]
enum Gap {
    CompanyCode,
    CustomerNumber,
    Amount,
}

impl Template {
    fn new(bank: Bank, language: Language) -> Template {
        let company_code = bank.company_code().len();
        let number = COMPANY_CODE.0.repeat(company_code) + CUSTOMER_NUMBER.0;
        let steps = payment_steps(bank, &number, AMOUNT.0, language);
        let json = serde_json::to_string(&steps).unwrap_or_default();
        let json = json.replace(&COMPANY_CODE.1.repeat(company_code), COMPANY_CODE.0);
        let json = json.replace(CUSTOMER_NUMBER.1, CUSTOMER_NUMBER.0).replace(AMOUNT.1, AMOUNT.0);
        let (mut start, mut parts): (String, Vec<(Gap, String)>) = Default::default();
        for letter in json.chars() {
            let gap = match letter {
                '\u{1}' => Some(Gap::CompanyCode),
                '\u{2}' => Some(Gap::CustomerNumber),
                '\u{3}' => Some(Gap::Amount),
                _ => None,
            };
            match (gap, parts.last_mut()) {
                (Some(gap), _) => parts.push((gap, String::new())),
                (None, Some((_, text))) => text.push(letter),
                (None, None) => start.push(letter),
            }
        }
        Template { bank, language, start, parts, bytes: json.len() }
    }

    /// The JSON for one account number; none for a number that cannot be copied as it is.
    fn filled(&self, number: &str, amount: Rupiah) -> Option<String> {
        if !number.bytes().all(|digit| digit.is_ascii_digit()) {
            return None;
        }
        let (company_code, customer_number) = number.split_at_checked(self.bank.company_code().len())?;
        if customer_number.is_empty() {
            return None;
        }
        let amount = amount.to_string();
        let mut json = String::with_capacity(self.bytes + FILLED_BYTES);
        json.push_str(&self.start);
        for (gap, text) in &self.parts {
            json.push_str(match gap {
                Gap::CompanyCode => company_code,
                Gap::CustomerNumber => customer_number,
                Gap::Amount => &amount,
            });
            json.push_str(text);
        }
        Some(json)
    }
}

/// The list of steps.
pub(crate) fn steps_json(bank: Bank, number: &str, amount: Rupiah, language: Language) -> Box<RawValue> {
    let template = TEMPLATES.iter().find(|template| (template.bank, template.language) == (bank, language));
    let filled = template.and_then(|template| template.filled(number, amount));
    let copied = filled.and_then(|json| RawValue::from_string(json).ok());
    copied.or_else(|| to_raw_value(&payment_steps(bank, number, amount, language)).ok()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_from_a_template_are_the_steps_of_the_bank() {
        for template in TEMPLATES.iter() {
            let (bank, language) = (template.bank, template.language);
            for (number, amount) in [(bank.account_number(7), 10_000), (bank.account_number(90_001), 999_999_999_999)] {
                let amount = Rupiah::new(amount);
                let json = template.filled(&number, amount).unwrap();
                let steps: Vec<String> = serde_json::from_str(&json).unwrap();
                assert_eq!(steps, payment_steps(bank, &number, amount, language), "{bank:?} {language:?}");
                assert_eq!(steps_json(bank, &number, amount, language).get(), json);
            }
        }
        assert_eq!(TEMPLATES.len(), 2 * Bank::ALL.len());
    }

    #[test]
    fn a_number_that_is_odd_or_short_is_written_step_by_step() {
        for number in ["", "1", Bank::Bca.company_code(), "12345\"\\6789", "１２３４５６７８"] {
            let json = steps_json(Bank::Bca, number, Rupiah::new(10_000), Language::Indonesian);
            let steps: Vec<String> = serde_json::from_str(json.get()).unwrap();
            assert_eq!(steps, payment_steps(Bank::Bca, number, Rupiah::new(10_000), Language::Indonesian));
        }
    }
}
