//! Puts the pages' style sheets and scripts into the program, compressed.

fn main() {
    memory_serve::load_directory_with_embed("assets", true);
}
