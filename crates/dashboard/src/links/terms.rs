//! What several pages say about one link.

use domain::id::LinkId;

use crate::page::Page;

/// The address where customers pay.
pub(super) fn checkout_url(page: &Page, id: LinkId) -> String {
    format!("{}/p/{id}", page.app.settings.pages_url)
}
