//! A canvas of pixels, the shapes that are drawn onto it, and the file that it becomes.

use domain::{
    colour::Colour,
    qr_image::{MARGIN_MODULES, Modules},
};

use crate::{colour_table::ColourTable, image::Image};

/// A larger canvas is a bug: each picture has a size that we chose.
const PIXELS_MOST: u32 = 4_000_000;

/// The edges of rounded corners are sampled this often in each direction.
const CORNER_SAMPLES: u32 = 8;

/// Soft edges have opacities in steps of this, so that a picture of a few colours has a few hundred shades at most.
const OPACITY_STEP: u8 = 17;

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
    /// Three bytes a pixel, row by row.
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

    pub(crate) fn contains(self, x: u32, y: u32) -> bool {
        (self.left..self.right()).contains(&x) && (self.top..self.bottom()).contains(&y)
    }
}

impl Canvas {
    pub fn new(width: u32, height: u32, background: Colour) -> Self {
        assert!(width > 0 && height > 0 && width.saturating_mul(height) <= PIXELS_MOST, "{width} x {height}");
        let pixel = [background.red, background.green, background.blue];
        Self { width, height, pixels: pixel.repeat((width * height) as usize) }
    }

    /// The whole canvas.
    pub fn area(&self) -> Area {
        Area::new(0, 0, self.width, self.height)
    }

    /// Fills `area`, whose corners have the given radius: 0 for sharp ones.
    pub fn rectangle(&mut self, area: Area, radius: u32, colour: Colour) {
        let radius = radius.min(area.width / 2).min(area.height / 2);
        for y in area.top..area.bottom().min(self.height) {
            let is_at_corners = y < area.top + radius || y + radius >= area.bottom();
            let inset = if is_at_corners { radius } else { 0 };
            let (from, to) = (area.left + inset, area.right() - inset);
            self.fill(y, from, to, colour);
            for x in (area.left..from).chain(to..area.right()) {
                self.blend(x, y, colour, stepped(coverage(area, radius, x, y)));
            }
        }
    }

    /// Colours a part of a row.
    fn fill(&mut self, y: u32, from: u32, to: u32, colour: Colour) {
        let (from, to) = (from.min(self.width), to.min(self.width));
        let first = y * self.width;
        let part = &mut self.pixels[(first + from) as usize * 3..(first + to) as usize * 3];
        part.as_chunks_mut().0.fill([colour.red, colour.green, colour.blue]);
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
        for row in 0..modules.edge() {
            for column in (0..modules.edge()).filter(|column| modules.is_black(*column, row)) {
                let module = Area::new(left + column * pixels, top + row * pixels, pixels, pixels);
                self.rectangle(module, 0, Colour::BLACK);
            }
        }
        pixels
    }

    /// Draws a picture as large as `area` allows, in its middle; it keeps its proportions.
    pub fn image(&mut self, area: Area, image: &Image) {
        let (width, height) = image.fitted(area.width, area.height);
        let scaled = image.scaled_to(width, height);
        let (left, top) = (area.left + (area.width - width) / 2, area.top + (area.height - height) / 2);
        for (y, row) in (top..).zip(scaled.rows()) {
            for (x, [red, green, blue, alpha]) in (left..).zip(row.as_chunks().0.iter().copied()) {
                self.blend(x, y, Colour::new(red, green, blue), alpha);
            }
        }
    }

    /// Lays `colour` over a pixel, as much of it as `alpha` says. Pixels outside of the canvas are left out.
    pub(crate) fn blend(&mut self, x: u32, y: u32, colour: Colour, alpha: u8) {
        if x >= self.width || y >= self.height {
            return;
        }
        let first = (y * self.width + x) as usize * 3;
        let parts = [colour.red, colour.green, colour.blue];
        for (below, above) in self.pixels[first..first + 3].iter_mut().zip(parts) {
            let sum = u16::from(above) * u16::from(alpha) + u16::from(*below) * u16::from(255 - alpha);
            *below = ((sum + 127) / 255).to_le_bytes()[0];
        }
    }

    /// The canvas as a PNG file. One of few colours is written as numbers of a table, which is smaller and takes a tenth of the time.
    #[expect(clippy::expect_used, reason = "writing to memory cannot fail and the data has the size of the header")]
    pub fn png(&self) -> Vec<u8> {
        let mut file = Vec::new();
        let mut encoder = png::Encoder::new(&mut file, self.width, self.height);
        encoder.set_depth(png::BitDepth::Eight);
        let table = ColourTable::of(&self.pixels, self.width as usize);
        let data = match &table {
            Some(table) => {
                encoder.set_color(png::ColorType::Indexed);
                encoder.set_palette(table.colours.as_flattened());
                encoder.set_compression(png::Compression::Fast);
                &table.numbers
            }
            None => {
                encoder.set_color(png::ColorType::Rgb);
                encoder.set_compression(png::Compression::Balanced);
                &self.pixels
            }
        };
        // Most rows repeat the row above them: this filter turns those into zeros.
        encoder.set_filter(png::Filter::Up);
        let mut writer = encoder.write_header().expect("the header is valid");
        writer.write_image_data(data).expect("the data fits the header");
        writer.finish().expect("the image is complete");
        file
    }
}

/// The nearest of the opacities that soft edges have.
pub(crate) const fn stepped(opacity: u8) -> u8 {
    let is_nearer_above = opacity % OPACITY_STEP > OPACITY_STEP / 2;
    (opacity / OPACITY_STEP + is_nearer_above as u8) * OPACITY_STEP
}

/// How much of a pixel lies within an area with round corners, in parts of 255.
fn coverage(area: Area, radius: u32, x: u32, y: u32) -> u8 {
    // How far the pixel lies beyond the centre of the nearest corner's circle, in pixels.
    let beyond = |at: u32, start: u32, end: u32| {
        if at < start + radius { Some(start + radius - at - 1) } else { (at + radius).checked_sub(end) }
    };
    let (Some(across), Some(down)) = (beyond(x, area.left, area.right()), beyond(y, area.top, area.bottom())) else {
        return 255;
    };
    // In half samples, so that the middles of samples are whole numbers.
    let unit = 2 * CORNER_SAMPLES;
    let limit = (radius * unit).pow(2);
    let middles = |from: u32| (0..CORNER_SAMPLES).map(move |sample| (from * unit + 2 * sample + 1).pow(2));
    let inside = middles(down).flat_map(|y| middles(across).map(move |x| x + y)).filter(|square| *square <= limit);
    (inside.count() as u32 * 255 / CORNER_SAMPLES.pow(2)).to_le_bytes()[0]
}
