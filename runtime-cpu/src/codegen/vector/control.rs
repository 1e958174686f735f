//! Control, writes and checks for groups of elements, under masks.

use super::super::machine::VECTOR_BYTES;
use super::super::scalar::little;
use super::lanes::{Choice, Lanes, VectorEmitter, Vectors};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{self, InstBuilder, Type, types};
use nesl_runtime::bug;
use nesl_runtime::bug::OrBug;
use nesl_runtime::kir::facts::common_side;
use nesl_runtime::kir::uniformity::Uniformity;
use nesl_runtime::kir::vectorize::{is_if_convertible, pure_operations};
use nesl_runtime::kir::walk;
use nesl_runtime::kir::{Block, Combine, Inst, Literal, Op, Ty, Value, ValueTy};
use smallvec::smallvec;

impl<'a> VectorEmitter<'_, 'a, '_> {
    /// Emits the instructions of a block.
    pub fn block(&mut self, block: &'a Block) {
        self.join_checks(block.insts.iter());
        for inst in &block.insts {
            self.inst(inst);
        }
    }

    /// Emits an instruction.
    pub fn inst(&mut self, inst: &'a Inst) {
        let writes = !inst.op.is_read_only();
        if writes {
            self.sources.clear();
        }
        self.inst_here(inst);
        if writes {
            self.sources.clear();
        }
    }

    fn inst_here(&mut self, inst: &'a Inst) {
        if self.emit_known(inst) {
            return;
        }
        match &inst.op {
            Op::Const(_)
            | Op::Text(_)
            | Op::Unary(..)
            | Op::Binary(..)
            | Op::Fma(..)
            | Op::Select(..)
            | Op::Convert(..)
            | Op::Bits(..)
            | Op::Slice(..)
            | Op::Load { .. } => self.pure(inst),
            Op::Store { array, index, value } => self.store(*array, *index, *value),
            Op::Check { cond, .. } => {
                if self.active.is_none() && self.joined_check(*cond) {
                    return;
                }
                let lanes = self.get(*cond);
                match self.all.get(cond).copied() {
                    None => self.check(&lanes),
                    Some(all) if self.active.is_none() => self.check(&Lanes::Uniform(all)),
                    // Mostly it holds for all elements, whether they take part or not.
                    Some(all) => {
                        let (apart, on) = (self.c.b.create_block(), self.c.b.create_block());
                        self.c.b.ins().brif(all, on, &[], apart, &[]);
                        self.c.b.switch_to_block(apart);
                        self.check(&lanes);
                        self.c.jump(on, &[]);
                        self.c.b.switch_to_block(on);
                    }
                }
            }
            Op::Fail { .. } => {
                let never = self.c.b.ins().iconst(types::I8, 0);
                self.check(&Lanes::Uniform(never));
            }
            Op::If { cond: value, then, otherwise } => {
                let cond = self.get(*value);
                if let Some(common) = common_side(then, otherwise) {
                    let common_if = if std::ptr::eq(common, then) { cond } else { self.not(&cond) };
                    self.check(&common_if);
                    self.block(common);
                    for (result, value) in inst.results.iter().zip(&common.yields) {
                        let lanes = self.get(*value);
                        self.set(*result, lanes);
                    }
                    return;
                }
                let none = self.none.get(value).copied().filter(|_| self.active.is_none());
                match (&cond, none) {
                    (Lanes::Uniform(cond), _) => self.branch(inst, *cond, then, otherwise),
                    (_, Some(none)) if self.is_worth_both(then, otherwise) => {
                        let all = self.all.get(value).or_else(|| self.all_by_one_side.get(value));
                        let all = all.copied();
                        self.together(inst, (none, all), &cond, [then, otherwise]);
                    }
                    _ => self.masked(inst, &cond, then, otherwise),
                }
            }
            Op::While { init, carried, cond, body } => {
                self.repeat(inst, init, carried, cond, body);
            }
            Op::For { .. } => self.counted(inst),
            Op::Alloc(..)
            | Op::Copy { .. }
            | Op::Call(..)
            | Op::Compute(..)
            | Op::Extern(..)
            | Op::Mark
            | Op::Compact { .. } => {
                bug!("the analysis refuses to vectorise memory operations and calls")
            }
        }
    }

    /// Leaves the vector code if a check fails for an element that takes part.
    pub fn check(&mut self, cond: &Lanes) {
        let on = self.c.b.create_block();
        let bail = self.bail;
        match (cond, &self.active) {
            // Where some elements are at work, they all fail.
            (Lanes::Uniform(cond), _) => {
                self.c.go_on_if(*cond, on, bail);
            }
            (cond, active) => {
                let active = active.clone();
                let fails = self.not(cond);
                let fails = self.both(&active, &fails);
                let bits = self.mask_bits();
                let fails = self.mask_as_is(&fails, bits);
                let any = self.any(&fails);
                self.c.b.ins().brif(any, bail, &[], on, &[]);
            }
        }
        self.c.b.switch_to_block(on);
    }

    /// The vectors of a mask, of whatever width they have.
    pub fn mask_as_is(&mut self, lanes: &Lanes, bits: u8) -> Vectors {
        match lanes {
            Lanes::Mask(_, vectors) => vectors.clone(),
            _ => self.mask(lanes, bits),
        }
    }

    fn store(&mut self, array: Value, index: Value, value: Value) {
        let ty = self.c.element_ty(array);
        let at = self.uniform(array);
        let (index, value) = (self.get(index), self.get(value));
        if let (Lanes::Affine(index), None, false) = (&index, &self.active, ty.size() == 1) {
            let address = self.address(at, *index, ty);
            let vectors = self.wide(&value, ty);
            let bytes = self.lane(ty).bytes() as i32;
            for (n, vector) in vectors.iter().enumerate() {
                let flags = super::super::emitter::flags();
                self.c.b.ins().store(flags, *vector, address, bytes * n as i32);
            }
            return;
        }
        if let (Lanes::Affine(index), None, true) =
            (&index, &self.active, self.facts.only_byte_lanes)
        {
            let address = self.c.address(at, *index, ty);
            let vectors = match ty {
                Ty::Bool => {
                    let one = self.c.b.ins().iconst(types::I8, 1);
                    let one = self.c.b.ins().splat(types::I8X16, one);
                    let masks = self.mask(&value, 8);
                    masks.iter().map(|mask| self.c.b.ins().band(*mask, one)).collect()
                }
                Ty::I32 | Ty::I64 | Ty::F32 | Ty::F64 | Ty::U8 => self.wide(&value, ty),
            };
            for (n, vector) in vectors.iter().enumerate() {
                let flags = super::super::emitter::flags();
                self.c.b.ins().store(flags, *vector, address, 16 * n as i32);
            }
            return;
        }
        if let (Lanes::Affine(index), None, true) = (&index, &self.active, self.has_equal_lanes()) {
            let address = self.address(at, *index, ty);
            let vectors = match ty {
                Ty::Bool => self.convert(Ty::I32, Ty::Bool, &value),
                Ty::I32 | Ty::I64 | Ty::F32 | Ty::F64 | Ty::U8 => value,
            };
            let vectors = self.wide(&vectors, if ty == Ty::Bool { Ty::I32 } else { ty });
            let bytes = self.vector(types::I8);
            for (n, vector) in vectors.iter().enumerate() {
                let low = self.c.b.ins().ireduce(bytes, *vector);
                let at = n as i32 * bytes.bytes() as i32;
                self.c.b.ins().store(super::super::emitter::flags(), low, address, at);
            }
            return;
        }
        if let (Lanes::Affine(index), None, 8) = (&index, &self.active, self.elements) {
            let address = self.address(at, *index, ty);
            let bytes = self.bytes(&value, ty);
            self.c.b.ins().store(super::super::emitter::flags(), bytes, address, 0);
            return;
        }
        let active = self.active.clone();
        for element in 0..self.elements {
            let on = active.as_ref().map(|active| self.extract(active, Ty::Bool, element));
            let index = self.extract(&index, Ty::I64, element);
            let value = self.extract(&value, ty, element);
            self.c.when(on, |c| c.store(at, index, ty, value));
        }
    }

    /// Packs eight chars or bools into an `i64`.
    fn bytes(&mut self, value: &Lanes, ty: Ty) -> ir::Value {
        let two = match ty {
            Ty::Bool => self.mask(value, 32),
            Ty::I32 | Ty::I64 | Ty::F32 | Ty::F64 | Ty::U8 => self.wide(value, ty),
        };
        // The least byte of each lane, of the first vector and the second.
        let bytes = [0, 4, 8, 12, 16, 20, 24, 28, 0, 4, 8, 12, 16, 20, 24, 28];
        let low = self.shuffle(two[0], two[1], bytes, types::I64X2);
        let low = self.c.b.ins().extractlane(low, 0);
        match ty {
            Ty::Bool => self.c.b.ins().band_imm_s(low, 0x0101_0101_0101_0101),
            Ty::I32 | Ty::I64 | Ty::F32 | Ty::F64 | Ty::U8 => low,
        }
    }

    fn shape(&self, value: Value) -> Uniformity {
        self.facts.of(value)
    }

    fn value_ty(&self, value: Value) -> ValueTy {
        self.c.types[value.0 as usize]
    }

    /// The types of values as block parameters.
    fn types(&self, values: &[Value]) -> Vec<Type> {
        let each = |v: &Value| self.flat_types(self.value_ty(*v), self.shape(*v));
        values.iter().flat_map(each).collect()
    }

    /// Values as arguments for block parameters named `names`.
    fn hand(&mut self, values: &[Value], names: &[Value]) -> Vec<ir::Value> {
        let mut out = Vec::new();
        for (value, name) in values.iter().zip(names) {
            let (lanes, ty) = (self.get(*value), self.c.element_ty(*value));
            let shape = self.shape(*name);
            out.extend(self.flatten(&lanes, ty, shape));
        }
        out
    }

    /// Defines values from block parameters.
    fn take(&mut self, params: &[ir::Value], names: &[Value]) {
        let mut params = params.iter().copied();
        for name in names {
            let lanes = self.unflatten(&mut params, self.value_ty(*name), self.shape(*name));
            self.set(*name, lanes);
        }
    }

    /// Defines values from the parameters of a block.
    fn take_params(&mut self, block: ir::Block, names: &[Value]) {
        let params = self.c.b.block_params(block).to_vec();
        self.take(&params, names);
    }

    /// A uniform branch.
    fn branch(&mut self, inst: &'a Inst, cond: ir::Value, then: &'a Block, otherwise: &'a Block) {
        let join = self.types(&inst.results);
        let join = self.c.block_with(join);
        let (a, b) = (self.c.b.create_block(), self.c.b.create_block());
        self.c.b.ins().brif(cond, a, &[], b, &[]);
        for (at, block) in [(a, then), (b, otherwise)] {
            self.c.b.switch_to_block(at);
            self.block(block);
            let yields = self.hand(&block.yields, &inst.results);
            self.c.jump(join, &yields);
        }
        self.c.b.switch_to_block(join);
        self.take_params(join, &inst.results);
    }

    /// Returns true if a branch is duplicated, for groups that go one way together and for those that
    /// diverge. Each level of nesting duplicates the code inside once more: there are few, of little code.
    fn is_worth_both(&self, then: &Block, otherwise: &Block) -> bool {
        if self.duplicated_branches >= MAX_DUPLICATED_BRANCHES
            || (is_if_convertible(then) && is_if_convertible(otherwise))
        {
            return false;
        }
        let mut size = 0;
        walk::each_inst(then, &mut |_| size += 1);
        walk::each_inst(otherwise, &mut |_| size += 1);
        size <= MAX_DUPLICATED_INSTRUCTIONS
    }

    /// A branch that few elements take, or that the elements before some place take: a group of which `none`
    /// does executes only the second side, and one of which `all` do only the first.
    fn together(
        &mut self,
        inst: &'a Inst,
        (none, all): (ir::Value, Option<ir::Value>),
        cond: &Lanes,
        [then, otherwise]: [&'a Block; 2],
    ) {
        let join = self.types(&inst.results);
        let join = self.c.block_with(join);
        let (together, apart) = (self.c.b.create_block(), self.c.b.create_block());
        self.c.b.ins().brif(none, together, &[], apart, &[]);
        self.side(together, otherwise, join, &inst.results);
        self.c.b.switch_to_block(apart);
        if let Some(all) = all {
            let (together, apart) = (self.c.b.create_block(), self.c.b.create_block());
            self.c.b.ins().brif(all, together, &[], apart, &[]);
            self.side(together, then, join, &inst.results);
            self.c.b.switch_to_block(apart);
        }
        self.masked(inst, cond, then, otherwise);
        let yields = self.hand(&inst.results, &inst.results);
        self.c.jump(join, &yields);
        self.c.b.switch_to_block(join);
        self.take_params(join, &inst.results);
        // What the results were chosen from is not known here.
        for result in &inst.results {
            self.choices.remove(result);
        }
    }

    /// One side of a branch, for a group of which all elements take it.
    fn side(&mut self, at: ir::Block, side: &'a Block, join: ir::Block, results: &[Value]) {
        self.c.b.switch_to_block(at);
        self.duplicated_branches += 1;
        self.block(side);
        self.duplicated_branches -= 1;
        let yields = self.hand(&side.yields, results);
        self.c.jump(join, &yields);
    }

    /// A divergent branch: both sides under masks, or both for all elements (if-conversion).
    fn masked(&mut self, inst: &'a Inst, cond: &Lanes, then: &'a Block, otherwise: &'a Block) {
        let outer = self.active.clone();
        let cheap = is_if_convertible(then) && is_if_convertible(otherwise)
            || self.is_convertible_inside(then) && self.is_convertible_inside(otherwise);
        let mut sides = Vec::new();
        for (positive, block) in [(true, then), (false, otherwise)] {
            let ours = if positive { cond.clone() } else { self.not(cond) };
            let ours = self.both(&outer, &ours);
            if cheap || pure_operations(block) == Some(0) {
                self.block(block);
                sides.push(block.yields.iter().map(|v| self.get(*v)).collect::<Vec<_>>());
                continue;
            }
            let bits = self.mask_bits();
            let vectors = self.mask_as_is(&ours, bits);
            let any = self.any(&vectors);
            let work = self.c.b.create_block();
            let types = self.types(&inst.results);
            let join = self.c.block_with(types.iter().copied());
            let nothing: Vec<ir::Value> = types.iter().map(|ty| self.c.zero(*ty)).collect();
            self.c.branch(any, (work, &[]), (join, &nothing));
            self.c.b.switch_to_block(work);
            self.active = Some(ours);
            self.block(block);
            self.active = outer.clone();
            let yields = self.hand(&block.yields, &inst.results);
            self.c.jump(join, &yields);
            self.c.b.switch_to_block(join);
            self.take_params(join, &inst.results);
            sides.push(inst.results.iter().map(|v| self.get(*v)).collect());
        }
        let mut sides = sides.into_iter();
        let (first, second) = (sides.next().unwrap_or_default(), sides.next().unwrap_or_default());
        for (n, (a, b)) in first.into_iter().zip(second).enumerate() {
            let (result, then, otherwise) = (inst.results[n], then.yields[n], otherwise.yields[n]);
            let ty = self.c.element_ty(result);
            let known = |v: &Value| self.c.constants.get(v).copied();
            let chosen = match (known(&then), known(&otherwise)) {
                (Some(Literal::Bool(true)), Some(Literal::Bool(false))) => cond.clone(),
                (Some(Literal::Bool(false)), Some(Literal::Bool(true))) => self.not(cond),
                _ => self.choose(cond, &a, &b, ty),
            };
            self.set(result, chosen);
            let cond = cond.clone();
            let choice = Choice { cond, then: (then, a), otherwise: (otherwise, b) };
            self.choices.insert(result, choice);
        }
    }

    fn repeat(
        &mut self,
        inst: &'a Inst,
        init: &[Value],
        carried: &[Value],
        cond: &'a Block,
        body: &'a Block,
    ) {
        if self.facts.is_loop_predicate(cond.yields[0]) {
            return self.predicated_loop(inst, init, carried, cond.yields[0], body);
        }
        let by_point = self.shape(cond.yields[0]) != Uniformity::Uniform;
        let bits = self.mask_bits();
        let outer = self.active.clone();
        let mut start = self.hand(init, carried);
        let values = start.len();
        if by_point {
            // Which elements are still at it.
            let on = self.at_work(bits);
            start.extend(on);
        }
        let looped = self.c.begin_loop(&start);
        self.take(&looped.carried, carried);
        let going: Vectors = looped.carried[values..].iter().copied().collect();
        if by_point {
            self.active = Some(Lanes::Mask(bits, going));
        }
        self.c.poll();
        self.block(cond);
        let goes_on = self.get(cond.yields[0]);
        if !by_point {
            let goes_on = self.uniform(cond.yields[0]);
            self.c.loop_while(&looped, goes_on);
            self.block(body);
            let next = self.hand(&body.yields, carried);
            self.c.end_loop(&looped, &next);
        } else {
            let active = self.active.clone();
            let goes_on = Lanes::Mask(bits, self.mask(&goes_on, bits));
            let going = self.both(&active, &goes_on);
            let vectors = self.mask_as_is(&going, bits);
            let any = self.any(&vectors);
            self.c.loop_while(&looped, any);
            self.active = Some(going.clone());
            self.block(body);
            let mut next = self.keep(&going, &body.yields, carried);
            next.extend(vectors);
            self.c.end_loop(&looped, &next);
        }
        self.active = outer;
        self.take(&looped.carried, &inst.results);
    }

    /// The elements that take part, as masks.
    fn at_work(&mut self, bits: u8) -> Vectors {
        let on = match self.active.clone() {
            Some(active) => active,
            None => Lanes::Uniform(self.c.b.ins().iconst(types::I8, 1)),
        };
        self.mask(&on, bits)
    }

    /// A loop that carries its condition, the loop predicate: it masks the elements that stay. Carried
    /// values with dead lanes need no blend for the elements that have left.
    fn predicated_loop(
        &mut self,
        inst: &'a Inst,
        init: &[Value],
        carried: &[Value],
        flag: Value,
        body: &'a Block,
    ) {
        let bits = self.mask_bits();
        let outer = self.active.clone();
        let at =
            carried.iter().position(|name| *name == flag).or_bug("a loop predicate is carried");
        let others = |values: &[Value]| -> Vec<Value> {
            let all = values.iter().take(carried.len()).enumerate();
            all.filter(|(n, _)| *n != at).map(|(_, value)| *value).collect()
        };
        let (names, nexts, results) =
            (others(carried), others(&body.yields), others(&inst.results));
        let mut start = self.hand(&others(init), &names);
        let values = start.len();
        let begin = self.get(init[at]);
        let begin = Lanes::Mask(bits, self.mask(&begin, bits));
        let begin = self.both(&outer, &begin);
        let begin = self.mask_as_is(&begin, bits);
        start.extend(begin);
        let looped = self.c.begin_loop(&start);
        self.take(&looped.carried, &names);
        let going: Vectors = looped.carried[values..].iter().copied().collect();
        let any = self.any(&going);
        self.c.loop_while(&looped, any);
        let going = Lanes::Mask(bits, going);
        self.active = Some(going.clone());
        self.c.poll();
        let on = self.c.b.ins().iconst(types::I8, 1);
        self.set(flag, Lanes::Uniform(on));
        self.block(body);
        let mut next = Vec::new();
        for (name, value) in names.iter().zip(&nexts) {
            match self.facts.next_with_dead_lanes(*name) {
                Some(onward) => next.extend(self.hand(&[onward], &[*name])),
                None => next.extend(self.keep(&going, &[*value], &[*name])),
            }
        }
        let goes_on = self.get(body.yields[at]);
        let goes_on = Lanes::Mask(bits, self.mask(&goes_on, bits));
        let goes_on = self.both(&Some(going), &goes_on);
        next.extend(self.mask_as_is(&goes_on, bits));
        self.c.end_loop(&looped, &next);
        self.active = outer;
        self.take(&looped.carried, &results);
        let off = self.c.b.ins().iconst(types::I8, 0);
        self.set(inst.results[at], Lanes::Uniform(off));
    }

    /// The next carried values: new for the elements that take part, unchanged for the others.
    fn keep(&mut self, going: &Lanes, yields: &[Value], carried: &[Value]) -> Vec<ir::Value> {
        let mut next = Vec::new();
        for (value, name) in yields.iter().zip(carried) {
            let ty = self.c.element_ty(*name);
            let old = self.get(*name);
            // Where one side of a branch leaves it as it is, both choices are one.
            let chosen = match self.choices.get(value).cloned() {
                Some(Choice { cond, then, otherwise }) if otherwise.0 == *name => {
                    let changes = self.both(&Some(going.clone()), &cond);
                    self.choose(&changes, &then.1, &old, ty)
                }
                Some(Choice { cond, then, otherwise }) if then.0 == *name => {
                    let stays = self.not(&cond);
                    let changes = self.both(&Some(going.clone()), &stays);
                    self.choose(&changes, &otherwise.1, &old, ty)
                }
                _ => {
                    let new = self.get(*value);
                    self.choose(going, &new, &old, ty)
                }
            };
            next.extend(self.flatten(&chosen, ty, Uniformity::Varying));
        }
        next
    }

    /// A counted loop; with divergent counts, until no element is left.
    fn counted(&mut self, inst: &'a Inst) {
        let Op::For { count, index, init, carried, reduce, body } = &inst.op else {
            bug!("only counted loops are executed as such")
        };
        let reduced = &inst.results[init.len()..];
        let elements = &body.yields[init.len()..];
        let by_point = self.shape(*count) != Uniformity::Uniform;
        let outer = self.active.clone();
        let counts = self.get(*count);
        let mut start = vec![self.c.int(0)];
        start.extend(self.hand(init, carried));
        for (combine, result) in reduce.iter().zip(reduced) {
            let ty = self.c.element_ty(*result);
            let neutral = self.c.literal(combine.neutral(ty));
            let shape = self.shape(*result);
            start.extend(self.flatten(&Lanes::Uniform(neutral), ty, shape));
        }
        let looped = self.c.begin_loop(&start);
        let at = looped.carried[0];
        self.set(*index, Lanes::Uniform(at));
        let all: Vec<Value> = carried.iter().chain(reduced).copied().collect();
        self.take(&looped.carried[1..], &all);
        let mut going = None;
        if by_point {
            let vector = self.lane(Ty::I64);
            let here = self.c.b.ins().splat(vector, at);
            let counts = self.wide(&counts, Ty::I64);
            let less = counts.iter().map(|n| self.c.b.ins().icmp(IntCC::SignedLessThan, here, *n));
            let less = Lanes::Mask(64, less.collect());
            let on = self.both(&outer, &less);
            let vectors = self.mask_as_is(&on, 64);
            let any = self.any(&vectors);
            self.c.loop_while(&looped, any);
            going = Some(on);
        } else {
            let count = self.uniform(*count);
            let less = self.c.b.ins().icmp(IntCC::SignedLessThan, at, count);
            self.c.loop_while(&looped, less);
        }
        if by_point {
            self.active = going.clone();
        }
        self.c.poll();
        let before: Vec<Lanes> = reduced.iter().map(|v| self.get(*v)).collect();
        self.block(body);
        let mut next = vec![self.c.b.ins().iadd_imm_s(at, 1)];
        match &going {
            Some(going) => next.extend(self.keep(going, &body.yields[..init.len()], carried)),
            None => next.extend(self.hand(&body.yields[..init.len()], carried)),
        }
        for (n, combine) in reduce.iter().enumerate() {
            let (ty, shape) = (self.c.element_ty(elements[n]), self.shape(reduced[n]));
            let x = self.get(elements[n]);
            let mut sum = self.combine(*combine, ty, &before[n], &x);
            if let Some(going) = &going {
                sum = self.choose(going, &sum, &before[n], ty);
            }
            next.extend(self.flatten(&sum, ty, shape));
        }
        self.c.end_loop(&looped, &next);
        self.active = outer;
        self.take(&looped.carried[1..], &inst.results);
    }

    /// Combines the values of each element.
    pub fn combine(&mut self, op: Combine, ty: Ty, acc: &Lanes, x: &Lanes) -> Lanes {
        if let (Lanes::Uniform(acc), Lanes::Uniform(x)) = (acc, x) {
            return Lanes::Uniform(self.c.combine(op, ty, *acc, *x));
        }
        if ty == Ty::Bool {
            let bits = self.mask_bits();
            let (acc, x) = (self.mask(acc, bits), self.mask(x, bits));
            let each = |(acc, x): (&ir::Value, &ir::Value)| self.c.combine(op, ty, *acc, *x);
            return Lanes::Mask(bits, acc.iter().zip(&x).map(each).collect());
        }
        let (acc, x) = (self.wide(acc, ty), self.wide(x, ty));
        let as_lane = if ty == Ty::U8 { Ty::I32 } else { ty };
        let each = |(acc, x): (&ir::Value, &ir::Value)| self.c.combine(op, as_lane, *acc, *x);
        Lanes::Varying(acc.iter().zip(&x).map(each).collect())
    }

    /// Values of a type from vectors.
    pub fn lanes_of(&self, ty: Ty, vectors: Vectors) -> Lanes {
        match ty {
            Ty::Bool => Lanes::Mask(self.mask_bits(), vectors),
            Ty::I32 | Ty::I64 | Ty::F32 | Ty::F64 | Ty::U8 => Lanes::Varying(vectors),
        }
    }

    /// Combines the elements of a group with each other until `elements` are left.
    pub fn folded(&mut self, op: Combine, ty: Ty, lanes: &Lanes, elements: usize) -> Lanes {
        let mut vectors = self.flatten(lanes, ty, Uniformity::Varying);
        let as_lane = if ty == Ty::U8 { Ty::I32 } else { ty };
        for _ in 0..(self.elements / elements).ilog2() {
            if let [single] = vectors[..] {
                let [low, high] = self.split(single);
                vectors = smallvec![self.c.combine(op, as_lane, low, high)];
                continue;
            }
            let half = vectors.len() / 2;
            let halves =
                (0..half).map(|n| self.c.combine(op, as_lane, vectors[n], vectors[n + half]));
            vectors = halves.collect();
        }
        self.lanes_of(ty, vectors)
    }

    /// Reduces the elements of a group to one.
    pub fn across(&mut self, op: Combine, ty: Ty, lanes: &Lanes) -> ir::Value {
        let mut vectors = match ty {
            Ty::Bool => {
                let bits = self.mask_bits();
                self.mask(lanes, bits)
            }
            Ty::I32 | Ty::I64 | Ty::F32 | Ty::F64 | Ty::U8 => self.wide(lanes, ty),
        };
        let as_lane = if ty == Ty::U8 { Ty::I32 } else { ty };
        while vectors.len() > 1 {
            let half = vectors.len() / 2;
            let halves =
                (0..half).map(|n| self.c.combine(op, as_lane, vectors[n], vectors[n + half]));
            vectors = halves.collect();
        }
        // The order is that of vectors of 128 bits, whatever the width.
        let bytes = |this: &Self, vector| this.c.b.func.dfg.value_type(vector).bytes() as usize;
        while ty != Ty::Bool && bytes(self, vectors[0]) > VECTOR_BYTES {
            let [low, high] = self.split(vectors[0]);
            vectors[0] = self.c.combine(op, as_lane, low, high);
        }
        let vector = self.c.b.func.dfg.value_type(vectors[0]);
        let single = self.lanes_of(ty, vectors);
        let each = |element| self.extract(&single, ty, element);
        let mut lanes: Vec<ir::Value> = (0..vector.lane_count() as usize).map(each).collect();
        while lanes.len() > (VECTOR_BYTES / vector.lane_type().bytes() as usize).max(1) {
            let half = lanes.len() / 2;
            let halves = (0..half).map(|n| self.c.combine(op, ty, lanes[n], lanes[n + half]));
            lanes = halves.collect();
        }
        let mut all = lanes[0];
        for next in &lanes[1..] {
            all = self.c.combine(op, ty, all, *next);
        }
        all
    }

    /// The lower and the upper half of a wide vector.
    fn split(&mut self, vector: ir::Value) -> [ir::Value; 2] {
        let ty = self.c.b.func.dfg.value_type(vector);
        let half = ty.lane_type().by(ty.lane_count() / 2).or_bug("a vector has two halves");
        // Wide code splits vectors where Cranelift splits lanes.
        let words = types::I64.by(ty.bits() / 64).or_bug("a wide vector has several words");
        let words = self.c.b.ins().bitcast(words, little(), vector);
        let (low, high) = self.c.b.ins().isplit(words);
        [low, high].map(|words| self.c.b.ins().bitcast(half, little(), words))
    }
}

/// The largest depth of duplicated branches: the borders of a plane or a space.
const MAX_DUPLICATED_BRANCHES: u32 = 6;

/// The largest number of instructions of a duplicated branch.
const MAX_DUPLICATED_INSTRUCTIONS: usize = 400;
