//! The parts of an arranged value.

use super::Cell;

/// A value as a table.
#[derive(Clone, Debug, Default)]
pub(crate) struct Grid {
    /// The columns, without that of the rows' labels.
    pub columns: Vec<Column>,
    /// The rows, with dots among them.
    pub rows: Vec<Row>,
}

/// A column of a table.
#[derive(Clone, Debug)]
pub(crate) struct Column {
    /// The heading of the column.
    pub name: String,
    /// The type of the values in it; empty if all columns have the same.
    pub ty: String,
    /// True if the values stand flush right.
    pub right: bool,
    /// True for a column of dots in the place of others.
    pub is_gap: bool,
}

/// A row of a table.
#[derive(Clone, Debug)]
pub(crate) enum Row {
    /// Dots in the place of others.
    Gap,
    /// The label and the cells; one is missing behind the end of a sequence.
    Cells(String, Vec<Option<Cell>>),
}

/// A row of a nested sequence.
#[derive(Clone, Debug)]
pub(crate) enum Segment {
    /// Dots in the place of others, at a level of nesting.
    Gap(usize),
    /// A row with its length and its elements.
    Row {
        /// The level of nesting, from 0 on.
        depth: usize,
        /// The index of the row.
        label: String,
        /// The length, if the row was read.
        length: Option<usize>,
        /// The length as a part of the longest row's, for a bar.
        part: f64,
        /// The elements; `None` if rows of their own have them.
        cells: Option<Vec<Cell>>,
        /// True if there are more elements than cells; they are left out before the last cell.
        is_cut: bool,
    },
}

impl Grid {
    /// The same table with blanks behind numbers, so that the points of a column stand below each other.
    /// A column in which a number has an exponent stays as it is.
    pub(super) fn with_aligned_points(mut self) -> Grid {
        for (at, column) in self.columns.iter().enumerate() {
            // The characters from the point on, of cells that are such numbers.
            let behind = |cell: &Cell| cell.text.find('.').map(|point| cell.text.len() - point);
            let own = || {
                let rows = self.rows.iter().filter_map(|row| match row {
                    Row::Cells(_, cells) => cells.get(at)?.as_ref(),
                    Row::Gap => None,
                });
                rows.filter(|cell| cell.text.contains('.'))
            };
            if !column.right || own().any(|cell| cell.text.contains('E')) {
                continue;
            }
            let most = own().filter_map(behind).max().unwrap_or(0);
            for row in &mut self.rows {
                if let Row::Cells(_, cells) = row
                    && let Some(Some(cell)) = cells.get_mut(at)
                    && let Some(behind) = behind(cell)
                {
                    cell.text += &" ".repeat(most - behind);
                }
            }
        }
        self
    }
}

impl Column {
    /// A column of dots.
    pub(super) fn gap() -> Column {
        Column { name: "…".to_owned(), ty: String::new(), right: false, is_gap: true }
    }
}

/// Returns the indices of `count` things that are shown of `length`: the first and the last, and
/// `None` in the place of those between.
pub(super) fn ends(length: usize, count: usize) -> Vec<Option<usize>> {
    if length <= count {
        return (0..length).map(Some).collect();
    }
    let tail = count / 3;
    let head = count.saturating_sub(1 + tail).max(1);
    let first = (0..head).map(Some);
    first.chain([None]).chain((length - tail..length).map(Some)).collect()
}
