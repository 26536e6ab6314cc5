//! The few colours of a picture, and the picture as their numbers.

use std::collections::HashMap;

type Pixel = [u8; 3];

pub(crate) struct ColourTable {
    pub(crate) colours: Vec<Pixel>,
    /// The number of each pixel's colour, row by row.
    pub(crate) numbers: Vec<u8>,
    known: HashMap<Pixel, u8>,
}

impl ColourTable {
    /// None where the picture has more colours than a table.
    pub(crate) fn of(pixels: &[u8], width: usize) -> Option<ColourTable> {
        let numbers = Vec::with_capacity(pixels.len() / 3);
        let mut table = ColourTable { colours: Vec::new(), numbers, known: HashMap::new() };
        let mut above: &[u8] = &[];
        for row in pixels.chunks_exact(width * 3) {
            if row == above {
                let repeated = table.numbers.len() - width;
                table.numbers.extend_from_within(repeated..);
            } else {
                table.add_row(row.as_chunks().0)?;
                above = row;
            }
        }
        Some(table)
    }

    fn add_row(&mut self, row: &[Pixel]) -> Option<()> {
        for run in row.chunk_by(|one, next| one == next) {
            let number = self.number(run[0])?;
            self.numbers.resize(self.numbers.len() + run.len(), number);
        }
        Some(())
    }

    /// The number of a colour, which is one byte; none for the 257th colour.
    fn number(&mut self, pixel: Pixel) -> Option<u8> {
        if let Some(number) = self.known.get(&pixel) {
            return Some(*number);
        }
        let number = u8::try_from(self.colours.len()).ok()?;
        self.colours.push(pixel);
        self.known.insert(pixel, number);
        Some(number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shades(count: u16) -> Vec<u8> {
        (0..count).flat_map(|shade| [shade.to_be_bytes()[0], shade.to_be_bytes()[1], 9]).collect()
    }

    #[test]
    fn every_pixel_has_the_number_of_its_colour() {
        let (red, blue) = ([255, 0, 0], [0, 0, 255]);
        let table = ColourTable::of([red, red, blue, red, red, blue, blue, red, red].as_flattened(), 3).unwrap();
        assert_eq!((table.colours, table.numbers), (vec![red, blue], vec![0, 0, 1, 0, 0, 1, 1, 0, 0]));
    }

    #[test]
    fn a_table_has_256_colours_at_most() {
        assert_eq!(ColourTable::of(&shades(256), 16).unwrap().colours.len(), 256);
        assert!(ColourTable::of(&shades(272), 16).is_none());
    }
}
