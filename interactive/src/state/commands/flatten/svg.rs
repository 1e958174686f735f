//! A segmented value as a picture.
//!
//! Colours can be read on a white and on a black page; letters have the colour of the page's text.

use super::plan::{Bar, Cell, Plan, Units, plan};
use crate::bundle::escaped;
use nesl_core::explain::SegmentedValue;
use std::fmt::Write;

/// Widths in pixels.
const UNITS: Units = Units { gap: 2, empty: 16, space: [4, 9, 14] };

/// The height of a datum, in pixels.
const CELL_HEIGHT: u32 = 24;

/// The height of a segment, in pixels.
const BAR_HEIGHT: u32 = 15;

/// The height between two rows, in pixels.
const ROW_GAP: u32 = 4;

/// The least width of a datum, in pixels.
const MIN_CELL_WIDTH: u32 = 26;

/// The width of a letter, in pixels.
const LETTER_WIDTH: f64 = 7.3;

/// The colours of the innermost segments, in turn.
const COLORS: [&str; 6] = ["#2f6feb", "#d97706", "#1a9e5c", "#c0399f", "#0f8a8a", "#a3690b"];

/// The colour of the outer segments.
const OUTER: &str = "#8b949e";

/// Returns the picture; empty for a value that has too many data.
pub(super) fn draw(value: &SegmentedValue) -> String {
    let count = value.data.iter().map(Vec::len).max().unwrap_or(0);
    let width = |index: usize| {
        let texts = value.data.iter().filter_map(|column| column.get(index));
        let letters = texts.map(|text| text.chars().count()).max().unwrap_or(0);
        MIN_CELL_WIDTH.max((letters as f64 * LETTER_WIDTH).ceil() as u32 + 12)
    };
    let widths: Vec<u32> = (0..count).map(width).collect();
    let Some(plan) = plan(value, &widths, UNITS) else { return String::new() };
    let row = |height: u32, number: usize| number as u32 * (height + ROW_GAP);
    let (bars, data) = (row(BAR_HEIGHT, plan.rows), row(CELL_HEIGHT, value.data.len()));
    let (above_bars, above_data) = if plan.below { (data, 0) } else { (0, bars) };
    let (width, height) = (plan.width + 1, bars + data + 1);
    let mut out = format!(
        "<svg role=\"img\" aria-label=\"{}\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} \
         {height}\" font-family=\"monospace\" font-size=\"12\" fill=\"currentColor\">",
        escaped(&description(value))
    );
    for bar in &plan.bars {
        draw_bar(&plan, bar, above_bars + row(BAR_HEIGHT, bar.row), &mut out);
    }
    for (number, column) in value.data.iter().enumerate() {
        for cell in &plan.cells {
            let text = column.get(cell.index).map_or("", |text| text);
            draw_cell(cell, above_data + row(CELL_HEIGHT, number), text, &mut out);
        }
    }
    out + "</svg>"
}

fn draw_bar(plan: &Plan, bar: &Bar, y: u32, out: &mut String) {
    let innermost = plan.below || bar.row + 1 == plan.rows;
    let color = if innermost { COLORS[bar.index % COLORS.len()] } else { OUTER };
    let width = (bar.to - bar.from).max(6);
    let dashed = if bar.length == 0 { " stroke-dasharray=\"3 2\"" } else { "" };
    let elements = if bar.length == 1 { "element" } else { "elements" };
    let _ = write!(
        out,
        "<g><title>segment {}: {} {elements}</title><rect x=\"{}\" y=\"{y}\" width=\"{width}\" \
         height=\"{BAR_HEIGHT}\" rx=\"3\" fill=\"{color}\" fill-opacity=\"{}\" stroke=\"{color}\"{dashed}/>",
        bar.index,
        bar.length,
        bar.from,
        if bar.length == 0 { "0" } else { "0.35" },
    );
    text(bar.from + width / 2, y + BAR_HEIGHT / 2, &bar.length.to_string(), out);
    out.push_str("</g>");
}

fn draw_cell(cell: &Cell, y: u32, content: &str, out: &mut String) {
    let color = cell.segment.map_or(OUTER, |segment| COLORS[segment % COLORS.len()]);
    let Cell { x, width, .. } = cell;
    let _ = write!(
        out,
        "<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{CELL_HEIGHT}\" rx=\"2\" fill=\"{color}\" \
         fill-opacity=\"0.12\" stroke=\"{color}\"/>"
    );
    text(x + width / 2, y + CELL_HEIGHT / 2, content, out);
}

fn text(x: u32, y: u32, content: &str, out: &mut String) {
    let _ = write!(
        out,
        "<text x=\"{x}\" y=\"{y}\" text-anchor=\"middle\" dominant-baseline=\"central\">{}</text>",
        escaped(content)
    );
}

/// Returns the picture in words.
fn description(value: &SegmentedValue) -> String {
    let mut out = value.value.clone();
    for (number, level) in value.levels.iter().enumerate() {
        let _ = write!(out, "; level {} has segments of {:?}", number + 1, level.lengths);
    }
    out
}
