//! Loops that one thread hands back to the host when they have grown.
//!
//! A loop that begins with little is left to one thread ([`crate::strategy`]): a frontier of one vertex, a string
//! that is rewritten. Before, that thread went on to the end, however much there was to do in each turn, while the
//! others, or the device, had nothing to do.
//!
//! ```text
//! fn "grow"(v0, v1) {                     fn "grow.until_large"(v0, v1, v7, v8) {
//!                                           if v8 { (false, ([], (v0, v1))) } else {
//!   v2 = eq(v1, 0)                            v2 = eq(v1, 0)
//!   v6 = if v2 { v0 } else {                  if v2 { (true, (v0, ([], 0))) } else {
//!     v3 = each … in v0 { … }        →          v3 = each … in v0 { … }
//!     v4 = sub(v1, 1)                           v4 = sub(v1, 1)
//!     v5 = call "grow"(v3, v4)                  v9 = length(v0)  v10 = ge(v9, v7)
//!   }                                           call "grow.until_large"(v3, v4, v7, v10)
//!   v6                                        }
//! }                                         }
//!                                         }
//! ```
//!
//! Such a function is added for each loop, and `grow.in_one_thread`, flattened, which has one thread execute it and goes on
//! by a call of the flattened `grow` if the loop was handed back ([`flat::Function::in_one_thread`]). Where a call in
//! tail position would be left to one thread, the engine calls that.
//!
//! A turn is measured by what it makes: the lengths of the sequences that an apply-to-each, or an operation that takes
//! time for each element, has made for the next turn. An array that is overwritten in place counts as the writes, and
//! what is appended to as what is appended: a turn that changes one place of a long array is nothing for all threads.

use crate::base::with_stack;
use crate::flat::{self, IndexSpace, Program, SpaceId, SpaceKind, Step};
use crate::flat::{Fuel, Let as FlatLet, Op as FlatOp};
use crate::ir::{self, Atom, Block, FunId, Function, FunctionBuilder, Let, Op, Site, Ty, Var};
use crate::prim::{Cost, SeqOp};
use crate::thresholds::Thresholds;
use nesl_runtime::bug;
use nesl_runtime::scalar::ScalarOp;
use rustc_hash::FxHashMap;
use smol_str::{SmolStr, format_smolstr};
use std::cell::RefCell;

/// Adds the functions of each loop that may grow. One thread has nobody to hand a loop back to.
pub(super) fn run(program: &mut Program, fuel: &mut Fuel, limits: &Thresholds) {
    if limits.concurrent_threads <= 1 {
        return;
    }
    for at in 0..program.functions.len() {
        let id = FunId(at as u32);
        if fuel.0 == 0 || !is_left_to_one_thread(program, id) {
            continue;
        }
        let Some(until_large) = UntilLarge::of(&program.source.functions, id, limits) else {
            continue;
        };
        fuel.0 -= 1;
        let function = &program.source.functions[at];
        let first = FunId(program.source.functions.len() as u32);
        let in_one_thread = flattened(function, id, first, &until_large);
        let whole = whole(function, id, in_one_thread.name.clone());
        if let Some(function) = &mut program.functions[at] {
            function.in_one_thread = Some(FunId(first.0 + 1));
        }
        program.source.functions.extend([until_large.function, whole]);
        program.functions.extend([None, Some(in_one_thread)]);
    }
}

/// Returns true if flattened code of a function may leave a call of the function itself to one thread.
fn is_left_to_one_thread(program: &Program, id: FunId) -> bool {
    let mut found = false;
    if let Some(function) = &program.functions[id.0 as usize] {
        function.body.each_let(&mut |binding| {
            if let FlatOp::Versions { flattened, .. } = &binding.op
                && let Some(Step::Let(last)) = flattened.steps.last()
            {
                found |= matches!(last.op, FlatOp::Call(callee, _) if callee == id);
            }
        });
    }
    found
}

/// The function that executes a loop until a turn makes much.
struct UntilLarge {
    function: Function,
    /// The numbers of the parameters that calls change.
    changed: Vec<usize>,
}

impl UntilLarge {
    /// Returns the function of a loop, if its turns may make sequences.
    fn of(functions: &[Function], id: FunId, limits: &Thresholds) -> Option<UntilLarge> {
        let function = &functions[id.0 as usize];
        let made = Made { functions, limits, callees: RefCell::default() };
        let lets = lets_of(function);
        let mut calls = Vec::new();
        each_turn(&function.body, id, &mut |args| calls.push(args));
        let makes = |args: &[Atom]| args.iter().any(|arg| made.makes(&lets, *arg));
        if !calls.iter().any(|args| makes(args)) {
            return None;
        }
        let is_changed = |at: &usize| {
            let param = Atom::Var(function.params[*at].0);
            calls.iter().any(|args| args[*at] != param)
        };
        let changed: Vec<usize> = (0..function.params.len()).filter(is_changed).collect();
        let mut builder = FunctionBuilder::extending(function);
        let [limit, is_large] = [Ty::Int, Ty::Bool].map(|ty| builder.fresh(ty));
        let state = Ty::tuple(changed.iter().map(|at| function.params[*at].1.clone()));
        let ty = Ty::pair(Ty::Bool, Ty::pair(function.result.clone(), state.clone()));
        let own = FunId(functions.len() as u32);
        let (changed, lets) = (&changed[..], &lets);
        let mut rewriter =
            Rewriter { function, id, own, builder, limit, state, ty, changed, lets, made };
        let body = rewriter.body(is_large);
        let mut params = function.params.clone();
        params.extend([(limit, Ty::Int), (is_large, Ty::Bool)]);
        let function = Function {
            name: format_smolstr!("{}.until_large", function.name),
            params,
            result: rewriter.ty,
            body,
            charge: None,
            role: None,
            ..function.clone()
        };
        Some(UntilLarge { function, changed: changed.to_vec() })
    }
}

/// Visits the arguments of the calls of a function of itself in tail position.
fn each_turn<'b>(block: &'b Block, id: FunId, visit: &mut dyn FnMut(&'b [Atom])) {
    with_stack(|| match block.lets.last() {
        Some(last) if block.result == Atom::Var(last.var) => match &last.op {
            Op::If { then, otherwise, .. } => {
                [then, otherwise].into_iter().for_each(|side| each_turn(side, id, visit));
            }
            Op::Call(callee, args) if *callee == id => visit(args),
            _ => {}
        },
        _ => {}
    });
}

/// Returns the bindings of a function, by variable.
fn lets_of(function: &Function) -> FxHashMap<Var, &Let> {
    let mut lets = FxHashMap::default();
    function.body.each_let(&mut |binding| {
        lets.insert(binding.var, binding);
    });
    lets
}

/// A sequence that a turn makes.
#[derive(Clone, Copy, Debug)]
struct MadeSequence {
    var: Var,
    /// Its elements take a few cheap operations each.
    light: bool,
    /// The sequence that it is appended to, in place: only what is appended is made.
    behind: Option<Atom>,
    /// The condition, and its value, under which it is made; otherwise it was there before.
    only_if: Option<(Atom, bool)>,
}

/// Finds the sequences that are made for a value.
struct Made<'p> {
    functions: &'p [Function],
    limits: &'p Thresholds,
    /// For each function that was asked for, whether sequences are made for its result; false while it is looked at.
    callees: RefCell<FxHashMap<FunId, bool>>,
}

impl Made<'_> {
    fn makes(&self, lets: &FxHashMap<Var, &Let>, value: Atom) -> bool {
        let mut found = Vec::new();
        self.for_value(lets, value, &mut found);
        !found.is_empty()
    }

    /// Adds the sequences that are made for a value; all of them are in scope where it is.
    fn for_value(&self, lets: &FxHashMap<Var, &Let>, value: Atom, found: &mut Vec<MadeSequence>) {
        let Some(binding) = value.variable().and_then(|var| lets.get(&var)) else { return };
        if !binding.ty.has_sequence() {
            return;
        }
        let var = binding.var;
        // The components of other tuples are not told apart.
        let is_sequence = matches!(binding.ty, Ty::Sequence(_));
        let made_if = |only_if, light| {
            is_sequence.then_some(MadeSequence { var, light, behind: None, only_if })
        };
        let made = |light| made_if(None, light);
        with_stack(|| match &binding.op {
            Op::Nest(nest) => found.extend(made(self.is_light(&nest.body))),
            Op::Seq(SeqOp::Replace | SeqOp::Subseq | SeqOp::Partition, args) => {
                self.for_value(lets, args[0], found);
            }
            Op::Seq(SeqOp::Scatter, args) => {
                args.iter().for_each(|arg| self.for_value(lets, *arg, found));
            }
            Op::Seq(SeqOp::Append, args) => {
                let mut parts = Vec::new();
                self.for_value(lets, args[0], &mut parts);
                let behind = parts.is_empty().then_some(args[0]);
                self.for_value(lets, args[1], &mut parts);
                if !parts.is_empty() {
                    let light = parts.iter().all(|part| part.light);
                    found.push(MadeSequence { var, light, behind, only_if: None });
                }
            }
            Op::Seq(SeqOp::Index, _) => {}
            Op::Seq(op, _) => found.extend(made(op.row().cost < Cost::Intrinsic)),
            Op::Copy(of) => self.for_value(lets, *of, found),
            Op::First(of) | Op::Second(of) => {
                let pair = of.variable().and_then(|var| lets.get(&var)).map(|pair| &pair.op);
                match (pair, &binding.op) {
                    (Some(Op::Pair(first, _)), Op::First(_)) => self.for_value(lets, *first, found),
                    (Some(Op::Pair(_, second)), _) => self.for_value(lets, *second, found),
                    _ => {}
                }
            }
            Op::Pair(first, second) => {
                [first, second].into_iter().for_each(|of| self.for_value(lets, *of, found));
            }
            Op::If { cond, then, otherwise } => {
                match [then, otherwise].map(|side| self.makes(lets, side.result)) {
                    [true, true] => found.extend(made(false)),
                    [true, false] => found.extend(made_if(Some((*cond, true)), false)),
                    [false, true] => found.extend(made_if(Some((*cond, false)), false)),
                    [false, false] => {}
                }
            }
            Op::Call(callee, _) => {
                if self.callee_makes(*callee) {
                    found.extend(made(false));
                }
            }
            Op::Scalar(..)
            | Op::Text(_)
            | Op::Constants(_)
            | Op::List(_)
            | Op::Global(_)
            | Op::Check { .. }
            | Op::Error(_)
            | Op::Host(..)
            | Op::Time(_) => {}
        });
    }

    /// Returns true if an iteration takes a few cheap operations.
    fn is_light(&self, body: &Block) -> bool {
        let (mut operations, mut cheap) = (0, true);
        body.each_let(&mut |binding| {
            operations += 1;
            let cost = binding.op.cost(&binding.ty);
            let is_cheap = cost <= Cost::Element && cost != Cost::Scalar;
            cheap &= is_cheap || matches!(binding.op, Op::If { .. });
        });
        cheap && operations <= self.limits.max_light_operations
    }

    fn callee_makes(&self, id: FunId) -> bool {
        if let Some(known) = self.callees.borrow().get(&id) {
            return *known;
        }
        self.callees.borrow_mut().insert(id, false);
        let function = &self.functions[id.0 as usize];
        let makes = with_stack(|| self.makes(&lets_of(function), function.body.result));
        self.callees.borrow_mut().insert(id, makes);
        makes
    }
}

/// Rewrites the body of a loop.
struct Rewriter<'p> {
    function: &'p Function,
    id: FunId,
    /// The function that is written.
    own: FunId,
    builder: FunctionBuilder,
    /// The parameter that says how much a turn may make.
    limit: Var,
    /// The type of the arguments of the next turn that change.
    state: Ty,
    /// The type of the result.
    ty: Ty,
    changed: &'p [usize],
    lets: &'p FxHashMap<Var, &'p Let>,
    made: Made<'p>,
}

impl Rewriter<'_> {
    /// Returns the body of the function: that of a turn, unless the turn before has made much.
    fn body(&mut self, is_large: Var) -> Block {
        let Function { params, result, body, site, .. } = self.function;
        self.builder.begin();
        let none = self.builder.nothing(result, *site);
        let state = self.changed.iter().map(|at| Atom::Var(params[*at].0)).collect();
        let state = self.builder.tuple(state, *site);
        let value = self.builder.pair(none, state, *site);
        let handed_back = self.builder.pair(Atom::Bool(false), value, *site);
        let then = self.builder.end(handed_back);
        let otherwise = self.tail(body.clone());
        let op = Op::If { cond: Atom::Var(is_large), then, otherwise };
        self.builder.begin();
        let outcome = self.builder.bind(self.ty.clone(), op, *site);
        self.builder.end(outcome)
    }

    /// Returns a block at the end of a turn that says whether it gives a result, and gives that or the next turn.
    fn tail(&mut self, mut block: Block) -> Block {
        let is_result = |last: &mut Let| block.result == Atom::Var(last.var);
        let last = block.lets.pop_if(is_result);
        with_stack(|| match last {
            Some(Let { var, op: Op::If { cond, then, otherwise }, site, .. }) => {
                let [then, otherwise] = [then, otherwise].map(|side| self.tail(side));
                let op = Op::If { cond, then, otherwise };
                block.lets.push(Let { var, ty: self.ty.clone(), op, site });
                block
            }
            Some(Let { op: Op::Call(callee, args), site, .. }) if callee == self.id => {
                self.next_turn(block, args, site)
            }
            other => {
                block.lets.extend(other);
                self.builder.begin();
                let site = self.function.site;
                let none = self.builder.nothing(&self.state, site);
                let value = self.builder.pair(block.result, none, site);
                let result = self.builder.pair(Atom::Bool(true), value, site);
                self.close(block, result)
            }
        })
    }

    /// Returns the end of a turn behind which there is another one. The call stays the only use of what the turn makes,
    /// lengths apart, so that reads can be moved before updates as in the function itself.
    fn next_turn(&mut self, block: Block, mut args: Vec<Atom>, site: Site) -> Block {
        let mut made = Vec::new();
        args.iter().for_each(|arg| self.made.for_value(self.lets, *arg, &mut made));
        made.sort_unstable_by_key(|made| (made.var, made.light));
        made.dedup_by_key(|made| made.var);
        self.builder.begin();
        let mut total = None;
        for MadeSequence { var, light, behind, only_if } in made {
            let mut elements = self.length(Atom::Var(var), site);
            if let Some((cond, value)) = only_if {
                let [then, otherwise] = match value {
                    true => [elements, Atom::Int(0)],
                    false => [Atom::Int(0), elements],
                };
                elements = self.builder.conditional(cond, site, |_| then, |_| otherwise);
            }
            if let Some(behind) = behind {
                let before = self.length(behind, site);
                elements = self.builder.scalar(ScalarOp::Sub, vec![elements, before], site);
            }
            if !light {
                let weight = Atom::Int(self.made.limits.light_elements_per_made_element);
                elements = self.builder.scalar(ScalarOp::Mul, vec![elements, weight], site);
            }
            total = Some(match total {
                None => elements,
                Some(before) => self.builder.scalar(ScalarOp::Add, vec![before, elements], site),
            });
        }
        let limit = Atom::Var(self.limit);
        let is_large = total.map_or(Atom::Bool(false), |total| {
            self.builder.scalar(ScalarOp::Ge, vec![total, limit], site)
        });
        args.extend([limit, is_large]);
        let result = self.builder.bind(self.ty.clone(), Op::Call(self.own, args), site);
        self.close(block, result)
    }

    /// Returns the length of a sequence, from what it is made of where that says it: a sequence that nobody else asks
    /// for its length need not be stored.
    fn length(&mut self, sequence: Atom, site: Site) -> Atom {
        let binding = sequence.variable().and_then(|var| self.lets.get(&var).copied());
        with_stack(|| match binding.map(|binding| &binding.op) {
            Some(Op::Nest(nest)) => self.length(nest.binders[0].2, site),
            Some(Op::Copy(of)) => self.length(*of, site),
            Some(Op::Seq(SeqOp::Dist, args)) => args[1],
            Some(Op::Seq(SeqOp::Range, args)) if args[..2] == [Atom::Int(0), Atom::Int(1)] => {
                args[2]
            }
            Some(Op::Seq(SeqOp::Subseq, args)) => {
                self.builder.scalar(ScalarOp::Sub, vec![args[2], args[1]], site)
            }
            Some(Op::Seq(op, args)) if let Some(same) = op.row().same_length_as => {
                self.length(args[same], site)
            }
            _ => self.builder.seq(SeqOp::Length, vec![sequence], site),
        })
    }

    /// Returns a block with the bindings that were made for its end.
    fn close(&mut self, mut block: Block, result: Atom) -> Block {
        let end = self.builder.end(result);
        block.lets.extend(end.lets);
        Block { lets: block.lets, result }
    }
}

/// Returns the flattened code that has one thread begin a call of a loop: it takes the arguments, and how much a turn may
/// make until the loop is handed back.
fn flattened(
    function: &Function,
    id: FunId,
    first: FunId,
    until_large: &UntilLarge,
) -> flat::Function {
    let site = function.site;
    let mut next = function.params.iter().map(|(var, _)| var.0 + 1).max().unwrap_or(0);
    let mut fresh = || {
        next += 1;
        Var(next - 1)
    };
    let step = |var: Var, ty: &Ty, space: SpaceId, op: FlatOp| {
        Step::Let(FlatLet { var, ty: ty.clone(), space, op, site })
    };
    let mut params = function.params.clone();
    params.push((fresh(), Ty::Int));
    let args: Vec<Atom> = params.iter().map(|(var, _)| Atom::Var(*var)).collect();
    let caller = SpaceId::CALLER;
    let [ended, handed_back] = [SpaceId(1), SpaceId(2)];
    let [outcome, done, values, inside] = std::array::from_fn(|_| fresh());
    let ty = &until_large.function.result;
    let begin = args.iter().copied().chain([Atom::Bool(false)]).collect();
    let call = Let { var: inside, ty: ty.clone(), op: Op::Call(first, begin), site };
    let call = Block { lets: vec![call], result: Atom::Var(inside) };
    let [_, of_values] = components(ty);
    let mut steps = vec![
        step(outcome, ty, caller, FlatOp::Sequential(call)),
        step(done, &Ty::Bool, caller, FlatOp::Map(Op::First(Atom::Var(outcome)))),
        step(values, of_values, caller, FlatOp::Map(Op::Second(Atom::Var(outcome)))),
    ];
    let value = fresh();
    let first_of = FlatOp::Map(Op::First(Atom::Var(values)));
    let end = flat::Block {
        steps: vec![step(value, &function.result, ended, first_of)],
        result: Atom::Var(value),
    };
    let mut state = (fresh(), components(of_values)[1]);
    let mut on =
        vec![step(state.0, state.1, handed_back, FlatOp::Map(Op::Second(Atom::Var(values))))];
    let mut next_args = args[..function.params.len()].to_vec();
    for (n, at) in until_large.changed.iter().enumerate() {
        let of = Atom::Var(state.0);
        if n + 1 == until_large.changed.len() {
            next_args[*at] = of;
            continue;
        }
        let [here, rest] = components(state.1);
        let arg = fresh();
        next_args[*at] = Atom::Var(arg);
        on.push(step(arg, here, handed_back, FlatOp::Map(Op::First(of))));
        state = (fresh(), rest);
        on.push(step(state.0, rest, handed_back, FlatOp::Map(Op::Second(of))));
    }
    let rest = fresh();
    on.push(step(rest, &function.result, handed_back, FlatOp::Call(id, next_args)));
    let on = flat::Block { steps: on, result: Atom::Var(rest) };
    let result = fresh();
    let branch = FlatOp::Branch { cond: done, then: (ended, end), otherwise: (handed_back, on) };
    steps.push(step(result, &function.result, caller, branch));
    let filter = |is| SpaceKind::Filter { of: caller, flag: done, is };
    let spaces = [SpaceKind::Caller, filter(true), filter(false)];
    flat::Function {
        name: format_smolstr!("{}.in_one_thread", function.name),
        params,
        result: function.result.clone(),
        spaces: spaces.into_iter().map(|kind| IndexSpace { kind, site }).collect(),
        body: flat::Block { steps, result: Atom::Var(result) },
        library: function.library,
        in_one_thread: None,
    }
}

/// Returns the types of the components of a pair.
fn components(ty: &Ty) -> [&Ty; 2] {
    match ty {
        Ty::Pair(first, second) => [first, second],
        _ => bug!("the type is that of a pair"),
    }
}

/// Returns the source of the flattened function: a call of the loop.
fn whole(function: &Function, id: FunId, name: SmolStr) -> Function {
    let mut builder = FunctionBuilder::new();
    let args = function.params.iter().map(|(_, ty)| builder.param(ty.clone())).collect();
    builder.param(Ty::Int);
    let call = ir::Op::Call(id, args);
    let result = builder.bind(function.result.clone(), call, function.site);
    Function { library: function.library, ..builder.finish(name, function.site, result) }
}

#[cfg(test)]
mod tests {
    use super::run;
    use crate::flat::interp::{self, Limits};
    use crate::flat::{self, Fuel, Program, Version, print_function, verify};
    use crate::flatten::flatten;
    use crate::interp::{Sequence, Value};
    use crate::ir::{self, FunId};
    use crate::thresholds::Thresholds;
    use expect_test::expect;
    use nesl_runtime::scalar::Precision;

    const GROWING: &str = r#"main "main"

fn "main"() -> [int] {
  v0: [int] = list(1)
  v1: [int] = call "grow"(v0, v0, 4)
  v1
}

fn "grow"(v0: [int], v1: [int], v2: int) -> [int] {
  v3: bool = eq(v2, 0)
  v4: [int] = if v3 {
    v5: [int] = append(v0, v1)
    v5
  } else {
    v6: [int] = each v7: int in v0 {
      v8: int = mul(v7, 2)
      v8
    }
    v9: [int] = append(v0, v6)
    v10: int = sub(v2, 1)
    v11: [int] = call "grow"(v9, v1, v10)
    v11
  }
  v4
}
"#;

    /// Returns a program with what two threads hand back.
    fn handed_back(text: &str) -> Program {
        let mut program = flatten(&ir::parse(text).expect("the text is well-formed"));
        let limits = Thresholds { concurrent_threads: 2, ..Thresholds::default() };
        run(&mut program, &mut Fuel::new(None), &limits);
        assert_eq!(ir::verify(&program.source), Ok(()));
        assert_eq!(verify(&program), Ok(()));
        program
    }

    fn added(program: &Program, before: usize) -> usize {
        program.source.functions.len() - before
    }

    #[test]
    fn a_loop_whose_turns_make_much_is_handed_back() {
        let program = handed_back(GROWING);
        assert_eq!(added(&program, 2), 2);
        expect![[r#"
            fn "grow.until_large"(v0: [int], v1: [int], v2: int, v12: int, v13: bool) -> (bool, ([int], ([int], int))) {
              v27: (bool, ([int], ([int], int))) = if v13 {
                v14: [int] = list()
                v15: ([int], int) = pair(v0, v2)
                v16: ([int], ([int], int)) = pair(v14, v15)
                v17: (bool, ([int], ([int], int))) = pair(false, v16)
                v17
              } else {
                v3: bool = eq(v2, 0)
                v4: (bool, ([int], ([int], int))) = if v3 {
                  v5: [int] = append(v0, v1)
                  v18: [int] = list()
                  v19: ([int], int) = pair(v18, 0)
                  v20: ([int], ([int], int)) = pair(v5, v19)
                  v21: (bool, ([int], ([int], int))) = pair(true, v20)
                  v21
                } else {
                  v6: [int] = each v7: int in v0 {
                    v8: int = mul(v7, 2)
                    v8
                  }
                  v9: [int] = append(v0, v6)
                  v10: int = sub(v2, 1)
                  v22: int = length(v9)
                  v23: int = length(v0)
                  v24: int = sub(v22, v23)
                  v25: bool = ge(v24, v12)
                  v26: (bool, ([int], ([int], int))) = call "grow.until_large"(v9, v1, v10, v12, v25)
                  v26
                }
                v4
              }
              v27
            }
        "#]]
            .assert_eq(&ir::print_function(&program.source.functions[2], &program.source));
        let function = program.functions[3].as_ref().expect("the function is flattened");
        expect![[r#"
            flattened "grow.in_one_thread"(v0: [int], v1: [int], v2: int, v3: int) -> [int] {
              v4: (bool, ([int], ([int], int))) in s0 = sequential {
                v7: (bool, ([int], ([int], int))) = call "grow.until_large"(v0, v1, v2, v3, false)
                v7
              }
              v5: bool in s0 = first(v4)
              v6: ([int], ([int], int)) in s0 = second(v4)
              v13: [int] in s0 = if v5 in s1 {
                v8: [int] in s1 = first(v6)
                v8
              } else in s2 {
                v9: ([int], int) in s2 = second(v6)
                v10: [int] in s2 = first(v9)
                v11: int in s2 = second(v9)
                v12: [int] in s2 = call flattened "grow"(v10, v1, v11)
                v12
              }
              v13
            }
        "#]]
        .assert_eq(&print_function(function, &program));
        assert_eq!(program.functions[1].as_ref().unwrap().in_one_thread, Some(FunId(3)));
        let text = flat::print_with_sites(&program);
        assert_eq!(flat::parse(&text).as_ref(), Ok(&program));
    }

    #[test]
    fn what_is_handed_back_goes_on_where_it_was() {
        let mut program = handed_back(GROWING);
        program.source.main = FunId(3);
        let limits = Limits { max_elements: 1000, max_call_depth: 10, budget_ns: 1_000_000 };
        let result = |limit: i64| {
            let one = Value::from(Sequence::from_values(&ir::Ty::Int, vec![Value::Int(1)]));
            let args = vec![one.clone(), one, Value::Int(4), Value::Int(limit)];
            interp::run(&program, args, Precision::Bits64, Version::Flattened, limits)
        };
        let whole = result(1000);
        assert!(whole.is_ok());
        for limit in [0, 1, 2, 4, 8, 9] {
            assert_eq!(result(limit), whole, "the limit is {limit}");
        }
    }

    #[test]
    fn what_one_side_of_a_conditional_makes_counts_where_it_is_taken() {
        let made = "v6: [int] = each v7: int in v0 {\n      v8: int = mul(v7, 2)\n      v8\n    }\n    \
                    v9: [int] = append(v0, v6)";
        assert!(GROWING.contains(made));
        let sometimes = "v12: bool = gt(v2, 7)\n v9: [int] = if v12 {\n v6: [int] = each v7: int in v0 {\n \
                         v8: int = mul(v7, 2)\n v8\n }\n v6\n } else {\n v0\n }";
        let program = handed_back(&GROWING.replace(made, sometimes));
        let text = ir::print_function(&program.source.functions[2], &program.source);
        let counted = "v23: int = length(v9)\n      v24: int = if v12 {\n        v23\n      } else {\n        0\n      }";
        assert!(text.contains(counted), "{text}");
    }

    #[test]
    fn a_loop_that_makes_nothing_is_not_handed_back() {
        let others = [
            // One place is overwritten, one element appended, or a part is taken.
            "v6: [int] = replace(v0, v2, 0)",
            "v7: [int] = list(v2)\n v6: [int] = append(v0, v7)",
            "v6: [int] = subseq(v0, 0, 1)",
        ];
        for other in others {
            let (before, rest) = GROWING.split_once("v6: [int] = each").unwrap();
            let (_, after) = rest.split_once("v9: [int] = append(v0, v6)").unwrap();
            let text = format!("{before}{other}\n{}", after.replace("v9", "v6"));
            assert_eq!(added(&handed_back(&text), 2), 0, "{other}");
        }
        let mut program = flatten(&ir::parse(GROWING).unwrap());
        run(&mut program, &mut Fuel::new(None), &Thresholds::default());
        assert_eq!(added(&program, 2), 0, "one thread has nobody to hand a loop back to");
    }
}
