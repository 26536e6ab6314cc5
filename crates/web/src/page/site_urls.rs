//! The addresses of our own pages, as browsers see them from outside of any proxy.

/// Where the pages are.
pub struct SiteUrls {
    /// What comes before the path of every page: usually nothing.
    root: String,
    pub https: bool,
}

impl SiteUrls {
    pub fn below(pages_url: &str) -> SiteUrls {
        let url = url::Url::parse(pages_url).ok();
        let root = url.as_ref().map(|url| url.path().trim_end_matches('/').to_owned()).unwrap_or_default();
        SiteUrls { https: url.is_some_and(|url| url.scheme() == "https"), root }
    }

    /// The address of a path of ours.
    pub fn url(&self, path: impl std::fmt::Display) -> String {
        format!("{}{path}", self.root)
    }
}
