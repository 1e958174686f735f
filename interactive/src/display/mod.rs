//! Values and pictures → something to show, never more than a screen of it.
//!
//! | module | contents |
//! |---|---|
//! | `brief` | a value in one line of a given length |
//! | `sheet` | a value arranged as a table, a matrix, rows of segments or a text, as data |
//! | `html`, `lines` | the same as HTML and as text for a terminal |
//! | `image` | matrices of numbers and of colours as images |
//! | [`plot`] | plots of numbers, as specifications of Vega-Lite, as SVG and as text |
//!
//! The size of all that is made is bounded, so that it takes milliseconds however large a value is.

mod brief;
mod html;
mod image;
mod lines;
pub mod plot;
mod sheet;
#[cfg(test)]
mod tests;

use crate::bundle::Bundle;
use crate::output::Output;
use nesl_engine::data::{DataLimits, Shown};
use nesl_engine::{Binding, Picture};
use sheet::Room;

/// The bytes of a value that is read whole to be shown in a notebook: enough for an image of 1,024 × 1,024 numbers,
/// whose rows have descriptors, too.
const MAX_WHOLE_BYTES: u64 = 9 << 20;
/// The elements read at the beginning of sequences of a larger value.
const HEAD_ELEMENTS: usize = 40;
/// The elements read at their ends.
const TAIL_ELEMENTS: usize = 20;

/// The significant digits of floats in the cells of tables, if nobody asks for others.
pub const CELL_DIGITS: usize = 6;

/// The way in which values are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style {
    /// Values are shown in HTML, too.
    pub html: bool,
    /// Floats in the cells of tables have at most so many significant digits; all that they need to be read
    /// back if there is none.
    pub digits: Option<usize>,
    /// The text of a value that nobody asked for as a whole ends soon after so many bytes; never if there is none. It
    /// stands beside HTML, which ends as early.
    pub brief_bytes: Option<usize>,
    /// The text of a value that is asked for as a whole ends soon after so many bytes; never if there is none.
    pub full_bytes: Option<usize>,
}

impl Default for Style {
    fn default() -> Style {
        Style { html: false, digits: Some(CELL_DIGITS), brief_bytes: None, full_bytes: None }
    }
}

/// Returns the parts of values that a session is to read for [`binding`] to show all that it can: the
/// setting [`nesl_engine::Settings::data`].
pub fn limits() -> DataLimits {
    DataLimits {
        whole_bytes: MAX_WHOLE_BYTES,
        head_elements: HEAD_ELEMENTS,
        tail_elements: TAIL_ELEMENTS,
    }
}

/// Returns what to show of a form that was evaluated or defined.
pub fn binding(binding: &Binding, style: Style) -> Output {
    let Binding { name, value, ty, expression, data, .. } = binding;
    if !expression {
        return Output::Defined(Bundle::text(format!("{name} : {ty}")));
    }
    let bundle = Bundle::text(format!("{value} : {ty}"));
    Output::Value(match data {
        Some(shown) if style.html => bundle.with_html(html::value(shown, ty, style.digits)),
        _ => bundle,
    })
}

/// Returns a value as text for a terminal of `width` columns, in at most `max_rows` rows, but not in fewer than
/// headings and a row need: a table for a sequence of tuples, a line for each row of a nested sequence, otherwise
/// what fits of it. Above stands a line with its shape and its type, before which there are `before` characters. It
/// does not end with a line end. Floats in cells have at most so many significant digits, if there is a number.
pub fn rows(
    shown: &Shown,
    max_rows: usize,
    width: usize,
    before: usize,
    digits: Option<usize>,
) -> String {
    let mut rows = max_rows.max(1);
    loop {
        let room = Room { rows, width: width.max(20), frame: 1, ..Room::SCREEN };
        let text = lines::value(shown, room, digits);
        let mut before = before;
        let used = text.lines().map(|line| {
            let chars = line.chars().count() + std::mem::take(&mut before);
            chars.div_ceil(width.max(1)).max(1)
        });
        let used: usize = used.sum();
        if used <= max_rows || rows == 1 {
            return text;
        }
        // What is left out may take up several rows of the screen each.
        rows = (rows * max_rows / used).clamp(1, rows - 1);
    }
}

/// Returns a picture, with a line for those who cannot see it.
pub fn picture(picture: &Picture) -> Bundle {
    let (width, height) = picture.size();
    let title = match picture.title() {
        "" => picture.file_name(),
        title => title,
    };
    let plain = format!("the picture \"{title}\", {width} × {height} pixels");
    // Without HTML, which notebooks prefer to a picture.
    Bundle { svg: Some(picture.svg()), ..Bundle::text(plain) }
}
