//! The few colours of a canvas, by numbers of one byte, and what becomes of them where another is laid over them.

/// Red, green and blue.
pub(crate) type Pixel = [u8; 3];

/// Opacities are from 0 to this: so few that a picture of some colours and soft edges has a hundred shades or two.
pub(crate) const OPAQUE: u8 = 15;

/// Soft edges add colours only while there are fewer than these. The numbers above are left to colours that are drawn with.
const WITH_SHADES_MOST: usize = 240;
const COLOURS_MOST: usize = 256;

#[derive(Default)]
pub(crate) struct ColourTable {
    colours: Vec<Pixel>,
}

/// A colour to draw with.
pub(crate) struct Ink {
    pub(crate) number: u8,
    /// For each colour below it and each opacity, the number of what they become; none before it is first needed.
    shades: [[Option<u8>; OPAQUE as usize + 1]; COLOURS_MOST],
}

impl ColourTable {
    pub(crate) fn colours(&self) -> &[Pixel] {
        &self.colours
    }

    pub(crate) fn ink(&mut self, colour: Pixel) -> Ink {
        let number = self.find(colour).unwrap_or_else(|| self.add(colour));
        Ink { number, shades: [[None; _]; _] }
    }

    /// What a colour becomes under an ink of this opacity. It has a number of its own as long as there are some; later it is the
    /// nearer of the two, so that edges are no longer soft.
    #[inline]
    pub(crate) fn shade(&mut self, below: u8, ink: &mut Ink, opacity: u8) -> u8 {
        *ink.shades[usize::from(below)][usize::from(opacity)].get_or_insert_with(|| {
            let shade = mix(self.colours[usize::from(below)], self.colours[usize::from(ink.number)], opacity);
            match self.find(shade) {
                Some(number) => number,
                None if self.colours.len() < WITH_SHADES_MOST => self.add(shade),
                None if opacity > OPAQUE / 2 => ink.number,
                None => below,
            }
        })
    }

    fn find(&self, colour: Pixel) -> Option<u8> {
        (0..=u8::MAX).zip(&self.colours).find(|(_, known)| **known == colour).map(|(number, _)| number)
    }

    fn add(&mut self, colour: Pixel) -> u8 {
        let number = self.colours.len();
        assert!(number < COLOURS_MOST, "a picture is drawn with too many colours");
        self.colours.push(colour);
        number as u8
    }
}

fn mix(below: Pixel, above: Pixel, opacity: u8) -> Pixel {
    let (opacity, all) = (u16::from(opacity), u16::from(OPAQUE));
    std::array::from_fn(|part| {
        let sum = u16::from(above[part]) * opacity + u16::from(below[part]) * (all - opacity);
        ((sum + all / 2) / all) as u8
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const WHITE: Pixel = [255; 3];
    const BLACK: Pixel = [0; 3];

    #[test]
    fn a_colour_has_one_number_whether_it_is_drawn_or_mixed() {
        let mut table = ColourTable::default();
        let (white, mut black) = (table.ink(WHITE), table.ink(BLACK));
        let shades = [0, OPAQUE, 5, 5].map(|opacity| table.shade(white.number, &mut black, opacity));
        assert_eq!(shades, [0, 1, 2, 2]);
        assert_eq!(table.colours(), [WHITE, BLACK, [170; 3]]);
        assert_eq!((table.ink([170; 3]).number, table.ink(BLACK).number), (2, 1));
    }

    #[test]
    fn a_full_table_has_hard_edges_and_room_for_colours_to_draw_with() {
        let mut table = ColourTable::default();
        let numbers: Vec<u8> = (0..240).map(|red| table.ink([red, 1, 1]).number).collect();
        assert_eq!(numbers, (0..240).collect::<Vec<u8>>());
        let mut ink = table.ink(WHITE);
        assert_eq!([7, 8, OPAQUE].map(|opacity| table.shade(9, &mut ink, opacity)), [9, 240, 240]);
        assert_eq!((table.ink(BLACK).number, table.colours().len()), (241, 242));
    }
}
