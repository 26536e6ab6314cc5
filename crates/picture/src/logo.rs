//! Reads the file of a logo that a merchant sends: PNG, JPEG or WebP, one picture that does not move.
//!
//! The file's own header is judged before anything is decoded, so that a small file cannot ask for much memory. What is
//! kept are pixels: metadata, and anything that is appended to the file, is gone.

use std::io::Cursor;

use crate::image::Image;

/// The file as it is sent.
pub const FILE_BYTES_MOST: usize = 256 * 1024;
/// Pixels of the picture as it is sent. To decode one takes up to 16 bytes for each.
pub const PIXELS_MOST: u64 = 4_000_000;
/// The size in which it is kept: enough for three pixels where pages have one, and for printing.
pub const WIDTH_MOST: u32 = 480;
pub const HEIGHT_MOST: u32 = 160;
/// Memory that the decoder of PNG files may use besides the pixels.
const PNG_BYTES_MOST: usize = 32 * 1024 * 1024;
/// Parts of a progressive JPEG file; cameras and editors write about ten.
const JPEG_SCANS_MOST: usize = 32;

/// Why a file is not taken, by what the merchant can do about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LogoError {
    #[error("the file has more than {FILE_BYTES_MOST} bytes")]
    TooManyBytes,
    #[error("the picture has more than {PIXELS_MOST} pixels")]
    TooManyPixels,
    #[error("the file is not a PNG, JPEG or WebP file")]
    UnknownFormat,
    #[error("the picture moves")]
    Animated,
    #[error("the file is damaged or incomplete")]
    Damaged,
}

/// The picture in a file, scaled down to the size in which it is kept.
pub fn read(file: &[u8]) -> Result<Image, LogoError> {
    if file.len() > FILE_BYTES_MOST {
        return Err(LogoError::TooManyBytes);
    }
    let image = match file {
        [0x89, b'P', b'N', b'G', ..] => png(file)?,
        [0xff, 0xd8, 0xff, ..] => jpeg(file)?,
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => webp(file)?,
        _ => return Err(LogoError::UnknownFormat),
    };
    let (width, height) = image.fitted(WIDTH_MOST, HEIGHT_MOST);
    let is_larger = image.width() > width || image.height() > height;
    Ok(if is_larger { image.scaled_to(width, height) } else { image })
}

fn check_pixels(width: u64, height: u64) -> Result<(), LogoError> {
    if width.saturating_mul(height) > PIXELS_MOST { Err(LogoError::TooManyPixels) } else { Ok(()) }
}

fn png(file: &[u8]) -> Result<Image, LogoError> {
    let limits = png::Limits { bytes: PNG_BYTES_MOST };
    let mut decoder = png::Decoder::new_with_limits(Cursor::new(file), limits);
    decoder.set_ignore_text_chunk(true);
    decoder.set_ignore_iccp_chunk(true);
    decoder.set_transformations(png::Transformations::normalize_to_color8() | png::Transformations::ALPHA);
    let header = decoder.read_header_info().map_err(|_| LogoError::Damaged)?;
    check_pixels(header.width.into(), header.height.into())?;
    let mut reader = decoder.read_info().map_err(|_| LogoError::Damaged)?;
    if reader.info().animation_control.is_some() {
        return Err(LogoError::Animated);
    }
    let mut data = vec![0; reader.output_buffer_size().ok_or(LogoError::TooManyPixels)?];
    let frame = reader.next_frame(&mut data).map_err(|_| LogoError::Damaged)?;
    reader.finish().map_err(|_| LogoError::Damaged)?;
    data.truncate(frame.buffer_size());
    let pixels = match frame.color_type {
        png::ColorType::Rgba => data,
        png::ColorType::GrayscaleAlpha => {
            data.as_chunks().0.iter().flat_map(|[grey, alpha]| [*grey, *grey, *grey, *alpha]).collect()
        }
        _ => return Err(LogoError::Damaged),
    };
    Image::new(frame.width, frame.height, pixels).ok_or(LogoError::Damaged)
}

fn jpeg(file: &[u8]) -> Result<Image, LogoError> {
    let options = zune_core::options::DecoderOptions::default()
        .set_strict_mode(true)
        // The check below has our own limit.
        .set_max_width(u16::MAX.into())
        .set_max_height(u16::MAX.into())
        .jpeg_set_max_scans(JPEG_SCANS_MOST)
        .jpeg_set_out_colorspace(zune_core::colorspace::ColorSpace::RGBA);
    let mut decoder = zune_jpeg::JpegDecoder::new_with_options(zune_core::bytestream::ZCursor::new(file), options);
    decoder.decode_headers().map_err(|_| LogoError::Damaged)?;
    let (width, height) = decoder.info().map(|info| (info.width, info.height)).ok_or(LogoError::Damaged)?;
    check_pixels(width.into(), height.into())?;
    let pixels = decoder.decode().map_err(|_| LogoError::Damaged)?;
    let image = Image::new(width.into(), height.into(), pixels).ok_or(LogoError::Damaged)?;
    // Phones store a photograph as the sensor lay, and note how it was held.
    Ok(image.turned(decoder.exif().and_then(|exif| orientation(exif)).unwrap_or_default()))
}

/// The orientation that a camera noted, from 1 to 8.
fn orientation(exif: &[u8]) -> Option<u16> {
    const ENTRY_BYTES: usize = 12;
    const ORIENTATION: u16 = 0x0112;
    let is_little = exif.starts_with(b"II");
    let short = |at: usize| {
        let bytes = [*exif.get(at)?, *exif.get(at.checked_add(1)?)?];
        Some(if is_little { u16::from_le_bytes(bytes) } else { u16::from_be_bytes(bytes) })
    };
    // An offset of more than 64 KB lies outside of the block.
    let start = usize::from(short(if is_little { 4 } else { 6 })?);
    let entries = (0..usize::from(short(start)?)).map(|entry| start + 2 + entry * ENTRY_BYTES);
    entries.take_while(|at| *at < exif.len()).find(|at| short(*at) == Some(ORIENTATION)).and_then(|at| short(at + 8))
}

fn webp(file: &[u8]) -> Result<Image, LogoError> {
    check_webp_frames(file)?;
    let mut decoder = image_webp::WebPDecoder::new(Cursor::new(file)).map_err(|_| LogoError::Damaged)?;
    let (width, height) = decoder.dimensions();
    check_pixels(width.into(), height.into())?;
    if decoder.is_animated() {
        return Err(LogoError::Animated);
    }
    let mut data = vec![0; decoder.output_buffer_size().ok_or(LogoError::TooManyPixels)?];
    decoder.read_image(&mut data).map_err(|_| LogoError::Damaged)?;
    let pixels = match decoder.has_alpha() {
        true => data,
        false => data.as_chunks().0.iter().flat_map(|[red, green, blue]| [*red, *green, *blue, 255]).collect(),
    };
    Image::new(width, height, pixels).ok_or(LogoError::Damaged)
}

/// A WebP file may have one size in its header and another in the picture within, which the decoder compares only after
/// decoding. So the size of each picture is looked at first.
fn check_webp_frames(file: &[u8]) -> Result<(), LogoError> {
    let mut rest = &file[12..];
    // Each chunk has a name and a length; every step takes eight bytes or more from the file.
    while let [n1, n2, n3, n4, l1, l2, l3, l4, content @ ..] = rest {
        let length = u32::from_le_bytes([*l1, *l2, *l3, *l4]) as usize;
        if [*n1, *n2, *n3, *n4] == *b"VP8 "
            && let [_, _, _, _, _, _, w1, w2, h1, h2, ..] = content
        {
            let edge = |low: u8, high: u8| u64::from(u16::from_le_bytes([low, high]) & 0x3fff);
            check_pixels(edge(*w1, *w2), edge(*h1, *h2))?;
        }
        rest = content.get(length.saturating_add(length % 2)..).unwrap_or_default();
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A PNG file of one colour.
    fn png_file(width: u32, height: u32, pixel: [u8; 4]) -> Vec<u8> {
        Image::new(width, height, pixel.repeat((width * height) as usize)).unwrap().png()
    }

    /// A WebP file, lossless, of one colour.
    fn webp_file(width: u32, height: u32, pixel: [u8; 4]) -> Vec<u8> {
        let mut file = Vec::new();
        let pixels = pixel.repeat((width * height) as usize);
        image_webp::WebPEncoder::new(&mut file).encode(&pixels, width, height, image_webp::ColorType::Rgba8).unwrap();
        file
    }

    /// A chunk of a PNG file.
    fn chunk(name: &[u8; 4], content: &[u8]) -> Vec<u8> {
        let named = [name.as_slice(), content].concat();
        let sum = crc(&named);
        [&(content.len() as u32).to_be_bytes(), named.as_slice(), &sum.to_be_bytes()].concat()
    }

    fn crc(bytes: &[u8]) -> u32 {
        let step = |sum: u32, byte: &u8| {
            (0..8).fold(sum ^ u32::from(*byte), |sum, _| if sum & 1 == 1 { sum >> 1 ^ 0xedb8_8320 } else { sum >> 1 })
        };
        !bytes.iter().fold(u32::MAX, step)
    }

    /// A JPEG file of 8 by 8 grey pixels, the smallest that there is: one block, whose average alone is coded.
    fn jpeg_file() -> Vec<u8> {
        let quantisation = [&[0xff, 0xdb, 0, 67, 0][..], &[1; 64]].concat();
        let frame = [0xff, 0xc0, 0, 11, 8, 0, 8, 0, 8, 1, 1, 0x11, 0];
        // One code of one bit each: a difference of nothing, and the end of the block.
        let code = |class: u8| [&[0xff, 0xc4, 0, 20, class, 1][..], &[0; 15], &[0]].concat();
        let scan = [0xff, 0xda, 0, 8, 1, 1, 0, 0, 63, 0, 0x3f];
        [&[0xff, 0xd8][..], &quantisation, &frame, &code(0x00), &code(0x10), &scan, &[0xff, 0xd9]].concat()
    }

    #[test]
    fn pictures_of_three_formats_become_pixels_and_large_ones_are_scaled_down() {
        let red = [200, 10, 10, 255];
        assert_eq!(read(&png_file(3, 2, red)).unwrap().pixels(), red.repeat(6));
        assert_eq!(read(&webp_file(3, 2, [200, 10, 10, 128])).unwrap().pixels(), [200, 10, 10, 128].repeat(6));
        let grey = read(&jpeg_file()).unwrap();
        assert_eq!((grey.width(), grey.height(), &grey.pixels()[..4]), (8, 8, &[128, 128, 128, 255][..]));
        for (width, height, kept) in [(1_000, 1_000, (160, 160)), (2_000, 100, (480, 24)), (480, 160, (480, 160))] {
            let image = read(&png_file(width, height, red)).unwrap();
            assert_eq!((image.width(), image.height()), kept);
            assert_eq!(image.pixels()[..4], red);
        }
    }

    #[test]
    fn a_photograph_stands_as_the_phone_was_held() {
        let block = |order: &[u8], entry: &[u8]| [order, entry].concat();
        let little = block(b"II\x2a\0\x08\0\0\0\x01\0", b"\x12\x01\x03\0\x01\0\0\0\x06\0\0\0");
        let big = block(b"MM\0\x2a\0\0\0\x08\0\x01", b"\x01\x12\0\x03\0\0\0\x01\0\x08\0\0");
        assert_eq!((orientation(&little), orientation(&big)), (Some(6), Some(8)));
        for end in 0..little.len() {
            let _ = orientation(&little[..end]);
        }
        assert_eq!(orientation(&[0xff; 40]), None);
        let marked = [b"\xff\xe1\0\x1eExif\0\0", little.as_slice()].concat();
        let file = jpeg_file();
        let turned = [&file[..2], &marked, &file[2..]].concat();
        assert_eq!(read(&turned).unwrap(), read(&file).unwrap());
    }

    #[test]
    fn what_asks_for_too_much_is_refused_by_its_header() {
        let header = [&30_000_u32.to_be_bytes()[..], &30_000_u32.to_be_bytes(), &[8, 6, 0, 0, 0]].concat();
        let huge = [&png_file(1, 1, [0; 4])[..8], &chunk(b"IHDR", &header), &chunk(b"IDAT", &[0; 9])].concat();
        assert_eq!(read(&huge), Err(LogoError::TooManyPixels));
        let mut huge = jpeg_file();
        let frame = huge.windows(2).position(|pair| pair == [0xff, 0xc0]).unwrap();
        huge[frame + 5..frame + 9].copy_from_slice(&[0x75, 0x30, 0x75, 0x30]);
        assert_eq!(read(&huge), Err(LogoError::TooManyPixels));
        let lossy = [&[0x10, 0, 0, 0x9d, 0x01, 0x2a][..], &[0xff, 0x3f, 0xff, 0x3f], &[0; 22]].concat();
        let riff = |chunks: &[u8]| [b"RIFF", &(chunks.len() as u32 + 4).to_le_bytes()[..], b"WEBP", chunks].concat();
        let vp8 = [b"VP8 ", &(lossy.len() as u32).to_le_bytes()[..], &lossy].concat();
        assert_eq!(read(&riff(&vp8)), Err(LogoError::TooManyPixels));
        // The outer header says ten by ten.
        let vp8x = [b"VP8X", &10_u32.to_le_bytes()[..], &[0, 0, 0, 0, 9, 0, 0, 9, 0, 0]].concat();
        assert_eq!(read(&riff(&[vp8x, vp8].concat())), Err(LogoError::TooManyPixels));
        assert_eq!(read(&vec![0x89; FILE_BYTES_MOST + 1]), Err(LogoError::TooManyBytes));
    }

    #[test]
    fn pictures_that_move_and_other_files_are_refused() {
        let still = png_file(2, 2, [1, 2, 3, 255]);
        let control = [&1_u32.to_be_bytes()[..], &0_u32.to_be_bytes()].concat();
        let moving = [&still[..33], &chunk(b"acTL", &control), &still[33..]].concat();
        assert_eq!(read(&moving), Err(LogoError::Animated));
        let svg = b"<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'/>";
        for file in [&svg[..], b"", b"GIF89a..........", b"BM......", b"%PDF-1.4", b"<html>", &[0; 64], b"\xff\xd8"] {
            assert_eq!(read(file), Err(LogoError::UnknownFormat), "{file:?}");
        }
    }

    #[test]
    fn a_file_that_ends_early_or_is_changed_inside_is_refused_and_none_makes_us_panic() {
        let files = [png_file(40, 30, [9, 8, 7, 255]), jpeg_file(), webp_file(40, 30, [9, 8, 7, 200])];
        for file in &files {
            assert!(read(file).is_ok());
            assert_eq!(read(&file[..file.len() / 2]), Err(LogoError::Damaged));
            for at in 0..file.len() {
                let _ = read(&file[..at]);
                for byte in [0, 0x7f, 0xff] {
                    let mut changed = file.clone();
                    changed[at] = byte;
                    let _ = read(&changed);
                }
            }
        }
    }

    #[test]
    fn what_is_hidden_in_a_file_is_gone() {
        let still = png_file(2, 2, [1, 2, 3, 255]);
        let text = chunk(b"tEXt", b"Comment\0<script>alert(1)</script>");
        let hidden = [&still[..33], &text, &still[33..], b"PK\x03\x04<script>"].concat();
        let image = read(&hidden).unwrap();
        assert_eq!(image, read(&still).unwrap());
        assert_eq!(image.png(), still);
    }
}
