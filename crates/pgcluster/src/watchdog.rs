//! Stops a cluster and removes its directory when the process that started it has ended, even by `kill -9`.

use std::{
    os::unix::process::CommandExt,
    path::Path,
    process::{Child, Stdio},
};

use crate::host::Host;

/// The script waits until its input ends, which the kernel sees to even after `kill -9`. Every process whose working directory
/// is `$1` or its data directory belongs to the cluster. The script tells the server to stop at once, and continues all
/// processes in case they are paused; other programs then exit by themselves and, unlike killed ones, leave no shared memory.
/// After half a minute the script kills the processes that are left. The lock file of a killed server has the number of its
/// segment of shared memory.
const SCRIPT: &str = r#"
trap '' HUP INT TERM
read -r _
lock=$1/data/postmaster.pid
belonging() {
    for process in /proc/[0-9]*; do
        if [ "$process/cwd" -ef "$1" ] || [ "$process/cwd" -ef "$1/data" ]; then echo "${process#/proc/}"; fi
    done
}
polls=0
while [ $polls -lt 1200 ] && processes=$(belonging "$1") && [ -n "$processes" ]; do
    server=$(head -n 1 "$lock")
    for process in $processes; do
        if [ "$process" = "$server" ]; then kill -s QUIT "$process"; fi
        if [ $polls -ge 600 ]; then kill -s KILL "$process"; fi
    done
    kill -s CONT $processes
    polls=$((polls + 1))
    sleep 0.05
done
if [ -f "$lock" ]; then sed -n 7p "$lock" | while read -r _ segment; do ipcrm -m "$segment"; done; fi
rm -rf -- "$1"
"#;

/// It has a process group of its own, so that Ctrl-C ends the tests and not the script that cleans up after them.
pub(crate) struct Watchdog(Child);

impl Watchdog {
    pub(crate) fn start(directory: &Path) -> Watchdog {
        assert!(directory.is_absolute(), "a watchdog removes this directory, so its path is absolute");
        let mut command = Host::get().command("/bin/sh", Path::new("/"));
        command.args(["-c", SCRIPT, "watchdog"]).arg(directory);
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        Watchdog(command.process_group(0).spawn().unwrap())
    }

    /// Lets the script clean up now, and waits until it has.
    pub(crate) fn finish(&mut self) {
        drop(self.0.stdin.take());
        // The script ends by itself, because it polls a limited number of times.
        let _ = self.0.wait();
    }
}
