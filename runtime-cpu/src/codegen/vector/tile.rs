//! Tiling (cache blocking) of column sums: a tile is some rows by some neighbouring elements.
//!
//! ```text
//! for a tile of neighbouring elements      as many as have sums that fit the L1 cache
//!   the code before the loop
//!   for four iterations of the loop        uniform and affine values: once
//!     for a group of the tile's elements   load the sums, add four elements, store them
//!   the code after the loop, for each of its elements
//! ```
//!
//! Each row is read in long contiguous runs, and a sum is loaded and stored once in four iterations. The last
//! elements of a tile are executed under a mask, since executing them one by one would read all of the memory
//! again for each; loads beyond them lie within the padding of the memory.

use super::super::emitter::{FunctionEmitter, flags};
use super::super::kernel::ElementRange;
use super::lanes::{Lanes, VectorEmitter, Vectors};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{self, InstBuilder, StackSlotData, StackSlotKind, types};
use nesl_runtime::kir::uniformity::Uniformity;
use nesl_runtime::kir::vectorize::VectorFacts;
use nesl_runtime::kir::walk;
use nesl_runtime::kir::{Block, Combine, Inst, Op, Ty, Value};

/// The number of iterations of the loop that are executed together.
pub const UNROLLED_ROWS: usize = 4;

/// The size of the sums of a tile, in bytes.
const TILE_BYTES: usize = 8 << 10;

/// The number of elements executed together, of 64 bits and of 32.
const GROUP_ELEMENTS: [usize; 2] = [8, 16];

/// Code that can be executed in tiles.
pub struct TilePlan<'a> {
    /// The code before the loop.
    pub before: Vec<&'a Inst>,
    /// The number of iterations; the same for all elements.
    pub count: Value,
    index: Value,
    body: &'a Block,
    /// The operators of the reductions, their types, elements and results.
    pub reduce: Vec<(Combine, Ty, Value, Value)>,
    /// The code after the loop.
    after: Vec<&'a Inst>,
}

impl<'a> TilePlan<'a> {
    /// Plans tiled execution, if the code allows it: reductions in one loop with a uniform count, which reads
    /// only uniform and affine values of the code before it.
    pub fn of(
        code: impl Iterator<Item = &'a Inst>,
        facts: &VectorFacts,
        c: &FunctionEmitter<'a, '_>,
    ) -> Option<TilePlan<'a>> {
        if !facts.streams {
            return None;
        }
        let code: Vec<&Inst> = code.collect();
        let is_loop = |inst: &&Inst| inst.op.has_blocks();
        let at = code.iter().position(is_loop)?;
        let (before, after) = (code[..at].to_vec(), code[at + 1..].to_vec());
        let Op::For { count, index, init, reduce, body, .. } = &code[at].op else { return None };
        let cannot_write_or_fail = |inst: &Inst| match &inst.op {
            Op::Check { cond, .. } => {
                facts.of(*cond) == Uniformity::Uniform || facts.is_implied_predicate(*cond)
            }
            Op::Store { .. } | Op::Fail { .. } => false,
            op => !op.has_blocks(),
        };
        let uniform_or_affine = |value: Value| facts.of(value) != Uniformity::Varying;
        let mut reads_uniform_or_affine = true;
        walk::each_read(code[at], &mut |value| {
            let own = value == *index || defines(&body.insts, value);
            reads_uniform_or_affine &= own || uniform_or_affine(value);
        });
        let none_writes_or_fails = before.iter().all(|inst| cannot_write_or_fail(inst))
            && body.insts.iter().all(cannot_write_or_fail);
        if !init.is_empty()
            || !uniform_or_affine(*count)
            || !none_writes_or_fails
            || !reads_uniform_or_affine
        {
            return None;
        }
        let mut sums = Vec::new();
        for ((combine, value), result) in reduce.iter().zip(&body.yields).zip(&code[at].results) {
            let ty = c.element_ty(*value);
            let plain = matches!(ty, Ty::I32 | Ty::I64 | Ty::F32 | Ty::F64);
            if !plain || facts.of(*result) != Uniformity::Varying {
                return None;
            }
            sums.push((*combine, ty, *value, *result));
        }
        let (count, index) = (*count, *index);
        Some(TilePlan { before, count, index, body, reduce: sums, after })
    }

    /// The largest number of elements of a tile.
    pub fn elements(&self) -> usize {
        let bytes: usize = self.reduce.iter().map(|(_, ty, ..)| ty.size()).sum();
        TILE_BYTES / bytes.max(1) / GROUP_ELEMENTS[1] * GROUP_ELEMENTS[1]
    }
}

fn defines(insts: &[Inst], value: Value) -> bool {
    insts.iter().any(|inst| inst.results.contains(&value))
}

/// The elements that are executed in tiles.
#[derive(Clone, Copy)]
pub struct Space<'n> {
    /// The name of the index, or the names of the indices of an element.
    pub names: &'n [Value],
    /// The range of the elements.
    pub range: ElementRange,
    /// True for the elements of a kernel, where an interrupt reports one.
    pub elements: bool,
}

impl<'a> FunctionEmitter<'a, '_> {
    /// Emits the elements of a range (or the iterations of a loop, which have one index) in tiles, up to
    /// the first tile in which a check fails. Returns the first element that is left.
    pub fn tiles(
        &mut self,
        plan: &TilePlan<'a>,
        facts: &VectorFacts,
        space: Space<'_>,
    ) -> ir::Value {
        let bail = self.b.create_block();
        let mut tile = Tile::new(self, plan, facts, (space.names, space.range), bail);
        tile.elements = space.elements;
        let most = plan.elements();
        tile.all(most)
    }
}

/// Values for the first element of a tile.
type Known = Vec<(Value, Lanes)>;

/// The emitter of tiles.
pub struct Tile<'p, 'n, 'c, 'a, 'f> {
    /// The emitter for a group of the tile's elements.
    pub vector: VectorEmitter<'c, 'a, 'f>,
    /// The code of the tiles.
    pub plan: &'p TilePlan<'a>,
    /// The name of the index, or the names of the indices of an element.
    names: &'n [Value],
    /// The range of the elements.
    pub range: ElementRange,
    /// True for the elements of a kernel.
    elements: bool,
    columns: usize,
    /// The addresses of the sums.
    pub sums: Vec<ir::Value>,
}

impl<'p, 'n, 'c, 'a, 'f> Tile<'p, 'n, 'c, 'a, 'f> {
    /// An emitter of tiles, which goes to `bail` if a check fails.
    pub fn new(
        c: &'c mut FunctionEmitter<'a, 'f>,
        plan: &'p TilePlan<'a>,
        facts: &VectorFacts,
        (names, range): (&'n [Value], ElementRange),
        bail: ir::Block,
    ) -> Self {
        let columns = GROUP_ELEMENTS[usize::from(!facts.has_wide_lanes)];
        let mut sums = Vec::new();
        for (_, ty, ..) in &plan.reduce {
            let bytes = (plan.elements() * ty.size()) as u32;
            let data = StackSlotData::new(StackSlotKind::ExplicitSlot, bytes, 4);
            let slot = c.b.create_sized_stack_slot(data);
            sums.push(c.b.ins().stack_addr(types::I64, slot, 0));
        }
        c.refuses_width = Some("tiles are bound by memory");
        let vector = VectorEmitter::new(c, facts.clone(), columns, bail);
        Tile { vector, plan, names, range, elements: true, columns, sums }
    }

    fn all(&mut self, most: usize) -> ir::Value {
        let looped = self.vector.c.begin_loop_to(self.vector.bail, &[self.range.lo]);
        let lo = looped.carried[0];
        let going = self.vector.c.b.ins().icmp(IntCC::SignedLessThan, lo, self.range.hi);
        self.vector.c.loop_while(&looped, going);
        if self.elements {
            self.vector.c.element = Some(lo);
        }
        let left = self.vector.c.b.ins().isub(self.range.hi, lo);
        let most = self.vector.c.int(most as i64);
        let width = self.vector.c.b.ins().smin(left, most);

        self.name_elements(lo);
        self.vector.last = Some(self.vector.c.b.ins().iadd_imm_s(width, -1));
        for inst in &self.plan.before {
            self.vector.inst(inst);
        }
        self.clear(width);
        let begin = self.vector.c.int(0);
        let end = self.vector.uniform(self.plan.count);
        let begin = self.rows(UNROLLED_ROWS, (begin, end), width);
        self.rows(1, (begin, end), width);
        self.code_after(lo, width);
        let next = self.vector.c.b.ins().iadd(lo, width);
        self.vector.c.end_loop(&looped, &[next]);
        lo
    }

    /// Defines the indices of the elements from `index` on.
    pub fn name_elements(&mut self, index: ir::Value) {
        match self.range.segment {
            None => self.vector.set(self.names[0], Lanes::Affine(index)),
            Some((segment, start)) => {
                let position = self.vector.c.b.ins().isub(index, start);
                self.vector.set(self.names[0], Lanes::Uniform(segment));
                self.vector.set(self.names[1], Lanes::Affine(position));
                self.vector.set(self.names[2], Lanes::Affine(index));
            }
        }
    }

    /// Emits a loop over the elements of a tile, a group at a time: while a whole group is left, or
    /// (`partly`) while any element is. Returns the first element that is left.
    fn over(
        &mut self,
        begin: ir::Value,
        width: ir::Value,
        partly: bool,
        body: impl FnOnce(&mut Self, ir::Value),
    ) -> ir::Value {
        let looped = self.vector.c.begin_loop(&[begin]);
        let at = looped.carried[0];
        let next = self.vector.c.b.ins().iadd_imm_s(at, self.vector.elements as i64);
        let going = match partly {
            true => self.vector.c.b.ins().icmp(IntCC::SignedLessThan, at, width),
            false => self.vector.c.b.ins().icmp(IntCC::SignedLessThanOrEqual, next, width),
        };
        self.vector.c.loop_while(&looped, going);
        body(self, at);
        self.vector.c.end_loop(&looped, &[next]);
        at
    }

    /// Sets all sums to the neutral element.
    pub fn clear(&mut self, width: ir::Value) {
        let begin = self.vector.c.int(0);
        self.over(begin, width, true, |tile, at| {
            for n in 0..tile.sums.len() {
                let (combine, ty, ..) = tile.plan.reduce[n];
                let neutral = Lanes::Uniform(tile.vector.c.literal(combine.neutral(ty)));
                tile.write(n, at, &neutral);
            }
        });
    }

    fn place(&mut self, sum: usize, at: ir::Value) -> ir::Value {
        let (_, ty, ..) = self.plan.reduce[sum];
        self.vector.c.address(self.sums[sum], at, ty)
    }

    fn read(&mut self, sum: usize, at: ir::Value) -> Lanes {
        let (_, ty, ..) = self.plan.reduce[sum];
        let place = self.place(sum, at);
        let lane = self.vector.lane(ty);
        let count = self.vector.elements / lane.lane_count() as usize;
        let mut out = Vectors::new();
        for n in 0..count {
            let at = n as i32 * lane.bytes() as i32;
            out.push(self.vector.c.b.ins().load(lane, flags(), place, at));
        }
        Lanes::Varying(out)
    }

    fn write(&mut self, sum: usize, at: ir::Value, lanes: &Lanes) {
        let (_, ty, ..) = self.plan.reduce[sum];
        let place = self.place(sum, at);
        let bytes = self.vector.lane(ty).bytes() as i32;
        for (n, vector) in self.vector.wide(lanes, ty).into_iter().enumerate() {
            self.vector.c.b.ins().store(flags(), vector, place, bytes * n as i32);
        }
    }

    /// Emits `rows` iterations of the loop at a time, while so many are left. Returns the first that is left.
    pub fn rows(
        &mut self,
        rows: usize,
        (begin, end): (ir::Value, ir::Value),
        width: ir::Value,
    ) -> ir::Value {
        let plan = self.plan;
        let looped = self.vector.c.begin_loop(&[begin]);
        let at = looped.carried[0];
        let next = self.vector.c.b.ins().iadd_imm_s(at, rows as i64);
        let whole = self.vector.c.b.ins().icmp(IntCC::SignedLessThanOrEqual, next, end);
        self.vector.c.loop_while(&looped, whole);
        self.vector.c.poll();
        // The uniform and affine values of the tile.
        let mut known: Vec<Known> = Vec::new();
        for row in 0..rows {
            let index = self.vector.c.b.ins().iadd_imm_s(at, row as i64);
            self.vector.set(plan.index, Lanes::Uniform(index));
            let mut here = vec![(plan.index, Lanes::Uniform(index))];
            for inst in &plan.body.insts {
                let uniform_or_affine = |v: &Value| self.vector.facts.of(*v) != Uniformity::Varying;
                match inst.results.first() {
                    Some(result) if uniform_or_affine(result) => {
                        self.vector.inst(inst);
                        here.push((*result, self.vector.get(*result)));
                    }
                    // The check only needs to know if the condition holds for all elements.
                    Some(result) if self.vector.facts.is_implied_predicate(*result) => {
                        self.vector.inst(inst);
                    }
                    Some(_) => {}
                    None => self.vector.inst(inst),
                }
            }
            known.push(here);
        }
        let begin = self.vector.c.int(0);
        let begin = self.over(begin, width, false, |tile, at| tile.add(&known, at));
        self.vector.elements = self.vector.facts.min_elements;
        self.over(begin, width, true, |tile, at| tile.add(&known, at));
        self.vector.elements = self.columns;
        self.vector.c.end_loop(&looped, &[next]);
        at
    }

    /// Adds the elements of several iterations to the sums of a group.
    fn add(&mut self, rows: &[Known], at: ir::Value) {
        let plan = self.plan;
        let defined = plan.before.iter().flat_map(|inst| &inst.results).chain(self.names);
        let before: Known = defined.map(|value| (*value, self.vector.get(*value))).collect();
        self.moved(&before, at);
        let mut sums: Vec<Lanes> = (0..self.sums.len()).map(|n| self.read(n, at)).collect();
        // Only the sums are written.
        let read_only = std::mem::replace(&mut self.vector.read_only, true);
        for row in rows {
            self.moved(row, at);
            for inst in &plan.body.insts {
                let result = inst.results.first();
                if result.is_some_and(|v| self.vector.facts.of(*v) == Uniformity::Varying) {
                    self.vector.inst(inst);
                }
            }
            for (sum, (combine, ty, value, _)) in sums.iter_mut().zip(&plan.reduce) {
                let element = self.vector.get(*value);
                *sum = self.vector.combine(*combine, *ty, sum, &element);
            }
        }
        self.vector.read_only = read_only;
        for (n, sum) in sums.iter().enumerate() {
            self.write(n, at, sum);
        }
        for (value, lanes) in before {
            self.vector.set(value, lanes);
        }
    }

    /// Defines values for the elements that follow the beginning of the tile at a distance of `by`.
    fn moved(&mut self, known: &Known, by: ir::Value) {
        for (value, lanes) in known {
            let lanes = match lanes {
                Lanes::Affine(base) => Lanes::Affine(self.vector.c.b.ins().iadd(*base, by)),
                Lanes::Uniform(_) | Lanes::Varying(_) | Lanes::Mask(..) => lanes.clone(),
            };
            self.vector.set(*value, lanes);
        }
    }

    /// Emits the code after the loop, for all elements of a tile.
    pub fn code_after(&mut self, lo: ir::Value, width: ir::Value) {
        self.vector.last = None;
        let begin = self.vector.c.int(0);
        let begin = self.behind(lo, begin, width, false);
        self.vector.elements = self.vector.facts.min_elements;
        self.behind(lo, begin, width, true);
        self.vector.elements = self.columns;
    }

    /// Emits the code after the loop for whole groups, or (`partly`) under a mask. The code before the
    /// loop is repeated, for its varying values.
    fn behind(
        &mut self,
        lo: ir::Value,
        begin: ir::Value,
        width: ir::Value,
        partly: bool,
    ) -> ir::Value {
        self.over(begin, width, partly, |tile, at| {
            let plan = tile.plan;
            let index = tile.vector.c.b.ins().iadd(lo, at);
            tile.name_elements(index);
            if partly {
                let here = tile.vector.wide(&Lanes::Affine(at), Ty::I64);
                let vector = tile.vector.lane(Ty::I64);
                let end = tile.vector.c.b.ins().splat(vector, width);
                let less = IntCC::SignedLessThan;
                let on = here.iter().map(|n| tile.vector.c.b.ins().icmp(less, *n, end)).collect();
                let bits = tile.vector.mask_bits();
                let on = tile.vector.mask(&Lanes::Mask(64, on), bits);
                tile.vector.active = Some(Lanes::Mask(bits, on));
            }
            for inst in &plan.before {
                tile.vector.inst(inst);
            }
            for (n, (.., result)) in plan.reduce.iter().enumerate() {
                let sum = tile.read(n, at);
                tile.vector.set(*result, sum);
            }
            for inst in &plan.after {
                tile.vector.inst(inst);
            }
            tile.vector.active = None;
        })
    }
}
