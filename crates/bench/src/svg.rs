//! The curves of `growth` as a picture: one second divided by the rate, which is the time for one request with both cores
//! busy, by the number of payments. Both are on scales of powers of ten.

use std::fmt::Write;

use crate::curve::{Curve, Grown, Point};

const WIDTH: u64 = 760;
const PANEL_HEIGHT: u64 = 330;
const LEFT: u64 = 76;
const RIGHT: u64 = 240;
const TOP: u64 = 44;
const BOTTOM: u64 = 52;
/// The least between two labels at the right.
const LABELS_APART: u64 = 17;
/// Fractional bits of a logarithm.
const FRACTION_BITS: u32 = 10;

/// Readable on light and dark grounds; the picture itself has none.
const STYLE: &str = "text{font:13px system-ui,sans-serif;fill:#333}.title{font-weight:600;font-size:15px}\
    .grid{stroke:#8886;stroke-width:1}.line{fill:none;stroke-width:2.5}.faster{stroke-dasharray:7 5}\
    @media(prefers-color-scheme:dark){text{fill:#ddd}}";
const COLOURS: [&str; 6] = ["#2f7fd6", "#d9822b", "#3a9a5b", "#b8539b", "#8a7a2f", "#d24d4d"];

/// The whole picture: one panel for each curve.
pub(crate) fn picture(curves: &[Curve]) -> String {
    let height = PANEL_HEIGHT * curves.len() as u64;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" width=\"{WIDTH}\" height=\"{height}\" \
         role=\"img\" aria-label=\"Time for one request by the number of payments\">\n<style>{STYLE}</style>\n"
    );
    for (number, curve) in (0..).zip(curves) {
        panel(&mut svg, curve, number * PANEL_HEIGHT);
    }
    svg.push_str("</svg>\n");
    svg
}

/// The logarithms of what a scale begins and ends with, and where that is in the picture.
struct Scale {
    from: u64,
    to: u64,
    begin: u64,
    length: u64,
}

impl Scale {
    /// From the power of ten below the smallest value to the one above the largest.
    fn of(values: impl Iterator<Item = u64> + Clone, begin: u64, length: u64) -> Scale {
        let least = values.clone().min().unwrap_or(1).max(1);
        let most = values.max().unwrap_or(1).max(least + 1);
        let (from, to) = (10_u64.pow(least.ilog10()), 10_u64.pow((most - 1).ilog10() + 1));
        Scale { from: logarithm(from), to: logarithm(to), begin, length }
    }

    fn at(&self, value: u64) -> u64 {
        let value = logarithm(value).clamp(self.from, self.to);
        self.begin + (value - self.from) * self.length / (self.to - self.from).max(1)
    }

    /// The powers of ten on it.
    fn powers(&self) -> impl Iterator<Item = u64> {
        (0..19).map(|exponent| 10_u64.pow(exponent)).filter(|power| (self.from..=self.to).contains(&logarithm(*power)))
    }
}

fn panel(svg: &mut String, curve: &Curve, top: u64) {
    let points = || curve.operations.iter().flat_map(|grown| &grown.points);
    let across = Scale::of(points().map(|point| point.payments), LEFT, WIDTH - LEFT - RIGHT);
    let (high, tall) = (top + TOP, PANEL_HEIGHT - TOP - BOTTOM);
    let up = Scale::of(points().map(nanos), 0, tall);
    let height_of = |nanos: u64| high + tall - up.at(nanos);
    let (right, low) = (WIDTH - RIGHT, high + tall);
    text(svg, LEFT, top + 24, "title", &format!("{}: one second divided by the rate", curve.title));
    for power in up.powers() {
        let y = height_of(power);
        line(svg, (LEFT, y), (right, y));
        let _ =
            writeln!(svg, "<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{}</text>", LEFT - 8, y + 4, duration(power));
    }
    for power in across.powers() {
        let x = across.at(power);
        line(svg, (x, high), (x, low));
        let exponent = power.ilog10();
        let _ = writeln!(
            svg,
            "<text x=\"{x}\" y=\"{}\" text-anchor=\"middle\">10<tspan dy=\"-5\" font-size=\"10\">{exponent}</tspan></text>",
            low + 19
        );
    }
    let middle = LEFT + (right - LEFT) / 2;
    let _ = writeln!(svg, "<text x=\"{middle}\" y=\"{}\" text-anchor=\"middle\">payments</text>", low + 40);
    let mut labels = Vec::new();
    for (grown, colour) in curve.operations.iter().zip(COLOURS.iter().cycle()) {
        let place = |point: &Point| format!("{},{}", across.at(point.payments), height_of(nanos(point)));
        let places: Vec<String> = grown.points.iter().map(place).collect();
        let class = if grown.holds() { "line" } else { "line faster" };
        let _ = writeln!(svg, "<polyline class=\"{class}\" stroke=\"{colour}\" points=\"{}\"/>", places.join(" "));
        labels.extend(grown.points.last().map(|last| (height_of(nanos(last)), label(grown, last), *colour)));
    }
    place_labels(svg, labels, right + 10);
}

fn label(grown: &Grown, last: &Point) -> String {
    let faster = if grown.holds() { "" } else { ", faster than log n" };
    format!("{} {}/s{faster}", grown.name, last.per_second)
}

/// From top to bottom, each below the one before.
fn place_labels(svg: &mut String, mut labels: Vec<(u64, String, &str)>, x: u64) {
    labels.sort_unstable();
    let mut free = 0;
    for (y, label, colour) in labels {
        let y = (y + 4).max(free);
        free = y + LABELS_APART;
        let _ = writeln!(svg, "<text x=\"{x}\" y=\"{y}\" style=\"fill:{colour}\">{label}</text>");
    }
}

fn text(svg: &mut String, x: u64, y: u64, class: &str, words: &str) {
    let _ = writeln!(svg, "<text x=\"{x}\" y=\"{y}\" class=\"{class}\">{words}</text>");
}

fn line(svg: &mut String, from: (u64, u64), to: (u64, u64)) {
    let ((x1, y1), (x2, y2)) = (from, to);
    let _ = writeln!(svg, "<line class=\"grid\" x1=\"{x1}\" y1=\"{y1}\" x2=\"{x2}\" y2=\"{y2}\"/>");
}

fn nanos(point: &Point) -> u64 {
    1_000_000_000 / point.per_second.max(1)
}

/// A power of ten of nanoseconds in words.
fn duration(nanos: u64) -> String {
    match nanos {
        0..1_000 => format!("{nanos} ns"),
        1_000..1_000_000 => format!("{} µs", nanos / 1_000),
        1_000_000..1_000_000_000 => format!("{} ms", nanos / 1_000_000),
        _ => format!("{} s", nanos / 1_000_000_000),
    }
}

/// To the base of two, with [`FRACTION_BITS`]: squaring a number doubles its logarithm, so each square gives one more bit.
fn logarithm(value: u64) -> u64 {
    const ONE_BITS: u32 = 32;
    let whole = value.max(1).ilog2();
    let mut rest = (u128::from(value.max(1)) << ONE_BITS) >> whole;
    let mut result = u64::from(whole);
    for _ in 0..FRACTION_BITS {
        rest = (rest * rest) >> ONE_BITS;
        let bit = rest >> (ONE_BITS + 1);
        rest >>= bit;
        result = (result << 1) | u64::from(bit > 0);
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_factors_are_equal_distances() {
        let scale = Scale::of([10_000, 1_000_000].into_iter(), 100, 600);
        let at = [10_000, 100_000, 1_000_000].map(|value| scale.at(value));
        assert_eq!((at[0], at[2]), (100, 700));
        assert!(at[1].abs_diff(400) <= 1, "{at:?}");
        assert!(scale.at(31_623).abs_diff(250) <= 1);
        assert_eq!(scale.powers().collect::<Vec<_>>(), [10_000, 100_000, 1_000_000]);
    }
}
