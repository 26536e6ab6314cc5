//! Amounts in few characters, for the scales of charts: `Rp1,5 jt` and `Rp1.5M`.

use domain::language::Language;
use i18n_embed_fl::fl;

use crate::words::words;

const THOUSAND: i128 = 1_000;
const MILLION: i128 = 1_000_000;
const BILLION: i128 = 1_000_000_000;
const TRILLION: i128 = 1_000_000_000_000;
/// Digits after the decimal point.
const DECIMALS: i128 = 100;

/// The amount with two decimals at most; what is smaller is cut off.
pub(crate) fn short_amount(amount: i128, language: Language) -> String {
    let words = words(language);
    let in_units = |unit: i128| decimal(amount * DECIMALS / unit, language);
    match amount {
        TRILLION.. => fl!(words, "short-trillion", number = in_units(TRILLION)),
        BILLION.. => fl!(words, "short-billion", number = in_units(BILLION)),
        MILLION.. => fl!(words, "short-million", number = in_units(MILLION)),
        THOUSAND.. => fl!(words, "short-thousand", number = in_units(THOUSAND)),
        _ => format!("Rp{amount}"),
    }
}

/// Hundredths as a number without needless zeros: `1,5`, in English `1.5`.
pub(crate) fn decimal(hundredths: i128, language: Language) -> String {
    let (whole, rest) = (hundredths / DECIMALS, hundredths % DECIMALS);
    let point = match language {
        Language::Indonesian => ',',
        Language::English => '.',
    };
    match rest {
        0 => whole.to_string(),
        _ if rest % 10 == 0 => format!("{whole}{point}{}", rest / 10),
        _ => format!("{whole}{point}{rest:02}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_shortened_as_each_language_does() {
        for (amount, indonesian, english) in [
            (0, "Rp0", "Rp0"),
            (750, "Rp750", "Rp750"),
            (50_000, "Rp50 rb", "Rp50K"),
            (1_500_000, "Rp1,5 jt", "Rp1.5M"),
            (48_250_000, "Rp48,25 jt", "Rp48.25M"),
            (1_050_000, "Rp1,05 jt", "Rp1.05M"),
            (2_000_000_000, "Rp2 M", "Rp2B"),
            (7_500_000_000_000, "Rp7,5 T", "Rp7.5T"),
        ] {
            assert_eq!(short_amount(amount, Language::Indonesian), indonesian);
            assert_eq!(short_amount(amount, Language::English), english);
        }
    }
}
