//! The paths of our own pages as browsers see them, which behind a proxy may begin with a prefix.

use domain::face::LogoMark;

/// Turns paths of pages into URLs for browsers.
pub struct SiteUrls {
    /// The prefix of every path; usually empty.
    root: String,
    /// Whether browsers reach the pages over https.
    pub https: bool,
}

impl SiteUrls {
    pub fn below(pages_url: &str) -> SiteUrls {
        let url = url::Url::parse(pages_url).ok();
        let root = url.as_ref().map(|url| url.path().trim_end_matches('/').to_owned()).unwrap_or_default();
        SiteUrls { https: url.is_some_and(|url| url.scheme() == "https"), root }
    }

    /// The URL of a path of ours, for links on pages and redirects.
    pub fn url(&self, path: impl std::fmt::Display) -> String {
        format!("{}{path}", self.root)
    }
}

/// The path of a shop's logo. It names the content, so browsers may keep it for ever.
pub fn logo_path(logo: &LogoMark) -> String {
    format!("/p/logo/{}.png", logo.hash)
}
