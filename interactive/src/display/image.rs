//! Matrices of numbers as heat maps, and matrices of colours as images, in PNG.

use super::sheet::row_lengths;
use crate::table::grouped;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use nesl_engine::data::{Elements, Node, Shown, ValueType};

/// The rows and columns from which on a matrix is shown as an image.
const MIN_SIDE_ELEMENTS: usize = 16;
/// The pixels of a side of an image; of larger matrices every n-th row and column is
/// shown.
const MAX_SIDE_PIXELS: usize = 512;
/// The length on the screen that the longer side of a small image is enlarged to.
const SCREEN_PIXELS: usize = 320;
/// The elements that are looked at for the smallest and the largest number; of larger matrices those
/// that are shown.
const MAX_RANGE_ELEMENTS: usize = 1 << 20;
/// The index of the transparent colour of the palette, for what is no number.
const NO_COLOUR: u8 = 255;

/// Colours of equal steps in lightness, from dark to bright; those between are mixed.
const PALETTE: [[u8; 3]; 9] = [
    [68, 1, 84],
    [71, 44, 122],
    [59, 81, 139],
    [44, 113, 142],
    [33, 144, 141],
    [39, 173, 129],
    [92, 200, 99],
    [170, 220, 50],
    [253, 231, 37],
];

/// An image of a matrix.
#[derive(Clone, Debug)]
pub(crate) struct Image {
    png: Vec<u8>,
    /// The rows and columns of the matrix.
    pub rows: usize,
    /// The columns of the matrix.
    pub columns: usize,
    /// One in so many rows and columns is shown.
    pub step: usize,
    /// The smallest and the largest number, for a heat map.
    pub range: Option<(f64, f64)>,
    /// True if the range is that of the numbers shown only.
    is_range_of_shown: bool,
    /// The elements that were looked at and are no finite number; they have no colour.
    pub not_finite: usize,
}

/// A matrix that was read whole: the rows are equally long.
#[derive(Clone, Copy)]
pub(crate) struct Matrix<'a> {
    elements: Elements<'a>,
    /// The number of rows.
    pub rows: usize,
    /// The number of columns.
    pub columns: usize,
}

impl<'a> Matrix<'a> {
    /// Returns a value as a matrix: a sequence of equally long sequences, read whole.
    pub(crate) fn of(shown: &'a Shown) -> Option<Matrix<'a>> {
        let Node::Sequence(elements) = shown.root() else { return None };
        let is_nested =
            matches!(elements.element().element(), Some(element) if *element != ValueType::Char);
        if !is_nested || !elements.is_whole() || elements.is_empty() {
            return None;
        }
        let lengths = row_lengths(&elements);
        let all_equal = lengths.known == elements.len() && lengths.shortest == lengths.longest;
        let matrix = Matrix { elements, rows: elements.len(), columns: lengths.longest };
        (all_equal && lengths.longest > 0).then_some(matrix)
    }

    /// Returns a row.
    pub(crate) fn row(&self, index: usize) -> Option<Elements<'a>> {
        match self.elements.get(index)? {
            Node::Sequence(row) => Some(row),
            _ => None,
        }
    }
}

/// Returns a node as a number.
pub(crate) fn number(node: Option<Node<'_>>) -> Option<f64> {
    match node? {
        Node::Int(n) => Some(n as f64),
        Node::Float(x) => Some(x),
        _ => None,
    }
}

/// Returns the image of a value, if it is a large enough matrix of numbers or of colours.
pub(crate) fn of(shown: &Shown) -> Option<Image> {
    let is_colour = |ty: &ValueType| matches!(ty, ValueType::Tuple(parts) if parts.len() == 3 && parts.iter().all(|part| *part == ValueType::Int));
    let element = shown.ty().element()?.element()?;
    if !element.is_number() && !is_colour(element) {
        return None;
    }
    let matrix = Matrix::of(shown)?;
    if matrix.rows < MIN_SIDE_ELEMENTS || matrix.columns < MIN_SIDE_ELEMENTS {
        return None;
    }
    if element.is_number() { heat_map(&matrix) } else { colours(&matrix) }
}

/// Returns the heat map of a matrix of numbers, of any size; `None` if none of them is finite.
pub(crate) fn heat_map(matrix: &Matrix<'_>) -> Option<Image> {
    let Matrix { rows, columns, .. } = *matrix;
    let step = step(matrix);
    let is_range_of_shown = rows.saturating_mul(columns) > MAX_RANGE_ELEMENTS;
    let range_step = if is_range_of_shown { step } else { 1 };
    let (mut low, mut high, mut not_finite) = (f64::INFINITY, f64::NEG_INFINITY, 0);
    for row in (0..rows).step_by(range_step) {
        let row = matrix.row(row)?;
        for column in (0..columns).step_by(range_step) {
            let x = number(row.get(column))?;
            if x.is_finite() {
                (low, high) = (low.min(x), high.max(x));
            } else {
                not_finite += 1;
            }
        }
    }
    if low > high {
        return None;
    }
    let (width, height) = (columns.div_ceil(step), rows.div_ceil(step));
    let mut pixels = Vec::with_capacity(width * height);
    for row in (0..rows).step_by(step) {
        let row = matrix.row(row)?;
        for column in (0..columns).step_by(step) {
            pixels.push(shade(number(row.get(column))?, low, high));
        }
    }
    let png = encoded(width, height, png::ColorType::Indexed, &pixels)?;
    Some(Image {
        png,
        rows,
        columns,
        step,
        range: Some((low, high)),
        is_range_of_shown,
        not_finite,
    })
}

/// Returns the index in the palette for a number.
fn shade(x: f64, low: f64, high: f64) -> u8 {
    let most = f64::from(NO_COLOUR - 1);
    match x {
        x if !x.is_finite() => NO_COLOUR,
        x if x <= low && low < high => 0,
        x if x >= high => NO_COLOUR - 1,
        // Halves, so that the difference of large numbers is finite.
        x => ((x / 2.0 - low / 2.0) / (high / 2.0 - low / 2.0) * most).round() as u8,
    }
}

/// Returns the image of a matrix of colours; `None` if a part of one is not between 0 and 255.
fn colours(matrix: &Matrix<'_>) -> Option<Image> {
    let Matrix { rows, columns, .. } = *matrix;
    let step = step(matrix);
    let mut pixels = Vec::new();
    for row in (0..rows).step_by(step) {
        let row = matrix.row(row)?;
        for column in (0..columns).step_by(step) {
            let Some(Node::Tuple(parts)) = row.get(column) else { return None };
            for part in parts {
                let Node::Int(part) = part else { return None };
                pixels.push(u8::try_from(part).ok()?);
            }
        }
    }
    let (width, height) = (columns.div_ceil(step), rows.div_ceil(step));
    let png = encoded(width, height, png::ColorType::Rgb, &pixels)?;
    Some(Image { png, rows, columns, step, range: None, is_range_of_shown: false, not_finite: 0 })
}

/// Returns the step by which rows and columns are taken.
fn step(matrix: &Matrix<'_>) -> usize {
    matrix.rows.max(matrix.columns).div_ceil(MAX_SIDE_PIXELS)
}

fn encoded(width: usize, height: usize, kind: png::ColorType, pixels: &[u8]) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    let (width, height) = (u32::try_from(width).ok()?, u32::try_from(height).ok()?);
    let mut encoder = png::Encoder::new(&mut out, width, height);
    encoder.set_color(kind);
    encoder.set_depth(png::BitDepth::Eight);
    if kind == png::ColorType::Indexed {
        let mut palette: Vec<u8> = (0..NO_COLOUR).flat_map(colour).collect();
        palette.extend([128, 128, 128]);
        encoder.set_palette(palette);
        let mut opacity = vec![255; usize::from(NO_COLOUR)];
        opacity.push(0);
        encoder.set_trns(opacity);
    }
    // Writing to memory does not fail; if it does, there is no image.
    encoder.write_header().ok()?.write_image_data(pixels).ok()?;
    Some(out)
}

/// Returns the colour of a shade.
pub(crate) fn colour(shade: u8) -> [u8; 3] {
    let position = f64::from(shade) / f64::from(NO_COLOUR - 1) * (PALETTE.len() - 1) as f64;
    let at = (position as usize).min(PALETTE.len() - 2);
    let part = position - at as f64;
    let mixed = |k: usize| {
        let (from, to) = (f64::from(PALETTE[at][k]), f64::from(PALETTE[at + 1][k]));
        (from + (to - from) * part).round() as u8
    };
    [mixed(0), mixed(1), mixed(2)]
}

impl Image {
    /// Returns the image as an address that contains it.
    pub(crate) fn data_uri(&self) -> String {
        format!("data:image/png;base64,{}", STANDARD.encode(&self.png))
    }

    fn scale(&self) -> f64 {
        let side = self.rows.max(self.columns).div_ceil(self.step);
        (SCREEN_PIXELS as f64 / side as f64).floor().max(1.0)
    }

    /// Returns the width on the screen, in pixels.
    pub(crate) fn shown_width(&self) -> usize {
        (self.columns.div_ceil(self.step) as f64 * self.scale()) as usize
    }

    /// Returns the height on the screen, in pixels.
    pub(crate) fn shown_height(&self) -> usize {
        (self.rows.div_ceil(self.step) as f64 * self.scale()) as usize
    }

    /// Returns what to say of an image that does not show everything.
    pub(crate) fn note(&self) -> String {
        let mut note = match self.step {
            1 => String::new(),
            step if self.is_range_of_shown => {
                format!("; one of {step} rows and columns is shown, and their range")
            }
            step => format!("; one of {step} rows and columns is shown"),
        };
        if let Some(left_out) = self.left_out() {
            note += "; ";
            note += &left_out;
        }
        note
    }

    /// Returns what to say of elements that have no colour.
    pub(crate) fn left_out(&self) -> Option<String> {
        match self.not_finite {
            0 => None,
            1 => Some("without 1 that is not finite".to_owned()),
            n => Some(format!("without {} that are not finite", grouped(n as u64))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shades_are_between_the_ends() {
        assert_eq!([0.0, 1.0, 3.0, f64::NAN].map(|x| shade(x, 0.0, 2.0)), [0, 127, 254, 255]);
        assert_eq!([f64::INFINITY, f64::NEG_INFINITY].map(|x| shade(x, 0.0, 2.0)), [255; 2]);
        assert_eq!(shade(0.0, f64::MIN, f64::MAX), 127);
        assert_eq!(shade(1.0, 1.0, 1.0), 254);
        assert_eq!((colour(0), colour(254)), (PALETTE[0], PALETTE[8]));
    }
}
