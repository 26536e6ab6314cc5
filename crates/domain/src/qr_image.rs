//! Draws a payload as a QR code: a black and white PNG that a phone can scan from a screen, or a path for paper.
//!
//! The same payload always gives the same bytes. This module does not check the payload; any text can be drawn.

use qrcodegen::{Mask, QrCode, QrCodeEcc, QrSegment, Version};

/// The white border that scanners need, in modules; the QR standard asks for four.
pub const MARGIN_MODULES: usize = 4;

/// The edge of a module in pixels. With one bit per pixel, four pixels are half a byte. With eight, encoding took twice
/// as long and the file was half as large again, and scanners did no better.
const PIXELS_PER_MODULE: usize = 4;

/// Shorter runs of characters are not worth a segment of their own.
const SHORT_SEGMENT: usize = 10;

/// A white module in either half of a byte; black ones have no bits.
const WHITE_LEFT: u8 = 0xF0;
const WHITE_RIGHT: u8 = 0x0F;

/// The text does not fit into the largest QR code. A QRIS payload always fits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("is too long for a QR code")]
pub struct TooLong;

/// A QR code as a drawing that stays sharp at any size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QrPath {
    /// The edge of the drawing in modules, margin included.
    pub modules: usize,
    /// The path of the black modules, as SVG writes it.
    pub path: String,
}

/// The QR code of `payload` as a PNG file. Three of four pixel rows repeat the row above them, and the filter turns those into
/// zeros.
pub fn png(payload: &str) -> Result<Vec<u8>, TooLong> {
    Ok(encoded(&rows(&code(payload)?), png::Compression::Fast, png::Filter::Up))
}

/// The same picture in less than half the bytes, which takes longer: for pages that carry it inline on slow connections.
/// Repeated rows compress best as they are.
pub fn small_png(payload: &str) -> Result<Vec<u8>, TooLong> {
    Ok(encoded(&rows(&code(payload)?), png::Compression::Balanced, png::Filter::NoFilter))
}

/// The QR code of `payload` as a path.
pub fn path(payload: &str) -> Result<QrPath, TooLong> {
    let (code, margin) = (code(payload)?, MARGIN_MODULES as i32);
    let size = code.size();
    let black = (0..size).flat_map(|y| (0..size).map(move |x| (x, y))).filter(|(x, y)| code.get_module(*x, *y));
    let path = black.map(|(x, y)| format!("M{} {}h1v1h-1z", x + margin, y + margin)).collect();
    Ok(QrPath { modules: size as usize + 2 * MARGIN_MODULES, path })
}

/// The squares that a QR code consists of, without its white margin, for those who draw it into a larger picture.
#[derive(Clone)]
pub struct Modules(QrCode);

impl Modules {
    pub fn of(payload: &str) -> Result<Self, TooLong> {
        code(payload).map(Self)
    }

    /// How many modules an edge has, without the margin.
    pub fn edge(&self) -> u32 {
        self.0.size().unsigned_abs()
    }

    /// Whether the module in this column and row is black; those outside of the code are not.
    pub fn is_black(&self, column: u32, row: u32) -> bool {
        let inside = column < self.edge() && row < self.edge();
        inside && self.0.get_module(column.cast_signed(), row.cast_signed())
    }
}

/// The mask is fixed, because trying all eight takes most of the time and today's scanners read any of them.
fn code(payload: &str) -> Result<QrCode, TooLong> {
    let segments = segments(payload);
    let (smallest, largest, mask) = (Version::MIN, Version::MAX, Some(Mask::new(0)));
    QrCode::encode_segments_advanced(&segments, QrCodeEcc::Medium, smallest, largest, mask, false).map_err(|_| TooLong)
}

/// A QR code stores capitals, digits and some signs in fewer bits than other text. A payload consists of them except
/// for the merchant's name and city, so only the segment around those is stored as text, and the code gets fewer,
/// larger modules.
fn segments(payload: &str) -> Vec<QrSegment> {
    let is_text = |character: char| !QrSegment::is_alphanumeric(character.encode_utf8(&mut [0; 4]));
    let from = payload.find(is_text).unwrap_or(payload.len());
    let upto = payload.rfind(is_text).map_or(from, |last| payload.ceil_char_boundary(last + 1));
    // Every segment has a header of two bytes or more.
    let from = if from < SHORT_SEGMENT { 0 } else { from };
    let upto = if payload.len() - upto < SHORT_SEGMENT { payload.len() } else { upto };
    [&payload[..from], &payload[from..upto], &payload[upto..]].into_iter().flat_map(QrSegment::make_segments).collect()
}

/// Half a byte per module, a row per row of modules, margin included.
fn rows(code: &QrCode) -> Vec<Vec<u8>> {
    let margin = MARGIN_MODULES as i32;
    let span = -margin..code.size() + margin;
    // Modules outside of the code count as white; that makes the margin.
    let coloured = |white, x, y| if code.get_module(x, y) { 0 } else { white };
    let byte = |x, y| coloured(WHITE_LEFT, x, y) | coloured(WHITE_RIGHT, x + 1, y);
    span.clone().map(|y| span.clone().step_by(2).map(|x| byte(x, y)).collect()).collect()
}

#[expect(clippy::expect_used, reason = "writing to memory cannot fail and the data has the size of the header")]
fn encoded(rows: &[Vec<u8>], compression: png::Compression, filter: png::Filter) -> Vec<u8> {
    let pixels = (rows.len() * PIXELS_PER_MODULE) as u32;
    // Whole rows at a time: byte by byte, this took longer than everything else in this module.
    let data = rows.iter().map(|row| row.repeat(PIXELS_PER_MODULE)).collect::<Vec<_>>().concat();
    let mut file = Vec::new();
    let mut encoder = png::Encoder::new(&mut file, pixels, pixels);
    encoder.set_color(png::ColorType::Grayscale);
    encoder.set_depth(png::BitDepth::One);
    encoder.set_compression(compression);
    // Setting the compression also sets a filter, so this call has to come after it.
    encoder.set_filter(filter);
    let mut writer = encoder.write_header().expect("the header is valid");
    writer.write_image_data(&data).expect("the data fits the header");
    writer.finish().expect("the image is complete");
    file
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;

    const SANDBOX: &str = concat!(
        "00020101021226690017ID.CO.SANDBOX.WWW01189360099900000000170215SBX0000000000010303UKE51440014ID.CO.Q",
        "RIS.WWW0215ID10999000000010303UKE52045999530336054061500005802ID5913TOKO UJI COBA6007JAKARTA61051219",
        "062280517PAY01HZX3T9K2Q7B50703A016304F492",
    );

    /// A decoded image: its width in pixels and whether each pixel is white.
    fn decoded(file: &[u8]) -> (usize, Vec<bool>) {
        let mut reader = png::Decoder::new(Cursor::new(file)).read_info().unwrap();
        let mut data = vec![0; reader.output_buffer_size().unwrap()];
        let frame = reader.next_frame(&mut data).unwrap();
        assert_eq!((frame.color_type, frame.bit_depth), (png::ColorType::Grayscale, png::BitDepth::One));
        assert_eq!(frame.width, frame.height);
        let width = frame.width as usize;
        assert_eq!(width.div_ceil(8), frame.line_size);
        let bits = |row: &[u8]| row.iter().flat_map(|byte| (0..8).rev().map(move |bit| byte >> bit & 1 == 1)).collect();
        let rows = data.chunks(frame.line_size).map(|row| -> Vec<bool> { bits(row) });
        (width, rows.flat_map(|row| row[..width].to_vec()).collect())
    }

    fn scanned(file: &[u8]) -> (rqrr::MetaData, String) {
        let (width, white) = decoded(file);
        let luminance = |x: usize, y: usize| if white[y * width + x] { 255 } else { 0 };
        let mut image = rqrr::PreparedImage::prepare_from_greyscale(width, width, luminance);
        let grids = image.detect_grids();
        assert_eq!(grids.len(), 1);
        grids[0].decode().unwrap()
    }

    #[test]
    fn a_scanner_reads_the_payload_back_at_error_correction_m() {
        let lowercase = SANDBOX.to_lowercase();
        let longest = "QRIS 0123456789/".repeat(32);
        let mixed = "Kota é ".repeat(40);
        assert_eq!(longest.len(), crate::qris::MAX_CHARACTERS);
        for payload in [SANDBOX, &lowercase, &longest, &mixed, "1234567890", "https://lunas.example/p/abc"] {
            let (meta, text) = scanned(&png(payload).unwrap());
            assert_eq!(text, payload);
            // The format bits of level M are 00.
            assert_eq!((meta.ecc_level, meta.mask), (0, 0));
        }
    }

    #[test]
    fn the_small_file_is_the_same_picture_in_less_than_half_the_bytes() {
        let (small, usual) = (small_png(SANDBOX).unwrap(), png(SANDBOX).unwrap());
        assert_eq!(decoded(&small), decoded(&usual));
        assert!(2 * small.len() < usual.len(), "{} of {}", small.len(), usual.len());
    }

    #[test]
    fn four_white_modules_surround_a_code_of_four_pixels_per_module() {
        let (width, white) = decoded(&png(SANDBOX).unwrap());
        let margin = 4 * 4;
        let inside = margin..width - margin;
        for (index, white) in white.iter().enumerate() {
            let (x, y) = (index % width, index / width);
            assert!(*white || (inside.contains(&x) && inside.contains(&y)), "{x} {y}");
        }
        // The finder pattern in the corner has an edge of seven black modules.
        assert!((margin..margin + 7 * 4).all(|x| !white[margin * width + x]));
        assert!(white[margin * width + margin + 7 * 4]);
        assert_eq!((width - 2 * margin - 17 * 4) % (4 * 4), 0, "a code has 17 + 4 × version modules");
    }

    #[test]
    fn the_path_has_the_black_modules_of_the_picture() {
        let payload = "https://lunas.example/p/abc";
        let (QrPath { modules, path }, (width, white)) = (path(payload).unwrap(), decoded(&png(payload).unwrap()));
        assert_eq!(modules * PIXELS_PER_MODULE, width);
        let pixel = |x: usize, y: usize| white[y * PIXELS_PER_MODULE * width + x * PIXELS_PER_MODULE];
        for y in 0..modules {
            for x in 0..modules {
                assert_eq!(path.contains(&format!("M{x} {y}h1v1h-1z")), !pixel(x, y), "{x} {y}");
            }
        }
    }

    #[test]
    fn names_in_small_letters_do_not_make_the_code_larger() {
        let named = SANDBOX.replace("TOKO UJI COBA", "Toko Uji Coba").replace("JAKARTA", "Jakarta");
        assert_eq!(decoded(&png(&named).unwrap()).0, decoded(&png(SANDBOX).unwrap()).0);
        for payload in [&named, "a12345678901234567890", "12345678901234567890a", "é1234567890ABCDEFGHIJé1234567890ABC"]
        {
            assert_eq!(scanned(&png(payload).unwrap()).1, *payload);
        }
    }

    #[test]
    fn a_file_is_small_and_always_the_same() {
        let file = png(SANDBOX).unwrap();
        assert_eq!(file, png(SANDBOX).unwrap());
        assert!(file.len() < 4_000, "{}", file.len());
    }

    #[test]
    fn a_text_too_long_for_any_code_is_rejected_and_an_empty_one_is_drawn() {
        assert_eq!(png(&"a".repeat(2_332)), Err(TooLong));
        assert_eq!(png(&"a".repeat(100_000)), Err(TooLong));
        assert!(png(&"a".repeat(2_331)).is_ok());
        assert!(png("").is_ok());
    }
}
