//! A segmented value in letters.

use super::plan::{Plan, Units, plan};
use nesl_core::explain::SegmentedValue;

/// Widths in characters.
const UNITS: Units = Units { gap: 1, empty: 1, space: [1, 2, 3] };

/// Returns the picture; empty for a value that has too many data.
pub(super) fn draw(value: &SegmentedValue) -> String {
    let count = value.data.iter().map(Vec::len).max().unwrap_or(0);
    let widths: Vec<u32> = (0..count)
        .map(|index| {
            let texts = value.data.iter().filter_map(|column| column.get(index));
            texts.map(|text| text.chars().count() as u32).max().unwrap_or(1).max(1)
        })
        .collect();
    if value.levels.is_empty() {
        return String::new();
    }
    let Some(plan) = plan(value, &widths, UNITS) else { return String::new() };
    let bars = (0..plan.rows).map(|row| ("lengths", bars(&plan, row)));
    let data = value.data.iter().map(|column| ("data", cells(&plan, column)));
    let lines: Vec<(&str, String)> =
        if plan.below { data.chain(bars).collect() } else { bars.chain(data).collect() };
    let (mut out, mut last) = (String::new(), "");
    for (title, line) in lines {
        let shown = if title == last { "" } else { title };
        out += format!("{shown:<8} {line}").trim_end();
        out.push('\n');
        last = title;
    }
    out
}

/// A line under construction.
struct Line(Vec<char>);

impl Line {
    fn new(width: u32) -> Line {
        Line(vec![' '; width as usize])
    }

    fn put(&mut self, at: u32, text: &str) {
        let places = self.0.iter_mut().skip(at as usize);
        for (place, c) in places.zip(text.chars()) {
            *place = c;
        }
    }
}

impl From<Line> for String {
    fn from(line: Line) -> String {
        line.0.into_iter().collect()
    }
}

/// Returns a row of segments, each with its length in the middle.
fn bars(plan: &Plan, row: usize) -> String {
    let mut line = Line::new(plan.width);
    for bar in plan.bars.iter().filter(|bar| bar.row == row) {
        let width = (bar.to - bar.from) as usize;
        let length = bar.length.to_string();
        line.put(bar.from, &format!("{length:─^width$}"));
    }
    line.into()
}

/// Returns the data of a component, with a dot in each empty segment.
fn cells(plan: &Plan, column: &[String]) -> String {
    let mut line = Line::new(plan.width);
    for cell in &plan.cells {
        line.put(cell.x, column.get(cell.index).map_or("", |text| text));
    }
    if !plan.below {
        for bar in plan.bars.iter().filter(|bar| bar.length == 0) {
            line.put(bar.from, "·");
        }
    }
    line.into()
}
