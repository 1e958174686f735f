//! The length of a filter whose elements nobody reads is the sum of its flags.
//!
//! ```text
//! v3: [bool] = each v1 in v0 { v2 = gt(v1, 3); v2 }      v3: [int] = each v1 in v0 { v2 = gt(v1, 3); bool_to_int(v2) }
//! v4: [int] = pack(v0, v3)                           →   v6: int = reduce_sum(v3)
//! v5: int = length(v4)                                   v5: int = copy(v6)
//! ```
//!
//! The sum stands where the filter stood: the length may be asked for in an apply-to-each, again and again.
//!
//! So `#{x in a | x > 3}` is `count({x > 3 : x in a})`: it stores nothing, and over a short list it becomes the additions.

use crate::base::with_stack;
use crate::ir::{Atom, Block, Function, FunctionBuilder, Let, Nest, Op, Ty, Var};
use crate::prim::{ReduceOp, SeqOp};
use nesl_runtime::scalar::ScalarOp;
use rustc_hash::{FxHashMap, FxHashSet};

/// Makes sums of the lengths of filters of a function.
pub(super) fn of_filters(function: &mut Function) {
    let (mut lengths, mut has_filters) = (FxHashSet::default(), false);
    function.body.for_each_op(&mut |op| match op {
        Op::Seq(SeqOp::Length, args) => lengths.extend(args[0].variable()),
        Op::Seq(SeqOp::Pack, _) => has_filters = true,
        _ => {}
    });
    if lengths.is_empty() || !has_filters {
        return;
    }
    let (mut uses, numbers) = (FxHashMap::default(), FxHashMap::default());
    function.body.count_uses(&mut uses);
    let builder = FunctionBuilder::extending(function);
    Counts { uses, lengths, builder, numbers }.block(&mut function.body);
}

struct Counts {
    /// The number of uses of each variable.
    uses: FxHashMap<Var, usize>,
    /// The variables of which the length is used.
    lengths: FxHashSet<Var>,
    builder: FunctionBuilder,
    /// The number of elements of each filter of which only the length is used.
    numbers: FxHashMap<Var, Var>,
}

impl Counts {
    fn block(&mut self, block: &mut Block) {
        with_stack(|| {
            let mut lets: Vec<Let> = Vec::with_capacity(block.lets.len());
            for mut binding in std::mem::take(&mut block.lets) {
                match &binding.op {
                    Op::Seq(SeqOp::Pack, args) => {
                        if let [of, Atom::Var(flags)] = args[..]
                            && self.is_only_counted(binding.var)
                            && self.uses.get(&flags) == Some(&1)
                            && let Some(nest) = nest_of(&mut lets, flags, of)
                        {
                            self.count(nest);
                            let number = self.builder.fresh(Ty::Int);
                            self.numbers.insert(binding.var, number);
                            let sum = SeqOp::Reduce(ReduceOp::Sum);
                            let op = Op::Seq(sum, vec![Atom::Var(flags)]);
                            lets.push(Let { var: number, ty: Ty::Int, op, ..binding });
                            continue;
                        }
                    }
                    Op::Seq(SeqOp::Length, args) => {
                        if let Atom::Var(of) = args[0]
                            && let Some(number) = self.numbers.get(&of)
                        {
                            binding.op = Op::Copy(Atom::Var(*number));
                        }
                    }
                    _ => {}
                }
                binding.op.blocks_mut().for_each(|inner| self.block(inner));
                lets.push(binding);
            }
            block.lets = lets;
        });
    }

    /// Returns true if nothing of a sequence is used but its length, once.
    fn is_only_counted(&self, var: Var) -> bool {
        self.uses.get(&var) == Some(&1) && self.lengths.contains(&var)
    }

    /// Makes the flags that an apply-to-each gives ints.
    fn count(&mut self, binding: &mut Let) {
        let Op::Nest(nest) = &mut binding.op else { return };
        let (var, site) = (self.builder.fresh(Ty::Int), binding.site);
        let op = Op::Scalar(ScalarOp::BoolToInt, vec![nest.body.result]);
        nest.body.lets.push(Let { var, ty: Ty::Int, op, site });
        nest.body.result = Atom::Var(var);
        binding.ty = Ty::sequence(Ty::Int);
    }
}

/// Returns the binding of an apply-to-each that goes over a sequence and gives these flags.
fn nest_of(lets: &mut [Let], flags: Var, of: Atom) -> Option<&mut Let> {
    let binding = lets.iter_mut().rev().find(|binding| binding.var == flags)?;
    match &binding.op {
        Op::Nest(Nest { binders, serial: false, .. }) => {
            binders.iter().any(|(_, _, over)| *over == of).then_some(binding)
        }
        _ => None,
    }
}
