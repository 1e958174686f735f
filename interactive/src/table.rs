//! Columns of text: numbers flush right, names and types flush left.

use crate::bundle::{Bundle, escaped};
use crate::css::styled;
pub use nesl_core::base::grouped;
use std::fmt;

/// A table under construction.
pub struct Table {
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table with these headings.
    pub fn new(headings: &[&str]) -> Table {
        Table { rows: vec![headings.iter().map(ToString::to_string).collect()] }
    }

    /// Adds a row.
    pub fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(cells.into_iter().collect());
    }
}

/// The headings of columns that are flush left: those of words.
const WORDS: [&str; 12] = [
    "command", "name", "type", "shape", "where", "kernel", "stage", "about", "runtime", "device",
    "setting", "value",
];

impl Table {
    /// Returns true if there is nothing below the headings.
    pub fn is_empty(&self) -> bool {
        self.rows.len() == 1
    }

    /// Returns the table in HTML.
    pub fn html(&self) -> String {
        let row = |cells: &[String], element: &str| {
            let cells = cells.iter().enumerate().map(|(column, cell)| {
                let side = match &*self.rows[0][column] {
                    // Sentences, which are wrapped.
                    "about" | "device" => " style=\"white-space:pre-wrap;min-width:18em\"",
                    _ if self.is_words(column) => "",
                    _ => " class=\"nesl-n\"",
                };
                format!("<{element}{side}>{}</{element}>", escaped(cell))
            });
            format!("<tr>{}</tr>", cells.collect::<String>())
        };
        let (headings, body) = self.rows.split_at(1);
        let headings: String = headings.iter().map(|cells| row(cells, "th")).collect();
        let body: String = body.iter().map(|cells| row(cells, "td")).collect();
        styled(&format!("<table><thead>{headings}</thead><tbody>{body}</tbody></table>"))
    }

    /// Returns the table as text and as HTML.
    pub fn bundle(&self) -> Bundle {
        Bundle::text(self.to_string().trim_end()).with_html(self.html())
    }

    fn is_words(&self, column: usize) -> bool {
        WORDS.contains(&&*self.rows[0][column])
    }
}

impl fmt::Display for Table {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let columns = self.rows[0].len();
        let width = |column: usize| {
            let widths = self.rows.iter().map(|row| row[column].chars().count());
            widths.max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..columns).map(width).collect();
        for row in &self.rows {
            let mut line = String::new();
            for (column, cell) in row.iter().enumerate() {
                let gap = if column == 0 { "" } else { "  " };
                let width = widths[column];
                line += gap;
                line += &if self.is_words(column) {
                    format!("{cell:<width$}")
                } else {
                    format!("{cell:>width$}")
                };
            }
            writeln!(out, "{}", line.trim_end())?;
        }
        Ok(())
    }
}

/// A measured number: whole if it is large, with as many decimals as tell something if not.
pub fn ratio(x: f64) -> String {
    if x >= 100.0 {
        grouped(x.round() as u64)
    } else if x >= 1.0 || x == 0.0 {
        format!("{x:.1}")
    } else if x >= 0.001 {
        format!("{x:.3}")
    } else {
        format!("{x:.1e}")
    }
}

/// A number of bytes with a unit that fits: `1.5 GB`.
pub fn size(bytes: u64) -> String {
    const UNITS: [&str; 5] = ["bytes", "KB", "MB", "GB", "TB"];
    let mut unit = 0;
    let mut size = bytes as f64;
    while size >= 1024.0 && unit + 1 < UNITS.len() {
        size /= 1024.0;
        unit += 1;
    }
    match unit {
        0 => format!("{bytes} bytes"),
        _ if size < 10.0 && size.fract() >= 0.05 => format!("{size:.1} {}", UNITS[unit]),
        _ => format!("{size:.0} {}", UNITS[unit]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up() {
        let mut table = Table::new(&["n", "name", "work"]);
        table.row(["10".into(), "it".into(), grouped(1_234_567)]);
        table.row(["1,000".into(), "primes".into(), "5".into()]);
        let shown = table.to_string();
        let expected =
            "    n  name         work\n   10  it      1,234,567\n1,000  primes          5\n";
        assert_eq!(shown, expected);
    }

    #[test]
    fn numbers_are_readable() {
        assert_eq!(grouped(12), "12");
        assert_eq!(grouped(123_456), "123,456");
        assert_eq!(ratio(57.0), "57.0");
        assert_eq!(ratio(1234.6), "1,235");
    }
}
