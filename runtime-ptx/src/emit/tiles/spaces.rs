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

mod marks;

use crate::emit::address::AddressSpace;
use crate::emit::assembly::{Assembly, Class, Operand, Reg, emit};
use crate::emit::collective::{WARP_THREADS, shuffle};
use crate::emit::frame::Entry;
use crate::emit::scan::Place;
use crate::emit::shape::TileShape;
use nesl_runtime::kir::{Literal, Space, Ty};

/// A number of elements that is greater than any tile, and small enough for sums of it.
const FAR_ELEMENTS: i64 = 1 << 29;

/// The result of a segment without elements: the address of the results, and the neutral element.
pub type Neutral = (Reg, Literal);

/// Emits the stores of the results of a segment without elements.
pub fn store_neutrals(asm: &mut Assembly, neutrals: &[Neutral], segment: Reg) {
    for (out, neutral) in neutrals {
        let ty = neutral.ty();
        let address = asm.element_address(*out, segment.into(), ty.size());
        let neutral = asm.constant(*neutral);
        asm.store(ty, AddressSpace::Global, address, neutral.into());
    }
}

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
#[derive(Clone, Copy)]
pub struct InSegment {
    /// The number of elements between the start of the segment and this one; if that is more than a
    /// tile, any number that is.
    pub near: Reg,
    /// A predicate: true for the last element of a segment.
    pub is_last: Reg,
    kind: Kind,
}

/// The registers of which the segment and the position are made, if they are asked for.
#[derive(Clone, Copy)]
enum Kind {
    /// True in the tile's first segment; the row of the element; the number of whole segments
    /// between the first one and the element's, and the position there.
    Regular { in_first: Reg, row: usize, full: Reg, position: Reg },
    /// The number of elements between the start of the row and the segment's head; below 0 if that
    /// lies before it.
    Marked { head: Reg, row: usize },
}

/// The registers of a tile in a regular space.
pub struct Regular {
    /// The segment of the tile's first element, and the position of that element.
    segment: Reg,
    position: Reg,
    /// The index in the tile of this thread's first element.
    own: Reg,
    /// The distance of that element from the start of the tile's first segment, if it is in that.
    near: Reg,
    /// The number of elements from the end of that segment to this thread's first one; below 0 if it is
    /// in that.
    rest: Reg,
    /// That number and a half, divided by the length of a segment.
    quotient: Reg,
    /// The distance of the last element of a segment from its start.
    last: Reg,
    /// The length of a segment, at most `FAR_ELEMENTS`, with its sign turned, and the reciprocal.
    negative_length: Reg,
    reciprocal: Reg,
}

/// The registers of a tile in a space with offsets.
pub struct Marked {
    /// The segment of the tile's first element, and the index in the space at which it begins.
    segment: Reg,
    start: Reg,
    /// The addresses of marks in shared memory: the heads of this warp's chunk, and the segments.
    chunk_heads: Reg,
    segments: Reg,
    /// The index in the tile at which the chunk begins, and the last head before it, from there on.
    chunk_start: Reg,
    before: Reg,
    /// The index in the tile of the last head of the chunk; below 0 if it has none.
    last: Reg,
    /// The lane, the bits of the lanes up to this one, and of this one.
    lane: Reg,
    up_to: Reg,
    own: Reg,
}

/// The facts about a chunk that are known before its elements are looked at one by one.
pub struct Piece {
    /// A predicate, the same for all lanes: true if all elements are of one segment.
    pub is_whole: Reg,
    /// A predicate, the same for all lanes: true if that segment begins with the chunk.
    pub begins: Reg,
    /// The segment of the last lane's last element, if all elements are of one segment.
    pub last: InSegment,
}

/// The segments of some neighbouring elements of a chunk that one thread takes, as many as a chunk has
/// rows.
pub struct Run {
    /// A bit for each element, and one for the element behind them: 1 for the first of a segment.
    pub heads: Reg,
    /// A bit for each element: 1 for the last of a segment in the space.
    pub ends: Reg,
    /// The number of the first element's segment, from that of the tile's first element on.
    pub number: Reg,
    /// The address in shared memory of the numbers of the segments whose heads are elements of the run,
    /// if they are not consecutive.
    pub numbers: Option<Reg>,
    /// A bit for each lane: 1 if a segment begins in its run.
    pub beginners: Reg,
    /// Those bits of the lanes before this one.
    pub before: Reg,
}

/// The heads that a row of a chunk knows: the last one of the rows before it, and its own.
pub struct LastRow {
    head: Reg,
    word: Reg,
}

/// The tile whose segments are looked for.
pub struct TilePart<'a> {
    /// The threads of the block.
    pub place: &'a Place,
    /// The size of a tile.
    pub shape: TileShape,
    /// The index of the tile's first element in the space; an `i64`.
    pub first: Reg,
    /// The index in the tile of this thread's first element.
    pub own: Reg,
    /// The size of the space.
    pub count: Operand,
}

impl Segments {
    /// Emits what the work items of a tile share. In a space with offsets, the tiles write the
    /// results of segments without elements.
    pub fn of_tile(
        asm: &mut Assembly,
        entry: &Entry<'_>,
        tile: &TilePart<'_>,
        neutrals: &[Neutral],
    ) -> Segments {
        match &entry.kernel.space {
            Space::Flat { .. } => Segments::None,
            Space::Regular { length, .. } => {
                Segments::Regular(regular(asm, entry.param(*length), (tile.first, tile.own)))
            }
            Space::Segmented { segments, offsets } => {
                let offsets = entry.array(asm, *offsets);
                let segments = entry.param(*segments);
                Segments::Marked(marks::marked(asm, entry, tile, (offsets, segments), neutrals))
            }
        }
    }

    /// Emits the segment of this thread's element of a row of its warp's chunk. `in_space` is false
    /// behind the end. `last_row` goes from row to row.
    pub fn of_element(
        &self,
        asm: &mut Assembly,
        row: usize,
        in_space: Reg,
        last_row: &mut Option<LastRow>,
    ) -> Option<InSegment> {
        match self {
            Segments::None => None,
            Segments::Regular(tile) => Some(tile.of_element(asm, row, in_space)),
            Segments::Marked(tile) => Some(tile.of_element(asm, row, last_row)),
        }
    }

    /// Emits the question whether all elements of this warp's chunk are of one segment. `last_row` is
    /// the number of the last row, whose element of this thread is in the space if `in_space` is true.
    pub fn piece(&self, asm: &mut Assembly, last_row: usize, in_space: Reg) -> Piece {
        let [is_whole, begins] = [(); 2].map(|()| asm.register(Class::Predicate));
        match self {
            Segments::None => nesl_runtime::bug!("a sink by segment has segments"),
            Segments::Regular(tile) => {
                let last = tile.of_element(asm, last_row, in_space);
                let near = shuffle(asm, "idx", Ty::I32, last.near, WARP_THREADS - 1, 31);
                let behind = row_items(last_row) + WARP_THREADS - 1;
                emit!(asm, "setp.ge.s32 {is_whole}, {near}, {behind}");
                emit!(asm, "setp.eq.s32 {begins}, {near}, {behind}");
                Piece { is_whole, begins, last }
            }
            Segments::Marked(tile) => {
                let (next, head) = (asm.register(Class::B32), asm.register(Class::B32));
                let is_last = asm.register(Class::Predicate);
                emit!(asm, "setp.le.s32 {is_whole}, {}, {}", tile.last, tile.chunk_start);
                // The head of a tile's first chunk may be that of the segment that was searched for.
                emit!(asm, "setp.eq.s32 {begins}, {}, {}", tile.last, tile.chunk_start);
                emit!(asm, "setp.ge.or.s32 {begins}, {}, 0, {begins}", tile.before);
                emit!(asm, "selp.b32 {head}, 0, {}, {begins}", tile.before);
                // The chunk ends with its segment if the next element is a head.
                emit!(asm, "ld.shared.b32 {next}, [{}+{}]", tile.chunk_heads, 4 * last_row + 4);
                emit!(asm, "and.b32 {next}, {next}, 1");
                emit!(asm, "setp.ne.s32 {is_last}, {next}, 0");
                let kind = Kind::Marked { head, row: 0 };
                let last = InSegment { near: head, is_last, kind };
                Piece { is_whole, begins, last }
            }
        }
    }

    /// Emits the segments of a run of `rows` elements. `left` is the number of elements in the space
    /// from this thread's element of the first row on.
    pub fn run(&self, asm: &mut Assembly, place: &Place, rows: usize, left: Reg) -> Run {
        let (heads, ends) = (asm.register(Class::B32), asm.register(Class::B32));
        let number = match self {
            Segments::None => nesl_runtime::bug!("a sink by segment has segments"),
            Segments::Regular(tile) => tile.run(asm, place, (rows, left), (heads, ends)),
            Segments::Marked(tile) => {
                marks::run_heads(asm, tile, rows, heads);
                emit!(asm, "shr.u32 {ends}, {heads}, 1");
                emit!(asm, "and.b32 {ends}, {ends}, {}", (1 << rows) - 1);
                asm.register(Class::B32)
            }
        };
        let [own, beginners, before, up_to] = [(); 4].map(|()| asm.register(Class::B32));
        let begins = asm.register(Class::Predicate);
        emit!(asm, "and.b32 {own}, {heads}, {}", (1 << rows) - 1);
        emit!(asm, "setp.ne.s32 {begins}, {own}, 0");
        emit!(asm, "vote.sync.ballot.b32 {beginners}, {begins}, -1");
        emit!(asm, "mov.u32 {up_to}, %lanemask_lt");
        emit!(asm, "and.b32 {before}, {beginners}, {up_to}");
        let numbers = match self {
            Segments::Marked(tile) => {
                Some(marks::run_number(asm, tile, rows, (heads, own, before), number))
            }
            _ => None,
        };
        Run { heads, ends, number, numbers, beginners, before }
    }

    /// Emits the number of an element's segment, from that of the tile's first element on.
    pub fn behind_first(&self, asm: &mut Assembly, of: &InSegment) -> Reg {
        let d = asm.register(Class::B32);
        match (self, &of.kind) {
            (Segments::Regular(_), Kind::Regular { in_first, full, .. }) => {
                emit!(asm, "add.s32 {d}, {full}, 1");
                emit!(asm, "selp.b32 {d}, 0, {d}, {in_first}");
            }
            (Segments::Marked(tile), Kind::Marked { head, row }) => {
                let (slot, inside) = (asm.register(Class::B32), asm.register(Class::Predicate));
                let head = tile.head_in_tile(asm, *head, *row);
                asm.move_to(d, Literal::I32(0).into());
                emit!(asm, "setp.ge.s32 {inside}, {head}, 0");
                emit!(asm, "mad.lo.s32 {slot}, {head}, 4, {}", tile.segments);
                emit!(asm, "@{inside} ld.shared.b32 {d}, [{slot}]");
            }
            _ => nesl_runtime::bug!("an element is of its tile's space"),
        }
        d
    }

    /// The segment of the tile's first element.
    pub fn first(&self) -> Reg {
        match self {
            Segments::Regular(tile) => tile.segment,
            Segments::Marked(tile) => tile.segment,
            Segments::None => nesl_runtime::bug!("a sink by segment has segments"),
        }
    }

    /// Emits the number of an element's segment.
    pub fn segment(&self, asm: &mut Assembly, of: &InSegment) -> Reg {
        let (d, wide) = (asm.register(Class::B64), asm.register(Class::B64));
        let behind = self.behind_first(asm, of);
        emit!(asm, "cvt.u64.u32 {wide}, {behind}");
        emit!(asm, "add.s64 {d}, {}, {wide}", self.first());
        d
    }

    /// Emits the position of an element, whose index in the space is given, in its segment.
    pub fn position(&self, asm: &mut Assembly, of: &InSegment, index: Reg) -> Reg {
        let (d, wide) = (asm.register(Class::B64), asm.register(Class::B64));
        let far = asm.register(Class::B64);
        match (self, &of.kind) {
            (Segments::Regular(tile), Kind::Regular { in_first, row, position, .. }) => {
                let offset = asm.register(Class::B32);
                emit!(asm, "add.s32 {offset}, {}, {}", tile.own, row_items(*row));
                emit!(asm, "cvt.u64.u32 {far}, {offset}");
                emit!(asm, "add.s64 {far}, {}, {far}", tile.position);
                emit!(asm, "cvt.u64.u32 {wide}, {position}");
                emit!(asm, "selp.b64 {d}, {far}, {wide}, {in_first}");
            }
            (Segments::Marked(tile), Kind::Marked { head, row }) => {
                let before = asm.register(Class::Predicate);
                let head = tile.head_in_tile(asm, *head, *row);
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
fn regular(asm: &mut Assembly, length: Operand, (first, own): (Reg, Reg)) -> Regular {
    let [divisor, segment, start, position, left] = [(); 5].map(|()| asm.register(Class::B64));
    emit!(asm, "max.s64 {divisor}, {length}, 1");
    emit!(asm, "div.u64 {segment}, {first}, {divisor}");
    emit!(asm, "mul.lo.s64 {start}, {segment}, {divisor}");
    emit!(asm, "sub.s64 {position}, {first}, {start}");
    emit!(asm, "sub.s64 {left}, {divisor}, {position}");
    let near = at_most_far(asm, position.into());
    let left = at_most_far(asm, left.into());
    let length = at_most_far(asm, divisor.into());
    // Of a segment that is longer than `FAR_ELEMENTS`, the last element is not before the tile's end
    // but in the tile's first segment, where this is exact.
    let [last, rest, negative_length] = [(); 3].map(|()| asm.register(Class::B32));
    emit!(asm, "add.s32 {last}, {near}, {left}");
    emit!(asm, "sub.s32 {last}, {last}, 1");
    emit!(asm, "add.s32 {near}, {near}, {own}");
    emit!(asm, "sub.s32 {rest}, {own}, {left}");
    emit!(asm, "neg.s32 {negative_length}, {length}");
    let [reciprocal, half, quotient] = [(); 3].map(|()| asm.register(Class::F32));
    emit!(asm, "cvt.rn.f32.u32 {half}, {length}");
    emit!(asm, "rcp.rn.f32 {reciprocal}, {half}");
    emit!(asm, "mul.rn.f32 {half}, {reciprocal}, 0f3F000000");
    emit!(asm, "cvt.rn.f32.s32 {quotient}, {rest}");
    emit!(asm, "fma.rn.f32 {quotient}, {quotient}, {reciprocal}, {half}");
    Regular { segment, position, own, near, rest, quotient, last, negative_length, reciprocal }
}

/// The number of elements of the rows before one.
fn row_items(row: usize) -> u32 {
    row as u32 * WARP_THREADS
}

impl Regular {
    fn of_element(&self, asm: &mut Assembly, row: usize, in_space: Reg) -> InSegment {
        // Behind the tile's first segment: (rest + ½) / length, cut, is exact for the few
        // thousand elements of a tile.
        let (in_first, is_last) = (asm.register(Class::Predicate), asm.register(Class::Predicate));
        let [rest, full, position, near] = [(); 4].map(|()| asm.register(Class::B32));
        let quotient = asm.register(Class::F32);
        let distance = Operand::Constant(Literal::F32((row_items(row) as f32).to_bits()));
        emit!(asm, "add.s32 {rest}, {}, {}", self.rest, row_items(row));
        emit!(asm, "setp.lt.s32 {in_first}, {rest}, 0");
        emit!(asm, "fma.rn.f32 {quotient}, {}, {distance}, {}", self.reciprocal, self.quotient);
        emit!(asm, "cvt.rzi.s32.f32 {full}, {quotient}");
        emit!(asm, "mad.lo.s32 {position}, {full}, {}, {rest}", self.negative_length);
        emit!(asm, "add.s32 {near}, {}, {}", self.near, row_items(row));
        emit!(asm, "selp.b32 {near}, {near}, {position}, {in_first}");
        emit!(asm, "setp.eq.and.s32 {is_last}, {near}, {}, {in_space}", self.last);
        InSegment { near, is_last, kind: Kind::Regular { in_first, row, full, position } }
    }
}

impl Regular {
    /// Emits the heads and ends of a run; returns the number of the first element's segment.
    fn run(
        &self,
        asm: &mut Assembly,
        place: &Place,
        (rows, left): (usize, Reg),
        (heads, ends): (Reg, Reg),
    ) -> Reg {
        let [distance, rest, near, full, position] = [(); 5].map(|()| asm.register(Class::B32));
        let [in_first, is_head] = [(); 2].map(|()| asm.register(Class::Predicate));
        let (quotient, far) = (asm.register(Class::F32), asm.register(Class::F32));
        // From this thread's element of the first row to its run.
        emit!(asm, "mul.lo.s32 {distance}, {}, {}", place.lane, rows - 1);
        emit!(asm, "add.s32 {rest}, {}, {distance}", self.rest);
        emit!(asm, "setp.lt.s32 {in_first}, {rest}, 0");
        emit!(asm, "cvt.rn.f32.s32 {far}, {distance}");
        emit!(asm, "fma.rn.f32 {quotient}, {}, {far}, {}", self.reciprocal, self.quotient);
        emit!(asm, "cvt.rzi.s32.f32 {full}, {quotient}");
        emit!(asm, "mad.lo.s32 {position}, {full}, {}, {rest}", self.negative_length);
        emit!(asm, "add.s32 {near}, {}, {distance}", self.near);
        emit!(asm, "selp.b32 {near}, {near}, {position}, {in_first}");
        // The heads behind the first element are as far from each other as the segments are long.
        let [pattern, more, step, next] = [(); 4].map(|()| asm.register(Class::B32));
        emit!(asm, "neg.s32 {step}, {}", self.negative_length);
        emit!(asm, "sub.s32 {next}, {step}, {position}");
        emit!(asm, "neg.s32 {rest}, {rest}");
        emit!(asm, "selp.b32 {next}, {rest}, {next}, {in_first}");
        asm.move_to(pattern, Literal::I32(1).into());
        for _ in 0..=rows.ilog2() {
            emit!(asm, "shl.b32 {more}, {pattern}, {step}");
            emit!(asm, "or.b32 {pattern}, {pattern}, {more}");
            emit!(asm, "add.s32 {step}, {step}, {step}");
        }
        emit!(asm, "shl.b32 {heads}, {pattern}, {next}");
        emit!(asm, "setp.eq.s32 {is_head}, {near}, 0");
        emit!(asm, "@{is_head} or.b32 {heads}, {heads}, 1");
        // Behind the end of the space no segment ends.
        let (inside, number) = (asm.register(Class::B32), asm.register(Class::B32));
        emit!(asm, "sub.s32 {inside}, {left}, {distance}");
        emit!(asm, "max.s32 {inside}, {inside}, 0");
        emit!(asm, "min.s32 {inside}, {inside}, {rows}");
        emit!(asm, "shl.b32 {inside}, -1, {inside}");
        emit!(asm, "shr.u32 {ends}, {heads}, 1");
        emit!(asm, "not.b32 {inside}, {inside}");
        emit!(asm, "and.b32 {ends}, {ends}, {inside}");
        emit!(asm, "add.s32 {number}, {full}, 1");
        emit!(asm, "selp.b32 {number}, 0, {number}, {in_first}");
        number
    }
}

impl Marked {
    /// Emits the index of a head in the tile, from its distance from the start of a row.
    fn head_in_tile(&self, asm: &mut Assembly, head: Reg, row: usize) -> Reg {
        let in_tile = asm.register(Class::B32);
        emit!(asm, "add.s32 {in_tile}, {head}, {}", self.chunk_start);
        emit!(asm, "add.s32 {in_tile}, {in_tile}, {}", row_items(row));
        in_tile
    }

    fn of_element(
        &self,
        asm: &mut Assembly,
        row: usize,
        last_row: &mut Option<LastRow>,
    ) -> InSegment {
        let LastRow { head: before, word } = last_row.take().unwrap_or_else(|| {
            let word = asm.register(Class::B32);
            emit!(asm, "ld.shared.b32 {word}, [{}]", self.chunk_heads);
            LastRow { head: self.before, word }
        });
        let [behind, below, head] = [(); 3].map(|()| asm.register(Class::B32));
        emit!(asm, "ld.shared.b32 {behind}, [{}+{}]", self.chunk_heads, 4 * row + 4);
        // The last head up to this element, in the row or before it.
        let some = asm.register(Class::Predicate);
        emit!(asm, "and.b32 {below}, {word}, {}", self.up_to);
        emit!(asm, "setp.ne.s32 {some}, {below}, 0");
        emit!(asm, "bfind.u32 {below}, {below}");
        emit!(asm, "selp.b32 {head}, {below}, {before}, {some}");
        // The last head of the row is before the next one.
        let (any, last) = (asm.register(Class::Predicate), asm.register(Class::B32));
        emit!(asm, "setp.ne.s32 {any}, {word}, 0");
        emit!(asm, "bfind.u32 {last}, {word}");
        emit!(asm, "selp.b32 {last}, {last}, {before}, {any}");
        emit!(asm, "sub.s32 {last}, {last}, {WARP_THREADS}");
        *last_row = Some(LastRow { head: last, word: behind });
        // An element is the last one if the next is a head.
        let (next, near) = (asm.register(Class::B32), asm.register(Class::B32));
        let is_last = asm.register(Class::Predicate);
        emit!(asm, "shf.r.wrap.b32 {next}, {word}, {behind}, 1");
        emit!(asm, "and.b32 {next}, {next}, {}", self.own);
        emit!(asm, "setp.ne.s32 {is_last}, {next}, 0");
        emit!(asm, "sub.s32 {near}, {}, {head}", self.lane);
        InSegment { near, is_last, kind: Kind::Marked { head, row } }
    }
}
