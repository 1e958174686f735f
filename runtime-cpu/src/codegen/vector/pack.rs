//! The elements that a filter keeps, packed next to each other.

use super::super::emitter;
use super::super::phases::{Role, Task};
use super::super::sinks::SinkContext;
use super::super::unit::{PACK, PACK_FREELY};
use super::lanes::{Lanes, VectorEmitter};
use crate::abi::chunk;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{self, InstBuilder, StackSlotData, StackSlotKind, types};
use nesl_runtime::kir::{Ty, Value};

impl<'a> VectorEmitter<'_, 'a, '_> {
    /// Packs a group of bytes: the bits of the mask lead to the elements that are kept, so that the others
    /// cost nothing. Returns the next position.
    pub fn pack_bytes(
        &mut self,
        task: &Task<'a>,
        keep: Value,
        columns: &[(Value, Value)],
        position: ir::Value,
    ) -> ir::Value {
        let keep = self.get(keep);
        let bits = self.bits(&keep);
        if task.role != Role::Full || columns.is_empty() {
            let count = self.c.b.ins().popcnt(bits);
            return self.c.b.ins().iadd(position, count);
        }
        let mut values = Vec::new();
        for (value, array) in columns {
            let (lanes, ty) = (self.get(*value), self.c.element_ty(*array));
            values.push((self.by_place(&lanes, ty), self.c.get(*array), ty));
        }
        let looped = self.c.begin_loop(&[bits, position]);
        let params = looped.carried.clone();
        let (bits, position) = (params[0], params[1]);
        let any = self.c.b.ins().icmp_imm_s(IntCC::NotEqual, bits, 0);
        self.c.loop_while(&looped, any);
        let place = self.c.b.ins().ctz(bits);
        for (column, array, ty) in values {
            let value = self.at_place(&column, ty, place);
            self.c.store(array, position, ty, value);
        }
        let less = self.c.b.ins().iadd_imm_s(bits, -1);
        let rest = self.c.b.ins().band(bits, less);
        let next = self.c.b.ins().iadd_imm_s(position, 1);
        self.c.end_loop(&looped, &[rest, next]);
        position
    }

    /// Packs a group of elements in wide code, vector by vector. Returns the next position.
    pub fn pack_lanes(
        &mut self,
        keep: Value,
        columns: &[(Value, Value)],
        position: ir::Value,
    ) -> ir::Value {
        let mask_bits = self.mask_bits();
        let keep = self.get(keep);
        let masks = self.mask(&keep, mask_bits);
        let mut packed = Vec::new();
        for (value, array) in columns {
            let (lanes, ty) = (self.get(*value), self.c.element_ty(*array));
            let (lanes, lane) = match ty {
                Ty::Bool => (self.convert(Ty::U8, ty, &lanes), Ty::U8),
                Ty::U8 | Ty::I32 | Ty::I64 | Ty::F32 | Ty::F64 => (lanes, ty),
            };
            packed.push((self.wide(&lanes, lane), self.c.get(*array), ty));
        }
        let mut position = position;
        for (n, mask) in masks.into_iter().enumerate() {
            for (vectors, array, ty) in &packed {
                let address = self.c.address(*array, position, *ty);
                let element_bytes = self.c.int(ty.size() as i64);
                let args = [mask, vectors[n], address, element_bytes];
                self.c.call_host(PACK as *const u8, &args, None);
            }
            let bits = self.c.b.ins().vhigh_bits(types::I64, mask);
            let count = self.c.b.ins().popcnt(bits);
            position = self.c.b.ins().iadd(position, count);
        }
        position
    }

    /// Packs a group of elements in wide code by permutations, vector by vector. A permutation also writes behind what is
    /// kept, which is lawful up to the limit of the chunk; beyond it, elements are packed one by one. Returns the next
    /// position, or `None` if a column's lanes have another width than the mask's.
    pub fn pack_by_permutation(
        &mut self,
        task: &Task<'a>,
        keep: Value,
        columns: &[(Value, Value)],
        position: ir::Value,
        around: SinkContext,
    ) -> Option<ir::Value> {
        let bits = self.mask_bits();
        let lanes = self.c.vector_bytes / usize::from(bits / 8);
        let fits = |this: &Self, array: Value| {
            let ty = this.c.element_ty(array);
            !matches!(ty, Ty::Bool | Ty::U8) && ty.size() * 8 == usize::from(bits)
        };
        let whole = self.elements.is_multiple_of(lanes);
        if !whole || !columns.iter().all(|(_, array)| fits(self, *array)) {
            return None;
        }
        let keep = self.get(keep);
        let masks = self.mask(&keep, bits);
        let mut packed = Vec::new();
        for (value, array) in columns {
            let (lanes, ty) = (self.get(*value), self.c.element_ty(*array));
            packed.push((self.wide(&lanes, ty), lanes, self.c.get(*array), ty));
        }
        let limit = task.slot(chunk::LIMIT);
        let limit = self.c.b.ins().load(types::I64, emitter::flags(), around.chunk, limit);
        let mut position = position;
        for (n, mask) in masks.into_iter().enumerate() {
            let bits = self.c.b.ins().vhigh_bits(types::I64, mask);
            let count = self.c.b.ins().popcnt(bits);
            let next = self.c.b.ins().iadd(position, count);
            let behind = self.c.b.ins().iadd_imm_s(position, lanes as i64);
            let fits = self.c.b.ins().icmp(IntCC::SignedLessThanOrEqual, behind, limit);
            let [freely, one_by_one, done] = [(); 3].map(|()| self.c.b.create_block());
            self.c.b.set_cold_block(one_by_one);
            self.c.b.ins().brif(fits, freely, &[], one_by_one, &[]);
            self.c.b.switch_to_block(freely);
            for (vectors, _, array, ty) in &packed {
                let address = self.c.address(*array, position, *ty);
                self.c.call_host(PACK_FREELY as *const u8, &[bits, vectors[n], address], None);
            }
            self.c.jump(done, &[]);
            self.c.b.switch_to_block(one_by_one);
            let mut at = position;
            for element in n * lanes..(n + 1) * lanes {
                let kept = self.extract(&keep, Ty::Bool, element);
                let scalars: Vec<(ir::Value, Value)> = packed
                    .iter()
                    .zip(columns)
                    .map(|((_, lanes, _, ty), (_, array))| {
                        (self.extract(lanes, *ty, element), *array)
                    })
                    .collect();
                at = self.c.pack_one(task, kept, &scalars, at, around);
            }
            self.c.jump(done, &[]);
            self.c.b.switch_to_block(done);
            position = next;
        }
        Some(position)
    }

    /// Makes the lanes of a group available by the number of the element.
    pub fn by_place(&mut self, lanes: &Lanes, ty: Ty) -> ByPlace {
        match lanes {
            Lanes::Uniform(value) => ByPlace::Same(*value),
            Lanes::Affine(base) => ByPlace::From(*base),
            Lanes::Varying(vectors) => self.in_memory(vectors),
            mask @ Lanes::Mask(..) => {
                let lane_bits = self.lane(ty).lane_bits() as u8;
                let vectors = self.mask(mask, lane_bits);
                self.in_memory(&vectors)
            }
        }
    }

    /// Stores the lanes of vectors in the stack frame.
    fn in_memory(&mut self, vectors: &[ir::Value]) -> ByPlace {
        let ty = self.c.b.func.dfg.value_type(vectors[0]);
        let bytes = ty.bytes();
        let data = StackSlotData::new(StackSlotKind::ExplicitSlot, bytes * vectors.len() as u32, 4);
        let slot = self.c.b.create_sized_stack_slot(data);
        let address = self.c.b.ins().stack_addr(types::I64, slot, 0);
        for (n, vector) in vectors.iter().enumerate() {
            let offset = n as i32 * bytes as i32;
            self.c.b.ins().store(emitter::flags(), *vector, address, offset);
        }
        ByPlace::At { address, lane_bytes: ty.lane_type().bytes() }
    }

    /// Emits the value of the element with a number.
    pub fn at_place(&mut self, lanes: &ByPlace, ty: Ty, place: ir::Value) -> ir::Value {
        match *lanes {
            ByPlace::Same(value) => value,
            ByPlace::From(base) => self.c.b.ins().iadd(base, place),
            ByPlace::At { address, lane_bytes } => {
                let shift = i64::from(lane_bytes.trailing_zeros());
                let offset = match shift {
                    0 => place,
                    _ => self.c.b.ins().ishl_imm_u(place, shift),
                };
                let address = self.c.b.ins().iadd(address, offset);
                // The first byte of a lane is the lowest one.
                let value = self.c.b.ins().load(emitter::clif(ty), emitter::flags(), address, 0);
                match ty {
                    Ty::Bool => self.c.b.ins().band_imm_s(value, 1),
                    Ty::I32 | Ty::I64 | Ty::F32 | Ty::F64 | Ty::U8 => value,
                }
            }
        }
    }
}

/// The values of a group of elements, available by the number of the element.
pub enum ByPlace {
    /// One value for all elements.
    Same(ir::Value),
    /// The value of the first element, and one more for each further one.
    From(ir::Value),
    /// Lanes in memory.
    At {
        /// The address of the first lane.
        address: ir::Value,
        /// The size of a lane.
        lane_bytes: u32,
    },
}
