//! What others read from the pictures: scanners, decoders and eyes.

use std::{io::Cursor, time::Instant};

use super::{qr_image::Modules, *};

const PAYLOAD: &str = concat!(
    "00020101021226690017ID.CO.SANDBOX.WWW01189360099900000000170215SBX0000000000010303UKE51440014ID.CO.Q",
    "RIS.WWW0215ID10999000000010303UKE52045999530336054061500005802ID5913TOKO UJI COBA6007JAKARTA61051219",
    "062280517PAY01HZX3T9K2Q7B50703A016304F492",
);

const INK: Colour = Colour::new(20, 20, 30);

/// The pixels of a PNG file, three bytes each, and its width.
fn decoded(file: &[u8]) -> (usize, Vec<[u8; 3]>) {
    let mut decoder = png::Decoder::new(Cursor::new(file));
    decoder.set_transformations(png::Transformations::EXPAND);
    let mut reader = decoder.read_info().unwrap();
    let mut data = vec![0; reader.output_buffer_size().unwrap()];
    let frame = reader.next_frame(&mut data).unwrap();
    assert_eq!((frame.color_type, frame.bit_depth), (png::ColorType::Rgb, png::BitDepth::Eight));
    (frame.width as usize, data.as_chunks().0.to_vec())
}

fn scanned(file: &[u8]) -> Vec<String> {
    let (width, pixels) = decoded(file);
    let luminance = |x: usize, y: usize| pixels[y * width + x][1];
    let mut image = rqrr::PreparedImage::prepare_from_greyscale(width, pixels.len() / width, luminance);
    image.detect_grids().iter().map(|grid| grid.decode().unwrap().1).collect()
}

/// Columns and rows of the first and last pixels that are not white.
fn inked(canvas: &Canvas) -> Option<(Area, usize)> {
    let (width, pixels) = decoded(&canvas.png());
    let inked: Vec<(usize, usize)> = (0..pixels.len())
        .filter(|index| pixels[*index] != [255; 3])
        .map(|index| (index % width, index / width))
        .collect();
    let (left, right) = (inked.iter().map(|at| at.0).min()?, inked.iter().map(|at| at.0).max()?);
    let (top, bottom) = (inked.iter().map(|at| at.1).min()?, inked.iter().map(|at| at.1).max()?);
    let edges = [left, top, right + 1 - left, bottom + 1 - top].map(|edge| edge as u32);
    Some((Area::new(edges[0], edges[1], edges[2], edges[3]), inked.len()))
}

fn style(size: u32, align: Align) -> TextStyle {
    TextStyle { size, line_height: size * 3 / 2, weight: Weight::Regular, align, colour: INK }
}

/// A card such as customers save: a heading, an amount, a code and a note.
fn card() -> Canvas {
    let mut canvas = Canvas::new(1_080, 1_440, Colour::WHITE);
    canvas.rectangle(Area::new(40, 40, 1_000, 1_360), 48, Colour::new(244, 246, 250));
    let heading = TextStyle { weight: Weight::Bold, ..style(56, Align::Centre) };
    canvas.text(Area::new(80, 80, 920, 84), heading, "Toko Buku Sinar Jaya");
    canvas.text(Area::new(80, 180, 920, 120), style(72, Align::Centre), "Rp150.000");
    canvas.qr_code(Area::new(140, 320, 800, 800), &Modules::of(PAYLOAD).unwrap());
    canvas.text(
        Area::new(80, 1_170, 920, 180),
        style(36, Align::Left),
        "Bayar sebelum 16 November 2026 pukul 21.15 WIB.",
    );
    canvas
}

#[test]
fn a_scanner_reads_a_code_within_a_card_back() {
    assert_eq!(scanned(&card().png()), [PAYLOAD]);
}

#[test]
fn a_code_that_has_no_room_is_not_drawn() {
    let mut canvas = Canvas::new(100, 100, Colour::WHITE);
    assert_eq!(canvas.qr_code(Area::new(0, 0, 60, 100), &Modules::of(PAYLOAD).unwrap()), 0);
    assert_eq!(inked(&canvas), None);
}

#[test]
fn the_same_input_gives_the_same_bytes() {
    assert_eq!(card().png(), card().png());
}

#[test]
fn a_card_is_drawn_within_its_budget_of_bytes_and_time() {
    let started = Instant::now();
    let file = card().png();
    println!("a card has {} bytes and took {:?}", file.len(), started.elapsed());
    assert!(file.len() < 60_000, "{}", file.len());
    // The two faces are most of what this crate adds to the binary.
    assert!(notosans::REGULAR_TTF.len() + notosans::BOLD_TTF.len() < 420_000);
}

#[test]
fn a_text_stays_inside_of_its_box() {
    let area = Area::new(30, 20, 200, 90);
    let long = "Jalan-jalan ke pasar membeli jeruk dan jambu ÅÇjgqy, besok kembali lagi membeli yang lain".repeat(3);
    let unbroken = "W".repeat(500);
    for text in ["Åjgy", &long, &unbroken, "j", "Rp1.000.000", "é😀한글 \u{202e}abc\u{0}\n\nxyz"] {
        for align in [Align::Left, Align::Centre, Align::Right] {
            let mut canvas = Canvas::new(300, 150, Colour::WHITE);
            let height = canvas.text(area, style(24, align), text);
            let (ink, _) = inked(&canvas).unwrap();
            assert!(height <= area.height && height.is_multiple_of(36), "{height}");
            assert!(ink.left >= area.left && ink.right() <= area.right(), "{ink:?} {text}");
            assert!(ink.top >= area.top && ink.bottom() <= area.bottom(), "{ink:?} {text}");
        }
    }
}

#[test]
fn a_text_is_wrapped_at_spaces_and_cut_where_the_room_ends() {
    let drawn = |height: u32, text: &str| {
        let mut canvas = Canvas::new(200, 300, Colour::WHITE);
        let used = canvas.text(Area::new(0, 0, 200, height), style(20, Align::Left), text);
        (used / 30, inked(&canvas).map(|(_, pixels)| pixels))
    };
    assert_eq!(drawn(300, "satu").0, 1);
    assert_eq!(drawn(300, "satu dua tiga empat lima enam").0, 2);
    assert_eq!(drawn(300, "satu  \n dua"), drawn(300, "satu dua"));
    assert_eq!(drawn(29, "satu"), (0, None));
    assert_eq!(drawn(300, ""), (0, None));
    // What is cut has an ellipsis and less ink than the whole text.
    let (lines, cut) = drawn(30, "satu dua tiga empat lima enam");
    assert_eq!(lines, 1);
    assert!(cut < drawn(300, "satu dua tiga empat lima enam").1);
    let width = |text| text_width(text, 20, Weight::Regular);
    assert!(width("satu dua tiga…") <= 200 && width("satu dua tiga empat lima…") > 200);
}

#[test]
fn widths_are_measured_as_they_are_drawn() {
    for text in ["Rp150.000", "Toko Buku", "AVAVAV", "iiii"] {
        for weight in [Weight::Regular, Weight::Bold] {
            let mut canvas = Canvas::new(600, 100, Colour::WHITE);
            canvas.text(Area::new(0, 0, 600, 80), TextStyle { weight, ..style(48, Align::Left) }, text);
            let (ink, _) = inked(&canvas).unwrap();
            // Letters have a little space beside them.
            let measured = text_width(text, 48, weight);
            assert!(ink.right() <= measured + 1 && ink.right() + 12 > measured, "{text}: {ink:?} {measured}");
        }
    }
    assert!(text_width("Toko", 48, Weight::Bold) > text_width("Toko", 48, Weight::Regular));
    assert!(text_width("Toko", 49, Weight::Regular) > text_width("Toko", 48, Weight::Regular));
}

#[test]
fn a_centred_text_has_as_much_room_on_both_sides() {
    let mut canvas = Canvas::new(400, 60, Colour::WHITE);
    canvas.text(canvas.area(), style(32, Align::Centre), "HOH");
    let (ink, _) = inked(&canvas).unwrap();
    assert!(ink.left.abs_diff(400 - ink.right()) <= 2, "{ink:?}");
}

#[test]
fn characters_that_the_font_lacks_are_drawn_as_a_replacement() {
    let ink = |text: &str| {
        let mut canvas = Canvas::new(200, 60, Colour::WHITE);
        canvas.text(canvas.area(), style(32, Align::Left), text);
        inked(&canvas)
    };
    assert!(ink("한").is_some());
    assert_eq!(ink("한"), ink("😀"));
    // Letters of our two languages, and what people type besides, are in the font.
    for character in ('!'..='~').chain("éèüñçøß–—‘’“”…•©®™€£¥°±×½".chars()) {
        assert_ne!(ink(&character.to_string()), ink("한"), "{character}");
    }
}

#[test]
fn marks_upon_marks_take_no_colour_from_other_texts() {
    let mut canvas = Canvas::new(600, 200, Colour::WHITE);
    let marks = "ÅW".to_owned() + &"\u{301}\u{308}\u{327}".repeat(400);
    canvas.text(Area::new(0, 0, 600, 100), style(60, Align::Left), &marks);
    let red = Colour::new(200, 0, 0);
    canvas.text(Area::new(0, 100, 600, 100), TextStyle { colour: red, ..style(60, Align::Left) }, "Rp150.000");
    let (width, pixels) = decoded(&canvas.png());
    let (above, below) = pixels.split_at(100 * width);
    assert!(above.contains(&[20, 20, 30]) && !above.contains(&[200, 0, 0]));
    assert!(below.iter().filter(|pixel| **pixel == [200, 0, 0]).count() > 1_000);
}

#[test]
fn shapes_fill_their_area_with_round_corners_and_nothing_outside_of_the_canvas() {
    let filled = |radius| {
        let mut canvas = Canvas::new(100, 100, Colour::WHITE);
        canvas.rectangle(Area::new(10, 20, 60, 40), radius, INK);
        inked(&canvas).unwrap()
    };
    assert_eq!(filled(0), (Area::new(10, 20, 60, 40), 60 * 40));
    let (area, pixels) = filled(20);
    assert_eq!(area, Area::new(10, 20, 60, 40));
    // Four corners lack (4 - π) × 20² pixels, those at the edge counted as filled.
    assert!((60 * 40 - 343..60 * 40 - 240).contains(&pixels), "{pixels}");
    let mut canvas = Canvas::new(100, 100, Colour::WHITE);
    canvas.rectangle(Area::new(90, 90, 500, 500), 4, INK);
    canvas.text(Area::new(80, 0, 300, 40), style(24, Align::Left), "outside of it");
    for (left, top) in [(60, 70), (150, 0), (0, 150)] {
        canvas.qr_code(Area::new(left, top, 130, 130), &Modules::of(PAYLOAD).unwrap());
    }
}
