//! Measures the product against ceilings on the same machine in the same minute. What it prints are ratios.
//!
//! Every server is this program started again as a child process: `bench lunas …` is the product itself, `bench ceiling …`
//! one of the small honest programs that it is compared with. All of them get the same number of worker threads.

mod ceiling;
mod groups;
mod load;
mod peers;
mod prefill;
mod process;
mod receiver;
mod report;
mod rounds;
mod webhooks;

use std::{process::ExitCode, time::Duration};

use clap::Parser;

use groups::{Bench, Group};

#[derive(Parser)]
#[command(name = "bench", about = "Measures Lunas against ceilings on this machine.")]
struct Arguments {
    /// What to measure; everything when nothing is named.
    groups: Vec<Group>,
    /// Print one line of JSON per group instead of a table.
    #[arg(long)]
    json: bool,
    /// How long each side of a round runs.
    #[arg(long, default_value_t = 4)]
    seconds: u64,
    /// How often product and ceiling take turns.
    #[arg(long, default_value_t = 3)]
    rounds: usize,
    /// How many payments the databases hold before anything is measured.
    #[arg(long, default_value_t = 200_000)]
    prefill: u64,
    /// How many payments the large lists hold; the small ones hold a thousandth.
    #[arg(long, default_value_t = 1_000_000)]
    large: u64,
}

fn main() -> ExitCode {
    let mut words = std::env::args_os().skip(1).peekable();
    match words.peek().and_then(|word| word.to_str()) {
        Some("lunas") => return server::cli::run_from(words),
        Some("ceiling") => return ceiling::run(words.skip(1).collect()),
        _ => {}
    }
    match tokio::runtime::Runtime::new()
        .map_err(|error| error.to_string())
        .and_then(|runtime| runtime.block_on(measure(Arguments::parse())).map_err(|error| error.to_string()))
    {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("bench: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn measure(arguments: Arguments) -> std::io::Result<()> {
    let groups = if arguments.groups.is_empty() { Group::ALL.to_vec() } else { arguments.groups };
    let mut bench = Bench {
        duration: Duration::from_secs(arguments.seconds),
        rounds: arguments.rounds.max(1),
        prefill: arguments.prefill,
        large: arguments.large,
        prefilled: None,
        lists: None,
    };
    let mut report = report::Report::new(arguments.json);
    for group in groups {
        report.add(bench.run(group).await?);
    }
    report.close();
    Ok(())
}
