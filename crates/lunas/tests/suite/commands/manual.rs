//! What shells and `man` know about the program, and what it says to somebody who mistypes a command.

use std::{collections::BTreeSet, fs, process::Command};

use testkit::Ran;

use super::help::commands;
use crate::support::commands::program;

#[test]
fn bash_completes_commands_flags_and_values() {
    let program = program();
    let script = program.run(&["completions", "bash"]);
    assert_eq!((script.code, script.stderr.as_str()), (0, ""));
    let path = program.directory.path().join("lunas.bash");
    fs::write(&path, &script.stdout).unwrap();
    let completed = |words: &[&str]| -> BTreeSet<String> {
        let list = words.iter().map(|word| format!("'{word}'")).collect::<Vec<_>>().join(" ");
        let [.., previous, word] = words else { panic!("a program and a word") };
        let ask = format!(
            ". {}; COMP_WORDS=({list}); COMP_CWORD={}; _lunas lunas '{word}' '{previous}'; printf '%s\\n' \"${{COMPREPLY[@]}}\"",
            path.display(),
            words.len() - 1
        );
        let ran = Ran::from(Command::new("bash").args(["--norc", "-c", &ask]).output().unwrap());
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{words:?}");
        ran.stdout.lines().map(str::to_owned).collect()
    };
    assert_eq!(completed(&["lunas", "paym"]), ["payment".to_owned()].into());
    assert!(completed(&["lunas", "link", ""]).contains("cancel"));
    assert!(completed(&["lunas", "payment", "create", "--am"]).contains("--amount"));
    assert!(completed(&["lunas", "completions", "z"]).contains("zsh"));
}

#[test]
fn zsh_and_fish_get_scripts_of_their_own() {
    let program = program();
    for (shell, first) in [("zsh", "#compdef lunas"), ("fish", "complete -c lunas")] {
        let ran = program.run(&["completions", shell]);
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{shell}");
        assert!(ran.stdout.contains(first) && ran.stdout.contains("payment"), "{shell}: {}", ran.stdout);
    }
    assert_eq!(fs::read_dir(program.directory.path()).unwrap().count(), 0, "nothing was made");
}

#[test]
fn every_command_has_a_manual_page() {
    let program = program();
    let directory = program.directory.path().join("share/man");
    let ran = program.run(&["man", directory.to_str().unwrap()]);
    assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr.as_str()), (0, "", ""));
    let written: BTreeSet<String> =
        fs::read_dir(&directory).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    for command in commands(&program) {
        let page = ["lunas"].into_iter().chain(command.iter().map(String::as_str)).collect::<Vec<_>>().join("-");
        let page = format!("{page}.1");
        assert!(written.contains(&page), "no {page} among {written:?}");
        let text = fs::read_to_string(directory.join(&page)).unwrap();
        assert!(text.contains(".TH") && text.contains(".SH SYNOPSIS"), "{page}");
    }
    let whole = fs::read_to_string(directory.join("lunas.1")).unwrap();
    assert!(whole.contains("LUNAS_SECRET_KEY"), "the settings are in the manual");
    let file = program.directory.path().join("file");
    fs::write(&file, "").unwrap();
    let refused = program.run(&["man", file.to_str().unwrap()]);
    assert_eq!(refused.failed(1).len(), 1, "{refused:?}");
}

#[test]
fn a_mistyped_command_or_flag_suggests_the_right_one() {
    let program = program();
    for (arguments, suggested) in [
        (&["pyment"][..], "'payment'"),
        (&["payment", "lst"], "'list'"),
        (&["serv"], "'serve'"),
        (&["dev", "--lisen", "127.0.0.1:0"], "'--listen'"),
        (&["completions", "bsh"], "'bash'"),
    ] {
        let ran = program.run(arguments);
        let text = ran.failed(2).join("\n");
        assert!(text.contains("similar") && text.contains(suggested), "{arguments:?}: {text}");
    }
}
