//! The lengths of the rows of a nested sequence.

use crate::table::grouped;
use nesl_engine::data::{Elements, Node};

/// The number of rows whose lengths are looked at.
const MAX_SCANNED_ROWS: usize = 1 << 20;

/// The lengths of the rows of a nested sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RowLengths {
    /// The number of rows.
    pub rows: usize,
    /// The length of the shortest row.
    pub shortest: usize,
    /// The length of the longest row.
    pub longest: usize,
    /// The number of rows whose lengths are known.
    pub known: usize,
}

/// Returns the lengths of the rows of a nested sequence, as far as they were read.
pub(crate) fn row_lengths(rows: &Elements<'_>) -> RowLengths {
    let mut all = RowLengths { rows: rows.len(), shortest: usize::MAX, longest: 0, known: 0 };
    for index in 0..rows.len().min(MAX_SCANNED_ROWS) {
        let length = match rows.get(index) {
            Some(Node::Sequence(row)) => row.len(),
            Some(Node::Text(text)) => text.len(),
            _ => continue,
        };
        all.shortest = all.shortest.min(length);
        all.longest = all.longest.max(length);
        all.known += 1;
    }
    all.shortest = all.shortest.min(all.longest);
    all
}

impl RowLengths {
    /// Returns the number of columns if the rows make a matrix of at least two rows and columns.
    pub(crate) fn matrix(&self) -> Option<usize> {
        let is_matrix = self.known > 1 && self.shortest == self.longest && self.longest > 1;
        is_matrix.then_some(self.longest)
    }

    /// Returns the lengths in words, to stand behind the number of the rows.
    pub(super) fn described(&self) -> String {
        let [shortest, longest] = [self.shortest, self.longest].map(|n| grouped(n as u64));
        let lengths =
            if shortest == longest { shortest } else { format!("{shortest}–{longest}") };
        match self.known {
            0 => String::new(),
            known if known == self.rows => format!(", {lengths} long"),
            known => format!(", {lengths} long in the {} that were read", grouped(known as u64)),
        }
    }
}
