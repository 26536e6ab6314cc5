//! A canvas of pixels, the shapes that are drawn onto it, and the file that it becomes.
//!
//! A picture takes milliseconds of a core. Before each part of it the thread lets others run that wait for the core: the system itself
//! would let this one go on for some milliseconds first, at whatever priority.

use std::{ops::Range, thread};

use domain::colour::Colour;

use crate::{
    colour_table::{ColourTable, Ink, OPAQUE},
    qr_image::{MARGIN_MODULES, Modules},
};

/// A larger canvas is a bug: each picture has a size that we chose.
const PIXELS_MOST: u32 = 4_000_000;

/// The edges of rounded corners are sampled this often in each direction.
const CORNER_SAMPLES: u32 = 8;

/// How many parts of 255 are between one opacity and the next.
const OPACITY_STEP: u32 = 255 / OPAQUE as u32;

/// A rectangle of pixels. Parts of it may lie outside of the canvas; those are not drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Area {
    pub left: u32,
    pub top: u32,
    pub width: u32,
    pub height: u32,
}

/// An opaque picture in the making.
pub struct Canvas {
    width: u32,
    height: u32,
    colours: ColourTable,
    /// The number of each pixel's colour, row by row.
    pixels: Vec<u8>,
}

impl Area {
    pub const fn new(left: u32, top: u32, width: u32, height: u32) -> Self {
        Self { left, top, width, height }
    }

    pub const fn right(self) -> u32 {
        self.left + self.width
    }

    pub const fn bottom(self) -> u32 {
        self.top + self.height
    }

    /// The area that is smaller by `margin` on each side.
    pub const fn inside(self, margin: u32) -> Self {
        Self {
            left: self.left + margin,
            top: self.top + margin,
            width: self.width.saturating_sub(2 * margin),
            height: self.height.saturating_sub(2 * margin),
        }
    }
}

impl Canvas {
    pub fn new(width: u32, height: u32, background: Colour) -> Self {
        assert!(width > 0 && height > 0 && width.saturating_mul(height) <= PIXELS_MOST, "{width} x {height}");
        let mut canvas = Self { width, height, colours: ColourTable::default(), pixels: Vec::new() };
        let ground = canvas.ink(background).number;
        canvas.pixels = vec![ground; (width * height) as usize];
        canvas
    }

    /// The whole canvas.
    pub fn area(&self) -> Area {
        Area::new(0, 0, self.width, self.height)
    }

    /// Fills `area`, whose corners have the given radius: 0 for sharp ones.
    pub fn rectangle(&mut self, area: Area, radius: u32, colour: Colour) {
        let radius = radius.min(area.width / 2).min(area.height / 2);
        thread::yield_now();
        let mut ink = self.ink(colour);
        for y in area.top..area.bottom().min(self.height) {
            let is_at_corners = y < area.top + radius || y + radius >= area.bottom();
            let inset = if is_at_corners { radius } else { 0 };
            let (from, to) = (area.left + inset, area.right() - inset);
            self.fill(y, from..to, &ink);
            for x in (area.left..from).chain(to..area.right()) {
                let opacity = coverage(area, radius, x, y);
                self.blend_row(area, (x.cast_signed(), y.cast_signed()), &[opacity], &mut ink);
            }
        }
    }

    pub(crate) fn ink(&mut self, colour: Colour) -> Ink {
        self.colours.ink([colour.red, colour.green, colour.blue])
    }

    /// Colours a part of a row.
    fn fill(&mut self, y: u32, columns: Range<u32>, ink: &Ink) {
        let part = self.part(y, columns);
        self.pixels[part].fill(ink.number);
    }

    /// Where the pixels of a part of a row are. Of what lies outside of the canvas there are none.
    fn part(&self, y: u32, columns: Range<u32>) -> Range<usize> {
        let at = |x: u32| (y * self.width + x.min(self.width)) as usize;
        if y < self.height { at(columns.start)..at(columns.end) } else { 0..0 }
    }

    /// Draws a QR code as large as whole pixels for each module allow, in the middle of `area`, which becomes white: a
    /// scanner needs the margin. Answers the edge of a module in pixels; 0, and nothing drawn, if `area` is too small.
    pub fn qr_code(&mut self, area: Area, modules: &Modules) -> u32 {
        let edge = modules.edge() + 2 * MARGIN_MODULES as u32;
        let pixels = area.width.min(area.height) / edge;
        if pixels == 0 {
            return 0;
        }
        self.rectangle(area, 0, Colour::WHITE);
        let used = modules.edge() * pixels;
        let (left, top) = (area.left + (area.width - used) / 2, area.top + (area.height - used) / 2);
        let ink = self.ink(Colour::BLACK);
        for row in 0..modules.edge() {
            let y = top + row * pixels;
            for column in (0..modules.edge()).filter(|column| modules.is_black(*column, row)) {
                let x = left + column * pixels;
                self.fill(y, x..x + pixels, &ink);
            }
            let drawn = self.part(y, left..left + used);
            for below in (y + 1..y + pixels).filter(|below| *below < self.height) {
                let start = self.part(below, left..left).start;
                self.pixels.copy_within(drawn.clone(), start);
            }
        }
        pixels
    }

    /// Lays a colour over the pixels from this column on in this row, each as opaque as given, as far as they are inside of `area`.
    pub(crate) fn blend_row(&mut self, area: Area, (x, y): (i32, i32), opacities: &[u8], ink: &mut Ink) {
        let is_inside = y >= area.top.cast_signed() && y < area.bottom().min(self.height).cast_signed();
        let first = x.max(area.left.cast_signed());
        let end = area.right().min(self.width).cast_signed();
        if !is_inside || first >= end {
            return;
        }
        let at = |x: i32| y as usize * self.width as usize + x as usize;
        let part = at(first)..at(end);
        let opacities = opacities.iter().skip((first - x) as usize);
        for (pixel, opacity) in self.pixels[part].iter_mut().zip(opacities).filter(|(_, opacity)| **opacity > 0) {
            *pixel = self.colours.shade(*pixel, ink, *opacity);
        }
    }

    /// The canvas as a PNG file.
    #[expect(clippy::expect_used, reason = "writing to memory cannot fail and the data has the size of the header")]
    pub fn png(&self) -> Vec<u8> {
        thread::yield_now();
        let mut file = Vec::new();
        let mut encoder = png::Encoder::new(&mut file, self.width, self.height);
        encoder.set_depth(png::BitDepth::Eight);
        encoder.set_color(png::ColorType::Indexed);
        encoder.set_palette(self.colours.colours().as_flattened());
        encoder.set_compression(png::Compression::Fast);
        // Most rows repeat the row above them: this filter turns those into zeros.
        encoder.set_filter(png::Filter::Up);
        let mut writer = encoder.write_header().expect("the header is valid");
        writer.write_image_data(&self.pixels).expect("the data fits the header");
        writer.finish().expect("the image is complete");
        file
    }
}

/// How opaque a pixel of an area with round corners is, by how much of it lies within.
fn coverage(area: Area, radius: u32, x: u32, y: u32) -> u8 {
    // How far the pixel lies beyond the centre of the nearest corner's circle, in pixels.
    let beyond = |at: u32, start: u32, end: u32| {
        if at < start + radius { Some(start + radius - at - 1) } else { (at + radius).checked_sub(end) }
    };
    let (Some(across), Some(down)) = (beyond(x, area.left, area.right()), beyond(y, area.top, area.bottom())) else {
        return OPAQUE;
    };
    // Most pixels lie wholly inside of the circle or wholly outside.
    if (across + 1).pow(2) + (down + 1).pow(2) <= radius.pow(2) {
        return OPAQUE;
    }
    if across.pow(2) + down.pow(2) >= radius.pow(2) {
        return 0;
    }
    // In half samples, so that the middles of samples are whole numbers.
    let unit = 2 * CORNER_SAMPLES;
    let limit = (radius * unit).pow(2);
    let middles = |from: u32| (0..CORNER_SAMPLES).map(move |sample| (from * unit + 2 * sample + 1).pow(2));
    let inside = middles(down).flat_map(|y| middles(across).map(move |x| x + y)).filter(|square| *square <= limit);
    let part = inside.count() as u32 * 255 / CORNER_SAMPLES.pow(2);
    ((part + OPACITY_STEP / 2) / OPACITY_STEP) as u8
}
