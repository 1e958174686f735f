//! Pictures: what programs draw with the `w_` functions.
//!
//! A window is a picture that grows. The library turns what it is asked to draw into *marks* in
//! pixels, counted from the lower left corner of the window; here they are kept, and written as
//! SVG when somebody wants to look ([`Picture::svg`]). A picture outlives the entry that drew it,
//! and goes on growing when a later one draws.
//!
//! Invariants: every number of a kept shape is finite; the file names of a session's pictures
//! differ, even where upper and lower case are one.

/// The largest width and height of a window, in pixels.
pub const MAX_SIDE_PIXELS: i64 = 16_384;
/// The largest number of windows of one session.
const MAX_WINDOWS: usize = 1_000;
/// The numbers and characters that the shapes of one picture hold together, at most.
const MAX_PICTURE_NUMBERS: usize = 1 << 24;
/// The colour that inverts what it is drawn over.
const INVERT_COLOUR: i64 = 64;
/// Colours from here on are 24 bits of red, green and blue.
const FIRST_RGB_COLOUR: i64 = 1 << 24;
/// The bytes of a file's name that a title gives, at most.
const MAX_FILE_NAME_BYTES: usize = 80;

/// The pictures of a session, in the order in which their windows were made.
#[derive(Default)]
pub struct Pictures {
    all: Vec<Picture>,
}

/// The drawing on one window.
#[derive(Clone, Debug)]
pub struct Picture {
    pub(super) title: String,
    file_name: String,
    pub(super) width: i64,
    pub(super) height: i64,
    pub(super) background: Colour,
    pub(super) shapes: Vec<Shape>,
    /// Numbers and chars in the shapes.
    size: usize,
    ended: bool,
    changed: bool,
}

/// The operands of a drawing operation, as the library gives them.
#[derive(Clone, Copy, Debug)]
pub struct Mark<'a> {
    /// The number of the shape: the table is at [`nesl_core::prim::HostOp::Draw`].
    pub shape: i64,
    /// The colour's number.
    pub colour: i64,
    /// The width of lines or the diameter of points.
    pub size: i64,
    /// The box, then the places.
    pub numbers: &'a [f64],
    /// The text of a text.
    pub text: &'a [u8],
}

/// A colour that a shape is drawn in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Colour {
    /// Red, green and blue.
    Rgb(u8, u8, u8),
    /// Whatever is not there.
    Invert,
}

/// The rectangle outside of which a shape is not drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Frame {
    pub left: f64,
    pub bottom: f64,
    pub width: f64,
    pub height: f64,
}

/// A shape that was drawn.
#[derive(Clone, Debug)]
pub(super) struct Shape {
    pub kind: Kind,
    pub frame: Frame,
    pub colour: Colour,
    pub size: i64,
    pub numbers: Vec<f64>,
    pub text: String,
}

/// The kind of a shape; the numbers of each are described at [`nesl_core::prim::HostOp::Draw`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Points,
    Segments,
    Lines,
    Outlines,
    Rectangles,
    Polygon,
    Text,
    CentredText,
}

/// The request that a mark makes.
enum Request {
    Add(Kind),
    Clear,
    End,
}

impl Pictures {
    /// The pictures in the order in which their windows were made.
    pub fn all(&self) -> &[Picture] {
        &self.all
    }

    /// From now on only what is drawn anew is a change.
    pub fn settle(&mut self) {
        for picture in &mut self.all {
            picture.changed = false;
        }
    }

    /// Makes a window: its number.
    pub(super) fn open(
        &mut self,
        title: String,
        [width, height]: [i64; 2],
        background: i64,
    ) -> Result<i64, String> {
        if self.all.len() >= MAX_WINDOWS {
            return Err(format!("a session has at most {MAX_WINDOWS} windows"));
        }
        let sizes = 1..=MAX_SIDE_PIXELS;
        if !sizes.contains(&width) || !sizes.contains(&height) {
            return Err(format!("a window of {width} by {height} pixels cannot be made"));
        }
        let background = colour(background)?;
        let file_name = self.file_name(&title);
        self.all.push(Picture {
            title,
            file_name,
            width,
            height,
            background,
            shapes: Vec::new(),
            size: 0,
            ended: false,
            changed: true,
        });
        Ok(self.all.len() as i64 - 1)
    }

    /// Draws on a window.
    pub(super) fn draw(&mut self, window: i64, mark: Mark<'_>) -> Result<(), String> {
        let found = usize::try_from(window).ok().and_then(|window| self.all.get_mut(window));
        let picture = found.ok_or_else(|| format!("window {window} does not exist"))?;
        if picture.ended {
            return Err(format!("the window \"{}\" was killed", picture.title));
        }
        picture.draw(mark)
    }

    /// A file's name for a title that no other picture has.
    fn file_name(&self, title: &str) -> String {
        let stem = stem(title);
        let taken = |name: &str| {
            let name = name.to_lowercase();
            self.all.iter().any(|picture| picture.file_name.to_lowercase() == name)
        };
        let mut name = format!("{stem}.svg");
        let mut number = 2;
        while taken(&name) {
            name = format!("{stem}-{number}.svg");
            number += 1;
        }
        name
    }
}

impl Picture {
    /// The title of the window.
    pub fn title(&self) -> &str {
        &self.title
    }

    /// The title as the name of an SVG file, numbered if another window has it already.
    pub fn file_name(&self) -> &str {
        &self.file_name
    }

    /// Pixels across and up.
    pub fn size(&self) -> (i64, i64) {
        (self.width, self.height)
    }

    /// Returns true if the last entry made the window or drew on it.
    pub fn changed(&self) -> bool {
        self.changed
    }

    fn draw(&mut self, mark: Mark<'_>) -> Result<(), String> {
        let request = request(mark.shape)?;
        let colour = colour(mark.colour)?;
        if !mark.numbers.iter().all(|number| number.is_finite()) {
            return Err("a place to draw at is not a finite number".to_owned());
        }
        let Some((&[left, bottom, width, height], numbers)) = mark.numbers.split_first_chunk()
        else {
            return Err("a shape is drawn in a box".to_owned());
        };
        let frame = Frame { left, bottom, width, height };
        self.changed = true;
        match request {
            Request::End => self.ended = true,
            Request::Clear => {
                self.shapes.retain(|shape| shape.frame != frame);
                self.size = self.shapes.iter().map(Shape::room).sum();
                self.add(Kind::Rectangles, frame, colour, 0, &[left, bottom, width, height], &[])?;
            }
            Request::Add(kind) => self.add(kind, frame, colour, mark.size, numbers, mark.text)?,
        }
        Ok(())
    }

    fn add(
        &mut self,
        kind: Kind,
        frame: Frame,
        colour: Colour,
        size: i64,
        numbers: &[f64],
        text: &[u8],
    ) -> Result<(), String> {
        if !numbers.len().is_multiple_of(kind.numbers()) {
            return Err("a shape lacks a coordinate".to_owned());
        }
        self.size = self.size.saturating_add(numbers.len()).saturating_add(text.len()).max(1);
        if self.size > MAX_PICTURE_NUMBERS {
            return Err(format!("the picture \"{}\" has too many shapes", self.title));
        }
        if numbers.is_empty() {
            return Ok(());
        }
        // One shape may stand for many of the same looks: what instances of an apply-to-each
        // draw one by one.
        if let Some(last) = self.shapes.last_mut()
            && kind.joins()
            && colour != Colour::Invert
            && (last.kind, last.frame, last.colour, last.size) == (kind, frame, colour, size)
        {
            last.numbers.extend_from_slice(numbers);
            return Ok(());
        }
        let (numbers, text) = (numbers.to_vec(), super::text::decode(text.to_vec()));
        self.shapes.push(Shape { kind, frame, colour, size, numbers, text });
        Ok(())
    }
}

impl Shape {
    fn room(&self) -> usize {
        self.numbers.len() + self.text.len()
    }
}

impl Kind {
    /// The number of numbers that make one shape.
    fn numbers(self) -> usize {
        match self {
            Kind::Segments | Kind::Outlines | Kind::Rectangles => 4,
            Kind::Points | Kind::Lines | Kind::Polygon | Kind::Text | Kind::CentredText => 2,
        }
    }

    /// Returns true if the numbers of two such shapes, one after the other, are those of both.
    fn joins(self) -> bool {
        match self {
            Kind::Points | Kind::Segments | Kind::Outlines | Kind::Rectangles => true,
            Kind::Lines | Kind::Polygon | Kind::Text | Kind::CentredText => false,
        }
    }
}

fn request(shape: i64) -> Result<Request, String> {
    Ok(match shape {
        0 => Request::Add(Kind::Points),
        1 => Request::Add(Kind::Segments),
        2 => Request::Add(Kind::Lines),
        3 => Request::Add(Kind::Outlines),
        4 => Request::Add(Kind::Rectangles),
        5 => Request::Add(Kind::Polygon),
        6 => Request::Add(Kind::Text),
        7 => Request::Add(Kind::CentredText),
        8 => Request::Clear,
        9 => Request::End,
        other => return Err(format!("shape {other} is unknown")),
    })
}

/// The colour of a number: below 64 as in the original, two bits each for (from the lowest) red,
/// blue and green.
fn colour(number: i64) -> Result<Colour, String> {
    let level = |bits: i64| [0, 105, 179, 255][(bits & 3) as usize];
    let byte = |bits: i64| (bits & 255) as u8;
    match number {
        0..INVERT_COLOUR => Ok(Colour::Rgb(level(number), level(number >> 4), level(number >> 2))),
        INVERT_COLOUR => Ok(Colour::Invert),
        FIRST_RGB_COLOUR..=0x1ff_ffff => {
            Ok(Colour::Rgb(byte(number >> 16), byte(number >> 8), byte(number)))
        }
        other => Err(format!("{other} is not a colour")),
    }
}

/// A title without what a file's name cannot or should not have.
fn stem(title: &str) -> String {
    let mut stem = String::new();
    for c in title.chars() {
        if stem.len() >= MAX_FILE_NAME_BYTES {
            break;
        }
        if c.is_alphanumeric() || c == '_' {
            stem.push(c);
        } else if !stem.is_empty() && !stem.ends_with('-') {
            stem.push('-');
        }
    }
    let stem = stem.trim_end_matches('-');
    if stem.is_empty() { "picture".to_owned() } else { stem.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mark(shape: i64, numbers: &[f64]) -> Mark<'_> {
        Mark { shape, colour: 0, size: 1, numbers, text: b"" }
    }

    #[test]
    fn titles_become_names_of_files() {
        assert_eq!(stem("Convex hull"), "Convex-hull");
        assert_eq!(stem("../../etc/passwd"), "etc-passwd");
        assert_eq!(stem("50% (of it)"), "50-of-it");
        assert_eq!(stem("größe"), "größe");
        assert_eq!(stem("..."), "picture");
        assert_eq!(stem(&"é".repeat(1000)).len(), MAX_FILE_NAME_BYTES);
    }

    #[test]
    fn no_two_pictures_share_a_file() {
        let mut pictures = Pictures::default();
        for title in ["a", "A", "a-2", "a"] {
            pictures.open(title.to_owned(), [1, 1], 0).expect("a window");
        }
        let names: Vec<&str> = pictures.all().iter().map(Picture::file_name).collect();
        assert_eq!(names, ["a.svg", "A-2.svg", "a-2-2.svg", "a-3.svg"]);
    }

    #[test]
    fn colours_are_those_of_the_original() {
        assert_eq!(colour(3), Ok(Colour::Rgb(255, 0, 0)));
        assert_eq!(colour(12), Ok(Colour::Rgb(0, 0, 255)));
        assert_eq!(colour(48), Ok(Colour::Rgb(0, 255, 0)));
        assert_eq!(colour(42), Ok(Colour::Rgb(179, 179, 179)));
        assert_eq!(colour(FIRST_RGB_COLOUR + 0x01_02_03), Ok(Colour::Rgb(1, 2, 3)));
        for bad in [-1, 65, FIRST_RGB_COLOUR - 1, FIRST_RGB_COLOUR * 2] {
            assert!(colour(bad).is_err(), "{bad}");
        }
    }

    /// Whatever the operands, the answer is a complaint or a picture of finite numbers.
    #[test]
    fn nonsense_is_refused() {
        let mut pictures = Pictures::default();
        assert!(pictures.draw(0, mark(0, &[])).is_err());
        for sizes in [[0, 1], [1, -1], [MAX_SIDE_PIXELS + 1, 1]] {
            assert!(pictures.open(String::new(), sizes, 0).is_err());
        }
        pictures.open(String::new(), [10, 10], 0).expect("a window");
        let good = [0.0, 0.0, 10.0, 10.0, 1.0, 2.0, 3.0, 4.0];
        for shape in 0..8 {
            assert_eq!(pictures.draw(0, mark(shape, &good)), Ok(()));
            assert!(pictures.draw(0, mark(shape, &good[..3])).is_err(), "no box");
            assert!(pictures.draw(0, mark(shape, &good[..7])).is_err(), "half a place");
            let infinite = [0.0, 0.0, 10.0, 10.0, 1.0, f64::INFINITY, 3.0, 4.0];
            assert!(pictures.draw(0, mark(shape, &infinite)).is_err());
        }
        for shape in [-1, 10, i64::MAX] {
            assert!(pictures.draw(0, mark(shape, &good)).is_err());
        }
        assert!(pictures.draw(-1, mark(0, &good)).is_err());
        assert_eq!(pictures.draw(0, mark(9, &good)), Ok(()));
        assert!(pictures.draw(0, mark(0, &good)).unwrap_err().contains("killed"));
    }

    #[test]
    fn clearing_a_box_forgets_what_was_drawn_in_it() {
        let mut pictures = Pictures::default();
        pictures.open(String::new(), [10, 10], 0).expect("a window");
        for _ in 0..1000 {
            pictures.draw(0, mark(0, &[1.0, 1.0, 5.0, 5.0, 2.0, 2.0])).expect("a point");
            pictures.draw(0, mark(5, &[1.0, 1.0, 5.0, 5.0, 2.0, 2.0, 3.0, 3.0])).expect("drawn");
            pictures.draw(0, mark(8, &[1.0, 1.0, 5.0, 5.0])).expect("cleared");
        }
        assert_eq!(pictures.all()[0].shapes.len(), 1);
        assert_eq!(pictures.all()[0].size, 4);
    }
}
