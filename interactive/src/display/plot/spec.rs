//! Charts as specifications of Vega-Lite 5. All values are in the specification.

use super::chart::{Axis, Chart, Mark, Series};
use super::svg::COLOURS;
use serde_json::{Value, json};

/// The version of the language that notebooks render.
const SCHEMA: &str = "https://vega.github.io/schema/vega-lite/v5.json";
/// The width of the area that is plotted in, in pixels.
const WIDTH_PIXELS: u32 = 560;
/// The height of it.
const HEIGHT_PIXELS: u32 = 320;

/// Returns a specification that has nothing but its frame, with the notes as a subtitle.
pub(super) fn frame(notes: &[String]) -> Value {
    let mut spec = json!({
        "$schema": SCHEMA,
        "width": WIDTH_PIXELS,
        "height": HEIGHT_PIXELS,
    });
    if !notes.is_empty() {
        let title = json!({ "text": "", "subtitle": notes.join("; "), "anchor": "end" });
        spec["title"] = title;
    }
    spec
}

/// Returns the specification of a chart.
pub(super) fn chart(chart: &Chart) -> Value {
    let mut spec = frame(&chart.notes);
    let layers = chart.series.iter().filter(|series| !series.points.is_empty());
    spec["layer"] = layers.map(|series| layer(chart, series)).collect();
    spec
}

fn layer(chart: &Chart, series: &Series) -> Value {
    let mark = match series.mark {
        Mark::Line => json!({ "type": "line", "tooltip": true }),
        Mark::Dashes => json!({ "type": "line", "strokeDash": [5, 4], "opacity": 0.8 }),
        Mark::Point => json!({ "type": "point", "filled": true, "size": 25, "tooltip": true }),
    };
    // A line is drawn in the order of the sequence, not from left to right.
    let turns = series.mark != Mark::Point && !series.points.is_sorted_by(|a, b| a.0 <= b.0);
    let values = series.points.iter().enumerate().map(|(order, (x, y))| {
        let mut value = json!({ "x": x, "y": y });
        if turns {
            value["order"] = order.into();
        }
        value
    });
    let values: Vec<Value> = values.collect();
    let mut encoding = json!({
        "x": channel("x", &chart.x),
        "y": channel("y", &chart.y),
    });
    if turns {
        encoding["order"] = json!({ "field": "order", "type": "quantitative" });
    }
    let colour = COLOURS[series.colour % COLOURS.len()];
    encoding["color"] = if series.name.is_empty() {
        json!({ "value": colour })
    } else {
        let named = chart.series.iter().filter(|series| !series.name.is_empty());
        let (domain, range): (Vec<&str>, Vec<&str>) =
            named.map(|one| (one.name.as_str(), COLOURS[one.colour % COLOURS.len()])).unzip();
        json!({
            "datum": series.name,
            "type": "nominal",
            "scale": { "domain": domain, "range": range },
            "title": null,
        })
    };
    json!({ "data": { "values": values }, "mark": mark, "encoding": encoding })
}

fn channel(field: &str, axis: &Axis) -> Value {
    let scale = match axis.is_log {
        true => json!({ "type": "log", "nice": false }),
        false => json!({ "zero": false, "nice": true }),
    };
    let title = Some(&axis.title).filter(|title| !title.is_empty());
    json!({ "field": field, "type": "quantitative", "scale": scale, "title": title })
}
