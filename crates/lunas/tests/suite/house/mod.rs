//! Rules that the source tree itself keeps: its files, the imports between them and the dependencies between crates.

mod dependencies;
mod docs;
mod imports;
mod locales;
mod module_graph;
mod release;
mod source_rules;
mod templates;
mod use_lines;
mod words;
