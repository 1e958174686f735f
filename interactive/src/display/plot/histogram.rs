//! Histograms: the widths of their bars by the rule of Freedman and Diaconis.

use super::area::Area;
use super::axis::{Scale, short_text};
use super::chart::{Axis, noted};
use super::data::{note_not_finite, numbers};
use super::svg::{AREA_HEIGHT_PIXELS, AREA_WIDTH_PIXELS, Around, COLOURS, Paper};
use super::text::{HEIGHT_CHARS, WIDTH_CHARS, columns_beside, framed};
use super::{Kind, spec};
use crate::bundle::Bundle;
use crate::table::grouped;
use nesl_engine::data::{Shown, ValueType, until_stopped};
use serde_json::json;
use std::sync::atomic::AtomicBool;

/// The bars of a histogram.
const MAX_BARS: usize = WIDTH_CHARS;

/// The numbers by which the spread is found; of more of them one of every so many.
const MAX_SPREAD_NUMBERS: usize = 1 << 20;

/// The numbers of values in intervals of one width.
struct Bars {
    low: f64,
    width: f64,
    counts: Vec<usize>,
    /// The distance of the outermost numbers from the ends of their bars, if they are whole.
    margin: f64,
}

/// Returns the histogram of a sequence of numbers.
pub(super) fn bundle(
    shown: &Shown,
    screen: Option<usize>,
    stop: &AtomicBool,
) -> Result<Bundle, String> {
    let (numbers, not_finite) = numbers(shown, Kind::Histogram, stop)?;
    if numbers.is_empty() {
        return Err("there is no number to count".to_owned());
    }
    let mut element = shown.ty();
    while let Some(inner) = element.element() {
        element = inner;
    }
    let bars = bars(&numbers, *element == ValueType::Int, stop);
    let mut notes = Vec::new();
    note_not_finite(not_finite, &mut notes);
    let plain = noted(text(&bars, screen), &notes);
    let (svg, plot) = (Some(svg(&bars, &notes)), Some(specification(&bars, &notes)));
    Ok(Bundle { svg, plot, ..Bundle::text(plain) })
}

impl Bars {
    fn high(&self) -> f64 {
        self.low + self.width * self.counts.len() as f64
    }

    fn tallest(&self) -> usize {
        self.counts.iter().copied().max().unwrap_or(0)
    }

    /// Returns the histogram in words.
    fn described(&self) -> String {
        format!(
            "Histogram of {} numbers from {} to {} in {} bars, of which the tallest counts {}.",
            grouped(self.counts.iter().sum::<usize>() as u64),
            short_text(self.low + self.margin),
            short_text(self.high() - self.margin),
            self.counts.len(),
            grouped(self.tallest() as u64)
        )
    }

    /// Returns the ends and the count of each bar.
    fn each(&self) -> impl Iterator<Item = (f64, f64, usize)> {
        let end = |at: usize| self.low + self.width * at as f64;
        self.counts.iter().enumerate().map(move |(at, count)| (end(at), end(at + 1), *count))
    }
}

/// Counts numbers, of which there is at least one. Whole numbers get bars of a whole width.
fn bars(numbers: &[f64], whole: bool, stop: &AtomicBool) -> Bars {
    let low = until_stopped(numbers.iter().copied(), stop).fold(f64::INFINITY, f64::min);
    let high = until_stopped(numbers.iter().copied(), stop).fold(f64::NEG_INFINITY, f64::max);
    let count = numbers.len();
    let step = count.div_ceil(MAX_SPREAD_NUMBERS);
    let mut some: Vec<f64> = until_stopped(numbers.iter().copied().step_by(step), stop).collect();
    let mut at = |part: usize| match some.len() {
        0 => 0.0,
        count => *some.select_nth_unstable_by((count - 1) * part / 4, f64::total_cmp).1,
    };
    let between_quarters = at(3) - at(1);
    let span = high - low;
    let rule = 2.0 * between_quarters / (count as f64).cbrt();
    // Where half of the numbers are equal, the number of bars by that of the numbers.
    let rule = if rule > 0.0 { rule } else { span / ((count as f64).log2() + 1.0) };
    let mut width = rule.max(span / MAX_BARS as f64);
    if whole {
        // One interval more than the span has: the last number has a bar of its own.
        width = width.max((span + 1.0) / MAX_BARS as f64).round().max(1.0);
        while (span + 1.0) / width > MAX_BARS as f64 {
            width += 1.0;
        }
    }
    if !(width > 0.0 && low + width > low) {
        width = (low.abs() * 1e-3).max(1.0);
    }
    let span = if whole { span + 1.0 } else { span };
    let bars = ((span / width).ceil() as usize).clamp(1, MAX_BARS);
    let width = if whole { width } else { (span / bars as f64).max(f64::MIN_POSITIVE) };
    let width = if low + width > low { width } else { (low.abs() * 1e-3).max(1.0) };
    let mut counts = vec![0; bars];
    for x in until_stopped(numbers.iter(), stop) {
        let bar = ((*x - low) / width) as usize;
        counts[bar.min(bars - 1)] += 1;
    }
    // A whole number stands below the middle of its bar.
    let margin = if whole { 0.5 } else { 0.0 };
    Bars { low: low - margin, width, counts, margin }
}

fn text(bars: &Bars, screen: Option<usize>) -> String {
    const EIGHTHS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let tallest = bars.tallest().max(1);
    let scale = Scale::exact(0.0, tallest as f64);
    let columns = columns_beside(scale, screen);
    let all = bars.counts.len();
    let heights: Vec<usize> = (0..columns)
        .map(|column| {
            // Where there are more bars than columns, the tallest of some stands for them.
            let from = column * all / columns;
            let to = ((column + 1) * all / columns).clamp(from + 1, all);
            let count = bars.counts[from..to].iter().max().copied().unwrap_or(0);
            // What is there is seen.
            (count * HEIGHT_CHARS * 8).div_ceil(tallest)
        })
        .collect();
    let row = |row: usize| {
        let below = (HEIGHT_CHARS - 1 - row) * 8;
        heights.iter().map(|height| EIGHTHS[height.saturating_sub(below).min(8)]).collect()
    };
    let rows = (0..HEIGHT_CHARS).map(row).collect();
    framed(rows, columns, scale, (bars.low + bars.margin, bars.high() - bars.margin))
}

fn svg(bars: &Bars, notes: &[String]) -> String {
    let none = Axis::default();
    let x = Scale::of(&none, [bars.low, bars.high()].into_iter());
    let y = Scale::exact(0.0, bars.tallest() as f64 * 1.04);
    let (width, height) = (AREA_WIDTH_PIXELS, AREA_HEIGHT_PIXELS);
    let described = &bars.described();
    let around = Around { titles: ["", "count"], notes, described, ..Around::default() };
    let mut paper = Paper::new(Area { x, y, width, height }, around);
    paper.element(&format!("<g fill=\"{}\" stroke=\"#ffffff\" stroke-width=\"0.6\">", COLOURS[0]));
    for (from, to, count) in bars.each() {
        let (left, right) = (paper.across(from), paper.across(to));
        let (top, bottom) = (paper.up(count as f64), paper.up(0.0));
        if count > 0 {
            paper.element(&format!(
                "<rect x=\"{left:.1}\" y=\"{top:.1}\" width=\"{:.1}\" height=\"{:.1}\"/>",
                right - left,
                bottom - top
            ));
        }
    }
    paper.element("</g>");
    paper.done()
}

fn specification(bars: &Bars, notes: &[String]) -> serde_json::Value {
    let mut spec = spec::frame(notes, &bars.described());
    let values: Vec<_> = bars
        .each()
        .map(|(from, to, count)| json!({ "from": from, "to": to, "count": count }))
        .collect();
    spec["data"] = json!({ "values": values });
    spec["mark"] = json!({ "type": "bar", "tooltip": true, "color": COLOURS[0] });
    spec["encoding"] = json!({
        "x": {
            "field": "from",
            "bin": "binned",
            "type": "quantitative",
            "title": null,
            "scale": { "zero": false },
        },
        "x2": { "field": "to" },
        "y": { "field": "count", "type": "quantitative", "title": "count" },
    });
    spec
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_count_everything() {
        let stop = AtomicBool::new(false);
        for whole in [false, true] {
            for numbers in [
                vec![3.0],
                vec![3.0; 1000],
                (0..1000).map(f64::from).collect(),
                vec![0.0, 0.0, 0.0, 0.0, 0.0, 1e9],
                vec![-1e300, 1e300],
                vec![1e300, 1e300],
                vec![0.0, 5e-324],
                vec![1e16, 1e16 + 2.0, 1e16 + 4.0],
            ] {
                let count = numbers.len();
                let bars = bars(&numbers, whole, &stop);
                assert_eq!(bars.counts.iter().sum::<usize>(), count);
                assert!(bars.counts.len() <= MAX_BARS && bars.high() > bars.low);
            }
        }
        let dice = vec![1.0, 2.0, 2.0, 3.0, 6.0, 6.0, 6.0];
        assert_eq!(bars(&dice, true, &stop).width.fract(), 0.0);
    }
}
