//! Colours, and how well one can be read on another, as the Web Content Accessibility Guidelines measure it.

use std::fmt;

/// What AA asks for texts of usual size.
pub const READABLE: Contrast = Contrast(450);

/// How many steps there are between a colour and white or black when a readable one is searched for.
const STEPS: u16 = 100;

/// A colour of the sRGB space, as `#rrggbb` writes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Colour {
    pub red: u8,
    pub green: u8,
    pub blue: u8,
}

/// A ratio between 1 : 1 and 21 : 1, in hundredths, rounded down.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Contrast(u16);

impl Colour {
    pub const WHITE: Self = Self::new(255, 255, 255);
    pub const BLACK: Self = Self::new(0, 0, 0);

    pub const fn new(red: u8, green: u8, blue: u8) -> Self {
        Self { red, green, blue }
    }

    /// Reads `#rrggbb`, in capitals or small letters.
    pub fn parse(text: &str) -> Option<Self> {
        let digits = text.strip_prefix('#').filter(|digits| digits.len() == 6)?;
        let is_hex = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        let value = u32::from_str_radix(digits, 16).ok().filter(|_| is_hex)?;
        let [_, red, green, blue] = value.to_be_bytes();
        Some(Self::new(red, green, blue))
    }

    pub fn contrast(self, other: Self) -> Contrast {
        let (one, two) = (self.luminance(), other.luminance());
        contrast_of(one.max(two), one.min(two))
    }

    /// The nearest colour between this one and `end` that can be read on all of `grounds`; `end` itself if none can.
    pub fn readable_on(self, grounds: &[Self], end: Self) -> Self {
        let is_readable = |colour: &Self| grounds.iter().all(|ground| colour.contrast(*ground) >= READABLE);
        (0..=STEPS).map(|step| self.mixed(end, step)).find(is_readable).unwrap_or(end)
    }

    /// This colour with `step` hundredths of `end`.
    pub fn mixed(self, end: Self, step: u16) -> Self {
        let step = step.min(STEPS);
        let part = |from: u8, to: u8| {
            let sum = u16::from(from) * (STEPS - step) + u16::from(to) * step;
            (sum / STEPS).to_le_bytes()[0]
        };
        Self::new(part(self.red, end.red), part(self.green, end.green), part(self.blue, end.blue))
    }

    #[expect(clippy::float_arithmetic, reason = "the guidelines define luminance by a power; no money is near")]
    fn luminance(self) -> f64 {
        let linear = |part: u8| {
            let part = f64::from(part) / 255.0;
            if part <= 0.040_45 { part / 12.92 } else { ((part + 0.055) / 1.055).powf(2.4) }
        };
        0.2126 * linear(self.red) + 0.7152 * linear(self.green) + 0.0722 * linear(self.blue)
    }
}

#[expect(clippy::float_arithmetic, reason = "a ratio of luminances, which are fractions")]
fn contrast_of(lighter: f64, darker: f64) -> Contrast {
    // Between 100 and 2,100.
    Contrast(((lighter + 0.05) / (darker + 0.05) * 100.0) as u16)
}

impl fmt::Display for Colour {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "#{:02x}{:02x}{:02x}", self.red, self.green, self.blue)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn colour(text: &str) -> Colour {
        Colour::parse(text).unwrap()
    }

    #[test]
    fn a_colour_is_six_hexadecimal_digits() {
        assert_eq!(colour("#0A64ff"), Colour::new(10, 100, 255));
        assert_eq!(colour("#0A64ff").to_string(), "#0a64ff");
        for text in ["", "#", "0a64ff", "#0a64f", "#0a64fff", "#0a64fg", "#+a64ff", "red", "#fff", "#0a64fé"] {
            assert_eq!(Colour::parse(text), None, "{text}");
        }
    }

    #[test]
    fn contrast_is_what_the_guidelines_compute() {
        let cases = [("#000000", "#ffffff", 2_100), ("#777777", "#ffffff", 447), ("#767676", "#ffffff", 454)];
        for (one, two, hundredths) in cases {
            assert_eq!(colour(one).contrast(colour(two)), Contrast(hundredths), "{one} {two}");
            assert_eq!(colour(two).contrast(colour(one)), Contrast(hundredths), "{two} {one}");
        }
        assert_eq!(colour("#123456").contrast(colour("#123456")), Contrast(100));
    }

    #[test]
    fn a_readable_colour_stays_and_any_other_becomes_readable() {
        let blue = colour("#0b57d0");
        assert_eq!(blue.readable_on(&[Colour::WHITE], Colour::BLACK), blue);
        for red in (0..=255).step_by(15) {
            for (green, blue) in [(0, 0), (128, 40), (255, 0), (255, 255)] {
                let asked = Colour::new(red, green, blue);
                let used = asked.readable_on(&[Colour::WHITE], Colour::BLACK);
                assert!(used.contrast(Colour::WHITE) >= READABLE, "{asked} became {used}");
                let used = asked.readable_on(&[Colour::BLACK], Colour::WHITE);
                assert!(used.contrast(Colour::BLACK) >= READABLE, "{asked} became {used}");
            }
        }
    }
}
