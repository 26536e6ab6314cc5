//! The results of the groups, as a table for people or as JSON for programs.

use serde::Serialize;

use crate::rounds::Measured;

/// The result of one measurement: a row of the table.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Finding {
    pub(crate) group: &'static str,
    pub(crate) product: String,
    pub(crate) ceiling: String,
    pub(crate) ratio: String,
    pub(crate) goal: String,
    /// Whether the goal is reached; none when there is no goal.
    pub(crate) holds: Option<bool>,
}

pub(crate) struct Report {
    json: bool,
    findings: Vec<Finding>,
}

impl Report {
    pub(crate) fn new(json: bool) -> Report {
        Report { json, findings: Vec::new() }
    }

    pub(crate) fn add(&mut self, findings: Vec<Finding>) {
        for finding in findings {
            if self.json {
                println!("{}", serde_json::to_string(&finding).unwrap_or_default());
            } else {
                eprintln!("{}: {} to {}: {}", finding.group, finding.product, finding.ceiling, finding.ratio);
            }
            self.findings.push(finding);
        }
    }

    pub(crate) fn close(self) {
        if self.json {
            return;
        }
        let head = ["group", "product", "ceiling", "ratio (spread)", "goal", "holds"].map(str::to_owned);
        let rows = self.findings.into_iter().map(|finding| {
            let holds = match finding.holds {
                Some(true) => "yes",
                Some(false) => "NO",
                None => "-",
            };
            [finding.group.to_owned(), finding.product, finding.ceiling, finding.ratio, finding.goal, holds.to_owned()]
        });
        let table: Vec<[String; 6]> = std::iter::once(head).chain(rows).collect();
        for row in &table {
            let cells = row.iter().enumerate().map(|(column, cell)| {
                let width = table.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
                format!("{cell:width$}")
            });
            println!("{}", cells.collect::<Vec<_>>().join("  ").trim_end());
        }
    }
}

/// A percentile of times in ascending order, as `1.2 ms`.
pub(crate) fn millis(sorted_micros: &[u128], percent: usize) -> String {
    let at = (sorted_micros.len() * percent / 100).min(sorted_micros.len().saturating_sub(1));
    let micros = sorted_micros.get(at).copied().unwrap_or_default();
    milliseconds(u64::try_from(micros).unwrap_or(u64::MAX))
}

/// `1.2 ms` for 1234 microseconds.
pub(crate) fn milliseconds(micros: u64) -> String {
    format!("{}.{:01} ms", micros / 1_000, micros % 1_000 / 100)
}

/// `1.234` for 1234 thousandths.
pub(crate) fn decimal(thousandths: u64) -> String {
    format!("{}.{:02}", thousandths / 1_000, thousandths % 1_000 / 10)
}

/// The median of the ratios, and the range of all of them.
pub(crate) fn spread(measured: &Measured) -> String {
    let (least, most) = (measured.ratios.first().copied(), measured.ratios.last().copied());
    let (least, most) = (least.unwrap_or_default(), most.unwrap_or_default());
    format!("{} ({} to {})", decimal(measured.median()), decimal(least), decimal(most))
}

/// A ratio that must be at least `goal` thousandths.
pub(crate) fn at_least(group: &'static str, measured: &Measured, goal: u64) -> Finding {
    Finding {
        group,
        product: format!("{}/s", measured.product),
        ceiling: format!("{}/s", measured.ceiling),
        ratio: spread(measured),
        goal: format!(">= {}", decimal(goal)),
        holds: Some(measured.median() >= goal),
    }
}

/// A ratio without a goal.
pub(crate) fn orientation(group: &'static str, measured: &Measured) -> Finding {
    Finding { goal: "-".to_owned(), holds: None, ..at_least(group, measured, 0) }
}

/// A cost that must be at most `most` thousandths of another one. The first side of `measured` is the cheap one, so
/// that the ratio of the rates is the ratio of the costs.
pub(crate) fn cost(group: &'static str, measured: &Measured, most: u64) -> Finding {
    Finding {
        group,
        product: format!("{}/s", measured.ceiling),
        ceiling: format!("{}/s", measured.product),
        ratio: spread(measured),
        goal: format!("<= {}", decimal(most)),
        holds: Some(measured.median() <= most),
    }
}

pub(crate) fn memory(group: &'static str, when: &str, kib: u64, mib_most: u64) -> Finding {
    Finding {
        group,
        product: format!("{} MiB", kib / 1024),
        ceiling: when.to_owned(),
        ratio: "-".to_owned(),
        goal: format!("<= {mib_most} MiB"),
        holds: Some(kib <= mib_most * 1024),
    }
}
