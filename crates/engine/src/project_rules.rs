//! What may be said about a project: the same for whoever runs commands and whoever fills in forms.

use domain::{
    bank::Bank,
    method::Method,
    project::MerchantProfile,
    rules::{Invalid, MERCHANT_NAME, TextRule},
};

pub const MERCHANT_CITY: TextRule = TextRule { field: "merchant_city", least: 1, most: 255, line_breaks: false };
pub const POSTAL_CODE_DIGITS: usize = 5;

/// Who customers see they are paying, if it can be printed and put into a QR code.
pub fn checked_merchant(merchant: MerchantProfile) -> Result<MerchantProfile, Invalid> {
    let MerchantProfile { name, city, postal_code } = merchant;
    let (name, city) = (MERCHANT_NAME.check(name)?, MERCHANT_CITY.check(city)?);
    if !is_postal_code(&postal_code) {
        return Err(Invalid::new("merchant_postal_code", format!("must have {POSTAL_CODE_DIGITS} digits")));
    }
    Ok(MerchantProfile { name, city, postal_code })
}

pub fn is_postal_code(text: &str) -> bool {
    text.len() == POSTAL_CODE_DIGITS && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// The first method whose bank is not among those on offer.
pub fn not_offered(methods: &[Method], banks: &[Bank]) -> Option<Method> {
    methods.iter().copied().find(|method| method.bank().is_some_and(|bank| !banks.contains(&bank)))
}

/// Each value once, in the order they were given.
pub fn distinct<T: PartialEq>(values: Vec<T>) -> Vec<T> {
    let mut kept = Vec::with_capacity(values.len());
    for value in values {
        if !kept.contains(&value) {
            kept.push(value);
        }
    }
    kept
}
