//! Texts on a canvas: measured, wrapped at spaces, and cut with an ellipsis where they do not fit.

use std::thread;

use ab_glyph::GlyphId;
use domain::colour::Colour;

use crate::{
    canvas::{Area, Canvas},
    colour_table::Ink,
    fonts::{Face, UNITS, Weight},
};

/// Characters after these are left out, so that the work for a text has a limit.
const CHARACTERS_MAX: usize = 2_000;

const ELLIPSIS: char = '…';

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Align {
    Left,
    Centre,
    Right,
}

/// How a text looks. Sizes are in pixels.
#[derive(Clone, Copy, Debug)]
pub struct TextStyle {
    pub size: u32,
    pub line_height: u32,
    pub weight: Weight,
    pub align: Align,
    pub colour: Colour,
}

/// The width of a text on one line, in pixels, rounded up.
pub fn text_width(text: &str, size: u32, weight: Weight) -> u32 {
    let face = Face::new(weight, size);
    pixels(width(&face, &glyphs(&face, text)))
}

impl Canvas {
    /// Draws a text from the top of `area` on as many lines as it has room for. Nothing is drawn outside of `area`.
    /// Answers the height of the lines that were drawn.
    pub fn text(&mut self, area: Area, style: TextStyle, text: &str) -> u32 {
        let face = Face::new(style.weight, style.size);
        let lines_max = area.height / style.line_height.max(1);
        let lines = wrapped(&face, text, units(area.width), lines_max as usize);
        let height = lines.len() as u32 * style.line_height;
        let mut ink = self.ink(style.colour);
        for (index, line) in (0..).zip(&lines) {
            let room = units(area.width) - width(&face, line);
            let indent = match style.align {
                Align::Left => 0,
                Align::Centre => room / 2,
                Align::Right => room,
            };
            let top = area.top + index * style.line_height;
            let baseline = top.cast_signed() + face.baseline(style.line_height);
            self.line(area, &face, line, (units(area.left) + indent.max(0), baseline), &mut ink);
        }
        height
    }

    fn line(&mut self, area: Area, face: &Face, line: &[GlyphId], (mut left, baseline): (i32, i32), ink: &mut Ink) {
        thread::yield_now();
        for (index, glyph) in line.iter().enumerate() {
            if let Some(stamp) = face.stamp(*glyph, left, baseline) {
                for (y, opacities) in stamp.rows() {
                    self.blend_row(area, (stamp.left, y), opacities, ink);
                }
            }
            left += step(face, line, index);
        }
    }
}

/// The lines of a text, at most `lines_max`; the last one ends with an ellipsis if something is left out.
fn wrapped(face: &Face, text: &str, width_max: i32, lines_max: usize) -> Vec<Vec<GlyphId>> {
    let space = face.glyph(' ');
    let all = glyphs(face, text);
    let mut rest = all.as_slice();
    let mut lines = Vec::new();
    while !rest.is_empty() && lines.len() < lines_max {
        let fitting = fitting(face, rest, width_max);
        if fitting < rest.len() && lines.len() + 1 == lines_max {
            lines.push(cut(face, rest, width_max));
            break;
        }
        // A word that is longer than a line goes on on the next one.
        let last_space = rest.iter().take(fitting + 1).rposition(|glyph| *glyph == space);
        let end = if fitting == rest.len() { fitting } else { last_space.unwrap_or(fitting) };
        lines.push(rest[..end].to_vec());
        rest = rest[end..].strip_prefix(&[space]).unwrap_or(&rest[end..]);
    }
    lines
}

/// The beginning of a line that is too long, with an ellipsis at its end.
fn cut(face: &Face, line: &[GlyphId], width_max: i32) -> Vec<GlyphId> {
    let ellipsis = face.glyph(ELLIPSIS);
    let kept = &line[..fitting(face, line, width_max - face.advance(ellipsis))];
    let kept = kept.strip_suffix(&[face.glyph(' ')]).unwrap_or(kept);
    [kept, &[ellipsis]].concat()
}

/// How many of these characters have room in a line, one at least.
fn fitting(face: &Face, line: &[GlyphId], width_max: i32) -> usize {
    let mut used = 0;
    for (index, glyph) in line.iter().enumerate() {
        if used + face.advance(*glyph) > width_max {
            return index.max(1);
        }
        used += step(face, line, index);
    }
    line.len()
}

/// How far the character after this one is.
fn step(face: &Face, line: &[GlyphId], index: usize) -> i32 {
    let kerning = line.get(index + 1).map_or(0, |next| face.kerning(line[index], *next));
    face.advance(line[index]) + kerning
}

fn width(face: &Face, line: &[GlyphId]) -> i32 {
    (0..line.len()).map(|index| step(face, line, index)).sum()
}

/// The characters of a text, with one space between words.
fn glyphs(face: &Face, text: &str) -> Vec<GlyphId> {
    let text = text.chars().take(CHARACTERS_MAX).filter(|character| !is_invisible(*character));
    let text: String = text.map(|character| if character.is_control() { ' ' } else { character }).collect();
    let words: Vec<&str> = text.split_whitespace().collect();
    words.join(" ").chars().map(|character| face.glyph(character)).collect()
}

/// Whether a character only directs others and has no picture of its own: soft hyphens, joiners, directions, variants.
fn is_invisible(character: char) -> bool {
    let ranges = ['\u{200b}'..='\u{200f}', '\u{202a}'..='\u{202e}', '\u{2060}'..='\u{206f}', '\u{fe00}'..='\u{fe0f}'];
    matches!(character, '\u{ad}' | '\u{feff}') || ranges.iter().any(|range| range.contains(&character))
}

fn units(pixels: u32) -> i32 {
    pixels.cast_signed().saturating_mul(UNITS)
}

fn pixels(units: i32) -> u32 {
    units.max(0).cast_unsigned().div_ceil(UNITS.cast_unsigned())
}
