//! A picture as an SVG document.
//!
//! A shape that is drawn in a box is cut off at its edges by an inner `<svg>` element, which needs no
//! names: several pictures can stand in one page. The cut leaves room for half the width of a
//! line, so that one along an edge is whole. Numbers have at most two decimals.

use super::picture::{Colour, Frame, Kind, Picture, Shape};
use std::fmt::Write;

/// The largest coordinate, in pixels; those farther out are clamped, since readers of SVG compute in
/// single precision.
const MAX_COORDINATE_PIXELS: f64 = 1e7;

impl Picture {
    /// The picture as an SVG document.
    pub fn svg(&self) -> String {
        let (width, height) = (self.width, self.height);
        let mut svg = Svg { out: String::new(), height: height as f64, open: None };
        svg.push(format_args!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\" fill=\"none\" stroke-linecap=\"round\" \
         stroke-linejoin=\"round\" font-family=\"monospace\" font-size=\"12\">\n<title>"
        ));
        svg.text(&self.title);
        svg.push(format_args!("</title>\n<rect width=\"{width}\" height=\"{height}\""));
        svg.paint("fill", self.background);
        svg.push(format_args!("/>\n"));
        let window = Frame { left: 0.0, bottom: 0.0, width: width as f64, height: height as f64 };
        for shape in &self.shapes {
            let frame = cut(shape).filter(|frame| !window.is_inside(frame));
            svg.enter(frame);
            svg.shape(shape);
        }
        svg.enter(None);
        svg.push(format_args!("</svg>\n"));
        svg.out
    }
}

/// The largest coordinate of a shape, in pixels, beyond which it is cut off; a text is not.
fn cut(shape: &Shape) -> Option<Frame> {
    let margin = match shape.kind {
        Kind::Points | Kind::Segments | Kind::Lines | Kind::Outlines => shape.size as f64 / 2.0,
        Kind::Rectangles | Kind::Polygon => 0.0,
        Kind::Text | Kind::CentredText => return None,
    };
    let Frame { left, bottom, width, height } = shape.frame;
    Some(Frame {
        left: left - margin,
        bottom: bottom - margin,
        width: width + 2.0 * margin,
        height: height + 2.0 * margin,
    })
}

impl Frame {
    fn is_inside(&self, other: &Frame) -> bool {
        other.left <= self.left
            && other.bottom <= self.bottom
            && other.left + other.width >= self.left + self.width
            && other.bottom + other.height >= self.bottom + self.height
    }
}

/// A document being written.
struct Svg {
    out: String,
    height: f64,
    /// The inner element that is open.
    open: Option<Frame>,
}

impl Svg {
    fn push(&mut self, text: std::fmt::Arguments<'_>) {
        // A String takes everything.
        let _ = self.out.write_fmt(text);
    }

    /// Makes a frame the one that is open.
    fn enter(&mut self, frame: Option<Frame>) {
        if self.open == frame {
            return;
        }
        if self.open.take().is_some() {
            self.push(format_args!("</svg>\n"));
        }
        if let Some(Frame { left, bottom, width, height }) = frame {
            let top = number(self.height - bottom - height);
            let (left, width, height) = (number(left), number(width), number(height));
            self.push(format_args!(
                "<svg x=\"{left}\" y=\"{top}\" width=\"{width}\" height=\"{height}\">\n"
            ));
        }
        self.open = frame;
    }

    fn shape(&mut self, shape: &Shape) {
        match shape.kind {
            Kind::Text | Kind::CentredText => self.label(shape),
            Kind::Points => {
                // A line without length, whose round ends are the point.
                self.begin();
                for point in shape.numbers.chunks_exact(2) {
                    self.at("M", point[0], point[1]);
                    self.push(format_args!("h0"));
                }
                self.stroke(shape);
            }
            Kind::Segments => {
                self.begin();
                for segment in shape.numbers.chunks_exact(4) {
                    self.at("M", segment[0], segment[1]);
                    self.at("L", segment[2], segment[3]);
                }
                self.stroke(shape);
            }
            Kind::Lines => {
                self.begin();
                self.corners(&shape.numbers);
                self.stroke(shape);
            }
            Kind::Outlines => {
                self.begin();
                self.rectangles(&shape.numbers);
                self.stroke(shape);
            }
            Kind::Rectangles => {
                self.begin();
                self.rectangles(&shape.numbers);
                self.fill(shape);
            }
            Kind::Polygon => {
                self.begin();
                self.corners(&shape.numbers);
                self.push(format_args!("Z\" fill-rule=\"evenodd"));
                self.fill(shape);
            }
        }
    }

    fn label(&mut self, shape: &Shape) {
        let (x, y) = self.place(shape.numbers[0], shape.numbers[1]);
        self.push(format_args!("<text x=\"{x}\" y=\"{y}\""));
        if shape.kind == Kind::CentredText {
            self.push(format_args!(" text-anchor=\"middle\""));
        }
        let text = &shape.text;
        if text.contains("  ") || text.starts_with(' ') || text.ends_with(' ') {
            self.push(format_args!(" xml:space=\"preserve\""));
        }
        self.paint("fill", shape.colour);
        self.push(format_args!(">"));
        self.text(text);
        self.push(format_args!("</text>\n"));
    }

    fn begin(&mut self) {
        self.push(format_args!("<path d=\""));
    }

    fn corners(&mut self, numbers: &[f64]) {
        for (i, corner) in numbers.chunks_exact(2).enumerate() {
            self.at(if i == 0 { "M" } else { "L" }, corner[0], corner[1]);
        }
    }

    fn rectangles(&mut self, numbers: &[f64]) {
        for rectangle in numbers.chunks_exact(4) {
            // The upper left corner.
            self.at("M", rectangle[0], rectangle[1] + rectangle[3]);
            let (width, height) = (number(rectangle[2]), number(rectangle[3]));
            self.push(format_args!("h{width}v{height}h{}Z", number(-rectangle[2])));
        }
    }

    /// Ends a path that is drawn with a pen.
    fn stroke(&mut self, shape: &Shape) {
        self.push(format_args!("\""));
        self.paint("stroke", shape.colour);
        if shape.size != 1 {
            self.push(format_args!(" stroke-width=\"{}\"", shape.size));
        }
        self.push(format_args!("/>\n"));
    }

    /// Ends a path that is filled.
    fn fill(&mut self, shape: &Shape) {
        self.push(format_args!("\""));
        self.paint("fill", shape.colour);
        self.push(format_args!("/>\n"));
    }

    fn paint(&mut self, attribute: &str, colour: Colour) {
        match colour {
            Colour::Rgb(red, green, blue) => {
                let (r, g, b) = (red >> 4, green >> 4, blue >> 4);
                self.push(format_args!(" {attribute}=\"#"));
                if (r * 17, g * 17, b * 17) == (red, green, blue) {
                    self.push(format_args!("{r:x}{g:x}{b:x}\""));
                } else {
                    self.push(format_args!("{red:02x}{green:02x}{blue:02x}\""));
                }
            }
            Colour::Invert => {
                self.push(format_args!(" {attribute}=\"#fff\" style=\"mix-blend-mode:difference\""))
            }
        }
    }

    /// A command of a path that goes to a place.
    fn at(&mut self, command: &str, x: f64, y: f64) {
        let (x, y) = self.place(x, y);
        self.push(format_args!("{command}{x} {y}"));
    }

    /// A place as it is written: from the upper left corner of what is open.
    fn place(&self, x: f64, y: f64) -> (f64, f64) {
        match &self.open {
            Some(frame) => (number(x - frame.left), number(frame.bottom + frame.height - y)),
            None => (number(x), number(self.height - y)),
        }
    }

    /// A text, with what means something in XML, or must not be there, replaced.
    fn text(&mut self, text: &str) {
        for c in text.chars() {
            match c {
                '&' => self.out.push_str("&amp;"),
                '<' => self.out.push_str("&lt;"),
                '>' => self.out.push_str("&gt;"),
                '\t' | '\n' | '\r' => self.out.push(' '),
                '\0'..' ' | '\u{fffe}' | '\u{ffff}' => self.out.push('\u{fffd}'),
                c => self.out.push(c),
            }
        }
    }
}

/// Two decimals; never `-0`.
fn number(x: f64) -> f64 {
    (x.clamp(-MAX_COORDINATE_PIXELS, MAX_COORDINATE_PIXELS) * 100.0).round() / 100.0 + 0.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        let written = |x: f64| number(x).to_string();
        assert_eq!(written(1.0), "1");
        assert_eq!(written(2.0 / 3.0), "0.67");
        assert_eq!(written(-0.001), "0");
        assert_eq!(written(1e300), "10000000");
    }
}
