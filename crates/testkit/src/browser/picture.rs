//! Reads QR codes in screenshots.

use std::io::Cursor;

/// The content of the first readable QR code in a PNG.
pub fn decode_qr(png: &[u8]) -> Option<String> {
    let (width, height, greys) = greys(png);
    let mut image = rqrr::PreparedImage::prepare_from_greyscale(width, height, |x, y| greys[y * width + x]);
    image.detect_grids().into_iter().find_map(|grid| Some(grid.decode().ok()?.1))
}

/// Width, height, and the brightness of each pixel; transparent pixels count as on white.
fn greys(png: &[u8]) -> (usize, usize, Vec<u8>) {
    let mut decoder = png::Decoder::new(Cursor::new(png));
    decoder.set_transformations(png::Transformations::normalize_to_color8() | png::Transformations::ALPHA);
    let mut reader = decoder.read_info().unwrap();
    let mut data = vec![0; reader.output_buffer_size().unwrap()];
    let frame = reader.next_frame(&mut data).unwrap();
    let grey = |pixel: &[u8]| {
        let (alpha, colours) = pixel.split_last().unwrap();
        let sum: usize = colours.iter().map(|colour| usize::from(*colour)).sum();
        let (mean, alpha) = (sum / colours.len(), usize::from(*alpha));
        u8::try_from((mean * alpha + 255 * (255 - alpha)) / 255).unwrap()
    };
    let pixels = data[..frame.buffer_size()].chunks_exact(frame.color_type.samples());
    (frame.width as usize, frame.height as usize, pixels.map(grey).collect())
}
