//! A letter as HTML: one column without tables, scripts or anything that is loaded. The one picture is a shop's logo, which is a part of
//! the letter. Styles are in the elements, since
//! many programs remove style sheets; the style sheet only adds the dark theme.

use askama::Template;
use domain::{
    colour::Colour,
    face::{Palette, Shade},
    language::Language,
};
use i18n_embed_fl::fl;

use crate::{
    compose::{sender_line, sender_name},
    content::Content,
    letter::Face,
    words::{Words, code},
};

/// The colours of letters whose sender asks for none, as on our pages.
const LIGHT: Shade =
    Shade { accent: Colour::new(0x0b, 0x64, 0x53), on_accent: Colour::WHITE, tint: Colour::new(0xe5, 0xf1, 0xed) };
const DARK: Shade = Shade {
    accent: Colour::new(0x6a, 0xd3, 0xb6),
    on_accent: Colour::new(0x05, 0x27, 0x1f),
    tint: Colour::new(0x1b, 0x33, 0x2c),
};

const LOGO_WIDTH_MOST: u32 = 160;
const LOGO_HEIGHT_MOST: u32 = 48;

#[derive(Template)]
#[template(path = "html.html")]
struct LetterPage<'a> {
    words: Words,
    language: &'static str,
    sender: String,
    /// The width and height of the logo as it is shown.
    logo: Option<(u32, u32)>,
    sender_line: String,
    light: Shade,
    dark: Shade,
    content: &'a Content,
}

pub(crate) fn html(words: Words, language: Language, face: &Face, content: &Content) -> String {
    let colour = face.shop.as_ref().and_then(|shop| shop.colour);
    let Palette { light, dark } = colour.map_or(Palette { light: LIGHT, dark: DARK }, Palette::of);
    let page = LetterPage {
        words,
        language: code(language),
        sender: sender_name(face),
        logo: face.shop.as_ref().and_then(|shop| shop.logo.as_ref()).map(|logo| fitted(logo.width, logo.height)),
        sender_line: sender_line(words, face),
        light,
        dark,
        content,
    };
    render(&page)
}

/// The size in which a logo of so many pixels is shown: it is kept with three pixels for each of these.
fn fitted(width: u32, height: u32) -> (u32, u32) {
    let scale = |length: u32| {
        let by_width = length * LOGO_WIDTH_MOST / width.max(1);
        let by_height = length * LOGO_HEIGHT_MOST / height.max(1);
        length.min(by_width).min(by_height).max(1)
    };
    (scale(width), scale(height))
}

#[expect(clippy::expect_used, reason = "the template writes to memory and calls nothing that fails")]
fn render(page: &LetterPage<'_>) -> String {
    page.render().expect("a letter is rendered to memory")
}
