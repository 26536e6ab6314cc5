//! Number literals exactly as the client wrote them. A parser's `f64` loses digits, so two different numbers could look equal.

/// The number literals of valid JSON, in order of appearance.
pub(super) fn literals(json: &str) -> impl Iterator<Item = &str> {
    let mut rest = json;
    std::iter::from_fn(move || {
        loop {
            let start = rest.find(|c: char| c == '"' || c == '-' || c.is_ascii_digit())?;
            rest = &rest[start..];
            if let Some(text) = rest.strip_prefix('"') {
                rest = after_text(text);
                continue;
            }
            let end = rest.find(|c: char| !matches!(c, '0'..='9' | '-' | '+' | '.' | 'e' | 'E')).unwrap_or(rest.len());
            let (literal, more) = rest.split_at(end);
            rest = more;
            return Some(literal);
        }
    })
}

/// The text with a small number in place of each one beyond `f64`, and as long as before, so that mistakes elsewhere are still
/// reported at their own places. None where there is no such number.
pub(super) fn without_huge_numbers(json: &str) -> Option<String> {
    let mut shortened = None;
    for literal in literals(json).filter(|literal| is_huge(literal)) {
        let start = literal.as_ptr().addr() - json.as_ptr().addr();
        let text: &mut String = shortened.get_or_insert_with(|| json.to_owned());
        // White space may follow a number. The fraction keeps it from being read as a plain integer.
        text.replace_range(start..start + literal.len(), &format!("{:<1$}", "0.0", literal.len()));
    }
    shortened
}

/// Whether a number is well-formed JSON and beyond `f64`.
fn is_huge(literal: &str) -> bool {
    let unsigned = literal.strip_prefix('-').unwrap_or(literal);
    let (mantissa, exponent) = unsigned.split_once(['e', 'E']).unwrap_or((unsigned, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, "0"));
    let exponent = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
    let are_digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let is_number = are_digits(whole) && are_digits(fraction) && are_digits(exponent);
    let has_leading_zero = whole.len() > 1 && whole.starts_with('0');
    is_number && !has_leading_zero && literal.parse::<f64>().is_ok_and(f64::is_infinite)
}

/// What follows a string whose opening quote has been passed.
fn after_text(text: &str) -> &str {
    let mut escaped = false;
    let close = text.find(|c: char| {
        let closes = c == '"' && !escaped;
        escaped = c == '\\' && !escaped;
        closes
    });
    close.map_or("", |close| &text[close + 1..])
}

/// The value of a plain integer; one beyond `i64` becomes the nearest bound. None for a fraction or an exponent.
pub(super) fn saturated_integer(literal: &str) -> Option<i64> {
    let digits = literal.strip_prefix('-').unwrap_or(literal);
    if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    Some(literal.parse().unwrap_or(if literal.starts_with('-') { i64::MIN } else { i64::MAX }))
}

/// A number's value in one form, however it was written.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Canonical {
    Integer(i64),
    /// Sign, digits without leading or trailing zeros, and the power of ten that they are multiplied by.
    Decimal(String),
}

pub(super) fn canonical(literal: &str) -> Canonical {
    let (mantissa, exponent) = literal.split_once(['e', 'E']).unwrap_or((literal, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let (sign, whole) = whole.strip_prefix('-').map_or(("", whole), |whole| ("-", whole));
    let all = format!("{whole}{fraction}");
    let digits = all.trim_end_matches('0');
    let dropped = (all.len() - digits.len()) as i64 - fraction.len() as i64;
    let digits = digits.trim_start_matches('0');
    if digits.is_empty() {
        return Canonical::Integer(0);
    }
    let power = match exponent.parse::<i64>() {
        Ok(power) => power.saturating_add(dropped),
        // A number that rounds to zero. The encoding of these must not change any more.
        Err(_) if exponent.starts_with('-') => dropped,
        Err(_) => {
            let exponent = exponent.trim_start_matches(['+', '0']);
            return Canonical::Decimal(format!("{sign}{digits}e{dropped}+{exponent}"));
        }
    };
    let zeros = usize::try_from(power).ok().filter(|zeros| *zeros < 20).map(|zeros| "0".repeat(zeros));
    let integer = zeros.and_then(|zeros| format!("{sign}{digits}{zeros}").parse().ok());
    integer.map_or_else(|| Canonical::Decimal(format!("{sign}{digits}e{power}")), Canonical::Integer)
}

/// Whether the number is not whole, however it was written.
pub(super) fn is_fraction(literal: &str) -> bool {
    matches!(canonical(literal), Canonical::Decimal(form) if form.contains("e-"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_are_found_outside_of_strings() {
        let json = r#"{"a1": 12, "b\"2":[-0.5e+10,"\\", 3.0 ],"-4":{"é5":"6\\\"7"}, "x":18446744073709551616}"#;
        assert_eq!(literals(json).collect::<Vec<_>>(), ["12", "-0.5e+10", "3.0", "18446744073709551616"]);
        assert_eq!(literals("7").collect::<Vec<_>>(), ["7"]);
        assert_eq!(literals(r#"{"a":null}"#).count(), 0);
    }

    #[test]
    fn numbers_beyond_f64_are_replaced_in_place() {
        let wide = "9".repeat(309);
        for huge in
            [wide.as_str(), &format!("-{wide}"), &format!("{wide}.5"), "1e309", "-1.5E+400", "1e99999999999999999999"]
        {
            let json = format!(r#"{{"a":"{wide}","b":[{huge},1],"c":2.5}}"#);
            let replaced = without_huge_numbers(&json).unwrap();
            let start = json.find('[').unwrap() + 1;
            assert_eq!(replaced.len(), json.len());
            assert_eq!(replaced[start..].split_once(',').unwrap().0.trim_end(), "0.0", "{huge}");
            assert_eq!(replaced.replacen(&format!("{:<1$}", "0.0", huge.len()), huge, 1), json);
        }
        let others = ["1", "1e308", "0e99999999999999999999", "1e-99999999999999999999", "-", "1e", "x"];
        for json in others.into_iter().map(str::to_owned).chain([
            format!("0{wide}"),
            format!("{wide}."),
            format!("{wide}e"),
            format!("+{wide}"),
            format!("--{wide}"),
            format!("\"{wide}\""),
        ]) {
            let shown = without_huge_numbers(&json);
            // What stands behind the sign is a number by itself, and the sign stays where the parser refuses it.
            assert!(shown.as_ref().is_none_or(|text| text.starts_with('+')), "{json}: {shown:?}");
        }
    }

    #[test]
    fn a_fraction_is_what_is_not_whole() {
        for fraction in ["1.5", "-0.1", "15e-1", "1000.001", "1e-9"] {
            assert!(is_fraction(fraction), "{fraction}");
        }
        for whole in ["1", "1000.0", "1e4", "-0.0", "150e-1", "1e300", "18446744073709551616"] {
            assert!(!is_fraction(whole), "{whole}");
        }
    }

    #[test]
    fn equal_values_have_one_form() {
        for (literal, value) in [("1", 1), ("1.0", 1), ("1e4", 10_000), ("-0.0", 0), ("0e9", 0), ("120E-1", 12)] {
            assert_eq!(canonical(literal), Canonical::Integer(value), "{literal}");
        }
        assert_eq!(canonical("9223372036854775807.00"), Canonical::Integer(i64::MAX));
        for (literal, form) in [
            ("0.5", "5e-1"),
            ("5e-1", "5e-1"),
            ("-0.050", "-5e-2"),
            ("9223372036854775808", "9223372036854775808e0"),
            ("92233720368547758080e-1", "9223372036854775808e0"),
            ("1e300", "1e300"),
            ("10e299", "1e300"),
            ("1e400", "1e400"),
            ("10e+399", "1e400"),
            ("1e99999999999999999999", "1e0+99999999999999999999"),
            ("1E+099999999999999999999", "1e0+99999999999999999999"),
            ("2e99999999999999999999", "2e0+99999999999999999999"),
            ("20e99999999999999999999", "2e1+99999999999999999999"),
        ] {
            assert_eq!(canonical(literal), Canonical::Decimal(form.to_owned()), "{literal}");
        }
    }
}
