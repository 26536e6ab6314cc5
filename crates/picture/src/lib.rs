//! Pictures: draws shapes, texts and QR codes onto a canvas, reads logos, and writes PNG files.
//!
//! The same input always gives the same bytes. Nothing here fails on a text: a character that the font lacks is drawn as
//! a replacement, and what does not fit is cut with an ellipsis. This crate knows no HTTP, no store and no page.

mod canvas;
mod colour_table;
mod fonts;
mod image;
pub mod logo;
pub mod qr_image;
mod text;

#[cfg(test)]
mod tests;

pub use canvas::{Area, Canvas};
pub use domain::colour::Colour;
pub use fonts::Weight;
pub use image::Image;
pub use text::{Align, TextStyle, text_width};
