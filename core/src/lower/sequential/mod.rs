//! A program as the code of one instance.
//!
//! Every function becomes a kir function, every nest a loop. What is made to be used up at once
//! is not stored: a sequence with one use, made in the block that uses it, stays *delayed*, and
//! its consumer's loop computes the elements (`sum({x * y : x in a; y in b})` is one loop and no
//! array). What may fault is delayed only if the consumer asks for every element, so that no
//! fault is lost.
//!
//! | module | what it does |
//! |---|---|
//! | `delayed` | sequences that are not stored, their elements, storing them |
//! | `collect` | loops that make a sequence, also of sequences |
//! | `joint` | reductions that share a loop |
//! | `join` | values that depend on a condition |
//! | `moves`, `arrays`, `histogram` | the operations on sequences |
//! | `calls` | functions, tail calls as loops |
//! | `form` | the kernel |
//! | `uses` | which variable is used where |

mod arrays;
mod calls;
mod collect;
mod delayed;
mod form;
mod histogram;
mod join;
mod joint;
mod moves;
mod uses;

pub(in crate::lower) use arrays::combine;
pub(in crate::lower) use calls::function;
pub(in crate::lower) use collect::common_start;
pub(in crate::lower) use delayed::Delayed;

use super::layout::{self, Columns, Leaf, Rep, Sequence, Stored};
use super::{Detail, FaultSite, Lowered, Unsupported, globals};
use crate::base::with_stack;
use crate::ir::{Atom, Block, FunId, Let, Op, Program, Site, Ty, Var};
use crate::prim::SeqOp;
use crate::simplify::unroll;
use nesl_runtime::fault::FaultCode;
use nesl_runtime::kir::{self, Body, Function, FunctionId, Literal, Value, ValueTy};
use nesl_runtime::scalar::{Precision, ScalarOp};
use rustc_hash::FxHashMap;
use smol_str::SmolStr;
use std::cell::RefCell;

/// Lowers a well-formed, simplified program whose random numbers have this seed.
///
/// # Errors
/// [`Unsupported::HostOperation`] if the program prints, reads files or asks for the time.
pub fn sequential(
    program: &Program,
    precision: Precision,
    seed: u64,
) -> Result<Lowered, Unsupported> {
    let mut host = false;
    for function in &program.functions {
        function.body.for_each_op(&mut |op| host |= matches!(op, Op::Host(..) | Op::Time(_)));
    }
    if host {
        return Err(Unsupported::HostOperation);
    }
    let (program, globals) = globals::as_parameters(program);
    let program = unroll(&program);
    let shared = RefCell::new(Shared::new(seed));
    let ids = (0..program.functions.len() as u32).map(FunId);
    let functions: Vec<Function> =
        ids.map(|id| calls::function(&program, id, precision, &shared)).collect();
    let kernel = form::kernel(&program, precision, &shared);
    let shared = shared.into_inner();
    let functions = functions.into_iter().chain(shared.helpers.into_iter().map(|(_, f)| f));
    let module = kir::Module { functions: functions.collect(), kernels: vec![kernel] };
    Ok(Lowered { module, globals, fault_sites: shared.fault_sites })
}

/// A function that the lowering itself needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Helper {
    /// Random bits.
    Philox,
    /// An int in decimal.
    IntText,
    /// A mathematical function.
    Math(ScalarOp),
}

/// What the functions of a module share.
#[derive(Default)]
pub(super) struct Shared {
    pub(super) fault_sites: Vec<FaultSite>,
    sites: FxHashMap<FaultSite, kir::Site>,
    pub(super) helpers: Vec<(Helper, Function)>,
    seed: u64,
}

impl Shared {
    /// Nothing yet; random numbers will have this seed.
    pub(super) fn new(seed: u64) -> Shared {
        Shared { seed, ..Shared::default() }
    }
}

/// A function that is being lowered.
pub(super) struct Thread<'a> {
    /// Its kir.
    pub(super) body: Body,
    /// The width of ints and floats.
    pub(super) precision: Precision,
    program: &'a Program,
    shared: &'a RefCell<Shared>,
    /// What each variable is.
    pub(super) env: FxHashMap<Var, (Rep<'a>, &'a Ty)>,
    uses: uses::Uses,
    joint: joint::Joint<'a>,
    /// In a function of the library: the site of the call that left the user's program.
    origin: Option<Value>,
    /// Ranks that are not computed: all that is done with them is to permute what they rank.
    sorted_by: FxHashMap<Var, SeqOp>,
    /// How often memory was asked for so far.
    allocations: usize,
}

impl<'a> Thread<'a> {
    /// Code that is put into `body`; nothing is in scope yet.
    pub(in crate::lower) fn new(
        body: Body,
        program: &'a Program,
        precision: Precision,
        shared: &'a RefCell<Shared>,
    ) -> Thread<'a> {
        Thread {
            body,
            precision,
            program,
            shared,
            env: FxHashMap::default(),
            uses: uses::Uses::default(),
            joint: joint::Joint::default(),
            origin: None,
            allocations: 0,
            sorted_by: FxHashMap::default(),
        }
    }

    /// What a block computes that is no part of a function.
    pub(in crate::lower) fn whole(&mut self, block: &'a Block) -> Rep<'a> {
        self.uses = uses::Uses::of(block);
        self.block(block)
    }

    /// What a block computes.
    pub(in crate::lower) fn block(&mut self, block: &'a Block) -> Rep<'a> {
        with_stack(|| {
            self.joint.block(block, &self.uses);
            for binding in &block.lets {
                self.binding(binding);
            }
            self.atom(block.result)
        })
    }

    fn binding(&mut self, binding: &'a Let) {
        if let Op::Seq(op @ (SeqOp::RankUp | SeqOp::RankDown), args) = &binding.op
            && self.uses.permutes(binding.var) == Some(args[0])
        {
            // The elements are sorted where they would be permuted.
            self.sorted_by.insert(binding.var, *op);
            return;
        }
        if let Some(rep) = self.joint.done.remove(&binding.var) {
            self.env.insert(binding.var, (rep, &binding.ty));
            return;
        }
        let rep = match self.joint.begins(binding.var) {
            Some(group) => self.joint(group),
            None => self.operation(binding),
        };
        self.bind(binding.var, rep, &binding.ty);
    }

    /// Says what a variable is. Sequences that its uses would not compute, or not once, are stored
    /// now.
    fn bind(&mut self, var: Var, rep: Rep<'a>, ty: &'a Ty) {
        let rep = match rep {
            Rep::Sequence(Sequence::Delayed(delayed)) if !self.may_wait(var, &delayed) => {
                self.store(&Sequence::Delayed(delayed), ty)
            }
            Rep::Pair(_) if !self.uses.whole(var) => self.settle_faulty(&rep, ty),
            rep => rep,
        };
        self.env.insert(var, (rep, ty));
    }

    pub(in crate::lower) fn operation(&mut self, binding: &'a Let) -> Rep<'a> {
        let site = binding.site;
        match &binding.op {
            Op::Copy(a) => self.atom(*a),
            Op::Scalar(op, args) => {
                let args: Vec<Value> = args.iter().map(|a| self.atom(*a).scalar()).collect();
                Rep::Scalar(self.scalar(*op, &args, site))
            }
            Op::Pair(a, b) => Rep::pair(self.atom(*a), self.atom(*b)),
            Op::First(pair) => match self.atom(*pair) {
                Rep::Pair(both) => both.0.clone(),
                Rep::Unit | Rep::Scalar(_) | Rep::Sequence(_) => unreachable!("types were checked"),
            },
            Op::Second(pair) => match self.atom(*pair) {
                Rep::Pair(both) => both.1.clone(),
                Rep::Unit | Rep::Scalar(_) | Rep::Sequence(_) => unreachable!("types were checked"),
            },
            Op::Text(text) => self.text(text),
            Op::List(args) => self.list(args, &binding.ty),
            Op::Seq(op, args) => self.sequence(*op, args, site),
            Op::Call(callee, args) => self.call(*callee, args, &binding.ty, site),
            Op::If { cond, then, otherwise } => {
                let cond = self.atom(*cond).scalar();
                self.choice(cond, &binding.ty, |t| t.block(then), |t| t.block(otherwise))
            }
            Op::Nest(nest) => self.nest(nest, site),
            Op::Global(_) => unreachable!("globals are parameters by now"),
            Op::Check { cond, code, message } => {
                let cond = self.atom(*cond).scalar();
                self.check_with(cond, *code, message, site, (Detail::None, &[]));
                Rep::Scalar(cond)
            }
            Op::Error(text) => self.error(*text, &binding.ty, site),
            Op::Host(..) | Op::Time(_) => unreachable!("the host runs what needs it"),
        }
    }

    /// What an operand is.
    pub(in crate::lower) fn atom(&mut self, atom: Atom) -> Rep<'a> {
        let literal = match (atom, self.precision) {
            (Atom::Var(var), _) => return self.env[&var].0.clone(),
            (Atom::Unit, _) => return Rep::Unit,
            (Atom::Int(x), _) => return Rep::Scalar(self.int(x)),
            (Atom::Float(x), Precision::Bits64) => Literal::F64(x.to_bits()),
            (Atom::Float(x), Precision::Bits32) => Literal::F32((x as f32).to_bits()),
            (Atom::Bool(x), _) => Literal::Bool(x),
            (Atom::Char(x), _) => Literal::U8(x),
        };
        Rep::Scalar(self.body.literal(literal))
    }

    /// The type of an operand.
    fn ty(&self, atom: Atom) -> &'a Ty {
        match atom {
            Atom::Var(var) => self.env[&var].1,
            Atom::Unit => &Ty::Unit,
            Atom::Int(_) => &Ty::Int,
            Atom::Float(_) => &Ty::Float,
            Atom::Bool(_) => &Ty::Bool,
            Atom::Char(_) => &Ty::Char,
        }
    }

    /// The type of the elements of an operand.
    fn element_ty(&self, atom: Atom) -> &'a Ty {
        self.ty(atom).element().expect("types were checked")
    }

    /// A sequence in memory.
    fn stored(&mut self, atom: Atom) -> Stored {
        let ty = self.ty(atom);
        let sequence = self.atom(atom).sequence();
        match self.store(&sequence, ty) {
            Rep::Sequence(Sequence::Stored(stored)) => stored,
            _ => unreachable!("it was stored"),
        }
    }

    /// The kir type of NESL's ints.
    pub(super) fn int_ty(&self) -> kir::Ty {
        match self.precision {
            Precision::Bits64 => kir::Ty::I64,
            Precision::Bits32 => kir::Ty::I32,
        }
    }

    /// The kir type of NESL's floats.
    pub(super) fn float_ty(&self) -> kir::Ty {
        match self.precision {
            Precision::Bits64 => kir::Ty::F64,
            Precision::Bits32 => kir::Ty::F32,
        }
    }

    /// A NESL int as a length or position.
    pub(in crate::lower) fn position(&mut self, int: Value) -> Value {
        self.body.convert(kir::Ty::I64, int)
    }

    /// A length or position as a NESL int.
    pub(in crate::lower) fn int_of(&mut self, position: Value) -> Value {
        let ty = self.int_ty();
        self.body.convert(ty, position)
    }

    /// An array in the memory of the instance.
    fn alloc(&mut self, ty: kir::Ty, length: Value) -> Leaf {
        self.allocations += 1;
        Leaf { array: self.body.alloc(ty, length), start: None, extent: length }
    }

    /// Where an element of a column lies in its array.
    fn place(&mut self, leaf: Leaf, index: Value) -> Value {
        match leaf.start {
            None => index,
            Some(start) => self.body.binary(kir::Binary::Add, start, index),
        }
    }

    fn load(&mut self, leaf: Leaf, index: Value) -> Value {
        let place = self.place(leaf, index);
        self.body.load(leaf.array, place)
    }

    /// The array of a column that begins with it.
    pub(in crate::lower) fn array_of(&mut self, leaf: Leaf) -> Value {
        match leaf.start {
            None => leaf.array,
            Some(start) => self.body.slice(leaf.array, start),
        }
    }

    /// Faults unless a condition holds.
    pub(super) fn check(&mut self, cond: Value, code: FaultCode, site: Site) {
        self.check_with(cond, code, &SmolStr::default(), site, (Detail::None, &[]));
    }

    /// The same, and says more.
    pub(in crate::lower) fn check_detail(
        &mut self,
        cond: Value,
        code: FaultCode,
        site: Site,
        detail: (Detail, &[Value]),
    ) {
        self.check_with(cond, code, &SmolStr::default(), site, detail);
    }

    fn check_with(
        &mut self,
        cond: Value,
        code: FaultCode,
        message: &SmolStr,
        site: Site,
        (detail, values): (Detail, &[Value]),
    ) {
        let library = self.origin.is_some();
        let site = self.site(FaultSite { code, message: message.clone(), detail, site, library });
        let mut all: Vec<Value> = self.origin.into_iter().collect();
        for value in values {
            all.push(self.position(*value));
        }
        self.body.check(cond, site, all);
    }

    /// The seed of the random numbers.
    pub(super) fn seed(&mut self) -> Value {
        let seed = self.shared.borrow().seed;
        self.body.i64(seed as i64)
    }

    /// The number of a cause.
    fn site(&mut self, cause: FaultSite) -> kir::Site {
        let shared = &mut *self.shared.borrow_mut();
        let next = kir::Site(shared.fault_sites.len() as u32);
        *shared.sites.entry(cause.clone()).or_insert_with(|| {
            shared.fault_sites.push(cause);
            next
        })
    }

    /// A function that the lowering needs, made once a module.
    pub(super) fn helper(
        &mut self,
        helper: Helper,
        make: impl FnOnce(&str) -> Function,
    ) -> FunctionId {
        let first = self.program.functions.len();
        let helpers = &mut self.shared.borrow_mut().helpers;
        let known = helpers.iter().position(|(h, _)| *h == helper);
        let place = known.unwrap_or_else(|| {
            helpers.push((helper, make(&format!("{helper:?}"))));
            helpers.len() - 1
        });
        FunctionId((first + place) as u32)
    }

    /// A mathematical function.
    pub(super) fn math(&mut self, op: ScalarOp, a: Value) -> Value {
        let ty = self.body.element(a);
        let meaning = op.function().expect("it is a mathematical one");
        let function =
            self.helper(Helper::Math(op), |name| super::math::function(name, meaning, ty));
        self.body.call(function, vec![a], &[ValueTy::Scalar(ty)])[0]
    }

    /// `error(text)`, of any type.
    fn error(&mut self, text: Atom, ty: &'a Ty, site: Site) -> Rep<'a> {
        let text = self.stored(text);
        let array = self.array_of(text.columns.leaf());
        let library = self.origin.is_some();
        let (code, message, detail) = (FaultCode::Message, SmolStr::default(), Detail::None);
        let site = self.site(FaultSite { code, message, detail, site, library });
        let detail = self.origin.into_iter().collect();
        self.body.fail(site, array, text.length, detail);
        let zero = self.zero_parts(ty);
        self.rebuild(ty, &mut zero.into_iter())
    }

    /// The parts of some value of a type: what stands where no value will be used.
    pub(in crate::lower) fn zero_parts(&mut self, ty: &Ty) -> Vec<Value> {
        let zero = self.body.i64(0);
        let parts = layout::parts(ty, self.precision);
        let parts = parts.into_iter().map(|part| match part {
            ValueTy::Scalar(ty) => self.body.literal(Literal::zero(ty)),
            ValueTy::Array(ty) => self.body.alloc(ty, zero),
            ValueTy::Mark => unreachable!("no part is a mark"),
        });
        parts.collect()
    }

    /// The parts of a value, arrays cut to where they begin: for calls and loops.
    pub(in crate::lower) fn parts(&mut self, rep: &Rep<'a>, ty: &'a Ty) -> Vec<Value> {
        let mut out = Vec::new();
        self.add_parts(rep, ty, &mut out);
        out
    }

    fn add_parts(&mut self, rep: &Rep<'a>, ty: &'a Ty, out: &mut Vec<Value>) {
        with_stack(|| match (rep, ty) {
            (Rep::Unit, _) => {}
            (Rep::Scalar(value), _) => out.push(*value),
            (Rep::Pair(both), Ty::Pair(first, second)) => {
                self.add_parts(&both.0, first, out);
                self.add_parts(&both.1, second, out);
            }
            (Rep::Sequence(sequence), ty) => match self.store(sequence, ty) {
                Rep::Sequence(Sequence::Stored(stored)) => {
                    out.push(stored.length);
                    self.add_columns(&stored.columns, out);
                }
                _ => unreachable!("it was stored"),
            },
            (Rep::Pair(_), _) => unreachable!("types were checked"),
        });
    }

    fn add_columns(&mut self, columns: &Columns, out: &mut Vec<Value>) {
        with_stack(|| match columns {
            Columns::Unit => {}
            Columns::Scalars(leaf) => out.push(self.array_of(*leaf)),
            Columns::Pair(both) => {
                self.add_columns(&both.0, out);
                self.add_columns(&both.1, out);
            }
            Columns::Segments(segments) => {
                out.push(self.array_of(segments.starts));
                out.push(self.array_of(segments.lengths));
                out.push(segments.extent);
                self.add_columns(&segments.pool, out);
            }
        });
    }

    /// The value that has these parts.
    pub(in crate::lower) fn rebuild(
        &mut self,
        ty: &Ty,
        parts: &mut dyn Iterator<Item = Value>,
    ) -> Rep<'a> {
        with_stack(|| match ty {
            Ty::Unit => Rep::Unit,
            Ty::Int | Ty::Float | Ty::Bool | Ty::Char => Rep::Scalar(next(parts)),
            Ty::Pair(first, second) => {
                let first = self.rebuild(first, parts);
                Rep::pair(first, self.rebuild(second, parts))
            }
            Ty::Sequence(element) => {
                let length = next(parts);
                Rep::stored(length, rebuild_columns(element, length, parts))
            }
        })
    }
}

pub(in crate::lower) fn rebuild_columns(
    element: &Ty,
    extent: Value,
    parts: &mut dyn Iterator<Item = Value>,
) -> Columns {
    let leaf = |array| Leaf { array, start: None, extent };
    with_stack(|| match element {
        Ty::Unit => Columns::Unit,
        Ty::Int | Ty::Float | Ty::Bool | Ty::Char => Columns::Scalars(leaf(next(parts))),
        Ty::Pair(first, second) => {
            let first = rebuild_columns(first, extent, parts);
            Columns::pair(first, rebuild_columns(second, extent, parts))
        }
        Ty::Sequence(inner) => {
            let (starts, lengths) = (leaf(next(parts)), leaf(next(parts)));
            let extent = next(parts);
            let pool = rebuild_columns(inner, extent, parts);
            Columns::Segments(std::rc::Rc::new(layout::Segments { starts, lengths, pool, extent }))
        }
    })
}

fn next(parts: &mut dyn Iterator<Item = Value>) -> Value {
    parts.next().expect("as many parts as the type has")
}
