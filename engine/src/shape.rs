//! The lengths of a value's sequences, as far as they are known without reading anything.

use crate::resident::{ResidentValue, count, literal};
use nesl_core::interp::{Sequence, Value};
use nesl_core::ir::Ty;
use nesl_runtime::runtime::Arg;

/// The elements at one level of nesting: those of all sequences of the level together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// The number of elements that are stored. Rows that share elements count them once.
    pub total: u64,
    /// The lengths of the shortest and of the longest sequence; `None` if they would have to be read
    /// from the runtime.
    pub bounds: Option<(u64, u64)>,
}

impl Extent {
    /// Returns the extent of a single sequence.
    pub(crate) fn of_length(length: u64) -> Extent {
        Extent { total: length, bounds: Some((length, length)) }
    }
}

impl ResidentValue {
    /// Returns the extents of the levels of nesting, the outermost first; none for what is no
    /// sequence. Nothing is read from the runtime.
    pub(crate) fn shape(&self) -> Vec<Extent> {
        if let Some(value) = self.value_there() {
            return of_value(value);
        }
        let Some((parts, _)) = self.parts_there() else { return Vec::new() };
        of_parts(self.ty(), &parts)
    }
}

fn of_value(value: &Value) -> Vec<Extent> {
    let mut level: Vec<&Sequence> = value.as_sequence().into_iter().collect();
    let mut extents = Vec::new();
    while !level.is_empty() {
        let lengths = level.iter().map(|sequence| sequence.len() as u64);
        let bounds = lengths.clone().min().zip(lengths.clone().max());
        extents.push(Extent { total: lengths.sum(), bounds });
        let values = level.into_iter().filter_map(|sequence| match sequence {
            Sequence::Values(values) => Some(values.iter()),
            Sequence::Ints(_) | Sequence::Floats(_) | Sequence::Bools(_) | Sequence::Chars(_) => {
                None
            }
        });
        level = values.flatten().filter_map(Value::as_sequence).collect();
    }
    extents
}

/// Returns the extents of a value by its parts: those of a nested sequence are the starts and the
/// lengths of its rows, and the number of their elements.
fn of_parts(ty: &Ty, parts: &[Arg]) -> Vec<Extent> {
    let (Ty::Sequence(element), [length, columns @ ..]) = (ty, parts) else { return Vec::new() };
    let mut extents = vec![Extent::of_length(count(literal(length)) as u64)];
    let (mut element, mut columns) = (&**element, columns);
    while let (Ty::Sequence(inner), [_, _, total, below @ ..]) = (element, columns) {
        extents.push(Extent { total: count(literal(total)) as u64, bounds: None });
        (element, columns) = (inner, below);
    }
    extents
}
