//! Pictures in pixels: the SVG that this program draws → an image, for terminals that show images.
//!
//! ```text
//! SVG ──reader──▶ shapes with their styles ──ink, letters──▶ pixels ──▶ PNG
//! ```
//!
//! It is no renderer of SVG in general: it reads the elements that plots consist of (rectangles, paths of
//! straight lines, circles, texts, images in PNG) and passes over everything else. Letters are drawn with lines,
//! so that no font is needed.

mod ink;
mod letters;
mod reader;

use ink::Ink;
use reader::{Item, Shape, Style};

/// The pixels of a side of a picture, at most.
const MAX_SIDE_PIXELS: f64 = 4096.0;

/// A picture in pixels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Raster {
    /// The number of pixels in a row.
    pub width: usize,
    /// The number of rows.
    pub height: usize,
    /// The red, green and blue part of each pixel, row by row.
    pub pixels: Vec<[u8; 3]>,
}

/// Draws an SVG of this program, `scale` pixels for each of its units; `None` if it is none.
pub fn draw(svg: &str, scale: f64) -> Option<Raster> {
    let picture = reader::read(svg)?;
    let scale = scale.min(MAX_SIDE_PIXELS / picture.width).min(MAX_SIDE_PIXELS / picture.height);
    let side = |length: f64| (length * scale).round().max(1.0) as usize;
    let mut ink = Ink::new(side(picture.width), side(picture.height), scale);
    for Item { shape, style } in &picture.items {
        item(&mut ink, shape, style);
    }
    Some(ink.done())
}

fn item(ink: &mut Ink, shape: &Shape, style: &Style) {
    match shape {
        Shape::Rectangle { x, y, width, height } => {
            if let Some(colour) = style.fill {
                ink.rectangle([*x, *y, x + width, y + height], colour, style.fill_opacity);
            }
            if let Some(colour) = style.stroke {
                let [right, below] = [x + width, y + height];
                let corners = [(*x, *y), (right, *y), (right, below), (*x, below), (*x, *y)];
                ink.lines(&[corners.to_vec()], colour, style.stroke_width, None);
            }
        }
        Shape::Lines(lines) => {
            if let Some(colour) = style.stroke {
                ink.lines(lines, colour, style.stroke_width, style.dashes);
            }
        }
        Shape::Circle { x, y, radius } => {
            if let Some(colour) = style.fill {
                ink.disc((*x, *y), *radius, colour, style.fill_opacity);
            }
            if let Some(colour) = style.stroke {
                ink.ring((*x, *y), *radius, colour, style.stroke_width);
            }
        }
        Shape::Text { x, y, is_upright, anchor, text } => {
            let lines = letters::lines(text, (*x, *y), *anchor, *is_upright);
            if let Some(colour) = style.fill {
                ink.lines(&lines, colour, letters::STROKE_PIXELS, None);
            }
        }
        Shape::Image { x, y, width, height, png } => {
            if let Some(image) = decoded(png) {
                ink.image([*x, *y, x + width, y + height], &image);
            }
        }
    }
}

/// An image that was read: its width, its height, and its pixels with their opacity.
type Image = (usize, usize, Vec<[u8; 4]>);

/// Decodes an image in PNG.
fn decoded(bytes: &[u8]) -> Option<Image> {
    let mut decoder = png::Decoder::new(std::io::Cursor::new(bytes));
    decoder.set_transformations(png::Transformations::EXPAND | png::Transformations::ALPHA);
    let mut reader = decoder.read_info().ok()?;
    let mut data = vec![0; reader.output_buffer_size()?];
    let info = reader.next_frame(&mut data).ok()?;
    if (info.color_type, info.bit_depth) != (png::ColorType::Rgba, png::BitDepth::Eight) {
        return None;
    }
    let (pixels, _) = data.get(..info.buffer_size())?.as_chunks::<4>();
    Some((info.width as usize, info.height as usize, pixels.to_vec()))
}

impl Raster {
    /// Returns the picture in PNG.
    pub fn png(&self) -> Option<Vec<u8>> {
        let mut out = Vec::new();
        let (width, height) = (u32::try_from(self.width).ok()?, u32::try_from(self.height).ok()?);
        let mut encoder = png::Encoder::new(&mut out, width, height);
        encoder.set_color(png::ColorType::Rgb);
        encoder.set_depth(png::BitDepth::Eight);
        let pixels: Vec<u8> = self.pixels.iter().flatten().copied().collect();
        encoder.write_header().ok()?.write_image_data(&pixels).ok()?;
        Some(out)
    }
}

#[cfg(test)]
mod tests;
