//! Draws a value as segments over flat data, and prints it as NESL does.

use super::{Level, NestedComponent, SegmentedValue};
use crate::explain::summary::Layout;
use crate::explain::summary::Summariser;
use crate::flat::interp::Frame;
use crate::flat::{Op, SpaceId, SpaceKind};
use crate::interp::{Sequence, Value};
use crate::ir::{self, Atom, Ty, Var};
use crate::prim::SeqOp;

/// Draws the values of a variable for all elements of an index space, nested as the index space is.
/// `None` if the variable or the index space has not been computed.
pub(super) fn draw(
    frame: &Frame<'_>,
    summariser: &Summariser<'_>,
    var: Var,
    space: SpaceId,
) -> Option<SegmentedValue> {
    frame.home(var)?;
    frame.space(space)?;
    let mut values = frame.all(Atom::Var(var), space);
    let mut ty = frame.ty(var)?.clone();
    let mut kinds = Vec::new();
    let mut at = space;
    while let Some((owner, segments)) = &frame.space(at)?.segments {
        let mut all = vec![Vec::new(); frame.space(*owner)?.count];
        for (value, segment) in values.into_iter().zip(segments) {
            all.get_mut(*segment)?.push(value);
        }
        values = all.into_iter().map(|all| Sequence::from_values(&ty, all).into()).collect();
        ty = Ty::sequence(ty);
        kinds.push(contiguous_layout(summariser.layout(at)));
        at = *owner;
    }
    // A function may be called for several elements at once, which become the outermost level.
    let value = if values.len() == 1 {
        values.pop()?
    } else {
        let all = Sequence::from_values(&ty, values).into();
        ty = Ty::sequence(ty);
        kinds.push(Layout::Contiguous);
        all
    };
    kinds.reverse();
    let own = summariser.layouts.get(&var).copied().unwrap_or(Layout::Given);
    let name = summariser.names.get(&var).cloned().unwrap_or_else(|| format!("v{}", var.0));
    let mut drawing = segmented(name, &value, &ty, &kinds, contiguous_layout(own));
    if frame.home(var) == Some(space)
        && let Some((source, starts)) = view_of(frame, var)
    {
        draw_as_view(frame, source, &starts, &mut drawing);
    }
    Some(drawing)
}

/// Returns the index space in which to show a value that is used in `space`: that one, if it is a
/// filter or concatenation of the value's index space, or else the value's own.
pub(super) fn space_to_show(frame: &Frame<'_>, var: Var, space: SpaceId) -> Option<SpaceId> {
    let home = frame.home(var)?;
    let mut at = space;
    while at != home {
        match frame.function.index_space(at).kind {
            SpaceKind::Filter { of, .. } => at = of,
            SpaceKind::Concat { inner, .. } => at = inner,
            SpaceKind::Caller | SpaceKind::Elements { .. } | SpaceKind::Count { .. } => {
                return Some(home);
            }
        }
    }
    Some(space)
}

/// Returns the sequence that a value is a view of, and the start of each of its segments in the
/// flat data of that sequence, in elements. `None` if the value is no view, or its segments are
/// nested.
fn view_of(frame: &Frame<'_>, var: Var) -> Option<(Var, Vec<u32>)> {
    let mut found = None;
    frame.function.body.each_let(&mut |binding| {
        if binding.var == var {
            found = Some(binding);
        }
    });
    let binding = found?;
    let Op::Map(ir::Op::Seq(op, args)) = &binding.op else { return None };
    let [Atom::Var(source), index, ..] = args[..] else { return None };
    if matches!(binding.ty.element()?, Ty::Sequence(_)) {
        return None;
    }
    let (home, values) = (frame.home(source)?, frame.values(source)?);
    let mut before = vec![0];
    for value in values {
        before.push(before.last()? + scalar_count(value));
    }
    let start = |element| {
        let index = usize::try_from(frame.read(index, binding.space, element).as_int()?).ok()?;
        let at = frame.outer(binding.space, element, home);
        let inside = match op {
            SeqOp::Subseq => index,
            SeqOp::Index => {
                let sequence = values.get(at)?.as_sequence()?;
                sequence.iter().take(index).map(|value| scalar_count(&value)).sum()
            }
            _ => return None,
        };
        u32::try_from(before.get(at)? + inside).ok()
    };
    let starts = (0..frame.space(binding.space)?.count).map(start).collect::<Option<Vec<u32>>>()?;
    Some((source, starts))
}

/// Returns the number of elements of the innermost sequences of a value, in total.
fn scalar_count(value: &Value) -> usize {
    match value {
        Value::Sequence(Sequence::Values(values)) => values.iter().map(scalar_count).sum(),
        Value::Sequence(sequence) => sequence.len(),
        Value::Unit
        | Value::Int(_)
        | Value::Float(_)
        | Value::Bool(_)
        | Value::Char(_)
        | Value::Pair(_) => 1,
    }
}

/// Replaces the flat data of a value by those of the sequence that it is a view of, and its
/// innermost level by the segments of that data.
fn draw_as_view(frame: &Frame<'_>, source: Var, starts: &[u32], drawing: &mut SegmentedValue) {
    let (Some(values), Some(mut at)) = (frame.values(source), frame.ty(source)) else { return };
    let mut values = values.to_vec();
    while let Ty::Sequence(element) = at {
        let sequences = values.iter().filter_map(Value::as_sequence);
        values = sequences.flat_map(|sequence| sequence.iter().collect::<Vec<_>>()).collect();
        at = element;
    }
    if let Some(level) = drawing.levels.last_mut().filter(|own| own.starts.len() == starts.len()) {
        level.kind = Layout::Views;
        level.starts = starts.to_vec();
        (drawing.data, drawing.nested) = components(&values, at);
    }
}

/// Returns the layout of data that is drawn contiguously; [`draw_as_view`] draws views.
fn contiguous_layout(layout: Layout) -> Layout {
    match layout {
        Layout::Regular => Layout::Regular,
        Layout::Contiguous | Layout::Views | Layout::Given => Layout::Contiguous,
    }
}

/// Draws a value as segments. `outer` are the layouts of its outer levels, `inner` is that of all
/// others.
fn segmented(
    name: String,
    value: &Value,
    ty: &Ty,
    outer: &[Layout],
    inner: Layout,
) -> SegmentedValue {
    let (levels, values, at) = levels(vec![value.clone()], ty, outer, inner);
    let (data, nested) = components(&values, at);
    SegmentedValue { name, ty: ty.to_string(), value: show(value, ty), levels, data, nested }
}

/// Returns the levels of nesting of some sequences, the values below the innermost level, and the
/// type of these.
fn levels<'t>(
    mut values: Vec<Value>,
    mut at: &'t Ty,
    outer: &[Layout],
    inner: Layout,
) -> (Vec<Level>, Vec<Value>, &'t Ty) {
    let mut levels = Vec::new();
    while let Ty::Sequence(element) = at {
        let mut level = Level {
            kind: outer.get(levels.len()).copied().unwrap_or(inner),
            starts: Vec::new(),
            lengths: Vec::new(),
        };
        let mut below = Vec::new();
        for value in &values {
            let Some(sequence) = value.as_sequence() else { continue };
            level.starts.push(below.len() as u32);
            level.lengths.push(sequence.len() as u32);
            below.extend(sequence.iter());
        }
        levels.push(level);
        values = below;
        at = element;
    }
    (levels, values, at)
}

/// Returns the flat data of some values, a list for each component of their tuples, and the
/// segments of the components that are sequences.
fn components(values: &[Value], ty: &Ty) -> (Vec<Vec<String>>, Vec<NestedComponent>) {
    let (mut data, mut nested) = (Vec::new(), Vec::new());
    each_component(values, ty, &mut |values, ty| {
        if matches!(ty, Ty::Sequence(_)) {
            let (levels, below, at) = levels(values.to_vec(), ty, &[], Layout::Contiguous);
            let (inner, further) = components(&below, at);
            let component = data.len();
            nested.push(NestedComponent { component, levels, data: inner, nested: further });
        }
        data.push(values.iter().map(|value| show(value, ty)).collect());
    });
    (data, nested)
}

fn each_component(values: &[Value], ty: &Ty, see: &mut dyn FnMut(&[Value], &Ty)) {
    match ty {
        Ty::Pair(first, second) => {
            let halves: Vec<(&Value, &Value)> = values.iter().filter_map(Value::as_pair).collect();
            let firsts: Vec<Value> = halves.iter().map(|(value, _)| (*value).clone()).collect();
            let seconds: Vec<Value> = halves.iter().map(|(_, value)| (*value).clone()).collect();
            each_component(&firsts, first, see);
            each_component(&seconds, second, see);
        }
        Ty::Unit | Ty::Int | Ty::Float | Ty::Bool | Ty::Char | Ty::Sequence(_) => see(values, ty),
    }
}

/// Prints a value as NESL does.
pub(super) fn show(value: &Value, ty: &Ty) -> String {
    let mut out = String::new();
    write(value, ty, &mut out);
    out
}

fn write(value: &Value, ty: &Ty, out: &mut String) {
    match (value, ty) {
        (Value::Pair(_), Ty::Pair(..)) => {
            out.push('(');
            tuple(value, ty, out);
            out.push(')');
        }
        (Value::Sequence(Sequence::Chars(bytes)), _) => {
            out.push('"');
            for byte in bytes.iter() {
                if matches!(byte, b'"' | b'\\') {
                    out.push('\\');
                }
                out.push(char::from(*byte));
            }
            out.push('"');
        }
        (Value::Sequence(sequence), Ty::Sequence(element)) => {
            out.push('[');
            for (i, value) in sequence.iter().enumerate() {
                if i > 0 {
                    out.push_str(", ");
                }
                write(&value, element, out);
            }
            out.push(']');
        }
        (Value::Int(x), _) => out.push_str(&x.to_string()),
        (Value::Float(x), _) => out.push_str(&float(*x)),
        (Value::Bool(x), _) => out.push_str(if *x { "T" } else { "F" }),
        (Value::Char(x), _) => out.extend(['`', char::from(*x)]),
        (Value::Unit | Value::Pair(_) | Value::Sequence(_), _) => out.push_str("fn"),
    }
}

fn tuple(value: &Value, ty: &Ty, out: &mut String) {
    match (value.as_pair(), ty) {
        (Some((first, second)), Ty::Pair(first_ty, second_ty)) => {
            write(first, first_ty, out);
            out.push_str(", ");
            tuple(second, second_ty, out);
        }
        _ => write(value, ty, out),
    }
}

/// Prints a float with at least one digit on each side of the decimal point.
fn float(x: f64) -> String {
    if x.is_nan() {
        return "nan".to_owned();
    }
    if x.is_infinite() {
        return if x > 0.0 { "inf" } else { "-inf" }.to_owned();
    }
    if x == 0.0 {
        return "0.0".to_owned();
    }
    if (1e-3..1e7).contains(&x.abs()) {
        return format!("{x:?}");
    }
    let text = format!("{x:E}");
    match text.split_once('E') {
        Some((digits, exponent)) if !digits.contains('.') => format!("{digits}.0E{exponent}"),
        _ => text,
    }
}
