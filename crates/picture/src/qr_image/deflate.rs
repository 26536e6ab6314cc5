//! Codes of a compressed stream (RFC 1951) of few bytes and few repeats, all of them known beforehand.
//!
//! Codes are given with the bit first that a reader sees first. Since the format fills bytes from their lowest bit, the bits of
//! each finished byte must be reversed.

use std::collections::BTreeMap;

use super::bits::Bits;

/// The longest repeat that [`Codes`] has; 258, the format's longest, has a symbol of its own.
pub(super) const LONGEST_REPEAT: usize = 257;

/// Symbols that are no bytes.
const END: usize = 256;
const FIRST_LENGTH: usize = 257;

/// Bits and how many they are.
pub(super) type Code = (u32, u32);

/// A prefix code: a symbol, and its bits.
type Symbols = BTreeMap<usize, Code>;

/// The lengths of codes are written in a code, too: its symbols in the order of the format, and the lengths of their own codes.
/// It has what can occur here: lengths up to 6, and runs of zeros, which are 17 and 18.
const LENGTHS: [usize; 18] = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1];
const LENGTHS_OF_LENGTHS: [u32; 18] = [0, 3, 3, 3, 0, 0, 0, 4, 0, 4, 0, 3, 0, 3, 0, 3, 0, 3];

pub(super) struct Codes {
    symbols: Symbols,
    distance: usize,
}

impl Codes {
    /// Codes for these bytes, whose codes are three of two bits and one of three, and for repeats of these lengths from that
    /// many bytes before. The first length gets the shortest code.
    pub(super) fn new(bytes: [u8; 4], distance: usize, repeats: &[usize]) -> Self {
        let mut rare: Vec<usize> = Vec::new();
        for symbol in repeats.iter().map(|length| length_symbol(*length).0).chain([END]) {
            if !rare.contains(&symbol) {
                rare.push(symbol);
            }
        }
        let last = rare.len() as u32 - 1;
        // Each code is one bit longer than the one before, so that the last two use up what is left.
        let rare = (0..).zip(rare).map(|(index, symbol)| (symbol, 4 + u32::min(index, last - 1)));
        let bytes = bytes.map(usize::from).into_iter().zip([2, 2, 2, 3]);
        Self { symbols: prefix_code(bytes.chain(rare)), distance }
    }

    pub(super) fn byte(&self, byte: u8) -> Code {
        self.symbols[&usize::from(byte)]
    }

    pub(super) fn end(&self) -> Code {
        self.symbols[&END]
    }

    pub(super) fn repeat(&self, length: usize) -> Code {
        let (symbol, length_rest) = length_symbol(length);
        let (_, distance_rest) = distance_symbol(self.distance);
        joined([self.symbols[&symbol], length_rest, (0, 1), distance_rest])
    }

    /// A block that is the last one, with a table of codes. What they stand for may follow.
    pub(super) fn block(&self) -> Bits {
        let (distance, _) = distance_symbol(self.distance);
        let symbols = self.symbols.keys().max().map_or(0, |last| last + 1);
        let lengths = (0..symbols).map(|symbol| self.symbols.get(&symbol).map_or(0, |code| code.1));
        // A code of one distance alone would not be a complete one, which some readers refuse.
        let lengths: Vec<u32> = lengths.chain(std::iter::repeat_n(0, distance)).chain([1, 1]).collect();
        let mut bits = Bits::with_capacity(64);
        let fields = [(1, 1), (2, 2), (symbols - FIRST_LENGTH, 5), (distance + 1, 5), (LENGTHS.len() - 4, 4)];
        let fields = fields.map(|(value, count)| number(value, count));
        let own_lengths = LENGTHS_OF_LENGTHS.map(|length| number(length as usize, 3));
        for (value, count) in fields.into_iter().chain(own_lengths).chain(table(&lengths)) {
            bits.push(value, count);
        }
        bits
    }
}

/// Several codes that follow each other.
pub(super) fn joined(codes: impl IntoIterator<Item = Code>) -> Code {
    codes.into_iter().fold((0, 0), |(bits, count), (more, added)| (bits << added | more, count + added))
}

/// The lengths of codes, of which most are zeros.
fn table(lengths: &[u32]) -> Vec<Code> {
    let code = prefix_code(LENGTHS.into_iter().zip(LENGTHS_OF_LENGTHS).filter(|(_, length)| *length > 0));
    let mut table = Vec::new();
    for run in lengths.chunk_by(|one, next| one + next == 0) {
        let mut zeros = if run[0] == 0 { run.len() } else { 0 };
        if zeros == 0 {
            table.push(code[&(run[0] as usize)]);
        }
        while zeros > 0 {
            let (symbol, taken, rest) = match zeros {
                11.. => (18, zeros.min(138), number(zeros.min(138) - 11, 7)),
                3..11 => (17, zeros, number(zeros - 3, 3)),
                _ => (0, 1, (0, 0)),
            };
            table.extend([code[&symbol], rest]);
            zeros -= taken;
        }
    }
    table
}

/// The codes of the given lengths, as the format assigns them.
fn prefix_code(lengths: impl Iterator<Item = (usize, u32)>) -> Symbols {
    let mut lengths: Vec<(u32, usize)> = lengths.map(|(symbol, length)| (length, symbol)).collect();
    lengths.sort_unstable();
    let (mut next, mut before) = (0, 0);
    let codes = lengths.into_iter().map(|(length, symbol)| {
        let code = next << (length - before);
        (next, before) = (code + 1, length);
        (symbol, (code, length))
    });
    codes.collect()
}

/// The symbol of a repeat's length, and the bits that tell it from others with that symbol.
fn length_symbol(length: usize) -> (usize, Code) {
    let above = length - 3;
    let rest = above.max(1).ilog2().saturating_sub(2);
    (FIRST_LENGTH + 4 * rest as usize + (above >> rest), number(above & ((1 << rest) - 1), rest))
}

/// The same for how many bytes back it begins.
fn distance_symbol(distance: usize) -> (usize, Code) {
    let above = distance - 1;
    let rest = above.max(1).ilog2().saturating_sub(1);
    (2 * rest as usize + (above >> rest), number(above & ((1 << rest) - 1), rest))
}

/// Numbers begin with their lowest bit, other than codes.
fn number(value: usize, count: u32) -> Code {
    ((value as u32).reverse_bits().unbounded_shr(u32::BITS - count), count)
}
