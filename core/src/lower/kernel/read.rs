//! What a kernel reads: at the place that a point has in the context where it lives.

use super::super::layout::{self, Columns, Rep, Sequence, Stored};
use super::super::sequential::rebuild_columns;
use super::{Lowering, Take};
use crate::flat::{Let, Op, SpaceId, SpaceKind};
use crate::ir::{Atom, Ty, Var};
use nesl_runtime::kir::{self, Space as KirSpace, Value, ValueTy};
use rustc_hash::FxHashSet;

const INT: ValueTy = ValueTy::Scalar(kir::Ty::I64);
const INTS: ValueTy = ValueTy::Array(kir::Ty::I64);

/// The parameters of what is read.
pub(super) struct Reads {
    space: KirSpace,
    values: Vec<(Var, Vec<Value>)>,
    pools: Vec<(Var, Vec<Value>)>,
    /// Sequences that are read as values too: their elements are in the same arrays.
    shared: Vec<Var>,
    maps: Vec<(SpaceId, Value)>,
}

impl<'a> Lowering<'a> {
    /// One more parameter.
    pub(super) fn param(&mut self, ty: ValueTy) -> Value {
        let value = self.builder.param(ty);
        self.params.push(value);
        value
    }

    /// How many values are parameters.
    pub(super) fn takes_in_kir(&mut self) -> u32 {
        // The next value is the first that is none.
        let next = self.builder.body.value(INT);
        next.0
    }

    pub(super) fn take_inputs(&mut self, lets: &'a [Let]) -> Reads {
        let own: FxHashSet<Var> = lets.iter().map(|binding| binding.var).collect();
        let mut values: Vec<Var> = Vec::new();
        let mut pools: Vec<Var> = Vec::new();
        let mut segments = false;
        // Where sequences live that are written to.
        let mut rows: Vec<SpaceId> = Vec::new();
        let read = |var: Var, list: &mut Vec<Var>| {
            if !own.contains(&var) && self.values.contains_key(&var) && !list.contains(&var) {
                list.push(var);
            }
        };
        for binding in lets {
            match &binding.op {
                Op::Element { of: sequence, .. } => {
                    let home = self.values[sequence].0;
                    let tiled = self.single(home) && self.outer().is_none()
                        || self.variant.tiled.contains(sequence);
                    if tiled {
                        read(*sequence, &mut pools);
                    } else {
                        segments = true;
                        read(*sequence, &mut values);
                    }
                }
                Op::Position => segments = true,
                Op::Reduce { .. } | Op::Scan { .. } => segments = true,
                // There is one segment.
                Op::Histogram { .. } => binding.op.each_use(&mut |var| read(var, &mut values)),
                Op::Scatter { of, place, value, .. } => {
                    let stored = self.kernel.stores.iter().any(|(var, _)| *var == binding.var);
                    let kept = Some(*of).filter(|_| !stored).map(Atom::Var);
                    for atom in [*place, *value].into_iter().chain(kept) {
                        if let Atom::Var(var) = atom {
                            read(var, &mut values);
                        }
                    }
                    rows.push(binding.ctx);
                }
                op => op.each_use(&mut |var| read(var, &mut values)),
            }
            if let Op::Reduce { value, .. } | Op::Scan { value, .. } = &binding.op
                && let Atom::Var(var) = value
            {
                read(*var, &mut values);
            }
        }
        for mask in &self.kernel.masks {
            if let SpaceKind::Filter { flag, .. } = self.function.context(*mask).kind {
                read(flag, &mut values);
            }
        }
        for (var, _) in &self.kernel.stores {
            read(*var, &mut values);
        }
        segments |= !self.kernel.counts.is_empty();
        let (shared, pools): (Vec<Var>, Vec<Var>) =
            pools.into_iter().partition(|var| values.contains(var));
        let homes = values.iter().map(|var| self.values[var].0).chain(rows);
        let (maps, through) = self.maps(homes);
        segments |= through;
        let over = self.kernel.space;
        let space = match self.outer() {
            Some(_) if segments && self.variant.regular => {
                self.takes.extend([Take::Segments, Take::Length]);
                KirSpace::Regular { segments: self.param(INT), length: self.param(INT) }
            }
            Some(_) if segments => {
                self.takes.extend([Take::Segments, Take::Offsets]);
                KirSpace::Segmented { segments: self.param(INT), offsets: self.param(INTS) }
            }
            Some(_) | None => {
                self.takes.push(Take::Count);
                KirSpace::Flat { count: self.param(INT) }
            }
        };
        debug_assert!(self.function.spaces.len() > over.0 as usize);
        let maps = maps
            .into_iter()
            .map(|ctx| {
                self.takes.push(Take::Map(ctx));
                (ctx, self.param(INTS))
            })
            .collect();
        let values = values
            .into_iter()
            .map(|var| {
                let (home, ty) = &self.values[&var];
                let parts = if self.single(*home) {
                    layout::parts(ty, self.precision)
                } else {
                    layout::columns(ty, self.precision)
                };
                self.takes.push(Take::Value(var));
                (var, parts.into_iter().map(|part| self.param(part)).collect())
            })
            .collect();
        let pools = pools
            .into_iter()
            .map(|var| {
                let element = self.values[&var].1.element().expect("types were checked");
                let parts = layout::columns(element, self.precision);
                self.takes.push(Take::Pool(var));
                (var, parts.into_iter().map(|part| self.param(part)).collect())
            })
            .collect();
        Reads { space, values, pools, shared, maps }
    }

    /// The spaces whose maps lead to those where values live, and whether the first step is
    /// over the segments of the kernel.
    fn maps(&self, homes: impl Iterator<Item = SpaceId>) -> (Vec<SpaceId>, bool) {
        let over = self.kernel.space;
        let (mut maps, mut through) = (Vec::new(), false);
        for home in homes {
            let mut at = over;
            while at != home && !self.single(home) {
                if at == over && self.by_segment(at, home) {
                    through = true;
                    at = self.function.segments_of(at).expect("there is a context around");
                    continue;
                }
                // The points of joined segments are those inside.
                if !matches!(self.function.context(at).kind, SpaceKind::Concat { .. })
                    && !maps.contains(&at)
                {
                    maps.push(at);
                }
                at = self.step(at);
            }
        }
        (maps, through)
    }

    /// Whether the way from what a kernel goes over to a context begins with the segment.
    fn by_segment(&self, over: SpaceId, home: SpaceId) -> bool {
        match self.function.context(over).kind {
            // A filter has its own segments: what lives around those of its base is found there.
            SpaceKind::Filter { .. } => {
                let outer = self.function.segments_of(over);
                outer.is_some_and(|outer| self.function.is_within(outer, home))
            }
            SpaceKind::Elements { .. } | SpaceKind::Count { .. } => true,
            // What lives inside of the joined spaces is not found by the joined segment.
            SpaceKind::Concat { of, .. } => self.function.is_within(of, home),
            SpaceKind::Caller => false,
        }
    }

    /// The context that the map of another leads to.
    fn step(&self, ctx: SpaceId) -> SpaceId {
        match self.function.context(ctx).kind {
            SpaceKind::Concat { inner, .. } => inner,
            _ => self.function.context(ctx).around().expect("the way ends at the caller"),
        }
    }

    /// Begins the code: the place of the point in each context, and the values it reads there.
    pub(super) fn enter(&mut self, reads: Reads) {
        let over = self.kernel.space;
        let point = self.builder.over(reads.space);
        self.thread.body = std::mem::take(&mut self.builder.body);
        let index = *point.last().expect("every point has an index");
        self.places.insert(over, index);
        let mut inner = over;
        while let SpaceKind::Concat { inner: points, .. } = self.function.context(inner).kind {
            inner = points;
            self.places.insert(inner, index);
        }
        let (segment, position) = match point[..] {
            [segment, position, _] => (Some(segment), position),
            _ => (None, index),
        };
        self.segment = segment;
        self.position = Some(position);
        self.maps = reads.maps.into_iter().collect();
        for (var, parts) in reads.values {
            let (home, ty) = &self.values[&var];
            let mut parts = parts.into_iter();
            let shared = reads.shared.contains(&var);
            let rep = if self.single(*home) {
                let rep = self.thread.rebuild(ty, &mut parts);
                if let (true, Rep::Sequence(Sequence::Stored(stored))) = (shared, &rep) {
                    self.pools.insert(var, stored.columns.clone());
                }
                rep
            } else {
                let extent = self.zero();
                let columns = rebuild_columns(ty, extent, &mut parts);
                if let (true, Columns::Segments(segments)) = (shared, &columns) {
                    self.pools.insert(var, segments.pool.clone());
                }
                let place = self.place(*home);
                self.thread.at(&columns, place)
            };
            self.thread.env.insert(var, (rep, ty));
        }
        for (var, parts) in reads.pools {
            let element = self.values[&var].1.element().expect("types were checked");
            let extent = self.zero();
            let columns = rebuild_columns(element, extent, &mut parts.into_iter());
            self.pools.insert(var, columns);
        }
    }

    /// The place of the point at hand in a context.
    pub(super) fn place(&mut self, home: SpaceId) -> Value {
        if let Some(place) = self.places.get(&home) {
            return *place;
        }
        // The spaces on the way, from the inside.
        let over = self.kernel.space;
        let mut way = vec![over];
        let mut at = over;
        while at != home {
            at = if at == over && self.by_segment(at, home) {
                self.function.segments_of(at).expect("there is a context around")
            } else {
                self.step(at)
            };
            way.push(at);
        }
        let mut place = self.places[&over];
        for pair in way.windows(2) {
            let [inner, outer] = pair else { unreachable!("pairs") };
            place = match self.places.get(outer) {
                Some(known) => *known,
                None if *inner == over && self.by_segment(over, home) => {
                    self.segment.expect("it goes over segments")
                }
                // The points of joined segments are those inside.
                None if matches!(self.function.context(*inner).kind, SpaceKind::Concat { .. }) => {
                    place
                }
                None => {
                    let map = self.maps[inner];
                    self.thread.body.load(map, place)
                }
            };
            self.places.insert(*outer, place);
        }
        place
    }

    /// The position of the point in its segment.
    pub(super) fn position(&mut self) -> Value {
        self.position.expect("the code was begun")
    }

    /// The element of a sequence.
    pub(super) fn element(&mut self, sequence: Var) -> Rep<'a> {
        if let Some(pool) = self.pools.get(&sequence).cloned() {
            let index = self.places[&self.kernel.space];
            return self.thread.at(&pool, index);
        }
        let of = self.thread.atom(Atom::Var(sequence)).sequence();
        let position = self.position();
        self.thread.element(&of, position)
    }

    /// Whether an array, or a length, is one that the kernel was given: the same at all points.
    pub(super) fn is_given(&self, value: Value) -> bool {
        value.0 < self.fixed
    }

    /// Whether all arrays of some columns were given.
    pub(super) fn are_given(&self, columns: &Columns) -> bool {
        match columns {
            Columns::Unit => true,
            Columns::Scalars(leaf) => self.is_given(leaf.array) && self.is_given(leaf.extent),
            Columns::Pair(both) => self.are_given(&both.0) && self.are_given(&both.1),
            Columns::Segments(segments) => {
                self.is_given(segments.starts.array)
                    && self.is_given(segments.lengths.array)
                    && self.is_given(segments.extent)
                    && self.are_given(&segments.pool)
            }
        }
    }

    /// A sequence as it lies in memory.
    pub(super) fn stored(&mut self, rep: &Rep<'a>, ty: &'a Ty) -> Stored {
        match self.thread.settle(rep, ty) {
            Rep::Sequence(Sequence::Stored(stored)) => stored,
            _ => unreachable!("it is a stored sequence"),
        }
    }
}
