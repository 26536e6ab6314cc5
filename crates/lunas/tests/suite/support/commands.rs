//! Running the binary, with keys that it takes or refuses, and the tools that others wrote.

use std::{env, path::Path, process::Command};

use domain::{api_key::KeySecret, project::Environment};
use secrecy::ExposeSecret;
use testkit::{Program, Running};

use crate::support::repository::root;

/// The binary, in a directory of its own.
pub(crate) fn program() -> Program {
    Program::new(env!("CARGO_BIN_EXE_lunas"))
}

/// What `lunas --version` prints: the version with the commit that is checked out here, or that LUNAS_COMMIT states. Sources from an
/// archive have none.
pub(crate) fn version_line() -> String {
    let stated = env::var("LUNAS_COMMIT").unwrap_or_default();
    let commit = match stated.get(..7) {
        Some(short) => short.to_owned(),
        None if root().join(".git").exists() => git(&root(), &["rev-parse", "--short=7", "HEAD"]).trim().to_owned(),
        None => return concat!("lunas ", env!("CARGO_PKG_VERSION"), "\n").to_owned(),
    };
    format!("lunas {} ({commit})\n", env!("CARGO_PKG_VERSION"))
}

/// Runs Git in a directory, for a person of its own, and answers what it prints. Variables of a hook that runs the tests are left out.
pub(crate) fn git(directory: &Path, arguments: &[&str]) -> String {
    let mut command = Command::new("git");
    command.args(["-c", "user.name=test", "-c", "user.email=test@example.com"]).args(arguments).current_dir(directory);
    for variable in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"] {
        command.env_remove(variable);
    }
    let output = command.output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// The binary, and `lunas dev` running in its directory.
pub(crate) fn dev() -> (Program, Running) {
    let program = program();
    let running = program.dev();
    (program, running)
}

/// Runs `lunas dev` with URLs that do not depend on the port, so that answers of several starts can be compared.
pub(crate) fn dev_at_fixed_url(program: &Program, arguments: &[&str]) -> Running {
    program.dev_with(&[&["--checkout-url-base", "https://pay.lunas.test"], arguments].concat())
}

/// A secret key as an operator would configure one.
pub(crate) fn secret_key() -> String {
    engine::SecretKey::generate_base64().expose_secret().to_owned()
}

/// A well-formed key that no server knows.
pub(crate) fn unknown_key(environment: Environment) -> String {
    let mut next = 0;
    let draw = || {
        next = (next + 37) % 62;
        next
    };
    KeySecret::make(environment, draw).reveal().to_owned()
}

/// A tool that `make tools` installs, without the Python settings of the person who runs the tests.
pub(crate) fn tool(name: &str, program: &Program) -> Command {
    let path = root().join("target/test-tools/bin").join(name);
    assert!(path.exists(), "{} is not there: run `make tools`", path.display());
    let mut command = Command::new(path);
    command.current_dir(program.directory.path()).env("PYTHONDONTWRITEBYTECODE", "1").env_remove("PYTHONHOME");
    command
}
