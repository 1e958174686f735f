//! Sieves over several sequences: what one condition keeps of each of them is kept together.
//!
//! ```text
//! v3: [int] = pack(v0, v2)                              v8: [(int, int)] = each v6 in v0, v7 in v1 { pair(v6, v7) }
//! v4: [int] = pack(v1, v2)                       →      v9: [(int, int)] = pack(v8, v2)
//! v5: [int] = each x in v3, y in v4 { mul(x, y) }       v5: [int] = each v10 in v9 { x = first(v10) … mul(x, y) }
//! ```
//!
//! A program writes `{x * y : x in a; y in b | y > 0}`. Sequential code goes over a sieve without storing it if that is
//! the only thing that an apply-to-each goes over: the lengths of several are known only when they are stored. What
//! the body does not read is left out. Pairs cost nothing, since each of their columns is an array.
//!
//! It is done where the flags are made by an apply-to-each over the same sequences, as a sieve's are: then all lengths have
//! been compared.

use crate::base::with_stack;
use crate::ir::{Atom, Block, FunctionBuilder, Let, Nest, Op, Program, Site, Ty, Var};
use crate::prim::SeqOp;
use rustc_hash::FxHashMap;

/// Joins the sieves of the functions of a program.
pub(super) fn join(program: &mut Program) {
    for function in &mut program.functions {
        if has_several(&function.body) {
            let names = FunctionBuilder::extending(function);
            join_with(names, &mut function.body);
        }
    }
}

/// Joins the sieves of a block of a kernel; `names` makes variables that the kernel does not use.
pub(in crate::lower) fn in_block(block: &mut Block, names: impl FnOnce() -> FunctionBuilder) {
    if has_several(block) {
        join_with(names(), block);
    }
}

fn join_with(names: FunctionBuilder, block: &mut Block) {
    let mut uses = FxHashMap::default();
    block.count_uses(&mut uses);
    Sieves { uses, names }.block(block);
}

/// Returns true if a block has an apply-to-each over several sequences, and filters.
fn has_several(block: &Block) -> bool {
    let (mut several, mut filters) = (false, false);
    block.for_each_op(&mut |op| match op {
        Op::Nest(nest) => several |= nest.binders.len() > 1,
        Op::Seq(SeqOp::Pack, _) => filters = true,
        _ => {}
    });
    several && filters
}

struct Sieves {
    /// The number of uses of each variable.
    uses: FxHashMap<Var, usize>,
    names: FunctionBuilder,
}

/// The parts of some sequences, by the same flags, that an apply-to-each goes over.
struct Sieved {
    /// The positions of the bindings of these parts.
    packs: Vec<usize>,
    /// The whole sequences, in the order of the binders.
    of: Vec<Atom>,
    flags: Atom,
}

impl Sieves {
    fn block(&mut self, block: &mut Block) {
        with_stack(|| {
            let mut at = 0;
            while at < block.lets.len() {
                block.lets[at].op.blocks_mut().for_each(|block| self.block(block));
                if let Some(sieved) = self.sieved(&block.lets, at) {
                    let binding = block.lets.remove(at);
                    let joined = self.joined(binding, &sieved);
                    let mut packs = sieved.packs;
                    packs.sort_unstable();
                    for pack in packs.iter().rev() {
                        block.lets.remove(*pack);
                    }
                    at -= packs.len();
                    let count = joined.len();
                    block.lets.splice(at..at, joined);
                    at += count;
                } else {
                    at += 1;
                }
            }
        });
    }

    /// Returns what an apply-to-each goes over, if these are parts of several sequences that nothing else uses.
    fn sieved(&self, lets: &[Let], at: usize) -> Option<Sieved> {
        let Op::Nest(nest) = &lets[at].op else { return None };
        if nest.binders.len() < 2 || nest.serial {
            return None;
        }
        let bound = |atom: Atom| {
            let var = atom.variable()?;
            lets[..at].iter().rposition(|binding| binding.var == var)
        };
        let (mut packs, mut of, mut flags) = (Vec::new(), Vec::new(), None);
        for (.., source) in &nest.binders {
            let pack = bound(*source)?;
            let Op::Seq(SeqOp::Pack, args) = &lets[pack].op else { return None };
            if self.uses.get(&lets[pack].var) != Some(&1)
                || *flags.get_or_insert(args[1]) != args[1]
            {
                return None;
            }
            packs.push(pack);
            of.push(args[0]);
        }
        let flags = flags?;
        let Op::Nest(test) = &lets[bound(flags)?].op else { return None };
        let is_tested = |of: &Atom| test.binders.iter().any(|(.., source)| source == of);
        of.iter().all(is_tested).then_some(Sieved { packs, of, flags })
    }

    /// Returns the bindings that go over the sieve of all sequences in place of one that goes over the sieve of each.
    fn joined(&mut self, binding: Let, sieved: &Sieved) -> Vec<Let> {
        let Let { var, ty, op: Op::Nest(mut nest), site } = binding else { return vec![binding] };
        let mut used = FxHashMap::default();
        nest.body.count_uses(&mut used);
        let binders = std::mem::take(&mut nest.binders);
        let mut read: Vec<((Var, Ty), Atom)> = binders
            .into_iter()
            .zip(&sieved.of)
            .map(|((element, ty, _), of)| ((element, ty), *of))
            .collect();
        let first = read[0].clone();
        read.retain(|((element, _), _)| used.contains_key(element));
        if read.is_empty() {
            read.push(first);
        }
        let mut lets = Vec::new();
        let (element, element_ty, of) = match &read[..] {
            [((element, ty), of)] => (*element, ty.clone(), *of),
            _ => self.together(&read, &mut nest, &mut lets, site),
        };
        let kept_ty = Ty::sequence(element_ty.clone());
        let kept = self.names.fresh(kept_ty.clone());
        let op = Op::Seq(SeqOp::Pack, vec![of, sieved.flags]);
        lets.push(Let { var: kept, ty: kept_ty, op, site });
        nest.binders = vec![(element, element_ty, Atom::Var(kept))];
        lets.push(Let { var, ty, op: Op::Nest(nest), site });
        lets
    }

    /// Adds the tuples of the elements of some sequences; the body of an apply-to-each over them takes its elements out of
    /// these. Returns the element, its type, and the tuples.
    fn together(
        &mut self,
        read: &[((Var, Ty), Atom)],
        nest: &mut Nest,
        lets: &mut Vec<Let>,
        site: Site,
    ) -> (Var, Ty, Atom) {
        let names = &mut self.names;
        let elements = read.iter().map(|((_, ty), of)| (names.fresh(ty.clone()), ty.clone(), *of));
        let elements: Vec<(Var, Ty, Atom)> = elements.collect();
        names.begin();
        let values = elements.iter().map(|(var, ..)| Atom::Var(*var)).collect();
        let tuple = names.tuple(values, site);
        let tuple_ty = names.type_of(&tuple);
        let body = names.end(tuple);
        let all_ty = Ty::sequence(tuple_ty.clone());
        let all = names.fresh(all_ty.clone());
        let op = Op::Nest(Nest { binders: elements, body, serial: false });
        lets.push(Let { var: all, ty: all_ty, op, site });
        let element = names.fresh(tuple_ty.clone());
        // The components, from the first on.
        let (mut rest, mut rest_ty) = (element, tuple_ty.clone());
        let mut taken = Vec::new();
        for (n, ((var, ty), _)) in read.iter().enumerate() {
            if n + 1 == read.len() {
                taken.push(Let { var: *var, ty: ty.clone(), op: Op::Copy(Atom::Var(rest)), site });
                break;
            }
            let op = Op::First(Atom::Var(rest));
            taken.push(Let { var: *var, ty: ty.clone(), op, site });
            let Ty::Pair(_, second) = &rest_ty else { break };
            let second = Ty::clone(second);
            let next = names.fresh(second.clone());
            let op = Op::Second(Atom::Var(rest));
            taken.push(Let { var: next, ty: second.clone(), op, site });
            (rest, rest_ty) = (next, second);
        }
        taken.append(&mut nest.body.lets);
        nest.body.lets = taken;
        (element, tuple_ty, Atom::Var(all))
    }
}

#[cfg(test)]
mod tests {
    use super::join;
    use crate::ir;
    use expect_test::expect;

    /// Returns the function with these bindings behind its flags.
    fn joined(bindings: &str) -> String {
        let text = format!(
            r#"main "main"

fn "main"() -> int {{
  0
}}

fn "f"(v0: [int], v1: [int], v2: [bool]) -> [int] {{
  v5: [bool] = each v3: int in v0, v4: int in v1 {{
    v6: bool = lt(v3, v4)
    v6
  }}
{bindings}  v12
}}
"#
        );
        let mut program = ir::parse(&text).expect("the text is well-formed");
        join(&mut program);
        assert_eq!(ir::verify(&program), Ok(()));
        let printed = ir::print_function(&program.functions[1], &program);
        printed.lines().skip(5).map(|line| format!("{line}\n")).collect()
    }

    /// Two parts by flags, and an apply-to-each over them with this result.
    fn parts(flags: &str, result: &str) -> String {
        format!(
            "  v7: [int] = pack(v0, {flags})
  v8: [int] = pack(v1, {flags})
  v12: [int] = each v9: int in v7, v10: int in v8 {{
    v11: int = {result}
    v11
  }}
"
        )
    }

    #[test]
    fn several_sieves_are_one() {
        expect![[r#"
              v16: [(int, int)] = each v13: int in v0, v14: int in v1 {
                v15: (int, int) = pair(v13, v14)
                v15
              }
              v19: [(int, int)] = pack(v16, v5)
              v12: [int] = each v17: (int, int) in v19 {
                v9: int = first(v17)
                v18: int = second(v17)
                v10: int = copy(v18)
                v11: int = mul(v9, v10)
                v11
              }
              v12
            }
        "#]]
        .assert_eq(&joined(&parts("v5", "mul(v9, v10)")));
    }

    #[test]
    fn what_is_not_read_is_left_out() {
        expect![[r#"
              v13: [int] = pack(v1, v5)
              v12: [int] = each v10: int in v13 {
                v11: int = mul(v10, 2)
                v11
              }
              v12
            }
        "#]]
        .assert_eq(&joined(&parts("v5", "mul(v10, 2)")));
    }

    #[test]
    fn parts_that_are_used_besides_stay() {
        let other = joined(&parts("v2", "mul(v9, v10)"));
        assert!(other.contains("v8: [int] = pack(v1, v2)"), "{other}");
        let used = parts("v5", "mul(v9, v10)").replace("mul(v9, v10)", "index(v7, v10)");
        let used = joined(&used);
        assert!(used.contains("v7: [int] = pack(v0, v5)"), "{used}");
    }
}
