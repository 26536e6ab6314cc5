//! Pictures of others with transparent parts, such as a shop's logo, and their scaling.

use std::{borrow::Cow, ops::Range};

/// A picture in memory: red, green, blue and alpha of each pixel, row by row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    width: u32,
    height: u32,
    pixels: Vec<u8>,
}

/// Colours are multiplied by alpha while they are averaged, so that transparent pixels lend no colour. Each part is
/// between 0 and 255 × 255.
type Weighted = [u32; 4];

impl Image {
    /// `None` if there are not four bytes for each pixel, or no pixels.
    pub fn new(width: u32, height: u32, pixels: Vec<u8>) -> Option<Self> {
        let bytes = (u64::from(width) * u64::from(height)).saturating_mul(4);
        (bytes > 0 && pixels.len() as u64 == bytes).then_some(Self { width, height, pixels })
    }

    pub fn width(&self) -> u32 {
        self.width
    }

    pub fn height(&self) -> u32 {
        self.height
    }

    pub fn pixels(&self) -> &[u8] {
        &self.pixels
    }

    pub(crate) fn rows(&self) -> impl Iterator<Item = &[u8]> {
        self.pixels.chunks_exact(self.width as usize * 4)
    }

    /// The largest width and height within the given ones that keep the proportions, at least one pixel each.
    pub fn fitted(&self, width: u32, height: u32) -> (u32, u32) {
        let scaled = |edge: u32, part: u32, whole: u32| {
            let scaled = u64::from(edge) * u64::from(part) / u64::from(whole);
            u32::try_from(scaled).unwrap_or(u32::MAX).max(1)
        };
        if u64::from(self.width) * u64::from(height) > u64::from(self.height) * u64::from(width) {
            (width.max(1), scaled(self.height, width, self.width))
        } else {
            (scaled(self.width, height, self.height), height.max(1))
        }
    }

    /// The picture upright, by the orientation that a camera noted for it: 1 to 8, others count as 1.
    pub(crate) fn turned(self, orientation: u16) -> Self {
        let (width, height) = (self.width as usize, self.height as usize);
        let (right, bottom) = (width - 1, height - 1);
        let from: fn(usize, usize, usize, usize) -> (usize, usize) = match orientation {
            2 => |x, y, right, _| (right - x, y),
            3 => |x, y, right, bottom| (right - x, bottom - y),
            4 => |x, y, _, bottom| (x, bottom - y),
            5 => |x, y, _, _| (y, x),
            6 => |x, y, _, bottom| (y, bottom - x),
            7 => |x, y, right, bottom| (right - y, bottom - x),
            8 => |x, y, right, _| (right - y, x),
            _ => return self,
        };
        let is_on_its_side = orientation > 4;
        let (new_width, new_height) = if is_on_its_side { (height, width) } else { (width, height) };
        let mut pixels = Vec::with_capacity(self.pixels.len());
        for y in 0..new_height {
            for x in 0..new_width {
                let (column, row) = from(x, y, right, bottom);
                let first = (row * width + column) * 4;
                pixels.extend_from_slice(&self.pixels[first..first + 4]);
            }
        }
        let (width, height) = if is_on_its_side { (self.height, self.width) } else { (self.width, self.height) };
        Self { width, height, pixels }
    }

    /// The picture in another size. Each new pixel is the average of those it covers.
    pub fn scaled_to(&self, width: u32, height: u32) -> Self {
        let columns = shares(self.width, width);
        let narrow = self.rows().map(|row| averaged(&columns, |index| weighted(row, index)));
        let narrow: Vec<Vec<Weighted>> = narrow.collect();
        let across = width as usize;
        let lines = shares(self.height, height);
        let pixels = lines.iter().flat_map(|line| {
            (0..across).flat_map(|column| unweighted(average(line, |row| narrow[row][column]))).collect::<Vec<u8>>()
        });
        Self { width, height, pixels: pixels.collect() }
    }
}

impl Image {
    /// The picture as a PNG file, without alpha where nothing is transparent.
    #[expect(clippy::expect_used, reason = "writing to memory cannot fail and the data has the size of the header")]
    pub fn png(&self) -> Vec<u8> {
        let pixels = self.pixels.as_chunks::<4>().0;
        let is_opaque = pixels.iter().all(|pixel| pixel[3] == u8::MAX);
        let opaque = || pixels.iter().flat_map(|[red, green, blue, _]| [*red, *green, *blue]).collect();
        let data: Cow<'_, [u8]> = if is_opaque { opaque() } else { Cow::Borrowed(&self.pixels) };
        let mut file = Vec::new();
        let mut encoder = png::Encoder::new(&mut file, self.width, self.height);
        encoder.set_color(if is_opaque { png::ColorType::Rgb } else { png::ColorType::Rgba });
        encoder.set_depth(png::BitDepth::Eight);
        encoder.set_compression(png::Compression::High);
        let mut writer = encoder.write_header().expect("the header is valid");
        writer.write_image_data(&data).expect("the data fits the header");
        writer.finish().expect("the image is complete");
        file
    }
}

/// Which old pixels a new one covers, and how much of the first, of those between and of the last.
struct Share {
    pixels: Range<usize>,
    first: u64,
    between: u64,
    last: u64,
}

/// Both edges are measured in units of which an old pixel has `new` and a new one `old`.
fn shares(old: u32, new: u32) -> Vec<Share> {
    let (old, new) = (u64::from(old), u64::from(new));
    let share = |index: u64| {
        let (start, end) = (index * old, (index + 1) * old);
        let (first, upto) = (start / new, end.div_ceil(new));
        let pixels = first as usize..upto as usize;
        let last = end - (upto - 1) * new;
        // A new pixel within a single old one takes all from it.
        let first = if upto - first == 1 { old } else { (first + 1) * new - start };
        Share { pixels, first, between: new, last }
    };
    (0..new).map(share).collect()
}

fn averaged(shares: &[Share], part: impl Fn(usize) -> Weighted) -> Vec<Weighted> {
    shares.iter().map(|share| average(share, &part)).collect()
}

fn average(share: &Share, part: impl Fn(usize) -> Weighted) -> Weighted {
    let mut sums = [0_u64; 4];
    let mut total = 0;
    for index in share.pixels.clone() {
        let weight = if index == share.pixels.start {
            share.first
        } else if index + 1 == share.pixels.end {
            share.last
        } else {
            share.between
        };
        total += weight;
        for (sum, part) in sums.iter_mut().zip(part(index)) {
            *sum += weight * u64::from(part);
        }
    }
    sums.map(|sum| u32::try_from((sum + total / 2) / total).unwrap_or(u32::MAX))
}

fn weighted(row: &[u8], index: usize) -> Weighted {
    let pixel = &row[index * 4..index * 4 + 4];
    let alpha = u32::from(pixel[3]);
    [u32::from(pixel[0]) * alpha, u32::from(pixel[1]) * alpha, u32::from(pixel[2]) * alpha, alpha * 255]
}

fn unweighted([red, green, blue, alpha]: Weighted) -> [u8; 4] {
    let colour = |part: u32| (part * 255 + alpha / 2).checked_div(alpha).map_or(0, byte);
    [colour(red), colour(green), colour(blue), byte((alpha + 127) / 255)]
}

fn byte(value: u32) -> u8 {
    u8::try_from(value).unwrap_or(u8::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn image(width: u32, pixels: &[[u8; 4]]) -> Image {
        Image::new(width, pixels.len() as u32 / width, pixels.concat()).unwrap()
    }

    const RED: [u8; 4] = [255, 0, 0, 255];
    const BLUE: [u8; 4] = [0, 0, 255, 255];
    const CLEAR: [u8; 4] = [9, 9, 9, 0];

    #[test]
    fn an_image_has_four_bytes_for_each_of_its_pixels() {
        assert!(Image::new(2, 1, vec![0; 8]).is_some());
        for (width, height, bytes) in [(2, 1, 7), (2, 1, 9), (0, 1, 0), (1, 0, 0), (u32::MAX, u32::MAX, 4)] {
            assert_eq!(Image::new(width, height, vec![0; bytes]), None);
        }
    }

    #[test]
    fn scaling_averages_what_a_pixel_covers_and_transparent_ones_lend_no_colour() {
        let four = image(2, &[RED, BLUE, RED, BLUE]);
        assert_eq!(four.scaled_to(1, 1).pixels(), [128, 0, 128, 255]);
        assert_eq!(four.scaled_to(2, 2), four);
        assert_eq!(four.scaled_to(4, 4).scaled_to(2, 2), four);
        let three = image(3, &[RED, BLUE, BLUE]);
        // The first of two new pixels covers one old one and half of the next.
        assert_eq!(three.scaled_to(2, 1).pixels(), [170, 0, 85, 255, 0, 0, 255, 255]);
        assert_eq!(image(2, &[RED, CLEAR]).scaled_to(1, 1).pixels(), [255, 0, 0, 128]);
        assert_eq!(image(2, &[CLEAR, CLEAR]).scaled_to(1, 1).pixels(), [0, 0, 0, 0]);
    }

    #[test]
    fn a_picture_is_turned_as_its_camera_noted() {
        let numbered = |width: u32, numbers: [u8; 6]| image(width, &numbers.map(|number| [number, 0, 0, 255]));
        // Two rows of three.
        let sent = || numbered(3, [1, 2, 3, 4, 5, 6]);
        for (orientation, width, upright) in [
            (0, 3, [1, 2, 3, 4, 5, 6]),
            (1, 3, [1, 2, 3, 4, 5, 6]),
            (2, 3, [3, 2, 1, 6, 5, 4]),
            (3, 3, [6, 5, 4, 3, 2, 1]),
            (4, 3, [4, 5, 6, 1, 2, 3]),
            (5, 2, [1, 4, 2, 5, 3, 6]),
            (6, 2, [4, 1, 5, 2, 6, 3]),
            (7, 2, [6, 3, 5, 2, 4, 1]),
            (8, 2, [3, 6, 2, 5, 1, 4]),
            (9, 3, [1, 2, 3, 4, 5, 6]),
        ] {
            assert_eq!(sent().turned(orientation), numbered(width, upright), "{orientation}");
        }
    }

    #[test]
    fn a_fitted_picture_keeps_its_proportions_and_has_a_pixel_at_least() {
        let wide = image(4, &[RED; 8]);
        assert_eq!(wide.fitted(100, 100), (100, 50));
        assert_eq!(wide.fitted(10, 2), (4, 2));
        assert_eq!(image(8, &[RED; 8]).fitted(4, 4), (4, 1));
        assert_eq!(image(1, &[RED; 8]).fitted(4, 4), (1, 4));
    }
}
