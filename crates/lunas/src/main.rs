//! The `lunas` binary. All of its code is in the library, where tests can call it.

use std::process::ExitCode;

fn main() -> ExitCode {
    lunas::run()
}
