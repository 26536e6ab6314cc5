//! The two faces that texts are drawn with, and the outlines of their characters as pixels.
//!
//! Noto Sans has the characters of Latin, Greek and Cyrillic scripts, and the signs of currencies. The two files take
//! 398 KB in the binary.

use std::sync::LazyLock;

use ab_glyph::{Font, FontRef, Glyph, GlyphId, PxScale, ScaleFont};

/// What a character that the font lacks is drawn as; the first that the font has.
const REPLACEMENTS: [char; 2] = ['\u{fffd}', '?'];

#[expect(clippy::expect_used, reason = "the file is part of the binary; a test draws with it")]
static REGULAR: LazyLock<FontRef<'static>> =
    LazyLock::new(|| FontRef::try_from_slice(notosans::REGULAR_TTF).expect("the font is valid"));

#[expect(clippy::expect_used, reason = "the file is part of the binary; a test draws with it")]
static BOLD: LazyLock<FontRef<'static>> =
    LazyLock::new(|| FontRef::try_from_slice(notosans::BOLD_TTF).expect("the font is valid"));

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weight {
    Regular,
    Bold,
}

/// A face in one size. Lengths are in 64ths of a pixel, as whole numbers.
pub(crate) struct Face {
    font: &'static FontRef<'static>,
    scale: PxScale,
}

/// How many units of length a pixel has.
pub(crate) const UNITS: i32 = 64;

impl Face {
    /// `size` is the height of a line without gaps, "em" in style sheets, in pixels.
    #[expect(clippy::float_arithmetic, reason = "the rasteriser counts in fractions of pixels")]
    pub(crate) fn new(weight: Weight, size: u32) -> Self {
        let font = match weight {
            Weight::Regular => &*REGULAR,
            Weight::Bold => &*BOLD,
        };
        let units = font.units_per_em().unwrap_or(font.height_unscaled());
        Self { font, scale: PxScale::from(size as f32 * font.height_unscaled() / units) }
    }

    pub(crate) fn glyph(&self, character: char) -> GlyphId {
        let known = std::iter::once(character).chain(REPLACEMENTS).map(|each| self.font.glyph_id(each));
        known.into_iter().find(|glyph| *glyph != GlyphId(0)).unwrap_or_default()
    }

    /// How far the next character is from this one.
    pub(crate) fn advance(&self, glyph: GlyphId) -> i32 {
        units(self.font.as_scaled(self.scale).h_advance(glyph))
    }

    /// How far the second of two characters moves towards the first; negative numbers mean nearer.
    pub(crate) fn kerning(&self, first: GlyphId, second: GlyphId) -> i32 {
        units(self.font.as_scaled(self.scale).kern(first, second))
    }

    /// How far the line on which letters stand lies below the top of a line of this height, in pixels.
    #[expect(clippy::float_arithmetic, reason = "the rasteriser counts in fractions of pixels")]
    pub(crate) fn baseline(&self, line_height: u32) -> i32 {
        let scaled = self.font.as_scaled(self.scale);
        ((line_height as f32 - scaled.height()) / 2.0 + scaled.ascent()).round() as i32
    }

    /// Calls `draw` with column, row and opacity of each pixel that a character touches. It stands at `left` units and
    /// on the row `baseline`.
    #[expect(clippy::float_arithmetic, reason = "the rasteriser counts in fractions of pixels")]
    pub(crate) fn draw(&self, glyph: GlyphId, left: i32, baseline: i32, mut draw: impl FnMut(i32, i32, u8)) {
        let position = ab_glyph::point(left as f32 / UNITS as f32, baseline as f32);
        let Some(outline) = self.font.outline_glyph(Glyph { id: glyph, scale: self.scale, position }) else {
            return;
        };
        let bounds = outline.px_bounds();
        let (first_column, first_row) = (bounds.min.x as i32, bounds.min.y as i32);
        outline.draw(|column, row, part| {
            let opacity = (part.clamp(0.0, 1.0) * 255.0).round() as u8;
            draw(first_column + column.cast_signed(), first_row + row.cast_signed(), opacity);
        });
    }
}

#[expect(clippy::float_arithmetic, reason = "the rasteriser counts in fractions of pixels")]
fn units(pixels: f32) -> i32 {
    (pixels * UNITS as f32).round() as i32
}
