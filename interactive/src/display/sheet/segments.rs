//! Nested sequences: a line for each row, with its length and as many elements as fit.

use super::parts::{Segment, ends};
use super::{Room, brief, row_lengths};
use crate::table::grouped;
use nesl_engine::data::{Elements, Node, ValueType};
use nesl_runtime::scalar::Precision;

/// The levels of rows that get lines of their own.
const MAX_LEVELS: usize = 4;
/// The lines of a row that itself has rows, at least.
const MIN_GROUP_ROWS: usize = 4;
/// The characters of an element, at most.
const MAX_ELEMENT_CHARS: usize = 28;
/// The characters of the elements of a row.
const MAX_ELEMENTS_CHARS: usize = 100;
/// The characters that a level is indented by.
const INDENT_CHARS: usize = 2;
/// The characters of a row's index and length.
const LABEL_CHARS: usize = 16;

/// Returns the rows of a nested sequence.
pub(super) fn segments(rows: &Elements<'_>, precision: Precision, room: Room) -> Vec<Segment> {
    let width = room.width.saturating_sub(LABEL_CHARS).clamp(MAX_ELEMENT_CHARS, MAX_ELEMENTS_CHARS);
    let mut out = Vec::new();
    level(rows, 0, room.rows, width, precision, &mut out);
    out
}

/// Writes the rows of a sequence into at most `max_rows` lines.
fn level(
    rows: &Elements<'_>,
    depth: usize,
    max_rows: usize,
    width: usize,
    precision: Precision,
    out: &mut Vec<Segment>,
) {
    let longest = row_lengths(rows).longest.max(1);
    let nested = has_rows(rows.element()) && depth + 1 < MAX_LEVELS && max_rows >= MIN_GROUP_ROWS;
    let count = if nested { (max_rows / MIN_GROUP_ROWS).max(1) } else { max_rows };
    let shown = ends(rows.len(), count);
    let gaps = shown.iter().filter(|row| row.is_none()).count();
    let each = (max_rows - gaps.min(max_rows)) / (shown.len() - gaps).max(1);
    for row in shown {
        let Some(index) = row else {
            out.push(Segment::Gap(depth));
            continue;
        };
        let (label, found) = (grouped(index as u64), rows.get(index));
        let (length, cells, is_cut, inner) = match &found {
            Some(Node::Sequence(inner)) if nested => (Some(inner.len()), None, false, Some(inner)),
            Some(Node::Sequence(inner)) => {
                let (cells, is_cut) = cells(inner, width, precision);
                (Some(inner.len()), Some(cells), is_cut, None)
            }
            Some(Node::Text(text)) => {
                let node = Node::Text(text);
                (Some(text.len()), Some(vec![brief(&node, precision, width).text]), false, None)
            }
            Some(node) => (None, Some(vec![brief(node, precision, width).text]), false, None),
            None => (None, Some(Vec::new()), true, None),
        };
        let part = length.map_or(0.0, |length| length as f64 / longest as f64);
        out.push(Segment::Row { depth, label, length, part, cells, is_cut });
        if let Some(inner) = inner {
            let narrower = width.saturating_sub(INDENT_CHARS);
            level(inner, depth + 1, each.saturating_sub(1).max(1), narrower, precision, out);
        }
    }
}

/// Returns true for sequences of sequences.
fn has_rows(ty: &ValueType) -> bool {
    ty.element().and_then(ValueType::element).is_some() && !is_texts(ty)
}

fn is_texts(ty: &ValueType) -> bool {
    ty.element().and_then(ValueType::element) == Some(&ValueType::Char)
}

/// Returns the elements of a row that fit, and true if others are left out before the last.
fn cells(row: &Elements<'_>, width: usize, precision: Precision) -> (Vec<String>, bool) {
    let cell = |index| {
        let text = row.get(index).map(|e| brief(&e, precision, MAX_ELEMENT_CHARS).text);
        text.unwrap_or_else(|| "…".to_owned())
    };
    let room_of = |text: &str| text.chars().count() + 1;
    let last = row.len().checked_sub(1).map(cell).unwrap_or_default();
    let (mut all, mut used) = (Vec::new(), 0);
    for index in 0..row.len().saturating_sub(1) {
        let text = cell(index);
        // Room for the last one stays.
        if index > 0 && used + room_of(&text) + room_of(&last) > width {
            all.push(last);
            return (all, true);
        }
        used += room_of(&text);
        all.push(text);
    }
    if !row.is_empty() {
        all.push(last);
    }
    (all, false)
}
