//! Heat maps: the numbers of a matrix as colours.

use super::axis::{Scale, short_text};
use super::chart::noted;
use super::data::{MAX_POINTS, a_value, unread};
use super::svg::{
    AREA_HEIGHT_PIXELS, AREA_WIDTH_PIXELS, BOTTOM_PIXELS, LEFT_PIXELS, TOP_PIXELS, begin,
    text as label,
};
use super::text::{HEIGHT_CHARS, WIDTH_CHARS};
use super::{Kind, spec};
use crate::bundle::Bundle;
use crate::display::image::{self, Matrix, number};
use crate::table::grouped;
use nesl_engine::data::{Node, Shown};
use serde_json::{Value, json};
use std::fmt::Write;

/// The pixels of the strip that shows which colour is which number.
const KEY_WIDTH_PIXELS: f64 = 12.0;
/// The pixels that it needs with its numbers.
const KEY_ROOM_PIXELS: f64 = 84.0;
/// The colours in it.
const KEY_COLOURS: usize = 32;
/// The numbers beside it, about.
const KEY_TICKS: usize = 5;
/// The numbers at an axis, about.
const WANTED_TICKS: usize = 6;
/// The characters of the lines on both sides.
const FRAME_CHARS: usize = 2;

/// Returns the heat map of a matrix.
pub(super) fn bundle(shown: &Shown, screen: Option<usize>) -> Result<Bundle, String> {
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
    notes.extend(image.left_out());
    let plain = noted(text(&matrix, low, high, screen), &notes);
    let svg = Some(svg(&matrix, &image.data_uri(), low, high, &notes));
    Ok(Bundle { svg, plot: Some(specification(&matrix, &notes)), ..Bundle::text(plain) })
}

fn text(matrix: &Matrix<'_>, low: f64, high: f64, screen: Option<usize>) -> String {
    const SHADES: [char; 5] = [' ', '░', '▒', '▓', '█'];
    let room = screen.map_or(WIDTH_CHARS, |screen| screen.saturating_sub(FRAME_CHARS));
    let room = room.clamp(1, WIDTH_CHARS);
    let (height, width) = (matrix.rows.min(HEIGHT_CHARS), matrix.columns.min(room));
    let shade = |x: f64| {
        let part = (x / 2.0 - low / 2.0) / (high / 2.0 - low / 2.0);
        match part {
            part if !x.is_finite() || part.is_nan() => '·',
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

/// Returns the width and the height in pixels: elements are squares, unless that leaves too little of one
/// side.
fn sizes(matrix: &Matrix<'_>) -> (f64, f64) {
    let ratio = (matrix.rows as f64 / matrix.columns as f64).clamp(0.25, 4.0);
    let width = AREA_WIDTH_PIXELS.min(AREA_HEIGHT_PIXELS / ratio);
    (width, width * ratio)
}

/// Returns the whole numbers below a count to stand at an axis.
fn ticks(count: usize, wanted: usize) -> impl Iterator<Item = usize> {
    let ticks = Scale::exact(0.0, count as f64).ticks(wanted).into_iter();
    let whole = ticks.filter(|(value, _)| value.fract() == 0.0).map(|(value, _)| value as usize);
    whole.filter(move |value| *value < count)
}

fn svg(matrix: &Matrix<'_>, uri: &str, low: f64, high: f64, notes: &[String]) -> String {
    let (rows, columns) = (matrix.rows as f64, matrix.columns as f64);
    let (wide, tall) = sizes(matrix);
    let (left, top) = (LEFT_PIXELS, TOP_PIXELS);
    let mut out = begin(
        left + wide.max(AREA_WIDTH_PIXELS / 2.0) + KEY_ROOM_PIXELS,
        top + tall + BOTTOM_PIXELS / 2.0,
        notes,
        &described(notes),
    );
    let _ = write!(
        out,
        "<image x=\"{left:.1}\" y=\"{top:.1}\" width=\"{wide:.1}\" height=\"{tall:.1}\" \
         preserveAspectRatio=\"none\" style=\"image-rendering:pixelated\" href=\"{uri}\"/>\
         <rect x=\"{left:.1}\" y=\"{top:.1}\" width=\"{wide:.1}\" height=\"{tall:.1}\" fill=\"none\" \
         stroke=\"#777777\"/>"
    );
    for value in ticks(matrix.columns, WANTED_TICKS) {
        let at = left + (value as f64 + 0.5) / columns * wide;
        label(&mut out, at, top + tall + 15.0, "middle", &value.to_string());
    }
    // The first row is at the top.
    for value in ticks(matrix.rows, WANTED_TICKS) {
        let at = top + (value as f64 + 0.5) / rows * tall;
        label(&mut out, left - 6.0, at + 4.0, "end", &value.to_string());
    }
    let key = left + wide + 16.0;
    for at in 0..KEY_COLOURS {
        let shade = ((KEY_COLOURS - 1 - at) * 254 / (KEY_COLOURS - 1)) as u8;
        let [r, g, b] = image::colour(shade);
        let step = tall / KEY_COLOURS as f64;
        let _ = write!(
            out,
            "<rect x=\"{key:.1}\" y=\"{:.2}\" width=\"{KEY_WIDTH_PIXELS}\" height=\"{:.2}\" \
             fill=\"#{r:02x}{g:02x}{b:02x}\"/>",
            top + at as f64 * step,
            step + 0.5
        );
    }
    let beside = key + KEY_WIDTH_PIXELS + 5.0;
    let scale = Scale::exact(low, high);
    for (value, text) in scale.ticks(KEY_TICKS) {
        let at = top + (1.0 - scale.place(value)) * tall;
        label(&mut out, beside, at + 4.0, "start", &text);
    }
    out + "</svg>"
}

/// Returns the heat map in words.
fn described(notes: &[String]) -> String {
    format!("Heat map: {}.", notes.join("; "))
}

fn specification(matrix: &Matrix<'_>, about: &[String]) -> Value {
    // As many cells as a plot has points, each at least a pixel wide and high; of larger matrices every
    // n-th row and column.
    let (wide, tall) = sizes(matrix);
    let mut steps =
        [matrix.columns.div_ceil(wide as usize).max(1), matrix.rows.div_ceil(tall as usize).max(1)];
    let count =
        |[across, down]: [usize; 2]| matrix.columns.div_ceil(across) * matrix.rows.div_ceil(down);
    while count(steps) > MAX_POINTS {
        steps = steps.map(|step| step + 1);
    }
    let [across, down] = steps;
    let mut notes = Vec::new();
    match steps {
        [1, 1] => {}
        [across, down] if across == down => notes.push(format!("one of {across} rows and columns")),
        [across, down] => notes.push(format!("one of {down} rows, one of {across} columns")),
    }
    let mut values = Vec::new();
    for at in (0..matrix.rows).step_by(down) {
        let Some(row) = matrix.row(at) else { continue };
        for column in (0..matrix.columns).step_by(across) {
            if let Some(x) = number(row.get(column)).filter(|x| x.is_finite()) {
                values.push(json!({ "row": at, "column": column, "value": x }));
            }
        }
    }
    // Cells of whole pixels: between others there would be gaps.
    let cell = |pixels: f64, count: usize, step: usize| json!({ "step": (pixels / count.div_ceil(step) as f64).floor().max(1.0) });
    let axis = |count: usize, step: usize| {
        let values: Vec<usize> =
            ticks(count.div_ceil(step), WANTED_TICKS).map(|at| at * step).collect();
        json!({ "values": values, "ticks": false, "labelAngle": 0, "domain": false })
    };
    let mut spec = spec::frame(&notes, &described(about));
    spec["width"] = cell(wide, matrix.columns, across);
    spec["height"] = cell(tall, matrix.rows, down);
    spec["data"] = json!({ "values": values });
    spec["mark"] = json!({ "type": "rect", "tooltip": true });
    let channel = |field: &str, axis: Value| json!({ "field": field, "type": "ordinal", "axis": axis, "title": null, "scale": { "padding": 0 } });
    spec["encoding"] = json!({
        "x": channel("column", axis(matrix.columns, across)),
        "y": channel("row", axis(matrix.rows, down)),
        "color": {
            "field": "value",
            "type": "quantitative",
            "scale": { "scheme": "viridis" },
            "legend": { "gradientLength": tall.round() },
            "title": null,
        },
    });
    spec["config"]["view"] = json!({ "stroke": null });
    spec
}
