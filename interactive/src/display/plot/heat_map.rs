//! Heat maps: the numbers of a matrix as colours.

use super::axis::{Scale, short_text};
use super::chart::noted;
use super::data::{MAX_POINTS, a_value, unread};
use super::svg::{
    BOTTOM_PIXELS, HEIGHT_PIXELS, LEFT_PIXELS, Paper, RIGHT_PIXELS, TOP_PIXELS, WIDTH_PIXELS,
};
use super::text::{HEIGHT_CHARS, WIDTH_CHARS};
use super::{Kind, spec};
use crate::bundle::Bundle;
use crate::display::image::{self, Matrix, number};
use crate::table::grouped;
use nesl_engine::data::{Node, Shown};
use serde_json::{Value, json};

/// The pixels of the strip that shows which colour is which number.
const KEY_WIDTH_PIXELS: f64 = 12.0;
/// The pixels that it needs with its numbers.
const KEY_ROOM_PIXELS: f64 = 100.0;
/// The colours in it.
const KEY_COLOURS: usize = 32;

/// Returns the heat map of a matrix.
pub(super) fn bundle(shown: &Shown) -> Result<Bundle, String> {
    let kind = Kind::HeatMap.described();
    let element = shown.ty().element().and_then(|row| row.element());
    if !element.is_some_and(|element| element.is_number()) {
        let this = a_value(shown.ty());
        return Err(format!("{kind} shows a sequence of rows of numbers; this is {this}"));
    }
    let Some(matrix) = Matrix::of(shown) else {
        return Err(match shown.root() {
            Node::Sequence(rows) if !rows.is_whole() => unread(),
            Node::Sequence(rows) if rows.is_empty() => "there is no row to show".to_owned(),
            _ => format!(
                "{kind} shows rows of equal length; those of this value differ, or are empty"
            ),
        });
    };
    if (0..matrix.rows).any(|row| matrix.row(row).is_none_or(|row| !row.is_whole())) {
        return Err(unread());
    }
    let Some(image) = image::heat_map(&matrix) else {
        return Err("there is no finite number to show".to_owned());
    };
    let (low, high) = image.range.unwrap_or_default();
    let mut notes = vec![format!(
        "{} × {}, {} to {}",
        grouped(matrix.rows as u64),
        grouped(matrix.columns as u64),
        short_text(low),
        short_text(high)
    )];
    if image.step > 1 {
        notes.push(format!("one of {} rows and columns", image.step));
    }
    let plain = noted(text(&matrix, low, high), &notes);
    let svg = Some(svg(&matrix, &image.data_uri(), low, high, &notes));
    Ok(Bundle { svg, plot: Some(specification(&matrix)), ..Bundle::text(plain) })
}

fn text(matrix: &Matrix<'_>, low: f64, high: f64) -> String {
    const SHADES: [char; 5] = [' ', '░', '▒', '▓', '█'];
    let (height, width) = (matrix.rows.min(HEIGHT_CHARS), matrix.columns.min(WIDTH_CHARS));
    let shade = |x: f64| {
        let part = (x / 2.0 - low / 2.0) / (high / 2.0 - low / 2.0);
        match part {
            part if x.is_nan() || part.is_nan() => '·',
            part => SHADES[(part.clamp(0.0, 1.0) * 4.0).round() as usize],
        }
    };
    let line = |at: usize| {
        let row = matrix.row(at * matrix.rows / height);
        let cell = |column: usize| {
            number(row.and_then(|row| row.get(column * matrix.columns / width))).map_or('·', shade)
        };
        format!("│{}│", (0..width).map(cell).collect::<String>())
    };
    (0..height).map(line).collect::<Vec<_>>().join("\n")
}

fn svg(matrix: &Matrix<'_>, uri: &str, low: f64, high: f64, notes: &[String]) -> String {
    let (rows, columns) = (matrix.rows as f64, matrix.columns as f64);
    let (across, up) = (Scale::exact(0.0, columns), Scale::exact(0.0, rows));
    let max_width = WIDTH_PIXELS - LEFT_PIXELS - RIGHT_PIXELS - KEY_ROOM_PIXELS;
    let max_height = HEIGHT_PIXELS - TOP_PIXELS - BOTTOM_PIXELS;
    // Elements are squares, unless that leaves too little of one side.
    let ratio = (rows / columns).clamp(0.25, 4.0);
    let wide = max_width.min(max_height / ratio);
    let (left, top, tall) = (LEFT_PIXELS, TOP_PIXELS, wide * ratio);
    let mut paper = Paper::bare(across, up, top + tall + BOTTOM_PIXELS / 2.0, notes);
    paper.element(&format!(
        "<image x=\"{left:.1}\" y=\"{top:.1}\" width=\"{wide:.1}\" height=\"{tall:.1}\" \
         preserveAspectRatio=\"none\" style=\"image-rendering:pixelated\" href=\"{uri}\"/>\
         <rect x=\"{left:.1}\" y=\"{top:.1}\" width=\"{wide:.1}\" height=\"{tall:.1}\" fill=\"none\" \
         stroke=\"#777777\"/>"
    ));
    let whole = |(value, _): &(f64, String)| value.fract() == 0.0;
    for (value, text) in across.ticks(6).into_iter().filter(whole) {
        if value < columns {
            let at = left + (value + 0.5) / columns * wide;
            paper.text(at, top + tall + 15.0, "middle", &text);
        }
    }
    // The first row is at the top.
    for (value, text) in up.ticks(6).into_iter().filter(whole) {
        if value < rows {
            let at = top + (value + 0.5) / rows * tall;
            paper.text(left - 6.0, at + 4.0, "end", &text);
        }
    }
    let key = left + wide + 16.0;
    for at in 0..KEY_COLOURS {
        let shade = ((KEY_COLOURS - 1 - at) * 254 / (KEY_COLOURS - 1)) as u8;
        let [r, g, b] = image::colour(shade);
        let step = tall / KEY_COLOURS as f64;
        paper.element(&format!(
            "<rect x=\"{key:.1}\" y=\"{:.2}\" width=\"{KEY_WIDTH_PIXELS}\" height=\"{:.2}\" \
             fill=\"#{r:02x}{g:02x}{b:02x}\"/>",
            top + at as f64 * step,
            step + 0.5
        ));
    }
    paper.text(key + KEY_WIDTH_PIXELS + 5.0, top + 10.0, "start", &short_text(high));
    paper.text(key + KEY_WIDTH_PIXELS + 5.0, top + tall, "start", &short_text(low));
    paper.done()
}

fn specification(matrix: &Matrix<'_>) -> Value {
    // As many cells as a plot has points; of larger matrices every n-th row and column.
    let mut step = 1;
    while matrix.rows.div_ceil(step) * matrix.columns.div_ceil(step) > MAX_POINTS {
        step += 1;
    }
    let mut notes = Vec::new();
    if step > 1 {
        notes.push(format!("one of {step} rows and columns"));
    }
    let mut values = Vec::new();
    for at in (0..matrix.rows).step_by(step) {
        let Some(row) = matrix.row(at) else { continue };
        for column in (0..matrix.columns).step_by(step) {
            if let Some(x) = number(row.get(column)).filter(|x| x.is_finite()) {
                values.push(json!({ "row": at, "column": column, "value": x }));
            }
        }
    }
    let axis = json!({ "labelOverlap": true, "ticks": false });
    let mut spec = spec::frame(&notes);
    spec["data"] = json!({ "values": values });
    spec["mark"] = json!({ "type": "rect", "tooltip": true });
    spec["encoding"] = json!({
        "x": { "field": "column", "type": "ordinal", "axis": axis, "title": null },
        "y": { "field": "row", "type": "ordinal", "axis": axis, "title": null },
        "color": {
            "field": "value",
            "type": "quantitative",
            "scale": { "scheme": "viridis" },
            "title": null,
        },
    });
    spec["config"] = json!({ "view": { "stroke": null }, "scale": { "bandPaddingInner": 0 } });
    spec
}
