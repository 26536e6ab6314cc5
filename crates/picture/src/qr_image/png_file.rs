//! Writes a QR code as a PNG file of one bit per pixel.
//!
//! A general compressor looks for what repeats. Here that is known: a byte is two modules of four pixels, so only four bytes
//! occur; a row of modules is four rows of pixels; and the margins are white. So each row of modules is written as codes of two
//! or three bits for its bytes, and one reference for its three repetitions.

use std::sync::OnceLock;

use super::{
    bits::Bits,
    code::Modules,
    deflate::{Code, Codes, LONGEST_REPEAT, joined},
    layout::VERSIONS,
};

/// The white border that scanners need, in modules; the QR standard asks for four.
pub const MARGIN_MODULES: usize = 4;

/// The edge of a module in pixels. With one bit per pixel, four pixels are half a byte. With eight, the file was half as large
/// again, and scanners did no better.
pub(super) const PIXELS_PER_MODULE: usize = 4;

/// A byte has two modules, and white ones have bits.
const WHITE: u8 = 0xFF;
const LEFT_WHITE: u8 = 0xF0;
const RIGHT_WHITE: u8 = 0x0F;
const BLACK: u8 = 0;

/// A code is read by eight modules at a time.
const BYTES_PER_CHUNK: usize = 4;

/// A row of pixels begins with the filter, which is none, and the margin.
const NO_FILTER: u8 = BLACK;
const MARGIN_BYTES: usize = MARGIN_MODULES / 2;
const ROW_START: usize = 1 + MARGIN_BYTES;

const SIGNATURE: [u8; 8] = *b"\x89PNG\r\n\x1A\n";
/// How deep a pixel is, that it is grey, and the usual choices for the rest.
const FORMAT: [u8; 5] = [1, 0, 0, 0, 0];
const DATA_TYPE: &[u8; 4] = b"IDAT";
/// The usual method and window, and no preset dictionary.
const ZLIB: [u8; 2] = [0x78, 0x01];
/// A section without data, with its checksum.
const FILE_END: &[u8; 12] = b"\0\0\0\0IEND\xAE\x42\x60\x82";
/// The two checksums of the data in bytes.
const CHECKSUMS: usize = 8;
const ADLER_MODULUS: u64 = 65_521;
static CRC: crc::Crc<u32, crc::Table<16>> = crc::Crc::<u32, crc::Table<16>>::new(&crc::CRC_32_ISO_HDLC);

/// Eight modules, which are four bytes of a row of pixels.
struct Chunk {
    code: Code,
    /// How much is missing in the bytes for them to be white: in all, and each times its place among the four.
    missing: u32,
    missing_by_place: u32,
}

/// The parts of a file that depend on the version alone.
struct Frame {
    /// From the signature to the first compressed bit.
    start: Vec<u8>,
    /// Compressed: the upper margin, and the left one of the first row.
    above: Bits,
    /// A chunk for each pattern of eight modules.
    chunks: Box<[Chunk; 256]>,
    /// How many bits of the code of a row's last chunk are for modules beyond the row.
    beyond: u32,
    /// What follows a row of modules: its right margin, its repetitions, and the left margin of the next.
    repeat: Code,
    /// The rest of the lower margin.
    below: Vec<Code>,
    /// A row of pixels in bytes.
    row: u64,
    /// All rows in bytes, and their checksum if the picture were white, as two sums.
    bytes: u64,
    white: (u64, u64),
}

/// The PNG file of a code.
pub(super) fn png(code: &Modules) -> Vec<u8> {
    static FRAMES: [OnceLock<Frame>; VERSIONS] = [const { OnceLock::new() }; VERSIONS];
    let frame = FRAMES[code.version() - 1].get_or_init(|| Frame::of(code.edge() as usize));
    let (data, checksum) = frame.data(code);
    let mut file = Vec::with_capacity(frame.start.len() + data.len() + CHECKSUMS + FILE_END.len());
    file.extend_from_slice(&frame.start);
    file.extend(data.iter().map(|byte| byte.reverse_bits()));
    file.extend_from_slice(&checksum.to_be_bytes());
    let from = frame.start.len() - ZLIB.len();
    let length = (file.len() - from) as u32;
    file[from - 8..from - 4].copy_from_slice(&length.to_be_bytes());
    let check = CRC.checksum(&file[from - 4..]);
    file.extend_from_slice(&check.to_be_bytes());
    file.extend_from_slice(FILE_END);
    file
}

impl Frame {
    fn of(edge: usize) -> Self {
        let pixels = PIXELS_PER_MODULE * (edge + 2 * MARGIN_MODULES);
        let row = 1 + pixels.div_ceil(8);
        let margin_rows = PIXELS_PER_MODULE * MARGIN_MODULES;
        let between = pieces((PIXELS_PER_MODULE - 1) * row + MARGIN_BYTES + ROW_START);
        let above = pieces((margin_rows - 1) * row + ROW_START);
        let below = pieces((margin_rows - 1) * row);
        let bytes = [BLACK, RIGHT_WHITE, WHITE, LEFT_WHITE];
        let codes = Codes::new(bytes, row, &[&between[..], &above, &below].concat());
        let repeats = |lengths: &[usize]| -> Vec<Code> { lengths.iter().map(|length| codes.repeat(*length)).collect() };
        let white = |bytes| std::iter::repeat_n(codes.byte(WHITE), bytes);

        let mut upper = codes.block();
        for (bits, count) in [codes.byte(NO_FILTER)].into_iter().chain(white(row - 1)).chain(repeats(&above)) {
            upper.push(bits, count);
        }
        let size = (pixels as u32).to_be_bytes();
        let header = section(b"IHDR", &[&size[..], &size, &FORMAT].concat());
        Self {
            // The length of the data is filled in when it is known.
            start: [&SIGNATURE[..], &header, &[0; 4], DATA_TYPE, &ZLIB].concat(),
            above: upper,
            chunks: Box::new(std::array::from_fn(|modules| Chunk::of(modules as u8, &codes))),
            beyond: (edge.next_multiple_of(8) - edge) as u32 / 2 * codes.byte(WHITE).1,
            repeat: joined(repeats(&between)),
            below: white(row - ROW_START).chain(repeats(&below)).chain([codes.end()]).collect(),
            row: row as u64,
            bytes: (row * pixels) as u64,
            white: white_sums(row, pixels),
        }
    }

    /// The compressed rows with their checksum.
    fn data(&self, code: &Modules) -> (Vec<u8>, u32) {
        let mut bits = self.above.clone();
        let (mut sum, mut sum_of_sums) = self.white;
        // A byte counts in the sum once, and in the sum of sums once for each byte from itself to the end.
        let mut to_end = self.bytes - (PIXELS_PER_MODULE * MARGIN_MODULES) as u64 * self.row - ROW_START as u64;
        for row in code.rows() {
            let (mut missing, mut missing_by_place) = (0, 0);
            for (index, modules) in row.iter().enumerate() {
                let chunk = &self.chunks[usize::from(*modules)];
                let beyond = if index + 1 == row.len() { self.beyond } else { 0 };
                bits.push(chunk.code.0 >> beyond, chunk.code.1 - beyond);
                missing += chunk.missing;
                missing_by_place += chunk.missing_by_place + (BYTES_PER_CHUNK * index) as u32 * chunk.missing;
            }
            bits.push(self.repeat.0, self.repeat.1);
            let (missing, missing_by_place) = (u64::from(missing), u64::from(missing_by_place));
            for _ in 0..PIXELS_PER_MODULE {
                sum -= missing;
                sum_of_sums -= to_end * missing - missing_by_place;
                to_end -= self.row;
            }
        }
        for (code, count) in &self.below {
            bits.push(*code, *count);
        }
        (bits.into_bytes(), (sum_of_sums % ADLER_MODULUS) as u32 * (1 << 16) + (sum % ADLER_MODULUS) as u32)
    }
}

impl Chunk {
    fn of(modules: u8, codes: &Codes) -> Self {
        let missing = [6, 4, 2, 0].map(|shift| match modules >> shift & 3 {
            0 => 0,
            1 => RIGHT_WHITE,
            2 => LEFT_WHITE,
            _ => WHITE,
        });
        Self {
            code: joined(missing.map(|missing| codes.byte(WHITE - missing))),
            missing: missing.into_iter().map(u32::from).sum(),
            missing_by_place: (0..).zip(missing).map(|(place, missing)| place * u32::from(missing)).sum(),
        }
    }
}

/// The least number of repeats, about as long as each other, that have so many bytes together.
fn pieces(bytes: usize) -> Vec<usize> {
    let pieces = bytes.div_ceil(LONGEST_REPEAT);
    (0..pieces).map(|piece| (bytes + piece) / pieces).collect()
}

/// The two sums of an Adler-32 checksum over a white picture, before their remainders are taken.
fn white_sums(row: usize, pixels: usize) -> (u64, u64) {
    let bytes = (0..row * pixels).map(|index| if index % row == 0 { NO_FILTER } else { WHITE });
    bytes.fold((1, 0), |(sum, sum_of_sums), byte| {
        let sum = sum + u64::from(byte);
        (sum, sum_of_sums + sum)
    })
}

/// A section of a PNG file.
fn section(name: &[u8; 4], data: &[u8]) -> Vec<u8> {
    let named = [name, data].concat();
    [&(data.len() as u32).to_be_bytes()[..], &named, &CRC.checksum(&named).to_be_bytes()].concat()
}
