//! Every command of README and the guides, as it is written: the blocks of one file in order, in one shell, in an empty directory,
//! beside a fresh `lunas dev`. Only the ports are others, since several tests run at once.

use std::{
    fs::{self, Permissions},
    io::{BufRead, BufReader, Write},
    net::{SocketAddr, TcpStream},
    os::unix::{
        fs::{PermissionsExt, symlink},
        process::CommandExt,
    },
    path::{Path, PathBuf},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use crate::support::{
    repository::root,
    scripts::{signal_group, unused_address},
};

const PATIENCE: Duration = Duration::from_secs(120);
/// Where documents say that something listens.
const WRITTEN_PORTS: [u16; 4] = [8080, 3000, 8090, 8091];
/// Stands where the shell has finished a block.
const FINISHED: &str = "the block is finished";

/// A code block that is run.
#[derive(Debug)]
struct Block {
    /// Whether it keeps running in a terminal of its own.
    is_background: bool,
    text: String,
}

fn blocks(document: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut lines = document.lines();
    while let Some(line) = lines.next() {
        let Some(language) = line.strip_prefix("```").filter(|language| !language.is_empty()) else { continue };
        let text: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
        if language == "sh" || language == "sh background" {
            blocks.push(Block { is_background: language != "sh", text: text.join("\n") });
        }
    }
    blocks
}

/// A directory of its own, with a `lunas` and a `cargo` that are this build.
struct Place {
    directory: tempfile::TempDir,
    ports: [(u16, SocketAddr); WRITTEN_PORTS.len()],
}

impl Place {
    fn new() -> Place {
        let directory = tempfile::tempdir().unwrap();
        let programs = directory.path().join("programs");
        fs::create_dir(&programs).unwrap();
        symlink(env!("CARGO_BIN_EXE_lunas"), programs.join("lunas")).unwrap();
        // README runs a checkout: `cargo run --release -- dev`.
        let cargo = programs.join("cargo");
        fs::write(&cargo, "#!/bin/sh\nshift 3\nexec lunas \"$@\"\n").unwrap();
        fs::set_permissions(&cargo, Permissions::from_mode(0o755)).unwrap();
        fs::create_dir(directory.path().join("empty")).unwrap();
        Place { directory, ports: WRITTEN_PORTS.map(|port| (port, unused_address())) }
    }

    fn work(&self) -> PathBuf {
        self.directory.path().join("empty")
    }

    fn address(&self, written: u16) -> SocketAddr {
        self.ports.iter().find(|(port, _)| *port == written).unwrap().1
    }

    /// The text with the ports of this place.
    fn placed(&self, text: &str) -> String {
        self.ports.iter().fold(text.to_owned(), |text, (written, address)| {
            with_port(&text, *written, address.port())
                .replace(&format!("\", {written})"), &format!("\", {})", address.port()))
        })
    }

    /// A shell that finds the programs of this place first, and that no setting of ours reaches.
    fn shell(&self) -> Command {
        let mut shell = Command::new("sh");
        for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("LUNAS_")) {
            shell.env_remove(name);
        }
        let path = std::env::var("PATH").unwrap();
        shell
            .current_dir(self.work())
            .env("PATH", format!("{}:{path}", self.directory.path().join("programs").display()))
            .env("LUNAS_LISTEN", self.address(8080).to_string())
            .process_group(0);
        shell
    }

    fn log(&self, number: usize) -> PathBuf {
        self.directory.path().join(format!("terminal-{number}.log"))
    }
}

/// The text with another port; an amount that begins with the same digits stays.
fn with_port(text: &str, written: u16, port: u16) -> String {
    let named = format!(":{written}");
    let mut parts = text.split(&named);
    let mut placed = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let is_longer = part.starts_with(|next: char| next.is_ascii_digit());
        placed.push_str(&format!(":{}{part}", if is_longer { written } else { port }));
    }
    placed
}

/// A terminal in which a command keeps running, with all that it has started.
struct Terminal(Child);

impl Drop for Terminal {
    fn drop(&mut self) {
        signal_group(&self.0, "KILL");
        let _ = self.0.wait();
    }
}

impl Terminal {
    fn open(place: &Place, number: usize, text: &str) -> Terminal {
        let log = fs::File::create(place.log(number)).unwrap();
        let mut shell = place.shell();
        shell.arg("-c").arg(place.placed(text)).stdin(Stdio::null()).stderr(log.try_clone().unwrap()).stdout(log);
        let terminal = Terminal(shell.spawn().unwrap());
        // A server is ready once its port answers, and `lunas dev` has said where it is; other programs are not waited for.
        let listens = WRITTEN_PORTS.into_iter().find(|port| text.contains(&format!("--listen 127.0.0.1:{port}")));
        let is_dev = text.ends_with(" dev");
        if let Some(port) = listens.or(is_dev.then_some(8080)) {
            let answers = || TcpStream::connect(place.address(port)).is_ok();
            let is_known = || !is_dev || place.work().join("lunas-data/dev.url").exists();
            wait(
                || answers() && is_known(),
                || format!("`{text}` does not listen: {}", fs::read_to_string(place.log(number)).unwrap()),
            );
        }
        terminal
    }
}

#[track_caller]
fn wait(is_so: impl Fn() -> bool, otherwise: impl Fn() -> String) {
    let started = Instant::now();
    while !is_so() {
        assert!(started.elapsed() < PATIENCE, "{}", otherwise());
        thread::sleep(Duration::from_millis(20));
    }
}

/// The one shell in which a reader types.
struct Shell {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Drop for Shell {
    fn drop(&mut self) {
        signal_group(&self.child, "KILL");
        let _ = self.child.wait();
    }
}

impl Shell {
    fn open(place: &Place) -> Shell {
        let mut child = place.shell().arg("-e").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let input = child.stdin.take().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        let mut shell = Shell { child, input, output };
        // What a block prints on standard error is part of what it says.
        writeln!(shell.input, "exec 2>&1").unwrap();
        shell
    }

    /// Runs a block. A command that fails ends the shell.
    #[track_caller]
    fn run(&mut self, text: &str) {
        writeln!(self.input, "{text}\nprintf '\\n{FINISHED}\\n'").unwrap();
        let mut printed = String::new();
        loop {
            let mut line = String::new();
            let read = self.output.read_line(&mut line).unwrap();
            assert!(read > 0, "a command fails in\n{text}\n\nwhich printed\n{printed}");
            if line.trim_end() == FINISHED {
                return;
            }
            printed.push_str(&line);
        }
    }
}

/// Runs all blocks of a document, and waits until the terminals have printed what is `said`.
fn follow(path: &Path, said: &[&str]) {
    let document = fs::read_to_string(root().join(path)).unwrap();
    let place = Place::new();
    let blocks = blocks(&document);
    assert!(!blocks.is_empty(), "{} has nothing to run", path.display());
    let mut terminals = Vec::new();
    let starts_itself = blocks.iter().any(|block| block.is_background && block.text.contains("dev"));
    if !starts_itself {
        terminals.push(Terminal::open(&place, 0, "lunas dev"));
    }
    let mut shell = Shell::open(&place);
    for Block { is_background, text } in blocks {
        match is_background {
            true => {
                let number = terminals.len();
                terminals.push(Terminal::open(&place, number, &text));
            }
            false => shell.run(&place.placed(&text)),
        }
    }
    let printed = || -> String { (0..terminals.len()).map(|n| fs::read_to_string(place.log(n)).unwrap()).collect() };
    for said in said {
        wait(|| printed().contains(said), || format!("nobody says `{said}`: {}", printed()));
    }
}

/// All documents with blocks that are run.
fn documents() -> Vec<PathBuf> {
    let mut found = vec![PathBuf::from("README.md")];
    let mut folders = vec![PathBuf::from("docs")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(root().join(&folder)).unwrap() {
            let path = folder.join(entry.unwrap().file_name());
            match root().join(&path).is_dir() {
                true => folders.push(path),
                false => found.extend(path.extension().is_some_and(|ending| ending == "md").then_some(path)),
            }
        }
    }
    found.retain(|path| !blocks(&fs::read_to_string(root().join(path)).unwrap()).is_empty());
    found.sort();
    found
}

#[test]
fn the_first_payment_guide_leads_to_a_webhook_that_was_verified() {
    follow(Path::new("docs/guides/first-payment.md"), &["ORDER-2 is paid, signature valid"]);
}

#[test]
fn every_command_of_readme_and_the_guides_works_as_it_is_written() {
    let documents = documents();
    assert!(documents.len() > 10, "{documents:?}");
    for path in documents.iter().filter(|path| !path.ends_with("first-payment.md")) {
        follow(path, &[]);
    }
}
