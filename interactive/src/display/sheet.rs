//! The arrangement of a value on at most a screen: a line, a text, a table, a matrix or rows of
//! segments, as data. [`super::html`] and [`super::lines`] write it.
//!
//! ```text
//! [(1, 2.5), (2, 3.5)]     table: a column for each component, those of nested tuples too
//! [[1, 2], [3, 4]]         matrix: rows that are equally long
//! [[1], [], [2, 3]]        segments: one line for each row, with its length
//! [0, 1, ... 999]          strip: so many elements in a line, under their indices
//! ```

mod parts;
mod segments;
mod shape;
mod table;

pub(crate) use super::brief::Cell;
use super::brief::{Digits, brief, cell, decoded};
use crate::table::grouped;
use nesl_engine::data::{Elements, Node, Shown, ValueType};

pub(crate) use parts::{Column, Grid, Row, Segment};
pub(crate) use shape::row_lengths;

/// The characters of a value that is shown in one line, at most.
const MAX_LINE_CHARS: usize = 72;

/// The room that a value is shown in.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Room {
    /// The number of rows, without headings.
    pub rows: usize,
    /// The number of columns.
    pub columns: usize,
    /// The number of characters of a row.
    pub width: usize,
    /// The room around an element of a row of segments, in characters.
    pub frame: usize,
}

impl Room {
    /// The room of a screen: 3,000 characters.
    pub(crate) const SCREEN: Room = Room { rows: 25, columns: 12, width: 120, frame: 2 };
    /// The room below an image.
    pub(crate) const BELOW_IMAGE: Room = Room { rows: 10, ..Room::SCREEN };
}

/// A value, arranged.
#[derive(Clone, Debug)]
pub(crate) struct Sheet {
    /// The shape: `1,000 rows`, `64 × 48`; empty for a line.
    pub shape: String,
    /// The value itself.
    pub body: Body,
}

/// The form that a value is shown in.
#[derive(Clone, Debug)]
pub(crate) enum Body {
    /// One line has it all.
    Line(String),
    /// A text of several lines, or a long one.
    Text(String),
    /// A table with headings.
    Grid(Grid),
    /// Rows that may be of different lengths.
    Segments(Vec<Segment>),
}

/// Arranges a value; floats in cells have at most so many significant digits.
pub(crate) fn sheet(shown: &Shown, room: Room, cell_digits: Option<usize>) -> Sheet {
    let digits = Digits { precision: shown.precision(), cell: cell_digits };
    let root = shown.root();
    let line = brief(&root, digits, MAX_LINE_CHARS.min(room.width));
    let fits = line.whole && line.text.chars().count() <= MAX_LINE_CHARS.min(room.width);
    match &root {
        Node::Text(bytes) if !fits || bytes.contains(&b'\n') => text(bytes, room),
        Node::Tuple(fields) | Node::Record(_, fields) if !fits => {
            let types = match shown.ty() {
                ValueType::Tuple(types) | ValueType::Record(_, types) => types.as_slice(),
                _ => &[],
            };
            let shape = format!("{} components", fields.len());
            Sheet { shape, body: Body::Grid(table::components(fields, types, digits, room)) }
        }
        Node::Sequence(elements) if !elements.is_empty() => {
            sequence(elements, digits, room, fits.then_some(line.text))
        }
        _ => Sheet { shape: String::new(), body: Body::Line(line.text) },
    }
}

fn sequence(elements: &Elements<'_>, digits: Digits, room: Room, line: Option<String>) -> Sheet {
    let counted = |what: &str| {
        let end = if elements.len() == 1 { "" } else { "s" };
        format!("{} {what}{end}", grouped(elements.len() as u64))
    };
    match elements.element() {
        ValueType::Tuple(_) | ValueType::Record(..) => {
            let body = Body::Grid(table::table(elements, digits, room));
            Sheet { shape: counted("row"), body }
        }
        ValueType::Sequence(inner) if **inner == ValueType::Char => {
            let body = Body::Grid(table::texts(elements, digits, room));
            Sheet { shape: counted("string"), body }
        }
        ValueType::Sequence(inner) => {
            let lengths = row_lengths(elements);
            match lengths.matrix().filter(|_| is_scalar(inner)) {
                Some(columns) => Sheet {
                    shape: match lengths.known == lengths.rows {
                        true => [elements.len(), columns].map(|n| grouped(n as u64)).join(" × "),
                        false => format!("{}{}", counted("row"), lengths.described()),
                    },
                    body: Body::Grid(table::matrix(elements, columns, digits, room)),
                },
                None => Sheet {
                    shape: format!("{}{}", counted("row"), lengths.described()),
                    body: Body::Segments(segments::segments(
                        elements,
                        lengths.longest,
                        digits,
                        room,
                    )),
                },
            }
        }
        _ => match line {
            Some(line) => Sheet { shape: String::new(), body: Body::Line(line) },
            None => {
                let body = Body::Grid(table::strip(elements, digits, room));
                Sheet { shape: counted("element"), body }
            }
        },
    }
}

fn text(bytes: &[u8], room: Room) -> Sheet {
    let max_chars = room.rows * room.width;
    // A character has at most four bytes.
    let all = decoded(bytes, max_chars * 4).replace("\r\n", "\n").replace('\r', "\n");
    let (mut out, mut rows, mut chars) = (String::new(), 0, 0);
    let mut is_cut = bytes.len() > max_chars * 4;
    for line in all.split_inclusive('\n') {
        // Long lines are wrapped, and take up several.
        let left = (room.rows - rows) * room.width;
        let part: String = line.chars().take(left).collect();
        chars += part.chars().count();
        rows += part.chars().count().div_ceil(room.width).max(1);
        out += &part;
        if rows >= room.rows {
            break;
        }
    }
    is_cut |= chars < all.chars().count();
    let count = grouped(bytes.len() as u64);
    let shape = if is_cut {
        format!("the first {} of {count} characters", grouped(chars as u64))
    } else {
        format!("{count} characters")
    };
    Sheet { shape, body: Body::Text(out) }
}

/// Returns true for values of which a cell has all.
fn is_scalar(ty: &ValueType) -> bool {
    matches!(ty, ValueType::Int | ValueType::Float | ValueType::Bool)
}
