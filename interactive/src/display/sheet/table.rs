//! Sequences of tuples, strings and numbers, and tuples, as tables.

use super::parts::{Column, Grid, Row, ends};
use super::{Cell, Digits, Room, brief, cell as written};
use crate::table::grouped;
use nesl_engine::data::{Elements, Node, ValueType};

/// The characters of a cell, at most, while there is room for them.
const MAX_CELL_CHARS: usize = 60;
/// The characters of a cell, at least.
const MIN_CELL_CHARS: usize = 8;
/// The characters between two columns.
const GAP_CHARS: usize = 2;
/// The number of rows of a strip: a long sequence of numbers says little more on a whole screen.
const MAX_STRIP_ROWS: usize = 12;
/// The characters of a row of a strip.
const MAX_STRIP_CHARS: usize = 112;
/// The numbers of elements in a row of a strip.
const STRIP_LENGTHS: [usize; 4] = [20, 10, 5, 2];

/// A component of tuples, maybe within another.
struct Field<'a> {
    /// The positions from the outermost tuple inwards, from 0 on.
    path: Vec<usize>,
    name: String,
    ty: &'a ValueType,
}

/// Returns the table of a sequence of tuples or records.
pub(super) fn table(elements: &Elements<'_>, digits: Digits, room: Room) -> Grid {
    let mut fields = Vec::new();
    collect_fields(elements.element(), &mut Vec::new(), String::new(), &mut fields);
    let columns: Vec<Column> = fields.iter().map(column).collect();
    let max_cell = max_cell_chars(columns.len(), room);
    fitted(elements.len(), columns, room, |row, column| {
        let mut node = elements.get(row)?;
        for position in &fields[column].path {
            node = match node {
                Node::Tuple(mut parts) | Node::Record(_, mut parts) if *position < parts.len() => {
                    parts.swap_remove(*position)
                }
                _ => return None,
            };
        }
        Some(written(&node, digits, max_cell))
    })
}

fn column(field: &Field<'_>) -> Column {
    Column {
        name: field.name.clone(),
        ty: field.ty.to_string(),
        right: field.ty.is_number(),
        is_gap: false,
    }
}

/// Collects the components of a tuple, in order; those of a nested one stand in its place.
fn collect_fields<'a>(
    ty: &'a ValueType,
    path: &mut Vec<usize>,
    name: String,
    all: &mut Vec<Field<'a>>,
) {
    let (fields, name) = match ty {
        ValueType::Tuple(fields) => (fields, name),
        ValueType::Record(record, fields) if name.is_empty() => (fields, record.clone()),
        ValueType::Record(record, fields) => (fields, format!("{name} {record}")),
        ty => return all.push(Field { path: path.clone(), name, ty }),
    };
    for (position, field) in fields.iter().enumerate() {
        let dot = if name.is_empty() { "" } else { "." };
        path.push(position);
        collect_fields(field, path, format!("{name}{dot}{}", position + 1), all);
        path.pop();
    }
}

/// Returns the table of a matrix.
pub(super) fn matrix(rows: &Elements<'_>, columns: usize, digits: Digits, room: Room) -> Grid {
    let right = rows.element().element().is_some_and(ValueType::is_number);
    let all = ends(columns, room.columns);
    // Only the columns that may be shown get headings.
    let headings = all.iter().map(|index| match index {
        Some(index) => {
            Column { name: grouped(*index as u64), ty: String::new(), right, is_gap: false }
        }
        None => Column::gap(),
    });
    fitted(rows.len(), headings.collect(), room, |row, column| match rows.get(row)? {
        Node::Sequence(row) => Some(written(&row.get(all[column]?)?, digits, MAX_CELL_CHARS)),
        _ => None,
    })
}

/// Returns the table of a sequence of strings.
pub(super) fn texts(elements: &Elements<'_>, digits: Digits, room: Room) -> Grid {
    let columns = [("length", true), ("", false)];
    let columns = columns.map(|(name, right)| Column {
        name: name.to_owned(),
        ty: String::new(),
        right,
        is_gap: false,
    });
    let max_chars = room.width.saturating_sub(16).max(MIN_CELL_CHARS);
    fitted(elements.len(), columns.to_vec(), room, |row, column| {
        let text = elements.get(row)?;
        match (column, &text) {
            (0, Node::Text(bytes)) => Some(grouped(bytes.len() as u64).into()),
            _ => Some(brief(&text, digits, max_chars).text.into()),
        }
    })
}

/// Returns the table of a tuple: a row for each component.
pub(super) fn components(
    fields: &[Node<'_>],
    types: &[ValueType],
    digits: Digits,
    room: Room,
) -> Grid {
    let columns = ["type", "value"];
    let columns = columns.map(|name| Column {
        name: name.to_owned(),
        ty: String::new(),
        right: false,
        is_gap: false,
    });
    let types: Vec<String> = types.iter().map(|ty| ty.to_string()).collect();
    let widest = types.iter().map(|ty| ty.chars().count()).max().unwrap_or(0);
    let max_chars = room.width.saturating_sub(widest + 24).max(MIN_CELL_CHARS);
    let mut grid = fitted(fields.len(), columns.to_vec(), room, |row, column| match column {
        0 => types.get(row).cloned().map(Cell::from),
        _ => fields.get(row).map(|field| brief(field, digits, max_chars).text.into()),
    });
    for row in &mut grid.rows {
        if let Row::Cells(label, _) = row {
            // Components are counted from 1 on, as in the headings of tables.
            *label = label.parse::<usize>().map_or_else(|_| label.clone(), |n| (n + 1).to_string());
        }
    }
    grid
}

/// Returns a long sequence of numbers: so many in a row, under their indices.
pub(super) fn strip(elements: &Elements<'_>, digits: Digits, room: Room) -> Grid {
    let length = elements.len();
    let width = room.width.min(MAX_STRIP_CHARS);
    let cell = |index| elements.get(index).map(|e| written(&e, digits, MAX_CELL_CHARS));
    let max_rows = room.rows.min(MAX_STRIP_ROWS);
    let rows_of = |per_row: usize| ends(length.div_ceil(per_row), max_rows);
    // The widest number that may be shown decides on how many stand in a row.
    let candidates = rows_of(STRIP_LENGTHS[0]);
    let shown = candidates.iter().flatten().flat_map(|row| {
        (row * STRIP_LENGTHS[0]..((row + 1) * STRIP_LENGTHS[0]).min(length)).filter_map(cell)
    });
    let widest = shown.map(|cell| cell.text.chars().count()).max().unwrap_or(1);
    let label = grouped(length as u64).len();
    let fits = |count: &usize| label + count * (widest + GAP_CHARS) <= width;
    let per_row = STRIP_LENGTHS.into_iter().find(fits).unwrap_or(1).min(length.max(1));
    let right = elements.element().is_number();
    let columns = (0..per_row).map(|index| Column {
        name: format!("+{index}"),
        ty: String::new(),
        right,
        is_gap: false,
    });
    let rows = rows_of(per_row).into_iter().map(|row| match row {
        None => Row::Gap,
        Some(row) => {
            let cells = (row * per_row..(row + 1) * per_row).map(|index| {
                (index < length).then(|| cell(index).unwrap_or_else(|| "…".to_owned().into()))
            });
            Row::Cells(grouped((row * per_row) as u64), cells.collect())
        }
    });
    // Rows of which nothing was read are part of the gap.
    let mut all: Vec<Row> = Vec::new();
    for row in rows {
        let is_read =
            matches!(&row, Row::Cells(_, cells) if cells.iter().flatten().any(|c| c.text != "…"));
        match all.last() {
            _ if is_read => all.push(row),
            Some(Row::Gap) => {}
            _ => all.push(Row::Gap),
        }
    }
    Grid { columns: columns.collect(), rows: all }.with_aligned_points()
}

/// Returns the characters that a cell may have, of so many columns.
fn max_cell_chars(columns: usize, room: Room) -> usize {
    let columns = columns.clamp(1, room.columns.max(1));
    (room.width / columns).saturating_sub(GAP_CHARS).clamp(MIN_CELL_CHARS, MAX_CELL_CHARS)
}

/// Returns the table of `rows` rows with as many of the columns as there is room for. A column that is
/// a gap already stays one.
fn fitted(
    rows: usize,
    columns: Vec<Column>,
    room: Room,
    cell: impl Fn(usize, usize) -> Option<Cell>,
) -> Grid {
    let shown_rows = ends(rows, room.rows);
    let label = grouped(rows as u64).len();
    let mut widths = vec![None; columns.len()];
    let mut width = |column: usize| {
        *widths[column].get_or_insert_with(|| {
            let cells = shown_rows.iter().flatten().filter_map(|row| cell(*row, column));
            let heading = columns[column].name.chars().count();
            let heading = heading.max(columns[column].ty.chars().count().min(MAX_CELL_CHARS));
            cells.map(|cell| cell.text.chars().count()).chain([heading]).max().unwrap_or(0)
        })
    };
    let mut count = columns.len().min(room.columns).max(1);
    let shown = loop {
        let shown = ends(columns.len(), count);
        let widths = shown.iter().map(|column| column.map_or(1, &mut width) + GAP_CHARS);
        if count <= 2 || label + widths.sum::<usize>() <= room.width {
            break shown;
        }
        count -= 1;
    };
    let heading =
        |column: &Option<usize>| column.map_or_else(Column::gap, |at| columns[at].clone());
    let mut headings: Vec<Column> = shown.iter().map(heading).collect();
    // Two gaps side by side are one.
    let keep: Vec<bool> = (0..headings.len())
        .map(|at| !(headings[at].is_gap && at > 0 && headings[at - 1].is_gap))
        .collect();
    let kept = |at: &usize| keep[*at];
    let indices: Vec<usize> = (0..headings.len()).filter(kept).collect();
    let all = shown_rows.iter().map(|row| match row {
        None => Row::Gap,
        Some(row) => {
            let cells = indices.iter().map(|at| {
                let is_gap = headings[*at].is_gap;
                let text = shown[*at].filter(|_| !is_gap).and_then(|column| cell(*row, column));
                Some(text.unwrap_or_else(|| "…".to_owned().into()))
            });
            Row::Cells(grouped(*row as u64), cells.collect())
        }
    });
    let rows = all.collect();
    let mut at = 0;
    headings.retain(|_| {
        at += 1;
        keep[at - 1]
    });
    Grid { columns: headings, rows }.with_aligned_points()
}
