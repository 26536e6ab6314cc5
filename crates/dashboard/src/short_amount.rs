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

/// The amount with two decimals at most, rounded half up. What rounds up to a whole larger unit is written in that one.
pub(crate) fn short_amount(amount: i128, language: Language) -> String {
    let words = words(language);
    let hundredths = |unit: i128| (amount * DECIMALS * 2 + unit) / (2 * unit);
    let is_whole = |unit: i128, smaller: i128| amount >= unit || hundredths(smaller) >= unit / smaller * DECIMALS;
    let number = |unit: i128| decimal(hundredths(unit), language);
    match amount {
        _ if is_whole(TRILLION, BILLION) => fl!(words, "short-trillion", number = number(TRILLION)),
        _ if is_whole(BILLION, MILLION) => fl!(words, "short-billion", number = number(BILLION)),
        _ if is_whole(MILLION, THOUSAND) => fl!(words, "short-million", number = number(MILLION)),
        THOUSAND.. => fl!(words, "short-thousand", number = number(THOUSAND)),
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
            (39_776_000, "Rp39,78 jt", "Rp39.78M"),
            (39_775_000, "Rp39,78 jt", "Rp39.78M"),
            (39_774_999, "Rp39,77 jt", "Rp39.77M"),
            (1_996, "Rp2 rb", "Rp2K"),
            (999, "Rp999", "Rp999"),
            (999_994, "Rp999,99 rb", "Rp999.99K"),
            (999_995, "Rp1 jt", "Rp1M"),
            (999_999_999, "Rp1 M", "Rp1B"),
            (999_999_999_999, "Rp1 T", "Rp1T"),
            (i64::MAX.into(), "Rp9223372,04 T", "Rp9223372.04T"),
            (2_000_000_000, "Rp2 M", "Rp2B"),
            (7_500_000_000_000, "Rp7,5 T", "Rp7.5T"),
        ] {
            assert_eq!(short_amount(amount, Language::Indonesian), indonesian);
            assert_eq!(short_amount(amount, Language::English), english);
        }
    }
}
