//! Lines, discs and rectangles with smooth edges: a pixel is covered by how far its middle is from the edge.

use super::reader::Place;
use super::{Image, Raster};

/// The most dashes of a path that are drawn.
const MAX_DASHES: usize = 100_000;

/// A picture under construction, white at first.
pub(super) struct Ink {
    raster: Raster,
    /// The pixels of a unit.
    scale: f64,
}

/// The part of the pixels that may be changed: the first and the end of the columns, and of the rows.
#[derive(Clone, Copy)]
struct Window {
    columns: [usize; 2],
    rows: [usize; 2],
}

impl Ink {
    pub(super) fn new(width: usize, height: usize, scale: f64) -> Ink {
        let pixels = vec![[255; 3]; width * height];
        Ink { raster: Raster { width, height, pixels }, scale }
    }

    pub(super) fn done(self) -> Raster {
        self.raster
    }

    /// Returns the pixels between two corners, in pixels, with a margin.
    fn window(&self, [left, top, right, bottom]: [f64; 4], margin: f64) -> Window {
        let within = |low: f64, high: f64, end: usize| {
            let low = (low - margin).floor().clamp(0.0, end as f64) as usize;
            let high = (high + margin).ceil().clamp(0.0, end as f64) as usize;
            [low, high.max(low)]
        };
        Window {
            columns: within(left, right, self.raster.width),
            rows: within(top, bottom, self.raster.height),
        }
    }

    fn blend(&mut self, column: usize, row: usize, colour: [u8; 3], cover: f64) {
        let pixel = &mut self.raster.pixels[row * self.raster.width + column];
        for (part, wanted) in pixel.iter_mut().zip(colour) {
            let (from, to) = (f64::from(*part), f64::from(wanted));
            *part = (from + (to - from) * cover).round() as u8;
        }
    }

    /// Paints the pixels of a window by how far they are inside of something, in pixels.
    fn paint(
        &mut self,
        window: Window,
        colour: [u8; 3],
        opacity: f64,
        inside: &dyn Fn(f64, f64) -> f64,
    ) {
        for row in window.rows[0]..window.rows[1] {
            for column in window.columns[0]..window.columns[1] {
                let cover = inside(column as f64 + 0.5, row as f64 + 0.5) + 0.5;
                if cover > 0.0 {
                    self.blend(column, row, colour, cover.min(1.0) * opacity);
                }
            }
        }
    }

    /// Fills a rectangle between two corners.
    pub(super) fn rectangle(&mut self, corners: [f64; 4], colour: [u8; 3], opacity: f64) {
        let [left, top, right, bottom] = corners.map(|length| length * self.scale);
        let window = self.window([left, top, right, bottom], 1.0);
        // The part of a pixel that lies within, along one side.
        let part = |low: f64, high: f64, middle: f64| {
            (high.min(middle + 0.5) - low.max(middle - 0.5)).clamp(0.0, 1.0)
        };
        self.paint(window, colour, opacity, &|x, y| {
            part(left, right, x) * part(top, bottom, y) - 0.5
        });
    }

    /// Fills a circle.
    pub(super) fn disc(&mut self, centre: Place, radius: f64, colour: [u8; 3], opacity: f64) {
        let (x, y) = (centre.0 * self.scale, centre.1 * self.scale);
        let radius = radius * self.scale;
        let window = self.window([x - radius, y - radius, x + radius, y + radius], 1.0);
        self.paint(window, colour, opacity, &|px, py| radius - (px - x).hypot(py - y));
    }

    /// Draws the edge of a circle.
    pub(super) fn ring(&mut self, centre: Place, radius: f64, colour: [u8; 3], width: f64) {
        let (x, y) = (centre.0 * self.scale, centre.1 * self.scale);
        let (radius, half) = (radius * self.scale, width * self.scale / 2.0);
        let window = self.window([x - radius, y - radius, x + radius, y + radius], half + 1.0);
        self.paint(window, colour, 1.0, &|px, py| half - ((px - x).hypot(py - y) - radius).abs());
    }

    /// Draws lines of a width. Where they cross or bend, the colour is no stronger.
    pub(super) fn lines(
        &mut self,
        lines: &[Vec<Place>],
        colour: [u8; 3],
        width: f64,
        dashes: Option<(f64, f64)>,
    ) {
        let scale = self.scale;
        let scaled = |line: &Vec<Place>| -> Vec<Place> {
            line.iter().map(|(x, y)| (x * scale, y * scale)).collect()
        };
        let mut lines: Vec<Vec<Place>> = lines.iter().map(scaled).collect();
        if let Some((dash, gap)) = dashes.filter(|(dash, gap)| *dash > 0.0 && *gap > 0.0) {
            lines = lines.iter().flat_map(|line| dashed(line, dash * scale, gap * scale)).collect();
        }
        let places = || lines.iter().flatten();
        let fold = |start: f64, pick: fn(f64, f64) -> f64, of: fn(&Place) -> f64| {
            places().map(of).fold(start, pick)
        };
        let left = fold(f64::INFINITY, f64::min, |place| place.0);
        let right = fold(f64::NEG_INFINITY, f64::max, |place| place.0);
        let top = fold(f64::INFINITY, f64::min, |place| place.1);
        let bottom = fold(f64::NEG_INFINITY, f64::max, |place| place.1);
        if left > right {
            return;
        }
        // A line that is thinner than a pixel is paler, not thinner.
        let pale = (width * scale).min(1.0);
        let half = (width * scale / 2.0).max(0.5);
        let all = self.window([left, top, right, bottom], half + 1.0);
        let across = all.columns[1] - all.columns[0];
        let mut cover = vec![0.0_f32; across * (all.rows[1] - all.rows[0])];
        for line in &lines {
            let Some(first) = line.first() else { continue };
            let single = [*first, *first];
            let pieces: &[Place] = if line.len() == 1 { &single } else { line };
            for ends in pieces.windows(2) {
                let (from, to) = (ends[0], ends[1]);
                let corners =
                    [from.0.min(to.0), from.1.min(to.1), from.0.max(to.0), from.1.max(to.1)];
                let own = self.window(corners, half + 1.0);
                for row in own.rows[0]..own.rows[1] {
                    for column in own.columns[0]..own.columns[1] {
                        let middle = (column as f64 + 0.5, row as f64 + 0.5);
                        let covered = (half - distance(middle, from, to) + 0.5).clamp(0.0, 1.0);
                        let at = (row - all.rows[0]) * across + column - all.columns[0];
                        cover[at] = cover[at].max(covered as f32);
                    }
                }
            }
        }
        for row in all.rows[0]..all.rows[1] {
            for column in all.columns[0]..all.columns[1] {
                let covered = cover[(row - all.rows[0]) * across + column - all.columns[0]];
                if covered > 0.0 {
                    self.blend(column, row, colour, f64::from(covered) * pale);
                }
            }
        }
    }

    /// Draws an image between two corners, each of its pixels as a rectangle of one colour.
    pub(super) fn image(&mut self, corners: [f64; 4], (width, height, pixels): &Image) {
        let corners = corners.map(|length| length * self.scale);
        let [left, top, right, bottom] = corners;
        let window = self.window(corners, 0.0);
        for row in window.rows[0]..window.rows[1] {
            for column in window.columns[0]..window.columns[1] {
                let across = (column as f64 + 0.5 - left) / (right - left);
                let down = (row as f64 + 0.5 - top) / (bottom - top);
                if !(0.0..1.0).contains(&across) || !(0.0..1.0).contains(&down) {
                    continue;
                }
                let (x, y) = (across * *width as f64, down * *height as f64);
                if let Some([red, green, blue, opacity]) =
                    pixels.get(y as usize * width + x as usize)
                {
                    let cover = f64::from(*opacity) / 255.0;
                    self.blend(column, row, [*red, *green, *blue], cover);
                }
            }
        }
    }
}

/// Returns the distance of a place from the line between two others.
fn distance(place: Place, from: Place, to: Place) -> f64 {
    let (along, down) = (to.0 - from.0, to.1 - from.1);
    let (x, y) = (place.0 - from.0, place.1 - from.1);
    let length = along * along + down * down;
    let part = if length > 0.0 { ((x * along + y * down) / length).clamp(0.0, 1.0) } else { 0.0 };
    (x - part * along).hypot(y - part * down)
}

/// Takes a line apart into dashes.
fn dashed(line: &[Place], dash: f64, gap: f64) -> Vec<Vec<Place>> {
    let mut dashes: Vec<Vec<Place>> = Vec::new();
    // What is left of the dash or gap at hand.
    let (mut is_dash, mut left) = (true, dash);
    let mut own: Vec<Place> = line.first().copied().into_iter().collect();
    for ends in line.windows(2) {
        let (mut from, to) = (ends[0], ends[1]);
        loop {
            let length = (to.0 - from.0).hypot(to.1 - from.1);
            if length <= left || dashes.len() >= MAX_DASHES {
                left -= length;
                if is_dash {
                    own.push(to);
                }
                break;
            }
            let part = left / length;
            from = (from.0 + (to.0 - from.0) * part, from.1 + (to.1 - from.1) * part);
            if is_dash {
                own.push(from);
                dashes.push(std::mem::take(&mut own));
            } else {
                own = vec![from];
            }
            is_dash = !is_dash;
            left = if is_dash { dash } else { gap };
        }
    }
    if is_dash && !own.is_empty() {
        dashes.push(own);
    }
    dashes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_taken_apart_into_dashes() {
        let line = [(0.0, 0.0), (4.0, 0.0), (4.0, 4.0)];
        assert_eq!(
            dashed(&line, 3.0, 2.0),
            [vec![(0.0, 0.0), (3.0, 0.0)], vec![(4.0, 1.0), (4.0, 4.0)]]
        );
        assert_eq!(dashed(&line, 100.0, 1.0), [line.to_vec()]);
        assert!(dashed(&[], 1.0, 1.0).is_empty());
    }

    #[test]
    fn a_place_is_as_far_from_a_line_as_from_its_nearest_place() {
        assert_eq!(distance((2.0, 3.0), (0.0, 0.0), (4.0, 0.0)), 3.0);
        assert_eq!(distance((7.0, 4.0), (0.0, 0.0), (4.0, 0.0)), 5.0);
        assert_eq!(distance((3.0, 4.0), (0.0, 0.0), (0.0, 0.0)), 5.0);
    }

    #[test]
    fn edges_are_smooth_and_areas_are_whole() {
        let mut ink = Ink::new(4, 4, 1.0);
        ink.rectangle([1.0, 1.0, 2.5, 3.0], [0; 3], 1.0);
        let row: Vec<u8> = ink.raster.pixels[4..8].iter().map(|pixel| pixel[0]).collect();
        assert_eq!(row, [255, 0, 128, 255]);
        // What lies outside is not drawn.
        ink.disc((-50.0, 2.0), 3.0, [0; 3], 1.0);
        ink.lines(&[vec![(-9.0, -9.0), (-1e9, 1e9)], vec![]], [0; 3], 1.0, None);
        assert_eq!(ink.raster.pixels[12..], [[255; 3]; 4]);
    }
}
