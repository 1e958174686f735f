//! Charts as SVG: on paper of their own, so that they are readable on light and dark pages.

use super::area::{Area, Sizes};
use super::axis::Scale;
use super::chart::{Chart, Mark, Series};
use super::words::described;
use crate::bundle::escaped;
use std::fmt::Write;

/// Colours that differ for the colour-blind, too.
pub(super) const COLOURS: [&str; 8] =
    ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#5b4fa0", "#666666"];

/// The width of the area that is plotted in, in pixels.
pub(super) const AREA_WIDTH_PIXELS: f64 = 556.0;
/// The height of the area that is plotted in, in pixels.
pub(super) const AREA_HEIGHT_PIXELS: f64 = 318.0;
/// The sizes of the areas of charts, in pixels.
pub(super) const SIZES: Sizes = Sizes {
    usual: [AREA_WIDTH_PIXELS, AREA_HEIGHT_PIXELS],
    most: [AREA_WIDTH_PIXELS, 400.0],
    least: [220.0, 160.0],
};
/// The space between the left edge and the area that is plotted in.
pub(super) const LEFT_PIXELS: f64 = 66.0;
/// The space to the right of it.
pub(super) const RIGHT_PIXELS: f64 = 18.0;
/// The space above it.
pub(super) const TOP_PIXELS: f64 = 16.0;
/// The space below it.
pub(super) const BOTTOM_PIXELS: f64 = 46.0;
/// The height of the notes.
const NOTES_PIXELS: f64 = 16.0;
/// The least width of a picture, so that notes and names have room.
const MIN_WIDTH_PIXELS: f64 = 400.0;
/// The least distance of the marks on the horizontal axis, about, in pixels.
const TICK_WIDTH_PIXELS: f64 = 70.0;
/// The least distance of those on the vertical axis.
const TICK_HEIGHT_PIXELS: f64 = 42.0;
/// The height of a row of the legend.
const LEGEND_ROW_PIXELS: f64 = 18.0;
/// The width of an entry of the legend without its name.
const LEGEND_SAMPLE_PIXELS: f64 = 44.0;
/// The width of a letter, about.
const LETTER_PIXELS: f64 = 6.8;
/// The characters of a name in the legend.
const MAX_NAME_CHARS: usize = 48;
/// The points of a series from which on they are drawn small.
pub(super) const MANY_POINTS: usize = 500;

/// The distance of the numbers at the vertical axis from it, in pixels.
const TICK_GAP_PIXELS: f64 = 7.0;
/// The width of the title of that axis, in pixels.
const TITLE_PIXELS: f64 = 18.0;
/// The space to the left of all that, in pixels.
const LABEL_MARGIN_PIXELS: f64 = 4.0;

/// Returns the width of the longest text at an axis, about, in pixels.
fn longest_pixels(ticks: &[(f64, String)]) -> f64 {
    ticks.iter().map(|(_, text)| text.chars().count()).max().unwrap_or(0) as f64 * LETTER_PIXELS
}

/// Returns the marks on the horizontal axis: fewer where their texts are long.
fn spaced_ticks(scale: Scale, width: f64) -> Vec<(f64, String)> {
    let ticks = scale.ticks((width / TICK_WIDTH_PIXELS) as usize);
    let needed = longest_pixels(&ticks) + TICK_GAP_PIXELS;
    if needed <= TICK_WIDTH_PIXELS {
        return ticks;
    }
    scale.ticks((width / needed) as usize)
}

/// A picture with axes, under construction.
pub(super) struct Paper {
    out: String,
    area: Area,
    /// The space to the left of the area.
    left: f64,
    /// The space above the area.
    top: f64,
}

/// The parts of a picture around its area.
#[derive(Clone, Copy, Default)]
pub(super) struct Around<'a> {
    /// The titles of the axes; may be empty.
    pub titles: [&'a str; 2],
    /// The notes, which stand below.
    pub notes: &'a [String],
    /// The series, of which those with a name are in the legend.
    pub series: &'a [Series],
    /// The picture in words.
    pub described: &'a str,
}

/// Begins a picture of a size in pixels; the notes stand below.
pub(super) fn begin(width: f64, height: f64, notes: &[String], described: &str) -> String {
    let height = if notes.is_empty() { height } else { height + NOTES_PIXELS };
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" aria-label=\"{}\" width=\"{width}\" \
         height=\"{height}\" viewBox=\"0 0 {width} {height}\" font-family=\"system-ui, sans-serif\" \
         font-size=\"12\" fill=\"#333333\"><rect width=\"{width}\" height=\"{height}\" rx=\"4\" \
         fill=\"#ffffff\"/>",
        escaped(described)
    );
    if !notes.is_empty() {
        let notes = format!("({})", notes.join("; "));
        text(&mut out, width - RIGHT_PIXELS, height - 8.0, "end", &notes);
    }
    out
}

/// Writes a text.
pub(super) fn text(out: &mut String, x: f64, y: f64, anchor: &str, text: &str) {
    if !text.is_empty() {
        let text = escaped(text);
        let _ =
            write!(out, "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{text}</text>");
    }
}

impl Paper {
    /// An empty picture with its axes and what stands around them.
    pub(super) fn new(area: Area, around: Around<'_>) -> Paper {
        let Around { titles, notes, series, described } = around;
        let across = spaced_ticks(area.x, area.width);
        let up = area.y.ticks((area.height / TICK_HEIGHT_PIXELS) as usize);
        let title = if titles[1].is_empty() { 0.0 } else { TITLE_PIXELS };
        let left =
            (longest_pixels(&up) + TICK_GAP_PIXELS + title + LABEL_MARGIN_PIXELS).max(LEFT_PIXELS);
        let wide = (left + area.width + RIGHT_PIXELS).max(MIN_WIDTH_PIXELS);
        let legend = Legend::new(series, [left, wide - left - RIGHT_PIXELS]);
        let top = TOP_PIXELS + legend.height();
        let tall = top + area.height + BOTTOM_PIXELS;
        let mut paper = Paper { out: begin(wide, tall, notes, described), area, left, top };
        legend.draw(&mut paper.out);
        let (right, bottom) = (left + area.width, top + area.height);
        for (value, label) in across {
            let at = paper.across(value);
            paper.element(&format!("<path d=\"M{at:.1} {top}V{bottom:.1}\" stroke=\"#e4e4e4\"/>"));
            paper.text(at, bottom + 16.0, "middle", &label);
        }
        for (value, label) in up {
            let at = paper.up(value);
            paper.element(&format!("<path d=\"M{left} {at:.1}H{right:.1}\" stroke=\"#e4e4e4\"/>"));
            paper.text(left - TICK_GAP_PIXELS, at + 4.0, "end", &label);
        }
        paper.element(&format!(
            "<path d=\"M{left} {top}V{bottom:.1}H{right:.1}\" fill=\"none\" stroke=\"#777777\"/>"
        ));
        let (middle, centre) = ((left + right) / 2.0, (top + bottom) / 2.0);
        paper.text(middle, bottom + 34.0, "middle", titles[0]);
        if !titles[1].is_empty() {
            paper.element(&format!(
                "<text transform=\"translate(14 {centre:.1}) rotate(-90)\" text-anchor=\"middle\">\
                 {}</text>",
                escaped(titles[1])
            ));
        }
        paper
    }

    /// Returns how many pixels from the left a number lies.
    pub(super) fn across(&self, x: f64) -> f64 {
        self.left + self.area.x.place(x).clamp(-1.0, 2.0) * self.area.width
    }

    /// Returns how many pixels from the top a number lies.
    pub(super) fn up(&self, y: f64) -> f64 {
        self.top + (1.0 - self.area.y.place(y).clamp(-1.0, 2.0)) * self.area.height
    }

    /// Writes a text.
    pub(super) fn text(&mut self, x: f64, y: f64, anchor: &str, content: &str) {
        text(&mut self.out, x, y, anchor, content);
    }

    /// Adds an element of SVG as it is.
    pub(super) fn element(&mut self, element: &str) {
        self.out += element;
    }

    /// Returns the picture.
    pub(super) fn done(mut self) -> String {
        self.out += "</svg>";
        self.out
    }

    fn series(&mut self, series: &Series) {
        match series.mark {
            Mark::Point => {
                let radius = if series.points.len() > MANY_POINTS { 1.6 } else { 3.0 };
                let _ = write!(self.out, "<g {}>", dot_style(series));
                for (x, y) in &series.points {
                    let (x, y) = (self.across(*x), self.up(*y));
                    let _ =
                        write!(self.out, "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{radius}\"/>");
                }
                self.out += "</g>";
            }
            Mark::Line | Mark::Dashes => {
                let _ =
                    write!(self.out, "<path {} stroke-linejoin=\"round\" d=\"", line_style(series));
                for (at, (x, y)) in series.points.iter().enumerate() {
                    let letter = if at == 0 { 'M' } else { 'L' };
                    let (x, y) = (self.across(*x), self.up(*y));
                    let _ = write!(self.out, "{letter}{x:.1} {y:.1}");
                }
                // A line of one point would be invisible.
                if series.points.len() == 1 {
                    self.out += "h0.1";
                }
                self.out += "\"/>";
            }
        }
    }
}

/// Returns the colour of a series.
pub(super) fn colour(series: &Series) -> &'static str {
    COLOURS[series.colour % COLOURS.len()]
}

/// Returns true for a series whose colour is that of an earlier one, which is drawn in another way.
pub(super) fn is_repeated(series: &Series) -> bool {
    series.colour >= COLOURS.len()
}

fn dot_style(series: &Series) -> String {
    let colour = colour(series);
    if is_repeated(series) {
        format!("fill=\"none\" stroke=\"{colour}\" stroke-width=\"1.2\"")
    } else {
        format!("fill=\"{colour}\" fill-opacity=\"0.75\"")
    }
}

fn line_style(series: &Series) -> String {
    let dashes = match series.mark {
        Mark::Dashes => " stroke-dasharray=\"5 4\"",
        _ if is_repeated(series) => " stroke-dasharray=\"2 3\"",
        _ => "",
    };
    format!("fill=\"none\" stroke=\"{}\" stroke-width=\"1.6\"{dashes}", colour(series))
}

/// The names of the series, in rows above the area, where they cover nothing.
struct Legend<'a> {
    /// Each series with its name, the number of its row, and its distance from the left.
    entries: Vec<(&'a Series, String, usize, f64)>,
    rows: usize,
    /// The space to the left of it.
    left: f64,
}

impl Legend<'_> {
    /// Makes the legend of series, in a space with so many pixels to the left of it and so wide.
    fn new(all: &[Series], [left, width]: [f64; 2]) -> Legend<'_> {
        let named = all.iter().filter(|series| !series.name.is_empty());
        let named: Vec<(&Series, String)> =
            named.map(|one| (one, one.name.chars().take(MAX_NAME_CHARS).collect())).collect();
        let longest = named.iter().map(|(_, name)| name.chars().count()).max().unwrap_or(0);
        // All entries are equally wide, so that they stand in columns.
        let entry = LEGEND_SAMPLE_PIXELS + longest as f64 * LETTER_PIXELS;
        let columns = ((width / entry) as usize).max(1);
        let rows = named.len().div_ceil(columns);
        let place =
            |(at, (series, name))| (series, name, at / columns, (at % columns) as f64 * entry);
        Legend { entries: named.into_iter().enumerate().map(place).collect(), rows, left }
    }

    fn height(&self) -> f64 {
        self.rows as f64 * LEGEND_ROW_PIXELS
    }

    fn draw(&self, out: &mut String) {
        for (series, name, row, from) in &self.entries {
            let (x, y) = (self.left + from, TOP_PIXELS + *row as f64 * LEGEND_ROW_PIXELS);
            let _ = match series.mark {
                Mark::Point => write!(
                    out,
                    "<circle cx=\"{:.1}\" cy=\"{y:.1}\" r=\"4\" {}/>",
                    x + 12.0,
                    dot_style(series)
                ),
                Mark::Line | Mark::Dashes => {
                    write!(out, "<path d=\"M{:.1} {y:.1}h18\" {}/>", x + 3.0, line_style(series))
                }
            };
            text(out, x + 26.0, y + 4.0, "start", name);
        }
    }
}

/// Returns a chart as SVG.
pub(super) fn chart(chart: &Chart) -> String {
    let around = Around {
        titles: [&chart.x.title, &chart.y.title],
        notes: &chart.notes,
        series: &chart.series,
        described: &described(chart),
    };
    let mut paper = Paper::new(Area::of(chart, SIZES, true), around);
    for series in &chart.series {
        paper.series(series);
    }
    paper.done()
}
