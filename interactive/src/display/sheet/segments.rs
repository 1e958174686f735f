//! Nested sequences: a line for each row, with its length and as many elements as fit.

use super::parts::{Segment, ends};
use super::{Cell, Digits, Room, brief, cell as written, row_lengths};
use crate::table::grouped;
use nesl_engine::data::{Elements, Node, ValueType};

/// The levels of rows that get lines of their own.
const MAX_LEVELS: usize = 4;
/// The lines of a row with its own rows, at least, where not all fit.
const MIN_GROUP_ROWS: usize = 4;
/// The lines from which on rows of rows have lines of their own although not all fit.
const MIN_NESTED_ROWS: usize = 16;
/// The characters of an element, at most.
const MAX_ELEMENT_CHARS: usize = 28;
/// The characters of the elements of a row, at least.
const MIN_ELEMENTS_CHARS: usize = 8;
/// The characters of the elements of a row, at most.
const MAX_ELEMENTS_CHARS: usize = 84;
/// The characters that a level is indented by.
const INDENT_CHARS: usize = 2;
/// The characters of a row's index and length.
const LABEL_CHARS: usize = 16;

/// Returns the rows of a nested sequence, of which the longest has `longest` elements.
pub(super) fn segments(
    rows: &Elements<'_>,
    longest: usize,
    digits: Digits,
    room: Room,
) -> Vec<Segment> {
    let width =
        room.width.saturating_sub(LABEL_CHARS).clamp(MIN_ELEMENTS_CHARS, MAX_ELEMENTS_CHARS);
    let mut out = Vec::new();
    level(rows, longest, 0, Room { width, ..room }, digits, &mut out);
    out
}

/// Writes the rows of a sequence into the lines of a room, whose width is that of their elements.
fn level(
    rows: &Elements<'_>,
    longest: usize,
    depth: usize,
    room: Room,
    digits: Digits,
    out: &mut Vec<Segment>,
) {
    let Room { rows: max_rows, width, .. } = room;
    // The lines that a row needs with those of its own rows.
    let need = |index: usize| match rows.get(index) {
        Some(Node::Sequence(inner)) => 1 + inner.len(),
        _ => 1,
    };
    let can_nest = has_rows(rows.element()) && depth + 1 < MAX_LEVELS;
    let all_fit = rows.len() <= max_rows
        && (0..rows.len()).map(need).fold(0, usize::saturating_add) <= max_rows;
    let few = (max_rows / MIN_GROUP_ROWS).max(1);
    let nested = can_nest && (all_fit || max_rows >= MIN_NESTED_ROWS || rows.len() <= few);
    let shown = ends(rows.len(), if nested && !all_fit { few } else { max_rows });
    let needs = shown.iter().map(|row| row.map_or(1, need)).collect();
    let shares = shares(max_rows, needs);
    for (row, share) in shown.into_iter().zip(shares) {
        let Some(index) = row else {
            out.push(Segment::Gap(depth));
            continue;
        };
        let (label, found) = (grouped(index as u64), rows.get(index));
        let (length, cells, is_cut, inner) = match &found {
            Some(Node::Sequence(inner)) if nested => (Some(inner.len()), None, false, Some(inner)),
            Some(Node::Sequence(inner)) => {
                let (cells, is_cut) = cells(inner, room, digits);
                (Some(inner.len()), Some(cells), is_cut, None)
            }
            Some(Node::Text(text)) => {
                let node = Node::Text(text);
                (Some(text.len()), Some(vec![brief(&node, digits, width).text.into()]), false, None)
            }
            Some(node) => (None, Some(vec![written(node, digits, width)]), false, None),
            None => (None, Some(Vec::new()), true, None),
        };
        let part = length.map_or(0.0, |length| length as f64 / longest.max(1) as f64);
        out.push(Segment::Row { depth, label, length, part, cells, is_cut });
        if let Some(inner) = inner {
            let narrower = width.saturating_sub(INDENT_CHARS);
            let room = Room { rows: share.saturating_sub(1).max(1), width: narrower, ..room };
            let longest = row_lengths(inner).longest;
            level(inner, longest, depth + 1, room, digits, out);
        }
    }
}

/// Divides lines among rows that need so many each: those that need few get them, and the others share
/// what is left.
fn shares(lines: usize, needs: Vec<usize>) -> Vec<usize> {
    let mut order: Vec<usize> = (0..needs.len()).collect();
    order.sort_by_key(|at| needs[*at]);
    let (mut left, mut shares) = (lines, vec![0; needs.len()]);
    for (done, at) in order.iter().enumerate() {
        shares[*at] = needs[*at].min(left / (needs.len() - done));
        left -= shares[*at];
    }
    shares
}

/// Returns true for sequences of sequences.
fn has_rows(ty: &ValueType) -> bool {
    ty.element().and_then(ValueType::element).is_some() && !is_texts(ty)
}

fn is_texts(ty: &ValueType) -> bool {
    ty.element().and_then(ValueType::element) == Some(&ValueType::Char)
}

/// Returns the elements of a row that fit, and true if others are left out before the last.
fn cells(row: &Elements<'_>, room: Room, digits: Digits) -> (Vec<Cell>, bool) {
    let cell = |index| {
        let cell = row.get(index).map(|e| written(&e, digits, MAX_ELEMENT_CHARS.min(room.width)));
        cell.unwrap_or_else(|| "…".to_owned().into())
    };
    let room_of = |cell: &Cell| cell.text.chars().count() + room.frame;
    let last = row.len().checked_sub(1).map(cell).unwrap_or_default();
    let (mut all, mut used) = (Vec::new(), 0);
    for index in 0..row.len().saturating_sub(1) {
        let text = cell(index);
        // Room for the last one stays.
        if index > 0 && used + room_of(&text) + room_of(&last) > room.width {
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
