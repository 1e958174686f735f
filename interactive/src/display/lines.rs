//! Arranged values as text for a terminal.

use super::sheet::{Body, Cell, Grid, Room, Row, Segment, sheet};
use crate::table::grouped;
use nesl_engine::data::Shown;

/// Returns a value as lines, the first of them with its shape and its type.
pub(crate) fn value(shown: &Shown, room: Room, digits: Option<usize>) -> String {
    let sheet = sheet(shown, room, digits);
    let ty = shown.ty();
    let body = match &sheet.body {
        Body::Line(line) => return format!("{line} : {ty}"),
        Body::Text(text) => text.trim_end_matches('\n').to_owned(),
        Body::Grid(grid) => table(grid),
        Body::Segments(rows) => segments(rows),
    };
    format!("{} : {ty}\n{body}", sheet.shape)
}

/// Returns a text in so many characters, flush right or left.
fn padded(text: &str, width: usize, right: bool) -> String {
    if right { format!("{text:>width$}") } else { format!("{text:<width$}") }
}

fn width_of(text: &str) -> usize {
    text.chars().count()
}

fn table(grid: &Grid) -> String {
    let dots = "…".to_owned();
    let cells = |row: &Row| -> (String, Vec<String>) {
        match row {
            Row::Gap => (dots.clone(), vec![dots.clone(); grid.columns.len()]),
            Row::Cells(label, cells) => {
                let text = |cell: &Option<Cell>| {
                    cell.as_ref().map_or(String::new(), |cell| cell.text.clone())
                };
                (label.clone(), cells.iter().map(text).collect())
            }
        }
    };
    let headings = grid.columns.iter().map(|column| column.name.clone()).collect();
    let mut all = vec![(String::new(), headings)];
    if grid.columns.iter().any(|column| !column.ty.is_empty()) {
        let types = grid.columns.iter().map(|column| column.ty.clone()).collect();
        all.push((String::new(), types));
    }
    all.extend(grid.rows.iter().map(cells));
    let label = all.iter().map(|(label, _)| width_of(label)).max().unwrap_or(0);
    let widest = |at: usize| all.iter().map(|(_, cells)| width_of(&cells[at])).max().unwrap_or(0);
    let widths: Vec<usize> = (0..grid.columns.len()).map(widest).collect();
    let lines = all.iter().map(|(name, cells)| {
        let mut line = padded(name, label, true);
        for ((column, width), cell) in grid.columns.iter().zip(&widths).zip(cells) {
            line += "  ";
            line += &padded(cell, *width, column.right);
        }
        line.trim_end().to_owned()
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn segments(rows: &[Segment]) -> String {
    // The index and the length of each, in columns that are as wide as the widest.
    let heads: Vec<(String, String)> = rows.iter().map(head).collect();
    let widest = |texts: &mut dyn Iterator<Item = &String>| texts.map(|t| width_of(t)).max();
    let label = widest(&mut heads.iter().map(|(label, _)| label)).unwrap_or(0);
    let length = widest(&mut heads.iter().map(|(_, length)| length)).unwrap_or(0);
    let lines = rows.iter().zip(&heads).map(|(row, (name, count))| {
        let cells = match row {
            Segment::Row { cells: Some(cells), is_cut, .. } => elements(cells, *is_cut),
            _ => String::new(),
        };
        let line = format!("{name:<label$}  {count:>length$}  {cells}");
        line.trim_end().to_owned()
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn head(row: &Segment) -> (String, String) {
    match row {
        Segment::Gap(depth) => (format!("{}…", "  ".repeat(*depth)), String::new()),
        Segment::Row { depth, label, length, .. } => {
            let length = length.map(|length| format!("#{}", grouped(length as u64)));
            (format!("{}{label}", "  ".repeat(*depth)), length.unwrap_or_default())
        }
    }
}

fn elements(cells: &[Cell], is_cut: bool) -> String {
    let cells: Vec<&str> = cells.iter().map(|cell| cell.text.as_str()).collect();
    match cells.split_last() {
        Some((last, head)) if is_cut => format!("{} … {last}", head.join(" ")),
        _ => cells.join(" "),
    }
}
