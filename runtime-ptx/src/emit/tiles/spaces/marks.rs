//! The segments of a tile in a space with offsets: the search for the first one, and the marks of the
//! others.
//!
//! The first warp does all of that, most of the time: it guesses the segment of the tile's first element
//! from the offsets that it knows, looks at some offsets around, and searches on from there; then
//! it marks the heads of the next 32 segments. Only if more begin in the tile the other warps mark theirs,
//! too. A segment without elements is found on the way: its results are written.

use super::{FAR_ELEMENTS, Marked, Neutral, TilePart, at_most_far, store_neutrals};
use crate::emit::address::AddressSpace;
use crate::emit::assembly::{Assembly, Class, Label, Operand, Reg, emit};
use crate::emit::collective::{WARP_THREADS, shuffle};
use crate::emit::frame::{BLOCK_THREADS, Entry};
use crate::emit::memory::Address;
use crate::emit::scan::Place;
use nesl_runtime::kir::{Literal, Ty};

/// The number of guesses before the search.
const GUESSES: i32 = 4;

/// The number of offsets that a warp looks at before it loads as many as it has lanes.
const FIRST_OFFSETS: u32 = 4;

/// The number of segments that the first warp marks before the others help.
const MARKED_ALONE: u32 = 128;

/// The number of offsets that a guess looks at; the guess itself is the second.
const GUESSED_OFFSETS: i64 = 4;

/// The offset in shared memory of the question whether there are more, behind the first segment
/// and its first index; in bytes.
const MORE: usize = 16;

/// The registers that the marking of a tile needs.
struct Marks<'a> {
    place: &'a Place,
    /// The address of the offsets, and the number of segments.
    offsets: Reg,
    segments: Operand,
    /// The index of the tile's first element, and the number of its elements in the space.
    first: Reg,
    size: Reg,
    /// The addresses of marks in shared memory.
    heads: Reg,
    last_heads: Reg,
    numbers: Reg,
    /// The number of elements of a chunk.
    chunk: u32,
    /// The results that are stored for segments without elements.
    neutrals: &'a [Neutral],
}

/// Emits the marks of the segments that begin in a tile, and the registers that find them.
pub fn marked(
    asm: &mut Assembly,
    entry: &Entry<'_>,
    tile: &TilePart<'_>,
    (offsets, segments): (Reg, Operand),
    neutrals: &[Neutral],
) -> Marked {
    let TilePart { place, shape, first, count, .. } = tile;
    let chunk = shape.chunk_items();
    let heads_words = shape.items() / WARP_THREADS + 1;
    let names = [
        asm.shared(4 * heads_words as usize),
        asm.shared(4 * place.warps as usize),
        asm.shared(4 * (shape.items() as usize + 1)),
        asm.shared(32),
    ];
    let [heads, last_heads, numbers, found] = names.map(|name| {
        let base = asm.register(Class::B32);
        emit!(asm, "mov.u32 {base}, {name}");
        base
    });
    let (to, size) = (asm.register(Class::B64), asm.register(Class::B32));
    emit!(asm, "sub.s64 {to}, {count}, {first}");
    emit!(asm, "min.s64 {to}, {to}, {}", shape.items());
    emit!(asm, "cvt.u32.u64 {size}, {to}");
    let (first, place) = (*first, *place);
    let marks = Marks {
        place,
        offsets,
        segments,
        first,
        size,
        heads,
        last_heads,
        numbers,
        chunk,
        neutrals,
    };
    let (others, marked) = (asm.register(Class::Predicate), asm.label());
    emit!(asm, "setp.ne.s32 {others}, {}, 0", place.warp);
    emit!(asm, "@{others} bra {marked}");
    marks.clear(asm, heads_words);
    let (segment, start) = search(asm, place, (offsets, segments), first, *count);
    let (other_lanes, told) = (asm.register(Class::Predicate), asm.label());
    emit!(asm, "setp.ne.s32 {other_lanes}, {}, 0", place.lane);
    emit!(asm, "@{other_lanes} bra {told}");
    emit!(asm, "st.shared.v2.b64 [{found}], {{{segment}, {start}}}");
    // If that segment begins with the tile, its first element is a head.
    emit!(asm, "st.shared.b32 [{numbers}], 0");
    let none = asm.constant(Literal::Bool(false));
    asm.store(Ty::Bool, AddressSpace::Shared, Address { base: found, bytes: MORE }, none.into());
    asm.place(told);
    emit!(asm, "bar.warp.sync -1");
    let (number, again, goes_on) =
        (asm.register(Class::B32), asm.label(), asm.register(Class::Predicate));
    emit!(asm, "add.s32 {number}, {}, 1", place.lane);
    asm.place(again);
    let more = marks.mark(asm, segment, number, marked);
    emit!(asm, "vote.sync.any.pred {more}, {more}, -1");
    emit!(asm, "@!{more} bra {marked}");
    emit!(asm, "add.s32 {number}, {number}, {WARP_THREADS}");
    emit!(asm, "setp.le.s32 {goes_on}, {number}, {MARKED_ALONE}");
    emit!(asm, "vote.sync.any.pred {goes_on}, {goes_on}, -1");
    emit!(asm, "@{goes_on} bra {again}");
    emit!(asm, "@{other_lanes} bra {marked}");
    asm.store(Ty::Bool, AddressSpace::Shared, Address { base: found, bytes: MORE }, more.into());
    asm.place(marked);
    asm.barrier();
    let (segment, start) = (asm.register(Class::B64), asm.register(Class::B64));
    emit!(asm, "ld.shared.v2.b64 {{{segment}, {start}}}, [{found}]");
    marks.mark_more(asm, segment, found);
    if !neutrals.is_empty() {
        store_leading(asm, entry, &marks, (segment, *count));
    }
    // The last head before the chunk: in one of the chunks before, or before the tile.
    let (before, far) = (asm.register(Class::B32), asm.register(Class::B64));
    emit!(asm, "sub.s64 {far}, {start}, {first}");
    emit!(asm, "max.s64 {far}, {far}, {}", -FAR_ELEMENTS);
    emit!(asm, "cvt.u32.u64 {before}, {far}");
    for warp in 0..place.warps - 1 {
        let (is_before, last) = (asm.register(Class::Predicate), asm.register(Class::B32));
        emit!(asm, "setp.gt.s32 {is_before}, {}, {warp}", place.warp);
        emit!(asm, "ld.shared.b32 {last}, [{last_heads}+{}]", 4 * warp);
        emit!(asm, "@{is_before} max.s32 {before}, {before}, {last}");
    }
    let [chunk_heads, chunk_start, up_to, own] = [(); 4].map(|()| asm.register(Class::B32));
    emit!(asm, "mul.lo.s32 {chunk_start}, {}, {chunk}", place.warp);
    emit!(asm, "sub.s32 {before}, {before}, {chunk_start}");
    emit!(asm, "mad.lo.s32 {chunk_heads}, {}, {}, {heads}", place.warp, chunk / 8);
    let last = asm.register(Class::B32);
    emit!(asm, "mad.lo.s32 {last}, {}, 4, {last_heads}", place.warp);
    emit!(asm, "ld.shared.b32 {last}, [{last}]");
    emit!(asm, "mov.u32 {up_to}, %lanemask_le");
    emit!(asm, "shl.b32 {own}, 1, {}", place.lane);
    let (segments, lane) = (numbers, place.lane);
    Marked { segment, start, chunk_heads, segments, chunk_start, before, last, lane, up_to, own }
}

/// Emits the heads of a run of `rows` elements, and of the element behind it.
pub fn run_heads(asm: &mut Assembly, tile: &Marked, rows: usize, heads: Reg) {
    let [at, slot, word, behind] = [(); 4].map(|()| asm.register(Class::B32));
    emit!(asm, "mul.lo.s32 {at}, {}, {rows}", tile.lane);
    emit!(asm, "shr.u32 {slot}, {at}, {}", WARP_THREADS.ilog2());
    emit!(asm, "mad.lo.s32 {slot}, {slot}, 4, {}", tile.chunk_heads);
    emit!(asm, "ld.shared.b32 {word}, [{slot}]");
    emit!(asm, "ld.shared.b32 {behind}, [{slot}+4]");
    emit!(asm, "shf.r.wrap.b32 {heads}, {word}, {behind}, {at}");
    // The tile's first element has no mark if the segment that was searched for begins there.
    let is_head = asm.register(Class::Predicate);
    emit!(asm, "setp.ge.s32 {is_head}, {}, 0", tile.before);
    emit!(asm, "setp.eq.and.s32 {is_head}, {}, 0, {is_head}", tile.lane);
    emit!(asm, "@{is_head} or.b32 {heads}, {heads}, 1");
}

/// Emits the number of the segment of a run's first element, from the heads of the run and of the
/// element behind it, those of the run, and the lanes before whose runs have some. Returns the address
/// of the numbers of the segments that begin in the run.
pub fn run_number(
    asm: &mut Assembly,
    tile: &Marked,
    rows: usize,
    (heads, own, before): (Reg, Reg, Reg),
    number: Reg,
) -> Reg {
    let [first, last, lane, head, other] = [(); 5].map(|()| asm.register(Class::B32));
    let [some, is_head] = [(); 2].map(|()| asm.register(Class::Predicate));
    emit!(asm, "mad.lo.s32 {first}, {}, {rows}, {}", tile.lane, tile.chunk_start);
    emit!(asm, "bfind.u32 {last}, {own}");
    emit!(asm, "add.s32 {last}, {last}, {first}");
    emit!(asm, "bfind.u32 {lane}, {before}");
    emit!(asm, "shfl.sync.idx.b32 {other}, {last}, {lane}, 31, -1");
    emit!(asm, "add.s32 {head}, {}, {}", tile.before, tile.chunk_start);
    emit!(asm, "setp.ne.s32 {some}, {before}, 0");
    emit!(asm, "selp.b32 {head}, {other}, {head}, {some}");
    emit!(asm, "and.b32 {other}, {heads}, 1");
    emit!(asm, "setp.ne.s32 {is_head}, {other}, 0");
    emit!(asm, "selp.b32 {head}, {first}, {head}, {is_head}");
    let (slot, numbers) = (asm.register(Class::B32), asm.register(Class::B32));
    emit!(asm, "setp.ge.s32 {some}, {head}, 0");
    asm.move_to(number, Literal::I32(0).into());
    emit!(asm, "mad.lo.s32 {slot}, {head}, 4, {}", tile.segments);
    emit!(asm, "@{some} ld.shared.b32 {number}, [{slot}]");
    emit!(asm, "mad.lo.s32 {numbers}, {first}, 4, {}", tile.segments);
    numbers
}

impl Marks<'_> {
    /// Emits the removal of all marks by the first warp.
    fn clear(&self, asm: &mut Assembly, words: u32) {
        let zero = asm.constant(Literal::I32(0));
        let slot = asm.register(Class::B32);
        emit!(asm, "mad.lo.s32 {slot}, {}, 4, {}", self.place.lane, self.heads);
        for from in (0..words).step_by(WARP_THREADS as usize) {
            let inside = asm.register(Class::Predicate);
            emit!(asm, "setp.lt.u32 {inside}, {}, {}", self.place.lane, words - from);
            emit!(asm, "@{inside} st.shared.b32 [{slot}+{}], {zero}", 4 * from);
        }
        let inside = asm.register(Class::Predicate);
        emit!(asm, "setp.lt.u32 {inside}, {}, {}", self.place.lane, self.place.warps);
        emit!(asm, "mad.lo.s32 {slot}, {}, 4, {}", self.place.lane, self.last_heads);
        let none = asm.constant(Literal::I32(-FAR_ELEMENTS as i32));
        emit!(asm, "@{inside} st.shared.b32 [{slot}], {none}");
    }

    /// Emits the marking of the segments that are `number` behind `segment`, one for each lane. Of
    /// several that begin at one element all but the last are empty. The end of the space counts as
    /// a segment. Goes to `none` if all begin behind the tile; returns true if the one behind the last
    /// lane's begins in it, or at its end.
    fn mark(&self, asm: &mut Assembly, segment: Reg, number: Reg, none: Label) -> Reg {
        let Marks { place, offsets, segments, first, size, .. } = *self;
        let [at, slot, offset, next] = [(); 4].map(|()| asm.register(Class::B64));
        emit!(asm, "cvt.u64.u32 {at}, {number}");
        emit!(asm, "add.s64 {at}, {segment}, {at}");
        emit!(asm, "mad.lo.s64 {slot}, {at}, 8, {offsets}");
        let [is_segment, inside, is_head] = [(); 3].map(|()| asm.register(Class::Predicate));
        asm.move_to(offset, Literal::I64(i64::MAX).into());
        asm.move_to(next, Literal::I64(i64::MAX).into());
        emit!(asm, "setp.le.s64 {is_segment}, {at}, {segments}");
        // Most tiles have few segments: the offsets behind the first sector are loaded only if all
        // of those are in the tile.
        let [looks, begins, no_one] = [(); 3].map(|()| asm.register(Class::Predicate));
        let lanes = asm.register(Class::B32);
        emit!(asm, "setp.lt.and.s32 {looks}, {}, {FIRST_OFFSETS}, {is_segment}", place.lane);
        emit!(asm, "@{looks} ld.global.b64 {offset}, [{slot}]");
        let least = self.place_in_tile(asm, offset, first);
        emit!(asm, "setp.le.s32 {begins}, {least}, {size}");
        emit!(asm, "vote.sync.ballot.b32 {lanes}, {begins}, -1");
        emit!(asm, "setp.eq.s32 {no_one}, {lanes}, 0");
        emit!(asm, "@{no_one} bra {none}");
        emit!(asm, "setp.ge.and.s32 {looks}, {}, {FIRST_OFFSETS}, {is_segment}", place.lane);
        emit!(asm, "setp.eq.and.s32 {looks}, {lanes}, {}, {looks}", (1 << FIRST_OFFSETS) - 1);
        emit!(asm, "@{looks} ld.global.b64 {offset}, [{slot}]");
        // The offset behind it is the next lane's; the last lane loads it if it matters.
        let place_in_tile = self.place_in_tile(asm, offset, first);
        let (behind, is_last_lane) = (asm.register(Class::B32), asm.register(Class::Predicate));
        emit!(asm, "setp.le.s32 {inside}, {place_in_tile}, {size}");
        emit!(asm, "shfl.sync.down.b32 {behind}, {place_in_tile}, 1, 31, -1");
        emit!(asm, "setp.eq.s32 {is_last_lane}, {}, {}", place.lane, WARP_THREADS - 1);
        let (loaded, loads) = (asm.label(), asm.register(Class::Predicate));
        emit!(asm, "@!{is_last_lane} bra {loaded}");
        emit!(asm, "setp.lt.and.s64 {loads}, {at}, {segments}, {inside}");
        emit!(asm, "@{loads} ld.global.b64 {next}, [{slot}+8]");
        let of_next = self.place_in_tile(asm, next, first);
        asm.move_to(behind, of_next.into());
        asm.place(loaded);
        emit!(asm, "setp.gt.and.s32 {is_head}, {behind}, {place_in_tile}, {inside}");
        self.mark_head(asm, is_head, place_in_tile, number);
        if !self.neutrals.is_empty() {
            let (is_empty, unempty) = (asm.register(Class::Predicate), asm.label());
            emit!(asm, "setp.eq.and.s32 {is_empty}, {behind}, {place_in_tile}, {inside}");
            emit!(asm, "setp.lt.and.s64 {is_empty}, {at}, {segments}, {is_empty}");
            emit!(asm, "@!{is_empty} bra {unempty}");
            store_neutrals(asm, self.neutrals, at);
            asm.place(unempty);
        }
        let more = asm.register(Class::Predicate);
        emit!(asm, "setp.le.and.s32 {more}, {behind}, {size}, {is_last_lane}");
        more
    }

    /// Emits the place of an index behind the first one of the tile.
    fn place_in_tile(&self, asm: &mut Assembly, index: Reg, first: Reg) -> Reg {
        let behind = asm.register(Class::B64);
        emit!(asm, "sub.s64 {behind}, {index}, {first}");
        at_most_far(asm, behind.into())
    }

    fn mark_head(&self, asm: &mut Assembly, is_head: Reg, place_in_tile: Reg, number: Reg) {
        let unmarked = asm.label();
        emit!(asm, "@!{is_head} bra {unmarked}");
        let [word, bit, mark] = [(); 3].map(|()| asm.register(Class::B32));
        emit!(asm, "shr.u32 {word}, {place_in_tile}, 5");
        emit!(asm, "mad.lo.s32 {word}, {word}, 4, {}", self.heads);
        emit!(asm, "and.b32 {bit}, {place_in_tile}, 31");
        emit!(asm, "shl.b32 {bit}, 1, {bit}");
        emit!(asm, "red.relaxed.cta.shared.or.b32 [{word}], {bit}");
        emit!(asm, "mad.lo.s32 {mark}, {place_in_tile}, 4, {}", self.numbers);
        emit!(asm, "st.shared.b32 [{mark}], {number}");
        // A head behind the tile is of no chunk.
        let in_tile = asm.register(Class::Predicate);
        emit!(asm, "shr.u32 {word}, {place_in_tile}, {}", self.chunk.ilog2());
        emit!(asm, "setp.lt.u32 {in_tile}, {word}, {}", self.place.warps);
        emit!(asm, "mad.lo.s32 {word}, {word}, 4, {}", self.last_heads);
        emit!(asm, "@{in_tile} red.relaxed.cta.shared.max.s32 [{word}], {place_in_tile}");
        asm.place(unmarked);
    }

    /// Emits the marking of the segments behind those that the first warp has marked, if some begin in
    /// the tile.
    fn mark_more(&self, asm: &mut Assembly, segment: Reg, found: Reg) {
        let (again, done, all_done) = (asm.label(), asm.label(), asm.label());
        let more = asm.load(Ty::Bool, AddressSpace::Shared, Address { base: found, bytes: MORE });
        emit!(asm, "@!{more} bra {all_done}");
        let number = asm.register(Class::B32);
        emit!(asm, "mad.lo.s32 {number}, {}, {WARP_THREADS}, {}", self.place.warp, self.place.lane);
        emit!(asm, "add.s32 {number}, {number}, {}", MARKED_ALONE + 1);
        asm.place(again);
        self.mark(asm, segment, number, done);
        emit!(asm, "add.s32 {number}, {number}, {BLOCK_THREADS}");
        emit!(asm, "bra {again}");
        asm.place(done);
        asm.barrier();
        asm.place(all_done);
    }
}

/// Emits the results of the segments without elements at the beginning of the space, which no tile
/// marks; the first tile's block writes them. In an empty space that are all.
fn store_leading(
    asm: &mut Assembly,
    entry: &Entry<'_>,
    marks: &Marks<'_>,
    (segment, count): (Reg, Operand),
) {
    let (other, is_empty) = (asm.register(Class::Predicate), asm.register(Class::Predicate));
    let (end, at, over) =
        (asm.register(Class::B64), asm.register(Class::B64), asm.register(Class::Predicate));
    let (head, done) = (asm.label(), asm.label());
    emit!(asm, "setp.ne.s64 {other}, {}, 0", marks.first);
    emit!(asm, "@{other} bra {done}");
    emit!(asm, "setp.eq.s64 {is_empty}, {count}, 0");
    emit!(asm, "selp.b64 {end}, {}, {segment}, {is_empty}", marks.segments);
    emit!(asm, "cvt.u64.u32 {at}, {}", entry.frame.ids.thread);
    asm.place(head);
    emit!(asm, "setp.ge.s64 {over}, {at}, {end}");
    emit!(asm, "@{over} bra {done}");
    store_neutrals(asm, marks.neutrals, at);
    emit!(asm, "add.s64 {at}, {at}, {BLOCK_THREADS}");
    emit!(asm, "bra {head}");
    asm.place(done);
}

/// Emits the search of a warp for the segment of an index: the last one that begins there or
/// before. Returns the segment and its first index. After some guesses the 32 lanes look, in each
/// step, at as many offsets, which divide the range into 33 parts.
fn search(
    asm: &mut Assembly,
    place: &Place,
    (offsets, segments): (Reg, Operand),
    index: Reg,
    count: Operand,
) -> (Reg, Reg) {
    let [low, width, part, at, offset] = [(); 5].map(|()| asm.register(Class::B64));
    // offsets[low] is at most the index, offsets[low + width] more.
    asm.move_to(low, Literal::I64(0).into());
    asm.move_to(width, segments);
    let lane = asm.register(Class::B64);
    emit!(asm, "cvt.u64.u32 {lane}, {}", place.lane);
    let (start, done) = (asm.register(Class::B64), asm.label());
    guess(asm, (offsets, lane), (low, width, start), (index, count), done);
    emit!(asm, "add.s64 {lane}, {lane}, 1");
    let (head, end) = (asm.label(), asm.label());
    asm.place(head);
    let [narrow, inside, is_before] = [(); 3].map(|()| asm.register(Class::Predicate));
    emit!(asm, "setp.le.s64 {narrow}, {width}, 1");
    emit!(asm, "@{narrow} bra {end}");
    // part = ⌈width / 33⌉, or a little more: the last parts may be empty.
    emit!(asm, "shr.u64 {part}, {width}, {}", WARP_THREADS.ilog2());
    emit!(asm, "max.s64 {part}, {part}, 1");
    emit!(asm, "mul.lo.s64 {at}, {part}, {lane}");
    emit!(asm, "setp.lt.s64 {inside}, {at}, {width}");
    let (slot, entry) = (asm.register(Class::B64), asm.register(Class::B64));
    emit!(asm, "add.s64 {entry}, {low}, {at}");
    emit!(asm, "mad.lo.s64 {slot}, {entry}, 8, {offsets}");
    asm.move_to(offset, Literal::I64(i64::MAX).into());
    emit!(asm, "@{inside} ld.global.b64 {offset}, [{slot}]");
    emit!(asm, "setp.le.s64 {is_before}, {offset}, {index}");
    let (lanes, below) = (asm.register(Class::B32), asm.register(Class::B64));
    emit!(asm, "vote.sync.ballot.b32 {lanes}, {is_before}, -1");
    emit!(asm, "popc.b32 {lanes}, {lanes}");
    emit!(asm, "cvt.u64.u32 {below}, {lanes}");
    emit!(asm, "mul.lo.s64 {below}, {below}, {part}");
    emit!(asm, "add.s64 {low}, {low}, {below}");
    // Behind the last lane's offset the range goes on to its end.
    let (all, rest) = (asm.register(Class::Predicate), asm.register(Class::B64));
    emit!(asm, "sub.s64 {rest}, {width}, {below}");
    emit!(asm, "setp.eq.s32 {all}, {lanes}, {WARP_THREADS}");
    emit!(asm, "min.s64 {part}, {part}, {rest}");
    emit!(asm, "selp.b64 {width}, {rest}, {part}, {all}");
    emit!(asm, "bra {head}");
    asm.place(end);
    emit!(asm, "mad.lo.s64 {slot}, {low}, 8, {offsets}");
    emit!(asm, "ld.global.b64 {start}, [{slot}]");
    asm.place(done);
    (low, start)
}

/// Emits guesses of the segment of an index, as if all segments of the range had one length. Each
/// looks at some neighbouring offsets, and so finds the segment, with its first index, and goes to
/// `done`, or makes the range smaller.
fn guess(
    asm: &mut Assembly,
    (offsets, lane): (Reg, Reg),
    (low, width, start): (Reg, Reg, Reg),
    (index, count): (Reg, Operand),
    done: Label,
) {
    let [part, at, slot, offset] = [(); 4].map(|()| asm.register(Class::B64));
    let [share, length, before, behind] = [(); 4].map(|()| asm.register(Class::F32));
    let [narrow, known, looks, is_before, above, below] =
        [(); 6].map(|()| asm.register(Class::Predicate));
    let [tries, found, side] = [(); 3].map(|()| asm.register(Class::B32));
    let [head, missed, hit, end] = [(); 4].map(|()| asm.label());
    // The distances of the index from the beginning and the end of the range. If one of these stays
    // where it is twice, its distance counts half, so that the next guess is behind the index.
    emit!(asm, "cvt.rn.f32.s64 {before}, {index}");
    emit!(asm, "sub.s64 {part}, {count}, {index}");
    emit!(asm, "cvt.rn.f32.s64 {behind}, {part}");
    asm.move_to(tries, Literal::I32(0).into());
    asm.move_to(side, Literal::I32(0).into());
    asm.place(head);
    emit!(asm, "setp.le.s64 {narrow}, {width}, 1");
    emit!(asm, "setp.ge.or.s32 {narrow}, {tries}, {GUESSES}, {narrow}");
    emit!(asm, "@{narrow} bra {end}");
    // After the first guess: the first and the last segment of the range may be longer than all others.
    let (sure, is_first, is_last) =
        (asm.label(), asm.register(Class::Predicate), asm.register(Class::Predicate));
    emit!(asm, "setp.ne.s32 {above}, {tries}, 1");
    emit!(asm, "@{above} bra {sure}");
    emit!(asm, "sub.s64 {part}, {width}, 1");
    emit!(asm, "setp.eq.s64 {above}, {lane}, 0");
    emit!(asm, "setp.lt.s64 {looks}, {lane}, 2");
    emit!(asm, "selp.b64 {at}, 1, {part}, {above}");
    emit!(asm, "add.s64 {slot}, {low}, {at}");
    emit!(asm, "mad.lo.s64 {slot}, {slot}, 8, {offsets}");
    asm.move_to(offset, Literal::I64(0).into());
    emit!(asm, "@{looks} ld.global.b64 {offset}, [{slot}]");
    let second = shuffle(asm, "idx", Ty::I64, offset, 0, 31);
    let last = shuffle(asm, "idx", Ty::I64, offset, 1, 31);
    emit!(asm, "setp.lt.s64 {is_first}, {index}, {second}");
    emit!(asm, "setp.ge.s64 {is_last}, {index}, {last}");
    emit!(asm, "@{is_first} mov.b64 {width}, 1");
    emit!(asm, "@{is_first} bra {end}");
    emit!(asm, "add.s64 {slot}, {low}, {part}");
    emit!(asm, "add.s64 {low}, {low}, 1");
    emit!(asm, "selp.b64 {low}, {slot}, {low}, {is_last}");
    emit!(asm, "sub.s64 {width}, {width}, 2");
    emit!(asm, "selp.b64 {width}, 1, {width}, {is_last}");
    emit!(asm, "@{is_last} bra {end}");
    for (distance, from, to) in [(before, second, index), (behind, index, last)] {
        emit!(asm, "sub.s64 {part}, {to}, {from}");
        emit!(asm, "cvt.rn.f32.s64 {distance}, {part}");
    }
    asm.place(sure);
    emit!(asm, "add.rn.f32 {length}, {before}, {behind}");
    emit!(asm, "div.rn.f32 {share}, {before}, {length}");
    emit!(asm, "cvt.rn.f32.s64 {length}, {width}");
    emit!(asm, "mul.rn.f32 {share}, {share}, {length}");
    emit!(asm, "cvt.rzi.s64.f32 {at}, {share}");
    // The offset that this lane looks at, from the beginning of the range on.
    emit!(asm, "max.s64 {at}, {at}, 0");
    emit!(asm, "min.s64 {at}, {at}, {width}");
    emit!(asm, "sub.s64 {at}, {at}, {}", GUESSED_OFFSETS / 2 - 1);
    emit!(asm, "add.s64 {at}, {at}, {lane}");
    emit!(asm, "setp.lt.s64 {known}, {at}, 0");
    emit!(asm, "setp.lt.s64 {looks}, {lane}, {GUESSED_OFFSETS}");
    emit!(asm, "and.pred {known}, {known}, {looks}");
    emit!(asm, "setp.ge.and.s64 {looks}, {at}, 0, {looks}");
    emit!(asm, "setp.lt.and.s64 {looks}, {at}, {width}, {looks}");
    emit!(asm, "add.s64 {slot}, {low}, {at}");
    emit!(asm, "mad.lo.s64 {slot}, {slot}, 8, {offsets}");
    asm.move_to(offset, Literal::I64(i64::MAX).into());
    emit!(asm, "@{looks} ld.global.b64 {offset}, [{slot}]");
    emit!(asm, "setp.le.s64 {is_before}, {offset}, {index}");
    emit!(asm, "or.pred {is_before}, {is_before}, {known}");
    emit!(asm, "vote.sync.ballot.b32 {found}, {is_before}, -1");
    emit!(asm, "popc.b32 {found}, {found}");
    let first = shuffle(asm, "idx", Ty::I64, at, 0, 31);
    let first_offset = shuffle(asm, "idx", Ty::I64, offset, 0, 31);
    let last_offset = shuffle(asm, "idx", Ty::I64, offset, GUESSED_OFFSETS as u32 - 1, 31);
    emit!(asm, "add.s32 {tries}, {tries}, 1");
    emit!(asm, "setp.eq.s32 {above}, {found}, {GUESSED_OFFSETS}");
    emit!(asm, "@{above} bra {missed}");
    emit!(asm, "setp.eq.s32 {below}, {found}, 0");
    // All of them are behind the index: the range ends at the first one.
    emit!(asm, "@!{below} bra {hit}");
    asm.move_to(width, first.into());
    emit!(asm, "sub.s64 {part}, {first_offset}, {index}");
    emit!(asm, "cvt.rn.f32.s64 {behind}, {part}");
    emit!(asm, "setp.lt.s32 {below}, {side}, 0");
    emit!(asm, "@{below} mul.rn.f32 {before}, {before}, 0f3F000000");
    asm.move_to(side, Literal::I32(-1).into());
    emit!(asm, "bra {head}");
    asm.place(hit);
    // The last offset that is not behind the index.
    let [winner, low_half, high_half] = [(); 3].map(|()| asm.register(Class::B32));
    emit!(asm, "sub.s32 {winner}, {found}, 1");
    emit!(asm, "cvt.u64.u32 {part}, {winner}");
    emit!(asm, "add.s64 {part}, {part}, {first}");
    emit!(asm, "add.s64 {low}, {low}, {part}");
    emit!(asm, "mov.b64 {{{low_half}, {high_half}}}, {offset}");
    emit!(asm, "shfl.sync.idx.b32 {low_half}, {low_half}, {winner}, 31, -1");
    emit!(asm, "shfl.sync.idx.b32 {high_half}, {high_half}, {winner}, 31, -1");
    emit!(asm, "mov.b64 {start}, {{{low_half}, {high_half}}}");
    emit!(asm, "bra {done}");
    // All of them are before it, or at it: the range begins at the last one.
    asm.place(missed);
    emit!(asm, "add.s64 {part}, {first}, {}", GUESSED_OFFSETS - 1);
    emit!(asm, "add.s64 {low}, {low}, {part}");
    emit!(asm, "sub.s64 {width}, {width}, {part}");
    emit!(asm, "sub.s64 {part}, {index}, {last_offset}");
    emit!(asm, "cvt.rn.f32.s64 {before}, {part}");
    emit!(asm, "setp.gt.s32 {above}, {side}, 0");
    emit!(asm, "@{above} mul.rn.f32 {behind}, {behind}, 0f3F000000");
    asm.move_to(side, Literal::I32(1).into());
    emit!(asm, "bra {head}");
    asm.place(end);
}
