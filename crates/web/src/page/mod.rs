//! The page kit: what every page has in common, whichever surface it belongs to. Its texts, its style sheet and script, its
//! visitor, its forms, and the headers that protect it.

pub mod assets;
pub mod cookie;
pub mod device;
pub mod finish;
pub mod form;
mod headers;
pub mod moment;
pub mod page_error;
pub mod render;
pub mod site_urls;
pub mod visitor;
pub mod words;
