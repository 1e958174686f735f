//! Charts in all forms that a front end may choose from.

use super::chart::{Chart, noted};
use super::{spec, svg, text};
use crate::bundle::Bundle;

/// Returns a chart in all forms.
pub(super) fn bundle(chart: &Chart) -> Bundle {
    let plain = noted(text::chart(chart), &chart.notes);
    let (svg, plot) = (Some(svg::chart(chart)), Some(spec::chart(chart)));
    Bundle { svg, plot, ..Bundle::text(plain) }
}
