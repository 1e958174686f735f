//! Values as flat columns, for programs that exchange data with a session.
//!
//! The columns of a type, in order, for any number of values of it:
//!
//! ```text
//! int, float, bool, char     one column with an element for each value
//! (a, b), datatypes          the columns of each component
//! [a]                        a column of lengths, one for each value; then the columns of `a` for the
//!                            elements of all of them, one value after the other
//! ```
//!
//! So `[[float]]` is the number of rows, the length of each row, and all numbers. As bytes, columns
//! follow each other without padding, in the byte order of the machine; ints, floats and lengths have
//! 8 bytes each, bools and chars one.
//!
//! Large arrays are never whole on the host: what is given (`give`) goes to the runtime piece by piece as
//! it arrives, and what is taken (`take`) is written piece by piece as it is read.

pub(crate) mod give;
pub(crate) mod take;

use crate::data::ValueType;
use nesl_core::interp::{Sequence, Value};
use nesl_core::ir::Ty;
use std::sync::Arc;

pub use take::Taken;

/// The bytes that are copied at once: few enough to stay in the cache between the two sides.
const PIECE_BYTES: usize = 256 << 10;

/// The contents of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The lengths of sequences.
    Lengths,
    /// The contents of a column of ints.
    Ints,
    /// The contents of a column of floats.
    Floats,
    /// The contents of a column of bools.
    Bools,
    /// The contents of a column of chars.
    Chars,
}

impl Kind {
    /// Returns the name: `lengths`, `ints`, `floats`, `bools` or `chars`.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Lengths => "lengths",
            Kind::Ints => "ints",
            Kind::Floats => "floats",
            Kind::Bools => "bools",
            Kind::Chars => "chars",
        }
    }

    /// Returns the size of an element in bytes.
    pub fn element_bytes(self) -> usize {
        match self {
            Kind::Lengths | Kind::Ints | Kind::Floats => 8,
            Kind::Bools | Kind::Chars => 1,
        }
    }
}

/// Returns the kinds of the columns of a type, in order.
pub fn kinds(ty: &ValueType) -> Vec<Kind> {
    let mut all = Vec::new();
    add_kinds(ty, &mut all);
    all
}

fn add_kinds(ty: &ValueType, all: &mut Vec<Kind>) {
    match ty {
        ValueType::Int => all.push(Kind::Ints),
        ValueType::Float => all.push(Kind::Floats),
        ValueType::Bool => all.push(Kind::Bools),
        ValueType::Char => all.push(Kind::Chars),
        ValueType::Sequence(element) => {
            all.push(Kind::Lengths);
            add_kinds(element, all);
        }
        ValueType::Tuple(parts) | ValueType::Record(_, parts) => {
            parts.iter().for_each(|part| add_kinds(part, all));
        }
        // The elements of an empty sequence.
        ValueType::Function | ValueType::Unknown => {}
    }
}

/// A flat column on the host.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Column {
    /// A column of ints.
    Ints(Arc<Vec<i64>>),
    /// A column of floats.
    Floats(Arc<Vec<f64>>),
    /// A column of bools.
    Bools(Arc<Vec<bool>>),
    /// A column of chars, a byte each.
    Chars(Arc<Vec<u8>>),
    /// The lengths of sequences.
    Lengths(Vec<i64>),
}

impl Column {
    /// Returns the contents.
    fn kind(&self) -> Kind {
        match self {
            Column::Ints(_) => Kind::Ints,
            Column::Floats(_) => Kind::Floats,
            Column::Bools(_) => Kind::Bools,
            Column::Chars(_) => Kind::Chars,
            Column::Lengths(_) => Kind::Lengths,
        }
    }

    /// Returns the number of elements.
    fn len(&self) -> usize {
        match self {
            Column::Ints(all) => all.len(),
            Column::Floats(all) => all.len(),
            Column::Bools(all) => all.len(),
            Column::Chars(all) => all.len(),
            Column::Lengths(all) => all.len(),
        }
    }

    /// Returns the elements as bytes.
    fn bytes(&self) -> &[u8] {
        match self {
            Column::Ints(all) => bytemuck::cast_slice(all),
            Column::Floats(all) => bytemuck::cast_slice(all),
            Column::Bools(all) => bytemuck::cast_slice(all),
            Column::Chars(all) => all,
            Column::Lengths(all) => bytemuck::cast_slice(all),
        }
    }
}

impl ValueType {
    /// Parses a type without datatypes: `[(int, [float])]`.
    pub fn parse(text: &str) -> Result<ValueType, String> {
        let mut rest = text.trim();
        let ty = parse(&mut rest, 0)?;
        match rest.trim() {
            "" => Ok(ty),
            more => Err(format!("`{more}` follows the type in `{text}`")),
        }
    }

    /// Returns an expression of the type, as small as there is one.
    pub(crate) fn example(&self) -> String {
        match self {
            ValueType::Float => "0.0".to_owned(),
            ValueType::Bool => "t".to_owned(),
            ValueType::Char => "`a".to_owned(),
            ValueType::Sequence(element) => format!("[{}]", element.example()),
            ValueType::Tuple(all) | ValueType::Record(_, all) => {
                let all: Vec<String> = all.iter().map(ValueType::example).collect();
                format!("({})", all.join(", "))
            }
            ValueType::Int | ValueType::Function | ValueType::Unknown => "0".to_owned(),
        }
    }

    /// Returns the representation's type.
    pub(crate) fn representation(&self) -> Ty {
        match self {
            ValueType::Int => Ty::Int,
            ValueType::Float => Ty::Float,
            ValueType::Bool => Ty::Bool,
            ValueType::Char => Ty::Char,
            ValueType::Function | ValueType::Unknown => Ty::Unit,
            ValueType::Sequence(element) => Ty::Sequence(Box::new(element.representation())),
            ValueType::Tuple(all) | ValueType::Record(_, all) => {
                let mut all = all.iter().rev().map(ValueType::representation);
                let last = all.next().unwrap_or(Ty::Unit);
                all.fold(last, |rest, first| Ty::Pair(Box::new(first), Box::new(rest)))
            }
        }
    }
}

/// The number of brackets that a type may be nested in.
const MAX_TYPE_DEPTH: usize = 100;

fn parse(rest: &mut &str, depth: usize) -> Result<ValueType, String> {
    if depth > MAX_TYPE_DEPTH {
        return Err("the type is nested too deeply".to_owned());
    }
    *rest = rest.trim_start();
    if let Some(after) = rest.strip_prefix('[') {
        *rest = after;
        let element = parse(rest, depth + 1)?;
        expect(rest, ']')?;
        return Ok(ValueType::Sequence(Box::new(element)));
    }
    if let Some(after) = rest.strip_prefix('(') {
        *rest = after;
        let mut all = vec![parse(rest, depth + 1)?];
        while rest.trim_start().starts_with(',') {
            expect(rest, ',')?;
            all.push(parse(rest, depth + 1)?);
        }
        expect(rest, ')')?;
        return Ok(if all.len() == 1 { all.remove(0) } else { ValueType::Tuple(all) });
    }
    let names = [
        ("int", ValueType::Int),
        ("float", ValueType::Float),
        ("bool", ValueType::Bool),
        ("char", ValueType::Char),
    ];
    for (name, ty) in names {
        if let Some(after) = rest.strip_prefix(name) {
            *rest = after;
            return Ok(ty);
        }
    }
    Err(format!("a type is int, float, bool, char, [type] or (type, type), not `{rest}`"))
}

fn expect(rest: &mut &str, wanted: char) -> Result<(), String> {
    *rest = rest.trim_start();
    *rest = rest.strip_prefix(wanted).ok_or_else(|| format!("`{wanted}` is missing in a type"))?;
    Ok(())
}

/// Returns true if a type has functions in it, which have no columns.
pub(crate) fn has_functions(ty: &ValueType) -> bool {
    match ty {
        ValueType::Function => true,
        ValueType::Tuple(parts) | ValueType::Record(_, parts) => parts.iter().any(has_functions),
        ValueType::Sequence(element) => has_functions(element),
        _ => false,
    }
}

/// Returns the columns of a value of the host. What is one array already is shared.
pub(crate) fn columns(value: &Value, ty: &ValueType) -> Vec<Column> {
    let empty = |kind: &Kind| match kind {
        Kind::Ints => Column::Ints(Arc::default()),
        Kind::Floats => Column::Floats(Arc::default()),
        Kind::Bools => Column::Bools(Arc::default()),
        Kind::Chars => Column::Chars(Arc::default()),
        Kind::Lengths => Column::Lengths(Vec::new()),
    };
    let mut all: Vec<Column> = kinds(ty).iter().map(empty).collect();
    append(value, ty, &mut all);
    all
}

/// Appends a value to the columns of its type.
fn append(value: &Value, ty: &ValueType, columns: &mut [Column]) {
    match ty {
        ValueType::Tuple(parts) | ValueType::Record(_, parts) => {
            let (mut rest, mut left) = (value, columns);
            for (position, part) in parts.iter().enumerate() {
                let (own, others) = left.split_at_mut(width(part));
                left = others;
                match rest {
                    Value::Pair(pair) if position + 1 < parts.len() => {
                        append(&pair.0, part, own);
                        rest = &pair.1;
                    }
                    last => append(last, part, own),
                }
            }
        }
        ValueType::Sequence(element) => {
            let (Value::Sequence(sequence), [Column::Lengths(lengths), columns @ ..]) =
                (value, columns)
            else {
                return;
            };
            lengths.push(sequence.len() as i64);
            append_all(sequence, element, columns);
        }
        _ => match (columns, value) {
            ([Column::Ints(all)], Value::Int(n)) => Arc::make_mut(all).push(*n),
            ([Column::Floats(all)], Value::Float(x)) => Arc::make_mut(all).push(*x),
            ([Column::Bools(all)], Value::Bool(b)) => Arc::make_mut(all).push(*b),
            ([Column::Chars(all)], Value::Char(c)) => Arc::make_mut(all).push(*c),
            _ => {}
        },
    }
}

/// Appends the elements of a sequence to the columns of their type.
fn append_all(sequence: &Sequence, element: &ValueType, columns: &mut [Column]) {
    match (columns, sequence) {
        ([Column::Ints(all)], Sequence::Ints(more)) => extend(all, more),
        ([Column::Floats(all)], Sequence::Floats(more)) => extend(all, more),
        ([Column::Bools(all)], Sequence::Bools(more)) => extend(all, more),
        ([Column::Chars(all)], Sequence::Chars(more)) => extend(all, more),
        (columns, Sequence::Values(values)) => {
            values.iter().for_each(|value| append(value, element, columns));
        }
        _ => {}
    }
}

/// Appends elements to a column, which shares them if it was empty.
fn extend<T: Clone>(all: &mut Arc<Vec<T>>, more: &Arc<Vec<T>>) {
    match all.is_empty() {
        true => *all = more.clone(),
        false => Arc::make_mut(all).extend_from_slice(more),
    }
}

/// Returns the number of columns of a type.
fn width(ty: &ValueType) -> usize {
    kinds(ty).len()
}

/// Returns the value of a type without datatypes that columns hold. Fails with what is wrong with the
/// columns.
pub(crate) fn value(ty: &ValueType, columns: Vec<Column>) -> Result<Value, String> {
    if columns.len() != width(ty) {
        return Err(format!("{ty} has {} columns, not {}", width(ty), columns.len()));
    }
    let values = Reader { columns: columns.into_iter() }.read(ty, 1)?;
    values.into_iter().next().ok_or_else(|| format!("the columns of {ty} are empty"))
}

struct Reader {
    columns: std::vec::IntoIter<Column>,
}

impl Reader {
    /// Reads `count` values of a type.
    fn read(&mut self, ty: &ValueType, count: usize) -> Result<Vec<Value>, String> {
        Ok(match ty {
            ValueType::Tuple(parts) => {
                let mut rest: Option<Vec<Value>> = None;
                let mut read = Vec::with_capacity(parts.len());
                for part in parts {
                    read.push(self.read(part, count)?);
                }
                for values in read.into_iter().rev() {
                    rest = Some(match rest {
                        None => values,
                        Some(rest) => {
                            let both = values.into_iter().zip(rest);
                            both.map(|(first, second)| Value::pair(first, second)).collect()
                        }
                    });
                }
                rest.unwrap_or_default()
            }
            ValueType::Sequence(element) => {
                let Some(Column::Lengths(lengths)) = self.columns.next() else {
                    return Err(format!("the lengths of {ty} are missing"));
                };
                check(ty, lengths.len(), count)?;
                self.sequences(element, &lengths)?
            }
            _ => {
                let sequence = self.scalars(ty, count)?;
                (0..count).filter_map(|index| sequence.get(index)).collect()
            }
        })
    }

    /// Reads sequences of given lengths.
    fn sequences(&mut self, element: &ValueType, lengths: &[i64]) -> Result<Vec<Value>, String> {
        let mut ends = Vec::with_capacity(lengths.len());
        let mut total = 0usize;
        for length in lengths {
            let length = usize::try_from(*length).map_err(|_| "a length is negative".to_owned())?;
            total = total.checked_add(length).ok_or("the lengths are too large")?;
            ends.push(total);
        }
        let starts = std::iter::once(0).chain(ends.iter().copied());
        let ranges = starts.zip(&ends);
        let scalar = width(element) == 1 && !matches!(element, ValueType::Sequence(_));
        if !scalar {
            let values = self.read(element, total)?;
            let ty = element.representation();
            let parts = ranges.map(|(start, end)| {
                Value::Sequence(Sequence::from_values(&ty, values[start..*end].to_vec()))
            });
            return Ok(parts.collect());
        }
        let all = self.scalars(element, total)?;
        if let [_] = lengths {
            // The common case, an array that is not nested, is not copied.
            return Ok(vec![Value::Sequence(all)]);
        }
        Ok(ranges.map(|(start, end)| Value::Sequence(slice(&all, start, *end))).collect())
    }

    /// Reads a column of scalars.
    fn scalars(&mut self, ty: &ValueType, count: usize) -> Result<Sequence, String> {
        let column = self.columns.next().ok_or("a column is missing")?;
        check(ty, column.len(), count)?;
        Ok(match (ty, column) {
            (ValueType::Int, Column::Ints(all)) => Sequence::Ints(all),
            (ValueType::Float, Column::Floats(all)) => Sequence::Floats(all),
            (ValueType::Bool, Column::Bools(all)) => Sequence::Bools(all),
            (ValueType::Char, Column::Chars(all)) => Sequence::Chars(all),
            (ty, _) => return Err(format!("a column does not hold values of type {ty}")),
        })
    }
}

fn check(ty: &ValueType, found: usize, wanted: usize) -> Result<(), String> {
    if found == wanted {
        return Ok(());
    }
    Err(format!("a column of {ty} has {found} elements where {wanted} are needed"))
}

fn slice(sequence: &Sequence, start: usize, end: usize) -> Sequence {
    match sequence {
        Sequence::Ints(all) => Sequence::Ints(all[start..end].to_vec().into()),
        Sequence::Floats(all) => Sequence::Floats(all[start..end].to_vec().into()),
        Sequence::Bools(all) => Sequence::Bools(all[start..end].to_vec().into()),
        Sequence::Chars(all) => Sequence::Chars(all[start..end].to_vec().into()),
        Sequence::Values(all) => Sequence::Values(all[start..end].to_vec().into()),
    }
}

#[cfg(test)]
mod tests;
