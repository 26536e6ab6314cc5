//! What every page shares, whoever it is for: its texts, its style and script, and what a browser is told about it.

pub(crate) mod assets;
pub(crate) mod cookie;
pub(crate) mod headers;
pub(crate) mod place;
pub(crate) mod words;
