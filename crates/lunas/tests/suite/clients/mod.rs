//! The clients in `clients/` and the shops in `examples/`, each in its own language against the real binary.

mod browser_shops;
mod scripts;
