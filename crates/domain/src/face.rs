//! A shop's face: what customers see of a merchant besides its name. Its logo, its colour, and how it can be reached.

use crate::colour::Colour;

/// What pages and pictures show. The logo's bytes are stored apart, since a project is read for every request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Face {
    pub logo: Option<LogoMark>,
    /// The colour that the merchant asked for; pages use the [`Palette`] made of it.
    pub colour: Option<Colour>,
    pub contacts: Contacts,
}

/// Which logo a project has, and its size in pixels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogoMark {
    /// Names the content, so that a changed logo has another address.
    pub hash: String,
    pub width: u32,
    pub height: u32,
}

/// Ways to reach the merchant, each as it is stored and shown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Contacts {
    /// Digits with the country's code first, as WhatsApp's links have them.
    pub whatsapp: Option<String>,
    /// What a phone dials: `+62215550000`, or a short number such as `1500123`.
    pub phone: Option<String>,
    pub email: Option<String>,
    /// An https address.
    pub site: Option<String>,
}

/// One way to reach the merchant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Contact<'a> {
    WhatsApp(&'a str),
    Phone(&'a str),
    Email(&'a str),
    Site(&'a str),
}

/// Digits of a telephone number with its country's code: the standard E.164 allows 15.
const PHONE_DIGITS_LEAST: usize = 8;
const PHONE_DIGITS_MOST: usize = 15;
/// Digits of the short numbers of Indonesian call centres, which begin with 1.
const SHORT_NUMBER_DIGITS: std::ops::RangeInclusive<usize> = 3..=8;
const EMAIL_CHARACTERS_MOST: usize = 254;
/// The country's code of Indonesia, which a leading zero stands for.
const COUNTRY: &str = "62";
/// Characters that people write between the digits of a number.
const BETWEEN_DIGITS: [char; 6] = [' ', '-', '.', '(', ')', '\u{a0}'];

/// How much of a tint is not the colour itself, in hundredths.
const LIGHT_TINT: u16 = 90;
const DARK_TINT: u16 = 88;

impl Contacts {
    /// The ways that are given; first the one that most customers can use at once.
    pub fn ways(&self) -> impl Iterator<Item = Contact<'_>> {
        let whatsapp = self.whatsapp.as_deref().map(Contact::WhatsApp);
        let phone = self.phone.as_deref().map(Contact::Phone);
        let email = self.email.as_deref().map(Contact::Email);
        let site = self.site.as_deref().map(Contact::Site);
        [whatsapp, phone, email, site].into_iter().flatten()
    }
}

impl Contact<'_> {
    /// The address of a link. All parts were checked when they were stored, so none needs to be escaped.
    pub fn address(self) -> String {
        match self {
            Contact::WhatsApp(digits) => format!("https://wa.me/{digits}"),
            Contact::Phone(number) => format!("tel:{number}"),
            Contact::Email(email) => format!("mailto:{email}"),
            Contact::Site(site) => site.to_owned(),
        }
    }

    /// What people read and dial, on paper too.
    pub fn text(self) -> String {
        match self {
            Contact::WhatsApp(digits) => format!("WhatsApp +{digits}"),
            Contact::Phone(number) => number.to_owned(),
            Contact::Email(email) => email.to_owned(),
            Contact::Site(site) => site.trim_start_matches("https://").trim_end_matches('/').to_owned(),
        }
    }
}

/// A number as WhatsApp's links need it: digits with the country's code. Numbers without one are Indonesian.
pub fn whatsapp_number(text: &str) -> Option<String> {
    let kept: String = text.chars().filter(|character| !BETWEEN_DIGITS.contains(character)).collect();
    let digits = kept.strip_prefix('+').unwrap_or(&kept);
    let international = match digits.strip_prefix("00").or_else(|| digits.strip_prefix('0')) {
        Some(rest) if digits.starts_with("00") => rest.to_owned(),
        Some(rest) => format!("{COUNTRY}{rest}"),
        // Mobile numbers of Indonesia begin with 8, and no country's code that people use here does at this length.
        None if kept.starts_with('8') => format!("{COUNTRY}{digits}"),
        None => digits.to_owned(),
    };
    let is_number = international.bytes().all(|byte| byte.is_ascii_digit()) && !international.starts_with('0');
    let fits = (PHONE_DIGITS_LEAST..=PHONE_DIGITS_MOST).contains(&international.len());
    (is_number && fits).then_some(international)
}

/// A number as phones dial it. Short numbers of call centres stay as they are.
pub fn phone_number(text: &str) -> Option<String> {
    let digits: String = text.chars().filter(|character| !BETWEEN_DIGITS.contains(character)).collect();
    let is_short = digits.starts_with('1') && digits.bytes().all(|byte| byte.is_ascii_digit());
    if is_short && SHORT_NUMBER_DIGITS.contains(&digits.len()) {
        return Some(digits);
    }
    whatsapp_number(text).map(|digits| format!("+{digits}"))
}

/// An email address that can stand in a link: letters, digits and few signs, one `@` with text on both sides, and a dot
/// in its domain.
pub fn email_address(text: &str) -> Option<String> {
    let (user, domain) = text.split_once('@')?;
    let is_plain = |text: &str, signs: &str| {
        !text.is_empty() && text.chars().all(|character| character.is_ascii_alphanumeric() || signs.contains(character))
    };
    let has_parts = domain.split('.').all(|part| !part.is_empty()) && domain.contains('.');
    let is_email = is_plain(user, "._+-") && is_plain(domain, ".-") && has_parts && text.len() <= EMAIL_CHARACTERS_MOST;
    is_email.then(|| text.to_owned())
}

/// The colours of a page in one theme. Pages for which a merchant asks for no colour have their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shade {
    /// Buttons, links and what is chosen.
    pub accent: Colour,
    /// Texts on buttons.
    pub on_accent: Colour,
    /// The background of notes and of what is chosen.
    pub tint: Colour,
}

/// What becomes of a merchant's colour: nearest to it, and readable in both themes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Palette {
    pub light: Shade,
    pub dark: Shade,
}

/// The backgrounds of the checkout on which the accent colour stands: `--ground`, `--paper`, `--tile` and `--lab-tint` of
/// the style sheet that all pages share, which a test holds against these.
pub const LIGHT_GROUNDS: [Colour; 4] =
    [Colour::new(0xf4, 0xf2, 0xed), Colour::WHITE, Colour::new(0xf0, 0xee, 0xe8), Colour::new(0xff, 0xf1, 0xd6)];
pub const DARK_GROUNDS: [Colour; 4] = [
    Colour::new(0x13, 0x15, 0x12),
    Colour::new(0x1d, 0x20, 0x1d),
    Colour::new(0x2a, 0x2d, 0x29),
    Colour::new(0x33, 0x29, 0x0f),
];

impl Palette {
    pub fn of(asked: Colour) -> Self {
        let light = asked.mixed(Colour::WHITE, LIGHT_TINT);
        let dark = asked.mixed(DARK_GROUNDS[1], DARK_TINT);
        // What can be read on a light page can be read in white on a button of its colour, and likewise in black.
        Self {
            light: shade(asked, &LIGHT_GROUNDS, light, Colour::BLACK, Colour::WHITE),
            dark: shade(asked, &DARK_GROUNDS, dark, Colour::WHITE, Colour::BLACK),
        }
    }

    /// Whether a page shows another colour than the merchant asked for.
    pub fn is_adjusted(&self, asked: Colour) -> bool {
        self.light.accent != asked || self.dark.accent != asked
    }
}

fn shade(asked: Colour, grounds: &[Colour; 4], tint: Colour, end: Colour, on_accent: Colour) -> Shade {
    let [ground, paper, tile, lab] = *grounds;
    Shade { accent: asked.readable_on(&[ground, paper, tile, lab, tint], end), on_accent, tint }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::colour::READABLE;

    #[test]
    fn numbers_are_stored_with_the_code_of_their_country() {
        for (typed, digits) in [
            ("0812-3456-7890", "6281234567890"),
            ("+62 812 3456 7890", "6281234567890"),
            ("6281234567890", "6281234567890"),
            ("81234567890", "6281234567890"),
            ("0062 812 3456 7890", "6281234567890"),
            ("(021) 555.0000", "62215550000"),
            ("+65 6123 4567", "6561234567"),
        ] {
            assert_eq!(whatsapp_number(typed).as_deref(), Some(digits), "{typed}");
            assert_eq!(phone_number(typed).unwrap(), format!("+{digits}"), "{typed}");
        }
        assert_eq!(phone_number("1500 123").as_deref(), Some("1500123"));
        for typed in
            ["", "+", "0", "12", "call me", "0812abc4567", "+62812345678901234", "++62812345678", "0812\n34567"]
        {
            assert_eq!(whatsapp_number(typed), None, "{typed:?}");
            assert_eq!(phone_number(typed), None, "{typed:?}");
        }
        assert_eq!(whatsapp_number("1500123"), None);
    }

    #[test]
    fn an_email_address_has_only_what_can_stand_in_a_link() {
        for text in ["toko@example.com", "a.b+c_d-e@sub.example.co.id"] {
            assert_eq!(email_address(text).as_deref(), Some(text));
        }
        let long = format!("{}@example.com", "a".repeat(250));
        for text in [
            "",
            "@",
            "a@",
            "@b.id",
            "a@b",
            "a b@c.id",
            "a@b.id?bcc=x",
            "a@b..id",
            "a@b@c.id",
            "é@b.id",
            "a\n@b.id",
            &long,
        ] {
            assert_eq!(email_address(text), None, "{text:?}");
        }
    }

    #[test]
    fn the_ways_that_are_given_are_linked_to_and_read_in_one_order() {
        let all = Contacts {
            whatsapp: Some("62812".to_owned()),
            phone: Some("+6221".to_owned()),
            email: Some("a@b.id".to_owned()),
            site: Some("https://toko.example/".to_owned()),
        };
        let texts: Vec<String> = all.ways().map(Contact::text).collect();
        assert_eq!(texts, ["WhatsApp +62812", "+6221", "a@b.id", "toko.example"]);
        let address = |contacts: &Contacts| contacts.ways().next().map(Contact::address);
        assert_eq!(address(&all).unwrap(), "https://wa.me/62812");
        let all = Contacts { whatsapp: None, ..all };
        assert_eq!(address(&all).unwrap(), "tel:+6221");
        let all = Contacts { phone: None, ..all };
        assert_eq!(address(&all).unwrap(), "mailto:a@b.id");
        let all = Contacts { email: None, ..all };
        assert_eq!(address(&all).unwrap(), "https://toko.example/");
        assert_eq!(address(&Contacts::default()), None);
    }

    #[test]
    fn every_colour_becomes_readable_in_both_themes_and_a_readable_one_stays() {
        for red in (0..=255).step_by(51) {
            for green in (0..=255).step_by(51) {
                for blue in (0..=255).step_by(51) {
                    let asked = Colour::new(red, green, blue);
                    let Palette { light, dark } = Palette::of(asked);
                    for (shade, grounds) in [(light, LIGHT_GROUNDS), (dark, DARK_GROUNDS)] {
                        assert!(shade.accent.contrast(shade.on_accent) >= READABLE, "{asked}: {shade:?}");
                        assert!(shade.accent.contrast(shade.tint) >= READABLE, "{asked}: {shade:?}");
                        assert!(grounds.iter().all(|ground| shade.accent.contrast(*ground) >= READABLE), "{asked}");
                    }
                    // The texts of pages, `--ink` and `--soft`, stand on tints too.
                    let texts = [
                        (light.tint, "#1d1c1a"),
                        (light.tint, "#5d5952"),
                        (dark.tint, "#f1efea"),
                        (dark.tint, "#b0aca3"),
                    ];
                    for (tint, text) in texts {
                        assert!(tint.contrast(Colour::parse(text).unwrap()) >= READABLE, "{asked}: {text} on {tint}");
                    }
                }
            }
        }
        let navy = Colour::new(0, 0, 0x80);
        let palette = Palette::of(navy);
        assert_eq!(palette.light.accent, navy);
        assert_ne!(palette.dark.accent, navy);
        assert!(palette.is_adjusted(navy));
    }
}
