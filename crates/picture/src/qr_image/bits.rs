//! A row of bits, packed into bytes: the first bit is the highest of the first byte.

/// How many bits wait until they are written together.
const WORD: u32 = u32::BITS;

#[derive(Clone)]
pub(super) struct Bits {
    bytes: Vec<u8>,
    /// The last `waiting` bits of this are not among the bytes yet; those above them are.
    word: u64,
    waiting: u32,
}

impl Bits {
    pub(super) fn with_capacity(bytes: usize) -> Self {
        Self { bytes: Vec::with_capacity(bytes), word: 0, waiting: 0 }
    }

    /// Appends the low `count` bits of a value, which has no others; at most 32.
    #[inline]
    pub(super) fn push(&mut self, value: u32, count: u32) {
        debug_assert!(count <= WORD && u64::from(value) >> count == 0, "{value} has more than {count} bits");
        self.word = self.word << count | u64::from(value);
        self.waiting += count;
        if self.waiting >= WORD {
            self.waiting -= WORD;
            self.bytes.extend_from_slice(&((self.word >> self.waiting) as u32).to_be_bytes());
        }
    }

    /// The last byte is filled up with zeros.
    pub(super) fn into_bytes(mut self) -> Vec<u8> {
        let rest = (self.word << (WORD - self.waiting)) as u32;
        self.bytes.extend_from_slice(&rest.to_be_bytes()[..self.waiting.div_ceil(8) as usize]);
        self.bytes
    }
}
