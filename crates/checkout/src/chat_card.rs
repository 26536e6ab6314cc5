//! Draws the picture that chats show of a link: shop, title and amount. A character that the font lacks is drawn as a replacement.

use picture::{Align, Area, Canvas, Colour, TextStyle, Weight};

/// The size that chats ask for.
pub(crate) const WIDTH: u32 = 1_200;
pub(crate) const HEIGHT: u32 = 630;

const GROUND: Colour = Colour::new(0xf4, 0xf2, 0xed);
const PAPER: Colour = Colour::WHITE;
const INK: Colour = Colour::new(0x1d, 0x1c, 0x1a);
const SOFT: Colour = Colour::new(0x5c, 0x59, 0x52);
const ACCENT: Colour = Colour::new(0x0b, 0x64, 0x53);
const LAB: Colour = Colour::new(0x7a, 0x4b, 0x00);
const LAB_TINT: Colour = Colour::new(0xfb, 0xee, 0xd5);

const MARGIN: u32 = 48;
const PADDING: u32 = 56;
const RADIUS: u32 = 32;
const MARK: u32 = 72;
const STRIPE: u32 = 56;

/// What the picture of a link shows. Each text is cut where it does not fit.
pub(crate) struct Card {
    pub(crate) shop: String,
    pub(crate) title: String,
    /// None where nothing can be paid.
    pub(crate) amount: Option<String>,
    pub(crate) note: String,
    /// Why no money moves; none where it is real.
    pub(crate) stripe: Option<String>,
}

const fn style(size: u32, line_height: u32, weight: Weight, colour: Colour) -> TextStyle {
    TextStyle { size, line_height, weight, align: Align::Left, colour }
}

impl Card {
    pub(crate) fn png(&self) -> Vec<u8> {
        let mut canvas = Canvas::new(WIDTH, HEIGHT, GROUND);
        let paper = canvas.area().inside(MARGIN);
        canvas.rectangle(paper, RADIUS, ACCENT);
        canvas.rectangle(Area { left: paper.left + 16, width: paper.width - 16, ..paper }, RADIUS, PAPER);
        let inner = Area { left: paper.left + PADDING, width: paper.width - 2 * PADDING, ..paper };
        self.head(&mut canvas, Area { top: inner.top + 44, height: MARK, ..inner });
        let title = style(64, 76, Weight::Bold, INK);
        canvas.text(Area { top: inner.top + 144, height: 152, ..inner }, title, &self.title);
        let amount = style(92, 108, Weight::Bold, ACCENT);
        canvas.text(
            Area { top: inner.top + 312, height: 108, ..inner },
            amount,
            self.amount.as_deref().unwrap_or_default(),
        );
        let note = style(34, 44, Weight::Regular, SOFT);
        canvas.text(Area { top: inner.top + 434, height: 44, ..inner }, note, &self.note);
        if let Some(stripe) = &self.stripe {
            let band = Area { top: 0, height: STRIPE - 16, ..canvas.area() };
            canvas.rectangle(band, 0, LAB_TINT);
            let style = TextStyle { align: Align::Centre, ..style(26, 40, Weight::Bold, LAB) };
            canvas.text(band, style, stripe);
        }
        canvas.png()
    }

    /// The first letter of the shop in a box, and its name.
    fn head(&self, canvas: &mut Canvas, area: Area) {
        let mark = Area { width: MARK, ..area };
        canvas.rectangle(mark, 16, ACCENT);
        let letter = self.shop.chars().next().map(|letter| letter.to_uppercase().to_string()).unwrap_or_default();
        let initial = TextStyle { align: Align::Centre, ..style(44, MARK, Weight::Bold, PAPER) };
        canvas.text(mark, initial, &letter);
        let beside = MARK + 24;
        let name = Area { left: area.left + beside, width: area.width - beside, ..area };
        canvas.text(name, style(40, MARK, Weight::Regular, INK), &self.shop);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn card(text: &str) -> Card {
        let text = || text.to_owned();
        Card { shop: text(), title: text(), amount: Some(text()), note: text(), stripe: Some(text()) }
    }

    #[test]
    fn every_text_is_drawn_into_a_picture_of_the_same_size() {
        for text in
            ["Kopi susu", "", "مقهى الصباح", "שלום", "👩\u{200d}🍳☕", "\u{0}\u{200f}", "咖啡", &"W".repeat(5_000)]
        {
            let png = card(text).png();
            assert_eq!(&png[..8], b"\x89PNG\r\n\x1a\n", "{text}");
            assert_eq!(png[16..24], [WIDTH.to_be_bytes(), HEIGHT.to_be_bytes()].concat(), "{text}");
        }
    }

    #[test]
    fn what_a_card_says_changes_its_picture() {
        assert_ne!(card("Kopi").png(), card("Teh").png());
        assert_eq!(card("Kopi").png(), card("Kopi").png());
    }
}
