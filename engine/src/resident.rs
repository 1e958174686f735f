//! The values of a session: values of the language on the host, arrays on a runtime, or both.
//!
//! A value computed on a runtime stays there; it is read when somebody looks at it, and both copies
//! are kept. A value of the host is written to the runtime when a program asks for it.

use nesl_core::base::with_stack;
use nesl_core::elaborate::Projection;
use nesl_core::interp::{Sequence, Value};
use nesl_core::ir::Ty;
use nesl_core::link::Fact;
use nesl_core::lower::{self, HostPart};
use nesl_runtime::bug;
use nesl_runtime::bug::OrBug;
use nesl_runtime::kir::Literal;
use nesl_runtime::runtime::{Arg, Buffer, Failure, Runtime};
use nesl_runtime::scalar::Precision;
use std::cell::{OnceCell, RefCell};
use std::rc::Rc;

/// The number of bytes that are copied from or to a runtime between two looks at the interrupt.
const POLLED_BYTES: usize = 32 << 20;

/// A value of a session. Clones share both copies.
#[derive(Clone, Debug)]
pub(crate) struct ResidentValue(Rc<Copies>);

#[derive(Debug)]
struct Copies {
    ty: Ty,
    /// The value on the host.
    value: OnceCell<Value>,
    /// The value on the runtime.
    resident: RefCell<Option<Resident>>,
}

/// The parts of a value on a runtime.
#[derive(Clone, Debug)]
struct Resident {
    precision: Precision,
    parts: Vec<Arg>,
}

impl Resident {
    /// Returns the size of the arrays in bytes.
    fn bytes(&self) -> u64 {
        let bytes = self.parts.iter().map(|part| match part {
            Arg::Scalar(_) => 0,
            Arg::Array(buffer, _) => (buffer.len() * buffer.ty().size()) as u64,
        });
        bytes.sum()
    }
}

impl ResidentValue {
    /// Makes a value that is on the host.
    pub(crate) fn value_of(value: Value, ty: Ty) -> ResidentValue {
        let value = OnceCell::from(value);
        ResidentValue(Rc::new(Copies { ty, value, resident: RefCell::default() }))
    }

    /// Makes a value that is on a runtime, from its parts.
    pub(crate) fn resident(parts: Vec<Arg>, ty: Ty, precision: Precision) -> ResidentValue {
        let resident = RefCell::new(Some(Resident { precision, parts }));
        ResidentValue(Rc::new(Copies { ty, value: OnceCell::new(), resident }))
    }

    /// Returns true if both share their copies.
    pub(crate) fn is_same(&self, other: &ResidentValue) -> bool {
        Rc::ptr_eq(&self.0, &other.0)
    }

    /// Returns the type of the value.
    pub(crate) fn ty(&self) -> &Ty {
        &self.0.ty
    }

    /// Returns the value on the host, read from the runtime if necessary.
    pub(crate) fn value(&self, runtime: Option<&dyn Runtime>) -> Result<&Value, Failure> {
        if let Some(value) = self.0.value.get() {
            return Ok(value);
        }
        let resident = self.0.resident.borrow();
        let (Some(resident), Some(runtime)) = (&*resident, runtime) else {
            bug!("a value that is not on the host is on the runtime of the session")
        };
        let mut parts = Vec::new();
        read(&self.0.ty, &mut resident.parts.iter(), runtime, &mut parts)?;
        let value =
            wanted(runtime, |stop| lower::value_of(&self.0.ty, parts, resident.precision, stop))?;
        Ok(self.0.value.get_or_init(|| value))
    }

    /// Returns the value on the host, if it is there.
    pub(crate) fn value_there(&self) -> Option<&Value> {
        self.0.value.get()
    }

    /// Returns the parts on the runtime and their precision, if they are there.
    pub(crate) fn parts_there(&self) -> Option<(Vec<Arg>, Precision)> {
        let resident = self.0.resident.borrow();
        resident.as_ref().map(|resident| (resident.parts.clone(), resident.precision))
    }

    /// Returns the size of the value on the host in bytes, if it is there.
    pub(crate) fn host_bytes(&self) -> Option<u64> {
        self.0.value.get().map(size)
    }

    /// Returns the size of the arrays on the runtime in bytes, if the value is there.
    pub(crate) fn runtime_bytes(&self) -> Option<u64> {
        self.0.resident.borrow().as_ref().map(Resident::bytes)
    }

    /// Returns true if the arrays on the runtime are all in memory of the host, although it has a device.
    pub(crate) fn is_spilled(&self, runtime: &dyn Runtime) -> bool {
        let resident = self.0.resident.borrow();
        let parts = resident.iter().flat_map(|resident| &resident.parts);
        let mut arrays = parts.filter_map(|part| match part {
            Arg::Scalar(_) => None,
            Arg::Array(buffer, _) => Some(buffer),
        });
        arrays.clone().next().is_some() && arrays.all(|buffer| runtime.is_spilled(buffer))
    }

    /// Returns the parts on a runtime, written there if necessary.
    pub(crate) fn parts(
        &self,
        runtime: &dyn Runtime,
        precision: Precision,
    ) -> Result<Vec<Arg>, Failure> {
        if let Some(resident) = &*self.0.resident.borrow()
            && resident.precision == precision
        {
            return Ok(resident.parts.clone());
        }
        let value = self.value(Some(runtime))?;
        let made = wanted(runtime, |stop| lower::parts_of(value, &self.0.ty, precision, stop))?;
        let mut parts = Vec::new();
        for part in made {
            parts.push(match part {
                HostPart::Scalar(literal) => Arg::Scalar(literal),
                HostPart::Array(ty, bytes) => {
                    let buffer = runtime.alloc(ty, bytes.len() / ty.size())?;
                    let elements = POLLED_BYTES / ty.size();
                    for (at, part) in bytes.chunks(elements * ty.size()).enumerate() {
                        runtime.poll()?;
                        runtime.write(&buffer, at * elements, part)?;
                    }
                    Arg::Array(buffer, 0)
                }
            });
        }
        *self.0.resident.borrow_mut() = Some(Resident { precision, parts: parts.clone() });
        Ok(parts)
    }

    /// Returns the fact about the value that is known without reading it.
    pub(crate) fn fact(&self) -> Fact {
        match self.0.value.get() {
            Some(Value::Int(x)) => return Fact::Int(*x),
            Some(Value::Sequence(sequence)) => return Fact::Length(sequence.len() as u64),
            Some(_) => return Fact::Nothing,
            None => {}
        }
        let resident = self.0.resident.borrow();
        match (&self.0.ty, resident.as_ref().map(|resident| &resident.parts[..])) {
            (Ty::Int, Some([Arg::Scalar(Literal::I64(x))])) => Fact::Int(*x),
            (Ty::Int, Some([Arg::Scalar(Literal::I32(x))])) => Fact::Int(i64::from(*x)),
            (Ty::Sequence(_), Some([Arg::Scalar(length), ..])) => {
                Fact::Length(count(*length) as u64)
            }
            _ => Fact::Nothing,
        }
    }

    /// Copies the value to the host and drops its arrays, before a change of runtime.
    pub(crate) fn leave_runtime(&self, runtime: Option<&dyn Runtime>) -> Result<(), Failure> {
        self.value(runtime)?;
        *self.0.resident.borrow_mut() = None;
        Ok(())
    }

    /// Returns the value on the host, unless reading it from the runtime would take more than
    /// `max_bytes`.
    pub(crate) fn on_host(&self, runtime: &dyn Runtime, max_bytes: usize) -> Option<Value> {
        if self.0.value.get().is_none() && self.runtime_bytes() > Some(max_bytes as u64) {
            return None;
        }
        self.value(Some(runtime)).ok().cloned()
    }

    /// Returns true if the parts at a precision represent the value exactly.
    pub(crate) fn fits(&self, runtime: &dyn Runtime, at: Precision) -> Result<bool, Failure> {
        if at == Precision::Bits64 {
            return Ok(true);
        }
        if let Some(resident) = &*self.0.resident.borrow()
            && resident.precision == at
        {
            return Ok(true);
        }
        Ok(narrow(self.value(Some(runtime))?))
    }

    /// Returns the pair `(first, second)`, on the host if both are there.
    pub(crate) fn pair(
        first: &ResidentValue,
        second: &ResidentValue,
        runtime: &dyn Runtime,
        precision: Precision,
    ) -> Result<ResidentValue, Failure> {
        let ty = Ty::pair(first.ty().clone(), second.ty().clone());
        if let (Some(a), Some(b)) = (first.0.value.get(), second.0.value.get()) {
            return Ok(ResidentValue::value_of(Value::pair(a.clone(), b.clone()), ty));
        }
        let mut parts = first.parts(runtime, precision)?;
        parts.extend(second.parts(runtime, precision)?);
        Ok(ResidentValue::resident(parts, ty, precision))
    }

    /// Returns a component of the value, a component of a pair at each step of the way.
    pub(crate) fn part(&self, way: &[Projection]) -> ResidentValue {
        if way.is_empty() {
            return self.clone();
        }
        let mut ty = &self.0.ty;
        let mut value = self.0.value.get();
        let mut resident = self.0.resident.borrow().clone();
        for step in way {
            let Ty::Pair(first, second) = ty else { bug!("a pattern took {ty} apart") };
            let is_first = matches!(step, Projection::First);
            if let Some(resident) = &mut resident {
                let split = lower::parts(first, resident.precision).len();
                let rest = resident.parts.split_off(split);
                if !is_first {
                    resident.parts = rest;
                }
            }
            value = value.map(|value| {
                let (first, second) = value.as_pair().or_bug("the value of a pair type is a pair");
                if is_first { first } else { second }
            });
            ty = if is_first { first } else { second };
        }
        let value = value.map_or_else(OnceCell::new, |value| OnceCell::from(value.clone()));
        ResidentValue(Rc::new(Copies { ty: ty.clone(), value, resident: RefCell::new(resident) }))
    }
}

/// Converts something, as long as the runtime is not told to stop.
fn wanted<T>(
    runtime: &dyn Runtime,
    convert: impl FnOnce(&dyn Fn() -> bool) -> Option<T>,
) -> Result<T, Failure> {
    let failed = RefCell::new(None);
    let stop = || runtime.poll().map_err(|failure| failed.replace(Some(failure))).is_err();
    let made = convert(&stop);
    match (made, failed.take()) {
        (_, Some(failure)) => Err(failure),
        (None, None) => bug!("a conversion stopped without a reason"),
        (Some(made), None) => Ok(made),
    }
}

/// Returns the size of a value on the host in bytes.
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

/// Returns true if 32 bits represent every number of a value exactly.
fn narrow(value: &Value) -> bool {
    let int = |x: &i64| i32::try_from(*x).is_ok();
    let float = |x: &f64| (*x as f32 as f64).to_bits() == x.to_bits() || x.is_nan();
    with_stack(|| match value {
        Value::Unit | Value::Bool(_) | Value::Char(_) => true,
        Value::Int(x) => int(x),
        Value::Float(x) => float(x),
        Value::Pair(both) => narrow(&both.0) && narrow(&both.1),
        Value::Sequence(Sequence::Ints(xs)) => xs.iter().all(int),
        Value::Sequence(Sequence::Floats(xs)) => xs.iter().all(float),
        Value::Sequence(Sequence::Bools(_) | Sequence::Chars(_)) => true,
        Value::Sequence(Sequence::Values(xs)) => xs.iter().all(narrow),
    })
}

/// Reads the parts of a value of some type.
fn read(
    ty: &Ty,
    parts: &mut dyn Iterator<Item = &Arg>,
    runtime: &dyn Runtime,
    out: &mut Vec<HostPart>,
) -> Result<(), Failure> {
    with_stack(|| {
        match ty {
            Ty::Unit => {}
            Ty::Int | Ty::Float | Ty::Bool | Ty::Char => {
                out.push(HostPart::Scalar(literal(next(parts))));
            }
            Ty::Pair(first, second) => {
                read(first, parts, runtime, out)?;
                read(second, parts, runtime, out)?;
            }
            Ty::Sequence(element) => {
                let length = literal(next(parts));
                out.push(HostPart::Scalar(length));
                read_columns(element, count(length), parts, runtime, out)?;
            }
        }
        Ok(())
    })
}

/// Reads the columns of the first `length` elements of a sequence.
fn read_columns(
    element: &Ty,
    length: usize,
    parts: &mut dyn Iterator<Item = &Arg>,
    runtime: &dyn Runtime,
    out: &mut Vec<HostPart>,
) -> Result<(), Failure> {
    with_stack(|| {
        let mut array = |out: &mut Vec<HostPart>| {
            let Arg::Array(buffer, at) = next(parts) else {
                bug!("a column of a sequence is a scalar")
            };
            out.push(HostPart::Array(buffer.ty(), bytes(buffer, *at, length, runtime)?));
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
                out.push(HostPart::Scalar(extent));
                read_columns(inner, count(extent), parts, runtime, out)?;
            }
        }
        Ok(())
    })
}

/// Returns the next part of a value.
pub(crate) fn next<'a>(parts: &mut dyn Iterator<Item = &'a Arg>) -> &'a Arg {
    parts.next().or_bug("a value has as many parts as its type")
}

/// Returns the literal that a part of a scalar type is.
pub(crate) fn literal(part: &Arg) -> Literal {
    match part {
        Arg::Scalar(literal) => *literal,
        Arg::Array(..) => bug!("a scalar is an array"),
    }
}

/// Returns the length that a literal is.
pub(crate) fn count(length: Literal) -> usize {
    match length {
        Literal::I64(length) => length as usize,
        other => bug!("{other:?} stands for a length"),
    }
}

/// Reads `count` elements of an array from the element `at` on, as bytes.
pub(crate) fn bytes(
    buffer: &Buffer,
    at: usize,
    count: usize,
    runtime: &dyn Runtime,
) -> Result<Vec<u8>, Failure> {
    let size = buffer.ty().size();
    let mut bytes = vec![0; count * size];
    let elements = POLLED_BYTES / size;
    if count <= elements {
        runtime.read(buffer, at, &mut bytes)?;
        return Ok(bytes);
    }
    for (part, out) in bytes.chunks_mut(elements * size).enumerate() {
        runtime.poll()?;
        runtime.read(buffer, at + part * elements, out)?;
    }
    Ok(bytes)
}

/// Reads the only element of an array.
pub(crate) fn read_scalar(buffer: &Buffer, runtime: &dyn Runtime) -> Result<Literal, Failure> {
    let bytes = bytes(buffer, 0, 1, runtime)?;
    Ok(Literal::from_bytes(buffer.ty(), &bytes))
}

/// A failure of a runtime in words.
pub(crate) fn words(failure: &Failure) -> String {
    match failure {
        Failure::Machine(fault) => fault.to_string(),
        Failure::Program { .. } => "The program failed.".to_owned(),
        Failure::Unsupported(reason) => format!("The runtime does not support {reason}."),
    }
}
