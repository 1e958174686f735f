//! Charts as text: of braille characters, each of which has two by four dots.

use super::area::{Area, Sizes};
use super::axis::{Scale, end_texts};
use super::chart::{Chart, Mark};

/// The width of a plot, without its labels.
pub(super) const WIDTH_CHARS: usize = 60;
/// The height of a plot, without its axis.
pub(super) const HEIGHT_CHARS: usize = 15;
/// The dots of a character across.
const CHAR_DOTS_ACROSS: usize = 2;
/// The dots of a character up.
const CHAR_DOTS_UP: usize = 4;
/// The least width of a plot, without its labels, however narrow the screen is.
const MIN_WIDTH_CHARS: usize = 8;
/// The characters between the labels of the vertical axis and the plot.
const AXIS_CHARS: usize = 2;
/// The least sizes of the areas of charts that are made to a scale, in dots, which are about as wide as high.
const LEAST_DOTS: [f64; 2] = [40.0, 24.0];

/// Returns the width of a plot between numbers on its vertical axis, without its labels, so that the screen holds
/// it.
pub(super) fn columns_beside(y: Scale, screen: Option<usize>) -> usize {
    let taken = labels(y).iter().map(|label| label.chars().count()).max().unwrap_or(0) + AXIS_CHARS;
    let left = screen.map_or(WIDTH_CHARS, |screen| screen.saturating_sub(taken));
    left.clamp(MIN_WIDTH_CHARS, WIDTH_CHARS)
}

/// Returns the numbers at the ends of a vertical axis, that at the top first.
fn labels(y: Scale) -> [String; 2] {
    let (bottom, top) = y.ends();
    let [low, high] = end_texts(bottom, top);
    [high, low]
}

/// Returns the sizes of charts of so many columns.
fn sizes(columns: usize) -> Sizes {
    let most = [(columns * CHAR_DOTS_ACROSS) as f64, (HEIGHT_CHARS * CHAR_DOTS_UP) as f64];
    Sizes { usual: most, most, least: [LEAST_DOTS[0].min(most[0]), LEAST_DOTS[1]] }
}

/// A field of dots, each set or not.
struct Dots {
    set: Vec<bool>,
    /// The width in characters.
    columns: usize,
    /// The height in characters.
    lines: usize,
}

impl Dots {
    fn new(columns: usize, lines: usize) -> Dots {
        let dots = Dots { set: Vec::new(), columns, lines };
        Dots { set: vec![false; dots.width() * dots.height()], ..dots }
    }

    fn width(&self) -> usize {
        self.columns * CHAR_DOTS_ACROSS
    }

    fn height(&self) -> usize {
        self.lines * CHAR_DOTS_UP
    }

    fn set(&mut self, (x, y): (i64, i64)) {
        let (Ok(x), Ok(y)) = (usize::try_from(x), usize::try_from(y)) else { return };
        if x < self.width() && y < self.height() {
            let at = y * self.width() + x;
            self.set[at] = true;
        }
    }

    /// Sets the dots between two.
    fn line(&mut self, from: (i64, i64), to: (i64, i64)) {
        let (across, up) = (to.0 - from.0, to.1 - from.1);
        let steps = across.abs().max(up.abs()).max(1);
        for step in 0..=steps {
            let part = |whole: i64| (whole as f64 * step as f64 / steps as f64).round() as i64;
            self.set((from.0 + part(across), from.1 + part(up)));
        }
    }

    fn rows(&self) -> Vec<String> {
        // The bits of the dots of a character, from the left to the right and downwards.
        const BITS: [[u32; CHAR_DOTS_ACROSS]; CHAR_DOTS_UP] =
            [[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]];
        let character = |column: usize, row: usize| {
            let mut bits = 0;
            for (down, line) in BITS.iter().enumerate() {
                for (right, bit) in line.iter().enumerate() {
                    let (x, y) = (column * CHAR_DOTS_ACROSS + right, row * CHAR_DOTS_UP + down);
                    if self.set[y * self.width() + x] {
                        bits |= bit;
                    }
                }
            }
            // Not a blank where there are no dots: it may be wider or narrower than they are.
            char::from_u32(0x2800 + bits).unwrap_or(' ')
        };
        let row = |row| {
            let all: String = (0..self.columns).map(|column| character(column, row)).collect();
            all.trim_end_matches('\u{2800}').to_owned()
        };
        (0..self.lines).map(row).collect()
    }
}

/// Returns a chart as text.
pub(super) fn chart(chart: &Chart) -> String {
    let columns = columns_beside(Area::of(chart, sizes(WIDTH_CHARS), false).y, chart.screen);
    let Area { x, y, width, height } = Area::of(chart, sizes(columns), false);
    let chars = |dots: f64, of_char: usize| (dots.round() as usize).div_ceil(of_char);
    let mut dots = Dots::new(chars(width, CHAR_DOTS_ACROSS), chars(height, CHAR_DOTS_UP));
    let (right, bottom) = (dots.width() - 1, dots.height() - 1);
    let place = |point: &(f64, f64)| {
        let across = x.place(point.0) * right as f64;
        let up = (1.0 - y.place(point.1)) * bottom as f64;
        (across.round() as i64, up.round() as i64)
    };
    for series in &chart.series {
        let mut before = None;
        for point in series.points.iter().map(place) {
            match (series.mark, before) {
                (Mark::Line, Some(before)) => dots.line(before, point),
                _ => dots.set(point),
            }
            before = Some(point);
        }
    }
    let mut out = framed(dots.rows(), dots.columns, y, x.ends());
    let titles = [&chart.x.title, &chart.y.title].map(|title| title.as_str());
    if let [x, y] = titles
        && !y.is_empty()
    {
        out = format!("{y} over {x}\n{out}");
    }
    out
}

/// Returns rows of characters with axes: the numbers at the ends of the vertical one, and below the
/// ends of the horizontal one.
pub(super) fn framed(
    rows: Vec<String>,
    columns: usize,
    y: Scale,
    (left, right): (f64, f64),
) -> String {
    let labels = labels(y);
    let width = labels.iter().map(|label| label.chars().count()).max().unwrap_or(0);
    let last = rows.len().saturating_sub(1);
    let mut out = String::new();
    for (at, row) in rows.iter().enumerate() {
        let label = match at {
            0 => &labels[0],
            at if at == last => &labels[1],
            _ => "",
        };
        let line = format!("{label:>width$} │{row}");
        out += line.trim_end();
        out.push('\n');
    }
    let [left, right] = end_texts(left, right);
    let between = columns.saturating_sub(left.chars().count());
    out += &format!("{:width$} └{}\n", "", "─".repeat(columns));
    out + &format!("{:width$}  {left}{right:>between$}", "")
}
