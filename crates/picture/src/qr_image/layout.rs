//! What all QR codes of one size share: where each bit of the codewords is drawn, and how they are secured against errors.
//!
//! Error correction is always of level M, and the mask is always 0: to try all eight would take most of the time, and today's
//! scanners read any of them. What does not depend on the payload is computed when a size is first used.

use std::sync::OnceLock;

use qrcodegen::{Mask, QrCode, QrCodeEcc, Version};

/// The sizes of codes are versions from 1 to this.
pub(super) const VERSIONS: usize = 40;

/// For each version: all codewords, at level M the blocks that they are in, and those of a block that correct errors.
const CODEWORDS: [usize; VERSIONS] = [
    26, 44, 70, 100, 134, 172, 196, 242, 292, 346, 404, 466, 532, 581, 655, 733, 815, 901, 991, 1085, 1156, 1258, 1364,
    1474, 1588, 1706, 1828, 1921, 2051, 2185, 2323, 2465, 2611, 2761, 2876, 3034, 3196, 3362, 3532, 3706,
];
const BLOCKS: [usize; VERSIONS] = [
    1, 1, 1, 2, 2, 4, 4, 4, 5, 5, 5, 8, 9, 9, 10, 10, 11, 13, 14, 16, 17, 17, 18, 20, 21, 23, 25, 26, 28, 29, 31, 33,
    35, 37, 38, 40, 43, 45, 47, 49,
];
const CORRECTION: [usize; VERSIONS] = [
    10, 16, 26, 18, 24, 16, 18, 22, 22, 26, 30, 22, 22, 24, 24, 28, 28, 26, 26, 26, 26, 28, 28, 28, 28, 28, 28, 28, 28,
    28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28,
];

/// The row and the column of the timing pattern.
const TIMING: usize = 6;

/// How many bytes of payload, headers and padding a version holds.
pub(super) const fn data_codewords(version: usize) -> usize {
    CODEWORDS[version - 1] - CORRECTION[version - 1] * BLOCKS[version - 1]
}

/// Up to 32 codewords, the first of them in the highest byte of the first number. No block has more for correction.
type Remainder = [u128; 2];

pub(super) struct Layout {
    /// How many modules an edge has.
    pub(super) edge: usize,
    /// How many bytes a row of modules takes; the last one is filled up with white.
    pub(super) row_bytes: usize,
    /// The rows of the code whose codewords are all zero, black modules being ones. It has the mask already.
    blank: Vec<u8>,
    /// For each bit of `blank`, the bit among the codewords that inverts it. Bits that never change name the one after the last.
    sources: Vec<[u16; 8]>,
    /// How many data codewords each block has, and how many for correction follow.
    blocks: Vec<usize>,
    correction: usize,
    /// What each value of the highest codeword leaves when a polynomial is divided by the generator.
    remainders: Box<[Remainder; 256]>,
}

/// The layout of a version, from 1 to [`VERSIONS`].
pub(super) fn layout(version: usize) -> &'static Layout {
    static LAYOUTS: [OnceLock<Layout>; VERSIONS] = [const { OnceLock::new() }; VERSIONS];
    LAYOUTS[version - 1].get_or_init(|| Layout::of(version))
}

impl Layout {
    fn of(version: usize) -> Self {
        let (blocks, correction) = (BLOCKS[version - 1], CORRECTION[version - 1]);
        let data = data_codewords(version);
        let edge = 17 + 4 * version;
        let row_bytes = edge.div_ceil(8);
        let code = QrCode::encode_codewords(
            Version::new(version as u8),
            QrCodeEcc::Medium,
            &vec![0; data],
            Some(Mask::new(0)),
        );
        let black = |bit: usize| code.get_module((bit % (8 * row_bytes)) as i32, (bit / (8 * row_bytes)) as i32);
        let byte = |byte: usize| (0..8).fold(0, |bits, bit| bits << 1 | u8::from(black(8 * byte + bit)));
        // The first blocks are shorter by one than the others.
        let blocks: Vec<usize> = (0..blocks).map(|block| (data + block) / blocks).collect();
        Self {
            edge,
            row_bytes,
            blank: (0..edge * row_bytes).map(byte).collect(),
            sources: sources(version, &stream(&blocks, correction)),
            blocks,
            correction,
            remainders: remainders(correction),
        }
    }

    /// The rows of the code that has these data codewords.
    pub(super) fn draw(&self, mut codewords: Vec<u8>) -> Vec<u8> {
        let mut start = 0;
        for length in &self.blocks {
            let remainder = self.remainder(&codewords[start..start + length]);
            codewords.extend_from_slice(&remainder[..self.correction]);
            start += length;
        }
        // A byte for each bit, and one for modules that never change: to pick them one by one is then a single look-up.
        let mut bits = vec![0; 8 * codewords.len() + 1];
        for (bits, byte) in bits.as_chunks_mut::<8>().0.iter_mut().zip(codewords) {
            *bits = std::array::from_fn(|bit| byte >> (7 - bit) & 1);
        }
        let inverted = |sources: &[u16; 8]| sources.iter().fold(0, |byte, bit| byte << 1 | bits[usize::from(*bit)]);
        self.blank.iter().zip(&self.sources).map(|(blank, sources)| blank ^ inverted(sources)).collect()
    }

    fn remainder(&self, block: &[u8]) -> [u8; 32] {
        let [mut high, mut low]: Remainder = [0; 2];
        for codeword in block {
            let [next_high, next_low] = self.remainders[usize::from(codeword ^ (high >> 120) as u8)];
            high = (high << 8 | low >> 120) ^ next_high;
            low = low << 8 ^ next_low;
        }
        let mut codewords = [0; 32];
        codewords[..16].copy_from_slice(&high.to_be_bytes());
        codewords[16..].copy_from_slice(&low.to_be_bytes());
        codewords
    }
}

/// The codewords in the order in which they are drawn: the first ones of all blocks, the second ones, and so on.
fn stream(blocks: &[usize], correction: usize) -> Vec<usize> {
    let data: usize = blocks.iter().sum();
    let starts = blocks.iter().scan(0, |next, length| Some(std::mem::replace(next, *next + length)));
    let blocks: Vec<_> = starts.zip(blocks).collect();
    let longest = blocks.iter().map(|(_, length)| **length).max().unwrap_or_default();
    let nth = |n: usize| blocks.iter().filter(move |(_, length)| n < **length).map(move |(start, _)| start + n);
    let nth_correction = |n: usize| (0..blocks.len()).map(move |block| data + block * correction + n);
    (0..longest).flat_map(nth).chain((0..correction).flat_map(nth_correction)).collect()
}

/// Walks over the modules as the standard does, in strips of two columns from the right, up and down in turn, and notes which
/// bit of which codeword each takes.
fn sources(version: usize, stream: &[usize]) -> Vec<[u16; 8]> {
    let edge = 17 + 4 * version;
    let centres = alignment_centres(version);
    let row_bytes = edge.div_ceil(8);
    let unchanged = (8 * stream.len()) as u16;
    let mut sources = vec![[unchanged; 8]; edge * row_bytes];
    let mut bits = stream.iter().flat_map(|codeword| (0..8).map(move |bit| (8 * codeword + bit) as u16));
    for strip in 0..edge / 2 {
        let right = edge - 1 - 2 * strip;
        // No strip has the column of the timing pattern.
        let right = if right <= TIMING { right - 1 } else { right };
        for step in 0..edge {
            let y = if strip % 2 == 0 { edge - 1 - step } else { step };
            for x in [right, right - 1] {
                if !is_function(x, y, version, &centres) {
                    // A few modules at the end may remain as they are.
                    sources[y * row_bytes + x / 8][x % 8] = bits.next().unwrap_or(unchanged);
                }
            }
        }
    }
    sources
}

/// Whether a module belongs to the patterns by which scanners find a code, or says its version or format.
fn is_function(x: usize, y: usize, version: usize, centres: &[usize]) -> bool {
    let edge = 17 + 4 * version;
    let (low, high) = (x.min(y), x.max(y));
    // In three corners, with the format beside them; from version 7 on, the version is told beside two of them.
    let is_finder = high <= 8 || (low <= 8 && high >= edge - 8);
    let is_version = version >= 7 && low <= 5 && high >= edge - 11;
    // Finders take the places of three alignment patterns.
    let near = |at: usize| centres.iter().find(|centre| at.abs_diff(**centre) <= 2);
    let is_alignment = near(x).zip(near(y)).is_some_and(|(x, y)| {
        let (low, high) = (*x.min(y), *x.max(y));
        low > TIMING || (high > TIMING && high < edge - 1 - TIMING)
    });
    x == TIMING || y == TIMING || is_finder || is_version || is_alignment
}

/// The rows, which are also the columns, on which alignment patterns have their centres.
fn alignment_centres(version: usize) -> Vec<usize> {
    if version == 1 {
        return Vec::new();
    }
    let (count, last) = (version / 7 + 2, 4 * version + 10);
    let step = (8 * version + 3 * count + 5) / (4 * count - 4) * 2;
    let mut centres: Vec<usize> = (0..count - 1).map(|index| last - index * step).collect();
    centres.push(TIMING);
    centres
}

/// The products of the generator polynomial, without its leading term, and each possible codeword.
fn remainders(degree: usize) -> Box<[Remainder; 256]> {
    let mut generator = [0_u8; 32];
    generator[degree - 1] = 1;
    let mut root = 1;
    for _ in 0..degree {
        for index in 0..degree {
            generator[index] = product(generator[index], root) ^ generator[index + 1];
        }
        root = product(root, 2);
    }
    let times = |terms: &[u8], factor| terms.iter().fold(0, |sum, term| sum << 8 | u128::from(product(*term, factor)));
    let (high, low) = generator.split_at(16);
    Box::new(std::array::from_fn(|factor| [times(high, factor as u8), times(low, factor as u8)]))
}

/// Multiplies in the field of 256 elements that the standard names.
fn product(left: u8, right: u8) -> u8 {
    const MODULUS: u8 = 0x1D;
    (0..8).rev().fold(0, |sum: u8, bit| {
        let doubled = (sum << 1) ^ ((sum >> 7) * MODULUS);
        doubled ^ ((right >> bit & 1) * left)
    })
}
