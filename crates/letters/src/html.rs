//! A letter as HTML: one column without tables, pictures, scripts or anything that is loaded. Styles are in the elements, since
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

#[derive(Template)]
#[template(path = "html.html")]
struct LetterPage<'a> {
    words: Words,
    language: &'static str,
    sender: String,
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
        sender_line: sender_line(words, face),
        light,
        dark,
        content,
    };
    render(&page)
}

#[expect(clippy::expect_used, reason = "the template writes to memory and calls nothing that fails")]
fn render(page: &LetterPage<'_>) -> String {
    page.render().expect("a letter is rendered to memory")
}
