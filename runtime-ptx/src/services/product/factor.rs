//! A factor of a product: its way from global memory, through registers, to shared memory.
//!
//! Threads that are neighbours load what lies side by side: places of a row, or items of a factor that is
//! given by its columns. A thread knows the addresses of the elements that it loads next: along a row they
//! go on by a constant, and for columns it loads the beginnings of the next rows ahead. Where all elements
//! exist, which is so but at the borders, a load is nothing else.

use crate::emit::assembly::{Assembly, Class, Reg, emit};
use crate::emit::frame::BLOCK_THREADS;
use crate::services::code::{EntryCode, value};
use nesl_runtime::kir::{Literal, Ty};

/// The rows and the columns of a tile of the result.
pub const SIDE: u32 = 64;

/// The places along `k` that are in shared memory at a time. A chunk is a multiple of it.
pub const PLACES: u32 = 16;

/// The elements of a factor that a thread copies at a time.
const COPIED: u32 = SIDE * PLACES / BLOCK_THREADS;

/// The distance of the items that a thread copies of a factor by rows.
const NEXT_ITEM: u32 = BLOCK_THREADS / PLACES;

/// The distance of the places that a thread copies of a factor by columns.
const NEXT_PLACE: u32 = BLOCK_THREADS / SIDE;

/// The size of the index at which a row begins, in bytes.
const START_BYTES: u32 = 8;

/// An order of elements in shared memory: the distances from an item to the next and from a place to the
/// next, in elements.
#[derive(Clone, Copy)]
pub struct Layout {
    /// The distance of items.
    pub item: u32,
    /// The distance of places.
    pub place: u32,
}

/// The orders of the elements of a factor by rows, and of one by columns.
#[derive(Clone, Copy)]
pub struct Layouts {
    /// That of a factor by rows.
    pub by_rows: Layout,
    /// That of a factor by columns.
    pub by_columns: Layout,
}

/// A factor of a product, as a thread loads it.
pub struct Factor {
    ty: Ty,
    /// The address of the array, and of the index at which each of its rows begins.
    pool: Reg,
    starts: Reg,
    /// True if its rows go along the places of `k`: it is given by its columns.
    pub turned: Reg,
    /// The number of its items: of the rows, or the columns, of the result.
    pub count: Reg,
    /// The first of the items of the tile at hand.
    pub first: Reg,
    /// The first item and place that the thread copies; `u32`.
    item: Reg,
    place: Reg,
    /// The address in shared memory of the first of these, and the distance to the next.
    to: (Reg, Reg),
    /// The address of shared memory.
    pub memory: Reg,
    /// The orders of elements there.
    pub layouts: Layouts,
    /// For each element: true if its item exists. And for all: true if all items of the tile do.
    inside: Vec<Reg>,
    all_inside: Reg,
    /// The addresses of the elements that are loaded next; of a factor by columns the indices at which the rows
    /// of these begin.
    addresses: Vec<Reg>,
    /// Of a factor by columns: the address from which the next of these indices are loaded, and that of the item
    /// in a row which begins at 0.
    next_start: Reg,
    column: Reg,
    /// The elements, between their loads and stores.
    held: Vec<Reg>,
    /// The element of places that do not exist: the products of those of both factors are -0, which changes
    /// no sum.
    padding: Literal,
}

impl Factor {
    /// Emits the registers: of the array, its starts, whether it is given by columns, and the number of its
    /// items.
    pub fn new(
        code: &mut EntryCode,
        ty: Ty,
        [pool, starts, turned, count]: [Reg; 4],
        layouts: Layouts,
        padding: Literal,
    ) -> Factor {
        let Layouts { by_rows, by_columns } = layouts;
        let elements = [by_rows, by_columns]
            .map(|layout| (SIDE - 1) * layout.item + (PLACES - 1) * layout.place + 1);
        // 16 bytes are loaded at a time.
        let elements = elements[0].max(elements[1]).next_multiple_of(2);
        let memory = code.shared(elements as usize * ty.size());
        let thread = code.thread;
        let asm = &mut code.asm;
        let turned = value!(asm, Predicate, "setp.ne.u64", "{turned}, 0");
        let low_place = value!(asm, B32, "and.b32", "{thread}, {}", PLACES - 1);
        let high_item = value!(asm, B32, "shr.u32", "{thread}, {}", PLACES.ilog2());
        let low_item = value!(asm, B32, "and.b32", "{thread}, {}", SIDE - 1);
        let high_place = value!(asm, B32, "shr.u32", "{thread}, {}", SIDE.ilog2());
        let item = value!(asm, B32, "selp.b32", "{low_item}, {high_item}, {turned}");
        let place = value!(asm, B32, "selp.b32", "{high_place}, {low_place}, {turned}");
        let size = ty.size() as u32;
        let mut slot = |layout: Layout, item: Reg, place: Reg| {
            let at = value!(asm, B32, "mul.lo.u32", "{item}, {}", layout.item * size);
            value!(asm, B32, "mad.lo.u32", "{place}, {}, {at}", layout.place * size)
        };
        let of_rows = slot(by_rows, high_item, low_place);
        let of_columns = slot(by_columns, low_item, high_place);
        let to = value!(asm, B32, "selp.b32", "{of_columns}, {of_rows}, {turned}");
        let to = value!(asm, B32, "add.u32", "{to}, {memory}");
        let of_rows = NEXT_ITEM * by_rows.item * size;
        let of_columns = NEXT_PLACE * by_columns.place * size;
        let slots = value!(asm, B32, "selp.b32", "{of_columns}, {of_rows}, {turned}");
        let mut registers =
            |class: Class| (0..COPIED).map(|_| asm.register(class)).collect::<Vec<_>>();
        let (inside, addresses) = (registers(Class::Predicate), registers(Class::B64));
        let held = registers(Class::of(ty));
        let [first, next_start, column] = [(); 3].map(|()| asm.register(Class::B64));
        let all_inside = asm.register(Class::Predicate);
        Factor {
            ty,
            pool,
            starts,
            turned,
            count,
            first,
            item,
            place,
            to: (to, slots),
            memory,
            layouts,
            inside,
            all_inside,
            addresses,
            next_start,
            column,
            held,
            padding,
        }
    }

    /// Emits what the thread does for the tile whose first item is at hand, before it loads its elements of
    /// the places from one on, to below `end`.
    pub fn begin(&self, asm: &mut Assembly, place: Reg, end: Reg) {
        let item = value!(asm, B64, "cvt.u64.u32", "{}", self.item);
        let item = value!(asm, B64, "add.u64", "{}, {item}", self.first);
        let behind = value!(asm, B64, "add.u64", "{}, {SIDE}", self.first);
        emit!(asm, "setp.le.u64 {}, {behind}, {}", self.all_inside, self.count);
        let place_of_thread = value!(asm, B64, "cvt.u64.u32", "{}", self.place);
        let place_of_thread = value!(asm, B64, "add.u64", "{place}, {place_of_thread}");
        let (by_columns, begun) = (asm.label(), asm.label());
        emit!(asm, "@{} bra {by_columns}", self.turned);
        let start = value!(asm, B64, "mad.lo.u64", "{item}, {START_BYTES}, {}", self.starts);
        for (at, (address, inside)) in self.addresses.iter().zip(&self.inside).enumerate() {
            let distance = at as u32 * NEXT_ITEM;
            let item = value!(asm, B64, "add.u64", "{item}, {distance}");
            emit!(asm, "setp.lt.u64 {inside}, {item}, {}", self.count);
            emit!(asm, "mov.b64 {address}, 0");
            emit!(asm, "@{inside} ld.global.b64 {address}, [{start}+{}]", distance * START_BYTES);
        }
        for address in &self.addresses {
            emit!(asm, "add.u64 {address}, {address}, {place_of_thread}");
            emit!(asm, "mad.lo.u64 {address}, {address}, {}, {}", self.ty.size(), self.pool);
        }
        emit!(asm, "bra {begun}");
        asm.place(by_columns);
        emit!(asm, "mad.lo.u64 {}, {item}, {}, {}", self.column, self.ty.size(), self.pool);
        for inside in &self.inside {
            emit!(asm, "setp.lt.u64 {inside}, {item}, {}", self.count);
        }
        let next = self.next_start;
        emit!(asm, "mad.lo.u64 {next}, {place_of_thread}, {START_BYTES}, {}", self.starts);
        self.load_begins(asm, place_of_thread, end);
        asm.place(begun);
    }

    /// Emits the loads of the beginnings of the rows of a factor by columns, for the thread's places from one
    /// on, to below `end`.
    fn load_begins(&self, asm: &mut Assembly, place: Reg, end: Reg) {
        for (at, begin) in self.addresses.iter().enumerate() {
            let distance = at as u32 * NEXT_PLACE;
            let row = value!(asm, B64, "add.u64", "{place}, {distance}");
            let exists = value!(asm, Predicate, "setp.lt.u64", "{row}, {end}");
            let from = distance * START_BYTES;
            emit!(asm, "@{exists} ld.global.b64 {begin}, [{}+{from}]", self.next_start);
        }
    }

    /// Emits the loads of the thread's elements of the places from one on, to below `end`; then it is ready for
    /// those of the places behind them. `is_whole` is true if all of these places exist.
    pub fn load(&self, asm: &mut Assembly, place: Reg, end: Reg, is_whole: Reg) {
        let (ty, size) = (Class::of(self.ty).ty(), self.ty.size());
        let (by_rows, addressed) = (asm.label(), asm.label());
        let by_rows_next = asm.label();
        emit!(asm, "@!{} bra {by_rows}", self.turned);
        for address in &self.addresses {
            emit!(asm, "mad.lo.u64 {address}, {address}, {size}, {}", self.column);
        }
        asm.place(by_rows);
        let whole = value!(asm, Predicate, "and.pred", "{is_whole}, {}", self.all_inside);
        let (border, loaded) = (asm.label(), asm.label());
        emit!(asm, "@!{whole} bra {border}");
        for (held, address) in self.held.iter().zip(&self.addresses) {
            emit!(asm, "ld.global.{ty} {held}, [{address}]");
        }
        emit!(asm, "bra {loaded}");
        asm.place(border);
        let own_place = value!(asm, B64, "cvt.u64.u32", "{}", self.place);
        let first_place = value!(asm, B64, "add.u64", "{place}, {own_place}");
        let next_place = value!(asm, B64, "selp.b64", "{NEXT_PLACE}, 0, {}", self.turned);
        for (at, (held, address)) in self.held.iter().zip(&self.addresses).enumerate() {
            let place = value!(asm, B64, "mad.lo.u64", "{next_place}, {at}, {first_place}");
            let inside = self.inside[at];
            let exists = value!(asm, Predicate, "setp.lt.and.u64", "{place}, {end}, {inside}");
            asm.move_to(*held, self.padding.into());
            emit!(asm, "@{exists} ld.global.{ty} {held}, [{address}]");
        }
        asm.place(loaded);
        emit!(asm, "@!{} bra {by_rows_next}", self.turned);
        let next = self.next_start;
        emit!(asm, "add.u64 {next}, {next}, {}", PLACES * START_BYTES);
        let own_place = value!(asm, B64, "cvt.u64.u32", "{}", self.place);
        let behind = value!(asm, B64, "add.u64", "{place}, {PLACES}");
        let behind = value!(asm, B64, "add.u64", "{behind}, {own_place}");
        self.load_begins(asm, behind, end);
        emit!(asm, "bra {addressed}");
        asm.place(by_rows_next);
        for address in &self.addresses {
            emit!(asm, "add.u64 {address}, {address}, {}", PLACES as usize * size);
        }
        asm.place(addressed);
    }

    /// Emits the stores of these elements to shared memory.
    pub fn store(&self, asm: &mut Assembly) {
        let (first, step) = self.to;
        for (at, held) in self.held.iter().enumerate() {
            let to = value!(asm, B32, "mad.lo.s32", "{step}, {at}, {first}");
            emit!(asm, "st.shared.{} [{to}], {held}", Class::of(self.ty).ty());
        }
    }
}
