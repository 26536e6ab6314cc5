//! What was found, for people or for programs.

use serde::Serialize;

/// A row of the table.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Finding {
    pub(crate) group: &'static str,
    pub(crate) product: String,
    pub(crate) ceiling: String,
    pub(crate) ratio: String,
    pub(crate) goal: String,
    /// Nothing when the figure is for orientation only.
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

/// The time that so many of a hundred do not exceed, of times in ascending order, as `1.2 ms`.
pub(crate) fn millis(sorted_micros: &[u128], percent: usize) -> String {
    let at = (sorted_micros.len() * percent / 100).min(sorted_micros.len().saturating_sub(1));
    let micros = sorted_micros.get(at).copied().unwrap_or_default();
    format!("{}.{:01} ms", micros / 1_000, micros % 1_000 / 100)
}

/// `1.234` for 1234 thousandths.
pub(crate) fn decimal(thousandths: u64) -> String {
    format!("{}.{:02}", thousandths / 1_000, thousandths % 1_000 / 10)
}
