//! Charts as SVG: on paper of their own, so that they are readable on light and dark pages.

use super::axis::Scale;
use super::chart::{Chart, Mark, Series};
use crate::bundle::escaped;
use std::fmt::Write;

/// Colours that differ for the colour-blind, too.
pub(super) const COLOURS: [&str; 8] =
    ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#5b4fa0", "#666666"];

/// The width of the picture, in pixels.
pub(super) const WIDTH_PIXELS: f64 = 640.0;
/// The height of the picture, without notes.
pub(super) const HEIGHT_PIXELS: f64 = 380.0;
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
/// The width of a column of the legend.
const LEGEND_PIXELS: f64 = 110.0;
/// The characters of a name in the legend.
const MAX_NAME_CHARS: usize = 24;

/// A picture with axes, under construction.
pub(super) struct Paper {
    out: String,
    x: Scale,
    y: Scale,
}

impl Paper {
    /// An empty picture of a height in pixels; the notes stand below.
    pub(super) fn bare(x: Scale, y: Scale, height: f64, notes: &[String]) -> Paper {
        let height = if notes.is_empty() { height } else { height + NOTES_PIXELS };
        let mut paper = Paper { out: String::new(), x, y };
        let _ = write!(
            paper.out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH_PIXELS}\" height=\"{height}\" \
             viewBox=\"0 0 {WIDTH_PIXELS} {height}\" font-family=\"system-ui, sans-serif\" font-size=\"12\" \
             fill=\"#333333\"><rect width=\"{WIDTH_PIXELS}\" height=\"{height}\" rx=\"4\" fill=\"#ffffff\"/>"
        );
        if !notes.is_empty() {
            let notes = format!("({})", notes.join("; "));
            paper.text(WIDTH_PIXELS - RIGHT_PIXELS, height - 8.0, "end", &notes);
        }
        paper
    }

    /// An empty picture with its axes and their titles.
    pub(super) fn new(x: Scale, y: Scale, titles: [&str; 2], notes: &[String]) -> Paper {
        let mut paper = Paper::bare(x, y, HEIGHT_PIXELS, notes);
        let (right, bottom) = (WIDTH_PIXELS - RIGHT_PIXELS, HEIGHT_PIXELS - BOTTOM_PIXELS);
        for (value, text) in x.ticks(7) {
            let at = paper.across(value);
            paper.element(&format!(
                "<path d=\"M{at:.1} {TOP_PIXELS}V{bottom}\" stroke=\"#e4e4e4\"/>"
            ));
            paper.text(at, bottom + 16.0, "middle", &text);
        }
        for (value, text) in y.ticks(6) {
            let at = paper.up(value);
            paper.element(&format!(
                "<path d=\"M{LEFT_PIXELS} {at:.1}H{right}\" stroke=\"#e4e4e4\"/>"
            ));
            paper.text(LEFT_PIXELS - 7.0, at + 4.0, "end", &text);
        }
        paper.element(&format!(
            "<path d=\"M{LEFT_PIXELS} {TOP_PIXELS}V{bottom}H{right}\" fill=\"none\" stroke=\"#777777\"/>"
        ));
        let (middle, centre) = ((LEFT_PIXELS + right) / 2.0, (TOP_PIXELS + bottom) / 2.0);
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
        LEFT_PIXELS + self.x.place(x).clamp(-1.0, 2.0) * (WIDTH_PIXELS - RIGHT_PIXELS - LEFT_PIXELS)
    }

    /// Returns how many pixels from the top a number lies.
    pub(super) fn up(&self, y: f64) -> f64 {
        HEIGHT_PIXELS
            - BOTTOM_PIXELS
            - self.y.place(y).clamp(-1.0, 2.0) * (HEIGHT_PIXELS - BOTTOM_PIXELS - TOP_PIXELS)
    }

    /// Writes a text.
    pub(super) fn text(&mut self, x: f64, y: f64, anchor: &str, text: &str) {
        if !text.is_empty() {
            let _ = write!(
                self.out,
                "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{}</text>",
                escaped(text)
            );
        }
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
        let colour = COLOURS[series.colour % COLOURS.len()];
        match series.mark {
            Mark::Point => {
                let radius = if series.points.len() > 500 { 1.6 } else { 3.0 };
                let _ = write!(self.out, "<g fill=\"{colour}\" fill-opacity=\"0.75\">");
                for (x, y) in &series.points {
                    let (x, y) = (self.across(*x), self.up(*y));
                    let _ =
                        write!(self.out, "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{radius}\"/>");
                }
                self.out += "</g>";
            }
            Mark::Line | Mark::Dashes => {
                let dashes = match series.mark {
                    Mark::Dashes => " stroke-dasharray=\"5 4\"",
                    _ => "",
                };
                let _ = write!(
                    self.out,
                    "<path fill=\"none\" stroke=\"{colour}\" stroke-width=\"1.6\" \
                     stroke-linejoin=\"round\"{dashes} d=\""
                );
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

    /// Writes the names of the series into the upper left corner.
    fn legend(&mut self, all: &[Series]) {
        let named: Vec<&Series> = all.iter().filter(|series| !series.name.is_empty()).collect();
        let longest = named.iter().map(|series| series.name.chars().count()).max().unwrap_or(0);
        let width = (longest.min(MAX_NAME_CHARS) as f64 * 7.0 + 34.0).min(LEGEND_PIXELS * 2.0);
        if named.is_empty() {
            return;
        }
        let height = named.len() as f64 * 16.0 + 8.0;
        let _ = write!(
            self.out,
            "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" \
             fill=\"#ffffff\" fill-opacity=\"0.8\"/>",
            LEFT_PIXELS + 8.0,
            TOP_PIXELS + 4.0
        );
        for (at, series) in named.into_iter().enumerate() {
            let y = TOP_PIXELS + 18.0 + at as f64 * 16.0;
            let colour = COLOURS[series.colour % COLOURS.len()];
            let _ = write!(
                self.out,
                "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"4\" fill=\"{colour}\"/>",
                LEFT_PIXELS + 18.0,
                y - 4.0
            );
            let name: String = series.name.chars().take(MAX_NAME_CHARS).collect();
            self.text(LEFT_PIXELS + 30.0, y, "start", &name);
        }
    }
}

/// Returns a chart as SVG.
pub(super) fn chart(chart: &Chart) -> String {
    let [x, y] = scales(chart);
    let mut paper = Paper::new(x, y, [&chart.x.title, &chart.y.title], &chart.notes);
    for series in &chart.series {
        paper.series(series);
    }
    paper.legend(&chart.series);
    paper.done()
}

/// Returns the scales of a chart's axes.
pub(super) fn scales(chart: &Chart) -> [Scale; 2] {
    let points = || chart.series.iter().flat_map(|series| &series.points);
    let x = Scale::of(&chart.x, points().map(|point| point.0));
    [x, Scale::of(&chart.y, points().map(|point| point.1))]
}
