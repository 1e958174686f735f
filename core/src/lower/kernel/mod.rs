//! Lowers a kernel of a flat program to kir.
//!
//! Each thread computes the kernel's values at one index, one value after the other, as sequential
//! code. Values of the index spaces around the kernel's are loaded at the index that the thread has
//! there (its segment, the segment of that, and so on), so that free variables are never copied for
//! each element. The sinks of kir combine the values of the threads.
//!
//! The parameters of a kernel depend on facts that are known only when it is launched
//! ([`Variant`]): values in an index space of one element are passed as scalars and not as arrays,
//! segments of equal lengths need no offsets, contiguous sequences need no starts. The kernel is
//! lowered once for each combination of facts that occurs.
//!
//! ```text
//! kernel 0 over s2 stores s {                    kernel "main kernel 0" (segments, offsets, x, y, s)
//!   x: float in s2 = element v                   over segmented {
//!   p: float in s2 = mul(x, y)             →       p = mul (load x index) (load y segment)
//!   s: float in s1 = reduce_sum p from s2          reduce segment add p to s
//! }                                              }
//! ```
//!
//! The road: [`kernel`] adds the parameters that are read (`read`), lowers the values one by one
//! (here), then adds the parameters that are written and the sinks that write them (`write`).
//!
//! | file | contents |
//! |---|---|
//! | `variant` | the result: kir, the meaning of parameters and results, the facts it is specialised for |
//! | `read` | the parameters that are read, and the index of a thread in each index space |
//! | `write` | the parameters that are written, and the sinks |
//! | `calls` | the functions that a kernel calls |

mod calls;
mod read;
mod variant;
mod write;

pub use calls::function_for_one_thread;
pub use variant::{FilterResult, KernelParam, KernelResult, LoweredKernel, ResultPart, Variant};

use super::repr::{Column, Columns, LoweredSequence, LoweredValue, ill_typed};
use super::sequential::{FunctionLowering, ModuleState, combine, function};
use super::{Settings, Unsupported};
use crate::base::with_stack;
use crate::flat::{self, Let, Op, SpaceId, SpaceKind};
use crate::ir::{self, Atom, FunId, Ty, Var};
use crate::prim::SeqOp;
use crate::thresholds::Thresholds;
use nesl_runtime::bug;
use nesl_runtime::fault::FaultCode;
use nesl_runtime::kir::uniformity::uniform_values;
use nesl_runtime::kir::{self, Binary, KernelBuilder, Literal, Scope, Sink, Unary, Value, ValueTy};
use nesl_runtime::scalar::Precision;
use rustc_hash::FxHashMap;
use std::cell::RefCell;

/// The index space and the type of each value of a function.
pub type Values = FxHashMap<Var, (SpaceId, Ty)>;

/// Returns the index space and the type of each value of a function.
pub fn values(function: &flat::Function) -> Values {
    let mut values: Values =
        function.params.iter().map(|(var, ty)| (*var, (SpaceId::CALLER, ty.clone()))).collect();
    function.body.each_let(&mut |binding| {
        values.insert(binding.var, (binding.space, binding.ty.clone()));
    });
    values
}

/// Returns the name of a kernel for people: its function, and its number there if it has one.
fn name(function: &flat::Function, kernel: &flat::Kernel) -> String {
    match kernel.id {
        u32::MAX => format!("{} over {}", function.name, kernel.space),
        id => format!("{} kernel {id}", function.name),
    }
}

/// Lowers a kernel of `function` for the facts of `variant`. `values` are those of the function
/// ([`values()`]), `seed` is the seed of random numbers.
///
/// # Errors
/// The reason for which kir cannot express the kernel.
pub fn kernel(
    program: &flat::Program,
    function: &flat::Function,
    values: &Values,
    kernel: &flat::Kernel,
    variant: &Variant,
    settings: &Settings<'_>,
) -> Result<LoweredKernel, Unsupported> {
    let (source, lets) = calls::callees(&program.source, &kernel.lets, settings.limits);
    let maps = calls::map_blocks(&lets);
    let shared = RefCell::new(ModuleState::new(&source, settings.seed));
    let ids = (0..source.functions.len() as u32).map(FunId);
    let functions: Vec<kir::Function> =
        ids.map(|id| self::function(&source, id, settings, &shared)).collect();
    let lowering = KernelLowering {
        function,
        values,
        kernel,
        variant,
        precision: settings.precision,
        limits: settings.limits,
        builder: KernelBuilder::new(name(function, kernel)),
        code: FunctionLowering::new(kir::Body::default(), &source, settings, &shared),
        params: Vec::new(),
        kir_params: Vec::new(),
        inputs: 0,
        results: Vec::new(),
        indices: FxHashMap::default(),
        segment: None,
        position: None,
        maps: FxHashMap::default(),
        given: Vec::new(),
        pools: FxHashMap::default(),
    };
    let (kernel, params, results, filters) = lowering.run(&lets, &maps)?;
    let equal_lengths = equal_lengths(&kernel);
    let shared = shared.into_inner();
    let functions = functions.into_iter().chain(shared.helpers.into_iter().map(|(_, f)| f));
    let module = kir::Module { functions: functions.collect(), kernels: vec![kernel] };
    let fault_sites = shared.fault_sites;
    Ok(LoweredKernel { module, fault_sites, params, results, filters, equal_lengths })
}

/// Returns the numbers of the parameters whose arrays receive lengths that are the same for all work items.
fn equal_lengths(kernel: &kir::Kernel) -> Vec<usize> {
    let mut sinks = kernel.stages.iter().flat_map(|stage| &stage.sinks).peekable();
    if sinks.peek().is_none() {
        return Vec::new();
    }
    let uniform = uniform_values(kernel);
    let equal = sinks.filter_map(|sink| match sink {
        kir::Sink::Emit { length, lengths, .. } if uniform[length.0 as usize] => Some(*lengths),
        _ => None,
    });
    equal.filter_map(|lengths| kernel.params.iter().position(|param| *param == lengths)).collect()
}

/// The kir of a kernel, and the meaning of its parameters and results.
type Tables = (kir::Kernel, Vec<KernelParam>, Vec<KernelResult>, Vec<FilterResult>);

/// A kernel that is being lowered.
struct KernelLowering<'a> {
    /// The function that contains the kernel.
    function: &'a flat::Function,
    /// The index space and the type of each value of the function.
    values: &'a Values,
    kernel: &'a flat::Kernel,
    variant: &'a Variant,
    precision: Precision,
    /// The limits of what is stored element by element.
    limits: &'a Thresholds,
    /// The builder of the kir kernel.
    builder: KernelBuilder,
    /// The code of a thread. Its body is the builder's while parameters are added or a stage ends.
    code: FunctionLowering<'a>,
    /// The meaning of the parameters added so far.
    params: Vec<KernelParam>,
    /// The kir values of the parameters, in order.
    kir_params: Vec<Value>,
    /// The number of kir values that are parameters read by the kernel. Values with smaller numbers
    /// are uniform: the same in all threads.
    inputs: u32,
    results: Vec<KernelResult>,
    /// The index of the thread in each index space for which it was computed.
    indices: FxHashMap<SpaceId, Value>,
    /// The segment of the thread's element, if the index space is iterated by segments.
    segment: Option<Value>,
    /// The position of the thread's element in its segment.
    position: Option<Value>,
    /// The arrays of [`KernelParam::Map`].
    maps: FxHashMap<SpaceId, Value>,
    /// The inputs that the only value of the kernel may overwrite ([`KernelParam::Rooms`]), with their types.
    given: Vec<(Var, &'a Ty)>,
    /// The columns of [`KernelParam::Pool`].
    pools: FxHashMap<Var, Columns>,
}

impl<'a> KernelLowering<'a> {
    /// Lowers the values `lets`; `maps` are the blocks of [`calls::map_blocks`].
    fn run(
        mut self,
        lets: &'a [Let],
        maps: &'a [Option<ir::Block>],
    ) -> Result<Tables, Unsupported> {
        let inputs = self.add_inputs(lets);
        self.inputs = self.next_value();
        self.begin_code(inputs);
        for (binding, map) in lets.iter().zip(maps) {
            self.binding(binding, map.as_ref())?;
        }
        self.store_values(lets);
        let filters = self.store_filters()?;
        self.builder.body = std::mem::take(&mut self.code.body);
        Ok((self.builder.finish(), self.params, self.results, filters))
    }

    /// Returns true for an index space with one element, whose values are passed as scalars.
    fn single(&self, space: SpaceId) -> bool {
        self.variant.single.contains(&space)
    }

    /// Returns the index space with an element for each segment of the kernel's, if it has several.
    fn outer(&self) -> Option<SpaceId> {
        self.function.segments_of(self.kernel.space).filter(|space| !self.single(*space))
    }

    /// Returns the scope of reductions, scans and filters.
    fn scope(&self) -> Scope {
        if self.outer().is_some() { Scope::Segment } else { Scope::All }
    }

    /// Lowers a value; `map` is its operation if that is one of the core language.
    fn binding(&mut self, binding: &'a Let, map: Option<&'a ir::Block>) -> Result<(), Unsupported> {
        let mask = self.mask(binding.operand_space());
        let lowered = match (&binding.op, mask) {
            (Op::Reduce { with, value, .. }, mask) => {
                let value = self.code.atom(*value).scalar();
                let combine = combine(*with);
                let value = self.neutral_unless(mask, value, combine);
                let out = self.reduction_slot(binding);
                let scope = self.scope();
                self.sink(Sink::Reduce { scope, combine, value, out, result: None });
                return Ok(());
            }
            (Op::Histogram { with, size, index, value, .. }, mask) => {
                return self.histogram(binding, combine(*with), [*size, *index, *value], mask);
            }
            (Op::Scatter { of, index, value, .. }, mask) => {
                self.scatter(binding, *of, [*index, *value], mask);
                return Ok(());
            }
            (Op::Scan { with, value }, mask) => {
                let value = self.code.atom(*value).scalar();
                let combine = combine(*with);
                let value = self.neutral_unless(mask, value, combine);
                let ty = self.code.body.ty(value);
                let result = self.code.body.value(ty);
                let scope = self.scope();
                self.sink(Sink::Scan { scope, combine, value, result, total: None });
                self.next_stage();
                LoweredValue::Scalar(result)
            }
            (_, Some(mask)) if must_be_guarded(binding) => self.guarded_value(mask, binding, map),
            _ => self.value(binding, map),
        };
        self.code.env.insert(binding.var, (lowered, &binding.ty));
        Ok(())
    }

    /// Computes a value only where a mask holds; elsewhere it is arbitrary.
    fn guarded_value(
        &mut self,
        mask: Value,
        binding: &'a Let,
        map: Option<&'a ir::Block>,
    ) -> LoweredValue<'a> {
        let ty = &binding.ty;
        self.code.body.begin();
        let value = self.value(binding, map);
        let value = self.code.materialise(&value, ty);
        let yields = self.code.parts(&value, ty);
        let types: Vec<ValueTy> = yields.iter().map(|v| self.code.body.ty(*v)).collect();
        let then = self.code.body.end(yields);
        self.code.body.begin();
        let zeros = self.code.zero_parts(ty);
        let otherwise = self.code.body.end(zeros);
        let op = kir::Op::If { cond: mask, then, otherwise };
        let results = self.code.body.push(op, &types);
        self.code.assemble(ty, &mut results.into_iter())
    }

    /// Adds the values of the threads to a table.
    fn histogram(
        &mut self,
        binding: &'a Let,
        combine: kir::Combine,
        [size, index, value]: [Atom; 3],
        mask: Option<Value>,
    ) -> Result<(), Unsupported> {
        if self.outer().is_some() {
            return Err(Unsupported::HistogramPerSegment);
        }
        let Some((array, ty)) = self.table(binding, size, combine) else { return Ok(()) };
        debug_assert_eq!(self.code.body.element(array), ty);
        let [size, index] = [size, index].map(|atom| {
            let int = self.code.atom(atom).scalar();
            self.code.index_of(int)
        });
        let (value, length) = match (self.code.atom(value), value) {
            (LoweredValue::Sequence(row), Atom::Var(var)) => {
                let ty = self.code.env[&var].1;
                let row = self.code.store(&row, ty).stored_sequence();
                (self.code.array_of(row.columns.scalars()), Some(row.length))
            }
            (scalar, _) => (scalar.scalar(), None),
        };
        let count = length.unwrap_or_else(|| self.code.body.i64(1));
        let fits = self.code.fits(index, count, size);
        let when = match mask {
            Some(mask) => self.code.body.binary(Binary::And, mask, fits),
            None => fits,
        };
        self.sink(Sink::Histogram { array, combine, index, value, length, when: Some(when) });
        Ok(())
    }

    /// Writes the values of the threads to a sequence.
    fn scatter(&mut self, binding: &Let, of: Var, [index, value]: [Atom; 2], mask: Option<Value>) {
        let index = self.code.atom(index).scalar();
        let index = self.code.index_of(index);
        let to = match self.scatter_target(binding, of) {
            Some(to) => to,
            // The result is not used, but the indices have to be checked.
            None => self.code.atom(Atom::Var(of)).sequence(),
        };
        let length = to.length();
        let outside = mask.map(|mask| self.code.body.unary(Unary::Not, mask));
        self.code.in_bounds_unless(outside, index, length, FaultCode::Scatter, binding.site);
        let value = self.code.atom(value);
        if let LoweredSequence::Stored(to) = to
            && self.kernel.stores.iter().any(|(var, _)| *var == binding.var)
        {
            self.write_element(&to.columns, &value, index, mask);
        }
    }

    /// Adds the sinks that write an element of a sequence, where a condition holds.
    fn write_element(
        &mut self,
        columns: &Columns,
        value: &LoweredValue<'a>,
        index: Value,
        when: Option<Value>,
    ) {
        with_stack(|| match (columns, value) {
            (Columns::Unit, _) => {}
            (Columns::Scalars(Column { array, start, .. }), LoweredValue::Scalar(value)) => {
                let index = match start {
                    Some(start) => self.code.body.binary(Binary::Add, *start, index),
                    None => index,
                };
                let (array, value) = (*array, *value);
                self.sink(Sink::Scatter { array, index, value, when });
            }
            (Columns::Pair(columns), LoweredValue::Pair(values)) => {
                self.write_element(&columns.0, &values.0, index, when);
                self.write_element(&columns.1, &values.1, index, when);
            }
            (Columns::Scalars(_) | Columns::Pair(_) | Columns::Views(_), _) => {
                ill_typed("an element without sequences")
            }
        });
    }

    /// Computes the value of a binding that combines no values of other threads.
    fn value(&mut self, binding: &'a Let, map: Option<&'a ir::Block>) -> LoweredValue<'a> {
        let site = binding.site;
        match &binding.op {
            Op::Map(_) => {
                let Some(block) = map else { bug!("a map has an operation of the core language") };
                let value = self.code.separate_block(block, &[]);
                self.code.materialise(&value, &binding.ty)
            }
            Op::Sequential(block) => {
                let given = std::mem::take(&mut self.given);
                let value = self.code.separate_block(block, &given);
                self.code.materialise(&value, &binding.ty)
            }
            Op::Element { of, .. } => self.element(*of),
            Op::Position { .. } => {
                let position = self.position();
                LoweredValue::Scalar(self.code.int_of(position))
            }
            Op::Gather(from, index) => {
                let of = self.code.atom(*from).sequence();
                let index = self.code.atom(*index).scalar();
                let index = self.code.index_of(index);
                let length = of.length();
                self.code.in_bounds(index, length, FaultCode::Gather, site);
                self.code.element(&of, index)
            }
            Op::Extent { op, args, needed_for } => {
                let mut needed = None;
                for of in needed_for {
                    let count = match self.code.atom(*of) {
                        LoweredValue::Scalar(count) => self.code.index_of(count),
                        sequence => sequence.sequence().length(),
                    };
                    let zero = self.code.body.i64(0);
                    let some = self.code.body.binary(Binary::Gt, count, zero);
                    needed = Some(match needed {
                        None => some,
                        Some(others) => self.code.body.binary(Binary::And, others, some),
                    });
                }
                let sequence = match op {
                    SeqOp::Range => self.code.range(args, needed, site),
                    _ => self.code.dist(Atom::Unit, args[1], needed, site),
                };
                let length = sequence.sequence().length();
                LoweredValue::Scalar(self.code.int_of(length))
            }
            Op::SameLength(a, b, code) => {
                let [a, b] = [a, b].map(|var| self.code.atom(Atom::Var(*var)).sequence().length());
                let same = self.code.body.binary(Binary::Eq, a, b);
                let detail = (super::Detail::Lengths, &[a, b][..]);
                self.code.check_detail(same, *code, site, detail);
                LoweredValue::Scalar(same)
            }
            Op::Reduce { .. }
            | Op::Histogram { .. }
            | Op::Scatter { .. }
            | Op::Scan { .. }
            | Op::Collect { .. }
            | Op::Branch { .. }
            | Op::Call(..)
            | Op::Versions { .. } => {
                bug!("what combines threads, and control flow, is no value of one thread")
            }
        }
    }

    /// Tests whether a mask of the kernel keeps the thread's element; `None` if the space is no
    /// mask.
    fn mask(&mut self, space: SpaceId) -> Option<Value> {
        if !self.kernel.masks.contains(&space) {
            return None;
        }
        let SpaceKind::Filter { of, flag, is } = self.function.index_space(space).kind else {
            return None;
        };
        let flag = self.code.atom(Atom::Var(flag)).scalar();
        let flag = if is { flag } else { self.code.body.unary(Unary::Not, flag) };
        Some(match self.mask(of) {
            Some(outer) => self.code.body.binary(Binary::And, outer, flag),
            None => flag,
        })
    }

    /// Returns the value where a mask holds, and the neutral element of an operator elsewhere.
    fn neutral_unless(&mut self, mask: Option<Value>, value: Value, with: kir::Combine) -> Value {
        let Some(mask) = mask else { return value };
        let ty = self.code.body.element(value);
        let neutral = self.code.body.literal(with.neutral(ty));
        self.code.body.select(mask, value, neutral)
    }

    /// Adds a sink to the present stage.
    fn sink(&mut self, sink: Sink) {
        self.builder.sink(sink);
    }

    /// Ends a stage of the kernel: the next one can use the results of scans.
    fn next_stage(&mut self) {
        self.builder.body = std::mem::take(&mut self.code.body);
        self.builder.next_stage();
        self.code.body = std::mem::take(&mut self.builder.body);
    }

    fn zero(&mut self) -> Value {
        self.code.body.literal(Literal::I64(0))
    }
}

/// Returns true for a value that must not be computed where a mask is false, since it may fault or
/// be expensive.
fn must_be_guarded(binding: &Let) -> bool {
    match &binding.op {
        Op::Element { .. } | Op::Position { .. } => false,
        Op::Map(op) => op.has_blocks() || binding.may_fault(),
        _ => true,
    }
}
