use std::io::Cursor;

use proptest::prelude::*;
use qrcodegen::{Mask, QrCode, QrCodeEcc, QrSegment, Version};

use super::{layout::VERSIONS, png_file::PIXELS_PER_MODULE, *};

const SANDBOX: &str = concat!(
    "00020101021226690017ID.CO.SANDBOX.WWW01189360099900000000170215SBX0000000000010303UKE51440014ID.CO.Q",
    "RIS.WWW0215ID10999000000010303UKE52045999530336054061500005802ID5913TOKO UJI COBA6007JAKARTA61051219",
    "062280517PAY01HZX3T9K2Q7B50703A016304F492",
);

/// A decoded image: its width in pixels and whether each pixel is white.
fn decoded(file: &[u8]) -> (usize, Vec<bool>) {
    // Unless asked to, the decoder does not look at this checksum; others do.
    let mut options = png::DecodeOptions::default();
    options.set_ignore_adler32(false);
    let mut reader = png::Decoder::new_with_options(Cursor::new(file), options).read_info().unwrap();
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

/// The same picture as a general encoder writes it when it takes its time.
fn encoded_elsewhere(file: &[u8]) -> Vec<u8> {
    let (width, white) = decoded(file);
    let byte = |pixels: &[bool]| (0..8).fold(0, |byte, bit| byte << 1 | u8::from(*pixels.get(bit).unwrap_or(&true)));
    let data: Vec<u8> = white.chunks(width).flat_map(|row| row.chunks(8).map(byte)).collect();
    let mut elsewhere = Vec::new();
    let mut encoder = png::Encoder::new(&mut elsewhere, width as u32, width as u32);
    encoder.set_color(png::ColorType::Grayscale);
    encoder.set_depth(png::BitDepth::One);
    encoder.set_compression(png::Compression::Balanced);
    encoder.set_filter(png::Filter::NoFilter);
    encoder.write_header().unwrap().write_image_data(&data).unwrap();
    elsewhere
}

/// The code of `payload` as another encoder computes it from the same segments.
fn code_elsewhere(payload: &str) -> Option<QrCode> {
    let is_text = |character: char| !QrSegment::is_alphanumeric(character.encode_utf8(&mut [0; 4]));
    let from = payload.find(is_text).unwrap_or(payload.len());
    let upto = payload.rfind(is_text).map_or(from, |last| payload.ceil_char_boundary(last + 1));
    let from = if from < 10 { 0 } else { from };
    let upto = if payload.len() - upto < 10 { payload.len() } else { upto };
    let parts = [&payload[..from], &payload[from..upto], &payload[upto..]];
    let segments: Vec<QrSegment> = parts.into_iter().flat_map(QrSegment::make_segments).collect();
    let (smallest, largest, mask) = (Version::MIN, Version::MAX, Some(Mask::new(0)));
    QrCode::encode_segments_advanced(&segments, QrCodeEcc::Medium, smallest, largest, mask, false).ok()
}

/// The version of a code, after all its modules were compared with those that another encoder computes.
fn checked_version(payload: &str) -> Option<usize> {
    let (code, elsewhere) = (Modules::of(payload).ok(), code_elsewhere(payload));
    assert_eq!(code.is_some(), elsewhere.is_some(), "{payload}");
    let (code, elsewhere) = code.zip(elsewhere)?;
    assert_eq!(code.edge().cast_signed(), elsewhere.size(), "{payload}");
    for (x, y) in (0..code.edge()).flat_map(|y| (0..code.edge()).map(move |x| (x, y))) {
        let expected = elsewhere.get_module(x.cast_signed(), y.cast_signed());
        assert_eq!(code.is_black(x, y), expected, "{x} {y} of {payload}");
    }
    Some(code.version())
}

/// For each version, the shortest and longest payloads of one kind of characters that it may hold, and those around them.
fn payloads_around_limits(character: char, bits_per_hundred: usize) -> impl Iterator<Item = String> {
    let longest = move |version| (800 * layout::data_codewords(version) - 1_200) / bits_per_hundred;
    let lengths = (1..=VERSIONS).flat_map(move |version| longest(version) - 4..=longest(version) + 1);
    lengths.map(move |length| character.to_string().repeat(length))
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
    assert_eq!(longest.len(), domain::qris::MAX_CHARACTERS);
    for payload in [SANDBOX, &lowercase, &longest, &mixed, "1234567890", "https://lunas.example/p/abc"] {
        let (meta, text) = scanned(&png(payload).unwrap());
        assert_eq!(text, payload);
        // The format bits of level M are 00.
        assert_eq!((meta.ecc_level, meta.mask), (0, 0));
    }
}

#[test]
fn modules_are_those_of_another_encoder_up_to_the_limits_of_every_version() {
    for (character, bits_per_hundred) in [('7', 333), ('Q', 550), ('q', 800)] {
        let versions: Vec<_> =
            payloads_around_limits(character, bits_per_hundred).map(|text| checked_version(&text)).collect();
        for version in 1..=VERSIONS {
            let count = versions.iter().filter(|other| **other == Some(version)).count();
            assert!(count >= 2, "version {version} of {character}: {count}");
        }
        assert!(versions.contains(&None), "{character}");
    }
}

proptest! {
    #[test]
    fn modules_are_those_of_another_encoder_for_any_mix_of_segments(
        parts in proptest::collection::vec("[0-9]{0,300}|[0-9A-Z $%*+./:-]{0,200}|[a-z ]{0,100}|\\PC{0,20}", 0..8),
    ) {
        checked_version(&parts.concat());
    }
}

proptest! {
    // The scanner takes most of the time.
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn a_picture_of_any_text_scans_to_it(text in "[0-9A-Z.]{0,200}[A-Za-z é]{1,40}[0-9A-Z]{0,60}") {
        prop_assert_eq!(scanned(&png(&text).unwrap()).1, text);
    }
}

#[test]
fn a_picture_of_every_version_shows_its_modules_and_is_smaller_than_a_general_encoder_makes_it() {
    for version in 1..=VERSIONS {
        let payload: String = ('a'..='z').cycle().take(layout::data_codewords(version) - 3).collect();
        let (code, file) = (Modules::of(&payload).unwrap(), png(&payload).unwrap());
        assert_eq!(code.version(), version);
        let (width, white) = decoded(&file);
        assert_eq!(width, (code.edge() as usize + 2 * MARGIN_MODULES) * PIXELS_PER_MODULE);
        let module = |pixel: usize| (pixel / PIXELS_PER_MODULE).wrapping_sub(MARGIN_MODULES) as u32;
        for (index, white) in white.iter().enumerate() {
            let (x, y) = (index % width, index / width);
            assert_eq!(*white, !code.is_black(module(x), module(y)), "{x} {y} of version {version}");
        }
        let elsewhere = encoded_elsewhere(&file);
        assert_eq!(decoded(&elsewhere), (width, white));
        assert!(file.len() < elsewhere.len(), "{} of {}", file.len(), elsewhere.len());
    }
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
    for payload in [&named, "a12345678901234567890", "12345678901234567890a", "é1234567890ABCDEFGHIJé1234567890ABC"] {
        assert_eq!(scanned(&png(payload).unwrap()).1, *payload);
    }
}

#[test]
fn a_file_is_small_and_always_the_same() {
    let file = png(SANDBOX).unwrap();
    assert_eq!(file, png(SANDBOX).unwrap());
    assert!(file.len() < 600, "{}", file.len());
}

#[test]
fn a_text_too_long_for_any_code_is_rejected_and_an_empty_one_is_drawn() {
    assert_eq!(png(&"a".repeat(2_332)), Err(TooLong));
    assert_eq!(png(&"a".repeat(100_000)), Err(TooLong));
    assert!(png(&"a".repeat(2_331)).is_ok());
    assert!(png("").is_ok());
}
