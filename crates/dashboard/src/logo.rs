//! A shop's logo on pages of the dashboard.

use web::page::site_urls::logo_path;

use crate::page::Page;

/// A logo, and its size in pixels.
pub(crate) struct ShownLogo {
    pub(crate) url: String,
    pub(crate) width: u32,
    pub(crate) height: u32,
}

impl ShownLogo {
    /// The logo of the page's project.
    pub(crate) fn of(page: &Page) -> Option<ShownLogo> {
        let logo = page.project().face.logo.as_ref()?;
        Some(ShownLogo { url: page.url(logo_path(logo)), width: logo.width, height: logo.height })
    }
}
