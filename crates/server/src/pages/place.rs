//! Addresses of our own, as they are outside of whatever stands in front of the server.

use std::sync::Arc;

use super::assets;

/// Where the pages are, as browsers see it.
pub(crate) struct Place {
    /// What comes before `/p/…` in an address: usually nothing.
    root: String,
    pub(crate) https: bool,
    pub(crate) style_url: Arc<str>,
    pub(crate) script_url: Arc<str>,
    pub(crate) dashboard_style_url: Arc<str>,
    pub(crate) dashboard_script_url: Arc<str>,
}

impl Place {
    pub(crate) fn at(checkout_url_base: &str) -> Place {
        let url = url::Url::parse(checkout_url_base).ok();
        let root = url.as_ref().map(|url| url.path().trim_end_matches('/').to_owned()).unwrap_or_default();
        let asset = |file| format!("{root}{}", assets::address(file)).into();
        Place {
            https: url.is_some_and(|url| url.scheme() == "https"),
            style_url: asset("/checkout.css"),
            script_url: asset("/checkout.js"),
            dashboard_style_url: asset("/dashboard.css"),
            dashboard_script_url: asset("/dashboard.js"),
            root,
        }
    }

    /// An address of ours.
    pub(crate) fn url(&self, path: impl std::fmt::Display) -> String {
        format!("{}{path}", self.root)
    }
}
