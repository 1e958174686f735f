//! Columns of text: numbers flush right, names and types flush left.

use crate::bundle::{Bundle, escaped};
use crate::css::styled;
use crate::text::{fitted, wrapped};
pub use nesl_core::base::grouped;
use std::fmt;

/// The blanks between two columns.
const GAP_CHARS: usize = 2;

/// The characters of a column of words on a narrow screen, at least.
const MIN_WORDS_CHARS: usize = 10;

/// The blanks before a cell that stands below the first one of its row.
const STACKED: &str = "  ";

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

    /// Returns the table as [`Table::bundle`] does, with text for a screen of `columns` characters, if there is one:
    /// words that it does not hold stand below those before them, in their column. Where that is not enough, the cells
    /// of a row stand below its name, or its first one, each behind its heading.
    pub fn bundle_in(&self, columns: Option<usize>) -> Bundle {
        let Some(columns) = columns else { return self.bundle() };
        let mut widths = self.widths();
        let room = columns.saturating_sub(1 + GAP_CHARS * (widths.len() - 1));
        let longest = |column: usize| {
            let words = self.rows.iter().flat_map(|row| row[column].split_whitespace());
            words.map(|word| word.chars().count()).max().unwrap_or(0)
        };
        while widths.iter().sum::<usize>() > room {
            let surplus = widths.iter().sum::<usize>() - room;
            let wide = |column: &usize| {
                self.is_words(*column) && widths[*column] > longest(*column).max(MIN_WORDS_CHARS)
            };
            let widest = (0..widths.len()).filter(wide).max_by_key(|column| widths[*column]);
            let Some(column) = widest else {
                return Bundle::text(self.stacked(columns)).with_html(self.html());
            };
            let least = longest(column).max(MIN_WORDS_CHARS);
            widths[column] = widths[column].saturating_sub(surplus).max(least);
        }
        let rows = self.rows.iter().map(|row| {
            let wrap = |(column, cell): (usize, &String)| -> Vec<String> {
                match cell.chars().count() > widths[column] {
                    true => wrapped(cell, widths[column]).lines().map(str::to_owned).collect(),
                    false => vec![cell.clone()],
                }
            };
            row.iter().enumerate().map(wrap).collect::<Vec<_>>()
        });
        let mut wrapped = Table { rows: vec![self.rows[0].clone()] };
        for row in rows.skip(1) {
            let lines = row.iter().map(Vec::len).max().unwrap_or(0);
            wrapped.rows.extend((0..lines).map(|line| {
                row.iter().map(|cell| cell.get(line).cloned().unwrap_or_default()).collect()
            }));
        }
        Bundle::text(wrapped.to_string().trim_end()).with_html(self.html())
    }

    /// Returns the rows one below the other, each with a line for each cell.
    fn stacked(&self, columns: usize) -> String {
        let width = columns.saturating_sub(1).max(MIN_WORDS_CHARS);
        let room = width.saturating_sub(2 * STACKED.len());
        let (headings, body) = self.rows.split_at(1);
        let mut out = Vec::new();
        let headings = &headings[0];
        let named = headings.iter().position(|heading| heading == "name");
        for row in body {
            // Signs without a heading stand before what they mark.
            let signs = (0..row.len()).filter(|at| headings[*at].is_empty());
            let signs: String = signs.map(|at| row[at].clone()).collect();
            let is_cell = |at: &usize| !row[*at].is_empty() && !headings[*at].is_empty();
            let Some(title) = named.or_else(|| (0..row.len()).find(is_cell)) else { continue };
            out.push(fitted(format!("{signs} {}", row[title]).trim_start(), width));
            for at in (0..row.len()).filter(|at| is_cell(at) && *at != title) {
                let lines = wrapped(&format!("{}: {}", headings[at], row[at]), room);
                // Further lines of a cell stand further to the right.
                out.push(format!(
                    "{STACKED}{}",
                    lines.replace('\n', &format!("\n{STACKED}{STACKED}"))
                ));
            }
        }
        out.join("\n")
    }

    /// Returns the characters of the columns.
    fn widths(&self) -> Vec<usize> {
        let width = |column: usize| {
            let widths = self.rows.iter().map(|row| row[column].chars().count());
            widths.max().unwrap_or(0)
        };
        (0..self.rows[0].len()).map(width).collect()
    }

    fn is_words(&self, column: usize) -> bool {
        WORDS.contains(&&*self.rows[0][column])
    }
}

impl fmt::Display for Table {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let widths = self.widths();
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
    fn words_that_do_not_fit_stand_below() {
        let mut table = Table::new(&["name", "bytes", "about"]);
        table.row(["one".to_owned(), "1".to_owned(), "all that there is to be said".to_owned()]);
        table.row(["two".to_owned(), "20".to_owned(), "no".to_owned()]);
        assert_eq!(table.bundle_in(Some(80)).plain, table.bundle().plain);
        assert_eq!(
            table.bundle_in(Some(30)).plain,
            "name  bytes  about\none       1  all that there\n             is to be said\ntwo      20  no"
        );
    }

    #[test]
    fn cells_are_stacked_where_columns_do_not_fit() {
        let mut table = Table::new(&["", "name", "type", "bytes", "about"]);
        let cells = ["→", "long_name", "[(int, float)]", "1,920", "all that there is to be said"];
        table.row(cells.map(str::to_owned));
        table.row(["", "b", "int", "8", ""].map(str::to_owned));
        assert_eq!(
            table.bundle_in(Some(26)).plain,
            "→ long_name\n  type: [(int, float)]\n  bytes: 1,920\n  about: all that there\n    \
             is to be said\nb\n  type: int\n  bytes: 8"
        );
    }

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
