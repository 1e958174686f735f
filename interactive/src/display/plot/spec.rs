//! Charts as specifications of Vega-Lite 5. All values are in the specification.

use super::area::Area;
use super::axis::Scale;
use super::chart::{Axis, Chart, Mark, Series};
use super::svg::{AREA_HEIGHT_PIXELS, AREA_WIDTH_PIXELS, MANY_POINTS, SIZES, colour, is_repeated};
use super::words::described;
use serde_json::{Value, json};

/// The version of the language that notebooks render.
const SCHEMA: &str = "https://vega.github.io/schema/vega-lite/v5.json";
/// The colour of letters.
const INK: &str = "#333333";
/// The columns of a legend of short names.
const LEGEND_COLUMNS: usize = 6;
/// The characters of a name from which on the names of a legend stand in few columns.
const LONG_NAME_CHARS: usize = 12;

/// Returns a specification that has nothing but its frame, with the notes as a subtitle and the picture
/// in words. It has paper of its own: some pages are dark.
pub(super) fn frame(notes: &[String], described: &str) -> Value {
    let mut spec = json!({
        "$schema": SCHEMA,
        "description": described,
        "background": "white",
        "padding": 10,
        "width": AREA_WIDTH_PIXELS,
        "height": AREA_HEIGHT_PIXELS,
        // The letters of dark themes would be white on white.
        "config": {
            "axis": {
                "titleFontWeight": "normal",
                "gridColor": "#e4e4e4",
                "domainColor": "#777777",
                "tickColor": "#777777",
                "labelColor": INK,
                "titleColor": INK,
            },
            "legend": { "labelColor": INK },
            "title": { "subtitleColor": INK },
            "view": { "stroke": "#e4e4e4" },
        },
    });
    if !notes.is_empty() {
        let title = json!({ "text": "", "subtitle": notes.join("; "), "anchor": "end" });
        spec["title"] = title;
    }
    spec
}

/// Returns the specification of a chart.
pub(super) fn chart(chart: &Chart) -> Value {
    let mut spec = frame(&chart.notes, &described(chart));
    let area = Area::of(chart, SIZES, true);
    (spec["width"], spec["height"]) = (area.width.round().into(), area.height.round().into());
    let layers = chart.series.iter().filter(|series| !series.points.is_empty());
    spec["layer"] = layers.map(|series| layer(chart, &area, series)).collect();
    spec
}

fn layer(chart: &Chart, area: &Area, series: &Series) -> Value {
    let other = is_repeated(series);
    let mut mark = match series.mark {
        Mark::Line => json!({ "type": "line", "tooltip": true, "clip": true }),
        Mark::Dashes => json!({ "type": "line", "strokeDash": [5, 4], "opacity": 0.8 }),
        Mark::Point => {
            let size = if series.points.len() > MANY_POINTS { 8 } else { 28 };
            json!({ "type": "point", "filled": !other, "size": size, "tooltip": true })
        }
    };
    if series.mark == Mark::Line && other {
        mark["strokeDash"] = json!([2, 3]);
    }
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
        "x": channel("x", &chart.x, &area.x),
        "y": channel("y", &chart.y, &area.y),
    });
    if turns {
        encoding["order"] = json!({ "field": "order", "type": "quantitative" });
    }
    encoding["color"] = if series.name.is_empty() {
        json!({ "value": colour(series) })
    } else {
        let named: Vec<&Series> =
            chart.series.iter().filter(|series| !series.name.is_empty()).collect();
        let (domain, range): (Vec<&str>, Vec<&str>) =
            named.iter().map(|one| (one.name.as_str(), colour(one))).unzip();
        let longest = domain.iter().map(|name| name.chars().count()).max().unwrap_or(0);
        let columns = if longest > LONG_NAME_CHARS { 2 } else { LEGEND_COLUMNS };
        json!({
            "datum": series.name,
            "type": "nominal",
            "scale": { "domain": domain, "range": range },
            "legend": { "orient": "top", "columns": columns, "labelLimit": 0 },
            "title": null,
        })
    };
    json!({ "data": { "values": values }, "mark": mark, "encoding": encoding })
}

/// Returns an axis with the range that the picture in SVG has, too.
fn channel(field: &str, axis: &Axis, scale: &Scale) -> Value {
    let (low, high) = scale.ends();
    let title = Some(&axis.title).filter(|title| !title.is_empty());
    let mut channel = json!({
        "field": field,
        "type": "quantitative",
        "scale": { "domain": [low, high], "nice": false, "zero": false },
        "title": title,
    });
    if axis.is_log {
        channel["scale"]["type"] = "log".into();
        // The marks of the scale itself are so many that the grid hides the points.
        let ticks: Vec<(f64, String)> = scale.ticks(LEGEND_COLUMNS);
        let texts: Value = ticks.iter().map(|(x, text)| (format!("{x}"), json!(text))).collect();
        let values: Vec<f64> = ticks.into_iter().map(|(x, _)| x).collect();
        channel["axis"] = json!({ "values": values, "labelExpr": format!("{texts}[datum.value]") });
    }
    channel
}
