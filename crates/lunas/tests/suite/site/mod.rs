//! The home page and the documentation, over HTTP and in a real browser.

mod browser_docs;
mod browser_reference;
mod docs;
mod home;
mod links;
mod reference;
mod search;
