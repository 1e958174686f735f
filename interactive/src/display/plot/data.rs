//! Values → the points of a plot.

use super::Kind;
use super::chart::{Chart, Mark, Point, Series};
use crate::display::image::number;
use crate::table::grouped;
use nesl_engine::data::{Elements, Node, Shown, ValueType, until_stopped};
use std::sync::atomic::{AtomicBool, Ordering};

/// The points of a plot; of longer sequences some are chosen.
pub(super) const MAX_POINTS: usize = 5_000;
/// The series of a plot.
const MAX_SERIES: usize = 12;
/// A larger number is not plotted: the distance of two must be finite, too.
const MAX_MAGNITUDE: f64 = 1e300;

/// The form of the points of a series.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    /// Numbers, over their indices.
    Numbers,
    /// Pairs of numbers.
    Pairs,
}

/// Returns the chart of a line plot or a scatter plot.
pub(super) fn points(kind: Kind, shown: &Shown, stop: &AtomicBool) -> Result<Chart, String> {
    let wrong = || {
        format!(
            "{} shows numbers [float], points [(float, float)], or a sequence of either, one for each \
             series; this is {}",
            kind.described(),
            a_value(shown.ty())
        )
    };
    let Node::Sequence(all) = shown.root() else { return Err(wrong()) };
    let mut chart = Chart::default();
    let mut not_finite = 0;
    let form = match (form(all.element()), all.element().element()) {
        (Some(form), _) => {
            chart.series.push(series(&all, form, String::new(), &mut not_finite, stop)?);
            form
        }
        (None, Some(inner)) => {
            let form = form(inner).ok_or_else(wrong)?;
            for index in 0..all.len().min(MAX_SERIES) {
                let Some(Node::Sequence(one)) = all.get(index) else { return Err(unread()) };
                chart.series.push(series(
                    &one,
                    form,
                    format!("series {index}"),
                    &mut not_finite,
                    stop,
                )?);
            }
            form
        }
        (None, None) => return Err(wrong()),
    };
    if all.len() > MAX_SERIES && chart.series.len() == MAX_SERIES {
        chart.notes.push(format!("the first {MAX_SERIES} of {} series", grouped(all.len() as u64)));
    }
    note_not_finite(not_finite, &mut chart.notes);
    let total: usize = chart.series.iter().map(|series| series.points.len()).sum();
    if total == 0 {
        return Err(match not_finite {
            0 => "there is no point to plot".to_owned(),
            _ => format!(
                "there is no point to plot: no number is finite and at most {MAX_MAGNITUDE:e} in size"
            ),
        });
    }
    let mark = if kind == Kind::Line { Mark::Line } else { Mark::Point };
    let most = MAX_POINTS / chart.series.len().max(1);
    for (colour, series) in chart.series.iter_mut().enumerate() {
        (series.mark, series.colour) = (mark, colour);
        series.points = thinned(std::mem::take(&mut series.points), most, mark, stop);
    }
    let kept: usize = chart.series.iter().map(|series| series.points.len()).sum();
    if kept < total {
        let [kept, total] = [kept, total].map(|n| grouped(n as u64));
        chart.notes.push(format!("{kept} of {total} points"));
    }
    if form == Form::Numbers {
        chart.x.title = "index".to_owned();
    } else {
        // The graph of a function goes from left to right; other points lie in a plane.
        let is_graph = |one: &Series| one.points.is_sorted_by(|a, b| a.0 <= b.0);
        chart.is_geometry = kind == Kind::Scatter || !chart.series.iter().all(is_graph);
    }
    Ok(chart)
}

/// Returns the numbers of a sequence, of a nested one those of all rows, and the number of those that
/// are not finite and left out.
pub(super) fn numbers(
    shown: &Shown,
    kind: Kind,
    stop: &AtomicBool,
) -> Result<(Vec<f64>, usize), String> {
    let wrong = || {
        format!("{} shows a sequence of numbers; this is {}", kind.described(), a_value(shown.ty()))
    };
    let Node::Sequence(all) = shown.root() else { return Err(wrong()) };
    let mut numbers = match all.element() {
        ty if ty.is_number() => all.numbers(stop).ok_or_else(unread)?,
        ValueType::Sequence(inner) if inner.is_number() => {
            let mut numbers = Vec::new();
            for index in until_stopped(0..all.len(), stop) {
                let Some(Node::Sequence(row)) = all.get(index) else { return Err(unread()) };
                numbers.extend(row.numbers(stop).ok_or_else(unread)?);
            }
            numbers
        }
        _ => return Err(wrong()),
    };
    let not_finite = retain(&mut numbers, stop, |x| is_plottable(*x));
    Ok((numbers, not_finite))
}

/// Leaves out some elements; returns their number. Soon after `stop` is set nothing is left.
fn retain<T>(all: &mut Vec<T>, stop: &AtomicBool, keeps: impl Fn(&T) -> bool) -> usize {
    // Almost always all are kept.
    let Some(first) = until_stopped(all.iter(), stop).position(|element| !keeps(element)) else {
        if stop.load(Ordering::Relaxed) {
            all.clear();
        }
        return 0;
    };
    let before = all.len();
    let rest = all.split_off(first);
    all.extend(until_stopped(rest.into_iter(), stop).filter(|element| keeps(element)));
    before - all.len()
}

/// Adds a note on numbers that are left out.
pub(super) fn note_not_finite(count: usize, notes: &mut Vec<String>) {
    match count {
        0 => {}
        1 => notes.push("without 1 that is not finite".to_owned()),
        count => notes.push(format!("without {} that are not finite", grouped(count as u64))),
    }
}

/// Returns the message for a value that was read only in part.
pub(super) fn unread() -> String {
    "the value is too large to be read whole; plot a part of it, such as every tenth element"
        .to_owned()
}

/// Returns what a value of a type is, for messages.
pub(super) fn a_value(ty: &ValueType) -> String {
    format!("a value of type {}", ty)
}

fn is_plottable(x: f64) -> bool {
    x.abs() <= MAX_MAGNITUDE
}

fn form(element: &ValueType) -> Option<Form> {
    match element {
        ty if ty.is_number() => Some(Form::Numbers),
        ValueType::Tuple(parts) | ValueType::Record(_, parts)
            if parts.len() == 2 && parts.iter().all(ValueType::is_number) =>
        {
            Some(Form::Pairs)
        }
        _ => None,
    }
}

fn series(
    elements: &Elements<'_>,
    form: Form,
    name: String,
    not_finite: &mut usize,
    stop: &AtomicBool,
) -> Result<Series, String> {
    let mut points: Vec<Point> = match form {
        Form::Numbers => {
            let numbers = elements.numbers(stop).ok_or_else(unread)?;
            let numbers = until_stopped(numbers.into_iter(), stop);
            numbers.enumerate().map(|(index, y)| (index as f64, y)).collect()
        }
        Form::Pairs => {
            let pair = |index| match elements.get(index)? {
                Node::Tuple(mut parts) | Node::Record(_, mut parts) => {
                    let y = number(parts.pop())?;
                    Some((number(parts.pop())?, y))
                }
                _ => None,
            };
            let all: Option<Vec<Point>> =
                until_stopped(0..elements.len(), stop).map(pair).collect();
            all.ok_or_else(unread)?
        }
    };
    *not_finite += retain(&mut points, stop, |(x, y)| is_plottable(*x) && is_plottable(*y));
    Ok(Series { name, points, ..Series::default() })
}

/// Returns at most so many of the points. Of a curve from left to right, the lowest and the highest point
/// of each part are kept, so that no peak is lost; of others, one of every so many.
fn thinned(points: Vec<Point>, most: usize, mark: Mark, stop: &AtomicBool) -> Vec<Point> {
    if points.len() <= most {
        return points;
    }
    let rises = until_stopped(points.windows(2), stop).all(|pair| pair[0].0 <= pair[1].0);
    if mark == Mark::Point || !rises {
        let step = points.len().div_ceil(most);
        return points.into_iter().step_by(step).collect();
    }
    let mut kept = Vec::with_capacity(most);
    for part in points.chunks(points.len().div_ceil((most / 2).max(1))) {
        if stop.load(Ordering::Relaxed) {
            break;
        }
        let by_height = |a: &&Point, b: &&Point| a.1.total_cmp(&b.1);
        let (low, high) = (part.iter().min_by(by_height), part.iter().max_by(by_height));
        let mut both: Vec<Point> = low.into_iter().chain(high).copied().collect();
        both.sort_by(|a, b| a.0.total_cmp(&b.0));
        both.dedup();
        kept.extend(both);
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_finite_is_left_out() {
        let stop = AtomicBool::new(false);
        let mut numbers = vec![1.0, f64::NAN, 2.0, f64::INFINITY];
        assert_eq!(retain(&mut numbers, &stop, |x| is_plottable(*x)), 2);
        assert_eq!(numbers, [1.0, 2.0]);
        assert_eq!(retain(&mut numbers, &stop, |x| is_plottable(*x)), 0);
        stop.store(true, Ordering::Relaxed);
        retain(&mut numbers, &stop, |x| is_plottable(*x));
        assert!(numbers.is_empty());
    }

    #[test]
    fn a_thinned_curve_keeps_its_peaks() {
        let mut points: Vec<Point> = (0..100_000).map(|i| (f64::from(i), 0.0)).collect();
        points[54_321].1 = 9.0;
        points[54_322].1 = -9.0;
        let stop = AtomicBool::new(false);
        let kept = thinned(points.clone(), MAX_POINTS, Mark::Line, &stop);
        assert!(kept.len() <= MAX_POINTS, "{}", kept.len());
        assert!(kept.contains(&(54_321.0, 9.0)) && kept.contains(&(54_322.0, -9.0)));
        assert!(kept.is_sorted_by(|a, b| a.0 <= b.0));
        assert_eq!(thinned(points, MAX_POINTS, Mark::Point, &stop).len(), 5_000);
    }
}
