//! Reads the SVG that this program draws.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

/// The beginning of an address that contains an image.
const PNG_ADDRESS: &str = "data:image/png;base64,";

/// A place in a picture: how far right and how far down.
pub(super) type Place = (f64, f64);

/// A picture as it was written.
pub(super) struct Picture {
    pub width: f64,
    pub height: f64,
    /// The shapes, drawn one over the other.
    pub items: Vec<Item>,
}

/// A shape and how it is drawn.
pub(super) struct Item {
    pub shape: Shape,
    pub style: Style,
}

/// A shape, in the units of the picture.
pub(super) enum Shape {
    Rectangle { x: f64, y: f64, width: f64, height: f64 },
    Lines(Vec<Vec<Place>>),
    Circle { x: f64, y: f64, radius: f64 },
    Text { x: f64, y: f64, is_upright: bool, anchor: Anchor, text: String },
    Image { x: f64, y: f64, width: f64, height: f64, png: Vec<u8> },
}

/// The part of a text that stands at its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

/// The style of a shape, inherited from the elements around it.
#[derive(Clone, Copy)]
pub(super) struct Style {
    pub fill: Option<[u8; 3]>,
    pub fill_opacity: f64,
    pub stroke: Option<[u8; 3]>,
    pub stroke_width: f64,
    /// The lengths of a dash and of the gap behind it.
    pub dashes: Option<(f64, f64)>,
    anchor: Anchor,
}

/// A tag of an element: its name and its attributes.
struct Tag<'a> {
    name: &'a str,
    attributes: &'a str,
}

/// Reads a picture; `None` for a text that is none.
pub(super) fn read(svg: &str) -> Option<Picture> {
    let mut picture = None;
    let usual = Style {
        fill: Some([0; 3]),
        fill_opacity: 1.0,
        stroke: None,
        stroke_width: 1.0,
        dashes: None,
        anchor: Anchor::Start,
    };
    let mut around = vec![usual];
    let mut rest = svg;
    while let Some(start) = rest.find('<') {
        let own = &rest[start + 1..];
        let end = own.find('>')?;
        let (inside, after) = (&own[..end], &own[end + 1..]);
        rest = after;
        if inside.starts_with('/') {
            around.pop();
            continue;
        }
        let is_empty = inside.ends_with('/');
        let inside = inside.trim_end_matches('/');
        let (name, attributes) = inside.split_once(char::is_whitespace).unwrap_or((inside, ""));
        let tag = Tag { name, attributes };
        let style = tag.style(*around.last()?);
        if name == "svg" {
            let (width, height) = (tag.number("width")?, tag.number("height")?);
            if !(width > 0.0 && height > 0.0) {
                return None;
            }
            picture = Some(Picture { width, height, items: Vec::new() });
        }
        let text = after.split('<').next().unwrap_or("");
        if let (Some(shape), Some(picture)) = (tag.shape(style, text), picture.as_mut()) {
            picture.items.push(Item { shape, style });
        }
        if !is_empty {
            around.push(style);
        }
    }
    picture
}

impl<'a> Tag<'a> {
    /// Returns the value of an attribute as it is written.
    fn value(&self, name: &str) -> Option<&'a str> {
        let mut rest = self.attributes;
        while let Some((before, after)) = rest.split_once("=\"") {
            let (value, behind) = after.split_once('"')?;
            if before.trim() == name {
                return Some(value);
            }
            rest = behind;
        }
        None
    }

    fn number(&self, name: &str) -> Option<f64> {
        self.value(name)?.parse().ok().filter(|number: &f64| number.is_finite())
    }

    fn style(&self, around: Style) -> Style {
        let paint = |name: &str, inherited| self.value(name).map_or(inherited, colour);
        let dashes = |text: &str| {
            let (dash, gap) = text.split_once([' ', ','])?;
            Some((dash.parse().ok()?, gap.parse().ok()?))
        };
        Style {
            fill: paint("fill", around.fill),
            fill_opacity: self.number("fill-opacity").unwrap_or(around.fill_opacity),
            stroke: paint("stroke", around.stroke),
            stroke_width: self.number("stroke-width").unwrap_or(around.stroke_width),
            dashes: self.value("stroke-dasharray").map_or(around.dashes, dashes),
            anchor: match self.value("text-anchor") {
                Some("middle") => Anchor::Middle,
                Some("end") => Anchor::End,
                Some(_) => Anchor::Start,
                None => around.anchor,
            },
        }
    }

    fn shape(&self, style: Style, text: &str) -> Option<Shape> {
        let at = |name: &str| self.number(name).unwrap_or(0.0);
        match self.name {
            "rect" => Some(Shape::Rectangle {
                x: at("x"),
                y: at("y"),
                width: self.number("width")?,
                height: self.number("height")?,
            }),
            "circle" => Some(Shape::Circle { x: at("cx"), y: at("cy"), radius: self.number("r")? }),
            "path" => Some(Shape::Lines(lines(self.value("d")?))),
            "text" => {
                // Titles of vertical axes are moved and turned; nothing else is.
                let moved = self.value("transform").and_then(|text| {
                    let (place, turned) = text.strip_prefix("translate(")?.split_once(')')?;
                    let (x, y) = place.split_once([' ', ','])?;
                    let is_upright = turned.contains("rotate(-90)");
                    Some((x.parse().ok()?, y.parse().ok()?, is_upright))
                });
                let (x, y, is_upright) = moved.unwrap_or((at("x"), at("y"), false));
                let text = unescaped(text);
                Some(Shape::Text { x, y, is_upright, anchor: style.anchor, text })
            }
            "image" => Some(Shape::Image {
                x: at("x"),
                y: at("y"),
                width: self.number("width")?,
                height: self.number("height")?,
                png: STANDARD.decode(self.value("href")?.strip_prefix(PNG_ADDRESS)?).ok()?,
            }),
            _ => None,
        }
    }
}

/// Returns the colour that a text such as `#0072b2` or `#fff` names.
fn colour(text: &str) -> Option<[u8; 3]> {
    let digits = text.strip_prefix('#')?;
    let part = |range: std::ops::Range<usize>| u8::from_str_radix(digits.get(range)?, 16).ok();
    match digits.len() {
        6 => Some([part(0..2)?, part(2..4)?, part(4..6)?]),
        3 => Some([part(0..1)? * 17, part(1..2)? * 17, part(2..3)? * 17]),
        _ => None,
    }
}

/// Returns the lines of a path: one for each move to a new start.
fn lines(path: &str) -> Vec<Vec<Place>> {
    let mut lines: Vec<Vec<Place>> = Vec::new();
    let (mut x, mut y) = (0.0, 0.0);
    let mut rest = path.trim_start();
    while let Some(letter) = rest.chars().next() {
        let end = rest[letter.len_utf8()..].find(|c: char| c.is_ascii_alphabetic());
        let (own, after) =
            rest[letter.len_utf8()..].split_at(end.unwrap_or(rest.len() - letter.len_utf8()));
        rest = after;
        let words = own.split([' ', ',']).filter(|word| !word.is_empty());
        let numbers: Vec<f64> = words.map_while(|word| word.parse().ok()).collect();
        let step = if matches!(letter, 'H' | 'h' | 'V' | 'v') { 1 } else { 2 };
        if matches!(letter, 'Z' | 'z')
            && let Some(line) = lines.last_mut()
            && let Some(first) = line.first().copied()
        {
            line.push(first);
            (x, y) = first;
        }
        for (at, number) in numbers.chunks_exact(step).enumerate() {
            match letter {
                'M' | 'L' => (x, y) = (number[0], number[1]),
                'm' | 'l' => (x, y) = (x + number[0], y + number[1]),
                'H' => x = number[0],
                'h' => x += number[0],
                'V' => y = number[0],
                'v' => y += number[0],
                // There are no curves in plots.
                _ => {}
            }
            if matches!(letter, 'M' | 'm') && at == 0 {
                lines.push(Vec::new());
            }
            if let Some(line) = lines.last_mut() {
                line.push((x, y));
            }
        }
    }
    lines
}

/// Returns a text without the escapes of XML.
fn unescaped(text: &str) -> String {
    let known = [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&amp;", "&")];
    known.iter().fold(text.to_owned(), |text, (escape, meant)| text.replace(escape, meant))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_lines() {
        assert_eq!(lines("M1 2L3.5 4.0L5,6"), [[(1.0, 2.0), (3.5, 4.0), (5.0, 6.0)]]);
        assert_eq!(lines("M1 2V9H5"), [[(1.0, 2.0), (1.0, 9.0), (5.0, 9.0)]]);
        assert_eq!(lines("M1 2h3M0 0v-1"), [[(1.0, 2.0), (4.0, 2.0)], [(0.0, 0.0), (0.0, -1.0)]]);
        assert_eq!(lines("M0 0L1 0L1 1Z"), [[(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 0.0)]]);
        assert!(lines("").is_empty() && lines("nonsense é").is_empty());
    }

    #[test]
    fn styles_are_inherited() {
        let svg = "<svg width=\"10\" height=\"5\" fill=\"#333333\"><g fill=\"#0072b2\" fill-opacity=\"0.75\">\
                   <circle cx=\"1\" cy=\"2\" r=\"3\"/></g><text x=\"4\" y=\"5\" text-anchor=\"end\">a &lt; b</text>\
                   </svg>";
        let picture = read(svg).expect("a picture");
        assert_eq!((picture.width, picture.height, picture.items.len()), (10.0, 5.0, 2));
        let style = picture.items[0].style;
        assert_eq!((style.fill, style.fill_opacity), (Some([0, 0x72, 0xb2]), 0.75));
        let Shape::Text { anchor: Anchor::End, text, .. } = &picture.items[1].shape else {
            panic!("a text")
        };
        assert_eq!((text.as_str(), picture.items[1].style.fill), ("a < b", Some([0x33; 3])));
        for wrong in
            ["", "<svg", "<svg>", "<svg width=\"0\" height=\"1\"></svg>", "</g></g>", "<p>"]
        {
            assert!(read(wrong).is_none(), "{wrong}");
        }
    }
}
