//! Finds PostgreSQL's own programs, and runs them under an account that they accept.

use std::{
    env, fs,
    os::unix::{fs::chown, process::CommandExt},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::OnceLock,
};

use crate::shared::PATIENCE;

/// The directory of programs is one that has all of these: Debian has some of them in other directories as well.
const PROGRAMS: [&str; 4] = ["initdb", "postgres", "psql", "pg_basebackup"];
/// Where Debian has one directory per version.
const DEBIAN: &str = "/usr/lib/postgresql";

pub(crate) struct Host {
    programs: PathBuf,
    /// User and group to run as if we are root, because PostgreSQL refuses to run as root.
    account: Option<(u32, u32)>,
}

impl Host {
    /// Searches once per process. On a machine without PostgreSQL the tests that need it fail; none is skipped.
    pub(crate) fn get() -> &'static Host {
        static HOST: OnceLock<Host> = OnceLock::new();
        HOST.get_or_init(|| {
            let programs = from_path().or_else(from_pg_config).or_else(newest_of_debian).expect(
                "PostgreSQL's server programs were not found; `make test` installs them, or: apt-get install postgresql",
            );
            let account = (id(&["-u"]) == Some(0)).then(|| {
                let found = id(&["-u", "postgres"]).zip(id(&["-g", "postgres"]));
                found.expect("PostgreSQL does not run as root, and there is no user `postgres` to run it as")
            });
            Host { programs, account }
        })
    }

    /// One of PostgreSQL's programs.
    pub(crate) fn program(&self, name: &str) -> PathBuf {
        self.programs.join(name)
    }

    /// A command that runs under the account in `directory`, without the PostgreSQL settings in the environment of the tests.
    pub(crate) fn command(&self, program: impl AsRef<Path>, directory: &Path) -> Command {
        let mut command = Command::new(program.as_ref());
        command.current_dir(directory).stdin(Stdio::null());
        for (name, _) in env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("PG")) {
            command.env_remove(name);
        }
        command.env("LC_ALL", "C").env("TZ", "UTC").env("HOME", directory);
        if let Some((user, group)) = self.account {
            command.uid(user).gid(group);
        }
        command
    }

    /// One of PostgreSQL's client programs, running in `directory`; it is ended when it takes too long.
    pub(crate) fn tool(&self, name: &str, directory: &Path) -> Command {
        let mut command = self.command("timeout", directory);
        command.args(["--kill-after=5", &PATIENCE.as_secs().to_string()]).arg(self.program(name));
        command
    }

    /// Makes the account the owner of a file or directory.
    pub(crate) fn own(&self, path: &Path) {
        if let Some((user, group)) = self.account {
            chown(path, Some(user), Some(group)).unwrap();
        }
    }
}

fn has_all(directory: &Path) -> bool {
    PROGRAMS.iter().all(|program| directory.join(program).is_file())
}

fn from_path() -> Option<PathBuf> {
    env::split_paths(&env::var_os("PATH")?).find(|directory| directory.is_absolute() && has_all(directory))
}

fn from_pg_config() -> Option<PathBuf> {
    let output = Command::new("pg_config").arg("--bindir").output().ok()?;
    let directory = PathBuf::from(String::from_utf8(output.stdout).ok()?.trim());
    has_all(&directory).then_some(directory)
}

fn newest_of_debian() -> Option<PathBuf> {
    let versions = fs::read_dir(DEBIAN).ok()?.filter_map(Result::ok);
    let numbered = versions.filter_map(|version| Some((version.file_name().to_str()?.parse::<u32>().ok()?, version)));
    let complete = numbered.map(|(number, version)| (number, version.path().join("bin")));
    complete.filter(|(_, directory)| has_all(directory)).max().map(|(_, directory)| directory)
}

fn id(arguments: &[&str]) -> Option<u32> {
    let output = Command::new("id").args(arguments).stderr(Stdio::null()).output().ok()?;
    String::from_utf8(output.stdout).ok()?.trim().parse().ok()
}
