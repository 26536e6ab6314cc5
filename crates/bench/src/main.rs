//! Compares the product with ceilings on the same machine at the same time, and prints the ratios.
//!
//! Every server is this program started again as a child process: `bench lunas …` is the product itself, `bench ceiling
//! …` is one of the small servers that it is compared with. All of them have the same number of worker threads.
//! PostgreSQL runs in a private cluster, and the product on PostgreSQL is compared with pgbench.

mod anonymous;
mod attempts;
mod banks;
mod bench;
mod ceiling;
mod checkout;
mod curve;
mod dashboard;
mod database;
mod deliver;
mod directory;
mod disk;
mod groups;
mod growth;
mod issuing;
mod keys;
mod latency;
mod lists;
mod load;
mod open_loop;
mod peers;
mod pgbench;
mod postgres;
mod prefill;
mod process;
mod receiver;
mod refund_lists;
mod refunds;
mod report;
mod requests;
mod rounds;
mod shop;
mod svg;
mod watchers;
mod webhooks;

use std::{path::PathBuf, process::ExitCode, time::Duration};

use clap::{Parser, ValueEnum};

use bench::{Bench, PostgresDatabases};
use groups::Group;

#[derive(Parser)]
#[command(name = "bench", about = "Measures Lunas against ceilings on this machine.")]
struct Arguments {
    /// What to measure; everything when nothing is named.
    groups: Vec<Group>,
    /// Print one line of JSON per group instead of a table.
    #[arg(long)]
    json: bool,
    /// How long each side of a round runs, such as 4 or 0.5.
    #[arg(long, default_value = "4", value_parser = seconds)]
    seconds: Duration,
    /// How often product and ceiling take turns.
    #[arg(long, default_value_t = 3)]
    rounds: usize,
    /// How many payments the databases hold before anything is measured.
    #[arg(long, default_value_t = 200_000)]
    prefill: u64,
    /// How many payments, and refunds, the large lists hold; the small ones hold a thousandth.
    #[arg(long, default_value_t = 1_000_000)]
    large: u64,
    /// How many payments the largest database of `growth` and `pg-growth` holds. The smallest holds 10,000, and each one ten
    /// times as many as the one before.
    #[arg(long, default_value_t = 1_000_000)]
    growth_most: u64,
    /// Draw the curves of `growth` and `pg-growth` into this file.
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
}

fn seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.parse().map_err(|_| "it is a number".to_owned())?;
    Duration::try_from_secs_f64(seconds).map_err(|error| error.to_string())
}

fn main() -> ExitCode {
    let mut words = std::env::args_os().skip(1).peekable();
    match words.peek().and_then(|word| word.to_str()) {
        Some("lunas") => return lunas::run_from(words),
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
    let groups = if arguments.groups.is_empty() { Group::value_variants().to_vec() } else { arguments.groups };
    let mut bench = Bench {
        duration: arguments.seconds,
        rounds: arguments.rounds.max(1),
        prefill: arguments.prefill,
        large: arguments.large,
        growth_most: arguments.growth_most,
        curves: Vec::new(),
        prefilled: None,
        lists: None,
        postgres: PostgresDatabases::default(),
    };
    let mut report = report::Report::new(arguments.json);
    for group in groups {
        report.add(bench.run(group).await?);
    }
    report.close();
    if !arguments.json {
        bench.curves.iter().for_each(|curve| print!("\n{}", curve.text()));
    }
    match arguments.svg {
        Some(file) => std::fs::write(file, svg::picture(&bench.curves)),
        None => Ok(()),
    }
}
