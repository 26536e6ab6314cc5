//! Style sheets and scripts: part of the program, compressed when it was built, at addresses that change with their content.

use axum::Router;
use memory_serve::{CacheControl, MemoryServe};

use crate::app::App;

const FOLDER: &str = "/assets";

fn embedded() -> MemoryServe {
    memory_serve::load!()
        .index_file(None)
        .enable_brotli(true)
        .enable_gzip(true)
        .cache_control(CacheControl::NoCache)
        .enable_hashed_routes(true)
}

pub(crate) fn router() -> Router<App> {
    Router::new().nest(FOLDER, embedded().into_router())
}

/// Where a file of ours is found, such as `/assets/checkout.0123456789abcdef.css` for `/checkout.css`.
pub(crate) fn address(file: &str) -> String {
    let manifest = embedded().manifest();
    format!("{FOLDER}{}", manifest.get(file).unwrap_or(file))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_address_of_a_file_holds_its_content_s_hash() {
        for (file, ending) in [("/checkout.css", ".css"), ("/checkout.js", ".js")] {
            let address = address(file);
            assert!(address.starts_with("/assets/checkout.") && address.ends_with(ending), "{address}");
            assert_ne!(address, format!("{FOLDER}{file}"));
        }
    }
}
