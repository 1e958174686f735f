//! Reductions of ints and bools over a warp without shuffles.
//!
//! ```text
//! bools               vote.sync, on every device
//! ints of 32 bits     redux.sync, which devices have from Ampere on
//! and, or, xor        of 64 bits: of each half
//! min, max            of 64 bits: of the high halves, then of the low halves of those that have it
//! sums                of 64 bits: of the bits 0 to 26, 27 to 53 and 54 to 63, whose sums over 32
//!                     lanes fit into 32 bits
//! ```
//!
//! A shuffle joins pairs of lanes, and takes two instructions for 64 bits beside those that take the
//! value apart and put it together: five rounds are 25 instructions for a sum of 64 bits, and 13 here.
//! Products and floats have no such instruction.

use super::assembly::{Assembly, Class, Reg, emit};
use nesl_runtime::kir::{Combine, Ty};

/// The bits of a piece of an `i64`, for sums: those of 32 lanes fit into 32 bits.
const PIECE_BITS: u32 = 27;

/// Emits the reduction of a value of each lane over the warp, which all lanes get. Returns none, and
/// emits nothing, where shuffles are needed. All lanes of the warp execute it together.
pub fn reduce(asm: &mut Assembly, (combine, ty): (Combine, Ty), value: Reg) -> Option<Reg> {
    match (combine, ty) {
        (_, Ty::Bool) => of_bools(asm, combine, value),
        (Combine::Mul, _) | (_, Ty::F32 | Ty::F64) => None,
        _ if !asm.target.reduces_warps() => None,
        (Combine::Min, Ty::U8) => Some(of_words(asm, "min.u32", value)),
        (Combine::Max, Ty::U8) => Some(of_words(asm, "max.u32", value)),
        (_, Ty::U8) => None,
        (_, Ty::I32) => Some(of_words(asm, name(combine)?, value)),
        (Combine::Add, Ty::I64) => Some(sum(asm, value)),
        (Combine::Min | Combine::Max, Ty::I64) => extreme(asm, combine, value),
        (Combine::And | Combine::Or | Combine::Xor, Ty::I64) => {
            let [low, high] = halves(asm, value);
            let low = of_words(asm, name(combine)?, low);
            let high = of_words(asm, name(combine)?, high);
            Some(joined(asm, low, high))
        }
    }
}

/// The operation of the instruction with the type of its operands, as ints with signs.
fn name(combine: Combine) -> Option<&'static str> {
    Some(match combine {
        Combine::Add => "add.s32",
        Combine::Min => "min.s32",
        Combine::Max => "max.s32",
        Combine::And => "and.b32",
        Combine::Or => "or.b32",
        Combine::Xor => "xor.b32",
        Combine::Mul => return None,
    })
}

fn of_words(asm: &mut Assembly, name: &str, value: Reg) -> Reg {
    let d = asm.register(Class::B32);
    emit!(asm, "redux.sync.{name} {d}, {value}, -1");
    d
}

fn of_bools(asm: &mut Assembly, combine: Combine, value: Reg) -> Option<Reg> {
    let d = asm.register(Class::Predicate);
    match combine {
        Combine::And | Combine::Min | Combine::Mul => {
            emit!(asm, "vote.sync.all.pred {d}, {value}, -1");
        }
        Combine::Or | Combine::Max => emit!(asm, "vote.sync.any.pred {d}, {value}, -1"),
        Combine::Xor => {
            let lanes = asm.register(Class::B32);
            emit!(asm, "vote.sync.ballot.b32 {lanes}, {value}, -1");
            emit!(asm, "popc.b32 {lanes}, {lanes}");
            emit!(asm, "and.b32 {lanes}, {lanes}, 1");
            emit!(asm, "setp.ne.s32 {d}, {lanes}, 0");
        }
        Combine::Add => return None,
    }
    Some(d)
}

fn halves(asm: &mut Assembly, value: Reg) -> [Reg; 2] {
    let [low, high] = [(); 2].map(|()| asm.register(Class::B32));
    emit!(asm, "mov.b64 {{{low}, {high}}}, {value}");
    [low, high]
}

fn joined(asm: &mut Assembly, low: Reg, high: Reg) -> Reg {
    let d = asm.register(Class::B64);
    emit!(asm, "mov.b64 {d}, {{{low}, {high}}}");
    d
}

/// Emits a sum that wraps.
fn sum(asm: &mut Assembly, value: Reg) -> Reg {
    let mask = (1u32 << PIECE_BITS) - 1;
    let [low, high] = halves(asm, value);
    let [first, second, third] = [(); 3].map(|()| asm.register(Class::B32));
    emit!(asm, "and.b32 {first}, {low}, {mask}");
    emit!(asm, "shf.r.wrap.b32 {second}, {low}, {high}, {PIECE_BITS}");
    emit!(asm, "and.b32 {second}, {second}, {mask}");
    emit!(asm, "shr.u32 {third}, {high}, {}", 2 * PIECE_BITS - 32);
    let [first, second, third] =
        [first, second, third].map(|piece| of_words(asm, "add.u32", piece));
    // The third piece lies in the high half alone.
    emit!(asm, "shl.b32 {third}, {third}, {}", 2 * PIECE_BITS - 32);
    let [base, middle, d] = [(); 3].map(|()| asm.register(Class::B64));
    emit!(asm, "mov.b64 {base}, {{{first}, {third}}}");
    emit!(asm, "mul.wide.u32 {middle}, {second}, {}", 1u32 << PIECE_BITS);
    emit!(asm, "add.s64 {d}, {base}, {middle}");
    d
}

/// Emits a least or greatest value: the high halves decide, and of those that are equal the low ones.
fn extreme(asm: &mut Assembly, combine: Combine, value: Reg) -> Option<Reg> {
    let (low_name, neutral) = match combine {
        Combine::Min => ("min.u32", -1),
        Combine::Max => ("max.u32", 0),
        _ => return None,
    };
    let [low, high] = halves(asm, value);
    let best = of_words(asm, name(combine)?, high);
    let (has_best, candidate) = (asm.register(Class::Predicate), asm.register(Class::B32));
    emit!(asm, "setp.eq.s32 {has_best}, {high}, {best}");
    emit!(asm, "selp.b32 {candidate}, {low}, {neutral}, {has_best}");
    let low = of_words(asm, low_name, candidate);
    Some(joined(asm, low, best))
}
