//! Turns a text into the black and white modules of a QR code.

use super::{
    bits::Bits,
    layout::{VERSIONS, data_codewords, layout},
};

/// Shorter runs of characters are not worth a segment of their own: every segment has a header of two bytes or more.
const SHORT_SEGMENT: usize = 10;

/// The characters that take five and a half bits, in the order of their values.
const ALPHANUMERIC: &[u8; 45] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ $%*+-./:";
const NOT_ALPHANUMERIC: u8 = u8::MAX;
const VALUES: [u8; 256] = values();

/// What fills the data codewords up.
const PADDING: [u8; 2] = [0xEC, 0x11];
const TERMINATOR_BITS: u32 = 4;

/// The text does not fit into the largest QR code. A QRIS payload always fits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("is too long for a QR code")]
pub struct TooLong;

/// The squares that a QR code consists of, without its white margin, for those who draw it into a larger picture.
#[derive(Clone)]
pub struct Modules {
    version: usize,
    /// A bit for each module, black ones being ones; each row begins a byte.
    rows: Vec<u8>,
}

impl Modules {
    pub fn of(payload: &str) -> Result<Self, TooLong> {
        let segments = segments(payload.as_bytes());
        let fits = |version: &usize| bits(&segments, *version).is_some_and(|bits| bits <= 8 * data_codewords(*version));
        let version = (1..=VERSIONS).find(fits).ok_or(TooLong)?;
        Ok(Self { version, rows: layout(version).draw(codewords(&segments, version)) })
    }

    /// How many modules an edge has, without the margin.
    pub fn edge(&self) -> u32 {
        layout(self.version).edge as u32
    }

    /// Whether the module in this column and row is black; those outside of the code are not.
    pub fn is_black(&self, column: u32, row: u32) -> bool {
        let inside = column < self.edge() && row < self.edge();
        let byte = || self.rows[row as usize * layout(self.version).row_bytes + column as usize / 8];
        inside && byte() >> (7 - column % 8) & 1 == 1
    }

    pub(super) fn version(&self) -> usize {
        self.version
    }

    /// The rows from above, each filled up to whole bytes with white.
    pub(super) fn rows(&self) -> impl Iterator<Item = &[u8]> {
        self.rows.chunks_exact(layout(self.version).row_bytes)
    }
}

#[derive(Clone, Copy)]
enum Mode {
    Numeric,
    Alphanumeric,
    Bytes,
}

impl Mode {
    fn of(text: &[u8]) -> Self {
        if text.iter().all(u8::is_ascii_digit) {
            Mode::Numeric
        } else if text.iter().all(is_alphanumeric) {
            Mode::Alphanumeric
        } else {
            Mode::Bytes
        }
    }

    fn indicator(self) -> u32 {
        match self {
            Mode::Numeric => 1,
            Mode::Alphanumeric => 2,
            Mode::Bytes => 4,
        }
    }

    /// How many bits the number of characters takes.
    fn count_bits(self, version: usize) -> u32 {
        let by_version = match self {
            Mode::Numeric => [10, 12, 14],
            Mode::Alphanumeric => [9, 11, 13],
            Mode::Bytes => [8, 16, 16],
        };
        by_version[(version + 7) / 17]
    }

    /// Characters are stored in groups of as many.
    fn group(self) -> usize {
        match self {
            Mode::Numeric => 3,
            Mode::Alphanumeric => 2,
            Mode::Bytes => 1,
        }
    }

    /// How many bits a group of so many characters takes.
    fn group_bits(self, characters: usize) -> usize {
        match self {
            Mode::Numeric => [0, 4, 7, 10][characters],
            Mode::Alphanumeric => [0, 6, 11][characters],
            Mode::Bytes => 8 * characters,
        }
    }

    /// A group of characters as one number.
    fn number(self, group: &[u8]) -> u32 {
        let digits = |base, character: &[u8]| {
            character.iter().fold(0, |number, character| number * base + u32::from(VALUES[usize::from(*character)]))
        };
        match self {
            Mode::Numeric => digits(10, group),
            Mode::Alphanumeric => digits(45, group),
            Mode::Bytes => u32::from(group[0]),
        }
    }
}

type Segment<'payload> = (Mode, &'payload [u8]);

/// A QR code stores capitals, digits and some signs in fewer bits than other text. A payload consists of them except
/// for the merchant's name and city, so only the segment around those is stored as text, and the code gets fewer,
/// larger modules.
fn segments(payload: &[u8]) -> Vec<Segment<'_>> {
    let is_text = |character: &u8| !is_alphanumeric(character);
    let from = payload.iter().position(is_text).unwrap_or(payload.len());
    let upto = payload.iter().rposition(is_text).map_or(from, |last| last + 1);
    let from = if from < SHORT_SEGMENT { 0 } else { from };
    let upto = if payload.len() - upto < SHORT_SEGMENT { payload.len() } else { upto };
    let parts = [&payload[..from], &payload[from..upto], &payload[upto..]];
    parts.into_iter().filter(|part| !part.is_empty()).map(|part| (Mode::of(part), part)).collect()
}

/// How many bits the segments take; `None` if one is too long for the number that says its length.
fn bits(segments: &[Segment<'_>], version: usize) -> Option<usize> {
    let bits = segments.iter().map(|(mode, text)| {
        let count = mode.count_bits(version);
        let groups = text.len() / mode.group() * mode.group_bits(mode.group());
        let all = 4 + count as usize + groups + mode.group_bits(text.len() % mode.group());
        (text.len() >> count == 0).then_some(all)
    });
    bits.sum()
}

/// The segments with their headers, and padding up to what the version holds.
fn codewords(segments: &[Segment<'_>], version: usize) -> Vec<u8> {
    let capacity = data_codewords(version);
    let mut bits = Bits::with_capacity(capacity);
    for (mode, text) in segments {
        bits.push(mode.indicator(), 4);
        bits.push(text.len() as u32, mode.count_bits(version));
        for group in text.chunks(mode.group()) {
            bits.push(mode.number(group), mode.group_bits(group.len()) as u32);
        }
    }
    bits.push(0, TERMINATOR_BITS);
    let mut codewords = bits.into_bytes();
    // If nearly all bits are taken, the terminator is shorter, or missing.
    codewords.truncate(capacity);
    let padding = capacity - codewords.len();
    codewords.extend(PADDING.iter().cycle().take(padding));
    codewords
}

fn is_alphanumeric(character: &u8) -> bool {
    VALUES[usize::from(*character)] != NOT_ALPHANUMERIC
}

const fn values() -> [u8; 256] {
    let mut values = [NOT_ALPHANUMERIC; 256];
    let mut value = 0;
    while value < ALPHANUMERIC.len() {
        values[ALPHANUMERIC[value] as usize] = value as u8;
        value += 1;
    }
    values
}
