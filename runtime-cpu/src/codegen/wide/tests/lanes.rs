//! Lanes and their order, spilled registers, masks, and loops that carry both.

use super::super::InstructionSet;
use super::{bytes, compiled, context, flags, sets};
use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::{InstBuilder, Value, types};
use cranelift_frontend::FunctionBuilder;

/// Lanes in reversed order: taken out and put in at each place, and all at once.
#[test]
fn lanes() {
    use types::{F32, F64, I32, I64};
    let wide = [(F64, 8), (I64, 8), (F32, 16), (I32, 16), (I32, 8), (I64, 4)];
    let types = wide.into_iter().chain([(F64, 2), (F32, 4), (I32, 2)]);
    let ways = types.flat_map(|ty| [(ty, false), (ty, true)]);
    for (((ty, count), whole), set) in
        ways.flat_map(|way| sets().into_iter().map(move |s| (way, s)))
    {
        let many = ty.by(count).unwrap();
        if bytes(many) > set.vector_bytes() {
            continue;
        }
        let mut context = context(&|b, params| {
            let x = b.ins().load(many, flags(), params[0], 0);
            let mut y = b.ins().load(many, flags(), params[1], 0);
            for lane in 0..if whole { 0 } else { count as u8 } {
                let taken = b.ins().extractlane(x, lane);
                y = b.ins().insertlane(y, taken, count as u8 - 1 - lane);
            }
            let y = if whole { b.ins().bswap(x) } else { y };
            b.ins().store(flags(), y, params[2], 0);
        });
        let function = compiled(&mut context, set).unwrap();
        let x: Vec<u8> = (0..64).collect();
        let (y, mut z) = ([0u8; 64], [0u8; 64]);
        (function.entry)(x.as_ptr(), y.as_ptr(), z.as_mut_ptr());
        let (size, all) = (bytes(ty), bytes(many));
        let backwards: Vec<u8> = x[..all].chunks(size).rev().flatten().copied().collect();
        assert_eq!(z[..all], backwards, "{set:?} {many}");
    }
}

/// Vectors of scalars, lane by lane.
#[test]
fn scalars_together() {
    use types::{F32, F64, I32, I64};
    let shapes = [(F64, 2), (F64, 4), (I64, 2), (I64, 4), (I64, 8), (F32, 4), (F32, 8), (I32, 8)];
    for ((ty, count), set) in
        shapes.into_iter().flat_map(|shape| sets().into_iter().map(move |set| (shape, set)))
    {
        let many = ty.by(count).unwrap();
        if bytes(many) > set.vector_bytes() {
            continue;
        }
        let mut context = context(&|b, params| {
            let lane = |b: &mut FunctionBuilder<'_>, n: u32| {
                b.ins().load(ty, flags(), params[0], (n * ty.bytes()) as i32)
            };
            let first = lane(b, 0);
            let mut all = b.ins().scalar_to_vector(many, first);
            for n in 1..count {
                let scalar = lane(b, n);
                all = b.ins().insertlane(all, scalar, n as u8);
            }
            b.ins().store(flags(), all, params[2], 0);
        });
        let function = compiled(&mut context, set).unwrap();
        let x: Vec<u8> = (0..64).collect();
        let mut z = [0u8; 64];
        (function.entry)(x.as_ptr(), x.as_ptr(), z.as_mut_ptr());
        assert_eq!(z[..bytes(many)], x[..bytes(many)], "{set:?} {many}");
    }
}

/// Two vectors as the halves of one.
#[test]
fn halves() {
    let halves = [types::I32X4, types::I32X8].into_iter();
    for (half, set) in halves.flat_map(|half| sets().into_iter().map(move |set| (half, set))) {
        if 2 * bytes(half) > set.vector_bytes() {
            continue;
        }
        let mut context = context(&|b, params| {
            let x = b.ins().load(half, flags(), params[0], 0);
            let y = b.ins().load(half, flags(), params[1], 0);
            let both = b.ins().iconcat(x, y);
            b.ins().store(flags(), both, params[2], 0);
        });
        let function = compiled(&mut context, set).unwrap();
        let all: Vec<u8> = (0..64).collect();
        let (size, mut z) = (bytes(half), [0u8; 64]);
        (function.entry)(all.as_ptr(), all[size..].as_ptr(), z.as_mut_ptr());
        assert_eq!(z[..2 * size], all[..2 * size]);
    }
}

/// A vector as two halves, stored in the other order.
#[test]
fn halves_of_a_vector() {
    let wholes = [types::I64X4, types::I64X8].into_iter();
    for (whole, set) in wholes.flat_map(|whole| sets().into_iter().map(move |set| (whole, set))) {
        if bytes(whole) > set.vector_bytes() {
            continue;
        }
        let half = bytes(whole) / 2;
        let mut context = context(&|b, params| {
            let x = b.ins().load(whole, flags(), params[0], 0);
            let (low, high) = b.ins().isplit(x);
            b.ins().store(flags(), high, params[2], 0);
            b.ins().store(flags(), low, params[2], half as i32);
        });
        let function = compiled(&mut context, set).unwrap();
        let all: Vec<u8> = (0..64).collect();
        let mut z = [0u8; 64];
        (function.entry)(all.as_ptr(), all.as_ptr(), z.as_mut_ptr());
        assert_eq!(z[..2 * half], [&all[half..2 * half], &all[..half]].concat());
    }
}

/// A float selected by a lane of a comparison, as scalar code selects.
#[test]
fn lanes_of_masks_as_floats() {
    use types::{F32, F64};
    for ((ty, count), set) in [(F64, 2), (F32, 4)]
        .into_iter()
        .flat_map(|shape| sets().into_iter().map(move |s| (shape, s)))
    {
        let many = ty.by(count).unwrap();
        let mut context = context(&|b, params| {
            // General registers are in use around the selections.
            let before: Vec<Value> =
                (0..6).map(|n| b.ins().load(types::I64, flags(), params[1], 8 * n)).collect();
            for n in 0..4 {
                let at = n * ty.bytes() as i32;
                let x = b.ins().load(ty, flags(), params[0], at);
                let y = b.ins().load(ty, flags(), params[1], at);
                let [a, c] = [x, y].map(|scalar| b.ins().scalar_to_vector(many, scalar));
                let mask = b.ins().fcmp(FloatCC::LessThan, a, c);
                let mask = b.ins().bitcast(many, crate::codegen::scalar::little(), mask);
                let mask = b.ins().extractlane(mask, 0);
                let less = b.ins().bitselect(mask, x, y);
                b.ins().store(flags(), less, params[2], at);
            }
            for (n, word) in before.into_iter().enumerate() {
                b.ins().store(flags(), word, params[2], 32 + 8 * n as i32);
            }
        });
        let function = compiled(&mut context, set).unwrap();
        let (x, y, mut z) = if ty == F64 {
            let words = |of: [f64; 4]| of.map(f64::to_ne_bytes).concat();
            (words([1.0, -2.0, 5.0, f64::NAN]), words([2.0, -3.0, 5.5, 0.5]), vec![0u8; 80])
        } else {
            let words = |of: [f32; 4]| of.map(f32::to_ne_bytes).concat();
            (words([1.0, -2.0, 5.0, f32::NAN]), words([2.0, -3.0, 5.5, 0.5]), vec![0u8; 80])
        };
        let y: Vec<u8> = y.into_iter().chain(1..).take(64).collect();
        (function.entry)(x.as_ptr(), y.as_ptr(), z.as_mut_ptr());
        let size = bytes(ty);
        let chosen =
            [&x[..size], &y[size..2 * size], &x[2 * size..3 * size], &y[3 * size..4 * size]];
        assert_eq!(z[..4 * size], chosen.concat(), "{set:?} {many}");
        assert_eq!(z[32..80], y[..48], "{set:?} {many}");
    }
}

/// More values at a time than there are registers.
#[test]
fn spills() {
    sets().into_iter().for_each(spills_of);
}

fn spills_of(set: InstructionSet) {
    let (count, lanes) = (40, set.vector_bytes() / 8);
    let many = types::F64.by(lanes as u32).unwrap();
    let mut context = context(&|b, params| {
        let size = bytes(many) as i32;
        let loaded: Vec<Value> =
            (0..count).map(|n| b.ins().load(many, flags(), params[0], size * n)).collect();
        let ints: Vec<Value> =
            (0..20).map(|n| b.ins().load(types::I64, flags(), params[1], 8 * n)).collect();
        let masks: Vec<Value> =
            (0..10).map(|n| b.ins().fcmp(FloatCC::LessThan, loaded[n], loaded[n + 20])).collect();
        // The last is used first.
        let mut sum = loaded[count as usize - 1];
        for x in loaded.iter().rev().skip(1) {
            sum = b.ins().fsub(sum, *x);
        }
        for mask in masks.iter().rev() {
            let little = crate::codegen::scalar::little();
            let mask = b.ins().bitcast(many, little, *mask);
            let other = b.ins().fadd(sum, sum);
            sum = b.ins().bitselect(mask, other, sum);
        }
        let mut total = ints[19];
        for x in ints.iter().rev().skip(1) {
            total = b.ins().isub(total, *x);
        }
        let total = b.ins().fcvt_from_sint(types::F64, total);
        let total = b.ins().splat(many, total);
        let all = b.ins().fadd(sum, total);
        b.ins().store(flags(), all, params[2], 0);
    });
    let function = compiled(&mut context, set).unwrap();
    assert!(function.spills > 20, "{}", function.spills);
    let x: Vec<f64> = (0..lanes as i32 * count).map(|n| f64::from((n * 37) % 101)).collect();
    let y: Vec<i64> = (0..20).map(|n| n * n).collect();
    let mut z = vec![0f64; lanes];
    (function.entry)(x.as_ptr().cast(), y.as_ptr().cast(), z.as_mut_ptr().cast());
    for (lane, z) in z.iter().enumerate() {
        let of = |n: usize| x[lanes * n + lane];
        let mut sum = of(count as usize - 1);
        (0..count as usize - 1).rev().for_each(|n| sum -= of(n));
        (0..10).rev().for_each(|n| {
            if of(n) < of(n + 20) {
                sum += sum
            }
        });
        let mut total = y[19];
        (0..19).rev().for_each(|n| total -= y[n]);
        assert_eq!(*z, sum + total as f64, "{set:?} lane {lane}");
    }
}

/// A loop that carries vectors and a mask, until no lane is left: steps of the Collatz sequence.
#[test]
fn loops_under_masks() {
    let shapes = [2, 4, 8].map(|count| (types::I64, count)).into_iter();
    let shapes = shapes.chain([4, 8, 16].map(|count| (types::I32, count)));
    for ((lane, count), set) in shapes.flat_map(|shape| sets().into_iter().map(move |s| (shape, s)))
    {
        let many = lane.by(count).unwrap();
        if bytes(many) > set.vector_bytes() {
            continue;
        }
        let mut context = context(&|b, params| {
            let x = b.ins().load(many, flags(), params[0], 0);
            let [zero, one, two, three] = [0, 1, 2, 3].map(|n| {
                let n = b.ins().iconst(lane, n);
                b.ins().splat(many, n)
            });
            let going = b.ins().icmp(IntCC::NotEqual, x, one);
            let (head, body, exit) = (b.create_block(), b.create_block(), b.create_block());
            for _ in 0..3 {
                b.append_block_param(head, many);
            }
            b.ins().jump(head, &[x.into(), zero.into(), going.into()]);
            b.switch_to_block(head);
            let [x, steps, going] = [0, 1, 2].map(|n| b.block_params(head)[n]);
            let any = b.ins().vany_true(going);
            b.ins().brif(any, body, &[], exit, &[]);
            b.switch_to_block(body);
            let low = b.ins().band(x, one);
            let odd = b.ins().icmp(IntCC::Equal, low, one);
            let (half, product) = (b.ins().ushr_imm_u(x, 1), b.ins().imul(x, three));
            let more = b.ins().iadd(product, one);
            let next = b.ins().bitselect(odd, more, half);
            let next = b.ins().bitselect(going, next, x);
            let counted = b.ins().iadd(steps, one);
            let after = b.ins().bitselect(going, counted, steps);
            let on = b.ins().icmp(IntCC::UnsignedGreaterThanOrEqual, next, two);
            let on = b.ins().band(on, going);
            b.ins().jump(head, &[next.into(), after.into(), on.into()]);
            b.switch_to_block(exit);
            b.ins().store(flags(), steps, params[2], 0);
        });
        let function = compiled(&mut context, set).unwrap();
        let size = bytes(lane);
        let mut x = [0u8; 64];
        for n in 0..count as usize {
            x[n * size..(n + 1) * size].copy_from_slice(&(n as u64 + 1).to_le_bytes()[..size]);
        }
        let mut z = [0u8; 64];
        (function.entry)(x.as_ptr(), x.as_ptr(), z.as_mut_ptr());
        let expected = [0u8, 1, 7, 2, 5, 8, 16, 3, 19, 6, 14, 9, 9, 17, 17, 4];
        for n in 0..count as usize {
            assert_eq!(z[n * size], expected[n], "{many}, lane {n}");
        }
    }
}

/// The signs of lanes as bits, and whether any lane is not 0.
#[test]
fn signs() {
    use types::{I8, I32, I64};
    let shapes =
        [(I64, 2), (I64, 4), (I64, 8), (I32, 2), (I32, 4), (I32, 8), (I32, 16), (I8, 4), (I8, 8)];
    for ((lane, count), set) in
        shapes.into_iter().flat_map(|shape| sets().into_iter().map(move |set| (shape, set)))
    {
        let many = lane.by(count).unwrap();
        // With mask registers, bytes are masks only where they are compared.
        if bytes(many) > set.vector_bytes() || lane == I8 && set == InstructionSet::Avx512 {
            continue;
        }
        let mut context = context(&|b, params| {
            let x = b.ins().load(many, flags(), params[0], 0);
            let y = b.ins().load(many, flags(), params[1], 0);
            let both = b.ins().icmp(IntCC::Equal, x, y);
            let other = b.ins().bnot(both);
            let bits = b.ins().vhigh_bits(types::I64, other);
            let any = b.ins().vany_true(other);
            let any = b.ins().uextend(types::I64, any);
            b.ins().store(flags(), bits, params[2], 0);
            b.ins().store(flags(), any, params[2], 8);
        });
        let function = compiled(&mut context, set).unwrap();
        for differs in [None, Some(0), Some(count as usize - 1)] {
            let (x, mut y, mut z) = ([7u8; 64], [7u8; 64], [0u64; 2]);
            if let Some(lane_number) = differs {
                y[lane_number * bytes(lane)] = 9;
            }
            (function.entry)(x.as_ptr(), y.as_ptr(), z.as_mut_ptr().cast());
            let expected = differs.map_or([0, 0], |lane| [1 << lane, 1]);
            assert_eq!(z, expected, "{set:?} {many} {differs:?}");
        }
    }
}
