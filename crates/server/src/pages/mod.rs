//! What every page shares, whoever it is for: its texts, its style and script, who looks at it, and what a browser is told.

pub(crate) mod assets;
pub(crate) mod cookie;
pub(crate) mod device;
pub(crate) mod form;
pub(crate) mod headers;
pub(crate) mod moment;
pub(crate) mod place;
pub(crate) mod refused;
pub(crate) mod render;
pub(crate) mod surface;
pub(crate) mod visitor;
pub(crate) mod words;
