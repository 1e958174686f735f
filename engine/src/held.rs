//! Values that a session holds: as values of the language, as arrays of a runtime, or both.
//!
//! What was computed on a runtime stays there; it is read when someone looks at it, and then
//! kept. What came from elsewhere goes to the runtime when a program asks for it.

use nesl_core::base::with_stack;
use nesl_core::elaborate::Step;
use nesl_core::interp::{Sequence, Value};
use nesl_core::ir::Ty;
use nesl_core::lower::{self, Part};
use nesl_runtime::kir::{Literal, ValueTy};
use nesl_runtime::runtime::{Arg, Buffer, Failure, Runtime};
use nesl_runtime::scalar::Precision;
use std::cell::{OnceCell, RefCell};

/// A value of a session.
#[derive(Clone, Debug)]
pub(crate) struct Held {
    ty: Ty,
    value: OnceCell<Value>,
    resident: RefCell<Option<Resident>>,
}

/// The parts of a value on a runtime.
#[derive(Clone, Debug)]
struct Resident {
    precision: Precision,
    parts: Vec<Arg>,
}

impl Held {
    /// A value of the language.
    pub(crate) fn value_of(value: Value, ty: Ty) -> Held {
        Held { ty, value: OnceCell::from(value), resident: RefCell::default() }
    }

    /// The parts of a value on a runtime: arrays from their first element on.
    pub(crate) fn resident(parts: Vec<Arg>, ty: Ty, precision: Precision) -> Held {
        let resident = RefCell::new(Some(Resident { precision, parts }));
        Held { ty, value: OnceCell::new(), resident }
    }

    /// Its type.
    pub(crate) fn ty(&self) -> &Ty {
        &self.ty
    }

    /// The value.
    pub(crate) fn value(&self, runtime: Option<&dyn Runtime>) -> Result<&Value, Failure> {
        if let Some(value) = self.value.get() {
            return Ok(value);
        }
        let resident = self.resident.borrow();
        let (Some(resident), Some(runtime)) = (&*resident, runtime) else {
            unreachable!("what has no value is on the runtime of the session")
        };
        let mut parts = Vec::new();
        read(&self.ty, &mut resident.parts.iter(), runtime, &mut parts)?;
        let value = lower::value_of(&self.ty, parts, resident.precision);
        Ok(self.value.get_or_init(|| value))
    }

    /// The value, unless it is to be left where it is.
    pub(crate) fn value_unless(
        &self,
        unread: bool,
        runtime: Option<&dyn Runtime>,
    ) -> Result<Option<&Value>, Failure> {
        if unread { Ok(None) } else { self.value(runtime).map(Some) }
    }

    /// Bytes of the value, if it is on the host.
    pub(crate) fn host_bytes(&self) -> Option<u64> {
        self.value.get().map(size)
    }

    /// Bytes of the arrays on the runtime, if the parts are there.
    pub(crate) fn runtime_bytes(&self) -> Option<u64> {
        let resident = self.resident.borrow();
        let parts = &resident.as_ref()?.parts;
        let bytes = parts.iter().map(|part| match part {
            Arg::Scalar(_) => 0,
            Arg::Array(buffer, _) => (buffer.len() * buffer.ty().size()) as u64,
        });
        Some(bytes.sum())
    }

    /// The parts, on a runtime.
    pub(crate) fn parts(
        &self,
        runtime: &dyn Runtime,
        precision: Precision,
    ) -> Result<Vec<Arg>, Failure> {
        if let Some(resident) = &*self.resident.borrow()
            && resident.precision == precision
        {
            return Ok(resident.parts.clone());
        }
        let mut parts = Vec::new();
        for part in lower::parts_of(self.value(Some(runtime))?, &self.ty, precision) {
            parts.push(match part {
                Part::Scalar(literal) => Arg::Scalar(literal),
                Part::Array(ty, bytes) => {
                    let buffer = runtime.alloc(ty, bytes.len() / ty.size())?;
                    runtime.write(&buffer, 0, &bytes)?;
                    Arg::Array(buffer, 0)
                }
            });
        }
        *self.resident.borrow_mut() = Some(Resident { precision, parts: parts.clone() });
        Ok(parts)
    }

    /// Its value is kept, its arrays are let go of: for a change of runtime.
    pub(crate) fn leave(&self, runtime: Option<&dyn Runtime>) -> Result<(), Failure> {
        self.value(runtime)?;
        *self.resident.borrow_mut() = None;
        Ok(())
    }

    /// A half of a half … of it.
    pub(crate) fn part(&self, way: &[Step]) -> Held {
        let mut part = self.clone();
        for step in way {
            let Ty::Pair(first, second) = part.ty else {
                unreachable!("a pattern took {} apart", part.ty)
            };
            let is_first = matches!(step, Step::First);
            if let Some(resident) = &mut *part.resident.borrow_mut() {
                let split = lower::parts(&first, resident.precision).len();
                let rest = resident.parts.split_off(split);
                if !is_first {
                    resident.parts = rest;
                }
            }
            if let Some(value) = part.value.take() {
                let (a, b) = value.as_pair().expect("its type is that of a pair");
                let half = if is_first { a } else { b };
                part.value = OnceCell::from(half.clone());
            }
            part.ty = if is_first { *first } else { *second };
        }
        part
    }
}

/// Bytes that a value takes.
fn size(value: &Value) -> u64 {
    with_stack(|| match value {
        Value::Unit => 0,
        Value::Int(_) | Value::Float(_) => 8,
        Value::Bool(_) | Value::Char(_) => 1,
        Value::Pair(both) => size(&both.0) + size(&both.1),
        Value::Sequence(Sequence::Ints(ints)) => 8 * ints.len() as u64,
        Value::Sequence(Sequence::Floats(floats)) => 8 * floats.len() as u64,
        Value::Sequence(Sequence::Bools(bools)) => bools.len() as u64,
        Value::Sequence(Sequence::Chars(chars)) => chars.len() as u64,
        Value::Sequence(Sequence::Values(values)) => {
            values.iter().map(|value| size_of::<Value>() as u64 + size(value)).sum()
        }
    })
}

/// Reads the parts of a value.
fn read(
    ty: &Ty,
    parts: &mut dyn Iterator<Item = &Arg>,
    runtime: &dyn Runtime,
    out: &mut Vec<Part>,
) -> Result<(), Failure> {
    with_stack(|| {
        match ty {
            Ty::Unit => {}
            Ty::Int | Ty::Float | Ty::Bool | Ty::Char => {
                out.push(Part::Scalar(literal(next(parts))));
            }
            Ty::Pair(first, second) => {
                read(first, parts, runtime, out)?;
                read(second, parts, runtime, out)?;
            }
            Ty::Sequence(element) => {
                let length = literal(next(parts));
                out.push(Part::Scalar(length));
                read_columns(element, count(length), parts, runtime, out)?;
            }
        }
        Ok(())
    })
}

/// Reads the columns of so many elements; there may be more in their arrays.
fn read_columns(
    element: &Ty,
    length: usize,
    parts: &mut dyn Iterator<Item = &Arg>,
    runtime: &dyn Runtime,
    out: &mut Vec<Part>,
) -> Result<(), Failure> {
    with_stack(|| {
        let mut array = |out: &mut Vec<Part>| {
            let Arg::Array(buffer, at) = next(parts) else { unreachable!("columns are arrays") };
            out.push(Part::Array(buffer.ty(), bytes(buffer, *at, length, runtime)?));
            Ok(())
        };
        match element {
            Ty::Unit => {}
            Ty::Int | Ty::Float | Ty::Bool | Ty::Char => array(out)?,
            Ty::Pair(first, second) => {
                read_columns(first, length, parts, runtime, out)?;
                read_columns(second, length, parts, runtime, out)?;
            }
            Ty::Sequence(inner) => {
                array(out)?;
                array(out)?;
                let extent = literal(next(parts));
                out.push(Part::Scalar(extent));
                read_columns(inner, count(extent), parts, runtime, out)?;
            }
        }
        Ok(())
    })
}

fn next<'a>(parts: &mut dyn Iterator<Item = &'a Arg>) -> &'a Arg {
    parts.next().expect("as many parts as the type has")
}

fn literal(part: &Arg) -> Literal {
    match part {
        Arg::Scalar(literal) => *literal,
        Arg::Array(..) => unreachable!("it is a scalar"),
    }
}

fn count(length: Literal) -> usize {
    match length {
        Literal::I64(length) => length as usize,
        other => unreachable!("{other:?} is no length"),
    }
}

/// So many elements of an array, from one on.
fn bytes(
    buffer: &Buffer,
    at: usize,
    count: usize,
    runtime: &dyn Runtime,
) -> Result<Vec<u8>, Failure> {
    let mut bytes = vec![0; count * buffer.ty().size()];
    runtime.read(buffer, at, &mut bytes)?;
    Ok(bytes)
}

/// The one element of an array.
pub(crate) fn scalar(buffer: &Buffer, runtime: &dyn Runtime) -> Result<Literal, Failure> {
    let bytes = bytes(buffer, 0, 1, runtime)?;
    Ok(Literal::from_bytes(buffer.ty(), &bytes))
}

/// Whether a part is an array.
pub(crate) fn is_array(part: &ValueTy) -> bool {
    matches!(part, ValueTy::Array(_))
}
