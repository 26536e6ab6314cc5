//! A shop's face on the checkout's pages: its logo, a style sheet with its colour, and the link to reach it.
//!
//! The colour comes as a style sheet at an address of its own, so the content security policy allows no style but from our
//! own files. The sheet depends on nothing but the colour: it is made without a read, and shops of one colour share it.

use axum::{
    extract::State,
    http::{HeaderName, HeaderValue, header},
    response::{IntoResponse, Response},
};
use domain::{
    colour::Colour,
    face::{Contact, Palette, Shade},
    hex::hex,
    project::Project,
};
use engine::Error;
use sha2::{Digest, Sha256};
use web::{
    App,
    page::{page_error::PageError, site_urls::logo_path},
};

use crate::{
    path_id::PathId,
    view::{ContactLink, ContactWay, FrameLogo, ShopFace},
};

/// How much of the hash of a sheet is in its address: enough that no two versions share one.
const HASH_BYTES: usize = 4;
/// The content at these addresses never changes.
const CACHE_FOREVER: HeaderValue = HeaderValue::from_static("public, max-age=31536000, immutable");

type FilePath = Result<PathId<String>, PageError>;

/// What the frame of a page shows of a project.
pub(crate) fn shop_face(app: &App, project: &Project) -> ShopFace {
    let urls = &app.settings.urls;
    let face = &project.face;
    ShopFace {
        logo: face.logo.as_ref().map(|logo| FrameLogo {
            url: urls.url(logo_path(logo)),
            width: logo.width,
            height: logo.height,
        }),
        style_url: face.colour.map(|colour| urls.url(sheet_path(colour))),
        contacts: face.contacts.ways().map(contact_link).collect(),
    }
}

fn contact_link(contact: Contact<'_>) -> ContactLink {
    let way = match contact {
        Contact::WhatsApp(_) => ContactWay::WhatsApp,
        Contact::Phone(_) => ContactWay::Phone,
        Contact::Email(_) => ContactWay::Email,
        Contact::Site(_) => ContactWay::Site,
    };
    ContactLink { url: contact.address(), way, text: contact.text() }
}

/// `/p/colour/0b57d0.1a2b3c4d.css`: the colour, and the hash of what it becomes.
fn sheet_path(colour: Colour) -> String {
    let name = colour.to_string();
    let hash = hex(&Sha256::digest(sheet(colour))[..HASH_BYTES]);
    format!("/p/colour/{}.{hash}.css", name.trim_start_matches('#'))
}

/// Printed pages keep their own black and white.
fn sheet(colour: Colour) -> String {
    let Palette { light, dark } = Palette::of(colour);
    let set = |shade: Shade| {
        let Shade { accent, on_accent, tint } = shade;
        format!(":root{{--accent:{accent};--on-accent:{on_accent};--tint:{tint}}}")
    };
    format!("@media screen{{{}@media (prefers-color-scheme:dark){{{}}}}}", set(light), set(dark))
}

/// GET `/p/colour/<colour>.<hash>.css`. An address with the hash of another version does not exist.
pub(super) async fn style(file: FilePath) -> Result<Response, PageError> {
    let PathId(file) = file?;
    let colour = file.split('.').next().and_then(|digits| Colour::parse(&format!("#{digits}")));
    let colour = colour.filter(|colour| sheet_path(*colour).ends_with(&format!("/{file}")));
    let colour = colour.ok_or(Error::NotFound("style sheet"))?;
    Ok(cached(HeaderValue::from_static("text/css; charset=utf-8"), sheet(colour).into_bytes()))
}

/// GET `/p/logo/<hash>.png`: the PNG file that we made of a shop's logo.
pub(super) async fn logo(State(app): State<App>, file: FilePath) -> Result<Response, PageError> {
    let PathId(file) = file?;
    let hash = file.strip_suffix(".png").ok_or(Error::NotFound("logo"))?;
    let png = app.engine.logo(hash).await?;
    Ok(cached(HeaderValue::from_static("image/png"), png))
}

fn cached(media_type: HeaderValue, content: Vec<u8>) -> Response {
    let headers: [(HeaderName, HeaderValue); 2] =
        [(header::CONTENT_TYPE, media_type), (header::CACHE_CONTROL, CACHE_FOREVER)];
    (headers, content).into_response()
}

#[cfg(test)]
mod tests {
    use domain::face::{DARK_GROUNDS, LIGHT_GROUNDS};
    use web::page::assets::TOKENS;

    use super::*;

    #[test]
    fn the_backgrounds_that_colours_are_judged_by_are_those_of_the_style_sheet() {
        let (light, dark) = TOKENS.split_once("prefers-color-scheme: dark").unwrap();
        for (theme, grounds) in [(light, LIGHT_GROUNDS), (dark, DARK_GROUNDS)] {
            for (name, colour) in ["--ground", "--paper", "--tile", "--lab-tint"].into_iter().zip(grounds) {
                let value = theme.split(&format!("{name}: ")).nth(1).and_then(|rest| rest.split(';').next()).unwrap();
                let value = if value == "#fff" { "#ffffff" } else { value };
                assert_eq!(value, colour.to_string(), "{name}");
            }
        }
    }

    #[test]
    fn a_sheet_is_small_and_its_address_changes_with_its_content() {
        let sheet = sheet(Colour::new(0x0b, 0x57, 0xd0));
        assert!(sheet.len() < 250, "{sheet}");
        assert!(sheet.contains(":root{--accent:#0b57d0;--on-accent:#ffffff;--tint:#"), "{sheet}");
        assert_eq!(sheet.matches('{').count(), sheet.matches('}').count());
        assert_ne!(sheet_path(Colour::WHITE), sheet_path(Colour::BLACK));
    }
}
