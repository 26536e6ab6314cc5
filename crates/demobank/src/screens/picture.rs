//! Finds the text of a QR code in a PNG picture, bounded in bytes and pixels.

use std::io::Cursor;

/// How long a file may be.
pub(super) const BYTES_MOST: usize = 4 * 1024 * 1024;
/// How many pixels a picture may have: a screenshot of a large phone has six million.
const PIXELS_MOST: u64 = 16_000_000;

/// The text of the first QR code that can be read. An error is a sentence about the picture.
pub(super) fn scanned(file: &[u8]) -> Result<String, &'static str> {
    let (width, height, greys) = greys(file)?;
    let mut image = rqrr::PreparedImage::prepare_from_greyscale(width, height, |x, y| greys[y * width + x]);
    let mut texts = image.detect_grids().into_iter().filter_map(|grid| Some(grid.decode().ok()?.1));
    texts.next().ok_or("There is no QR code in this picture that can be read.")
}

/// Width, height, and the brightness of each pixel. Transparent pixels count as on white.
fn greys(file: &[u8]) -> Result<(usize, usize, Vec<u8>), &'static str> {
    let unreadable = "This file is not a PNG picture that can be read.";
    let mut decoder = png::Decoder::new(Cursor::new(file));
    decoder.set_transformations(png::Transformations::normalize_to_color8() | png::Transformations::ALPHA);
    let mut reader = decoder.read_info().map_err(|_| unreadable)?;
    let (width, height) = (reader.info().width, reader.info().height);
    if u64::from(width) * u64::from(height) > PIXELS_MOST {
        return Err("This picture has more than 16 million pixels: cut out the QR code.");
    }
    let mut data = vec![0; reader.output_buffer_size().ok_or(unreadable)?];
    let frame = reader.next_frame(&mut data).map_err(|_| unreadable)?;
    let samples = frame.color_type.samples();
    let pixels = data[..frame.buffer_size()].chunks_exact(samples);
    let greys = pixels.map(grey).collect::<Vec<_>>();
    let (width, height) = (frame.width as usize, frame.height as usize);
    if greys.len() != width * height {
        return Err(unreadable);
    }
    Ok((width, height, greys))
}

/// The mean of the colours, as seen on white.
fn grey(pixel: &[u8]) -> u8 {
    let Some((alpha, colours)) = pixel.split_last() else { return u8::MAX };
    let sum: usize = colours.iter().map(|colour| usize::from(*colour)).sum();
    let (mean, alpha) = (sum / colours.len().max(1), usize::from(*alpha));
    u8::try_from((mean * alpha + 255 * (255 - alpha)) / 255).unwrap_or(u8::MAX)
}
