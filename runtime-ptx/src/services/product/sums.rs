//! The sums of a thread, and what it adds to them with the places that are in shared memory.
//!
//! | way | who computes | sums of a thread |
//! |---|---|---|
//! | one by one | each thread, by multiplications with addition | 4 rows, 4 columns: pairs, half a side apart |
//! | as matrices | a warp, by products of 16 × 8 and 8 × 8 elements | 2 rows, 8 columns, of 4 such products |
//!
//! Both add the products of a sum in the order of their places, each in one rounding, so the results have the
//! same bits. Of the products of matrices the documentation does not say so. On an H200 ten million sums of
//! eight products each were compared, with exponents of all sizes and zeros of both signs, and
//! the tests of runtimes compare results of devices bit by bit; devices of other kinds are not asked for it.

use super::factor::{Factor, Layout, Layouts, PLACES, SIDE};
use crate::emit::Target;
use crate::emit::assembly::{Assembly, Class, Reg, emit};
use crate::services::code::{EntryCode, value};
use nesl_runtime::bug::OrBug;
use nesl_runtime::kir::Ty;

/// The places of a product of matrices.
const MATRIX_PLACES: u32 = 8;

/// The rows, and the columns, of the part of a tile that a warp has for products of matrices.
const WARP_ROWS: u32 = 16;
const WARP_COLUMNS: u32 = 32;

/// The columns of a product of matrices.
const MATRIX_COLUMNS: u32 = 8;

/// The way in which products are added to the sums.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// Each thread multiplies and adds by itself.
    OneByOne,
    /// A warp multiplies matrices.
    Matrices,
}

/// The sums of a thread, row by row.
pub struct Sums {
    way: Way,
    ty: Ty,
    /// The registers that hold the sums.
    pub registers: Vec<Reg>,
    /// Of the rows the first one in the tile, a `u32`, and the distances of all from it.
    pub rows: (Reg, Vec<u32>),
    /// The same of the columns.
    pub columns: (Reg, Vec<u32>),
    /// The addresses in shared memory of the first elements of both factors that the thread reads.
    from: [Reg; 2],
}

impl Way {
    /// The way for a type of elements, on the devices that a text is for.
    pub fn of(ty: Ty, target: Target) -> Way {
        if ty == Ty::F64 && target.multiplies_matrices() { Way::Matrices } else { Way::OneByOne }
    }

    /// The orders of elements in shared memory. The distances are such that neither the stores of a warp nor its
    /// loads wait for each other at a bank.
    pub fn layouts(self) -> Layouts {
        match self {
            Way::OneByOne => {
                let layout = Layout { item: 1, place: SIDE + 2 };
                Layouts { by_rows: layout, by_columns: layout }
            }
            Way::Matrices => Layouts {
                by_rows: Layout { item: PLACES + 4, place: 1 },
                by_columns: Layout { item: 1, place: SIDE + 4 },
            },
        }
    }
}

impl Sums {
    /// Emits the registers.
    pub fn new(code: &mut EntryCode, way: Way, ty: Ty, factors: &[Factor; 2]) -> Sums {
        let (thread, warp, lane) = (code.thread, code.warp, code.lane);
        let asm = &mut code.asm;
        let size = ty.size() as u32;
        let ([row, column], distances, from) = match way {
            Way::OneByOne => {
                let pairs = SIDE / 4;
                let row = value!(asm, B32, "shr.u32", "{thread}, {}", pairs.ilog2());
                let column = value!(asm, B32, "and.b32", "{thread}, {}", pairs - 1);
                let first = [row, column].map(|pair| value!(asm, B32, "shl.b32", "{pair}, 1"));
                let distances = [0, 1, SIDE / 2, SIDE / 2 + 1].to_vec();
                let mut from = first.iter().zip(factors).map(|(first, factor)| {
                    value!(asm, B32, "mad.lo.u32", "{first}, {size}, {}", factor.memory)
                });
                let from = [(); 2].map(|()| from.next());
                (first, [distances.clone(), distances], from)
            }
            Way::Matrices => {
                let group = value!(asm, B32, "shr.u32", "{lane}, 2");
                let member = value!(asm, B32, "and.b32", "{lane}, 3");
                let columns = SIDE / WARP_COLUMNS;
                let row = value!(asm, B32, "shr.u32", "{warp}, {}", columns.ilog2());
                let column = value!(asm, B32, "and.b32", "{warp}, {}", columns - 1);
                let row = value!(asm, B32, "mul.lo.u32", "{row}, {WARP_ROWS}");
                let column = value!(asm, B32, "mul.lo.u32", "{column}, {WARP_COLUMNS}");
                let mut from = [row, column].into_iter().zip(factors).map(|(item, factor)| {
                    let item = value!(asm, B32, "add.u32", "{item}, {group}");
                    let mut address = |layout: Layout| {
                        let (item_bytes, place_bytes) = (layout.item * size, layout.place * size);
                        let base = factor.memory;
                        let at = value!(asm, B32, "mad.lo.u32", "{item}, {item_bytes}, {base}");
                        value!(asm, B32, "mad.lo.u32", "{member}, {place_bytes}, {at}")
                    };
                    let by_rows = address(factor.layouts.by_rows);
                    let by_columns = address(factor.layouts.by_columns);
                    value!(asm, B32, "selp.b32", "{by_columns}, {by_rows}, {}", factor.turned)
                });
                let from = [(); 2].map(|()| from.next());
                let row = value!(asm, B32, "add.u32", "{row}, {group}");
                let column = value!(asm, B32, "mad.lo.u32", "{member}, 2, {column}");
                let of_columns = (0..WARP_COLUMNS).step_by(MATRIX_COLUMNS as usize);
                let of_columns = of_columns.flat_map(|first| [first, first + 1]).collect();
                ([row, column], [vec![0, WARP_ROWS / 2], of_columns], from)
            }
        };
        let [of_rows, of_columns] = distances;
        let registers =
            (0..of_rows.len() * of_columns.len()).map(|_| asm.register(Class::of(ty))).collect();
        let from = from.map(|from| from.or_bug("there are two factors"));
        Sums { way, ty, registers, rows: (row, of_rows), columns: (column, of_columns), from }
    }

    /// Emits the addition of the products of all places in shared memory.
    pub fn multiply(&self, asm: &mut Assembly, factors: &[Factor; 2]) {
        match self.way {
            Way::OneByOne => self.multiply_one_by_one(asm, factors),
            Way::Matrices => self.multiply_matrices(asm, factors),
        }
    }

    fn multiply_one_by_one(&self, asm: &mut Assembly, factors: &[Factor; 2]) {
        let class = Class::of(self.ty);
        for place in 0..PLACES {
            let mut items = self.from.iter().zip(factors).map(|(from, factor)| {
                let items: Vec<Reg> = (0..4).map(|_| asm.register(class)).collect();
                for (half, pair) in items.chunks(2).enumerate() {
                    let at = place * factor.layouts.by_rows.place + half as u32 * SIDE / 2;
                    let (a, b, offset) = (pair[0], pair[1], at * self.ty.size() as u32);
                    emit!(asm, "ld.shared.v2.{} {{{a}, {b}}}, [{from}+{offset}]", class.ty());
                }
                items
            });
            let (Some(rows), Some(columns)) = (items.next(), items.next()) else { return };
            drop(items);
            for (row, sums) in rows.iter().zip(self.registers.chunks(columns.len())) {
                for (column, sum) in columns.iter().zip(sums) {
                    emit!(asm, "fma.rn.{} {sum}, {row}, {column}, {sum}", class.ty());
                }
            }
        }
    }

    fn multiply_matrices(&self, asm: &mut Assembly, factors: &[Factor; 2]) {
        let width = self.columns.1.len();
        let ([from_left, from_right], [left, right]) = (self.from, factors);
        let columns: Vec<u32> = (0..WARP_COLUMNS).step_by(MATRIX_COLUMNS as usize).collect();
        for place in (0..PLACES).step_by(MATRIX_PLACES as usize) {
            let places = [place, place + MATRIX_PLACES / 2];
            let rows = self.elements(asm, left, from_left, &[0, WARP_ROWS / 2], places);
            let [[a0, a2], [a1, a3]] = [rows[0], rows[1]];
            // Two products at a time, so that a multiprocessor has registers for two blocks.
            for (number, columns) in columns.chunks(2).enumerate() {
                let elements = self.elements(asm, right, from_right, columns, places);
                for (at, [b0, b1]) in elements.into_iter().enumerate() {
                    let first = 2 * (2 * number + at);
                    let [c0, c1] = [0, 1].map(|column| self.registers[first + column]);
                    let [c2, c3] = [0, 1].map(|column| self.registers[width + first + column]);
                    emit!(
                        asm,
                        "mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {{{c0}, {c1}, {c2}, {c3}}}, \
                         {{{a0}, {a1}, {a2}, {a3}}}, {{{b0}, {b1}}}, {{{c0}, {c1}, {c2}, {c3}}}"
                    );
                }
            }
        }
    }

    /// Emits the loads of elements from shared memory: for each item one of each place.
    fn elements(
        &self,
        asm: &mut Assembly,
        factor: &Factor,
        from: Reg,
        items: &[u32],
        places: [u32; 2],
    ) -> Vec<[Reg; 2]> {
        let class = Class::of(self.ty);
        let all: Vec<[Reg; 2]> =
            items.iter().map(|_| places.map(|_| asm.register(class))).collect();
        let (by_columns, loaded) = (asm.label(), asm.label());
        let load = |asm: &mut Assembly, layout: Layout| {
            for (item, elements) in items.iter().zip(&all) {
                for (place, element) in places.iter().zip(elements) {
                    let at = item * layout.item + place * layout.place;
                    let offset = at * self.ty.size() as u32;
                    emit!(asm, "ld.shared.{} {element}, [{from}+{offset}]", class.ty());
                }
            }
        };
        emit!(asm, "@{} bra {by_columns}", factor.turned);
        load(asm, factor.layouts.by_rows);
        emit!(asm, "bra {loaded}");
        asm.place(by_columns);
        load(asm, factor.layouts.by_columns);
        asm.place(loaded);
        all
    }
}
