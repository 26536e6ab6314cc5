//! What ends a cluster and removes it, however the process that wanted it has ended.

use std::{
    os::unix::process::CommandExt,
    path::Path,
    process::{Child, Stdio},
};

use super::host::Host;

/// It waits until its input ends, which the kernel sees to even after `kill -9`. What works in the directory `$1` or in
/// its data belongs to the cluster. The server is told to stop at once, and everything is woken in case it is paused; other
/// programs then end by themselves, and unlike killed ones leave no shared memory. What is left after half a minute is
/// killed. A killed server's segment of shared memory is numbered in its lock file.
const SCRIPT: &str = r#"
trap '' HUP INT TERM
read -r _
lock=$1/data/postmaster.pid
belonging() {
    for process in /proc/[0-9]*; do
        if [ "$process/cwd" -ef "$1" ] || [ "$process/cwd" -ef "$1/data" ]; then echo "${process#/proc/}"; fi
    done
}
looks=0
while [ $looks -lt 1200 ] && processes=$(belonging "$1") && [ -n "$processes" ]; do
    server=$(head -n 1 "$lock")
    for process in $processes; do
        if [ "$process" = "$server" ]; then kill -s QUIT "$process"; fi
        if [ $looks -ge 600 ]; then kill -s KILL "$process"; fi
    done
    kill -s CONT $processes
    looks=$((looks + 1))
    sleep 0.05
done
if [ -f "$lock" ]; then sed -n 7p "$lock" | while read -r _ segment; do ipcrm -m "$segment"; done; fi
rm -rf -- "$1"
"#;

/// It has a process group of its own, so that Ctrl-C ends the tests and not what tidies up after them.
pub(super) struct Watchdog(Child);

impl Watchdog {
    pub(super) fn start(directory: &Path) -> Watchdog {
        assert!(directory.is_absolute(), "a watchdog removes what it is told to, so it is told exactly");
        let mut command = Host::get().command("/bin/sh", Path::new("/"));
        command.args(["-c", SCRIPT, "watchdog"]).arg(directory);
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        Watchdog(command.process_group(0).spawn().unwrap())
    }

    /// Lets it do its work now, and waits until it has.
    pub(super) fn finish(&mut self) {
        drop(self.0.stdin.take());
        // It ends by itself, as it looks no more than so many times.
        let _ = self.0.wait();
    }
}
