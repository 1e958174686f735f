//! Tests of plots in pixels.

use super::*;
use crate::display::plot::{Kind, limits, plot};
use nesl_engine::data::Shown;
use nesl_engine::{Event, Session, Settings, ShownValues};
use std::sync::atomic::AtomicBool;

/// Returns the value of an expression.
fn value(text: &str) -> Shown {
    let shown = ShownValues::Expressions;
    let mut session = Session::new(Settings { shown, data: Some(limits()), ..Settings::default() });
    let mut value = None;
    session.enter("<test>", &format!("{text};"), &mut |event| {
        if let Event::Bound(binding) = event {
            value = binding.data;
        }
    });
    value.expect("a value")
}

/// Returns the SVG of a plot, and its picture in pixels.
fn drawn(kind: Kind, text: &str) -> Raster {
    let stop = AtomicBool::new(false);
    let svg =
        plot(kind, &value(text), None, &stop).expect("it can be plotted").svg.expect("a picture");
    draw(&svg, 1.0).expect("it is read")
}

/// Returns the number of pixels whose colour is near to another one.
fn count(raster: &Raster, colour: [u8; 3]) -> usize {
    let is_near = |pixel: &&[u8; 3]| pixel.iter().zip(colour).all(|(a, b)| a.abs_diff(b) < 24);
    raster.pixels.iter().filter(is_near).count()
}

const BLUE: [u8; 3] = [0x00, 0x72, 0xb2];

#[test]
fn a_line_runs_from_corner_to_corner() {
    let raster = drawn(Kind::Line, "{i : i in [0:50]}");
    assert_eq!(raster.width, 640);
    // The edges of the line are paler.
    let is_blue = |[red, _, blue]: [u8; 3]| blue > red.saturating_add(80);
    let blue: Vec<usize> =
        (0..raster.pixels.len()).filter(|at| is_blue(raster.pixels[*at])).collect();
    let columns: Vec<usize> = blue.iter().map(|at| at % raster.width).collect();
    // It rises: the first blue pixel, from the top, is at the right.
    let (first, last) = (columns[0], columns[columns.len() - 1]);
    assert!(first > 590 && last < 90, "from {first} to {last}");
    assert!((90..590).all(|column| columns.contains(&column)), "it has a gap");
    assert!(count(&raster, [0x33; 3]) > 50, "numbers stand at the axes");
}

#[test]
fn points_bars_and_images_are_drawn() {
    let points = drawn(Kind::Scatter, "[(0.0, 0.0), (1.0, 2.0)]");
    assert!(count(&points, [64, 149, 198]) > 30, "{}", count(&points, [64, 149, 198]));
    let bars = drawn(Kind::Histogram, "[1, 2, 2, 3, 3, 3]");
    assert!(count(&bars, BLUE) > 20_000, "{}", count(&bars, BLUE));
    let map = drawn(Kind::HeatMap, "{{i * j : j in [0:20]} : i in [0:10]}");
    assert!(count(&map, [68, 1, 84]) > 5_000 && count(&map, [253, 231, 37]) > 100);
}

#[test]
fn the_size_is_limited_and_the_png_is_whole() {
    let stop = AtomicBool::new(false);
    let svg =
        plot(Kind::Line, &value("[1, 2]"), None, &stop).expect("a plot").svg.expect("a picture");
    for scale in [0.0, 0.01, 0.5, 1e9] {
        let raster = draw(&svg, scale).expect("it is read");
        assert!(raster.width <= 4096 && raster.height <= 4096);
        assert_eq!(raster.pixels.len(), raster.width * raster.height);
    }
    let raster = draw(&svg, 0.5).expect("it is read");
    let (width, height, pixels) = decoded(&raster.png().expect("it is encoded")).expect("a PNG");
    assert_eq!((width, height), (raster.width, raster.height));
    assert!(
        pixels
            .iter()
            .zip(&raster.pixels)
            .all(|([r, g, b, a], rgb)| [*r, *g, *b] == *rgb && *a == 255)
    );
    assert_eq!(draw("no picture", 1.0), None);
}
