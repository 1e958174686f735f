//! The segments of the work items of a tile.
//!
//! No work item searches for its segment. In a regular space one division tells the segment of the
//! tile's first element, and the rest is arithmetic of 32 bits. In a space with offsets one warp
//! searches for that segment, 32 offsets at a time; then the block marks the elements at which
//! the next segments begin, and a work item finds the last mark before it among the bits of its row:
//!
//! ```text
//! heads        a bit for each element of the tile, and one for the element behind it
//! segments     for an element that is a head: its segment, from that of the tile's first on
//! last heads   for each chunk: its last head
//! ```

use crate::emit::assembly::{Assembly, Class, Operand, Reg, emit};
use crate::emit::collective::WARP_THREADS;
use crate::emit::frame::{BLOCK_THREADS, Entry};
use crate::emit::scan::Place;
use crate::emit::shape::TileShape;
use nesl_runtime::kir::{Literal, Space};

/// A number of elements that is greater than any tile, and small enough for sums of it.
const FAR_ELEMENTS: i64 = 1 << 29;

/// The segments of a tile.
pub enum Segments {
    /// The space has none.
    None,
    /// All segments have the same length.
    Regular(Regular),
    /// The segments have offsets.
    Marked(Marked),
}

/// The segment of an element.
pub struct InSegment {
    /// The number of elements between the start of the segment and this one; if that is more than a
    /// tile, any number that is.
    pub near: Reg,
    /// A predicate: true for the last element of a segment.
    pub is_last: Reg,
    kind: Kind,
}

/// The registers of which the segment and the position are made, if they are asked for.
enum Kind {
    /// True in the tile's first segment; the index in the tile; the number of segments behind the
    /// first one, and the position there.
    Regular { in_first: Reg, offset: Reg, behind: Reg, position: Reg },
    /// The index in the tile of the segment's head; below 0 if it lies before the tile.
    Marked { head: Reg },
}

/// The registers of a tile in a regular space.
pub struct Regular {
    /// The segment of the tile's first element, and the position of that element.
    segment: Reg,
    position: Reg,
    /// The same position, at most `FAR_ELEMENTS`.
    near: Reg,
    /// The number of elements of that segment that are left, at most `FAR_ELEMENTS`, and the last of them.
    left: Reg,
    last_left: Reg,
    /// The length of a segment, at most `FAR_ELEMENTS`, the last position, and the reciprocal with its half.
    length: Reg,
    last: Reg,
    reciprocal: Reg,
    half: Reg,
}

/// The registers of a tile in a space with offsets.
pub struct Marked {
    /// The segment of the tile's first element, and the index in the space at which it begins.
    segment: Reg,
    start: Reg,
    /// The addresses of marks in shared memory: the heads of this warp's chunk, and the segments.
    chunk_heads: Reg,
    segments: Reg,
    /// The last head before the chunk, as an index in the tile.
    before: Reg,
    /// The bits of the lanes up to this one, and of this one.
    up_to: Reg,
    own: Reg,
}

/// The tile whose segments are looked for.
pub struct TilePart<'a> {
    /// The threads of the block.
    pub place: &'a Place,
    /// The size of a tile.
    pub shape: TileShape,
    /// The index of the tile's first element in the space; an `i64`.
    pub first: Reg,
    /// The size of the space.
    pub count: Operand,
}

impl Segments {
    /// Emits what the work items of a tile share.
    pub fn of_tile(asm: &mut Assembly, entry: &Entry<'_>, tile: &TilePart<'_>) -> Segments {
        match &entry.kernel.space {
            Space::Flat { .. } => Segments::None,
            Space::Regular { length, .. } => {
                Segments::Regular(regular(asm, entry.param(*length), tile.first))
            }
            Space::Segmented { segments, offsets } => {
                let offsets = entry.array(asm, *offsets);
                let segments = entry.param(*segments);
                Segments::Marked(marked(asm, entry, tile, (offsets, segments)))
            }
        }
    }

    /// Emits the segment of the element at an index of the tile, which is in a row of this warp's
    /// chunk. `in_space` is false behind the end. `last_head` goes from row to row.
    pub fn of_element(
        &self,
        asm: &mut Assembly,
        row: usize,
        (offset, in_space): (Reg, Reg),
        last_head: &mut Option<Reg>,
    ) -> Option<InSegment> {
        match self {
            Segments::None => None,
            Segments::Regular(tile) => Some(tile.of_element(asm, offset, in_space)),
            Segments::Marked(tile) => Some(tile.of_element(asm, row, offset, last_head)),
        }
    }

    /// Emits the number of an element's segment.
    pub fn segment(&self, asm: &mut Assembly, of: &InSegment) -> Reg {
        let (d, wide) = (asm.register(Class::B64), asm.register(Class::B64));
        match (self, &of.kind) {
            (Segments::Regular(tile), Kind::Regular { in_first, behind, .. }) => {
                emit!(asm, "cvt.u64.u32 {wide}, {behind}");
                emit!(asm, "add.s64 {wide}, {}, {wide}", tile.segment);
                emit!(asm, "selp.b64 {d}, {}, {wide}, {in_first}", tile.segment);
            }
            (Segments::Marked(tile), Kind::Marked { head }) => {
                let (slot, behind) = (asm.register(Class::B32), asm.register(Class::B32));
                let inside = asm.register(Class::Predicate);
                asm.move_to(behind, Literal::I32(0).into());
                emit!(asm, "setp.ge.s32 {inside}, {head}, 0");
                emit!(asm, "mad.lo.s32 {slot}, {head}, 4, {}", tile.segments);
                emit!(asm, "@{inside} ld.shared.b32 {behind}, [{slot}]");
                emit!(asm, "cvt.u64.u32 {wide}, {behind}");
                emit!(asm, "add.s64 {d}, {}, {wide}", tile.segment);
            }
            _ => nesl_runtime::bug!("an element is of its tile's space"),
        }
        d
    }

    /// Emits the position of an element, whose index in the space is given, in its segment.
    pub fn position(&self, asm: &mut Assembly, of: &InSegment, index: Reg) -> Reg {
        let (d, wide) = (asm.register(Class::B64), asm.register(Class::B64));
        let far = asm.register(Class::B64);
        match (self, &of.kind) {
            (Segments::Regular(tile), Kind::Regular { in_first, offset, position, .. }) => {
                emit!(asm, "cvt.u64.u32 {far}, {offset}");
                emit!(asm, "add.s64 {far}, {}, {far}", tile.position);
                emit!(asm, "cvt.u64.u32 {wide}, {position}");
                emit!(asm, "selp.b64 {d}, {far}, {wide}, {in_first}");
            }
            (Segments::Marked(tile), Kind::Marked { head }) => {
                let before = asm.register(Class::Predicate);
                emit!(asm, "sub.s64 {far}, {index}, {}", tile.start);
                emit!(asm, "cvt.u64.u32 {wide}, {}", of.near);
                emit!(asm, "setp.lt.s32 {before}, {head}, 0");
                emit!(asm, "selp.b64 {d}, {far}, {wide}, {before}");
            }
            _ => nesl_runtime::bug!("an element is of its tile's space"),
        }
        d
    }
}

/// Emits the smaller one of an `i64` and `FAR_ELEMENTS`, as an `i32`.
fn at_most_far(asm: &mut Assembly, value: Operand) -> Reg {
    let (wide, d) = (asm.register(Class::B64), asm.register(Class::B32));
    emit!(asm, "min.s64 {wide}, {value}, {FAR_ELEMENTS}");
    emit!(asm, "cvt.u32.u64 {d}, {wide}");
    d
}

/// Emits the registers of a tile in a regular space.
fn regular(asm: &mut Assembly, length: Operand, first: Reg) -> Regular {
    let [divisor, segment, start, position, left] = [(); 5].map(|()| asm.register(Class::B64));
    emit!(asm, "max.s64 {divisor}, {length}, 1");
    emit!(asm, "div.u64 {segment}, {first}, {divisor}");
    emit!(asm, "mul.lo.s64 {start}, {segment}, {divisor}");
    emit!(asm, "sub.s64 {position}, {first}, {start}");
    emit!(asm, "sub.s64 {left}, {divisor}, {position}");
    let near = at_most_far(asm, position.into());
    let left = at_most_far(asm, left.into());
    let length = at_most_far(asm, divisor.into());
    let (last_left, last) = (asm.register(Class::B32), asm.register(Class::B32));
    emit!(asm, "sub.s32 {last_left}, {left}, 1");
    emit!(asm, "sub.s32 {last}, {length}, 1");
    let (reciprocal, half) = (asm.register(Class::F32), asm.register(Class::F32));
    emit!(asm, "cvt.rn.f32.u32 {half}, {length}");
    emit!(asm, "rcp.rn.f32 {reciprocal}, {half}");
    emit!(asm, "mul.rn.f32 {half}, {reciprocal}, 0f3F000000");
    Regular { segment, position, near, left, last_left, length, last, reciprocal, half }
}

impl Regular {
    fn of_element(&self, asm: &mut Assembly, offset: Reg, in_space: Reg) -> InSegment {
        let in_first = asm.register(Class::Predicate);
        emit!(asm, "setp.lt.s32 {in_first}, {offset}, {}", self.left);
        // Behind the tile's first segment: (rest + ½) / length, cut, is exact for the few
        // thousand elements of a tile.
        let [rest, full, position] = [(); 3].map(|()| asm.register(Class::B32));
        let quotient = asm.register(Class::F32);
        emit!(asm, "sub.s32 {rest}, {offset}, {}", self.left);
        emit!(asm, "cvt.rn.f32.s32 {quotient}, {rest}");
        emit!(asm, "fma.rn.f32 {quotient}, {quotient}, {}, {}", self.reciprocal, self.half);
        emit!(asm, "cvt.rzi.s32.f32 {full}, {quotient}");
        let (behind, taken) = (asm.register(Class::B32), asm.register(Class::B32));
        emit!(asm, "mul.lo.s32 {taken}, {full}, {}", self.length);
        emit!(asm, "sub.s32 {position}, {rest}, {taken}");
        emit!(asm, "add.s32 {behind}, {full}, 1");
        let near = asm.register(Class::B32);
        emit!(asm, "add.s32 {near}, {}, {offset}", self.near);
        emit!(asm, "selp.b32 {near}, {near}, {position}, {in_first}");
        let (at, last) = (asm.register(Class::B32), asm.register(Class::B32));
        let is_last = asm.register(Class::Predicate);
        emit!(asm, "selp.b32 {at}, {offset}, {position}, {in_first}");
        emit!(asm, "selp.b32 {last}, {}, {}, {in_first}", self.last_left, self.last);
        emit!(asm, "setp.eq.and.s32 {is_last}, {at}, {last}, {in_space}");
        InSegment { near, is_last, kind: Kind::Regular { in_first, offset, behind, position } }
    }
}

/// Emits the marks of the segments that begin in a tile, and the registers that find them.
fn marked(
    asm: &mut Assembly,
    entry: &Entry<'_>,
    tile: &TilePart<'_>,
    (offsets, segments): (Reg, Operand),
) -> Marked {
    let TilePart { place, shape, first, count } = tile;
    let chunk = shape.chunk_items();
    let heads_bytes = 4 * (shape.items() / WARP_THREADS + 1);
    let names = [
        asm.shared(heads_bytes as usize),
        asm.shared(4 * place.warps as usize),
        asm.shared(4 * (shape.items() as usize + 1)),
        asm.shared(16),
    ];
    let [heads, last_heads, numbers, found] = names.map(|name| {
        let base = asm.register(Class::B32);
        emit!(asm, "mov.u32 {base}, {name}");
        base
    });
    clear(asm, entry, heads, heads_bytes / 4);
    let (cleared, slot) = (asm.label(), asm.register(Class::B32));
    let outside = asm.register(Class::Predicate);
    emit!(asm, "setp.ge.u32 {outside}, {}, {}", entry.frame.ids.thread, place.warps);
    emit!(asm, "@{outside} bra {cleared}");
    emit!(asm, "mad.lo.s32 {slot}, {}, 4, {last_heads}", entry.frame.ids.thread);
    emit!(asm, "st.shared.b32 [{slot}], {}", -FAR_ELEMENTS);
    asm.place(cleared);
    // The first warp searches for the segment of the tile's first element.
    let (others, searched) = (asm.register(Class::Predicate), asm.label());
    emit!(asm, "setp.ne.s32 {others}, {}, 0", place.warp);
    emit!(asm, "@{others} bra {searched}");
    let (segment, start) = search(asm, place, (offsets, segments), *first);
    let other_lanes = asm.register(Class::Predicate);
    emit!(asm, "setp.ne.s32 {other_lanes}, {}, 0", place.lane);
    emit!(asm, "@{other_lanes} bra {searched}");
    emit!(asm, "st.shared.v2.b64 [{found}], {{{segment}, {start}}}");
    // If that segment begins with the tile, its first element is a head.
    emit!(asm, "st.shared.b32 [{numbers}], 0");
    asm.place(searched);
    emit!(asm, "bar.sync 0");
    let (segment, start) = (asm.register(Class::B64), asm.register(Class::B64));
    emit!(asm, "ld.shared.v2.b64 {{{segment}, {start}}}, [{found}]");
    let to = asm.register(Class::B64);
    emit!(asm, "add.s64 {to}, {first}, {}", shape.items());
    emit!(asm, "min.s64 {to}, {to}, {count}");
    let marks = Marks { heads, last_heads, numbers, chunk };
    mark_heads(asm, place, (offsets, segments), (segment, *first, to), &marks);
    emit!(asm, "bar.sync 0");
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
    let [chunk_heads, up_to, own] = [(); 3].map(|()| asm.register(Class::B32));
    emit!(asm, "mad.lo.s32 {chunk_heads}, {}, {}, {heads}", place.warp, chunk / 8);
    emit!(asm, "mov.u32 {up_to}, %lanemask_le");
    emit!(asm, "shl.b32 {own}, 1, {}", place.lane);
    Marked { segment, start, chunk_heads, segments: numbers, before, up_to, own }
}

/// Emits the setting of words of shared memory to 0 by the threads of the block.
fn clear(asm: &mut Assembly, entry: &Entry<'_>, base: Reg, words: u32) {
    let zero = asm.constant(Literal::I32(0));
    for from in (0..words).step_by(BLOCK_THREADS as usize) {
        let (outside, next) = (asm.register(Class::Predicate), asm.label());
        emit!(asm, "setp.ge.u32 {outside}, {}, {}", entry.frame.ids.thread, words - from);
        emit!(asm, "@{outside} bra {next}");
        let slot = asm.register(Class::B32);
        emit!(asm, "mad.lo.s32 {slot}, {}, 4, {base}", entry.frame.ids.thread);
        emit!(asm, "st.shared.b32 [{slot}+{}], {zero}", 4 * from);
        asm.place(next);
    }
}

/// Emits the search of a warp for the segment of an index: the last one that begins there or
/// before. Returns the segment and its first index. In each step the 32 lanes look at as many
/// offsets, which divide the range into 33 parts.
fn search(
    asm: &mut Assembly,
    place: &Place,
    (offsets, segments): (Reg, Operand),
    index: Reg,
) -> (Reg, Reg) {
    let [low, width, part, at, offset] = [(); 5].map(|()| asm.register(Class::B64));
    // offsets[low] is at most the index, offsets[low + width] more.
    asm.move_to(low, Literal::I64(0).into());
    asm.move_to(width, segments);
    let lane = asm.register(Class::B64);
    emit!(asm, "cvt.u64.u32 {lane}, {}", place.lane);
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
    let start = asm.register(Class::B64);
    emit!(asm, "mad.lo.s64 {slot}, {low}, 8, {offsets}");
    emit!(asm, "ld.global.b64 {start}, [{slot}]");
    (low, start)
}

/// The addresses of the marks in shared memory.
struct Marks {
    heads: Reg,
    last_heads: Reg,
    numbers: Reg,
    /// The number of elements of a chunk.
    chunk: u32,
}

/// Emits the marking of the segments behind `segment` that begin before `to`, or there. Of several
/// that begin at one element all but the last are empty. The end of the space counts as a segment.
fn mark_heads(
    asm: &mut Assembly,
    place: &Place,
    (offsets, segments): (Reg, Operand),
    (segment, first, to): (Reg, Reg, Reg),
    marks: &Marks,
) {
    let [at, slot, offset, next] = [(); 4].map(|()| asm.register(Class::B64));
    let (thread, number) = (asm.register(Class::B32), asm.register(Class::B32));
    emit!(asm, "mad.lo.s32 {thread}, {}, {WARP_THREADS}, {}", place.warp, place.lane);
    emit!(asm, "add.s32 {number}, {thread}, 1");
    let size = asm.register(Class::B64);
    emit!(asm, "sub.s64 {size}, {to}, {first}");
    let (again, done) = (asm.label(), asm.label());
    asm.place(again);
    emit!(asm, "cvt.u64.u32 {at}, {number}");
    emit!(asm, "add.s64 {at}, {segment}, {at}");
    emit!(asm, "mad.lo.s64 {slot}, {at}, 8, {offsets}");
    let [is_segment, has_next, inside, is_head] = [(); 4].map(|()| asm.register(Class::Predicate));
    asm.move_to(offset, Literal::I64(i64::MAX).into());
    asm.move_to(next, Literal::I64(i64::MAX).into());
    emit!(asm, "setp.le.s64 {is_segment}, {at}, {segments}");
    // Most tiles have few segments: a warp looks at its first offset before it loads all of them.
    let (least, alone, ends) =
        (asm.register(Class::B64), asm.register(Class::Predicate), asm.register(Class::Predicate));
    asm.move_to(least, Literal::I64(i64::MAX).into());
    emit!(asm, "setp.eq.and.s32 {alone}, {}, 0, {is_segment}", place.lane);
    emit!(asm, "@{alone} ld.global.b64 {least}, [{slot}]");
    emit!(asm, "sub.s64 {least}, {least}, {first}");
    emit!(asm, "setp.le.s64 {ends}, {least}, {size}");
    emit!(asm, "vote.sync.any.pred {ends}, {ends}, -1");
    emit!(asm, "@!{ends} bra {done}");
    emit!(asm, "@{is_segment} ld.global.b64 {offset}, [{slot}]");
    emit!(asm, "sub.s64 {offset}, {offset}, {first}");
    // The offset behind it is the next lane's; the last lane loads it.
    let (place_in_tile, behind) = (at_most_far(asm, offset.into()), asm.register(Class::B32));
    emit!(asm, "shfl.sync.down.b32 {behind}, {place_in_tile}, 1, 31, -1");
    emit!(asm, "setp.eq.s32 {has_next}, {}, {}", place.lane, WARP_THREADS - 1);
    let (is_last_lane, loaded) = (has_next, asm.label());
    emit!(asm, "@!{is_last_lane} bra {loaded}");
    let not_end = asm.register(Class::Predicate);
    emit!(asm, "setp.lt.s64 {not_end}, {at}, {segments}");
    emit!(asm, "@{not_end} ld.global.b64 {next}, [{slot}+8]");
    emit!(asm, "sub.s64 {next}, {next}, {first}");
    let of_next = at_most_far(asm, next.into());
    asm.move_to(behind, of_next.into());
    asm.place(loaded);
    emit!(asm, "setp.le.s64 {inside}, {offset}, {size}");
    emit!(asm, "setp.gt.and.s32 {is_head}, {behind}, {place_in_tile}, {inside}");
    let unmarked = asm.label();
    emit!(asm, "@!{is_head} bra {unmarked}");
    let [word, bit, mark] = [(); 3].map(|()| asm.register(Class::B32));
    emit!(asm, "shr.u32 {word}, {place_in_tile}, 5");
    emit!(asm, "mad.lo.s32 {word}, {word}, 4, {}", marks.heads);
    emit!(asm, "and.b32 {bit}, {place_in_tile}, 31");
    emit!(asm, "shl.b32 {bit}, 1, {bit}");
    emit!(asm, "red.relaxed.cta.shared.or.b32 [{word}], {bit}");
    emit!(asm, "mad.lo.s32 {mark}, {place_in_tile}, 4, {}", marks.numbers);
    emit!(asm, "st.shared.b32 [{mark}], {number}");
    // A head behind the tile is of no chunk.
    let in_tile = asm.register(Class::Predicate);
    emit!(asm, "shr.u32 {word}, {place_in_tile}, {}", marks.chunk.ilog2());
    emit!(asm, "setp.lt.u32 {in_tile}, {word}, {}", place.warps);
    emit!(asm, "mad.lo.s32 {word}, {word}, 4, {}", marks.last_heads);
    emit!(asm, "@{in_tile} red.relaxed.cta.shared.max.s32 [{word}], {place_in_tile}");
    asm.place(unmarked);
    emit!(asm, "add.s32 {number}, {number}, {BLOCK_THREADS}");
    emit!(asm, "bra {again}");
    asm.place(done);
}

impl Marked {
    fn of_element(
        &self,
        asm: &mut Assembly,
        row: usize,
        offset: Reg,
        last_head: &mut Option<Reg>,
    ) -> InSegment {
        let before = last_head.unwrap_or(self.before);
        let [word, behind, below, head] = [(); 4].map(|()| asm.register(Class::B32));
        emit!(asm, "ld.shared.b32 {word}, [{}+{}]", self.chunk_heads, 4 * row);
        emit!(asm, "ld.shared.b32 {behind}, [{}+{}]", self.chunk_heads, 4 * row + 4);
        // The last head up to this element, in the row or before it.
        let some = asm.register(Class::Predicate);
        emit!(asm, "and.b32 {below}, {word}, {}", self.up_to);
        emit!(asm, "setp.ne.s32 {some}, {below}, 0");
        emit!(asm, "bfind.u32 {below}, {below}");
        let row_start = asm.register(Class::B32);
        emit!(asm, "and.b32 {row_start}, {offset}, -32");
        emit!(asm, "add.s32 {below}, {below}, {row_start}");
        emit!(asm, "selp.b32 {head}, {below}, {before}, {some}");
        // The last head of the row is before the next one.
        let (any, last) = (asm.register(Class::Predicate), asm.register(Class::B32));
        emit!(asm, "setp.ne.s32 {any}, {word}, 0");
        emit!(asm, "bfind.u32 {last}, {word}");
        emit!(asm, "add.s32 {last}, {last}, {row_start}");
        emit!(asm, "selp.b32 {last}, {last}, {before}, {any}");
        *last_head = Some(last);
        // An element is the last one if the next is a head.
        let (next, near) = (asm.register(Class::B32), asm.register(Class::B32));
        let is_last = asm.register(Class::Predicate);
        emit!(asm, "shf.r.wrap.b32 {next}, {word}, {behind}, 1");
        emit!(asm, "and.b32 {next}, {next}, {}", self.own);
        emit!(asm, "setp.ne.s32 {is_last}, {next}, 0");
        emit!(asm, "sub.s32 {near}, {offset}, {head}");
        InSegment { near, is_last, kind: Kind::Marked { head } }
    }
}
