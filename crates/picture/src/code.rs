//! A QR code alone, in as few bytes as a PNG file can have it: for pages that carry it inline on slow connections.

use domain::qr_image::{MARGIN_MODULES, Modules};

/// The edge of a module in pixels: large enough that a picture which a customer saves from the page can be scanned. With
/// one bit a pixel, it is half a byte.
const MODULE_PIXELS: usize = 4;
/// Half a byte of white pixels.
const WHITE: u8 = 0xF;

/// The QR code with its white margin as a PNG file. It has less than half the bytes of what `qr_image::png` makes, and
/// takes longer.
#[expect(clippy::expect_used, reason = "writing to memory cannot fail and the data has the size of the header")]
pub fn code_png(modules: &Modules) -> Vec<u8> {
    let margin = MARGIN_MODULES as u32;
    let edge = modules.edge() + 2 * margin;
    let half = |x: u32, y: u32| {
        let is_black = x >= margin && y >= margin && modules.is_black(x - margin, y - margin);
        if is_black { 0 } else { WHITE }
    };
    let row = |y| -> Vec<u8> { (0..edge).step_by(2).map(|x| half(x, y) << 4 | half(x + 1, y)).collect() };
    let data = (0..edge).flat_map(|y| row(y).repeat(MODULE_PIXELS)).collect::<Vec<u8>>();
    let pixels = edge * MODULE_PIXELS as u32;
    let mut file = Vec::new();
    let mut encoder = png::Encoder::new(&mut file, pixels, pixels);
    encoder.set_color(png::ColorType::Grayscale);
    encoder.set_depth(png::BitDepth::One);
    encoder.set_compression(png::Compression::Balanced);
    // Setting the compression also sets a filter, so this call has to come after it. Repeated rows compress best as they
    // are.
    encoder.set_filter(png::Filter::NoFilter);
    let mut writer = encoder.write_header().expect("the header is valid");
    writer.write_image_data(&data).expect("the data fits the header");
    writer.finish().expect("the image is complete");
    file
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use domain::qr_image;

    use super::*;

    const PAYLOAD: &str = concat!(
        "00020101021226690017ID.CO.SANDBOX.WWW01189360099900000000170215SBX0000000000010303UKE51440014ID.CO.Q",
        "RIS.WWW0215ID10999000000010303UKE52045999530336054061500005802ID5913TOKO UJI COBA6007JAKARTA61051219",
        "062280517PAY01HZX3T9K2Q7B50703A016304F492",
    );

    fn pixels(file: &[u8]) -> Vec<u8> {
        let mut reader = png::Decoder::new(Cursor::new(file)).read_info().unwrap();
        let mut data = vec![0; reader.output_buffer_size().unwrap()];
        let frame = reader.next_frame(&mut data).unwrap();
        // The last half byte of a row is no pixel.
        data.chunks(frame.line_size).flat_map(|row| row[..frame.width as usize / 8].to_vec()).collect()
    }

    #[test]
    fn it_is_the_same_picture_in_less_than_half_the_bytes() {
        let (small, usual) = (code_png(&Modules::of(PAYLOAD).unwrap()), qr_image::png(PAYLOAD).unwrap());
        assert_eq!(pixels(&small), pixels(&usual));
        assert!(2 * small.len() < usual.len(), "{} of {}", small.len(), usual.len());
    }
}
