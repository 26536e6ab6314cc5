//! Runs `initdb` once per process: to copy its result for each cluster takes a tenth of the time.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::OnceLock,
};

use crate::{
    directory::new_directory,
    host::Host,
    shared::{ROLE, finish, hex, random},
    watchdog::Watchdog,
};

/// The data directory of a cluster that was never started. Its copies share its password.
pub(crate) struct Initialised {
    directory: PathBuf,
    password: String,
    /// Removes the directory when the process ends.
    _watchdog: Watchdog,
}

impl Initialised {
    pub(crate) fn get() -> &'static Initialised {
        static INITIALISED: OnceLock<Initialised> = OnceLock::new();
        INITIALISED.get_or_init(Initialised::new)
    }

    fn new() -> Initialised {
        let (directory, watchdog) = new_directory();
        let initialised = Initialised { directory, password: hex(&random::<16>()), _watchdog: watchdog };
        let password_file = initialised.directory.join("password");
        fs::write(&password_file, &initialised.password).unwrap();
        Host::get().own(&password_file);
        // Not every system has the first of these locales; both order text by its bytes.
        let made = initialised.initdb(&password_file, "C.UTF-8").or_else(|_| initialised.initdb(&password_file, "C"));
        made.unwrap_or_else(|error| panic!("initdb failed: {error}"));
        fs::remove_file(&password_file).unwrap();
        initialised.accept_md5();
        initialised
    }

    fn initdb(&self, password_file: &Path, locale: &str) -> Result<String, String> {
        let mut initdb = Host::get().tool("initdb", &self.directory);
        initdb.args(["--auth=scram-sha-256", "--encoding=UTF8", "--no-sync", "--username", ROLE]);
        initdb.arg(format!("--locale={locale}")).arg("--pwfile").arg(password_file).arg("--pgdata").arg(self.data());
        finish(initdb, "")
    }

    /// In this file `md5` stands for what a role's password was stored for: SCRAM, or MD5 where the cluster wants that.
    fn accept_md5(&self) {
        let file = self.data().join("pg_hba.conf");
        let rules = fs::read_to_string(&file).unwrap();
        fs::write(&file, rules.replace("scram-sha-256", "md5")).unwrap();
    }

    /// Copies it to `data` in the directory of a cluster.
    pub(crate) fn copy_to(&self, cluster: &Path) {
        // It works in the cluster's directory, so that the cluster's watchdog waits for it.
        let mut copy = Host::get().command("cp", cluster);
        copy.args(["-R", "-p"]).arg(self.data()).arg(cluster);
        finish(copy, "").unwrap_or_else(|error| panic!("the new cluster cannot be copied: {error}"));
    }

    pub(crate) fn password(&self) -> &str {
        &self.password
    }

    fn data(&self) -> PathBuf {
        self.directory.join("data")
    }
}
