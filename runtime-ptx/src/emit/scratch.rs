//! The memory of work items: which arrays lie in local memory, and which in the scratch memory of
//! their thread.
//!
//! An array of constant length lies in local memory while all of these are small. The others lie in
//! *scratch*: global memory that the launcher allocates, one row for each thread of the grid. Work
//! items that a thread executes one after the other use the same row, as a stack: an allocation
//! moves its top, and the end of a work item, or of a loop iteration that hands on no array, moves
//! it back.
//!
//! ```text
//! row of a thread   [ base … arrays … top … limit ]
//! ```
//!
//! The length of a row is known before the launch if the lengths of all arrays depend on nothing but
//! scalar arguments: the host computes them ([`Scratch::Uniform`]). Otherwise a pass without effects
//! measures it ([`Scratch::Measured`]): a work item for which a row is too short ends there and says
//! how much it needed, and the pass is executed again with longer rows. No effect is visible before
//! the last pass, and that allocates exactly as the measuring pass did.

use super::assembly::Reg;
use nesl_runtime::kir::reference::scalar;
use nesl_runtime::kir::uniformity::uniform_values;
use nesl_runtime::kir::{Block, Inst, Kernel, Literal, Op, Ty, Value, ValueTy, walk};

/// The local memory that the arrays of one work item may take, in bytes. More would spill out of
/// the caches: a device keeps local memory for every thread that it can hold at a time.
const MAX_LOCAL_BYTES: usize = 4096;

/// The alignment of the arrays in scratch memory, in bytes.
pub const SCRATCH_ALIGNMENT_BYTES: u64 = 8;

/// The largest length of an array that is asked for, in elements: none of these can be had, and its
/// size still has no overflow.
pub const MAX_ARRAY_ELEMENTS: i64 = 1 << 44;

/// The scratch memory that the work items of a kernel need.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Scratch {
    /// No scratch memory.
    #[default]
    None,
    /// Arrays of these types and lengths; the lengths depend on scalar parameters only.
    Uniform(Vec<(Ty, Value)>),
    /// The size is known when a pass has measured it.
    Measured,
}

/// The registers of a thread that allocate scratch memory: addresses in global memory.
#[derive(Clone, Copy, Debug)]
pub struct Registers {
    /// The beginning of the row of the thread.
    pub base: Reg,
    /// The end of the arrays allocated so far.
    pub top: Reg,
    /// The end of the row.
    pub limit: Reg,
    /// The greatest top that was asked for, in a pass that may be executed again.
    pub peak: Option<Reg>,
    /// The address of the `u64` that receives the greatest number of bytes asked for.
    pub needed: Reg,
}

impl Scratch {
    /// The scratch memory of a kernel without calls.
    pub fn of(kernel: &Kernel) -> Scratch {
        let is_local = local_arrays(kernel);
        let uniform = uniform_values(kernel);
        let (mut arrays, mut is_uniform) = (Vec::new(), true);
        for body in walk::stage_bodies(kernel) {
            each_alloc(kernel, body, false, &mut |inst, ty, length, is_kept| {
                if !is_local[inst.results[0].0 as usize] {
                    arrays.push((ty, length));
                    is_uniform &= uniform[length.0 as usize] && !is_kept;
                }
            });
        }
        match (arrays.is_empty(), is_uniform) {
            (true, _) => Scratch::None,
            (false, true) => Scratch::Uniform(arrays),
            (false, false) => Scratch::Measured,
        }
    }

    /// The bytes of a work item's arrays, computed from the arguments; `None` if they are not known
    /// before the launch. An array argument is `None`.
    pub fn uniform_bytes(&self, kernel: &Kernel, args: &[Option<Literal>]) -> Option<u64> {
        let arrays = match self {
            Scratch::None => return Some(0),
            Scratch::Uniform(arrays) => arrays,
            Scratch::Measured => return None,
        };
        let mut values: Vec<Option<Literal>> = vec![None; kernel.types.len()];
        for (param, arg) in kernel.params.iter().zip(args) {
            values[param.0 as usize] = *arg;
        }
        for body in walk::stage_bodies(kernel) {
            walk::each_inst(body, &mut |inst| {
                if let Some(literal) = evaluate(inst, &values) {
                    values[inst.results[0].0 as usize] = Some(literal);
                }
            });
        }
        arrays.iter().try_fold(0u64, |sum, (ty, length)| match values[length.0 as usize] {
            Some(Literal::I64(length)) => {
                let length = length.clamp(0, MAX_ARRAY_ELEMENTS) as u64;
                let bytes = (length * ty.size() as u64).next_multiple_of(SCRATCH_ALIGNMENT_BYTES);
                Some(sum.saturating_add(bytes))
            }
            _ => None,
        })
    }
}

/// Returns, by value, true for the arrays that lie in local memory: those of constant lengths that
/// fit there together, and that no loop hands on from an iteration to the next: the next one would
/// overwrite them.
pub fn local_arrays(kernel: &Kernel) -> Vec<bool> {
    let constants = constants(kernel);
    let mut is_local = vec![false; kernel.types.len()];
    let mut bytes = 0;
    for body in walk::stage_bodies(kernel) {
        each_alloc(kernel, body, false, &mut |inst, ty, length, is_kept| {
            let Some(length) = constants[length.0 as usize] else { return };
            let size = length.clamp(0, 1 << 30) as usize * ty.size();
            if !is_kept && bytes + size <= MAX_LOCAL_BYTES {
                bytes += size;
                is_local[inst.results[0].0 as usize] = true;
            }
        });
    }
    is_local
}

/// Returns true if no array, and no mark, is among some values: nothing allocated can be reached
/// through them.
pub fn hand_on_no_array(types: &[ValueTy], values: &[Value]) -> bool {
    values.iter().all(|value| matches!(types[value.0 as usize], ValueTy::Scalar(_)))
}

/// Returns true if a block allocates.
pub fn allocates(block: &Block) -> bool {
    let mut found = false;
    walk::each_inst(block, &mut |inst| found |= matches!(inst.op, Op::Alloc(..)));
    found
}

/// Calls `visit` with every allocation of a block, its type and length, and true if it stands in a
/// loop that hands on arrays.
fn each_alloc(
    kernel: &Kernel,
    block: &Block,
    is_kept: bool,
    visit: &mut dyn FnMut(&Inst, Ty, Value, bool),
) {
    for inst in &block.insts {
        if let Op::Alloc(ty, length) = &inst.op {
            visit(inst, *ty, *length, is_kept);
        }
        let is_kept = is_kept || !hand_on_no_array(&kernel.types, inst.op.carried());
        inst.op.blocks().for_each(|block| each_alloc(kernel, block, is_kept, visit));
    }
}

/// Returns the constant of each value that is an `i64` constant.
fn constants(kernel: &Kernel) -> Vec<Option<i64>> {
    let mut constants = vec![None; kernel.types.len()];
    for body in walk::stage_bodies(kernel) {
        walk::each_inst(body, &mut |inst| {
            if let Op::Const(Literal::I64(x)) = inst.op {
                constants[inst.results[0].0 as usize] = Some(x);
            }
        });
    }
    constants
}

/// Computes the result of an instruction, if its operands are known scalars.
fn evaluate(inst: &Inst, values: &[Option<Literal>]) -> Option<Literal> {
    let get = |value: &Value| values[value.0 as usize];
    Some(match &inst.op {
        Op::Const(literal) => *literal,
        Op::Unary(op, a) => scalar::unary(*op, get(a)?),
        Op::Binary(op, a, b) => scalar::binary(*op, get(a)?, get(b)?),
        Op::Fma(a, b, c) => scalar::fma(get(a)?, get(b)?, get(c)?),
        Op::Convert(to, a) => scalar::convert(*to, get(a)?),
        Op::Bits(to, a) => scalar::bits(*to, get(a)?),
        Op::Select(cond, a, b) => match get(cond)? {
            Literal::Bool(true) => get(a)?,
            _ => get(b)?,
        },
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use nesl_runtime::kir::parse;

    fn kernel(body: &str) -> Kernel {
        let text = format!("kernel \"k\"(v0: i64, v1: [i64]) over flat v0 at v2 {{\n{body}\n}}");
        parse(&text).unwrap().kernels.remove(0)
    }

    #[test]
    fn small_constant_arrays_are_local() {
        let small = kernel("v3: i64 = const 4 v4: [i64] = alloc v3");
        assert_eq!(Scratch::of(&small), Scratch::None);
        let large = kernel("v3: i64 = const 4000 v4: [i64] = alloc v3");
        let scratch = Scratch::of(&large);
        assert_eq!(scratch.uniform_bytes(&large, &[None, None]), Some(32_000));
    }

    #[test]
    fn uniform_lengths_are_computed_by_the_host() {
        let twice = kernel("v3: i64 = add v0, v0 v4: [u8] = alloc v3 v5: [i32] = alloc v0");
        let scratch = Scratch::of(&twice);
        let bytes = |n| scratch.uniform_bytes(&twice, &[Some(Literal::I64(n)), None]);
        assert_eq!((bytes(5), bytes(-1)), (Some(16 + 24), Some(0)));
    }

    #[test]
    fn lengths_of_work_items_are_measured() {
        let own = kernel("v3: i64 = load v1[v2] v4: [i64] = alloc v3");
        assert_eq!(Scratch::of(&own), Scratch::Measured);
        let kept = "v3: [i64] = for v4 < v0 carry v5: [i64] = v1 {
  v6: [i64] = alloc v0
  yield v6
}";
        assert_eq!(Scratch::of(&kernel(kept)), Scratch::Measured);
    }
}
