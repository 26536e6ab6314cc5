//! The two faces that texts are drawn with, and the outlines of their characters as pixels.
//!
//! Noto Sans has the characters of Latin, Greek and Cyrillic scripts, and the signs of currencies. The two files take
//! 398 KB in the binary.

use std::sync::LazyLock;

use ab_glyph::{Font, FontRef, Glyph, GlyphId, PxScale, ScaleFont};

use crate::colour_table::OPAQUE;

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

/// The pixels of one character, where it stands.
pub(crate) struct Stamp {
    pub(crate) left: i32,
    top: i32,
    width: usize,
    /// Row by row.
    opacities: Vec<u8>,
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

    /// The pixels of a character that stands at `left` units and on the row `baseline`; none for one without any, such as a space.
    #[expect(clippy::float_arithmetic, reason = "the rasteriser counts in fractions of pixels")]
    pub(crate) fn stamp(&self, glyph: GlyphId, left: i32, baseline: i32) -> Option<Stamp> {
        let position = ab_glyph::point(left as f32 / UNITS as f32, baseline as f32);
        let outline = self.font.outline_glyph(Glyph { id: glyph, scale: self.scale, position })?;
        let bounds = outline.px_bounds();
        let width = bounds.width() as usize;
        let mut opacities = vec![0; width * bounds.height() as usize];
        let mut pixels = opacities.iter_mut();
        // The pixels come row by row. To be given their places, too, would take as long as all else here.
        outline.draw(|_, _, part| {
            if let Some(opacity) = pixels.next() {
                // The cast rounds, which is quicker than `round`, and limits what is out of range.
                *opacity = ((part * f32::from(OPAQUE) + 0.5) as u8).min(OPAQUE);
            }
        });
        Some(Stamp { left: bounds.min.x as i32, top: bounds.min.y as i32, width, opacities })
    }
}

impl Stamp {
    /// The rows with the opacities of their pixels.
    pub(crate) fn rows(&self) -> impl Iterator<Item = (i32, &[u8])> {
        (self.top..).zip(self.opacities.chunks_exact(self.width.max(1)))
    }
}

#[expect(clippy::float_arithmetic, reason = "the rasteriser counts in fractions of pixels")]
fn units(pixels: f32) -> i32 {
    (pixels * UNITS as f32).round() as i32
}
