//! The page kit: what pages of all surfaces share. Texts, style sheets and scripts, the visitor, forms, error pages and security
//! headers. No page itself is here.

pub mod assets;
pub mod cookie;
pub mod finish;
pub mod form;
pub mod headers;
pub mod page_error;
pub mod render;
pub mod site_urls;
pub mod typed_amount;
pub mod upload;
pub mod visitor;

pub use wording::{device, moment, words};
