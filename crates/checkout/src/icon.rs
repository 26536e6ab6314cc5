//! The icons of the pages: SVG path data on a 24 by 24 grid. The style sheet draws the ring around them.

pub(crate) const CHECK: &str = "M7.5 12.5l3 3 6-6.5";
pub(crate) const CLOCK: &str = "M12 5a7 7 0 1 0 .01 0M12 8.5V12l2.5 1.5";
pub(crate) const CROSS: &str = "M8.5 8.5l7 7m0-7l-7 7";
pub(crate) const DASH: &str = "M8 12h8";
pub(crate) const PAUSE: &str = "M10 8.5v7m4-7v7";
pub(crate) const QUESTION: &str = "M9.5 9.5a2.5 2.5 0 1 1 3.5 2.3q-1 .4-1 1.7m0 3v.01";
pub(crate) const EXCLAMATION: &str = "M12 7v6m0 3.5v.01";
