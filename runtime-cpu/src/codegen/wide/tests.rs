//! Every operation on every type and width, on edge values, beside scalar evaluation.
//!
//! Each is done with all instruction sets that the processor has; without any, the tests say so and do nothing.

use super::{Declined, InstructionSet, compile};
use crate::codegen::machine::{self, Machine};
use cranelift_codegen::Context;
use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::{AbiParam, InstBuilder, MemFlagsData, Signature, Type, Value, types};
use cranelift_codegen::isa::CallConv;
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::Module as _;

mod lanes;

type Build<'t> = &'t dyn Fn(&mut FunctionBuilder<'_>, &[Value]) -> Value;

/// Builds a function of three addresses, of the operands and the result, and returns its context.
fn context(body: &dyn Fn(&mut FunctionBuilder<'_>, &[Value])) -> Context {
    let mut signature = Signature::new(CallConv::SystemV);
    signature.params.extend([AbiParam::new(types::I64); 3]);
    signature.returns.push(AbiParam::new(types::I32));
    let mut context = Context::new();
    context.func.signature = signature;
    let mut frontend = FunctionBuilderContext::new();
    let mut b = FunctionBuilder::new(&mut context.func, &mut frontend);
    let entry = b.create_block();
    b.append_block_params_for_function_params(entry);
    b.switch_to_block(entry);
    let params = b.block_params(entry).to_vec();
    body(&mut b, &params);
    let done = b.ins().iconst(types::I32, 7);
    b.ins().return_(&[done]);
    b.seal_all_blocks();
    b.finalize(Machine::new().unwrap().isa.frontend_config());
    context
}

/// A compiled function.
struct Compiled {
    jit: Option<JITModule>,
    entry: extern "C" fn(*const u8, *const u8, *mut u8) -> i32,
    spills: usize,
}

impl Drop for Compiled {
    fn drop(&mut self) {
        if let Some(jit) = self.jit.take() {
            // SAFETY: `entry` is reachable through `self` only.
            unsafe { jit.free_memory() };
        }
    }
}

fn compiled(context: &mut Context, set: InstructionSet) -> Result<Compiled, Declined> {
    context.compute_cfg();
    context.compute_domtree();
    let made = compile(context, set)?;
    let isa = Machine::new().unwrap().isa;
    let builder = JITBuilder::with_isa(isa, cranelift_module::default_libcall_names());
    let mut jit = JITModule::new(builder);
    let id = jit.declare_anonymous_function(&context.func.signature).unwrap();
    machine::put_wide(&mut jit, id, &made.bytes).unwrap();
    jit.finalize_definitions().unwrap();
    let code = jit.get_finalized_function(id);
    // SAFETY: the function was compiled with this signature.
    let entry = unsafe {
        std::mem::transmute::<*const u8, extern "C" fn(*const u8, *const u8, *mut u8) -> i32>(code)
    };
    Ok(Compiled { jit: Some(jit), entry, spills: made.spills })
}

/// The instruction sets that can be tested here.
fn sets() -> Vec<InstructionSet> {
    let sets: Vec<InstructionSet> = InstructionSet::detected().collect();
    for set in [InstructionSet::Avx2, InstructionSet::Avx512] {
        if !sets.contains(&set) {
            println!("not tested: this processor has no {set:?}");
        }
    }
    sets
}

fn flags() -> MemFlagsData {
    MemFlagsData::new().with_notrap()
}

fn bytes(ty: Type) -> usize {
    (ty.bits() / 8) as usize
}

/// Edge values of a lane, as bits.
fn edges(ty: Type) -> Vec<u64> {
    let f64s = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        0.5,
        -2.5,
        1.5,
        2.5,
        3.0e9,
        -3.0e9,
        1e300,
        -1e300,
        5e-324,
        f64::NAN,
        f64::INFINITY,
        f64::NEG_INFINITY,
        9.3e18,
        -9.3e18,
        2147483647.5,
        -2147483648.9,
        1e-40,
        4503599627370497.5,
        9007199254740993.0,
        -9223372036854775808.0,
        9223372036854775808.0,
    ];
    let ints = [
        0i64,
        1,
        -1,
        2,
        7,
        -8,
        31,
        32,
        63,
        64,
        127,
        128,
        255,
        256,
        i64::from(i32::MIN),
        i64::from(i32::MAX),
        i64::MIN,
        i64::MAX,
        0x1234_5678_9abc_def0,
        -9_007_199_254_740_993,
        16_777_217,
        1 << 53,
        (1 << 53) + 1,
    ];
    match ty {
        types::F64 => f64s.iter().map(|x| x.to_bits()).collect(),
        types::F32 => f64s.iter().map(|x| u64::from((*x as f32).to_bits())).collect(),
        types::I64 => ints.iter().map(|x| *x as u64).collect(),
        types::I32 => ints.iter().map(|x| u64::from(*x as u32)).collect(),
        _ => ints.iter().map(|x| u64::from(*x as u8)).collect(),
    }
}

fn is_nan(ty: Type, bits: u64) -> bool {
    match ty {
        types::F64 => f64::from_bits(bits).is_nan(),
        types::F32 => f32::from_bits(bits as u32).is_nan(),
        _ => false,
    }
}

/// Runs an operation of two operands on all pairs of edge values, at all widths; one lane, too, if
/// `scalar`.
fn check(
    name: &str,
    from: Type,
    to: Type,
    scalar: bool,
    build: Build<'_>,
    eval: &dyn Fn(u64, u64) -> u64,
) {
    let edges = edges(from);
    let pairs: Vec<[u64; 2]> = edges.iter().flat_map(|a| edges.iter().map(|b| [*a, *b])).collect();
    let widths = [1, 2, 4, 8, 16].into_iter();
    for (lanes, set) in widths.flat_map(|lanes| sets().into_iter().map(move |set| (lanes, set))) {
        let of = |ty: Type| if lanes == 1 { Some(ty) } else { ty.by(lanes as u32) };
        let (Some(many), Some(result)) = (of(from), of(to)) else { continue };
        let wide = many.bits().max(result.bits());
        if (wide / 8) as usize > set.vector_bytes() || lanes == 1 && !scalar {
            continue;
        }
        let mut context = context(&|b, params| {
            let x = b.ins().load(many, flags(), params[0], 0);
            let y = b.ins().load(many, flags(), params[1], 0);
            let made = build(b, &[x, y]);
            assert_eq!(b.func.dfg.value_type(made), result, "{name}");
            b.ins().store(flags(), made, params[2], 0);
        });
        let function = compiled(&mut context, set);
        let function = function.unwrap_or_else(|e| panic!("{set:?} {name} {many}: {}", e.0));
        let size = bytes(from);
        for chunk in pairs.chunks(lanes) {
            let operand = |n: usize| -> Vec<u8> {
                let mut out = vec![0u8; 64];
                for (lane, pair) in chunk.iter().enumerate() {
                    let at = lane * size;
                    out[at..at + size].copy_from_slice(&pair[n].to_le_bytes()[..size]);
                }
                out
            };
            let (x, y, mut z) = (operand(0), operand(1), vec![0u8; 64]);
            assert_eq!((function.entry)(x.as_ptr(), y.as_ptr(), z.as_mut_ptr()), 7);
            for (lane, [a, b]) in chunk.iter().enumerate() {
                let mut word = [0; 8];
                let size = bytes(to);
                word[..size].copy_from_slice(&z[lane * size..(lane + 1) * size]);
                let (found, expected) = (u64::from_le_bytes(word), eval(*a, *b));
                let same = found == expected || is_nan(to, found) && is_nan(to, expected);
                assert!(
                    same,
                    "{set:?} {name} {many}: {a:#x} {b:#x} gives {found:#x}, not {expected:#x}"
                );
            }
        }
    }
}

fn f(x: u64) -> f64 {
    f64::from_bits(x)
}

fn g(x: u64) -> f32 {
    f32::from_bits(x as u32)
}

#[test]
fn floats() {
    type Two = (
        &'static str,
        fn(&mut FunctionBuilder<'_>, Value, Value) -> Value,
        fn(f64, f64) -> f64,
        fn(f32, f32) -> f32,
    );
    let two: [Two; 4] = [
        ("add", |b, x, y| b.ins().fadd(x, y), |x, y| x + y, |x, y| x + y),
        ("sub", |b, x, y| b.ins().fsub(x, y), |x, y| x - y, |x, y| x - y),
        ("mul", |b, x, y| b.ins().fmul(x, y), |x, y| x * y, |x, y| x * y),
        ("div", |b, x, y| b.ins().fdiv(x, y), |x, y| x / y, |x, y| x / y),
    ];
    for (name, build, wide, narrow) in two {
        let build = &|b: &mut FunctionBuilder<'_>, v: &[Value]| build(b, v[0], v[1]);
        check(name, types::F64, types::F64, true, build, &|x, y| wide(f(x), f(y)).to_bits());
        let eval = |x, y| u64::from(narrow(g(x), g(y)).to_bits());
        check(name, types::F32, types::F32, true, build, &eval);
    }
    type One = (
        &'static str,
        fn(&mut FunctionBuilder<'_>, Value) -> Value,
        fn(f64) -> f64,
        fn(f32) -> f32,
    );
    let one: [One; 7] = [
        ("neg", |b, x| b.ins().fneg(x), |x| -x, |x| -x),
        ("abs", |b, x| b.ins().fabs(x), f64::abs, f32::abs),
        ("sqrt", |b, x| b.ins().sqrt(x), f64::sqrt, f32::sqrt),
        ("floor", |b, x| b.ins().floor(x), f64::floor, f32::floor),
        ("ceil", |b, x| b.ins().ceil(x), f64::ceil, f32::ceil),
        ("trunc", |b, x| b.ins().trunc(x), f64::trunc, f32::trunc),
        ("nearest", |b, x| b.ins().nearest(x), f64::round_ties_even, f32::round_ties_even),
    ];
    for (name, build, wide, narrow) in one {
        let build = &|b: &mut FunctionBuilder<'_>, v: &[Value]| build(b, v[0]);
        check(name, types::F64, types::F64, true, build, &|x, _| wide(f(x)).to_bits());
        check(name, types::F32, types::F32, true, build, &|x, _| u64::from(narrow(g(x)).to_bits()));
    }
    let fma = &|b: &mut FunctionBuilder<'_>, v: &[Value]| b.ins().fma(v[0], v[1], v[0]);
    check("fma", types::F64, types::F64, true, fma, &|x, y| f(x).mul_add(f(y), f(x)).to_bits());
    let eval = |x, y| u64::from(g(x).mul_add(g(y), g(x)).to_bits());
    check("fma", types::F32, types::F32, true, fma, &eval);
}

/// A constant in all lanes of a vector like another.
fn everywhere(b: &mut FunctionBuilder<'_>, like: Value, bits: u64) -> Value {
    let ty = b.func.dfg.value_type(like);
    let lane = match ty.lane_type() {
        types::F64 => b.ins().f64const(f(bits)),
        types::F32 => b.ins().f32const(g(bits)),
        lane => b.ins().iconst(lane, bits as i64),
    };
    if ty.is_vector() { b.ins().splat(ty, lane) } else { lane }
}

#[test]
fn constants_are_operands() {
    type Ints =
        (&'static str, fn(&mut FunctionBuilder<'_>, Value, Value) -> Value, fn(i64, i64) -> i64);
    let ints: [Ints; 12] = [
        ("add", |b, x, y| b.ins().iadd(x, y), i64::wrapping_add),
        ("sub", |b, x, y| b.ins().isub(x, y), i64::wrapping_sub),
        ("mul", |b, x, y| b.ins().imul(x, y), i64::wrapping_mul),
        ("and", |b, x, y| b.ins().band(x, y), |x, y| x & y),
        ("or", |b, x, y| b.ins().bor(x, y), |x, y| x | y),
        ("xor", |b, x, y| b.ins().bxor(x, y), |x, y| x ^ y),
        ("smin", |b, x, y| b.ins().smin(x, y), i64::min),
        ("smax", |b, x, y| b.ins().smax(x, y), i64::max),
        ("eq", |b, x, y| b.ins().icmp(IntCC::Equal, x, y), |x, y| -i64::from(x == y)),
        ("lt", |b, x, y| b.ins().icmp(IntCC::SignedLessThan, x, y), |x, y| -i64::from(x < y)),
        (
            "ge",
            |b, x, y| b.ins().icmp(IntCC::SignedGreaterThanOrEqual, x, y),
            |x, y| -i64::from(x >= y),
        ),
        (
            "below",
            |b, x, y| b.ins().icmp(IntCC::UnsignedLessThan, x, y),
            |x, y| -i64::from((x as u64) < y as u64),
        ),
    ];
    for (name, build, eval) in ints {
        for constant in [0, 3, -7, 0x7fff_fff0] {
            let first = &|b: &mut FunctionBuilder<'_>, v: &[Value]| {
                let constant = everywhere(b, v[0], constant as u64);
                build(b, constant, v[1])
            };
            let second = &|b: &mut FunctionBuilder<'_>, v: &[Value]| {
                let constant = everywhere(b, v[0], constant as u64);
                build(b, v[0], constant)
            };
            check(name, types::I64, types::I64, false, first, &|_, y| {
                eval(constant, y as i64) as u64
            });
            check(name, types::I64, types::I64, false, second, &|x, _| {
                eval(x as i64, constant) as u64
            });
            let narrow = |x: u64| i64::from(x as i32);
            let lower = |x: i64| u64::from(x as u32);
            check(name, types::I32, types::I32, false, first, &|_, y| {
                lower(eval(constant, narrow(y)))
            });
            check(name, types::I32, types::I32, false, second, &|x, _| {
                lower(eval(narrow(x), constant))
            });
        }
    }
    // Each of the three operands of an FMA in turn.
    for place in 0..3 {
        let with = |x: f64, y: f64, c: f64| match place {
            0 => [c, x, y],
            1 => [x, c, y],
            _ => [x, y, c],
        };
        let wide = &|b: &mut FunctionBuilder<'_>, v: &[Value]| {
            let ty = b.func.dfg.value_type(v[0]).lane_type();
            let bits =
                if ty == types::F64 { 1.75_f64.to_bits() } else { 1.75_f32.to_bits().into() };
            let constant = everywhere(b, v[0], bits);
            let mut all = vec![v[0], v[1]];
            all.insert(place, constant);
            b.ins().fma(all[0], all[1], all[2])
        };
        check("fma", types::F64, types::F64, true, wide, &|x, y| {
            let [a, b, c] = with(f(x), f(y), 1.75);
            a.mul_add(b, c).to_bits()
        });
        check("fma", types::F32, types::F32, true, wide, &|x, y| {
            let [a, b, c] = with(g(x).into(), g(y).into(), 1.75).map(|x| x as f32);
            a.mul_add(b, c).to_bits().into()
        });
    }
}

#[test]
fn comparisons_and_selections() {
    for cond in FloatCC::all() {
        let holds = |x: f64, y: f64| {
            let (less, equal, greater) = (x < y, x == y, x > y);
            let unordered = x.is_nan() || y.is_nan();
            match cond {
                FloatCC::Ordered => !unordered,
                FloatCC::Unordered => unordered,
                FloatCC::Equal => equal,
                FloatCC::NotEqual => !equal,
                FloatCC::OrderedNotEqual => less || greater,
                FloatCC::UnorderedOrEqual => unordered || equal,
                FloatCC::LessThan => less,
                FloatCC::LessThanOrEqual => less || equal,
                FloatCC::GreaterThan => greater,
                FloatCC::GreaterThanOrEqual => greater || equal,
                FloatCC::UnorderedOrLessThan => unordered || less,
                FloatCC::UnorderedOrLessThanOrEqual => unordered || less || equal,
                FloatCC::UnorderedOrGreaterThan => unordered || greater,
                FloatCC::UnorderedOrGreaterThanOrEqual => unordered || greater || equal,
            }
        };
        let lanes = &|b: &mut FunctionBuilder<'_>, v: &[Value]| b.ins().fcmp(*cond, v[0], v[1]);
        let all = |yes: bool, ones: u64| if yes { ones } else { 0 };
        check("fcmp", types::F64, types::I64, false, lanes, &|x, y| {
            all(holds(f(x), f(y)), u64::MAX)
        });
        check("fcmp", types::F32, types::I32, false, lanes, &|x, y| {
            all(holds(g(x).into(), g(y).into()), u64::from(u32::MAX))
        });
        // Whether the first is chosen, by a mask or by a scalar.
        let choose = &|b: &mut FunctionBuilder<'_>, v: &[Value]| {
            let cond = b.ins().fcmp(*cond, v[0], v[1]);
            match b.func.dfg.value_type(v[0]).is_vector() {
                true => {
                    let ty = b.func.dfg.value_type(v[0]);
                    let little = crate::codegen::scalar::little();
                    let mask = b.ins().bitcast(ty, little, cond);
                    b.ins().bitselect(mask, v[0], v[1])
                }
                false => b.ins().select(cond, v[0], v[1]),
            }
        };
        check("choose", types::F64, types::F64, true, choose, &|x, y| {
            if holds(f(x), f(y)) { x } else { y }
        });
        check("choose", types::F32, types::F32, true, choose, &|x, y| {
            if holds(g(x).into(), g(y).into()) { x } else { y }
        });
    }
    for cond in IntCC::all() {
        let holds = |x: i64, y: i64, u: u64, v: u64| match cond {
            IntCC::Equal => x == y,
            IntCC::NotEqual => x != y,
            IntCC::SignedLessThan => x < y,
            IntCC::SignedGreaterThanOrEqual => x >= y,
            IntCC::SignedGreaterThan => x > y,
            IntCC::SignedLessThanOrEqual => x <= y,
            IntCC::UnsignedLessThan => u < v,
            IntCC::UnsignedGreaterThanOrEqual => u >= v,
            IntCC::UnsignedGreaterThan => u > v,
            IntCC::UnsignedLessThanOrEqual => u <= v,
        };
        for ty in [types::I64, types::I32] {
            let holds = |x: u64, y: u64| match ty {
                types::I64 => holds(x as i64, y as i64, x, y),
                _ => holds(i64::from(x as i32), i64::from(y as i32), x, y),
            };
            let ones = u64::MAX >> (64 - ty.bits());
            let lanes = &|b: &mut FunctionBuilder<'_>, v: &[Value]| b.ins().icmp(*cond, v[0], v[1]);
            check("icmp", ty, ty, false, lanes, &|x, y| if holds(x, y) { ones } else { 0 });
            let not = &|b: &mut FunctionBuilder<'_>, v: &[Value]| {
                let cond = b.ins().icmp(*cond, v[0], v[1]);
                let not = b.ins().bnot(cond);
                b.ins().band(not, v[0])
            };
            check("not", ty, ty, false, not, &|x, y| if holds(x, y) { 0 } else { x });
            let some = &|b: &mut FunctionBuilder<'_>, v: &[Value]| match b
                .func
                .dfg
                .value_type(v[0])
                .is_vector()
            {
                true => {
                    let cond = b.ins().icmp(*cond, v[0], v[1]);
                    b.ins().blendv(cond, v[0], v[1])
                }
                false => {
                    let cond = b.ins().icmp(*cond, v[0], v[1]);
                    b.ins().select(cond, v[0], v[1])
                }
            };
            check("choose", ty, ty, true, some, &|x, y| if holds(x, y) { x } else { y });
        }
        let byte = &|b: &mut FunctionBuilder<'_>, v: &[Value]| b.ins().icmp(*cond, v[0], v[1]);
        let mut context = context(&|b, params| {
            let x = b.ins().load(types::I8, flags(), params[0], 0);
            let y = b.ins().load(types::I8, flags(), params[1], 0);
            let made = byte(b, &[x, y]);
            b.ins().store(flags(), made, params[2], 0);
        });
        // Integers in general registers are the same for all.
        let Some(set) = sets().into_iter().next() else { return };
        let function = compiled(&mut context, set).unwrap();
        for x in [0u8, 1, 127, 128, 200, 255] {
            for y in [0u8, 1, 127, 128, 200, 255] {
                let mut z = 9u8;
                (function.entry)(&x, &y, &mut z);
                let signed = |x: u8| i64::from(x as i8);
                assert_eq!(
                    z == 1,
                    holds(signed(x), signed(y), x.into(), y.into()),
                    "{cond} {x} {y}"
                );
            }
        }
    }
}

#[test]
fn integers() {
    type Two = (
        &'static str,
        fn(&mut FunctionBuilder<'_>, Value, Value) -> Value,
        fn(i64, i64) -> i64,
        fn(i32, i32) -> i32,
    );
    let two: [Two; 10] = [
        ("add", |b, x, y| b.ins().iadd(x, y), i64::wrapping_add, i32::wrapping_add),
        ("sub", |b, x, y| b.ins().isub(x, y), i64::wrapping_sub, i32::wrapping_sub),
        ("mul", |b, x, y| b.ins().imul(x, y), i64::wrapping_mul, i32::wrapping_mul),
        ("and", |b, x, y| b.ins().band(x, y), |x, y| x & y, |x, y| x & y),
        ("or", |b, x, y| b.ins().bor(x, y), |x, y| x | y, |x, y| x | y),
        ("xor", |b, x, y| b.ins().bxor(x, y), |x, y| x ^ y, |x, y| x ^ y),
        ("smin", |b, x, y| b.ins().smin(x, y), i64::min, i32::min),
        ("smax", |b, x, y| b.ins().smax(x, y), i64::max, i32::max),
        (
            "umin",
            |b, x, y| b.ins().umin(x, y),
            |x, y| (x as u64).min(y as u64) as i64,
            |x, y| (x as u32).min(y as u32) as i32,
        ),
        (
            "umax",
            |b, x, y| b.ins().umax(x, y),
            |x, y| (x as u64).max(y as u64) as i64,
            |x, y| (x as u32).max(y as u32) as i32,
        ),
    ];
    for (name, build, wide, narrow) in two {
        let build = &|b: &mut FunctionBuilder<'_>, v: &[Value]| build(b, v[0], v[1]);
        check(name, types::I64, types::I64, true, build, &|x, y| wide(x as i64, y as i64) as u64);
        check(name, types::I32, types::I32, true, build, &|x, y| {
            u64::from(narrow(x as i32, y as i32) as u32)
        });
    }
    type One = (
        &'static str,
        fn(&mut FunctionBuilder<'_>, Value) -> Value,
        fn(i64) -> i64,
        fn(i32) -> i32,
    );
    let one: [One; 3] = [
        ("neg", |b, x| b.ins().ineg(x), i64::wrapping_neg, i32::wrapping_neg),
        ("abs", |b, x| b.ins().iabs(x), i64::wrapping_abs, i32::wrapping_abs),
        ("not", |b, x| b.ins().bnot(x), |x| !x, |x| !x),
    ];
    for (name, build, wide, narrow) in one {
        let build = &|b: &mut FunctionBuilder<'_>, v: &[Value]| build(b, v[0]);
        check(name, types::I64, types::I64, true, build, &|x, _| wide(x as i64) as u64);
        check(
            name,
            types::I32,
            types::I32,
            true,
            build,
            &|x, _| u64::from(narrow(x as i32) as u32),
        );
    }
    for (name, code) in [("shl", 0), ("ushr", 1), ("sshr", 2)] {
        for known in [None, Some(0i64), Some(1), Some(31), Some(32), Some(63), Some(64), Some(-1)] {
            let build = &|b: &mut FunctionBuilder<'_>, v: &[Value]| {
                let ty = b.func.dfg.value_type(v[1]);
                let count = match known {
                    Some(count) => b.ins().iconst(types::I64, count),
                    None if ty.is_vector() => b.ins().extractlane(v[1], 0),
                    None => v[1],
                };
                match code {
                    0 => b.ins().ishl(v[0], count),
                    1 => b.ins().ushr(v[0], count),
                    _ => b.ins().sshr(v[0], count),
                }
            };
            let count = |y: u64| known.map_or(y as u32, |known| known as u32);
            // At several lanes only a known count is the same for all.
            if known.is_some() {
                check(name, types::I64, types::I64, true, build, &|x, y| match code {
                    0 => x.wrapping_shl(count(y)),
                    1 => x.wrapping_shr(count(y)),
                    _ => (x as i64).wrapping_shr(count(y)) as u64,
                });
                check(name, types::I32, types::I32, true, build, &|x, y| {
                    u64::from(match code {
                        0 => (x as u32).wrapping_shl(count(y)),
                        1 => (x as u32).wrapping_shr(count(y)),
                        _ => (x as i32).wrapping_shr(count(y)) as u32,
                    })
                });
                continue;
            }
            for (lanes, set) in sets().into_iter().flat_map(|set| [(1, set), (4, set), (8, set)]) {
                if 8 * lanes > set.vector_bytes() {
                    continue;
                }
                let ty = types::I64.by(lanes as u32).unwrap_or(types::I64);
                let mut context = context(&|b, params| {
                    let x = b.ins().load(ty, flags(), params[0], 0);
                    let y = b.ins().load(ty, flags(), params[1], 0);
                    let made = build(b, &[x, y]);
                    b.ins().store(flags(), made, params[2], 0);
                });
                let function = compiled(&mut context, set).unwrap();
                for x in edges(types::I64) {
                    for y in edges(types::I64) {
                        let (x8, y8, mut z8) = ([x; 8], [y; 8], [0u64; 8]);
                        (function.entry)(
                            x8.as_ptr().cast(),
                            y8.as_ptr().cast(),
                            z8.as_mut_ptr().cast(),
                        );
                        let expected = match code {
                            0 => x.wrapping_shl(y as u32),
                            1 => x.wrapping_shr(y as u32),
                            _ => (x as i64).wrapping_shr(y as u32) as u64,
                        };
                        assert!(z8[..lanes].iter().all(|z| *z == expected), "{name} {x:#x} {y}");
                    }
                }
            }
        }
    }
}

#[test]
fn products_of_halves() {
    let half: Build<'_> = &|b, v| {
        let low = b.ins().iconst(types::I64, 0xffff_ffff);
        let ty = b.func.dfg.value_type(v[0]);
        let low = if ty.is_vector() { b.ins().splat(ty, low) } else { low };
        let high = b.ins().ushr_imm_u(v[0], 32);
        let (x, y) = (b.ins().band(v[0], low), b.ins().band(v[1], low));
        let (all, upper) = (b.ins().imul(x, y), b.ins().imul(high, y));
        b.ins().bxor(all, upper)
    };
    check("halves", types::I64, types::I64, true, half, &|x, y| {
        let (low, high) = (|x| x & 0xffff_ffff, x >> 32);
        low(x).wrapping_mul(low(y)) ^ high.wrapping_mul(low(y))
    });
}

#[test]
fn conversions() {
    let (i32s, i64s, f32s, f64s) = (types::I32, types::I64, types::F32, types::F64);
    let like = |b: &FunctionBuilder<'_>, v: Value, lane: Type| {
        lane.by(b.func.dfg.value_type(v).lane_count()).unwrap_or(lane)
    };
    let signed = |to: Type| {
        move |b: &mut FunctionBuilder<'_>, v: &[Value]| {
            let to = like(b, v[0], to);
            b.ins().fcvt_from_sint(to, v[0])
        }
    };
    check("i64 → f64", i64s, f64s, true, &signed(f64s), &|x, _| (x as i64 as f64).to_bits());
    check("i64 → f32", i64s, f32s, true, &signed(f32s), &|x, _| {
        u64::from((x as i64 as f32).to_bits())
    });
    check("i32 → f64", i32s, f64s, true, &signed(f64s), &|x, _| f64::from(x as i32).to_bits());
    check("i32 → f32", i32s, f32s, true, &signed(f32s), &|x, _| {
        u64::from((x as i32 as f32).to_bits())
    });
    let truncated = |to: Type| {
        move |b: &mut FunctionBuilder<'_>, v: &[Value]| {
            let to = like(b, v[0], to);
            b.ins().fcvt_to_sint_sat(to, v[0])
        }
    };
    check("f64 → i64", f64s, i64s, true, &truncated(i64s), &|x, _| f(x) as i64 as u64);
    check("f64 → i32", f64s, i32s, true, &truncated(i32s), &|x, _| u64::from(f(x) as i32 as u32));
    check("f32 → i64", f32s, i64s, true, &truncated(i64s), &|x, _| g(x) as i64 as u64);
    check("f32 → i32", f32s, i32s, true, &truncated(i32s), &|x, _| u64::from(g(x) as i32 as u32));
    let promote = |b: &mut FunctionBuilder<'_>, v: &[Value]| {
        let to = like(b, v[0], types::F64);
        b.ins().fpromote(to, v[0])
    };
    check("f32 → f64", f32s, f64s, true, &promote, &|x, _| f64::from(g(x)).to_bits());
    let demote = |b: &mut FunctionBuilder<'_>, v: &[Value]| {
        let to = like(b, v[0], types::F32);
        b.ins().fdemote(to, v[0])
    };
    check("f64 → f32", f64s, f32s, true, &demote, &|x, _| u64::from((f(x) as f32).to_bits()));
    let sextend = |b: &mut FunctionBuilder<'_>, v: &[Value]| {
        let to = like(b, v[0], types::I64);
        b.ins().sextend(to, v[0])
    };
    check("i32 → i64", i32s, i64s, true, &sextend, &|x, _| i64::from(x as i32) as u64);
    let uextend = |b: &mut FunctionBuilder<'_>, v: &[Value]| {
        let to = like(b, v[0], types::I64);
        b.ins().uextend(to, v[0])
    };
    check("u32 → i64", i32s, i64s, true, &uextend, &|x, _| x);
    let bytes = |b: &mut FunctionBuilder<'_>, v: &[Value]| {
        let to = like(b, v[0], types::I32);
        b.ins().uextend(to, v[0])
    };
    check("u8 → i32", types::I8, i32s, true, &bytes, &|x, _| x);
    let reduce = |to: Type| {
        move |b: &mut FunctionBuilder<'_>, v: &[Value]| {
            let to = like(b, v[0], to);
            b.ins().ireduce(to, v[0])
        }
    };
    check("i64 → i32", i64s, i32s, true, &reduce(i32s), &|x, _| u64::from(x as u32));
    check("i32 → u8", i32s, types::I8, true, &reduce(types::I8), &|x, _| u64::from(x as u8));
    let as_float = |b: &mut FunctionBuilder<'_>, v: &[Value]| {
        let to = like(b, v[0], types::F64);
        let little = crate::codegen::scalar::little();
        let floats = b.ins().bitcast(to, little, v[0]);
        let sum = b.ins().fadd(floats, floats);
        let from = b.func.dfg.value_type(v[0]);
        b.ins().bitcast(from, little, sum)
    };
    check("bits", i64s, i64s, true, &as_float, &|x, _| {
        let sum = f(x) + f(x);
        if sum.is_nan() { (f64::from_bits(x) + f64::from_bits(x)).to_bits() } else { sum.to_bits() }
    });
}

#[test]
fn what_is_not_known_is_declined() {
    sets().into_iter().for_each(declined_by);
}

fn declined_by(set: InstructionSet) {
    let mut called = context(&|b, params| {
        let mut signature = Signature::new(CallConv::SystemV);
        signature.params.push(AbiParam::new(types::F64));
        let signature = b.import_signature(signature);
        let x = b.ins().f64const(1.0);
        b.ins().call_indirect(signature, params[0], &[x]);
    });
    assert_eq!(compiled(&mut called, set).err(), Some(Declined("a call")));
    let mut bytes = context(&|b, params| {
        let x = b.ins().load(types::I8X32, flags(), params[0], 0);
        let sum = b.ins().iadd(x, x);
        b.ins().store(flags(), sum, params[2], 0);
    });
    assert_eq!(compiled(&mut bytes, set).err(), Some(Declined("lanes of another width")));
}
