//! Parses printed values and types and compares them by structure.
//!
//! A pair as the last component of a tuple or record counts as further components. Ints must be
//! equal, floats may differ by a relative error of 1e-9, and types are compared up to the names of
//! type variables.

use std::collections::HashMap;

/// The relative error allowed for floats.
const TOLERANCE: f64 = 1e-9;

/// A printed value.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// An int: `-7`.
    Int(i128),
    /// A float: `2.5`.
    Float(f64),
    /// A bool: `T`.
    Bool(bool),
    /// `` `a ``
    Char(char),
    /// A text: `"abc"`.
    Str(String),
    /// A sequence: `[1, 2]`.
    Seq(Vec<Value>),
    /// A tuple: `(1, 2)`.
    Tuple(Vec<Value>),
    /// A record: `complex(1.0, 2.0)`.
    Record(String, Vec<Value>),
    /// A function, printed as `fn`.
    Function,
}

/// A printed type; variables are numbered in order of appearance.
#[derive(Clone, Debug, PartialEq)]
pub enum Type {
    /// A type by its name: `int`.
    Name(String),
    /// `a :: (a in number)`
    Var(usize, String),
    /// The type of sequences: `[int]`.
    Seq(Box<Type>),
    /// The type of tuples: `int, float`.
    Tuple(Vec<Type>),
    /// The type of records: `bag(int, a)`.
    Record(String, Vec<Type>),
    /// `int -> int`
    Arrow(Box<Type>, Box<Type>),
}

/// The last `it = VALUE : TYPE` of an output.
pub struct Found<'a> {
    /// The parsed value.
    pub value: Value,
    /// The parsed type.
    pub ty: Type,
    /// The text of the type.
    pub ty_text: &'a str,
    /// The output before this line.
    pub before: &'a str,
}

impl Value {
    /// Parses a text as a value.
    pub fn parse(text: &str) -> Result<Value, String> {
        let mut reader = Reader { text, at: 0 };
        let value = reader.value()?;
        reader.end()?;
        Ok(value)
    }
}

impl Type {
    /// Parses a text as a type.
    pub fn parse(text: &str) -> Result<Type, String> {
        let mut reader = Reader { text, at: 0 };
        let ty = reader.scheme()?;
        reader.end()?;
        Ok(ty)
    }
}

/// Finds the last result in an output.
pub fn find_result(out: &str) -> Result<Found<'_>, String> {
    let mut problem = "no `it = VALUE : TYPE`".to_string();
    let starts: Vec<usize> = out.match_indices("it =").map(|(at, _)| at).collect();
    for at in starts.into_iter().rev() {
        if out[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_') {
            continue;
        }
        let mut reader = Reader { text: out, at: at + "it =".len() };
        let mut read = || {
            let value = reader.value()?;
            reader.need(":")?;
            let from = reader.at;
            let ty = reader.scheme()?;
            Ok(Found { value, ty, ty_text: out[from..reader.at].trim(), before: &out[..at] })
        };
        match read() {
            Ok(found) => return Ok(found),
            Err(error) => problem = error,
        }
    }
    Err(problem)
}

/// Describes in one line how two values differ.
pub fn differ(want: &Value, got: &Value, place: &str) -> Option<String> {
    let parts = |want: &[Value], got: &[Value]| {
        if want.len() != got.len() {
            return Some(format!("{place}: {} parts, not {}", got.len(), want.len()));
        }
        let pairs = want.iter().zip(got).enumerate();
        pairs.into_iter().find_map(|(k, (a, b))| differ(a, b, &format!("{place}.{k}")))
    };
    match (want, got) {
        (Value::Float(a), Value::Float(b)) if same_float(*a, *b) => None,
        (Value::Float(a), Value::Int(b)) if same_float(*a, *b as f64) => None,
        (Value::Seq(a), Value::Seq(b)) | (Value::Tuple(a), Value::Tuple(b)) => parts(a, b),
        (Value::Record(n, a), Value::Record(m, b)) if n == m => parts(a, b),
        (a, b) if a == b => None,
        (a, b) => Some(format!("{place}: {b:?}, not {a:?}")),
    }
}

fn same_float(a: f64, b: f64) -> bool {
    if a.is_nan() || b.is_nan() {
        return a.is_nan() && b.is_nan();
    }
    a == b || (a.is_finite() && b.is_finite() && (a - b).abs() <= TOLERANCE * a.abs().max(b.abs()))
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
}

type Read<T> = Result<T, String>;

impl<'a> Reader<'a> {
    fn rest(&mut self) -> &'a str {
        let rest = &self.text[self.at..];
        let trimmed = rest.trim_start();
        self.at += rest.len() - trimmed.len();
        trimmed
    }

    fn take(&mut self, token: &str) -> bool {
        let there = self.rest().starts_with(token);
        if there {
            self.at += token.len();
        }
        there
    }

    fn need(&mut self, token: &str) -> Read<()> {
        if self.take(token) { Ok(()) } else { Err(self.wanted(&format!("`{token}`"))) }
    }

    fn end(&mut self) -> Read<()> {
        if self.rest().is_empty() { Ok(()) } else { Err(self.wanted("the end")) }
    }

    fn wanted(&mut self, what: &str) -> String {
        let here: String = self.rest().chars().take(30).collect();
        format!("expected {what} at {here:?}")
    }

    fn items<T>(&mut self, close: &str, one: fn(&mut Self) -> Read<T>) -> Read<Vec<T>> {
        let mut items = Vec::new();
        if self.take(close) {
            return Ok(items);
        }
        loop {
            items.push(one(self)?);
            if self.take(close) {
                return Ok(items);
            }
            self.need(",")?;
        }
    }

    fn value(&mut self) -> Read<Value> {
        let rest = self.rest();
        if let Some(after) = rest.strip_prefix('`') {
            let c = after.chars().next().ok_or("a character is missing")?;
            self.at += 1 + c.len_utf8();
            return Ok(Value::Char(c));
        }
        if rest.starts_with('"') {
            return self.string();
        }
        if self.take("[") {
            return Ok(Value::Seq(self.items("]", Self::value)?));
        }
        if self.take("(") {
            let mut parts = unnest(self.items(")", Self::value)?);
            return match parts.len() {
                0 => Err("an empty tuple".into()),
                1 => Ok(parts.remove(0)),
                _ => Ok(Value::Tuple(parts)),
            };
        }
        if let Some(number) = self.number() {
            return Ok(number);
        }
        let word = self.word().map_err(|_| self.wanted("a value"))?;
        if self.text[self.at..].starts_with('(') {
            self.at += 1;
            return Ok(Value::Record(word, unnest(self.items(")", Self::value)?)));
        }
        match word.as_str() {
            "t" => Ok(Value::Bool(true)),
            "f" => Ok(Value::Bool(false)),
            "fn" => Ok(Value::Function),
            _ => Err(format!("`{word}` is not a value")),
        }
    }

    fn string(&mut self) -> Read<Value> {
        let mut content = String::new();
        let mut chars = self.text[self.at + 1..].char_indices();
        while let Some((at, c)) = chars.next() {
            match c {
                '"' => {
                    self.at += 1 + at + 1;
                    return Ok(Value::Str(content));
                }
                '\\' => content.extend(chars.next().map(|(_, c)| c)),
                _ => content.push(c),
            }
        }
        Err("a string without end".into())
    }

    /// Parses a number: `-7`, `2.5`, `1.0E-5`, `inf`, `nan`.
    fn number(&mut self) -> Option<Value> {
        let rest = self.rest();
        let sign = usize::from(rest.starts_with(['+', '-']));
        let length = |text: &str| text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
        let lower = rest[sign..].to_ascii_lowercase();
        for word in ["infinity", "inf", "nan"] {
            let after = lower.strip_prefix(word);
            let whole = |after: &str| !after.starts_with(|c: char| c.is_alphanumeric() || c == '_');
            if after.is_some_and(whole) {
                self.at += sign + word.len();
                let size = if word == "nan" { f64::NAN } else { f64::INFINITY };
                return Some(Value::Float(if rest.starts_with('-') { -size } else { size }));
            }
        }
        let whole = length(&rest[sign..]);
        let mut end = sign + whole;
        let mut float = false;
        let mut digits = whole;
        if rest[end..].starts_with('.') {
            let fraction = length(&rest[end + 1..]);
            digits += fraction;
            end += 1 + fraction;
            float = true;
        }
        if digits == 0 {
            return None;
        }
        if rest[end..].starts_with(['e', 'E']) {
            let signed = usize::from(rest[end + 1..].starts_with(['+', '-']));
            let exponent = length(&rest[end + 1 + signed..]);
            if exponent > 0 {
                end += 1 + signed + exponent;
                float = true;
            }
        }
        let text = &rest[..end];
        self.at += end;
        Some(if float { Value::Float(text.parse().ok()?) } else { Value::Int(text.parse().ok()?) })
    }

    fn word(&mut self) -> Read<String> {
        let rest = self.rest();
        let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
        let word = &rest[..end.unwrap_or(rest.len())];
        if word.is_empty() || word.starts_with(|c: char| c.is_ascii_digit()) {
            return Err(self.wanted("a name"));
        }
        self.at += word.len();
        Ok(word.to_ascii_lowercase())
    }

    /// Parses a type and the classes of its variables.
    fn scheme(&mut self) -> Read<Type> {
        let mut ty = self.tuple_type()?;
        let mut classes = HashMap::new();
        if self.take("::") {
            let parenthesis = self.take("(");
            loop {
                let name = self.word()?;
                self.need("in")?;
                classes.insert(name, self.word()?);
                if !self.take(";") && !self.take(",") {
                    break;
                }
            }
            if parenthesis {
                self.need(")")?;
            }
        }
        number_variables(&mut ty, &classes, &mut Vec::new());
        Ok(ty)
    }

    fn tuple_type(&mut self) -> Read<Type> {
        let mut parts = vec![self.arrow_type()?];
        while self.take(",") {
            parts.push(self.arrow_type()?);
        }
        Ok(tuple(parts))
    }

    fn arrow_type(&mut self) -> Read<Type> {
        let left = self.simple_type()?;
        if self.take("->") {
            return Ok(Type::Arrow(Box::new(left), Box::new(self.arrow_type()?)));
        }
        Ok(left)
    }

    fn simple_type(&mut self) -> Read<Type> {
        if self.take("[") {
            let inner = self.tuple_type()?;
            self.need("]")?;
            return Ok(Type::Seq(Box::new(inner)));
        }
        if self.take("(") {
            let inner = self.tuple_type()?;
            self.need(")")?;
            return Ok(inner);
        }
        let name = self.word()?;
        if !self.take("(") {
            return Ok(Type::Name(name));
        }
        let inner = self.tuple_type()?;
        self.need(")")?;
        let arguments = match inner {
            Type::Tuple(parts) => parts,
            other => vec![other],
        };
        Ok(Type::Record(name, arguments))
    }
}

/// Turns a pair in the last position into further components.
fn unnest(mut parts: Vec<Value>) -> Vec<Value> {
    while let Some(Value::Tuple(last)) = parts.last_mut() {
        let last = std::mem::take(last);
        parts.pop();
        parts.extend(last);
    }
    parts
}

fn tuple(mut parts: Vec<Type>) -> Type {
    if parts.len() == 1 {
        return parts.remove(0);
    }
    if let Some(Type::Tuple(last)) = parts.last_mut() {
        let last = std::mem::take(last);
        parts.pop();
        parts.extend(last);
    }
    Type::Tuple(parts)
}

fn number_variables(ty: &mut Type, classes: &HashMap<String, String>, seen: &mut Vec<String>) {
    match ty {
        Type::Name(name) => {
            let class = match classes.get(name.as_str()) {
                Some(class) => class.clone(),
                None if looks_variable(name) => "any".to_string(),
                None => return,
            };
            let number = seen.iter().position(|other| other == name).unwrap_or_else(|| {
                seen.push(name.clone());
                seen.len() - 1
            });
            *ty = Type::Var(number, class);
        }
        Type::Var(..) => {}
        Type::Seq(inner) => number_variables(inner, classes, seen),
        Type::Tuple(parts) | Type::Record(_, parts) => {
            for part in parts {
                number_variables(part, classes, seen);
            }
        }
        Type::Arrow(left, right) => {
            number_variables(left, classes, seen);
            number_variables(right, classes, seen);
        }
    }
}

/// Returns true for a type variable such as `a`, `b12` or `7`, which may lack a class.
fn looks_variable(name: &str) -> bool {
    let digits = name.trim_start_matches(|c: char| c.is_ascii_lowercase());
    name.len() - digits.len() <= 1 && digits.bytes().all(|b| b.is_ascii_digit())
}
