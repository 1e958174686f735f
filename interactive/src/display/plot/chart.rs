//! A chart of points and lines, as data.

/// A point: how far right and how far up.
pub(super) type Point = (f64, f64);

/// A chart with two axes.
#[derive(Clone, Debug, Default)]
pub(super) struct Chart {
    /// The series, each in a colour.
    pub series: Vec<Series>,
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// True if both axes measure lengths of the same thing, so that they have the same scale where
    /// that leaves enough of both.
    pub is_geometry: bool,
    /// Notes on what is not shown, each without a full stop.
    pub notes: Vec<String>,
    /// The width of the screen that it is shown on as text, in characters, if there is one.
    pub screen: Option<usize>,
}

/// The points of one colour.
#[derive(Clone, Debug, Default)]
pub(super) struct Series {
    /// The name in the legend; empty if there is no legend.
    pub name: String,
    /// The points, in order; all are finite.
    pub points: Vec<Point>,
    /// The marks that they are drawn with.
    pub mark: Mark,
    /// The number of the colour.
    pub colour: usize,
}

/// The marks that points are drawn with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Mark {
    /// A line through all.
    #[default]
    Line,
    /// A dashed line through all, without a place in the legend of its own.
    Dashes,
    /// A dot for each.
    Point,
}

/// An axis of a chart.
#[derive(Clone, Debug, Default)]
pub(super) struct Axis {
    /// The title; may be empty.
    pub title: String,
    /// True if equal distances are equal factors. Then all coordinates are positive.
    pub is_log: bool,
}

/// Returns a text with the notes below it.
pub(super) fn noted(plain: String, notes: &[String]) -> String {
    if notes.is_empty() { plain } else { format!("{plain}\n({})", notes.join("; ")) }
}
