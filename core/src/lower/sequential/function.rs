//! The state of a function that is being lowered, and its bindings, one after the other.

use super::super::repr::{Column, LoweredSequence, LoweredValue, StoredSequence, element_ty};
use super::super::{Detail, FaultSite, Settings};
use crate::base::with_stack;
use crate::fuse::sequential::{BlockOwnership, Ownership, SequentialPlan, verify};
use crate::ir::{Atom, Block, Let, Op, Program, Ty, Var};
use crate::prim::SeqOp;
use crate::thresholds::Thresholds;
use nesl_runtime::bug;
use nesl_runtime::kir::{self, Body, Function, FunctionId, Literal, Value};
use nesl_runtime::random::mixed_seed;
use nesl_runtime::scalar::{Precision, ScalarOp};
use nesl_runtime::violation;
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::RefCell;
use std::rc::Rc;

/// A kir function that generated code calls and that no function of the program corresponds to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in crate::lower) enum Helper {
    /// An int in decimal.
    IntText,
    /// A mathematical function.
    Math(ScalarOp),
    /// The reduction of huge angles, for functions of angles.
    HugeAngle,
}

/// The state that the functions of a module share.
#[derive(Default)]
pub(in crate::lower) struct ModuleState {
    /// The meaning of each [`kir::Site`], by its number.
    pub fault_sites: Vec<FaultSite>,
    /// The numbers of the fault sites.
    pub(super) sites: FxHashMap<FaultSite, kir::Site>,
    /// The helpers used so far, in the order of their function ids.
    pub helpers: Vec<(Helper, Function)>,
    /// The seed of the random numbers.
    pub(super) seed: u64,
    /// The arrays that the functions may overwrite.
    pub(super) ownership: Rc<Ownership>,
}

impl ModuleState {
    /// Returns the state of an empty module for the functions of a program, whose random numbers will
    /// have this seed.
    pub fn new(program: &Program, seed: u64) -> ModuleState {
        let ownership = Rc::new(Ownership::of(program));
        ModuleState { seed, ownership, ..ModuleState::default() }
    }
}

/// A function, or the code of a kernel, that is being lowered.
pub(in crate::lower) struct FunctionLowering<'a> {
    /// The kir generated so far.
    pub body: Body,
    /// The width of ints and floats.
    pub precision: Precision,
    pub limits: &'a Thresholds,
    pub(super) program: &'a Program,
    pub(super) shared: &'a RefCell<ModuleState>,
    /// The representation and the type of each variable in scope.
    pub env: FxHashMap<Var, (LoweredValue<'a>, &'a Ty)>,
    /// The fusion decisions about the code at hand.
    pub(super) plan: SequentialPlan<'a>,
    /// The arrays that the code at hand may overwrite.
    pub(super) owned: BlockOwnership,
    /// True if the code at hand knows the rooms of its sequences.
    pub(super) has_rooms: bool,
    /// True if rows of tables may grow where they lie, in some function of the program: pools may be spaced.
    pub(super) grows_rows: bool,
    /// The values that shared loops have computed or stored, of bindings that have not been reached yet.
    pub(super) early: FxHashMap<Var, LoweredValue<'a>>,
    /// Ints that are known to be positive.
    pub(super) positive: FxHashSet<Value>,
    /// In a function of the library: the site of the call that left the user's program.
    pub(super) origin: Option<Value>,
    /// The number of allocations so far, calls included: code that does not change it needs no
    /// release of memory.
    pub(super) allocations: usize,
}

impl<'a> FunctionLowering<'a> {
    /// Returns the lowering of code that is appended to `body`, with nothing in scope.
    pub fn new(
        body: Body,
        program: &'a Program,
        settings: &Settings<'a>,
        shared: &'a RefCell<ModuleState>,
    ) -> FunctionLowering<'a> {
        FunctionLowering {
            body,
            precision: settings.precision,
            limits: settings.limits,
            program,
            shared,
            env: FxHashMap::default(),
            plan: SequentialPlan::default(),
            owned: BlockOwnership::default(),
            has_rooms: false,
            grows_rows: shared.borrow().ownership.grows_rows(),
            early: FxHashMap::default(),
            positive: FxHashSet::default(),
            origin: None,
            allocations: 0,
        }
    }

    /// Makes the plan of a block, which debug builds verify; `within` names the block in violations.
    pub(super) fn plan_loops(&mut self, within: &str, block: &'a Block) {
        self.plan = SequentialPlan::of(block);
        if cfg!(debug_assertions)
            && let Err(violations) = verify(within, block, &self.plan)
        {
            bug!("the pass `fuse-loops` broke an invariant: {}", violation::list(&violations));
        }
    }

    /// Returns true if a block of a kernel may overwrite a variable, or give it to a function that overwrites something.
    pub fn may_overwrite(&self, block: &Block, var: Var) -> bool {
        let ownership = &self.shared.borrow().ownership;
        let mut may = false;
        block.for_each_op(&mut |op| {
            may |= match op {
                Op::Call(callee, args) => {
                    ownership.is_tracked(*callee) && args.contains(&Atom::Var(var))
                }
                Op::Seq(SeqOp::Replace | SeqOp::Scatter | SeqOp::Append, args) => {
                    args[0] == Atom::Var(var)
                }
                _ => false,
            };
        });
        may
    }

    /// Lowers a block that no function of the program contains. It may overwrite the sequences that are `given` to it:
    /// each is used once, by this block, and has a room.
    pub fn separate_block(
        &mut self,
        block: &'a Block,
        given: &[(Var, &'a Ty)],
    ) -> LoweredValue<'a> {
        self.plan_loops("a kernel", block);
        let ownership = self.shared.borrow().ownership.clone();
        self.owned = ownership.of_block(self.program, block, &self.plan, given);
        self.has_rooms = !self.owned.is_empty();
        self.block(block)
    }

    /// Lowers a block and returns its result.
    pub fn block(&mut self, block: &'a Block) -> LoweredValue<'a> {
        with_stack(|| {
            for binding in &block.lets {
                self.binding(binding);
            }
            self.atom(block.result)
        })
    }

    pub(super) fn binding(&mut self, binding: &'a Let) {
        if self.plan.sort_of(binding.var).is_some() {
            // The elements are sorted where they would be permuted.
            return;
        }
        if let Some(value) = self.early.remove(&binding.var) {
            self.env.insert(binding.var, (value, &binding.ty));
            return;
        }
        let value = if let Some(shared) = self.plan.loop_at(binding.var) {
            self.shared_loop(&shared.clone())
        } else if let Some(shared) = self.plan.filters_at(binding.var) {
            self.shared_filters(&shared.clone())
        } else if let (Op::Seq(_, args), true) =
            (&binding.op, self.plan.is_part_of_append(binding.var))
        {
            self.part_of_append(args[0], args[1], &self.owned.update(binding.var))
        } else {
            self.operation(binding)
        };
        self.bind(binding.var, value, &binding.ty);
    }

    /// Puts a variable into scope; materialises its sequences unless the plan fuses them.
    pub(super) fn bind(&mut self, var: Var, value: LoweredValue<'a>, ty: &'a Ty) {
        let fused = self.plan.is_fused(var) || self.plan.is_part_of_append(var);
        let value = match value {
            LoweredValue::Sequence(LoweredSequence::Fused(sequence)) if !fused => {
                self.store(&LoweredSequence::Fused(sequence), ty)
            }
            LoweredValue::Pair(_) if !fused => self.materialise_faulting(&value, ty),
            value => value,
        };
        self.env.insert(var, (value, ty));
    }

    /// Lowers the operation of a binding.
    pub fn operation(&mut self, binding: &'a Let) -> LoweredValue<'a> {
        let site = binding.site;
        match &binding.op {
            Op::Seq(SeqOp::Gather, args) if self.plan.is_within_bounds(binding.var) => {
                self.gather(args, None)
            }
            Op::Copy(a) => self.atom(*a),
            Op::Scalar(op, args) => {
                let args: Vec<Value> = args.iter().map(|a| self.atom(*a).scalar()).collect();
                LoweredValue::Scalar(self.scalar(*op, &args, site))
            }
            Op::Pair(a, b) => LoweredValue::pair(self.atom(*a), self.atom(*b)),
            Op::First(pair) => self.atom(*pair).components().0.clone(),
            Op::Second(pair) => self.atom(*pair).components().1.clone(),
            Op::Text(text) => self.text(text),
            Op::List(args) => self.list(args, &binding.ty),
            Op::Seq(op, args) => {
                let update = self.owned.update(binding.var);
                self.sequence(*op, args, &update, site)
            }
            Op::Call(callee, args) => self.call(*callee, args, binding),
            Op::If { cond, then, otherwise } => {
                let cond = self.atom(*cond).scalar();
                self.conditional(cond, &binding.ty, |t| t.block(then), |t| t.block(otherwise))
            }
            Op::Nest(nest) => {
                let update = self.owned.update(binding.var);
                if let Some(binder) = update.rows {
                    return self.nest_over_own_rows(nest, binder, &update.copies, site);
                }
                match update.elements {
                    Some(binder) => self.nest_over_own_elements(nest, binder, site),
                    None => self.nest(nest, site),
                }
            }
            Op::Constants(_) => bug!("long literals are globals before a program is lowered"),
            Op::Global(_) => bug!("globals are parameters before a program is lowered"),
            Op::Check { cond, code, message } => {
                let cond = self.atom(*cond).scalar();
                self.check_with(cond, *code, message, site, (Detail::None, &[]));
                LoweredValue::Scalar(cond)
            }
            Op::Error(text) => self.error(*text, &binding.ty, site),
            Op::Host(..) | Op::Time(_) => bug!("a program that needs the host is not lowered"),
        }
    }

    /// Returns the value of an operand.
    pub fn atom(&mut self, atom: Atom) -> LoweredValue<'a> {
        let literal = match (atom, self.precision) {
            (Atom::Var(var), _) => return self.env[&var].0.clone(),
            (Atom::Unit, _) => return LoweredValue::Unit,
            (Atom::Int(x), _) => return LoweredValue::Scalar(self.int(x)),
            (Atom::Float(x), Precision::Bits64) => Literal::F64(x.to_bits()),
            (Atom::Float(x), Precision::Bits32) => Literal::F32((x as f32).to_bits()),
            (Atom::Bool(x), _) => Literal::Bool(x),
            (Atom::Char(x), _) => Literal::U8(x),
        };
        LoweredValue::Scalar(self.body.literal(literal))
    }

    /// Returns the type of an operand.
    pub(super) fn ty(&self, atom: Atom) -> &'a Ty {
        match atom {
            Atom::Var(var) => self.env[&var].1,
            Atom::Unit => &Ty::Unit,
            Atom::Int(_) => &Ty::Int,
            Atom::Float(_) => &Ty::Float,
            Atom::Bool(_) => &Ty::Bool,
            Atom::Char(_) => &Ty::Char,
        }
    }

    /// Returns the type of the elements of an operand that is a sequence.
    pub(super) fn element_ty(&self, atom: Atom) -> &'a Ty {
        element_ty(self.ty(atom))
    }

    /// Returns the direction of the sort that replaces a permutation by `indices`.
    pub(super) fn sort_of(&self, indices: Atom) -> Option<SeqOp> {
        indices.variable().and_then(|var| self.plan.sort_of(var))
    }

    /// Returns an operand that is a sequence, in memory.
    pub(super) fn stored(&mut self, atom: Atom) -> StoredSequence {
        let ty = self.ty(atom);
        let sequence = self.atom(atom).sequence();
        self.store(&sequence, ty).stored_sequence()
    }

    /// Returns the kir type of NESL's ints.
    pub(super) fn int_ty(&self) -> kir::Ty {
        match self.precision {
            Precision::Bits64 => kir::Ty::I64,
            Precision::Bits32 => kir::Ty::I32,
        }
    }

    /// Returns the kir type of NESL's floats.
    pub(super) fn float_ty(&self) -> kir::Ty {
        match self.precision {
            Precision::Bits64 => kir::Ty::F64,
            Precision::Bits32 => kir::Ty::F32,
        }
    }

    /// Converts a NESL int to an index or a length, an `i64`.
    pub fn index_of(&mut self, int: Value) -> Value {
        self.body.convert(kir::Ty::I64, int)
    }

    /// Converts an index or a length, an `i64`, to a NESL int.
    pub fn int_of(&mut self, index: Value) -> Value {
        let ty = self.int_ty();
        self.body.convert(ty, index)
    }

    /// Allocates an array of `length` elements in the memory of the thread.
    pub(super) fn alloc(&mut self, ty: kir::Ty, length: Value) -> Column {
        self.allocations += 1;
        Column { array: self.body.alloc(ty, length), start: None, extent: length }
    }

    /// Loads an element of a column.
    pub(super) fn load(&mut self, column: Column, index: Value) -> Value {
        let index = match column.start {
            None => index,
            Some(start) => self.body.binary(kir::Binary::Add, start, index),
        };
        self.body.load(column.array, index)
    }

    /// Returns the array of a column, sliced so that its first element is the column's.
    pub fn array_of(&mut self, column: Column) -> Value {
        match column.start {
            None => column.array,
            Some(start) => self.body.slice(column.array, start),
        }
    }

    /// Returns what the seed of the random numbers changes keys by.
    pub(super) fn mixed_seed(&mut self) -> Value {
        let seed = mixed_seed(self.shared.borrow().seed);
        self.body.i64(seed as i64)
    }

    /// Returns the id of a helper, which is made once a module.
    pub(super) fn helper(
        &mut self,
        helper: Helper,
        make: impl FnOnce(&str) -> Function,
    ) -> FunctionId {
        let first = self.program.functions.len();
        let helpers = &mut self.shared.borrow_mut().helpers;
        let known = helpers.iter().position(|(h, _)| *h == helper);
        let number = known.unwrap_or_else(|| {
            helpers.push((helper, make(&format!("{helper:?}"))));
            helpers.len() - 1
        });
        FunctionId((first + number) as u32)
    }
}
