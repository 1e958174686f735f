//! The header of a `.npy` file: a Python dictionary of three entries.
//!
//! ```text
//! \x93NUMPY 1 0 len {'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }
//! ```

/// The largest number of bytes that a header, with all before the data, may have.
pub(super) const MAX_BYTES: usize = 1 << 20;

/// The kind of the elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Int,
    Unsigned,
    Float,
    Bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) kind: Kind,
    /// Bytes of an element.
    pub(super) size: usize,
    pub(super) big_endian: bool,
    pub(super) fortran: bool,
    pub(super) shape: Vec<usize>,
}

impl Header {
    /// `float64 of shape 3 × 4`
    pub(super) fn describe(&self) -> String {
        let bits = 8 * self.size;
        let kind = match self.kind {
            Kind::Int => format!("int{bits}"),
            Kind::Unsigned => format!("uint{bits}"),
            Kind::Float => format!("float{bits}"),
            Kind::Bool => "bool".to_owned(),
        };
        if self.shape.is_empty() {
            return format!("a single {kind}");
        }
        let mut shape: Vec<String> = self.shape.iter().take(8).map(usize::to_string).collect();
        if self.shape.len() > 8 {
            shape.push("…".to_owned());
        }
        format!("{kind} of shape {}", shape.join(" × "))
    }
}

/// The header of a file, and the data behind it.
pub(super) fn parse(bytes: &[u8]) -> Result<(Header, &[u8]), String> {
    let rest = bytes.strip_prefix(b"\x93NUMPY").ok_or("this is not a .npy file")?;
    let (length, rest) = match rest {
        [1, _, a, b, rest @ ..] => (usize::from(u16::from_le_bytes([*a, *b])), rest),
        [2 | 3, _, a, b, c, d, rest @ ..] => {
            let length = u32::from_le_bytes([*a, *b, *c, *d]);
            (usize::try_from(length).unwrap_or(usize::MAX), rest)
        }
        [version, _, ..] if !(1..=3).contains(version) => {
            return Err(format!("version {version} of the .npy format is not known"));
        }
        _ => return Err("the file ends in its header".to_owned()),
    };
    let (text, data) = rest.split_at_checked(length).ok_or("the file ends in its header")?;
    let header = Dictionary { text, at: 0 }.header()?;
    Ok((header, data))
}

/// The header of an array in C order.
pub(super) fn write(descr: &str, shape: &[usize]) -> Vec<u8> {
    let mut dimensions: Vec<String> = shape.iter().map(usize::to_string).collect();
    if shape.len() == 1 {
        dimensions.push(String::new());
    }
    let shape = dimensions.join(", ");
    let mut text = format!(
        "{{'descr': '{descr}', 'fortran_order': False, 'shape': ({}), }}",
        shape.trim_end()
    );
    // The data begins at a multiple of 64. A header of version 1 has room for thousands of
    // dimensions, version 2 for any number.
    let wide = text.len() > 65_000;
    let before = if wide { 12 } else { 10 };
    let padding = (64 - (before + text.len() + 1) % 64) % 64;
    text.extend(std::iter::repeat_n(' ', padding));
    text.push('\n');
    let mut out = b"\x93NUMPY".to_vec();
    if wide {
        out.extend([2, 0]);
        out.extend((text.len() as u32).to_le_bytes());
    } else {
        out.extend([1, 0]);
        out.extend((text.len() as u16).to_le_bytes());
    }
    out.extend(text.into_bytes());
    out
}

/// A reader of as much Python as headers are written in.
struct Dictionary<'a> {
    text: &'a [u8],
    at: usize,
}

impl Dictionary<'_> {
    fn header(mut self) -> Result<Header, String> {
        let (mut element, mut fortran, mut shape) = (None, None, None);
        self.expect(b'{')?;
        while !self.take(b'}') {
            let key = self.string()?;
            self.expect(b':')?;
            match key.as_str() {
                "descr" => {
                    if self.peek() == Some(b'[') {
                        return Err("the elements are records, which cannot be read".to_owned());
                    }
                    element = Some(element_type(&self.string()?)?);
                }
                "fortran_order" => fortran = Some(self.boolean()?),
                "shape" => shape = Some(self.shape()?),
                _ => return Err(broken()),
            }
            if !self.take(b',') {
                self.expect(b'}')?;
                break;
            }
        }
        match (element, fortran, shape) {
            (Some((kind, size, big_endian)), Some(fortran), Some(shape)) => {
                Ok(Header { kind, size, big_endian, fortran, shape })
            }
            _ => Err(broken()),
        }
    }

    fn string(&mut self) -> Result<String, String> {
        let quote = self.peek().filter(|c| matches!(c, b'\'' | b'"')).ok_or_else(broken)?;
        let start = self.at + 1;
        let length = self.text[start..].iter().position(|c| *c == quote).ok_or_else(broken)?;
        self.at = start + length + 1;
        Ok(String::from_utf8_lossy(&self.text[start..start + length]).into_owned())
    }

    fn boolean(&mut self) -> Result<bool, String> {
        self.peek();
        for (word, value) in [(&b"True"[..], true), (b"False", false)] {
            if self.text[self.at..].starts_with(word) {
                self.at += word.len();
                return Ok(value);
            }
        }
        Err(broken())
    }

    fn shape(&mut self) -> Result<Vec<usize>, String> {
        let close = if self.take(b'[') {
            b']'
        } else {
            self.expect(b'(')?;
            b')'
        };
        let mut shape = Vec::new();
        while !self.take(close) {
            self.peek();
            let digits = self.text[self.at..].iter().take_while(|c| c.is_ascii_digit()).count();
            let number = std::str::from_utf8(&self.text[self.at..self.at + digits]).unwrap_or("");
            if number.is_empty() {
                return Err(broken());
            }
            let length =
                number.parse().map_err(|_| format!("a dimension of {number} is too large"))?;
            shape.push(length);
            self.at += digits;
            // Python 2 wrote long ints so.
            self.take(b'L');
            if !self.take(b',') {
                self.expect(close)?;
                break;
            }
        }
        Ok(shape)
    }

    /// The next character that is not a blank.
    fn peek(&mut self) -> Option<u8> {
        while self.text.get(self.at).is_some_and(u8::is_ascii_whitespace) {
            self.at += 1;
        }
        self.text.get(self.at).copied()
    }

    fn take(&mut self, c: u8) -> bool {
        let there = self.peek() == Some(c);
        self.at += usize::from(there);
        there
    }

    fn expect(&mut self, c: u8) -> Result<(), String> {
        if self.take(c) { Ok(()) } else { Err(broken()) }
    }
}

/// Reads a type such as `<f8`: its kind, its size in bytes, and true if the most significant byte comes
/// first.
fn element_type(descr: &str) -> Result<(Kind, usize, bool), String> {
    let unknown = || format!("elements of type `{descr}` cannot be read");
    let (order, rest) = match descr.as_bytes() {
        [order @ (b'<' | b'>' | b'|' | b'='), rest @ ..] => (*order, rest),
        rest => (b'=', rest),
    };
    let big_endian = match order {
        b'>' => true,
        b'=' => cfg!(target_endian = "big"),
        _ => false,
    };
    let kind_and_size = match rest {
        b"i1" => (Kind::Int, 1),
        b"i2" => (Kind::Int, 2),
        b"i4" => (Kind::Int, 4),
        b"i8" => (Kind::Int, 8),
        b"u1" => (Kind::Unsigned, 1),
        b"u2" => (Kind::Unsigned, 2),
        b"u4" => (Kind::Unsigned, 4),
        b"u8" => (Kind::Unsigned, 8),
        b"f2" => (Kind::Float, 2),
        b"f4" => (Kind::Float, 4),
        b"f8" => (Kind::Float, 8),
        b"b1" | b"?" => (Kind::Bool, 1),
        _ => return Err(unknown()),
    };
    Ok((kind_and_size.0, kind_and_size.1, big_endian))
}

fn broken() -> String {
    "the header of the .npy file makes no sense".to_owned()
}
