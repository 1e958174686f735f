//! The columns of sequences: views into them, and elements taken out.

use super::arguments::{length, number, slice};
use super::{FlatValue, Memory, Parts, Stepped};
use nesl_core::ir::Ty;
use nesl_core::lower;
use nesl_runtime::bug;
use nesl_runtime::bug::OrBug;
use nesl_runtime::runtime::Arg;
use smallvec::SmallVec;

/// The number of columns of a descriptor: starts, lengths, and the extent of the pool.
pub(super) const DESCRIPTOR_COLUMNS: usize = 3;

/// A sequence: its length, and the columns of its elements.
#[derive(Clone, Copy)]
pub(super) struct Sequence<'a> {
    pub(super) length: usize,
    pub(super) columns: &'a [Arg],
}

/// `count` sequences as columns: starts, lengths, extent, and the columns of the pool.
#[derive(Clone, Copy)]
pub(crate) struct Rows<'a> {
    pub(crate) count: usize,
    pub(crate) columns: &'a [Arg],
}

/// A component of an element that is no pair.
pub(super) enum Field<'t> {
    /// A scalar: one column.
    Scalar,
    /// A sequence of elements of this type: a descriptor, and the columns of its pool.
    Sequence(&'t Ty),
}

/// Returns the components of an element in the order of their columns; a unit has none.
pub(super) fn fields(element: &Ty) -> SmallVec<[Field<'_>; 4]> {
    let mut fields = SmallVec::new();
    let mut open: SmallVec<[&Ty; 4]> = SmallVec::from_iter([element]);
    while let Some(ty) = open.pop() {
        match ty {
            Ty::Unit => {}
            Ty::Int | Ty::Float | Ty::Bool | Ty::Char => fields.push(Field::Scalar),
            Ty::Pair(first, second) => open.extend([&**second, &**first]),
            Ty::Sequence(inner) => fields.push(Field::Sequence(inner)),
        }
    }
    fields
}

impl<'a> Rows<'a> {
    /// Returns the first element of each row in the pool.
    pub(super) fn starts(self) -> &'a Arg {
        &self.columns[0]
    }

    /// Returns the length of each row.
    pub(super) fn lengths(self) -> &'a Arg {
        &self.columns[1]
    }

    /// Returns the sequence that the rows are cut from.
    pub(super) fn pool(self) -> Sequence<'a> {
        Sequence { length: length(&self.columns[2]), columns: &self.columns[DESCRIPTOR_COLUMNS..] }
    }
}

impl<'a> Sequence<'a> {
    /// Takes a value as a sequence.
    pub(super) fn of(value: &'a FlatValue) -> Sequence<'a> {
        Sequence { length: length(&value.parts[0]), columns: &value.parts[1..] }
    }

    /// Takes the elements of this sequence of sequences as rows.
    pub(super) fn rows(self) -> Rows<'a> {
        Rows { count: self.length, columns: self.columns }
    }

    /// Makes the value of a sequence.
    pub(super) fn value(length: usize, columns: Vec<Arg>) -> FlatValue {
        FlatValue::new(std::iter::once(number(length)).chain(columns).collect::<Parts>())
    }
}

/// Returns for each column of a sequence whether it has an entry for each element; the others
/// belong to pools.
pub(super) fn element_columns(memory: &Memory<'_>, element: &Ty) -> SmallVec<[bool; 4]> {
    let mut own = SmallVec::new();
    for field in fields(element) {
        match field {
            Field::Scalar => own.push(true),
            Field::Sequence(inner) => {
                own.extend([true, true, false]);
                own.extend(lower::columns(inner, memory.precision).iter().map(|_| false));
            }
        }
    }
    own
}

/// Returns the number of columns of sequences of such elements, their descriptor included.
pub(super) fn row_columns(memory: &Memory<'_>, element: &Ty) -> usize {
    DESCRIPTOR_COLUMNS + lower::columns(element, memory.precision).len()
}

/// Returns the columns of a sequence from an element on, as a view.
pub(super) fn cut(memory: &Memory<'_>, columns: &[Arg], element: &Ty, start: usize) -> Vec<Arg> {
    let own = element_columns(memory, element);
    let cut = columns.iter().zip(own);
    cut.map(|(column, own)| if own { from_element(column, start) } else { column.clone() })
        .collect()
}

/// Returns the parts of an element, reading its scalars with one wait.
pub(super) fn element_at(
    memory: &Memory<'_>,
    sequence: Sequence<'_>,
    element: &Ty,
    at: usize,
) -> Stepped<Parts> {
    let mut rest = sequence.columns;
    let mut scalars: SmallVec<[Arg; 2]> = SmallVec::new();
    let mut known: SmallVec<[_; 4]> = SmallVec::new();
    for field in fields(element) {
        match field {
            Field::Scalar => {
                scalars.push(from_element(&rest[0], at));
                rest = &rest[1..];
            }
            Field::Sequence(inner) => {
                let descriptor = [&rest[0], &rest[1]];
                // A short descriptor is read as a whole: other elements will be asked for.
                if sequence.length <= memory.limits.max_known_elements {
                    memory.read_ints(descriptor, sequence.length)?;
                }
                let row = [from_element(&rest[0], at), from_element(&rest[1], at)];
                let row = match row.each_ref().map(|column| memory.known_int(column)) {
                    [Some(start), Some(length)] => Some([start, length]),
                    [None, _] | [_, None] => {
                        scalars.extend(row);
                        None
                    }
                };
                known.push(row);
                rest = &rest[row_columns(memory, inner)..];
            }
        }
    }
    let mut read = memory.read_firsts(&scalars)?.into_iter().map(Arg::Scalar);
    let mut next = || read.next().or_bug("every scalar is read");
    let (mut rest, mut known) = (sequence.columns, known.into_iter());
    let mut out = Parts::new();
    for field in fields(element) {
        match field {
            Field::Scalar => {
                out.push(next());
                rest = &rest[1..];
            }
            Field::Sequence(inner) => {
                let [start, row_length] = match known.next().flatten() {
                    Some(row) => row.map(number),
                    None => [next(), next()],
                };
                let end = row_columns(memory, inner);
                out.push(row_length);
                out.extend(cut(memory, &rest[DESCRIPTOR_COLUMNS..end], inner, length(&start)));
                rest = &rest[end..];
            }
        }
    }
    Ok(out)
}

/// Returns a column from an element on, as a view.
fn from_element(column: &Arg, at: usize) -> Arg {
    let (buffer, first) = slice(column);
    Arg::Array(buffer.clone(), first + at)
}

/// Returns the columns of the sequence whose only element has these parts.
pub(super) fn singleton(memory: &Memory<'_>, parts: &[Arg], element: &Ty) -> Stepped<Vec<Arg>> {
    let mut rest = parts;
    let mut out = Vec::new();
    for field in fields(element) {
        match field {
            Field::Scalar => {
                let Arg::Scalar(literal) = &rest[0] else { bug!("a scalar has an array as part") };
                out.push(memory.write_literals(literal.ty(), &[*literal])?);
                rest = &rest[1..];
            }
            Field::Sequence(inner) => {
                let pool = lower::columns(inner, memory.precision).len();
                out.push(memory.write_indices(&[0])?);
                out.push(memory.write_indices(&[length(&rest[0]) as i64])?);
                out.push(rest[0].clone());
                out.extend(rest[1..1 + pool].iter().cloned());
                rest = &rest[1 + pool..];
            }
        }
    }
    Ok(out)
}
