//! The values of a group of neighbouring elements, and conversions between their representations.
//!
//! A group has [`VectorEmitter::elements`] elements. An `f64` is half as many vectors of two, an `f32` a
//! quarter as many vectors of four; a char has lanes of 32 bits, and a bool is a mask of all ones or
//! zeros as wide as the lanes whose comparison gave it. Where all lanes are chars and bools, both have
//! 8 bits.
//!
//! That is so for vectors of 128 bits. In wider code all vectors have the same number of lanes, whatever
//! their width ([`VectorEmitter::has_equal_lanes`]): each conversion is then one instruction.

use super::super::emitter::{FunctionEmitter, clif};
use super::super::machine::VECTOR_BYTES;
use super::super::scalar::little;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{self, ConstantData, InstBuilder, Type, types};
use nesl_runtime::bug;
use nesl_runtime::bug::OrBug;
use nesl_runtime::kir::index_sets::Equal;
use nesl_runtime::kir::joined_checks::Test;
use nesl_runtime::kir::uniformity::Uniformity;
use nesl_runtime::kir::vectorize::VectorFacts;
use nesl_runtime::kir::{self, Ty};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

/// Vectors, in the order of the elements.
pub type Vectors = SmallVec<[ir::Value; 4]>;

/// The value of each element of a group.
#[derive(Clone, Debug)]
pub enum Lanes {
    /// A scalar: the same for all elements.
    Uniform(ir::Value),
    /// An `i64`, the value of the first element, and one more for each further one.
    Affine(ir::Value),
    /// Vectors of any values.
    Varying(Vectors),
    /// A bool, as masks of this many bits.
    Mask(u8, Vectors),
}

/// An update of a bucket of a histogram for each element of a group.
pub struct Update {
    /// The address of the first bucket.
    pub base: ir::Value,
    /// The offsets of the buckets, in bytes.
    pub offsets: Vectors,
    /// The values that are combined with those of the buckets.
    pub values: Lanes,
    /// The operator that combines them.
    pub combine: kir::Combine,
    /// The type of the values.
    pub ty: Ty,
}

/// The emitter of code for a group of elements.
pub struct VectorEmitter<'c, 'a, 'f> {
    /// The emitter of the function.
    pub c: &'c mut FunctionEmitter<'a, 'f>,
    /// The facts about the vectorised code.
    pub facts: VectorFacts,
    /// The number of elements of the group.
    pub elements: usize,
    /// The values that the code defines; others are the same for all elements.
    pub values: Vec<Option<Lanes>>,
    /// The distance of the last element from the first, for implied predicates; that of a group's last
    /// element if it is not given.
    pub last: Option<ir::Value>,
    /// The mask of the elements that take part; `None` when all do.
    pub active: Option<Lanes>,
    /// The block that executes the group again, one element at a time.
    pub bail: ir::Block,
    /// Scalars that are true only if a bool is true for all elements.
    pub all: FxHashMap<kir::Value, ir::Value>,
    /// The comparisons of ints that bools come from: operator and operands.
    pub compared: FxHashMap<kir::Value, (kir::Binary, kir::Value, kir::Value)>,
    /// The addresses from which varying ints were loaded with unit stride, until something is written.
    pub sources: FxHashMap<kir::Value, ir::Value>,
    /// The first element's value of ints that are one less for each further element.
    pub descending: FxHashMap<kir::Value, ir::Value>,
    /// The tests that are to be done at checks, by their conditions; other checks are done as they are.
    pub joined: FxHashMap<kir::Value, Vec<Test>>,
    /// Scalars that are true only if one side of a disjunction is true for all elements, which some are not where the
    /// disjunction is.
    pub all_by_one_side: FxHashMap<kir::Value, ir::Value>,
    /// The bools that are known inside the set of elements for which code is emitted.
    pub known: FxHashMap<kir::Value, bool>,
    /// The values that are equal to others there.
    pub equal: FxHashMap<kir::Value, Equal>,
    /// The values that were loaded before the loop over the elements of the set.
    pub loaded: FxHashMap<kir::Value, ir::Value>,
    /// The indices that are known there to be in the arrays they were checked for.
    pub checked: FxHashSet<kir::Value>,
    /// The operands of the products whose high words were computed.
    pub high_products: FxHashSet<(kir::Value, kir::Value)>,
    /// The updates of buckets that the group still has to do.
    pub updates: Vec<Update>,
    /// Scalars that are true only if a bool is true for no element.
    pub none: FxHashMap<kir::Value, ir::Value>,
    /// The number of duplicated branches around the code.
    pub duplicated_branches: u32,
    /// The sides from which the results of divergent branches were chosen.
    pub choices: FxHashMap<kir::Value, Choice>,
    /// True if the innermost loop writes nothing: a load may then be moved to its use. Otherwise all
    /// loads of an iteration precede its computations, which takes more registers than there are.
    pub read_only: bool,
}

/// A result of a divergent branch: the value that each side yields, and its lanes.
#[derive(Clone, Debug)]
pub struct Choice {
    /// The mask of the elements that take the first side.
    pub cond: Lanes,
    /// The value of the first side.
    pub then: (kir::Value, Lanes),
    /// The value of the second side.
    pub otherwise: (kir::Value, Lanes),
}

impl<'c, 'a, 'f> VectorEmitter<'c, 'a, 'f> {
    /// An emitter for groups of `elements` elements, in which nothing is defined yet.
    pub fn new(
        c: &'c mut FunctionEmitter<'a, 'f>,
        facts: VectorFacts,
        elements: usize,
        bail: ir::Block,
    ) -> Self {
        let values = vec![None; c.types.len()];
        let (all, none, choices, duplicated_branches) = Default::default();
        let (last, active, read_only) = (None, None, false);
        let (compared, sources, descending, joined) = Default::default();
        VectorEmitter {
            c,
            facts,
            elements,
            values,
            last,
            active,
            bail,
            all,
            compared,
            sources,
            descending,
            joined,
            all_by_one_side: FxHashMap::default(),
            known: FxHashMap::default(),
            equal: FxHashMap::default(),
            loaded: FxHashMap::default(),
            checked: FxHashSet::default(),
            high_products: FxHashSet::default(),
            updates: Vec::new(),
            none,
            duplicated_branches,
            choices,
            read_only,
        }
    }

    /// The vector type for lanes of a scalar type.
    pub fn lane(&self, ty: Ty) -> Type {
        self.vector(match ty {
            Ty::U8 | Ty::Bool if self.facts.only_byte_lanes => types::I8,
            Ty::I32 | Ty::U8 | Ty::Bool => types::I32,
            Ty::I64 => types::I64,
            Ty::F32 => types::F32,
            Ty::F64 => types::F64,
        })
    }

    /// Returns true if all vectors have the same number of lanes: a lane is then converted to one of
    /// another width in its place. Otherwise all vectors have the same size.
    pub fn has_equal_lanes(&self) -> bool {
        self.c.vector_bytes > VECTOR_BYTES && !self.facts.only_byte_lanes
    }

    /// The vector type for lanes of a type.
    pub fn vector(&self, lane: Type) -> Type {
        let lanes = match (self.has_equal_lanes(), self.facts.has_wide_lanes) {
            (true, true) => (self.c.vector_bytes / 8).min(self.elements),
            (true, false) => (self.c.vector_bytes / 4).min(self.elements),
            (false, _) => VECTOR_BYTES / lane.bytes() as usize,
        };
        lane.by(lanes as u32).or_bug("there are vectors of each number of lanes")
    }

    /// The vector type for masks of so many bits.
    fn mask_vector(&self, bits: u8) -> Type {
        self.vector(match bits {
            8 => types::I8,
            64 => types::I64,
            _ => types::I32,
        })
    }

    /// The value of each element.
    pub fn get(&self, value: kir::Value) -> Lanes {
        match &self.values[value.0 as usize] {
            Some(lanes) => lanes.clone(),
            None => Lanes::Uniform(self.c.get(value)),
        }
    }

    /// Defines a value.
    pub fn set(&mut self, value: kir::Value, lanes: Lanes) {
        self.values[value.0 as usize] = Some(lanes);
    }

    /// The scalar of a value that is known to be uniform.
    pub fn uniform(&self, value: kir::Value) -> ir::Value {
        match self.get(value) {
            Lanes::Uniform(value) | Lanes::Affine(value) => value,
            Lanes::Varying(vectors) | Lanes::Mask(_, vectors) => vectors[0],
        }
    }

    /// The vectors of a value of a type other than bool.
    pub fn wide(&mut self, lanes: &Lanes, ty: Ty) -> Vectors {
        let vector = self.lane(ty);
        let count = self.elements / vector.lane_count() as usize;
        match lanes {
            Lanes::Varying(vectors) | Lanes::Mask(_, vectors) => vectors.clone(),
            Lanes::Uniform(value) => {
                let value = match ty {
                    Ty::U8 if !self.facts.only_byte_lanes => {
                        self.c.b.ins().uextend(types::I32, *value)
                    }
                    Ty::U8 | Ty::I32 | Ty::I64 | Ty::F32 | Ty::F64 | Ty::Bool => *value,
                };
                let all = self.c.b.ins().splat(vector, value);
                SmallVec::from_elem(all, count)
            }
            Lanes::Affine(base) => {
                let all = self.c.b.ins().splat(vector, *base);
                (0..count as u64)
                    .map(|n| {
                        let lanes = u64::from(vector.lane_count());
                        let steps: Vec<u64> = (n * lanes..(n + 1) * lanes).collect();
                        let steps = self.constant(&steps, vector);
                        self.c.b.ins().iadd(all, steps)
                    })
                    .collect()
            }
        }
    }

    /// The positions of the elements in the group, as vectors of ints of `bits` bits.
    fn places(&mut self, bits: u8) -> Vectors {
        let ty = self.mask_vector(bits);
        let size = usize::from(bits) / 8;
        let bytes: Vec<u8> = (0..self.elements as u64)
            .flat_map(|place| place.to_le_bytes().into_iter().take(size))
            .collect();
        let mut out = Vectors::new();
        for bytes in bytes.chunks(ty.bytes() as usize) {
            let constant = self.c.b.func.dfg.constants.insert(ConstantData::from(bytes));
            out.push(self.c.b.ins().vconst(ty, constant));
        }
        out
    }

    /// Compares the affine value from `base` on, which does not overflow, with the scalar `other`.
    pub fn compare_places(&mut self, cc: IntCC, base: ir::Value, other: ir::Value) -> Lanes {
        let bits = match (self.facts.only_byte_lanes, self.elements) {
            (true, _) => 8,
            (false, 2) => 64,
            (false, _) => 32,
        };
        // What lies outside of the group may as well lie next to it.
        let (low, high) = (
            self.c.b.ins().iadd_imm_s(base, -1),
            self.c.b.ins().iadd_imm_s(base, self.elements as i64),
        );
        let other = self.c.b.ins().smax(other, low);
        let other = self.c.b.ins().smin(other, high);
        let place = self.c.b.ins().isub(other, base);
        let vector = self.mask_vector(bits);
        let scalar = vector.lane_type();
        let place = match bits {
            64 => place,
            _ => self.c.b.ins().ireduce(scalar, place),
        };
        let place = self.c.b.ins().splat(vector, place);
        let places = self.places(bits);
        let on = places.iter().map(|v| self.c.b.ins().icmp(cc, *v, place)).collect();
        Lanes::Mask(bits, on)
    }

    /// The bits of a mask as an `i64`, that of the first element lowest.
    pub fn bits(&mut self, mask: &Lanes) -> ir::Value {
        let bits = match mask {
            Lanes::Mask(bits, _) => *bits,
            _ => self.mask_bits(),
        };
        let each = i64::from(self.mask_vector(bits).lane_count());
        let vectors = self.mask(mask, bits);
        let mut all = None;
        for (n, vector) in vectors.iter().enumerate() {
            let part = self.c.b.ins().vhigh_bits(types::I64, *vector);
            let part = self.c.b.ins().ishl_imm_u(part, each * n as i64);
            all = Some(match all {
                None => part,
                Some(before) => self.c.b.ins().bor(before, part),
            });
        }
        all.or_bug("a mask has a vector")
    }

    /// A vector of 64-bit constants.
    pub fn constant(&mut self, words: &[u64], vector: Type) -> ir::Value {
        let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
        let constant = self.c.b.func.dfg.constants.insert(ConstantData::from(bytes));
        self.c.b.ins().vconst(vector, constant)
    }

    /// The width of masks where no comparison determines it, in bits.
    pub fn mask_bits(&self) -> u8 {
        match (self.facts.has_wide_lanes, self.facts.only_byte_lanes) {
            (true, _) => 64,
            (_, true) => 8,
            (false, false) => 32,
        }
    }

    /// A bool as masks of this many bits.
    pub fn mask(&mut self, lanes: &Lanes, bits: u8) -> Vectors {
        let vector = self.mask_vector(bits);
        let count = self.elements / vector.lane_count() as usize;
        match lanes {
            Lanes::Mask(from, vectors) if *from == bits => vectors.clone(),
            Lanes::Mask(from, vectors) if self.has_equal_lanes() => {
                let each = |v: &ir::Value| match *from < bits {
                    true => self.c.b.ins().sextend(vector, *v),
                    false => self.c.b.ins().ireduce(vector, *v),
                };
                vectors.iter().map(each).collect()
            }
            Lanes::Mask(64, vectors) => vectors.chunks(2).map(|two| self.evens(two)).collect(),
            Lanes::Mask(_, vectors) => self.widen(vectors),
            Lanes::Uniform(value) => {
                let ty = vector.lane_type();
                let wide = if bits == 8 { *value } else { self.c.b.ins().uextend(ty, *value) };
                let all = self.c.b.ins().ineg(wide);
                let all = self.c.b.ins().splat(vector, all);
                SmallVec::from_elem(all, count)
            }
            Lanes::Affine(_) | Lanes::Varying(_) => bug!("vectors of bools are masks"),
        }
    }

    /// Sign-extends `i32`s to `i64`s.
    pub fn widen(&mut self, vectors: &[ir::Value]) -> Vectors {
        let mut out = Vectors::new();
        for vector in vectors {
            out.push(self.c.b.ins().swiden_low(*vector));
            out.push(self.c.b.ins().swiden_high(*vector));
        }
        out
    }

    /// The low halves of the lanes of two vectors of `i64`s (or the first of such).
    pub fn evens(&mut self, two: &[ir::Value]) -> ir::Value {
        let bytes = [0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19, 24, 25, 26, 27];
        let second = two.get(1).copied().unwrap_or(two[0]);
        self.shuffle(two[0], second, bytes, types::I32X4)
    }

    /// Shuffles the bytes of two vectors.
    pub fn shuffle(&mut self, a: ir::Value, b: ir::Value, bytes: [u8; 16], to: Type) -> ir::Value {
        let (a, b) = (self.cast(types::I8X16, a), self.cast(types::I8X16, b));
        let mask = self.c.b.func.dfg.immediates.push(ConstantData::from(&bytes[..]));
        let mixed = self.c.b.ins().shuffle(a, b, mask);
        self.cast(to, mixed)
    }

    /// Reinterprets the bits of a vector as another type.
    pub fn cast(&mut self, to: Type, vector: ir::Value) -> ir::Value {
        if self.c.b.func.dfg.value_type(vector) == to {
            return vector;
        }
        self.c.b.ins().bitcast(to, little(), vector)
    }

    /// The scalar of one element.
    pub fn extract(&mut self, lanes: &Lanes, ty: Ty, element: usize) -> ir::Value {
        match lanes {
            Lanes::Uniform(value) => *value,
            Lanes::Affine(base) => self.c.b.ins().iadd_imm_s(*base, element as i64),
            Lanes::Varying(vectors) => {
                let count = self.lane(ty).lane_count() as usize;
                let vector = vectors[element / count];
                let value = self.c.b.ins().extractlane(vector, (element % count) as u8);
                match ty {
                    Ty::U8 if self.facts.only_byte_lanes => value,
                    Ty::U8 => self.c.b.ins().ireduce(types::I8, value),
                    Ty::I32 | Ty::I64 | Ty::F32 | Ty::F64 | Ty::Bool => value,
                }
            }
            Lanes::Mask(bits, vectors) => {
                let count = self.mask_vector(*bits).lane_count() as usize;
                let vector = vectors[element / count];
                let value = self.c.b.ins().extractlane(vector, (element % count) as u8);
                let byte = match bits {
                    8 => value,
                    _ => self.c.b.ins().ireduce(types::I8, value),
                };
                self.c.b.ins().band_imm_s(byte, 1)
            }
        }
    }

    /// Assembles vectors of scalars, one for each element.
    pub fn assemble(&mut self, scalars: &[ir::Value], ty: Ty) -> Lanes {
        let vector = self.lane(ty);
        let count = vector.lane_count() as usize;
        let mut out = Vectors::new();
        for part in scalars.chunks(count) {
            let mut lanes = None;
            for (n, scalar) in part.iter().enumerate() {
                let scalar = match ty {
                    Ty::U8 if self.facts.only_byte_lanes => *scalar,
                    Ty::Bool if self.facts.only_byte_lanes => self.c.b.ins().ineg(*scalar),
                    Ty::U8 => self.c.b.ins().uextend(types::I32, *scalar),
                    Ty::Bool => {
                        let wide = self.c.b.ins().uextend(types::I32, *scalar);
                        self.c.b.ins().ineg(wide)
                    }
                    Ty::I32 | Ty::I64 | Ty::F32 | Ty::F64 => *scalar,
                };
                lanes = Some(match lanes {
                    // All others follow.
                    None if part.len() == count => self.c.b.ins().scalar_to_vector(vector, scalar),
                    None => self.c.b.ins().splat(vector, scalar),
                    Some(before) => self.c.b.ins().insertlane(before, scalar, n as u8),
                });
            }
            out.extend(lanes);
        }
        match ty {
            Ty::Bool => Lanes::Mask(vector.lane_bits() as u8, out),
            Ty::I32 | Ty::I64 | Ty::F32 | Ty::F64 | Ty::U8 => Lanes::Varying(out),
        }
    }

    /// The values that represent a value as parameters of a block: of a bool, masks of the usual width.
    pub fn flatten(&mut self, lanes: &Lanes, ty: Ty, shape: Uniformity) -> Vectors {
        match (shape, ty, lanes) {
            (Uniformity::Uniform, _, Lanes::Uniform(value)) => SmallVec::from_elem(*value, 1),
            (_, Ty::Bool, _) => {
                let bits = self.mask_bits();
                self.mask(lanes, bits)
            }
            _ => self.wide(lanes, ty),
        }
    }

    /// The types of [`VectorEmitter::flatten`].
    pub fn flat_types(&self, ty: kir::ValueTy, shape: Uniformity) -> SmallVec<[Type; 4]> {
        use nesl_runtime::kir::ValueTy::Scalar;
        match (shape, ty) {
            (Uniformity::Varying | Uniformity::Affine, Scalar(Ty::Bool)) => {
                let mask = self.mask_vector(self.mask_bits());
                SmallVec::from_elem(mask, self.elements / mask.lane_count() as usize)
            }
            (Uniformity::Varying | Uniformity::Affine, Scalar(ty)) => {
                let lane = self.lane(ty);
                SmallVec::from_elem(lane, self.elements / lane.lane_count() as usize)
            }
            (_, Scalar(ty)) => SmallVec::from_elem(clif(ty), 1),
            (_, kir::ValueTy::Array(_) | kir::ValueTy::Mark) => SmallVec::from_elem(types::I64, 1),
        }
    }

    /// Takes as many block parameters as [`VectorEmitter::flatten`] returns.
    pub fn unflatten(
        &self,
        params: &mut impl Iterator<Item = ir::Value>,
        ty: kir::ValueTy,
        shape: Uniformity,
    ) -> Lanes {
        let count = self.flat_types(ty, shape).len();
        let taken: Vectors = params.take(count).collect();
        match (shape, ty) {
            (Uniformity::Uniform, _) => Lanes::Uniform(taken[0]),
            (_, kir::ValueTy::Scalar(Ty::Bool)) => Lanes::Mask(self.mask_bits(), taken),
            (_, _) => Lanes::Varying(taken),
        }
    }

    /// An `i8`, not 0 if any lane of a mask is set.
    pub fn any(&mut self, vectors: &[ir::Value]) -> ir::Value {
        let mut all = vectors[0];
        for vector in &vectors[1..] {
            all = self.c.b.ins().bor(all, *vector);
        }
        self.c.b.ins().vany_true(all)
    }

    /// The conjunction of masks, as wide as the second.
    pub fn both(&mut self, a: &Option<Lanes>, b: &Lanes) -> Lanes {
        let Some(a) = a else { return b.clone() };
        let bits = match b {
            Lanes::Mask(bits, _) => *bits,
            _ => self.mask_bits(),
        };
        let (a, b) = (self.mask(a, bits), self.mask(b, bits));
        let both = a.iter().zip(&b).map(|(a, b)| self.c.b.ins().band(*a, *b)).collect();
        Lanes::Mask(bits, both)
    }

    /// The negation of a mask.
    pub fn not(&mut self, lanes: &Lanes) -> Lanes {
        match lanes {
            Lanes::Mask(bits, vectors) => {
                let vectors = vectors.iter().map(|v| self.c.b.ins().bnot(*v)).collect();
                Lanes::Mask(*bits, vectors)
            }
            Lanes::Uniform(value) => Lanes::Uniform(self.c.b.ins().bxor_imm_s(*value, 1)),
            Lanes::Affine(_) | Lanes::Varying(_) => bug!("vectors of bools are masks"),
        }
    }

    /// Selects `a` where the mask is set, else `b`.
    pub fn choose(&mut self, cond: &Lanes, a: &Lanes, b: &Lanes, ty: Ty) -> Lanes {
        if let (Lanes::Uniform(cond), Lanes::Uniform(a), Lanes::Uniform(b)) = (cond, a, b) {
            return Lanes::Uniform(self.c.b.ins().select(*cond, *a, *b));
        }
        if ty == Ty::Bool {
            let bits = self.mask_bits();
            let cond = self.mask(cond, bits);
            let (a, b) = (self.mask(a, bits), self.mask(b, bits));
            let chosen = (0..cond.len()).map(|n| self.c.b.ins().bitselect(cond[n], a[n], b[n]));
            return Lanes::Mask(bits, chosen.collect());
        }
        let vector = self.lane(ty);
        let bits = vector.lane_bits() as u8;
        let cond = self.mask(cond, bits);
        let (a, b) = (self.wide(a, ty), self.wide(b, ty));
        let mut chosen = Vectors::new();
        for n in 0..cond.len() {
            if self.c.unit.blends {
                let mask = self.c.b.func.dfg.value_type(cond[n]);
                let (a, b) = (self.cast(mask, a[n]), self.cast(mask, b[n]));
                let blended = self.c.b.ins().blendv(cond[n], a, b);
                chosen.push(self.cast(vector, blended));
                continue;
            }
            let mask = self.cast(vector, cond[n]);
            chosen.push(self.c.b.ins().bitselect(mask, a[n], b[n]));
        }
        Lanes::Varying(chosen)
    }

    /// The mask of the chars or bools that are not 0.
    pub fn not_zero(&mut self, vectors: &[ir::Value]) -> Lanes {
        let lane = self.lane(Ty::Bool);
        let zero = self.c.zero(lane);
        let on = vectors.iter().map(|v| self.c.b.ins().icmp(IntCC::NotEqual, *v, zero)).collect();
        Lanes::Mask(lane.lane_bits() as u8, on)
    }
}
