//! The files of the package: systemd accepts the unit and finds little to object to, and the files agree with each other.

use std::{fs, process::Command};

use testkit::Ran;

use crate::support::repository::root;

/// The most that `systemd-analyze security` may count, in tenths of its points from 0 (safe) to 10.
const EXPOSURE_MOST: &str = "20";

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap()
}

/// The unit with the binary of this build in place of the installed one, in a directory of its own.
fn unit() -> (tempfile::TempDir, String) {
    let unit = read("packaging/lunas.service");
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("lunas.service").to_str().unwrap().to_owned();
    fs::write(&path, unit.replace("/usr/bin/lunas", env!("CARGO_BIN_EXE_lunas"))).unwrap();
    (directory, path)
}

/// Runs `systemd-analyze`; none where there is no systemd.
fn analyze(arguments: &[&str]) -> Option<Ran> {
    Some(Command::new("systemd-analyze").args(arguments).output().ok()?.into())
}

#[test]
fn systemd_accepts_the_unit() {
    let (_directory, unit) = unit();
    // The manual is installed with the package.
    let Some(ran) = analyze(&["verify", "--man=no", &unit]) else { return };
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{ran:?}");
}

#[test]
fn the_unit_leaves_little_that_an_intruder_could_use() {
    let (_directory, unit) = unit();
    let Some(ran) = analyze(&["security", "--no-pager", "--offline=true", "--threshold", EXPOSURE_MOST, &unit]) else {
        return;
    };
    assert_eq!(ran.code, 0, "{ran:?}");
}

#[test]
fn the_settings_of_the_package_are_settings_of_the_server() {
    let help = Ran::from(Command::new(env!("CARGO_BIN_EXE_lunas")).args(["serve", "--help"]).output().unwrap());
    let global = Ran::from(Command::new(env!("CARGO_BIN_EXE_lunas")).arg("--help").output().unwrap());
    let known = help.stdout + &global.stdout;
    let settings = read("packaging/lunas.env");
    let names: Vec<&str> =
        settings.lines().filter_map(|line| line.strip_suffix(line.trim_start_matches(is_name))).collect();
    let names: Vec<&str> = names.into_iter().filter(|name| !name.is_empty()).collect();
    assert!(names.contains(&"LUNAS_BASE_URL") && names.contains(&"LUNAS_DATABASE"), "{names:?}");
    for name in names {
        assert!(known.contains(name), "{name} is no setting");
    }
    assert!(
        settings.lines().all(|line| !line.starts_with("LUNAS_SECRET_KEY")),
        "each installation has a key of its own"
    );
}

fn is_name(character: char) -> bool {
    character.is_ascii_uppercase() || character == '_'
}

#[test]
fn every_file_that_the_package_and_the_image_are_made_of_is_there() {
    let manifest = read("crates/lunas/Cargo.toml");
    let sources = manifest.split('"').filter_map(|text| text.strip_prefix("../../"));
    let sources: Vec<&str> = sources.filter(|source| !source.starts_with("target/")).collect();
    assert!(sources.len() >= 7, "{sources:?}");
    for source in sources {
        assert!(root().join(source).exists(), "{source} is not there");
    }
    let (dockerfile, ignored) = (read("Dockerfile"), read(".dockerignore"));
    assert!(dockerfile.contains("ADD target/packages/image.tar /"));
    assert!(ignored.lines().any(|line| line == "!target/packages/image.tar"));
}

#[test]
fn everything_in_the_image_belongs_to_root_but_the_directory_of_the_data() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name).to_str().unwrap().to_owned();
    fs::write(path("program"), "the program").unwrap();
    fs::write(path("certificates"), "certificates").unwrap();
    let mut made = Command::new(root().join("packaging/image.sh"));
    made.args([path("program"), path("certificates"), path("")]);
    let ran = Ran::from(made.output().unwrap());
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{ran:?}");
    let mut list = Command::new("tar");
    let listed = Ran::from(list.args(["--numeric-owner", "-tvf", &path("image.tar")]).output().unwrap());
    let entry = |line: &str| {
        let columns: Vec<&str> = line.split_whitespace().collect();
        format!("{} {} {}", columns[0], columns[1], columns[columns.len() - 1])
    };
    let mut entries: Vec<String> = listed.stdout.lines().map(entry).collect();
    entries.sort_by_key(|entry| entry.rsplit(' ').next().map(str::to_owned));
    assert_eq!(
        entries,
        [
            "drwxr-xr-x 0/0 ./",
            "drwxr-xr-x 0/0 ./etc/",
            "drwxr-xr-x 0/0 ./etc/ssl/",
            "drwxr-xr-x 0/0 ./etc/ssl/certs/",
            "-rw-r--r-- 0/0 ./etc/ssl/certs/ca-certificates.crt",
            "drwxrwxrwt 0/0 ./tmp/",
            "drwxr-xr-x 0/0 ./usr/",
            "drwxr-xr-x 0/0 ./usr/bin/",
            "-rwxr-xr-x 0/0 ./usr/bin/lunas",
            "drwxr-xr-x 0/0 ./var/",
            "drwxr-xr-x 0/0 ./var/lib/",
            "drwxr-x--- 65532/65532 ./var/lib/lunas/",
        ]
    );
}

#[test]
fn scripts_of_the_package_are_for_every_shell() {
    for script in ["debian/postinst", "debian/prerm", "debian/postrm", "lunasctl", "assemble.sh", "image.sh"] {
        let path = root().join("packaging").join(script);
        let ran = Ran::from(Command::new("sh").arg("-n").arg(&path).output().unwrap());
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{script}");
        assert!(read(&format!("packaging/{script}")).starts_with("#!/bin/sh\n# "), "{script} says what it does");
    }
}
