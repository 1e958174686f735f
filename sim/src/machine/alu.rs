//! Instructions that touch nothing but registers and predicates.

use super::block::Warp;
use crate::isa::code::Op;
use crate::isa::lanes::{Lanes, WARP_LANES};

/// Executes an operation on registers in the lanes of a mask; others do nothing.
#[inline(always)]
pub fn execute(warp: &mut Warp, op: &Op, mask: u32) {
    let mut out: Lanes = [0; WARP_LANES];
    let read = |register: u16| &warp.registers[usize::from(register)];
    let destination = match *op {
        Op::Binary { f, d, a, b } => {
            (f.all)(&mut out, read(a), read(b));
            d
        }
        Op::Unary { f, d, a } => {
            f(&mut out, read(a));
            d
        }
        Op::Move { d, a } => {
            out = *read(a);
            d
        }
        Op::Ternary { f, d, a, b, c } => {
            f(&mut out, read(a), read(b), read(c));
            d
        }
        Op::Quaternary { f, d, sources } => {
            f(&mut out, sources.map(read));
            d
        }
        Op::Convert { f, mask: kept, d, a } => {
            f(&mut out, read(a));
            for value in &mut out {
                *value &= kept;
            }
            d
        }
        Op::Pack { d, parts, count, bits } => {
            for (k, &part) in parts[..usize::from(count)].iter().enumerate() {
                for (value, part) in out.iter_mut().zip(read(part)) {
                    *value |= part << (k * usize::from(bits));
                }
            }
            d
        }
        Op::Select { d, a, b, p } => {
            let chosen = warp.predicates[usize::from(p)];
            let (a, b) = (read(a), read(b));
            for lane in 0..WARP_LANES {
                out[lane] = if chosen >> lane & 1 == 1 { a[lane] } else { b[lane] };
            }
            d
        }
        _ => return execute_other(warp, op, mask),
    };
    warp.put(destination, &out, mask);
}

/// The operations whose result is not one register.
fn execute_other(warp: &mut Warp, op: &Op, mask: u32) {
    match *op {
        Op::Compare { f, combine, d, complement, a, b } => {
            let result = f(&warp.registers[usize::from(a)], &warp.registers[usize::from(b)]);
            let other = combine.map(|(op, guard)| (op, warp.guard(guard)));
            let combined = |value: u32| other.map_or(value, |(op, other)| op.apply(value, other));
            let (value, opposite) = (combined(result), combined(!result));
            warp.put_predicate(d, value, mask);
            if let Some(complement) = complement {
                warp.put_predicate(complement, opposite, mask);
            }
        }
        Op::PredicateBinary { op, d, a, b } => {
            let (a, b) = (warp.predicates[usize::from(a)], warp.predicates[usize::from(b)]);
            warp.put_predicate(d, op.apply(a, b), mask);
        }
        Op::PredicateMove { d, source } => warp.put_predicate(d, warp.guard(source), mask),
        Op::PredicateSet { d, value } => {
            warp.put_predicate(d, if value { u32::MAX } else { 0 }, mask);
        }
        Op::Unpack { parts, count, bits, a } => {
            let whole = warp.registers[usize::from(a)];
            let kept = (1u64 << bits) - 1;
            for (k, &part) in parts[..usize::from(count)].iter().enumerate() {
                let values = whole.map(|value| value >> (k * usize::from(bits)) & kept);
                warp.put(part, &values, mask);
            }
        }
        _ => {}
    }
}
