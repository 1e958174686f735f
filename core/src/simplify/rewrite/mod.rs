//! Inlining, constant folding and common subexpressions: a function is written anew, in one walk.
//!
//! ```text
//! v1 = call "double"(2)         v3 = mul(v0, 4)
//! v2 = mul(v0, v1)        →     …
//! v3 = mul(v0, v1)
//! ```
//!
//! `lists` has what is done with short lists whose elements become values, `guarded` with those of which conditions say
//! what elements they have, `literal_rows` with rows that conditions choose among literals, `unfold` with recursion whose
//! depth is a constant.

mod guarded;
mod lists;
mod literal_rows;
mod unfold;

use super::calls::Calls;
use crate::base::with_stack;
use crate::ir::{
    Atom, Block, FunId, Function, FunctionBuilder, GlobalId, Let, Nest, Op, Site, Ty, Var,
};
use crate::prim::SeqOp;
use crate::thresholds::Thresholds;
use guarded::Slot;
pub(super) use lists::{CallVersions, Lists, Shape, Version};
use nesl_runtime::bug::OrBug;
use nesl_runtime::scalar::{self, Precision, Scalar, ScalarOp};
use rustc_hash::{FxHashMap, FxHashSet};

/// The simplified functions of a program: `None` for one that is not inlined.
pub(super) type Callees<'a> = &'a dyn Fn(FunId) -> Option<&'a Function>;

/// Rewrites a function, with the bodies of small `callees` in place of their calls.
pub(super) fn inline<'a>(
    function: &Function,
    callees: Callees<'a>,
    calls: &'a Calls,
    limits: &'a Thresholds,
) -> Function {
    rewritten(function, callees, calls, limits, false)
}

/// Rewrites a function, with a copy of the body for each element in place of an apply-to-each over
/// a short list that is written out.
pub(super) fn unroll<'a>(
    function: &Function,
    calls: &'a Calls,
    limits: &'a Thresholds,
) -> Function {
    rewritten(function, &|_| None, calls, limits, true)
}

fn rewritten<'a>(
    old: &Function,
    callees: Callees<'a>,
    calls: &'a Calls,
    limits: &'a Thresholds,
    unroll: bool,
) -> Function {
    let mut rewriter = Rewriter::new(callees, calls, limits);
    rewriter.unroll = unroll;
    let mut env = Env::default();
    for (var, ty) in &old.params {
        let param = rewriter.builder.param(ty.clone());
        env.atoms.insert(*var, param);
    }
    let result = rewriter.block(&old.body, &mut env);
    let new = rewriter.builder.finish(old.name.clone(), old.site, result);
    Function {
        result: old.result.clone(),
        library: old.library,
        charge: old.charge.clone(),
        role: old.role,
        ..new
    }
}

/// Gives functions other numbers.
pub(crate) fn renumber_calls(block: &mut Block, place: &dyn Fn(FunId) -> FunId) {
    renumber(block, place, &|id| id);
}

/// Gives functions and top-level variables other numbers.
pub(crate) fn renumber(
    block: &mut Block,
    function: &dyn Fn(FunId) -> FunId,
    global: &dyn Fn(GlobalId) -> GlobalId,
) {
    with_stack(|| {
        for binding in &mut block.lets {
            match &mut binding.op {
                Op::Call(callee, _) => *callee = function(*callee),
                Op::Global(id) => *id = global(*id),
                op => {
                    op.blocks_mut().for_each(|inner| renumber(inner, function, global));
                }
            }
        }
    });
}

/// A fact about a variable of the new function.
pub(super) enum Known {
    Pair(Atom, Atom),
    /// A sequence of these.
    List(Vec<Atom>),
    /// A sequence of those of some values whose flags are true.
    Guarded(Vec<Slot>),
    /// A sequence as long as this int says.
    Length(Atom),
    /// A sequence as long as another.
    LengthOf(Atom),
    /// The code of a char.
    Code(Atom),
    /// A remainder of an int by a power of two: the int, and the bits below the power.
    Remainder(Atom, i64),
    /// The sum of two ints.
    Sum(Atom, Atom),
}

/// An expression, to be found again.
#[derive(PartialEq, Eq, Hash)]
pub(super) enum Key {
    Scalar(ScalarOp, Vec<KeyAtom>),
    Length(Var),
    Half(bool, Var),
    /// The element of a sequence at an index.
    Element(Var, KeyAtom),
}

#[derive(PartialEq, Eq, Hash)]
pub(super) enum KeyAtom {
    Var(Var),
    Unit,
    Int(i64),
    Float(u64),
    Bool(bool),
    Char(u8),
}

/// The variables of a function that is being read, and where its call stands if it was called
/// from the user's program.
#[derive(Default)]
pub(super) struct Env {
    pub(super) atoms: FxHashMap<Var, Atom>,
    called: Option<Site>,
}

impl Env {
    pub(super) fn atom(&self, atom: Atom) -> Atom {
        atom.variable().map_or(atom, |var| self.atoms[&var])
    }

    fn list(&self, atoms: &[Atom]) -> Vec<Atom> {
        atoms.iter().map(|atom| self.atom(*atom)).collect()
    }
}

pub(super) struct Rewriter<'a> {
    callees: Callees<'a>,
    calls: &'a Calls,
    pub(super) limits: &'a Thresholds,
    /// True if nests over short lists are unrolled.
    unroll: bool,
    /// The facts about short lists, if their elements become values.
    pub(super) lists: Option<Lists<'a>>,
    /// The variables of operations that are known not to fault.
    pub(super) known_to_succeed: FxHashSet<Var>,
    /// The functions whose calls are being replaced by their bodies.
    inlining: Vec<FunId>,
    /// The number of operations of the calls of recursive functions that were written out.
    unfolded: usize,
    pub(super) builder: FunctionBuilder,
    pub(super) known: FxHashMap<Var, Known>,
    /// Expressions that were computed, by open block.
    pub(super) scopes: Vec<FxHashMap<Key, Atom>>,
    pub(super) written: usize,
}

impl<'a> Rewriter<'a> {
    pub(super) fn new(
        callees: Callees<'a>,
        calls: &'a Calls,
        limits: &'a Thresholds,
    ) -> Rewriter<'a> {
        Rewriter {
            callees,
            calls,
            limits,
            unroll: false,
            lists: None,
            known_to_succeed: FxHashSet::default(),
            inlining: Vec::new(),
            unfolded: 0,
            builder: FunctionBuilder::new(),
            known: FxHashMap::default(),
            scopes: vec![FxHashMap::default()],
            written: 0,
        }
    }
}

impl Rewriter<'_> {
    /// Writes a block into the open one.
    pub(super) fn block(&mut self, block: &Block, env: &mut Env) -> Atom {
        with_stack(|| {
            for binding in &block.lets {
                let atom = self.binding(binding, env);
                env.atoms.insert(binding.var, atom);
            }
            env.atom(block.result)
        })
    }

    /// Writes a block as one of its own.
    fn inner(&mut self, block: &Block, env: &mut Env) -> Block {
        self.builder.begin();
        self.scopes.push(FxHashMap::default());
        let result = self.block(block, env);
        self.scopes.pop();
        self.builder.end(result)
    }

    fn binding(&mut self, binding: &Let, env: &mut Env) -> Atom {
        self.written += 1;
        let site = env.called.unwrap_or(binding.site);
        let op = match &binding.op {
            Op::Copy(a) => return env.atom(*a),
            Op::Scalar(op, args) => return self.scalar(*op, env.list(args), &binding.ty, site),
            Op::Pair(a, b) => {
                let (a, b) = (env.atom(*a), env.atom(*b));
                let pair = self.builder.bind(binding.ty.clone(), Op::Pair(a, b), site);
                self.remember(pair, Known::Pair(a, b));
                return pair;
            }
            Op::First(pair) => return self.half(true, env.atom(*pair), &binding.ty, site),
            Op::Second(pair) => return self.half(false, env.atom(*pair), &binding.ty, site),
            Op::Seq(op, args) => return self.sequence(*op, env.list(args), &binding.ty, site),
            Op::Call(callee, args) => {
                return self.call(*callee, env.list(args), &binding.ty, site, env.called);
            }
            Op::If { cond, then, otherwise } => match env.atom(*cond) {
                Atom::Bool(true) => return self.block(then, env),
                Atom::Bool(false) => return self.block(otherwise, env),
                cond => {
                    let sides = [self.inner(then, env), self.inner(otherwise, env)];
                    return self.conditional(cond, sides, &binding.ty, site);
                }
            },
            Op::Nest(nest) => return self.nest(nest, (binding.var, &binding.ty), site, env),
            Op::Check { cond, code, message } => match env.atom(*cond) {
                Atom::Bool(true) => return Atom::Bool(true),
                cond => Op::Check { cond, code: *code, message: message.clone() },
            },
            Op::List(args) => {
                let args = env.list(args);
                let list = Op::List(args.clone());
                let list = self.builder.bind(binding.ty.clone(), list, site);
                self.remember(list, Known::List(args));
                return list;
            }
            Op::Text(text) => {
                let length = Atom::Int(text.len() as i64);
                let text = self.builder.bind(binding.ty.clone(), Op::Text(text.clone()), site);
                self.remember(text, Known::Length(length));
                return text;
            }
            Op::Constants(constants) => {
                let length = Atom::Int(constants.len() as i64);
                let op = Op::Constants(constants.clone());
                let sequence = self.builder.bind(binding.ty.clone(), op, site);
                self.remember(sequence, Known::Length(length));
                return sequence;
            }
            Op::Global(id) => Op::Global(*id),
            Op::Error(text) => Op::Error(env.atom(*text)),
            Op::Host(op, args) => Op::Host(*op, env.list(args)),
            Op::Time(body) => Op::Time(self.inner(body, env)),
        };
        self.builder.bind(binding.ty.clone(), op, site)
    }

    fn nest(&mut self, nest: &Nest, (bound, ty): (Var, &Ty), site: Site, env: &mut Env) -> Atom {
        if let Some(elements) = self.short(nest, env) {
            let mut results = Vec::new();
            for element in elements {
                env.atoms.insert(nest.binders[0].0, element);
                results.push(self.block(&nest.body, env));
            }
            let list = self.builder.bind(ty.clone(), Op::List(results.clone()), site);
            self.remember(list, Known::List(results));
            return list;
        }
        if let Some(list) = self.each_element(nest, ty, site, env) {
            return list;
        }
        let mut binders = Vec::new();
        for (var, ty, sequence) in &nest.binders {
            let fresh = self.builder.fresh(ty.clone());
            let sequence = env.atom(*sequence);
            env.atoms.insert(*var, Atom::Var(fresh));
            binders.push((fresh, ty.clone(), sequence));
        }
        let repeated =
            self.lists.as_mut().map(|lists| std::mem::replace(&mut lists.repeated, true));
        let body = self.inner(&nest.body, env);
        if let (Some(lists), Some(repeated)) = (&mut self.lists, repeated) {
            lists.repeated = repeated;
        }
        // The same elements again.
        if let [(var, _, sequence)] = &binders[..]
            && body.lets.is_empty()
            && body.result == Atom::Var(*var)
        {
            return *sequence;
        }
        let nest = Nest { binders, body, serial: nest.serial };
        self.bind_nest(nest, (bound, ty), site)
    }

    /// The elements of the list that a nest runs over, if they are few and so is what is done with
    /// them.
    fn short(&self, nest: &Nest, env: &Env) -> Option<Vec<Atom>> {
        let [(.., Atom::Var(list))] = &nest.binders[..] else { return None };
        let Atom::Var(list) = env.atom(Atom::Var(*list)) else { return None };
        let Some(Known::List(elements)) = self.known.get(&list) else { return None };
        let limits = self.limits;
        let few = (1..=limits.max_unrolled_elements).contains(&elements.len())
            && self.written < limits.max_operations_after_inlining;
        (self.unroll && few && size(&nest.body) <= limits.max_inlined_operations)
            .then(|| elements.clone())
    }

    pub(super) fn half(&mut self, first: bool, pair: Atom, ty: &Ty, site: Site) -> Atom {
        let Atom::Var(var) = pair else {
            return self.builder.bind(ty.clone(), Op::First(pair), site);
        };
        if let Some(Known::Pair(a, b)) = self.known.get(&var) {
            return if first { *a } else { *b };
        }
        let op = if first { Op::First(pair) } else { Op::Second(pair) };
        self.once(Key::Half(first, var), op, ty, site)
    }

    pub(super) fn scalar(&mut self, op: ScalarOp, args: Vec<Atom>, ty: &Ty, site: Site) -> Atom {
        if let Some(value) = fold(op, &args).or_else(|| self.compared_with_itself(op, &args)) {
            return value;
        }
        if let Some(chars) = self.as_chars(op, &args) {
            return match chars {
                Ok(args) => self.scalar(op, args, ty, site),
                Err(known) => Atom::Bool(known),
            };
        }
        if let Some((of, mask)) = self.divided(op, &args) {
            let low = vec![of, Atom::Int(mask)];
            let low = self.scalar(ScalarOp::And, low, &Ty::Int, site);
            return self.scalar(op, vec![low, Atom::Int(0)], ty, site);
        }
        if let (ScalarOp::Sub, [sum, part]) = (op, &args[..])
            && let Some(rest) = self.rest(*sum, *part)
        {
            return rest;
        }
        let known = match (op, &args[..]) {
            (ScalarOp::CharToInt, [char]) => Some(Known::Code(*char)),
            (ScalarOp::Rem, [of, Atom::Int(by)]) if is_small_power_of_two(*by) => {
                Some(Known::Remainder(*of, by - 1))
            }
            (ScalarOp::Add, [a, b]) if *ty == Ty::Int => Some(Known::Sum(*a, *b)),
            _ => None,
        };
        let key = args.iter().map(key).collect();
        let atom = self.once(Key::Scalar(op, key), Op::Scalar(op, args), ty, site);
        if let Some(known) = known {
            self.remember(atom, known);
        }
        atom
    }

    /// Returns what is left of an int less another, if the first is known as a sum with the second. (Ints wrap around:
    /// this holds for all.)
    fn rest(&self, sum: Atom, part: Atom) -> Option<Atom> {
        match self.known.get(&sum.variable()?)? {
            Known::Sum(a, rest) if *a == part => Some(*rest),
            Known::Sum(rest, b) if *b == part => Some(*rest),
            _ => None,
        }
    }

    /// Returns the dividend and the bits below the divisor, if an operation asks whether a remainder by a power of two
    /// is zero: whether these bits are, which takes one instruction.
    fn divided(&self, op: ScalarOp, args: &[Atom]) -> Option<(Atom, i64)> {
        let ([Atom::Var(remainder), Atom::Int(0)] | [Atom::Int(0), Atom::Var(remainder)]) = *args
        else {
            return None;
        };
        match self.known.get(&remainder) {
            Some(Known::Remainder(of, mask)) if matches!(op, ScalarOp::Eq | ScalarOp::Ne) => {
                Some((*of, *mask))
            }
            _ => None,
        }
    }

    /// Returns what the comparison of a value with itself gives. A float may be no number, which is unequal
    /// to itself.
    fn compared_with_itself(&self, op: ScalarOp, args: &[Atom]) -> Option<Atom> {
        use ScalarOp::{Eq, Ge, Gt, Le, Lt, Ne};
        let [a, b] = *args else { return None };
        if a != b || self.builder.type_of(&a) == Ty::Float {
            return None;
        }
        match op {
            Eq | Le | Ge => Some(Atom::Bool(true)),
            Ne | Lt | Gt => Some(Atom::Bool(false)),
            _ => None,
        }
    }

    /// The comparison of codes of chars, as one of chars, or what it gives if no char has the code.
    fn as_chars(&self, op: ScalarOp, args: &[Atom]) -> Option<Result<Vec<Atom>, bool>> {
        use ScalarOp::{Eq, Ge, Gt, Le, Lt, Ne};
        let [a, b] = *args else { return None };
        if !matches!(op, Eq | Ne | Lt | Le | Gt | Ge) {
            return None;
        }
        let char = |atom: Atom| match atom {
            Atom::Var(var) => match self.known.get(&var) {
                Some(Known::Code(char)) => Some(*char),
                _ => None,
            },
            Atom::Int(code) => u8::try_from(code).ok().map(Atom::Char),
            _ => None,
        };
        Some(match (a, b, char(a), char(b)) {
            (_, _, Some(a), Some(b)) => Ok(vec![a, b]),
            // Below all chars, or above.
            (_, Atom::Int(code), Some(_), None) => Err(match op {
                Eq => false,
                Ne => true,
                Lt | Le => code > 0,
                _ => code < 0,
            }),
            (Atom::Int(code), _, None, Some(_)) => Err(match op {
                Eq => false,
                Ne => true,
                Lt | Le => code < 0,
                _ => code > 0,
            }),
            _ => return None,
        })
    }

    /// Binds an operation, unless it was bound already where this place can see it.
    fn once(&mut self, key: Key, op: Op, ty: &Ty, site: Site) -> Atom {
        if let Some(atom) = self.scopes.iter().rev().find_map(|scope| scope.get(&key)) {
            return *atom;
        }
        let atom = self.builder.bind(ty.clone(), op, site);
        self.scopes.last_mut().or_bug("a scope is open").insert(key, atom);
        atom
    }

    fn sequence(&mut self, op: SeqOp, args: Vec<Atom>, ty: &Ty, site: Site) -> Atom {
        if let (SeqOp::Length, [of]) = (op, &args[..]) {
            return self.length(*of, site);
        }
        if let (SeqOp::Index, [Atom::Var(of), Atom::Int(place)]) = (op, &args[..])
            && let Some(Known::List(elements)) = self.known.get(of)
            && let Some(element) = usize::try_from(*place).ok().and_then(|at| elements.get(at))
        {
            return *element;
        }
        if let Some(known) = self.of_elements(op, &args, ty, site) {
            return known;
        }
        if let (SeqOp::Index, [Atom::Var(of), place]) = (op, &args[..]) {
            let key = Key::Element(*of, key(place));
            return self.once(key, Op::Seq(op, args), ty, site);
        }
        if let (true, SeqOp::Flatten, [Atom::Var(of)]) = (self.unroll, op, &args[..])
            && let Some(Known::List(elements)) = self.known.get(of)
        {
            match elements[..] {
                [one] => return one,
                [first, second] => {
                    return self.sequence(SeqOp::Append, vec![first, second], ty, site);
                }
                _ => {}
            }
        }
        let known = match (op, &args[..]) {
            (SeqOp::Dist, [_, length]) => Some(Known::Length(*length)),
            (SeqOp::Range, [Atom::Int(0), Atom::Int(1), end]) => Some(Known::Length(*end)),
            (SeqOp::Subseq, [_, Atom::Int(0), end]) => Some(Known::Length(*end)),
            (SeqOp::Subseq, [_, start, end]) => self.rest(*end, *start).map(Known::Length),
            _ => op.row().same_length_as.map(|operand| Known::LengthOf(args[operand])),
        };
        let atom = self.builder.bind(ty.clone(), Op::Seq(op, args), site);
        if let Some(known) = known {
            self.remember(atom, known);
        }
        atom
    }

    fn length(&mut self, of: Atom, site: Site) -> Atom {
        let mut of = of;
        while let Atom::Var(var) = of {
            match self.known.get(&var) {
                Some(Known::Length(length)) => return *length,
                Some(Known::List(elements)) => return Atom::Int(elements.len() as i64),
                Some(Known::LengthOf(other)) => of = *other,
                Some(Known::Guarded(slots)) => return self.counted_slots(slots.clone(), site),
                Some(Known::Pair(..) | Known::Code(_) | Known::Remainder(..) | Known::Sum(..))
                | None => {
                    let op = Op::Seq(SeqOp::Length, vec![of]);
                    return self.once(Key::Length(var), op, &Ty::Int, site);
                }
            }
        }
        self.builder.bind(Ty::Int, Op::Seq(SeqOp::Length, vec![of]), site)
    }

    fn call(
        &mut self,
        callee: FunId,
        args: Vec<Atom>,
        ty: &Ty,
        site: Site,
        called: Option<Site>,
    ) -> Atom {
        let small = self.calls.size(callee) <= self.limits.max_inlined_operations
            || self.calls.times(callee) == 1;
        if let Some(function) = (self.callees)(callee)
            && (self.unfolds(function, callee, &args)
                || !self.calls.is_recursive(callee)
                    && small
                    && self.written < self.limits.max_operations_after_inlining)
        {
            let called = called.or(function.library.then_some(site));
            let params = function.params.iter().map(|(var, _)| *var);
            let mut env = Env { atoms: params.zip(args).collect(), called };
            self.inlining.push(callee);
            let result = self.block(&function.body, &mut env);
            self.inlining.pop();
            return result;
        }
        if let Some(result) = self.call_version(callee, &args, ty, site) {
            return result;
        }
        self.builder.bind(ty.clone(), Op::Call(callee, args), site)
    }

    /// Returns true if a call of a recursive function is written out level by level. What is left for that in this
    /// function becomes less by the outermost of the calls; the others come to the same decision.
    fn unfolds(&mut self, function: &Function, id: FunId, args: &[Atom]) -> bool {
        let is_counted = args.iter().any(|arg| matches!(arg, Atom::Int(_)));
        if !is_counted || !self.calls.is_recursive(id) || self.calls.is_mutual(id) {
            return false;
        }
        let size = size(&function.body).max(1);
        let is_outermost = !self.inlining.contains(&id);
        let most = match is_outermost {
            true => self.limits.max_unfolded_operations.saturating_sub(self.unfolded),
            false => self.limits.max_unfolded_operations,
        };
        let Some(levels) = unfold::levels(function, id, args, most / size) else { return false };
        if is_outermost {
            self.unfolded += levels * size;
        }
        true
    }

    pub(super) fn remember(&mut self, atom: Atom, known: Known) {
        if let Atom::Var(var) = atom {
            self.known.insert(var, known);
        }
    }
}

/// The number of operations of a block.
fn size(block: &Block) -> usize {
    let mut size = 0;
    block.for_each_op(&mut |_| size += 1);
    size
}

/// Returns true for a power of two that is an int at both precisions.
fn is_small_power_of_two(x: i64) -> bool {
    i32::try_from(x).is_ok_and(|x| x > 0 && x & (x - 1) == 0)
}

/// The value of an operation on constants, where both precisions agree on it; and what is plain
/// without knowing every operand.
fn fold(op: ScalarOp, args: &[Atom]) -> Option<Atom> {
    match (op, args) {
        (ScalarOp::And, [Atom::Bool(true), x] | [x, Atom::Bool(true)])
        | (ScalarOp::Or, [Atom::Bool(false), x] | [x, Atom::Bool(false)])
        | (ScalarOp::Add, [Atom::Int(0), x] | [x, Atom::Int(0)])
        | (ScalarOp::Sub, [x, Atom::Int(0)])
        | (ScalarOp::Mul, [Atom::Int(1), x] | [x, Atom::Int(1)]) => return Some(*x),
        (ScalarOp::Mul, [Atom::Float(one), x] | [x, Atom::Float(one)]) if *one == 1.0 => {
            return Some(*x);
        }
        (ScalarOp::And, [Atom::Bool(false), _] | [_, Atom::Bool(false)]) => {
            return Some(Atom::Bool(false));
        }
        (ScalarOp::Or, [Atom::Bool(true), _] | [_, Atom::Bool(true)]) => {
            return Some(Atom::Bool(true));
        }
        // Exact at both precisions.
        (ScalarOp::ToFloat, [Atom::Int(x)])
            if x.unsigned_abs() <= 1_u64 << f32::MANTISSA_DIGITS =>
        {
            return Some(Atom::Float(*x as f64));
        }
        _ => {}
    }
    let args: Option<Vec<Scalar>> = args.iter().map(constant).collect();
    let args = args?;
    let wide = scalar::eval(op, &args, Precision::Bits64).ok()?;
    let in_range = |x: &Scalar| match x {
        Scalar::Int(x) => i32::try_from(*x).is_ok(),
        Scalar::Float(x) => f64::from(*x as f32) == *x,
        Scalar::Bool(_) | Scalar::Char(_) => true,
    };
    let plain = args.iter().all(in_range) && in_range(&wide);
    let narrow = || scalar::eval(op, &args, Precision::Bits32).ok();
    if !plain || narrow() != Some(wide) {
        return None;
    }
    Some(match wide {
        Scalar::Int(x) => Atom::Int(x),
        Scalar::Float(x) => Atom::Float(x),
        Scalar::Bool(x) => Atom::Bool(x),
        Scalar::Char(x) => Atom::Char(x),
    })
}

fn constant(atom: &Atom) -> Option<Scalar> {
    match *atom {
        Atom::Int(x) => Some(Scalar::Int(x)),
        Atom::Float(x) => Some(Scalar::Float(x)),
        Atom::Bool(x) => Some(Scalar::Bool(x)),
        Atom::Char(x) => Some(Scalar::Char(x)),
        Atom::Var(_) | Atom::Unit => None,
    }
}

fn key(atom: &Atom) -> KeyAtom {
    match *atom {
        Atom::Var(var) => KeyAtom::Var(var),
        Atom::Unit => KeyAtom::Unit,
        Atom::Int(x) => KeyAtom::Int(x),
        Atom::Float(x) => KeyAtom::Float(x.to_bits()),
        Atom::Bool(x) => KeyAtom::Bool(x),
        Atom::Char(x) => KeyAtom::Char(x),
    }
}
