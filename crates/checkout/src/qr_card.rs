//! The card that a customer saves or shares: the QR code with the shop, the amount and the deadline, large enough for
//! another phone to scan from a picture.

use picture::{Align, Area, Canvas, Colour, TextStyle, Weight, qr_image::Modules};

use crate::pictures;

/// The size in pixels: four by five, as phones show pictures in chats.
const WIDTH: u32 = 1_080;
const HEIGHT: u32 = 1_350;
const MARGIN: u32 = 60;
const CODE_EDGE: u32 = 840;
const INK: Colour = Colour::new(0x1d, 0x1c, 0x1a);
const SOFT: Colour = Colour::new(0x5d, 0x59, 0x52);

/// What is on a card, in the customer's language.
pub(super) struct Card {
    pub(super) payload: String,
    pub(super) merchant: String,
    /// `Rp150.000`.
    pub(super) amount: String,
    /// Until when the code can be paid.
    pub(super) deadline: String,
    pub(super) reference: String,
    /// That no money moves, where it does not.
    pub(super) stripe: Option<String>,
}

impl Card {
    /// Identifies the card by what it shows.
    pub(super) fn key(&self) -> String {
        let Card { payload, merchant, amount, deadline, reference, stripe } = self;
        pictures::key([payload.as_str(), merchant, amount, deadline, reference, stripe.as_deref().unwrap_or_default()])
    }

    /// The card as a PNG file; none if the payload fits into no QR code.
    pub(super) fn png(&self) -> Option<Vec<u8>> {
        let modules = Modules::of(&self.payload).ok()?;
        let mut canvas = Canvas::new(WIDTH, HEIGHT, Colour::WHITE);
        let line = |top, height| Area::new(MARGIN, top, WIDTH - 2 * MARGIN, height);
        let style =
            |size, weight, colour| TextStyle { size, line_height: size * 5 / 4, weight, align: Align::Centre, colour };
        canvas.qr_code(Area::new((WIDTH - CODE_EDGE) / 2, 180, CODE_EDGE, CODE_EDGE), &modules);
        // A long name takes two lines, of which the second is within the white margin of the code.
        canvas.text(line(72, 150), style(60, Weight::Bold, INK), &self.merchant);
        canvas.text(line(1_006, 50), style(40, Weight::Bold, INK), "QRIS");
        canvas.text(line(1_060, 120), style(92, Weight::Bold, INK), &self.amount);
        canvas.text(line(1_184, 50), style(36, Weight::Regular, INK), &self.deadline);
        canvas.text(line(1_238, 44), style(30, Weight::Regular, SOFT), &self.reference);
        if let Some(stripe) = &self.stripe {
            canvas.text(line(1_288, 40), style(28, Weight::Regular, SOFT), stripe);
        }
        Some(canvas.png())
    }
}
