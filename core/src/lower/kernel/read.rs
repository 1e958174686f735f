//! The inputs of a kernel: values at the index that a thread has in their index space.
//!
//! First the inputs are listed ([`Inputs`]), then they become parameters ([`InputParams`]), and at
//! the beginning of the code each value is loaded at its index.

use super::super::repr::{
    self, Columns, LoweredSequence, LoweredValue, StoredSequence, columns_from_parts, element_ty,
};
use super::super::sequential::rooms;
use super::{KernelLowering, KernelParam};
use crate::flat::{Let, Op, SpaceId, SpaceKind};
use crate::ir::{Atom, Ty, Var};
use nesl_runtime::bug::OrBug;
use nesl_runtime::kir::{self, Space as KirSpace, Value, ValueTy};
use rustc_hash::FxHashSet;

const INT: ValueTy = ValueTy::Scalar(kir::Ty::I64);
const INTS: ValueTy = ValueTy::Array(kir::Ty::I64);

/// The values that a kernel reads and does not compute.
#[derive(Default)]
struct Inputs {
    /// The values that are read, in the order of their first use.
    values: Vec<Var>,
    /// The sequences whose elements are the elements of the kernel's index space in order, so that
    /// only the columns of the elements are read.
    pools: Vec<Var>,
    /// True if a value depends on the segment of a thread or on its position there.
    segments: bool,
    /// The index spaces of sequences that are written to.
    written: Vec<SpaceId>,
}

/// Adds a variable to a list unless it is there.
fn add(list: &mut Vec<Var>, var: Var) {
    if !list.contains(&var) {
        list.push(var);
    }
}

/// The kir parameters that a kernel reads.
pub(super) struct InputParams {
    /// The index space, with its parameters.
    space: KirSpace,
    /// The parts of each value.
    values: Vec<(Var, Vec<Value>)>,
    /// The rooms of the values that may be overwritten.
    rooms: Vec<(Var, Vec<Value>)>,
    /// The columns of the elements of each sequence.
    pools: Vec<(Var, Vec<Value>)>,
    /// The pools of sequences that are also read as values, whose arrays contain the elements
    /// already.
    shared: Vec<Var>,
    /// The array of each [`KernelParam::Map`].
    maps: Vec<(SpaceId, Value)>,
}

impl<'a> KernelLowering<'a> {
    /// Adds a kir parameter and returns its value.
    pub(super) fn kir_param(&mut self, ty: ValueTy) -> Value {
        let value = self.builder.param(ty);
        self.kir_params.push(value);
        value
    }

    /// Returns the number of the next kir value; all parameters so far have smaller numbers.
    pub(super) fn next_value(&mut self) -> u32 {
        self.builder.body.value(INT).0
    }

    /// Adds the parameters of all inputs of the kernel.
    pub(super) fn add_inputs(&mut self, lets: &'a [Let]) -> InputParams {
        let Inputs { values, pools, mut segments, written } = self.inputs_of(lets);
        let (shared, pools): (Vec<Var>, Vec<Var>) =
            pools.into_iter().partition(|var| values.contains(var));
        let homes = values.iter().map(|var| self.values[var].0).chain(written);
        let (maps, through_segments) = self.maps_to(homes);
        segments |= through_segments;
        let space = self.add_space(segments);
        let maps = maps.into_iter().map(|space| (space, self.add_map(space))).collect();
        let given = self.given_to(lets, &values, &shared);
        let values = values.into_iter().map(|var| (var, self.add_value(var))).collect();
        let pools = pools.into_iter().map(|var| (var, self.add_pool(var))).collect();
        let rooms = given.iter().map(|(var, ty)| (*var, self.add_rooms(*var, ty))).collect();
        self.given = given;
        InputParams { space, values, rooms, pools, shared, maps }
    }

    /// Returns the inputs that the kernel may overwrite where nobody else uses them. The kernel is sequential code for
    /// a single element that uses each of them once: otherwise they might be read after they were overwritten.
    fn given_to(&self, lets: &[Let], values: &[Var], shared: &[Var]) -> Vec<(Var, &'a Ty)> {
        let [Let { op: Op::Sequential(block), space, .. }] = lets else { return Vec::new() };
        if !self.code.limits.gives_arguments || !self.single(*space) {
            return Vec::new();
        }
        let is_stored = |var| self.kernel.stores.iter().any(|(stored, _)| *stored == var);
        let candidates = values.iter().filter(|var| !shared.contains(var) && !is_stored(**var));
        let given = candidates.filter_map(|var| {
            let (home, ty) = &self.values[var];
            let is_given =
                self.single(*home) && rooms::is_flat(ty) && self.code.may_overwrite(block, *var);
            is_given.then_some((*var, ty))
        });
        given.collect()
    }

    /// Lists the values that the kernel reads and does not compute itself.
    fn inputs_of(&self, lets: &[Let]) -> Inputs {
        let own: FxHashSet<Var> = lets.iter().map(|binding| binding.var).collect();
        let outside = |var: Var| !own.contains(&var) && self.values.contains_key(&var);
        let mut inputs = Inputs::default();
        for binding in lets {
            self.add_inputs_of(binding, &outside, &mut inputs);
        }
        let flags = self.kernel.masks.iter().filter_map(|mask| {
            match self.function.index_space(*mask).kind {
                SpaceKind::Filter { flag, .. } => Some(flag),
                SpaceKind::Caller
                | SpaceKind::Elements { .. }
                | SpaceKind::Count { .. }
                | SpaceKind::Concat { .. } => None,
            }
        });
        let stores = self.kernel.stores.iter().map(|(var, _)| *var);
        for var in flags.chain(stores).filter(|var| outside(*var)) {
            add(&mut inputs.values, var);
        }
        inputs.segments |= !self.kernel.counts.is_empty();
        inputs
    }

    fn add_inputs_of(&self, binding: &Let, outside: &dyn Fn(Var) -> bool, inputs: &mut Inputs) {
        let Inputs { values, pools, segments, written } = inputs;
        let mut read = |var: Var| {
            if outside(var) {
                add(values, var);
            }
        };
        match &binding.op {
            Op::Element { of: sequence, .. } => {
                let home = self.values[sequence].0;
                let contiguous = self.single(home) && self.outer().is_none()
                    || self.variant.tiled.contains(sequence);
                if !contiguous {
                    *segments = true;
                    read(*sequence);
                } else if outside(*sequence) {
                    add(pools, *sequence);
                }
            }
            Op::Position { .. } => *segments = true,
            Op::Reduce { value, .. } | Op::Scan { value, .. } => {
                *segments = true;
                if let Atom::Var(var) = value {
                    read(*var);
                }
            }
            Op::Scatter { of, index, value, .. } => {
                // If the result is stored, the sequence is passed as a parameter of its own to be
                // overwritten.
                let checked = Some(*of).filter(|_| !self.is_stored(binding)).map(Atom::Var);
                for atom in [*index, *value].into_iter().chain(checked) {
                    if let Atom::Var(var) = atom {
                        read(var);
                    }
                }
                written.push(binding.space);
            }
            // The index space of a histogram has only one segment.
            Op::Histogram { .. } => binding.op.each_use(&mut read),
            op => op.each_use(&mut read),
        }
    }

    /// Adds the parameters of the kernel's index space.
    fn add_space(&mut self, segments: bool) -> KirSpace {
        match self.outer() {
            Some(_) if segments && self.variant.regular => {
                self.params.extend([KernelParam::Segments, KernelParam::Length]);
                KirSpace::Regular { segments: self.kir_param(INT), length: self.kir_param(INT) }
            }
            Some(_) if segments => {
                self.params.extend([KernelParam::Segments, KernelParam::Offsets]);
                KirSpace::Segmented { segments: self.kir_param(INT), offsets: self.kir_param(INTS) }
            }
            Some(_) | None => {
                self.params.push(KernelParam::Count);
                KirSpace::Flat { count: self.kir_param(INT) }
            }
        }
    }

    fn add_map(&mut self, space: SpaceId) -> Value {
        self.params.push(KernelParam::Map(space));
        self.kir_param(INTS)
    }

    fn add_value(&mut self, var: Var) -> Vec<Value> {
        let (home, ty) = &self.values[&var];
        let parts = if self.single(*home) {
            repr::parts(ty, self.precision)
        } else {
            repr::columns(ty, self.precision)
        };
        self.params.push(KernelParam::Value(var));
        parts.into_iter().map(|part| self.kir_param(part)).collect()
    }

    fn add_rooms(&mut self, var: Var, ty: &Ty) -> Vec<Value> {
        self.params.push(KernelParam::Rooms(var));
        (0..rooms::count(ty)).map(|_| self.kir_param(INT)).collect()
    }

    fn add_pool(&mut self, var: Var) -> Vec<Value> {
        let parts = repr::columns(element_ty(&self.values[&var].1), self.precision);
        self.params.push(KernelParam::Pool(var));
        parts.into_iter().map(|part| self.kir_param(part)).collect()
    }

    /// Returns true if the kernel stores a value that it computes.
    pub(super) fn is_stored(&self, binding: &Let) -> bool {
        self.kernel.stores.iter().any(|(var, _)| *var == binding.var)
    }

    /// Returns the index spaces whose maps are needed to compute the index of a thread in the index
    /// spaces `homes`, and true if one of these computations begins with the segment of the thread.
    fn maps_to(&self, homes: impl Iterator<Item = SpaceId>) -> (Vec<SpaceId>, bool) {
        let over = self.kernel.space;
        let (mut maps, mut through_segments) = (Vec::new(), false);
        for home in homes {
            let mut at = over;
            while at != home && !self.single(home) {
                if at == over && self.leads_by_segment(at, home) {
                    through_segments = true;
                    at = self.segments_of(at);
                    continue;
                }
                // The elements of concatenated segments are those of the inner space.
                if !matches!(self.function.index_space(at).kind, SpaceKind::Concat { .. })
                    && !maps.contains(&at)
                {
                    maps.push(at);
                }
                at = self.next_outer(at);
            }
        }
        (maps, through_segments)
    }

    /// Returns true if the index in `home` is computed from the segment of the thread.
    fn leads_by_segment(&self, over: SpaceId, home: SpaceId) -> bool {
        match self.function.index_space(over).kind {
            // A filter has segments of its own, with the spaces around its base around them.
            SpaceKind::Filter { .. } => {
                let outer = self.function.segments_of(over);
                outer.is_some_and(|outer| self.function.is_within(outer, home))
            }
            SpaceKind::Elements { .. } | SpaceKind::Count { .. } => true,
            // A concatenated segment does not determine the segment inside.
            SpaceKind::Concat { of, .. } => self.function.is_within(of, home),
            SpaceKind::Caller => false,
        }
    }

    /// Returns the index space around another, or the inner one of a `Concat`.
    fn next_outer(&self, space: SpaceId) -> SpaceId {
        match self.function.index_space(space).kind {
            SpaceKind::Concat { inner, .. } => inner,
            _ => self
                .function
                .index_space(space)
                .around()
                .or_bug("all index spaces are inside the caller's"),
        }
    }

    /// Returns the index space with an element for each segment of another.
    fn segments_of(&self, space: SpaceId) -> SpaceId {
        self.function.segments_of(space).or_bug("the caller's index space has no segments")
    }

    /// Begins the code of a thread: computes its index and segment, and loads the inputs.
    pub(super) fn begin_code(&mut self, inputs: InputParams) {
        let over = self.kernel.space;
        let element = self.builder.over(inputs.space);
        self.code.body = std::mem::take(&mut self.builder.body);
        let index = *element.last().or_bug("every element has an index");
        self.indices.insert(over, index);
        let mut at = over;
        while let SpaceKind::Concat { inner, .. } = self.function.index_space(at).kind {
            at = inner;
            self.indices.insert(at, index);
        }
        let (segment, position) = match element[..] {
            [segment, position, _] => (Some(segment), position),
            _ => (None, index),
        };
        self.segment = segment;
        self.position = Some(position);
        self.maps = inputs.maps.into_iter().collect();
        for (var, parts) in inputs.values {
            self.load_value(var, parts, inputs.shared.contains(&var));
        }
        for (var, rooms) in inputs.rooms {
            if let Some((value, ty)) = self.code.env.get_mut(&var) {
                *value = value.with_rooms(ty, &mut rooms.into_iter());
            }
        }
        for (var, parts) in inputs.pools {
            let element = element_ty(&self.values[&var].1);
            let extent = self.zero();
            let columns = columns_from_parts(element, extent, &mut parts.into_iter());
            self.pools.insert(var, columns);
        }
    }

    /// Loads an input at the thread's index. With `shared`, its columns are also the pool of a
    /// sequence whose elements are those of the index space.
    fn load_value(&mut self, var: Var, parts: Vec<Value>, shared: bool) {
        let (home, ty) = &self.values[&var];
        let mut parts = parts.into_iter();
        let value = if self.single(*home) {
            let value = self.code.assemble(ty, &mut parts);
            if let (true, LoweredValue::Sequence(LoweredSequence::Stored(stored))) =
                (shared, &value)
            {
                self.pools.insert(var, stored.columns.clone());
            }
            value
        } else {
            let extent = self.zero();
            let columns = columns_from_parts(ty, extent, &mut parts);
            if let (true, Columns::Views(views)) = (shared, &columns) {
                self.pools.insert(var, views.pool.clone());
            }
            let index = self.index_in(*home);
            self.code.row(&columns, index)
        };
        self.code.env.insert(var, (value, ty));
    }

    /// Returns the thread's index in an index space around the kernel's.
    pub(super) fn index_in(&mut self, home: SpaceId) -> Value {
        if let Some(index) = self.indices.get(&home) {
            return *index;
        }
        let over = self.kernel.space;
        let (mut at, mut index) = (over, self.indices[&over]);
        while at != home {
            let by_segment = at == over && self.leads_by_segment(over, home);
            let outer = if by_segment { self.segments_of(at) } else { self.next_outer(at) };
            index = match self.indices.get(&outer) {
                Some(known) => *known,
                None if by_segment => {
                    self.segment.or_bug("a kernel that needs segments iterates by segments")
                }
                // The elements of concatenated segments are those of the inner space.
                None if matches!(self.function.index_space(at).kind, SpaceKind::Concat { .. }) => {
                    index
                }
                None => {
                    let map = self.maps[&at];
                    self.code.body.load(map, index)
                }
            };
            self.indices.insert(outer, index);
            at = outer;
        }
        index
    }

    /// Returns the position of the thread's element in its segment.
    pub(super) fn position(&self) -> Value {
        self.position.or_bug("the code of the kernel was begun")
    }

    /// Returns the thread's element of a sequence.
    pub(super) fn element(&mut self, sequence: Var) -> LoweredValue<'a> {
        if let Some(pool) = self.pools.get(&sequence).cloned() {
            let index = self.indices[&self.kernel.space];
            return self.code.row(&pool, index);
        }
        let of = self.code.atom(Atom::Var(sequence)).sequence();
        let position = self.position();
        self.code.element(&of, position)
    }

    /// Returns true for a kir value that is a parameter read by the kernel, and therefore uniform.
    pub(super) fn is_input(&self, value: Value) -> bool {
        value.0 < self.inputs
    }

    /// Returns true if all arrays and extents of some columns are inputs.
    pub(super) fn are_inputs(&self, columns: &Columns) -> bool {
        match columns {
            Columns::Unit => true,
            Columns::Scalars(column) => self.is_input(column.array) && self.is_input(column.extent),
            Columns::Pair(both) => self.are_inputs(&both.0) && self.are_inputs(&both.1),
            Columns::Views(views) => {
                self.is_input(views.starts.array)
                    && self.is_input(views.lengths.array)
                    && self.is_input(views.extent)
                    && self.are_inputs(&views.pool)
            }
        }
    }

    /// Returns a sequence as a stored one; materialises it if it is fused.
    pub(super) fn stored(&mut self, value: &LoweredValue<'a>, ty: &'a Ty) -> StoredSequence {
        self.code.materialise(value, ty).stored_sequence()
    }
}
