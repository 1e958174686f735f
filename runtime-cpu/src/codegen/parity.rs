//! Loops two elements at a time, where the body asks if the index is even.
//!
//! ```text
//! for i < n {                              for i < n, in steps of 2 {
//!   if even(i) { a[i / 2] }           →      a[i / 2]
//!   else { b[i / 2] }                        b[i / 2]     (of i + 1)
//! }                                        }
//! ```
//!
//! Sequences that are interleaved and grids that are refined are computed so. Vectors would have to gather under a mask in
//! both sides, for half of their lanes each. Here no branch is left: of each pair, the first element takes one side and the
//! second the other. What is loaded where the element lies, or beside it, vectors load and choose from faster.

use super::emitter::FunctionEmitter;
use super::kernel::{ElementRange, KernelBuilder};
use super::stage_groups::StageGroup;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{self, InstBuilder};
use nesl_runtime::bug;
use nesl_runtime::kir::{Binary, Inst, Literal, Op, Sink, Ty, Unary, Value, walk};
use rustc_hash::{FxHashMap, FxHashSet};

/// The conditions that the parity of an index decides, for the even indices and for the odd ones.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Parity([FxHashMap<Value, bool>; 2]);

impl Parity {
    /// Returns what the parity of an index decides in some code: nothing, if no branch depends on it that loads from half the
    /// index, or beside that.
    pub fn of<'i>(
        index: Value,
        code: impl Iterator<Item = &'i Inst>,
        constants: &FxHashMap<Value, Literal>,
    ) -> Option<Parity> {
        let (ints, halves) = (FxHashMap::default(), FxHashSet::default());
        let mut known = Known { index, constants: constants.clone(), ints, halves };
        let mut parity = Parity::default();
        let mut branches = Vec::new();
        let mut visit = |inst: &'i Inst| {
            known.note(inst, &mut parity);
            if matches!(inst.op, Op::If { .. }) {
                branches.push(inst);
            }
        };
        for inst in code {
            visit(inst);
            inst.op.blocks().for_each(|block| walk::each_inst(block, &mut visit));
        }
        let chooses = |branch: &&Inst| {
            let Op::If { cond, .. } = &branch.op else { return false };
            parity.0[0].contains_key(cond) && known.loads_from_half(branch)
        };
        branches.iter().any(chooses).then_some(parity)
    }
}

/// The facts about values that depend on the parity of an index.
struct Known {
    index: Value,
    constants: FxHashMap<Value, Literal>,
    /// The ints that depend on nothing else, for even indices and for odd ones.
    ints: FxHashMap<Value, [i64; 2]>,
    /// Half of the index, and ints beside it.
    halves: FxHashSet<Value>,
}

impl Known {
    /// Notes what is known of the result of an instruction.
    fn note(&mut self, inst: &Inst, parity: &mut Parity) {
        match inst.op {
            Op::Const(literal) => _ = self.constants.insert(inst.results[0], literal),
            Op::Binary(Binary::And, a, b) if a == self.index && self.int(b) == Some([1, 1]) => {
                self.ints.insert(inst.results[0], [0, 1]);
            }
            Op::Binary(op @ (Binary::Eq | Binary::Ne), a, b)
                if self.ints.contains_key(&a) || self.ints.contains_key(&b) =>
            {
                let (Some(a), Some(b)) = (self.int(a), self.int(b)) else { return };
                for (half, decided) in parity.0.iter_mut().enumerate() {
                    decided.insert(inst.results[0], (a[half] == b[half]) == (op == Binary::Eq));
                }
            }
            Op::Binary(Binary::Shr | Binary::Div, a, _) if a == self.index => {
                self.halves.insert(inst.results[0]);
            }
            Op::Binary(Binary::Add | Binary::Sub, a, b)
                if self.halves.contains(&a) || self.halves.contains(&b) =>
            {
                self.halves.insert(inst.results[0]);
            }
            Op::Unary(Unary::Not, of) => {
                for decided in &mut parity.0 {
                    if let Some(is) = decided.get(&of).copied() {
                        decided.insert(inst.results[0], !is);
                    }
                }
            }
            _ => {}
        }
    }

    fn int(&self, value: Value) -> Option<[i64; 2]> {
        match self.constants.get(&value) {
            Some(Literal::I64(x)) => Some([*x; 2]),
            Some(Literal::I32(x)) => Some([i64::from(*x); 2]),
            _ => self.ints.get(&value).copied(),
        }
    }

    /// Returns true if the blocks of an instruction load from half the index, or beside that.
    fn loads_from_half(&self, inst: &Inst) -> bool {
        let mut found = false;
        for block in inst.op.blocks() {
            walk::each_inst(block, &mut |inst| {
                found |= matches!(&inst.op, Op::Load { index, .. } if self.halves.contains(index));
            });
        }
        found
    }
}

impl<'a> KernelBuilder<'a, '_> {
    /// Emits pairs of elements, if the parity of their indices decides which code is theirs. Returns the first element
    /// that is left over and the state there.
    pub fn pairs(
        &mut self,
        group: &StageGroup<'a>,
        range: ElementRange,
        state: &[ir::Value],
    ) -> Option<(ir::Value, Vec<ir::Value>)> {
        let is_flat = range.segment.is_none();
        // The order in which floats are added up is that of the vectors.
        let adds_floats = group.tasks.iter().any(|task| match task.sink {
            Sink::Reduce { value, .. } | Sink::Scan { value, .. } => self.c.is_float(*value),
            _ => false,
        });
        if !is_flat || adds_floats {
            return None;
        }
        let index = self.kernel.indices[0];
        let code = group.code.iter().flatten().copied();
        let parity = Parity::of(index, code, &self.c.constants)?;
        let mut start = vec![range.lo];
        start.extend(state);
        let end = self.c.end_of_pairs(range.lo, range.hi);
        let looped = self.c.begin_loop(&start);
        let mut values = looped.carried.clone();
        let going = self.c.b.ins().icmp(IntCC::SignedLessThan, values[0], end);
        self.c.loop_while(&looped, going);
        self.c.element = Some(values[0]);
        self.c.poll();
        for decided in parity.0 {
            let outer = std::mem::replace(&mut self.c.decided, decided);
            values = self.element(group, range, values[0], &values[1..]);
            self.c.decided = outer;
        }
        self.c.end_loop(&looped, &values);
        Some((looped.carried[0], looped.carried[1..].to_vec()))
    }
}

impl<'a> FunctionEmitter<'a, '_> {
    /// Emits pairs of iterations of a counted loop, if the parity of their numbers decides which code is theirs. Returns
    /// the number of the first iteration after them, what is carried, and the reductions there.
    pub fn pairs_of_iterations(
        &mut self,
        inst: &'a Inst,
        since: &[Option<usize>],
        start: &[ir::Value],
        count: ir::Value,
    ) -> Option<Vec<ir::Value>> {
        let Op::For { index, init, carried, body, .. } = &inst.op else {
            bug!("only counted loops have pairs of iterations")
        };
        if body.yields[init.len()..].iter().any(|value| self.is_float(*value)) {
            return None;
        }
        let parity = Parity::of(*index, body.insts.iter(), &self.constants)?;
        let end = self.end_of_pairs(start[0], count);
        let looped = self.begin_loop(start);
        let mut values = looped.carried.clone();
        let going = self.b.ins().icmp(IntCC::SignedLessThan, values[0], end);
        self.loop_while(&looped, going);
        self.poll();
        self.enter_loop(carried, since);
        for decided in parity.0 {
            let outer = std::mem::replace(&mut self.decided, decided);
            values = self.iteration(inst, &values);
            self.decided = outer;
        }
        self.loops -= 1;
        self.end_loop(&looped, &values);
        Some(looped.carried)
    }

    fn is_float(&self, value: Value) -> bool {
        matches!(self.element_ty(value), Ty::F32 | Ty::F64)
    }

    /// Emits the end of the pairs of a range: where one element at most is left, or the beginning if that is odd.
    fn end_of_pairs(&mut self, lo: ir::Value, hi: ir::Value) -> ir::Value {
        let last = self.b.ins().iadd_imm_s(hi, -1);
        let odd = self.b.ins().band_imm_s(lo, 1);
        self.b.ins().select(odd, lo, last)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nesl_runtime::kir::parse;

    /// Returns what the parity of the index decides in the stage of a kernel.
    fn parity(code: &str) -> Option<Parity> {
        let text =
            format!("kernel \"k\"(v0: i64, v1: [i64], v2: [i64]) over flat v0 at v3 {{ {code} }}");
        let module = parse(&text).unwrap();
        let code = module.kernels[0].stages[0].body.insts.iter();
        Parity::of(Value(3), code, &FxHashMap::default())
    }

    const ASKS: &str =
        "v4: i64 = const 1 v5: i64 = and v3, v4 v6: i64 = const 0 v7: bool = eq v5, v6";

    #[test]
    fn a_branch_that_loads_from_half_the_index_is_decided() {
        let found = parity(&format!(
            "{ASKS} v8: bool = not v7
             v9: i64 = if v8 {{ v10: i64 = shr v3, v4 v11: i64 = load v1[v10] yield v11 }} else {{ yield v6 }} store v2[v3] = v9"
        ));
        let Parity([even, odd]) = found.unwrap();
        assert_eq!((even[&Value(7)], even[&Value(8)]), (true, false));
        assert_eq!((odd[&Value(7)], odd[&Value(8)]), (false, true));
    }

    #[test]
    fn vectors_choose_between_values() {
        for side in ["yield v4", "v8: i64 = load v1[v3] yield v8"] {
            let code = format!(
                "{ASKS} v9: i64 = if v7 {{ {side} }} else {{ yield v6 }} store v2[v3] = v9"
            );
            assert_eq!(parity(&code), None, "{code}");
        }
    }
}
