//! How pages and letters word what people read, in Indonesian and English: texts from Fluent files, times, and the names of
//! browsers and devices.
//!
//! It is a crate of its own because letters are written below the engine and pages above it. It never reads a clock, and no text
//! of a page or a letter is here.

pub mod device;
pub mod moment;
pub mod words;
